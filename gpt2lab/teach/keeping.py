"""Your own operations: kept as files in notebooks/my_ops, found again by later lessons."""
import ast
import dis
import inspect
import os
import textwrap
import types
from dataclasses import fields
from pathlib import Path

import gpt2lab
from gpt2lab.model import Ops

from . import show

HOME = Path(gpt2lab.__file__).resolve().parent.parent / "notebooks" / "my_ops"


def folder():
    """Where your operations are kept: the folder GPT2LAB_MY_OPS, else notebooks/my_ops."""
    return Path(os.environ.get("GPT2LAB_MY_OPS") or HOME)


def keep(function):
    """Write the function's source to my_ops/<name>.py, with what it uses. Returns a sentence."""
    try:
        text = source(function)
        folder().mkdir(parents=True, exist_ok=True)
        path = folder() / f"{function.__name__}.py"
        fresh = path.with_suffix(".new")        # replaced in one step: never half a file
        fresh.write_text(text, encoding="utf-8")
        os.replace(fresh, path)
    except (OSError, ValueError, TypeError) as error:
        return f"It could not be kept: {error}"
    return "Kept for the later lessons."


def source(function):
    """The function as a file of its own: imports, constants and helpers that it uses come first."""
    parts, seen = [], set()

    def add(one):
        text = textwrap.dedent(inspect.getsource(one))
        for name in [*_names(one.__code__), *_names_in_head(text)]:
            if name in seen or name not in one.__globals__:
                continue
            seen.add(name)
            value = one.__globals__[name]
            if isinstance(value, types.ModuleType):
                parts.append(f"import {value.__name__} as {name}")
            elif isinstance(value, types.FunctionType) and value.__module__ == one.__module__:
                add(value)
            elif isinstance(value, (types.FunctionType, type)) and value.__module__ != "__main__":
                parts.append(f"from {value.__module__} import {value.__qualname__} as {name}")
            elif type(value) in (bool, int, float, str, bytes, type(None)):
                parts.append(f"{name} = {value!r}")
            else:
                raise ValueError(f"{function.__name__} uses {name}, which is defined outside "
                                 "of it: move it into the function")
        parts.append(text)

    seen.add(function.__name__)
    add(function)
    return "\n\n".join(parts)


def mine():
    """An Ops with every operation that you have built; the library's own for the rest."""
    names = [field.name for field in fields(Ops)]
    return Ops(**{name: yours(name) for name in names if (folder() / f"{name}.py").is_file()})


def yours(name, otherwise=None):
    """The function that you kept under this name, or `otherwise`. ValueError: there is neither."""
    path = folder() / f"{name}.py"
    if not path.is_file():
        if otherwise is not None:
            return otherwise
        raise ValueError(f"you have not kept {name} yet")
    space = {"__name__": f"my_ops.{name}"}
    try:
        exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), space)
        return space[name]
    except Exception as error:
        raise ValueError(f"{path} cannot be used: {error!r}") from None


def built():
    """Show which operations are yours and which are still the library's."""
    rows = [(field.name, "yours" if (folder() / f"{field.name}.py").is_file() else "the library's")
            for field in fields(Ops)]
    show.table(["operation", "made by"], rows)


def _names_in_head(text):
    """Names in a function's defaults, annotations and decorators: looked up when it is defined."""
    function = ast.parse(text).body[0]
    heads = [function.args, *function.decorator_list]
    heads += [function.returns] if function.returns else []
    return [node.id for head in heads for node in ast.walk(head) if isinstance(node, ast.Name)]


def _names(code):
    """Names that a function's code looks up outside, inner functions included."""
    found = [step.argval for step in dis.get_instructions(code)
             if step.opname in ("LOAD_GLOBAL", "LOAD_NAME")]
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            found += _names(constant)
    return found
