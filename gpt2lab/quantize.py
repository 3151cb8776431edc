"""Weights in fewer bits: int8 for each output, int4 in groups, ternary; and their loss.

NumPy has no product for such codes: they save room, and are turned back into float32 to compute.
"""
import numpy as np

from .model import GPT2, read_ids

GROUP = 32                                      # rows of the input that share one int4 scale
POWERS = 3 ** np.arange(5, dtype=np.uint8)      # five ternary digits a byte: 243 of 256 states
KINDS = ("float32", "float16", "int8", "int4", "ternary")
SHARED = ("matrix", "column", "group of 32")    # what one scale serves


def quantize_int8(w):
    """Codes -127 to 127, one scale for each output column; w is near codes * scales.

    Shapes: w (in, out) float -> codes (in, out) int8, scales (out,) float32
    Units: scale = largest size in the column / 127; a column of zeros has scale 0 and codes 0.
    Raises: ValueError for what is no matrix of finite floating-point numbers.
    Source: absmax quantization in "LLM.int8()" (Dettmers and others 2022), without its outliers.
    Taught: notebooks/bonus/memory_wall.ipynb
    """
    w = _float32("quantize_int8", w)
    scales = (np.abs(w).max(axis=0) / 127).astype(np.float32)                       # (out,)
    return _codes(w, scales, 127), scales


def dequantize_int8(codes, scales):
    """codes (in, out) int8, scales (out,) -> (in, out) float32."""
    if codes.ndim != 2 or scales.shape != codes.shape[1:]:
        raise ValueError(f"dequantize_int8: scales must have shape (out,) for codes (in, out), "
                         f"got {scales.shape} for {codes.shape}")
    return codes * scales


def pack_int4(codes):
    """Two codes a byte, along the first axis: the first in the low four bits, then the high.

    Shapes: codes (n, ...) whole numbers -8 to 7 -> (ceil(n / 2), ...) uint8; a code that is
        missing at the end is 0
    Raises: ValueError for other codes.
    """
    pairs = _stacked("pack_int4", codes, 2, -8, 7) & 15     # four low bits: 8 to 15 are -8 to -1
    return (pairs[:, 0] | pairs[:, 1] << 4).astype(np.uint8)


def unpack_int4(packed, rows):
    """The first `rows` codes of packed (n, ...) uint8, as int8."""
    _check_packed("unpack_int4", packed, rows, 2)
    codes = np.stack([packed & 15, packed >> 4], axis=1).astype(np.int8)            # (n, 2, ...)
    return ((codes ^ 8) - 8).reshape(-1, *packed.shape[1:])[:rows]


def quantize_int4(w, group=GROUP, pack_int4=pack_int4):
    """Codes -7 to 7, two a byte; in each column, every `group` inputs share a scale.

    Shapes: w (in, out) float -> packed (ceil(in / 2), out) uint8,
        scales (ceil(in / group), out) float32
    Raises: ValueError as quantize_int8, and for a group below 1.
    Source: the groups of "GPTQ" (Frantar and others 2022), with plain rounding to the nearest.
    Taught: notebooks/bonus/memory_wall.ipynb
    """
    w = _float32("quantize_int4", w)
    scales = _scales(w, _positive("quantize_int4: group", group), 7)                # (G, out)
    return pack_int4(_codes(w, _for_each_row(scales, len(w), group), 7)), scales


def dequantize_int4(packed, scales, rows, group=GROUP):
    """The floats that the codes stand for.

    Shapes: packed (ceil(rows / 2), out) uint8, scales (ceil(rows / group), out)
        -> (rows, out) float32
    """
    wanted = (-(-rows // _positive("dequantize_int4: group", group)), *packed.shape[1:])
    if packed.ndim != 2 or scales.shape != wanted:
        raise ValueError("dequantize_int4: scales must have shape (ceil(rows / group), out) = "
                         f"{wanted}, got {scales.shape}")
    return unpack_int4(packed, rows) * _for_each_row(scales, rows, group)


def quantize_ternary(w):
    """Codes -1, 0 and 1, five a byte, one scale for each output column.

    The scale is the mean size of the column (absmean), so sizes up to half of it become 0 and all
    others one step. The codes of code * scale are the same again; its scale is smaller where there
    are zeros among them. Five codes have 243 states, which a byte holds: 1.6 bits each, where
    log2(3) = 1.585 would do.

    Shapes: w (in, out) float -> packed (ceil(in / 5), out) uint8, scales (out,) float32
    Raises: ValueError as quantize_int8.
    Source: "The Era of 1-bit LLMs" (Ma and others 2024), section 2, there one scale for the matrix.
    Taught: notebooks/bonus/memory_wall.ipynb
    """
    w = _float32("quantize_ternary", w)
    scales = np.abs(w).mean(axis=0, dtype=np.float64).astype(np.float32)            # (out,)
    return pack_ternary(_codes(w, scales, 1)), scales


def dequantize_ternary(packed, scales, rows):
    """packed (ceil(rows / 5), out) uint8, scales (out,) -> (rows, out) float32."""
    if packed.ndim != 2 or scales.shape != packed.shape[1:]:
        raise ValueError("dequantize_ternary: scales must have shape (out,) for packed "
                         f"(rows, out), got {scales.shape} for {packed.shape}")
    return unpack_ternary(packed, rows) * scales


def rounded(w, bits, shared="column"):
    """w as codes of so many bits give it back: to the nearest of 2^bits - 1 levels around 0.

    bits: 2 to 8. shared: what one scale serves, one of SHARED. 8 bits and a scale for each column
        are int8, 4 bits and groups of 32 are int4.
    Shapes: w (in, out) float -> (in, out) float32
    Raises: ValueError as quantize_int8, and for other bits or another `shared`.
    Taught: notebooks/bonus/memory_wall.ipynb
    """
    w = _float32("rounded", w)
    if bits not in range(2, 9) or shared not in SHARED:
        raise ValueError("rounded: bits must be from 2 to 8 and shared one of "
                         f"{', '.join(SHARED)}, got {bits!r} and {shared!r}")
    most = 2 ** (bits - 1) - 1                      # the largest code
    if shared == "matrix":
        scales = np.float32(np.abs(w).max() / most)                                 # ()
    elif shared == "column":
        scales = _scales(w, len(w), most)                                           # (1, out)
    else:
        scales = _for_each_row(_scales(w, GROUP, most), len(w), GROUP)              # (in, out)
    return _codes(w, scales, most) * scales


def pack_ternary(codes):
    """Five codes a byte, along the first axis: digits code + 1 of a number in base 3, lowest first.

    Shapes: codes (n, ...) whole numbers -1 to 1 -> (ceil(n / 5), ...) uint8; codes that are
        missing at the end are 0
    Raises: ValueError for other codes.
    """
    digits = (_stacked("pack_ternary", codes, 5, -1, 1) + 1).astype(np.uint8)   # (bytes, 5, ...)
    return np.tensordot(digits, POWERS, axes=(1, 0))


def unpack_ternary(packed, rows):
    """The first `rows` codes of packed (n, ...) uint8, as int8."""
    _check_packed("unpack_ternary", packed, rows, 5)
    digits = np.stack([packed // power % 3 for power in POWERS], axis=1)            # (n, 5, ...)
    return (digits.astype(np.int8) - 1).reshape(-1, *packed.shape[1:])[:rows]


def quantized(model, kind, quantize_int8=quantize_int8, pack_int4=pack_int4):
    """(a GPT2 that computes with the weights as `kind` gives them back, bytes of all as stored).

    kind: one of KINDS. Packed codes and scales are counted. See each_matrix for what is turned.
    quantize_int8, pack_int4: these of the library, or the learner's.
    """
    if kind not in KINDS:
        raise ValueError(f"quantized: kind must be one of {', '.join(KINDS)}, got {kind!r}")
    stored = []

    def store_and_restore(w):
        arrays, restored = _stored(w, kind, quantize_int8, pack_int4)
        stored.extend(arrays)
        return restored
    copy, rest = each_matrix(model, store_and_restore)
    return copy, sum(array.nbytes for array in (*stored, *rest))


def each_matrix(model, change):
    """(a GPT2 with change(w) for each weight matrix w (in, out), [the arrays that stay]).

    The token table (V, D) is turned over first: the LM head multiplies by its transpose (D, V), so
    a row of the table, one token, is an output column; and the embedding looks up whole rows too.
    The position table, gains and biases stay: they are small, and nothing is multiplied by them
    as by a matrix.
    """
    weights, rest = {}, []
    for name, w in model.weights.items():
        if w.ndim != 2 or name == "wpe.weight":
            weights[name] = w
            rest.append(w)
        else:
            new = change(w.T).T if name in ("wte.weight", "lm_head.weight") else change(w)
            weights[name] = np.ascontiguousarray(new)
    return GPT2(model.config, weights, model.tokenizer, model.ops), rest


def perplexity(model, ids):
    """exp of the mean loss in nats: as many equally likely tokens would be as hard to guess.

    The text is read in pieces of N, the context. Every token but the very first of the text counts
    once; the first guess of each piece rests on one token, for it knows nothing of the one before.

    Raises: ValueError for fewer than 2 ids, and for what is no id of the model.
    """
    ids, N = read_ids(ids, model.config.vocab_size), model.config.n_positions
    if len(ids) < 2:
        raise ValueError(f"perplexity: ids must be at least 2 token ids, got {len(ids)}")
    losses = []
    for start in range(0, len(ids) - 1, N):
        wanted = ids[start + 1:start + N + 1]                                       # (T,)
        logs = _log_softmax(model(ids[start:start + len(wanted)]))                  # (T, V)
        losses.extend(-logs[np.arange(len(wanted)), wanted])
    return float(np.exp(np.mean(losses, dtype=np.float64)))


def divergence(logits, other):
    """Mean over the rows of KL(p || q), in nats: p from logits (T, V), q from other (T, V).

    0 where both give the same probabilities; the loss that is added when q stands for p.
    """
    if logits.shape != other.shape or logits.ndim != 2:
        raise ValueError("divergence: logits and other must have one shape (T, V), "
                         f"got {logits.shape} and {other.shape}")
    p, q = _log_softmax(logits), _log_softmax(other)                                # (T, V)
    return float((np.exp(p) * (p - q)).sum(axis=-1).mean())


def _stored(w, kind, quantize_int8, pack_int4):
    """([the arrays that would be stored for w], w as they give it back)."""
    if kind == "int8":
        arrays = quantize_int8(w)
        return arrays, dequantize_int8(*arrays)
    if kind == "int4":
        arrays = quantize_int4(w, pack_int4=pack_int4)
        return arrays, dequantize_int4(*arrays, len(w))
    if kind == "ternary":
        arrays = quantize_ternary(w)
        return arrays, dequantize_ternary(*arrays, len(w))
    array = w.astype(kind)
    return [array], array.astype(np.float32)


def _scales(w, group, most):
    """Largest size of each column in each group of rows, over the largest code: (groups, out)."""
    starts = np.arange(0, len(w), group)
    return (np.maximum.reduceat(np.abs(w), starts, axis=0) / most).astype(np.float32)


def _codes(w, scales, most):
    """w / scales to the nearest whole number, at most `most` in size, int8; 0 for scale 0."""
    steps = w / np.where(scales > 0, scales, 1)
    np.rint(steps, out=steps)
    return np.clip(steps, -most, most, out=steps).astype(np.int8)


def _for_each_row(scales, rows, group):
    return np.repeat(scales, group, axis=0)[:rows]                                  # (rows, out)


def _log_softmax(logits):
    """Logarithms of the probabilities, (T, V) -> (T, V) in the same dtype, summed in float64."""
    shifted = logits - logits.max(axis=-1, keepdims=True)
    total = np.exp(shifted).sum(axis=-1, keepdims=True, dtype=np.float64)           # (T, 1)
    shifted -= np.log(total).astype(logits.dtype)
    return shifted


def _stacked(name, codes, each, low, high):
    """codes (n, ...) as (ceil(n / each), each, ...) int16, filled up with 0."""
    if codes.ndim == 0 or codes.dtype.kind not in "iu":
        raise ValueError(f"{name}: codes must be whole numbers (n, ...), "
                         f"got {codes.dtype} {codes.shape}")
    if codes.size and (codes.min() < low or codes.max() > high):
        raise ValueError(f"{name}: codes must be from {low} to {high}, "
                         f"got {codes.min()} to {codes.max()}")
    full = np.zeros((-(-len(codes) // each) * each, *codes.shape[1:]), np.int16)
    full[:len(codes)] = codes
    return full.reshape(-1, each, *codes.shape[1:])


def _float32(name, w):
    if not isinstance(w, np.ndarray) or w.ndim != 2 or not w.size or w.dtype.kind != "f":
        got = f"{w.dtype} {w.shape}" if isinstance(w, np.ndarray) else type(w).__name__
        raise ValueError(f"{name}: w must be a matrix (in, out) of floating-point numbers, "
                         f"got {got}")
    with np.errstate(over="ignore"):
        w = w.astype(np.float32, copy=False)
    if not np.isfinite(w).all():
        raise ValueError(f"{name}: w must be finite in float32, got nan or infinity")
    return w


def _check_packed(name, packed, rows, each):
    if packed.ndim == 0 or packed.dtype != np.uint8 or not 0 <= rows <= len(packed) * each:
        raise ValueError(f"{name}: packed must be uint8 with room for rows = {rows}, "
                         f"{each} a byte, got {packed.dtype} {packed.shape}")


def _positive(name, number):
    if isinstance(number, bool) or not isinstance(number, (int, np.integer)) or number < 1:
        raise ValueError(f"{name} must be a whole number of at least 1, got {number!r}")
    return number
