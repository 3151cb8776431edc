"""The whole model: against stored values of transformers, with a cache, with other operations."""
import dataclasses
import itertools
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import gpt2lab
from gpt2lab.checkpoint import BUNDLED
from gpt2lab.config import Config
from gpt2lab.layernorm import layer_norm
from gpt2lab.linear import linear
from gpt2lab.mlp import mlp
from recipes import (
    A_FIRST_FOUR,
    A_IDS,
    FULL_ROWS,
    PROMPTS,
    SMALL,
    SMALL_PROMPTS,
    A,
    columns,
    sampled,
    weights_of,
    write_checkpoint,
)

LIBRARY = gpt2lab.Ops()
TOLERANCE = 1e-4                # of logits: against transformers, and cached against uncached
GOLDEN = {"gpt2-tiny": np.load(BUNDLED / "reference.npz"),
          "small": np.load(Path(__file__).parent / "golden" / "small.npz")}
CASES = [("gpt2-tiny", prompt) for prompt in PROMPTS] + [("small", prompt)
                                                         for prompt in SMALL_PROMPTS]

pytestmark = pytest.mark.filterwarnings("error")        # NumPy may not even warn


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    return {"gpt2-tiny": gpt2lab.load(),
            "small": gpt2lab.load(write_checkpoint(tmp_path_factory.mktemp("small"), SMALL))}


@pytest.fixture(scope="module")
def logits_of(models):
    """Logits of a stored prompt, computed once for all tests."""
    return cache(lambda name, prompt: models[name](GOLDEN[name][f"{prompt}/ids"]))


def made(config=A, ops=LIBRARY, change=None, **keys):
    """A model of the recipe without any file; change(name, array) may alter its weights."""
    config = config | keys
    weights = {name: change(name, array) if change else array
               for name, array in weights_of(config).items()}
    return gpt2lab.GPT2(Config.from_dict(config), weights, ops=ops)


def apart(one, other):
    """The largest difference of two arrays; -inf must stand in the same places."""
    one, other = np.asarray(one), np.asarray(other)
    assert one.shape == other.shape
    assert np.array_equal(np.isneginf(one), np.isneginf(other))
    finite = np.isfinite(other)
    return np.abs(one[finite] - other[finite]).max(initial=0)


@pytest.mark.parametrize("writeable", [False, True])
def test_the_head_of_one_row_reads_the_weights_as_they_are(writeable):
    """Short rows are copied in another layout only where nobody can change them afterwards."""
    model = made()
    wte = model.weights["wte.weight"]
    wte.flags.writeable = writeable
    before = model.next_logits(A_IDS)
    assert apart(before, model(A_IDS)[-1]) < 1e-6
    if writeable:
        wte[7] *= 2
        assert apart(model.next_logits(A_IDS), model(A_IDS)[-1]) < 1e-6
        assert not np.array_equal(model.next_logits(A_IDS), before)
    else:
        assert model._quick_table.flags.f_contiguous and np.array_equal(model._quick_table, wte)


# --- the stored reference -------------------------------------------------------------------------

@pytest.mark.parametrize("prompt", PROMPTS)
def test_tokenizer_gives_the_stored_ids(models, prompt):
    N = models["gpt2-tiny"].config.n_positions
    ids = models["gpt2-tiny"].tokenizer.encode(PROMPTS[prompt])[:N]
    assert ids == GOLDEN["gpt2-tiny"][f"{prompt}/ids"].tolist()


@pytest.mark.parametrize("name, prompt", CASES)
def test_logits_are_those_of_transformers(models, logits_of, name, prompt):
    stored, logits = GOLDEN[name], logits_of(name, prompt)
    assert logits.shape == (len(stored[f"{prompt}/ids"]), models[name].config.vocab_size)
    assert apart(logits[:, columns(logits.shape[1])], stored[f"{prompt}/logits"]) <= TOLERANCE
    assert np.array_equal(logits.argmax(axis=-1), stored[f"{prompt}/argmax"])
    # the sum over the whole row feels a wrong column that is not among the stored ones
    top = logits.max(axis=-1, keepdims=True)
    total = top[:, 0] + np.log(np.exp(logits - top).sum(axis=-1, dtype=np.float64))
    assert apart(total, stored[f"{prompt}/logsumexp"]) <= TOLERANCE
    if prompt in FULL_ROWS:
        assert apart(logits[-1], stored[f"{prompt}/last"]) <= TOLERANCE
        assert apart(models[name].next_logits(stored[f"{prompt}/ids"]),
                     stored[f"{prompt}/last"]) <= TOLERANCE


@pytest.mark.parametrize("name, prompt", CASES)
def test_every_traced_array_is_that_of_transformers(models, logits_of, name, prompt):
    stored, ids = GOLDEN[name], GOLDEN[name][f"{prompt}/ids"]
    arrays = models[name].trace(ids)
    assert list(arrays) == stored["names"].tolist()     # complete, in the order of computing
    assert {key: array.dtype
            for key, array in arrays.items()} == dict.fromkeys(arrays, np.dtype(np.float32))
    begin = 0
    for (key, array), shape in zip(arrays.items(), stored[f"{prompt}/shapes"]):
        assert array.shape == tuple(shape[shape > 0]), key
        values = sampled(array, len(ids))
        # The stream of the bundled model grows to 100 and more, where float32 has 5 places left:
        # there both programs are 1e-4 away from float64. So 1e-4 up to 10, and 5 digits above.
        allowed = TOLERANCE * max(1, np.abs(values[np.isfinite(values)]).max() / 10)
        assert apart(values, stored[f"{prompt}/trace"][begin:begin + len(values)]) <= allowed, key
        begin += len(values)
    assert begin == len(stored[f"{prompt}/trace"])
    watched, logits = arrays["logits"], logits_of(name, prompt)
    if len(ids) <= 64:
        assert np.array_equal(watched, logits)  # watching changes nothing
    else:                                       # attention goes in pieces when nobody watches
        assert apart(watched, logits) <= 1e-5 * np.abs(logits).max()


@pytest.mark.parametrize("name, prompt", CASES)
def test_greedy_continuation_is_that_of_transformers(models, name, prompt):
    ids, expected = GOLDEN[name][f"{prompt}/ids"], GOLDEN[name][f"{prompt}/greedy"].tolist()
    done = models[name].generate_ids(ids, max_new_tokens=40, eos_token_id=None, temperature=0)
    assert done.ids == expected
    room = models[name].config.n_positions - len(ids) + 1   # the full context predicts one more
    assert (len(done.ids), done.stop_reason) == ((40, "max_new_tokens")
                                                 if room >= 40 else (room, "context_full"))


def test_a_prompt_that_fills_the_context_is_followed_by_one_token(models):
    assert models["gpt2-tiny"].config.n_positions == 256
    assert len(GOLDEN["gpt2-tiny"]["all positions/ids"]) == 256
    assert len(GOLDEN["gpt2-tiny"]["all positions/greedy"]) == 1


# --- positions ------------------------------------------------------------------------------------

def test_a_position_never_sees_a_later_one():
    model = made()
    ids = np.array(A_IDS + [2, 9, 4, 11, 6, 8, 12])
    logits = model(ids)
    for place, other in itertools.product(range(1, len(ids)), (0, 10)):
        changed = ids.copy()
        changed[place] = other
        assert np.array_equal(model(changed)[:place], logits[:place])       # not even the last bit
        if other != ids[place]:
            assert apart(model(changed)[place],
                         logits[place]) > 0.01       # but the place itself changes
    pattern = model.trace(ids)["h.1.attn.pattern"]
    assert not np.triu(pattern, 1).any()


def test_a_score_that_dwarfs_the_others_stays_hidden_too():
    # a mask of -10000 instead of -inf would let the largest of these scores through
    model = made(change=lambda name, array: array * 300
                 if name.endswith("c_attn.weight") else array)
    arrays = model.trace(A_IDS)
    assert arrays["h.0.attn.scores"][np.isfinite(arrays["h.0.attn.scores"])].min() < -1e4
    assert not np.triu(arrays["h.0.attn.pattern"], 1).any()


@pytest.mark.parametrize("wrong, sentence", [
    ([], "at least one"), ([[1, 2]], "list"), ([13], "0 to V - 1 = 12, got 13"), ([-1], "got -1"),
    ([0, 12, 13, -1], "got 13"), ([1.0], "whole"), (["1"], "whole"), ([True], "whole"),
    (np.zeros(13, int), "N = 12 tokens, got 13")])
def test_ids_that_cannot_be_read_are_refused(wrong, sentence):
    model = made()
    for run in (model, model.next_logits, model.trace, model.generate_ids):
        with pytest.raises(ValueError, match=sentence):
            run(wrong)


# --- the cache ------------------------------------------------------------------------------------

def in_chunks(model, chunks):
    """Logits of all the chunks, one call each with one cache, joined."""
    kv = gpt2lab.KVCache(model.config)
    logits = [model(chunk, cache=kv) for chunk in chunks]
    assert kv.length == sum(map(len, chunks))
    assert kv.keys.dtype == kv.values.dtype == np.float32
    return np.concatenate(logits)


def assert_cached_equals_uncached(model, ids, cuts, whole=None):
    whole = model(ids) if whole is None else whole
    cached = in_chunks(model, np.split(np.asarray(ids), sorted(cuts)))
    assert cached.dtype == np.float32
    assert apart(cached, whole) <= TOLERANCE
    assert np.array_equal(cached.argmax(axis=-1), whole.argmax(axis=-1))


@pytest.mark.parametrize("keys", [{}, {"scale_attn_weights": False},
                                  {"scale_attn_by_inverse_layer_idx": True}])
def test_all_ways_to_cut_a_short_text(keys):
    model, ids = made(**keys), A_IDS + [2]
    for count in range(len(ids)):
        for cuts in itertools.combinations(range(1, len(ids)), count):
            assert_cached_equals_uncached(model, ids, cuts)


@pytest.mark.parametrize("name, cuts", [
    ("gpt2-tiny", range(1, 256)), ("gpt2-tiny", [255]), ("gpt2-tiny", [1, 100, 101, 103]),
    ("gpt2-tiny", [64, 128, 192]),
    ("small", range(1, 24))], ids=["one by one", "last alone", "uneven", "quarters",
                                   "small, one by one"])
def test_up_to_the_last_position(models, logits_of, name, cuts):
    ids = GOLDEN[name]["all positions/ids"]
    assert len(ids) == models[name].config.n_positions
    assert_cached_equals_uncached(models[name], ids, cuts, logits_of(name, "all positions"))


@settings(max_examples=150, deadline=None, derandomize=True)
@given(st.data())
def test_any_text_in_any_chunks(data):
    model = CHUNKED[data.draw(st.sampled_from(sorted(CHUNKED)))]
    V, N = model.config.vocab_size, model.config.n_positions
    ids = data.draw(st.lists(st.integers(0, V - 1), min_size=1, max_size=N))
    cuts = data.draw(st.sets(st.integers(1, max(1, len(ids) - 1)))) if len(ids) > 1 else set()
    assert_cached_equals_uncached(model, ids, cuts)


CHUNKED = {"A": made(), "small": made(SMALL), "unscaled": made(scale_attn_weights=False)}


def test_tokens_of_an_earlier_text_leave_no_mark():
    model = made()
    kv = gpt2lab.KVCache(model.config)
    model([9, 9, 9, 9, 9, 9, 9], cache=kv)
    kv.length = 0
    assert np.array_equal(model(A_IDS, cache=kv), model(A_IDS))
    assert apart(model(A_IDS)[:, :4], A_FIRST_FOUR) < 1e-5


def test_one_position_too_many_is_refused_and_changes_nothing():
    model = made()
    kv = gpt2lab.KVCache(model.config)
    model(list(range(10)), cache=kv)
    with pytest.raises(ValueError, match="N = 12 tokens, got 13"):
        model([1, 2, 3], cache=kv)
    assert kv.length == 10
    rest = model([10, 11], cache=kv)
    assert apart(rest, model(list(range(12)))[10:]) <= TOLERANCE
    with pytest.raises(ValueError, match="got 13"):
        model([0], cache=kv)


# --- other operations -----------------------------------------------------------------------------

L = A["n_layer"]
CALLS = {"embed": 1, "layer_norm": 2 * L + 1, "linear": 4 * L, "softmax": L, "attend": L,
         "attend_heads": L, "gelu": L, "mlp": L, "block": L, "lm_head": 1,
         "remember": L}                                        # of one run; remember: with a cache


class Counted:
    """An operation that counts its calls."""

    def __init__(self, function):
        self.function, self.calls = function, 0

    def __call__(self, *arguments, **named):
        self.calls += 1
        return self.function(*arguments, **named)


def counted(*names):
    return {name: Counted(getattr(gpt2lab.Ops(), name)) for name in names}


def test_the_operations_are_these():
    assert [field.name for field in dataclasses.fields(gpt2lab.Ops)] == list(CALLS)
    with pytest.raises(dataclasses.FrozenInstanceError):
        gpt2lab.Ops().gelu = None


@pytest.mark.parametrize("keys", [{}, {"scale_attn_weights": False,
                                       "scale_attn_by_inverse_layer_idx": True}])
@pytest.mark.parametrize("names", [[name] for name in CALLS] + [["mlp", "linear"],
                                                                ["block", "softmax"], list(CALLS)])
def test_an_exchanged_operation_is_called_in_all_its_places(names, keys):
    mine = counted(*names)
    model, plain = made(ops=gpt2lab.Ops(**mine), **keys), made(**keys)
    expected = {name: CALLS[name] for name in names}
    without = expected | ({"remember": 0} if "remember" in names else {})      # without a cache

    def calls():
        found = {name: operation.calls for name, operation in mine.items()}
        for operation in mine.values():
            operation.calls = 0
        return found

    assert np.array_equal(model(A_IDS), plain(A_IDS)) and calls() == without
    assert np.array_equal(model.next_logits(A_IDS),
                          plain.next_logits(A_IDS)) and calls() == without
    assert list(model.trace(A_IDS)) == list(plain.trace(A_IDS)) and calls() == without
    kv = gpt2lab.KVCache(model.config)
    model([1, 5], cache=kv), model([3], cache=kv)
    assert calls() == {name: 2 * count for name, count in expected.items()}
    done = model.generate_ids([1, 5, 3], max_new_tokens=4, temperature=0)
    assert done == plain.generate_ids([1, 5, 3], max_new_tokens=4, temperature=0)
    assert calls() == {name: len(done.ids) * count for name, count in expected.items()}


@pytest.mark.parametrize("activation", ["gelu_new", "gelu", "relu"])
def test_an_exchanged_gelu_goes_before_the_one_that_config_json_names(activation):
    mine = Counted(np.tanh)
    model = made(ops=gpt2lab.Ops(gelu=mine), activation_function=activation)
    assert np.array_equal(model(A_IDS),
                          made(ops=gpt2lab.Ops(gelu=np.tanh))(A_IDS)) and mine.calls == L


def test_a_composed_operation_of_ones_own_gets_the_exchanged_ones():
    mine = counted("linear", "gelu")

    def twice(x, w_fc, b_fc, w_proj, b_proj, linear, gelu):
        return mlp(x, w_fc, b_fc, w_proj, b_proj, linear=linear, gelu=gelu)

    made(ops=gpt2lab.Ops(mlp=twice, **mine))(A_IDS)
    assert (mine["linear"].calls, mine["gelu"].calls) == (4 * L, L)


def doubled(name):
    """Ops whose operation `name` gives twice its result."""
    function = getattr(gpt2lab.Ops(), name)
    return gpt2lab.Ops(**{name: lambda *arguments, **named: 2 * function(*arguments, **named)})


# Doubling an operation must do the same as doubling these weights, in every block.
SAME_AS = {
    "linear": lambda name: ".c_" in name,
    "layer_norm": lambda name: "ln_" in name,
    "mlp": lambda name: "mlp.c_proj" in name,
    "attend_heads": lambda name: "attn.c_proj" in name,
    "attend": lambda name: name.endswith("attn.c_proj.weight"),
    "softmax": lambda name: name.endswith("attn.c_proj.weight"),
    "gelu": lambda name: name.endswith("mlp.c_proj.weight"),
}


@pytest.mark.parametrize("name", SAME_AS)
def test_doubling_an_operation_is_doubling_its_weights(name):
    logits = made(ops=doubled(name))(A_IDS)
    assert apart(logits, made(change=lambda key, array: 2 * array
                              if SAME_AS[name](key) else array)(A_IDS)) < 1e-5
    assert apart(logits, made()(A_IDS)) > 0.1


def test_doubled_embed_and_lm_head_and_a_block_that_does_nothing():
    assert np.array_equal(made(ops=doubled("lm_head"))(A_IDS), 2 * made()(A_IDS))
    arrays = made(ops=doubled("embed")).trace(A_IDS)
    assert np.array_equal(arrays["h.0.resid_pre"], 2 * made().trace(A_IDS)["embed"])
    w = weights_of(A)
    logits = made(ops=gpt2lab.Ops(block=lambda x, *rest, **named: x))(A_IDS)
    x = w["wte.weight"][A_IDS] + w["wpe.weight"][:len(A_IDS)]
    assert np.array_equal(logits, layer_norm(x, w["ln_f.weight"],
                                             w["ln_f.bias"]) @ w["wte.weight"].T)


def test_exchanging_all_leaves_the_plain_model_as_it_was():
    before = made()
    first = before(A_IDS)
    made(ops=gpt2lab.Ops(linear=lambda x, w, b: linear(x, w, b) * 3))(A_IDS)
    assert np.array_equal(before(A_IDS), first)


@pytest.mark.parametrize("keys", [{}, {"activation_function": "gelu"},
                                  {"activation_function": "relu"},
                                  {"scale_attn_weights": False},
                                  {"scale_attn_by_inverse_layer_idx": True}])
def test_nothing_becomes_float64(keys):
    model = made(**keys)
    kv = gpt2lab.KVCache(model.config)
    arrays = model.trace(A_IDS) | {"cached": model(A_IDS, cache=kv),
                                   "next": model.next_logits([0], kv),
                                   "keys": kv.keys, "values": kv.values}
    assert {name: array.dtype.name
            for name, array in arrays.items()} == dict.fromkeys(arrays, "float32")
