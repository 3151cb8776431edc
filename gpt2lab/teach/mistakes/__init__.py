"""The exercises of the course: what is asked, the cases to pass, and the mistakes known by name.

One file a lesson, named as the notebook is. It holds EXERCISES, a list of Exercise. A mistake is a
function with the arguments of the right one; the first line of its docstring says what is wrong,
the rest is a hint that lets the learner find the way.
"""
import importlib
import inspect
import pkgutil
from dataclasses import dataclass, field

import numpy as np


@dataclass(frozen=True)
class Case:
    """One call: label (what the learner reads), arguments, named arguments.

    strict: a division by 0 or an operation that makes a nan stops the function with its error.
    """
    label: str
    arguments: tuple = ()
    named: dict = field(default_factory=dict)
    strict: bool = False


@dataclass(frozen=True)
class Exercise:
    """right: the function that is asked for; its name is the learner's function's name."""
    name: str
    right: callable
    cases: list
    mistakes: list
    tolerance: float = 1e-5


def exercises():
    """Every exercise of the course by name, in the order of the lessons' files."""
    found = {}
    for module in sorted(pkgutil.iter_modules(__path__), key=lambda module: module.name):
        for exercise in importlib.import_module(f"{__name__}.{module.name}").EXERCISES:
            found[exercise.name] = exercise
    return found


def title(mistake):
    """What is wrong, in one sentence: the first line of the docstring."""
    return inspect.getdoc(mistake).split("\n")[0]


def hint(mistake):
    """The docstring without its first line."""
    return " ".join(inspect.getdoc(mistake).split("\n", 1)[1].split())


def random(*shape, seed=0, scale=1.0, shift=0.0):
    """float32 numbers from a normal distribution, the same on every machine."""
    return (np.random.default_rng(seed).normal(shift, scale, shape)).astype(np.float32)
