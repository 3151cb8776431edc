"""Names for what a model computes, by the weight that an operation receives; recording by name."""
from inspect import signature
from typing import NamedTuple

import numpy as np


def by_weight(tap, function, kind, at, weights):
    """`function` (linear, layer_norm) as tap(name, function) wants it in each call.

    The name is `at` and the weight that the call receives, or a part of it, by its place in memory:
    "h.0.attn.c_attn". A copy is found nowhere: then it is `at`, `kind` and "?": "h.0.linear?".
    weights: {name: array} of those that may come, without `at`.
    """
    weights = {name.removesuffix(".weight"): array for name, array in weights.items()
               if name.endswith(".weight")}

    def call(*arguments, **named):
        parts = (find(array, weights) for array in (*arguments, *named.values()))
        name = next((part.name for part in parts if part), kind + "?")
        return tap(at + name, function)(*arguments, **named)
    return call


class Part(NamedTuple):
    """A part of an array: the array's name, and the part's first column in it."""
    name: object
    column: int


def find(array, arrays):
    """The Part that `array` is of one of `arrays`; else None.

    By place in memory. None too where it could be a part of several. arrays: {name: array}.
    """
    if not isinstance(array, np.ndarray):
        return None
    found = [name for name, whole in arrays.items()
             if array.dtype == whole.dtype and np.may_share_memory(array, whole)]
    if len(found) != 1:
        return None
    whole = arrays[found[0]]
    begin = array.__array_interface__["data"][0] - whole.__array_interface__["data"][0]     # bytes
    row, step = (whole.strides if whole.ndim == 2 else (whole.nbytes, *whole.strides))[-2:]
    if begin < 0 or 0 in (row, step):           # it reaches further than the weight; no real array
        return None
    return Part(found[0], begin % row // step)


def split(name):
    """("h.0.", "attn.c_attn") of a name of the trace; ("", name) outside of the blocks."""
    if not name.startswith("h."):
        return "", name
    end = name.index(".", 2) + 1
    return name[:end], name[end:]


def by_position(function, arguments, named):
    """(positional, named) arguments of the same call, with as many as possible by position."""
    if not named:                               # the usual case; signature takes its time
        return arguments, named
    try:
        bound = signature(function).bind(*arguments, **named)
    except (TypeError, ValueError):             # no signature; or a call that will fail
        return arguments, named
    return bound.args, bound.kwargs


# What goes in is recorded as well.
INPUTS = {"ln_2": ["resid_mid"], "attn.pattern": ["attn.scores"], "resid_post": ["resid_pre"],
          "attn.mixed": ["attn.q", "attn.k", "attn.v"]}
OF_HEADS = {"attn.q", "attn.k", "attn.v", "attn.scores", "attn.pattern", "attn.mixed"}
PRODUCTS = {"attn.c_attn", "attn.c_proj", "mlp.c_fc", "mlp.c_proj"}


class Recorder:
    """A tap that keeps what the operations of one pass give, and some of what they get.

    A product that is made in parts, by columns, is joined. Where attend is called head by head,
    the head is known by the place of its v in what c_attn gave. What does not come out whole is
    left out.
    copies: keep copies, since operations of yours may write into what they got or gave.
    """

    def __init__(self, config, weights, copies=False):
        self.config, self.weights, self.copies = config, weights, copies
        self.products = {}                      # block -> what c_attn gave: {first column: array}
        self.parts = {}                         # name -> {first column or head: array}
        self.head = None                        # of the attend that runs; None: all, or not known

    def __call__(self, name, function):
        block, place = split(name)
        if name.endswith("?") or place == "attn.remember":  # nobody knows where it belongs; a pair
            return function

        def call(*arguments, **named):
            given = by_position(function, arguments, named)[0] if place in INPUTS else ()
            if place == "attn.mixed":
                self.head = self._head(block, given[2])
            for key, array in zip(INPUTS.get(place, ()), given):
                self._keep(block, key, array)
            result = function(*arguments, **named)
            self._keep(block, place, result, (*arguments, *named.values()))
            return result
        return call

    def arrays(self):
        """{name: array} of all that came out whole, in the order of computing."""
        joined = {name: self._join(name, parts) for name, parts in self.parts.items()}
        return {name: array for name, array in joined.items() if array is not None}

    def _keep(self, block, place, array, arguments=()):
        start = 0
        if place in PRODUCTS:
            start = self._column(block + place, arguments)
        elif place in OF_HEADS:
            start = self.head
            array = array[None] if np.ndim(array) == 2 else array                   # (heads, T, ..)
        if place == "attn.c_attn":
            self.products.setdefault(block, {})[start] = array      # itself: v is a part of it
        if self.copies:
            array = array.copy() if isinstance(array, np.ndarray) else array
        self.parts.setdefault(block + place, {})[start] = array

    def _column(self, name, arguments):
        """First column of the product that a call makes; None where it takes only some rows."""
        w = self.weights[name + ".weight"]
        for array in arguments:
            part = find(array, {name: w})
            if part:
                return part.column if len(array) == len(w) else None
        return None

    def _head(self, block, v):
        """First head of v (H, S, Dh) or (S, Dh), by its place in what c_attn gave; else None."""
        c = self.config
        if v.ndim == 3 and len(v) == c.n_head:
            return 0
        part = find(v, self.products.get(block, {}))
        if part is None or part.name is None:
            return None
        first = part.name + part.column         # a part's name is its first column in c_attn
        head, rest = divmod(first - 2 * c.n_embd, c.n_embd // c.n_head)
        return head if rest == 0 and head >= 0 else None

    def _join(self, name, parts):
        """The parts side by side where they are all there, else None."""
        place = split(name)[1]
        if place in PRODUCTS:
            axis, size = -1, self.weights[name + ".weight"].shape[1]
        elif place in OF_HEADS:
            axis, size = 0, self.config.n_head
        else:
            return parts[0]
        if None in parts:
            return None
        starts = sorted(parts)
        arrays = [parts[start] for start in starts]
        ends = np.cumsum([array.shape[axis] for array in arrays]).tolist()
        if [0, *ends] != [*starts, size]:
            return None
        return arrays[0] if len(arrays) == 1 else np.concatenate(arrays, axis)
