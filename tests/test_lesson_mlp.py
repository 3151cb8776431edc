"""Lesson 08: the units that its pictures draw are the model's, and a push is what it says."""
import re

import numpy as np
import pytest

import gpt2lab
from cells import functions, shown
from drawing import drawn
from gpt2lab.gelu import exact_gelu, gelu
from gpt2lab.inside import never_seen, unit_pushes
from gpt2lab.mlp import mlp
from gpt2lab.sampling import probabilities
from gpt2lab.teach import show
from gpt2lab.teach.exercises.mlp import CORPUS, bracketed, merged, one_unit, portrait, read
from gpt2lab.teach.pictures import mlp as pictures

TEXTS = ["a", "$$ x_1^2 $ <b>bold</b> &amp;", "two\nlines\t🤗 naïve"]


@pytest.fixture(scope="module")
def model():
    return gpt2lab.load()


@pytest.fixture(scope="module")
def reading(model):
    return read(model, CORPUS[:6])


@pytest.fixture(scope="module")
def lesson(model):
    return functions("08_mlp", "forms", "curves", "times", "mlp_loops", model=model, gelu=gelu)


@pytest.mark.parametrize("text", TEXTS[1:])
def test_along_draws_the_activations(model, text):
    ids = model.encode(text)
    act = model.trace(ids)["h.1.mlp.act"][:, 511]
    fig = pictures.along(show.tokens(model.tokenizer, ids), act, 1, 511)
    np.testing.assert_array_equal(drawn(fig)["activation"], act)
    np.testing.assert_allclose([bar.get_height() for bar in fig.axes[0].patches], act)


def test_the_first_picture_is_unit_83_of_block_3(model):
    kept = {}

    def trace_of(model, text):
        kept["act"] = model.trace(model.encode(text))["h.3.mlp.act"][:, 83]
        return model.encode(text), model.trace(model.encode(text))
    (fig,) = shown("08_mlp", "pictures.along(", model=model, pictures=pictures, show=show,
                   trace_of=trace_of)
    np.testing.assert_array_equal(drawn(fig)["activation"], kept["act"])


@pytest.mark.parametrize("point", [None, -4.0, 0.0, 4.0])
def test_curves_are_the_three_functions(lesson, point):
    x = np.linspace(-5, 5, 201)
    arrays = drawn(pictures.curves(x, lesson.forms(x)) if point is None else lesson.curves(point))
    np.testing.assert_array_equal(arrays["ReLU"], x.clip(0))
    np.testing.assert_allclose(arrays["GELU with tanh"], gelu(x))
    np.testing.assert_allclose(arrays["GELU with erf"], exact_gelu(x))
    np.testing.assert_allclose(arrays["tanh minus erf"], gelu(x) - exact_gelu(x))
    want = [] if point is None else [max(point, 0), *(
        form(np.array([point]))[0] for form in (exact_gelu, gelu))]
    np.testing.assert_allclose(arrays["at the point"], want)


def test_the_two_gelus_differ_by_as_much_as_the_lesson_prints():
    x = np.linspace(-8, 8, 16001)
    assert 4.72e-4 < np.abs(gelu(x) - exact_gelu(x)).max() < 4.75e-4


def test_reading_holds_the_activations_of_every_place(model, reading):
    places, awake, _ = reading
    traces = [model.trace(model.encode(text)) for text in CORPUS[:6]]
    for block in range(4):
        want = np.concatenate([trace[f"h.{block}.mlp.act"] for trace in traces])
        np.testing.assert_array_equal(awake[block], want)
        assert len(places) == len(want)
    first = len(model.encode(CORPUS[0]))
    assert places[0] == "[Once]" and places[first] == "[The]"
    assert places[first + 2] == "The·old[·king]"


def test_bracketed_shows_the_token_and_the_ones_before():
    assert bracketed(["The", "·old", "·king", "·sat"], 2) == "The·old[·king]"
    assert bracketed(["a" * 20, "b" * 9], 1, most=15) == "…aaa[bbbbbbbbb]"


@pytest.mark.parametrize("block, unit, text", [
    (0, 0, ""), (1, 255, TEXTS[1]), (3, 511, TEXTS[2])])
def test_unit_draws_the_best_places_and_pushes(model, reading, block, unit, text):
    made, key = portrait(model, reading, block, unit, text), f"block {block}, unit {unit}"
    fig = pictures.unit(**made)
    arrays, (places, awake, _) = drawn(fig), reading
    act, pushes = arrays[key + " activations"], arrays[key + " pushes"]
    best = np.sort(awake[block][:, unit])[::-1][:7]
    np.testing.assert_array_equal(act[:7], best)
    assert [awake[block][places.index(place), unit] for place in made["places"][:7]] == list(best)
    if text:
        yours = model.trace(model.encode(text))[f"h.{block}.mlp.act"][:, unit]
        token = show.tokens(model.tokenizer, model.encode(text))[yours.argmax()]
        assert len(act) == 8 and act[-1] == yours.max() and f"[{token}]" in made["places"][-1]
        mine = rf"in your text at “\S*\[{re.escape(token)}\]” \({act[-1]:z.1f}\)"
        assert re.search(mine, fig.alt)
    w, known = model.weights, np.flatnonzero(~never_seen(model.weights["wte.weight"]))
    value = w[f"h.{block}.mlp.c_proj.weight"][unit]
    push = w["wte.weight"] @ ((value - value.mean()) * w["ln_f.weight"])            # (V,)
    order = known[np.argsort(-push[known], kind="stable")]
    down = round(0.4 * len(act))
    ids = [*order[:len(act) - down], *order[-down:]]
    assert made["words"] == show.tokens(model.tokenizer, ids)
    np.testing.assert_allclose(pushes, push[ids], atol=1e-5)
    assert pushes[0] == unit_pushes(w, block, unit)[known].max()
    assert pushes[-1] == unit_pushes(w, block, unit)[known].min()
    assert (np.diff(pushes) <= 0).all()
    for ax, values in zip(fig.axes, (act, pushes)):
        np.testing.assert_allclose([bar.get_width() for bar in ax.patches], values)


def test_a_move_runs_no_model(model, reading, monkeypatch):
    portrait(model, reading, 0, 0, TEXTS[2])
    for name in ("trace", "run_tapped", "__call__", "next_logits", "last_logits"):
        monkeypatch.setattr(gpt2lab.GPT2, name, None)
    pictures.unit(**portrait(model, reading, 3, 511, TEXTS[2]))


def test_units_draws_several(model, reading):
    portraits = [portrait(model, reading, *place) for place in ((3, 83), (0, 5))]
    arrays = drawn(pictures.units(*portraits))
    assert {"block 3, unit 83 activations", "block 0, unit 5 pushes"} <= set(arrays)


def test_unit_83_does_what_the_lesson_says(model, lesson):
    """Turned up it asks for "about", switched off "about" loses."""
    ids, about = model.encode("The old man told her"), model.encode(" about")[0]
    chances = [probabilities(lesson.times(factor).next_logits(ids))[about] for factor in (0, 1, 4)]
    assert chances[0] < 0.05 < 0.09 < chances[1] < 0.11 < 0.3 < chances[2]


def test_times_changes_one_unit_and_no_other(model, lesson):
    ids = model.encode("The old man told her")
    usual, changed = model.trace(ids), lesson.times(4).trace(ids)
    others = np.arange(512) != 83
    act = "h.3.mlp.act"
    np.testing.assert_array_equal(changed[act][:, others], usual[act][:, others])
    np.testing.assert_allclose(changed[act][:, 83], 4 * usual[act][:, 83])
    np.testing.assert_array_equal(changed["h.2.mlp.act"], usual["h.2.mlp.act"])
    assert changed["logits"].dtype == np.float32


def test_a_text_that_cannot_be_read_is_refused_with_a_sentence(model, reading):
    with pytest.raises(ValueError, match="the context holds N = 256 tokens, got"):
        portrait(model, reading, 0, 0, "word " * 300)


def made(T=3, D=4, F=6):
    draw = np.random.default_rng(5).normal
    return draw(size=(T, D)), draw(size=(D, F)), draw(size=F), draw(size=(F, D)), draw(size=D)


def test_loops_version_is_the_operation(lesson):
    np.testing.assert_allclose(lesson.mlp_loops(*made()), mlp(*made()), atol=1e-12)


def test_units_add_up_to_the_mlp_and_merged_is_the_mlp_without_gelu():
    x, w_fc, b_fc, w_proj, b_proj = made()
    total = sum(one_unit(x, u, w_fc, b_fc, w_proj) for u in range(6)) + b_proj
    np.testing.assert_allclose(total, mlp(*made()), atol=1e-12)
    w, b = merged(w_fc, b_fc, w_proj, b_proj)
    np.testing.assert_allclose(x @ w + b, mlp(*made(), gelu=lambda x: x), atol=1e-12)
