"""Answers as different people write them, each wrong for some input, and some that are right."""
WRONG = {"quantize_int8": [
'''def quantize_int8(w):
    scales = np.abs(w).max(axis=1) / np.float32(127)
    steps = w / np.where(scales > 0, scales, 1)[:, None]
    return np.rint(steps).astype(np.int8), scales
''',
'''def quantize_int8(w):
    scale = np.abs(w).max() / np.float32(127)
    return np.rint(w / scale).astype(np.int8), scale
''',
'''def quantize_int8(w):
    scales = np.abs(w).max(axis=0, keepdims=True) / np.float32(127)
    codes = np.rint(w / np.where(scales > 0, scales, 1)).astype(np.int8)
    return codes, scales
''',
'''def quantize_int8(w):
    scales = np.abs(w).max(axis=0) / np.float32(128)
    steps = w / np.where(scales > 0, scales, 1)
    return np.clip(np.rint(steps), -128, 127).astype(np.int8), scales
''',
'''def quantize_int8(w):
    scales = w.max(axis=0) / np.float32(127)
    steps = w / np.where(scales > 0, scales, 1)
    return np.rint(steps).astype(np.int8), scales
''',
'''def quantize_int8(w):
    scales = np.abs(w).max(axis=0) / np.float32(127)
    return (w / np.where(scales > 0, scales, 1)).astype(np.int8), scales
''',
'''def quantize_int8(w):
    scales = np.abs(w).max(axis=0) / np.float32(127)
    steps = w / np.where(scales > 0, scales, 1)
    return np.floor(steps + np.float32(0.5)).astype(np.int8), scales
''',
'''def quantize_int8(w):
    scales = np.abs(w).max(axis=0) / np.float32(127)
    steps = w / np.where(scales > 0, scales, 1)
    codes = np.sign(steps) * np.floor(np.abs(steps) + np.float32(0.5))
    return codes.astype(np.int8), scales
''',
'''def quantize_int8(w):
    scales = np.abs(w).max(axis=0) / np.float32(127)
    return np.rint(w / scales).astype(np.int8), scales
''',
'''def quantize_int8(w):
    scales = (np.abs(w).max(axis=0) + 1e-8) / np.float32(127)
    return np.rint(w / scales).astype(np.int8), scales.astype(np.float32)
''',
'''def quantize_int8(w):
    scales = np.abs(w).astype(float).max(axis=0) / 127
    steps = w / np.where(scales > 0, scales, 1)
    return np.rint(steps).astype(np.int8), scales
''',
'''def quantize_int8(w):
    scales = np.abs(w).max(axis=0) / np.float32(127)
    return np.rint(w / np.where(scales > 0, scales, 1)), scales
''',
'''def quantize_int8(w):
    scales = np.abs(w).max(axis=0) / np.float32(127)
    codes = np.rint(w / np.where(scales > 0, scales, 1)).astype(np.int8)
    return scales, codes
''',
'''def quantize_int8(w):
    most = np.abs(w).max(axis=0)
    factors = np.float32(127) / np.where(most > 0, most, 1)
    return np.rint(w * factors).astype(np.int8), factors
''',
'''def quantize_int8(w):
    scales = (w.max(axis=0) - w.min(axis=0)) / np.float32(255)
    safe = np.where(scales > 0, scales, 1)
    zero = np.rint(-w.min(axis=0) / safe) - 128
    return np.clip(np.rint(w / safe + zero), -128, 127).astype(np.int8), scales
''',
'''def quantize_int8(w):
    scales = np.abs(w).max(axis=0) / np.float32(127)
    scales[scales == 0] = 1
    return np.rint(w / scales).astype(np.int8), scales
''',
'''def quantize_int8(w):
    scales = np.abs(w).max(axis=0) / np.float32(127)
    w /= np.where(scales > 0, scales, 1)
    return np.rint(w).astype(np.int8), scales
''',
'''def quantize_int8(w):
    codes, scales = [[0.0] * w.shape[1] for _ in w], []
    for o in range(w.shape[1]):
        scale = max(abs(w[:, o])) / 127
        for i in range(w.shape[0]):
            codes[i][o] = float(round(w[i, o] / scale)) if scale > 0 else 0.0
        scales.append(scale)
    return codes, scales
''',
], "pack_int4": [
'''def pack_int4(codes):
    return ((codes[0::2] & 15) | ((codes[1::2] & 15) << 4)).astype(np.uint8)
''',
'''def pack_int4(codes):
    full = np.zeros((len(codes) + len(codes) % 2, *codes.shape[1:]), np.int16)
    full[:len(codes)] = codes
    return (((full[0::2] & 15) << 4) | (full[1::2] & 15)).astype(np.uint8)
''',
'''def pack_int4(codes):
    full = np.zeros((len(codes) + len(codes) % 2, *codes.shape[1:]), np.int16)
    full[:len(codes)] = codes
    return (full[0::2] | (full[1::2] << 4)).astype(np.uint8)
''',
'''def pack_int4(codes):
    full = np.zeros((*codes.shape[:-1], codes.shape[-1] + codes.shape[-1] % 2), np.int16)
    full[..., :codes.shape[-1]] = codes
    return ((full[..., 0::2] & 15) | ((full[..., 1::2] & 15) << 4)).astype(np.uint8)
''',
'''def pack_int4(codes):
    half = (len(codes) + 1) // 2
    full = np.zeros((2 * half, *codes.shape[1:]), np.int16)
    full[:len(codes)] = codes
    return ((full[:half] & 15) | ((full[half:] & 15) << 4)).astype(np.uint8)
''',
'''def pack_int4(codes):
    full = np.zeros((len(codes) + len(codes) % 2, *codes.shape[1:]), np.int16)
    full[:len(codes)] = codes
    full = full + 8
    return (full[0::2] | (full[1::2] << 4)).astype(np.uint8)
''',
'''def pack_int4(codes):
    full = np.zeros((len(codes) + len(codes) % 2, *codes.shape[1:]), np.int8)
    full[:len(codes)] = codes
    return (full[0::2] & 15) | ((full[1::2] & 15) << 4)
''',
'''def pack_int4(codes):
    n = len(codes) // 2 * 2
    lo, hi = codes[0:n:2], codes[1:n:2]
    return ((lo & 15) | ((hi & 15) << 4)).astype(np.uint8)
''',
'''def pack_int4(codes):
    flat = codes.ravel()
    if flat.size % 2:
        flat = np.append(flat, 0)
    return ((flat[0::2] & 15) | ((flat[1::2] & 15) << 4)).astype(np.uint8)
''',
'''def pack_int4(codes):
    full = np.zeros((len(codes) + len(codes) % 2, *codes.shape[1:]), np.int16)
    full[:len(codes)] = codes
    return (full[0::2] & 15 | full[1::2] & 15 << 4).astype(np.uint8)
''',
'''def pack_int4(codes):
    if len(codes) % 2:
        codes = np.concatenate([codes, codes[-1:]])
    lo, hi = codes[0::2] & 15, codes[1::2] & 15
    return (lo | (hi << 4)).astype(np.uint8)
''',
'''def pack_int4(codes):
    if len(codes) % 2:
        codes = np.concatenate([np.zeros_like(codes[:1]), codes])
    lo, hi = codes[0::2] & 15, codes[1::2] & 15
    return (lo | (hi << 4)).astype(np.uint8)
''',
'''def pack_int4(codes):
    full = np.zeros((len(codes) + len(codes) % 2, *codes.shape[1:]), np.int16)
    full[:len(codes)] = codes
    nibble = np.where(full < 0, np.abs(full) | 8, full)
    return (nibble[0::2] | (nibble[1::2] << 4)).astype(np.uint8)
''',
'''def pack_int4(codes):
    full = np.zeros((len(codes) + len(codes) % 2, *codes.shape[1:]), np.int16)
    full[:len(codes)] = codes
    return ((full[0::2] & 7) | ((full[1::2] & 7) << 4)).astype(np.uint8)
''',
'''def pack_int4(codes):
    full = np.zeros((len(codes) + len(codes) % 2, *codes.shape[1:]), np.int16)
    full[:len(codes)] = codes
    return ((full[0::2] & 15) + 15 * (full[1::2] & 15)).astype(np.uint8)
''',
'''def pack_int4(codes):
    n = len(codes)
    full = np.zeros((n + n % 2, *codes.shape[1:]))
    full[:n] = codes
    return full[0::2] % 16 + 16 * (full[1::2] % 16)
''',
'''def pack_int4(codes):
    out = []
    for i in range(0, len(codes), 2):
        lo = int(codes[i]) & 15
        hi = int(codes[i + 1]) & 15 if i + 1 < len(codes) else 0
        out.append(lo | hi << 4)
    return np.array(out, np.uint8)
''',
]}
RIGHT = {"quantize_int8": [
'''def quantize_int8(matrix):
    largest = abs(matrix).max(0)
    step = (largest / 127).astype("float32")
    codes = np.zeros(matrix.shape, "int8")
    for o in np.flatnonzero(step):
        codes[:, o] = np.round(matrix[:, o] / step[o])
    return codes, step
''',
'''def quantize_int8(w):
    scales = np.abs(w).max(axis=0) / np.float32(127)
    steps = np.divide(w, scales, out=np.zeros_like(w), where=scales > 0)
    return np.rint(steps).astype(np.int8), scales
''',
'''def quantize_int8(w):
    codes, scales = np.zeros(w.shape, np.int8), np.zeros(w.shape[1], np.float32)
    for o in range(w.shape[1]):
        scales[o] = np.max(np.abs(w[:, o])) / 127
        if scales[o] > 0:
            for i in range(w.shape[0]):
                codes[i, o] = round(float(w[i, o] / scales[o]))
    return codes, scales
''',
'''def quantize_int8(w):
    scales = np.maximum(w.max(axis=0), -w.min(axis=0)) / np.float32(127)
    safe = scales.copy()
    safe[safe == 0] = 1
    return np.clip(np.round(w / safe), -127, 127).astype(np.int8), scales
''',
'''def quantize_int8(w):
    scales = np.linalg.norm(w, np.inf, axis=0) / np.float32(127)
    with np.errstate(all="ignore"):
        steps = np.nan_to_num(w / scales)
    return [np.rint(steps).astype(np.int8), scales.astype(np.float32)]
''',
], "pack_int4": [
'''def pack_int4(c):
    c = c.astype(np.uint8) & 15
    if len(c) % 2:
        c = np.concatenate([c, np.zeros_like(c[:1])])
    return c[::2] | c[1::2] << 4
''',
'''def pack_int4(codes):
    n = len(codes)
    out = np.zeros(((n + 1) // 2, *codes.shape[1:]), np.uint8)
    for i in range(n):
        out[i // 2] |= (codes[i] & 15).astype(np.uint8) << (4 * (i % 2))
    return out
''',
'''def pack_int4(codes):
    width = [(0, len(codes) % 2)] + [(0, 0)] * (codes.ndim - 1)
    full = np.pad(codes, width).astype(int) % 16
    return (full[0::2] + 16 * full[1::2]).astype(np.uint8)
''',
'''def pack_int4(codes):
    low = codes[0::2].astype(np.int32) & 15
    high = np.zeros_like(low)
    high[:len(codes) // 2] = codes[1::2] & 15
    return (low | (high << 4)).astype(np.uint8)
''',
'''def pack_int4(codes):
    full = np.concatenate([codes, np.zeros((len(codes) % 2, *codes.shape[1:]), codes.dtype)])
    pairs = full.reshape(-1, 2, *codes.shape[1:])
    return ((pairs[:, 0] & 15) | (pairs[:, 1] << 4)).astype(np.uint8)
''',
]}
