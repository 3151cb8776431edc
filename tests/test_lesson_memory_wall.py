"""Bonus lesson, the memory wall: counts are counts, the pictures draw what the model computes."""
from pathlib import Path

import nbformat
import numpy as np
import pytest

import gpt2lab
from gpt2lab.quantize import dequantize_int4, dequantize_int8, divergence, each_matrix, quantize_int4, quantize_int8
from gpt2lab.softmax import softmax
from gpt2lab.teach import plot, show
from gpt2lab.teach.checking import verdict
from gpt2lab.teach.pictures import kv_cache, memory_wall as pictures

NOTEBOOK = Path(__file__).resolve().parents[1] / "notebooks" / "bonus" / "memory_wall.ipynb"
MODEL = gpt2lab.load()
SMALL = gpt2lab.Config(vocab_size=50, n_positions=16, n_embd=8, n_layer=2, n_head=2)
PROMPT = "Alice did not know what to"


def is_png(fig):
    return plot.png(fig).startswith(b"\x89PNG") and len(fig.alt.split()) >= 5


def test_bytes_are_those_of_the_arrays():
    for model in (MODEL, pictures.random_model(SMALL)):
        cache = gpt2lab.KVCache(model.config)
        weights = sum(w.nbytes for name, w in model.weights.items() if name != "wpe.weight")
        kept = cache.keys[:, :, :10].nbytes + cache.values[:, :, :10].nbytes
        assert pictures.bytes_read(model.config, 0) == weights
        assert pictures.bytes_read(model.config, 10) == weights + kept


def test_operations_are_two_for_each_multiplication():
    assert pictures.operations(MODEL.config, 7, 9) == 2 * kv_cache.multiplications(MODEL.config, 7, 9)


def test_intensities_are_operations_over_bytes():
    fig = pictures.intensities({"tiny": MODEL.config, "small": SMALL}, most=16)
    wanted = [pictures.operations(SMALL, n, n) / pictures.bytes_read(SMALL, n) for n in (1, 2, 4, 8, 16)]
    np.testing.assert_array_equal(fig.drawn["small"], wanted)
    assert is_png(fig) and f"small: {wanted[0]:.1f} with 1, {wanted[-1]:.0f} with 16" in fig.alt


def test_random_model_runs_and_is_larger_than_the_bundled_one():
    logits = pictures.random_model(SMALL)(np.arange(16))
    assert logits.shape == (16, 50) and logits.dtype == np.float32 and np.isfinite(logits).all()
    larger = pictures.larger_config()
    assert pictures.bytes_read(larger, 0) > 150e6 and larger.n_positions >= 256


def test_roofline_draws_the_lower_limit_and_the_points():
    points = {"decode": (0.5, 4e9), "prefill": (20.0, 30e9)}
    fig = pictures.roofline(10e9, 60e9, points)
    np.testing.assert_array_equal(fig.drawn["roof"], [min(60e9, 10e9 * x) for x in fig.drawn["x"]])
    np.testing.assert_array_equal(fig.drawn["points"], list(points.values()))
    assert "meet at 6.0" in fig.alt and "decode at 0.5: 80% of its roof" in fig.alt
    assert "prefill at 20.0: 50% of its roof" in fig.alt and is_png(fig)
    ax = fig.axes[0]
    assert "where the roofs meet" in [text.get_text() for text in ax.get_legend().get_texts()]
    ticks = [tick for tick in ax.get_yticks() if ax.get_ylim()[0] <= tick <= ax.get_ylim()[1]]
    np.testing.assert_allclose(ticks[-4:], [5, 10, 20, 50])


@pytest.mark.parametrize("rows", [1, 33, 64])
def test_rounded_is_the_librarys_quantisation(rows):
    w = np.random.default_rng(rows).normal(size=(rows, 5)).astype(np.float32)
    w[:, 2] = 0
    np.testing.assert_array_equal(pictures.rounded(w, 8), dequantize_int8(*quantize_int8(w)), strict=True)
    in_groups = dequantize_int4(*quantize_int4(w), rows)
    np.testing.assert_array_equal(pictures.rounded(w, 4, "group of 32"), in_groups, strict=True)
    flat = w.reshape(-1, 1)
    np.testing.assert_array_equal(pictures.rounded(w, 5, "matrix"), pictures.rounded(flat, 5).reshape(w.shape))
    for bits in range(2, 9):
        assert len(np.unique(pictures.rounded(w, bits)[:, 0])) <= 2 ** bits - 1


def test_steps_and_losses_draw_what_they_are_given():
    column = MODEL.weights["h.0.mlp.c_fc.weight"][:, 0]
    fig = pictures.steps(column, 8, 2)
    np.testing.assert_array_equal(fig.drawn["2"], pictures.rounded(column[:, None], 2)[:, 0])
    assert is_png(fig) and "8 bits leave 255 levels" in fig.alt and "2 bits leave 3 levels" in fig.alt
    fig = pictures.losses(["a", "b"], [32.0, 2.0], [60.0, 900.2])
    assert is_png(fig) and "a 32.0 bits, 60; b 2.0 bits, 900." in fig.alt
    assert fig.drawn["perplexity"].tolist() == [60.0, 900.2]


@pytest.mark.parametrize("bits, shared", [(2, "matrix"), (5, "column"), (8, "group of 32")])
def test_few_bits_draws_the_models_probabilities(bits, shared):
    fig = pictures.few_bits(MODEL, PROMPT, bits, shared)
    ids = MODEL.encode(PROMPT)
    copy, _ = each_matrix(MODEL, lambda w: pictures.rounded(w, bits, shared))
    before, after = MODEL(ids)[-1], copy(ids)[-1]
    top = fig.drawn["top"]
    first = list(np.argsort(-before, kind="stable")[:5])
    assert list(top) == first + [after.argmax()] * (after.argmax() not in first)
    assert len(top) == (6 if shared == "matrix" else 5)
    np.testing.assert_allclose(fig.drawn["p"], softmax(before)[top], atol=1e-5)
    np.testing.assert_allclose(fig.drawn["q"], softmax(after)[top], atol=1e-5)
    np.testing.assert_array_equal(fig.drawn["after"], copy.weights["h.0.mlp.c_fc.weight"][:, 0])
    assert is_png(fig) and f"{2 ** bits - 1} levels" in fig.alt
    assert f"KL {divergence(before[None], after[None]):.2f} nats" in fig.alt
    left, right = (ax.get_title() for ax in fig.axes)
    used = len(set(copy.weights["h.0.mlp.c_fc.weight"][:, 0].tolist()))
    assert left.endswith({"matrix": f"levels; this column uses {used}", "column": "levels"}.get(shared, "for each scale"))
    assert right.endswith("best: " + show.tokens(MODEL.tokenizer, [int(after.argmax())])[0])


def test_what_the_answer_says_of_the_explorer():
    """The fewest bits that keep the best token; and at 2 bits groups lose the most."""
    ids = MODEL.encode(PROMPT)
    logits = MODEL(ids)[-1]

    def rounded(bits, shared):
        return each_matrix(MODEL, lambda w: pictures.rounded(w, bits, shared))[0](ids)[-1]
    said = {"column": ((4, 5), (2, 3)), "group of 32": ((3, 4), (2,)), "matrix": ((5, 7), (2, 4, 6))}
    for shared, (keeps, loses) in said.items():
        for bits in keeps + loses:
            assert (rounded(bits, shared).argmax() == logits.argmax()) == (bits in keeps), (shared, bits)
    lost = [divergence(logits[None], rounded(2, shared)[None]) for shared in pictures.SHARED]
    assert max(lost) == lost[pictures.SHARED.index("group of 32")]


@pytest.mark.parametrize("late", [np.nan_to_num, lambda steps: np.where(np.isnan(steps), 0, steps)])
def test_zero_by_zero_is_found_where_nan_is_mended_afterwards(late):
    def quantize_int8(w):
        scales = np.abs(w).max(axis=0) / np.float32(127)
        return np.rint(late(w / scales)).astype(np.int8), scales
    assert "5 of 6 cases pass" in verdict(quantize_int8) and "0 / 0" in verdict(quantize_int8)


def test_a_fixed_threshold_is_refused():
    def attainable(intensity, bandwidth, rate):
        return rate if intensity > 10 else intensity * bandwidth
    assert "4 of 5 cases pass" in verdict(attainable)


def test_an_odd_code_is_known_to_be_forgotten():
    def pack_int4(codes):
        return (codes[0::2] & 15 | (codes[1::2] & 15) << 4).astype(np.uint8)
    assert "the second ones are one too few" in verdict(pack_int4)


@pytest.mark.parametrize("text", ["$$", "<b>", "\n", "🦀", "word " * 300])
def test_few_bits_takes_any_text(text):
    assert is_png(pictures.few_bits(MODEL, text, 4))


def test_empty_text_is_refused_with_a_sentence():
    with pytest.raises(ValueError, match="prompt is empty"):
        pictures.few_bits(MODEL, "", 4)


def test_loops_of_the_notebook_are_the_library():
    source = next(c.source for c in nbformat.read(NOTEBOOK, 4).cells if c.source.startswith("def quantize_int8_loops"))
    space = {}
    exec(source.split("\n\n")[0], space)
    w = np.random.default_rng(1).normal(size=(7, 4))
    w[:, 1] = 0
    codes, scales = space["quantize_int8_loops"](w.tolist())
    want_codes, want_scales = quantize_int8(w)
    assert codes == want_codes.tolist()
    np.testing.assert_allclose(scales, want_scales, rtol=1e-6)
