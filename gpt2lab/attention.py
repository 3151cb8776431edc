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
    T, S, Dh = q.shape[-2], k.shape[-2], q.shape[-1]
    if k.shape != v.shape or k.shape[:-2] + k.shape[-1:] != q.shape[:-2] + (Dh,) or T > S:
        raise ValueError(f"attend: q (T, Dh), k and v (S, Dh) with S >= T must fit, got {q.shape}, {k.shape}, {v.shape}")
    scores = q @ k.swapaxes(-1, -2) / math.sqrt(Dh)                                 # (..., T, S)
    later = np.arange(S) > np.arange(S - T, S)[:, None]                             # (T, S)
    pattern = softmax(np.where(later, -np.inf, scores))                             # (..., T, S)
    return pattern @ v                                                              # (..., T, Dh)
