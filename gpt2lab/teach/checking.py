"""check(your_function): does it do what the lesson asks, and if not, which mistake is it?"""
import inspect

from .attempting import Failure
from .comparing import short
from .exercises import exercises, hint, title
from .judging import recognise, results_of
from .keeping import is_kept, keep

# The names with which the model hands things to an operation; all else comes by position.
BOUND = {"embed": ["start"], "attend": ["softmax"], "attend_heads": ["linear", "attend"],
         "mlp": ["linear", "gelu"], "lm_head": ["epsilon", "layer_norm"],
         "block": ["n_head", "epsilon", "remember", "layer_norm", "attend_heads", "mlp"]}


def check(function):
    """Try your function on the cases of its exercise and print what came out. Never raises.

    The exercise is found by the function's name. When all cases pass, the function is kept for
    later lessons.
    """
    print(verdict(function))


def verdict(function):
    """What check prints."""
    exercise = exercise_of(function)
    if exercise is None:
        return (f"There is no exercise called {short(_name(function))}: "
                "write a function with def, under the name of the stub.")
    missing = names_missing(exercise, function)
    if missing:
        return f"{exercise.name}: {missing}"
    results, misses = results_of(exercise, function)
    if any(result is ... for result in results):
        return f"{exercise.name}: not written yet"
    passed = misses.count(None)
    if passed == len(exercise.cases):
        return f"{exercise.name}: all {passed} cases pass. {keep(function)}"
    first = next(i for i, text in enumerate(misses) if text)
    lines = [f"{exercise.name}: {passed} of {len(exercise.cases)} cases pass",
             f"first miss: {exercise.cases[first].label}: {misses[first]}"]
    if isinstance(results[first], Failure) and results[first].line:
        lines.append(f"in your function, {results[first].line}")
    known, everywhere = recognise(exercise, results, misses)
    if known is not None:
        what = "This" if everywhere else "The first miss"
        lines += [f"{what} is what you get when: {title(known)}", f"Hint: {hint(known)}"]
    if is_kept(exercise.name):
        lines.append("Your earlier function, which passed, stays kept.")
    return "\n".join(lines)


def exercise_of(function):
    """The exercise that a function answers, by its name, or None."""
    name = _name(function)
    return exercises().get(name) if isinstance(name, str) and callable(function) else None


def _name(function):
    """What an object is called; one without a name is its own."""
    try:
        return getattr(function, "__name__", function)
    except Exception:                           # odd objects of the learner's
        return function


def names_missing(exercise, function):
    """A sentence where the model could not hand over what it does by name, else None."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except Exception:                           # no signature: the cases will tell
        return None
    if any(argument.kind is argument.VAR_KEYWORD for argument in parameters):
        return None
    names = {argument.name for argument in parameters
             if argument.kind is not argument.POSITIONAL_ONLY}
    missing = [name for name in BOUND.get(exercise.name, ()) if name not in names]
    these = "this argument" if len(missing) == 1 else "these arguments"
    return missing and (f"the model hands {', '.join(missing)} over by name: "
                        f"keep {these} of the stub")
