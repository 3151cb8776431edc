"""KVCache: cached logits are the uncached ones, whatever the pieces; nothing is copied or kept."""
import re

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from gpt2lab import Config, KVCache, Ops
from gpt2lab.kvcache import remember
from gpt2lab.mlp import mlp
from tiny_a import CONFIG, LOGITS, PROMPT, model

pytestmark = pytest.mark.filterwarnings("error")
MODEL = model()
TWELVE = [1, 5, 3, 0, 7, 12, 2, 2, 9, 11, 4, 6]         # as many as the context holds
TOLERANCE = 1e-5                                        # float32, sums in another order


def in_pieces(ids, sizes, cache):
    """Logits of the ids, given to the model in pieces of these sizes."""
    rows, start = [], 0
    for size in sizes:
        rows.append(MODEL(ids[start:start + size], cache=cache))
        start += size
    assert start == len(ids)
    return np.vstack(rows)


def assert_same(cached, uncached):
    assert cached.shape == uncached.shape
    assert np.abs(cached - uncached).max() < TOLERANCE
    assert np.array_equal(cached.argmax(axis=-1), uncached.argmax(axis=-1))


def state(cache):
    return cache.length, cache.keys.copy(), cache.values.copy()


def assert_state(cache, before):
    for now, then in zip(state(cache), before):
        assert np.array_equal(now, then)


# --- the public cases CACHE-1 to CACHE-5

def test_positions_go_on_after_the_cache():
    cache = KVCache(CONFIG)
    MODEL([1, 5, 3], cache=cache)
    assert cache.length == 3
    logits = MODEL([0], cache=cache)
    assert logits.shape == (1, 13) and np.allclose(logits[0, :4], LOGITS[3], rtol=0, atol=1e-4)


def test_the_mask_holds_in_a_fresh_cache():
    logits = MODEL(PROMPT, cache=KVCache(CONFIG))
    assert np.allclose(logits[:, :4], LOGITS, rtol=0, atol=1e-4)


def test_two_prompts_do_not_mix():
    same, first = model(), [1, 5, 3]
    for prompt, right in ((first, [7, 0, 2, 10]), ([0], [0, 0, 10, 10]), (first, [7, 0, 2, 10])):
        for one in (same, model()):
            done = one.generate_ids(prompt, max_new_tokens=4, temperature=0, eos_token_id=None)
            assert done.ids == right


def test_two_caches_side_by_side_do_not_mix():
    a, b = KVCache(CONFIG), KVCache(CONFIG)
    rows_a, rows_b = [], []
    for i, j in zip(TWELVE, reversed(TWELVE)):
        rows_a.append(MODEL([i], cache=a))
        rows_b.append(MODEL([j], cache=b))
    assert_same(np.vstack(rows_a), MODEL(TWELVE))
    assert_same(np.vstack(rows_b), MODEL(TWELVE[::-1]))


def test_one_by_one_up_to_the_last_position():
    cache = KVCache(CONFIG)
    assert_same(in_pieces(TWELVE, [1] * 12, cache), MODEL(TWELVE))
    assert cache.length == 12


def test_allocated_once_and_float32():
    cache = KVCache(CONFIG)
    keys, values = cache.keys, cache.values
    places = keys.ctypes.data, values.ctypes.data
    assert keys.shape == values.shape == (2, 2, 12, 4)
    for i in TWELVE:
        assert MODEL([i], cache=cache).dtype == np.float32
    assert cache.keys is keys and cache.values is values
    assert (keys.ctypes.data, values.ctypes.data) == places
    assert keys.dtype == values.dtype == np.float32
    assert (np.abs(keys).max(axis=-1) > 0).all()            # every block, head and place was filled


def test_the_size_for_gpt2():
    """73,728 bytes a token, all of the context at once."""
    cache = KVCache(Config(vocab_size=50257, n_positions=1024, n_embd=768, n_layer=12, n_head=12))
    assert cache.keys.nbytes + cache.values.nbytes == 75_497_472 == 1024 * 73_728


# --- any pieces

@st.composite
def pieces(draw):
    ids = draw(st.lists(st.integers(0, 12), min_size=1, max_size=12))
    cuts = sorted(draw(st.sets(st.integers(1, len(ids) - 1)))) if len(ids) > 1 else []
    return ids, np.diff([0, *cuts, len(ids)]).tolist()


@given(pieces())
@settings(max_examples=60, deadline=None, derandomize=True)
def test_any_pieces_give_the_uncached_logits(example):
    ids, sizes = example
    assert_same(in_pieces(ids, sizes, KVCache(CONFIG)), MODEL(ids))


@given(pieces(), st.integers(0, 12))
@settings(max_examples=60, deadline=None, derandomize=True)
def test_set_back_and_gone_on_with_other_tokens_is_like_fresh(example, back):
    ids, sizes = example
    cache = KVCache(CONFIG)
    in_pieces(TWELVE, [12], cache)
    cache.length = back
    ids = ids[:12 - back]
    if not ids:
        return
    logits = in_pieces(ids, [1] * len(ids), cache)
    assert_same(logits, MODEL(TWELVE[:back] + ids)[back:])


# --- refusals change nothing

@pytest.mark.parametrize("held, more", [(12, 1), (10, 3), (0, 13), (1, 12)])
def test_one_too_many_raises_before_anything_changes(held, more):
    cache = KVCache(CONFIG)
    if held:
        MODEL(TWELVE[:held], cache=cache)
    before = state(cache)
    for call in (MODEL, MODEL.next_logits):
        with pytest.raises(ValueError, match=f"the context holds N = 12 tokens, got {held + more}"):
            call([3] * more, cache=cache)
        assert_state(cache, before)
    if held < 12:                                           # and the cache can still be used
        assert_same(MODEL([3], cache=cache), MODEL(TWELVE[:held] + [3])[-1:])


@pytest.mark.parametrize("ids", [[], [13], [-1], [1.5], [[1]], [True]])
def test_wrong_ids_change_nothing(ids):
    cache = KVCache(CONFIG)
    MODEL([1, 5], cache=cache)
    before = state(cache)
    with pytest.raises(ValueError):
        MODEL(ids, cache=cache)
    assert_state(cache, before)


def test_a_failure_half_way_can_be_repeated():
    """Block 0 has stored its part when block 1 fails: the length stays, so the part is not seen."""
    calls = []

    def fails_on_the_fourth(*arguments, **named):
        calls.append(1)
        if len(calls) == 4:
            raise RuntimeError("stopped")
        return mlp(*arguments, **named)
    failing, cache = model(ops=Ops(mlp=fails_on_the_fourth)), KVCache(CONFIG)
    failing([1, 5], cache=cache)
    with pytest.raises(RuntimeError, match="stopped"):
        failing([9], cache=cache)
    assert cache.length == 2
    assert_same(failing([3], cache=cache), MODEL([1, 5, 3])[-1:])


# --- remember, by hand

def test_remember_gives_views_of_all_so_far():
    cache = KVCache(Config(vocab_size=5, n_positions=4, n_embd=2, n_layer=2, n_head=1))
    k, v = np.float32([[[1, 2], [3, 4]]]), np.float32([[[5, 6], [7, 8]]])
    for layer in (0, 1):
        all_k, all_v = cache.remember(layer)(k + layer, v + layer)
        assert np.array_equal(all_k, k + layer) and np.array_equal(all_v, v + layer)
        assert np.shares_memory(all_k, cache.keys) and np.shares_memory(all_v, cache.values)
    assert cache.length == 0                                # the model moves it, after all blocks
    cache.length = 2
    all_k, all_v = cache.remember(1)(k[:, :1], v[:, :1])
    assert all_k.tolist() == [[[2, 3], [4, 5], [1, 2]]]
    assert all_v.tolist() == [[[6, 7], [8, 9], [5, 6]]]
    assert np.array_equal(cache.keys[0, 0, 2:], np.zeros((2, 2)))


@pytest.mark.parametrize("k, v, message", [
    ((2, 1, 5), (2, 1, 5), "k and v must have shape (H, T, Dh) = (2, T, 4), got (2, 1, 5)"),
    ((1, 1, 4), (1, 1, 4), "k and v must have shape (H, T, Dh) = (2, T, 4), got (1, 1, 4)"),
    ((2, 1, 4), (2, 1, 1), "(2, T, 4), got (2, 1, 4), (2, 1, 1)"),
    ((2, 4), (2, 4), "(2, T, 4), got (2, 4), (2, 4)"),
    ((2, 13, 4), (2, 13, 4), "holds N = 12 positions, got 13")])
def test_wrong_shapes_are_refused(k, v, message):
    """Nothing is stretched to fit, nothing is written."""
    cache = KVCache(CONFIG)
    for join in (remember, yours):
        with pytest.raises(ValueError, match="^KVCache: .*" + re.escape(message)):
            cache.remember(0, join)(np.ones(k), np.ones(v))
    assert not cache.keys.any() and not cache.values.any()


# --- remember as an operation

def yours(old_k, old_v, k, v):
    """remember, as somebody else writes it."""
    return [np.hstack([old_k, k]), np.hstack([old_v, v])]


def test_remember_puts_the_new_rows_below_the_old_ones():
    old_k, old_v = np.float32([[[1, 2]], [[3, 4]]]), np.float32([[[5, 6]], [[7, 8]]])
    k, v = np.float32([[[9, 9]], [[8, 8]]]), np.float32([[[0, 1]], [[1, 0]]])
    all_k, all_v = remember(old_k, old_v, k, v)
    assert all_k.tolist() == [[[1, 2], [9, 9]], [[3, 4], [8, 8]]]
    assert all_v.tolist() == [[[5, 6], [0, 1]], [[7, 8], [1, 0]]]
    assert all_k.dtype == all_v.dtype == np.float32
    all_k, all_v = remember(old_k[:, :0], old_v[:, :0], k, v)
    assert np.array_equal(all_k, k) and np.array_equal(all_v, v)
    all_k += 1
    assert k[0, 0, 0] == 9                                  # a copy


@pytest.mark.parametrize("shapes", [
    [(2, 3, 4), (2, 3, 4), (2, 1, 5), (2, 1, 5)], [(2, 3, 4), (2, 3, 4), (1, 1, 4), (1, 1, 4)],
    [(2, 3, 4), (2, 2, 4), (2, 1, 4), (2, 1, 4)], [(2, 3, 4), (2, 3, 4), (2, 1, 4), (2, 2, 4)],
    [(3, 4), (3, 4), (1, 4), (1, 4)], [(1, 2, 3, 4)] * 4, [(2, 3, 4), (2, 3, 4), (2, 4), (2, 4)]])
def test_remember_refuses_what_does_not_fit(shapes):
    sentence = "remember: old_k and old_v (H, S - T, Dh), k and v (H, T, Dh) must have one H and "
    with pytest.raises(ValueError, match=re.escape(
            sentence + f"one Dh, got {', '.join(map(str, shapes))}")):
        remember(*map(np.ones, shapes))


@given(pieces())
@settings(max_examples=60, deadline=None, derandomize=True)
def test_in_place_and_joined_are_equal_to_the_last_bit(example):
    """What is handed out and what is kept, in every step of every chunking, in each block."""
    caches = [KVCache(CONFIG) for _ in range(3)]
    rng = np.random.default_rng(sum(example[0]))
    for size in example[1]:
        for layer in (0, 1):
            k, v = rng.normal(size=(2, 2, size, 4)).astype(np.float32)
            wanted = caches[0].remember(layer)(k, v)
            for cache, join in zip(caches[1:], (yours, lambda *rows: remember(*rows))):
                given = cache.remember(layer, join)(k, v)
                for one, other in zip(given, wanted, strict=True):
                    assert np.array_equal(one, other) and one.dtype == other.dtype
        for cache in caches:
            cache.length += size
    for cache in caches[1:]:
        assert_state(cache, state(caches[0]))


@given(pieces())
@settings(max_examples=20, deadline=None, derandomize=True)
def test_an_exchanged_remember_gives_the_uncached_logits(example):
    ids, sizes = example
    other, cache, start = model(ops=Ops(remember=yours)), KVCache(CONFIG), 0
    for size in sizes:
        logits = other(ids[start:start + size], cache=cache)
        start += size
        assert_same(logits, MODEL(ids[:start])[-size:])


def test_an_exchanged_remember_decides_what_the_heads_see():
    """It is called in each block, in prefill and in decode; without a cache by nobody."""
    seen = []

    def forgets(old_k, old_v, k, v):
        seen.append((old_k.shape, k.shape))
        return remember(np.zeros_like(old_k), np.zeros_like(old_v), k, v)
    other, cache = model(ops=Ops(remember=forgets)), KVCache(CONFIG)
    other([1, 5, 3])
    assert not seen
    assert_same(other([1, 5, 3], cache=cache), MODEL([1, 5, 3]))        # no old rows yet
    assert np.abs(other([0], cache=cache)[0] - MODEL([1, 5, 3, 0])[3]).max() > 0.01
    assert seen == [((2, 0, 4), (2, 3, 4))] * 2 + [((2, 3, 4), (2, 1, 4))] * 2
    assert np.abs(cache.keys[:, :, :4]).max(axis=-1).all()              # the cache forgets nothing


def test_no_function_spoils_the_rows_that_are_kept():
    def spoils(old_k, old_v, k, v):
        old_k += 1
        return remember(old_k, old_v, k, v)
    other, cache = model(ops=Ops(remember=spoils)), KVCache(CONFIG)
    MODEL([1, 5, 3], cache=cache)
    before = state(cache)
    with pytest.raises(ValueError, match="read-only"):
        other([0], cache=cache)
    assert_state(cache, before)
    assert cache.keys.flags.writeable and cache.values.flags.writeable
    assert_same(MODEL([0], cache=cache), MODEL([1, 5, 3, 0])[-1:])


@pytest.mark.parametrize("wrong, got", [
    (lambda old_k, old_v, k, v: (k, v), "(2, 1, 4), (2, 1, 4)"),
    (lambda old_k, old_v, k, v: (old_k, k, v), "(2, 3, 4), (2, 1, 4), (2, 1, 4)"),
    (lambda old_k, old_v, k, v: np.stack(yours(old_k, old_v, k, v)), "(2, 2, 4, 4)"),
    (lambda old_k, old_v, k, v: yours(old_k, old_v, k, v)[0], "(2, 4, 4)"),
    (lambda *rows: [part.tolist() for part in yours(*rows)], "list, list"),
    (lambda *rows: ..., "ellipsis"), (lambda *rows: None, "NoneType")])
def test_what_is_no_pair_of_all_rows_is_refused(wrong, got):
    other, cache = model(ops=Ops(remember=wrong)), KVCache(CONFIG)
    MODEL([1, 5, 3], cache=cache)
    before = state(cache)
    with pytest.raises(ValueError, match=re.escape(
            "remember: must give all keys and all values, two arrays of shape "
            f"(H, S, Dh) = (2, 4, 4), got {got}") + "$"):
        other([0], cache=cache)
    assert_state(cache, before)
