"""Bonus lesson on speculation: the passes that are drawn are the library's, at every setting."""
from pathlib import Path

import nbformat
import numpy as np
import pytest

import gpt2lab
from gpt2lab.lookup import guess
from gpt2lab.model import GPT2
from gpt2lab.teach import plot
from gpt2lab.teach.exercises import speculation as mistakes
from gpt2lab.teach.pictures import speculation as pictures

MODEL = gpt2lab.load()
NOTEBOOK = Path(__file__).resolve().parents[1] / "notebooks" / "bonus" / "speculation.ipynb"


def real_passes(text, tokens, k):
    """(rows, new tokens) of each pass that the library makes."""
    found = []

    class Watched(GPT2):
        def last_logits(self, ids, rows, cache=None):
            found.append([rows, 0])
            return super().last_logits(ids, rows, cache)
    watched = Watched(MODEL.config, MODEL.weights, MODEL.tokenizer)
    for _ in gpt2lab.generate.stream_ids(watched, MODEL.encode(text), tokens, None, temperature=0, lookup=k):
        found[-1][1] += 1
    return [tuple(one) for one in found]


@pytest.mark.parametrize("text, k", [("The king said", 8), ("It was a dark night, and", 3), ("tick tock tick tock", 1)])
def test_passes_are_the_librarys(text, k):
    prompt, new = MODEL.encode(text), pictures.greedy_ids(MODEL, text, 40)
    found = pictures.passes(prompt + new, len(prompt), k)
    assert [(len(checked) + 1, len(kept)) for checked, kept in found] == real_passes(text, len(new), k)
    assert [i for _, kept in found for i in kept] == new
    ids, passes, seconds = pictures.measured(MODEL, text, len(new), k)
    assert ids == new and passes == len(found) and seconds > 0
    assert pictures.measured(MODEL, text, len(new))[:2] == (new, len(new))


def test_passes_that_always_check_k():
    """Each pass checks all its guesses, keeps the right beginning and adds one token."""
    prompt, new = MODEL.encode("The king said"), pictures.greedy_ids(MODEL, "The king said", 40)
    text, place = prompt + new, len(prompt)
    for checked, kept in pictures.passes(text, place, 8, longest=2, careful=False):
        assert checked == guess(text[:place], min(8, len(text) - place - 1), 2)
        assert kept == text[place:place + len(kept)] and checked[:len(kept) - 1] == kept[:-1]
        assert len(checked) == len(kept) - 1 or checked[len(kept) - 1] != kept[-1]
        place += len(kept)
    assert place == len(text)


def test_what_the_text_says_of_the_first_picture():
    """5 passes at best, it took 15, and before pass 8 no token had come twice."""
    prompt, new = MODEL.encode("The king said"), pictures.greedy_ids(MODEL, "The king said", 40)
    found = pictures.passes(prompt + new, len(prompt), 8, careful=False)
    assert (len(new), -(-len(new) // 9), len(found)) == (40, 5, 15)
    assert [len(kept) for _, kept in found[:8]] == [1] * 8
    for seen, repeats in ((prompt + new[:7], 0), (prompt + new[:8], 1)):
        assert len(seen) - len(set(seen)) == repeats


def first_right(text):
    """The number of the first pass with a right guess, k = 8."""
    prompt, new = MODEL.encode(text), pictures.greedy_ids(MODEL, text, 40)
    found = pictures.passes(prompt + new, len(prompt), 8, careful=False)
    return next(i for i, (_, kept) in enumerate(found, 1) if len(kept) > 1)


def test_the_hints_of_the_play_tasks():
    cell = next(c.source for c in nbformat.read(NOTEBOOK, as_version=4).cells if "Hint for the second" in c.source)
    early, late = (hint.split('such as "')[1].split('"')[0] for hint in cell.split("<summary>Hint for the")[1:])
    asked = int(cell.split("in the first ")[1].split(" passes")[0])
    assert first_right(early) == 1 and first_right(late) > asked and asked <= pictures.ROWS
    for shown in ("The king said", '"Where are you going?" said the'):          # not solved on screen
        assert 1 < first_right(shown) <= asked


def test_greedy_ids_are_greedys_up_to_a_near_tie():
    ids = pictures.greedy_ids(MODEL, "Once upon a time", 12)
    assert ids == MODEL.generate_ids(MODEL.encode("Once upon a time"), max_new_tokens=12, temperature=0, eos_token_id=None).ids
    tie = "When the sun rose over the hills, the old man"
    short = pictures.greedy_ids(MODEL, tie, 60)
    second, first = np.sort(MODEL.next_logits(MODEL.encode(tie) + short))[-2:]
    assert len(short) < 60 and first - second < 0.01


@pytest.mark.parametrize("k, longest, careful", [(0, 1, False), (0, 5, True), (8, 3, False), (8, 3, True), (16, 5, False), (16, 1, True)])
@pytest.mark.parametrize("text", ["The king said", "tick tock " * 12])
def test_strip(text, k, longest, careful):
    fig = pictures.strip_of(MODEL, text, k, longest, careful, tokens=40)
    prompt, new = MODEL.encode(text), pictures.greedy_ids(MODEL, text, 40)
    found = pictures.passes(prompt + new, len(prompt), k, longest, careful)
    np.testing.assert_array_equal(fig.drawn["tokens"], [len(kept) for _, kept in found])
    np.testing.assert_array_equal(fig.drawn["checked"], [len(checked) for checked, _ in found])
    kept = len(new) - len(found)
    assert fig.alt.startswith(f"{len(new)} new tokens in {len(found)} passes")
    assert f"{kept} guesses kept, {fig.drawn['checked'].sum() - kept} refused" in fig.alt
    marks = [t.get_text()[0] for t in fig.axes[0].texts if t.get_text()[0] in "✓▸×"]
    if len(found) <= pictures.ROWS and not any(t.get_text() == "..." for t in fig.axes[0].texts):
        assert marks.count("✓") == kept
    assert marks.count("▸") == min(len(found), pictures.ROWS)           # in full rows too
    assert all(box.get_x() + box.get_width() <= pictures.WIDTH for box in fig.axes[0].patches)
    assert f"{kept} kept, {fig.drawn['checked'].sum() - kept} refused" in fig.axes[0].get_title()
    assert ("are shown" in fig.axes[0].get_title()) == (len(found) > pictures.ROWS)
    assert plot.png(fig).startswith(b"\x89PNG") and fig.get_figwidth() == 6.4


@pytest.mark.parametrize("text", ["$$ $x$", "<b>&", "a\nb", "🦀🦀🦀🦀", "word " * 200, "\x1b[0m", "When the sun rose over the hills, the old man"])
def test_any_text(text):
    for k, careful in ((0, False), (16, True)):
        fig = pictures.strip_of(MODEL, text, k, 3, careful, tokens=40)
        assert plot.png(fig).startswith(b"\x89PNG") and fig.alt


def test_no_token_that_can_be_called_and_no_text():
    with pytest.raises(ValueError, match="the prompt is empty"):
        pictures.strip_of(MODEL, "", 8)
    assert "too close to call" in pictures.strip_of(MODEL, "The king said", 8, tokens=0).alt


def test_tokens_per_pass():
    ids = MODEL.encode("one two three. " * 6)
    fig = pictures.tokens_per_pass({"three": (ids, 4), "none": (list(range(20)), 4)}, [0, 1, 8])
    assert fig.drawn["three"][0] == 1 and fig.drawn["three"][2] > fig.drawn["three"][1] > 1
    np.testing.assert_array_equal(fig.drawn["none"], [1, 1, 1])
    assert fig.drawn["three"][2] == (len(ids) - 4) / len(pictures.passes(ids, 4, 8))
    assert f"three {fig.drawn['three'][2]:.1f}" in fig.alt
    fig = pictures.tokens_per_pass({"three": (ids, 4)}, [8], careful=False)
    assert fig.drawn["three"][0] == (len(ids) - 4) / len(pictures.passes(ids, 4, 8, careful=False))


def test_times_of_a_pass():
    seconds = pictures.pass_seconds(MODEL, [1, 8, 70], seen=8, repeats=2)
    fig = pictures.pass_times([1, 8, 70], seconds)
    np.testing.assert_allclose(fig.drawn["one pass"], np.array(seconds) * 1e3)
    np.testing.assert_allclose(fig.drawn["one pass for each token"], np.array([1, 8, 70]) * seconds[0] * 1e3)
    assert fig.axes[0].get_xlabel().startswith("rows of the pass")
    assert min(seconds) > 0 and plot.png(fig).startswith(b"\x89PNG")
    ticks = pictures.pass_times([1, 128], [0.015, 0.1]).axes[0].get_yticks()
    assert {10, 20, 50, 100, 200, 500, 1000} <= {round(float(tick), 6) for tick in ticks}


@pytest.mark.parametrize("k, careful", [(0, True), (8, True), (8, False)])
def test_timed_passes_are_those_of_the_text(k, careful):
    """Each timed pass reads the text so far and its guesses: a guess kept is the best token of its row."""
    seen, prompt = [], MODEL.encode("The king said")
    ids = prompt + pictures.greedy_ids(MODEL, "The king said", 40)

    class Watched(GPT2):
        def last_logits(self, new, rows, cache=None):
            logits = super().last_logits(new, rows, cache)
            seen.append((rows, logits.argmax(axis=-1).tolist()))
            return logits
    assert pictures.writing_seconds(Watched(MODEL.config, MODEL.weights, MODEL.tokenizer), ids, len(prompt), k, careful) > 0
    found = pictures.passes(ids, len(prompt), k, careful=careful)
    assert [rows for rows, _ in seen] == [len(checked) + 1 for checked, _ in found]
    assert [best[:len(new)] for (_, best), (_, new) in zip(seen, found)] == [new for _, new in found]


def test_the_loops_version_is_the_librarys_guess():
    cell = next(c.source for c in nbformat.read(NOTEBOOK, as_version=4).cells if "def guess_loops" in c.source)
    space = {}
    exec(cell.split("\nfor text in")[0], space)
    rng = np.random.default_rng(0)
    for _ in range(300):
        ids = rng.integers(0, 4, rng.integers(0, 20)).tolist()
        k, longest = int(rng.integers(0, 9)), int(rng.integers(1, 5))
        assert space["guess_loops"](ids, k, longest) == guess(ids, k, longest)


def test_the_toy_model_of_the_checks():
    choose = mistakes.Choose(4, 5, 6, 7)
    assert choose([4, 5, 9], 3) == [5, 6, 99]
    assert mistakes.Choose(4, 5)([4, 5], 2) == [5, 99]
    with pytest.raises(RuntimeError, match="asked twice"):
        choose([4], 1)
    with pytest.raises(ValueError, match="rows must be from 1 to 1"):
        mistakes.Choose(4, 5)([4], 2)


def test_a_step_that_is_repeated_writes_the_text():
    text = (1, 2, 3, 1, 2, 3, 1, 2, 9, 1, 2, 3)
    ids, passes = [1, 2], 0
    while len(ids) < len(text) - 1:
        ids, passes = ids + mistakes.step(mistakes.Choose(*text, 0, 0, 0, 0), ids, 3), passes + 1
    assert tuple(ids[:len(text)]) == text and passes < len(text) - 2
