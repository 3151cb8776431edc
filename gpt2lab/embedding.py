"""Token ids become vectors: the token's row plus the position's row."""
import numpy as np


def embed(ids, wte, wpe, start=0):
    """Row ids[t] of the token table plus row start + t of the position table.

    Shapes: ids (T,), wte (V, D), wpe (N, D) -> x (T, D)
    start: position of the first id; above 0 when a cache holds the earlier ones.
    Raises: ValueError for an id outside the token table or a position past the context.
    Source: section 2.2 of "Language Models are Unsupervised Multitask Learners" (GPT-2).
    Taught: notebooks/04_embedding.ipynb
    """
    ids = np.asarray(ids)                                                           # (T,)
    T, V, N = len(ids), len(wte), len(wpe)
    if T and not 0 <= ids.min() <= ids.max() < V:
        raise ValueError(f"embed: ids must be from 0 to V - 1 = {V - 1}, got {ids.min()} to {ids.max()}")
    if not 0 <= start <= N - T:
        raise ValueError(f"embed: the context has N = {N} positions, got positions {start} to {start + T - 1}")
    return wte[ids] + wpe[start:start + T]                                          # (T, D)
