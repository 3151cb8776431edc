"""Your own operations: kept as files beside the lessons, found again by later lessons."""
import os
import tempfile
from dataclasses import fields
from functools import cache
from pathlib import Path

from gpt2lab.model import Ops

from . import show
from .attempting import SECONDS, TimeUp, contained, told
from .exercises import exercises
from .judging import results_of
from .sourcing import source

START = Path.cwd()                              # of the notebook, when it imports this


def folder():
    """Where operations are kept: the folder GPT2LAB_MY_OPS, else my_ops beside the open lessons.

    A relative GPT2LAB_MY_OPS begins at the course's folder. That is the one, upwards from where the
    notebook stands, that holds 00_start_here.ipynb, or its notebooks/; else where it stands.
    """
    return _resolved(os.environ.get("GPT2LAB_MY_OPS") or "my_ops")


@cache
def _resolved(named):
    places = [place for above in (START, *START.parents) for place in (above, above / "notebooks")]
    course = next((place for place in places if (place / "00_start_here.ipynb").is_file()), START)
    try:
        return (course / Path(named).expanduser()).resolve()
    except RuntimeError:
        raise ValueError(f"GPT2LAB_MY_OPS names a home that is not there: {named}") from None


def keep(function):
    """Write a function to my_ops/<name>.py with all that it uses, and try that file.

    It is kept only when the file, loaded by itself, passes the cases of its exercise. Returns a
    sentence: "Kept for the later lessons.", or what stands in the way.
    """
    name = getattr(function, "__name__", None)
    exercise = exercises().get(name)
    if exercise is None:
        return f"It could not be kept: no exercise is called {name!r}."
    try:
        text = source(function)
        _, misses = results_of(exercise, load(text, name))
        wrong = next((i for i, miss in enumerate(misses) if miss), None)
        if wrong is not None:
            if results_of(exercise, function)[1] == misses:
                return "It is not kept: it does not pass its cases."
            return ("It could not be kept: in a file of its own it gives something else "
                    f"({exercise.cases[wrong].label}: {misses[wrong]}). "
                    "Move what it uses into the function.")
        write(folder() / f"{name}.py", text)
    except (OSError, ValueError, TypeError) as error:
        return f"It could not be kept: {error}."
    except Exception as error:                  # odd objects of the learner's
        return f"It could not be kept: {told(error)}."
    return "Kept for the later lessons."


def write(path, text):
    """Write a file in one step: others see the old one or the new one, never half of one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, fresh = tempfile.mkstemp(dir=path.parent, prefix=f".{path.stem}-", suffix=".new")
    try:
        with open(handle, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
        os.replace(fresh, path)
    except BaseException:
        os.unlink(fresh)
        raise


def load(text, name, path=None):
    """The function `name` of a text, in a namespace of its own. Raises: ValueError."""
    space = {"__name__": f"my_ops.{name}"}
    try:
        contained(lambda: exec(compile(text, str(path or f"{name}.py"), "exec"), space), SECONDS)
    except (TimeUp, SystemExit):
        raise ValueError(f"{path or name} runs on, or ends Python, when it is loaded") from None
    except BaseException as error:              # a file may raise anything
        raise ValueError(f"{path or name} cannot be loaded by itself: {told(error)}") from None
    if not callable(space.get(name)):
        raise ValueError(f"{path or name} holds no function {name}")
    return space[name]


def mine():
    """An Ops with every operation that you have built; the library's own for the rest.

    A file that cannot be loaded is left out, and said.
    """
    found = {}
    for name in [field.name for field in fields(Ops)]:
        if (folder() / f"{name}.py").is_file():
            try:
                found[name] = yours(name)
            except ValueError as error:
                print(f"{error}. The library's {name} stands in: run its lesson's check again.")
    return Ops(**found)


def yours(name, otherwise=None):
    """The function that you kept under this name, or `otherwise`. ValueError: there is neither."""
    path = folder() / f"{name}.py"
    if not path.is_file():
        if otherwise is not None:
            return otherwise
        raise ValueError(f"you have not kept {name} yet")
    try:
        return load(path.read_text(encoding="utf-8"), name, path)
    except (OSError, UnicodeError) as error:
        raise ValueError(f"{path} cannot be read: {told(error)}") from None


def built():
    """Show which operations are yours and which are still the library's."""
    rows = [(field.name, "yours" if (folder() / f"{field.name}.py").is_file() else "the library's")
            for field in fields(Ops)]
    show.table(["operation", "made by"], rows)
