"""check(your_function): does it do what the lesson asks, and if not, which mistake is it?"""
import copy
import inspect

import numpy as np

from gpt2lab.model import Ops

from .exercises import exercises, hint, title
from .keeping import keep


def check(function):
    """Try your function on the cases of its exercise and print what came out. Never raises.

    The exercise is found by the function's name. When all cases pass, the function is kept for
    later lessons.
    """
    print(verdict(function))


def verdict(function):
    """What check prints."""
    exercise = exercises().get(getattr(function, "__name__", None))
    if exercise is None:
        name = getattr(function, "__name__", function)
        return f"There is no exercise called {name!r}: keep the name of the stub."
    wrong_names = renamed(exercise, function)
    if wrong_names:
        return f"{exercise.name}: {wrong_names}"
    results = [attempt(function, case) for case in exercise.cases]
    if any(result is ... for result in results):
        return f"{exercise.name}: not written yet"
    misses = [fault(result, attempt(exercise.right, case), exercise.tolerance)
              for result, case in zip(results, exercise.cases)]
    passed = misses.count(None)
    if passed == len(misses):
        return f"{exercise.name}: all {passed} cases pass. {keep(function)}"
    first = next(i for i, text in enumerate(misses) if text)
    lines = [f"{exercise.name}: {passed} of {len(misses)} cases pass",
             f"first miss: {exercise.cases[first].label}: {misses[first]}"]
    known = recognise(exercise, results)
    if known is not None:
        lines += [f"This is what you get when: {title(known)}", f"Hint: {hint(known)}"]
    return "\n".join(lines)


def renamed(exercise, function):
    """A sentence, where the model could not call the function by the names of its arguments."""
    if exercise.name not in Ops.__dataclass_fields__:
        return None
    wanted, got = (list(inspect.signature(f).parameters.values())
                   for f in (exercise.right, function))
    names = {argument.name for argument in got}
    takes_all = any(argument.kind in (argument.VAR_POSITIONAL, argument.VAR_KEYWORD)
                    for argument in got)
    if takes_all or all(argument.name in names for argument in wanted):
        return None
    return ("the model calls it by the names of its arguments: keep those of the stub, "
            f"({', '.join(argument.name for argument in wanted)})")


def recognise(exercise, results):
    """The known mistake that gives just these results in all cases, or None."""
    asked = [isinstance(attempt(exercise.right, case), Failure)         # for an error
             for case in exercise.cases]
    for mistake in exercise.mistakes:
        if all(_alike(result, attempt(mistake, case), exercise.tolerance, error)
               for result, case, error in zip(results, exercise.cases, asked)):
            return mistake
    return None


def attempt(function, case):
    """What the function gives; a Failure where it raises, gives nothing or changes its input."""
    arguments, named = copy.deepcopy((case.arguments, case.named))
    try:
        stop = "raise" if case.stops_at_nan else "ignore"
        with np.errstate(all="ignore", divide=stop, invalid=stop):
            result = function(*arguments, **named)
    except Exception as error:
        return Failure(f"{type(error).__name__}: {error}", type(error))
    if result is None:
        return Failure("nothing came back: is there a return?")
    if not _equal((arguments, named), (case.arguments, case.named)):
        return Failure("your function changed its input: work on a new array")
    return result


class Failure:
    """A result that is none: what was raised, or what is wrong with it."""

    def __init__(self, text, error=None):
        self.text, self.error = text, error             # error: the class of the exception


def fault(got, want, tolerance):
    """What is wrong with `got`, in one line; None if nothing is."""
    if isinstance(got, Failure) and isinstance(want, Failure) and got.error:
        fits = issubclass(got.error, ValueError) or not issubclass(want.error, ValueError)
        return None if fits else f"this must be refused with a ValueError, got {got.text}"
    if isinstance(got, Failure):
        return got.text
    if isinstance(want, Failure):
        return f"this must be refused with an error ({want.text}), got {_short(got)}"
    if isinstance(want, tuple) and isinstance(got, tuple) and len(got) == len(want) and any(
            isinstance(part, np.ndarray) for part in want):
        parts = [fault(g, w, tolerance) for g, w in zip(got, want)]
        return next((f"result {i} of {len(want)}: {text}"
                     for i, text in enumerate(parts, 1) if text), None)
    if not isinstance(want, np.ndarray):
        return None if _equal(got, want, tolerance) else f"want {_short(want)}, got {_short(got)}"
    if not isinstance(got, np.ndarray):
        return f"want an array of shape {want.shape}, got {_short(got)}"
    if got.shape != want.shape:
        return f"want shape {want.shape}, got shape {got.shape}"
    if got.dtype != want.dtype:
        return f"want {want.dtype} numbers, got {got.dtype}"
    wrong = ~_close(got, want, tolerance)
    if not wrong.any():
        return None
    place = tuple(int(i) for i in np.argwhere(wrong)[0])
    where = f"at [{', '.join(map(str, place))}] " if place else ""
    return f"{where}want {want[place]:.6g}, got {got[place]:.6g}"


def _alike(got, other, tolerance, asked):
    """Could the same code have made both? Where an error is asked for, its words do not matter."""
    if isinstance(got, Failure) or isinstance(other, Failure):
        return isinstance(got, Failure) and isinstance(other, Failure) and (
            got.text == other.text or asked and got.error and other.error)
    return _equal(got, other, tolerance)


def _equal(a, b, tolerance=0.0):
    """Equal values, of the same kinds, through lists, tuples and dicts."""
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        return a.shape == b.shape and bool(_close(a, b, tolerance).all())
    if isinstance(a, dict) and isinstance(b, dict):
        return list(a) == list(b) and all(_equal(a[key], b[key], tolerance) for key in a)
    if isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
        return len(a) == len(b) and all(_equal(x, y, tolerance) for x, y in zip(a, b))
    if isinstance(a, (int, float, np.number)) and isinstance(b, (int, float, np.number)):
        return bool(_close(np.float64(a), np.float64(b), tolerance))
    try:
        return bool(a is b or a == b)
    except Exception:                           # a value of the learner's that cannot be compared
        return False


def _close(a, b, tolerance):
    if a.dtype.kind not in "fc" and b.dtype.kind not in "fc":
        return np.asarray(a == b)
    with np.errstate(all="ignore"):
        near = np.abs(a - b) <= tolerance * (1 + np.abs(b))
        near &= np.isfinite(b)                  # nothing is near to infinity
    return np.asarray(near | (a == b) | ((a != a) & (b != b)))


def _short(value):
    large = isinstance(value, np.ndarray) and value.size > 8
    text = f"shape {value.shape}" if large else repr(value)
    return text if len(text) <= 100 else text[:97] + "..."
