"""Names follow the weights, in whatever order operations are called; taps watch and intervene."""
import dataclasses

import numpy as np
import pytest

import tiny_a
from gpt2lab import GPT2, Config, KVCache, Ops, load
from gpt2lab.heads import attend_heads
from gpt2lab.inside import without_heads
from gpt2lab.kvcache import remember
from gpt2lab.layernorm import layer_norm
from gpt2lab.linear import linear
from gpt2lab.softmax import softmax
from gpt2lab.taps import Recorder, find
from gpt2lab.teach import diff
from recipes import A, weights_of

IDS = [1, 5, 3, 0, 7]
PLAIN = tiny_a.model()
TRACE = PLAIN.trace(IDS)


# --- blocks and heads that are written in another way, with the same result

def by_keyword(x, w, n_head, epsilon, remember, layer_norm, attend_heads, mlp):
    normed = layer_norm(bias=w["ln_1.bias"], gain=w["ln_1.weight"], x=x, epsilon=epsilon)
    x = x + attend_heads(n_head=n_head, b_out=w["attn.c_proj.bias"], w_out=w["attn.c_proj.weight"],
                         b_qkv=w["attn.c_attn.bias"], w_qkv=w["attn.c_attn.weight"], x=normed,
                         remember=remember)
    normed = layer_norm(epsilon=epsilon, x=x, bias=w["ln_2.bias"], gain=w["ln_2.weight"])
    return x + mlp(w_proj=w["mlp.c_proj.weight"], w_fc=w["mlp.c_fc.weight"], x=normed,
                   b_proj=w["mlp.c_proj.bias"], b_fc=w["mlp.c_fc.bias"])


def heads_by_keyword(x, w_qkv, b_qkv, w_out, b_out, n_head, remember, linear, attend):
    qkv = linear(b=b_qkv, w=w_qkv, x=x)
    q, k, v = qkv.reshape(len(x), 3, n_head, -1).transpose(1, 2, 0, 3)
    k, v = remember(k, v) if remember else (k, v)
    mixed = attend(v=v, k=k, q=q)
    return linear(w=w_out, x=mixed.swapaxes(0, 1).reshape(x.shape), b=b_out)


def attend_by_keyword(q, k, v, softmax=softmax):
    later = np.arange(k.shape[-2]) > np.arange(k.shape[-2] - q.shape[-2], k.shape[-2])[:, None]
    scores = np.where(later, -np.inf, q @ k.swapaxes(-1, -2) / np.float32(q.shape[-1] ** 0.5))
    return softmax(scores=scores.astype(q.dtype)) @ v


def mlp_by_keyword(x, w_fc, b_fc, w_proj, b_proj, linear, gelu):
    return linear(b=b_proj, w=w_proj, x=gelu(x=linear(b=b_fc, w=w_fc, x=x)))


def three_products(x, w_qkv, b_qkv, w_out, b_out, n_head, remember, linear, attend):
    D = x.shape[1]
    parts = (linear(x, w_qkv[:, i:i + D], b_qkv[i:i + D]) for i in (2 * D, 0, D))     # v, q, k
    v, q, k = (part.reshape(len(x), n_head, -1).swapaxes(0, 1) for part in parts)
    k, v = remember(k, v) if remember else (k, v)
    return linear(attend(q, k, v).swapaxes(0, 1).reshape(x.shape), w_out, b_out)


def product_for_each_head(x, w_qkv, b_qkv, w_out, b_out, n_head, remember, linear, attend, order=1):
    """Everything head by head, the last head first where order is -1; remember is not used."""
    D, mixed = x.shape[1], [None] * n_head
    for h in range(n_head)[::order]:
        strips = [slice(i * D + h * D // n_head, i * D + (h + 1) * D // n_head) for i in range(3)]
        mixed[h] = attend(*(linear(x, w_qkv[:, strip], b_qkv[strip]) for strip in strips))
    return linear(np.concatenate(mixed, axis=-1), w_out, b_out)


def last_head_first(*arguments, **named):
    return product_for_each_head(*arguments, **named, order=-1)


def one_product_heads_in_a_loop(x, w_qkv, b_qkv, w_out, b_out, n_head, remember, linear, attend):
    D, mixed = x.shape[1], []
    qkv = linear(x, w_qkv, b_qkv)
    for h in range(n_head):
        strips = [qkv[:, i * D + h * D // n_head:i * D + (h + 1) * D // n_head] for i in range(3)]
        mixed.append(attend(*strips))
    return linear(np.concatenate(mixed, axis=-1), w_out, b_out)


def block_in_one_array(x, w, n_head, epsilon, remember, layer_norm, attend_heads, mlp):
    def of(*layers):
        return [w[f"{layer}.{part}"] for layer in layers for part in ("weight", "bias")]
    x = x.copy()
    x += attend_heads(layer_norm(x, *of("ln_1"), epsilon), *of("attn.c_attn", "attn.c_proj"),
                      n_head, remember)
    x += mlp(layer_norm(x, *of("ln_2"), epsilon), *of("mlp.c_fc", "mlp.c_proj"))
    return x


def mlp_in_one_array(x, w_fc, b_fc, w_proj, b_proj, linear, gelu):
    hidden = linear(x, w_fc, b_fc)
    hidden[...] = gelu(hidden)
    return linear(hidden, w_proj, b_proj)


def heads_in_a_loop_and_one_array(x, w_qkv, b_qkv, w_out, b_out, n_head, remember, linear, attend):
    """Head by head, the mixed one in the place of its v."""
    D, qkv = x.shape[1], linear(x, w_qkv, b_qkv)
    for h in range(n_head):
        strips = [qkv[:, i * D + h * D // n_head:i * D + (h + 1) * D // n_head] for i in range(3)]
        strips[2][...] = attend(*strips)
    return linear(qkv[:, 2 * D:], w_out, b_out)


SAME = {
    "all by keyword": Ops(block=by_keyword, attend_heads=heads_by_keyword, attend=attend_by_keyword,
                          mlp=mlp_by_keyword),
    "names of one's own": Ops(
        layer_norm=lambda rows, stretch, shift, small=1e-5: layer_norm(rows, stretch, shift, small),
        linear=lambda rows, matrix, shift: linear(rows, matrix, shift),
        softmax=lambda some: softmax(some)),
    "three products": Ops(attend_heads=three_products),
    "a product for each head": Ops(attend_heads=product_for_each_head),
    "the last head first": Ops(attend_heads=last_head_first),
    "heads in a loop": Ops(attend_heads=one_product_heads_in_a_loop),
    "the stream in one array": Ops(block=block_in_one_array),
    "the MLP in one array": Ops(mlp=mlp_in_one_array),
    "head by head in one array": Ops(attend_heads=heads_in_a_loop_and_one_array),
}


@pytest.mark.parametrize("way", SAME)
def test_the_trace_is_that_of_the_library(way):
    arrays = tiny_a.model(ops=SAME[way]).trace(IDS)
    assert arrays.keys() == TRACE.keys()
    for name, array in TRACE.items():
        np.testing.assert_allclose(arrays[name], array, atol=1e-5, err_msg=name)


@pytest.mark.parametrize("way", SAME)
def test_nothing_is_called_a_fault_that_is_none(way):
    assert diff(tiny_a.model(ops=SAME[way]), IDS[:1] if "head" in way else IDS) is None


def wrong_order(first, second, parallel=False):
    """A block whose parts are named: which norm and which part comes first."""
    def run(x, w, n_head, epsilon, remember, layer_norm, attend_heads, mlp):
        start = x

        def of(*layers):
            return [w[f"{layer}.{part}"] for layer in layers for part in ("weight", "bias")]
        for norm, part in (first, second):
            normed = layer_norm(start if parallel else x, *of(norm), epsilon)
            if part == "attn":
                x = x + attend_heads(normed, *of("attn.c_attn", "attn.c_proj"), n_head, remember)
            else:
                x = x + mlp(normed, *of("mlp.c_fc", "mlp.c_proj"))
        return x
    return run


@pytest.mark.parametrize("norms", [("ln_1", "ln_2"), ("ln_2", "ln_1")])
@pytest.mark.parametrize("parts", [("attn", "mlp"), ("mlp", "attn")])
@pytest.mark.parametrize("parallel", [False, True])
def test_in_every_order_each_name_holds_what_its_weight_made(norms, parts, parallel):
    both = list(zip(norms, parts))
    model = tiny_a.model(ops=Ops(block=wrong_order(*both, parallel)))
    arrays, w = model.trace(IDS), model.weights
    read_by = {"attn": "attn.c_attn", "mlp": "mlp.c_fc"}
    for i in range(2):
        at, x = f"h.{i}.", arrays["embed" if i == 0 else "h.0.resid_post"]
        np.testing.assert_array_equal(arrays[at + "resid_pre"], x)
        start = x
        for norm, part in both:
            read = start if parallel else x
            normed = layer_norm(read, w[f"{at}{norm}.weight"], w[f"{at}{norm}.bias"])
            np.testing.assert_array_equal(arrays[at + norm], normed)
            if norm == "ln_2":
                np.testing.assert_array_equal(arrays[at + "resid_mid"], read)
            place = at + read_by[part]
            np.testing.assert_array_equal(
                arrays[place], linear(normed, w[place + ".weight"], w[place + ".bias"]))
            x = x + arrays[at + part]
        np.testing.assert_array_equal(arrays[at + "resid_post"], x)
    found, right = diff(model, IDS), both == [("ln_1", "attn"), ("ln_2", "mlp")] and not parallel
    assert (found is None) == right
    assert found is None or (found.name, found.operation) == ("h.0.resid_post", "block")


# --- what cannot be named is not guessed

def heads_with_copies(x, w_qkv, b_qkv, *rest, linear=linear, **named):
    def with_copy(x, w, b):
        return linear(x, w.copy(), b)
    return attend_heads(x, w_qkv, b_qkv, *rest, linear=with_copy, **named)


def test_a_copied_weight_has_no_name_and_no_place_in_the_trace():
    model, names = tiny_a.model(ops=Ops(attend_heads=heads_with_copies)), []
    arrays = model.trace(IDS)
    assert TRACE.keys() - arrays.keys() == {f"h.{i}.attn.{place}" for i in (0, 1) for place in (
        "c_attn", "c_proj")}
    logits = model.run_tapped(IDS, lambda name, function: names.append(name) or function)
    assert "h.0.linear?" in names and "h.0.attn.c_attn" not in names
    np.testing.assert_array_equal(logits, PLAIN(IDS))
    assert diff(model, IDS) is None
    wrong = dataclasses.replace(model.ops, linear=lambda x, w, b: 2 * linear(x, w, b))
    found = diff(tiny_a.model(ops=wrong), IDS)
    assert (found.name, found.operation) == ("h.0.linear?", "linear")


def test_what_is_not_whole_is_left_out():
    def v_without_linear(x, w_qkv, b_qkv, w_out, b_out, n_head, remember, linear, attend):
        D = x.shape[1]
        q, k = (linear(x, w_qkv[:, i:i + D], b_qkv[i:i + D]) for i in (0, D))
        v = x @ w_qkv[:, 2 * D:] + b_qkv[2 * D:]
        q, k, v = (part.reshape(len(x), n_head, -1).swapaxes(0, 1) for part in (q, k, v))
        mixed = attend(q, k, v).swapaxes(0, 1).reshape(x.shape)
        half = D // 2               # two products that are added: neither is what c_proj gives
        first = linear(mixed[:, :half], w_out[:half], b_out)
        return first + linear(mixed[:, half:], w_out[half:], 0 * b_out)
    arrays = tiny_a.model(ops=Ops(attend_heads=v_without_linear)).trace(IDS)
    assert TRACE.keys() - arrays.keys() == {
        f"h.{i}.attn.{place}" for i in (0, 1) for place in ("c_attn", "c_proj")}
    np.testing.assert_allclose(arrays["logits"], TRACE["logits"], atol=1e-5)


def test_a_head_that_cannot_be_told_is_left_out():
    def copies(x, w_qkv, b_qkv, w_out, b_out, n_head, remember, linear, attend):
        strips = linear(x, w_qkv, b_qkv).reshape(len(x), 3, n_head, -1)
        q, k, v = strips.transpose(1, 2, 0, 3).copy()
        mixed = [attend(*head) for head in zip(q, k, v)]
        return linear(np.concatenate(mixed, axis=-1), w_out, b_out)
    arrays = tiny_a.model(ops=Ops(attend_heads=copies)).trace(IDS)
    assert not any(name.endswith(("attn.mixed", "attn.pattern", "attn.q")) for name in arrays)
    np.testing.assert_allclose(arrays["logits"], TRACE["logits"], atol=1e-5)


def test_find_goes_by_place_in_memory():
    whole = np.arange(24.0).reshape(4, 6)
    arrays = {"a": whole, "b": np.arange(6.0)}
    assert find(whole, arrays) == find(whole[:2], arrays) == ("a", 0)
    assert find(whole[:, 4:], arrays) == ("a", 4) and find(whole[1:, 2:3], arrays) == ("a", 2)
    assert find(arrays["b"][3:], arrays) == ("b", 3)
    assert find(whole.copy(), arrays) is None and find([1.0], arrays) is None
    assert find(whole.view(np.int64), arrays) is None
    assert find(whole, {"part": whole[1:]}) is None and find(whole[:1], {"part": whole[1:]}) is None
    one = np.broadcast_to(np.ones(1), (3, 3))
    assert find(one, {"flat": one}) is None
    assert find(whole, arrays | {"again": whole}) is None       # which of the two, nobody knows


def test_two_norms_in_one_place_of_memory_are_told_apart_by_nobody():
    weights = weights_of(A)
    weights["h.0.ln_2.weight"] = weights["h.0.ln_1.weight"]
    arrays = GPT2(tiny_a.CONFIG, weights).trace(IDS)
    assert "h.0.ln_1" not in arrays and "h.1.ln_1" in arrays


# --- faults

def test_a_keyword_call_hides_no_changed_input():
    def in_place(x, gain, bias, epsilon=1e-5):
        result = layer_norm(x, gain, bias, epsilon)
        x += 0.01
        return result
    model = tiny_a.model(ops=Ops(block=by_keyword, layer_norm=in_place))
    found = diff(model, IDS)
    assert (found.name, found.operation) == ("h.0.ln_1", "layer_norm")


@pytest.mark.parametrize("place, operation", [("h.1.mlp.c_proj", "linear"),
                                              ("h.1.ln_2", "layer_norm")])
def test_the_place_of_a_fault_is_named_by_its_weight(place, operation):
    """An operation that is wrong for one weight only, in a block of another order."""
    weights = weights_of(A)
    right = {"linear": linear, "layer_norm": layer_norm}[operation]

    def wrong(*arguments, **named):
        struck = any(array is weights[place + ".weight"] for array in (*arguments, *named.values()))
        return right(*arguments, **named) * (2 if struck else 1)
    model = GPT2(tiny_a.CONFIG, weights, ops=Ops(**{operation: wrong}, block=by_keyword))
    found = diff(model, IDS)
    assert (found.name, found.operation) == (place, operation)


# --- watching and intervening

def test_run_tapped_gives_the_logits_and_replaces_what_an_operation_gives():
    logits = PLAIN.run_tapped(IDS, lambda name, function: function)
    np.testing.assert_array_equal(logits, PLAIN(IDS))

    def doubled(name, function):
        return (lambda *a, **n: 2 * function(*a, **n)) if name == "h.1.mlp.c_proj" else function
    weights = weights_of(A)
    for part in ("weight", "bias"):
        weights[f"h.1.mlp.c_proj.{part}"] = 2 * weights[f"h.1.mlp.c_proj.{part}"]
    other = GPT2(tiny_a.CONFIG, weights)
    np.testing.assert_allclose(PLAIN.run_tapped(IDS, doubled), other(IDS), atol=1e-5)
    cache = KVCache(PLAIN.config)
    parts = [PLAIN.run_tapped(part, doubled, cache) for part in (IDS[:2], IDS[2:])]
    np.testing.assert_allclose(np.concatenate(parts), other(IDS), atol=1e-5)
    made = PLAIN.tapped(doubled).generate_ids([1, 5, 3], max_new_tokens=6, temperature=0)
    assert made == other.generate_ids([1, 5, 3], max_new_tokens=6, temperature=0)
    assert made != PLAIN.generate_ids([1, 5, 3], max_new_tokens=6, temperature=0)


def test_remember_is_watched_under_its_block_and_has_no_place_in_a_trace():
    """In each block that has a cache; a tap may exchange it."""
    names, cache = [], KVCache(PLAIN.config)
    for part in (IDS[:3], IDS[3:]):
        PLAIN.run_tapped(part, lambda name, function: names.append(name) or function, cache)
    assert [name for name in names if "remember" in name] == 2 * [
        "h.0.attn.remember", "h.1.attn.remember"]
    PLAIN.run_tapped(IDS, lambda name, function: names.append(name) or function)
    assert sum("remember" in name for name in names) == 4
    recorder = Recorder(PLAIN.config, PLAIN.weights)
    PLAIN.run_tapped(IDS, recorder, KVCache(PLAIN.config))
    assert list(recorder.arrays()) == list(TRACE)

    def forgets(name, function):
        if name != "h.1.attn.remember":
            return function
        return lambda old_k, old_v, k, v: function(0 * old_k, 0 * old_v, k, v)
    rows = []
    for tap in (forgets, lambda name, function: function):
        cache = KVCache(PLAIN.config)
        PLAIN(IDS[:3], cache)
        rows.append(PLAIN.run_tapped(IDS[3:], tap, cache))
    np.testing.assert_allclose(rows[1], TRACE["logits"][3:], atol=1e-5)
    assert np.abs(rows[0] - rows[1]).max() > 0.001


@pytest.mark.parametrize("wrong", [
    lambda old_k, old_v, k, v: remember(k, v, old_k, old_v),
    lambda old_k, old_v, k, v: remember(old_v, old_k, v, k),
    lambda old_k, old_v, k, v: remember(old_k, old_k, k, k),
    lambda old_k, old_v, k, v: (k, v),
    lambda old_k, old_v, k, v: np.stack(remember(old_k, old_v, k, v)),
    lambda old_k, old_v, k, v: ..., lambda old_k, old_v, k, v: 1 / 0])
def test_a_wrong_remember_is_named(wrong):
    found = diff(tiny_a.model(ops=Ops(remember=wrong)), IDS)
    assert (found.name, found.operation) == ("h.0.attn.remember", "remember")
    assert diff(tiny_a.model(ops=Ops(remember=lambda *rows: list(remember(*rows)))), IDS) is None


def test_a_tap_sees_what_the_tap_before_it_gives():
    twice = PLAIN.tapped(lambda name, function: (lambda *a, **n: 2 * function(*a, **n))
                         if name == "embed" else function)
    np.testing.assert_array_equal(twice.trace(IDS)["embed"], 2 * TRACE["embed"])
    np.testing.assert_array_equal(twice.trace(IDS)["logits"], twice(IDS))


def test_a_pass_that_was_interrupted_leaves_nothing_behind():
    """Names do not depend on how many calls came before."""
    model = tiny_a.model()

    def stop(name, function):
        if name == "h.0.attn.mixed":
            raise KeyboardInterrupt
        return function
    off = without_heads(model, [(1, 0)])
    wanted = model.run_tapped(IDS, off)
    with pytest.raises(KeyboardInterrupt):
        model.run_tapped(IDS, stop)
    np.testing.assert_array_equal(model.run_tapped(IDS, off), wanted)
    for name, array in model.trace(IDS).items():
        np.testing.assert_array_equal(array, TRACE[name])


# --- what a model is made of

@pytest.mark.parametrize("part, value", [("ops", Ops()), ("config", tiny_a.CONFIG),
                                         ("tokenizer", None), ("weights", {}), ("tap", None)])
def test_no_part_of_a_model_can_be_set(part, value):
    with pytest.raises(AttributeError, match=f"cannot assign to field '{part}'"):
        setattr(tiny_a.model(), part, value)


def test_weights_are_set_by_nobody():
    model, given = tiny_a.model(), weights_of(A)
    with pytest.raises(TypeError, match="does not support item assignment"):
        model.weights["wte.weight"] = model.weights["wpe.weight"]
    other = GPT2(tiny_a.CONFIG, given)
    given["wte.weight"] = given["wte.weight"] * 2           # the dict that it was made of
    np.testing.assert_array_equal(other(IDS), PLAIN(IDS))


@pytest.mark.parametrize("change, sentence", [
    ({"h.0.ln_1.bias": None}, r"GPT2: weight h.0.ln_1.bias of shape \(8,\) is missing"),
    ({"h.2.ln_1.bias": np.zeros(8)}, "weight h.2.ln_1.bias is no part of a model of this config"),
    ({"h.1.attn.c_attn.weight": np.zeros((24, 8))},
     r"GPT2: weight h.1.attn.c_attn.weight must have shape \(8, 24\), got \(24, 8\)"),
    ({"lm_head.weight": np.zeros((12, 8))},
     r"GPT2: weight lm_head.weight must have shape \(13, 8\), got \(12, 8\)")])
def test_weights_of_another_model_are_refused(change, sentence):
    weights = {name: array for name, array in (weights_of(A) | change).items() if array is not None}
    with pytest.raises(ValueError, match=sentence):
        GPT2(tiny_a.CONFIG, weights)


@pytest.mark.parametrize("ops", [{"linear": linear}, linear, "linear"])
def test_operations_that_are_none_are_refused(ops):
    with pytest.raises(ValueError, match="GPT2: ops must be an Ops, such as"):
        tiny_a.model(ops=ops)
    with pytest.raises(ValueError, match="Ops: gelu must be a function, got None"):
        Ops(gelu=None)


@pytest.mark.parametrize("change", [{"n_layer": 1}, {"n_layer": 3}, {"n_head": 4},
                                    {"n_positions": 24}, {"n_embd": 16}])
def test_a_cache_of_another_model_is_refused(change):
    cache = KVCache(Config.from_dict(A | change))
    sentence = r"the cache belongs to another model: it must hold \(L, H, N, Dh\)"
    for run in (PLAIN, PLAIN.next_logits, PLAIN.tapped(lambda name, function: function)):
        with pytest.raises(ValueError, match=sentence):
            run(IDS, cache)
    assert cache.length == 0 and not cache.keys.any()


@pytest.mark.parametrize("rows", [0, -1, 6])
def test_rows_that_are_not_there_are_refused(rows):
    with pytest.raises(ValueError, match=f"last_logits: rows must be from 1 to T = 5, got {rows}"):
        PLAIN.last_logits(IDS, rows)


def test_lists_of_different_lengths_are_refused_in_our_words():
    sentence = r"ids must be a flat list of token ids, got \[\[1\], \[2, 3\]\]"
    with pytest.raises(ValueError, match=sentence):
        PLAIN([[1], [2, 3]])


def test_tapped_models_share_the_quick_table():
    """It takes longer to lay out than the bundled model takes for a text."""
    model = load("gpt2-tiny")
    one, two = (model.tapped(lambda name, function: function) for _ in range(2))
    assert one._quick_table is two._quick_table is model._quick_table
