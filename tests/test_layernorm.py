"""layer_norm: hand case, torch's values, extremes, dtype, refusals, mean and variance."""
import re

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from gpt2lab.layernorm import layer_norm
from inputs import fixed

pytestmark = pytest.mark.filterwarnings("error")


# torch 2.13.0, torch.nn.functional.layer_norm(x, (D,), eps=1e-5) in float64 on float32 numbers
TORCH = [
    ([1, 2, 3, 4], [-1.34163542, -0.4472118067, 0.4472118067, 1.34163542]),
    ([3, 0, 0, 0], [1.732045676, -0.5773485585, -0.5773485585, -0.5773485585]),
    ([7, 7, 7, 7], [0, 0, 0, 0]),
    ([0, 0, 0, 0], [0, 0, 0, 0]),
    ([1e6, 1e6 + 1, 1e6 + 2, 1e6 + 4], [-1.183213252, -0.5070913938, 0.1690304646, 1.521274181]),
    ([1e20, -1e20, 5e19, 0], [1.183215957, -1.521277659, 0.5070925528, -0.1690308509]),
    ([1e20, 1, 2, 3], [1.732050808, -0.5773502692, -0.5773502692, -0.5773502692]),
    ([1e-3, 2e-3, -1e-3, 5e-3], [-0.1956984219, 0.06523280731, -0.7175608804, 0.848026495]),
    ([1e-30, -1e-30, 2e-30, 0], [1.58113883e-28, -4.74341649e-28, 4.74341649e-28, -1.58113883e-28]),
]


def test_hand_case():
    """Mean 5, variance 16 and epsilon 9: every distance is divided by 5."""
    y = layer_norm(fixed([[1, 9, 1, 9]]), fixed([1, 1, 10, 1]), fixed([0, 0, 0, 100]), epsilon=9)
    assert np.allclose(y, [[-0.8, 0.8, -8, 100.8]], rtol=0, atol=1e-12)


@pytest.mark.parametrize("row, right", TORCH)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_torch(row, right, dtype):
    y = layer_norm(fixed([row], dtype), fixed(np.ones(4), dtype), fixed(np.zeros(4), dtype))
    assert y.dtype == dtype
    assert np.allclose(y, [right], rtol=1e-5, atol=1e-5 if max(np.abs(row)) > 1e-9 else 1e-33)


def test_each_row_on_its_own_and_any_leading_axes():
    """All rows of TORCH together, extremes beside small numbers, give what each gives alone."""
    x = fixed([row for row, _ in TORCH[:8]], np.float32).reshape(2, 4, 4)
    gain, bias = fixed([1, 2, 3, 4], np.float32), fixed([5, 6, 7, 8], np.float32)
    y = layer_norm(x, gain, bias)
    for i in range(2):
        for j in range(4):
            assert np.array_equal(y[i, j], layer_norm(x[i, j], gain, bias))
            assert np.allclose(y[i, j], TORCH[4 * i + j][1] * gain + bias, rtol=0, atol=1e-5)


@pytest.mark.parametrize("value", [0.1, -7, 1e6 / 3, 1e20 / 3, 1e-30, 3e38])
def test_a_constant_row_gives_the_bias_exactly(value):
    bias = fixed(range(768), np.float32)
    y = layer_norm(fixed(np.full((1, 768), value), np.float32), np.full(768, 5, np.float32), bias)
    assert np.array_equal(y, [bias])


def test_wide_row_far_from_zero():
    """768 numbers near 1e4: sums in float32 alone would miss by more than 1e-5."""
    x = fixed(1e4 + np.sin(np.arange(768)), np.float32)
    centred = x.astype(np.float64) - x.astype(np.float64).mean()
    right = centred / np.sqrt((centred ** 2).mean() + 1e-5)
    assert np.allclose(layer_norm(x, np.ones(768, np.float32), np.zeros(768, np.float32)), right,
                       rtol=0, atol=1e-5)


@given(st.lists(st.floats(-1e6, 1e6, width=32), min_size=2, max_size=20))
@settings(max_examples=200, deadline=None, derandomize=True)
def test_mean_0_and_variance_1(row):
    x = fixed([row])
    y, variance = layer_norm(x, np.ones(len(row)), np.zeros(len(row))), x.var()
    assert abs(y.mean()) < 1e-8
    assert np.isclose(y.var(), variance / (variance + 1e-5), rtol=1e-6, atol=1e-9)


@given(st.lists(st.integers(-1000, 1000), min_size=2, max_size=8), st.integers(-10**6, 10**6))
@settings(max_examples=100, deadline=None, derandomize=True)
def test_a_shift_of_the_row_changes_nothing(row, shift):
    one, zero = np.ones(len(row)), np.zeros(len(row))
    assert np.allclose(layer_norm(fixed(row) + shift, one, zero), layer_norm(fixed(row), one, zero),
                       rtol=0, atol=1e-7)


@pytest.mark.parametrize("x, gain, bias, message", [
    ((2, 8), (4,), (8,), "layer_norm: gain must have shape (D,) = (8,), got (4,)"),
    ((2, 8), (8,), (1,), "layer_norm: bias must have shape (D,) = (8,), got (1,)"),
    ((8, 8), (8, 1), (8,), "layer_norm: gain must have shape (D,) = (8,), got (8, 1)"),
    ((2, 8), (8,), (), "layer_norm: bias must have shape (D,) = (8,), got ()"),
    ((), (8,), (8,), "layer_norm: x must be floating-point numbers (..., D), got float64 ()")])
def test_wrong_shapes_are_refused(x, gain, bias, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        layer_norm(np.ones(x), np.ones(gain), np.ones(bias))


def test_whole_numbers_are_refused():
    """The result would be cut to whole numbers."""
    with pytest.raises(ValueError, match="layer_norm: x must be floating-point.* got int64"):
        layer_norm(np.array([[1, 2]]), np.ones(2), np.zeros(2))
