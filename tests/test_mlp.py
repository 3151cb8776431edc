"""mlp: hand case, loops, extremes, dtype, refusals."""
import math
import re

import numpy as np
import pytest

from gpt2lab.mlp import mlp
from inputs import fixed

pytestmark = pytest.mark.filterwarnings("error")


def numbers(seed, T, D, F, dtype=np.float64):
    draw = np.random.default_rng(seed).normal
    return [fixed(draw(size=shape), dtype) for shape in ((T, D), (D, F), (F,), (F, D), (D,))]


def by_loops(x, w_fc, b_fc, w_proj, b_proj):
    y = np.zeros(x.shape)
    for t, row in enumerate(x.astype(float)):
        hidden = []
        for f in range(len(b_fc)):
            h = sum(row[d] * float(w_fc[d, f]) for d in range(len(row))) + float(b_fc[f])
            inner = math.sqrt(2 / math.pi) * (h + 0.044715 * h ** 3)
            hidden.append(0.5 * h * (1 + math.tanh(inner)))
        for d in range(len(row)):
            y[t, d] = sum(h * float(w_proj[f, d]) for f, h in enumerate(hidden)) + float(b_proj[d])
    return y


def test_hand_case():
    """Far from 0 gelu is a switch: 60 passes, -40 does not."""
    y = mlp(fixed([[2, 3]]), fixed([[0, 10, 1], [20, -20, 1]]), fixed([0, 0, -5]),
            fixed([[1, 2], [100, 100], [7, 7]]), fixed([5, 6]))
    assert np.allclose(y, [[65, 126]], rtol=0, atol=1e-9)


@pytest.mark.parametrize("T, D, F", [(1, 2, 8), (4, 3, 5), (3, 5, 1)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_agrees_with_loops_and_keeps_the_dtype(T, D, F, dtype):
    arguments = numbers(T, T, D, F, dtype)
    y = mlp(*arguments)
    assert y.dtype == dtype and y.shape == (T, D)
    assert np.allclose(y, by_loops(*arguments), rtol=0, atol=1e-5)


@pytest.mark.parametrize("row", [[1e6, 1e6 + 1, 1e6], [1e20, -1e20, 0], [1e-30, 0, -1e-30],
                                 [3, 3, 3]])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_extremes(row, dtype):
    _, *weights = numbers(1, 1, 3, 12, dtype)
    x = fixed([row], dtype)
    assert np.allclose(mlp(x, *weights), by_loops(x, *weights), rtol=1e-4, atol=1e-5)


def test_rows_do_not_meet():
    x, *weights = numbers(3, 4, 3, 12)
    y = mlp(x, *weights)
    for t in range(4):
        assert np.allclose(mlp(x[t:t + 1], *weights), y[t:t + 1], rtol=0, atol=1e-13)


def test_the_operations_given_are_used():
    x, *weights = numbers(3, 4, 3, 12)
    seen = []

    def watched(h):
        seen.append(h.shape)
        return 0 * h
    y = mlp(x, *weights, linear=lambda x, w, b: x @ w + 2 * b, gelu=watched)
    assert np.allclose(y, np.tile(2 * weights[3], (4, 1))) and seen == [(4, 12)]


GOOD = {"x": (2, 3), "w_fc": (3, 12), "b_fc": (12,), "w_proj": (12, 3), "b_proj": (3,)}


@pytest.mark.parametrize("name, shape, message", [
    ("x", (2, 4), "linear: w must have shape (in, out) = (4, out), got (3, 12)"),
    ("x", (), "linear: x must have shape (..., in), got ()"),
    ("w_fc", (3, 8), "mlp: w_proj must have shape (F, D) = (8, 3), got (12, 3)"),
    ("w_fc", (12, 3), "mlp: w_proj must have shape (F, D) = (3, 12), got (12, 3)"),
    ("w_fc", (3,), "mlp: w_proj must have shape (F, D) = (3,), got (12, 3)"),
    ("b_fc", (1,), "linear: b must have shape (out,) = (12,), got (1,)"),
    ("w_proj", (12, 1), "mlp: w_proj must have shape (F, D) = (12, 3), got (12, 1)"),
    ("w_proj", (3, 12), "mlp: w_proj must have shape (F, D) = (12, 3), got (3, 12)"),
    ("b_proj", (12,), "linear: b must have shape (out,) = (3,), got (12,)"),
    ("b_proj", (), "linear: b must have shape (out,) = (3,), got ()")])
def test_wrong_shapes_are_refused(name, shape, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        mlp(**{key: np.ones(size) for key, size in (GOOD | {name: shape}).items()})
