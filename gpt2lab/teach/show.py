"""Printing that reads the same on every machine: few decimals, no addresses, tokens made visible."""
import os

import numpy as np

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
    right = [all(isinstance(row[i], (int, float, np.number)) for row in rows) for i in range(len(header))]
    widths = [max(len(str(title)), *(len(row[i]) for row in cells), 0) for i, title in enumerate(header)]
    for line in [list(map(str, header)), ["-" * width for width in widths], *cells]:
        print("  ".join(cell.rjust(w) if r else cell.ljust(w) for cell, w, r in zip(line, widths, right)).rstrip())


def agree(label, a, b, decimals=4):
    """Print whether two arrays agree, in words that no rounding changes."""
    a, b = np.asarray(a), np.asarray(b)
    if a.shape != b.shape:
        print(f"{label}: the shapes differ, {a.shape} and {b.shape}")
    else:
        with np.errstate(invalid="ignore"):
            same = bool(((a == b) | (np.abs(a - b) <= 10.0 ** -decimals)).all())
        print(f"{label}: {'agree' if same else 'do not agree'} to {decimals} decimals")


def token(text):
    """A token's text made visible: spaces as ·, control characters as escapes."""
    return "".join("·" if c == " " else c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def short(text, most=10):
    """A text that fits its place: its beginning and an ellipsis where it is longer."""
    return text if len(text) <= most else text[:most - 1] + "…"


def tokens(tokenizer, ids):
    """The visible text of each id."""
    return [token(tokenizer.decode([i])) for i in ids]


def _cell(value, decimals):
    return number(value, decimals) if isinstance(value, (float, np.floating)) else str(value)
