"""Answers as different people write them, each wrong for some input, and some that are right."""
WRONG = {"linear": [
'''def linear(x, w, b):
    return x @ w
''',
'''def linear(x, w, b):
    return x @ w.T + b
''',
'''def linear(x, w, b):
    return w @ x + b
''',
'''def linear(x, w, b):
    return (w.T @ x.T).T
''',
'''def linear(x, w, b):
    return x * w + b
''',
'''def linear(inputs, weights, bias):
    return inputs.dot(weights + bias)
''',
'''def linear(x, w, b):
    return (x + b) @ w
''',
'''def linear(x, w, b):
    return x @ w - b
''',
'''def linear(x, w, b):
    return np.maximum(0, x @ w + b)
''',
'''def linear(x, w, b):
    y = np.zeros((x.shape[0], w.shape[1]))
    for i in range(x.shape[0]):
        for j in range(w.shape[1]):
            y[i, j] = b[j]
            for k in range(x.shape[1]):
                y[i, j] += x[i, k] * w[k, j]
    return y
''',
'''def linear(x, w, b):
    y = np.zeros_like(x)
    for i in range(len(x)):
        for j in range(len(b)):
            y[i][j] = np.sum(x[i] * w[:, j]) + b[j]
    return y
''',
'''def linear(x, w, b):
    return np.einsum("ti,io->to", x, w) + b
''',
'''def linear(x, w, b):
    return np.einsum("...i,oi->...o", x, w) + b
''',
'''def linear(x, w, b):
    y = []
    for row in x:
        y.append([sum(row[k] * w[k][j] for k in range(len(w))) + b[j] for j in range(len(b))])
    return y
''',
'''def linear(x, w, b):
    return np.tensordot(x, w, axes=0) + b
''',
'''def linear(x, w, b):
    product = x @ w
    return product / np.sqrt(w.shape[0]) + b
''',
'''def linear(x, w, b):
    return x @ w + b[:, np.newaxis]
''',
'''def linear(x, w, b):
    n_in, n_out = w.shape
    flat = x.reshape(-1, n_in)
    return flat @ w + b
''',
'''def linear(x, w, b):
    return x.flatten() @ w + b
''',
'''def linear(x, w, b):
    x = np.array(x, dtype=float)
    w = np.array(w, dtype=float)
    return np.matmul(x, w) + b
''',
'''def linear(x, w, b):
    return x @ w + b[0]
''',
'''def linear(x, w, b):
    out_features = b.shape[0]
    return x @ w.reshape(out_features, -1).T + b
''',
'''def linear(x, w, b):
    y = np.zeros(x.shape[:-1] + b.shape, dtype=np.float32)
    for k in range(w.shape[0]):
        y += x[..., k:k + 1] * w[k] + b
    return y
''',
'''def linear(x, w, b):
    y = x @ w + b
    print(y)
''',
'''def linear(x, w, b):
    y = np.tile(b, (len(x), 1))
    for k in range(1, len(w)):
        y += np.outer(x[:, k], w[k])
    return y
''',
'''def linear(x, w, b):
    ones = np.ones((len(x), 1))
    return np.hstack([x, ones]) @ np.vstack([w, b])
''',
'''def linear(x, w, b):
    y = b
    y += x @ w
    return y
''',
'''def linear(x, w, b):
    return np.dot(x, w) + np.sum(b)
''',
'''def linear(x, w, b):
    T, n = x.shape
    out = np.empty((T, w.shape[1]), dtype=x.dtype)
    for t in range(T):
        out[t] = x[t] @ w + b
    return out
''',
'''def linear(x, w, b):
    return np.sum(x * w.T, axis=1) + b
''',
]}

RIGHT = {"linear": [
'''def linear(inputs, weight, bias):
    return np.matmul(inputs, weight) + bias
''',
'''def linear(x, w, b):
    return np.einsum("...i,io->...o", x, w) + b
''',
'''def linear(x, w, b):
    return np.add(np.dot(x, w), b)
''',
'''def linear(x, w, b):
    flat = x.reshape(-1, len(w))
    y = np.zeros((len(flat), len(b)), np.float32)
    for i, row in enumerate(flat):
        for j in range(len(b)):
            y[i, j] = b[j]
            for k, number in enumerate(row):
                y[i, j] += number * w[k, j]
    return y.reshape(*x.shape[:-1], len(b))
''',
'''def linear(x, w, b):
    return b + np.tensordot(x, w, axes=1)
''',
]}
