"""The MLP: widen to F = 4 D, switch units on and off with GELU, come back to D."""
from .gelu import gelu
from .linear import linear


def mlp(x, w_fc, b_fc, w_proj, b_proj, linear=linear, gelu=gelu):
    """gelu(x w_fc + b_fc) w_proj + b_proj

    Shapes: x (T, D), w_fc (D, F), b_fc (F,), w_proj (F, D), b_proj (D,) -> (T, D)
    Raises: ValueError where a weight does not fit (see linear).
    Source: "Attention Is All You Need" (2017), section 3.3; mlp in model.py of openai/gpt-2.
    Taught: notebooks/08_mlp.ipynb
    """
    if w_proj.shape != w_fc.shape[::-1]:
        raise ValueError(f"mlp: w_proj must have shape (F, D) = {w_fc.shape[::-1]}, "
                         f"got {w_proj.shape}")
    hidden = gelu(linear(x, w_fc, b_fc))                                            # (T, F)
    return linear(hidden, w_proj, b_proj)                                           # (T, D)
