"""inside: constructed patterns, losses by hand, parts that add up to logits, heads taken out."""
import re

import numpy as np
import pytest

import gpt2lab
import tiny_a
from gpt2lab import GPT2, Config
from gpt2lab.attention import attend
from gpt2lab.heads import attend_heads
from gpt2lab.inside import (
    alikeness,
    along_and_across,
    best_tokens,
    bytes_read,
    direct_logits,
    first_token,
    first_word,
    flat,
    head_contributions,
    head_jobs,
    induction_score,
    logit_parts,
    multiplications,
    nearest_rows,
    never_seen,
    part_sizes,
    patterns_of,
    position_losses,
    previous_word,
    ranks,
    stream_parts,
    stream_sizes,
    stream_stages,
    trace_of,
    unit,
    unit_pushes,
    what_followed,
    without_heads,
)
from gpt2lab.layernorm import layer_norm
from recipes import SMALL, SMALL_PROMPTS, A, weights_of

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
    ((4, 4), 0, "period must be from 1 to T - 1 = 3, got 0"),
    ((4, 4), 4, "period must be from 1 to T - 1 = 3, got 4"),
    ((1, 1), 1, "period must be from 1 to T - 1 = 0, got 1"),
    ((3, 4), 2, "pattern must have shape (..., T, T), got (3, 4)"),
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
        added = heads.sum(axis=0) + w["bias"]
        np.testing.assert_allclose(added, trace[f"h.{i}.attn"], rtol=0, atol=1e-5)


def test_a_head_owns_its_rows_of_the_projection():
    mixed, w_out = np.array([[[2.0]], [[3.0]]]), np.array([[1.0, 10.0], [100.0, 1000.0]])
    assert head_contributions(mixed, w_out).tolist() == [[[2, 20]], [[300, 3000]]]
    message = "head_contributions: w_out must have shape (2, 2), got (2, 3)"
    with pytest.raises(ValueError, match=re.escape(message)):
        head_contributions(mixed, np.ones((2, 3)))


def test_parts_add_up_to_the_stream_and_to_every_logit(run):
    """Every position, every token: the sum of what the parts add is the logit, but for rounding."""
    model, ids, trace = run
    c, w = model.config, model.weights
    gain, bias, stream = w["ln_f.weight"], w["ln_f.bias"], trace[f"h.{c.n_layer - 1}.resid_post"]
    for t in range(len(ids)):
        names, parts = stream_parts(trace, w, c.n_layer, t)
        assert len(names) == len(set(names)) == len(parts) == 1 + c.n_layer * (c.n_head + 2)
        np.testing.assert_allclose(parts.sum(axis=0), stream[t], rtol=0, atol=1e-5)
        for token in range(c.vocab_size):
            target = w["wte.weight"][token]
            added = direct_logits(parts, gain, bias, target, c.layer_norm_epsilon)
            assert added.dtype == np.float32 and added.shape == (len(parts) + 1,)
            np.testing.assert_allclose(added.sum(), trace["logits"][t, token], rtol=0, atol=2e-5)
            assert added[-1] == bias @ target


def test_parts_stand_under_their_names(run):
    model, ids, trace = run
    t = len(ids) - 1
    parts = dict(zip(*stream_parts(trace, model.weights, model.config.n_layer, t)))
    np.testing.assert_array_equal(parts["embedding"], trace["embed"][t])
    np.testing.assert_array_equal(parts["block 1 MLP"], trace["h.1.mlp"][t])
    bias = model.weights["h.0.attn.c_proj.bias"]
    np.testing.assert_array_equal(parts["block 0 c_proj bias"], bias)
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
    one = direct_logits(x[None], gain, bias, a, 0.1)
    np.testing.assert_allclose(one.sum(), layer_norm(x, gain, bias, 0.1) @ a)
    parts = draw(size=(5, 6))
    of_a, of_b, difference = (direct_logits(parts, gain, bias, target) for target in (a, b, a - b))
    np.testing.assert_allclose(difference, of_a - of_b, atol=1e-12)


@pytest.mark.parametrize("place, name", [(1, "gain"), (2, "bias"), (3, "target")])
def test_rows_of_the_wrong_length_are_refused(place, name):
    arguments = [np.ones((3, 4)), np.ones(4), np.ones(4), np.ones(4)]
    arguments[place] = np.ones(1)
    message = f"direct_logits: {name} must have shape (D,) = (4,), got (1,)"
    with pytest.raises(ValueError, match=re.escape(message)):
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
    rest = heads[keep].sum(axis=0) + model.weights["h.0.attn.c_proj.bias"]
    np.testing.assert_allclose(off["h.0.attn"], rest, atol=1e-5)
    w = {name: model.weights[f"h.1.attn.{name}"]
         for name in ("c_attn.weight", "c_attn.bias", "c_proj.weight", "c_proj.bias")}
    w["c_proj.weight"] = w["c_proj.weight"].copy()
    w["c_proj.weight"][:model.config.n_embd // model.config.n_head] = 0
    rest = attend_heads(off["h.1.ln_1"], *w.values(), model.config.n_head)
    np.testing.assert_allclose(off["h.1.attn"], rest, atol=1e-5)


@pytest.mark.parametrize("block, head", [(2, 0), (-1, 0), (0, 2), (0, -1)])
def test_a_head_that_is_not_there_is_refused(block, head):
    message = f"without_heads: there is no head {head} in block {block}"
    with pytest.raises(ValueError, match=message):
        without_heads(tiny_a.model(), [(block, head)])


def test_one_head_after_the_other_is_switched_off_alike():
    def one_by_one(q, k, v, softmax):
        return np.stack([attend(*head, softmax) for head in zip(q, k, v)])

    def heads(*arguments, attend, **named):
        return attend_heads(*arguments, attend=lambda q, k, v: np.stack(
            [attend(*head) for head in zip(q, k, v)]), **named)
    right = tiny_a.model()
    wanted = right.run_tapped([1, 5, 3], without_heads(right, [(0, 1)]))
    assert abs(wanted - right([1, 5, 3])).max() > 0.01
    for ops in (gpt2lab.Ops(attend=one_by_one), gpt2lab.Ops(attend_heads=heads)):
        model = tiny_a.model(ops=ops)
        np.testing.assert_allclose(
            model.run_tapped([1, 5, 3], without_heads(model, [(0, 1)])), wanted, atol=1e-5)


def test_heads_that_are_projected_one_by_one_are_refused():
    def by_rows(x, w_qkv, b_qkv, w_out, b_out, n_head, remember=None, linear=None, attend=None):
        T, D = x.shape
        q, k, v = linear(x, w_qkv, b_qkv).reshape(T, 3, n_head, -1).transpose(1, 2, 0, 3)
        parts = np.split(w_out, n_head)
        return sum(linear(mixed, part, 0 * b_out)
                   for mixed, part in zip(attend(q, k, v), parts)) + b_out
    model = tiny_a.model(ops=gpt2lab.Ops(attend_heads=by_rows))
    np.testing.assert_allclose(model([1, 5, 3]), tiny_a.model()([1, 5, 3]), atol=1e-5)
    with pytest.raises(ValueError, match=r"c_proj must get all heads .* D = 8, got \(3, 4\)"):
        model.run_tapped([1, 5, 3], without_heads(model, [(0, 1)]))


def test_stream_sizes_are_those_of_the_trace():
    trace = gpt2lab.load().trace([464, 3616])
    sizes = stream_sizes(trace)
    assert len(sizes) == 5
    np.testing.assert_allclose(sizes[2], np.sqrt((trace["h.1.resid_post"] ** 2).mean()), rtol=1e-5)


def test_trace_of_runs_a_text_once_and_only_its_first_tokens(monkeypatch):
    model = gpt2lab.load()
    ids, trace = trace_of(model, "word and " * 40, most=8)
    assert list(ids) == model.encode("word and " * 40) and len(ids) > 64
    np.testing.assert_array_equal(trace["h.2.attn.pattern"],
                                  model.trace(ids[:8])["h.2.attn.pattern"])
    with pytest.raises(ValueError, match="the prompt is empty"):
        trace_of(model, "")
    monkeypatch.setattr(GPT2, "run_tapped", None)
    assert trace_of(model, "word and " * 40, most=8)[1] is trace


def test_patterns_of_all_heads():
    trace = gpt2lab.load().trace([464, 3616, 286])
    for i, patterns in enumerate(patterns_of(trace)):
        np.testing.assert_array_equal(patterns, trace[f"h.{i}.attn.pattern"])


def test_a_perfect_head_scores_1_and_the_others_0():
    ids, one = [3, 4, 5, 6, 3, 4, 5], np.eye(7)
    previous, first, itself = one[[0, 0, 1, 2, 3, 4, 5]], one[[0] * 7], one
    followed = one[[0, 1, 2, 3, 1, 2, 3]]
    stack = np.stack([previous, first, itself, followed])
    assert previous_word(stack).tolist() == [1, 1 / 6, 0, 0]
    assert first_word(stack).tolist() == [1 / 6, 1, 0, 0]
    assert what_followed(stack, ids).tolist() == [0, 0, 0, 1]
    assert head_jobs(stack, [*ids, 3]).tolist() == [
        [1, 1 / 6, 0, 0], [1 / 6, 1, 0, 0], [0, 0, 0, 1]]


def test_what_followed_counts_the_last_time_only():
    one = np.eye(6)                             # token 2 follows at 1, token 4 at 3
    assert what_followed(one[[0, 1, 2, 3, 3, 4]], [1, 2, 1, 9, 1, 8]) == 0.5
    assert what_followed(one[[0, 1, 1, 3, 3, 4]], [1, 2, 1, 9, 1, 8]) == 1


def test_uniform_heads_score_the_share_of_one_key():
    T = 5
    uniform = np.tri(T) / np.arange(1, T + 1)[:, None]
    share = np.mean([1 / (t + 1) for t in range(1, T)])
    assert previous_word(uniform) == pytest.approx(share) == first_word(uniform)
    assert np.isnan(what_followed(uniform, range(T)))
    assert np.isnan(previous_word(np.ones((1, 1)))) and np.isnan(first_word(np.ones((1, 1))))


def test_part_sizes_are_those_of_the_trace():
    trace = gpt2lab.load().trace([464, 3616, 286])
    for part in ("attn", "mlp"):
        want = [np.sqrt((trace[f"h.{i}.{part}"] ** 2).mean()) for i in range(4)]
        np.testing.assert_allclose(part_sizes(trace, part), want, rtol=1e-5)


def test_alikeness_is_the_mean_cosine_of_different_rows():
    assert alikeness(np.ones((3, 4))) == pytest.approx(1) and alikeness(np.eye(3)) == 0
    assert alikeness(np.array([[1.0, 0], [-2, 0]])) == pytest.approx(-1)


def test_a_push_is_the_change_of_the_logit():
    """In the last block: 1 more of activation, times the last norm's divisor, divisor held."""
    model = gpt2lab.load()
    x = model.trace(model.encode("She knew"))["h.3.resid_post"][-1].astype(np.float64)
    w = model.weights
    value = w["h.3.mlp.c_proj.weight"][83].astype(np.float64)
    divisor = np.sqrt(x.var() + 1e-5)

    def logits(row):
        normed = (row - row.mean()) / divisor * w["ln_f.weight"] + w["ln_f.bias"]
        return normed @ w["wte.weight"].T
    np.testing.assert_allclose((logits(x + value) - logits(x)) * divisor, unit_pushes(w, 3, 83),
                               atol=1e-4)


def test_unit_rows_have_length_1_and_zero_stays_zero():
    rows = np.array([[3.0, 4.0], [0.0, 0.0], [-1e-3, 0.0]], np.float32)
    np.testing.assert_allclose(unit(rows), [[0.6, 0.8], [0, 0], [-1, 0]], rtol=1e-6)
    assert unit(rows).dtype == np.float32


def test_rows_never_seen_are_equal_and_are_nobodys_neighbours():
    model = gpt2lab.load()
    wte = model.weights["wte.weight"]
    unseen = never_seen(wte)
    assert unseen.sum() == 20_888 and (wte[unseen] == wte[3644]).all()
    ids = [model.encode(word)[0] for word in (" king", " rope", " goblin")]
    near, _ = nearest_rows(unit(wte), ids, 50, unseen)
    assert not unseen[near].any()
    random = np.random.default_rng(1).normal(size=(300, 4))
    assert not never_seen(random).any()
    random[:100] = random[0]
    assert not never_seen(random).any(), "a hundred equal rows may be chance"
    random[250] = random[0]
    assert list(np.flatnonzero(never_seen(random))) == [*range(100), 250]


def test_nearest_rows_are_the_best_cosines_in_order():
    rows = np.random.default_rng(2).normal(size=(40, 5))
    rows[7] = 2 * rows[3]                       # equal cosines: the smaller id comes first
    rows[21] = 3 * rows[3]
    cosines = rows @ rows.T / np.outer(*[np.linalg.norm(rows, axis=-1)] * 2)
    left_out = np.arange(40) == 11
    ids, values = nearest_rows(unit(rows), [0, 11, 30], 6, left_out)
    for row, i in zip(ids, [0, 11, 30]):
        others = [j for j in range(40) if j not in (i, 11)]
        assert list(row) == sorted(others, key=lambda j: (-cosines[i, j].round(12), j))[:6]
    np.testing.assert_allclose(values[2], cosines[30, ids[2]])
    (near,), _ = nearest_rows(unit(np.tile(np.eye(2), (3, 1))), [2], 4)
    assert list(near) == [0, 4, 1, 3]


def test_flat_keeps_the_directions_of_the_largest_spread():
    draw = np.random.default_rng(3).normal
    rows = draw(size=(30, 4)) * [1, 9, 0.1, 4] + 5
    places, share = flat(rows)
    values = np.linalg.eigvalsh(np.cov(rows.T))
    np.testing.assert_allclose(np.var(places, axis=0, ddof=1), values[::-1][:2])
    np.testing.assert_allclose(share, values[-2:].sum() / values.sum())
    assert (places.max(axis=0) > -places.min(axis=0)).all()
    np.testing.assert_allclose(flat(-rows)[0], places, atol=1e-9)
    plane = draw(size=(5, 2)) @ draw(size=(2, 6))
    np.testing.assert_allclose(flat(plane)[1], 1)


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
    weight, length = first_token(trace)
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
