"""Lesson 06: its pictures draw what the model computes; the loops version is the operation."""
import warnings

import numpy as np
import pytest

import gpt2lab
from cells import functions, shown
from drawing import drawn
from gpt2lab.attention import attend
from gpt2lab.softmax import softmax
from gpt2lab.teach import show
from gpt2lab.teach.pictures import attention as pictures, pixels

TEXTS = ["a", "$$ x_1^2 $ <b>bold</b> &amp; \\frac", "two\nlines\t🤗 naïve and then some more",
         "word and " * 40]


@pytest.fixture(scope="module")
def model():
    return gpt2lab.load()


@pytest.fixture(scope="module")
def lesson(model):
    return functions("06_attention", "where", "scaled", "coin_scores", "coins", "attend_loops",
                     model=model, softmax=softmax, attend=attend, block=1)


@pytest.mark.parametrize("text", TEXTS)
def test_four_rows_are_the_models(model, lesson, text):
    ids = model.encode(text)
    T = min(len(ids), 64)
    trace = model.trace(ids[:64])
    for position in (0, 5, 63):
        t = min(position, T - 1)
        rows = drawn(lesson.where(text, position), render=position == 5)
        for name in ("pattern", "mixed"):
            np.testing.assert_array_equal(rows[name], trace[f"h.1.attn.{name}"][0, t])
        np.testing.assert_array_equal(rows["masked"], trace["h.1.attn.scores"][0, t])
        assert np.isinf(rows["masked"][t + 1:]).all() and np.isfinite(rows["scores"]).all()
        np.testing.assert_allclose(rows["scores"][:t + 1], rows["masked"][:t + 1], rtol=0,
                                   atol=1e-4)
        np.testing.assert_allclose(rows["pattern"] @ trace["h.1.attn.v"][0], rows["mixed"], rtol=0,
                                   atol=1e-4)


@pytest.mark.parametrize("text", TEXTS)
def test_pattern_draws_what_it_is_given(model, text):
    ids = model.encode(text)
    weights = model.trace(ids[:64])["h.3.attn.pattern"][2]
    fig = pictures.pattern(show.tokens(model.tokenizer, ids), weights, len(weights) - 1, 3, 2)
    np.testing.assert_array_equal(drawn(fig)["pattern"], weights)
    np.testing.assert_array_equal(fig.axes[0].images[0].get_array(), weights)
    assert (f"the first 64 of {len(ids)} tokens" in fig.alt) == (len(ids) > 64)


def test_what_is_cut_off_changes_nothing_of_what_is_drawn(model):
    ids = model.encode(TEXTS[-1])
    whole = model.trace(ids)["h.2.attn.pattern"][:, :64, :64]
    np.testing.assert_allclose(whole, model.trace(ids[:64])["h.2.attn.pattern"], rtol=0, atol=1e-5)


def test_a_move_runs_no_model_and_draws_no_word_again(lesson, monkeypatch):
    lesson.where(TEXTS[3], 0)
    for name in ("trace", "run_tapped", "__call__", "next_logits", "last_logits"):
        monkeypatch.setattr(gpt2lab.GPT2, name, None)
    words = pixels.printed.cache_info().misses
    for position in (1, 20, 63):
        lesson.where(TEXTS[3], position)
    assert pixels.printed.cache_info().misses == words


def test_an_empty_text_is_refused_with_a_sentence(lesson):
    with pytest.raises(ValueError, match="the prompt is empty"):
        lesson.where("", 1)


def test_letters_that_the_font_lacks_give_no_warning(lesson):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        drawn(lesson.where("नमस्ते king", 1))


def test_steps_are_mask_and_softmax():
    (fig,) = shown("06_attention", "pictures.steps(", pictures=pictures, softmax=softmax)
    arrays = drawn(fig)
    scores, T = arrays["scores"], 4
    assert (arrays["masked"] == np.where(np.tri(T, dtype=bool), scores, -np.inf)).all()
    np.testing.assert_allclose(arrays["pattern"] @ np.eye(T),
                               attend(scores * T ** 0.5, np.eye(T), np.eye(T)), atol=1e-12)
    words = [[text.get_text() for text in ax.texts] for ax in fig.axes]
    assert words[1].count("-inf") == 6 == words[2].count("0") and "0.73" in words[2]


@pytest.mark.parametrize("Dh", [1, 64, 256])
@pytest.mark.parametrize("seed", [0, 8, 20])
def test_scale_draws_the_definition(lesson, Dh, seed):
    arrays = drawn(lesson.scaled(Dh, seed), render=seed == 8)
    vectors = lesson.coins(7, 256, seed=seed)[:, :Dh]
    assert set(np.unique(vectors)) <= {-1.0, 1.0}
    np.testing.assert_array_equal(arrays["scores"], [key @ vectors[0] for key in vectors[1:]])
    np.testing.assert_allclose(arrays["without"], softmax(arrays["scores"]))
    np.testing.assert_allclose(arrays["with"], softmax(arrays["scores"] / Dh ** 0.5))
    fig = pictures.scales([Dh], arrays["without"][None], arrays["with"][None])
    maps = drawn(fig, render=seed == 0 and Dh == 256)
    np.testing.assert_allclose(maps["without the root"][0], arrays["without"])


def test_stairs_cover_exactly_the_later_keys():
    from matplotlib.path import Path as Outline
    for T in (2, 3, 7):
        points = np.array([(s, t) for t in range(T) for s in range(T)], float)
        inside = Outline(pixels.stairs(T)).contains_points(points).reshape(T, T)
        assert (inside == np.triu(np.ones((T, T), bool), k=1)).all()


@pytest.mark.parametrize("T, S", [(4, 4), (1, 4), (2, 4)])
def test_loops_version_is_the_operation(lesson, T, S):
    q, k, v = (np.random.default_rng(i).normal(size=(n, 3)) for i, n in enumerate((T, S, S)))
    np.testing.assert_allclose(lesson.attend_loops(q, k, v), attend(q, k, v), atol=1e-12)
