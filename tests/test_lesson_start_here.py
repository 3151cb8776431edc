"""Lesson 00: what its pictures draw is what the model computes; the README shows the same path."""
import sys
from pathlib import Path

import nbformat
import numpy as np
import pytest

import gpt2lab
from drawing import drawn
from gpt2lab.sampling import probabilities
from gpt2lab.teach import play, plot, show
from gpt2lab.teach.pictures import start_here as pictures

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tools"))
import path_picture  # noqa: E402

MODEL = gpt2lab.load()


@pytest.fixture(scope="module")
def lesson():
    """What the lesson shows: its pictures, the functions of its explorers, its names."""
    shown, draws, space = [], [], {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plot, "show", shown.append)
        patch.setattr(play, "explore", lambda draw, **controls: draws.append(draw))
        for cell in nbformat.read(path_picture.LESSON, as_version=4).cells:
            if cell.cell_type == "code":
                exec(cell.source, space)
    return shown, draws, space


def test_path_draws_the_models_arrays(lesson):
    (fig,), _, space = lesson
    arrays, trace = drawn(fig), MODEL.trace(MODEL.encode(space["text"]))
    np.testing.assert_array_equal(arrays["embed"], trace["embed"])
    np.testing.assert_array_equal(arrays["stream"], trace["h.3.resid_post"])
    best = np.sort(trace["logits"][-1])[::-1][:6]
    np.testing.assert_array_equal(arrays["logits"], best)
    wanted = np.exp(best.astype(np.float64)) / np.exp(trace["logits"][-1].astype(np.float64)).sum()
    np.testing.assert_allclose(arrays["probabilities"], wanted, rtol=1e-6)
    chosen = show.token(MODEL.tokenizer.decode([int(trace["logits"][-1].argmax())]))
    assert f"the best next token is {chosen} with" in fig.alt
    assert fig.axes[5].texts[0].get_text() == chosen


@pytest.mark.parametrize("text", ["The king and the", "a", "$x$ 🤗 \n<b>", ""])
def test_explorer_draws_the_best_next_words(lesson, text):
    _, (draw,), _ = lesson
    if not text:
        with pytest.raises(ValueError):
            draw(text)
        return
    fig, probs = draw(text), probabilities(MODEL.next_logits(MODEL.encode(text)))
    np.testing.assert_array_equal(drawn(fig)["values"], np.sort(probs)[::-1][:10])
    labels = [label.get_text() for label in fig.axes[0].get_yticklabels()]
    assert labels[0] == show.token(MODEL.tokenizer.decode([int(probs.argmax())]))
    T = len(MODEL.encode(text))
    assert f"After these {T} tokens the best next token is {labels[0]} with" in fig.alt


def test_a_path_of_other_sizes():
    """Two tokens, three blocks, a table of eight words, six of which are shown."""
    trace = {"embed": np.ones((2, 3)), "h.0.resid_post": np.ones((2, 3)),
             "h.1.resid_post": np.ones((2, 3)), "h.2.resid_post": np.full((2, 3), 2.0),
             "logits": np.arange(16.0).reshape(2, 8)}
    fig = pictures.path(["a", "b"], [0, 1], trace, "hgfedc", range(7, 1, -1), np.arange(8) / 28)
    assert "the same after 3 blocks, 8 logits" in fig.alt and "is h with 25%." in fig.alt
    np.testing.assert_array_equal(drawn(fig)["stream"], np.full((2, 3), 2.0))


def test_the_readme_shows_the_lessons_picture():
    assert path_picture.TARGET.read_bytes() == path_picture.path_of_lesson()
