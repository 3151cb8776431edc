"""Bonus lesson on speculation: the passes that are drawn are the library's, at every setting."""
import nbformat
import numpy as np
import pytest

import gpt2lab
from cells import NOTEBOOKS, ran
from drawing import two_lines
from gpt2lab.lookup import accept, guess
from gpt2lab.teach import plot, show
from gpt2lab.teach.exercises import speculation as ready_made
from gpt2lab.teach.exercises.speculation import greedy_ids, greedy_in_passes, passes_of
from gpt2lab.teach.pictures import speculation as pictures

LESSON = ran("bonus/speculation", "import gpt2lab", "def strip_of", "def guess_loops",
             "def tokens_a_pass", "play.explore")
MODEL, strip_of = LESSON["model"], LESSON["strip_of"]


def watch_logits(see):
    """A tap that shows the logits (rows, V) of each pass to a function."""
    def tap(name, function):
        def watched(*arguments, **named):
            logits = function(*arguments, **named)
            see(logits)
            return logits
        return watched if name == "logits" else function
    return tap


def real_passes(text, tokens, k):
    """(rows, new tokens) of each pass that the library makes."""
    found = []
    watched = MODEL.tapped(watch_logits(lambda logits: found.append([len(logits), 0])))
    for _ in gpt2lab.generate.stream_ids(watched, MODEL.encode(text), tokens, None, temperature=0,
                                         lookup=k):
        found[-1][1] += 1
    return [tuple(one) for one in found]


@pytest.mark.parametrize("text, k", [
    ("The king said", 8), ("It was a dark night, and", 3), ("tick tock tick tock", 1)])
def test_passes_are_the_librarys(text, k):
    prompt, new = MODEL.encode(text), greedy_ids(MODEL, text, 40)
    found = passes_of(prompt + new, len(prompt), k)
    shapes = [(len(checked) + 1, len(kept)) for checked, kept in found]
    assert shapes == real_passes(text, len(new), k)
    assert [i for _, kept in found for i in kept] == new
    assert greedy_in_passes(MODEL, text, len(new), k) == (new, len(found))
    assert greedy_in_passes(MODEL, text, len(new)) == (new, len(new))


def test_passes_that_always_check_k():
    """Each pass checks all its guesses, keeps the right beginning and adds one token."""
    prompt, new = MODEL.encode("The king said"), greedy_ids(MODEL, "The king said", 40)
    text, place = prompt + new, len(prompt)
    for checked, kept in passes_of(text, place, 8, longest=2, careful=False):
        assert checked == guess(text[:place], min(8, len(text) - place - 1), 2)
        assert kept == text[place:place + len(kept)] and checked[:len(kept) - 1] == kept[:-1]
        assert len(checked) == len(kept) - 1 or checked[len(kept) - 1] != kept[-1]
        place += len(kept)
    assert place == len(text)


@pytest.mark.parametrize("careful", [True, False])
@pytest.mark.parametrize("text", ["The king said", "tick tock tick tock", "It was a dark night"])
def test_the_learners_accept_is_asked_as_the_exercise_says(text, careful):
    """greedy holds one token more than the guesses, in every pass."""
    asked = []

    def accept_strictly(guessed, greedy):
        assert len(greedy) == len(guessed) + 1
        asked.append(len(guessed))
        return accept(guessed, greedy)
    prompt = MODEL.encode(text)
    ids = prompt + greedy_ids(MODEL, text, 40)
    usual = passes_of(ids, len(prompt), 8, careful=careful)
    assert passes_of(ids, len(prompt), 8, 3, careful, guess, accept_strictly) == usual
    assert len(asked) == 2 * len(usual)


def test_the_lesson_draws_with_the_learners_functions():
    def nothing(ids, k, longest=3):
        return []
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(LESSON, "guess", nothing)
        fig = strip_of("The king said", 8, careful=False)
        ids = MODEL.encode("one two three. " * 6)
        assert LESSON["tokens_a_pass"](ids, 4, 8) == 1
    assert fig.drawn["tokens"].tolist() == [1] * 40
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(LESSON, "accept", lambda guessed, greedy: 0)
        assert strip_of("The king said", 8).drawn["tokens"].tolist() == [1] * 40


def test_what_the_text_says_of_the_first_picture():
    """5 passes at best, it took 15, and before pass 8 no token had come twice."""
    prompt, new = MODEL.encode("The king said"), greedy_ids(MODEL, "The king said", 40)
    found = passes_of(prompt + new, len(prompt), 8, careful=False)
    assert (len(new), -(-len(new) // 9), len(found)) == (40, 5, 15)
    assert [len(kept) for _, kept in found[:8]] == [1] * 8
    for seen, repeats in ((prompt + new[:7], 0), (prompt + new[:8], 1)):
        assert len(seen) - len(set(seen)) == repeats


def first_right(text):
    """The number of the first pass with a right guess, k = 8."""
    prompt, new = MODEL.encode(text), greedy_ids(MODEL, text, 40)
    found = passes_of(prompt + new, len(prompt), 8, careful=False)
    return next(i for i, (_, kept) in enumerate(found, 1) if len(kept) > 1)


def test_the_hints_of_the_play_tasks():
    book = nbformat.read(NOTEBOOKS / "bonus" / "speculation.ipynb", as_version=4)
    cell = next(c.source for c in book.cells if "Hint for the second" in c.source)
    hints = cell.split("<summary>Hint for the")[1:]
    early, late = (hint.split('such as "')[1].split('"')[0] for hint in hints)
    asked = int(cell.split("in the first ")[1].split(" passes")[0])
    assert first_right(early) == 1 and first_right(late) > asked and asked <= pictures.ROWS
    for shown in ("The king said", '"Where are you going?" said the'):      # not solved on screen
        assert 1 < first_right(shown) <= asked


def test_greedy_ids_are_greedys_up_to_a_near_tie():
    text = "Once upon a time"
    done = MODEL.generate_ids(MODEL.encode(text), max_new_tokens=12, temperature=0,
                              eos_token_id=None)
    assert greedy_ids(MODEL, text, 12) == done.ids
    tie = "When the sun rose over the hills, the old man"
    short = greedy_ids(MODEL, tie, 60)
    second, first = np.sort(MODEL.next_logits(MODEL.encode(tie) + short))[-2:]
    assert len(short) < 60 and first - second < 0.01


@pytest.mark.parametrize("k, longest, careful", [
    (0, 1, False), (0, 5, True), (8, 3, False), (8, 3, True), (16, 5, False), (16, 1, True)])
@pytest.mark.parametrize("text", ["The king said", "tick tock " * 12])
def test_strip(text, k, longest, careful):
    fig = strip_of(text, k, longest, careful)
    prompt, new = MODEL.encode(text), greedy_ids(MODEL, text, 40)
    found = passes_of(prompt + new, len(prompt), k, longest, careful)
    np.testing.assert_array_equal(fig.drawn["tokens"], [len(kept) for _, kept in found])
    np.testing.assert_array_equal(fig.drawn["checked"], [len(checked) for checked, _ in found])
    kept = len(new) - len(found)
    assert two_lines(fig.alt)[1].startswith(f"{len(new)} new tokens in {len(found)} passes")
    assert f"{kept} guesses kept, {fig.drawn['checked'].sum() - kept} refused" in fig.alt
    assert LESSON["explorers"] == [strip_of]
    marks = [t.get_text()[0] for t in fig.axes[0].texts if t.get_text()[0] in "✓▸×"]
    words = [t.get_text()[1:] for t in fig.axes[0].texts if t.get_text()[0] == "▸"]
    own = show.tokens(MODEL.tokenizer, [one[-1] for _, one in found])
    assert words == [word[:pictures.LONG] for word in own[:pictures.ROWS]]
    if len(found) <= pictures.ROWS and not any(t.get_text() == "..." for t in fig.axes[0].texts):
        assert marks.count("✓") == kept
    assert marks.count("▸") == min(len(found), pictures.ROWS)           # in full rows too
    assert all(box.get_x() + box.get_width() <= pictures.WIDTH for box in fig.axes[0].patches)
    assert f"{kept} kept, {fig.drawn['checked'].sum() - kept} refused" in fig.axes[0].get_title()
    assert ("are shown" in fig.axes[0].get_title()) == (len(found) > pictures.ROWS)
    assert plot.png(fig).startswith(b"\x89PNG") and fig.get_figwidth() == 6.4


@pytest.mark.parametrize("text", [
    "$$ $x$", "<b>&", "a\nb", "🦀🦀🦀🦀", "word " * 200, "\x1b[0m",
    "When the sun rose over the hills, the old man"])
def test_any_text(text):
    for k, careful in ((0, False), (16, True)):
        fig = strip_of(text, k, 3, careful)
        assert plot.png(fig).startswith(b"\x89PNG") and two_lines(fig.alt)


def test_no_token_that_can_be_called_and_no_text():
    with pytest.raises(ValueError, match="the prompt is empty"):
        strip_of("", 8)
    assert "too close to call" in strip_of("The king said", 8, tokens=0).alt


def test_tokens_per_pass():
    ids = MODEL.encode("one two three. " * 6)
    one, some, many = (LESSON["tokens_a_pass"](ids, 4, k) for k in (0, 1, 8))
    assert one == 1 and many > some > 1
    assert many == (len(ids) - 4) / len(passes_of(ids, 4, 8, careful=False))
    assert [LESSON["tokens_a_pass"](list(range(20)), 4, k) for k in (0, 1, 8)] == [1, 1, 1]
    fig = next(fig for fig in LESSON["shown"] if "birds" in fig.drawn)
    for name, (ids, prompt) in LESSON["texts"].items():
        wanted = [LESSON["tokens_a_pass"](ids, prompt, k) for k in range(17)]
        np.testing.assert_array_equal(fig.drawn[name], wanted)
        assert f"{name} {wanted[-1]:.1f}" in fig.alt and "With k = 16" in fig.alt
    assert set(LESSON["texts"]) == set(fig.drawn) == {"birds", "story"}


def test_times_of_a_pass():
    seconds = ready_made.pass_seconds(MODEL, [1, 8, 70], seen=8, repeats=2)
    fig = pictures.pass_times([1, 8, 70], seconds)
    np.testing.assert_allclose(fig.drawn["one pass"], np.array(seconds) * 1e3)
    each = np.array([1, 8, 70]) * seconds[0] * 1e3
    np.testing.assert_allclose(fig.drawn["one pass for each token"], each)
    assert fig.axes[0].get_xlabel().startswith("rows of the pass")
    assert min(seconds) > 0 and plot.png(fig).startswith(b"\x89PNG")
    ticks = pictures.pass_times([1, 128], [0.015, 0.1]).axes[0].get_yticks()
    assert {10, 20, 50, 100, 200, 500, 1000} <= {round(float(tick), 6) for tick in ticks}


@pytest.mark.parametrize("k, careful", [(0, True), (8, True), (8, False)])
def test_timed_passes_are_those_of_the_text(k, careful):
    """Each timed pass reads the text and its guesses: a guess kept is the best token of its row."""
    seen, prompt = [], MODEL.encode("The king said")
    ids = prompt + greedy_ids(MODEL, "The king said", 40)
    tap = watch_logits(lambda logits: seen.append(logits.argmax(axis=-1).tolist()))
    watched = MODEL.tapped(tap)
    assert ready_made.writing_seconds(watched, ids, len(prompt), k, careful) > 0
    found = passes_of(ids, len(prompt), k, careful=careful)
    assert [len(best) for best in seen] == [len(checked) + 1 for checked, _ in found]
    assert [best[:len(new)] for best, (_, new) in zip(seen, found)] == [new for _, new in found]


def test_the_loops_version_is_the_librarys_guess():
    rng = np.random.default_rng(0)
    for _ in range(300):
        ids = rng.integers(0, 4, rng.integers(0, 20)).tolist()
        k, longest = int(rng.integers(0, 9)), int(rng.integers(1, 5))
        assert LESSON["guess_loops"](ids, k, longest) == guess(ids, k, longest)


def test_the_toy_model_of_the_checks():
    choose = ready_made.Choose(4, 5, 6, 7)
    assert choose([4, 5, 9], 3) == [5, 6, 99]
    assert ready_made.Choose(4, 5)([4, 5], 2) == [5, 99]
    with pytest.raises(RuntimeError, match="asked twice"):
        choose([4], 1)
    with pytest.raises(ValueError, match="rows must be from 1 to 1"):
        ready_made.Choose(4, 5)([4], 2)


def test_a_step_that_is_repeated_writes_the_text():
    text = (1, 2, 3, 1, 2, 3, 1, 2, 9, 1, 2, 3)
    ids, passes = [1, 2], 0
    while len(ids) < len(text) - 1:
        choose = ready_made.Choose(*text, 0, 0, 0, 0)
        ids, passes = ids + ready_made.step(choose, ids, 3), passes + 1
    assert tuple(ids[:len(text)]) == text and passes < len(text) - 2
