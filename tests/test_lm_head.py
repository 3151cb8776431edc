"""lm_head: hand case, loops, extremes, dtype, refusals."""
import math
import re

import numpy as np
import pytest

from gpt2lab.lm_head import lm_head
from inputs import fixed

pytestmark = pytest.mark.filterwarnings("error")


def by_loops(x, gain, bias, wte, epsilon=1e-5):
    logits = np.zeros((len(x), len(wte)))
    for t, row in enumerate(x.astype(float)):
        mean = sum(row) / len(row)
        spread = math.sqrt(sum((value - mean) ** 2 for value in row) / len(row) + epsilon)
        for v, token in enumerate(wte):
            logits[t, v] = sum(((value - mean) / spread * float(g) + float(b)) * float(weight)
                               for value, g, b, weight in zip(row, gain, bias, token))
    return logits


def test_hand_case():
    """Mean 5, variance 16, epsilon 9: the norm of [1, 9] is [-0.8, 0.8]."""
    logits = lm_head(fixed([[1, 9]]), fixed([10, 10]), fixed([1, 2]),
                     fixed([[1, 0], [0, 1], [1, 1]]), epsilon=9)
    assert np.allclose(logits, [[-7, 10, 3]], rtol=0, atol=1e-12)


@pytest.mark.parametrize("T, D, V", [(1, 2, 1), (3, 4, 4), (2, 5, 9)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_agrees_with_loops_and_keeps_the_dtype(T, D, V, dtype):
    draw = np.random.default_rng(V).normal
    arguments = [fixed(draw(size=shape), dtype) for shape in ((T, D), (D,), (D,), (V, D))]
    logits = lm_head(*arguments)
    assert logits.dtype == dtype and logits.shape == (T, V)
    assert np.allclose(logits, by_loops(*arguments), rtol=0, atol=1e-5)


@pytest.mark.parametrize("row", [[1e6, 1e6 + 1, 1e6 + 2, 1e6 + 4], [1e20, -1e20, 5e19, 0],
                                 [1e-30, -1e-30, 0, 0], [7, 7, 7, 7]])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_extremes(row, dtype):
    x, gain, bias = (fixed(values, dtype) for values in ([row], [1, 2, 3, 4], [0, 1, 0, -1]))
    wte = fixed(np.random.default_rng(1).normal(size=(6, 4)), dtype)
    assert np.allclose(lm_head(x, gain, bias, wte), by_loops(x, gain, bias, wte), rtol=0, atol=1e-5)


def test_the_layer_norm_given_is_used():
    def layer_norm(x, gain, bias, epsilon):
        return x * gain + bias + epsilon
    logits = lm_head(fixed([[1, 2]]), fixed([3, 4]), fixed([5, 6]), fixed([[1, 0], [0, 1]]), 100,
                     layer_norm=layer_norm)
    assert logits.tolist() == [[108, 114]]


@pytest.mark.parametrize("x, gain, bias, wte, message", [
    ((2, 4), (4,), (4,), (4, 9), "lm_head: wte must have shape (V, D) = (V, 4), got (4, 9)"),
    ((2, 4), (4,), (4,), (9, 1), "lm_head: wte must have shape (V, D) = (V, 4), got (9, 1)"),
    ((2, 4), (4,), (4,), (4,), "lm_head: wte must have shape (V, D) = (V, 4), got (4,)"),
    ((2, 4), (4,), (4,), (1, 9, 4), "lm_head: wte must have shape (V, D) = (V, 4), got (1, 9, 4)"),
    ((2, 4), (1,), (4,), (9, 4), "layer_norm: gain must have shape (D,) = (4,), got (1,)"),
    ((2, 4), (4,), (2, 4), (9, 4), "layer_norm: bias must have shape (D,) = (4,), got (2, 4)"),
    ((), (4,), (4,), (9, 4), "layer_norm: x must be floating-point numbers (..., D), got")])
def test_wrong_shapes_are_refused(x, gain, bias, wte, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        lm_head(np.ones(x), np.ones(gain), np.ones(bias), np.ones(wte))
