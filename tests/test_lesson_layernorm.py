"""Lesson 05: what it says of size, of the nudge, of gain and bias and of the mean is so."""
from dataclasses import replace
from pathlib import Path

import nbformat
import numpy as np
import pytest

import gpt2lab
from drawing import drawn
from gpt2lab.inside import size, stream_sizes
from gpt2lab.layernorm import layer_norm
from gpt2lab.mlp import mlp
from gpt2lab.teach import writes
from gpt2lab.teach.checking import verdict
from gpt2lab.teach.exercises import layernorm as exercises
from gpt2lab.teach.living import STORY
from gpt2lab.teach.pictures import layernorm as pictures

NOTEBOOK = Path(__file__).resolve().parents[1] / "notebooks" / "05_layernorm.ipynb"
RULES = {"with norm": layer_norm, "without": lambda x, gain, bias, epsilon=1e-5: x}


@pytest.fixture
def my_ops(tmp_path, monkeypatch):
    monkeypatch.setenv("GPT2LAB_MY_OPS", str(tmp_path))


@pytest.fixture(scope="module")
def model():
    return gpt2lab.load("gpt2-tiny")


@pytest.fixture(scope="module")
def runs():
    return {(spread, how): exercises.new_model(spread, rule)
            for spread in (0.06, 0.1, 0.125) for how, rule in RULES.items()}


def test_sizes_of_new_models(runs):
    end = {start: (sizes[-1], nudges[-1]) for start, (sizes, nudges) in runs.items()}
    for sizes, nudges in runs.values():
        assert sizes.shape == nudges.shape == (25,) and nudges[0] == pytest.approx(1, rel=0.1)
    assert end[0.125, "with norm"][0] < 10 * end[0.06, "with norm"][0]
    assert end[0.125, "with norm"][1] < 10 * end[0.06, "with norm"][1]
    # "hundreds of millions of times as large"; "the nudge grows too"
    assert 1e8 < end[0.125, "without"][0] / end[0.06, "without"][0] < 1e9
    assert end[0.125, "without"][1] > 1e8
    # "at 0.06 the model without norm is the calmest of all"
    for row in range(2):
        assert min(end, key=lambda start: end[start][row]) == (0.06, "without")
    sizes = runs[0.1, "without"][0]             # "0.1 gives 6.6 after 12, above 1,000 after 24"
    assert f"{sizes[12]:.1f}" == "6.6" and sizes[24] > 1000


@pytest.mark.parametrize("seed", range(3))
def test_the_seed_does_not_matter(seed, monkeypatch):
    first = exercises.training.first_numbers
    monkeypatch.setattr(exercises.training, "first_numbers",
                        lambda config, _: first(config, np.random.default_rng(seed + 10)))
    ends = {(spread, how): [row[-1] for row in exercises.new_model(spread, rule)]
            for spread in (0.06, 0.125) for how, rule in RULES.items()}
    assert np.max([ends[0.125, "with norm"], ends[0.06, "with norm"]]) < 1000
    assert np.min(ends[0.125, "without"]) > 1e6 and np.max(ends[0.06, "without"]) < 10


@pytest.mark.parametrize("spread", (0.06, 0.125))
def test_a_nudge_is_what_an_ever_smaller_one_would_be(spread):
    """The stretch of a nudge is a slope: here it is taken along the same direction, both ways."""
    config = exercises.training.Config(vocab_size=256, n_positions=8, n_embd=64, n_layer=24,
                                       n_head=4)
    row = exercises.training.first_numbers(config, np.random.default_rng(0)).astype(np.float64)
    w = {name: a * (spread / 0.06 if name[0] == "h" and a.ndim == 2 else 1)
         for name, a in exercises.training.named(config, row).items()}
    step = np.random.default_rng(1).normal(0, 1e-9, w["wpe.weight"].shape)
    for rule in RULES.values():
        ends = [gpt2lab.GPT2(config, w | {"wpe.weight": w["wpe.weight"] + k * step}, None,
                             gpt2lab.Ops(layer_norm=rule)).trace(list(b"The old "))
                for k in (-0.5, 0.5)]
        wanted = size(ends[1]["h.23.resid_post"] - ends[0]["h.23.resid_post"]) / size(step)
        assert exercises.new_model(spread, rule)[1][-1] == pytest.approx(wanted, rel=0.01)


def test_new_models_draws_the_rows(runs):
    fig = pictures.new_models(runs)
    arrays = drawn(fig)
    for (spread, how), (sizes, nudges) in runs.items():
        np.testing.assert_array_equal(arrays[f"size, {spread:g} {how}"], sizes)
        np.testing.assert_array_equal(arrays[f"nudge, {spread:g} {how}"], nudges)
    for ax, row in zip(fig.axes, (0, 1)):
        for line, wanted in zip(ax.lines, runs.values(), strict=True):
            np.testing.assert_array_equal(line.get_ydata(), wanted[row])
    assert "0.125 the stream ends at 7 and the nudge at 100 with norm" in fig.alt
    assert not any(c.isdigit() for c in fig.alt.split("\n")[0])


def test_reading_is_what_the_parts_do(model):
    ids = model.encode(STORY)
    a, w = model.trace(ids), model.weights
    parts = [w[f"h.1.mlp.{name}"] for name in ("c_fc.weight", "c_fc.bias", "c_proj.weight",
                                               "c_proj.bias")]
    norm = w["h.1.ln_2.weight"], w["h.1.ln_2.bias"]
    usual, found = a["h.1.attn.pattern"][:, 1:].max(axis=-1).mean(), {}
    for factor in (0.1, 1, 10):
        for normed in (True, False):
            weight, added = found[factor, normed] = exercises.reading(model, ids, 1, factor, normed)
            x = (layer_norm(np.float32(factor) * a["h.1.resid_mid"], *norm) if normed
                 else np.float32(factor) * a["h.1.ln_2"])
            assert added == pytest.approx(size(mlp(x, *parts)), rel=1e-5)
            if normed or factor == 1:
                assert weight == pytest.approx(usual, abs=1e-3)
    assert found[10, False][0] > 0.999 and found[0.1, False][0] < 0.25
    assert found[10, False][1] == pytest.approx(10.7 * found[1, False][1], rel=0.01)


def test_two_parts_multiply_without_norm(model):
    """ "About 6 and 7 times", block 1's MLP and block 2's attention, more than with the norm."""
    ids = model.encode(STORY)
    a, wild = (gpt2lab.load(ops=gpt2lab.Ops(layer_norm=rule)).trace(ids) for rule in RULES.values())
    known = size(a["h.1.mlp"]) / size(a["h.1.ln_2"])
    stages = [size(wild[name]) for name in ("h.1.ln_2", "h.1.resid_post", "h.2.ln_2")]
    assert 90 < stages[1] < 110
    assert [round(stages[k + 1] / stages[k]) for k in (0, 1)] == [6, 7] and known < 3


def test_scores_grow_about_a_hundredfold(model):
    """ "10 times the row is about 100 times the score": of the story's last token, in block 1."""
    ids, spreads = model.encode(STORY), []
    for factor in (1, 10):
        def tap(name, function, factor=factor):
            if name == "h.1.ln_1":
                return lambda *a, **named: np.float32(factor) * function(*a, **named)
            return function
        recorded = {}

        def keep(name, function, tap=tap, recorded=recorded):
            function = tap(name, function)
            if name != "h.1.attn.pattern":
                return function
            return lambda scores: function(recorded.setdefault("scores", scores))
        model.run_tapped(ids, keep)
        spreads.append(recorded["scores"][:, -1].std(axis=-1))
    assert 60 < np.mean(spreads[1] / spreads[0]) < 140


def test_fold_leaves_every_layer_as_it_was(model):
    w, rng = model.weights, np.random.default_rng(0)
    n = rng.normal(size=(5, model.config.n_embd)).astype(np.float32)
    for norm, layer in (("h.2.ln_1", "h.2.attn.c_attn"), ("h.2.ln_2", "h.2.mlp.c_fc")):
        gain, bias, weight, b = (w[f"{name}.{kind}"] for name in (norm, layer)
                                 for kind in ("weight", "bias"))
        new_w, new_b = exercises.fold(gain, bias, weight, b)
        np.testing.assert_allclose(n @ new_w + new_b, (n * gain + bias) @ weight + b, atol=1e-4)


@pytest.mark.parametrize("answer, right", [
    ("return (w.T * gain).T, b + w.T @ bias", True),
    ("return np.diag(gain) @ w, (bias[None] @ w + b)[0]", True),
    ("return w * gain.reshape(-1, 1), np.einsum('d,do->o', bias, w) + b", True),
    ("return gain * w, bias @ w + b", False),
    ("return gain[:, None] * w, bias @ (gain[:, None] * w) + b", False)])
def test_answers_of_fold(my_ops, answer, right):
    space = {"np": np}
    exec(f"def fold(gain, bias, w, b):\n    {answer}", space)
    assert ("all 4 cases pass" in verdict(space["fold"])) == right


def test_the_large_mean_tells_one_pass_from_the_right_variance():
    x = np.array([1000, 1000.25, 1000.5, 1001.25], np.float32)
    assert x.var() == 0.21875 and (x ** 2).mean() - x.mean() ** 2 == 0.1875
    assert np.spacing((x ** 2)).max() == 0.0625                    # "a sixteenth"
    (case,) = [c for c in exercises.CASES if "1001.25" in c.label]
    np.testing.assert_array_equal(case.arguments[0][0], x)
    off = exercises.two_large_numbers(*case.arguments) - layer_norm(*case.arguments)
    assert np.abs(off).max() > 0.1


def test_a_stream_without_mean_makes_both_norms_one(model):
    """And the embedding's mean alone derails RMSNorm, as the lesson says."""
    def rms(x, gain, bias, epsilon=1e-5):
        return exercises.rms_norm(x, gain, epsilon) + bias

    def embed(*arguments, **named):
        x = model.ops.embed(*arguments, **named)
        return x - x.mean(axis=-1, keepdims=True)
    centred = {name: a - a.mean(axis=-1, keepdims=True) if ".c_proj." in name else a
               for name, a in model.weights.items()}
    ids, story = model.encode(STORY), writes(model, STORY)
    free = replace(model, weights=centred, ops=gpt2lab.Ops(layer_norm=rms, embed=embed))
    np.testing.assert_allclose(free(ids), model(ids), atol=1e-3)
    assert writes(free, STORY) == story
    assert writes(replace(model, ops=gpt2lab.Ops(layer_norm=rms, embed=embed)), STORY) == story
    assert writes(replace(model, ops=gpt2lab.Ops(layer_norm=rms)), STORY) != story


def test_without_norm_it_fails_in_float64_too(model):
    exact = replace(model, weights={name: a.astype(np.float64)
                                    for name, a in model.weights.items()},
                    ops=gpt2lab.Ops(layer_norm=RULES["without"]))
    trace = exact.trace(model.encode(STORY))
    assert trace["h.3.resid_post"].dtype == np.float64 and stream_sizes(trace)[-1] > 1e5
    assert writes(exact, STORY, 3) != writes(model, STORY, 3)


def test_the_lesson_shows_what_it_says():
    texts = [out.get("text", "") for cell in nbformat.read(NOTEBOOK, as_version=4).cells
             if cell.cell_type == "code" for out in cell.outputs]
    (story,) = [t for t in texts if "In the living model:" in t]
    first, bare, folded = (line.split(":", 1)[1].strip() for line in story.splitlines()[-3:])
    assert first == folded != bare
    (story,) = [t for t in texts if "stream without mean:" in t]
    assert [" king saw the young queen" in line for line in story.splitlines()[-3:]] == [
        False, True, True]


@pytest.mark.parametrize("seed", range(2))
def test_the_norm_buys_room_for_steps_and_starts(seed):
    """From a careful start at the usual step both stay whole; else only the one with norm does."""
    kept = exercises.training.layer_norm_back
    found = {(spread, step, how): exercises.trained(gpt2lab.Ops(layer_norm=rule), step,
                                                    how == "with norm", spread, seed)
             for spread, step in ((0.06, 0.006), (0.06, 0.024), (0.2, 0.006))
             for how, rule in RULES.items()}
    assert exercises.training.layer_norm_back is kept, "the way back was not put back"
    alone = exercises.frequencies_alone()
    for start, errors in found.items():
        assert len(errors) == 50
        if start[0] == 0.06 or start[2] == "with norm":
            assert errors[0] == pytest.approx(np.log(256), abs=0.4)
        if start[2] == "without" and start[:2] != (0.06, 0.006):
            assert errors.max() > 100           # it may come down again
        else:                                   # "no better yet than letter frequencies"
            assert errors.max() < 8 and errors[-10:].mean() == pytest.approx(alone, abs=0.4)


def test_what_letters_alone_cost():
    text = exercises.read_book().encode()
    counts = np.unique(np.frombuffer(text, np.uint8), return_counts=True)[1]
    wanted = -np.mean(np.repeat(np.log(counts / len(text)), counts))
    assert exercises.frequencies_alone() == pytest.approx(wanted)


def test_with_norm_blocks_add_and_without_they_multiply(model):
    """ "1.88 from 0.8", and rows "about 40 times" those that the MLP before has read."""
    ids = model.encode(STORY)
    trace, wild = model.trace(ids), replace(model, ops=gpt2lab.Ops(
        layer_norm=RULES["without"])).trace(ids)
    assert size(trace["h.1.mlp"]) == pytest.approx(1.88, abs=0.01)
    assert size(trace["h.1.ln_2"]) == pytest.approx(0.76, abs=0.01)
    assert 30 < size(wild["h.1.ln_2"]) / size(wild["h.0.ln_2"]) < 45
    assert 35 < size(wild["h.2.ln_2"]) / size(wild["h.1.ln_2"]) < 45
    for sizes in (stream_sizes(trace), stream_sizes(wild)):     # "about ten times as large"
        assert 8 < sizes[1] / sizes[0] < 12
    assert 1e4 < stream_sizes(wild)[-1] / stream_sizes(trace)[-1] < 1e6


@pytest.mark.parametrize("answer, named", [
    ("gain * w, bias + b", "columns of w, and the bias is added"),
    ("gain * w, b", "columns of w, and the bias of the norm is lost"),
    ("gain[:, None] * w, bias + b", "The bias is added to b as it is"),
    ("gain * w, bias @ w + b", "The gain multiplies the columns of w; each row")])
def test_first_tries_of_fold_are_named(my_ops, answer, named):
    space = {"np": np}
    exec(f"def fold(gain, bias, w, b):\n    return {answer}", space)
    assert named in verdict(space["fold"])
