"""Bonus lesson on training: what each known mistake of its exercises does to a short training."""
import math
from functools import cache

import numpy as np
import pytest

from cells import explorers_of, run
from drawing import drawn
from gpt2lab import inside, training
from gpt2lab.checkpoint import tokenizer
from gpt2lab.files import shipped
from gpt2lab.gelu import gelu
from gpt2lab.model import GPT2
from gpt2lab.softmax import softmax
from gpt2lab.teach import keep, keeping, yours
from gpt2lab.teach.checking import verdict
from gpt2lab.teach.exercises import exercises, training as ready_made
from gpt2lab.teach.pictures import training as pictures
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


# what the lesson measures, and what it draws

BOOK, HELD_OUT = ready_made.split(ready_made.read_book())


@pytest.fixture(scope="module")
def explorers():
    return explorers_of("bonus/training")


@pytest.fixture(scope="module")
def life():
    """A training of 30 steps with its diary."""
    run, diary = Training(small_config(N=16, D=8, H=2), pages_of(BOOK, 16), 30), {}
    ready_made.note(diary, run, HELD_OUT)
    for _ in range(30):
        run.advance()
        ready_made.note(diary, run, HELD_OUT)
    return run, diary


def test_steps_are_fewer_where_the_tests_say_so(monkeypatch):
    for said, wanted in (("30", 30), ("5000", 1200), ("", 1200)):
        monkeypatch.setenv("GPT2LAB_STEPS", said)
        assert ready_made.steps(1200) == wanted
    monkeypatch.delenv("GPT2LAB_STEPS")
    assert ready_made.steps(1200) == 1200


def test_a_text_of_ones_own_stands_beside_my_ops(tmp_path, monkeypatch):
    monkeypatch.setenv("GPT2LAB_MY_OPS", str(tmp_path / "my_ops"))
    (tmp_path / "mine.txt").write_text("A café.", encoding="utf-8")
    assert ready_made.read_book("mine.txt") == "A café."
    book, held_out = ready_made.split("A café. " * 10)
    assert tokenizer(256).decode([*book, *held_out]) == "A café. " * 10
    assert len(book) == 81 and len(held_out) == 9           # 90 bytes


def test_the_diary_holds_models_as_they_were(life):
    run, diary = life
    assert list(diary) == [0, 10, 20, 30]
    numbers = [model.weights["wte.weight"] for _, model in diary.values()]
    assert all((a != b).any() for a, b in zip(numbers, numbers[1:]))
    starts = np.linspace(0, len(HELD_OUT) - 17, 16).astype(int)
    for t, (loss, model) in diary.items():
        pages = [HELD_OUT[s:s + 17] for s in starts]
        assert loss == pytest.approx(np.mean([inside.position_losses(
            np.concatenate([model(p[:-1]), np.zeros((1, 256), np.float32)]), p).mean()
            for p in pages])), t
    ready_made.note(diary, run, HELD_OUT)
    assert list(diary) == [0, 10, 20, 30]


def test_counting_gives_the_lowest_loss_of_all_tables():
    ids = np.array(tokenizer(256).encode("abcabdabc"))
    pairs, loss = ready_made.counted(ids)
    a, b, c, d = tokenizer(256).encode("abcd")
    assert pairs.sum() == 8 and pairs[a, b] == 3 and pairs[b, c] == 2 and pairs[b, d] == 1
    # of 8 pairs, only what follows b is not sure: 2 of 3, 1 of 3
    assert loss == pytest.approx(-(2 * math.log(2 / 3) + math.log(1 / 3)) / 8)
    shares = np.log(np.maximum(pairs, 1e-9) / np.maximum(pairs.sum(axis=1, keepdims=True), 1e-9))
    assert training.cross_entropy(shares[ids[:-1]], ids[1:]) == pytest.approx(loss, abs=1e-6)
    moved = shares + np.random.default_rng(0).normal(0, 0.1, shares.shape)
    assert training.cross_entropy(moved[ids[:-1]], ids[1:]) > loss


def test_words_that_stand_in_the_book():
    assert ready_made.known_words("The king had a gug, an", "The king had an egg, a dog") == (4, 5)


def test_a_pairs_table_writes_what_follows():
    table = np.full((256, 256), -50.0)
    T, h, e = tokenizer(256).encode("The")
    table[T, h] = table[h, e] = table[e, T] = 50
    assert ready_made.pairs_write(table, letters=5) == "TheThe"


def test_a_text_grows_letter_by_letter_up_to_the_context(life):
    run, _ = life
    texts = list(ready_made.growing(run.model, "The ", 0.7, 3))
    assert len(texts[-1].encode("utf-8", "replace")) >= 16 and texts[0].startswith("The ")
    assert all(b.startswith(a) for a, b in zip(texts, texts[1:]))


def test_previous_weights_are_those_of_the_place_before(life):
    _, diary = life
    found = ready_made.previous_weights(diary, HELD_OUT[:16])
    pattern = diary[30][1].trace(HELD_OUT[:16])["h.0.attn.pattern"]         # (H, T, T)
    wanted = [np.mean([pattern[h, t, t - 1] for t in range(1, 16)]) for h in range(2)]
    assert found.shape == (4, 2)
    np.testing.assert_allclose(found[-1], wanted, rtol=1e-6)


def test_tellings_of_a_perfect_copier():
    """A model that knows nothing: log(256) everywhere, every head looks at all alike."""
    config = small_config(N=32, D=8, L=2, H=2)
    weights = {name: np.zeros(shape, np.float32) for name, shape in config.shapes()}
    first, later, patterns, followed, before = ready_made.tellings(GPT2(config, weights))
    assert first == pytest.approx(math.log(256), rel=1e-6) == later
    assert patterns.shape == (2, 2, 32, 32)
    # at place t each key gets 1 / (t + 1), and what followed stands there t // 10 times
    np.testing.assert_allclose(followed, np.mean([(t // 10) / (t + 1) for t in range(10, 32)]),
                               rtol=1e-5)
    np.testing.assert_allclose(before, np.mean([1 / (t + 1) for t in range(1, 32)]), rtol=1e-5)
    letters = ready_made.told_letters(32)
    assert letters[:10] == letters[10:20] and len(set(letters[:10])) == 10 and letters.isalpha()


def test_what_followed_is_counted_in_all_tellings():
    """Period 3: the query at 7 is the second letter, which was followed at 2 and at 5."""
    pattern = np.zeros((1, 1, 8, 8))
    pattern[0, 0, 7, [2, 5, 4]] = 0.5, 0.3, 0.2
    assert ready_made._what_followed(pattern, 3)[0, 0] == pytest.approx(0.8 / 5)
    pattern[0, 0, 7, :] = np.arange(8) == 7     # itself
    assert ready_made._what_followed(pattern, 3)[0, 0] == 0


def test_a_frequencies_loss_by_hand():
    ids = np.array(tokenizer(256).encode("aaab"))
    assert ready_made.frequencies_loss(ids) == pytest.approx(
        -(0.75 * math.log(0.75) + 0.25 * math.log(0.25)))


def test_a_loss_beyond_the_picture_is_written_there():
    fig = pictures.short({"up": ([5.0, 80.0], 72.4), "right": ([5.0, 3.0], 3.1)}, ("a floor", 3.05))
    assert [text.get_text() for text in fig.axes[0].texts] == ["72 "]
    assert "held out 72.4" in fig.alt
    drawn(fig)


def test_without_the_plus_the_stream_is_dropped():
    model = ready_made.tiny_model()
    assert {array.dtype for array in model.weights.values()} == {np.dtype(np.float64)}
    x = np.random.default_rng(0).normal(size=(4, 8))
    w = {name[4:]: array for name, array in model.weights.items() if name.startswith("h.0.")}
    from gpt2lab.block import block
    from gpt2lab.heads import attend_heads
    from gpt2lab.layernorm import layer_norm
    from gpt2lab.mlp import mlp
    parts = {"layer_norm": layer_norm, "attend_heads": attend_heads, "mlp": mlp}
    dropped = ready_made.without_plus(x, w, 2, **parts)
    assert np.abs(dropped - block(x, w, 2)).max() > 0.1
    nothing = {name: 0 * array if "c_proj" in name else array for name, array in w.items()}
    assert not ready_made.without_plus(x, nothing, 2, **parts).any()
    np.testing.assert_array_equal(block(x, nothing, 2), x)


@pytest.mark.parametrize("what", ready_made.MISTAKES)
def test_what_goes_wrong_shows_in_its_curve(what, monkeypatch):
    monkeypatch.delenv("GPT2LAB_STEPS", raising=False)
    ready_made.went_wrong.cache_clear()
    losses, held_out = ready_made.went_wrong(what, Rules(), 60)
    right, right_held_out = ready_made.went_wrong("nothing wrong", Rules(), 60)
    last = np.mean(losses[-5:])
    assert len(losses) == 60
    if what in ("nothing wrong", "mean for the bias's sum"):
        assert abs(last - np.mean(right[-5:])) < 0.15           # it hides
    elif what in ("targets not moved on by one", "the same four pages again and again"):
        assert last < 2.5 and held_out > last + 1.5             # the best curve, the worst model
    else:
        assert last > np.mean(right[-5:]) + 0.1 and held_out > right_held_out + 0.1
    ready_made.went_wrong.cache_clear()


def test_smooth_is_the_mean_of_the_latest():
    losses = [4.0, 2.0, 3.0, 1.0]
    np.testing.assert_allclose(pictures.smooth(losses, 2), [4, 3, 2.5, 2])
    np.testing.assert_allclose(pictures.smooth(losses), [4, 3, 3, 2.5])


def test_pictures_draw_what_was_measured(life):
    run, diary = life
    for step in diary:
        found = drawn(pictures.falling(run.losses, diary, step, "a\n b\x00 c $x$", run.steps))
        np.testing.assert_array_equal(found["losses"], run.losses)
        np.testing.assert_array_equal(found["held out"], [loss for loss, _ in diary.values()])
    at_start = drawn(pictures.falling([], {0: diary[0]}, 0, "", run.steps))
    assert at_start["held out"] == [diary[0][0]]
    weights = ready_made.previous_weights(diary, HELD_OUT[:16])
    found = drawn(pictures.plateau(list(diary), [5, 4, 3, 2], weights, 2.28))
    assert found["weights"] is weights
    told = [ready_made.tellings(model, 2, 4) for _, model in diary.values()]
    first, later, patterns, followed, before = ready_made.stacked(told)
    found = drawn(pictures.copying(list(diary), first, later, before[:, 0, 0], followed[:, 0, 1]))
    np.testing.assert_array_equal(found["later"], later)
    np.testing.assert_array_equal(found["followed"], followed[:, 0, 1])
    drawn(pictures.head_map(patterns[-1][0, 1], ready_made.told_letters(16), 30, 1, 0.5))
    found = drawn(pictures.head_maps(patterns[:, 0, 1], list(diary), followed[:, 0, 1]))
    assert len(found) == 4
    np.testing.assert_array_equal(found["step 30"], patterns[-1, 0, 1])
    assert drawn(pictures.pairs([5.5, 3.0, 2.5], 2.3))["floor"] == [2.3]


def test_explorers_at_their_ends(explorers):
    for draw, controls in explorers:
        options = [getattr(control, "options", None) or (control.min, control.value, control.max)
                   for control in controls.values()]
        for values in zip(*options) if len(options) > 1 else [(one,) for one in options[0]]:
            drawn(draw(**dict(zip(controls, values))))
