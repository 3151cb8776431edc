"""Guesses: what is pressed is kept and told at the end; nothing that goes wrong stops a lesson."""
import ast
import json
from collections import Counter

import pytest

from cells import NOTEBOOKS, code_cells
from gpt2lab.teach import guess, guesses, guessing, play

QUESTION = "The mean is ..."
CHOICES = ["near 0", "near 1", "near 10"]


@pytest.fixture
def my_ops(tmp_path, monkeypatch):
    monkeypatch.setenv("GPT2LAB_MY_OPS", str(tmp_path / "ops"))
    monkeypatch.setattr(guessing, "asked", {})          # each test is a lesson of its own
    return tmp_path / "ops"


@pytest.fixture
def asks(monkeypatch, my_ops):
    """Ask a question: the buttons, the line below them, and the text that the file stores."""
    placed = []
    monkeypatch.setattr(play, "place", lambda *placing: placed.append(placing))

    def ask(question=QUESTION, choices=CHOICES, answer="near 1"):
        guess(question, choices, answer=answer)
        box, words = placed[-1]
        label, buttons, state = box.children
        assert label.value == f"Your guess: {question}"
        return buttons, state, words
    return ask


def in_the_file(my_ops):
    return json.loads((my_ops / "guesses.json").read_text(encoding="utf-8"))


def printed(capsys, **settings):
    guesses(**settings)
    return capsys.readouterr().out


def test_the_answer_is_one_of_the_choices(my_ops):
    with pytest.raises(ValueError, match=r"guess: the answer must be one of \['a', 'b'\], got 'c'"):
        guess("Which?", ["a", "b"], answer="c")
    assert guessing.asked == {}


def test_what_is_pressed_is_kept_and_told_at_the_end(asks, my_ops, capsys):
    buttons, state, _ = asks()
    assert (buttons.options, buttons.value, state.value) == (tuple(CHOICES), None, "")
    assert not my_ops.exists(), "nothing is written before somebody guesses"
    assert printed(capsys) == f"""\
{QUESTION}
    you: (no guess)
    answer: near 1
No guess was made.
"""
    buttons.value = "near 10"
    assert in_the_file(my_ops) == {QUESTION: {"said": "near 10", "answer": "near 1"}}
    assert state.value == "Noted: near 10. The answers stand at the end of the lesson."
    assert "    you: near 10\n    answer: near 1\n0 of 1 guesses" in printed(capsys)
    buttons.value = "near 1"                            # another thought
    assert "    you: near 1\n    answer: near 1\n1 of 1 guesses" in printed(capsys)
    assert [path.name for path in my_ops.iterdir()] == ["guesses.json"]


def test_it_shows_the_same_whether_somebody_has_guessed_or_not(asks):
    """So a lesson that is run again gives the output that is stored."""
    buttons, _, words = asks()
    assert words == """\
[Your guess: The mean is ...
   ( ) near 0
   ( ) near 1
   ( ) near 10
 Run this cell to choose.]"""
    buttons.value = "near 0"
    assert asks()[2] == words


def test_what_was_said_is_said_again(asks):
    asks()[0].value = "near 10"
    buttons, state, _ = asks()
    assert buttons.value == "near 10" and state.value.startswith("Noted: near 10.")
    buttons, state, _ = asks(choices=["near 1", "near 2"])      # the lesson has changed since
    assert buttons.value is None and state.value == ""


def test_a_lesson_shows_its_own_guesses_and_everywhere_all(asks, my_ops, capsys, monkeypatch):
    asks("One?", ["a", "b"], "a")[0].value = "a"
    asks("Two?", ["a", "b"], "a")[0].value = "b"
    monkeypatch.setattr(guessing, "asked", {})          # the next lesson
    asks("Three?", ["ä", "b"], "ä")[0].value = "ä"
    asks("Four?", ["a", "b"], "a")
    lines = printed(capsys).splitlines()
    assert lines[::3] == ["Three?", "Four?", "1 of 1 guesses were right."]
    lines = printed(capsys, everywhere=True).splitlines()
    assert lines[::3] == ["One?", "Two?", "Three?", "Four?", "2 of 3 guesses were right."]
    assert lines[3:6] == ["Two?", "    you: b", "    answer: a"]


FOREIGN = [b"", b"{", b"\xff\xfe", b"null", b"3", b"[]", b'["a"]', b'{"a": 1}', b'{"a": null}',
           b'{"a": {"said": "b"}}', b'{"a": ["said", "answer"]}', b"[" * 100_000]


@pytest.mark.parametrize("content", FOREIGN, ids=lambda content: content[:24].decode("latin-1"))
def test_a_broken_or_foreign_file_does_no_harm(content, asks, my_ops, capsys):
    my_ops.mkdir()
    (my_ops / "guesses.json").write_bytes(content)
    buttons, state, _ = asks()
    assert guessing.noted() == {} and buttons.value is None
    assert "(no guess)" in printed(capsys)
    assert printed(capsys, everywhere=True).endswith("\nNo guess was made.\n")
    buttons.value = "near 1"
    assert state.value.startswith("Noted: ")
    assert in_the_file(my_ops) == {QUESTION: {"said": "near 1", "answer": "near 1"}}


def a_file_in_the_way(my_ops):
    my_ops.write_text("a file in its place")


def a_folder_of_its_name(my_ops):
    (my_ops / "guesses.json").mkdir(parents=True)


def a_full_disk(my_ops):
    def full(*_):
        raise OSError("No space left on device")
    return full


@pytest.mark.parametrize("spoil", [a_file_in_the_way, a_folder_of_its_name, a_full_disk])
def test_a_guess_that_cannot_be_kept_is_told(spoil, asks, my_ops, capsys, monkeypatch):
    found = spoil(my_ops)
    if found:
        monkeypatch.setattr(guessing, "write", found)
    buttons, state, _ = asks()
    buttons.value = "near 1"
    assert state.value.startswith("Your guess could not be kept: "), state.value
    assert "(no guess)" in printed(capsys)


def test_a_home_that_is_not_there_is_told(asks, capsys, monkeypatch):
    monkeypatch.setenv("GPT2LAB_MY_OPS", "~nobody-here/ops")
    buttons, state, _ = asks()
    buttons.value = "near 1"
    assert "could not be kept" in state.value and "a home that is not there" in state.value
    assert "(no guess)" in printed(capsys)


def test_no_two_lessons_ask_the_same_question():
    """What was said is kept under the question."""
    lessons = [path.relative_to(NOTEBOOKS).with_suffix("") for path in NOTEBOOKS.rglob("*.ipynb")
               if ".ipynb_checkpoints" not in path.parts]
    asked = Counter(ast.literal_eval(ast.parse(cell.source).body[0].value.args[0])
                    for lesson in lessons for cell in code_cells(lesson)
                    if cell.source.startswith("guess("))
    assert asked and max(asked.values()) == 1, asked.most_common(1)
