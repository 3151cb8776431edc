"""Lesson 09: sizes, sums, votes and changes are what the model computes; its claims hold."""
import numpy as np
import pytest

import gpt2lab
from cells import functions
from drawing import drawn
from gpt2lab import training
from gpt2lab.block import block
from gpt2lab.heads import attend_heads
from gpt2lab.inside import alikeness, direct_logits, part_sizes, stream_sizes
from gpt2lab.layernorm import layer_norm
from gpt2lab.mlp import mlp
from gpt2lab.model import Ops
from gpt2lab.softmax import softmax
from gpt2lab.teach import show
from gpt2lab.teach.exercises import block as exercises, exercises as asked, random, title
from gpt2lab.teach.exercises.block import (
    contributions,
    many_blocks,
    random_block,
    stages_of,
    weights,
)
from gpt2lab.teach.living import STORY, writes
from gpt2lab.teach.pictures import block as pictures

TEXTS = ["a", "$$ x_1^2 $ <b>bold</b> &amp;", "two\nlines\t🤗 naïve"]


@pytest.fixture(scope="module")
def model():
    return gpt2lab.load()


def lesson_with(model):
    """The notebook's functions, for a model."""
    return functions("09_block", "all_sizes", "scaled", "stream", "plus", "block_loops", "steered",
                     "pushed", model=model, w=model.weights, steer=exercises.steer,
                     layer_norm=layer_norm, attend_heads=attend_heads, mlp=mlp, softmax=softmax)


@pytest.fixture(scope="module")
def lesson(model):
    return lesson_with(model)


def blocks_of(model):
    return [{name.removeprefix(f"h.{i}."): array for name, array in model.weights.items()
             if name.startswith(f"h.{i}.")} for i in range(model.config.n_layer)]


def rms(array):
    return np.sqrt((array.astype(np.float64) ** 2).mean())


@pytest.mark.parametrize("text", TEXTS)
def test_sizes_are_those_of_the_trace(model, lesson, text):
    trace = model.trace(model.encode(text))
    fig = pictures.sizes(*lesson.all_sizes(trace))
    arrays = drawn(fig)
    stream = [rms(trace[name]) for name in ["embed", *(f"h.{i}.resid_post" for i in range(4))]]
    np.testing.assert_allclose(arrays["stream"], stream)
    parts = [[rms(trace[f"h.{i}.{part}"]) for i in range(4)] for part in ("attn", "mlp")]
    for part, values in zip(("attn", "mlp"), parts):
        np.testing.assert_allclose(arrays[part], values)
    heights = [bar.get_height() for bar in fig.axes[0].patches]
    np.testing.assert_allclose(heights, np.maximum(np.concatenate(parts), 0.05))


@pytest.mark.parametrize("text, first, second, factor", [
    ("a", "", "", 0.0), (TEXTS[1], "h.0.mlp", "", 0.0), (TEXTS[2], "h.3.attn", "h.1.mlp", 0.5),
    ("a", "h.2.mlp", "h.2.mlp", 2.0)])
def test_stream_draws_the_changed_model(model, lesson, text, first, second, factor):
    fig, ids = lesson.stream(text, first, second, factor), model.encode(text)
    arrays = drawn(fig)
    x, sizes = by_hand(model, ids, {first, second}, factor)
    np.testing.assert_allclose(arrays["attn"], sizes["attn"], rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(arrays["mlp"], sizes["mlp"], rtol=1e-4, atol=1e-6)
    logits = np.stack([model(ids)[-1], x @ model.weights["wte.weight"].T]).astype(np.float64)
    probs = softmax(logits)                                                         # (2, V)
    best = np.argsort(-probs, axis=-1, kind="stable")[:, :5]
    words = list(dict.fromkeys(best.ravel()))   # the model's best five, then what the change adds
    np.testing.assert_allclose(arrays["probabilities"], probs[:, words], atol=1e-4)
    widths = [bar.get_width() for bar in fig.axes[1].patches]
    np.testing.assert_allclose(widths, arrays["probabilities"].ravel())
    labels = [label.get_text() for label in fig.axes[1].get_yticklabels()]
    assert labels == [f"“{show.short(word, 12)}”" for word in show.tokens(model.tokenizer, words)]
    if not first:
        np.testing.assert_array_equal(arrays["probabilities"][0], arrays["probabilities"][1])


def by_hand(model, ids, chosen, factor):
    """Another way to the same: the blocks run here, the chosen branches multiplied.

    Gives the last normed row, and the sizes of the branches.
    """
    x, w, sizes = model.trace(ids)["embed"], model.weights, {"attn": [], "mlp": []}
    for i in range(4):
        a = {name.removeprefix(f"h.{i}."): array for name, array in w.items()
             if name.startswith(f"h.{i}.")}
        for norm, part in (("ln_1", "attn"), ("ln_2", "mlp")):
            normed = layer_norm(x, a[norm + ".weight"], a[norm + ".bias"])
            branch = (attention_of if part == "attn" else mlp_of)(normed, a)
            if f"h.{i}.{part}" in chosen:
                branch = branch * np.float32(factor)
            sizes[part].append(rms(branch))
            x = x + branch
    return layer_norm(x, w["ln_f.weight"], w["ln_f.bias"])[-1], sizes


def attention_of(normed, w):
    return attend_heads(normed, w["attn.c_attn.weight"], w["attn.c_attn.bias"],
                        w["attn.c_proj.weight"], w["attn.c_proj.bias"], 4)


def mlp_of(normed, w):
    return mlp(normed, w["mlp.c_fc.weight"], w["mlp.c_fc.bias"],
               w["mlp.c_proj.weight"], w["mlp.c_proj.bias"])


def test_scaled_leaves_the_model_alone_and_keeps_its_operations(model, lesson):
    ids = [464, 3616, 286]
    before = model.trace(ids)
    ops = Ops(block=lambda *a, **k: block(*a, **k))
    assert lesson_with(gpt2lab.load(ops=ops)).scaled({"h.2.mlp": 0.0}).ops is ops
    assert not lesson.scaled({"h.2.mlp": 0.0}).trace(ids)["h.2.mlp"].any()
    after = model.trace(ids)
    assert all((after[name] == array).all() for name, array in before.items())


def test_scaled_multiplies_what_a_branch_adds(model, lesson):
    ids = [464, 3616, 286]
    usual, half = model.trace(ids), lesson.scaled({"h.1.attn": 0.5}).trace(ids)
    np.testing.assert_array_equal(half["h.1.attn"], usual["h.1.attn"] * np.float32(0.5))
    np.testing.assert_array_equal(half["h.1.resid_mid"], half["h.1.resid_pre"] + half["h.1.attn"])
    np.testing.assert_array_equal(half["h.0.resid_post"], usual["h.0.resid_post"])
    assert half["logits"].dtype == np.float32 and (half["logits"] != usual["logits"]).any()


def test_a_removed_block_lets_the_stream_through(lesson):
    trace = lesson.scaled({"h.2.attn": 0, "h.2.mlp": 0}).trace([464, 3616, 286])
    np.testing.assert_array_equal(trace["h.2.resid_pre"], trace["h.2.resid_post"])
    assert not trace["h.2.attn"].any() and not trace["h.2.mlp"].any() and trace["h.3.mlp"].any()


def test_branches_lists_every_one_once():
    texts, names = zip(*pictures.branches(4))
    assert names == ("", *(f"h.{i}.{part}" for i in range(4) for part in ("attn", "mlp")))
    assert texts[:3] == ("nothing", "attention, block 0", "MLP, block 0")


def test_many_blocks_add_with_block_and_replace_without():
    series = many_blocks(blocks=6)
    arrays = drawn(pictures.many_blocks(series))
    rng = np.random.default_rng(1)
    x = y = ((rng.random((8, 32)) - 0.5) * 12 ** 0.5).astype(np.float32)
    for i in range(6):
        w = random_block(rng, 32)
        x = block(x, w, 4)
        y = attention_of(layer_norm(y, w["ln_1.weight"], w["ln_1.bias"]), w)
        y = mlp_of(layer_norm(y, w["ln_2.weight"], w["ln_2.bias"]), w)
        assert arrays["adds"][i + 1] == alikeness(x) and arrays["replaces"][i + 1] == alikeness(y)
    idle = many_blocks(lambda x, w, n_head: x, blocks=1)        # the block that is handed in
    assert idle["adds"] == [series["adds"][0]] * 2
    lone = mlp_of(layer_norm(random_rows(8), np.ones(32, np.float32), np.zeros(32, np.float32)),
                  first_block(8))
    assert arrays["replaces, no attention"][1] == alikeness(lone)


def test_attention_makes_the_rows_alike():
    """What section 1 says: without it they stay apart longer."""
    for seed in (1, 2, 3):
        series = many_blocks(seed=seed)
        assert series["replaces"][6] > 0.98 and series["replaces, no attention"][6] < 0.7


def random_rows(T, seed=1):
    rng = np.random.default_rng(seed)
    return ((rng.random((T, 32)) - 0.5) * 12 ** 0.5).astype(np.float32)


def first_block(T, seed=1):
    rng = np.random.default_rng(seed)
    rng.random((T, 32))
    return random_block(rng, 32)


def test_a_text_that_cannot_be_read_is_refused_with_a_sentence(lesson):
    with pytest.raises(ValueError, match="the prompt is empty"):
        lesson.stream("")
    with pytest.raises(ValueError, match="the context holds N = 256 tokens, got"):
        lesson.stream("word " * 300)


def test_a_move_runs_the_model_as_it_is_only_once(model, lesson, monkeypatch):
    lesson.stream("She opened the", "h.2.mlp")
    run, runs = gpt2lab.GPT2.trace, []

    def counted(model, ids):
        runs.append(model)
        return run(model, ids)
    monkeypatch.setattr(gpt2lab.GPT2, "trace", counted)
    lesson.stream("She opened the", "h.1.attn")
    assert len(runs) == 1 and runs[0] is not model, "only the changed model runs"


def test_contributions_add_up_exactly(model):
    ids = model.encode("Once upon a time")
    trace = model.trace(ids)
    blocks = blocks_of(model)
    parts = contributions(trace["embed"], blocks, 4)
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    np.testing.assert_array_equal(total, trace["h.3.resid_post"])
    stages = stages_of(trace["embed"], blocks, 4)
    for stage, name in zip(stages, ["embed", *(f"h.{i}.resid_post" for i in range(4))]):
        np.testing.assert_array_equal(stage, trace[name])
    assert len(parts) == 9 and len(ids) == parts.shape[1]
    for part in ("attn", "mlp"):
        want = [rms(array) for array in parts[1 if part == "attn" else 2::2]]
        np.testing.assert_allclose(part_sizes(trace, part), want)
    assert len(stream_sizes(trace)) == 5


def test_loops_version_is_the_operation(lesson):
    x, w = random(3, 4, seed=1), weights(4, 2)
    np.testing.assert_allclose(lesson.block_loops(x, w, 2, 0.1), block(x, w, 2, 0.1), atol=1e-5)


# What the plus is for: the token can still be read, and the gradient comes through.

@pytest.fixture(scope="module")
def found(model):
    return exercises.read_back(model, blocks_of(model))


def test_a_reader_finds_the_token_only_where_blocks_add(found):
    """What section 11 and the end of the lesson say."""
    adds, replaces = found["adds"], found["replaces"]
    assert adds == sorted(adds, reverse=True) and 0.58 < adds[-1] < 0.65 and adds[0] > 0.9
    assert max(replaces[1:]) < 0.12 and replaces[-1] < 0.02 and max(found["shuffled"]) < 0.02
    assert found["cosine"][0] == pytest.approx(1) and max(found["cosine"][1:]) < 0.15
    assert adds[0] == replaces[0] and all(len(values) == 5 for values in found.values())


def test_the_reader_is_tried_on_pages_that_it_was_not_fitted_on(model, found):
    """The same by hand, for the last stream: fitted on 24 pages, read the 8 after them."""
    pages = exercises.book_pages(model, 32)
    assert pages.shape == (32, 128) and len({tuple(page) for page in pages}) == 32
    rows = [model.trace(page)["h.3.resid_post"] for page in pages]
    table = model.weights["wte.weight"]
    known, other = (np.concatenate(part) for part in (rows[:24], rows[24:]))
    one = lambda x: np.column_stack([x, np.ones(len(x))])               # noqa: E731
    reader = np.linalg.pinv(one(known)) @ table[pages[:24].ravel()]
    ids = np.unique(pages)
    far = ((one(other) @ reader)[:, None] - table[ids]) ** 2
    hits = ids[far.sum(axis=-1).argmin(axis=-1)] == pages[24:].ravel()
    assert hits.mean() == pytest.approx(found["adds"][-1], abs=0.01)


def test_the_readers_picture_draws_what_it_found(found):
    fig = pictures.read_back(found)
    assert [list(array) for array in drawn(fig).values()] == [
        found[kind] for kind in ("adds", "replaces", "shuffled")]
    assert "97, 92, 85, 74, 61" in fig.alt and "\n" in fig.alt


def test_both_ways_back_are_the_gradient_that_training_takes(model):
    ids = [464, 3616, 286, 262]
    ways = exercises.way_back(model, ids)
    _, by = training.gradients(model, ids)
    last = []

    def plus_back(g, h):
        last.append(rms(g))
        return g + h
    training.gradients(model, ids, training.Rules(plus_back=plus_back))
    first = rms(by["wpe.weight"][:3])           # what comes out at the embedding
    np.testing.assert_allclose(ways["both ways"][-1], first / last[0], rtol=1e-5)
    assert ways["plus alone"] == [1.0] * 5 and all(len(values) == 5 for values in ways.values())


def test_a_nudge_grows_most_where_the_stream_is_small(model):
    """What section 12 says of the jump before block 0."""
    trace, blocks = model.trace(model.encode(STORY)), blocks_of(model)
    grows = [exercises.nudge_grows(trace[f"h.{i}.resid_pre"], blocks[i], 4) for i in range(4)]
    large = trace["embed"] * np.float32(rms(trace["h.1.resid_pre"]) / rms(trace["embed"]))
    assert 45 < grows[0] < 65 and max(grows[1:]) < 2
    assert exercises.nudge_grows(large, blocks[0], 4) < grows[0] / 8
    double = exercises.nudge_grows(trace["embed"], blocks[0], 4, lambda x, w, n_head: 2 * x)
    assert double == pytest.approx(2, abs=1e-3)


def test_through_the_branches_alone_nothing_is_left_of_a_deep_stack():
    ways = exercises.way_back(*exercises.deep_model())
    assert len(ways["plus alone"]) == 25 and set(ways["plus alone"]) == {1.0}
    assert ways["branches alone"][12] < 1e-9 and 0 < ways["branches alone"][-1] < 1e-20
    assert min(ways["both ways"]) >= 1
    exponent = -np.log10(ways["branches alone"][-1])
    assert 0.05 < exponent % 1 < 0.95, "another CPU may round to another power"


def test_the_way_back_is_drawn_from_the_last_stream_to_the_first(model):
    this = exercises.way_back(model, model.encode(STORY + " king"))
    deep = exercises.way_back(*exercises.deep_model(blocks=6))
    axes = pictures.way_back(this, deep).axes
    for ax, series in zip(axes, (this, deep)):
        assert ax.get_xlim()[0] > ax.get_xlim()[1]
        for line, values in zip(ax.lines, series.values()):
            np.testing.assert_array_equal(line.get_ydata(), values)
            np.testing.assert_array_equal(line.get_xdata(), np.arange(len(values))[::-1])


@pytest.mark.parametrize("value, text", [(1.0, "1"), (0.01, "0.01"), (1e4, "10000"),
                                         (1e-26, "10⁻²⁶"), (1e12, "10¹²")])
def test_ticks_of_a_wide_scale_need_no_formula(value, text):
    assert pictures._power(value, None) == text


def test_the_deep_model_runs_the_operations_that_it_is_given():
    seen = []

    def own(*arguments, **named):
        seen.append(1)
        return block(*arguments, **named)
    model, ids = exercises.deep_model(Ops(block=own), blocks=3)
    exercises.way_back(model, ids)
    assert len(seen) == 9 and model.config.n_layer == 3


# Random blocks, and errors.

@pytest.mark.parametrize("seed", [1, 2, 3])
def test_rows_stay_apart_with_pre_norm_only(seed):
    """What section 9 says, with the random blocks of section 1 and others."""
    series = exercises.places_of_norm(seed=seed)
    assert series["pre-norm"] == many_blocks(seed=seed)["adds"]
    assert series["post-norm"][12] > 0.98 and series["post-norm"][-1] > 0.99
    assert max(series["pre-norm"]) < 0.9
    assert max(series["post-norm, branches × 0.2"]) < 0.6
    assert list(drawn(pictures.places_of_norm(series))) == list(series)
    idle = exercises.places_of_norm(lambda x, w, n_head: x, blocks=12, seed=seed)
    np.testing.assert_allclose(idle["pre-norm"], idle["pre-norm"][0])


def test_a_late_branch_weighs_little_behind_a_pre_norm_only():
    shares = exercises.branch_shares()
    assert shares["pre-norm"][0] > 0.8 and shares["pre-norm"][-1] < 0.2
    assert min(shares["post-norm"]) > 0.5 and len(shares["post-norm"]) == 24
    x, w = random_rows(8), first_block(8)
    rows = layer_norm(x, w["ln_1.weight"], w["ln_1.bias"])
    assert shares["pre-norm"][0] == pytest.approx(rms(attention_of(rows, w)) / rms(x))
    assert shares["post-norm"][0] == pytest.approx(rms(attention_of(x, w)) / rms(x))


@pytest.mark.parametrize("seed, rate", [(0, 0.003), (1, 0.006)])
def test_deep_models_learn_only_along_the_plus(seed, rate):
    """What section 12 says of its training."""
    letters = exercises.letters_loss()
    one, deep = ({way: exercises.trained(Ops(), blocks, way, rate, seed)
                  for way in exercises.TRAINED} for blocks in (1, 8))
    assert max(one.values()) < letters - 1
    assert max(deep["both ways"], deep["plus alone"]) < letters - 1
    assert min(deep["branches alone"], deep["no plus at all"]) > letters - 0.4


def test_a_training_runs_the_operations_that_it_is_given():
    seen = []

    def own(*arguments, **named):
        seen.append(1)
        return block(*arguments, **named)
    exercises.trained(Ops(block=own), 2, "both ways", steps=3)
    assert len(seen) == 2 * 3
    exercises.trained(Ops(block=own), 2, "no plus at all", steps=3)
    assert len(seen) == 2 * 3


def test_errors_pile_up_slower_than_they_are_made(model):
    x = model.trace(model.encode(STORY))["embed"]
    errors = exercises.piled_errors(x, blocks_of(model), 4)
    assert errors == sorted(errors) and 0.009 < errors[0] < 0.011
    assert (np.array(errors[1:]) < errors[0] * np.sqrt([2, 3, 4])).all()
    assert not any(exercises.piled_errors(x, blocks_of(model), 4, share=0))


# The block's plan, votes, steering, the gallery.

def test_the_plan_shows_the_sizes_that_it_is_given():
    names = ["resid_pre", "ln_1", "attn", "resid_mid", "ln_2", "mlp", "resid_post"]
    sizes = {name: i + 0.25 for i, name in enumerate(names, 1)}
    fig = pictures.plan(sizes, 1, 11, 128)
    texts = [text.get_text() for text in fig.axes[0].texts]
    for name, value in sizes.items():
        assert sum(f"size {value:.2f}" in text for text in texts) == 1, name
    assert fig.drawn == sizes and sum("11 rows of 128" in text for text in texts) == 3


def test_votes_add_up_to_the_score_and_the_loudest_can_be_spared(model, lesson):
    """What section 14 says."""
    trace, w = model.trace(model.encode(STORY)), model.weights
    names = ["embed", *(f"h.{i}.{part}" for i in range(4) for part in ("attn", "mlp"))]
    king, = model.encode(" king")
    votes = direct_logits(np.stack([trace[name][-1] for name in names]), w["ln_f.weight"],
                          w["ln_f.bias"], w["wte.weight"][king])
    assert votes.sum() == pytest.approx(trace["logits"][-1, king], abs=1e-4)
    without = {name: writes(lesson.scaled({name: 0}), STORY, 1) for name in names[1:]}
    assert names[np.argmax(votes)] == "h.3.mlp" and without["h.3.mlp"] == " king"
    assert abs(votes[1]) < 0.2 and without["h.0.attn"] == "man"
    assert without["h.1.attn"] == " man" and votes[3] > 1
    fig = pictures.votes(names, votes[:-1], "·king", ["", *map(show.token, without.values())])
    ax, = fig.axes
    np.testing.assert_allclose([bar.get_width() for bar in ax.patches], votes[:-1])
    assert [text.get_text() for text in ax.texts][1:] == [
        "", *(f"“{show.token(said)}”" for said in without.values())]
    bold = [text.get_text() for text in ax.texts if text.get_weight() == "bold"]
    assert bold == ["“man”", "“·Oh”", "“·man”"]


def test_the_storys_king_becomes_a_queen(model, lesson):
    """What the second exercise finds."""
    first = [[writes(lesson.steered(i, strength), STORY, 1) for strength in (0.1, 0.2, 0.3, 0.4)]
             for i in range(4)]
    assert first == [[" king"] * 3 + [" queen"], *[[" king"] * 2 + [" queen"] * 2] * 2,
                     [" king"] + [" queen"] * 3]
    other = "Once upon a time"
    assert writes(lesson.steered(2, 0.3), other, 6) == writes(model, other, 6)
    assert writes(lesson.steered(3, 0.3), other, 6) != writes(model, other, 6)
    kept = [exercises.words_kept(model, lesson.steered(after, strength))
            for after, strength in ((0, 0.4), (1, 0.3), (2, 0.3), (3, 0.2))]
    np.testing.assert_allclose(kept, [0.634, 0.779, 0.802, 0.584], atol=0.004)
    usual = model.trace(model.encode(STORY))
    long = [np.linalg.norm(usual[f"h.{i}.resid_post"][-1]) for i in range(4)]
    np.testing.assert_allclose(long, [35.3, 52.1, 76.9, 121.6], atol=0.1)
    assert exercises.words_kept(model, model) == 1
    trace = lesson.steered(2, 0.3).trace(model.encode(STORY))
    usual = model.trace(model.encode(STORY))
    push = trace["h.2.resid_post"] - usual["h.2.resid_post"]
    lengths = np.linalg.norm(push, axis=-1) / np.linalg.norm(usual["h.2.resid_post"], axis=-1)
    np.testing.assert_allclose(lengths, 0.3, rtol=1e-4)


@pytest.mark.parametrize("text, to, after, strength", [
    (STORY, "prince", 2, 0.3), ("a", " woman ", 0, 0.0), (TEXTS[2], "$x$", 3, 1.5)])
def test_a_push_draws_both_models(model, lesson, text, to, after, strength):
    ids = model.encode(text)
    token = model.encode(" " + to.strip())[0]
    other = lesson.steered(after, strength, " " + to.strip())
    both = softmax(np.stack([m(ids)[-1] for m in (model, other)]).astype(np.float64))
    best = [i for row in both for i in np.argsort(-row, kind="stable")[:5]]
    fig = lesson.pushed(text, to, after, strength)
    probs = drawn(fig)["probabilities"]
    np.testing.assert_allclose(probs, both[:, list(dict.fromkeys(best))], atol=1e-5)
    np.testing.assert_allclose([bar.get_width() for bar in fig.axes[0].patches], probs.ravel())
    if strength == 0.3:
        assert token == best[5] and "“·prince” (0.33) with the push" in fig.alt
    if strength == 0.0:
        np.testing.assert_allclose(probs[0], probs[1], atol=1e-5)


def test_the_gallery_begins_with_the_forgotten_pluses():
    """The lesson's words count the rows: three are fatal, two still write English."""
    names = [mistake.__name__ for mistake in asked()["block"].mistakes[:8]]
    assert names == ["no_attention_residual", "no_mlp_residual", "no_residual",
                     "attention_branch_lost", "stream_added_twice", "post_norm", "parallel",
                     "norms_swapped"]
    assert "post-norm" in title(asked()["block"].mistakes[5])
