"""GELU: a soft switch; large numbers pass, negative ones are held back."""
import math

import numpy as np


def gelu(x):
    """0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))), the tanh form that GPT-2 was trained with.

    Shapes: x (...) -> (...)
    Source: "Gaussian Error Linear Units" (Hendrycks, Gimpel 2016), section 2.
    Taught: notebooks/08_mlp.ipynb
    """
    with np.errstate(over="ignore"):        # the cube of a huge x is inf, and tanh(inf) is 1: right
        inner = math.sqrt(2 / math.pi) * (x + 0.044715 * (x * x * x))               # (...)
    return 0.5 * x * (1 + np.tanh(inner))                                           # (...)


def gelu_in_pieces(x, gelu=gelu, rows=64):
    """gelu(x), a few rows at a time: the same numbers, with steps that stay in the CPU's cache.

    At most half the time for 512 rows of F = 3072 (benchmarks/RESULTS.md).

    Shapes: x (T, F) -> (T, F)
    """
    if len(x) <= rows:
        return gelu(x)                                                              # (T, F)
    return np.concatenate([gelu(x[t:t + rows]) for t in range(0, len(x), rows)])    # (T, F)


def exact_gelu(x):
    """0.5 x (1 + erf(x / sqrt(2))), where config.json says "gelu". Slow: NumPy has no erf."""
    erf = np.vectorize(math.erf, otypes=[np.float64])(x / math.sqrt(2))             # (...)
    return 0.5 * x * (1 + erf.astype(x.dtype))                                      # (...)
