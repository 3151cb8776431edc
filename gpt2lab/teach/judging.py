"""A function on the cases of its exercise: what comes out, what is wrong, which mistake it is."""
from functools import cache

from .attempting import Failure, TimeUp, attempt
from .comparing import fault, same, short
from .exercises import exercises
from .slips import slip_of


def results_of(exercise, function):
    """What the function gives in each case, and what is wrong with it (None: nothing).

    Behind a case that had to be stopped no other is tried.
    """
    results = []
    for case in exercise.cases:
        results.append(attempt(function, case))
        if isinstance(results[-1], Failure) and results[-1].error in (TimeUp, KeyboardInterrupt):
            break
    rights = results_known(exercise.name, exercise.right)
    return results, [miss(*pair, exercise.tolerance) for pair in zip(results, rights)]


@cache
def results_known(name, function):
    """What the right answer, or a known mistake, gives in each case: always the same."""
    return [attempt(function, case) for case in exercises()[name].cases]


@cache
def misses_known(name, mistake):
    """What is wrong with what a known mistake gives, case by case."""
    exercise = exercises()[name]
    rights = results_known(name, exercise.right)
    return [miss(*pair, exercise.tolerance) for pair in zip(results_known(name, mistake), rights)]


def miss(got, want, tolerance):
    """What is wrong with a result, in one line; None if nothing is. Both may be Failures."""
    if isinstance(got, Failure) and isinstance(want, Failure) and got.error:
        fits = issubclass(got.error, ValueError) or (
            issubclass(got.error, Exception) and not issubclass(want.error, ValueError))
        return None if fits else f"this must be refused with a ValueError, got {got.text}"
    if isinstance(got, Failure):
        return got.text
    if isinstance(want, Failure):
        return f"this must be refused with an error ({want.text}), got {short(got)}"
    return fault(got, want, tolerance)


def recognise(exercise, results, misses):
    """(mistake, explains all misses): the known mistake that explains the misses, or (None, False).

    The one that fits all results; else all misses; else the one that stops with an error where the
    function does and fits elsewhere; else the first miss, and the most of the others.
    A mistake that is right in a case does not explain a miss there. Where none fits: a slip that
    can happen in any exercise.
    """
    rights = results_known(exercise.name, exercise.right)
    missed = [i for i, text in enumerate(misses) if text]
    stopped = isinstance(results[missed[0]], Failure)   # different slips can have one error's words
    best, known = (False, False, 0, False), None
    for mistake in exercise.mistakes:
        others, told = (known_of(exercise.name, mistake)
                        for known_of in (results_known, misses_known))
        fits, stops = set(), set()
        for i, (result, other, right) in enumerate(zip(results, others, rights)):
            kind = same(result, right, exercise.tolerance)      # then at most the kind is wrong
            if _alike(result, other, exercise.tolerance, isinstance(right, Failure)) and (
                    told[i] == misses[i] if kind else bool(told[i]) == bool(misses[i])):
                fits.add(i)
            elif not isinstance(right, Failure) and _both_stop(result, other):
                stops.add(i)
        whole = len(fits) >= 2 and len(fits) + len(stops) == len(results)
        score = fits.issuperset(missed), whole, len(fits), True
        by_chance = stopped and len(fits.intersection(missed)) < 2 < len(missed)
        if (whole or missed[0] in fits and not by_chance) and score > best:
            best, known = score, mistake
    return (known, best[0] or best[1]) if known else slip_of(results, rights, misses)


def _alike(got, other, tolerance, asked):
    """Could the same code have made both? Where an error is asked for, its words do not matter."""
    if isinstance(got, Failure) or isinstance(other, Failure):
        return isinstance(got, Failure) and isinstance(other, Failure) and (
            got.text == other.text or bool(asked and got.error and other.error))
    return same(got, other, tolerance)


def _both_stop(got, other):
    """Do both stop with an error of one family? Each author words it differently."""
    if not (isinstance(got, Failure) and isinstance(other, Failure)):
        return False
    one, two = (failure.error or Failure for failure in (got, other))
    return any(issubclass(one, family) and issubclass(two, family)
               for family in ((ValueError, IndexError, TypeError), KeyError))
