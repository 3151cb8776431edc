"""Wrong answers as people write them: none is called right, and most are called by their name.

    pytest -n 0 tests/slow/slow_wrong_answers.py -s -k layer_norm    shows what each one is told
"""
import json
import math
import re
import runpy
import struct
from pathlib import Path

import numpy as np
import pytest

from cells import run
from gpt2lab.model import Ops
from gpt2lab.teach import checking
from gpt2lab.teach.exercises import exercises

NAMED = 0.8                                     # of the wrong answers of one function
FILES = sorted((Path(__file__).parents[1] / "wrong_answers").glob("*.py"))
ANSWERS = {path.stem: runpy.run_path(str(path)) for path in FILES}


def of(kind):
    """Each function with its answers: of("WRONG"), of("RIGHT")."""
    return [pytest.param(name, given, id=name)
            for lesson in ANSWERS.values() for name, given in lesson[kind].items()]


def told(name, source):
    """What check tells an answer that is written in a cell of a notebook."""
    operations = {one: exercise.right for one, exercise in exercises().items()} | vars(Ops())
    space = operations | {"np": np, "math": math, "json": json, "re": re, "struct": struct,
                          "__name__": "__main__"}
    run(source, space)
    return checking.verdict(space[name])


@pytest.fixture(autouse=True)
def empty_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("GPT2LAB_MY_OPS", str(tmp_path))


@pytest.mark.parametrize("name, answers", of("WRONG"))
def test_no_wrong_answer_is_called_right_and_most_have_a_name(name, answers):
    texts = [told(name, answer) for answer in answers]
    named = ["is what you get when" in text for text in texts]
    for answer, text, known in zip(answers, texts, named):
        print(f"\n{answer}    {'NAMED' if known else 'NO NAME'}: {text}")
    print(f"\n{name}: {sum(named)} of {len(named)} wrong answers have a name")
    assert not [answer for answer, text in zip(answers, texts) if "cases pass. " in text]
    assert len(set(answers)) == len(answers)
    assert sum(named) >= NAMED * len(named)


@pytest.mark.parametrize("name, answers", of("RIGHT"))
def test_every_right_answer_is_called_right(name, answers):
    for answer in answers:
        assert "cases pass. " in told(name, answer), f"{answer}\n{told(name, answer)}"
