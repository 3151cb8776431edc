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
    if T > 1:                                   # a single query is the last: no key is later
        later = np.arange(S) > np.arange(S - T, S)[:, None]                         # (T, S)
        scores = np.where(later, -np.inf, scores)                                   # (..., T, S)
    return softmax(scores) @ v                                                      # (..., T, Dh)


def attend_in_pieces(q, k, v, attend=attend, rows=64):
    """attend(q, k, v), a few queries at a time: the same rows, with less memory touched.

    A piece of `rows` queries needs no key that is later than its last query, so half of the scores
    are never made, and the others stay in the processor's cache: 512 queries of 12 heads take 0.4
    of the time, a whole pass of 512 tokens of GPT-2 124M 0.85 (benchmarks/RESULTS.md).

    Shapes: as attend
    """
    T, S = q.shape[-2], k.shape[-2]
    if T <= rows:
        return attend(q, k, v)                                                      # (..., T, Dh)
    starts = range(0, T, rows)
    ends = [min(t + rows, T) for t in starts]
    seen = [S - T + end for end in ends]                    # keys up to the piece's last query
    return np.concatenate([attend(q[..., t:end, :], k[..., :s, :], v[..., :s, :])
                           for t, end, s in zip(starts, ends, seen)], axis=-2)      # (..., T, Dh)
