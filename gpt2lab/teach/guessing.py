"""Guesses: buttons under a question, what you said, and at the end the answers."""
import json

import ipywidgets as widgets

from . import play
from .attempting import told
from .keeping import folder, write

asked = {}              # question -> answer, of this lesson, in the order of asking


def guess(question, choices, answer):
    """Show a question with a button for each choice; note what you press, and tell nothing yet.

    answer: one of the choices, shown by guesses(). What you said is kept in my_ops/guesses.json.
    Raises: ValueError where the answer is none of the choices.
    """
    if answer not in choices:
        raise ValueError(f"guess: the answer must be one of {choices}, got {answer!r}")
    asked[question] = answer
    said = noted().get(question, {}).get("said")
    said = said if said in choices else None    # the lesson may have changed since
    buttons = widgets.ToggleButtons(options=choices, value=said, style={"button_width": "auto"})
    state = widgets.Label(_state(said))

    def note(change):
        try:
            _note(question, change["new"], answer)
            state.value = _state(change["new"])
        except Exception as error:              # Jupyter shows no error of a callback anywhere
            state.value = f"Your guess could not be kept: {told(error)}"
    buttons.observe(note, names="value")
    play.place(widgets.VBox([widgets.Label(f"Your guess: {question}"), buttons, state]),
               "\n".join([f"[Your guess: {question}", *(f"   ( ) {choice}" for choice in choices),
                          " Run this cell to choose.]"]))


def guesses(everywhere=False):
    """Show each question of this lesson, or of all lessons, with your guess and the answer."""
    said, right, made = noted(), 0, 0
    before = {question: guess["answer"] for question, guess in said.items()} if everywhere else {}
    known = before | asked
    for question, answer in known.items():
        yours = said.get(question, {}).get("said")
        right, made = right + (yours == answer), made + (yours is not None)
        print(f"{question}\n    you: {yours or '(no guess)'}\n    answer: {answer}")
    print(f"{right} of {made} guesses were right." if made else "No guess was made.")


def noted():
    """{question: {"said", "answer"}} of all lessons, in the order in which you answered first."""
    try:
        found = json.loads((folder() / "guesses.json").read_text(encoding="utf-8"))
        return {question: {"said": str(guess["said"]), "answer": str(guess["answer"])}
                for question, guess in found.items()}
    except (OSError, ValueError, AttributeError, TypeError, KeyError, RecursionError):
        return {}                               # none yet, or a file that is not ours


def _note(question, said, answer):
    known = noted() | {question: {"said": said, "answer": answer}}
    write(folder() / "guesses.json", json.dumps(known, ensure_ascii=False, indent=1) + "\n")


def _state(said):
    return f"Noted: {said}. The answers stand at the end of the lesson." if said else ""
