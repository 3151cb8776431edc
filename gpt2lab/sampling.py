"""Logits become probabilities, probabilities become one token."""
import math

import numpy as np


def probabilities(logits, temperature=1.0, top_k=None, top_p=None, min_p=None):
    """The distribution that the next token is drawn from: temperature, then top-k, top-p, min-p.

    Shapes: logits (V,) -> probs (V,) float64, sums to 1
    temperature: divides the logits; 0 gives all to the largest logit (greedy).
    top_k: keeps the k most probable tokens. top_p: of these the most probable ones until their
        sum reaches p, the one that crosses p included. min_p: of these the ones with at least p
        times the largest probability. None, and 1.0 for top_p, 0.0 for min_p, cut nothing.
        At least one token stays. Equal logits: the lower id comes first.
    Raises: ValueError for a setting out of its range, for nan or +inf, for all -inf.
    Source: "The Curious Case of Neural Text Degeneration" (Holtzman et al. 2020) for top-p;
        "Turning Up the Heat" (Nguyen et al. 2024) for min-p. Taught: notebooks/11_sampling.ipynb
    """
    check_settings(temperature, top_k, top_p, min_p)
    logits = check_logits(logits)                                                   # (V,)
    if temperature == 0:
        return np.where(np.arange(len(logits)) == logits.argmax(), 1.0, 0.0)        # (V,)
    with np.errstate(over="ignore"):            # a tiny temperature sends all but the top to -inf
        probs = np.exp((logits - logits.max()) / temperature)           # (V,), not yet of sum 1
    count = min(top_k or len(probs), len(probs))            # so many of the best tokens stay
    if top_p is not None and top_p < 1:         # 1 keeps all; a running sum would lose the smallest
        total = np.cumsum(np.sort(probs)[::-1][:count])                             # (count,)
        count = 1 + np.searchsorted(total, top_p * total[-1])           # the crossing one stays
    if count < len(probs):
        best = _best(logits, count)                                                 # (count,)
        kept = np.zeros_like(probs)
        kept[best] = probs[best]                                                    # (V,)
        probs = kept
    if min_p is not None:
        probs[probs < min_p * probs.max()] = 0
    return probs / probs.sum()                                                      # (V,)


def _best(logits, count):
    """Ids of the largest logits, the best first, equal ones by id.

    Sorts no others: a small part of the time of sorting all (benchmarks/RESULTS.md).
    """
    least = np.partition(logits, -count)[-count]            # the smallest logit that stays
    ids = np.flatnonzero(logits >= least)                   # more than count where some equal it
    return ids[np.argsort(-logits[ids], kind="stable")[:count]]                     # (count,)


def sample(probs, u):
    """The id at which the running sum of the probabilities passes u.

    Shapes: probs (V,) -> id, an int. The same u gives the same id: the chance is all in u.
    Units: u is a uniform random number, 0 <= u < 1.
    Raises: ValueError where u is outside, or probs are no probabilities.
    Taught: notebooks/11_sampling.ipynb
    """
    if not _is_number(u) or not 0 <= u < 1:
        raise ValueError(f"sample: u must be at least 0 and below 1, got {u!r}")
    probs = np.asarray(probs, dtype=np.float64)                                     # (V,)
    if probs.ndim != 1 or not len(probs):
        raise ValueError(f"sample: probs must have shape (V,) with V >= 1, got {probs.shape}")
    total = np.cumsum(probs)                                                        # (V,)
    if not (probs.min() >= 0 and 0 < total[-1] < math.inf):
        raise ValueError("sample: probs must be at least 0 with a sum above 0, "
                         f"got a sum of {total[-1]}")
    last = np.searchsorted(total, total[-1])    # the last token with a probability above 0
    return int(min(np.searchsorted(total, u * total[-1], side="right"), last))


def greedy(logits):
    """The id of the largest logit, the lower one of equals: what temperature 0 chooses.

    Shapes: logits (V,) -> id, an int. It is sample(probabilities(logits, 0), u) for every u,
        without passes over V probabilities: a small part of the time (benchmarks/RESULTS.md).
    Raises: ValueError for nan or +inf, for all -inf.
    """
    return int(check_logits(logits, dtype=None).argmax())


def check_logits(logits, dtype=np.float64):
    """The logits as float64. Raises ValueError where they cannot become probabilities."""
    try:
        logits = np.asarray(logits, dtype=dtype)                                    # (V,)
    except (TypeError, ValueError):             # lists of different lengths, texts
        raise ValueError("probabilities: logits must be a list of V numbers, "
                         f"got {logits!r:.60}") from None
    if logits.ndim != 1 or not len(logits):
        raise ValueError("probabilities: logits must have shape (V,) with V >= 1, "
                         f"got {logits.shape}")
    top = logits.max()
    if not np.isfinite(top):
        raise ValueError("probabilities: logits must be finite or -inf, and one finite; "
                         f"the largest is {top}")
    return logits


def check_settings(temperature, top_k, top_p, min_p):
    """Raise ValueError with one sentence if a setting is out of its range."""
    if not _is_number(temperature) or not 0 <= temperature < math.inf:
        raise ValueError(f"temperature must be a finite number of at least 0, got {temperature!r}")
    whole = isinstance(top_k, (int, np.integer)) and not isinstance(top_k, bool)
    if top_k is not None and (not whole or top_k < 1):
        raise ValueError(f"top_k must be None or a whole number of at least 1, got {top_k!r}")
    for name, value in (("top_p", top_p), ("min_p", min_p)):
        if value is not None and (not _is_number(value) or not 0 <= value <= 1):
            raise ValueError(f"{name} must be None or a number from 0 to 1, got {value!r}")


def _is_number(value):
    """A real number, no bool, and no whole number beyond the floats."""
    return (isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
            and not (isinstance(value, int) and abs(value) > float(np.finfo(float).max)))
