"""softmax: hand case, torch's values, extremes, dtype, refusals, shift and sum."""
import math
import re

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from gpt2lab.softmax import softmax
from inputs import fixed

pytestmark = pytest.mark.filterwarnings("error")


INF = math.inf
# torch 2.13.0, torch.softmax in float64
TORCH = [
    ([0, 1, 2], [0.09003057317, 0.2447284711, 0.6652409558]),
    ([1000, 1000, 999], [0.4223187983, 0.4223187983, 0.1553624035]),
    ([-1000, -1001], [0.7310585786, 0.2689414214]),
    ([1e6, 1e6 + 1, 1e6 + 0.5], [0.1863237232, 0.5064803911, 0.3071958857]),
    ([1e20, 0, -1e20], [1, 0, 0]),
    ([1e-30, -1e-30, 0], [0.3333333333, 0.3333333333, 0.3333333333]),
    ([-INF, 1, 2], [0, 0.2689414214, 0.7310585786]),
    ([5, 5, 5, 5], [0.25, 0.25, 0.25, 0.25]),
    ([-INF, -1e20], [0, 1]),
    ([7], [1]),
]


def test_hand_case():
    """exp(log n) = n: the scores log 1, log 2, log 5 share 8 parts."""
    right = [[1 / 8, 2 / 8, 5 / 8]]
    assert np.allclose(softmax(fixed([np.log([1, 2, 5])])), right, rtol=0, atol=1e-15)


@pytest.mark.parametrize("row, right", TORCH)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_torch(row, right, dtype):
    probs = softmax(fixed([row], dtype))
    assert probs.dtype == dtype
    assert np.allclose(probs, [right], rtol=0, atol=1e-6)


def test_minus_infinity_gives_exactly_0():
    probs = softmax(fixed([[-INF, 3, -INF], [0, -INF, 0]], np.float32))
    assert probs.tolist() == [[0, 1, 0], [0.5, 0, 0.5]]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_largest_and_smallest_float(dtype):
    """Their difference is no float any more; no warning, no nan."""
    most = np.finfo(dtype).max
    assert softmax(fixed([most, -most, most], dtype)).tolist() == [0.5, 0, 0.5]


def test_each_row_on_its_own_and_any_leading_axes():
    """A row of huge scores beside a row of small ones: each has its own largest."""
    scores = fixed([[[1e6, 1e6 + 1], [0, 1]], [[-1e6, 1 - 1e6], [3, -INF]]])
    probs = softmax(scores)
    for i in range(2):
        for j in range(2):
            exps = [math.exp(score - max(scores[i, j])) for score in scores[i, j]]
            assert np.allclose(probs[i, j], np.divide(exps, sum(exps)), rtol=0, atol=1e-15)


SCORES = st.lists(st.floats(-1e4, 1e4) | st.just(-INF), min_size=1, max_size=12).filter(
    lambda row: max(row) > -INF)


@given(SCORES)
@settings(max_examples=200, deadline=None, derandomize=True)
def test_probabilities(row):
    probs = softmax(fixed(row))
    assert np.isclose(probs.sum(), 1, rtol=0, atol=1e-12) and probs.min() >= 0
    exps = [math.exp(score - max(row)) for score in row]
    assert np.allclose(probs, np.divide(exps, sum(exps)), rtol=1e-12, atol=1e-300)


@given(SCORES, st.integers(-10**6, 10**6))
@settings(max_examples=200, deadline=None, derandomize=True)
def test_a_shift_of_all_scores_changes_nothing(row, shift):
    assert np.allclose(softmax(fixed(row) + shift), softmax(fixed(row)), rtol=0, atol=1e-8)


@pytest.mark.parametrize("shape", [(), (0,), (3, 0)])
def test_wrong_shapes_are_refused(shape):
    message = f"softmax: scores must have shape (..., S) with S >= 1, got {shape}"
    with pytest.raises(ValueError, match=re.escape(message)):
        softmax(np.zeros(shape))


@pytest.mark.parametrize("row", [[1, math.nan, 3], [1, INF, 2], [-INF, -INF], [math.nan, -INF]])
def test_rows_without_a_finite_top_are_refused(row):
    """One bad row among good ones is enough."""
    with pytest.raises(ValueError, match="softmax: the largest score of each row must be finite"):
        softmax(fixed([[0] * len(row), row]))
