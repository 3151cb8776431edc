"""Every lesson with a model of GPT-2 124M's size: pytest tests/slow/slow_real_size.py

The weights are random, so only what needs no meaning can be looked at: each notebook runs from top
to bottom with GPT2LAB_MODEL set, and each explorer draws at the ends of its controls.
REAL_SIZE_PICTURES names a folder for the pictures, to be looked at.
"""
import re
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from class_memory import MIB, together
from recipes import write_124m

NOTEBOOKS = Path(__file__).resolve().parents[2] / "notebooks"
LESSONS = sorted(NOTEBOOKS.rglob("[0-9]*.ipynb"))
LONG = "The king and the queen saw a 🐕 near the door, and the boy asked them why. " * 3
# Runs in the kernel before the lesson: explore draws the ends of its controls as well.
ENDS = f"""
import itertools, os
from pathlib import Path
from gpt2lab.teach import play, plot
def _ends(control):
    if hasattr(control, "options"):
        return [value for _, value in control._options_full][::max(1, len(control.options) - 1)]
    if hasattr(control, "min"):
        return [control.min, control.max]
    return {{str: ["a", {LONG!r}], bool: [False, True], int: [0, 1]}}[type(control.value)]
def _explore(draw, *, _plain=play.explore, _count=itertools.count(), **controls):
    _plain(draw, **controls)
    start = {{name: control.value for name, control in controls.items()}}
    ends = {{name: _ends(control) for name, control in controls.items()}}
    tries = [start | {{name: value}} for name in ends for value in ends[name]]
    tries += [{{name: values[i] for name, values in ends.items()}} for i in (0, -1)]
    for values in tries:
        try:
            fig = draw(**values)
        except ValueError as error:     # a text that does not fit: explore shows the sentence
            texts = [name for name, value in values.items() if type(value) is str]
            assert any(values[name] != start[name] for name in texts), values
            fig = plot.message(str(error))
        assert fig.alt.count("\\n") == 1 and fig.get_figwidth() == 6.4, values
        picture, folder = plot.png(fig), os.environ.get("REAL_SIZE_PICTURES")
        if folder:
            name = f"{{os.environ['LESSON']}}-{{next(_count):03}}.png"
            (Path(folder) / name).write_bytes(picture)
    print("drawn at the ends:", len(tries))
play.explore = _explore
"""


@pytest.fixture(scope="module")
def model_124m(tmp_path_factory):
    return write_124m(tmp_path_factory.mktemp("124m"))


def printed(book):
    return "\n".join(output.get("text", "")
                     for cell in book.cells for output in cell.get("outputs", []))


@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
def test_every_lesson_runs_with_twelve_blocks(path, model_124m, monkeypatch, tmp_path):
    monkeypatch.setenv("GPT2LAB_MODEL", str(model_124m))
    monkeypatch.setenv("GPT2LAB_MY_OPS", str(tmp_path))
    monkeypatch.setenv("LESSON", path.stem)
    book = nbformat.read(path, as_version=4)
    identities = [line for line in printed(book).splitlines()
                  if re.search(r": agree to \d+ decimals$", line)]
    explorers = sum(cell.source.count("play.explore(")
                    for cell in book.cells if cell.cell_type == "code")
    raising = [cell.id for cell in book.cells
               if "raises-exception" in cell.metadata.get("tags", [])]
    book.cells.insert(0, nbformat.v4.new_code_cell(ENDS))
    NotebookClient(book, kernel_name="python3", timeout=900,
                   resources={"metadata": {"path": str(path.parent)}}).execute()
    lines = printed(book).splitlines()
    assert sum(line.startswith("drawn at the ends") for line in lines) == explorers
    for line in identities:             # what agrees in one model agrees in every other
        assert line.replace("the stored reference", "the library's") in lines
    for cell in book.cells:             # what is meant to fail does
        if cell.id in raising:
            assert any(output.output_type == "error" for output in cell.outputs), cell.source


def test_the_weights_are_in_memory_once(model_124m):
    for steps in together(model_124m, 3):
        added = (steps["one pass of 64 tokens"]["USS"] - steps["tokenizer"]["USS"]) / MIB
        print(f"held alone after one pass, beyond Python and the tokenizer: {added:.1f} MiB")
        assert added < 20 and steps["one pass of 64 tokens"]["weights"] == 0
