"""The bonus lesson looking_inside: what its pictures draw is what the model computes, at 144 heads too."""
import json
from pathlib import Path

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

from gpt2lab.inside import direct_logits, position_losses
from gpt2lab.layernorm import layer_norm
from gpt2lab.softmax import softmax
from gpt2lab.teach.attempting import attempt
from gpt2lab.teach.judging import recognise
from gpt2lab.teach.exercises import exercises
from gpt2lab.teach.exercises import looking_inside as mistakes
from gpt2lab.teach.pictures import looking_inside as pictures
from gpt2lab.teach.pictures.heads import switched_off
from drawing import drawn
from test_lesson_heads import model, wide  # noqa: F401 (fixtures)

NOTEBOOK = Path(__file__).resolve().parents[1] / "notebooks" / "bonus" / "looking_inside.ipynb"
TEXTS = ["a", "$$ x_1^2 $ <b>bold</b> &amp;", "two\nlines\t🤗 naïve and then more than twelve tokens of text"]
STORY = "The old king saw the young queen. Then the old"


def test_random_tokens_are_said_twice_and_come_from_the_short_rows(model):
    lengths = np.linalg.norm(model.weights["wte.weight"].astype(np.float64), axis=-1)
    ids = pictures.twice(model, 30, seed=3)
    assert list(ids[:30]) == list(ids[30:]) and len(set(ids)) > 25
    assert lengths[ids].max() <= np.sort(lengths)[pictures.COMMON - 1]
    anything = pictures.twice(model, 30, 3, pictures.KINDS[2])
    assert list(anything[:30]) == list(anything[30:]) and lengths[anything].max() > lengths[ids].max()
    met = model.weights["wte.weight"][pictures.pool(model, pictures.KINDS[1])]
    assert len(met) + 20888 == len(lengths) and len({row.tobytes() for row in met}) == len(met)    # each has its own row
    assert list(pictures.twice(model, 30, 4)) != list(ids)


def test_other_tokens_may_stand_in_front(model):
    ids = pictures.twice(model, 5, seed=1, before=3)
    assert len(ids) == 13 and list(ids[3:8]) == list(ids[8:]) and list(ids[:8]) == list(pictures.twice(model, 8, 1)[:8])
    p = model.trace(ids)["h.1.attn.pattern"][1]
    wanted = np.mean([p[t, t - 4] for t in range(8, 13)])
    np.testing.assert_allclose(pictures.induction_scores(model, [ids], 3)[0, 1, 1], wanted, rtol=1e-5)
    np.testing.assert_allclose(pictures.scores_by_length(model, pictures.KINDS[0], [(3, 5)], [1])[0][1, 1], wanted, rtol=1e-5)


def test_losses_are_the_models(model):
    texts = [pictures.twice(model, 6, seed) for seed in range(2)]
    wanted = np.zeros(11)
    for ids in texts:
        z = model(ids).astype(np.float64)
        wanted += [np.log(np.exp(z[t]).sum()) - z[t, ids[t + 1]] for t in range(11)]
    curve = pictures.mean_losses(model, texts)
    np.testing.assert_allclose(curve, wanted / 2, atol=1e-4)
    fig = pictures.losses({"all": curve, "twice": 2 * curve})
    np.testing.assert_array_equal(drawn(fig)["twice"], 2 * curve)
    assert f"all {curve[:5].mean():.2f} and {curve[6:].mean():.2f}; twice" in fig.alt


def test_scores_are_means_of_the_trace(model):
    texts = [pictures.twice(model, 5, seed) for seed in range(2)]
    found = pictures.induction_scores(model, texts)
    for n, ids in enumerate(texts):
        p = model.trace(ids)["h.1.attn.pattern"][1]
        np.testing.assert_allclose(found[n, 1, 1], np.mean([p[t, t - 4] for t in range(5, 10)]), rtol=1e-5)
    np.testing.assert_array_equal(drawn(pictures.scores(found))["scores"], found.mean(axis=0))


def test_heads_found_in_the_bundled_model(model):
    """What the lesson says: two heads copy, three are needed for it, one parks."""
    texts = [pictures.twice(model, 24, seed) for seed in (11, 12)]
    mean = pictures.induction_scores(model, texts).mean(axis=0)
    assert {tuple(map(int, place)) for place in np.argwhere(mean > 0.3)} == {(1, 0), (1, 1)}
    usual = pictures.mean_losses(model, texts)
    lost = {place: (pictures.mean_losses(pictures.without(model, place), texts) - usual)[24:].mean()
            for place in ((0, 1), (1, 0), (1, 1), (0, 3), (2, 1), (3, 2))}
    assert all((lost[place] > 3) == (place in ((0, 1), (1, 0), (1, 1))) for place in lost), lost
    weight, size = pictures.first_token(model.trace(model.encode(STORY)), 4)
    assert np.unravel_index(weight.argmax(), (4, 4)) == (1, 1) == np.unravel_index(size.argmin(), (4, 4))


@pytest.mark.parametrize("place", [(0, 1), (3, 0)])
def test_without_is_the_model_with_that_head_switched_off(model, place):
    ids = model.encode(STORY)
    np.testing.assert_allclose(pictures.without(model, place)(ids), switched_off(model, *place)(ids), atol=1e-4)


def test_costs_are_differences_of_mean_losses(model):
    texts = [pictures.twice(model, 4, seed=5)]
    cost = pictures.costs(model, texts)
    before, after = (position_losses(m(texts[0]), texts[0]) for m in (model, pictures.without(model, (2, 3))))
    np.testing.assert_allclose(cost[:, 2, 3], [(after - before)[:3].mean(), (after - before)[4:].mean()], atol=1e-4)
    arrays = drawn(pictures.worth(cost))
    np.testing.assert_array_equal(arrays["second"], cost[1])


def test_head_pattern_and_parking_draw_the_trace(model):
    ids = pictures.twice(model, 5, seed=1)
    pattern = model.trace(ids)["h.1.attn.pattern"][1]
    np.testing.assert_array_equal(drawn(pictures.head_pattern(model, ids, 1, 1, 6))["pattern"], pattern)
    arrays = drawn(pictures.parking(model, [ids], 1, 1))
    np.testing.assert_array_equal(arrays["first token"], pattern[1:, 0])
    np.testing.assert_array_equal(arrays["what followed last time"], [pattern[t, t - 4] for t in range(5, 10)])


def test_sink_measures_weight_and_value_of_the_first_token(model):
    arrays, trace = drawn(pictures.sink(model, STORY)), model.trace(model.encode(STORY))
    p, v = trace["h.2.attn.pattern"][3], trace["h.2.attn.v"][3]
    lengths = np.sqrt((v ** 2).sum(axis=-1))
    np.testing.assert_allclose(arrays["weight"][2, 3], p[1:, 0].mean(), rtol=1e-5)
    np.testing.assert_allclose(arrays["size"][2, 3], lengths[0] / lengths[1:].mean(), rtol=1e-5)
    with pytest.raises(ValueError, match="the text must have at least two tokens"):
        pictures.sink(model, "a")


def test_the_first_token_is_changed_for_one_head_only(model):
    ids = model.encode(STORY)
    usual = model.trace(ids)
    p, v = usual["h.1.attn.pattern"][1], usual["h.1.attn.v"][1]
    cases = {"value": p @ np.concatenate([3 * v[:1], v[1:]])}
    cut = p[1:, 1:] / p[1:, 1:].sum(axis=-1, keepdims=True)
    cases["reach"] = np.concatenate([v[:1], cut @ v[1:]])
    for name, setting in (("value", 3.0), ("reach", False)):
        other = pictures.changed_first(model, 1, 1, **{name: setting})
        for _ in range(2):                      # a second run counts its blocks anew
            trace = other.trace(ids)
            np.testing.assert_allclose(trace["h.1.attn.mixed"][1], cases[name], rtol=0, atol=2e-4)
            np.testing.assert_array_equal(trace["h.0.attn.mixed"], usual["h.0.attn.mixed"])
            np.testing.assert_array_equal(trace["h.1.attn.mixed"][[0, 2, 3]], usual["h.1.attn.mixed"][[0, 2, 3]])
    np.testing.assert_array_equal(pictures.changed_first(model, 1, 1)(ids), model(ids))


def test_long_texts_which_attention_takes_in_pieces_are_changed_as_well(model):
    ids = np.concatenate([pictures.twice(model, 32, seed=1), [11]])                 # 65: the last piece is one query
    usual = model(ids)
    for other in (pictures.changed_first(model, 1, 1, value=16.0), pictures.changed_first(model, 1, 1, reach=False),
                  switched_off(model, 1, 1)):
        logits = other(ids)
        np.testing.assert_allclose(logits, other.trace(ids)["logits"], atol=1e-3)   # a trace is made in one piece
        assert np.abs(logits - usual)[1:].max(axis=-1).min() > 1e-3


@pytest.mark.parametrize("text, back", [*zip(TEXTS, (5, 0, 11)), (TEXTS[2], 0)])
def test_lens_draws_rank_and_probability_of_the_word(model, text, back):
    ids, w = model.encode(text), model.weights
    trace, T = model.trace(ids), min(len(ids), pictures.ROWS)
    arrays = drawn(pictures.lens(model, text, "king", back))
    token = model.encode(" king")[0]
    assert arrays["token"] == token and arrays["row"] == max(T - 1 - back, 0)
    names = ["embed", *(f"h.{i}.{part}" for i in range(4) for part in ("resid_mid", "resid_post"))]
    assert arrays["rank"].shape == arrays["probability"].shape == (len(names), T)
    for s, name in list(enumerate(names))[::3]:
        x = layer_norm(trace[name][-T:], w["ln_f.weight"], w["ln_f.bias"])
        z = (x @ w["wte.weight"].T).astype(np.float64)
        np.testing.assert_array_equal(arrays["rank"][s], (z > z[:, [token]]).sum(axis=-1) + 1)
        np.testing.assert_allclose(arrays["probability"][s], np.exp(z[:, token]) / np.exp(z).sum(axis=-1), rtol=1e-3)
        assert arrays["best"][s] == z[arrays["row"]].argmax()
    assert arrays["best"][-1] == trace["logits"][-T:][arrays["row"]].argmax()


@pytest.mark.parametrize("text", [
    "Once upon a time there was a little girl who lived in a forest with her grandmother", STORY, "grandmother " * 60])
def test_no_label_of_the_lens_is_cut_off_at_the_left(model, text):
    canvas = FigureCanvasAgg(pictures.lens(model, text, "king"))
    canvas.draw()
    assert (np.asarray(canvas.buffer_rgba())[:, :3, :3] == 255).all()


@pytest.mark.parametrize("text, word, other", [
    (TEXTS[0], "king", ""), (TEXTS[1], "  $x$ ", "queen"), (TEXTS[2], "king", "queen")])
def test_contributions_add_up_to_the_models_logit(model, text, word, other):
    arrays, logits = drawn(pictures.contributions(model, text, word, other)), model(model.encode(text))[-1]
    first, second = (model.encode(" " + name.strip())[0] for name in (word, other or "queen"))
    np.testing.assert_allclose(arrays["values"].sum(), logits[first] - (logits[second] if other else 0), atol=1e-4)
    heads = [[arrays["values"][1 + 6 * i + h] for h in range(4)] for i in range(4)]
    np.testing.assert_array_equal(arrays["heads"], heads)
    assert list(arrays["order"]) == list(np.argsort(-np.abs(arrays["values"]), kind="stable"))


def test_contributions_use_the_function_given(model):
    twice = pictures.contributions(model, "a", "king", function=lambda *a: 2 * direct_logits(*a)).drawn["values"]
    np.testing.assert_allclose(twice, 2 * pictures.shares(model, "a", "king")[1])


@pytest.mark.parametrize("word, other", [("queen", "king"), ("zebra", "king"), ("king", "")])
def test_the_numbers_at_the_bars_are_not_cut_off(model, word, other):
    fig = pictures.contributions(model, STORY, word, other)
    FigureCanvasAgg(fig)
    ends = [text.get_window_extent(fig.canvas.get_renderer()).x1 for text in fig.axes[1].texts if text.get_ha() == "left"]
    assert len(ends) == pictures.BARS + 2 and max(ends) <= 640


def test_bars_without_a_head_are_the_changed_models_shares(model):
    *rows, last = pictures.bars_without(model, STORY, "king", [(0, 1)])
    names, values = pictures.shares(pictures.without(model, (0, 1)), STORY, "king")
    assert [(name, off) for name, _, off in rows] == [(f"block {i} MLP", values[names.index(f"block {i} MLP")]) for i in range(4)]
    token = model.encode(" king")[0]
    np.testing.assert_allclose(last[1:], [m(model.encode(STORY))[-1, token] for m in (model, switched_off(model, 0, 1))],
                               atol=1e-4)


def test_direct_and_off_compares_with_the_model_without_the_head(model):
    arrays, ids = drawn(pictures.direct_and_off(model, STORY, "king")), model.encode(STORY)
    token = model.encode(" king")[0]
    lost = model(ids)[-1, token] - switched_off(model, 0, 1)(ids)[-1, token]
    np.testing.assert_allclose(arrays["off"][0, 1], lost, atol=1e-4)
    np.testing.assert_array_equal(arrays["direct"], pictures.heads_of(*pictures.shares(model, STORY, "king"), model))
    assert abs(arrays["direct"][0, 1]) < 0.1 and arrays["off"].argmax() == 1


@pytest.mark.parametrize("kind, length, block, head", [
    (pictures.KINDS[0], 4, 0, 0), (pictures.KINDS[1], 24, 1, 1), (pictures.KINDS[2], 32, 3, 3)])
def test_head_off_draws_losses_with_and_without(model, kind, length, block, head):
    arrays = drawn(pictures.head_off(model, kind, length, block, head))
    ids = arrays["ids"]
    assert list(ids) == list(pictures.twice(model, length, 1, kind)) and len(ids) == 2 * length
    np.testing.assert_array_equal(arrays["on"], position_losses(model(ids), ids))
    np.testing.assert_allclose(arrays["off"], position_losses(switched_off(model, block, head)(ids), ids), atol=1e-3)
    np.testing.assert_array_equal(arrays["pattern"], model.trace(ids)[f"h.{block}.attn.pattern"][head])


def test_usable_at_12_blocks_of_12_heads(wide):
    texts = [pictures.twice(wide, 6, seed) for seed in range(2)]
    assert drawn(pictures.scores(pictures.induction_scores(wide, texts)))["scores"].shape == (12, 12)
    assert drawn(pictures.worth(np.random.default_rng(0).normal(size=(2, 12, 12))))["second"].shape == (12, 12)
    assert drawn(pictures.sink(wide, STORY))["weight"].shape == (12, 12)
    assert drawn(pictures.lens(wide, STORY, "king"))["rank"].shape == (13, 11)
    arrays = drawn(pictures.contributions(wide, STORY, "king"))
    assert arrays["heads"].shape == (12, 12) and len(arrays["values"]) == 1 + 12 * 14 + 1
    np.testing.assert_allclose(arrays["values"].sum(), wide(wide.encode(STORY))[-1, wide.encode(" king")[0]], atol=1e-4)
    drawn(pictures.head_off(wide, pictures.KINDS[0], 8, 11, 11))


def test_what_cannot_be_read_is_refused_with_a_sentence(model):
    with pytest.raises(ValueError, match="both words begin with the same token: there is nothing to compare"):
        pictures.contributions(model, STORY, "king", " king")
    for draw in (pictures.lens, pictures.contributions):
        with pytest.raises(ValueError, match="the prompt is empty"):
            draw(model, "", "king")
        with pytest.raises(ValueError, match="the word is empty: give at least one letter"):
            draw(model, "a", "  ")
        with pytest.raises(ValueError, match="the context holds N = 256 tokens, got"):
            draw(model, "word " * 300, "king")


def test_loops_version_is_the_operation():
    space = {"np": np}
    for cell in json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]:
        if "def direct_logits_loops(" in (source := "".join(cell["source"])):
            exec(source.split("\n\n")[0], space)
    draw = np.random.default_rng(3).normal
    arguments = [draw(size=shape) for shape in ((5, 6), (6,), (6,), (6,))]
    np.testing.assert_allclose(space["direct_logits_loops"](*arguments, 0.1), direct_logits(*arguments, 0.1), atol=1e-12)


def test_splits_show_the_right_one_and_five_mistakes():
    draw = np.random.default_rng(4).normal
    arguments = [draw(size=shape) for shape in ((5, 6), (6,), (6,), (6,))]
    rows, right = mistakes.splits(*arguments), direct_logits(*arguments)
    assert [row[0] for row in rows[:2]] == ["(none)", "Each part is divided by its own deviation"] and len(rows) == 6
    np.testing.assert_allclose(rows[0][1:], [right.sum(), right[0], right[4]])
    sums = [np.isclose(row[1], right.sum()) for row in rows]
    assert sums == [True, False, False, True, False, False] and not np.isclose(rows[3][2], right[0])


@pytest.mark.parametrize("chance, name", [
    (lambda z: softmax(z) + np.float32(1e-12), "added_1e-12"), (lambda z: np.maximum(softmax(z), np.float32(1e-7)), "added_1e-07"),
    (lambda z: np.exp(z) / np.exp(z).sum(axis=-1, keepdims=True), "overflowing_softmax"), (softmax, "softmax_first")])
def test_other_ways_to_lose_large_losses_have_a_name(chance, name):
    def position_losses(logits, ids):
        return -np.log(chance(logits[:-1])[np.arange(len(ids) - 1), ids[1:]])
    exercise = exercises()["position_losses"]
    assert recognise(exercise, [attempt(position_losses, case) for case in exercise.cases]).__name__ == name
