"""embed: hand case, start, dtype, refusals."""
import re

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from gpt2lab.embedding import embed
from inputs import fixed

pytestmark = pytest.mark.filterwarnings("error")


WTE = fixed([[1, 2], [3, 4], [5, 6]])               # V = 3, D = 2
WPE = fixed([[10, 20], [30, 40], [50, 60], [70, 80]])       # N = 4


def test_hand_case():
    assert embed(fixed([2, 0, 2], int), WTE, WPE).tolist() == [[15, 26], [31, 42], [55, 66]]


def test_start_moves_the_positions_not_the_tokens():
    assert embed([1], WTE, WPE, start=3).tolist() == [[73, 84]]
    whole = embed([0, 1, 2, 1], WTE, WPE)
    assert np.array_equal(whole[2:], embed([2, 1], WTE, WPE, start=2))


def test_lists_tuples_and_every_integer_dtype():
    right = embed([2, 1], WTE, WPE)
    for ids in ((2, 1), np.array([2, 1], np.uint8), np.array([2, 1], np.uint64),
                np.array([2, 1], np.int32)):
        assert np.array_equal(embed(ids, WTE, WPE), right)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_keeps_the_dtype_and_gives_a_new_array(dtype):
    wte, wpe = WTE.astype(dtype), WPE.astype(dtype)
    x = embed([0, 1], wte, wpe)
    assert x.dtype == dtype
    x[:] = 0
    assert np.array_equal(wte, WTE) and np.array_equal(wpe, WPE)


@pytest.mark.parametrize("value", [1e6, 1e20, 1e-30, -1e20])
def test_extremes(value):
    x = embed([0], fixed([[value, 0]], np.float32), fixed([[0, value]], np.float32))
    assert x.tolist() == [[np.float32(value), np.float32(value)]]


@given(st.lists(st.integers(0, 2), max_size=4), st.integers(0, 4))
@settings(max_examples=100, deadline=None, derandomize=True)
def test_agrees_with_loops_wherever_it_fits(ids, start):
    ids = np.array(ids, int)
    if start + len(ids) > 4:
        with pytest.raises(ValueError, match="embed: the context has N = 4 positions"):
            embed(ids, WTE, WPE, start)
        return
    x = embed(ids, WTE, WPE, start)
    assert x.shape == (len(ids), 2)
    for t, i in enumerate(ids):
        for d in range(2):
            assert x[t, d] == WTE[i, d] + WPE[start + t, d]


@pytest.mark.parametrize("ids, start, message", [
    ([0, 3], 0, "embed: ids must be from 0 to V - 1 = 2, got 0 to 3"),
    ([-1], 0, "embed: ids must be from 0 to V - 1 = 2, got -1 to -1"),  # no counting from the end
    ([0] * 5, 0, "embed: the context has N = 4 positions, got positions 0 to 4"),
    ([0], 4, "embed: the context has N = 4 positions, got positions 4 to 4"),
    ([0], -1, "embed: the context has N = 4 positions, got positions -1 to -1"),
    ([[0, 1]], 0, "embed: ids must be whole numbers of shape (T,), got int64 (1, 2)"),
    (1, 0, "embed: ids must be whole numbers of shape (T,), got int64 ()"),
    ([0.0, 1.0], 0, "embed: ids must be whole numbers of shape (T,), got float64 (2,)"),
    ([True, False, True], 0, "embed: ids must be whole numbers of shape (T,), got bool (3,)")])
def test_wrong_ids_are_refused(ids, start, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        embed(ids, WTE, WPE, start)


@pytest.mark.parametrize("wte, wpe", [((3, 2), (4, 1)), ((3, 1), (4, 2)), ((3, 2), (4, 3)),
                                      ((3,), (4, 2)), ((3, 2), (4,)), ((3, 2, 1), (4, 2))])
def test_wrong_tables_are_refused(wte, wpe):
    message = f"embed: wte (V, D) and wpe (N, D) must have one D, got {wte}, {wpe}"
    with pytest.raises(ValueError, match=re.escape(message)):
        embed([0, 1], np.ones(wte), np.ones(wpe))
