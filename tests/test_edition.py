"""The students' edition: hints, and no answer. tests/slow/slow_edition.py does its exercises."""
import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

import edition as tool
from test_lessons import LESSONS, NOTEBOOKS, answers

TOOL = Path(__file__).resolve().parents[1] / "tools" / "edition.py"


@pytest.fixture(scope="module")
def edition(tmp_path_factory):
    out = tmp_path_factory.mktemp("edition")
    done = subprocess.run([sys.executable, str(TOOL), str(out)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return out


def test_every_lesson_is_there_without_answers(edition):
    assert {path.relative_to(edition) for path in edition.rglob("*.ipynb")} == {
        path.relative_to(NOTEBOOKS) for path in LESSONS}
    for path in LESSONS:
        ours = nbformat.read(path, as_version=4)
        text = (edition / path.relative_to(NOTEBOOKS)).read_text(encoding="utf-8")
        theirs = nbformat.reads(text, as_version=4)
        assert "<summary>Answer" not in text and "show.source" not in text
        assert len(re.findall("<summary>Hint", text)) == sum(
            cell.source.count("<summary>Hint") for cell in ours.cells)
        assert [cell.id for cell in theirs.cells] == [cell.id for cell in ours.cells]
        for source in answers(ours).values():
            body = source.strip().split("\n", 1)[1].strip()
            assert all(body not in cell.source for cell in theirs.cells), body


def test_of_our_version_it_names_the_file_and_shows_nothing(edition):
    for path in LESSONS:
        ours = nbformat.read(path, as_version=4)
        theirs = nbformat.read(edition / path.relative_to(NOTEBOOKS), as_version=4)
        for cell, left in zip(ours.cells, theirs.cells):
            if cell.cell_type == "code" and "show.source(" in cell.source:
                (line,) = set(left.source.split("\n")) - set(cell.source.split("\n"))
                files = re.findall(r"gpt2lab/\w+\.py", line)
                assert line.startswith("# our version is in ") and files
                assert all((TOOL.parents[1] / file).is_file() for file in files), files
                assert len(left.outputs) == len(cell.outputs) - 1
                assert "def " not in str(left.outputs)
            elif cell.cell_type == "code":
                assert left == cell, "nothing else is changed, and what is folded stays folded"


@pytest.mark.parametrize("source, comment", [
    ("show.source(gpt2lab.mlp.mlp)", "gpt2lab/mlp.py"),
    ("show.source(gpt2lab.bpe.BPE.encode,\n            gpt2lab.bpe.BPE.decode)", "gpt2lab/bpe.py"),
    ("show.source(gpt2lab.gelu.gelu, gpt2lab.mlp.mlp)", "gpt2lab/gelu.py and gpt2lab/mlp.py"),
])
def test_one_line_stands_for_what_was_shown(source, comment):
    shown = nbformat.v4.new_output("display_data", {"text/markdown": "", "text/plain": "def mlp"})
    said = nbformat.v4.new_output("stream", name="stdout", text="mlp: ours")
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(
        f"mlp = yours(mlp)\n{source}", outputs=[said, shown])])
    (cell,) = tool.without_answers(book).cells
    assert cell.source == (f"mlp = yours(mlp)\n# our version is in {comment}: "
                           "look at it when yours works")
    assert cell.outputs == [said]


def test_it_writes_into_no_learners_folder(tmp_path):
    (tmp_path / "my_ops").mkdir()
    for out in (tmp_path, NOTEBOOKS):
        done = subprocess.run([sys.executable, str(TOOL), str(out)], capture_output=True, text=True)
        assert done.returncode == 1 and "is where somebody learns" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["my_ops"]
