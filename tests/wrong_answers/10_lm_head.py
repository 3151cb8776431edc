"""Answers as different people write them, each wrong for some input, and some that are right."""
WRONG = {"lm_head": [
'''def lm_head(x, gain, bias, wte, epsilon=1e-5, layer_norm=layer_norm):
    return x @ wte.T
''',
'''def lm_head(x, gain, bias, wte, epsilon=1e-5, layer_norm=layer_norm):
    return layer_norm(x, gain, bias, epsilon) @ wte
''',
'''def lm_head(x, gain, bias, wte, epsilon=1e-5, layer_norm=layer_norm):
    return np.dot(layer_norm(x, gain, bias), wte.T)
''',
'''def lm_head(x, gain, bias, wte, epsilon=1e-5, layer_norm=layer_norm):
    logits = layer_norm(x, gain, bias, epsilon) @ wte.T
    e = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)
''',
'''def lm_head(x, gain, bias, wte, epsilon=1e-5, layer_norm=layer_norm):
    return layer_norm(x @ wte.T, gain, bias, epsilon)
''',
'''def lm_head(x, gain, bias, wte, epsilon=1e-5, layer_norm=layer_norm):
    h = layer_norm(x, gain, bias, epsilon)
    return np.argmax(h @ wte.T, axis=-1)
''',
'''def lm_head(x, gain, bias, wte, epsilon=1e-5, layer_norm=layer_norm):
    h = layer_norm(x, gain, bias, epsilon)
    return wte @ h.T
''',
'''def lm_head(x, gain, bias, wte, epsilon=1e-5, layer_norm=layer_norm):
    last = layer_norm(x, gain, bias, epsilon)[-1]
    return last @ wte.T
''',
'''def lm_head(x, gain, bias, wte, epsilon=1e-5, layer_norm=layer_norm):
    x = layer_norm(x, gain, bias, epsilon)
    return x @ wte.T / np.sqrt(np.float32(x.shape[-1]))
''',
'''def lm_head(x, gain, bias, wte, epsilon=1e-5, layer_norm=layer_norm):
    x = layer_norm(x, gain, bias, epsilon)
    x = x / np.linalg.norm(x, axis=-1, keepdims=True)
    w = wte / np.linalg.norm(wte, axis=-1, keepdims=True)
    return x @ w.T
''',
'''def lm_head(x, gain, bias, wte, epsilon=1e-5, layer_norm=layer_norm):
    z = layer_norm(x, gain, bias, epsilon) @ wte.T
    z = z - z.max(axis=-1, keepdims=True)
    return z - np.log(np.exp(z).sum(axis=-1, keepdims=True))
''',
'''def lm_head(x, gain, bias, wte, epsilon=1e-5, layer_norm=layer_norm):
    x = layer_norm(x, gain, bias, epsilon)
    x = layer_norm(x, gain, bias, epsilon)
    return x @ wte.T
''',
'''def lm_head(x, gain, bias, wte, epsilon=1e-5, layer_norm=layer_norm):
    return layer_norm(x, bias, gain, epsilon) @ wte.T
''',
'''def lm_head(x, gain, bias, wte, epsilon=1e-5, layer_norm=layer_norm):
    rows = layer_norm(x, gain, bias, epsilon)
    logits = np.zeros((len(rows), len(wte)))
    for t in range(len(rows)):
        for token in range(len(wte)):
            logits[t, token] = np.dot(rows[t], wte[token])
    return logits
''',
'''def lm_head(x, gain, bias, wte, epsilon=1e-5, layer_norm=layer_norm):
    mean = x.mean(axis=-1, keepdims=True)
    var = x.var(axis=-1, keepdims=True, ddof=1)
    return ((x - mean) / np.sqrt(var + epsilon) * gain + bias) @ wte.T
''',
'''def lm_head(x, gain, bias, wte, epsilon=1e-5, layer_norm=layer_norm):
    V, D = wte.shape
    return layer_norm(x, gain, bias, epsilon) @ wte.reshape(D, V)
''',
'''def lm_head(x, gain, bias, wte, epsilon=1e-5, layer_norm=layer_norm):
    normed = (x - np.mean(x, axis=0)) / np.sqrt(np.var(x, axis=0) + epsilon)
    return (normed * gain + bias) @ wte.T
''',
'''def lm_head(x, gain, bias, wte, epsilon=1e-5, layer_norm=layer_norm):
    ones, zeros = np.ones_like(gain), np.zeros_like(bias)
    return layer_norm(x, ones, zeros, epsilon) @ wte.T
''',
'''def lm_head(x, gain, bias, wte, epsilon=1e-5, layer_norm=layer_norm):
    centred = x - x.mean(-1, keepdims=True)
    normed = centred / (x.std(-1, keepdims=True) + epsilon)
    return (gain * normed + bias) @ wte.T
''',
'''def lm_head(x, gain, bias, wte, epsilon=1e-5, layer_norm=layer_norm):
    return np.einsum("td,vd->vt", layer_norm(x, gain, bias, epsilon), wte)
''',
'''def lm_head(x, gain, bias, wte, epsilon=1e-5, layer_norm=layer_norm):
    x = x + layer_norm(x, gain, bias, epsilon)
    return x @ wte.T
''',
'''def lm_head(x, gain, bias, wte, epsilon=1e-5, layer_norm=layer_norm):
    normed = layer_norm(x, gain, bias, epsilon)
    return normed.astype(np.float64) @ wte.T
''',
'''def lm_head(x, gain, bias, wte, epsilon=1e-5, layer_norm=layer_norm):
    return linear(layer_norm(x, gain, bias, epsilon), wte, np.zeros(len(wte)))
''',
'''def lm_head(x, gain, bias, wte, epsilon=1e-5, layer_norm=layer_norm):
    normed = layer_norm(x, gain, bias, epsilon)
    return (normed[:, None, :] * wte[None, :, :]).sum(axis=1)
''',
'''def lm_head(x, gain, bias, wte, epsilon=1e-5, layer_norm=layer_norm):
    pooled = layer_norm(x, gain, bias, epsilon).mean(axis=0, keepdims=True)
    return pooled @ wte.T
''',
'''def lm_head(x, gain, bias, wte, epsilon=1e-5, layer_norm=layer_norm):
    normed = layer_norm(x, gain, bias, epsilon)
    return -((normed[:, None] - wte[None]) ** 2).sum(axis=-1)
''',
'''def lm_head(x, gain, bias, wte, epsilon=1e-5, layer_norm=layer_norm):
    table = layer_norm(wte, gain, bias, epsilon)
    return x @ table.T
''',
'''def lm_head(x, gain, bias, wte, epsilon=1e-5, layer_norm=layer_norm):
    return layer_norm(x, gain, bias, epsilon) @ np.linalg.pinv(wte)
''',
'''def lm_head(x, gain, bias, wte, epsilon=1e-5, layer_norm=layer_norm):
    normed = layer_norm(x, gain, bias, epsilon)
    return (x * gain + bias) @ wte.T
''',
'''def lm_head(x, gain, bias, wte, epsilon=1e-5, layer_norm=layer_norm):
    from gpt2lab.layernorm import layer_norm as norm
    return norm(x, gain, bias, epsilon) @ wte.T
''',
'''def lm_head(x, gain, bias, wte, epsilon=1e-5, layer_norm=layer_norm):
    x -= x.mean(axis=-1, keepdims=True)
    x /= np.sqrt((x * x).mean(axis=-1, keepdims=True) + epsilon)
    return (x * gain + bias) @ wte.T
''',
'''def lm_head(x, gain, bias, wte, epsilon=1e-5, layer_norm=layer_norm):
    logits = layer_norm(x, gain, bias, epsilon) @ wte.T
    return np.maximum(logits, 0)
''',
]}
RIGHT = {"lm_head": [
'''def lm_head(stream, g, b, table, epsilon=1e-5, layer_norm=layer_norm):
    return np.dot(layer_norm(stream, g, b, epsilon), table.T)
''',
'''def lm_head(x, gain, bias, wte, epsilon=1e-5, layer_norm=layer_norm):
    return np.einsum("td,vd->tv", layer_norm(x, gain, bias, epsilon), wte)
''',
'''def lm_head(x, gain, bias, wte, epsilon=1e-5, layer_norm=layer_norm):
    rows = layer_norm(x, gain, bias, epsilon)
    logits = np.zeros((len(rows), len(wte)), np.float32)
    for t, row in enumerate(rows):
        for token, numbers in enumerate(wte):
            logits[t, token] = (row * numbers).sum()
    return logits
''',
'''def lm_head(x, gain, bias, wte, epsilon=1e-5, layer_norm=layer_norm):
    return (wte @ layer_norm(x, gain, bias, epsilon).T).T
''',
'''def lm_head(x, gain, bias, wte, epsilon=1e-5, layer_norm=layer_norm):
    normed = layer_norm(x, gain, bias, epsilon)
    return np.stack([wte @ row for row in normed])
''',
]}
