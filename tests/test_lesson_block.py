"""Lesson 09: sizes, sums and taken-out parts are what the model computes."""
import numpy as np
import pytest

import gpt2lab
from cells import functions
from drawing import drawn
from gpt2lab.block import block
from gpt2lab.heads import attend_heads
from gpt2lab.inside import alikeness, part_sizes, stream_sizes
from gpt2lab.layernorm import layer_norm
from gpt2lab.mlp import mlp
from gpt2lab.model import Ops
from gpt2lab.softmax import softmax
from gpt2lab.teach import show
from gpt2lab.teach.exercises import random
from gpt2lab.teach.exercises.block import (
    contributions,
    many_blocks,
    random_block,
    run_blocks,
    weights,
)
from gpt2lab.teach.pictures import block as pictures

TEXTS = ["a", "$$ x_1^2 $ <b>bold</b> &amp;", "two\nlines\t🤗 naïve"]


@pytest.fixture(scope="module")
def model():
    return gpt2lab.load()


def lesson_with(model):
    """The notebook's functions, for a model."""
    return functions("09_block", "all_sizes", "scaled", "stream", "block_loops", model=model,
                     layer_norm=layer_norm, attend_heads=attend_heads, mlp=mlp, softmax=softmax)


@pytest.fixture(scope="module")
def lesson(model):
    return lesson_with(model)


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
    assert labels == [show.short(word, 12) for word in show.tokens(model.tokenizer, words)]
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
    blocks = [{name.removeprefix(f"h.{i}."): array for name, array in model.weights.items()
               if name.startswith(f"h.{i}.")} for i in range(4)]
    parts = contributions(trace["embed"], blocks, 4)
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    np.testing.assert_array_equal(total, trace["h.3.resid_post"])
    np.testing.assert_array_equal(run_blocks(trace["embed"], blocks, 4), trace["h.3.resid_post"])
    assert len(parts) == 9 and len(ids) == parts.shape[1]
    for part in ("attn", "mlp"):
        want = [rms(array) for array in parts[1 if part == "attn" else 2::2]]
        np.testing.assert_allclose(part_sizes(trace, part), want)
    assert len(stream_sizes(trace)) == 5


def test_loops_version_is_the_operation(lesson):
    x, w = random(3, 4, seed=1), weights(4, 2)
    np.testing.assert_allclose(lesson.block_loops(x, w, 2, 0.1), block(x, w, 2, 0.1), atol=1e-5)
