"""Lesson 11: the explorer's numbers and its growing text, and the other pictures."""
import itertools
import math
from types import SimpleNamespace

import numpy as np
import pytest

import gpt2lab
from cells import functions, shown
from drawing import drawn
from gpt2lab.sampling import probabilities, sample
from gpt2lab.teach import show
from gpt2lab.teach.exercises import sampling as exercises
from gpt2lab.teach.exercises.sampling import entropy, grown, penalised
from gpt2lab.teach.pictures import sampling as pictures

KING = "Once upon a time there was a king"
LOGITS = np.log(np.array([30, 20, 15, 10, 8, 7, 6, 4], np.float64))
SAMPLERS = [{"temperature": 0}, {"temperature": 2.0}, {"temperature": 1.0, "top_k": 3},
            {"temperature": 1.0, "top_p": 0.7}, {"temperature": 1.0, "min_p": 0.3}]
START = {"temperature": 1.0, "greedy": False, "top_k": 0, "top_p": 1.0, "min_p": 0.0, "seed": 0,
         "presses": 0}


@pytest.fixture(scope="module")
def model():
    return gpt2lab.load()


@pytest.fixture(scope="module")
def lesson(model):
    return functions("11_sampling", "explore", "before_and_after", "candidates",
                     "probabilities_loops", model=model, probabilities=probabilities, sample=sample)


@pytest.fixture(autouse=True)
def nothing_remembered():
    exercises._begun.cache_clear()


class Toy:
    """A model that always gives the same eight logits, and counts how often it is asked."""
    config = SimpleNamespace(n_layer=1, n_head=1, n_embd=1, n_positions=30_000, eos_token_id=None)

    def __init__(self):
        self.asked = 0

    def encode(self, prompt):
        return [0] * len(prompt)

    def next_logits(self, ids, cache):
        self.asked += 1
        cache.length += len(ids)
        return LOGITS


# the text that grows

def ids_of(steps):
    """What was drawn."""
    assert steps[0].drawn is steps[0].u is None
    return [step.drawn for step in steps[1:]]


@pytest.mark.parametrize("settings", SAMPLERS, ids=str)
def test_20_000_draws_follow_the_exact_distribution(settings):
    made = probabilities(LOGITS, **settings)    # always the same here: computed once, to be quick
    steps = grown(20_000, Toy(), "x", 1, lambda logits, **named: made, sample, **settings)
    counts, exact = np.bincount(ids_of(steps), minlength=8), made
    assert counts.sum() == 20_000 and not counts[exact == 0].any()
    assert misfit(counts, exact) <= 5
    if settings == {"temperature": 2.0}:
        wrong = probabilities(LOGITS, 2.2)
        assert misfit(counts, wrong) > 5, "this test would notice a wrong sampler"


def misfit(counts, exact):
    """Chi-square less its mean, in standard deviations."""
    possible = exact > 0
    expected, f = counts.sum() * exact[possible], possible.sum() - 1
    chi = ((counts[possible] - expected) ** 2 / expected).sum()
    return (chi - f) / math.sqrt(2 * max(f, 1))


@pytest.mark.parametrize("settings", [
    {"temperature": 0}, {"temperature": 0.8, "top_k": 40}, {"temperature": 1.5, "top_p": 0.9}])
def test_the_text_is_what_generate_writes_with_this_seed(model, settings):
    wanted = model.generate_ids(model.encode(KING), max_new_tokens=5, seed=7, eos_token_id=None,
                                **settings).ids
    for n in range(6):
        steps = grown(n, model, KING, 7, probabilities, sample, **settings)
        assert ids_of(steps) == wanted[:n]


def test_it_calls_the_lessons_functions_with_the_settings():
    seen = []

    def chances(logits, **settings):
        seen.append((logits, settings))
        return "chances"
    steps = grown(2, Toy(), "x", 3, chances, lambda probs, u: {"chances": 5}[probs], top_k=4)
    assert ids_of(steps) == [5, 5] and seen == [(LOGITS, {"top_k": 4})] * 2
    assert [step.u for step in steps[1:]] == list(np.random.default_rng(3).random(2))


def test_pure_whatever_was_asked_before(model):
    """All orders of three calls give the same three texts."""
    calls = [(3, 1, 1.0), (1, 1, 1.0), (2, 2, 0.5)]

    def text(count, seed, temperature):
        return ids_of(grown(count, model, KING, seed, probabilities, sample,
                            temperature=temperature))
    fresh = {}
    for call in calls:
        exercises._begun.cache_clear()
        fresh[call] = text(*call)
    for order in itertools.permutations(calls):
        exercises._begun.cache_clear()
        for call in order:
            assert text(*call) == fresh[call]


def test_a_press_costs_one_model_step():
    toy = Toy()
    for count in range(6):
        grown(count, toy, "prompt", 1, probabilities, sample, temperature=1.0)
        assert toy.asked == count + 1
    grown(5, toy, "prompt", 1, probabilities, sample, temperature=1.0)
    assert toy.asked == 6, "a picture drawn again costs none"
    for seed in range(50):
        grown(0, toy, "prompt", seed, probabilities, sample, temperature=1.0)
    assert exercises._begun.cache_info().currsize == 8


def test_a_text_that_failed_begins_anew():
    toy, broken = Toy(), [True]

    def choose(probs, u):
        if broken:
            raise ValueError("broken")
        return sample(probs, u)
    for count in (0, 1, 1):
        try:
            grown(count, toy, "prompt", 1, probabilities, choose)
        except ValueError as error:
            assert count and str(error) == "broken"
    broken.clear()
    right = ids_of(grown(3, Toy(), "prompt", 1, probabilities, sample))
    assert ids_of(grown(3, toy, "prompt", 1, probabilities, choose)) == right


def test_the_text_ends_where_the_context_does(model, lesson):
    prompt = " a" * 254
    steps = grown(10, model, prompt, 1, probabilities, sample, temperature=1.0)
    done = model.generate_ids(model.encode(prompt), max_new_tokens=10, seed=1, eos_token_id=None,
                              temperature=1.0)
    assert steps[-1].end == "the context is full"
    assert ids_of(steps) == done.ids and len(done.ids) == 3
    fig = lesson.explore(prompt, **START | {"seed": 1, "presses": 10})
    assert any("the context is full" in text.get_text() for ax in fig.axes for text in ax.texts)


def test_the_text_ends_with_the_end_token():
    toy = Toy()
    toy.config = SimpleNamespace(**{**vars(Toy.config), "eos_token_id": 0})
    steps = grown(10, toy, "x", 1, probabilities, sample, temperature=0)
    assert ids_of(steps) == [0] and steps[-1].end == "the end token was drawn"


# the explorer

@pytest.mark.parametrize("settings", [
    {}, {"temperature": 3.0}, {"greedy": True, "temperature": 3.0}, {"top_k": 1}, {"top_p": 0.05},
    {"min_p": 1.0}, {"temperature": 0.1, "top_k": 100, "top_p": 0.05, "min_p": 1.0},
    {"top_p": 1.0000000000000002}, {"min_p": 1.0000000000000002},
    {"temperature": 1.5, "top_k": 30, "top_p": 0.9, "min_p": 0.05, "presses": 3}], ids=str)
def test_explorer_draws_the_exact_numbers(model, lesson, settings):
    fig = lesson.explore(KING, **START | settings)
    arrays, count = drawn(fig), settings.get("presses", 0)
    T = 0 if settings.get("greedy") else settings.get("temperature", 1.0)
    cuts = {name: settings.get(name) for name in ("top_k", "top_p", "min_p")}
    cuts = {name: value if value is None else min(value, 1.0) if name != "top_k" else value
            for name, value in cuts.items()}
    ids = model.generate_ids(model.encode(KING), max_new_tokens=count, seed=0, temperature=T,
                             eos_token_id=None, **cuts).ids
    logits = model.next_logits(model.encode(KING) + ids)
    after, before = probabilities(logits, T, **cuts), probabilities(logits, T or 1.0)
    assert list(arrays["best"]) == list(np.argsort(-logits, kind="stable")[:20])
    np.testing.assert_allclose(arrays["before"], before[arrays["best"]], atol=1e-6)
    np.testing.assert_allclose(arrays["after"], after[arrays["best"]], atol=1e-6)
    assert arrays["number"] == (after > 0).sum() >= 1
    assert arrays["mass"] == pytest.approx(before[after > 0].sum(), abs=1e-5)
    assert arrays["bits"] == pytest.approx(entropy(after), abs=1e-4) and arrays["bits"] >= 0
    top, bars, side = fig.axes
    labels = [text.get_text() for text in bars.texts]
    cut = after[arrays["best"]] == 0
    widths = [bar.get_width() for bar in bars.patches]      # the kept ones, then those that are cut
    np.testing.assert_array_equal(widths, [*arrays["before"][~cut], *arrays["before"][cut]])
    np.testing.assert_array_equal(bars.lines[0].get_xdata(), arrays["after"][~cut])
    assert [label == "cut" for label in labels] == list(cut), "kept and cut differ in words too"
    assert f"{count} tokens drawn with seed 0." in fig.alt
    written = show.token(model.tokenizer.decode(ids)).replace("·", " ")
    assert top.texts[0].get_text().replace("\n", " ") == f"{KING}|{written}".rstrip()
    last = show.token(model.tokenizer.decode(ids[-1:])) if ids else "none yet"
    assert f"tokens drawn\n{count}\n\nlast draw\n{last}" in side.texts[0].get_text()


@pytest.mark.parametrize("prompt", ["$$ x_1^2 $ <b>&amp;\t", "🤗 naïve\n龍", "long " * 200])
def test_explorer_of_awkward_text(lesson, prompt):
    drawn(lesson.explore(prompt, **START | {"temperature": 3.0, "presses": 2}))


def test_explorer_refuses_an_empty_prompt_with_a_sentence(lesson):
    for _ in range(2):
        with pytest.raises(ValueError, match="the prompt is empty"):
            lesson.explore("", **START)


def test_long_text_keeps_its_end():
    lines = pictures._wrapped("start " * 100, "the end", 5).split("\n")
    assert len(lines) == 5 and lines[0] == "…" and lines[-1].endswith("|the end")


# the other pictures, and the notebook's own functions

def test_candidates_are_the_models(model, lesson):
    choices = {"one": {}, "two": {"top_k": 3}}
    arrays = drawn(lesson.candidates(probabilities, KING, choices))
    logits = model.next_logits(model.encode(KING))
    assert list(arrays["best"]) == list(np.argsort(-logits, kind="stable")[:8])
    for title, settings in choices.items():
        after = probabilities(logits, **settings)
        np.testing.assert_array_equal(arrays[title], after[arrays["best"]])


def test_each_u_falls_on_its_part_of_the_line():
    probs = np.array([0.5, 0, 0.25, 0.25])
    us = [0.1, 0.5, 0.8]
    arrays = drawn(pictures.line(probs, us, [sample(probs, u) for u in us]))
    assert list(arrays["ids"]) == [0, 2, 3] and list(arrays["edges"]) == [0, 0.5, 0.5, 0.75, 1]
    (fig,) = shown("11_sampling", "pictures.line(", pictures=pictures, gpt2lab=gpt2lab,
                   p=np.array([8, 4, 2, 1]) / 15)
    assert list(fig.drawn["ids"]) == [0, 1, 3] and list(fig.drawn["u"]) == [0.2, 0.7, 0.95]


def test_many_draws_says_whether_they_are_near():
    fig = pictures.many_draws(["a", "b"], [0.6, 0.4], [620, 380])
    assert list(drawn(fig)["shares"]) == [0.62, 0.38] and "not all within 0.01" in fig.alt


def test_nucleus_draws_running_sums(model):
    (fig,) = shown("11_sampling", "pictures.nucleus(", pictures=pictures, model=model,
                   probabilities=probabilities)
    for prompt, total in drawn(fig).items():
        probs = probabilities(model.next_logits(model.encode(prompt)))
        np.testing.assert_array_equal(total, np.cumsum(np.sort(probs)[::-1]))
        number = (probabilities(model.next_logits(model.encode(prompt)), top_p=0.9) > 0).sum()
        assert f"after “{prompt}” {number:,}" in fig.alt
    assert len(fig.drawn) == 3


def test_loops_version_is_the_operation(lesson):
    everything = {"temperature": 0.8, "top_k": 6, "top_p": 0.9, "min_p": 0.2}
    for settings in [*SAMPLERS[1:], everything]:
        np.testing.assert_allclose(lesson.probabilities_loops(list(LOGITS), **settings),
                                   probabilities(LOGITS, **settings), atol=1e-12)
    assert lesson.probabilities_loops([1.0, 3.0, 3.0], top_k=1) == [0, 1, 0]


def test_penalty_always_lowers():
    logits = np.array([3.0, -3.0, 0.0, 1.0])
    assert (penalised(logits, [0, 1, 2], 1.2) <= logits).all()
    assert penalised(logits, [0], 1.2)[3] == 1
