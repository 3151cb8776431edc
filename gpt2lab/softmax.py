"""Scores become probabilities: positive, and 1 in sum."""
import numpy as np


def softmax(scores):
    """exp(score) / sum of exp(scores), along the last axis.

    Shapes: scores (..., S) -> (..., S), each row sums to 1; a score of -inf gives exactly 0.
    Raises: ValueError where a row is empty or its largest score is nan or infinite.
    Source: "Attention Is All You Need" (Vaswani et al. 2017), section 3.2.1.
    Taught: notebooks/06_attention.ipynb
    """
    if scores.ndim == 0 or scores.shape[-1] == 0:
        raise ValueError("softmax: scores must have shape (..., S) with S >= 1, "
                         f"got {scores.shape}")
    top = scores.max(axis=-1, keepdims=True)                                        # (..., 1)
    if not np.isfinite(top).all():
        raise ValueError("softmax: the largest score of each row must be finite, got nan or inf")
    # Taking the largest score from all of them changes no probability, and exp cannot overflow.
    with np.errstate(over="ignore"):        # a score too far below becomes -inf, and exp(-inf) is 0
        weights = np.exp(scores - top)                                              # (..., S)
    weights /= weights.sum(axis=-1, keepdims=True)
    return weights                                                                  # (..., S)
