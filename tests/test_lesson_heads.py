"""Lesson 07: its pictures against the trace, a head switched off, the loops version."""
import warnings
from dataclasses import replace
from itertools import combinations

import matplotlib
import numpy as np
import pytest

import gpt2lab
from cells import functions, shown
from drawing import drawn
from gpt2lab.attention import attend
from gpt2lab.config import Config
from gpt2lab.heads import attend_heads
from gpt2lab.inside import first_token, trace_of, without_heads
from gpt2lab.linear import linear
from gpt2lab.model import GPT2
from gpt2lab.sampling import probabilities
from gpt2lab.teach import show
from gpt2lab.teach.checking import verdict
from gpt2lab.teach.exercises.heads import fewest_heads, lookups, named, speaker, two_lookups
from gpt2lab.teach.living import STORY, writes
from gpt2lab.teach.pictures import heads as pictures, pixels
from recipes import weights_of

TEXTS = ["a", "$$ x_1^2 $ <b>bold</b> &amp; \\frac", "two\nlines\t🤗 naïve and then some more",
         "word and " * 40]
TOLD = "The old king saw the young queen, and the little prince ran away. "


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
    return functions("07_heads", "heads_of", "look", "switch", "attend_heads_loops",
                     model=model, attend=attend, linear=linear)


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
    ids = model.encode(STORY)
    (fig,) = shown("07_heads", "pictures.looks(", model=model, pictures=pictures, show=show,
                   trace_of=trace_of, STORY=STORY)
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
    _, _, scores = lesson.heads_of((TOLD * 2).strip())
    best = [np.unravel_index(s.argmax(), (4, 4)) for s in scores]
    assert best[0] == (0, 1) and scores[0, 0, 1] > 0.4
    assert best[1] == (1, 1) and scores[1, 1, 1] > 0.5
    assert {tuple(place) for place in np.argwhere(scores[2] > 0.3)} == {(1, 0), (1, 1)}


@pytest.mark.parametrize("block, head", [(0, 0), (1, 2), (3, 3)])
def test_switching_off_takes_out_that_head_and_no_other(model, lesson, block, head):
    ids = model.encode("The old king saw the young queen. Then the old")
    off = model.tapped(without_heads(model, [(block, head)]))
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
    less = model.tapped(without_heads(model, [(1, 0), (2, 3)]))
    off = probabilities(less.next_logits(ids))
    fig = lesson.switch(text, "1.0", "2.3")
    arrays, bars = drawn(fig), fig.axes[-1]
    near = {*np.argsort(-on)[:6], *np.argsort(-off)[:6]}
    words = {show.short(show.tokens(model.tokenizer, [i])[0]): i for i in near}
    ids = [words[text.get_text()] for text in bars.texts[::2]]
    np.testing.assert_array_equal(arrays["on"], on[ids])
    np.testing.assert_array_equal(arrays["off"], off[ids])
    np.testing.assert_allclose([bar.get_width() for bar in bars.patches], [*on[ids], *off[ids]])
    assert on.argmax() in ids and off.argmax() in ids
    assert "off" not in drawn(lesson.switch(text, "", ""), render=False)


def test_usable_at_12_blocks_of_12_heads_and_64_tokens(wide):
    lesson, text = lesson_with(wide), TEXTS[3]
    arrays = drawn(pictures.glance(*lesson.heads_of(text), 11, 11))
    assert arrays["patterns"].shape == (12, 12, 64, 64) and arrays["scores"].shape == (3, 12, 12)
    assert drawn(lesson.look(text, 11, 11, 63))["row"].shape == (64,)
    assert len(drawn(lesson.switch(text, "11.0", ""))["on"]) == 6


def test_a_move_runs_no_model_and_draws_no_word_again(lesson, monkeypatch):
    lesson.look(TEXTS[3], 0, 0, 0)
    for name in ("trace", "run_tapped", "__call__", "next_logits", "last_logits"):
        monkeypatch.setattr(GPT2, name, None)
    words = pixels.printed.cache_info().misses
    for block, head, position in ((0, 0, 1), (1, 0, 40), (3, 3, 63)):
        lesson.look(TEXTS[3], block, head, position)
    assert pixels.printed.cache_info().misses == words


MOVES = pytest.mark.parametrize("explorer, moved", [("look", (1, 0, 1)), ("switch", ("1.0", ""))])


@MOVES
def test_an_empty_text_is_refused_with_a_sentence(lesson, explorer, moved):
    with pytest.raises(ValueError, match="the prompt is empty"):
        getattr(lesson, explorer)("", *moved)


@MOVES
def test_letters_that_the_font_lacks_give_no_warning(lesson, explorer, moved):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        drawn(getattr(lesson, explorer)("नमस्ते king", *moved))


def test_cut_shows_the_right_way_and_the_wrong_one():
    (fig,) = shown("07_heads", "pictures.cut(", pictures=pictures)
    arrays = drawn(fig)
    for h in range(2):
        np.testing.assert_array_equal(arrays["right"][h], arrays["x"][:, 2 * h:2 * h + 2])
    assert arrays["wrong"].ravel().tolist() == arrays["x"].ravel().tolist()
    assert np.all(arrays["x"] == 10 * np.arange(3)[:, None] + np.arange(4))     # token, column
    for ax, layers in zip(fig.axes, (arrays["x"], arrays["right"], arrays["wrong"])):
        numbers = [text.get_text() for text in ax.texts if text.get_text().isdigit()]
        assert numbers == [str(number) for number in layers.ravel()]


def test_loops_version_is_the_operation(lesson):
    draw = np.random.default_rng(2).normal
    arguments = [draw(size=shape) for shape in ((5, 6), (6, 18), (18,), (6, 6), (6,))]
    for n_head in (1, 2, 3):
        np.testing.assert_allclose(lesson.attend_heads_loops(*arguments, n_head),
                                   attend_heads(*arguments, n_head), atol=1e-12)


def test_eight_heads_are_the_same_numbers_cut_otherwise(model):
    def cut(H):
        return replace(model, config=replace(model.config, n_head=H))
    for H in (1, 2, 4, 8):
        assert all(w is model.weights[name] for name, w in cut(H).weights.items())
    assert cut(8).trace([1, 2, 3])["h.0.attn.q"].shape == (8, 3, 16)
    assert writes(cut(4), STORY) == writes(model, STORY)
    assert not writes(cut(1), STORY).startswith(" king saw")
    assert not writes(cut(8), STORY).startswith(" king")


def test_a_head_parks_on_a_short_value(model):
    ids, trace = trace_of(model, STORY)
    weight, share = first_token(trace)                                              # (L, H)
    assert weight[1, 1] > 0.8 and share[1:3].max() < 0.65 and share[0].max() > 1
    sizes = np.linalg.norm([trace[f"h.{i}.attn.v"] for i in (1, 2)], axis=-1)       # (2, H, T)
    assert not sizes.argmin(axis=-1).any()              # the first is the shortest, in eight heads
    on_itself = np.diag(trace["h.1.attn.pattern"][0])[1:].mean()
    assert weight[1, 0] < 0.05 and on_itself > 0.6      # a short first value, and it does not park
    mixed = np.linalg.norm(trace["h.1.attn.mixed"][1], axis=-1)                     # (T,)
    assert mixed.argmax() == len(ids) - 1 and mixed[-1] > 2 * mixed[:-1].max()


def test_parking_draws_what_it_is_given(model):
    _, trace = trace_of(model, STORY)
    arrays = [trace["h.1.attn.pattern"][1][:, 0],
              *(np.linalg.norm(trace[f"h.1.attn.{part}"][1], axis=-1) for part in ("v", "mixed"))]
    fig = pictures.parking(show.tokens(model.tokenizer, model.encode(STORY)), *arrays, 1, 1)
    drawn(fig)
    left, right = fig.axes
    np.testing.assert_allclose([bar.get_height() for bar in left.patches], arrays[0])
    np.testing.assert_allclose([bar.get_height() for bar in right.patches],
                               np.concatenate(arrays[1:]))


def test_three_switches_silence_the_king(model):
    ids, king = model.encode(STORY), model.encode(" king")[0]

    def chance(*off):
        logits = model.tapped(without_heads(model, off)).next_logits(ids)
        return probabilities(logits)[king]
    alone = np.array([[chance((i, h)) for h in range(4)] for i in range(4)])
    assert {tuple(place) for place in np.argwhere(alone < chance() / 4)} == {(0, 1), (1, 0), (1, 1)}
    assert (alone > chance() + 0.05).any()              # some heads do harm here
    fig = pictures.silenced(alone, "·king", chance())
    np.testing.assert_array_equal(drawn(fig)["chances"], alone)
    assert "block 0 head 1" in fig.alt and "block 2" not in fig.alt
    assert (alone > chance()).sum() == 7 and "Of 16 heads, 7 raise it" in fig.alt   # about half


@pytest.mark.parametrize("word, off", [
    (" man", ((0, 1),)), (" woman", ((0, 1), (1, 2))), (" lady", ((0, 1), (0, 2), (3, 0))),
    (" queen", ())])
def test_who_comes_when_heads_are_off(model, word, off):
    says = speaker(model, STORY)
    assert fewest_heads(says, [(i, h) for i in range(4) for h in range(4)], word) == off
    if off:
        two = np.sort(model.tapped(without_heads(model, off)).next_logits(model.encode(STORY)))[-2:]
        assert two[1] - two[0] > 0.02                   # on any processor


def test_the_speaker_asks_the_model_once(model, monkeypatch):
    says = speaker(model, STORY)
    assert says([(0, 1)]) == " man"
    monkeypatch.setattr(GPT2, "next_logits", None)
    assert says(((0, 1),)) == " man"
    with pytest.raises(TypeError):
        says([(1, 0)])


def test_the_speaker_refuses_a_head_that_is_none(model):
    with pytest.raises(ValueError, match="there is no head 4 in block 0"):
        speaker(model, STORY)([(0, 4)])


def _search(sizes, equal):
    def fewest_heads(says, heads, word, most=3):
        return next((off for size in sizes(most) for off in combinations(heads, size)
                     if equal(says(off), word)), ())
    return fewest_heads


@pytest.mark.parametrize("sizes, equal, wanted, not_wanted", [
    (lambda most: range(most), str.__eq__, "The sizes go from 0 to most - 1", "blank"),
    (lambda most: range(1, most), str.__eq__, "Sets of `most` heads are not tried", "blank"),
    (lambda most: range(most - 1), str.__eq__, "The empty tuple comes back although", "taken away"),
    (lambda most: range(1, most + 1), lambda said, word: said == word.strip(),
     "The blank in front of the word is taken away", "sizes")])
def test_a_search_that_stops_early_is_not_told_of_the_blank(sizes, equal, wanted, not_wanted):
    told = verdict(_search(sizes, equal))
    assert wanted in told and not_wanted not in told


def test_names_of_heads():
    assert named("1.0, 3.2") == [(1, 0), (3, 2)] and named("") == []
    for words in ("1", "1.0.2", "a.b", "-1.0"):
        with pytest.raises(ValueError, match="a head is written block.head"):
            named(words)


def test_growth_meets_at_six_times_the_width(model):
    (fig,) = shown("07_heads", "pictures.growth(", model=model, pictures=pictures, show=show)
    arrays = drawn(fig)
    S = fig.axes[0].lines[0].get_xdata()
    assert S[np.flatnonzero(arrays["pairs"] == arrays["weights"])].tolist() == [6 * 768]
    assert "meet at 4,608 tokens; its context ends at 1,024" in fig.alt and "18 percent" in fig.alt
    block = [w for name, w in model.weights.items() if name.startswith("h.0.") and w.ndim == 2]
    assert sum(w.size for w in block) == 12 * model.config.n_embd ** 2


@pytest.mark.parametrize("H, wanted", [(4, "previous 0.48"), (12, "P48")])
def test_a_label_tells_the_highest_job(H, wanted):
    scores = np.zeros((3, 1, H))
    scores[0] = 0.48
    assert pictures.labels_of(scores)[0][0] == wanted


def test_lookups_have_one_a_and_one_b():
    rows, wanted = lookups(np.random.default_rng(3), 50, 5)
    assert rows.shape == (50, 6, 8) and wanted.shape == (50, 2)
    assert (rows[..., :3].sum(axis=1) == [1, 1, 4]).all() and (rows.sum(axis=-1) == 2).all()
    for role in (0, 1):
        row = rows[rows[..., role] == 1]
        assert (row[:, 3:].argmax(axis=-1) == wanted[:, role]).all()


@pytest.mark.parametrize("seed", [0, 1])
def test_two_heads_learn_two_lookups_where_one_head_learns_one(seed):
    numbers, *one = two_lookups(1, seed=seed)
    again, *two = two_lookups(2, seed=seed)
    assert numbers == again and max(one) > 0.98 and min(one) < 0.7 and min(two) > 0.98
    assert min(two_lookups(1, whole=True, seed=seed)[1:]) > 0.98    # contents leave a trace
    one, two = (two_lookups(heads, 20, whole=True, seed=seed)[1:] for heads in (1, 2))
    assert max(one) < 0.985 and min(one) < 0.95 < 0.985 < min(two)


def test_lookups_are_learned_with_the_attend_that_is_handed_in():
    calls = []
    two_lookups(2, steps=3, attend=lambda q, k, v: calls.append(q.shape) or attend(q, k, v))
    assert calls[:3] == [(128, 1, 4)] * 3 and len(calls) == 4
