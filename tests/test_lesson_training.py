"""Bonus lesson on training: what each known mistake of its exercises does to a short training."""
import math
from functools import cache

import numpy as np
import pytest

from cells import run
from gpt2lab import training
from gpt2lab.checkpoint import tokenizer
from gpt2lab.files import shipped
from gpt2lab.gelu import gelu
from gpt2lab.model import GPT2
from gpt2lab.softmax import softmax
from gpt2lab.teach import keep, keeping, yours
from gpt2lab.teach.checking import verdict
from gpt2lab.teach.exercises import exercises, training as ready_made
from gpt2lab.training import Rules, Training, gradients, pages_of, small_config

ALL, STEPS, PLACES = exercises(), 80, 32
NAMES = ["cross_entropy", "cross_entropy_back", "linear_back", "update", "gelu_back"]
WRITTEN = {"cross_entropy": """
def cross_entropy(logits, targets):
    z = logits - logits.max(axis=-1, keepdims=True)
    right = z[np.arange(len(targets)), targets]
    return (np.log(np.exp(z).sum(axis=-1)) - right).mean()
""", "cross_entropy_back": """
def cross_entropy_back(logits, targets):
    g = softmax(logits)
    g[np.arange(len(targets)), targets] -= 1
    return g / len(targets)
""", "linear_back": """
def linear_back(x, w, g):
    return [g @ w.T, (g.T @ x).T, np.ones(len(g), g.dtype) @ g]
""", "update": """
def update(p, g, rate):
    return -rate * g + p
"""}


@cache
def trained(seed=0, steps=STEPS, **rules):
    """A small GPT after a short training, with some operations exchanged; .losses has the curve."""
    path = shipped("data") / "training-text" / "wizard-of-oz.txt"
    ids = tokenizer(256).encode(path.read_text(encoding="utf-8")[:20_000])
    config = small_config(V=256, N=PLACES, D=16, L=1, H=2)
    trained = Training(config, pages_of(ids, PLACES), steps, seed=seed, rules=Rules(**rules))
    for _ in range(steps):
        trained.advance()
    return trained


def end(**rules):
    """The mean loss of the last ten steps."""
    return np.mean(trained(**rules).losses[-10:])


@cache
def small_model():
    """A model in float64, all of its numbers drawn, and a text in which an id comes twice."""
    rng = np.random.default_rng(0)
    config = small_config(V=11, N=6, D=8, L=1, H=2)
    weights = {name: rng.normal(0, 0.4, shape) for name, shape in config.shapes()}
    return config, weights, np.array([3, 1, 4, 1, 5, 9])


@cache
def measured():
    """{name: [(place, how much the loss grows there)]}, by central differences, two of each."""
    config, weights, ids = small_model()
    found, h = {}, 1e-5
    for name, array in weights.items():
        places = [divmod(i, array.shape[1]) if array.ndim == 2 else (i,)
                  for i in (1 if name == "wpe.weight" else array.size // 3, array.size // 5)]
        found[name] = []
        for place in places:
            losses = []
            for sign in (1, -1):
                moved = array.copy()
                moved[place] += sign * h
                model = GPT2(config, weights | {name: moved})
                losses.append(training.cross_entropy(model(ids[:-1]), ids[1:]))
            found[name].append((place, (losses[0] - losses[1]) / (2 * h)))
    return found


def farthest(**rules):
    """How far gradients are from the measured ones, as a share of the array's largest."""
    config, weights, ids = small_model()
    _, found = gradients(GPT2(config, weights), ids, Rules(**rules))
    right = gradients(GPT2(config, weights), ids)[1]
    worst = 0.0
    for name, places in measured().items():
        if np.shape(found[name]) != weights[name].shape:
            return math.inf
        size = max(np.abs(right[name]).max(), 1e-3)     # K's bias has no gradient at all
        for place, slope in places:
            worst = max(worst, abs(float(found[name][place]) - slope) / size)
    return worst


def test_the_right_functions_learn_and_fit_the_measured_gradients():
    losses = trained().losses
    assert losses[0] == pytest.approx(math.log(256), abs=0.1)
    assert end() < 3.6 and len(losses) == STEPS
    assert farthest() < 1e-7


@pytest.mark.parametrize("name, mistake", [
    ("cross_entropy_back", ready_made.back_one_hot_missing),
    ("cross_entropy_back", ready_made.back_everywhere_one),
    ("update", ready_made.step_not_taken),
    ("update", ready_made.step_in_proportion),
    ("update", ready_made.step_of_both)])
def test_these_do_not_learn(name, mistake):
    assert end(**{name: mistake}) > end() + 1 and end(**{name: mistake}) > 4.5


@pytest.mark.parametrize("name, mistake", [
    ("update", ready_made.step_uphill),
    ("cross_entropy_back", ready_made.back_turned_round)])
def test_uphill_rises(name, mistake):
    losses = trained(**{name: mistake}).losses
    assert end(**{name: mistake}) > 2 * losses[0]


def test_a_step_as_long_as_the_gradient_is_too_long():
    losses = trained(update=ready_made.step_without_rate).losses
    assert max(losses[:5]) > losses[0] + 1 and min(losses[5:]) > end() + 1


@pytest.mark.parametrize("name, mistake", [
    ("linear_back", ready_made.twin_mean_of_bias),
    ("linear_back", ready_made.twin_means),
    ("cross_entropy_back", ready_made.back_not_over_T),
    ("cross_entropy_back", ready_made.back_over_V),
    ("cross_entropy_back", ready_made.back_of_squares)])
def test_a_factor_is_silent_under_adam_and_the_measured_gradients_tell(name, mistake):
    """Adam divides a gradient by its usual size, so no constant factor of an array is seen."""
    other = {name: mistake}
    np.testing.assert_allclose(trained(**other).losses, trained().losses, rtol=0, atol=1e-3)
    assert farthest(**other) > 0.1


@pytest.mark.parametrize("name, mistake", [
    ("linear_back", ready_made.twin_w_without_g),
    ("linear_back", ready_made.twin_bias_ones),
    ("cross_entropy_back", ready_made.back_every_pair)])
def test_a_wrong_gradient_may_learn_nearly_as_well_and_the_measured_ones_tell(name, mistake):
    assert end(**{name: mistake}) < 4 and farthest(**{name: mistake}) > 0.1


# What a check of gradients cannot see, and why.
UNSEEN = {
    "back_overflows": "no logit of this model is large",
    "back_one_maximum": "no row of logits lies far below another",
    "back_in_float64": "the check is made in float64",
    "back_in_float32": "the digits of float32 are enough",
    "twin_in_float64": "the check is made in float64",
    "twin_in_float32": "the digits of float32 are enough",
}


@pytest.mark.parametrize("name, mistake", [
    pytest.param(name, mistake, id=f"{name}-{mistake.__name__}")
    for name in ("cross_entropy_back", "linear_back") for mistake in ALL[name].mistakes])
def test_measured_gradients_tell_each_mistake_of_a_way_back(name, mistake):
    try:
        far = farthest(**{name: mistake})
    except (ValueError, IndexError, TypeError, np.linalg.LinAlgError):
        far = math.inf                          # shapes that fit nowhere are told as well
    assert (far < 1e-6) if mistake.__name__ in UNSEEN else (far > 1e-2)


def test_what_is_unseen_is_there():
    assert set(UNSEEN) <= {mistake.__name__ for name in NAMES for mistake in ALL[name].mistakes}


def test_the_number_that_is_shown_moves_nothing():
    """The way back does not come from the loss: a wrong one learns, and shows wrong numbers."""
    wrong, right = trained(cross_entropy=ready_made.loss_summed), trained()
    np.testing.assert_allclose(np.array(wrong.losses) / PLACES, right.losses, rtol=1e-5)
    for name, array in right.model.weights.items():
        np.testing.assert_array_equal(wrong.model.weights[name], array)


def test_a_step_in_proportion_leaves_what_is_0():
    weights = trained(update=ready_made.step_in_proportion).model.weights
    assert all((array == 0).all() for name, array in weights.items() if name.endswith(".bias"))
    assert all((array != 0).any() for array in trained().model.weights.values())


def test_signs_alone_do_under_adam():
    """Its directions are near to 1 and -1 anyway: a curve cannot tell this mistake."""
    assert end(update=ready_made.step_by_sign) < 3.6


def test_what_a_learner_writes_is_kept_and_trains(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("GPT2LAB_MY_OPS", str(tmp_path))
    for name, source in WRITTEN.items():
        assert yours(name) is getattr(training, name)
        space = {"__name__": "__main__", "np": np, "softmax": softmax}
        run(source, space)
        assert keep(space[name]) == "Kept for the later lessons."
    capsys.readouterr()
    own = {name: yours(name) for name in WRITTEN}
    assert capsys.readouterr().out.splitlines() == [f"{name}: yours" for name in WRITTEN]
    assert all(own[name] is not getattr(training, name) for name in WRITTEN)
    losses = trained(steps=20, **own).losses
    np.testing.assert_allclose(losses, trained(steps=20).losses, rtol=0, atol=1e-3)
    assert farthest(**own) < 1e-7


def test_a_generator_needs_none_of_them():
    built = {name for names in keeping.BUILDS.values() for name in names}
    assert set(NAMES) <= ALL.keys() and not built & set(NAMES)


def case(name, label):
    return next(case.arguments for case in ALL[name].cases if case.label.startswith(label))


def test_labels_of_cases_say_what_is_in_them():
    logits, targets = case("cross_entropy", "two rows, p = 1/2 and p = 1/8")
    np.testing.assert_allclose(softmax(logits)[[0, 1], targets], [1 / 2, 1 / 8], rtol=1e-6)
    assert training.cross_entropy(logits, targets) == pytest.approx(math.log(4))
    logits, targets = case("cross_entropy", "a right token 800 below")
    below = logits.max(axis=-1) - logits[np.arange(3), targets]
    assert sorted(below)[1:] == [800, 800] and np.exp(-800.0) == 0
    for name in ("cross_entropy", "cross_entropy_back", "linear_back", "update", "gelu_back"):
        wide = [c for c in ALL[name].cases if c.label.endswith(", in float64")]
        assert len(wide) == 1 and {one.dtype for one in wide[0].arguments
                                   if getattr(one, "dtype", np.int64) != np.int64} == {
                                       np.dtype(np.float64)}


@pytest.mark.parametrize("h", [1e-4, 1e-5, 1e-6])
def test_gelus_slope_may_be_measured(h, tmp_path, monkeypatch):
    """In float64, close by. In float32 a difference of near numbers has too few digits."""
    monkeypatch.setenv("GPT2LAB_MY_OPS", str(tmp_path))

    def gelu_back(x, g):
        wide = x.astype(np.float64)
        return (g * (gelu(wide + h) - gelu(wide - h)) / (2 * h)).astype(x.dtype)
    assert verdict(gelu_back).startswith("gelu_back: all 8 cases pass.")

    def gelu_back(x, g):
        return g * (gelu(x + h) - gelu(x - h)) / (2 * h)
    assert "cases pass\nfirst miss: " in verdict(gelu_back)
