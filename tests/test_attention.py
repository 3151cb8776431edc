"""attend: hand case, torch's values, loops, the mask, extremes, dtype, refusals."""
import math
import re

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from gpt2lab.attention import attend, attend_in_pieces
from inputs import fixed

pytestmark = pytest.mark.filterwarnings("error")


def by_loops(q, k, v):
    """Each query on its own, over the keys that it may see only: no mask anywhere."""
    T, S, Dh = len(q), len(k), q.shape[-1]
    mixed = np.zeros((T, Dh))
    for t in range(T):
        seen = S - T + t + 1
        scores = [sum(float(q[t, d]) * float(k[s, d]) for d in range(Dh)) / math.sqrt(Dh)
                  for s in range(seen)]
        weights = [math.exp(score - max(scores)) for score in scores]
        for d in range(Dh):
            mixed[t, d] = sum(w * float(v[s, d]) for s, w in enumerate(weights)) / sum(weights)
    return mixed


def numbers(seed, T, S, Dh, *heads):
    draw = np.random.default_rng(seed).normal
    return [fixed(draw(size=(*heads, rows, Dh))) for rows in (T, S, S)]


def pattern_of(q, k):
    """The weights themselves: with the identity matrix as values, they come out as they are."""
    return attend(q, k, fixed(np.eye(k.shape[-2])))


def test_hand_case():
    """Dh = 4, so the scores are halved: 0 and 2 log 3 / 2 = log 3, weights 1/4 and 3/4."""
    k = fixed([[0, 0, 0, 0], [2 * math.log(3), 0, 0, 0]])
    q, v = fixed([[1, 0, 0, 0], [1, 0, 0, 0]]), fixed([[4, 0, 0, 8], [8, 4, 0, 0]])
    assert np.allclose(attend(q, k, v), [[4, 0, 0, 8], [7, 3, 0, 2]], rtol=0, atol=1e-12)


def test_torch():
    """torch 2.13.0, scaled_dot_product_attention(q, k, v, is_causal=True) in float64."""
    q = fixed([[0.8, 0.9], [0.1, -0.8], [-1, -0.3], [0.7, 1]])
    k = fixed([[0.9, -0.8], [-0.3, 1], [-0.5, -0.5], [1, -0.3]])
    v = fixed([[0.1, -0.3], [0.4, -0.5], [0.7, -0.8], [0.8, -0.9]])
    right = [[0.1, -0.3], [0.1747486028, -0.3498324019], [0.4893677194, -0.6088994214],
             [0.4951659635, -0.6148269828]]
    assert np.allclose(attend(q, k, v), right, rtol=0, atol=1e-9)


@pytest.mark.parametrize("T, S", [(1, 1), (5, 5), (1, 5), (2, 5), (4, 5)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_agrees_with_loops_and_keeps_the_dtype(T, S, dtype):
    """S > T: the queries are the last T of S tokens."""
    q, k, v = (fixed(array, dtype) for array in numbers(T + S, T, S, 3))
    mixed = attend(q, k, v)
    assert mixed.dtype == dtype and mixed.shape == (T, 3)
    assert np.allclose(mixed, by_loops(q, k, v), rtol=0, atol=1e-5)


def test_the_last_queries_alone_give_the_last_rows():
    q, k, v = numbers(3, 6, 6, 4)
    assert np.allclose(attend(q[4:], k, v), attend(q, k, v)[4:], rtol=0, atol=1e-14)


@pytest.mark.parametrize("T, S", [(4, 4), (2, 4), (1, 4)])
def test_later_keys_weigh_exactly_0_and_rows_sum_to_1(T, S):
    """Dh = S, to have the identity matrix as values."""
    q, k, _ = numbers(7, T, S, S)
    pattern = pattern_of(q, k)
    later = np.array([[s > S - T + t for s in range(S)] for t in range(T)])
    assert (pattern[later] == 0).all() and (pattern[~later] > 0).all()
    assert np.allclose(pattern.sum(axis=-1), 1, rtol=0, atol=1e-12)


def test_a_very_low_score_still_beats_a_later_key():
    """Query 0: key 0 has -20000, the later key 1 has 0. Masking with a number would let it in."""
    q = fixed([[1, 0], [1, 0]], np.float32)
    k = fixed([[-20000 * math.sqrt(2), 0], [0, 0]], np.float32)
    assert pattern_of(q, k).tolist() == [[1, 0], [0, 1]]


@given(st.integers(0, 2**32 - 1), st.integers(1, 6), st.integers(0, 4))
@settings(max_examples=100, deadline=None, derandomize=True)
def test_causal(seed, T, past):
    """Changing the tokens from some place on changes nothing before that place."""
    S = T + past
    q, k, v = numbers(seed, T, S, 2)
    cut = seed % T
    q2, k2, v2 = q.copy(), k.copy(), v.copy()
    q2[cut:], k2[past + cut:], v2[past + cut:] = 50, -70, 1e6
    assert np.array_equal(attend(q, k, v)[:cut], attend(q2, k2, v2)[:cut])
    assert not np.allclose(attend(q, k, v)[cut:], attend(q2, k2, v2)[cut:])


@pytest.mark.parametrize("scale", [1e6, 1e9, 1e-30])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_extremes(scale, dtype):
    """Huge scores choose one key, tiny ones weigh all alike."""
    q = fixed(np.full((4, 1), scale), dtype)
    k, v = fixed([[1], [3], [2], [4]], dtype), fixed([[10], [20], [30], [40]], dtype)
    right = [[10], [15], [20], [25]] if scale < 1 else [[10], [20], [20], [40]]
    assert np.allclose(attend(q, k, v), right, rtol=0, atol=1e-5)
    assert np.allclose(attend(k, q, v), by_loops(k, q, v), rtol=0, atol=1e-5)   # equal scores
    large = fixed(v * 1e18, dtype)                                              # values up to 4e19
    assert np.allclose(attend(q, k, large), np.multiply(right, 1e18), rtol=1e-5)


def test_leading_axes_go_along():
    q, k, v = numbers(5, 2, 4, 3, 2, 3)
    mixed = attend(q, k, v)
    assert mixed.shape == (2, 3, 2, 3)
    for i in range(2):
        for j in range(3):
            assert np.allclose(mixed[i, j], attend(q[i, j], k[i, j], v[i, j]), rtol=0, atol=1e-14)


def test_the_softmax_given_is_used():
    shapes = []

    def first_key(scores):
        shapes.append(scores.shape)
        return np.where(np.arange(scores.shape[-1]) == 0, 1.0, 0.0) + 0 * np.exp(scores)
    q, k, v = numbers(5, 2, 3, 2)
    assert np.array_equal(attend(q, k, v, softmax=first_key), [v[0], v[0]])
    assert shapes == [(2, 3)]


@pytest.mark.parametrize("q, k, v", [
    ((2, 4), (3, 4), (2, 4)), ((2, 4), (3, 4), (3, 5)), ((2, 4), (3, 5), (3, 5)),
    ((2, 4), (4,), (4,)), ((4,), (3, 4), (3, 4)), ((), (), ()), ((2, 0), (2, 0), (2, 0)),
    ((2, 2, 4), (1, 3, 4), (1, 3, 4)), ((1, 2, 4), (2, 3, 4), (2, 3, 4)),
    ((2, 4), (1, 2, 4), (1, 2, 4))])
def test_wrong_shapes_are_refused(q, k, v):
    message = ("attend: q (T, Dh), k and v (S, Dh) must have one Dh >= 1 and "
               f"the same leading axes, got {q}, {k}, {v}")
    with pytest.raises(ValueError, match=re.escape(message)):
        attend(np.ones(q), np.ones(k), np.ones(v))


def test_more_queries_than_keys_are_refused():
    message = "attend: k must have S >= T = 3 rows, one for each query, got 2"
    with pytest.raises(ValueError, match=re.escape(message)):
        attend(np.ones((3, 4)), np.ones((2, 4)), np.ones((2, 4)))


@pytest.mark.parametrize("T, S, rows", [(1, 1, 4), (4, 4, 4), (5, 5, 4), (8, 8, 4), (9, 20, 4),
                                        (130, 130, 64), (3, 7, 1)])
def test_in_pieces_the_rows_are_the_same(T, S, rows):
    rng, seen = np.random.default_rng(T), []
    q, k, v = (fixed(rng.normal(size=(2, n, 8)), np.float32) for n in (T, S, S))

    def watched(q, k, v):
        seen.append((q.shape[-2], k.shape[-2]))
        return attend(q, k, v)
    np.testing.assert_allclose(attend_in_pieces(q, k, v, watched, rows), attend(q, k, v), atol=1e-6)
    assert sum(n for n, _ in seen) == T and max(n for n, _ in seen) <= rows
    # no piece is given keys past its last query
    assert seen[0][1] == S - T + min(rows, T) and seen[-1][1] == S
