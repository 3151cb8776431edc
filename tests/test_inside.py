"""inside: constructed patterns, losses by hand, parts that add up to the logits, heads taken out."""
import contextlib
import re

import numpy as np
import pytest

import gpt2lab
from gpt2lab import GPT2, Config
from gpt2lab.attention import attend
from gpt2lab.heads import attend_heads
from gpt2lab.inside import (
    along_and_across,
    best_tokens,
    bytes_read,
    direct_logits,
    first_token,
    head_contributions,
    induction_score,
    logit_parts,
    multiplications,
    position_losses,
    ranks,
    stream_parts,
    stream_sizes,
    stream_stages,
    without_heads,
)
from gpt2lab.layernorm import layer_norm
import tiny_a
from recipes import A, SMALL, SMALL_PROMPTS, weights_of

pytestmark = pytest.mark.filterwarnings("error")
CHECKPOINTS = [(A, [1, 5, 3, 0, 7]), *((SMALL, ids) for ids in SMALL_PROMPTS.values())]


def model_of(sizes, **changes):
    return GPT2(Config.from_dict(sizes | changes), weights_of(sizes))


@pytest.fixture(params=CHECKPOINTS, ids=lambda p: f"{p[0]['n_embd']}-{len(p[1])}")
def run(request):
    """A random tiny checkpoint, its ids and its trace."""
    sizes, ids = request.param
    model = model_of(sizes)
    return model, ids, model.trace(ids)


@pytest.mark.parametrize("period, copies", [(1, 2), (2, 2), (3, 2), (3, 4), (5, 2), (5, 3)])
def test_a_perfect_induction_head_scores_1_and_others_0(period, copies):
    T = period * copies
    perfect, itself, same = np.zeros((T, T)), np.eye(T), np.eye(T)
    for t in range(T):
        perfect[t, t - period + 1 if t >= period else 0] = 1
        same[t] = np.eye(T)[t - period if t >= period else 0]
    assert induction_score(perfect, period) == 1
    assert induction_score(same, period) == 0
    assert induction_score(itself, period) == (period == 1)


def test_the_score_is_a_mean_over_repeated_queries_for_each_head():
    pattern = np.random.default_rng(1).random((2, 3, 7, 7)).astype(np.float32)
    wanted = [[np.mean([p[4, 1], p[5, 2], p[6, 3]]) for p in block] for block in pattern]
    assert induction_score(pattern, 4).dtype == np.float32
    np.testing.assert_allclose(induction_score(pattern, 4), wanted, rtol=1e-6)


@pytest.mark.parametrize("shape, period, message", [
    ((4, 4), 0, "period must be from 1 to T - 1 = 3, got 0"), ((4, 4), 4, "period must be from 1 to T - 1 = 3, got 4"),
    ((1, 1), 1, "period must be from 1 to T - 1 = 0, got 1"), ((3, 4), 2, "pattern must have shape (..., T, T), got (3, 4)"),
    ((4,), 2, "pattern must have shape (..., T, T), got (4,)")])
def test_what_cannot_be_scored_is_refused(shape, period, message):
    with pytest.raises(ValueError, match=re.escape("induction_score: " + message)):
        induction_score(np.ones(shape), period)


def test_losses_by_hand():
    """Probabilities 1/4 and 3/4, then 1/2: their logarithms with a minus."""
    logits = np.log([[1.0, 3.0], [2.0, 2.0], [9.0, 1.0]])
    np.testing.assert_allclose(position_losses(logits, [0, 1, 0]), [np.log(4 / 3), np.log(2)])
    np.testing.assert_allclose(position_losses(logits + 1e4, [0, 0, 0]), [np.log(4), np.log(2)])
    assert position_losses(logits[:1], [0]).shape == (0,)
    assert position_losses(logits.astype(np.float32), [0, 1, 0]).dtype == np.float32


@pytest.mark.parametrize("shape, ids, message", [
    ((3, 5), [1, 2], "logits (T, V) and ids (T,) must have one T, got (3, 5), (2,)"),
    ((5,), [1], "logits (T, V) and ids (T,) must have one T, got (5,), (1,)"),
    ((2, 5), [1, 5], "ids must be from 0 to V - 1 = 4, got 1 to 5"),
    ((2, 5), [1, -1], "ids must be from 0 to V - 1 = 4, got -1 to 1")])
def test_logits_and_ids_that_do_not_fit_are_refused(shape, ids, message):
    with pytest.raises(ValueError, match=re.escape("position_losses: " + message)):
        position_losses(np.zeros(shape), ids)


def test_heads_and_bias_add_up_to_attention(run):
    model, _, trace = run
    for i in range(model.config.n_layer):
        w = {name: model.weights[f"h.{i}.attn.c_proj.{name}"] for name in ("weight", "bias")}
        heads = head_contributions(trace[f"h.{i}.attn.mixed"], w["weight"])
        assert heads.dtype == np.float32
        np.testing.assert_allclose(heads.sum(axis=0) + w["bias"], trace[f"h.{i}.attn"], rtol=0, atol=1e-5)


def test_a_head_owns_its_rows_of_the_projection():
    mixed, w_out = np.array([[[2.0]], [[3.0]]]), np.array([[1.0, 10.0], [100.0, 1000.0]])
    assert head_contributions(mixed, w_out).tolist() == [[[2, 20]], [[300, 3000]]]
    with pytest.raises(ValueError, match=re.escape("head_contributions: w_out must have shape (2, 2), got (2, 3)")):
        head_contributions(mixed, np.ones((2, 3)))


def test_parts_add_up_to_the_stream_and_to_every_logit(run):
    """Every position, every token: the sum of what the parts add is the logit, to float32 rounding."""
    model, ids, trace = run
    c, w = model.config, model.weights
    for t in range(len(ids)):
        names, parts = stream_parts(trace, w, c.n_layer, t)
        assert len(names) == len(set(names)) == len(parts) == 1 + c.n_layer * (c.n_head + 2)
        np.testing.assert_allclose(parts.sum(axis=0), trace[f"h.{c.n_layer - 1}.resid_post"][t], rtol=0, atol=1e-5)
        for token in range(c.vocab_size):
            added = direct_logits(parts, w["ln_f.weight"], w["ln_f.bias"], w["wte.weight"][token], c.layer_norm_epsilon)
            assert added.dtype == np.float32 and added.shape == (len(parts) + 1,)
            np.testing.assert_allclose(added.sum(), trace["logits"][t, token], rtol=0, atol=2e-5)
            assert added[-1] == w["ln_f.bias"] @ w["wte.weight"][token]


def test_parts_stand_under_their_names(run):
    model, ids, trace = run
    t = len(ids) - 1
    parts = dict(zip(*stream_parts(trace, model.weights, model.config.n_layer, t)))
    np.testing.assert_array_equal(parts["embedding"], trace["embed"][t])
    np.testing.assert_array_equal(parts["block 1 MLP"], trace["h.1.mlp"][t])
    np.testing.assert_array_equal(parts["block 0 c_proj bias"], model.weights["h.0.attn.c_proj.bias"])
    Dh = model.config.n_embd // model.config.n_head
    row = trace["h.1.attn.mixed"][1, t] @ model.weights["h.1.attn.c_proj.weight"][Dh:2 * Dh]
    np.testing.assert_allclose(parts["block 1 head 1"], row, rtol=0, atol=1e-6)


def test_shares_by_hand():
    """The sum 1, 9 has mean 5 and variance 16: with epsilon 9, everything is divided by 5."""
    parts, row = np.array([[1.0, 3.0], [0.0, 4.0], [0.0, 2.0]]), np.array([1.0, 2.0])
    assert direct_logits(parts, np.array([10.0, 10.0]), row, row, 9.0).tolist() == [2, 4, 2, 5]


def test_one_part_is_the_norm_itself_and_differences_are_linear():
    draw = np.random.default_rng(2).normal
    x, gain, bias, a, b = draw(3, 2, 6), *draw(size=(4, 6))
    np.testing.assert_allclose(direct_logits(x[None], gain, bias, a, 0.1).sum(), layer_norm(x, gain, bias, 0.1) @ a)
    parts = draw(size=(5, 6))
    np.testing.assert_allclose(direct_logits(parts, gain, bias, a - b), direct_logits(parts, gain, bias, a)
                               - direct_logits(parts, gain, bias, b), atol=1e-12)


@pytest.mark.parametrize("place, name", [(1, "gain"), (2, "bias"), (3, "target")])
def test_rows_of_the_wrong_length_are_refused(place, name):
    arguments = [np.ones((3, 4)), np.ones(4), np.ones(4), np.ones(4)]
    arguments[place] = np.ones(1)
    with pytest.raises(ValueError, match=re.escape(f"direct_logits: {name} must have shape (D,) = (4,), got (1,)")):
        direct_logits(*arguments)


def test_ranks():
    logits = np.array([[1.0, 3.0, 2.0], [5.0, 5.0, 5.0], [-np.inf, 0.0, 1.0]])
    assert ranks(logits, 1).tolist() == [1, 1, 2] and ranks(logits, 0).tolist() == [3, 1, 3]
    assert ranks(logits[0], 2) == 2


def test_a_head_without_its_rows_adds_nothing(run):
    model, ids, trace = run
    off = model.tapped(without_heads(model, [(0, 1), (1, 0)])).trace(ids)
    for name, array in model.trace(ids).items():
        np.testing.assert_array_equal(trace[name], array)           # the model is as it was
    keep = np.arange(model.config.n_head) != 1
    heads = head_contributions(trace["h.0.attn.mixed"], model.weights["h.0.attn.c_proj.weight"])
    np.testing.assert_allclose(off["h.0.attn"], heads[keep].sum(axis=0) + model.weights["h.0.attn.c_proj.bias"], atol=1e-5)
    w = {name: model.weights[f"h.1.attn.{name}"] for name in ("c_attn.weight", "c_attn.bias", "c_proj.weight", "c_proj.bias")}
    w["c_proj.weight"] = w["c_proj.weight"].copy()
    w["c_proj.weight"][:model.config.n_embd // model.config.n_head] = 0
    np.testing.assert_allclose(off["h.1.attn"], attend_heads(off["h.1.ln_1"], *w.values(), model.config.n_head), atol=1e-5)


@pytest.mark.parametrize("block, head", [(2, 0), (-1, 0), (0, 2), (0, -1)])
def test_a_head_that_is_not_there_is_refused(block, head):
    with pytest.raises(ValueError, match=f"without_heads: there is no head {head} in block {block}"):
        without_heads(tiny_a.model(), [(block, head)])


def test_one_head_after_the_other_cannot_be_switched_off_in_silence():
    def one_by_one(q, k, v, softmax):
        return np.stack([attend(*head, softmax) for head in zip(q, k, v)])

    def heads(*arguments, attend, **named):
        return attend_heads(*arguments, attend=lambda q, k, v: np.stack(
            [attend(*head) for head in zip(q, k, v)]), **named)
    for ops, sentence in ((gpt2lab.Ops(attend=one_by_one), None),
                          (gpt2lab.Ops(attend_heads=heads), r"all H = 2 heads at once .*, got \(3, 4\)")):
        model = tiny_a.model(ops=ops)
        np.testing.assert_allclose(model([1, 5, 3]), tiny_a.model()([1, 5, 3]), atol=1e-5)
        with pytest.raises(ValueError, match=sentence) if sentence else contextlib.nullcontext():
            model.run_tapped([1, 5, 3], without_heads(model, [(0, 1)]))


def test_stream_sizes_are_those_of_the_trace():
    trace = gpt2lab.load().trace([464, 3616])
    sizes = stream_sizes(trace)
    assert len(sizes) == 5
    np.testing.assert_allclose(sizes[2], np.sqrt((trace["h.1.resid_post"] ** 2).mean()), rtol=1e-5)


def test_stages_are_the_streams_of_the_trace_in_order(run):
    model, _, trace = run
    ends = [f"h.{i}.resid_post" for i in range(model.config.n_layer)]
    assert list(stream_stages(trace)) == ["embed", *ends]
    with_mid = stream_stages(trace, with_mid=True)
    assert list(with_mid) == ["embed", *(f"h.{i}.{part}" for i in range(model.config.n_layer)
                                         for part in ("resid_mid", "resid_post"))]
    assert all(x is trace[name] for name, x in with_mid.items())


def test_factors_of_a_logit_by_hand():
    """3, 4 has length 5; 6, 8 points the same way, -4, 3 at a right angle to it."""
    table = np.array([[6.0, 8.0], [-4.0, 3.0]])
    assert logit_parts(np.array([3.0, 4.0]), table).tolist() == [[5, 10, 1], [5, 5, 0]]
    along, across = along_and_across(np.array([30.0, 40.0]), table)
    np.testing.assert_allclose([along, across], [[10, 0], [0, 5]], atol=1e-7)


def test_factors_multiply_to_the_logits_of_the_model(run):
    model, ids, trace = run
    for row, logits in zip(trace["ln_f"], trace["logits"]):
        parts = logit_parts(row, model.weights["wte.weight"])
        np.testing.assert_allclose(parts.prod(axis=-1), logits, rtol=0, atol=2e-5)
        along, across = along_and_across(row, model.weights["wte.weight"])
        np.testing.assert_allclose(along * parts[0, 0], logits, rtol=0, atol=2e-5)
        np.testing.assert_allclose(np.hypot(along, across), parts[:, 1], rtol=1e-4)


def test_best_tokens_break_ties_by_id():
    assert best_tokens(np.array([1.0, 3.0, 2.0, 3.0, -np.inf]), 3).tolist() == [1, 3, 2]
    assert best_tokens(np.array([1.0, 3.0])).tolist() == [1, 0]


def test_first_token_by_hand():
    """One head: 0.5 and 0.25 of the later queries' weight; a value of length 5 beside 1 and 3."""
    pattern = np.array([[[1, 0, 0], [0.5, 0.5, 0], [0.25, 0, 0.75]]])
    v = np.array([[[3.0, 4.0], [1.0, 0.0], [0.0, 3.0]]])
    trace = {f"h.{i}.attn.{name}": array for i in range(2)
             for name, array in (("pattern", pattern), ("v", v))}
    weight, length = first_token(trace, 2)
    assert weight.tolist() == [[0.375], [0.375]] and length.tolist() == [[2.5], [2.5]]


def test_multiplications_are_those_of_the_products():
    """Count the products of real passes, by the shapes that go into each of them."""
    counted = []

    def linear(x, w, b):
        counted.append(x.shape[0] * w.size)
        return x @ w + b

    def attend(q, k, v, softmax):
        counted.append(2 * q.shape[0] * q.shape[1] * k.shape[1] * q.shape[2])
        return gpt2lab.Ops().attend(q, k, v)
    model = gpt2lab.load(ops=gpt2lab.Ops(linear=linear, attend=attend))
    c, cache = model.config, gpt2lab.KVCache(model.config)
    for new, seen in ((5, 5), (1, 6), (3, 9)):
        counted.clear()
        model.next_logits(list(range(new)), cache)
        assert sum(counted) + c.vocab_size * c.n_embd == multiplications(c, new, seen)


def test_bytes_are_those_of_the_arrays():
    for model in (gpt2lab.load(), model_of(SMALL)):
        cache = gpt2lab.KVCache(model.config)
        weights = sum(w.nbytes for name, w in model.weights.items() if name != "wpe.weight")
        kept = cache.keys[:, :, :10].nbytes + cache.values[:, :, :10].nbytes
        assert bytes_read(model.config, 0) == weights
        assert bytes_read(model.config, 10) == weights + kept
