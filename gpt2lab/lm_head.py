"""The LM head: one score for every token of the vocabulary."""
from .layernorm import layer_norm


def lm_head(x, gain, bias, wte, epsilon=1e-5, layer_norm=layer_norm):
    """Final norm, then the dot product with each row of the token table (weight tying).

    Shapes: x (T, D), gain (D,), bias (D,), wte (V, D) -> logits (T, V)
    Raises: ValueError where the table does not fit x.
    Source: "Using the Output Embedding to Improve Language Models" (Press, Wolf 2017).
    Taught: notebooks/10_lm_head.ipynb
    """
    normed = layer_norm(x, gain, bias, epsilon)                                     # (T, D)
    if wte.ndim != 2 or wte.shape[1] != x.shape[-1]:
        raise ValueError(f"lm_head: wte must have shape (V, D) = (V, {x.shape[-1]}), "
                         f"got {wte.shape}")
    return normed @ wte.T                                                           # (T, V)
