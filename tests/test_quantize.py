"""Quantisation: hand cases, round trips, half a step, packing, sizes, perplexity, refusals."""
import hashlib
import re

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from hypothesis.extra import numpy as arrays

import gpt2lab
from gpt2lab import quantize as q
from gpt2lab.checkpoint import DATA
from inputs import fixed

pytestmark = pytest.mark.filterwarnings("error")
MODEL = gpt2lab.load()
SIZES = st.floats(2.0 ** -100, 2.0 ** 100, width=32)
NUMBERS = st.one_of(st.just(0.0), SIZES, SIZES.map(lambda size: -size))
SHAPES = arrays.array_shapes(min_dims=2, max_dims=2, max_side=11)
MATRICES = arrays.arrays(np.float32, SHAPES, elements=NUMBERS)
CODE_SHAPES = arrays.array_shapes(max_dims=3, max_side=12)
BACK = {"int8": lambda w: q.dequantize_int8(*q.quantize_int8(w)),
        "int4": lambda w: q.dequantize_int4(*q.quantize_int4(w), len(w)),
        "ternary": lambda w: q.dequantize_ternary(*q.quantize_ternary(w), len(w))}
each_kind = pytest.mark.parametrize("back", BACK.values(), ids=BACK)


def codes_of(shape, low, high):
    """Any codes from low to high."""
    return arrays.arrays(np.int8, shape, elements=st.integers(low, high))


def fixed32(values):
    return fixed(values, np.float32)


def random(*shape, seed=0):
    return fixed32(np.random.default_rng(seed).normal(size=shape))


def steps(scales, rows, group):
    """The step of each weight: the scale of its group."""
    return np.array([scales[i // group] for i in range(rows)])


# --- by hand

def test_int8_by_hand():
    """Column 0: largest 127, step 1. Column 1: largest 1.27, step 0.01. 2.5 goes to the even 2."""
    codes, scales = q.quantize_int8(fixed32([[127, 1.27], [-63.4, 0], [2.5, -0.016]]))
    assert codes.dtype == np.int8 and codes.tolist() == [[127, 127], [-63, 0], [2, -2]]
    assert scales.dtype == np.float32 and scales.tolist() == [1, np.float32(1.27) / np.float32(127)]


def test_int4_by_hand():
    """Groups of 2 in 3 rows: steps 1 and 2 in column 0; -3 is 13 in four bits."""
    packed, scales = q.quantize_int4(fixed32([[7, 0], [-3, 0], [14, 7]]), group=2)
    assert scales.tolist() == [[1, 0], [2, 1]]
    assert packed.dtype == np.uint8 and packed.tolist() == [[7 + 16 * 13, 0], [7, 7]]
    assert q.dequantize_int4(packed, scales, 3, group=2).tolist() == [[7, 0], [-3, 0], [14, 7]]


def test_ternary_by_hand():
    """Mean size 2: 1 is half of it and goes to 0, what is above goes to a step."""
    packed, scales = q.quantize_ternary(fixed32([[4], [-3], [1], [0]]))
    assert scales.tolist() == [2]
    digits = 2, 0, 1, 1, 1                      # the last one fills up
    assert packed.tolist() == [[sum(digit * 3 ** i for i, digit in enumerate(digits))]]
    assert q.dequantize_ternary(packed, scales, 4).tolist() == [[2], [-2], [0], [0]]


# --- properties

@given(MATRICES)
@settings(deadline=None, max_examples=50)
def test_int8_is_within_half_a_step(w):
    codes, scales = q.quantize_int8(w)
    assert (np.abs(codes.astype(int)) <= 127).all()
    error = np.abs(q.dequantize_int8(codes, scales).astype(float) - w)
    assert (error <= scales.astype(float) * 0.5001).all()


@given(MATRICES, st.integers(1, 13))
@settings(deadline=None, max_examples=50)
def test_int4_is_within_half_a_step_of_its_group(w, group):
    packed, scales = q.quantize_int4(w, group)
    assert packed.shape == (-(-len(w) // 2), w.shape[1])
    error = np.abs(q.dequantize_int4(packed, scales, len(w), group).astype(float) - w)
    assert (error <= steps(scales, len(w), group).astype(float) * 0.5001).all()


@given(MATRICES)
@settings(deadline=None, max_examples=50)
def test_ternary_is_nearest_of_three(w):
    """No other of -step, 0 and step is nearer."""
    packed, scales = q.quantize_ternary(w)
    back = q.dequantize_ternary(packed, scales, len(w)).astype(float)
    levels = np.array([-1, 0, 1])[:, None, None] * scales.astype(float)
    assert (np.abs(back - w) <= np.abs(levels - w).min(axis=0) + 1e-6 * scales).all()


@each_kind
@given(w=MATRICES)
@settings(deadline=None, max_examples=50)
def test_symmetric(back, w):
    np.testing.assert_array_equal(back(-w), -back(w))


@given(codes_of(CODE_SHAPES, -8, 7))
def test_int4_packing_is_undone(codes):
    packed = q.pack_int4(codes)
    assert packed.dtype == np.uint8 and packed.shape == (-(-len(codes) // 2), *codes.shape[1:])
    np.testing.assert_array_equal(q.unpack_int4(packed, len(codes)), codes, strict=True)


@given(codes_of(CODE_SHAPES, -1, 1))
def test_ternary_packing_is_undone(codes):
    packed = q.pack_ternary(codes)
    assert packed.dtype == np.uint8 and packed.shape == (-(-len(codes) // 5), *codes.shape[1:])
    np.testing.assert_array_equal(q.unpack_ternary(packed, len(codes)), codes, strict=True)


@given(codes=codes_of((9, 4), -7, 7), power=st.integers(-20, 20))
@settings(deadline=None, max_examples=50)
def test_values_that_have_a_code_come_back_exactly(codes, power):
    for top, kind in ((127, "int8"), (7, "int4")):
        w = codes.astype(np.float32) * np.float32(2.0 ** power)
        w[0] = top * 2.0 ** power               # the largest of each column
        np.testing.assert_array_equal(BACK[kind](w), w)
    signs = np.where(codes > 0, 1, -1) * np.float32(3.0 ** power)
    np.testing.assert_array_equal(BACK["ternary"](signs), signs)


@given(codes=codes_of((9, 4), -1, 1), power=st.integers(-20, 20))
@settings(deadline=None, max_examples=50)
def test_ternary_codes_come_back_exactly(codes, power):
    packed, _ = q.quantize_ternary(codes * np.float32(3.0 ** power))
    np.testing.assert_array_equal(q.unpack_ternary(packed, 9), codes)


# --- edges

@each_kind
def test_a_column_of_zeros_stays_zero(back):
    w = random(7, 3).copy()
    w[:, 1] = 0
    new = back(w)
    assert np.isfinite(new).all() and (new[:, 1] == 0).all() and (new[:, 0] != 0).any()


@each_kind
@pytest.mark.parametrize("rows", [1, 2, 4, 5, 6, 31, 33, 65])
def test_any_number_of_rows(back, rows):
    new = back(random(rows, 3))
    assert new.shape == (rows, 3) and new.dtype == np.float32


@each_kind
@pytest.mark.parametrize("number", [1e-45, 3e38, -3e38])
def test_smallest_and_largest_numbers_stay_finite(back, number):
    assert np.isfinite(back(fixed32([[number], [number / 3]]))).all()


@each_kind
@pytest.mark.parametrize("dtype", [np.float16, np.float64])
def test_other_floats_are_read_as_float32(back, dtype):
    w = random(10, 4).astype(dtype)
    np.testing.assert_array_equal(back(w), back(w.astype(np.float32)), strict=True)


def test_a_scale_belongs_to_a_column():
    """A large column leaves its neighbours alone, in each kind; an int4 group the next group."""
    w = random(64, 3).copy()
    for back in BACK.values():
        large = w.copy()
        large[:, 2] *= 1000
        np.testing.assert_array_equal(back(large)[:, :2], back(w)[:, :2])
    large = w.copy()
    large[:32] *= 1000
    np.testing.assert_array_equal(BACK["int4"](large)[32:], BACK["int4"](w)[32:])


# --- the whole model

def bytes_by_hand(kind):
    """Stored bytes of the bundled model: each matrix by its shape, the rest as float32."""
    total = 0
    for name, w in MODEL.weights.items():
        if w.ndim != 2 or name == "wpe.weight":
            total += 4 * w.size
            continue
        rows, columns = w.shape[::-1] if name == "wte.weight" else w.shape
        total += columns * {"float32": 4 * rows, "float16": 2 * rows, "int8": rows + 4,
                            "int4": -(-rows // 2) + 4 * -(-rows // 32),
                            "ternary": -(-rows // 5) + 4}[kind]
    return total


@pytest.mark.parametrize("kind", q.KINDS)
def test_stored_bytes(kind):
    model, size = q.quantized(MODEL, kind)
    assert size == bytes_by_hand(kind)
    assert list(model.weights) == list(MODEL.weights)
    for name, w in model.weights.items():
        assert w.dtype == np.float32 and w.shape == MODEL.weights[name].shape, name


def test_token_table_has_a_scale_for_each_token():
    table = MODEL.weights["wte.weight"]
    new = q.quantized(MODEL, "int8")[0].weights["wte.weight"]
    step = np.abs(table).max(axis=1, keepdims=True) / np.float32(127)
    np.testing.assert_array_equal(new, np.rint(table / step) * step)


def test_what_is_no_matrix_stays():
    model, _ = q.quantized(MODEL, "ternary")
    for name, w in MODEL.weights.items():
        same = np.array_equal(w, model.weights[name])
        assert same == (w.ndim == 1 or name == "wpe.weight"), name


def test_a_head_of_its_own_is_turned_as_the_table_is():
    head = random(50257, 128)
    model = gpt2lab.GPT2(MODEL.config, {**MODEL.weights, "lm_head.weight": head}, MODEL.tokenizer)
    new = q.quantized(model, "int8")[0].weights["lm_head.weight"]
    np.testing.assert_array_equal(new, q.dequantize_int8(*q.quantize_int8(head.T)).T)


def test_fewer_bits_lose_more():
    ids = list(range(1000, 1040))
    logits = MODEL(ids)
    lost = [q.divergence(logits, q.quantized(MODEL, kind)[0](ids)) for kind in q.KINDS]
    assert lost[0] == 0 and lost == sorted(lost) and lost[1] < 1e-4 < lost[3] < lost[4], lost


# --- perplexity and divergence

class Toy:
    """A model that gives each token the logits of a table's row, whatever came before."""

    class config:
        n_positions, vocab_size = 4, 7

    def __init__(self, table):
        self.table, self.pieces = table, []

    def __call__(self, ids):
        self.pieces.append(len(ids))
        return self.table[ids]


def test_perplexity_of_no_idea_is_the_number_of_tokens():
    assert q.perplexity(Toy(np.zeros((7, 7), np.float32)), [1, 2, 3]) == pytest.approx(7)


@pytest.mark.parametrize("length", [2, 4, 5, 6, 9, 10])
def test_perplexity_counts_every_token_but_the_first_once(length):
    table, ids = random(6, 6), np.arange(length) % 6
    powers = np.exp(table.astype(float))
    probabilities = powers / powers.sum(axis=1, keepdims=True)
    losses = [-np.log(probabilities[a, b]) for a, b in zip(ids, ids[1:])]
    toy = Toy(table)
    assert q.perplexity(toy, ids) == pytest.approx(np.exp(np.mean(losses)), rel=1e-6)
    assert sum(toy.pieces) == length - 1 and max(toy.pieces) <= 4


def test_divergence_by_hand():
    p, other = np.array([[0.5, 0.5], [0.25, 0.75]]), np.array([[0.25, 0.75], [0.25, 0.75]])
    wanted = (0.5 * np.log(2) + 0.5 * np.log(2 / 3)) / 2
    assert q.divergence(np.log(p) + 3, np.log(other)) == pytest.approx(wanted, abs=1e-12)
    assert q.divergence(np.log(other), np.log(p)) != pytest.approx(wanted, abs=1e-3)


def test_large_logits_stay_finite():
    logits = fixed32([[1e4, -1e4], [0, 1e4]])
    assert q.divergence(logits, logits) == 0
    assert q.perplexity(Toy(logits), [0, 0]) == 1


# --- the held-out text

def test_held_out_text_is_the_one_of_its_card_and_not_learned():
    card = (DATA / "held-out" / "README.md").read_text(encoding="utf-8")
    (digest, name), = re.findall(r"^([0-9a-f]{64})  (\S+)$", card, flags=re.M)
    assert hashlib.sha256((DATA / "held-out" / name).read_bytes()).hexdigest() == digest
    assert "Austen" not in (DATA / "gpt2-tiny" / "train" / "books.txt").read_text(encoding="utf-8")


# --- refusals

CODES, SCALES = np.zeros((4, 2), np.int8), np.ones(2, np.float32)


@pytest.mark.parametrize("call, words", [
    (lambda: q.quantize_int8(fixed32([1, 2])), "quantize_int8: w must be a matrix (in, out)"),
    (lambda: q.quantize_int4(np.zeros((0, 3), np.float32)), "quantize_int4: w must be a matrix"),
    (lambda: q.quantize_ternary(np.ones((2, 2), int)), "floating-point numbers, got int64 (2, 2)"),
    (lambda: q.quantize_int8([[1.0]]), "got list"),
    (lambda: q.quantize_int8(fixed32([[np.nan]])), "quantize_int8: w must be finite"),
    (lambda: q.quantize_int4(fixed32([[np.inf]])), "quantize_int4: w must be finite"),
    (lambda: q.quantize_ternary(fixed([[1e300]])), "quantize_ternary: w must be finite"),
    (lambda: q.quantize_int4(random(4, 2), group=0), "must be a whole number of at least 1, got 0"),
    (lambda: q.quantize_int4(random(4, 2), group=True), "group must be a whole number"),
    (lambda: q.dequantize_int8(CODES, SCALES[:1]), "scales must have shape (out,)"),
    (lambda: q.dequantize_int4(q.pack_int4(CODES), SCALES, 4), "= (1, 2), got (2,)"),
    (lambda: q.dequantize_int4(q.pack_int4(CODES), SCALES[None], 5), "room for rows = 5"),
    (lambda: q.dequantize_ternary(q.pack_ternary(CODES), SCALES[:1], 4),
     "scales must have shape (out,)"),
    (lambda: q.pack_int4(np.array([8])), "from -8 to 7, got 8 to 8"),
    (lambda: q.pack_int4(np.array([1.0])), "pack_int4: codes must be whole numbers"),
    (lambda: q.pack_ternary(np.array([-2, 1])), "from -1 to 1, got -2 to 1"),
    (lambda: q.unpack_int4(np.zeros(2, np.int8), 3), "packed must be uint8"),
    (lambda: q.unpack_ternary(np.zeros(2, np.uint8), 11), "room for rows = 11, 5 a byte"),
    (lambda: q.quantized(MODEL, "int3"), "float32, float16, int8, int4, ternary, got 'int3'"),
    (lambda: q.perplexity(MODEL, [5]),
     "perplexity: ids must be at least 2 token ids, got 1"),
    (lambda: q.perplexity(MODEL, 5), "ids must be a list of at least one token id, got shape ()"),
    (lambda: q.perplexity(MODEL, [464, 3616, -1]), "ids must be from 0 to V - 1 = 50256, got -1"),
    (lambda: q.perplexity(MODEL, [464, 3616, 50257]), "0 to V - 1 = 50256, got 50257"),
    (lambda: q.perplexity(MODEL, [464, 3616.0]), "ids must be whole numbers, got float64"),
    (lambda: q.perplexity(MODEL, [[464], [3616, 5]]), "ids must be a flat list of token ids"),
    (lambda: q.divergence(np.zeros((2, 3)), np.zeros((2, 4))),
     "one shape (T, V), got (2, 3) and (2, 4)"),
])
def test_refusals_are_one_sentence(call, words):
    with pytest.raises(ValueError) as caught:
        call()
    assert words in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize("rows", [1, 33, 64])
def test_rounded_is_int8_int4_and_one_scale_for_all(rows):
    w = np.random.default_rng(rows).normal(size=(rows, 5)).astype(np.float32)
    w[:, 2] = 0
    int8 = q.dequantize_int8(*q.quantize_int8(w))
    np.testing.assert_array_equal(q.rounded(w, 8), int8, strict=True)
    int4 = q.dequantize_int4(*q.quantize_int4(w), rows)
    np.testing.assert_array_equal(q.rounded(w, 4, "group of 32"), int4, strict=True)
    flat = q.rounded(w.reshape(-1, 1), 5).reshape(w.shape)
    np.testing.assert_array_equal(q.rounded(w, 5, "matrix"), flat, strict=True)
    for bits in range(2, 9):
        assert len(np.unique(q.rounded(w, bits)[:, 0])) <= 2 ** bits - 1


def test_rounded_by_hand():
    """Largest sizes 14 and 28, codes up to 7: steps of 2 and 4 for columns, of 4 for all."""
    w = np.array([[14, 28], [-6.5, 3], [0.9, -1.9]], np.float32)
    assert q.rounded(w, 4).tolist() == [[14, 28], [-6, 4], [0, 0]]
    assert q.rounded(w, 4, "matrix").tolist() == [[16, 28], [-8, 4], [0, 0]]


@pytest.mark.parametrize("bits, shared", [
    (1, "column"), (9, "column"), (4, "row"), (4.5, "matrix")])
def test_rounded_refuses_what_it_does_not_know(bits, shared):
    with pytest.raises(ValueError, match="rounded: bits must be from 2 to 8 and shared one of"):
        q.rounded(np.ones((2, 2), np.float32), bits, shared)
    with pytest.raises(ValueError, match="rounded: w must be a matrix"):
        q.rounded(np.ones(2, np.float32), 4)
