"""LayerNorm: each row to mean 0 and variance 1, then gain and bias."""
import numpy as np


def layer_norm(x, gain, bias, epsilon=1e-5):
    """(x - mean) / sqrt(variance + epsilon) * gain + bias, for each row on its own.

    Shapes: x (..., D), gain (D,), bias (D,) -> (..., D)
    Units: epsilon is a variance; it keeps a row of equal numbers from being divided by 0.
    Raises: ValueError where gain or bias does not fit x.
    Source: "Layer Normalization" (Ba, Kiros, Hinton 2016), section 3; norm in openai/gpt-2.
    Taught: notebooks/05_layernorm.ipynb
    """
    if x.ndim == 0 or x.dtype.kind != "f":
        raise ValueError("layer_norm: x must be floating-point numbers (..., D), "
                         f"got {x.dtype} {x.shape}")
    D = x.shape[-1]
    for name, values in (("gain", gain), ("bias", bias)):
        if values.shape != (D,):
            raise ValueError(f"layer_norm: {name} must have shape (D,) = ({D},), "
                             f"got {values.shape}")
    # float64 for the sums: a large mean would eat the digits of a small variance
    centred = x - x.sum(axis=-1, keepdims=True, dtype=np.float64) / D               # (..., D)
    variance = (centred ** 2).sum(axis=-1, keepdims=True) / D                       # (..., 1)
    normed = (centred / np.sqrt(variance + epsilon)).astype(x.dtype)                # (..., D)
    return normed * gain + bias                                                     # (..., D)
