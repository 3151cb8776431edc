"""Two learners go through the whole course, each notebook in a kernel of its own, from the top.

The diligent one writes every printed answer, and finds their own functions in every lesson. The
careless one writes a known mistake into every stub: each is named, nothing is kept, nothing stops.
"""
import re
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from gpt2lab.teach.exercises import exercises, title

NOTEBOOKS = Path(__file__).resolve().parents[2] / "notebooks"
LESSONS = sorted(NOTEBOOKS.glob("*.ipynb")) + sorted(NOTEBOOKS.glob("bonus/*.ipynb"))
ANSWER = re.compile(r"<summary>Answer</summary>\s*```python\n(.*?)```", re.S)
ALL = exercises()


@pytest.fixture(scope="module")
def desks(tmp_path_factory):
    """Where each learner keeps what is theirs, from lesson to lesson."""
    return {who: tmp_path_factory.mktemp(who) / "my_ops" for who in ("diligent", "careless")}


def does(path, desk, stub_of):
    """The notebook after a learner did it: stub_of(name) is written into each stub."""
    book = nbformat.read(path, as_version=4)
    answers = {re.findall(r"^def (\w+)", source, flags=re.M)[-1]: source
               for cell in book.cells for source in ANSWER.findall(cell.source)}
    for cell in book.cells:
        if "stub" in cell.metadata.get("tags", []):
            name = re.search(r"^check\((\w+)\)", cell.source, flags=re.M)[1]
            cell.source = f"{stub_of(name, answers)}\n\ncheck({name})"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GPT2LAB_MY_OPS", str(desk))
        NotebookClient(book, kernel_name="python3", timeout=600,
                       resources={"metadata": {"path": str(path.parent)}}).execute()
    return book


def said(cell):
    return "".join(output.get("text", "") for output in cell.outputs)


def stubs(book):
    return [cell for cell in book.cells if "stub" in cell.metadata.get("tags", [])]


@pytest.mark.parametrize("path", LESSONS, ids=lambda p: p.stem)
def test_the_diligent_learner(path, desks):
    book = does(path, desks["diligent"], lambda name, answers: answers[name])
    for cell in stubs(book):
        text = said(cell)
        assert re.search(r"all \d+ cases pass\. Kept for the later lessons\.", text), text
    code = [cell for cell in book.cells if cell.cell_type == "code"]
    whose = [line for cell in code for line in said(cell).splitlines()
             if re.fullmatch(r"\w+: (yours|ours, .*)", line)]
    assert whose or path.stem.startswith("00") and not stubs(book)
    assert all(line.endswith(": yours") for line in whose), whose


@pytest.mark.parametrize("path", LESSONS, ids=lambda p: p.stem)
def test_the_careless_learner(path, desks):
    slips = {}

    def slip(name, _):
        number = len(path.stem) % len(ALL[name].mistakes)
        slips[name] = ALL[name].mistakes[number]
        return ("from gpt2lab.teach.exercises import exercises as known_to_the_checks\n"
                f"slip_{name} = known_to_the_checks()['{name}'].mistakes[{number}]\n\n"
                f"def {name}(*arguments, **named):\n    return slip_{name}(*arguments, **named)")
    book = does(path, desks["careless"], slip)
    for cell, (name, mistake) in zip(stubs(book), slips.items(), strict=True):
        assert title(mistake) in said(cell), (name, mistake.__name__, said(cell))
    assert not [*desks["careless"].glob("*.py")], "a mistake was kept"

