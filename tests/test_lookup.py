"""Prompt lookup: guesses by their definition, and greedy's tokens, every one and no other."""
import itertools
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import gpt2lab
from gpt2lab import GPT2, Config, Tokenizer
from gpt2lab.cli import main
from gpt2lab.generate import generate_ids, stream_ids
from gpt2lab.lookup import accept, guess
from recipes import PROMPTS, SMALL, A, weights_of
from tiny_a import CONFIG, GREEDY, model

pytestmark = pytest.mark.filterwarnings("error")
ROOT = Path(__file__).resolve().parents[1]
TOKENIZER = Tokenizer(ROOT / "data" / "gpt2-vocab")
TINY = gpt2lab.load()


# --- guess and accept

@pytest.mark.parametrize("ids, k, right", [
    ([1, 2, 3, 9, 1, 2, 3], 2, [9, 1]),                     # three tokens are found again
    ([1, 2, 3, 9, 1, 2, 3], 9, [9, 1, 2, 3, 9, 1, 2, 3, 9]),        # and round
    ([1, 2, 3, 4, 7, 3, 5, 2, 3], 1, [4]),      # two tokens count more than one, further back
    ([3, 4, 7, 3, 5, 2, 3], 2, [5, 2]),                     # the latest place of one
    ([0, 1, 2, 3, 4, 9, 1, 2, 3, 5, 8, 1, 2, 3], 1, [5]),   # the latest place of three
    ([7, 7], 3, [7, 7, 7]), ([1, 2, 3], 4, []), ([5], 4, []), ([], 4, []), ([7, 7], 0, []),
    ([5, 1, 2, 3, 4, 8, 6, 2, 3, 4, 9, 1, 2, 3, 4], 1, [9])])       # four alike are not looked for
def test_guess(ids, k, right):
    before = list(ids)
    assert guess(ids, k) == right and ids == before


def slow_guess(ids, k, longest):
    """The definition: of all places with the most tokens alike (at most longest), the latest."""
    found = []
    for place in range(1, len(ids)):                        # the guess would begin here
        alike = 0
        while alike < min(longest, place) and ids[place - 1 - alike] == ids[-1 - alike]:
            alike += 1
        found.append((alike, place))
    alike, place = max(found, default=(0, 0))
    if not alike:
        return []
    text = list(ids)
    for i in range(k):
        text.append(text[place + i])
    return text[len(ids):]


@given(st.lists(st.integers(0, 3), max_size=30), st.integers(0, 40), st.integers(1, 5))
@settings(deadline=None, max_examples=300)
def test_guess_is_its_definition(ids, k, longest):
    assert guess(ids, k, longest) == slow_guess(ids, k, longest)


def test_three_tokens_are_looked_for():
    for ids in itertools.product(range(2), repeat=7):
        assert guess(list(ids), 4) == slow_guess(list(ids), 4, 3)


@pytest.mark.parametrize("guessed, greedy, right", [
    ([], [5], 0), ([5], [5, 6], 1), ([4], [5, 6], 0), ([5, 6, 7], [5, 6, 8, 9], 2),
    ([4, 6, 7], [5, 6, 7, 8], 0), ([5, 6, 7], [5, 6, 7, 8], 3), ([5, 6, 7], [5], 1), ([5], [], 0)])
def test_accept(guessed, greedy, right):
    assert accept(guessed, greedy) == right


@given(st.lists(st.integers(0, 1), max_size=8), st.lists(st.integers(0, 1), max_size=8))
def test_accept_counts_the_common_beginning(guessed, greedy):
    right = accept(guessed, greedy)
    assert guessed[:right] == greedy[:right]
    assert right == min(len(guessed), len(greedy)) or guessed[right] != greedy[right]


# --- the same tokens as greedy

def both(model, ids, k, **named):
    """Greedy without and with lookup, which must be the same; returned with the passes of each."""
    done, passes = [], []
    for lookup in (None, k):
        calls = []
        watched = watch(model, calls)
        done.append(generate_ids(watched, ids, temperature=0, lookup=lookup, **named))
        passes.append(calls)
    assert done[0] == done[1], (ids, k, named)
    return done[0], *passes


def watch(model, calls):
    """The model, which notes the tokens read in each pass."""
    def tap(name, function):
        def embed(ids, *arguments, **named):
            calls.append(len(ids))
            return function(ids, *arguments, **named)
        return embed if name == "embed" else function
    return model.tapped(tap)


@pytest.mark.parametrize("name", PROMPTS)
@pytest.mark.parametrize("k", [1, 8])
def test_bundled_model(name, k):
    both(TINY, TINY.encode(PROMPTS[name])[:230], k, max_new_tokens=40)


@pytest.mark.parametrize("text", [
    "The king said", '"Where are you going?" said the', "In the year 1850", "My dear sister,",
    "I do not know what", "It was a dark night, and", "One two three. One two three. One"])
def test_more_prompts_of_the_bundled_model_in_fewer_passes(text):
    done, without, with_ = both(TINY, TINY.encode(text), 8, max_new_tokens=60)
    assert len(done.ids) / len(with_) > 1.5 and len(without) == len(done.ids)


@pytest.mark.parametrize("config", [A, SMALL], ids=["A", "SMALL"])
def test_random_checkpoints_to_the_full_context(config):
    one, rng = GPT2(Config.from_dict(config), weights_of(config)), np.random.default_rng(3)
    saved = 0
    for case in range(60):
        length = int(rng.integers(1, config["n_positions"] + 1))
        ids = rng.integers(0, config["vocab_size"] if case % 2 else 2, length).tolist()
        k, room = int(rng.integers(1, 12)), config["n_positions"] - length + 1
        done, without, with_ = both(one, ids, k, max_new_tokens=100, eos_token_id=None)
        assert done.stop_reason == "context_full" and len(done.ids) == room
        saved += len(without) - len(with_)
    assert saved > 0


@given(st.lists(st.integers(0, 12), min_size=1, max_size=12), st.integers(1, 20),
       st.integers(0, 14), st.one_of(st.none(), st.integers(0, 12)))
@settings(deadline=None, max_examples=150)
def test_any_prompt_k_length_and_end_token(ids, k, tokens, eos):
    both(model(), ids, k, max_new_tokens=tokens, eos_token_id=eos)


# --- a model that writes what it is told: every way to stop, and what is computed

def told(text, **changes):
    """A model of 12 positions that continues along the text, whatever it reads; and its passes."""
    calls = []

    class Told(GPT2):
        def last_logits(self, ids, rows, cache=None):
            logits = super().last_logits(ids, rows, cache)
            calls.append((len(ids), cache.length))
            following = text[cache.length - rows + 1:cache.length + 1]
            logits[np.arange(len(following)), following] = 1e9
            return logits
    return Told(CONFIG, weights_of(A), **changes), calls


LOOP = [1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1]
GREEDILY = {"temperature": 0, "eos_token_id": None}


def test_passes_of_a_loop_and_the_cache_behind_each():
    one, calls = told(LOOP)
    done = one.generate_ids([1, 2], max_new_tokens=9, **GREEDILY, lookup=8)
    assert (done.ids, done.stop_reason) == (LOOP[2:11], "max_new_tokens")
    # nothing to guess from; [1] right though unchecked, so 1 is checked, and 2 right; then the rest
    assert calls == [(2, 2), (1, 3), (2, 5), (5, 10)]


def test_refused_guesses_are_forgotten():
    """After 1 2 1 2 1 2 comes 5 where 1 was guessed: cache and text go on from there."""
    text = [1, 2, 1, 2, 1, 2, 5, 6, 3, 1, 2, 1, 7]
    one, calls = told(text)
    done = one.generate_ids([1, 2, 1], max_new_tokens=9, **GREEDILY, lookup=8)
    assert done.ids == text[3:12]
    read = [length for length, _ in calls]
    ends = [end for _, end in calls]
    assert read[:3] == [3, 2, 6] and ends[2] == 11 and ends[3] == 6 + read[3]
    assert max(ends) <= 12


def test_a_pass_without_guesses_reads_one_token():
    one, calls = told(list(range(12)) + [0])
    one.generate_ids([0], max_new_tokens=11, **GREEDILY, lookup=8)
    assert [length for length, _ in calls] == [1] * 11


@pytest.mark.parametrize("tokens", range(12))
def test_never_more_than_asked_for_and_never_past_the_last_position(tokens):
    one, calls = told(LOOP)
    done = one.generate_ids([1, 2], max_new_tokens=tokens, **GREEDILY, lookup=100)
    assert (done.ids, done.stop_reason) == (LOOP[2:2 + tokens], "max_new_tokens")
    assert all(end <= max(2 + tokens - 1, 2) for _, end in calls) and (calls == []) == (tokens == 0)


@pytest.mark.parametrize("tokens", [12, 100, 10**30])
def test_context_full(tokens):
    one, calls = told(LOOP)
    done = one.generate_ids([1, 2], max_new_tokens=tokens, **GREEDILY, lookup=10**30)
    assert (done.ids, done.stop_reason) == (LOOP[2:], "context_full") and calls[-1][1] == 12


@pytest.mark.parametrize("place", range(2, 12))
def test_an_end_token_inside_the_guesses_stops_there(place):
    """The end token stands in the prompt too, so it is guessed like any other."""
    text = [9, 1, 9, 1, 9, 1, 9, 1, 9, 1, 9, 1, 9]
    for eos in (9, 1):
        one, _ = told(text)
        left = next(i for i, token in enumerate(text[place:]) if token == eos)
        done = one.generate_ids(text[:place], max_new_tokens=50, temperature=0, eos_token_id=eos,
                                lookup=8)
        assert (done.ids, done.stop_reason) == (text[place:place + left], "eos")
    loop = [3, 4, 5, 3, 4, 5, 3, 4, 5, 3, 4, 5, 3]
    one, calls = told(loop)
    done = one.generate_ids(loop[:4], max_new_tokens=8, temperature=0, eos_token_id=12, lookup=8)
    assert list(done.ids) == loop[4:12] and len(calls) < 8


def test_ids_that_only_pad_the_table_are_never_chosen():
    """13 ids, of which the tokenizer knows 10; the largest logits are those of the others."""
    class Ten:
        tokens = [b"x"] * 10
    weights = weights_of(A)
    weights["wte.weight"][10:] *= 30
    for tokenizer, padded in ((None, True), (Ten(), False)):
        one, found = GPT2(CONFIG, weights, tokenizer), set()
        for prompt in ([1, 5, 3], [1, 1, 1, 1], [2, 3, 2, 3], [0]):
            done, *_ = both(one, prompt, 4, max_new_tokens=9, eos_token_id=None)
            found |= set(done.ids)
        assert (max(found) >= 10) == padded
    logits = GPT2(CONFIG, weights, Ten()).last_logits([1, 5, 3], 2)
    assert logits.shape == (2, 13)
    assert np.isneginf(logits[:, 10:]).all() and np.isfinite(logits[:, :10]).all()


def test_last_logits_are_the_last_rows():
    one = model()
    whole = one([1, 5, 3, 0])
    for rows in (1, 2, 4):
        np.testing.assert_allclose(one.last_logits([1, 5, 3, 0], rows), whole[-rows:], atol=1e-5)
    last, = one.last_logits([1, 5, 3, 0], 1)
    np.testing.assert_array_equal(one.next_logits([1, 5, 3, 0]), last)


def test_logits_without_meaning_stop_where_greedy_would_stop(monkeypatch):
    one, _ = told(LOOP)
    broken = one.last_logits

    def last_logits(ids, rows, cache):
        logits = broken(ids, rows, cache)
        for row, place in enumerate(range(cache.length - rows, cache.length)):
            if place >= 6:
                logits[row, 4] = np.nan
        return logits
    for lookup in (None, 8):
        if lookup is None:
            monkeypatch.setattr(one, "next_logits",
                                lambda ids, cache: last_logits(ids, 1, cache)[0])
        else:
            monkeypatch.setattr(one, "last_logits", last_logits)
        stream, got = stream_ids(one, [1, 2], 9, None, temperature=0, lookup=lookup), []
        with pytest.raises(ValueError, match="logits must be finite or -inf"):
            for chosen in stream:
                got.append(chosen)
        assert got == LOOP[2:7]


# --- how it is asked for

def test_off_is_none_or_0_and_numpy_numbers_are_numbers():
    for lookup in (None, 0, np.int64(3), 5):
        done = model().generate_ids([1, 5, 3], max_new_tokens=9, **GREEDILY, lookup=lookup)
        assert done.ids == GREEDY[:9] and all(type(i) is int for i in done.ids)
    drawn = model().generate_ids([1, 5, 3], temperature=1.0, seed=1)
    assert model().generate_ids([1, 5, 3], temperature=1.0, seed=1, lookup=0) == drawn


@pytest.mark.parametrize("named, message", [
    *(({"lookup": wrong, "temperature": 0}, f"must be a whole number of at least 0, got {wrong!r}")
      for wrong in (-1, 1.5, 8.0, "8", True, [8])),
    ({"lookup": 8}, "needs temperature 0 (greedy), got temperature 1.0"),
    ({"lookup": 1, "temperature": 0.7, "seed": 3},
     "needs temperature 0 (greedy), got temperature 0.7")])
def test_refused_at_once(named, message):
    one, calls = told(LOOP, tokenizer=TOKENIZER)
    for call in (lambda: stream_ids(one, [1], **named), lambda: one.generate_ids([1], **named),
                 lambda: one.generate('"', **named), lambda: one.stream('"', **named)):
        with pytest.raises(ValueError, match=f"^generate: lookup {re.escape(message)}$"):
            call()
    assert calls == []


def test_the_stream_gives_token_after_token_and_the_reason_last():
    one, calls = told(LOOP)
    stream = stream_ids(one, [1, 2], 9, None, temperature=0, lookup=8, seed=5)
    assert calls == [] and next(stream) == 1 and len(calls) == 1
    got = [next(stream) for _ in range(8)]
    assert got == LOOP[3:11]
    with pytest.raises(StopIteration) as stop:
        next(stream)
    assert stop.value.value == "max_new_tokens"


def test_seed_and_cuts_change_nothing():
    asked = {"prompt": "The king said", "max_new_tokens": 30, "temperature": 0}
    right = TINY.generate(**asked)
    for named in ({}, {"seed": 1}, {"seed": 2, "top_k": 5, "top_p": 0.3, "min_p": 0.5}):
        assert TINY.generate(**asked, lookup=6, **named) == right


def test_command_line(capsys):
    words = ["generate", "The king said", "--max-new-tokens", "30", "--greedy"]
    assert main(words) == 0
    right = capsys.readouterr().out
    assert main([*words, "--lookup", "8"]) == 0 and capsys.readouterr().out == right
    assert main([*words, "--lookup", "0"]) == 0 and capsys.readouterr().out == right
    for wrong, named in ((["--greedy", "--lookup", "-1"], "lookup"),
                         (["--lookup", "4"], "temperature 1.0"),
                         (["--greedy", "--lookup", "x"], "--lookup")):
        assert main(["generate", "The king said", *wrong]) == 2
        out, err = capsys.readouterr()
        assert out == "" and err.startswith("gpt2lab: ") and err.count("\n") == 1 and named in err
