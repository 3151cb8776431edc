"""A students' edition of the lessons: with hints, without answers.

    python tools/edition.py OUT        writes OUT/00_start_here.ipynb ... and OUT/bonus/

Where a lesson shows our version of what the learner builds, this edition imports it.
"""
import argparse
import ast
import re
import sys
from pathlib import Path

import nbformat

ROOT = Path(__file__).resolve().parents[1]
ANSWER = re.compile(r"<details><summary>Answer</summary>.*?</details>\n*", re.DOTALL)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument(
        "OUT", type=Path, help="folder to write to; files that are there are replaced")
    out = parser.parse_args().OUT
    if (out / "my_ops").exists() or out.resolve() == ROOT / "notebooks":
        sys.exit(f"edition: {out} is where somebody learns: choose another folder")
    for path in sorted((ROOT / "notebooks").rglob("*.ipynb")):
        if ".ipynb_checkpoints" not in path.parts:
            place = out / path.relative_to(ROOT / "notebooks")
            place.parent.mkdir(parents=True, exist_ok=True)
            nbformat.write(without_answers(nbformat.read(path, as_version=4)), place)
            print(place)


def without_answers(book):
    """The notebook, changed: no answers, and imports where our version of an operation stands."""
    for cell in book.cells:
        if cell.cell_type == "markdown":
            cell.source = ANSWER.sub("", cell.source).rstrip("\n")
        elif cell.source.startswith("# final: "):
            cell.source, cell.outputs = imports(cell.source.split("\n")[0]), []
    return book


def imports(first_line):
    """The line that imports what a cell "# final: gpt2lab/mlp.py [names]" defines."""
    path, *names = first_line.removeprefix("# final: ").split()
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    defined = [node.name for node in tree.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))]
    names = [name for name in names or defined if name in defined]      # no methods
    module = path.removesuffix(".py").replace("/", ".")
    line = f"from {module} import {', '.join(names)}" if names else ""
    return f"# our version is in {path}: look at it when yours works\n{line}".rstrip("\n")


if __name__ == "__main__":
    main()
