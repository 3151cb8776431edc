"""Lesson 08: the units that its pictures draw are the model's, and a push is what it says."""
from pathlib import Path

import nbformat
import numpy as np
import pytest

import gpt2lab
from gpt2lab.gelu import exact_gelu, gelu
from gpt2lab.mlp import mlp
from gpt2lab.model import GPT2
from gpt2lab.teach.exercises.mlp import merged, one_unit
from gpt2lab.teach.pictures import mlp as pictures
from drawing import drawn

NOTEBOOK = Path(__file__).resolve().parents[1] / "notebooks" / "08_mlp.ipynb"
TEXTS = ["a", "$$ x_1^2 $ <b>bold</b> &amp;", "two\nlines\t🤗 naïve"]


@pytest.fixture(scope="module")
def model():
    return gpt2lab.load()


@pytest.fixture(scope="module")
def memory(model):
    return pictures.Memory(model, pictures.CORPUS[:6])


@pytest.mark.parametrize("text", TEXTS[1:])
def test_along_draws_the_activations(model, text):
    act = drawn(pictures.along(model, text, 1, 511))["activation"]
    np.testing.assert_array_equal(act, model.trace(model.encode(text))["h.1.mlp.act"][:, 511])


@pytest.mark.parametrize("point", [None, -4.0, 0.0, 4.0])
def test_curves_are_the_three_functions(point):
    arrays, x = drawn(pictures.curves(point)), np.linspace(-5, 5, 201)
    np.testing.assert_array_equal(arrays["ReLU"], x.clip(0))
    np.testing.assert_allclose(arrays["GELU with tanh"], gelu(x))
    np.testing.assert_allclose(arrays["GELU with erf"], exact_gelu(x))
    np.testing.assert_allclose(arrays["tanh minus erf"], gelu(x) - exact_gelu(x))
    want = [] if point is None else [f(np.array([point]))[0] for f in (lambda x: x.clip(0), exact_gelu, gelu)]
    np.testing.assert_allclose(arrays["at the point"], want)


def test_the_two_gelus_differ_by_as_much_as_the_lesson_prints():
    x = np.linspace(-8, 8, 16001)
    assert 4.72e-4 < np.abs(gelu(x) - exact_gelu(x)).max() < 4.75e-4


def test_memory_holds_the_activations_of_every_place(model, memory):
    traces = [model.trace(model.encode(text)) for text in memory.texts]
    for block in (0, 3):
        want = np.concatenate([trace[f"h.{block}.mlp.act"] for trace in traces])
        np.testing.assert_array_equal(memory.awake[block], want)
        best = memory.wakers(block, 7, 5)
        np.testing.assert_array_equal(want[best, 7], np.sort(want[:, 7])[::-1][:5])
    text, t = memory.places[20]
    assert memory.awake[2][20, 5] == traces[text]["h.2.mlp.act"][t, 5]


def test_bracketed_shows_the_token_and_the_ones_before():
    assert pictures.bracketed(["The", "·old", "·king", "·sat"], 2) == "The·old[·king]"
    assert pictures.bracketed(["a" * 20, "b" * 9], 1, most=15) == "…aaa[bbbbbbbbb]"


@pytest.mark.parametrize("block, unit, text", [(0, 0, ""), (1, 255, TEXTS[1]), (3, 511, TEXTS[2])])
def test_unit_draws_the_best_places_and_pushes(model, memory, block, unit, text):
    arrays, key = drawn(pictures.unit(memory, block, unit, text)), f"block {block}, unit {unit}"
    places, act = arrays[key + " places"], arrays[key + " activations"]
    np.testing.assert_array_equal(act[:len(places)], memory.awake[block][places, unit])
    if text:
        yours = model.trace(model.encode(text))[f"h.{block}.mlp.act"][:, unit]
        np.testing.assert_array_equal(arrays[key + " yours"], yours)
        assert act[-1] == yours.max()
    pushes, ids, w = arrays[key + " pushes"], arrays[key + " ids"], model.weights
    value = w[f"h.{block}.mlp.c_proj.weight"][unit]
    want = w["wte.weight"][ids] @ ((value - value.mean()) * w["ln_f.weight"])
    np.testing.assert_allclose(pushes, want, atol=1e-5)
    assert pushes[0] == memory.pushes(block, unit)[memory.known].max()
    assert pushes[-1] == memory.pushes(block, unit)[memory.known].min()
    assert (np.diff(pushes) <= 0).all()


def test_a_push_is_the_change_of_the_logit(model, memory):
    """In the last block: one more unit of activation, times the last norm's divisor, divisor held."""
    x = model.trace(model.encode("She knew"))["h.3.resid_post"][-1].astype(np.float64)
    value, w = model.weights["h.3.mlp.c_proj.weight"][83].astype(np.float64), model.weights
    divisor = np.sqrt(x.var() + 1e-5)

    def logits(row):
        return ((row - row.mean()) / divisor * w["ln_f.weight"] + w["ln_f.bias"]) @ w["wte.weight"].T
    np.testing.assert_allclose((logits(x + value) - logits(x)) * divisor, memory.pushes(3, 83), atol=1e-4)


def test_tokens_never_met_are_left_out(model, memory):
    others = np.setdiff1d(np.arange(model.config.vocab_size), memory.known)
    assert len(others) == 20_888
    assert (model.weights["wte.weight"][others] == model.weights["wte.weight"][others[0]]).all()


def test_units_draws_several(memory):
    arrays = drawn(pictures.units(memory, (3, 83), (0, 5)))
    assert {"block 3, unit 83 places", "block 0, unit 5 pushes"} <= set(arrays)


def test_unit_83_does_what_the_lesson_says(model):
    """Turned up it asks for "about", switched off "about" loses."""
    ids, about = model.encode("The old man told her"), model.encode(" about")[0]
    chances = []
    for factor in (0, 1, 4):
        w = dict(model.weights)
        w["h.3.mlp.c_proj.weight"] = w["h.3.mlp.c_proj.weight"].copy()
        w["h.3.mlp.c_proj.weight"][83] *= factor
        chances.append(gpt2lab.sampling.probabilities(GPT2(model.config, w)(ids)[-1])[about])
    assert chances[0] < 0.05 < 0.09 < chances[1] < 0.11 < 0.3 < chances[2]


@pytest.mark.parametrize("draw", ["along", "unit"])
def test_a_text_that_cannot_be_read_is_refused_with_a_sentence(model, memory, draw):
    call = (lambda text: pictures.along(model, text, 0, 0)) if draw == "along" else \
        (lambda text: pictures.unit(memory, 0, 0, text))
    with pytest.raises(ValueError, match="the context holds N = 256 tokens, got"):
        call("word " * 300)
    if draw == "along":
        with pytest.raises(ValueError, match="the prompt is empty"):
            call("")


def made(T=3, D=4, F=6):
    draw = np.random.default_rng(5).normal
    return draw(size=(T, D)), draw(size=(D, F)), draw(size=F), draw(size=(F, D)), draw(size=D)


def test_loops_version_is_the_operation():
    loops = function_of_the_notebook("mlp_loops")
    np.testing.assert_allclose(loops(*made()), mlp(*made()), atol=1e-12)


def test_units_add_up_to_the_mlp_and_merged_is_the_mlp_without_gelu():
    x, w_fc, b_fc, w_proj, b_proj = made()
    total = sum(one_unit(x, u, w_fc, b_fc, w_proj) for u in range(6)) + b_proj
    np.testing.assert_allclose(total, mlp(*made()), atol=1e-12)
    w, b = merged(w_fc, b_fc, w_proj, b_proj)
    np.testing.assert_allclose(x @ w + b, mlp(*made(), gelu=lambda x: x), atol=1e-12)


def function_of_the_notebook(name):
    space = {"np": np, "show": None, "gelu": gelu}
    for cell in nbformat.read(NOTEBOOK, as_version=4).cells:
        if cell.cell_type == "code" and f"def {name}(" in cell.source:
            exec(cell.source.split("\n\n")[0], space)
    return space[name]
