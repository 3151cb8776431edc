"""A layer: every output is a weighted sum of all inputs, plus a bias."""


def linear(x, w, b):
    """y = x w + b, with w stored (in, out) as GPT-2's file stores it.

    Shapes: x (..., in), w (in, out), b (out,) -> (..., out)
    Raises: ValueError where x, w and b do not fit.
    Source: conv1d in model.py of openai/gpt-2, which is this product.
    Taught: notebooks/01_linear.ipynb
    """
    if x.ndim == 0:
        raise ValueError("linear: x must have shape (..., in), got ()")
    if w.ndim != 2 or w.shape[0] != x.shape[-1]:
        raise ValueError(f"linear: w must have shape (in, out) = ({x.shape[-1]}, out), "
                         f"got {w.shape}")
    if b.shape != w.shape[1:]:
        raise ValueError(f"linear: b must have shape (out,) = {w.shape[1:]}, got {b.shape}")
    return x @ w + b                                                                # (..., out)
