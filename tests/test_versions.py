"""Each lesson says in its first cell which version it was written for."""
import nbformat
import pytest

import gpt2lab
from cells import NOTEBOOKS
from gpt2lab.teach import written_for

LESSONS = sorted(path for path in NOTEBOOKS.rglob("*.ipynb")
                 if ".ipynb_checkpoints" not in path.parts)


@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
def test_the_first_code_cell_names_the_version(path):
    first = next(cell for cell in nbformat.read(path, as_version=4).cells
                 if cell.cell_type == "code")
    assert f'written_for("{gpt2lab.__version__}")' in first.source.split("\n")


def test_another_version_is_told(capsys):
    written_for(gpt2lab.__version__)
    assert capsys.readouterr().out == ""
    written_for("9.9")
    printed = capsys.readouterr().out
    assert f"written for gpt2lab 9.9, but gpt2lab {gpt2lab.__version__} runs it" in printed
    assert "gpt2lab lessons FOLDER" in printed
