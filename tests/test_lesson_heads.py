"""Lesson 07: head scores on constructed patterns, pictures against the trace, a head switched off."""
from pathlib import Path

import nbformat
import numpy as np
import pytest

import gpt2lab
from gpt2lab.attention import attend
from gpt2lab.config import Config
from gpt2lab.heads import attend_heads
from gpt2lab.linear import linear
from gpt2lab.model import GPT2
from gpt2lab.sampling import probabilities
from gpt2lab.teach.pictures import heads as pictures
from recipes import weights_of
from drawing import drawn

NOTEBOOK = Path(__file__).resolve().parents[1] / "notebooks" / "07_heads.ipynb"
TEXTS = ["a", "$$ x_1^2 $ <b>bold</b> &amp; \\frac", "two\nlines\t🤗 naïve and then some more", "word and " * 40]


@pytest.fixture(scope="module")
def model():
    return gpt2lab.load()


@pytest.fixture(scope="module")
def wide(model):
    """As many blocks and heads as GPT-2 124M has."""
    sizes = {"vocab_size": 50257, "n_positions": 128, "n_embd": 48, "n_layer": 12, "n_head": 12}
    return GPT2(Config(**sizes), weights_of(sizes), model.tokenizer)


def test_a_perfect_head_scores_1_and_the_others_0():
    ids, one = [3, 4, 5, 6, 3, 4, 5], np.eye(7)
    previous, first, itself = one[[0, 0, 1, 2, 3, 4, 5]], one[[0] * 7], one
    followed = one[[0, 1, 2, 3, 1, 2, 3]]
    stack = np.stack([previous, first, itself, followed])
    assert pictures.previous_word(stack).tolist() == [1, 1 / 6, 0, 0]
    assert pictures.first_word(stack).tolist() == [1 / 6, 1, 0, 0]
    assert pictures.what_followed(stack, ids).tolist() == [0, 0, 0, 1]


def test_what_followed_counts_the_last_time_only():
    one = np.eye(6)
    assert pictures.what_followed(one[[0, 1, 2, 3, 3, 4]], [1, 2, 1, 9, 1, 8]) == 0.5       # token 2: 1, token 4: 3
    assert pictures.what_followed(one[[0, 1, 1, 3, 3, 4]], [1, 2, 1, 9, 1, 8]) == 1


def test_uniform_heads_score_the_share_of_one_key():
    T = 5
    uniform = np.tri(T) / np.arange(1, T + 1)[:, None]
    share = np.mean([1 / (t + 1) for t in range(1, T)])
    assert pictures.previous_word(uniform) == pytest.approx(share) == pictures.first_word(uniform)
    assert np.isnan(pictures.what_followed(uniform, range(T))) and np.isnan(pictures.previous_word(np.ones((1, 1))))


@pytest.mark.parametrize("text", TEXTS)
def test_explorer_draws_the_trace(model, text):
    trace, reader = model.trace(model.encode(text)[:64]), pictures.Reader(model)
    for block, head, position in ((0, 0, 0), (1, 2, 5), (3, 3, 63)):
        arrays = drawn(pictures.explorer(reader, text, block, head, position), render=block == 1)
        weights = trace[f"h.{block}.attn.pattern"][head]
        t = min(position, len(weights) - 1)
        np.testing.assert_array_equal(arrays["pattern"], weights)
        np.testing.assert_array_equal(arrays["row"], weights[t, :t + 1])
        looks = drawn(pictures.looks(reader, text, block, position), render=position == 63 and len(weights) < 20)["weights"]
        np.testing.assert_array_equal(looks, trace[f"h.{block}.attn.pattern"][:, t, :t + 1])


@pytest.mark.parametrize("text", TEXTS)
def test_glance_draws_all_patterns_and_their_scores(model, text):
    ids, reader = model.encode(text)[:64], pictures.Reader(model)
    trace = model.trace(ids)
    arrays = drawn(pictures.glance(reader, text))
    for i in range(4):
        np.testing.assert_array_equal(arrays["patterns"][i], trace[f"h.{i}.attn.pattern"])
        for h in range(4):
            p = trace[f"h.{i}.attn.pattern"][h]
            T = len(p)
            wanted = np.mean([p[t, t - 1] for t in range(1, T)]) if T > 1 else np.nan
            np.testing.assert_allclose(arrays["scores"][0, i, h], wanted, rtol=1e-4)
    jobs = drawn(pictures.jobs(reader, text), render=len(ids) < 5)
    np.testing.assert_array_equal(jobs["previous word"], arrays["scores"][0])


def test_pixels_of_a_small_map_are_its_weights(model):
    import matplotlib
    reader, text = pictures.Reader(model), "The old king saw the young queen."
    pixels, pattern = pictures._glance_maps(reader, text, 112), reader(text)["pattern", 2, 3]
    wide, tall, T = pictures.GLANCE // 4 - 4, 112 - pictures.BELOW - 4, len(pattern)
    for t in range(T):
        for s in range(T):
            y, x = 2 * 112 + 2 + int((t + 0.5) * tall / T), 3 * pictures.GLANCE // 4 + 2 + int((s + 0.5) * wide / T)
            colour = matplotlib.colormaps["cividis"](pattern[t, s], bytes=True)
            if s <= t:
                np.testing.assert_allclose(pixels[y, x], np.array(colour, int), atol=1)
            else:
                assert pixels[y, x, 0] == pixels[y, x, 1] == pixels[y, x, 2]


def test_heads_with_a_job_in_the_bundled_model(model):
    story = "The old king saw the young queen, and the little prince ran away. "
    scores, _ = pictures.all_scores(pictures.Reader(model), (story * 2).strip())
    assert np.unravel_index(scores[0].argmax(), (4, 4)) == (0, 1) and scores[0, 0, 1] > 0.4
    assert np.unravel_index(scores[1].argmax(), (4, 4)) == (1, 1) and scores[1, 1, 1] > 0.5
    assert {tuple(place) for place in np.argwhere(scores[2] > 0.3)} == {(1, 0), (1, 1)}


@pytest.mark.parametrize("block, head", [(0, 0), (1, 2), (3, 3)])
def test_switching_off_takes_out_that_head_and_no_other(model, block, head):
    ids = model.encode("The old king saw the young queen. Then the old")
    off = pictures.switched_off(model, block, head)
    for _ in range(2):                          # a second run counts its blocks anew
        trace, usual = off.trace(ids), model.trace(ids)
        for i in range(4):
            mixed = trace[f"h.{i}.attn.mixed"]
            assert mixed.dtype == np.float32
            assert [not mixed[h].any() for h in range(4)] == [(i, h) == (block, head) for h in range(4)]
        keep = [h for h in range(4) if h != head]
        np.testing.assert_array_equal(trace[f"h.{block}.attn.mixed"][keep], usual[f"h.{block}.attn.mixed"][keep])
        w_out, x = model.weights[f"h.{block}.attn.c_proj.weight"], usual[f"h.{block}.attn.mixed"][head]
        part = x @ w_out[head * 32:(head + 1) * 32]
        np.testing.assert_allclose(usual[f"h.{block}.attn"] - trace[f"h.{block}.attn"], part, rtol=0, atol=1e-4)


@pytest.mark.parametrize("text", TEXTS[1:3])
def test_switch_draws_the_models_probabilities(model, text):
    ids, reader = model.encode(text), pictures.Reader(model)
    on = probabilities(model.next_logits(ids))
    off = probabilities(pictures.switched_off(model, 1, 0).next_logits(ids))
    arrays = drawn(pictures.switch(reader, text, 1, 0, True))
    np.testing.assert_array_equal(arrays["on"], on[arrays["ids"]])
    np.testing.assert_array_equal(arrays["off"], off[arrays["ids"]])
    assert on.argmax() in arrays["ids"] and off.argmax() in arrays["ids"]
    assert "off" not in drawn(pictures.switch(reader, text, 3, 3, False), render=False)


def test_usable_at_12_blocks_of_12_heads_and_64_tokens(wide):
    reader, text = pictures.Reader(wide), TEXTS[3]
    arrays = drawn(pictures.glance(reader, text, 11, 11))
    assert arrays["patterns"].shape == (12, 12, 64, 64) and arrays["scores"].shape == (3, 12, 12)
    assert drawn(pictures.explorer(reader, text, 11, 11, 63))["row"].shape == (64,)
    assert len(drawn(pictures.switch(reader, text, 11, 0, True))["ids"]) == 8


def test_a_move_draws_no_word_again(model):
    reader = pictures.Reader(model)
    pictures.explorer(reader, TEXTS[3], 0, 0, 0)
    words = pictures.printed.cache_info().misses
    for block, head, position in ((0, 0, 1), (1, 0, 40), (3, 3, 63)):
        pictures.explorer(reader, TEXTS[3], block, head, position)
    assert pictures.printed.cache_info().misses == words


@pytest.mark.parametrize("draw", [pictures.explorer, pictures.switch])
def test_an_empty_text_is_refused_with_a_sentence(model, draw):
    with pytest.raises(ValueError, match="the prompt is empty"):
        draw(pictures.Reader(model), "", 1, 0)


def test_cut_shows_the_right_way_and_the_wrong_one():
    x = np.arange(12).reshape(3, 4)
    arrays = drawn(pictures.cut(x, 2))
    for h in range(2):
        np.testing.assert_array_equal(arrays["right"][h], x[:, 2 * h:2 * h + 2])
    assert arrays["wrong"].ravel().tolist() == x.ravel().tolist()


def test_loops_version_is_the_operation():
    space = {"np": np, "linear": linear, "attend": attend}
    for cell in nbformat.read(NOTEBOOK, as_version=4).cells:
        if "def attend_heads_loops(" in cell.source:
            exec(cell.source.split("\n\n")[0], space)
    draw = np.random.default_rng(2).normal
    arguments = [draw(size=shape) for shape in ((5, 6), (6, 18), (18,), (6, 6), (6,))]
    for n_head in (1, 2, 3):
        np.testing.assert_allclose(space["attend_heads_loops"](*arguments, n_head), attend_heads(*arguments, n_head), atol=1e-12)
