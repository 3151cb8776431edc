"""Many heads at once: one product makes Q, K and V, each head attends in its own strip."""
from .attention import attend
from .linear import linear


def attend_heads(x, w_qkv, b_qkv, w_out, b_out, n_head, remember=None,
                 linear=linear, attend=attend):
    """Project to Q, K, V, cut into heads, attend, join the heads, project back.

    Shapes: x (T, D), w_qkv (D, 3 D), b_qkv (3 D,), w_out (D, D), b_out (D,) -> (T, D)
    remember: takes the new k and v (H, T, Dh), gives all of them (H, S, Dh); see kvcache.py.
    Raises: ValueError where D is not divisible by n_head or a weight does not fit.
    Source: "Attention Is All You Need" (2017), section 3.2.2; c_attn and c_proj of GPT-2.
    Taught: notebooks/07_heads.ipynb
    """
    if x.ndim != 2:
        raise ValueError(f"attend_heads: x must have shape (T, D), got {x.shape}")
    T, D = x.shape
    if n_head < 1 or D % n_head:
        raise ValueError(f"attend_heads: D = {D} must be divisible by n_head = {n_head}")
    for name, weight, shape in (("w_qkv", w_qkv, (D, 3 * D)), ("w_out", w_out, (D, D))):
        if weight.shape != shape:
            raise ValueError(f"attend_heads: {name} must have shape {shape}, got {weight.shape}")
    qkv = linear(x, w_qkv, b_qkv)                                                   # (T, 3 D)
    q, k, v = qkv.reshape(T, 3, n_head, -1).transpose(1, 2, 0, 3)                   # (H, T, Dh)
    if remember is not None:
        k, v = remember(k, v)                                                       # (H, S, Dh)
    mixed = attend(q, k, v)                                                         # (H, T, Dh)
    merged = mixed.swapaxes(0, 1).reshape(T, D)                                     # (T, D)
    return linear(merged, w_out, b_out)                                             # (T, D)
