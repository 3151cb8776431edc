"""A notebook's cells in tests: run them, take what they define, see what they show."""
import ast
import contextlib
import io
import itertools
import linecache
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

import nbformat
import numpy as np

from gpt2lab.teach import play, plot

NOTEBOOKS = Path(__file__).resolve().parents[1] / "notebooks"
numbers = itertools.count()


def run(source, space):
    """Run a cell in a namespace; its source can be found again. Returns what it printed."""
    name = f"<cell {next(numbers)}>"
    linecache.cache[name] = len(source), None, source.splitlines(True), name
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), mock.patch.object(play, "train", train):
        exec(compile(source, name, "exec"), space)
    return printed.getvalue()


def train(run, note, draw):
    """play.train without a notebook: its picture is drawn once, at the end."""
    while len(run.losses) < run.steps:
        note()
        run.advance()
    note()
    draw()


def code_cells(lesson):
    """The code cells of notebooks/<lesson>.ipynb."""
    book = nbformat.read(NOTEBOOKS / f"{lesson}.ipynb", as_version=4)
    return [cell for cell in book.cells if cell.cell_type == "code"]


def ran(lesson, *parts):
    """The names of a lesson after its cells that contain one of the parts were run, in order.

    Two names are added: "shown", the figures of plot.show, and "explorers", the drawing functions
    given to play.explore.
    """
    names = {"__name__": "__main__", "shown": [], "explorers": []}
    sources = [cell.source for cell in code_cells(lesson)
               if any(part in cell.source for part in parts)]
    for part in parts:
        assert any(part in source for source in sources), f"{lesson}: no cell with {part!r}"
    with mock.patch.object(plot, "show", names["shown"].append), \
            mock.patch.object(play, "explore", lambda draw, **_: names["explorers"].append(draw)):
        for source in sources:
            run(source, names)
    return names


def explorers_of(lesson):
    """[(draw, {name: control})] of a lesson, in order, after all its cells have run.

    But those that are meant to fail, and galleries, which take long and make nothing that an
    explorer needs.
    """
    found, space = [], {"__name__": "__main__"}
    with mock.patch.object(plot, "show", lambda fig: None), mock.patch.object(
            play, "explore", lambda draw, **controls: found.append((draw, controls))):
        for cell in code_cells(lesson):
            if "raises-exception" not in cell.metadata.get("tags", []) and not (
                    cell.source.startswith("gallery(")):
                run(cell.source, space)
    return found


def plain_sources(lesson):
    """The source of each code cell of a lesson that is no stub."""
    return [cell.source for cell in code_cells(lesson)
            if "stub" not in cell.metadata.get("tags", [])]


def shown(lesson, piece, **space):
    """The figures that the one cell with this piece of code shows; it sees what `space` holds."""
    (source,) = [source for source in plain_sources(lesson) if piece in source]
    figures = []
    exec(source, {"np": np, **space, "plot": SimpleNamespace(show=figures.append)})
    return figures


def functions(lesson, *names, **space):
    """Some functions of a lesson, without running its cells: f.name for each of the names.

    They see the notebook's imports, the other functions asked for, and what `space` holds.
    """
    nodes = [node for source in plain_sources(lesson) for node in ast.parse(source).body]
    imports = [node for node in nodes if isinstance(node, (ast.Import, ast.ImportFrom))]
    wanted = [node for node in nodes if isinstance(node, ast.FunctionDef) and node.name in names]
    inside = {}
    for part in (imports, wanted):
        exec(compile(ast.Module(part, []), lesson, "exec"), inside)
        inside.update(space)
    return SimpleNamespace(**{name: inside[name] for name in names})
