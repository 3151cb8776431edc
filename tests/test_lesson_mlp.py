"""Lesson 08: the units that its pictures draw are the model's, and a push is what it says."""
import dataclasses
import re

import numpy as np
import pytest

import gpt2lab
from cells import functions, ran, shown
from drawing import drawn
from gpt2lab.gelu import exact_gelu, gelu
from gpt2lab.inside import never_seen, unit_pushes, without_heads
from gpt2lab.mlp import mlp
from gpt2lab.teach import show, writes
from gpt2lab.teach.exercises.mlp import (
    CORPUS,
    bracketed,
    chance,
    likely,
    merged,
    most_needed,
    one_unit,
    portrait,
    read,
    rewrite,
    tanh_form,
    without,
)
from gpt2lab.teach.living import STORY
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
    return functions("08_mlp", "forms", "curves", "mlp_loops", model=model, gelu=gelu)


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


@pytest.mark.parametrize("point, factor", [(-4.0, 0.03), (0.0, 0.044715), (4.0, 0.06)])
def test_curves_are_the_three_functions(lesson, point, factor):
    x, fig = np.linspace(-5, 5, 201), lesson.curves(point, factor)
    arrays = drawn(fig)
    np.testing.assert_array_equal(arrays["ReLU"], x.clip(0))
    np.testing.assert_allclose(arrays["GELU with tanh"], tanh_form(x, factor))
    np.testing.assert_allclose(arrays["GELU with erf"], exact_gelu(x))
    gap = tanh_form(x, factor) - exact_gelu(x)
    np.testing.assert_allclose(arrays["tanh minus erf"], gap, atol=1e-15)
    at = np.array([point])
    np.testing.assert_allclose(arrays["at the point"], [
        max(point, 0), exact_gelu(at)[0], tanh_form(at, factor)[0]])
    assert f"{np.abs(gap).max():.5f}" in fig.alt
    x = np.array([-2.0, 0.3])
    np.testing.assert_allclose(tanh_form(x, 0.044715), gelu(x))


def test_gelus_lowest_place_is_flat_and_the_papers_factor_is_the_best_of_the_slider(lesson):
    """What the explorer is asked for. It starts elsewhere."""
    x = np.linspace(-5, 5, 201)
    factors = 0.029715 + 0.001 * np.arange(31)
    gaps = [np.abs(tanh_form(x, factor) - exact_gelu(x)).max() for factor in factors]
    assert factors[np.argmin(gaps)] == pytest.approx(0.044715)
    assert x[exact_gelu(x).argmin()] == pytest.approx(-0.75)
    assert "with slope 0.00, GELU with erf -0.1700 with slope 0.00" in lesson.curves(
        -0.75, 0.044715).alt


def test_without_a_switch_two_layers_are_one_and_units_bend_nothing(tmp_path, monkeypatch):
    monkeypatch.setenv("GPT2LAB_MY_OPS", str(tmp_path))
    names = ran("08_mlp", "import math", "x, w_fc, b_fc", "np.maximum(x * w_fc", "def merged",
                "def nearest_line", "def recalled")
    assert (names["k"], names["b"]) == ([[-12]], [12])
    x, bump, line, relu = (names[n] for n in ("x", "bump", "nearest_line", "relu"))
    flat = line(8, names["nothing"])
    np.testing.assert_allclose(np.diff(flat, 2), 0, atol=1e-12)
    for units in (1, 2, 4):
        turns = np.abs(np.diff(line(units, relu), 2)) > 1e-9        # a corner touches one or two
        corners = x[1:-1][turns]
        assert len(np.unique(np.round(corners * 100 / 5))) >= units
        assert all(np.abs((np.arange(units) + 0.5) / units - c).min() < 0.006 for c in corners)
    assert np.abs(line(4, relu) - bump).mean() < np.abs(line(1, relu) - bump).mean() / 2
    (fig,) = names["shown"]
    np.testing.assert_array_equal(drawn(fig)["8, no switch"], flat)
    recalled = names["recalled"]
    assert [recalled(16 * n, names["nothing"]) for n in (1, 16)] == [2, 2]
    counts = [recalled(16 * n, relu) for n in (1, 2, 4, 8, 16)]
    assert counts == sorted(counts) and counts[2] < 60 and counts[-1] == 200


def test_a_sleeping_relu_learns_nothing_and_soft_ones_wake():
    names = ran("08_mlp", "import math", "def nearest_line", "def losses")
    losses, leaky, points = names["losses"], names["tried"]["leaky ReLU"], names["points"]
    assert list(leaky(np.array([-2.0, 3.0]))) == [-0.2, 3]
    assert len(set(losses(names["relu"], -1.5))) == 1
    silent = np.mean((2 * points) ** 2)
    assert losses(names["relu"], -2.5)[-1] == silent
    assert losses(exact_gelu, -1.5)[-1] < 0.01 and losses(leaky, -1.5)[-1] < 0.01
    assert losses(exact_gelu, -2.5)[-1] == pytest.approx(silent, abs=0.01)
    assert losses(leaky, -2.5)[-1] < 1.2


@pytest.fixture(scope="module")
def emerald(model):
    """The text, and the units that its City needs, most needed first."""
    text = "They came to the Emerald"
    return text, *most_needed(model, text, " City", blocks=(1, 2, 3))


def test_without_holds_its_units_at_0_and_no_other(model):
    ids = model.encode("The old man told her")
    usual, changed = model.trace(ids), without(model, [(1, 38), (3, 83), (3, 2)]).trace(ids)
    for block, off in ((1, [38]), (3, [83, 2])):
        act = changed[f"h.{block}.mlp.act"]
        assert not act[:, off].any() and act.dtype == np.float32
    others = np.arange(512) != 38
    np.testing.assert_array_equal(changed["h.1.mlp.act"][:, others],
                                  usual["h.1.mlp.act"][:, others])


def test_no_single_unit_holds_the_city_and_sixteen_do(model, emerald):
    text, units, left = emerald
    whole = chance(model, text, " City")
    assert units[0] == (1, 38) and (np.diff(left) >= 0).all()
    assert left[0] == chance(without(model, units[:1]), text, " City") > whole - 0.1
    act = model.trace(model.encode(text))
    assert set(units) == {(b, u) for b in (1, 2, 3)
                          for u in np.flatnonzero(act[f"h.{b}.mlp.act"][-1] > 1)}
    gone = without(model, units[:16])
    assert chance(gone, text, " City") < 0.1 and chance(gone, STORY, " king") > 0.5
    assert not writes(gone, text, 2).startswith(" City") and writes(gone, STORY, 1) == " king"
    witch = [chance(one, "The Wicked", " Witch") for one in (model, without(model, [(1, 38)]))]
    assert witch[0] > 0.6 and witch[1] < 0.2


def test_the_block_whose_heads_the_king_needs_and_whose_units_the_city_needs(model, emerald):
    """The control of the lesson: the other part off, for either word."""
    c, (text, units, _) = model.config, emerald

    def chances(one):
        return chance(one, text, " City"), chance(one, STORY, " king")

    def heads_off(*blocks):
        heads = [(block, head) for block in blocks for head in range(c.n_head)]
        return chances(model.tapped(without_heads(model, heads)))

    def units_off(*blocks):
        return chances(without(model, [(b, u) for b in blocks for u in range(c.n_inner)]))
    (city, king), (city_left, king_left) = heads_off(1), units_off(1)
    assert city > 0.9 and king < 0.1 and city_left < 0.1 and king_left > 0.8
    assert 0.3 < heads_off(*range(4))[0] < 0.4 and max(units_off(0)) < 0.005
    alone = model.tapped(without_heads(model, [(b, h) for b in range(4) for h in range(4)]))
    ids = model.encode(text)
    np.testing.assert_allclose(alone.next_logits(ids), alone.next_logits([7] * 4 + [ids[-1]]),
                               atol=1e-4)      # the last token is all that it reads
    assert likely(model, text) == "·City 0.92, crow 0.01"
    assert likely(without(model, units[:16]), text) == "crow 0.06, ·City 0.05"


def test_the_table_of_heads_and_units_is_what_its_columns_say(model):
    names = ran("08_mlp", "import math", "tiny, emerald =", "c, rows = tiny.config")
    none, *_, every = names["rows"]
    assert none[1] == none[2] == chance(model, "They came to the Emerald", " City")
    assert none[3] == none[4] == chance(model, STORY, " king")
    heads = [(block, head) for block in range(4) for head in range(4)]
    assert every[1] == chance(model.tapped(without_heads(model, heads)),
                              "They came to the Emerald", " City")


def test_the_witch_needs_the_heads_of_block_1_and_the_units_of_every_block(model):
    names = ran("08_mlp", "import math", "tiny, emerald =", "c, rows = tiny.config")
    none, *blocks, _ = [row[5:] for row in names["rows"]]
    assert none[0] == none[1] == chance(model, "The Wicked", " Witch") > 0.6
    heads_off, units_off = zip(*blocks)
    assert heads_off[1] < 0.2 and min(heads_off[:1] + heads_off[2:]) > 0.55
    assert max(units_off) < 0.2 and units_off[1] < 0.005


def test_units_drawn_at_random_leave_the_city(model, emerald):
    names = ran("08_mlp", "import math", "tiny, emerald =", "draws = [")
    assert names["city"][-1] < 0.1 and names["drawn"][-1] > 0.8
    assert len({tuple(lots) for lots in names["draws"]}) == 12
    assert all(sorted(lots) == list(range(len(emerald[1]))) for lots in names["draws"])


def test_as_many_unknowns_as_pairs_recall_all_of_them():
    names = ran("08_mlp", "import math", "def nearest_line", "def recalled")
    assert names["recalled"](199, names["relu"]) == 200 > names["recalled"](128, names["relu"])


def test_the_unit_that_is_rewritten_hardly_wakes(model):
    _, activations, _ = read(model)
    assert activations[3][:, 465].max() < 1 and (activations[3][:, 465] > 0.1).mean() < 0.01


def test_one_unit_rewritten_changes_one_thing(model, reading):
    """What stands after Emerald, in other sentences too; other texts go on as before."""
    names = functions("08_mlp", "taught", tiny=model, rewrite=rewrite, replace=dataclasses.replace,
                      names=[f"h.3.mlp.{name}" for name in (
                          "c_fc.weight", "c_fc.bias", "c_proj.weight", "c_proj.bias")])
    changed = names.taught("They came to the Emerald", like="She opened the")
    for text in ("They came to the Emerald", "He lived in the Emerald"):
        assert writes(model, text, 1) == " City" and writes(changed, text, 1) == " door"
    for text in ("They called the Scare", "She opened the", STORY, "Once upon a time"):
        assert writes(changed, text) == writes(model, text)
    at = changed.trace(changed.encode("They came to the Emerald"))
    there = model.trace(model.encode("She opened the"))
    assert at["h.3.mlp.act"][-1, 465] == pytest.approx(10, abs=1e-3)
    old = model.trace(model.encode("They came to the Emerald"))["h.3.mlp.act"][-1, 465]
    assert abs(old) < 0.2                       # what the unit gave before is lost as well
    np.testing.assert_allclose(at["h.3.resid_post"][-1], there["h.3.resid_post"][-1], atol=0.2)
    witch = names.taught(STORY, like="The Wicked")
    assert writes(witch, STORY, 1) == " Witch"
    assert reading[1][3][:, 465].max() < 0.6, "it sleeps nearly always"


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
