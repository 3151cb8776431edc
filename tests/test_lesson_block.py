"""Lesson 09: sizes, sums and taken-out parts are what the model computes."""
from pathlib import Path

import nbformat
import numpy as np
import pytest

import gpt2lab
from gpt2lab.block import block
from gpt2lab.heads import attend_heads
from gpt2lab.layernorm import layer_norm
from gpt2lab.mlp import mlp
from gpt2lab.model import Ops
from gpt2lab.softmax import softmax
from gpt2lab.teach.exercises import random
from gpt2lab.teach.exercises.block import contributions, run_blocks, weights
from gpt2lab.teach.pictures import block as pictures
from drawing import drawn

NOTEBOOK = Path(__file__).resolve().parents[1] / "notebooks" / "09_block.ipynb"
TEXTS = ["a", "$$ x_1^2 $ <b>bold</b> &amp;", "two\nlines\t🤗 naïve"]


@pytest.fixture(scope="module")
def model():
    return gpt2lab.load()


def rms(array):
    return np.sqrt((array.astype(np.float64) ** 2).mean())


@pytest.mark.parametrize("text", TEXTS)
def test_sizes_are_those_of_the_trace(model, text):
    arrays, trace = drawn(pictures.sizes(model, text)), model.trace(model.encode(text))
    np.testing.assert_allclose(arrays["stream"], [rms(trace[name]) for name in
                               ["embed", *(f"h.{i}.resid_post" for i in range(4))]])
    for part in ("attn", "mlp"):
        np.testing.assert_allclose(arrays[part], [rms(trace[f"h.{i}.{part}"]) for i in range(4)])


@pytest.mark.parametrize("text, first, second, factor", [
    ("a", "", "", 0.0), (TEXTS[1], "h.0.mlp", "", 0.0), (TEXTS[2], "h.3.attn", "h.1.mlp", 0.5),
    ("a", "h.2.mlp", "h.2.mlp", 2.0)])
def test_stream_draws_the_changed_model(model, text, first, second, factor):
    arrays, ids = drawn(pictures.stream(model, text, first, second, factor)), model.encode(text)
    x, sizes = by_hand(model, ids, {first, second}, factor)
    np.testing.assert_allclose(arrays["attn"], sizes["attn"], rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(arrays["mlp"], sizes["mlp"], rtol=1e-4, atol=1e-6)
    logits = np.stack([model(ids)[-1], x @ model.weights["wte.weight"].T]).astype(np.float64)
    np.testing.assert_allclose(arrays["probabilities"], softmax(logits)[:, arrays["words"]], atol=1e-4)
    assert arrays["words"][0] == logits[0].argmax() and softmax(logits)[1].argmax() in arrays["words"]
    if not first:
        np.testing.assert_array_equal(arrays["probabilities"][0], arrays["probabilities"][1])


def by_hand(model, ids, chosen, factor):
    """Another way to the same: the blocks run here, the chosen branches multiplied. Last normed row, sizes."""
    x, w, sizes = model.trace(ids)["embed"], model.weights, {"attn": [], "mlp": []}
    for i in range(4):
        a = {name.removeprefix(f"h.{i}."): array for name, array in w.items() if name.startswith(f"h.{i}.")}
        for norm, part in (("ln_1", "attn"), ("ln_2", "mlp")):
            normed = layer_norm(x, a[norm + ".weight"], a[norm + ".bias"])
            branch = attend_heads(normed, a["attn.c_attn.weight"], a["attn.c_attn.bias"], a["attn.c_proj.weight"],
                                  a["attn.c_proj.bias"], 4) if part == "attn" else \
                mlp(normed, a["mlp.c_fc.weight"], a["mlp.c_fc.bias"], a["mlp.c_proj.weight"], a["mlp.c_proj.bias"])
            if f"h.{i}.{part}" in chosen:
                branch = branch * np.float32(factor)
            sizes[part].append(rms(branch))
            x = x + branch
    return layer_norm(x, w["ln_f.weight"], w["ln_f.bias"])[-1], sizes


def test_scaled_leaves_the_model_alone_and_keeps_its_operations(model):
    before = {name: array.copy() for name, array in model.weights.items() if ".2." in name}
    ops = Ops(block=lambda *a, **k: block(*a, **k))
    other = pictures.scaled(gpt2lab.load(ops=ops), {"h.2.mlp": 0.0})
    assert other.ops is ops
    pictures.scaled(model, {"h.2.mlp": 0.0})
    assert all((model.weights[name] == array).all() for name, array in before.items())


def test_a_removed_block_lets_the_stream_through(model):
    trace = pictures.without(model, 2).trace([464, 3616, 286])
    np.testing.assert_array_equal(trace["h.2.resid_pre"], trace["h.2.resid_post"])
    assert not trace["h.2.attn"].any() and not trace["h.2.mlp"].any() and trace["h.3.mlp"].any()


def test_branches_lists_every_one_once(model):
    texts, names = zip(*pictures.branches(model))
    assert names == ("", *(f"h.{i}.{part}" for i in range(4) for part in ("attn", "mlp")))
    assert texts[:3] == ("nothing", "attention, block 0", "MLP, block 0")


def test_many_blocks_add_with_block_and_replace_without():
    arrays = drawn(pictures.many_blocks(blocks=6))
    rng = np.random.default_rng(1)
    x = y = ((rng.random((8, 32)) - 0.5) * 12 ** 0.5).astype(np.float32)
    for i in range(6):
        w = pictures.random_weights(rng, 32)
        x, y = block(x, w, 4), pictures.replacing_block(y, w, 4)
        assert arrays["adds"][i + 1] == pictures.alikeness(x) and arrays["replaces"][i + 1] == pictures.alikeness(y)
    assert pictures.alikeness(np.ones((3, 4))) == pytest.approx(1) and pictures.alikeness(np.eye(3)) == 0
    normed = layer_norm(y, w["ln_1.weight"], w["ln_1.bias"])
    m = attend_heads(normed, w["attn.c_attn.weight"], w["attn.c_attn.bias"], w["attn.c_proj.weight"], w["attn.c_proj.bias"], 4)
    normed = layer_norm(m, w["ln_2.weight"], w["ln_2.bias"])
    np.testing.assert_array_equal(pictures.replacing_block(y, w, 4), mlp(
        normed, w["mlp.c_fc.weight"], w["mlp.c_fc.bias"], w["mlp.c_proj.weight"], w["mlp.c_proj.bias"]))


@pytest.mark.parametrize("draw", [pictures.sizes, pictures.stream])
def test_a_text_that_cannot_be_read_is_refused_with_a_sentence(model, draw):
    with pytest.raises(ValueError, match="the prompt is empty"):
        draw(model, "")
    with pytest.raises(ValueError, match="the context holds N = 256 tokens, got"):
        draw(model, "word " * 300)


def test_contributions_add_up_exactly(model):
    ids, trace = model.encode("Once upon a time"), model.trace(model.encode("Once upon a time"))
    blocks = model._blocks
    parts = contributions(trace["embed"], blocks, 4)
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    np.testing.assert_array_equal(total, trace["h.3.resid_post"])
    np.testing.assert_array_equal(run_blocks(trace["embed"], blocks, 4), trace["h.3.resid_post"])
    assert len(parts) == 9 and len(ids) == parts.shape[1]


def test_loops_version_is_the_operation():
    loops = function_of_the_notebook("block_loops")
    x, w = random(3, 4, seed=1), weights(4, 2)
    np.testing.assert_allclose(loops(x, w, 2, 0.1), block(x, w, 2, 0.1), atol=1e-5)


def function_of_the_notebook(name):
    space = {"np": np, "layer_norm": layer_norm, "attend_heads": attend_heads, "mlp": mlp}
    for cell in nbformat.read(NOTEBOOK, as_version=4).cells:
        if cell.cell_type == "code" and f"def {name}(" in cell.source:
            exec(cell.source.split("\n\n")[0], space)
    return space[name]
