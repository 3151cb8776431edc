"""The cases of each exercise refuse every change at one place of its printed answer.

    pytest tests/slow/slow_mutations.py -k softmax -s       shows what survives, for SURVIVORS

A change that survives stands in survivors.py with the reason why it means nothing.
"""
import contextlib
import re
from functools import cache

import nbformat
import pytest

from cells import run
from gpt2lab.teach.attempting import attempt
from gpt2lab.teach.exercises import exercises
from gpt2lab.teach.judging import miss
from mutations import mutants
from survivors import SURVIVORS
from test_lessons import LESSONS, answers, with_answer

NEEDED = re.compile(r"import|^def |^with |^\w+(, \w+)* = |^play\.train\(", re.M)    # later on
SECONDS = 1.0                                   # for a case of a mutant: most end in milliseconds


@cache
def spaces(path):
    """{exercise: (answer, namespace in which the lesson reaches its stub)}."""
    book, found = nbformat.read(path, as_version=4), {}
    given, space = answers(book), {"__name__": "__main__"}
    for cell in book.cells:
        tags = cell.metadata.get("tags", [])
        if cell.cell_type != "code":
            continue
        if "raises-exception" in tags:
            with contextlib.suppress(Exception):
                run(cell.source, space)
        elif "stub" in tags:
            name = re.search(r"^def (\w+)", cell.source, flags=re.M)[1]
            found[name] = given[name], dict(space)
            run(with_answer(cell.source, given), space)
        elif NEEDED.search(cell.source):
            run(cell.source, space)
    return found


def survivors(name, path):
    """Changes of the answer that all cases let by, in words."""
    exercise, (answer, space) = exercises()[name], spaces(path)[name]
    rights = [attempt(exercise.right, case) for case in exercise.cases]
    left = []
    for what, source in mutants(answer):
        mutant_space = dict(space)
        try:
            run(source, mutant_space)
        except Exception:                       # a default that cannot be computed: refused
            continue
        refused = any(miss(attempt(mutant_space[name], case, SECONDS), right, exercise.tolerance)
                      for case, right in zip(exercise.cases, rights))
        if not refused:
            left.append(what)
    return left


ALL = [pytest.param(name, path, id=name) for path in LESSONS
       for name in answers(nbformat.read(path, as_version=4))]


@pytest.mark.parametrize("name, path", ALL)
def test_every_change_of_the_answer_is_refused(name, path, tmp_path, monkeypatch):
    monkeypatch.setenv("GPT2LAB_MY_OPS", str(tmp_path))
    monkeypatch.chdir(path.parent)
    left, listed = survivors(name, path), SURVIVORS.get(name, {})
    for what in left:
        print(f"{name}: {what}" + ("" if what in listed else "   (not listed)"))
    assert set(left) == set(listed), "the cases let by a change, or the list names one they refuse"
    assert all(len(reason.split()) >= 3 for reason in listed.values())


def test_the_list_names_exercises_that_are_there():
    assert set(SURVIVORS) <= {parameter.values[0] for parameter in ALL} == exercises().keys()
