"""Lesson 04: what its pictures draw are the rows of the model's tables."""
from pathlib import Path

import nbformat
import numpy as np
import pytest
from matplotlib.text import Text

import gpt2lab
from gpt2lab.embedding import embed
from gpt2lab.teach.exercises.embedding import nearest
from gpt2lab.teach.pictures import embedding as pictures
from drawing import drawn

NOTEBOOK = Path(__file__).resolve().parents[1] / "notebooks" / "04_embedding.ipynb"
TEXTS = ["a the of", "king queen prince dog cat horse wolf boat ship sea", "he she $x^2$ <b> it \n 🤗 &amp; computer hobgoblin",
         "one two three four five six seven eight nine ten red blue green white", "the the a an"]


@pytest.fixture(scope="module")
def model():
    return gpt2lab.load()


@pytest.fixture(scope="module")
def words(model):
    return pictures.Words(model)


@pytest.mark.parametrize("text", TEXTS)
def test_map_draws_the_rows_of_the_token_table(model, words, text):
    fig = pictures.word_map(words, text)
    arrays, wte = drawn(fig, render=False), model.weights["wte.weight"].astype(np.float64)
    found, left_out = words.find(text)
    assert list(arrays["ids"]) == [model.encode(" " + word)[0] for word in found]
    assert len(found) + len(left_out) == len(set(text.split()))
    for row, near in zip(arrays["ids"], arrays["nearest"]):
        seen = np.flatnonzero(~words.unseen)
        best = [int(seen[i]) for i in nearest(wte[row], wte[seen], 4)]
        assert best[0] == row and list(near) == best[1:]
    rows = wte[arrays["ids"]] - wte[arrays["ids"]].mean(axis=0)
    values, vectors = np.linalg.eigh(rows.T @ rows)
    for axis in (0, 1):                         # PCA another way; the sign is free
        np.testing.assert_allclose(np.abs(arrays["places"][:, axis]), np.abs(rows @ vectors[:, -1 - axis]), atol=1e-6)
    for name in ("hobgoblin (3 tokens)", "computer (never seen in training)", "$x^2$ (", "<b> ("):
        assert (name in fig.alt) == (name.split()[0] in text.split())


@pytest.mark.parametrize("text", TEXTS + ["uncharacteristically I a of to in the on at by"])
def test_names_on_the_map_do_not_cover_each_other(words, text):
    fig = pictures.word_map(words, text)
    drawn(fig)
    boxes = [Text.get_window_extent(note) for note in fig.axes[0].texts]      # without the arrow
    for n, box in enumerate(boxes):
        assert not any(box.overlaps(other) for other in boxes[:n])
        assert box.x0 > 0 and box.x1 < 0.58 * 640


@pytest.mark.parametrize("text, message", [
    ("", "three words"), ("king", "three words"), ("king queen computer", r"never seen in training\)"),
    ("hobgoblin", r"hobgoblin \(3 tokens\)"), ("a b c d e f g h i j k l m n o p q r s t u", "words are too many: 14 fit"),
    ("\ud83e a b", "half a surrogate pair")])
def test_words_that_cannot_be_drawn_are_refused_with_a_sentence(words, text, message):
    with pytest.raises(ValueError, match=message):
        pictures.word_map(words, text)


def test_rows_never_seen_are_equal_and_are_nobodys_neighbours(model, words):
    wte = model.weights["wte.weight"]
    assert words.unseen.sum() == 20_888 and (wte[words.unseen] == wte[3644]).all()
    for word in ("king", "rope", "goblin"):
        assert not words.unseen[words.nearest(model.encode(" " + word)[0], 50)[0]].any()
    assert not pictures.never_seen(np.random.default_rng(1).normal(size=(300, 4))).any()


def test_positions_draw_the_cosines_of_the_position_table(model):
    wpe = model.weights["wpe.weight"].astype(np.float64)
    wanted = wpe @ wpe.T / np.outer(*[np.sqrt((wpe ** 2).sum(axis=-1))] * 2)
    np.testing.assert_allclose(drawn(pictures.positions(model.weights["wpe.weight"]))["cosines"], wanted, atol=1e-5)
    for at in (0, 128, 255):
        fig = pictures.one_position(model.weights["wpe.weight"], at)
        np.testing.assert_allclose(drawn(fig, render=at == 128)["cosines"], wanted[at], atol=1e-5)
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
