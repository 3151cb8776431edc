"""linear: hand case, loops, extremes, dtype, refusals, additivity."""
import re

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from gpt2lab.linear import linear
from inputs import fixed

pytestmark = pytest.mark.filterwarnings("error")


def by_loops(x, w, b):
    """Every output number on its own."""
    y = np.zeros((len(x), len(b)))
    for t in range(len(x)):
        for j in range(len(b)):
            y[t, j] = sum(float(x[t, i]) * float(w[i, j]) for i in range(x.shape[1])) + float(b[j])
    return y


def test_hand_case():
    x, w, b = fixed([[1, 2], [0, 3]]), fixed([[1, 0, 2], [4, 5, 6]]), fixed([10, 20, 30])
    assert linear(x, w, b).tolist() == [[19, 30, 44], [22, 35, 48]]


def test_weights_are_stored_in_by_out():
    """A square w multiplied from the wrong side gives [1, 3]."""
    assert linear(fixed([1, 0]), fixed([[1, 2], [3, 4]]), fixed([0, 0])).tolist() == [1, 2]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_agrees_with_loops_and_keeps_the_dtype(dtype):
    draw = np.random.default_rng(1).normal
    x, w, b = (fixed(draw(size=shape), dtype) for shape in ((5, 7), (7, 3), (3,)))
    y = linear(x, w, b)
    assert y.dtype == dtype and y.shape == (5, 3)
    assert np.allclose(y, by_loops(x, w, b), rtol=0, atol=1e-5)


@pytest.mark.parametrize("row", [[1e6, 1e6 + 1, 1e6 - 1], [1e20, -1e20, 1], [1e-30, -2e-30, 0],
                                 [7, 7, 7]])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_extremes(row, dtype):
    x, w = fixed([row], dtype), fixed([[1, 2], [0.5, -1], [0.25, 4]], dtype)
    b = fixed([0, 0], dtype)
    assert np.allclose(linear(x, w, b), by_loops(x, w, b), rtol=1e-5, atol=0)


def test_any_leading_axes():
    x, w, b = np.arange(24.).reshape(2, 3, 4), np.arange(8.).reshape(4, 2), np.array([1., -1])
    y = linear(x, w, b)
    assert y.shape == (2, 3, 2)
    assert np.array_equal(y[1, 2], linear(x[1, 2], w, b))
    assert linear(x[0, :0], w, b).shape == (0, 2)


@pytest.mark.parametrize("x, w, b, message", [
    ((2, 3), (4, 5), (5,), "linear: w must have shape (in, out) = (3, out), got (4, 5)"),
    ((2, 3), (3,), (3,), "linear: w must have shape (in, out) = (3, out), got (3,)"),
    ((2, 3), (1, 3, 5), (5,), "linear: w must have shape (in, out) = (3, out), got (1, 3, 5)"),
    ((2, 3), (1, 5), (5,), "linear: w must have shape (in, out) = (3, out), got (1, 5)"),
    ((2, 3), (3, 5), (3,), "linear: b must have shape (out,) = (5,), got (3,)"),
    ((2, 3), (3, 5), (1,), "linear: b must have shape (out,) = (5,), got (1,)"),
    ((5, 3), (3, 5), (5, 1), "linear: b must have shape (out,) = (5,), got (5, 1)"),
    ((2, 3), (3, 5), (), "linear: b must have shape (out,) = (5,), got ()"),
    ((), (3, 5), (5,), "linear: x must have shape (..., in), got ()")])
def test_wrong_shapes_are_refused(x, w, b, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        linear(np.ones(x), np.ones(w), np.ones(b))


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=50, deadline=None, derandomize=True)
def test_without_bias_it_is_additive(seed):
    draw = np.random.default_rng(seed).normal
    x, y, w, none = draw(size=(2, 4)), draw(size=(2, 4)), draw(size=(4, 3)), np.zeros(3)
    assert np.allclose(linear(x + y, w, none), linear(x, w, none) + linear(y, w, none), atol=1e-12)
    assert np.allclose(linear(3 * x, w, none), 3 * linear(x, w, none), atol=1e-12)
