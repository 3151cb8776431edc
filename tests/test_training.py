"""Training: each way back against finite differences; a training that can be trusted; its files."""
import contextlib
import json
import math
import os
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

import gpt2lab
from cells import run
from gpt2lab import training
from gpt2lab.attention import attend
from gpt2lab.config import Config
from gpt2lab.embedding import embed
from gpt2lab.gelu import gelu
from gpt2lab.layernorm import layer_norm
from gpt2lab.linear import linear
from gpt2lab.model import GPT2, Ops
from gpt2lab.softmax import softmax
from gpt2lab.teach.exercises import exercises
from gpt2lab.training import (
    Rules,
    Training,
    adam,
    attend_back,
    cross_entropy,
    cross_entropy_back,
    embed_back,
    first_numbers,
    gelu_back,
    gradients,
    held_out_loss,
    layer_norm_back,
    linear_back,
    named,
    pages_and_repeats,
    pages_of,
    save,
    small_config,
    softmax_back,
    update,
)
from inputs import fixed

BOOK = Path(__file__).parents[1] / "data" / "training-text" / "wizard-of-oz.txt"
IDS = gpt2lab.checkpoint.tokenizer(256).encode(BOOK.read_text(encoding="utf-8")[:20_000])

pytestmark = pytest.mark.filterwarnings("error")        # NumPy may not even warn


def some(*shape, seed=0):
    """Numbers in float64 that nobody may write into."""
    return fixed(np.random.default_rng(seed).normal(size=shape))


def slopes(function, array, step=1e-5):
    """How fast function(array), a number, grows by each number of the array: central differences.

    The array itself is changed and set back, so that a model that holds it can be asked.
    """
    found = np.zeros(array.shape)
    for place in np.ndindex(array.shape):
        before, values = array[place], []
        for moved in (before + step, before - step):
            array[place] = moved
            values.append(function(array))
        array[place] = before
        found[place] = (values[0] - values[1]) / (2 * step)
    return found


def fit(way_back, wanted, largest=None):
    """The gradient is the one that finite differences give."""
    assert way_back.shape == wanted.shape
    assert np.abs(way_back - wanted).max() <= 1e-7 * (largest or np.abs(wanted).max() or 1)


def loss_by_hand(logits, targets):
    """The mean of -log(p), in Python's own numbers, one row after the other."""
    losses = [math.log(sum(math.exp(score - row[target]) for score in row))
              for row, target in zip(np.asarray(logits, float).tolist(), targets)]
    return sum(losses) / len(losses)


# --- each way back by itself ----------------------------------------------------------------------

@pytest.mark.parametrize("T, inside, outside", [(3, 5, 2), (1, 1, 1), (7, 1, 4), (1, 6, 3)])
def test_linear_back(T, inside, outside):
    x, w, b, g = some(T, inside), some(inside, outside), some(outside), some(T, outside, seed=1)
    by_x, by_w, by_b = linear_back(x, w, g)
    fit(by_x, slopes(lambda x: (linear(x, w, b) * g).sum(), x.copy()))
    fit(by_w, slopes(lambda w: (linear(x, w, b) * g).sum(), w.copy()))
    fit(by_b, slopes(lambda b: (linear(x, w, b) * g).sum(), b.copy()))


@pytest.mark.parametrize("T, D, epsilon", [(3, 5, 1e-5), (1, 2, 1e-5), (4, 7, 0.3), (2, 1, 1e-2)])
def test_layer_norm_back(T, D, epsilon):
    x, gain, bias, g = 3 * some(T, D) + 2, some(D, seed=2), some(D), some(T, D, seed=1)
    by_x, by_gain, by_bias = layer_norm_back(x, gain, g, epsilon)
    fit(by_x, slopes(lambda x: (layer_norm(x, gain, bias, epsilon) * g).sum(), x.copy()))
    fit(by_gain, slopes(lambda gain: (layer_norm(x, gain, bias, epsilon) * g).sum(), gain.copy()))
    fit(by_bias, slopes(lambda bias: (layer_norm(x, gain, bias, epsilon) * g).sum(), bias.copy()))


def test_layer_norm_back_takes_the_usual_epsilon():
    x, gain, g = 1e-3 * some(2, 5), some(5), some(2, 5, seed=1)
    for one, other in zip(layer_norm_back(x, gain, g), layer_norm_back(x, gain, g, 1e-5)):
        assert np.array_equal(one, other)


@pytest.mark.parametrize("shape", [(3, 5), (1,), (2, 3, 4)])
def test_gelu_back(shape):
    x, g = 2 * some(*shape), some(*shape, seed=1)
    fit(gelu_back(x, g), slopes(lambda x: (gelu(x) * g).sum(), x.copy()))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_gelu_back_far_out(dtype):
    """The slope is 1 on the right and 0 on the left, however far; nothing overflows."""
    x = fixed([-1e30, -1e13, -100, -31, -29, 0, 29, 31, 100, 1e13, 1e30], dtype)
    slope = gelu_back(x, np.full_like(x, 3))
    assert slope.dtype == dtype
    assert np.array_equal(slope, [0, 0, 0, 0, 0, 1.5, 3, 3, 3, 3, 3])


@pytest.mark.parametrize("shape", [(3, 5), (1, 1), (2, 3, 4), (7,)])
def test_softmax_back(shape):
    scores, g = 2 * some(*shape), some(*shape, seed=1)
    back = softmax_back(softmax(scores), g)
    if shape[-1] == 1:
        assert np.array_equal(back, np.zeros(shape))            # the only one is certain
    else:
        fit(back, slopes(lambda scores: (softmax(scores) * g).sum(), scores.copy()))


def test_softmax_back_by_hand():
    """A score moves its own p by p (1 - p), and nothing where p is 0 or 1."""
    assert np.allclose(softmax_back(fixed([0.2, 0.8]), fixed([1, 0])), [0.16, -0.16])
    assert np.array_equal(softmax_back(fixed([0, 1, 0]), fixed([5, 6, 7])), [0, 0, 0])


@pytest.mark.parametrize("H, T, Dh", [(3, 5, 2), (1, 1, 1), (2, 4, 7), (1, 6, 1)])
def test_attend_back(H, T, Dh):
    q, k, v, g = (some(H, T, Dh, seed=seed) for seed in range(4))
    pattern = np.stack([attend(q, k, np.broadcast_to(np.eye(T)[:, [t]], (H, T, Dh)).copy())[..., 0]
                        for t in range(T)], axis=-1)                        # column by column
    by_q, by_k, by_v = attend_back(q, k, v, pattern, g)
    largest = np.abs(by_v).max()
    fit(by_q, slopes(lambda q: (attend(q, k, v) * g).sum(), q.copy()), largest)
    fit(by_k, slopes(lambda k: (attend(q, k, v) * g).sum(), k.copy()), largest)
    fit(by_v, slopes(lambda v: (attend(q, k, v) * g).sum(), v.copy()), largest)


@pytest.mark.parametrize("ids", [[3, 1, 3, 3, 0], [2], [4, 4, 4, 4, 4, 4]], ids=str)
def test_embed_back(ids):
    """A row that is used at three places gets three gradients, one that is not used gets none."""
    wte, wpe, g = some(5, 3), some(6, 3, seed=1), some(len(ids), 3, seed=2)
    by_wte, by_wpe = embed_back(np.array(ids), g, 5, 6)
    fit(by_wte, slopes(lambda wte: (embed(ids, wte, wpe) * g).sum(), wte.copy()))
    fit(by_wpe, slopes(lambda wpe: (embed(ids, wte, wpe) * g).sum(), wpe.copy()))
    assert not by_wpe[len(ids):].any()
    assert embed_back(ids, g.astype(np.float32), 5, 6)[0].dtype == np.float32


@pytest.mark.parametrize("T, V", [(4, 5), (1, 3), (3, 1), (1, 1)])
def test_cross_entropy(T, V):
    logits, targets = 2 * some(T, V), np.arange(T) * 7 % V
    loss = cross_entropy(logits, targets)
    assert type(loss) is float and math.isclose(loss, loss_by_hand(logits, targets), abs_tol=1e-12)
    back = cross_entropy_back(logits, targets)
    assert np.abs(back.sum(axis=-1)).max() < 1e-15
    if V == 1:
        assert loss == 0 and not back.any()                     # nothing else can follow
    else:
        fit(back, slopes(lambda logits: cross_entropy(logits, targets), logits.copy()))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shift", [0, 1e4, -1e4])
def test_cross_entropy_of_large_logits(dtype, shift):
    """Only the differences of a row's scores count; a float32 keeps them beside 10,000."""
    logits = fixed([[0, 0, -2], [1, 4, 0.5], [0, 0, 0]], dtype) + dtype(shift)
    assert abs(cross_entropy(logits, [0, 0, 2]) - loss_by_hand(logits, [0, 0, 2])) < 1e-6
    back = cross_entropy_back(logits, [0, 0, 2])
    assert back.dtype == dtype
    p = softmax(fixed([[0, 0, -2], [1, 4, 0.5], [0, 0, 0]]))
    assert np.abs(back - (p - np.eye(3)[[0, 0, 2]]) / 3).max() < 1e-6


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_cross_entropy_of_who_is_certain(dtype):
    """Certain and right costs nothing and moves nothing; certain and wrong costs the distance."""
    logits = fixed(1e4 * np.eye(3), dtype)
    assert cross_entropy(logits, [0, 1, 2]) == 0
    assert not cross_entropy_back(logits, [0, 1, 2]).any()
    assert cross_entropy(logits, [1, 2, 0]) == 1e4
    assert np.array_equal(3 * cross_entropy_back(logits, [1, 2, 0]),
                          [[1, -1, 0], [0, 1, -1], [-1, 0, 1]])
    assert math.isclose(cross_entropy(np.zeros((5, 256), dtype), [0, 3, 255, 3, 1]), math.log(256),
                        rel_tol=1e-6)


def test_update_is_one_step_downhill():
    p, g = fixed([1, -2, 3]), fixed([10, 0, -1])
    assert np.allclose(update(p, g, 0.1), [0, -2, 3.1])
    assert update(fixed([1], np.float32), fixed([1], np.float32), 0.1).dtype == np.float32


def test_adam_by_hand():
    """The first step goes as far as the second for a gradient a thousand times as small."""
    zero = fixed([0, 0])
    direction, m, v = adam(fixed([4, -0.004]), zero, zero, 1)
    assert np.allclose(direction, [1, -1], atol=1e-5)
    assert np.allclose(m, [0.4, -0.0004]) and np.allclose(v, [0.016, 0.000000016])
    direction, m, v = adam(fixed([-4, -0.004]), fixed(m), fixed(v), 2)
    assert np.allclose(m, [-0.04, -0.00076]) and np.allclose(v, [0.031984, 3.1984e-8])
    assert np.allclose(direction, [-1 / 19, -1], atol=1e-5)             # -0.04 / 0.19, over 4


def test_adam_is_the_plain_loop():
    rng = np.random.default_rng(3)
    m = v = np.zeros(4)
    plain = [[0.0, 0.0] for _ in range(4)]
    for t in range(1, 30):
        g = rng.normal(0, [1e-6, 1, 100, 3])
        direction, m, v = adam(fixed(g), fixed(m), fixed(v), t)
        for i, (state, gradient) in enumerate(zip(plain, g.tolist())):
            state[0] = state[0] + (1 - 0.9) * (gradient - state[0])
            state[1] = state[1] + (1 - 0.999) * (gradient * gradient - state[1])
            mean, square = state[0] / (1 - 0.9 ** t), state[1] / (1 - 0.999 ** t)
            assert math.isclose(direction[i], mean / (math.sqrt(square) + 1e-8), rel_tol=1e-9)


# --- the way back through a whole model -----------------------------------------------------------

def made(seed=0, ops=None, dtype=np.float64, **keys):
    """A model of chance, no number of it at 0 or 1, that may be written into."""
    sizes = {"vocab_size": 7, "n_positions": 5, "n_embd": 4, "n_layer": 1, "n_head": 2,
             "n_inner": 6}
    config, rng = Config(**sizes | keys), np.random.default_rng(seed)
    weights = {name: rng.normal("ln_" in name and "weight" in name, 0.5, shape).astype(dtype)
               for name, shape in config.shapes()}
    return GPT2(config, weights, ops=ops or Ops())


@pytest.mark.parametrize("ids, keys", [
    ([1, 5, 3], {}), ([3, 1, 3, 3, 6, 0], {}),                              # T < N, T = N
    ([4, 2], {}), ([4, 4], {"n_positions": 1}),                             # T = 1
    ([3, 1, 3, 3, 6, 0], {"n_layer": 2}), ([2, 2, 2, 2], {"n_layer": 2, "n_head": 4}),
    ([1, 5, 3, 6], {"layer_norm_epsilon": 0.3, "n_layer": 2}),
    ([1, 0, 1], {"n_head": 1, "n_embd": 3, "n_inner": None, "vocab_size": 2})], ids=str)
def test_gradients_of_every_parameter(ids, keys):
    model = made(**keys)
    loss, found = gradients(model, ids)
    assert found.keys() == model.weights.keys()
    assert math.isclose(loss, loss_by_hand(model(ids[:-1]), ids[1:]), rel_tol=1e-12)
    for name, array in model.weights.items():
        wanted = slopes(lambda _: loss_by_hand(model(ids[:-1]), ids[1:]), array)
        fit(found[name], wanted)
        if name.endswith("c_attn.bias"):        # what all keys have in common, softmax takes away
            D = model.config.n_embd
            assert np.abs(found[name][D:2 * D]).max() < 1e-14 and np.abs(found[name]).max() > 1e-3


def whole_heads(x, w_qkv, b_qkv, w_out, b_out, n_head, remember=None, linear=None, attend=None):
    """attend_heads that calls nothing of what it gets."""
    T, D = x.shape
    q, k, v = (x @ w_qkv + b_qkv).reshape(T, 3, n_head, -1).transpose(1, 2, 0, 3)
    scores = np.where(np.tri(T) > 0, q @ k.swapaxes(1, 2) / math.sqrt(D / n_head), -np.inf)
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    mixed = weights / weights.sum(axis=-1, keepdims=True) @ v
    return mixed.swapaxes(0, 1).reshape(T, D) @ w_out + b_out


def whole_attend(q, k, v, softmax=None):
    """attend with a softmax of its own."""
    scores = np.where(np.tri(q.shape[-2]) > 0, q @ k.swapaxes(-1, -2) / math.sqrt(q.shape[-1]),
                      -np.inf)
    weights = np.exp(scores)
    return weights / weights.sum(axis=-1, keepdims=True) @ v


def whole_mlp(x, w_fc, b_fc, w_proj, b_proj, linear=None, gelu=None):
    """mlp that calls nothing of what it gets."""
    hidden = x @ w_fc + b_fc
    inner = math.sqrt(2 / math.pi) * (hidden + 0.044715 * hidden ** 3)
    return 0.5 * hidden * (1 + np.tanh(inner)) @ w_proj + b_proj


def whole_block(x, w, n_head, epsilon=1e-5, remember=None, layer_norm=None, attend_heads=None,
                mlp=None):
    """block that calls nothing of what it gets."""
    x = x + whole_heads(whole_norm(x, w["ln_1.weight"], w["ln_1.bias"], epsilon),
                        *(w["attn." + name] for name in ("c_attn.weight", "c_attn.bias",
                                                         "c_proj.weight", "c_proj.bias")), n_head)
    return x + whole_mlp(whole_norm(x, w["ln_2.weight"], w["ln_2.bias"], epsilon),
                         *(w["mlp." + name] for name in ("c_fc.weight", "c_fc.bias",
                                                         "c_proj.weight", "c_proj.bias")))


def whole_norm(x, gain, bias, epsilon=1e-5):
    centred = x - x.mean(axis=-1, keepdims=True)
    return centred / np.sqrt((centred ** 2).mean(axis=-1, keepdims=True) + epsilon) * gain + bias


def whole_head(x, gain, bias, wte, epsilon=1e-5, layer_norm=None):
    return whole_norm(x, gain, bias, epsilon) @ wte.T


def rows_of_mlp(x, w_fc, b_fc, w_proj, b_proj, linear=linear, gelu=gelu):
    """mlp that asks for one row after the other: the trace knows the last one."""
    return np.concatenate([linear(gelu(linear(row, w_fc, b_fc)), w_proj, b_proj)
                           for row in x[:, None]])


def copies_of_mlp(x, w_fc, b_fc, w_proj, b_proj, linear=linear, gelu=gelu):
    """mlp that gives copies of the weights away: the trace does not know them."""
    return linear(gelu(linear(x, w_fc.copy(), b_fc)), w_proj.copy(), b_proj)


def heads_in_pieces(x, w_qkv, b_qkv, w_out, b_out, n_head, remember=None, linear=linear,
                    attend=attend):
    """attend_heads that lets one query after the other attend."""
    T, D = x.shape
    q, k, v = linear(x, w_qkv, b_qkv).reshape(T, 3, n_head, -1).transpose(1, 2, 0, 3)
    mixed = np.concatenate([attend(q[:, t:t + 1], k[:, :t + 1], v[:, :t + 1]) for t in range(T)], 1)
    return linear(mixed.swapaxes(0, 1).reshape(T, D), w_out, b_out)


def norm_row_by_row(x, w, n_head, epsilon=1e-5, remember=None, layer_norm=layer_norm,
                    attend_heads=None, mlp=None):
    """block whose norms get one row after the other."""
    def normed(x, name):
        return np.stack([layer_norm(row, w[name + ".weight"], w[name + ".bias"], epsilon)
                         for row in x])
    x = x + attend_heads(normed(x, "ln_1"), w["attn.c_attn.weight"], w["attn.c_attn.bias"],
                         w["attn.c_proj.weight"], w["attn.c_proj.bias"], n_head, remember)
    return x + mlp(normed(x, "ln_2"), w["mlp.c_fc.weight"], w["mlp.c_fc.bias"],
                   w["mlp.c_proj.weight"], w["mlp.c_proj.bias"])


@pytest.mark.parametrize("ops, lost", [
    (Ops(attend_heads=whole_heads), "h.1.attn.pattern"),
    (Ops(attend=whole_attend), "h.0.attn.pattern"),
    (Ops(mlp=whole_mlp), "h.0.mlp.act"), (Ops(block=whole_block), "h.1.resid_mid"),
    (Ops(lm_head=whole_head), "ln_f"), (Ops(mlp=rows_of_mlp), "h.0.mlp.c_fc"),
    (Ops(mlp=copies_of_mlp), "h.1.mlp.c_fc"), (Ops(attend_heads=heads_in_pieces), "h.0.attn.mixed"),
    (Ops(block=norm_row_by_row), "h.1.ln_1"),
    (Ops(block=whole_block, lm_head=whole_head), "h.0.mlp.c_fc")],
    ids=lambda given: given if isinstance(given, str) else None)
def test_operations_that_keep_their_arrays_to_themselves(ops, lost):
    """What has no name in the trace, or there one row alone, comes from the library's."""
    ids = [3, 1, 3, 6]
    model, theirs = made(n_layer=2), made(n_layer=2, ops=ops)
    whole, traced = model.trace(ids[:-1])[lost], theirs.trace(ids[:-1]).get(lost)
    assert traced is None or traced.shape != whole.shape, "the trace has it: no case for this test"
    assert_same_gradients(gradients(theirs, ids), gradients(model, ids), 1e-12)


def assert_same_gradients(ones, others, tolerance):
    assert math.isclose(ones[0], others[0], rel_tol=tolerance)
    for name, other in others[1].items():
        assert np.abs(ones[1][name] - other).max() <= tolerance * np.abs(other).max(), name


def right_answers():
    """Every right answer of the course that a model can run: the stored ones, written many ways."""
    for path in sorted((Path(__file__).parent / "wrong_answers").glob("*.py")):
        space = {}
        exec(path.read_text(encoding="utf-8"), space)
        for name, answers in space["RIGHT"].items():
            for n, answer in enumerate(answers if name in vars(Ops()) else ()):
                yield pytest.param(name, answer, id=f"{name} {n}")


RIGHT = list(right_answers())


def test_the_course_has_right_answers_for_every_operation():
    assert {answer.values[0] for answer in RIGHT} == vars(Ops()).keys()


@pytest.mark.parametrize("name, answer", RIGHT)
def test_right_answers_of_learners_train_as_the_library_does(name, answer):
    space = {one: exercise.right for one, exercise in exercises().items()} | vars(Ops())
    space |= {"np": np, "math": math, "__name__": "__main__"}
    run(answer, space)
    model, ids = made(n_layer=2, dtype=np.float32), [3, 1, 3, 6, 0]
    theirs = made(n_layer=2, dtype=np.float32, ops=Ops(**{name: space[name]}))
    assert_same_gradients(gradients(theirs, ids), gradients(model, ids), 1e-5)


@pytest.mark.parametrize("name", [name for name in exercises() if name in vars(Ops())])
def test_the_printed_answers_train_as_the_library_does(name):
    model, ids = made(n_layer=2, dtype=np.float32), [3, 1, 3, 6, 0]
    theirs = made(n_layer=2, dtype=np.float32, ops=Ops(**{name: exercises()[name].right}))
    assert_same_gradients(gradients(theirs, ids), gradients(model, ids), 1e-6)


def test_gradients_leave_the_model_as_it_is():
    model = made(n_layer=2)
    before = {name: array.copy() for name, array in model.weights.items()}
    ids = fixed([3, 1, 3, 6], int)
    first, again = gradients(model, ids), gradients(model, ids)
    assert all(np.array_equal(array, model.weights[name]) for name, array in before.items())
    assert first[0] == again[0]
    assert all(np.array_equal(array, again[1][name]) for name, array in first[1].items())


CONFIGS = [("activation_function", "gelu"), ("activation_function", "relu"),
           ("tie_word_embeddings", False), ("scale_attn_weights", False),
           ("scale_attn_by_inverse_layer_idx", True)]


@pytest.mark.parametrize("key, value", CONFIGS)
def test_models_that_compute_something_else_are_refused(key, value):
    model = made(**{key: value})
    for train in (lambda: gradients(model, [1, 2]),
                  lambda: Training(model.config, pages_of(IDS, 5))):
        with pytest.raises(ValueError, match=f"training: {key} must be .*, got {value!r}"):
            train()


@pytest.mark.parametrize("ids, sentence", [
    ([1], "a page must have at least 2 tokens, got 1"), ([], "at least one"),
    ([7, 1], "0 to V - 1 = 6, got 7"), ([1, 7], "0 to V - 1 = 6, got 7"), ([1, -1], "got -1"),
    ([-7, 1], "got -7"), ([0] * 7, "N = 5 tokens, got 6"), ([[1, 2], [3, 4]], "shape"),
    ([1.0, 2.0], "whole"), ("ab", "ids must be")], ids=str)
def test_ids_that_are_no_page_are_refused(ids, sentence):
    with pytest.raises(ValueError, match=sentence):
        gradients(made(), ids)


def test_exchanged_rules_are_asked():
    """Each in every place: that of the loss once a page, of linear and of the norm once a layer and
    a norm, of plus twice a block."""
    calls = []

    def counted(name, rule):
        def call(*arguments):
            calls.append(name)
            return rule(*arguments)
        return call
    rules = Rules(**{name: counted(name, rule) for name, rule in vars(Rules()).items()})
    model, ids = made(n_layer=2), [3, 1, 3, 6]
    assert_same_gradients(gradients(model, ids, rules), gradients(model, ids), 0)
    assert sorted(calls) == ["cross_entropy", "cross_entropy_back"] + (
        ["layer_norm_back"] * 5 + ["linear_back"] * 8 + ["plus_back"] * 4)
    calls.clear()
    Training(TINY, pages_of(IDS, 8), pages=3, rules=rules).advance()
    assert sorted(calls) == ["cross_entropy"] * 3 + ["cross_entropy_back"] * 3 + (
        ["layer_norm_back"] * 9 + ["linear_back"] * 12 + ["plus_back"] * 6 + ["update"])
    assert held_out_loss(model, [1] * 11, Rules(cross_entropy=lambda logits, ids: len(ids))) == 5


def test_exchanged_rules_are_believed():
    _, found = gradients(made(), [3, 1, 3], Rules(linear_back=lambda x, w, g: (
        np.zeros_like(x), np.full_like(w, 7), g.sum(axis=0))))
    assert (found["h.0.mlp.c_fc.weight"] == 7).all() and not found["h.0.ln_2.weight"].any()
    loss, found = gradients(made(), [3, 1, 3], Rules(
        cross_entropy=lambda logits, targets: 42.0,
        cross_entropy_back=lambda logits, targets: np.zeros_like(logits)))
    assert loss == 42 and not any(array.any() for array in found.values())
    still = Training(TINY, pages_of(IDS, 8), rules=Rules(update=lambda p, g, rate: p))
    before = still.model
    still.advance()
    assert_same_model(still.model, before)


# --- a training -----------------------------------------------------------------------------------

TINY = Config(vocab_size=256, n_positions=8, n_embd=8, n_layer=1, n_head=2)


def tiny(draw=None, **keys):
    return Training(TINY, draw or pages_of(IDS, 8), **{"steps": 20, "pages": 2} | keys)


def advanced(training, steps):
    for _ in range(steps):
        training.advance()
    return training


def assert_same_model(one, other):
    """Bit for bit."""
    assert one.weights.keys() == other.weights.keys()
    for name, array in other.weights.items():
        assert np.array_equal(one.weights[name], array), name


def assert_same_training(one, other):
    assert one.losses == other.losses
    assert_same_model(one.model, other.model)


def test_one_seed_one_training():
    one, same, other = (advanced(tiny(seed=seed), 5) for seed in (3, 3, 4))
    assert_same_training(one, same)
    assert one.losses[0] != other.losses[0]
    assert not np.array_equal(one.model.weights["wte.weight"], other.model.weights["wte.weight"])


def test_first_numbers():
    """Chance of one size, gains 1, biases 0: a start from which every token is as likely."""
    row = first_numbers(small_config(), np.random.default_rng(0))
    assert row.shape == (74_688,) and row.dtype == np.float32
    for name, array in named(small_config(), row).items():
        assert np.shares_memory(array, row)
        if array.ndim == 2:
            assert abs(array.mean()) < 0.002 and abs(array.std() - 0.06) < 0.002, name
        else:
            assert (array == ("ln_" in name and "weight" in name)).all(), name


def test_one_row_holds_everything_once():
    config = small_config(V=300, N=10, D=12, L=2, H=3)
    row = np.arange(sum(math.prod(shape) for _, shape in config.shapes()), dtype=np.float32)
    views = named(config, row)
    assert {name: array.shape for name, array in views.items()} == dict(config.shapes())
    assert np.array_equal(np.concatenate([array.ravel() for array in views.values()]), row)


def test_it_learns():
    """Wide enough for any processor, narrow enough for a wrong sign, scale or mean.

    Letters by their frequency alone would cost 3.0.
    """
    ids = np.array(IDS)
    training = Training(small_config(), pages_of(ids[:16_000], 128), steps=60, seed=1)
    before = held_out_loss(training.model, ids[16_000:])
    advanced(training, 60)
    losses, after = training.losses, held_out_loss(training.model, ids[16_000:])
    assert len(losses) == 60 and all(type(loss) is float for loss in losses)
    assert 5.4 < losses[0] < 5.8 and 5.4 < before < 5.8         # log(256) is 5.55
    assert 2.5 < np.mean(losses[-10:]) < 2.75 and 2.5 < after < 2.75


def test_a_loss_is_that_of_the_pages_before_the_step():
    drawn = []

    def draw(rng):
        drawn.append(pages_of(IDS, 8)(rng))
        return drawn[-1]
    training = tiny(draw, pages=3)
    before = training.model
    training.advance()
    losses = [loss_by_hand(before(page[:-1]), page[1:]) for page in drawn]
    assert len(drawn) == 3 and math.isclose(training.losses[0], np.mean(losses), rel_tol=1e-5)


def test_a_step_is_adam_along_the_mean_gradient():
    """Two steps by hand, in float64, from the pages that were drawn."""
    drawn = []

    def draw(rng):
        drawn.append(pages_of(IDS, 8)(rng))
        return drawn[-1]
    training = tiny(draw, pages=3, rate=0.01, steps=5)
    m = v = 0
    for t in (1, 2):
        model, drawn[:] = training.model, []
        training.advance()
        pages = [gradients(model, page)[1] for page in drawn]
        g = np.mean([np.concatenate([by[name].ravel() for name in model.weights]) for by in pages],
                    axis=0, dtype=np.float64)
        before, after = (np.concatenate([array.ravel() for array in one.weights.values()])
                         for one in (model, training.model))
        direction, m, v = adam(g, m, v, t)
        far = np.abs(g) > 1e-6          # where the gradient is rounding alone, so is its direction
        step = before - training.rate_at(t) * direction
        assert far.mean() > 0.3 and np.abs(after - step)[far].max() < 1e-5
        assert np.abs(after - before).max() > 0.001


def test_a_model_in_use_is_never_touched():
    """Neither the one that was taken before, nor the arrays that operations of yours have seen."""
    seen = []

    def watching(x, w, b):
        seen.append((w, w.copy()))
        return linear(x, w, b)
    ops = Ops(linear=watching)
    training = advanced(tiny(ops=ops), 2)
    model = training.model
    before = {name: array.copy() for name, array in model.weights.items()}
    logits = model(IDS[:8])
    advanced(training, 3)
    assert all(np.array_equal(model.weights[name], array) for name, array in before.items())
    assert np.array_equal(model(IDS[:8]), logits)
    assert not np.array_equal(training.model(IDS[:8]), logits)
    assert len(seen) > 40 and all(np.array_equal(w, copy) for w, copy in seen)
    assert ops == Ops(linear=watching) and model.ops is ops and training.model.ops is ops
    for name, array in model.weights.items():
        assert not array.flags.writeable and array.dtype == np.float32
        with pytest.raises(ValueError):
            array[...] = 0
        assert np.array_equal(array, before[name])


def test_what_a_training_was_given_is_not_changed():
    ids = fixed(IDS, int)
    advanced(Training(TINY, pages_of(ids, 8)), 2)
    losses = (training := advanced(tiny(), 2)).losses
    losses.append("mine")
    training.advance()
    assert len(training.losses) == 3 and "mine" not in training.losses


def test_operations_of_ones_own_train_to_the_same_model():
    """A linear of the learner's runs in every step; the numbers are those of the library."""
    calls = []

    def own(x, w, b):
        calls.append(w.shape)
        return (x[:, :, None] * w).sum(axis=1) + b
    theirs, ours = advanced(tiny(ops=Ops(linear=own)), 5), advanced(tiny(), 5)
    assert len(calls) == 5 * 2 * 4
    assert np.allclose(theirs.losses, ours.losses, rtol=0, atol=1e-4)


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError])
@pytest.mark.parametrize("place", ["draw", "second draw", "loss", "way back", "update"])
def test_an_interrupted_step_changes_nothing(place, error):
    """And the rest of the training is that of one that was not interrupted, bit for bit."""
    armed, calls = [], []

    def stops(name, function):
        def call(*arguments):
            result = function(*arguments)
            calls.append(name)
            if armed and (name != "draw" or place == "draw" or calls.count("draw") == 2):
                raise error("now")
            return result
        return call
    rules = {"loss": "cross_entropy", "way back": "linear_back", "update": "update"}.get(place)
    draw = pages_of(IDS, 8)
    if rules:
        stopped = tiny(draw, rules=Rules(**{rules: stops(rules, getattr(training, rules))}))
    else:
        stopped = tiny(stops("draw", draw))
    whole = advanced(tiny(draw), 3)
    advanced(stopped, 3)
    calls.clear()
    armed.append(True)
    for _ in range(2):
        with pytest.raises(error):
            stopped.advance()
        calls.clear()
        assert_same_training(stopped, whole)
    armed.clear()
    assert_same_training(advanced(stopped, 3), advanced(whole, 3))


def stopped_at(training, count):
    """One step, interrupted before the count-th of Python's own small steps; False: it was done."""
    left, codes = [count], (Training.advance.__code__, Training.advance.__wrapped__.__code__)

    def each(frame, event, argument):
        if event == "opcode":
            left[0] -= 1
            if left[0] == 0:
                raise KeyboardInterrupt
        return each

    def watch(frame, event, argument):
        if frame.f_code in codes:
            frame.f_trace_opcodes = True
            return each
    before = sys.gettrace()
    sys.settrace(watch)
    try:
        training.advance()
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(before)
    return False


def test_an_interruption_at_any_moment_of_a_step():
    """The step has been taken, or it has not; never a part of it."""
    whole = advanced(tiny(pages=1), 4)
    for count in range(1, 10_000):
        stopped = advanced(tiny(pages=1), 1)
        interrupted = stopped_at(stopped, count)
        assert len(stopped.losses) in (1, 2)
        advanced(stopped, 4 - len(stopped.losses))
        assert_same_training(stopped, whole)
        if not interrupted:
            break
    assert count > 50


@pytest.mark.parametrize("fails", [False, True])
def test_one_thread_is_enough_for_a_step(fails):
    """And afterwards there are as many as before, whatever happened."""
    def threads():
        return [one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas"]

    def draw(rng):
        seen.append(threads())
        return [1] if fails else pages_of(IDS, 8)(rng)
    seen, training = [], tiny(draw)
    with threadpool_limits(limits=2, user_api="blas"):
        before = threads()
        with pytest.raises(ValueError) if fails else contextlib.nullcontext():
            training.advance()
        held_out_loss(training.model, IDS[:20], Rules(
            cross_entropy=lambda logits, targets: seen.append(threads()) or 0))
        assert threads() == before
    if not before:
        pytest.skip("this NumPy's BLAS has no threads that can be counted")
    assert seen and all(count == 1 for counts in seen for count in counts)


def test_an_update_that_writes_into_what_it_gets():
    def in_place(p, g, rate):
        p -= rate * g
        return p
    assert_same_training(advanced(tiny(rules=Rules(update=in_place)), 3), advanced(tiny(), 3))


def test_an_update_in_another_type_leaves_float32():
    training = advanced(tiny(rules=Rules(update=lambda p, g, rate: p - np.float64(rate) * g)), 3)
    assert {array.dtype for array in training.model.weights.values()} == {np.dtype(np.float32)}
    assert np.allclose(training.losses, advanced(tiny(), 3).losses, rtol=0, atol=1e-4)


@pytest.mark.parametrize("wrong", [lambda p, g, rate: p[:-1], lambda p, g, rate: 0.5,
                                   lambda p, g, rate: None])
def test_an_update_that_gives_no_row_is_refused(wrong):
    stopped = tiny(rules=Rules(update=wrong))
    with pytest.raises((ValueError, TypeError)):
        stopped.advance()
    assert_same_training(stopped, tiny())


@pytest.mark.parametrize("steps", [1, 2, 5, 100, 3000])
def test_the_rate_rises_and_comes_down_in_a_straight_line(steps):
    """No step is lost: the last one moves too, and only what comes after it has a rate of 0."""
    training = tiny(steps=steps, rate=0.5)
    rates = np.array([training.rate_at(t) for t in range(1, steps + 4)])
    top = int(rates.argmax())
    assert 0.45 <= rates[top] <= 0.5 and top <= min(100, steps / 10)
    assert math.isclose(rates[0], 0.5 / {100: 11, 3000: 100}.get(steps, 1))
    assert (np.diff(rates[:top + 1]) > 0).all() and (rates[:steps] > 0).all()
    assert np.allclose(np.diff(rates[top + 1:steps + 1]), -0.5 / steps)
    assert (rates[steps:] == 0).all()


def test_more_steps_than_were_meant_move_nothing():
    done = advanced(tiny(steps=3), 3)
    model = done.model
    advanced(done, 2)
    assert_same_model(done.model, model)
    assert len(done.losses) == 5 and all(map(math.isfinite, done.losses))


def test_the_only_step_moves():
    only = tiny(steps=1)
    before = only.model.weights["wte.weight"]
    only.advance()
    assert not np.array_equal(only.model.weights["wte.weight"], before)


def test_a_training_begins_with_the_numbers_that_it_gets():
    drawn = np.concatenate([w.ravel() for w in tiny(steps=1).model.weights.values()])
    begin = 2 * drawn
    model = tiny(steps=1, start=begin).model
    np.testing.assert_array_equal(
        np.concatenate([w.ravel() for w in model.weights.values()]), begin.astype(np.float32))
    begin[:] = 0                                # what was handed in is not kept
    assert model.weights["wte.weight"].any()


@pytest.mark.parametrize("keys, sentence", [
    ({"steps": 0}, "steps must be a whole number of at least 1, got 0"), ({"steps": -3}, "steps"),
    ({"steps": 2.5}, "steps"), ({"steps": None}, "steps"), ({"steps": True}, "steps"),
    ({"pages": 0}, "pages must be a whole number of at least 1, got 0"), ({"pages": 1.0}, "pages"),
    ({"rate": math.nan}, "rate must be a finite number, got nan"), ({"rate": "fast"}, "rate"),
    ({"rate": None}, "rate"), ({"rate": math.inf}, "rate"), ({"seed": -1}, "."),
    ({"start": np.zeros(3)}, "start must have shape"), ({"start": 0.0}, "got ()"),
    ({"draw": IDS}, "draw must be a function"), ({"rules": Ops()}, "rules must be a Rules"),
    ({"ops": Rules()}, "ops must be an Ops")], ids=lambda given: f"{given}"[:30])
def test_arguments_that_cannot_be_trained_with_are_refused(keys, sentence):
    with pytest.raises(ValueError, match=sentence):
        tiny(**keys)


def test_numbers_of_numpy_are_numbers():
    """np.float64 too, beside which a float32 becomes a float64 and would be rounded later."""
    for rate in (np.float64(0.006), np.float32(0.006)):
        numpys = tiny(steps=np.int64(20), pages=np.int32(2), rate=rate)
        assert_same_training(advanced(numpys, 3), advanced(tiny(rate=float(rate)), 3))
        assert numpys.model.weights["wte.weight"].dtype == np.float32


def test_rules_must_be_functions():
    with pytest.raises(ValueError, match="Rules: update must be a function, got 0.1"):
        Rules(update=0.1)


def test_a_page_that_is_none_is_refused_and_leaves_the_training_as_it_was():
    for page, sentence in (([1], "at least 2"), ([300, 1], "V - 1 = 255"), ([0] * 10, "N = 8")):
        stopped = tiny(lambda rng, page=page: page)
        with pytest.raises(ValueError, match=sentence):
            stopped.advance()
        assert_same_training(stopped, tiny())


# --- pages ----------------------------------------------------------------------------------------

def test_pages_come_from_everywhere():
    """The first place and the last one too; neighbours stay neighbours."""
    ids, rng = fixed(range(100, 112), int), np.random.default_rng(0)
    draw = pages_of(ids, 4)
    pages = [draw(rng) for _ in range(300)]
    assert {page[0] for page in pages} == set(range(100, 108))
    assert all(page.tolist() == list(range(page[0], page[0] + 5)) for page in pages)
    counts = np.bincount([page[0] - 100 for page in pages])
    assert counts.min() > 15                    # of 37
    assert pages_of([1, 2, 3], 2)(rng).tolist() == [1, 2, 3]
    for short in ([1, 2], []):
        with pytest.raises(ValueError, match=f"more tokens than the context, 2, got {len(short)}"):
            pages_of(short, 2)


@pytest.mark.parametrize("T", [32, 7, 64])
def test_pages_and_repeats(T):
    """Half of them are text; the other half are 6 to 16 different letters, again and again."""
    text, letters = fixed(range(1000, 1200), int), fixed(range(60, 86), int)
    rng = np.random.default_rng(1)
    draw, periods = pages_and_repeats(text, T, letters), []
    pages = [draw(rng) for _ in range(600)]
    assert all(page.shape == (T + 1,) and page.dtype == int for page in pages)
    for page in pages:
        if page[0] >= 1000:
            assert np.array_equal(page, np.arange(page[0], page[0] + T + 1))
        else:
            periods.append(len(set(page)))
            assert np.array_equal(page[periods[-1]:], page[:-periods[-1]]) or periods[-1] == T + 1
            assert set(page) <= set(letters)
    assert 250 < len(periods) < 350
    assert set(periods) == set(range(6, min(T + 1, 16) + 1))    # the longest and the shortest too
    told = [page for page in pages if page[0] < 1000]
    assert {letter for page in told for letter in page} == set(letters)
    assert len({tuple(page) for page in told}) == len(told)
    assert max(np.bincount([page[0] for page in told])) < 40    # of 300 pages; 12 for each letter
    assert len({page[0] for page in pages if page[0] >= 1000}) > min(100, 200 - T) / 2


@pytest.mark.parametrize("arguments, sentence", [
    (([1, 2], 2, range(16)), "more tokens"), (([1, 2, 3], 2, []), "at least 16 ids"),
    (([1, 2, 3], 2, range(15)), r"at least 16 ids, got shape \(15,\)"),
    (([1, 2, 3], 2, 5), "letters"), (([1, 2, 3], 2, np.ones((16, 16), int)), "letters")], ids=str)
def test_pages_and_repeats_refuses(arguments, sentence):
    with pytest.raises(ValueError, match=sentence):
        pages_and_repeats(*arguments)


def test_held_out_loss_is_the_mean_over_the_pages():
    model = made(n_positions=3)
    ids = [3, 1, 3, 6, 0, 2, 5, 4, 4]           # two pages of 3 + 1, a last id that fills none
    by_hand = np.mean([loss_by_hand(model([3, 1, 3]), [1, 3, 6]),
                       loss_by_hand(model([6, 0, 2]), [0, 2, 5])])
    for given in (ids, np.array(ids), ids[:7], ids[:-1]):
        assert math.isclose(held_out_loss(model, given), by_hand, rel_tol=1e-12)
    assert not math.isclose(held_out_loss(model, [*ids, 1]), by_hand, rel_tol=1e-3)
    assert math.isclose(held_out_loss(model, ids[:4]), loss_by_hand(model([3, 1, 3]), [1, 3, 6]))
    with pytest.raises(ValueError, match="held-out text must have more than 3 tokens, got 3"):
        held_out_loss(model, ids[:3])
    for wrong in ([1, 2, 3, 7], [1, 2, 3, -1], []):
        with pytest.raises(ValueError):
            held_out_loss(model, wrong)


# --- what is saved --------------------------------------------------------------------------------

def files(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_a_saved_model_is_the_same_model(tmp_path):
    """The same numbers, logits with a difference of 0; it writes, and it can be saved again."""
    trained = advanced(tiny(), 3).model
    save(trained, tmp_path / "a" / "b")
    loaded = gpt2lab.load(tmp_path / "a" / "b")
    assert_same_model(loaded, trained)
    assert np.array_equal(loaded(IDS[:8]), trained(IDS[:8]))
    assert loaded.generate("ab", max_new_tokens=5, seed=1) == trained.generate(
        "ab", max_new_tokens=5, seed=1)
    save(loaded, str(tmp_path / "again"))
    assert files(tmp_path / "again") == files(tmp_path / "a" / "b")
    assert set(files(tmp_path / "again")) == {"config.json", "model.safetensors"}
    save(trained, tmp_path / "again")                                   # into a folder in use
    assert_same_model(gpt2lab.load(tmp_path / "again"), trained)


def test_the_same_training_gives_the_same_file(tmp_path):
    for name in "ab":
        save(advanced(tiny(), 3).model, tmp_path / name)
    assert files(tmp_path / "a") == files(tmp_path / "b")


def test_config_json_says_what_transformers_reads(tmp_path):
    save(tiny().model, tmp_path)
    values = json.loads((tmp_path / "config.json").read_text(encoding="utf-8"))
    wanted = {"model_type": "gpt2", "architectures": ["GPT2LMHeadModel"], "vocab_size": 256,
              "n_positions": 8, "n_embd": 8, "n_layer": 1, "n_head": 2, "n_inner": 32,
              "activation_function": "gelu_new", "layer_norm_epsilon": 1e-5,
              "scale_attn_weights": True, "scale_attn_by_inverse_layer_idx": False,
              "tie_word_embeddings": True, "bos_token_id": None, "eos_token_id": None}
    assert values == wanted
    assert np.frombuffer((tmp_path / "model.safetensors").read_bytes()[:8], "<u8")[0] % 8 == 0


@pytest.mark.parametrize("keys", [
    {"n_inner": 6}, {"layer_norm_epsilon": 0.3}, {"n_layer": 2, "scale_attn_weights": False},
    {"activation_function": "relu"}, {"tie_word_embeddings": False}], ids=str)
def test_other_models_can_be_saved_too(tmp_path, keys):
    model = made(dtype=np.float32, **keys)
    save(model, tmp_path)
    assert np.array_equal(gpt2lab.load(tmp_path)([1, 5, 3]), model([1, 5, 3]))


def test_a_model_that_has_an_end_token_keeps_it(tmp_path):
    save(made(dtype=np.float32, eos_token_id=6, bos_token_id=0), tmp_path)
    config = gpt2lab.load(tmp_path).config
    assert (config.eos_token_id, config.bos_token_id) == (6, 0)
    save(made(dtype=np.float32, eos_token_id=7), tmp_path)      # of 7 ids the last is 6
    values = json.loads((tmp_path / "config.json").read_text(encoding="utf-8"))
    assert values["eos_token_id"] is None


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()],
                         ids=["full", "interrupted"])
@pytest.mark.parametrize("place", ["save_file", "write_text", "replace"])
def test_a_failure_leaves_the_old_model_and_nothing_else(tmp_path, monkeypatch, place, error):
    old, new = advanced(tiny(), 1).model, advanced(tiny(seed=5), 2).model
    save(old, tmp_path / "used")
    before = files(tmp_path / "used")

    def half(tensors, path):
        Path(path).write_bytes(b"half of the numbers")
        raise error

    def of_weights(part, path, replace=os.replace):
        if Path(path).name == "model.safetensors":
            raise error
        replace(part, path)
    with monkeypatch.context() as patch:
        if place == "save_file":
            patch.setattr(training, "save_file", half)
        elif place == "write_text":
            patch.setattr(Path, "write_text", lambda path, text, encoding: half(text, path))
        else:
            patch.setattr(os, "replace", of_weights)
        for folder in ("used", "new"):
            with pytest.raises(type(error)):
                save(new, tmp_path / folder)
    assert files(tmp_path / "used") == before and files(tmp_path / "new") == {}
    assert_same_model(gpt2lab.load(tmp_path / "used"), old)


def test_a_loaded_model_stays_when_its_folder_is_written_anew(tmp_path):
    """Its numbers are views of the old file, which lives on under no name."""
    if sys.platform == "win32":
        pytest.skip("Windows replaces no file that is mapped")
    first, second = advanced(tiny(), 1).model, advanced(tiny(), 3).model
    save(first, tmp_path)
    in_use = gpt2lab.load(tmp_path)
    save(second, tmp_path)
    assert_same_model(in_use, first)
    assert_same_model(gpt2lab.load(tmp_path), second)


def test_a_folder_that_is_a_file(tmp_path):
    (tmp_path / "file").write_text("mine")
    for folder in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(OSError):
            save(tiny().model, folder)
    assert (tmp_path / "file").read_text() == "mine"


@contextlib.contextmanager
def nobody():
    """As a user who may write nowhere; root may write everywhere."""
    if not hasattr(os, "geteuid"):
        pytest.skip("Windows keeps no rights in the mode of a folder")
    root = os.geteuid() == 0
    if root:
        os.seteuid(65534)
    try:
        yield
    finally:
        if root:
            os.seteuid(0)


def test_a_folder_that_cannot_be_written_to():
    with tempfile.TemporaryDirectory() as folder:           # tmp_path is root's own
        folder, old = Path(folder), advanced(tiny(), 1).model
        save(old, folder)
        before = files(folder)
        folder.chmod(0o555)
        new = advanced(tiny(), 2).model
        try:
            with nobody(), pytest.raises(PermissionError, match="safetensors.part"):
                save(new, folder)
            with nobody(), pytest.raises(PermissionError, match="below"):
                save(new, folder / "below")
        finally:
            folder.chmod(0o755)
        assert files(folder) == before


def test_a_folder_in_ones_home(tmp_path, monkeypatch):
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, str(tmp_path))
    monkeypatch.chdir(tmp_path)
    model = tiny().model
    save(model, "~/mine")
    assert os.listdir(tmp_path) == ["mine"]
    assert_same_model(gpt2lab.load("~/mine"), model)
    save(model, Path("~") / "other")
    assert_same_model(gpt2lab.load(tmp_path / "other"), model)


@pytest.mark.parametrize("V, size", [(256, 256), (257, 257), (512, 512), (50_256, 50_256),
                                     (100, 50_257), (255, 50_257), (50_257, 50_257),
                                     (50_300, 50_257)])
def test_a_loaded_model_reads_with_its_first_tokens(tmp_path, V, size):
    """Fewer than the bytes, or all of GPT-2's and more: the whole tokenizer, as ever."""
    config = small_config(V=V, N=4, D=2, H=1)
    trained = Training(config, lambda rng: [1, 2])
    save(trained.model, tmp_path)
    for model in (trained.model, gpt2lab.load(tmp_path)):
        tokens = model.tokenizer
        assert len(tokens.tokens) == size
        assert tokens.end_of_text == (50_256 if size == 50_257 else None)
        assert tokens.encode(" then") == {256: [220, 83, 71, 68, 77], 257: [256, 71, 68, 77],
                                          512: [262, 77]}.get(size, [788])
        if V >= 256:
            assert isinstance(model.generate(" t", max_new_tokens=2, seed=1), str)
