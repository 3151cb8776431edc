"""A function on the cases of its exercise: what comes out, what is wrong, which mistake it is."""
from .attempting import Failure, TimeUp, attempt
from .comparing import fault, same, short


def results_of(exercise, function):
    """What the function gives in each case, and what is wrong with it (None: nothing).

    Behind a case that had to be stopped no other is tried.
    """
    results = []
    for case in exercise.cases:
        results.append(attempt(function, case))
        if isinstance(results[-1], Failure) and results[-1].error in (TimeUp, KeyboardInterrupt):
            break
    misses = [miss(result, attempt(exercise.right, case), exercise.tolerance)
              for result, case in zip(results, exercise.cases)]
    return results, misses


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
    """(mistake, fits everywhere): the known mistake that explains the misses, else (None, False).

    The one that fits all results; else all misses; else the one that stops with an error where the
    function does and fits elsewhere; else the first miss, and the most of the others.
    """
    rights = [attempt(exercise.right, case) for case in exercise.cases[:len(results)]]
    missed = [i for i, text in enumerate(misses) if text]
    best, known = (False, False, 0, False), None
    for mistake in exercise.mistakes:
        others = [attempt(mistake, case) for case in exercise.cases[:len(results)]]
        fits = {i for i, result in enumerate(results) if _alike(
            result, others[i], exercise.tolerance, isinstance(rights[i], Failure))}
        stops = {i for i, result in enumerate(results) if _both_stop(result, others[i])} - fits
        whole = len(fits) >= 2 and len(fits | stops) == len(results)
        wrong = miss(others[missed[0]], rights[missed[0]], exercise.tolerance)
        if same(results[missed[0]], rights[missed[0]], exercise.tolerance):
            explained = wrong == misses[missed[0]]      # only the kind is wrong: the same kind
        else:
            explained = wrong and (missed[0] in fits or whole)
        score = fits.issuperset(missed), whole, len(fits), True
        if explained and score > best:
            best, known = score, mistake
    return known, best[0] or best[1]


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
    return any(issubclass(got.error or Failure, family) and issubclass(other.error or Failure, family)
               for family in ((ValueError, IndexError, TypeError), KeyError))
