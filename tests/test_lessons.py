"""The course as a diligent learner does it: every answer in its stub passes, is kept, and runs.

And the checks themselves: every known mistake is caught and named by its own hint.
"""
import contextlib
import os
import re
from dataclasses import fields
from pathlib import Path

import nbformat
import numpy as np
import pytest

import gpt2lab
from cells import run
from gpt2lab.teach import compare, diff, mine
from gpt2lab.teach.attempting import attempt
from gpt2lab.teach.checking import verdict
from gpt2lab.teach.exercises import exercises, hint, title
from gpt2lab.teach.judging import miss, recognise
from gpt2lab.validate import STORED

NOTEBOOKS = Path(__file__).resolve().parents[1] / "notebooks"
LESSONS = sorted(p for p in NOTEBOOKS.rglob("*.ipynb") if ".ipynb_checkpoints" not in p.parts)
ANSWER = re.compile(r"<summary>Answer</summary>\s*```python\n(.*?)```", re.S)
ALL = exercises()
PAIRS = [pytest.param(e, m, id=f"{e.name}-{m.__name__}") for e in ALL.values() for m in e.mistakes]

def answers(book):
    """{name of the function: source} of all answers in a notebook."""
    found = {}
    for cell in book.cells:
        if cell.cell_type == "markdown":
            for source in ANSWER.findall(cell.source):
                found[re.findall(r"^def (\w+)", source, flags=re.M)[-1]] = source
    return found


def with_answer(source, found):
    """A stub cell with the answer in the stub's place; the check below it stays."""
    name = re.search(r"^def (\w+)", source, flags=re.M)[1]
    return found[name] + "\n\n" + re.search(r"^check\(.*", source, flags=re.M)[0]


def study(path, found=None):
    """Do the exercises of a notebook, up to the last cell that uses an answer.

    Yields what each check printed. found: the answers, where the notebook does not hold them.
    """
    os.chdir(path.parent)                       # the fixture goes back
    book = nbformat.read(path, as_version=4)
    found, space = found or answers(book), {"__name__": "__main__"}
    last = max((i for i, cell in enumerate(book.cells) if "stub" in cell.metadata.get("tags", [])
                or re.search(r"\b(mine|yours)\(", cell.source)), default=-1)
    for cell in book.cells[:last + 1]:
        tags = cell.metadata.get("tags", [])
        if cell.cell_type == "code":
            if "raises-exception" in tags:
                with contextlib.suppress(Exception):
                    run(cell.source, space)
            elif "stub" in tags:
                yield run(with_answer(cell.source, found), space)
            elif any(part in cell.source for part in ("import", "def ", " = ", "play.train(")):
                run(cell.source, space)             # what later cells need; the rest is nbval's


@pytest.fixture
def my_ops(tmp_path, monkeypatch):
    monkeypatch.setenv("GPT2LAB_MY_OPS", str(tmp_path))
    monkeypatch.chdir(NOTEBOOKS)
    return tmp_path


@pytest.fixture(scope="module")
def desk(tmp_path_factory):
    """Where one diligent learner keeps what the checks kept, from lesson to lesson."""
    return tmp_path_factory.mktemp("desk")


@pytest.mark.parametrize("path", LESSONS, ids=lambda p: p.stem)
def test_every_answer_passes_and_runs_in_the_model(path, desk, my_ops, monkeypatch):
    monkeypatch.setenv("GPT2LAB_MY_OPS", str(desk))
    printed = list(study(path))
    assert len(printed) >= (0 if path.stem.startswith("00") else 2)
    for text in printed:
        assert re.search(r"all \d+ cases pass\. Kept for the later lessons\.", text), text
    ids = [464, 3616, 286, 1204]
    np.testing.assert_allclose(gpt2lab.load(ops=mine())(ids), gpt2lab.load()(ids), atol=1e-4)


def test_the_diligent_learners_operations_write_the_reference(desk, my_ops, monkeypatch, capsys):
    """After all lessons (the test above, or here what it has not done) each operation is theirs."""
    monkeypatch.setenv("GPT2LAB_MY_OPS", str(desk))
    operations = {field.name for field in fields(gpt2lab.Ops)} & ALL.keys()
    for path in LESSONS:
        if not operations <= {kept.stem for kept in desk.iterdir()}:
            list(study(path))
    model = gpt2lab.load(ops=mine())
    assert all(getattr(model.ops, name) is not getattr(gpt2lab.Ops(), name) for name in operations)
    ids, greedy = (np.load(STORED)[f"sentence/{part}"] for part in ("ids", "greedy"))
    done = model.generate_ids(ids, max_new_tokens=len(greedy), temperature=0, eos_token_id=None)
    assert done.ids == list(greedy)
    assert diff(model, ids) is None
    compare(model)
    assert "agree to 4 decimals\ngreedy text: 40 of 40 tokens alike\n" in capsys.readouterr().out


@pytest.mark.parametrize("exercise", ALL.values(), ids=ALL)
def test_right_answer_passes_and_stub_is_not_written_yet(exercise, my_ops):
    for case in exercise.cases:
        twice = (attempt(exercise.right, case) for _ in range(2))
        assert miss(*twice, exercise.tolerance) is None

    def stub(*arguments, **named):
        return ...
    stub.__name__ = exercise.name
    assert verdict(stub) == f"{exercise.name}: not written yet"
    assert not list(my_ops.iterdir())


@pytest.mark.parametrize("exercise, mistake", PAIRS)
def test_mistake_is_caught_by_its_own_hint(exercise, mistake, my_ops):
    def learners(*arguments, **named):
        return mistake(*arguments, **named)
    learners.__name__ = exercise.name
    text = verdict(learners)
    assert f"This is what you get when: {title(mistake)}" in text, text
    assert f"Hint: {hint(mistake)}" in text and len(hint(mistake).split()) >= 5
    assert re.search(r"\d+ of \d+ cases pass\nfirst miss: ", text)
    assert not list(my_ops.iterdir()), "a wrong function is not kept"


@pytest.mark.parametrize("exercise", ALL.values(), ids=ALL)
def test_hints_tell_mistakes_apart(exercise):
    assert len({title(m) for m in exercise.mistakes}) == len(exercise.mistakes)
    rights = [attempt(exercise.right, case) for case in exercise.cases]
    for mistake in exercise.mistakes:
        results = [attempt(mistake, case) for case in exercise.cases]
        misses = [miss(result, right, exercise.tolerance) for result, right in zip(results, rights)]
        assert recognise(exercise, results, misses) == (mistake, True)
