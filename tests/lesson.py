"""What a notebook defines, for the tests of its lesson."""
import ast
from pathlib import Path
from types import SimpleNamespace

import nbformat
import numpy as np

NOTEBOOKS = Path(__file__).resolve().parents[1] / "notebooks"


def sources(notebook):
    """The source of each code cell that is no stub."""
    book = nbformat.read(NOTEBOOKS / f"{notebook}.ipynb", as_version=4)
    return [cell.source for cell in book.cells
            if cell.cell_type == "code" and "stub" not in cell.metadata.get("tags", [])]


def shown(notebook, piece, **space):
    """The figures that the one cell with this piece of code shows; it sees what `space` holds."""
    (source,) = [source for source in sources(notebook) if piece in source]
    figures = []
    exec(source, {"np": np, **space, "plot": SimpleNamespace(show=figures.append)})
    return figures


def functions(notebook, *names, **space):
    """Some functions of a notebook, without running its cells: f.name for each of the names.

    They see the notebook's imports, the other functions asked for, and what `space` holds.
    """
    nodes = [node for source in sources(notebook) for node in ast.parse(source).body]
    imports = [node for node in nodes if isinstance(node, (ast.Import, ast.ImportFrom))]
    wanted = [node for node in nodes if isinstance(node, ast.FunctionDef) and node.name in names]
    inside = {}
    for part in (imports, wanted):
        exec(compile(ast.Module(part, []), notebook, "exec"), inside)
        inside.update(space)
    return SimpleNamespace(**{name: inside[name] for name in names})
