"""gpt2lab grade: a line for each learner and exercise, whatever they handed in."""
import json
import re
import time

import pytest

from gpt2lab import cli
from gpt2lab.teach import grading
from gpt2lab.teach.grading import grade

RIGHT = """import numpy as np
def softmax(scores):
    w = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return w / w.sum(axis=-1, keepdims=True)
"""
NO_MAXIMUM = RIGHT.replace(" - scores.max(axis=-1, keepdims=True)", "")


@pytest.fixture
def rooms(tmp_path):
    """A class of learners."""
    def hand_in(place, text):
        path = tmp_path / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    hand_in("ada/softmax.py", RIGHT)
    hand_in("ben/my_ops/softmax.py", NO_MAXIMUM)
    hand_in("ben/my_ops/gelu.py", "def gelu(:")
    hand_in("cem/notebooks/my_ops/softmax.py", "import os\nos._exit(7)")
    hand_in("dora/week 1.py", RIGHT + "def rms_norm(x, gain, epsilon=1e-5):\n    return x * gain\n")
    hand_in("eva/softmax.py", "def softmax(scores):\n    while True:\n        pass\n")
    hand_in("finn/softmax.py", "import socket\nsocket.create_connection(('127.0.0.1', 9))")
    hand_in("gus/softmax.py", "import ctypes\nctypes.string_at(0)")
    (tmp_path / "empty").mkdir()
    return tmp_path


def test_each_learner_and_exercise_gets_a_line(rooms):
    rows = {(row["learner"], row["exercise"]): row for row in grade(rooms)}
    assert list(rows) == [
        ("ada", "softmax"), ("ben", "gelu"), ("ben", "softmax"), ("cem", "softmax"),
        ("dora", "rms_norm"), ("dora", "softmax"), ("eva", "softmax"), ("finn", "softmax"),
        ("gus", "softmax")]
    for row in rows.values():
        assert list(row) == [
            "learner", "exercise", "passed", "cases", "mistake", "seconds", "error"]
        assert row["seconds"] > 0 and row["cases"] > 0
        json.dumps(row)
    for place in (("ada", "softmax"), ("dora", "softmax")):
        assert rows[place]["passed"] == rows[place]["cases"] and rows[place]["error"] is None
    assert rows["ben", "softmax"]["mistake"].startswith("The largest score is not taken away")
    assert 0 < rows["ben", "softmax"]["passed"] < rows["ben", "softmax"]["cases"]
    assert "SyntaxError" in rows["ben", "gelu"]["error"]
    assert "ends Python" in rows["cem", "softmax"]["error"]
    assert "stopped after" in rows["eva", "softmax"]["error"]
    assert rows["eva", "softmax"]["passed"] == 0
    assert "no network" in rows["finn", "softmax"]["error"]
    assert "its process ended with status" in rows["gus", "softmax"]["error"]


def test_one_learners_folder_and_chosen_exercises(rooms):
    rows = list(grade(rooms / "ada", ["gelu", "softmax"]))
    assert [(row["learner"], row["exercise"], row["passed"] == row["cases"]) for row in rows] == [
        ("ada", "gelu", False), ("ada", "softmax", True)]
    assert rows[0]["error"] == "not handed in"


def test_a_process_that_does_not_answer_is_ended(rooms, monkeypatch):
    monkeypatch.setattr(grading, "LIMIT", 1)
    (rooms / "ada" / "softmax.py").write_text(
        "import ctypes, signal\ndef softmax(s):\n    signal.setitimer = lambda *a: None\n"
        "    signal.signal(signal.SIGALRM, signal.SIG_IGN)\n    while True:\n        pass\n")
    begin = time.perf_counter()
    row, = grade(rooms / "ada")
    assert row["error"] == "stopped after 1 seconds" and time.perf_counter() - begin < 5


def test_wrong_names_and_folders_are_refused(rooms):
    for arguments, words in (((rooms, ["soft"]), "there is no exercise soft; there are"),
                             ((rooms / "nobody",), "there is no folder"),
                             ((rooms / "empty",), "holds no .py file of an exercise")):
        with pytest.raises(ValueError, match=words):
            list(grade(*arguments))


def test_the_command_prints_a_line_or_an_object_for_each(rooms, capsys):
    assert cli.main(["grade", str(rooms / "ada")]) == 0
    assert re.fullmatch(r"ada +softmax +7 of 7 cases +\d+\.\d\d s\n", capsys.readouterr().out)
    assert cli.main(["grade", str(rooms), "--json", "--names", "softmax", "gelu"]) == 1
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert len(rows) == 14 and {row["exercise"] for row in rows} == {"softmax", "gelu"}
    assert cli.main(["grade", str(rooms / "ben")]) == 1
    assert "The largest score is not taken away" in capsys.readouterr().out
    assert cli.main(["grade", str(rooms / "nobody")]) == 2
    assert "there is no folder" in capsys.readouterr().err
