"""The exercises of the course: what is asked, the cases to pass, and the mistakes known by name.

One file a lesson, named as its module is. An exercise is registered by exercise(right, cases), a
mistake by the decorator @mistake(of=right) where it is written. A mistake is a function with the
arguments of the right one; the first line of its docstring says what is wrong, the rest is a hint
that lets the learner find the way.
"""
import importlib
import inspect
import pkgutil
from dataclasses import dataclass, field

import numpy as np


@dataclass(frozen=True)
class Case:
    """One call: label (what the learner reads), arguments, named arguments.

    stops_at_nan: a division by 0, or an operation that makes a nan, stops the function with its
    error. take: a generator is asked for, and at most so many of its values are taken; None: none
    is asked for.
    """
    label: str
    arguments: tuple = ()
    named: dict = field(default_factory=dict)
    stops_at_nan: bool = False
    take: int | None = None


@dataclass(frozen=True)
class Exercise:
    """right: the function that is asked for; its name is the learner's function's name."""
    right: callable
    cases: list
    mistakes: list
    tolerance: float

    @property
    def name(self):
        return self.right.__name__


# By the name of the right function; filled by the lessons' files.
_exercises, _mistakes = {}, {}


def exercise(right, cases, tolerance=1e-5):
    """Register what a lesson asks for; its mistakes are those of @mistake(of=right), in order."""
    known = _mistakes.setdefault(right.__name__, [])
    _exercises[right.__name__] = Exercise(right, cases, known, tolerance)


def mistake(of):
    """Decorator that registers a known mistake in the exercise whose right answer is `of`."""
    def register(function):
        _mistakes.setdefault(of.__name__, []).append(function)
        return function
    return register


def exercises():
    """Every exercise of the course by name."""
    for module in sorted(pkgutil.iter_modules(__path__), key=lambda module: module.name):
        importlib.import_module(f"{__name__}.{module.name}")
    return dict(sorted(_exercises.items()))


def title(mistake):
    """What is wrong, in one sentence: the first line of the docstring."""
    return (inspect.getdoc(mistake) or _without_docstrings(mistake)).split("\n")[0]


def hint(mistake):
    """The docstring without its first line."""
    text = inspect.getdoc(mistake) or _without_docstrings(mistake)
    return " ".join(text.split("\n", 1)[1].split())


def _without_docstrings(mistake):
    """What stands for the docstring under python -OO, which drops them all."""
    return mistake.__name__.replace("_", " ") + ".\nStart Python without -OO to read the hint."


def random(*shape, seed=0, scale=1.0, shift=0.0):
    """float32 numbers from a normal distribution, the same on every machine."""
    return (np.random.default_rng(seed).normal(shift, scale, shape)).astype(np.float32)
