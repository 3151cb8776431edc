"""Lesson 07: its pictures against the trace, a head switched off, the loops version."""
import warnings

import matplotlib
import numpy as np
import pytest

import gpt2lab
from cells import functions, shown
from drawing import drawn
from gpt2lab.attention import attend
from gpt2lab.config import Config
from gpt2lab.heads import attend_heads
from gpt2lab.linear import linear
from gpt2lab.model import GPT2
from gpt2lab.sampling import probabilities
from gpt2lab.teach import show
from gpt2lab.teach.pictures import heads as pictures, pixels
from recipes import weights_of

TEXTS = ["a", "$$ x_1^2 $ <b>bold</b> &amp; \\frac", "two\nlines\t🤗 naïve and then some more",
         "word and " * 40]
STORY = "The old king saw the young queen, and the little prince ran away. "


@pytest.fixture(scope="module")
def model():
    return gpt2lab.load()


@pytest.fixture(scope="module")
def wide(model):
    """As many blocks and heads as GPT-2 124M has."""
    sizes = {"vocab_size": 50257, "n_positions": 128, "n_embd": 48, "n_layer": 12, "n_head": 12}
    return GPT2(Config(**sizes), weights_of(sizes), model.tokenizer)


def lesson_with(model):
    """The notebook's functions, for a model."""
    return functions("07_heads", "heads_of", "without", "look", "switch", "attend_heads_loops",
                     model=model, H=model.config.n_head, attend=attend, linear=linear)


@pytest.fixture(scope="module")
def lesson(model):
    return lesson_with(model)


@pytest.mark.parametrize("text", TEXTS)
def test_explorer_draws_the_trace(model, lesson, text):
    ids = model.encode(text)
    trace = model.trace(ids[:64])
    for block, head, position in ((0, 0, 0), (1, 2, 5), (3, 3, 63)):
        arrays = drawn(lesson.look(text, block, head, position), render=block == 1)
        weights = trace[f"h.{block}.attn.pattern"][head]
        t = min(position, len(weights) - 1)
        np.testing.assert_array_equal(arrays["pattern"], weights)
        np.testing.assert_array_equal(arrays["row"], weights[t, :t + 1])
        seen = trace[f"h.{block}.attn.pattern"][:, t, :t + 1]                       # (H, S)
        fig = pictures.looks(show.tokens(model.tokenizer, ids), seen, block)
        drawn(fig, render=position == 63 and len(weights) < 20)
        np.testing.assert_array_equal(fig.axes[0].images[0].get_array(), seen)


def test_looks_draws_the_last_row(model):
    text = "The old king saw the young queen. Then the old"
    ids = model.encode(text)
    (fig,) = shown("07_heads", "pictures.looks(", model=model, pictures=pictures, show=show,
                   trace_of=lambda model, text: (model.encode(text), model.trace(ids)))
    np.testing.assert_array_equal(drawn(fig)["weights"],
                                  model.trace(ids)["h.1.attn.pattern"][:, -1, :])


@pytest.mark.parametrize("text", TEXTS)
def test_glance_draws_all_patterns_and_their_scores(model, lesson, text):
    ids = model.encode(text)[:64]
    trace = model.trace(ids)
    arrays = drawn(pictures.glance(*lesson.heads_of(text)))
    for i in range(4):
        np.testing.assert_array_equal(arrays["patterns"][i], trace[f"h.{i}.attn.pattern"])
        for h in range(4):
            p = trace[f"h.{i}.attn.pattern"][h]
            T = len(p)
            wanted = np.mean([p[t, t - 1] for t in range(1, T)]) if T > 1 else np.nan
            np.testing.assert_allclose(arrays["scores"][0, i, h], wanted, rtol=1e-4)
    jobs = drawn(pictures.jobs(arrays["scores"]), render=len(ids) < 5)
    np.testing.assert_array_equal(jobs["previous word"], arrays["scores"][0])


def test_pixels_of_a_small_map_are_its_weights(lesson):
    _, patterns, _ = lesson.heads_of("The old king saw the young queen.")
    maps, pattern = pictures.glance_maps(patterns, 112), patterns[2, 3]
    wide, high, T = pictures.GLANCE // 4 - 4, 112 - pictures.BELOW - 4, len(pattern)
    for t in range(T):
        for s in range(T):
            y = 2 * 112 + 2 + int((t + 0.5) * high / T)
            x = 3 * pictures.GLANCE // 4 + 2 + int((s + 0.5) * wide / T)
            colour = matplotlib.colormaps["cividis"](pattern[t, s], bytes=True)
            if s <= t:
                np.testing.assert_allclose(maps[y, x], np.array(colour, int), atol=1)
            else:
                assert maps[y, x, 0] == maps[y, x, 1] == maps[y, x, 2]


def test_heads_with_a_job_in_the_bundled_model(lesson):
    _, _, scores = lesson.heads_of((STORY * 2).strip())
    best = [np.unravel_index(s.argmax(), (4, 4)) for s in scores]
    assert best[0] == (0, 1) and scores[0, 0, 1] > 0.4
    assert best[1] == (1, 1) and scores[1, 1, 1] > 0.5
    assert {tuple(place) for place in np.argwhere(scores[2] > 0.3)} == {(1, 0), (1, 1)}


@pytest.mark.parametrize("block, head", [(0, 0), (1, 2), (3, 3)])
def test_switching_off_takes_out_that_head_and_no_other(model, lesson, block, head):
    ids = model.encode("The old king saw the young queen. Then the old")
    off = lesson.without(block, head)
    for _ in range(2):                          # nothing is left over from the first run
        trace, usual = off.trace(ids), model.trace(ids)
        for i in range(4):
            mixed = trace[f"h.{i}.attn.mixed"]
            assert mixed.dtype == np.float32
            silent = [not mixed[h].any() for h in range(4)]
            assert silent == [(i, h) == (block, head) for h in range(4)]
        keep = [h for h in range(4) if h != head]
        name = f"h.{block}.attn"
        np.testing.assert_array_equal(trace[name + ".mixed"][keep], usual[name + ".mixed"][keep])
        w_out, mixed = model.weights[name + ".c_proj.weight"], usual[name + ".mixed"][head]
        part = mixed @ w_out[head * 32:(head + 1) * 32]
        np.testing.assert_allclose(usual[name] - trace[name], part, rtol=0, atol=1e-4)


@pytest.mark.parametrize("text", TEXTS[1:3])
def test_switch_draws_the_models_probabilities(model, lesson, text):
    ids = model.encode(text)
    on = probabilities(model.next_logits(ids))
    off = probabilities(lesson.without(1, 0).next_logits(ids))
    fig = lesson.switch(text, 1, 0, True)
    arrays, bars = drawn(fig), fig.axes[-1]
    near = {*np.argsort(-on)[:8], *np.argsort(-off)[:8]}
    words = {show.short(show.tokens(model.tokenizer, [i])[0]): i for i in near}
    ids = [words[text.get_text()] for text in bars.texts[::2]]
    np.testing.assert_array_equal(arrays["on"], on[ids])
    np.testing.assert_array_equal(arrays["off"], off[ids])
    np.testing.assert_allclose([bar.get_width() for bar in bars.patches], [*on[ids], *off[ids]])
    assert on.argmax() in ids and off.argmax() in ids
    assert "off" not in drawn(lesson.switch(text, 3, 3, False), render=False)


def test_usable_at_12_blocks_of_12_heads_and_64_tokens(wide):
    lesson, text = lesson_with(wide), TEXTS[3]
    arrays = drawn(pictures.glance(*lesson.heads_of(text), 11, 11))
    assert arrays["patterns"].shape == (12, 12, 64, 64) and arrays["scores"].shape == (3, 12, 12)
    assert drawn(lesson.look(text, 11, 11, 63))["row"].shape == (64,)
    assert len(drawn(lesson.switch(text, 11, 0, True))["on"]) == 8


def test_a_move_runs_no_model_and_draws_no_word_again(lesson, monkeypatch):
    lesson.look(TEXTS[3], 0, 0, 0)
    for name in ("trace", "run_tapped", "__call__", "next_logits", "last_logits"):
        monkeypatch.setattr(GPT2, name, None)
    words = pixels.printed.cache_info().misses
    for block, head, position in ((0, 0, 1), (1, 0, 40), (3, 3, 63)):
        lesson.look(TEXTS[3], block, head, position)
    assert pixels.printed.cache_info().misses == words


@pytest.mark.parametrize("explorer", ["look", "switch"])
def test_an_empty_text_is_refused_with_a_sentence(lesson, explorer):
    with pytest.raises(ValueError, match="the prompt is empty"):
        getattr(lesson, explorer)("", 1, 0, 0)


@pytest.mark.parametrize("explorer", ["look", "switch"])
def test_letters_that_the_font_lacks_give_no_warning(lesson, explorer):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        drawn(getattr(lesson, explorer)("नमस्ते king", 1, 0, 1))


def test_cut_shows_the_right_way_and_the_wrong_one():
    (fig,) = shown("07_heads", "pictures.cut(", pictures=pictures)
    arrays = drawn(fig)
    for h in range(2):
        np.testing.assert_array_equal(arrays["right"][h], arrays["x"][:, 2 * h:2 * h + 2])
    assert arrays["wrong"].ravel().tolist() == arrays["x"].ravel().tolist()
    for ax, layers in zip(fig.axes, (arrays["x"], arrays["right"], arrays["wrong"])):
        numbers = [text.get_text() for text in ax.texts if text.get_text().isdigit()]
        assert numbers == [str(number) for number in layers.ravel()]


def test_loops_version_is_the_operation(lesson):
    draw = np.random.default_rng(2).normal
    arguments = [draw(size=shape) for shape in ((5, 6), (6, 18), (18,), (6, 6), (6,))]
    for n_head in (1, 2, 3):
        np.testing.assert_allclose(lesson.attend_heads_loops(*arguments, n_head),
                                   attend_heads(*arguments, n_head), atol=1e-12)
