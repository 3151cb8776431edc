"""gelu: torch's values, extremes, dtype, shape of the curve."""
import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from gpt2lab.gelu import exact_gelu, gelu, gelu_in_pieces
from inputs import fixed

pytestmark = pytest.mark.filterwarnings("error")


X = [-1e20, -30, -3, -1, -0.5, -1e-30, 0, 1e-30, 0.5, 1, 3, 30, 1e20]
# torch 2.13.0, torch.nn.functional.gelu(x, approximate="tanh" and "none") in float64
TANH = [0, 0, -0.003637392082, -0.1588080094, -0.1542859902, -5e-31, 0, 5e-31,
        0.3457140098, 0.8411919906, 2.996362608, 30, 1e20]
ERF = [0, 0, -0.004049694095, -0.1586552539, -0.1542687694, -5e-31, 0, 5e-31,
       0.3457312306, 0.8413447461, 2.995950306, 30, 1e20]


def by_loops(x):
    return [0.5 * v * (1 + math.tanh(math.sqrt(2 / math.pi) * (v + 0.044715 * v ** 3))) for v in x]


@pytest.mark.parametrize("function, right", [(gelu, TANH), (exact_gelu, ERF)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_torch(function, right, dtype):
    y = function(fixed(X, dtype))
    assert y.dtype == dtype
    assert np.allclose(y, right, rtol=1e-6, atol=1e-7)
    assert np.allclose(y[5:8], right[5:8], rtol=1e-6, atol=0)       # the tiny ones


def test_the_two_forms_differ():
    """4e-4 at 3: a checkpoint computed with the other form misses its logits."""
    assert 3e-4 < gelu(fixed([3.0])) - exact_gelu(fixed([3.0])) < 5e-4


@pytest.mark.parametrize("function", [gelu, exact_gelu])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_largest_and_smallest_float(function, dtype):
    """The cube of these is no float any more; no warning, no nan."""
    most, least = np.finfo(dtype).max, np.finfo(dtype).tiny
    assert function(fixed([most, -most, 0, -0.0], dtype)).tolist() == [most, 0, 0, 0]
    assert np.isfinite(function(fixed([least, -least], dtype))).all()


@given(st.lists(st.floats(-100, 100), min_size=1, max_size=9))
@settings(max_examples=100, deadline=None, derandomize=True)
def test_agrees_with_loops_and_with_its_mirror(x):
    y = gelu(fixed(x))
    assert np.allclose(y, by_loops(x), rtol=0, atol=1e-12)
    assert np.allclose(y - gelu(-fixed(x)), x, rtol=0, atol=1e-12)      # gelu(x) - gelu(-x) = x


@pytest.mark.parametrize("shape", [(), (0,), (2, 3), (2, 1, 4)])
def test_every_shape(shape):
    """Each number on its own, so there is no wrong shape."""
    x = np.full(shape, 1.0)
    for function, right in ((gelu, 0.8411919906), (exact_gelu, 0.8413447461)):
        assert np.shape(function(x)) == shape and np.allclose(function(x), right)


@pytest.mark.parametrize("T", [1, 64, 65, 130])
def test_in_pieces_the_rows_are_the_same(T):
    x, seen = fixed(np.random.default_rng(T).normal(size=(T, 5)), np.float32), []

    def watched(x):
        seen.append(len(x))
        return gelu(x)
    y = gelu_in_pieces(x, watched)
    assert y.dtype == np.float32 and np.array_equal(y, gelu(x))
    assert sum(seen) == T and max(seen) <= 64
