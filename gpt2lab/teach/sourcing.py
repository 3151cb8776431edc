"""The source of a learner's function as a text that works by itself: what it uses comes first."""
import __future__

import ast
import dis
import inspect
import io
import linecache
import re
import sys
import tokenize
import types
from pathlib import Path

import numpy as np

from .attempting import LIBRARIES
from .exercises import exercises

PLAIN = (bool, int, float, complex, str, bytes, type(None), type(...), range, slice)
NUMBERS = "?bBhHiIlLqQefdFD"        # dtypes whose numbers Python can write: not longdouble
MOST = 10_000           # numbers of an array that are written out
NO_SOURCE = "has no source that can be found: define it in a cell, with def, without %% above it"
OWN_FILE = "is a file of yours: copy what you need into the notebook"


def source(function):
    """The function as the text of a file of its own.

    Helpers, lambdas, classes, imports, plain data and the values that a closure holds come before
    it, each under the name that it uses. Raises: ValueError that names what cannot be written down,
    and says what to do.
    """
    writer = _Writer(getattr(function, "__name__", "your function"),
                     getattr(inspect.unwrap(function), "__globals__", {}))
    writer.bind(function.__name__, function)
    code = getattr(inspect.unwrap(function), "__code__", None)
    if code is not None and code.co_flags & __future__.annotations.compiler_flag:
        writer.parts.insert(0, "from __future__ import annotations")
    return "\n\n".join(writer.parts) + "\n"


class _Writer:
    """parts: the pieces of the text so far. bound: name -> the object that it stands for there.

    space: the global names of the function, where classes find what they use.
    """

    def __init__(self, function_name, space):
        self.function_name, self.space = function_name, space
        self.parts, self.bound = [], {}

    def bind(self, name, value):
        """Write what makes `name` stand for `value`, and first what that needs."""
        if name in self.bound:
            if self.bound[name] is not value and not _alike(name, self.bound[name], value):
                raise self._error(name, "stands for two things: rename one of them")
            return
        self.bound[name] = value
        if isinstance(value, types.ModuleType):
            self.parts.append(self._import_of_module(name, value))
        elif is_plain(value):
            self._add_plain(name, value)
        elif name == "open" and inspect.unwrap(value) is open:
            pass                                # IPython's own, around Python's: all have that one
        elif name == "get_ipython" and inspect.ismethod(value):
            raise self._error(name, "stands for a line with % or !: leave that line out")
        elif inspect.ismethod(value) and not isinstance(value.__self__, type(sys)):
            raise self._error(name, "is a method of an object: write it as a function with def")
        elif is_own(inspect.unwrap(value)):
            self._add_function(name, value)
        elif (line := import_line(name, value)) is not None:
            self.parts.append(line)
        elif isinstance(value, type):
            self._add_class(name, value)
        else:
            raise self._error(name, f"is a {type(value).__name__} made outside of it: "
                                    "make it inside the function")

    def _error(self, name, text):
        if name == self.function_name:
            return ValueError(f"{name} {text}")
        return ValueError(f"{self.function_name} uses {name}, which {text}")

    def _import_of_module(self, name, module):
        if not is_installed(module):
            raise self._error(name, OWN_FILE)
        full = module.__name__
        return f"import {full}" if full == name else f"import {full} as {name}"

    def _add_plain(self, name, value):
        text = literal(value)
        if "numpy." in text:
            self.bind("numpy", np)
        self.parts.append(f"{name} = {text}")

    def _add_function(self, name, value):
        inner = inspect.unwrap(value)
        text, node = self._definition(name, inner)
        if isinstance(node, ast.Lambda):
            text, heads = f"{name} = {text}", [node.args]
        else:
            decorated = inner is not value      # only a wrapper shows that its decorators matter
            if not decorated:
                text = _without_decorators(text, node)
            if node.name != name:
                text = re.sub(rf"\bdef\s+{node.name}\b", f"def {name}", text, count=1)
            heads = [node.args, *(node.decorator_list if decorated else []),
                     *([node.returns] if node.returns else [])]
        for variable, cell in zip(inner.__code__.co_freevars, inner.__closure__ or ()):
            try:
                held = cell.cell_contents
            except ValueError:
                raise self._error(variable, "has no value yet") from None
            self.bind(variable, held)
        for used in [*names_of(inner.__code__), *_names_in(heads)]:
            own = used not in inner.__code__.co_freevars and not used.startswith("__")
            if own and used in inner.__globals__:
                self.bind(used, inner.__globals__[used])
        self._add_imported(node, inner.__globals__)
        self.parts.append(text)

    def _add_imported(self, tree, space):
        """Import what code reaches through a package (xml.dom through xml); refuse own files."""
        for node in ast.walk(tree):
            imported = [node.module] if isinstance(node, ast.ImportFrom) else [
                alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            for name in imported:
                if name in sys.modules and not is_installed(sys.modules[name]):
                    raise self._error(name, OWN_FILE)
            if isinstance(node, ast.Attribute):
                first, _, rest = ast.unparse(node).partition(".")
                full = f"{getattr(space.get(first), '__name__', '')}.{rest}"
                package = sys.modules.get(full.rpartition(".")[0])
                if (isinstance(space.get(first), types.ModuleType) and full in sys.modules
                        and node.attr not in getattr(package, "__all__", ())
                        and f"import {full}" not in self.parts):
                    self.parts.append(f"import {full}")

    def _definition(self, name, function):
        """(text at the left edge, its node) of the def or lambda that made a function."""
        code = function.__code__
        linecache.checkcache(code.co_filename)      # a file may have changed since it was imported
        lines = linecache.getlines(code.co_filename, function.__globals__)
        try:
            tree = ast.parse("".join(lines))
        except SyntaxError:
            tree = None
        if not lines or tree is None:
            raise self._error(name, NO_SOURCE)
        if code.co_name == "<lambda>":
            found = [node for node in ast.walk(tree) if isinstance(node, ast.Lambda)
                     and node.lineno <= code.co_firstlineno <= node.end_lineno
                     and _same_code(node, code)]
            texts = {ast.get_source_segment("".join(lines), node) for node in found}
            if len(texts) != 1:
                raise self._error(name, "is one of several lambdas in a line: write it with def")
            text = texts.pop()
            return (f"({text})" if "\n" in text else text), found[0]
        for node in ast.walk(tree):
            first = min([node.lineno, *(d.lineno for d in node.decorator_list)]) if isinstance(
                node, ast.FunctionDef) else None
            if first == code.co_firstlineno and node.name == code.co_name:
                return _at_left_edge(lines[first - 1:node.end_lineno]), node
        raise self._error(name, NO_SOURCE)

    def _add_class(self, name, value):
        functions = [f for f in vars(value).values() if isinstance(f, types.FunctionType)]
        files = [function.__code__.co_filename for function in functions] or _own_cells()
        for file in files:
            lines = linecache.getlines(file, self.space)
            for node in _parsed(lines):
                if isinstance(node, ast.ClassDef) and node.name == value.__name__ == name:
                    for used in sorted(_names_in([node])):
                        if used in self.space and used != name:
                            self.bind(used, self.space[used])
                    self._add_imported(node, self.space)
                    first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
                    self.parts.append(_at_left_edge(lines[first - 1:node.end_lineno]))
                    return
        raise self._error(name, "is a class whose source cannot be found: do without it")


def _own_cells():
    """Names of the learner's cells, the latest first: a class does not say where it was written."""
    return [name for name in reversed(list(linecache.cache)) if not name.startswith(LIBRARIES)]


def _parsed(lines):
    """The nodes of a source; none where it is no Python."""
    try:
        return list(ast.walk(ast.parse("".join(lines))))
    except (SyntaxError, ValueError):
        return []


def is_own(function):
    """Is it a function that the learner wrote (not Python, an installed package or gpt2lab)?"""
    return isinstance(function, types.FunctionType) and not (
        function.__code__.co_filename.startswith((*LIBRARIES, "<frozen")))


def is_installed(module):
    """Does a module come with Python, an installed package or gpt2lab, so that all have it?"""
    if module.__name__ in sys.builtin_module_names or module.__name__ == "__main__":
        return module.__name__ != "__main__"
    # A folder without __init__.py has no __file__.
    file = getattr(module, "__file__", None) or next(iter(getattr(module, "__path__", ())), None)
    return file is None or str(Path(file).resolve()).startswith(LIBRARIES)


def import_line(name, value):
    """The line that imports an object under a name, or None where no installed module has it."""
    home, known = getattr(value, "__module__", None), getattr(value, "__name__", None)
    places = [(home, known), ("numpy", known), ("numpy.typing", name), ("math", known)]
    plain_first = sorted(list(sys.modules), key=lambda module: (module.count("_"), len(module)))
    places += [(module, name) for module in plain_first]
    for module_name, attribute in places:
        module = sys.modules.get(module_name) if isinstance(module_name, str) else None
        try:
            found = vars(module).get(attribute) is value
        except (TypeError, AttributeError):
            continue
        if found and module_name != "__main__" and is_installed(module):
            alias = "" if attribute == name else f" as {name}"
            return f"from {module_name} import {attribute}{alias}"
    return None


def is_plain(value):
    """Can a value be written down: numbers, texts, None; lists, dicts, sets and arrays of them?"""
    if type(value) in (list, tuple, set, frozenset):
        return all(is_plain(part) for part in value)
    if type(value) is dict:
        return all(is_plain(part) for item in value.items() for part in item)
    if type(value) is np.ndarray:
        return value.dtype.char in NUMBERS and value.size <= MOST
    return type(value) in PLAIN or isinstance(value, np.generic) and value.dtype.char in NUMBERS


def literal(value):
    """A plain value as an expression; numpy is called numpy."""
    if isinstance(value, np.ndarray):
        text = f"numpy.array({literal(value.tolist())}, numpy.{value.dtype.name})"
        return text if value.size else f"{text}.reshape({value.shape})"
    if isinstance(value, np.generic):
        return f"numpy.{value.dtype.name}({literal(value.item())})"
    if type(value) is list:
        return f"[{', '.join(map(literal, value))}]"
    if type(value) is tuple:
        return f"({', '.join(map(literal, value))}{',' * (len(value) == 1)})"
    if type(value) in (set, frozenset):
        return f"{type(value).__name__}([{', '.join(map(literal, value))}])"
    if type(value) is dict:
        return "{" + ", ".join(f"{literal(k)}: {literal(v)}" for k, v in value.items()) + "}"
    if type(value) is complex:
        return f"complex({literal(value.real)}, {literal(value.imag)})"
    if type(value) is float and not np.isfinite(value):
        return f'float("{value}")'
    return "..." if value is ... else repr(value)


def names_of(code):
    """Names that a function's code looks up outside, in inner functions too."""
    found = [step.argval for step in dis.get_instructions(code)
             if step.opname in ("LOAD_GLOBAL", "LOAD_NAME")]
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            found += names_of(constant)
    return found


def _names_in(nodes):
    return [node.id for head in nodes for node in ast.walk(head) if isinstance(node, ast.Name)]


def _alike(name, a, b):
    """May one value under a name stand for two: the same plain value, or one operation?

    Two kept operations (attend_heads, mlp) bring a copy each of a third one (linear). Both copies
    have passed its check, even where the learner has kept a newer one since.
    """
    if is_plain(a) and is_plain(b):
        return literal(a) == literal(b)
    return name in exercises() and all(
        value is exercises()[name].right or is_own(value)
        and value.__globals__.get("__name__", "").startswith("my_ops.") for value in (a, b))


def _same_code(node, code):
    """Is this the lambda that the code was made from?"""
    made = compile(ast.Expression(node), "", "eval").co_consts
    made = next(constant for constant in made if isinstance(constant, types.CodeType))
    return made.co_varnames == code.co_varnames and set(made.co_names) <= {
        *code.co_names, *code.co_freevars} and [c for c in made.co_consts if not isinstance(
            c, types.CodeType)] == [c for c in code.co_consts if not isinstance(c, types.CodeType)]


def _without_decorators(text, node):
    """The text of a def from the line of "def" on."""
    first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
    return "\n".join(text.split("\n")[node.lineno - first:])


def _at_left_edge(lines):
    """Lines of a definition without their common indent; what stands in a long string stays."""
    indent = len(lines[0]) - len(lines[0].lstrip())
    if not indent:
        return "".join(lines).rstrip()
    inside = _in_strings("if 1:\n" + "".join(lines))
    moved = [line if i in inside else line[indent:] if line[:indent].isspace() else line
             for i, line in enumerate(lines, 2)]
    return "".join(moved).rstrip()


def indented(text):
    """A text one level deeper; what stands in a long string stays."""
    inside = _in_strings(text)
    return "\n".join(line if i in inside or not line else f"    {line}"
                     for i, line in enumerate(text.split("\n"), 1))


def _in_strings(text):
    """The numbers of the lines, from 1 on, that begin inside a string."""
    found = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.start[0] < token.end[0]:           # a string, or a piece of an f-string
            found.update(range(token.start[0] + 1, token.end[0] + 1))
    return found
