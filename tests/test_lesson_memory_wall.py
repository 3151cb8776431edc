"""Bonus lesson, the memory wall: counts are counts, the pictures draw what the model computes."""
import numpy as np
import pytest

import gpt2lab
from cells import ran
from drawing import two_lines
from gpt2lab.inside import bytes_read, multiplications
from gpt2lab.quantize import (
    SHARED,
    divergence,
    each_matrix,
    pack_int4,
    quantize_int8,
    quantized,
    rounded,
)
from gpt2lab.softmax import softmax
from gpt2lab.teach import plot, show
from gpt2lab.teach.checking import verdict
from gpt2lab.teach.exercises.memory_wall import LARGER, next_tokens, random_model
from gpt2lab.teach.pictures import memory_wall as pictures

LESSON = ran("bonus/memory_wall", "import numpy", "intensities", "def quantize_int8_loops",
             "pictures.steps", "def few_bits")
MODEL, few_bits = LESSON["model"], LESSON["few_bits"]
SMALL = gpt2lab.Config(vocab_size=50, n_positions=16, n_embd=8, n_layer=2, n_head=2)
PROMPT = "Alice did not know what to"


def is_png(fig):
    return plot.png(fig).startswith(b"\x89PNG") and len(two_lines(fig.alt)) == 2


def test_intensities_are_operations_over_bytes():
    fig, tiny, new = LESSON["shown"][0], MODEL.config, [1, 2, 4, 8, 16, 32, 64, 128, 256]
    wanted = [2 * multiplications(tiny, n, n) / bytes_read(tiny, n) for n in new]
    np.testing.assert_array_equal(fig.drawn["gpt2-tiny"], wanted)
    assert is_png(fig)
    assert f"gpt2-tiny: {wanted[0]:.1f} with 1, {wanted[-1]:.0f} with 256" in fig.alt


def test_random_model_runs_and_is_larger_than_the_bundled_one():
    model = random_model(SMALL)
    logits = model(np.arange(16))
    assert logits.shape == (16, 50) and logits.dtype == np.float32 and np.isfinite(logits).all()
    for i in range(2):
        assert (model.weights[f"h.{i}.ln_2.weight"] == 1).all()
        assert (model.weights[f"h.{i}.ln_2.bias"] == 0).all()
    assert 0 < np.abs(model.weights["h.1.mlp.c_fc.weight"]).max() <= 0.02
    assert bytes_read(LARGER, 0) > 150e6 and LARGER.n_positions >= 256


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


def test_steps_and_losses_draw_what_they_are_given():
    column, fig = MODEL.weights["h.0.mlp.c_fc.weight"][:, 0], LESSON["shown"][1]
    for bits in (8, 4, 3, 2):
        after = rounded(column[:, None], bits)[:, 0]
        np.testing.assert_array_equal(fig.drawn[str(bits)], after)
        assert f"{bits} bits leave {2 ** bits - 1} levels" in fig.alt
    assert is_png(fig)
    fig = pictures.losses(["a", "b"], [32.0, 2.0], [60.0, 900.2])
    assert is_png(fig) and "a 32.0 bits, 60; b 2.0 bits, 900." in fig.alt
    assert fig.drawn["perplexity"].tolist() == [60.0, 900.2]


@pytest.mark.parametrize("bits, shared", [(2, "matrix"), (5, "column"), (8, "group of 32")])
def test_few_bits_draws_the_models_probabilities(bits, shared):
    assert LESSON["explorers"] == [few_bits]
    fig, ids = few_bits(bits, shared, PROMPT), MODEL.encode(PROMPT)
    copy, _ = each_matrix(MODEL, lambda w: rounded(w, bits, shared))
    before, after = MODEL(ids)[-1], copy(ids)[-1]
    first = list(np.argsort(-before, kind="stable")[:5])
    top = first + [after.argmax()] * (after.argmax() not in first)
    assert len(top) == (6 if shared == "matrix" else 5)
    assert fig.drawn["words"] == show.tokens(MODEL.tokenizer, top)
    np.testing.assert_allclose(fig.drawn["p"], softmax(before)[top], atol=1e-5)
    np.testing.assert_allclose(fig.drawn["q"], softmax(after)[top], atol=1e-5)
    column = copy.weights["h.0.mlp.c_fc.weight"][:, 0]
    np.testing.assert_array_equal(fig.drawn["before"], MODEL.weights["h.0.mlp.c_fc.weight"][:, 0])
    np.testing.assert_array_equal(fig.drawn["after"], column)
    assert is_png(fig) and f"{2 ** bits - 1} levels" in fig.alt
    assert f"KL {divergence(before[None], after[None]):.2f} nats" in fig.alt
    left, right = (ax.get_title() for ax in fig.axes)
    ends = {"matrix": f"levels; this column uses {len(set(column.tolist()))}", "column": "levels"}
    assert left.endswith(ends.get(shared, "for each scale"))
    best, usual = (show.tokens(MODEL.tokenizer, [z.argmax()])[0] for z in (after, before))
    assert right.endswith(f"best: {best}")
    assert f"the best next token is “{best}”, with float32 “{usual}”" in fig.alt


def test_a_prompt_does_not_round_the_weights_again():
    LESSON["copy_with"].cache_clear()
    for prompt in ("The king", "The queen", "A"):
        few_bits(4, "column", prompt)
    assert LESSON["copy_with"].cache_info().misses == 1


def test_next_tokens_end_with_the_copys_best_where_it_is_another():
    def copy(change):
        return each_matrix(MODEL, change)[0]
    words, p, q, chosen, lost = next_tokens(MODEL, copy(lambda w: w), PROMPT, count=3)
    assert len(words) == 3 and chosen == words[0] and lost == 0
    np.testing.assert_array_equal(p, q)
    words, p, q, chosen, lost = next_tokens(MODEL, copy(lambda w: -w), PROMPT, count=3)
    assert len(words) == len(p) == len(q) == 4 and chosen == words[3] and lost > 0
    assert q.argmax() == 3 and p.argmax() == 0


def test_what_the_answer_says_of_the_explorer():
    """The fewest bits that keep the best token; and at 2 bits groups lose the most."""
    ids = MODEL.encode(PROMPT)
    logits = MODEL(ids)[-1]

    def logits_with(bits, shared):
        return each_matrix(MODEL, lambda w: rounded(w, bits, shared))[0](ids)[-1]
    said = {"column": ((4, 5), (2, 3)), "group of 32": ((3, 4), (2,)),
            "matrix": ((5, 7), (2, 4, 6))}
    for shared, (keeps, loses) in said.items():
        for bits in keeps + loses:
            same = logits_with(bits, shared).argmax() == logits.argmax()
            assert same == (bits in keeps), (shared, bits)
    lost = [divergence(logits[None], logits_with(2, shared)[None]) for shared in SHARED]
    assert max(lost) == lost[SHARED.index("group of 32")]


@pytest.mark.parametrize("late", [np.nan_to_num, lambda steps: np.where(np.isnan(steps), 0, steps)])
def test_zero_by_zero_is_found_where_nan_is_mended_afterwards(late):
    def quantize_int8(w):
        scales = np.abs(w).max(axis=0) / np.float32(127)
        return np.rint(late(w / scales)).astype(np.int8), scales
    assert "8 of 9 cases pass" in verdict(quantize_int8) and "0 / 0" in verdict(quantize_int8)


def test_a_fixed_threshold_is_refused():
    def attainable(intensity, bandwidth, rate):
        return rate if intensity > 10 else intensity * bandwidth
    assert "5 of 6 cases pass" in verdict(attainable)


def test_an_odd_code_is_known_to_be_forgotten():
    def pack_int4(codes):
        return (codes[0::2] & 15 | (codes[1::2] & 15) << 4).astype(np.uint8)
    assert "the second ones are one too few" in verdict(pack_int4)


@pytest.mark.parametrize("text", ["$$", "<b>", "\n", "🦀", "word " * 300])
def test_few_bits_takes_any_text(text):
    assert is_png(few_bits(4, "column", text))


def test_empty_text_is_refused_with_a_sentence():
    with pytest.raises(ValueError, match="prompt is empty"):
        few_bits(4, "column", "")


def test_loops_of_the_notebook_are_the_library():
    w = np.random.default_rng(1).normal(size=(7, 4))
    w[:, 1] = 0
    codes, scales = LESSON["quantize_int8_loops"](w.tolist())
    want_codes, want_scales = quantize_int8(w)
    assert codes == want_codes.tolist()
    np.testing.assert_allclose(scales, want_scales, rtol=1e-6)


def test_quantized_uses_the_learners_functions():
    def half_the_codes(w):
        codes, scales = quantize_int8(w)
        return codes // 2, scales

    def all_codes_3(codes):
        return pack_int4(np.full_like(codes, 3))
    name = "h.0.mlp.c_fc.weight"
    for kind, learners in (("int8", half_the_codes), ("int4", all_codes_3)):
        usual, size = quantized(MODEL, kind)
        copy, other = quantized(MODEL, kind, **{
            {"int8": "quantize_int8", "int4": "pack_int4"}[kind]: learners})
        assert size == other
        assert not np.array_equal(copy.weights[name], usual.weights[name]), kind
    assert (copy.weights[name] > 0).all()                   # each weight is 3 steps
