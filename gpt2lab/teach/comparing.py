"""Is a result the one that was asked for, and if not, what is wrong with it, in one line?"""
from dataclasses import dataclass

import numpy as np

NUMBERS = (bool, int, float, complex, np.generic)


@dataclass(frozen=True)
class Yielded:
    """What a generator gave: the values one by one, and what it returned when it came to its end.

    It is no list and no tuple: who gives all values at once has given them too late.
    """
    values: list
    returned: object = None


def fault(got, want, tolerance):
    """What is wrong with `got`, in one line; None if nothing is.

    tolerance: how far numbers may be apart, as a share of 1 + the size of the wanted one.
    """
    try:
        return _fault(got, want, tolerance)
    except Exception:                           # odd objects of the learner's
        return f"want {short(want)}, got {_a(got)} that cannot be compared"


def same(a, b, tolerance=0.0):
    """Equal values, through lists, tuples and dicts; dtypes and kinds of numbers do not matter."""
    try:
        return _same(a, b, tolerance)
    except Exception:                           # odd objects of the learner's
        return False


def short(value):
    """A value in at most 100 characters."""
    if isinstance(value, np.ndarray) and value.size > 8:
        return f"shape {value.shape}"
    try:
        text = " ".join((str if isinstance(value, np.generic) else repr)(value).split())
    except Exception:
        text = f"{_a(value)} that cannot be shown"
    return text if len(text) <= 100 else text[:97] + "..."


def _fault(got, want, tolerance):
    if isinstance(want, np.ndarray):
        return _of_array(got, want, tolerance)
    if isinstance(want, (list, tuple)):
        return _of_list(got, want, tolerance)
    if isinstance(want, dict):
        return _of_dict(got, want, tolerance)
    if isinstance(want, Yielded):
        return _of_generator(got, want, tolerance)
    if isinstance(want, NUMBERS):
        return _of_number(got, want, tolerance)
    right = type(got) is type(want) and got == want
    return None if right else f"want {short(want)}, got {short(got)}"


def _of_array(got, want, tolerance):
    if isinstance(got, np.generic):
        got = np.asarray(got)
    if isinstance(got, (list, tuple)):
        right = same(np.array(got), want, tolerance)
        return f"{_but(right)}want an array of shape {want.shape}, got a {type(got).__name__}"
    if not isinstance(got, np.ndarray):
        return f"want an array of shape {want.shape}, got {short(got)}"
    if type(got) is not np.ndarray:
        return f"want a plain array, got {_a(got)}"
    if got.dtype.kind not in "biufc":
        return f"want {want.dtype} numbers, got {got.dtype.name}"
    if got.shape != want.shape:
        right = got.size == want.size and same(got.reshape(want.shape), want, tolerance)
        return f"{_but(right)}want shape {want.shape}, got shape {got.shape}"
    wrong, other = ~_close(got, want, tolerance), got.dtype != want.dtype
    if want.dtype == np.int64 and got.dtype.kind in "iu":       # ids and counts of another width
        other = False
    if wrong.any():
        place = tuple(int(i) for i in np.argwhere(wrong)[0])
        where = f"at [{', '.join(map(str, place))}] " if place else ""
        also = f"; want {want.dtype} numbers, got {got.dtype}" if other else ""
        return f"{where}want {_digits(want[place])}, got {_digits(got[place])}{also}"
    return f"{_but(True)}want {want.dtype} numbers, got {got.dtype}" if other else None


def _of_list(got, want, tolerance):
    if isinstance(got, np.ndarray) and type(got) is np.ndarray and _all_numbers(want):
        got = list(got)                         # an array in place of a list of numbers is right
    if not isinstance(got, (list, tuple)):
        return f"want a {type(want).__name__} of {len(want)}, got {short(got)}"
    if len(got) != len(want):
        return f"want {len(want)} in a {type(want).__name__}, got {len(got)}: {short(got)}"
    for i, (one, wanted) in enumerate(zip(got, want), 1):
        text = _fault(one, wanted, tolerance)
        if text and any(isinstance(part, np.ndarray) for part in want):
            return f"result {i} of {len(want)}: {text}"
        if text:
            whole = same(got, want, tolerance)  # then it is the kind of one of them
            return f"number {i}: {text}" if whole else f"want {short(want)}, got {short(got)}"
    return None


def _of_dict(got, want, tolerance):
    if not isinstance(got, dict) or set(got) != set(want):
        return f"want {short(want)}, got {short(got)}"
    texts = {key: _fault(got[key], want[key], tolerance) for key in want}
    return next((f"{key!r}: {text}" for key, text in texts.items() if text), None)


def _of_generator(got, want, tolerance):
    if not isinstance(got, Yielded):
        return f"give each id with yield, one by one: want a generator, got {short(got)}"
    if len(got.values) != len(want.values):
        return (f"given with yield: want {len(want.values)} ids, got {len(got.values)}: "
                f"{short(got.values)}")
    text = _fault(got.values, want.values, tolerance)
    if text:
        return f"given with yield: {text}"
    text = _fault(got.returned, want.returned, tolerance)
    return text and f"given with return, at the end: {text}"


def _of_number(got, want, tolerance):
    if isinstance(got, np.ndarray) and got.ndim == 0:
        got = got[()]
    if not isinstance(got, NUMBERS):
        return f"want {short(want)}, got {short(got)}"
    right = bool(_close(np.asarray(got), np.asarray(want), tolerance))
    if not right:
        return f"want {short(want)}, got {short(got)}"
    kind, wanted = np.asarray(got).dtype.kind, np.asarray(want).dtype.kind
    fits = {"b": "b", "i": "iu", "u": "iu", "f": "fiu", "c": "cfiu"}[wanted]
    return None if kind in fits else f"want {KINDS[wanted]}, got {short(got)}"


KINDS = {"b": "True or False", "i": "a whole number", "u": "a whole number", "f": "a number",
         "c": "a number"}


def _same(a, b, tolerance):
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        return a.shape == b.shape and bool(_close(a, b, tolerance).all())
    if isinstance(a, np.ndarray) and isinstance(b, (list, tuple)):
        return _same(list(a), b, tolerance)
    if isinstance(a, dict) and isinstance(b, dict):
        return set(a) == set(b) and all(_same(a[key], b[key], tolerance) for key in a)
    if isinstance(a, Yielded) and isinstance(b, Yielded):
        return _same((a.values, a.returned), (b.values, b.returned), tolerance)
    if isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
        return len(a) == len(b) and all(_same(x, y, tolerance) for x, y in zip(a, b))
    if isinstance(a, NUMBERS) and isinstance(b, NUMBERS):
        return bool(_close(np.asarray(a), np.asarray(b), tolerance))
    if getattr(a, "ndim", 0) or getattr(b, "ndim", 0):
        return False                            # array([4]) == 4 is True to NumPy
    return bool(a is b or a == b)


def _close(a, b, tolerance):
    """Where two arrays of one shape are equal, or nearer than the tolerance; nan is nan."""
    with np.errstate(all="ignore"):
        equal = np.asarray((a == b) | ((a != a) & (b != b)))
        if not (a.dtype.kind in "fc" or b.dtype.kind in "fc"):
            return equal
        wide = np.complex128 if "c" in (a.dtype.kind, b.dtype.kind) else np.float64
        a, b = a.astype(wide), b.astype(wide)
        near = (np.abs(a - b) <= tolerance * (1 + np.abs(b))) & np.isfinite(b)
    return equal | near                         # nothing is near to infinity


def _all_numbers(values):
    return all(_all_numbers(value) if isinstance(value, (list, tuple)) else
               isinstance(value, NUMBERS) for value in values)


def _but(right):
    return "the values are right, but " if right else ""


def _digits(value):
    return f"{value:.6g}" if value.dtype.kind in "fc" else str(value)


def _a(value):
    name = type(value).__name__
    return f"{'an' if name[:1].lower() in 'aeiou' else 'a'} {name}"
