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

# What a generator is made of, and the lesson in which you build it.
BUILDS = {"01": ["linear"], "02": ["read_header", "tensor_view"],
          "03": ["merge", "encode", "decode"], "04": ["embed"], "05": ["layer_norm"],
          "06": ["softmax", "attend"], "07": ["attend_heads"], "08": ["gelu", "mlp"],
          "09": ["block"], "10": ["lm_head"], "11": ["probabilities", "sample"],
          "12": ["remember"], "13": ["write_loop"]}


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


def beside(path):
    """Where a file of yours is written: a relative path begins in the folder that holds my_ops."""
    return folder().parent / Path(path).expanduser()


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
    """Write text or bytes in one step: others see the old file or the new one, never a half."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, fresh = tempfile.mkstemp(dir=path.parent, prefix=f".{path.stem}-", suffix=".new")
    try:
        with open(handle, "wb") as file:
            file.write(text.encode("utf-8") if isinstance(text, str) else text)
        mask = os.umask(0)                      # who may read it: as for any other new file
        os.umask(mask)
        os.chmod(fresh, 0o666 & ~mask)
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


def mine(**exchanged):
    """An Ops with every operation that you have built; the library's own for the rest.

    exchanged: operations to put in place of yours, such as mine(layer_norm=without_one).
    What cannot be loaded, or passes its check no more, is left out, and said.
    """
    found = {}
    for name in [field.name for field in fields(Ops)]:
        if is_kept(name) and name not in exchanged:
            try:
                function = kept(name)
                if passes(name):
                    found[name] = function
                else:
                    print(_instead(name, f"Your {name} does not pass its check any more"))
            except ValueError as error:
                print(_instead(name, error))
    return Ops(**found | exchanged)


def yours(operation):
    """The function that you kept under the name of this one; ours, where there is none yet.

    operation: a function, which is never run, or a name. It prints whose the function is. So
    `softmax = yours(softmax)` makes all that follows run what you built.
    Raises: ValueError where no exercise has that name.
    """
    name = operation if isinstance(operation, str) else getattr(operation, "__name__", None)
    exercise = exercises().get(name) if isinstance(name, str) else None
    if exercise is None:
        raise ValueError(f"yours: no exercise is called {name!r}")
    if is_kept(name):
        try:
            function = kept(name)
            if passes(name):
                print(f"{name}: yours")
                return function
            print(_instead(name, f"Your {name} does not pass its check any more"))
        except ValueError as error:
            print(_instead(name, error))
    else:
        print(f"{name}: ours, until yours passes its check")
    return exercise.right


def is_kept(name):
    """Is there a file for a function of yours?"""
    return (folder() / f"{name}.py").is_file()


def kept(name):
    """The function that you kept under this name. Raises: ValueError; it may not load."""
    path = folder() / f"{name}.py"
    try:
        return load(path.read_text(encoding="utf-8"), name, path)
    except FileNotFoundError:
        raise ValueError(f"you have not kept {name} yet") from None
    except (OSError, UnicodeError) as error:
        raise ValueError(f"{path} cannot be read: {told(error)}") from None


def passes(name):
    """Does the function that you kept under this name load, and pass the cases of its exercise?"""
    try:
        return _passes(name, (folder() / f"{name}.py").read_text(encoding="utf-8"))
    except (OSError, UnicodeError):
        return False


@cache
def _passes(name, text):
    try:
        return not any(results_of(exercises()[name], load(text, name))[1])
    except ValueError:
        return False


def _instead(name, error):
    return f"{error}. The library's {name} stands in: run its lesson's check again."


def built():
    """Show, lesson by lesson, what you have built (it passes its check) and what is missing."""
    mine_too = {name for names in BUILDS.values() for name in names if passes(name)}
    rows = []
    for lesson, names in BUILDS.items():
        missing = [f"{name} (kept, but does not pass)" if is_kept(name) else name
                   for name in names if name not in mine_too]
        own = [name for name in names if name in mine_too]
        rows.append((lesson, ", ".join(own), ", ".join(missing)))
    show.table(["lesson", "yours", "missing"], rows)
    print(f"You have built {len(mine_too)} of {sum(map(len, BUILDS.values()))}.")
