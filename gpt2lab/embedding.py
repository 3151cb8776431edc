"""Token ids become vectors: the token's row plus the position's row."""
import numpy as np


def embed(ids, wte, wpe, start=0):
    """Row ids[t] of the token table plus row start + t of the position table.

    Shapes: ids (T,), wte (V, D), wpe (N, D) -> x (T, D)
    start: position of the first id; above 0 when a cache holds the earlier ones.
    Raises: ValueError for an id outside the token table, a position past the context, a wrong
        shape.
    Source: section 2.2 of "Language Models are Unsupervised Multitask Learners" (GPT-2).
    Taught: notebooks/04_embedding.ipynb
    """
    ids = np.asarray(ids)                                                           # (T,)
    if ids.ndim != 1 or ids.dtype.kind not in "iu":
        raise ValueError("embed: ids must be whole numbers of shape (T,), "
                         f"got {ids.dtype} {ids.shape}")
    if wte.ndim != 2 or wpe.ndim != 2 or wte.shape[1] != wpe.shape[1]:
        raise ValueError("embed: wte (V, D) and wpe (N, D) must have one D, "
                         f"got {wte.shape}, {wpe.shape}")
    T, V, N = len(ids), len(wte), len(wpe)
    if T and not 0 <= ids.min() <= ids.max() < V:
        raise ValueError(f"embed: ids must be from 0 to V - 1 = {V - 1}, "
                         f"got {ids.min()} to {ids.max()}")
    if not 0 <= start <= N - T:
        raise ValueError(f"embed: the context has N = {N} positions, "
                         f"got positions {start} to {start + T - 1}")
    return wte[ids] + wpe[start:start + T]                                          # (T, D)
