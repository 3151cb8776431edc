"""One head of attention: each token takes a weighted mean of what came before it."""
import math

import numpy as np

from .softmax import softmax


def attend(q, k, v, softmax=softmax):
    """softmax(q k^T / sqrt(Dh), later keys masked) v

    Shapes: q (..., T, Dh), k and v (..., S, Dh) -> mixed (..., T, Dh). The last query belongs to
        the last key: query t may look at the keys 0 to S - T + t. Leading axes (heads) go along.
    Raises: ValueError where q, k and v do not fit.
    Source: "Attention Is All You Need" (Vaswani et al. 2017), section 3.2.1.
    Taught: notebooks/06_attention.ipynb
    """
    fit = q.ndim == k.ndim >= 2 and k.shape == v.shape
    if not fit or q.shape[:-2] != k.shape[:-2] or not q.shape[-1] == k.shape[-1] > 0:
        raise ValueError("attend: q (T, Dh), k and v (S, Dh) must have one Dh >= 1 and "
                         f"the same leading axes, got {q.shape}, {k.shape}, {v.shape}")
    T, S, Dh = q.shape[-2], k.shape[-2], q.shape[-1]
    if T > S:
        raise ValueError(f"attend: k must have S >= T = {T} rows, one for each query, got {S}")
    scores = q @ k.swapaxes(-1, -2) / math.sqrt(Dh)                                 # (..., T, S)
    later = np.arange(S) > np.arange(S - T, S)[:, None]                             # (T, S)
    pattern = softmax(np.where(later, -np.inf, scores))                             # (..., T, S)
    return pattern @ v                                                              # (..., T, Dh)
