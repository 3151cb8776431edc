"""The story and its stations, as the lessons of the block show them."""
import pytest

import gpt2lab
from gpt2lab.teach import living, telling

MODEL = gpt2lab.load()


@pytest.mark.parametrize("built, words", [([], "None of them is yours yet."),
                                          (["01", "05"], "Yours: what lessons 01, 05 built.")])
def test_story_prints_it_and_shows_the_stations(monkeypatch, capsys, built, words):
    shown = []
    monkeypatch.setattr(telling, "done", lambda: built)
    monkeypatch.setattr(telling.plot, "show", shown.append)
    telling.story(MODEL, "05")
    printed = capsys.readouterr().out
    assert printed == living.STORY + living.writes(MODEL, living.STORY) + "\n"
    assert printed.startswith(living.STORY + " king saw")
    (fig,) = shown
    assert words in fig.alt and "it writes “ king”" in fig.alt
