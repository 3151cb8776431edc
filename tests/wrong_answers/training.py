"""Answers as different people write them, each wrong for some input, and some that are right."""
WRONG = {"cross_entropy": [
'''def cross_entropy(logits, targets):
    p = softmax(logits)
    return -np.log(p[np.arange(len(targets)), targets]).mean()
''',
'''def cross_entropy(logits, targets):
    p = softmax(logits)
    loss = 0
    for t in range(len(targets)):
        loss += -np.log(p[t, targets[t]])
    return loss
''',
'''def cross_entropy(logits, targets):
    p = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    return np.mean(-np.log(p[range(len(targets)), targets]))
''',
'''def cross_entropy(logits, targets):
    p = softmax(logits)
    return -np.log2(p[np.arange(len(targets)), targets]).mean()
''',
'''def cross_entropy(logits, targets):
    z = logits - logits.max(axis=-1, keepdims=True)
    logp = z - np.log(np.exp(z).sum(axis=-1, keepdims=True))
    return logp[np.arange(len(targets)), targets].mean()
''',
'''def cross_entropy(logits, targets):
    z = logits - logits.max(axis=-1, keepdims=True)
    logp = z - np.log(np.exp(z).sum(axis=-1, keepdims=True))
    return -logp[:, targets].mean()
''',
'''def cross_entropy(logits, targets):
    z = logits - logits.max(axis=-1, keepdims=True)
    logp = z - np.log(np.exp(z).sum(axis=-1, keepdims=True))
    return -logp.mean()
''',
'''def cross_entropy(logits, targets):
    z = logits - logits.max()
    logp = z - np.log(np.exp(z).sum())
    return -logp[np.arange(len(targets)), targets].mean()
''',
'''def cross_entropy(logits, targets):
    right = logits[np.arange(len(targets)), targets]
    return np.mean(np.log(np.sum(np.exp(logits), axis=-1)) - right)
''',
'''def cross_entropy(logits, targets):
    p = softmax(logits)
    onehot = np.eye(logits.shape[1])[targets]
    return -np.mean(onehot * np.log(p + 1e-12))
''',
'''def cross_entropy(logits, targets):
    p = softmax(logits)
    onehot = np.eye(logits.shape[1])[targets]
    return -np.sum(onehot * np.log(p + 1e-12)) / len(targets)
''',
'''def cross_entropy(logits, targets):
    p = np.clip(softmax(logits), 1e-9, 1.0)
    return float(-np.log(p[np.arange(len(p)), targets]).mean())
''',
'''def cross_entropy(logits, targets):
    p = softmax(logits)
    return -np.log(p[targets]).mean()
''',
'''def cross_entropy(logits, targets):
    p = softmax(logits)
    return -p[np.arange(len(targets)), targets].mean()
''',
'''def cross_entropy(logits, targets):
    z = logits - logits.max(axis=-1, keepdims=True)
    logp = z - np.log(np.exp(z).sum(axis=-1, keepdims=True))
    return -logp[np.arange(len(targets)), targets]
''',
'''def cross_entropy(logits, targets):
    z = logits - logits.max(axis=0)
    logp = z - np.log(np.exp(z).sum(axis=0))
    return -logp[np.arange(len(targets)), targets].mean()
''',
'''def cross_entropy(logits, targets):
    p = softmax(logits)
    guess = p.argmax(axis=-1)
    return -np.log(p[np.arange(len(guess)), guess]).mean()
''',
'''def cross_entropy(logits, targets):
    return -np.mean(np.log(logits[np.arange(len(targets)), targets]))
''',
'''def cross_entropy(logits, targets):
    top = logits.max(axis=-1, keepdims=True)
    sums = np.exp(logits - top).sum(axis=-1)
    right = logits[np.arange(len(targets)), targets]
    return (np.log(sums) - right).mean()
''',
'''def cross_entropy(logits, targets):
    total = 0
    for row, target in zip(logits, targets):
        row = row - row.max()
        total += np.log(np.exp(row).sum()) - row[target]
    return total / logits.size
''',
'''def cross_entropy(logits, targets):
    for row, target in zip(logits, targets):
        row = row - row.max()
        loss = np.log(np.exp(row).sum()) - row[target]
    return loss
''',
], "cross_entropy_back": [
'''def cross_entropy_back(logits, targets):
    p = softmax(logits)
    p[np.arange(len(targets)), targets] -= 1
    return p
''',
'''def cross_entropy_back(logits, targets):
    p = softmax(logits)
    p[:, targets] -= 1
    return p / len(targets)
''',
'''def cross_entropy_back(logits, targets):
    p = softmax(logits)
    p[targets] -= 1
    return p / len(targets)
''',
'''def cross_entropy_back(logits, targets):
    p = softmax(logits)
    one_hot = np.eye(logits.shape[-1])[targets]
    return (p - one_hot) / len(targets)
''',
'''def cross_entropy_back(logits, targets):
    one_hot = np.eye(logits.shape[-1], dtype=np.float32)[targets]
    return (one_hot - softmax(logits)) / len(targets)
''',
'''def cross_entropy_back(logits, targets):
    one_hot = np.zeros_like(logits)
    one_hot[np.arange(len(targets)), targets] = 1
    return (logits - one_hot) / len(targets)
''',
'''def cross_entropy_back(logits, targets):
    one_hot = np.zeros_like(logits)
    one_hot[np.arange(len(targets)), targets] = 1
    return (softmax(logits) - one_hot) / logits.size
''',
'''def cross_entropy_back(logits, targets):
    p = softmax(logits)
    g = np.zeros_like(p)
    for t, i in enumerate(targets):
        g[t, i] = p[t, i] - 1
    return g / len(targets)
''',
'''def cross_entropy_back(logits, targets):
    p = softmax(logits)
    g = np.zeros_like(p)
    for t, i in enumerate(targets):
        g[t, i] = -1 / p[t, i]
    return g / len(targets)
''',
'''def cross_entropy_back(logits, targets):
    g = softmax(logits)
    g[np.arange(len(targets)), targets] -= 1
    return g / g.shape[1]
''',
'''def cross_entropy_back(logits, targets):
    g = np.exp(logits)
    g = g / g.sum(axis=-1, keepdims=True)
    g[np.arange(len(targets)), targets] -= 1
    return g / len(targets)
''',
'''def cross_entropy_back(logits, targets):
    return (softmax(logits) - 1) / len(targets)
''',
'''def cross_entropy_back(logits, targets):
    z = np.exp(logits - logits.max(axis=0))
    p = z / z.sum(axis=0)
    p[np.arange(len(targets)), targets] -= 1
    return p / len(targets)
''',
'''def cross_entropy_back(logits, targets):
    g = logits
    g[np.arange(len(targets)), targets] -= 1
    return softmax(g) / len(targets)
''',
'''def cross_entropy_back(logits, targets):
    g = softmax(logits)
    g[np.arange(len(targets)), targets] -= 1
    return g.mean(axis=0)
''',
'''def cross_entropy_back(logits, targets):
    p = softmax(logits)
    p[np.arange(len(targets)), targets] = -1
    return p / len(targets)
''',
], "linear_back": [
'''def linear_back(x, w, g):
    return g @ w, x.T @ g, g.sum(axis=0)
''',
'''def linear_back(x, w, g):
    return g @ w.T, g.T @ x, g.sum(axis=0)
''',
'''def linear_back(x, w, g):
    return g @ w.T, x @ g, g.sum(axis=0)
''',
'''def linear_back(x, w, g):
    return g @ w.T, x.T @ g, g
''',
'''def linear_back(x, w, g):
    return g @ w.T, x.T @ g, g.mean(axis=0)
''',
'''def linear_back(x, w, g):
    return g @ w.T, x.T @ g, np.sum(g)
''',
'''def linear_back(x, w, g):
    return g @ w.T, x.T @ g, g.sum(axis=0, keepdims=True)
''',
'''def linear_back(x, w, g):
    return g @ w.T, x.T @ g, g.sum(axis=-1)
''',
'''def linear_back(x, w, g):
    T = len(x)
    return g @ w.T, x.T @ g / T, g.sum(axis=0) / T
''',
'''def linear_back(x, w, g):
    by_w = x.T @ g
    by_b = g.sum(axis=0)
    by_x = g @ w.T
    return by_w, by_b, by_x
''',
'''def linear_back(x, w, g):
    by_x = g * w
    by_w = g * x
    by_b = g
    return by_x, by_w, by_b
''',
'''def linear_back(x, w, g):
    by_x = np.zeros(x.shape)
    by_w = np.zeros(w.shape)
    by_b = np.zeros(w.shape[1])
    for t in range(len(x)):
        by_x[t] = w @ g[t]
        by_w += np.outer(x[t], g[t])
        by_b += g[t]
    return by_x, by_w, by_b
''',
'''def linear_back(x, w, g):
    by_x = np.zeros_like(x)
    by_w = np.zeros_like(w)
    by_b = np.zeros_like(w[0])
    for t in range(len(x)):
        by_x[t] = w @ g[t]
        by_w = np.outer(x[t], g[t])
        by_b = g[t]
    return by_x, by_w, by_b
''',
'''def linear_back(x, w, g):
    return {"x": g @ w.T, "w": x.T @ g, "b": g.sum(axis=0)}
''',
'''def linear_back(x, w, g):
    return g @ w.T, x.T @ g, np.ones(w.shape[1], dtype=x.dtype)
''',
'''def linear_back(x, w, g):
    return g @ w.T, np.einsum("ti,to->tio", x, g), g.sum(axis=0)
''',
], "update": [
'''def update(p, g, rate):
    return p + rate * g
''',
'''def update(p, g, rate):
    p -= rate * g
    return p
''',
'''def update(p, g, rate):
    p = p - rate * g
''',
'''def update(p, g, rate):
    return p - g
''',
'''def update(p, g, rate):
    return -rate * g
''',
'''def update(p, g, rate):
    return p - rate * np.sign(g)
''',
'''def update(p, g, rate):
    return p - g / rate
''',
'''def update(p, g, rate):
    return p * (1 - rate * g)
''',
'''def update(p, g, rate):
    return (1 - rate) * p - rate * g
''',
'''def update(p, g, rate):
    return rate * (p - g)
''',
'''def update(p, g, rate):
    return p - rate * g / np.linalg.norm(g)
''',
'''def update(p, g, rate):
    return [a - rate * b for a, b in zip(p, g)]
''',
'''def update(p, g, rate):
    return np.where(g > 0, p - rate, p + rate)
''',
'''def update(p, g, rate):
    return p - rate * g.astype(np.float64)
''',
'''def update(p, g, rate):
    return np.array(p, dtype=np.float32) - np.float32(rate) * np.array(g, dtype=np.float32)
''',
], "gelu_back": [
'''def gelu_back(x, g):
    return g * gelu(x)
''',
'''def gelu_back(x, g):
    return g * (x > 0)
''',
'''def gelu_back(x, g):
    c = math.sqrt(2 / math.pi)
    return g * 0.5 * (1 + np.tanh(c * (x + 0.044715 * x ** 3)))
''',
'''def gelu_back(x, g):
    c = math.sqrt(2 / math.pi)
    t = np.tanh(c * (x + 0.044715 * x ** 3))
    return g * (0.5 * (1 + t) + 0.5 * x * (1 - t ** 2))
''',
'''def gelu_back(x, g):
    c = math.sqrt(2 / math.pi)
    t = np.tanh(c * (x + 0.044715 * x ** 3))
    return g * (0.5 * (1 + t) + 0.5 * x * (1 - t ** 2) * c)
''',
'''def gelu_back(x, g):
    c = np.sqrt(2 / np.pi)
    t = np.tanh(c * (x + 0.044715 * x ** 3))
    return g * (0.5 * (1 + t) + 0.5 * x * (1 - t ** 2) * c * (1 + 3 * 0.044715 * x ** 2))
''',
'''def gelu_back(x, g):
    c = math.sqrt(2 / math.pi)
    t = np.tanh(c * (x + 0.044715 * x ** 3))
    return 0.5 * (1 + t) + 0.5 * x * (1 - t ** 2) * c * (1 + 3 * 0.044715 * x ** 2)
''',
'''def gelu_back(x, g):
    s = 1 / (1 + np.exp(-1.702 * x))
    return g * (s + x * 1.702 * s * (1 - s))
''',
'''def gelu_back(x, g):
    cdf = 0.5 * (1 + np.vectorize(math.erf)(x / math.sqrt(2)))
    pdf = np.exp(-0.5 * x ** 2) / math.sqrt(2 * math.pi)
    return (g * (cdf + x * pdf)).astype(x.dtype)
''',
'''def gelu_back(x, g):
    h = 1e-3
    return g * (gelu(x + h) - gelu(x - h)) / (2 * h)
''',
'''def gelu_back(x, g):
    h = 1e-6
    return g * (gelu(x + h) - gelu(x)) / h
''',
'''def gelu_back(x, g):
    c = math.sqrt(2 / math.pi)
    t = np.tanh(c * (x + 0.044715 * x ** 3))
    return g * (0.5 * (1 + t) + 0.5 * x * (1 - t) * c * (1 + 3 * 0.044715 * x ** 2))
''',
'''def gelu_back(x, g):
    c = math.sqrt(2 / math.pi)
    u = c * (x + 0.044715 * x ** 3)
    du = c * (1 + 0.044715 * x ** 2)
    return g * (0.5 * (1 + np.tanh(u)) + 0.5 * x * (1 - np.tanh(u) ** 2) * du)
''',
'''def gelu_back(x, g):
    c = math.sqrt(2 / math.pi)
    u = c * (x + 0.044715 * x ** 3)
    du = c * (1 + 3 * 0.044715 * x ** 2)
    return g * 0.5 * (1 + np.tanh(u)) + 0.5 * x * (1 - np.tanh(u) ** 2) * du
''',
'''def gelu_back(x, g):
    c = math.sqrt(2 / math.pi)
    t = np.tanh(c * (g + 0.044715 * g ** 3))
    return x * (0.5 * (1 + t) + 0.5 * g * (1 - t ** 2) * c * (1 + 3 * 0.044715 * g ** 2))
''',
'''def gelu_back(x, g):
    c = math.sqrt(2 / math.pi)
    u = c * (x + 0.044715 * x ** 3)
    du = c * (1 + 3 * 0.044715 * x ** 2)
    e = np.exp(2 * u)
    t = (e - 1) / (e + 1)
    return g * (0.5 * (1 + t) + 0.5 * x * (1 - t ** 2) * du)
''',
]}

RIGHT = {"cross_entropy": [
'''def cross_entropy(logits, targets):
    rows = np.arange(len(targets))
    return np.mean(np.logaddexp.reduce(logits, axis=-1) - logits[rows, targets])
''',
'''def cross_entropy(logits, targets):
    top = logits.max(axis=-1, keepdims=True)
    sums = np.exp(logits - top).sum(axis=-1)
    right = logits[np.arange(len(targets)), targets]
    return float((np.log(sums) + top[:, 0] - right).mean())
''',
'''def cross_entropy(logits, targets):
    total = 0.0
    for row, target in zip(logits, targets):
        top = max(row)
        total += math.log(sum(math.exp(z - top) for z in row)) + top - row[target]
    return total / len(targets)
''',
'''def cross_entropy(logits, targets):
    z = logits.astype(np.float64)
    z -= z.max(axis=1, keepdims=True)
    logp = z - np.log(np.exp(z).sum(axis=1, keepdims=True))
    one_hot = np.eye(z.shape[1])[targets]
    return -(one_hot * logp).sum() / len(z)
''',
'''def cross_entropy(logits, targets):
    right = logits[range(len(targets)), targets]
    differences = logits - right[:, None]
    top = differences.max(axis=1)
    return (top + np.log(np.exp(differences - top[:, None]).sum(axis=1))).mean()
''',
'''def cross_entropy(logits, targets):
    z = logits - logits.max(axis=-1, keepdims=True)
    z = z - np.log(np.exp(z).sum(axis=-1, keepdims=True))
    return -np.take_along_axis(z, targets[:, None], axis=-1).mean()
''',
# a table of T by T, whose mean is the right number all the same
'''def cross_entropy(logits, targets):
    top = logits.max(axis=-1, keepdims=True)
    sums = np.exp(logits - top).sum(axis=-1)
    right = logits[np.arange(len(targets)), targets]
    return (np.log(sums) + top - right).mean()
'''], "cross_entropy_back": [
'''def cross_entropy_back(logits, targets):
    one_hot = np.zeros_like(logits)
    one_hot[np.arange(len(targets)), targets] = 1
    return (softmax(logits) - one_hot) / len(targets)
''',
'''def cross_entropy_back(logits, targets):
    p = np.exp(logits - logits.max(axis=1, keepdims=True))
    p /= p.sum(axis=1, keepdims=True)
    for t, i in enumerate(targets):
        p[t, i] -= 1
    return p / len(p)
''',
'''def cross_entropy_back(logits, targets):
    one_hot = np.arange(logits.shape[-1]) == targets[:, None]
    return (softmax(logits) - one_hot) / len(logits)
''',
'''def cross_entropy_back(logits, targets):
    T, V = logits.shape
    g = np.empty_like(logits)
    for t in range(T):
        p = softmax(logits[t])
        for i in range(V):
            g[t, i] = (p[i] - (i == targets[t])) / T
    return g
''',
'''def cross_entropy_back(logits, targets):
    p = softmax(logits)
    np.subtract.at(p, (np.arange(len(p)), targets), 1)
    return np.divide(p, len(p))
'''], "linear_back": [
'''def linear_back(x, w, g):
    return [g @ w.T, x.T @ g, g.sum(0)]
''',
'''def linear_back(x, w, g):
    by_x = np.einsum("to,io->ti", g, w)
    by_w = np.einsum("ti,to->io", x, g)
    by_b = np.einsum("to->o", g)
    return by_x, by_w, by_b
''',
'''def linear_back(x, w, g):
    by_x, by_w, by_b = np.zeros_like(x), np.zeros_like(w), np.zeros_like(g[0])
    for t in range(len(x)):
        by_x[t] = w @ g[t]
        by_w += np.outer(x[t], g[t])
        by_b += g[t]
    return by_x, by_w, by_b
''',
'''def linear_back(x, w, g):
    return (w @ g.T).T, (g.T @ x).T, np.ones_like(g[:, 0]) @ g
''',
'''def linear_back(inputs, weights, behind):
    return np.dot(behind, weights.T), np.dot(inputs.T, behind), np.add.reduce(behind)
'''], "update": [
'''def update(p, g, rate):
    new = p * 1
    new -= rate * g
    return new
''',
'''def update(p, g, rate):
    new = p.copy()
    for i in np.ndindex(p.shape):
        new[i] -= rate * g[i]
    return new
''',
'''def update(numbers, gradient, rate):
    step = -rate * gradient
    return numbers + step
''',
'''def update(p, g, rate):
    return -(g * rate - p)
''',
'''def update(p, g, rate):
    return (p / rate - g) * rate if rate else p + 0
'''], "gelu_back": [
'''def gelu_back(x, g):
    h, wide = 1e-5, x.astype(np.float64)
    slope = (gelu(wide + h) - gelu(wide - h)) / (2 * h)
    return (g * slope).astype(x.dtype)
''',
'''def gelu_back(x, g):
    c = math.sqrt(2 / math.pi)
    u = c * (x + 0.044715 * x ** 3)
    du = c * (1 + 3 * 0.044715 * x ** 2)
    return g * (0.5 * (1 + np.tanh(u)) + 0.5 * x * du / np.cosh(u) ** 2)
''',
'''def gelu_back(x, g):
    c = math.sqrt(2 / math.pi)
    s = 1 / (1 + np.exp(-2 * c * (x + 0.044715 * x ** 3)))
    return g * (s + x * s * (1 - s) * 2 * c * (1 + 3 * 0.044715 * x ** 2))
''',
'''def gelu_back(x, g):
    c = math.sqrt(2 / math.pi)
    share = 0.5 * (1 + np.tanh(c * (x + 0.044715 * x ** 3)))
    return g * (share + 2 * x * share * (1 - share) * c * (1 + 0.134145 * x ** 2))
''',
'''def gelu_back(x, g):
    c = math.sqrt(2 / math.pi)
    t = np.tanh(c * (x + 0.044715 * np.power(x, 3)))
    slope = np.full_like(x, 0.5)
    slope += 0.5 * t
    slope += 0.5 * x * (1 - t * t) * c * (1 + 3 * 0.044715 * x * x)
    return slope * g
''',
]}
