"""The students' edition: hints, and no answer. tests/slow/slow_edition.py does its exercises."""
import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

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
        assert "<summary>Answer" not in text and "# final: " not in text
        assert len(re.findall("<summary>Hint", text)) == sum(
            cell.source.count("<summary>Hint") for cell in ours.cells)
        assert [cell.id for cell in theirs.cells] == [cell.id for cell in ours.cells]
        for source in answers(ours).values():
            body = source.strip().split("\n", 1)[1].strip()
            assert all(body not in cell.source for cell in theirs.cells), body


def test_it_writes_into_no_learners_folder(tmp_path):
    (tmp_path / "my_ops").mkdir()
    for out in (tmp_path, NOTEBOOKS):
        done = subprocess.run([sys.executable, str(TOOL), str(out)], capture_output=True, text=True)
        assert done.returncode == 1 and "is where somebody learns" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["my_ops"]
