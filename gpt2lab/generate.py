"""The loop that writes: predict, choose, append, until there is a reason to stop."""
from dataclasses import dataclass

import numpy as np

from .kvcache import KVCache
from .lookup import stream_guessed
from .sampling import check_settings, greedy, probabilities, sample

OF_THE_MODEL = "of the model"           # eos_token_id: the one that config.json names


@dataclass(frozen=True)
class Generated:
    """The new tokens, without the end token; and "eos", "max_new_tokens" or "context_full"."""
    ids: list
    stop_reason: str


def generate_ids(model, ids, max_new_tokens=40, eos_token_id=OF_THE_MODEL, **sampling):
    """All new ids at once, and why the loop stopped. See stream_ids for the arguments."""
    stream = stream_ids(model, ids, max_new_tokens, eos_token_id, **sampling)
    new = []
    while True:
        try:
            new.append(next(stream))
        except StopIteration as stop:
            return Generated(new, stop.value)


def stream_ids(model, ids, max_new_tokens=40, eos_token_id=OF_THE_MODEL, temperature=1.0,
               top_k=None, top_p=None, min_p=None, seed=None, lookup=None):
    """Check everything, then return an iterator over the new ids; it ends with the stop reason.

    ids: the prompt, 1 to N ids. The text may grow until the context of N positions is full; the
        token that the full context predicts is the last.
    eos_token_id: where the text ends; this token is not returned. None: never. Default: the
        model's own. An end token in the prompt stops nothing.
    seed: a whole number makes the draws repeatable; None draws anew each time.
    lookup: k for guesses of up to k tokens from the text so far, checked in one pass (see
        lookup.py): the same tokens, sooner where a text repeats itself. For temperature 0. None or
        0: no guesses.
    Raises: ValueError before any computing for a prompt or a setting that cannot be met.
    Taught: notebooks/13_generation.ipynb
    """
    ids = model.check_ids(ids)
    check_settings(temperature, top_k, top_p, min_p)
    _check_whole("max_new_tokens", max_new_tokens)
    _check_whole("seed", seed, None)
    _check_whole("eos_token_id", eos_token_id, None, OF_THE_MODEL)
    _check_whole("lookup", lookup, None)
    if lookup and temperature != 0:
        raise ValueError("generate: lookup needs temperature 0 (greedy), "
                         f"got temperature {temperature!r}")
    eos = model.config.eos_token_id if eos_token_id is OF_THE_MODEL else eos_token_id
    if lookup:
        return stream_guessed(model, ids, max_new_tokens, eos, lookup)

    def loop():
        cache, new, rng = KVCache(model.config), ids, np.random.default_rng(seed)
        for _ in range(max_new_tokens):
            if cache.length == model.config.n_positions:
                return "context_full"
            logits = model.next_logits(new, cache)                                  # (V,)
            chosen = (greedy(logits) if temperature == 0 else
                      sample(probabilities(logits, temperature, top_k, top_p, min_p), rng.random()))
            if chosen == eos:
                return "eos"
            yield chosen
            new = np.array([chosen])
        return "max_new_tokens"
    return loop()


def _check_whole(name, value, *others):
    """Raise ValueError unless the value is a whole number of at least 0, or one of the others."""
    whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool) and value >= 0
    if not whole and not any(value is other for other in others):
        raise ValueError(f"generate: {name} must be a whole number of at least 0, got {value!r}")
