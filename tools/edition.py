"""A students' edition of the lessons: with hints, without answers.

    python tools/edition.py OUT        writes OUT/00_start_here.ipynb ... and OUT/bonus/

Where a lesson shows our version of what the learner builds, this edition says where it stands.
Guesses stay as they are: their answers are folded until the learner runs the cells.
"""
import argparse
import re
import sys
from pathlib import Path

import nbformat

ROOT = Path(__file__).resolve().parents[1]
ANSWER = re.compile(r"<details><summary>Answer</summary>.*?</details>\n*", re.DOTALL)
SHOWN = re.compile(r"show\.source\((.*?)\)", re.DOTALL)


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
    """The notebook, changed: no answers, and where our version was shown the name of its file."""
    for cell in book.cells:
        if cell.cell_type == "markdown":
            cell.source = ANSWER.sub("", cell.source).rstrip("\n")
        elif SHOWN.search(cell.source):
            cell.source = SHOWN.sub(where, cell.source)
            cell.outputs = [output for output in cell.outputs
                            if "text/markdown" not in output.get("data", {})]
    return book


def where(shown):
    """The comment in place of a call such as show.source(gpt2lab.mlp.mlp)."""
    modules = re.findall(r"gpt2lab\.(\w+)", shown[1])
    files = " and ".join(f"gpt2lab/{module}.py" for module in dict.fromkeys(modules))
    return f"# our version is in {files}: look at it when yours works"


if __name__ == "__main__":
    main()
