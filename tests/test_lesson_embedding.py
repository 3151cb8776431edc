"""Lesson 04: what its pictures draw are the rows of the model's tables."""
from pathlib import Path

import nbformat
import numpy as np
import pytest
from matplotlib.text import Text

import gpt2lab
from drawing import drawn
from gpt2lab.embedding import embed
from gpt2lab.inside import never_seen
from gpt2lab.teach import play, plot
from gpt2lab.teach.exercises.embedding import nearest, one_token_words
from gpt2lab.teach.pictures.bpe import label

NOTEBOOK = Path(__file__).resolve().parents[1] / "notebooks" / "04_embedding.ipynb"
TEXTS = ["a the of", "king queen prince dog cat horse wolf boat ship sea",
         "he she $x^2$ <b> it \n 🤗 &amp; computer hobgoblin",
         "one two three four five six seven eight nine ten red blue green white", "the the a an"]


@pytest.fixture(scope="module")
def model():
    return gpt2lab.load()


@pytest.fixture(scope="module")
def lesson():
    """The cells that draw, run: what they leave behind, what they show, what explorers draw."""
    space, shown, draws = {}, [], []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plot, "show", shown.append)
        patch.setattr(play, "explore", lambda draw, **controls: draws.append(draw))
        for cell in nbformat.read(NOTEBOOK, as_version=4).cells:
            needed = ("import numpy", "plot.show(", "play.explore(", "check(embed)", "= yours(",
                      "ids = np.array(model.encode(\"Once")
            if cell.cell_type == "code" and any(part in cell.source for part in needed):
                exec(cell.source, space)
    return space, shown, draws


@pytest.fixture(scope="module")
def word_map(lesson):
    """The map's function as its explorer calls it."""
    return lesson[2][1]


@pytest.mark.parametrize("text", TEXTS)
def test_map_draws_the_rows_of_the_token_table(model, word_map, text):
    fig = word_map(text)
    arrays, wte = drawn(fig, render=False), model.weights["wte.weight"].astype(np.float64)
    unseen = never_seen(model.weights["wte.weight"])
    found, left_out = one_token_words(text, model.encode, unseen, 14)
    ids = [model.encode(" " + word)[0] for word in found]
    assert list(found.values()) == ids and len(found) + len(left_out) == len(set(text.split()))
    assert arrays["tokens"] == [model.tokenizer.decode_bytes([i]) for i in ids]
    seen = np.flatnonzero(~unseen)
    for row, near in zip(ids, arrays["nearest"]):
        best = [int(seen[i]) for i in nearest(wte[row], wte[seen], 4)]
        assert best[0] == row and near == [model.tokenizer.decode_bytes([i]) for i in best[1:]]
    rows = wte[ids] - wte[ids].mean(axis=0)
    values, vectors = np.linalg.eigh(rows.T @ rows)
    for axis in (0, 1):                         # PCA another way; the sign is free
        wanted = np.abs(rows @ vectors[:, -1 - axis])
        np.testing.assert_allclose(np.abs(arrays["places"][:, axis]), wanted, atol=1e-6)
    assert f"keeps {100 * values[-2:].sum() / values.sum():.0f} % of their spread" in fig.alt
    for name in ("hobgoblin (3 tokens)", "computer (never seen in training)", "$x^2$ (", "<b> ("):
        assert (name in fig.alt) == (name.split()[0] in text.split())
    shown = [note.get_text() for note in fig.axes[0].texts]
    assert shown == [label(token) for token in arrays["tokens"]]


@pytest.mark.parametrize("text", TEXTS + ["uncharacteristically I a of to in the on at by"])
def test_names_on_the_map_do_not_cover_each_other(word_map, text):
    fig = word_map(text)
    drawn(fig)
    boxes = [Text.get_window_extent(note) for note in fig.axes[0].texts]      # without the arrow
    for n, box in enumerate(boxes):
        assert not any(box.overlaps(other) for other in boxes[:n])
        assert box.x0 > 0 and box.x1 < 0.58 * 640


@pytest.mark.parametrize("text, message", [
    ("", "three words"), ("king", "three words"),
    ("king queen computer", r"never seen in training\)"), ("hobgoblin", r"hobgoblin \(3 tokens\)"),
    ("a b c d e f g h i j k l m n o p q r s t u", "words are too many: 14 fit"),
    (" ".join(map(str, range(500))), "words are too many: 14 fit"),
    ("\ud83e a b", "half a surrogate pair")])
def test_words_that_cannot_be_drawn_are_refused_with_a_sentence(word_map, text, message):
    with pytest.raises(ValueError, match=message):
        word_map(text)


def test_positions_draw_the_cosines_of_the_position_table(model, lesson):
    _, shown, (one_position, _) = lesson
    wpe = model.weights["wpe.weight"].astype(np.float64)
    wanted = wpe @ wpe.T / np.outer(*[np.sqrt((wpe ** 2).sum(axis=-1))] * 2)
    (fig,) = [fig for fig in shown if "cosines" in fig.drawn]
    np.testing.assert_allclose(drawn(fig)["cosines"], wanted, atol=1e-5)
    assert f"neighbours have {np.diagonal(wanted, 1).mean():.2f}, places 10 apart" in fig.alt
    for at in (0, 128, 255):
        fig = one_position(at)
        arrays = drawn(fig, render=at == 128)
        np.testing.assert_allclose(arrays["cosines"], wanted[at], atol=1e-5)
        assert f"position {np.argsort(-wanted[at])[1]} with" in fig.alt


def test_loops_version_is_the_operation():
    loops = function_of_the_notebook("embed_loops")
    draw = np.random.default_rng(3).normal
    wte, wpe = draw(size=(7, 4)), draw(size=(6, 4))
    for ids, start in (([2, 0, 6], 0), ([5], 5), ([1, 1, 1, 3], 2)):
        np.testing.assert_allclose(loops(ids, wte, wpe, start), embed(ids, wte, wpe, start), atol=0)


def function_of_the_notebook(name):
    space = {}
    for cell in nbformat.read(NOTEBOOK, as_version=4).cells:
        if cell.cell_type == "code" and f"def {name}(" in cell.source:
            exec(cell.source.split("\n\n")[0], space)
    return space[name]
