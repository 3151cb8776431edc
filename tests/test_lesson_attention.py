"""Lesson 06: its pictures draw what the model computes; the loops version is the operation."""
import math
import warnings
from dataclasses import replace

import numpy as np
import pytest

import gpt2lab
from cells import functions, shown
from drawing import drawn
from gpt2lab.attention import attend
from gpt2lab.softmax import softmax
from gpt2lab.teach import show
from gpt2lab.teach.checking import verdict
from gpt2lab.teach.exercises import attention as exercises
from gpt2lab.teach.living import STORY
from gpt2lab.teach.pictures import attention as pictures, pixels

TEXTS = ["a", "$$ x_1^2 $ <b>bold</b> &amp; \\frac", "two\nlines\t🤗 naïve and then some more",
         "word and " * 40]


@pytest.fixture(scope="module")
def model():
    return gpt2lab.load()


@pytest.fixture(scope="module")
def lesson(model):
    return functions("06_attention", "where", "look", "scaled", "coins", "attend_loops", "shares",
                     "chances", "followed", "largest_and_slope", "learned", "new_model",
                     model=model, softmax=softmax, attend=attend, by_hand=exercises.by_hand,
                     block=1, widths=np.array([1, 16, 256]), wanted=np.eye(6)[2])


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


def test_what_runs_beside_the_words_of_the_hand_made_head_is_drawn_once(lesson, monkeypatch):
    lesson.followed(TEXTS[3], 0)
    for name in ("trace", "run_tapped", "__call__", "next_logits", "last_logits"):
        monkeypatch.setattr(gpt2lab.GPT2, name, None)
    words = pixels.printed.cache_info().misses
    lesson.followed(TEXTS[3], 39)
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


def test_token_rows_say_what_is_there_and_what_was_before():
    token, before, different = exercises.token_rows([7, 3, 7, 7])
    assert different.tolist() == [3, 7] and token.tolist() == [[0, 1], [1, 0], [0, 1], [0, 1]]
    assert before.tolist() == [[0, 0], *token[:-1].tolist()]


@pytest.mark.parametrize("text", [STORY, *TEXTS])
def test_the_hand_made_head_finds_what_followed(model, lesson, text):
    """Row by row from the definition: places after an earlier twin share the weight."""
    ids = model.encode(text)[:40]
    for position in (0, 10, 39):
        t = min(position, len(ids) - 1)
        fig = lesson.followed(text, position)
        arrays = drawn(fig, render=position == 10)
        np.testing.assert_array_equal(arrays["real"], model.trace(model.encode(text)[:40])[
            "h.1.attn.pattern"][0])
        fits = np.array([s > 0 and ids[s - 1] == ids[t] for s in range(t + 1)])
        weights = np.where(fits, np.exp(8), 1) / np.where(fits, np.exp(8), 1).sum()
        np.testing.assert_allclose(arrays["by hand"][t, :t + 1], weights, atol=1e-5)
        shares = [weights[[i == token for i in ids[:t + 1]]].sum() for token in sorted(set(ids))]
        np.testing.assert_allclose(arrays["mixed"], shares, atol=1e-5)


def test_both_heads_go_from_the_storys_last_word_to_king(model, lesson):
    fig = lesson.followed(STORY, 10)
    for name in ("by hand", "real"):
        assert drawn(fig, render=False)[name][10].argmax() == 2
    assert "hands over “·king” 1.00" in fig.alt


def test_what_a_head_does_with_two_followers_and_with_a_new_word(lesson):
    """The lesson says: half of each, and all alike."""
    text = "My cat sees a bird. Your dog sees a cat. My cat sees a"
    assert "hands over “·cat” 0.50, “·bird” 0.50" in lesson.followed(text, 39).alt
    bird, cat = 4, 10                                               # places in both heads
    real = drawn(lesson.followed(text, 39), render=False)["real"][15]
    assert 0 < real[cat] - real[bird] < 0.1 and real[cat] + real[bird] > 0.9
    assert "looks at all 5 alike and hands over a mix of them" in lesson.followed(text, 4).alt


def test_the_trained_head_rests_on_new_words_in_the_story(model):
    """As the lesson says of most of them."""
    ids = model.encode(STORY)
    pattern = model.trace(ids)["h.1.attn.pattern"][0]
    new = [t for t, i in enumerate(ids) if i not in ids[:t]]
    assert sum(pattern[t].argmax() == t for t in new) > 0.7 * len(new)


def test_products_add_up_to_the_scores(model):
    trace = model.trace(model.encode(STORY))
    (fig,) = shown("06_attention", "pictures.products(", pictures=pictures, trace=trace, block=1,
                   last=10, tokens=show.tokens(model.tokenizer, model.encode(STORY)), math=math)
    arrays, scores = drawn(fig), trace["h.1.attn.scores"][0, 10]
    np.testing.assert_allclose(arrays["products"].sum(), scores[2], atol=1e-4)
    np.testing.assert_allclose(arrays["left"].sum(), scores[2] - scores.mean(), atol=1e-4)
    best = np.argsort(-arrays["products"])[:2]                      # what the lesson says of them
    assert (arrays["left"][best] < arrays["products"][best] / 2).all()
    two = np.sort(arrays["left"])[-2:].sum() / arrays["left"].sum()
    assert 0.4 < two < 0.6, "the lesson says: two columns bring about half"


def test_slopes_are_those_of_softmax(lesson):
    """The middle of a difference quotient: a weight moves p (1 - p) times as far as its score."""
    without, divided = lesson.largest_and_slope(False), lesson.largest_and_slope(True)
    drawn(pictures.slopes(np.array([1, 16, 256]), without, divided))
    assert without[1, 0] == divided[1, 0] and without[1, -1] < 0.02 < 0.1 < divided[1].min()
    dots = (lesson.coins(500, 1, 16, seed=1) * lesson.coins(500, 6, 16, seed=2)).sum(axis=-1)
    moved = [softmax(dots + step * np.eye(6)[0])[:, 0] for step in (-1e-4, 1e-4)]
    p = softmax(dots)[:, 0]
    np.testing.assert_allclose((moved[1] - moved[0]) / 2e-4, p * (1 - p), atol=1e-7)
    np.testing.assert_allclose(without[0, 1], softmax(dots).max(axis=-1).mean())


def test_queries_of_coins_learn_with_the_root(lesson):
    """As the lesson says: with it all of 200 at 1 and 10, without it fewer than half."""
    lesson.learned.__globals__["keys"] = lesson.coins(200, 6, 64, seed=2)
    assert [lesson.learned(rate, 8) for rate in (1, 10)] == [200, 200]
    assert all(70 < lesson.learned(rate, 1) < 100 for rate in (0.01, 0.1, 1, 10))
    assert lesson.learned(0.01, 8) < lesson.learned(0.01, 1) and lesson.learned(1, 8, steps=0) < 70


def test_each_step_goes_against_the_slope_of_the_error(lesson):
    """By differences: the sum of (p - wanted) ** 2 of one query, moved number by number."""
    q, keys = lesson.coins(200, 1, 64, seed=1)[0, 0], lesson.coins(200, 6, 64, seed=2)[0]

    def error(q):
        return ((softmax(keys @ q / 8) - np.eye(6)[2]) ** 2).sum()
    by_differences = [(error(q + d) - error(q - d)) / 2e-5 for d in 1e-5 * np.eye(64)]
    p = softmax(keys @ q / 8)
    wrong = 2 * (p - np.eye(6)[2])
    slope = p * (wrong - (p * wrong).sum())
    np.testing.assert_allclose(slope @ keys / 8, by_differences, atol=1e-8)


@pytest.mark.parametrize("D, Dh", [(128, 32), (768, 64), (1600, 64)])
def test_a_new_models_start_is_as_the_lesson_says(lesson, D, Dh):
    size, top, top_root, slope, slope_root = lesson.new_model(D, Dh)
    np.testing.assert_allclose(size, 0.02 * D ** 0.5, rtol=0.05)
    lost = 1 - slope / slope_root
    low, high = {128: (0, 0.05), 768: (0.4, 0.5), 1600: (0.6, 0.72)}[D]
    assert low <= lost < high and top_root < top


def test_only_e_keeps_order_answers_a_step_and_forgets_a_constant(lesson):
    def of(way, *scores):
        return [float(share) for share in lesson.shares(way, *scores).split()]
    ways = {"squares": np.square, "clipped": lambda s: np.maximum(s, 0), "e": np.exp}
    scores, risen, lifted = (-1, 0, 2), (-0.5, 0, 2), (9, 10, 12)
    for name, way in ways.items():
        first, after = of(way, *scores), of(way, *risen)
        assert (sorted(first) == first and after[0] > first[0]) == (name == "e")
        assert (of(way, *lifted) == first) == (name == "e")


def test_one_later_token_gives_the_answer_away(model, lesson):
    ids = model.encode(STORY + " king")
    masked = lesson.chances(model, ids)
    logits = np.asarray(model(np.array(ids)), np.float64)
    for t, i in enumerate(ids[1:]):
        e = np.exp(logits[t] - logits[t].max())
        np.testing.assert_allclose(masked[t], e[i] / e.sum(), atol=1e-5)
    peeking = gpt2lab.load(ops=replace(model.ops, attend=exercises.sees_the_next))
    assert lesson.chances(peeking, ids).mean() > 2 * masked.mean()


def test_the_gallery_shows_the_mistakes_that_its_text_names():
    from gpt2lab.teach.exercises import exercises as known
    shown_ones = [mistake.__name__ for mistake in known()["attend"].mistakes[:10]]
    assert {"masked_with_10_thousand", "queries_at_the_front", "scaled_by_width",
            "mask_after_softmax", "no_mask", "sees_the_next"} <= set(shown_ones)


def test_rows_of_one_query_have_their_scale(lesson):
    words = [text.get_text() for text in lesson.where(STORY, 5).texts]
    assert {"1", "0"} <= set(words) and sum(word.startswith("-") for word in words) == 3


def own_softmax(scores):
    with np.errstate(all="ignore"):
        weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
        return weights / weights.sum(axis=-1, keepdims=True)


def own_attend(q, k, v):
    T, S = q.shape[-2], k.shape[-2]
    scores = q @ k.swapaxes(-1, -2) / q.shape[-1] ** 0.5
    return own_softmax(np.where(np.arange(S) > np.arange(S - T, S)[:, None], -np.inf, scores)) @ v


def adds_a_product(q, k, v, softmax=own_softmax):
    scores = q @ k.swapaxes(-1, -2) / q.shape[-1] ** 0.5
    with np.errstate(all="ignore"):
        return softmax(scores + np.triu(np.ones(scores.shape[-2:], np.float32), 1) * -np.inf) @ v


def hides_the_diagonal(q, k, v, softmax=own_softmax):
    scores, T, S = q @ k.swapaxes(-1, -2) / q.shape[-1] ** 0.5, q.shape[-2], k.shape[-2]
    return softmax(np.where(np.arange(S) >= np.arange(S - T, S)[:, None], -np.inf, scores)) @ v


def slices_below_zero(q, k, v, width):
    rows, first = [], k.shape[-2] - q.shape[-2]
    for t in range(q.shape[-2]):
        seen = slice(first + t + 1 - width, first + t + 1)
        rows.append(own_attend(q[..., t:t + 1, :], k[..., seen, :], v[..., seen, :]))
    return np.concatenate(rows, axis=-2)


def slices_plain_rows(q, k, v, width):
    return np.concatenate([own_attend(q[t:t + 1], k[t - width + 1:t + 1], v[t - width + 1:t + 1])
                           for t in range(len(q))])


@pytest.mark.parametrize("wrong, name, words", [
    (adds_a_product, "attend", "0 times infinity is nan"),
    (hides_the_diagonal, "attend", "a token cannot see itself"),
    (slices_below_zero, "attend_window", "starts below 0, which counts from the end"),
    (slices_plain_rows, "attend_window", "slice of a window starts below 0")])
def test_mistakes_are_named_with_a_softmax_of_ones_own_too(wrong, name, words, monkeypatch):
    """Which lets nan through, where ours refuses."""
    monkeypatch.setattr(wrong, "__name__", name)
    text = verdict(wrong)
    assert words in text, text
