"""Printing that reads the same on every machine: few decimals, no addresses, tokens visible."""
import ast
import inspect
import os
import textwrap
from fractions import Fraction
from numbers import Number

import numpy as np
from IPython.display import display

EDGE = 5e-6         # how far the CPU kernels differ on float32 sums of logits' size


def number(value, decimals=3):
    """A number as text. While notebooks are refreshed, a value at a rounding edge is refused."""
    value = float(value)
    if os.environ.get("GPT2LAB_REFRESH") and np.isfinite(value):
        scaled = abs(value) * 10 ** decimals
        distance = abs(scaled - np.floor(scaled) - 0.5) / 10 ** decimals
        if 1e-12 < distance < EDGE * max(1.0, abs(value)):
            raise ValueError(f"{value!r} is too near to a rounding edge for {decimals} decimals: "
                             "another CPU may print another digit; choose other numbers")
    return f"{value:z.{decimals}f}"


def array(label, values, decimals=3):
    """Print a small array under its label, with its shape."""
    values = np.asarray(values)
    print(f"{label} {values.shape}:" if values.ndim else f"{label}: {_cell(values[()], decimals)}")
    if values.ndim:
        rows = values.reshape(-1, values.shape[-1])
        cells = [[_cell(value, decimals) for value in row] for row in rows]
        width = max((len(cell) for row in cells for cell in row), default=0)
        for row in cells:
            print("  " + "  ".join(cell.rjust(width) for cell in row))


def table(header, rows, decimals=3):
    """Print rows under a header; numbers at the right, text at the left."""
    cells = [[_cell(value, decimals) for value in row] for row in rows]
    right = [all(isinstance(row[i], (int, float, np.number)) for row in rows)
             for i in range(len(header))]
    widths = [max(len(str(title)), *(len(row[i]) for row in cells), 0)
              for i, title in enumerate(header)]
    for line in [list(map(str, header)), ["-" * width for width in widths], *cells]:
        placed = [cell.rjust(width) if is_number else cell.ljust(width)
                  for cell, width, is_number in zip(line, widths, right)]
        print("  ".join(placed).rstrip())


def agree(label, a, b, decimals=4):
    """Print whether two arrays agree (as near tells it), in words that no rounding changes."""
    a, b = np.asarray(a), np.asarray(b)
    if a.shape != b.shape:
        print(f"{label}: the shapes differ, {a.shape} and {b.shape}")
    else:
        same = near(a, b, 10.0 ** -decimals)
        print(f"{label}: {'agree' if same else 'do not agree'} to {decimals} decimals")


def near(a, b, tolerance):
    """Whether two arrays have one shape and no two numbers in one place are further apart.

    The difference is the true one: whole numbers do not wrap around and float16 does not overflow.
    nan is near to nothing, infinity to itself only; what is no number, such as a text, must be
    equal. Arrays without numbers are near when their shapes are the same.
    """
    a, b = np.asarray(a), np.asarray(b)
    if a.shape != b.shape:
        return False
    if not _float64_holds(a) or not _float64_holds(b):
        return all(_near(x, y, tolerance) for x, y in zip(a.ravel().tolist(), b.ravel().tolist()))
    wide = np.result_type(a, b, np.float64)
    a, b = a.astype(wide), b.astype(wide)
    with np.errstate(all="ignore"):
        return bool(((a == b) | (np.abs(a - b) <= tolerance)).all())


def _float64_holds(array):
    """Whether float64 (or a wider type) holds the numbers of the array exactly."""
    if array.dtype.kind in "iu":
        return not array.size or -2 ** 53 <= int(array.min()) <= int(array.max()) <= 2 ** 53
    return array.dtype.kind in "bfc"


def _near(x, y, tolerance):
    """near for two values outside an array: whole numbers of any size, texts, anything."""
    x, y = (value.item() if isinstance(value, np.generic) else value for value in (x, y))
    try:
        if x == y or not isinstance(x, Number) or not isinstance(y, Number):
            return bool(x == y)
        if isinstance(x, complex) or isinstance(y, complex):
            return abs(x - y) <= tolerance
        return abs(Fraction(x) - Fraction(y)) <= tolerance      # exact; nan, infinity: an error
    except (TypeError, ValueError, OverflowError):
        return False


def source(*parts):
    """Show the library's own lines of functions, methods or classes, without their docstrings."""
    text = "\n\n\n".join(map(_lines_of, parts))
    display({"text/markdown": f"```python\n{text}\n```", "text/plain": text}, raw=True)


def _lines_of(part):
    """The source of a function, method or class at the left edge, its docstrings left out."""
    lines = textwrap.dedent(inspect.getsource(part)).rstrip().split("\n")
    dropped = set()
    for node in ast.walk(ast.parse("\n".join(lines))):
        has_one = isinstance(node, (ast.FunctionDef, ast.ClassDef))
        if has_one and ast.get_docstring(node) is not None:
            words = node.body[0]
            dropped.update(range(words.lineno - 1, words.end_lineno))
            behind = words.end_lineno
            if isinstance(node, ast.ClassDef) and not "".join(lines[behind:behind + 1]).strip():
                dropped.add(behind)             # the empty line behind it
    return "\n".join(line for i, line in enumerate(lines) if i not in dropped)


def token(text):
    """A token's text made visible: spaces as ·, control characters as escapes."""
    return "".join("·" if c == " " else c if c.isprintable()
                   else c.encode("unicode_escape").decode() for c in text)


def short(text, most=10):
    """A text that fits its place: its beginning and an ellipsis where it is longer."""
    return text if len(text) <= most else text[:most - 1] + "…"


def tokens(tokenizer, ids):
    """The visible text of each id."""
    return [token(tokenizer.decode([i])) for i in ids]


def _cell(value, decimals):
    return number(value, decimals) if isinstance(value, (float, np.floating)) else str(value)
