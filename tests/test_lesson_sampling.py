"""Lesson 11: the explorer's numbers and its growing text, and the other pictures."""
import itertools
import math
from pathlib import Path
from types import SimpleNamespace

import nbformat
import numpy as np
import pytest

import gpt2lab
from gpt2lab.sampling import probabilities
from gpt2lab.teach.exercises.sampling import entropy, penalised
from gpt2lab.teach.pictures import sampling as pictures
from drawing import drawn

NOTEBOOK = Path(__file__).resolve().parents[1] / "notebooks" / "11_sampling.ipynb"
KING = "Once upon a time there was a king"
LOGITS = np.log(np.array([30, 20, 15, 10, 8, 7, 6, 4], np.float64))
SAMPLERS = [{"temperature": 0}, {"temperature": 2.0}, {"temperature": 1.0, "top_k": 3}, {"temperature": 1.0, "top_p": 0.7},
            {"temperature": 1.0, "min_p": 0.3}]


@pytest.fixture(scope="module")
def model():
    return gpt2lab.load()


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

@pytest.mark.parametrize("settings", SAMPLERS, ids=str)
def test_20_000_draws_follow_the_exact_distribution(settings, monkeypatch):
    made = probabilities(LOGITS, **settings)        # always the same here: computed once, to be quick
    monkeypatch.setattr(pictures, "probabilities", lambda logits, **named: made)
    text = pictures.Growing(Toy())("x", 1, 20_000, **settings)
    counts, exact = np.bincount(text.drawn, minlength=8), probabilities(LOGITS, **settings)
    assert counts.sum() == 20_000 and not counts[exact == 0].any()
    assert misfit(counts, exact) <= 5
    if settings == {"temperature": 2.0}:
        assert misfit(counts, probabilities(LOGITS, 2.2)) > 5, "this test would notice a wrong sampler"


def misfit(counts, exact):
    """Chi-square less its mean, in standard deviations."""
    possible = exact > 0
    expected, f = counts.sum() * exact[possible], possible.sum() - 1
    return (((counts[possible] - expected) ** 2 / expected).sum() - f) / math.sqrt(2 * max(f, 1))


@pytest.mark.parametrize("settings", [{"temperature": 0}, {"temperature": 0.8, "top_k": 40}, {"temperature": 1.5, "top_p": 0.9}])
def test_the_text_is_what_generate_writes_with_this_seed(model, settings):
    growing = pictures.Growing(model)
    wanted = model.generate_ids(model.encode(KING), max_new_tokens=5, seed=7, eos_token_id=None, **settings).ids
    assert [growing(KING, 7, n, **settings).drawn[:] for n in range(6)] == [wanted[:n] for n in range(6)]


def test_pure_whatever_was_asked_before(model):
    """All orders of three calls give the same three texts."""
    calls = [(KING, 1, 3, 1.0), (KING, 1, 1, 1.0), (KING, 2, 2, 0.5)]
    fresh = {call: pictures.Growing(model)(*call[:3], temperature=call[3]).drawn[:] for call in calls}
    growing = pictures.Growing(model)
    for order in itertools.permutations(calls):
        for call in order:
            assert growing(*call[:3], temperature=call[3]).drawn == fresh[call]


def test_a_press_costs_one_model_step():
    toy = Toy()
    growing = pictures.Growing(toy)
    for count in range(6):
        growing("prompt", 1, count, temperature=1.0)
        assert toy.asked == count + 1
    growing("prompt", 1, 5, temperature=1.0)
    assert toy.asked == 6, "a picture drawn again costs none"
    for seed in range(50):
        growing("prompt", seed, 0, temperature=1.0)
    assert len(growing.texts) == growing.MOST


def test_the_text_ends_where_the_context_does(model):
    text = pictures.Growing(model)(" a" * 254, 1, 10, temperature=1.0)
    done = model.generate_ids(model.encode(" a" * 254), max_new_tokens=10, seed=1, eos_token_id=None, temperature=1.0)
    assert text.end == "the context is full" and text.drawn == done.ids and len(text.drawn) == 3
    fig = pictures.explorer(pictures.Growing(model), " a" * 254, seed=1, presses=10)
    assert any("the context is full" in words.get_text() for ax in fig.axes for words in ax.texts)


def test_the_text_ends_with_the_end_token():
    toy = Toy()
    toy.config = SimpleNamespace(**{**vars(Toy.config), "eos_token_id": 0})
    text = pictures.Growing(toy)("x", 1, 10, temperature=0)
    assert text.drawn == [0] and text.end == "the end token was drawn"


# the explorer

@pytest.mark.parametrize("settings", [
    {}, {"temperature": 3.0}, {"greedy": True, "temperature": 3.0}, {"top_k": 1}, {"top_p": 0.05}, {"min_p": 1.0},
    {"temperature": 0.1, "top_k": 100, "top_p": 0.05, "min_p": 1.0},
    {"temperature": 1.5, "top_k": 30, "top_p": 0.9, "min_p": 0.05, "presses": 3}], ids=str)
def test_explorer_draws_the_exact_numbers(model, settings):
    fig = pictures.explorer(pictures.Growing(model), KING, **settings)
    arrays = fig.drawn
    logits = model.next_logits(arrays["ids"])
    T = 0 if settings.get("greedy") else settings.get("temperature", 1.0)
    after = probabilities(logits, T, settings.get("top_k"), settings.get("top_p"), settings.get("min_p"))
    before = probabilities(logits, T or 1.0)
    assert len(arrays["ids"]) == len(model.encode(KING)) + settings.get("presses", 0)
    assert list(arrays["best"]) == list(np.argsort(-logits, kind="stable")[:20])
    np.testing.assert_allclose(arrays["before"], before[arrays["best"]], atol=1e-6)
    np.testing.assert_allclose(arrays["after"], after[arrays["best"]], atol=1e-6)
    assert arrays["number"] == (after > 0).sum() >= 1
    assert arrays["mass"] == pytest.approx(before[after > 0].sum(), abs=1e-5)
    assert arrays["bits"] == pytest.approx(entropy(after), abs=1e-4) and arrays["bits"] >= 0
    labels = [words.get_text() for words in fig.axes[1].texts]
    assert [label == "cut" for label in labels] == list(after[arrays["best"]] == 0), "kept and cut differ in words too"


@pytest.mark.parametrize("prompt", ["$$ x_1^2 $ <b>&amp;\t", "🤗 naïve\n龍", "long " * 200])
def test_explorer_of_awkward_text(model, prompt):
    drawn(pictures.explorer(pictures.Growing(model), prompt, temperature=3.0, presses=2))


def test_explorer_refuses_an_empty_prompt_with_a_sentence(model):
    with pytest.raises(ValueError, match="the prompt is empty"):
        pictures.explorer(pictures.Growing(model), "")


def test_long_text_keeps_its_end():
    lines = pictures._wrapped("start " * 100, "the end", 5).split("\n")
    assert len(lines) == 5 and lines[0] == "…" and lines[-1].endswith("|the end")


# the other pictures, and the notebook's own functions

def test_other_pictures_draw_what_they_say(model):
    choices = {"one": {}, "two": {"top_k": 3}}
    arrays, logits = drawn(pictures.candidates(model, KING, choices)), model.next_logits(model.encode(KING))
    for title, settings in choices.items():
        np.testing.assert_array_equal(arrays[title], probabilities(logits, **settings)[arrays["best"]])
    probs = np.array([0.5, 0, 0.25, 0.25])
    arrays = drawn(pictures.line(probs, 0.1, 0.5, 0.8))
    assert list(arrays["ids"]) == [0, 2, 3] and list(arrays["edges"]) == [0, 0.5, 0.5, 0.75, 1]
    fig = pictures.many_draws(["a", "b"], [0.6, 0.4], [620, 380])
    assert list(drawn(fig)["shares"]) == [0.62, 0.38] and "not all within 0.01" in fig.alt
    total = drawn(pictures.nucleus(model, [KING], 0.9))[KING]
    np.testing.assert_array_equal(total, np.cumsum(np.sort(probabilities(logits))[::-1]))


def test_loops_version_is_the_operation():
    loops = function_of_the_notebook("probabilities_loops")
    for settings in [*SAMPLERS[1:], {"temperature": 0.8, "top_k": 6, "top_p": 0.9, "min_p": 0.2}]:
        np.testing.assert_allclose(loops(list(LOGITS), **settings), probabilities(LOGITS, **settings), atol=1e-12)
    assert loops([1.0, 3.0, 3.0], top_k=1) == [0, 1, 0]


def test_penalty_always_lowers():
    logits = np.array([3.0, -3.0, 0.0, 1.0])
    assert (penalised(logits, [0, 1, 2], 1.2) <= logits).all() and penalised(logits, [0], 1.2)[3] == 1


def function_of_the_notebook(name):
    space = {"np": np, "math": math}
    for cell in nbformat.read(NOTEBOOK, as_version=4).cells:
        if cell.cell_type == "code" and f"def {name}(" in cell.source:
            exec(cell.source.split("\n\n")[0], space)
    return space[name]
