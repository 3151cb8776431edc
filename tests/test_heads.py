"""attend_heads: hand case, a loop over single heads, remember, dtype, refusals."""
import re

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from gpt2lab.attention import attend
from gpt2lab.heads import attend_heads
from inputs import fixed

pytestmark = pytest.mark.filterwarnings("error")


def numbers(seed, T, D, dtype=np.float64):
    draw = np.random.default_rng(seed).normal
    return [fixed(draw(size=shape), dtype) for shape in
            ((T, D), (D, 3 * D), (3 * D,), (D, D), (D,))]


def by_loops(x, w_qkv, b_qkv, w_out, b_out, n_head):
    """One head after another: its columns of the three parts, its rows of the way back."""
    (T, D), Dh = x.shape, x.shape[1] // n_head
    y = np.tile(np.asarray(b_out, np.float64), (T, 1))
    for h in range(n_head):
        q, k, v = (x @ w_qkv[:, at:at + Dh] + b_qkv[at:at + Dh]
                   for at in (h * Dh, D + h * Dh, 2 * D + h * Dh))
        mixed = np.zeros((T, Dh))
        for t in range(T):
            weights = [np.exp(q[t] @ k[s] / Dh ** 0.5) for s in range(t + 1)]
            mixed[t] = sum(weight * v[s] for s, weight in enumerate(weights)) / sum(weights)
        y += mixed @ w_out[h * Dh:(h + 1) * Dh]
    return y


def test_hand_case():
    """Queries of 0 weigh all keys alike, so each token gets the mean of what it has seen so far;
    head 0 keeps column 0, head 1 column 1, and the way back exchanges them and adds 100."""
    w_qkv = np.hstack([np.zeros((2, 2)), np.ones((2, 2)), np.eye(2)])
    y = attend_heads(fixed([[2, 4], [4, 8], [9, 0]]), fixed(w_qkv), fixed(np.zeros(6)),
                     fixed([[0, 1], [1, 0]]), fixed([100, 100]), n_head=2)
    assert np.allclose(y, [[104, 102], [106, 103], [104, 105]], rtol=0, atol=1e-12)


@given(st.integers(0, 2**32 - 1), st.integers(1, 5),
       st.sampled_from([(4, 1), (4, 2), (4, 4), (6, 3)]))
@settings(max_examples=60, deadline=None, derandomize=True)
def test_agrees_with_a_loop_over_single_heads(seed, T, sizes):
    D, n_head = sizes
    arguments = numbers(seed, T, D)
    assert np.allclose(attend_heads(*arguments, n_head), by_loops(*arguments, n_head),
                       rtol=0, atol=1e-9)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_keeps_the_dtype(dtype):
    arguments = numbers(4, 5, 6, dtype)
    y = attend_heads(*arguments, 2)
    assert y.dtype == dtype and y.shape == (5, 6)
    assert np.allclose(y, by_loops(*arguments, 2), rtol=0, atol=1e-4)


@pytest.mark.parametrize("row", [[1e6, 1e6 + 1, 1e6, -1e6], [1e-30, 0, -1e-30, 1e-30],
                                 [1, 1, 1, 1]])
def test_extremes(row):
    """Token 0 sees itself only: what comes out is its value, whatever its scores are."""
    _, w_qkv, b_qkv, w_out, b_out = numbers(2, 1, 4, np.float32)
    y = attend_heads(fixed([row], np.float32), w_qkv, b_qkv, w_out, b_out, 2)
    right = (np.float64(row) @ w_qkv[:, 8:] + b_qkv[8:]) @ np.float64(w_out) + b_out
    assert np.allclose(y, right, rtol=1e-4, atol=1e-5)


def test_remember_takes_the_new_keys_and_gives_all():
    """Three tokens, then two more: the same rows as five at once."""
    x, *weights = numbers(9, 5, 6)
    kept = []

    def remember(k, v):
        kept.append((k, v))
        return tuple(np.concatenate(parts, axis=1) for parts in zip(*kept))
    y = [attend_heads(part, *weights, 3, remember=remember) for part in (x[:3], x[3:])]
    assert [k.shape for k, _ in kept] == [v.shape for _, v in kept] == [(3, 3, 2), (3, 2, 2)]
    assert np.allclose(np.vstack(y), attend_heads(x, *weights, 3), rtol=0, atol=1e-12)


def test_the_operations_given_are_used():
    x, *weights = numbers(9, 5, 6)
    shapes = []

    def linear(x, w, b):
        return 2 * (x @ w + b)

    def watched(q, k, v):
        shapes.append((q.shape, k.shape, v.shape))
        return attend(q, k, v)
    attend_heads(x, *weights, 3, attend=watched)
    assert shapes == [((3, 5, 2),) * 3]
    y = attend_heads(x, *weights, 3, linear=linear, attend=lambda q, k, v: v)
    v = 2 * (x @ weights[0][:, 12:] + weights[1][12:])
    assert np.allclose(y, 2 * (v @ weights[2] + weights[3]))


GOOD = {"x": (3, 4), "w_qkv": (4, 12), "b_qkv": (12,), "w_out": (4, 4), "b_out": (4,), "n_head": 2}


@pytest.mark.parametrize("name, value, message", [
    ("x", (4,), "attend_heads: x must have shape (T, D), got (4,)"),
    ("x", (1, 3, 4), "attend_heads: x must have shape (T, D), got (1, 3, 4)"),
    ("x", (3, 6), "attend_heads: w_qkv must have shape (6, 18), got (4, 12)"),
    ("w_qkv", (4, 24), "attend_heads: w_qkv must have shape (4, 12), got (4, 24)"),
    ("w_qkv", (12, 4), "attend_heads: w_qkv must have shape (4, 12), got (12, 4)"),
    ("b_qkv", (4,), "linear: b must have shape (out,) = (12,), got (4,)"),
    ("b_qkv", (1,), "linear: b must have shape (out,) = (12,), got (1,)"),
    ("w_out", (4, 1), "attend_heads: w_out must have shape (4, 4), got (4, 1)"),
    ("w_out", (4,), "attend_heads: w_out must have shape (4, 4), got (4,)"),
    ("b_out", (1,), "linear: b must have shape (out,) = (4,), got (1,)"),
    ("n_head", 3, "attend_heads: D = 4 must be divisible by n_head = 3"),
    ("n_head", 8, "attend_heads: D = 4 must be divisible by n_head = 8"),
    ("n_head", 0, "attend_heads: D = 4 must be divisible by n_head = 0"),
    ("n_head", -2, "attend_heads: D = 4 must be divisible by n_head = -2")])
def test_wrong_shapes_are_refused(name, value, message):
    sizes = GOOD | {name: value}
    with pytest.raises(ValueError, match=re.escape(message)):
        attend_heads(**{key: size if key == "n_head" else np.ones(size)
                        for key, size in sizes.items()})
