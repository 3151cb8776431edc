"""block: hand case, the two steps one by one, extremes, dtype, refusals."""
import math
import re

import numpy as np
import pytest

from gpt2lab.block import block
from inputs import fixed

pytestmark = pytest.mark.filterwarnings("error")


def weights(seed, D, dtype=np.float64, scale=1.0):
    draw = np.random.default_rng(seed).normal
    shapes = {"ln_1.weight": (D,), "ln_1.bias": (D,), "attn.c_attn.weight": (D, 3 * D),
              "attn.c_attn.bias": (3 * D,), "attn.c_proj.weight": (D, D), "attn.c_proj.bias": (D,),
              "ln_2.weight": (D,), "ln_2.bias": (D,), "mlp.c_fc.weight": (D, 4 * D),
              "mlp.c_fc.bias": (4 * D,), "mlp.c_proj.weight": (4 * D, D), "mlp.c_proj.bias": (D,)}
    return {name: fixed(scale * draw(size=shape), dtype) for name, shape in shapes.items()}


def by_loops(x, w, n_head, epsilon):
    """The whole block written out, each token, head and key on its own, in float64."""
    x, w = x.astype(float), {name: array.astype(float) for name, array in w.items()}
    (T, D), Dh = x.shape, x.shape[1] // n_head

    def norm(row, name):
        centred = row - row.mean()
        normed = centred / math.sqrt((centred ** 2).mean() + epsilon)
        return normed * w[name + ".weight"] + w[name + ".bias"]
    qkv = [norm(row, "ln_1") @ w["attn.c_attn.weight"] + w["attn.c_attn.bias"] for row in x]
    y = []
    for t in range(T):
        merged = []
        for a in range(0, D, Dh):
            q, k, v = (np.array(qkv)[:, at:at + Dh] for at in (a, D + a, 2 * D + a))
            scores = [q[t] @ k[s] / math.sqrt(Dh) for s in range(t + 1)]
            parts = [math.exp(score - max(scores)) for score in scores]
            merged.append(sum(part * v[s] for s, part in enumerate(parts)) / sum(parts))
        middle = x[t] + np.concatenate(merged) @ w["attn.c_proj.weight"] + w["attn.c_proj.bias"]
        h = norm(middle, "ln_2") @ w["mlp.c_fc.weight"] + w["mlp.c_fc.bias"]
        h = 0.5 * h * (1 + np.tanh(math.sqrt(2 / math.pi) * (h + 0.044715 * h ** 3)))
        y.append(middle + h @ w["mlp.c_proj.weight"] + w["mlp.c_proj.bias"])
    return np.array(y)


def test_hand_case():
    """Parts that only add their last bias: the stream goes through, plus 10, plus 1."""
    w = weights(1, 2, scale=0.0)
    w["attn.c_proj.bias"], w["mlp.c_proj.bias"] = fixed([10, 20]), fixed([1, 2])
    assert block(fixed([[5, 5], [1, 9]]), w, n_head=1).tolist() == [[16, 27], [12, 31]]


@pytest.mark.parametrize("T, D, n_head", [(1, 4, 2), (5, 4, 1), (4, 6, 3)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_agrees_with_loops_and_keeps_the_dtype(T, D, n_head, dtype):
    x = fixed(np.random.default_rng(T).normal(size=(T, D)), dtype)
    w = weights(D, D, dtype, scale=0.5)
    y = block(x, w, n_head, epsilon=1e-3)
    assert y.dtype == dtype and y.shape == (T, D)
    assert np.allclose(y, by_loops(x, w, n_head, 1e-3), rtol=0, atol=1e-5)


@pytest.mark.parametrize("row", [[1e6, 1e6 + 1, 1e6 + 2, 1e6], [1e20, -1e20, 0, 1], [7, 7, 7, 7],
                                 [1e-30, -1e-30, 0, 2e-30]])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_extremes(row, dtype):
    x, w = fixed([[1, 2, 3, 5], row], dtype), weights(3, 4, dtype, scale=0.5)
    assert np.allclose(block(x, w, 2), by_loops(x, w, 2, 1e-5), rtol=1e-6, atol=1e-4)


def test_the_operations_given_are_used_in_order():
    x, w, calls = fixed(np.ones((3, 4))), weights(1, 4), []

    def layer_norm(x, gain, bias, epsilon):
        calls.append(("layer_norm", gain is w["ln_1.weight"], epsilon))
        return x

    def attend_heads(x, *arguments):
        calls.append(("attend_heads", *arguments[-2:]))
        return 10 * x

    def mlp(x, *arguments):
        calls.append(("mlp",))
        return 100 * x
    y = block(x, w, 2, 0.5, "remember", layer_norm=layer_norm, attend_heads=attend_heads, mlp=mlp)
    assert np.array_equal(y, np.full((3, 4), 1111))         # 1 + 10 = 11, then 11 + 1100
    assert calls == [("layer_norm", True, 0.5), ("attend_heads", 2, "remember"),
                     ("layer_norm", False, 0.5), ("mlp",)]


@pytest.mark.parametrize("name, shape, message", [
    ("ln_1.weight", (1,), "layer_norm: gain must have shape (D,) = (4,), got (1,)"),
    ("ln_2.bias", (8,), "layer_norm: bias must have shape (D,) = (4,), got (8,)"),
    ("attn.c_attn.weight", (12, 4), "attend_heads: w_qkv must have shape (4, 12), got (12, 4)"),
    ("attn.c_proj.weight", (4, 1), "attend_heads: w_out must have shape (4, 4), got (4, 1)"),
    ("mlp.c_fc.bias", (4,), "linear: b must have shape (out,) = (16,), got (4,)"),
    ("mlp.c_proj.weight", (16, 1), "mlp: w_proj must have shape (F, D) = (16, 4), got (16, 1)")])
def test_wrong_shapes_are_refused(name, shape, message):
    """By the operation that meets them; nothing is stretched to fit."""
    w = weights(1, 4) | {name: np.ones(shape)}
    with pytest.raises(ValueError, match=re.escape(message)):
        block(np.random.default_rng(0).normal(size=(3, 4)), w, 2)


@pytest.mark.parametrize("shape", [(4,), (1, 3, 4)])
def test_a_wrong_stream_is_refused(shape):
    message = f"attend_heads: x must have shape (T, D), got {shape}"
    with pytest.raises(ValueError, match=re.escape(message)):
        block(np.ones(shape), weights(1, 4), 2)
