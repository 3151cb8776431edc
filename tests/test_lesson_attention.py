"""Lesson 06: what its pictures draw is what the model computes; the loops version is the operation."""
from pathlib import Path

import nbformat
import numpy as np
import pytest

import gpt2lab
from gpt2lab.attention import attend
from gpt2lab.softmax import softmax
from gpt2lab.teach.pictures import attention as pictures
from drawing import drawn

NOTEBOOK = Path(__file__).resolve().parents[1] / "notebooks" / "06_attention.ipynb"
TEXTS = ["a", "$$ x_1^2 $ <b>bold</b> &amp; \\frac", "two\nlines\t🤗 naïve and then some more", "word and " * 40]


@pytest.fixture(scope="module")
def model():
    return gpt2lab.load()


@pytest.mark.parametrize("text", TEXTS)
def test_four_rows_are_the_models(model, text):
    ids = model.encode(text)
    T = min(len(ids), 64)
    trace, reader = model.trace(ids[:64]), pictures.Reader(model)
    for position in (0, 5, 63):
        t = min(position, T - 1)
        rows = drawn(pictures.where(reader, text, 1, 0, position), render=position == 5)
        for name in ("pattern", "mixed"):
            np.testing.assert_array_equal(rows[name], trace[f"h.1.attn.{name}"][0, t])
        np.testing.assert_array_equal(rows["masked"], trace["h.1.attn.scores"][0, t])
        assert np.isinf(rows["masked"][t + 1:]).all() and np.isfinite(rows["scores"]).all()
        np.testing.assert_allclose(rows["scores"][:t + 1], rows["masked"][:t + 1], rtol=0, atol=1e-4)
        np.testing.assert_allclose(rows["pattern"] @ trace["h.1.attn.v"][0], rows["mixed"], rtol=0, atol=1e-4)


@pytest.mark.parametrize("text", TEXTS)
def test_pattern_is_the_models(model, text):
    ids = model.encode(text)
    fig = pictures.pattern(pictures.Reader(model), text, 3, 2)
    np.testing.assert_array_equal(drawn(fig)["pattern"], model.trace(ids[:64])["h.3.attn.pattern"][2])
    assert (f"the first 64 of {len(ids)} tokens" in fig.alt) == (len(ids) > 64)


def test_what_is_cut_off_changes_nothing_of_what_is_drawn(model):
    ids = model.encode(TEXTS[-1])
    whole = model.trace(ids)["h.2.attn.pattern"][:, :64, :64]
    np.testing.assert_allclose(whole, model.trace(ids[:64])["h.2.attn.pattern"], rtol=0, atol=1e-5)


def test_a_move_runs_no_model_and_draws_no_word_again(model):
    runs, reader = [], pictures.Reader(model)

    class Counted:
        def __getattr__(self, name):
            runs.append(name)
            return getattr(model, name)
    reader.model = Counted()
    pictures.where(reader, TEXTS[3], 1, 0, 0)
    before, words = len(runs), pictures.printed.cache_info().misses
    for position in (1, 20, 63):
        pictures.where(reader, TEXTS[3], 1, 0, position)
    assert len(runs) == before and pictures.printed.cache_info().misses == words


def test_an_empty_text_is_refused_with_a_sentence(model):
    with pytest.raises(ValueError, match="the prompt is empty"):
        pictures.where(pictures.Reader(model), "", 1, 0)


def test_steps_are_mask_and_softmax():
    scores = np.array([[2.0, -1, 1], [1, 2, 0], [0, 1, 3]])
    arrays = drawn(pictures.steps(scores))
    assert (arrays["masked"] == np.where(np.tri(3, dtype=bool), scores, -np.inf)).all()
    np.testing.assert_allclose(arrays["pattern"] @ np.eye(3), attend(scores * 3 ** 0.5, np.eye(3), np.eye(3)), atol=1e-12)


@pytest.mark.parametrize("Dh", [1, 64, 256])
@pytest.mark.parametrize("seed", [0, 8, 20])
def test_scale_draws_the_definition(Dh, seed):
    arrays = drawn(pictures.scale(Dh, seed), render=seed == 8)
    vectors = pictures.coins(7, 256, seed=seed)[:, :Dh]
    assert set(np.unique(vectors)) <= {-1.0, 1.0}
    np.testing.assert_array_equal(arrays["scores"], [key @ vectors[0] for key in vectors[1:]])
    np.testing.assert_allclose(arrays["without"], softmax(arrays["scores"]))
    np.testing.assert_allclose(arrays["with"], softmax(arrays["scores"] / Dh ** 0.5))
    maps = drawn(pictures.scales((Dh,), seed), render=seed == 0 and Dh == 256)
    np.testing.assert_allclose(maps["without the root"][0], arrays["without"])


def test_stairs_cover_exactly_the_later_keys():
    from matplotlib.path import Path as Outline
    for T in (2, 3, 7):
        points = np.array([(s, t) for t in range(T) for s in range(T)], float)
        inside = Outline(pictures.stairs(T)).contains_points(points).reshape(T, T)
        assert (inside == np.triu(np.ones((T, T), bool), k=1)).all()


@pytest.mark.parametrize("T, S", [(4, 4), (1, 4), (2, 4)])
def test_loops_version_is_the_operation(T, S):
    import math
    space = {"np": np, "math": math}
    for cell in nbformat.read(NOTEBOOK, as_version=4).cells:
        if "def attend_loops(" in cell.source:
            exec(cell.source.split("\n\n")[0], space)
    q, k, v = (np.random.default_rng(i).normal(size=(n, 3)) for i, n in enumerate((T, S, S)))
    np.testing.assert_allclose(space["attend_loops"](q, k, v), attend(q, k, v), atol=1e-12)
