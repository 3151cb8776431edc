"""generate: the loop, its stop reasons, its refusals, its seeds, and text as it comes."""
import inspect
import re
from pathlib import Path

import numpy as np
import pytest

import gpt2lab
from gpt2lab import KVCache, Ops, Tokenizer
from gpt2lab.generate import generate_ids, stream_ids
from gpt2lab.sampling import probabilities, sample
from tiny_a import CONFIG, GREEDY, model

pytestmark = pytest.mark.filterwarnings("error")
TOKENIZER = Tokenizer(Path(__file__).parent.parent / "data" / "gpt2-vocab")
MODEL = model()
TEXT = model(tokenizer=TOKENIZER)           # its 13 ids are the signs ! " # $ % & ' ( ) * + , -
PROMPT, PROMPT_TEXT = [1, 5, 3], '"&$'
CRAB = [8582, 99, 222]                      # one character of four bytes in three tokens


def greedy(ids, max_new_tokens, eos_token_id=None, model=MODEL):
    done = model.generate_ids(ids, max_new_tokens=max_new_tokens, eos_token_id=eos_token_id,
                              temperature=0)
    return done.ids, done.stop_reason


def counted():
    """A model, and the list of (operation, rows that it got), one entry a call."""
    calls = []

    def watch(name, function):
        def call(*arguments, **named):
            calls.append((name, np.shape(arguments[0])[-2 if name != "embed" else 0]))
            return function(*arguments, **named)
        return call
    ops = {name: watch(name, getattr(Ops(), name)) for name in Ops.__dataclass_fields__}
    return model(tokenizer=TOKENIZER, ops=Ops(**ops)), calls


def scripted(monkeypatch, script):
    """A model that predicts these ids in turn, whatever the prompt; and the ids that it got."""
    scripted, script, got = model(tokenizer=TOKENIZER), iter(script), []

    def next_logits(ids, cache):
        got.append(list(ids))
        cache.length += len(ids)
        return np.where(np.arange(50257) == next(script), 0.0, -np.inf)
    monkeypatch.setitem(vars(scripted), "next_logits", next_logits)
    return scripted, got


def test_40_new_tokens_where_nothing_is_said():
    """stop_reason tells that it was the number, not the context, that ended it."""
    long = gpt2lab.load("gpt2-tiny")
    done = long.generate_ids([464], temperature=0, eos_token_id=None)
    assert (len(done.ids), done.stop_reason) == (40, "max_new_tokens")
    assert list(stream_ids(long, [464], temperature=0, eos_token_id=None)) == done.ids
    for function in (generate_ids, stream_ids):
        assert inspect.signature(function).parameters["max_new_tokens"].default == 40


# --- the public cases GEN-1 to GEN-5, and the stop reasons

@pytest.mark.parametrize("tokens, length, reason", [
    (1, 1, "max_new_tokens"), (8, 8, "max_new_tokens"), (9, 9, "max_new_tokens"),
    (10, 10, "max_new_tokens"), (11, 10, "context_full"), (100, 10, "context_full"),
    (10**30, 10, "context_full")])
def test_up_to_the_full_context(tokens, length, reason):
    """12 positions hold the prompt and 9 new tokens; the full context predicts one more."""
    assert greedy(PROMPT, tokens) == (GREEDY[:length], reason)


def test_greedy_is_the_argmax_of_all_logits():
    ids = list(PROMPT)
    for right in GREEDY:
        assert MODEL(ids)[-1].argmax() == right
        ids.append(right)


@pytest.mark.parametrize("length", [11, 12])
def test_a_prompt_that_fills_the_context(length):
    prompt = [1, 5, 3, 0, 7, 12, 2, 2, 9, 11, 4, 6][:length]
    first = int(MODEL(prompt)[-1].argmax())
    ids, reason = greedy(prompt, 100)
    assert ids[0] == first and len(ids) == 13 - length and reason == "context_full"
    assert greedy(prompt, 1) == ([first], "max_new_tokens")


def test_no_new_tokens():
    watched, calls = counted()
    assert greedy(PROMPT, 0, model=watched) == ([], "max_new_tokens")
    assert watched.generate(PROMPT_TEXT, max_new_tokens=0) == ""
    assert "".join(watched.stream(PROMPT_TEXT, max_new_tokens=0)) == ""
    assert calls == []


def test_the_end_token_stops_and_is_not_returned():
    assert greedy(PROMPT, 9, eos_token_id=10) == (GREEDY[:3], "eos")
    assert greedy(PROMPT, 3, eos_token_id=10) == (GREEDY[:3], "max_new_tokens")
    assert greedy(PROMPT, 4, eos_token_id=10) == (GREEDY[:3], "eos")
    assert greedy(PROMPT, 9, eos_token_id=7) == ([], "eos")
    assert greedy(PROMPT, 9, eos_token_id=None) == (GREEDY[:9], "max_new_tokens")
    assert greedy(PROMPT, 9, eos_token_id=11) == (GREEDY[:9], "max_new_tokens")


def test_the_end_token_of_the_model_is_the_default(monkeypatch):
    script = [4, 12, 5, 6]                              # eos_token_id of tiny checkpoint A is 12
    for named, right in (({}, ([4], "eos")), ({"eos_token_id": 5}, ([4, 12], "eos")),
                         ({"eos_token_id": None}, ([4, 12, 5, 6], "max_new_tokens"))):
        one, _ = scripted(monkeypatch, script)
        done = one.generate_ids(PROMPT, max_new_tokens=4, **named)
        assert (done.ids, done.stop_reason) == right


def test_the_end_token_predicted_by_the_full_context(monkeypatch):
    one, _ = scripted(monkeypatch, [4, 12])
    done = one.generate_ids([1] * 11, max_new_tokens=9)
    assert (done.ids, done.stop_reason) == ([4], "eos")


def test_an_end_token_in_the_prompt_stops_nothing():
    without, _ = greedy([10, 5, 10], 5)
    assert without and 10 not in without[:1]
    assert greedy([10, 5, 10], 1, eos_token_id=10) == (without[:1], "max_new_tokens")


def test_only_the_last_row_reaches_the_lm_head():
    """And each token goes through the blocks once: the prompt in one piece, then one by one."""
    watched, calls = counted()
    greedy(PROMPT, 5, model=watched)
    assert [rows for name, rows in calls if name == "lm_head"] == [1] * 5
    assert [rows for name, rows in calls if name == "embed"] == [3, 1, 1, 1, 1]
    assert [rows for name, rows in calls if name == "block"] == [3, 3] + [1] * 8
    assert watched.next_logits(PROMPT).shape == (13,)


def test_each_new_token_is_given_back_once(monkeypatch):
    one, got = scripted(monkeypatch, [4, 6, 8])
    one.generate_ids(PROMPT, max_new_tokens=3)
    assert got == [PROMPT, [4], [6]]                        # nobody asks what follows the 8


# --- what is refused is refused at once, before any computing

BAD_SETTINGS = {"max_new_tokens": (-1, 1.5, 3.0, None, "3", True, [3]),
                "seed": (-1, 1.5, "1", True, [1], np.array([1, 2])),
                "eos_token_id": (-1, 2.0, "x", True, [1]),
                "temperature": (-1, float("nan"), float("inf"), None, "1", True),
                "top_k": (0, -1, 1.5, True), "top_p": (-0.1, 1.1, "1", True),
                "min_p": (-0.1, 1.1, "1", True)}
BAD_IDS = [([], "at least one token id"), ((), "at least one token id"), (7, "got shape ()"),
           (np.array(7), "got shape ()"), ([[1, 5]], "got shape (1, 2)"),
           (np.ones((3, 1), int), "got shape (3, 1)"),
           ([1.0, 5.0], "ids must be whole numbers, got float64"),
           ([True, False], "ids must be whole numbers, got bool"),
           (np.array([True]), "ids must be whole numbers, got bool"),
           ("abc", "ids must be a list"), (["1"], "ids must be whole numbers"),
           ([None], "ids must be whole numbers"), ([2**70], "ids must be whole numbers"),
           ([13], "ids must be from 0 to V - 1 = 12, got 13"),
           ([1, -1], "ids must be from 0 to V - 1 = 12, got -1"),
           ([1] * 13, "the context holds N = 12 tokens, got 13")]


@pytest.mark.parametrize("name, value", [(name, value) for name, values in BAD_SETTINGS.items()
                                         for value in values])
def test_wrong_settings_are_refused_at_the_call(name, value):
    """stream too: at the call, not when the first piece is asked for."""
    watched, calls = counted()
    for call in (lambda: stream_ids(watched, PROMPT, **{name: value}),
                 lambda: generate_ids(watched, PROMPT, **{name: value}),
                 lambda: watched.generate_ids(PROMPT, **{name: value}),
                 lambda: watched.generate(PROMPT_TEXT, **{name: value}),
                 lambda: watched.stream(PROMPT_TEXT, **{name: value})):
        with pytest.raises(ValueError, match=f"{name} must be"):
            call()
    assert calls == []


@pytest.mark.parametrize("ids, message", BAD_IDS)
def test_wrong_prompts_are_refused_at_the_call(ids, message):
    watched, calls = counted()
    for call in (stream_ids, generate_ids):
        with pytest.raises(ValueError, match=re.escape(message)):
            call(watched, ids, max_new_tokens=0)
    assert calls == []


@pytest.mark.parametrize("prompt, message", [
    ("", "the prompt is empty"), ('"&$' * 5, "the context holds N = 12 tokens, got 15"),
    ("Z", "ids must be from 0")])
def test_wrong_texts_are_refused_at_the_call(prompt, message):
    watched, calls = counted()
    for call in (watched.generate, watched.stream):
        with pytest.raises(ValueError, match=message):
            call(prompt, max_new_tokens=0)
    assert calls == []


def test_logits_without_meaning_stop_the_loop_with_an_error(monkeypatch):
    for temperature in (0, 1):
        one = model()
        monkeypatch.setitem(vars(one), "next_logits", lambda ids, cache: np.array([1, np.nan, 3]))
        with pytest.raises(ValueError, match="logits must be finite or -inf"):
            one.generate_ids(PROMPT, temperature=temperature)


@pytest.mark.parametrize("ids", [(1, 5, 3), np.array([1, 5, 3]), np.array([1, 5, 3], np.uint8),
                                 [np.int64(1), np.int32(5), 3]])
def test_prompts_of_every_kind(ids):
    new, _ = greedy(ids, 9)
    assert new == GREEDY[:9] and all(type(i) is int for i in new)


def test_numpy_whole_numbers_as_settings():
    plain = {"max_new_tokens": 6, "seed": 3, "top_k": 5, "eos_token_id": 10}
    numpy = {"max_new_tokens": np.int64(6), "seed": np.uint8(3), "top_k": np.int32(5),
             "eos_token_id": np.int16(10), "temperature": np.float32(1), "top_p": np.float64(1)}
    assert MODEL.generate_ids(PROMPT, **numpy) == MODEL.generate_ids(PROMPT, **plain)


def test_the_prompt_is_not_changed():
    ids = np.array(PROMPT)
    ids.flags.writeable = False
    greedy(ids, 9)
    assert ids.tolist() == PROMPT


# --- seeds

def sampled(seed, model=MODEL, **named):
    return model.generate_ids(PROMPT, max_new_tokens=9, eos_token_id=None, temperature=3.0,
                              seed=seed, **named).ids


def test_the_same_seed_gives_the_same_ids():
    """Whatever happens to NumPy's global state in between, which stays as it was."""
    first = sampled(1)
    np.random.seed(99)
    before = np.random.get_state()
    assert sampled(1) == first == sampled(1, model())
    after = np.random.get_state()
    assert before[0] == after[0] and np.array_equal(before[1], after[1]) and before[2:] == after[2:]
    np.random.rand()
    assert sampled(1) == first
    assert len({tuple(sampled(seed)) for seed in range(10)}) == 10
    assert TEXT.generate(PROMPT_TEXT, seed=1) == TEXT.generate(PROMPT_TEXT, seed=1)


def test_0_is_a_seed_and_none_is_not():
    assert sampled(0) == sampled(0) != sampled(1)
    assert len({tuple(sampled(None)) for _ in range(5)}) > 1        # 13**9 texts are possible


@pytest.mark.parametrize("named", [{}, {"top_k": 4}, {"top_p": 0.7}, {"min_p": 0.3},
                                   {"top_k": 6, "top_p": 0.9, "min_p": 0.1}])
def test_one_draw_a_token_from_its_distribution(named):
    """The loop done by hand, without a cache."""
    rng, ids = np.random.default_rng(5), list(PROMPT)
    for _ in range(9):
        ids.append(sample(probabilities(MODEL(ids)[-1], 3.0, **named), rng.random()))
    assert sampled(5, **named) == ids[3:]


def test_temperature_0_needs_no_seed():
    for seed in (0, 1, None):
        assert MODEL.generate_ids(PROMPT, max_new_tokens=9, eos_token_id=None, temperature=0,
                                  seed=seed).ids == GREEDY[:9]


# --- text as it comes

def test_streamed_pieces_join_to_the_decoded_ids():
    for named in ({"temperature": 0}, {"seed": 4}, {"seed": 5, "temperature": 3.0, "top_k": 5}):
        ids = TEXT.generate_ids(PROMPT, max_new_tokens=7, **named).ids
        pieces = list(TEXT.stream(PROMPT_TEXT, max_new_tokens=7, **named))
        assert "".join(pieces) == TEXT.generate(PROMPT_TEXT, max_new_tokens=7, **named)
        assert "".join(pieces) == TOKENIZER.decode(ids)


def test_a_character_of_three_tokens_comes_whole(monkeypatch):
    one, _ = scripted(monkeypatch, [0, *CRAB, 1])
    pieces = [piece for piece in one.stream(PROMPT_TEXT, max_new_tokens=5) if piece]
    assert pieces == ["!", "\U0001f980", '"']
    one, _ = scripted(monkeypatch, CRAB)
    assert one.generate(PROMPT_TEXT, max_new_tokens=3) == "\U0001f980"


def test_a_character_cut_short_is_replaced_at_the_end(monkeypatch):
    """Half of it never appears, and nothing is lost: the same text as decode gives."""
    for script in (CRAB[:2], CRAB[:1], [0, *CRAB[:2]]):
        one, _ = scripted(monkeypatch, script)
        pieces = list(one.stream(PROMPT_TEXT, max_new_tokens=len(script)))
        assert "".join(pieces) == TOKENIZER.decode(script)
        assert [piece for piece in pieces if piece][-1] == "\ufffd"


def test_pieces_come_while_the_rest_is_not_computed_yet():
    watched, calls = counted()
    pieces = watched.stream(PROMPT_TEXT, max_new_tokens=9, temperature=0)
    assert calls == []
    assert next(pieces) == TOKENIZER.decode(GREEDY[:1])
    assert [name for name, _ in calls].count("lm_head") == 1
    pieces.close()
    assert [name for name, _ in calls].count("lm_head") == 1


def test_two_streams_at_once_do_not_mix():
    a, b = (stream_ids(MODEL, prompt, 9, None, temperature=0) for prompt in (PROMPT, [0]))
    pairs = list(zip(a, b))
    assert [i for i, _ in pairs] == GREEDY[:9]
    assert [j for _, j in pairs] == greedy([0], 9)[0]


def test_the_stop_reason_ends_the_stream():
    stream = stream_ids(MODEL, PROMPT, 2, None, temperature=0)
    assert [next(stream), next(stream)] == GREEDY[:2]
    with pytest.raises(StopIteration) as stop:
        next(stream)
    assert stop.value.value == "max_new_tokens"


def test_the_cache_that_was_used_before_is_not_needed():
    """The model holds no state of its own: a cache of somebody else stays as it is."""
    cache = KVCache(CONFIG)
    MODEL([9, 9], cache=cache)
    keys = cache.keys.copy()
    assert greedy(PROMPT, 9)[0] == GREEDY[:9]
    assert cache.length == 2 and np.array_equal(cache.keys, keys)
