"""Answers as different people write them, each wrong for some input, and some that are right."""
WRONG = {"layer_norm": [
'''def layer_norm(x, gain, bias, epsilon=1e-5):
    mean = x.mean()
    variance = x.var()
    return (x - mean) / np.sqrt(variance + epsilon) * gain + bias
''',
'''def layer_norm(x, gain, bias, epsilon=1e-5):
    mean = np.mean(x, axis=0)
    variance = np.var(x, axis=0)
    return (x - mean) / np.sqrt(variance + epsilon) * gain + bias
''',
'''def layer_norm(x, gain, bias, epsilon=1e-5):
    mu = x.mean(axis=-1)
    var = ((x - mu) ** 2).mean(axis=-1)
    return (x - mu) / np.sqrt(var + epsilon) * gain + bias
''',
'''def layer_norm(x, gain, bias, epsilon=1e-5):
    mean = x.mean(axis=1, keepdims=True)
    var = x.var(axis=1, keepdims=True)
    return gain * (x - mean) / np.sqrt(var + epsilon) + bias
''',
'''def layer_norm(x, gain, bias, epsilon=1e-5):
    mean = x.mean(-1, keepdims=True)
    std = x.std(-1, keepdims=True)
    return gain * (x - mean) / (std + epsilon) + bias
''',
'''def layer_norm(x, gain, bias, epsilon=1e-5):
    centred = x - x.mean(axis=-1, keepdims=True)
    variance = (centred ** 2).mean(axis=-1, keepdims=True)
    return centred / np.sqrt(variance) * gain + bias
''',
'''def layer_norm(x, gain, bias, epsilon=1e-5):
    centred = x - x.mean(axis=-1, keepdims=True)
    variance = (centred ** 2).mean(axis=-1, keepdims=True)
    return centred / (variance + epsilon) * gain + bias
''',
'''def layer_norm(x, gain, bias, epsilon=1e-5):
    centred = x - x.mean(axis=-1, keepdims=True)
    variance = centred.var(axis=-1, keepdims=True)
    return centred / np.sqrt(variance + epsilon)
''',
'''def layer_norm(x, gain, bias, epsilon=1e-5):
    centred = x - x.mean(axis=-1, keepdims=True)
    variance = (centred ** 2).mean(axis=-1, keepdims=True)
    return (centred / np.sqrt(variance + epsilon) + bias) * gain
''',
'''def layer_norm(x, gain, bias, epsilon=1e-5):
    mean = x.mean(axis=-1, keepdims=True)
    var = x.var(axis=-1, keepdims=True, ddof=1)
    return (x - mean) / np.sqrt(var + epsilon) * gain + bias
''',
'''def layer_norm(x, gain, bias, epsilon=1e-5):
    D = x.shape[-1]
    mean = x.sum(axis=-1, keepdims=True) / D
    var = ((x - mean) ** 2).sum(axis=-1, keepdims=True) / (D - 1)
    return (x - mean) / (var + epsilon) ** 0.5 * gain + bias
''',
'''def layer_norm(x, gain, bias, epsilon=1e-5):
    mean_square = (x ** 2).mean(axis=-1, keepdims=True)
    return x / np.sqrt(mean_square + epsilon) * gain + bias
''',
'''def layer_norm(x, gain, bias, epsilon=1e-5):
    mean = x.mean(axis=-1, keepdims=True)
    var = (x ** 2).mean(axis=-1, keepdims=True) - mean ** 2
    return (x - mean) / np.sqrt(var + epsilon) * gain + bias
''',
'''def layer_norm(x, gain, bias, epsilon=1e-5):
    x = x.astype(np.float64)
    mean = x.mean(axis=-1, keepdims=True)
    return (x - mean) / np.sqrt(x.var(axis=-1, keepdims=True) + epsilon) * gain + bias
''',
'''def layer_norm(x, gain, bias, epsilon=1e-5):
    x -= x.mean(axis=-1, keepdims=True)
    x /= np.sqrt((x ** 2).mean(axis=-1, keepdims=True) + epsilon)
    return x * gain + bias
''',
'''def layer_norm(x, gain, bias, epsilon=1e-5):
    y = np.zeros(x.shape)
    for t in range(len(x)):
        mean = sum(x[t]) / len(x[t])
        variance = sum((x[t] - mean) ** 2) / len(x[t])
        y[t] = (x[t] - mean) / np.sqrt(variance + epsilon) * gain + bias
    return y
''',
'''def layer_norm(x, gain, bias, epsilon=1e-5):
    T, D = x.shape
    y = np.empty_like(x)
    for t in range(T):
        row = x[t]
        y[t] = (row - row.mean()) / math.sqrt(row.var() + epsilon) * gain + bias
    return y
''',
'''def layer_norm(x, gain, bias, epsilon=1e-5):
    centred = x - x.mean(axis=-1, keepdims=True)
    variance = (centred ** 2).mean(axis=-1, keepdims=True)
    return centred / np.sqrt(variance + 1e-5) * gain + bias
''',
'''def layer_norm(x, gain, bias, epsilon=1e-6):
    centred = x - x.mean(axis=-1, keepdims=True)
    variance = (centred ** 2).mean(axis=-1, keepdims=True)
    return centred / np.sqrt(variance + epsilon) * gain + bias
''',
'''def layer_norm(x, gain, bias, epsilon=1e-5):
    centred = x - x.mean(axis=-1, keepdims=True)
    variance = (centred ** 2).sum(axis=-1, keepdims=True)
    return centred / np.sqrt(variance + epsilon) * gain + bias
''',
'''def layer_norm(x, gain, bias, epsilon=1e-5):
    mean = x.mean(axis=-1, keepdims=True)
    variance = x.var(axis=-1, keepdims=True)
    return x - mean / np.sqrt(variance + epsilon) * gain + bias
''',
'''def layer_norm(x, gain, bias, epsilon=1e-5):
    variance = x.var(axis=-1, keepdims=True)
    return x / np.sqrt(variance + epsilon) * gain + bias
''',
'''def layer_norm(x, gain, bias, epsilon=1e-5):
    low = x.min(axis=-1, keepdims=True)
    high = x.max(axis=-1, keepdims=True)
    return (x - low) / (high - low + epsilon) * gain + bias
''',
'''def layer_norm(x, gain, bias, epsilon=1e-5):
    centred = x - x.mean(axis=-1, keepdims=True)
    return centred / np.linalg.norm(centred + epsilon, axis=-1, keepdims=True) * gain + bias
''',
'''def layer_norm(x, gain, bias, epsilon=1e-5):
    centred = x - x.mean(axis=-1, keepdims=True)
    variance = (centred ** 2).mean(axis=-1, keepdims=True)
    return centred / np.sqrt(variance + epsilon) * (1 + gain) + bias
''',
'''def layer_norm(x, gain, bias, epsilon=1e-5):
    centred = x - x.mean(axis=-1, keepdims=True)
    variance = abs(centred).mean(axis=-1, keepdims=True)
    return centred / np.sqrt(variance + epsilon) * gain + bias
''',
'''def layer_norm(x, gain, bias, epsilon=1e-5):
    centred = x - x.mean(axis=-1, keepdims=True)
    variance = (centred ** 2).mean(keepdims=True)
    return centred / np.sqrt(variance + epsilon) * gain + bias
''',
'''def layer_norm(x, gain, bias, epsilon=1e-5):
    centred = x - x.mean(axis=-1, keepdims=True)
    deviation = np.sqrt((centred ** 2 + epsilon)).mean(axis=-1, keepdims=True)
    return centred / deviation * gain + bias
''',
'''def layer_norm(x, gain, bias, epsilon=1e-5):
    centred = x - x.mean(axis=-1, keepdims=True)
    variance = (centred ** 2).mean(axis=-1, keepdims=True)
    return centred * np.sqrt(variance + epsilon) * gain + bias
''',
'''def layer_norm(x, gain, bias, epsilon=1e-5):
    mean = x.mean(axis=-1, keepdims=True)
    centred = x - mean
    variance = (x ** 2).mean(axis=-1, keepdims=True)
    return centred / np.sqrt(variance + epsilon) * gain + bias
''',
], "rms_norm": [
'''def rms_norm(x, gain, epsilon=1e-5):
    return x / x.std(axis=-1, keepdims=True) * gain
''',
'''def rms_norm(x, gain, epsilon=1e-5):
    return x / (x.std(axis=-1, keepdims=True) + epsilon) * gain
''',
'''def rms_norm(x, gain, epsilon=1e-5):
    return gain * x / np.sqrt(np.var(x, axis=-1, keepdims=True))
''',
'''def rms_norm(x, gain, epsilon=1e-5):
    centred = x - x.mean(axis=-1, keepdims=True)
    return centred / np.sqrt((x ** 2).mean(axis=-1, keepdims=True) + epsilon) * gain
''',
'''def rms_norm(x, gain, epsilon=1e-5):
    return (x - x.mean(axis=-1, keepdims=True)) / x.std(axis=-1, keepdims=True) * gain
''',
'''def rms_norm(x, gain, epsilon=1e-5):
    return x / np.sqrt((x ** 2).mean(axis=-1, keepdims=True)) * gain
''',
], "fold": [
'''def fold(gain, bias, w, b):
    return gain * w, bias @ w + b
''',
'''def fold(gain, bias, w, b):
    return w * gain[:, None], b + bias
''',
'''def fold(gain, bias, w, b):
    return gain[:, None] * w, b
''',
'''def fold(gain, bias, w, b):
    return gain[:, None] * w, bias @ w
''',
'''def fold(gain, bias, w, b):
    w = gain[:, None] * w
    return w, bias @ w + b
''',
'''def fold(gain, bias, w, b):
    return w, bias @ w + b
''',
'''def fold(gain, bias, w, b):
    return gain[:, None] * w, (gain * bias) @ w + b
''',
'''def fold(gain, bias, w, b):
    return w / gain[:, None], bias @ w + b
''',
'''def fold(gain, bias, w, b):
    w *= gain[:, None]
    b += bias @ w
    return w, b
''',
'''def fold(gain, bias, w, b):
    b += bias @ w
    w *= gain[:, None]
    return w, b
''',
'''def fold(gain, bias, w, b):
    return bias @ w + b, gain[:, None] * w
''',
'''def fold(gain, bias, w, b):
    return w * gain, b + bias
''',
'''def fold(gain, bias, w, b):
    return gain * w, b
''',
'''def fold(gain, bias, w, b):
    return gain @ w, bias @ w + b
''',
'''def fold(gain, bias, w, b):
    return np.diag(gain) @ w, bias + b
''',
'''def fold(gain, bias, w, b):
    new_w = w.copy()
    for i in range(len(gain)):
        new_w[:, i] *= gain[i]
    return new_w, bias @ w + b
''',
'''def fold(gain, bias, w, b):
    return gain[:, None] * w + bias[:, None], b
''',
'''def fold(gain, bias, w, b):
    return gain[:, None] * w, bias @ w - b
''',
'''def fold(gain, bias, w, b):
    return gain[:, None] * w, b - bias @ w
''',
]}

RIGHT = {"layer_norm": [
'''def layer_norm(x, weight, beta, eps=1e-5):
    mu = np.mean(x, axis=-1, keepdims=True)
    var = np.var(x, axis=-1, keepdims=True)
    return weight * ((x - mu) / np.sqrt(var + eps)) + beta
''',
'''def layer_norm(x, gain, bias, epsilon=1e-5):
    y = np.empty_like(x)
    for place in np.ndindex(x.shape[:-1]):
        row = x[place].astype(float)
        mean = sum(row) / len(row)
        variance = sum((number - mean) ** 2 for number in row) / len(row)
        for d in range(len(row)):
            y[place][d] = (row[d] - mean) / math.sqrt(variance + epsilon) * gain[d] + bias[d]
    return y
''',
'''def layer_norm(x, gain, bias, epsilon=1e-5):
    wide = x.astype(np.float64)
    centred = (wide.T - wide.T.mean(axis=0)).T
    variance = np.einsum("...d,...d->...", centred, centred) / x.shape[-1]
    return (centred / (variance[..., None] + epsilon) ** 0.5 * gain + bias).astype(x.dtype)
''',
'''def layer_norm(x, gain, bias, epsilon=1e-5):
    centred = x - np.average(x, axis=-1)[..., np.newaxis]
    inverse = np.reciprocal(np.sqrt(np.square(centred).mean(-1)[..., np.newaxis] + epsilon))
    return centred * inverse * gain + bias
''',
'''def layer_norm(x, gain, bias, epsilon=1e-5):
    def row_norm(row):
        return (row - row.mean()) / np.sqrt(row.var() + epsilon)
    return np.apply_along_axis(row_norm, -1, x) * gain + bias
''',
], "fold": [
'''def fold(gain, bias, w, b):
    return (w.T * gain).T, b + w.T @ bias
''',
'''def fold(gain, bias, w, b):
    return np.diag(gain) @ w, np.dot(bias, w) + b
''',
'''def fold(gain, bias, w, b):
    w = np.array(w)
    new_b = b + (bias[:, None] * w).sum(axis=0)
    for i, g in enumerate(gain):
        w[i] *= g
    return w, new_b
''',
]}
