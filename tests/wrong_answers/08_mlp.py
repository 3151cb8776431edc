"""Lesson 08: answers as people write them, for gelu and mlp."""
WRONG = {"gelu": [
'''def gelu(x):
    return np.maximum(x, 0)
''',
'''def gelu(x):
    return x / (1 + np.exp(-1.702 * x))
''',
'''def gelu(x):
    return x / (1 + np.exp(-x))
''',
'''def gelu(x):
    share = [0.5 * (1 + math.erf(one / math.sqrt(2))) for one in x.ravel()]
    return x * np.array(share, x.dtype).reshape(x.shape)
''',
'''def gelu(x):
    inner = math.sqrt(2 / math.pi) * (x + 0.044715 * x * x * x)
    return x * (1 + np.tanh(inner))
''',
'''def gelu(x):
    inner = math.sqrt(2 / math.pi) * (x + 0.044715 * x * x * x)
    return 0.5 * (1 + np.tanh(inner))
''',
'''def gelu(x):
    inner = math.sqrt(2 / math.pi) * (x + 0.044715 * x * x * x)
    return 0.5 * x * np.tanh(inner)
''',
'''def gelu(x):
    return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x ** 2)))
''',
'''def gelu(x):
    c = math.sqrt(2 / math.pi)
    return 0.5 * x * (1 + np.tanh(c * x + 0.044715 * x * x * x))
''',
'''def gelu(x):
    c = math.sqrt(2) / math.pi
    return 0.5 * x * (1 + np.tanh(c * (x + 0.044715 * x * x * x)))
''',
'''def gelu(x):
    c = math.sqrt(math.pi / 2)
    return 0.5 * x * (1 + np.tanh(c * (x + 0.044715 * x * x * x)))
''',
'''def gelu(x):
    c = math.sqrt(2 / math.pi)
    return 0.5 * x * (1 + np.tanh(c * (x + 0.44715 * x ** 3)))
''',
'''def gelu(x):
    return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x ** 3)))
''',
'''def gelu(x):
    inner = math.sqrt(2 / math.pi) * (x + 0.044715 * x * x * x)
    return 1 // 2 * x * (1 + np.tanh(inner))
''',
'''def gelu(x):
    inner = math.sqrt(2 / math.pi) * (x + 0.044715 * x * x * x)
    return 0.5 * x * (1 - np.tanh(inner))
''',
'''def gelu(x):
    inner = math.sqrt(2 / math.pi) * 0.044715 * x ** 3
    return 0.5 * x * (1 + np.tanh(inner))
''',
'''def gelu(x):
    x = np.array(x, dtype=float)
    inner = math.sqrt(2 / math.pi) * (x + 0.044715 * x ** 3)
    return 0.5 * x * (1 + np.tanh(inner))
''',
'''def gelu(x):
    out = []
    for one in x:
        inner = math.sqrt(2 / math.pi) * (one + 0.044715 * one ** 3)
        out.append(0.5 * one * (1 + math.tanh(inner)))
    return np.array(out)
''',
'''def gelu(x):
    share = math.sqrt(2 / math.pi) * (x + 0.044715 * x * x * x)
    x *= 0.5 * (1 + np.tanh(share))
    return x
''',
'''def gelu(x):
    inner = math.sqrt(2 / math.pi) * (x + 0.044715 * x * x * x)
    return np.where(x > 0, 0.5 * x * (1 + np.tanh(inner)), 0)
''',
'''def gelu(x):
    inner = math.sqrt(2 / math.pi) * (x + 0.044715 * x ** 3)
    return 0.5 * x * (1 + math.tanh(inner))
''',
'''def gelu(x):
    return 0.5 * x * (1 + np.tanh(0.8 * (x + 0.045 * x * x * x)))
''',
'''def gelu(x):
    inner = 2 / math.pi * (x + 0.044715 * x * x * x)
    return 0.5 * x * (1 + np.tanh(inner))
''',
'''def gelu(x):
    inner = math.sqrt(2 * math.pi) * (x + 0.044715 * x * x * x)
    return 0.5 * x * (1 + np.tanh(inner))
''',
'''def gelu(x):
    return x * np.exp(-x * x / 2) / math.sqrt(2 * math.pi)
''',
'''def gelu(x):
    z = math.sqrt(2 / math.pi) * (x + 0.044715 * x * x * x)
    tanh = (np.exp(z) - np.exp(-z)) / (np.exp(z) + np.exp(-z))
    return 0.5 * x * (1 + tanh)
''',
'''def gelu(x):
    inner = math.sqrt(2 / math.pi) * (x + 0.044715 * x * x * x)
    return 0.5 * x * 1 + np.tanh(inner)
''',
'''def gelu(x):
    return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * x))
''',
'''def gelu(x):
    return np.where(x > 0, x, np.exp(x) - 1)
''',
'''def gelu(x):
    inner = math.sqrt(2 / math.pi) * (x + 0.044715 * (3 * x))
    return 0.5 * x * (1 + np.tanh(inner))
'''], "mlp": [
'''def mlp(x, w_fc, b_fc, w_proj, b_proj, linear=linear, gelu=gelu):
    return linear(linear(x, w_fc, b_fc), w_proj, b_proj)
''',
'''def mlp(x, w_fc, b_fc, w_proj, b_proj, linear=linear, gelu=gelu):
    hidden = linear(gelu(x), w_fc, b_fc)
    return linear(hidden, w_proj, b_proj)
''',
'''def mlp(x, w_fc, b_fc, w_proj, b_proj, linear=linear, gelu=gelu):
    hidden = linear(x, w_fc, b_fc)
    return gelu(linear(hidden, w_proj, b_proj))
''',
'''def mlp(x, w_fc, b_fc, w_proj, b_proj, linear=linear, gelu=gelu):
    x = gelu(linear(x, w_fc, b_fc))
    x = gelu(linear(x, w_proj, b_proj))
    return x
''',
'''def mlp(x, w_fc, b_fc, w_proj, b_proj, linear=linear, gelu=gelu):
    return gelu(x @ w_fc) @ w_proj
''',
'''def mlp(x, w_fc, b_fc, w_proj, b_proj, linear=linear, gelu=gelu):
    hidden = gelu(linear(x, w_fc.T, b_fc))
    return linear(hidden, w_proj.T, b_proj)
''',
'''def mlp(x, w_fc, b_fc, w_proj, b_proj, linear=linear, gelu=gelu):
    h = linear(x, w_fc, b_fc)
    h = 0.5 * h * (1 + np.tanh(math.sqrt(2 / math.pi) * (h + 0.044715 * h * h * h)))
    return linear(h, w_proj, b_proj)
''',
'''def mlp(x, w_fc, b_fc, w_proj, b_proj, linear=linear, gelu=gelu):
    return gelu(x @ w_fc + b_fc) @ w_proj + b_proj
''',
'''def mlp(x, w_fc, b_fc, w_proj, b_proj, linear=linear, gelu=gelu):
    return linear(gelu(linear(x, w_proj, b_proj)), w_fc, b_fc)
''',
'''def mlp(x, w_fc, b_fc, w_proj, b_proj, linear=linear, gelu=gelu):
    return x + linear(gelu(linear(x, w_fc, b_fc)), w_proj, b_proj)
''',
'''def mlp(x, w_fc, b_fc, w_proj, b_proj, linear=linear, gelu=gelu):
    hidden = np.maximum(0, linear(x, w_fc, b_fc))
    return linear(hidden, w_proj, b_proj)
''',
'''def mlp(x, w_fc, b_fc, w_proj, b_proj, linear=linear, gelu=gelu):
    hidden = gelu(linear(x, w_fc, b_proj))
    return linear(hidden, w_proj, b_fc)
''',
'''def mlp(x, w_fc, b_fc, w_proj, b_proj, linear=linear, gelu=gelu):
    hidden = gelu(linear(x, w_fc, b_fc))
    return hidden @ w_proj
''',
'''def mlp(x, w_fc, b_fc, w_proj, b_proj, linear=linear, gelu=gelu):
    hidden = gelu(x @ w_fc)
    return linear(hidden, w_proj, b_proj)
''',
'''def mlp(x, w_fc, b_fc, w_proj, b_proj, linear=linear, gelu=gelu):
    return gelu(linear(x, w_fc, b_fc))
''',
'''def mlp(x, w_fc, b_fc, w_proj, b_proj, linear=linear, gelu=gelu):
    x[:] = linear(gelu(linear(x, w_fc, b_fc)), w_proj, b_proj)
    return x
''',
'''def mlp(x, w_fc, b_fc, w_proj, b_proj, linear=linear, gelu=gelu):
    y = np.zeros(x.shape)
    for t, row in enumerate(x):
        y[t] = linear(gelu(linear(row, w_fc, b_fc)), w_proj, b_proj)
    return y
''',
'''def mlp(x, w_fc, b_fc, w_proj, b_proj, linear=linear, gelu=gelu):
    hidden = gelu(x @ w_fc) + b_fc
    return linear(hidden, w_proj, b_proj)
''',
'''def mlp(x, w_fc, b_fc, w_proj, b_proj, linear=linear, gelu=gelu):
    x = linear(x.mean(axis=0, keepdims=True), w_fc, b_fc)
    return linear(gelu(x), w_proj, b_proj)
''',
'''def mlp(x, w_fc, b_fc, w_proj, b_proj, linear=linear, gelu=gelu):
    hidden = gelu(linear(w_fc, x, b_fc))
    return linear(w_proj, hidden, b_proj)
''',
'''def mlp(x, w_fc, b_fc, w_proj, b_proj, linear=linear, gelu=gelu):
    x = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5)
    return linear(gelu(linear(x, w_fc, b_fc)), w_proj, b_proj)
''',
'''def mlp(x, w_fc, b_fc, w_proj, b_proj, linear=linear, gelu=gelu):
    hidden = linear(x, w_fc, b_fc)
    hidden = hidden * gelu(hidden)
    return linear(hidden, w_proj, b_proj)
''',
'''def mlp(x, w_fc, b_fc, w_proj, b_proj, linear=linear, gelu=gelu):
    hidden = gelu(linear(x, w_fc, b_fc) + b_fc)
    return linear(hidden, w_proj, b_proj) + b_proj
''',
'''def mlp(x, w_fc, b_fc, w_proj, b_proj, linear=linear, gelu=gelu):
    hidden = linear(x, w_fc, b_fc)
    hidden = gelu(hidden)
    return hidden, linear(hidden, w_proj, b_proj)
''',
'''def mlp(x, w_fc, b_fc, w_proj, b_proj, linear=linear, gelu=gelu):
    hidden = linear(x, w_fc, b_fc)
    gelu(hidden)
    return linear(hidden, w_proj, b_proj)
''',
'''def mlp(x, w_fc, b_fc, w_proj, b_proj, linear=linear, gelu=gelu):
    hidden = softmax(linear(x, w_fc, b_fc))
    return linear(hidden, w_proj, b_proj)
''',
'''def mlp(x, w_fc, b_fc, w_proj, b_proj, linear=linear, gelu=gelu):
    hidden = gelu(gelu(linear(x, w_fc, b_fc)))
    return linear(hidden, w_proj, b_proj)
''',
'''def mlp(x, w_fc, b_fc, w_proj, b_proj, linear=linear, gelu=gelu):
    row = x[0]
    return linear(gelu(linear(row, w_fc, b_fc)), w_proj, b_proj)
''',
'''def mlp(x, w_fc, b_fc, w_proj, b_proj, linear=linear, gelu=gelu):
    hidden = gelu(linear(x, w_fc, b_fc))
    return linear(hidden, w_fc.T, b_proj)
''',
'''def mlp(x, w_fc, b_fc, w_proj, b_proj, linear=linear, gelu=gelu):
    hidden = np.tanh(linear(x, w_fc, b_fc))
    return linear(hidden, w_proj, b_proj)
'''], "rewrite": [
'''def rewrite(w_fc, b_fc, w_proj, u, row, value):
    w_fc[:, u] = 50 * row / (row @ row)
    b_fc[u] = -40
    w_proj[u] = value
    return w_fc, b_fc, w_proj
''',
'''def rewrite(w_fc, b_fc, w_proj, u, row, value):
    w_fc, b_fc, w_proj = w_fc.copy(), b_fc.copy(), w_proj.copy()
    w_fc[u] = 50 * row / (row @ row)
    b_fc[u] = -40
    w_proj[u] = value
    return w_fc, b_fc, w_proj
''',
'''def rewrite(w_fc, b_fc, w_proj, u, row, value):
    w_fc, b_fc, w_proj = w_fc.copy(), b_fc.copy(), w_proj.copy()
    w_fc[:, u] = 50 * row / (row @ row)
    b_fc[u] = -40
    w_proj[:, u] = value
    return w_fc, b_fc, w_proj
''',
'''def rewrite(w_fc, b_fc, w_proj, u, row, value):
    w_fc, b_fc, w_proj = w_fc.copy(), b_fc.copy(), w_proj.copy()
    w_fc[:, u] = 50 * row
    b_fc[u] = -40
    w_proj[u] = value
    return w_fc, b_fc, w_proj
''',
'''def rewrite(w_fc, b_fc, w_proj, u, row, value):
    w_fc, b_fc, w_proj = w_fc.copy(), b_fc.copy(), w_proj.copy()
    w_fc[:, u] = 50 * row / np.linalg.norm(row)
    b_fc[u] = -40
    w_proj[u] = value
    return w_fc, b_fc, w_proj
''',
'''def rewrite(w_fc, b_fc, w_proj, u, row, value):
    w_fc, b_fc, w_proj = w_fc.copy(), b_fc.copy(), w_proj.copy()
    w_fc[:, u] = 50 * row / (row @ row)
    w_proj[u] = value
    return w_fc, b_fc, w_proj
''',
'''def rewrite(w_fc, b_fc, w_proj, u, row, value):
    w_fc, b_fc, w_proj = w_fc.copy(), b_fc.copy(), w_proj.copy()
    w_fc[:, u] = 50 * row / (row @ row)
    b_fc[u] = 40
    w_proj[u] = value
    return w_fc, b_fc, w_proj
''',
'''def rewrite(w_fc, b_fc, w_proj, u, row, value):
    w_fc, b_fc, w_proj = w_fc.copy(), b_fc.copy(), w_proj.copy()
    w_fc[:, u] = 50 * row / (row @ row)
    b_fc[u] -= 40
    w_proj[u] = value
    return w_fc, b_fc, w_proj
''',
'''def rewrite(w_fc, b_fc, w_proj, u, row, value):
    w_fc, b_fc, w_proj = w_fc.copy(), b_fc.copy(), w_proj.copy()
    w_fc[:, u] = 50 * row / (row @ row)
    b_fc[:] = -40
    w_proj[u] = value
    return w_fc, b_fc, w_proj
''',
'''def rewrite(w_fc, b_fc, w_proj, u, row, value):
    w_fc, b_fc, w_proj = w_fc.copy(), b_fc.copy(), w_proj.copy()
    w_fc[:, u] = 50 * row / (row @ row)
    b_fc[u] = -40
    w_proj[u] += value
    return w_fc, b_fc, w_proj
''',
'''def rewrite(w_fc, b_fc, w_proj, u, row, value):
    w_fc, b_fc, w_proj = w_fc.copy(), b_fc.copy(), w_proj.copy()
    w_fc[:, u] = 50 * row / (row @ row)
    b_fc[u] = -40
    return w_fc, b_fc, w_proj
''',
'''def rewrite(w_fc, b_fc, w_proj, u, row, value):
    w_fc, b_fc, w_proj = w_fc.copy(), b_fc.copy(), w_proj.copy()
    b_fc[u] = -40
    w_proj[u] = value
    return w_fc, b_fc, w_proj
''',
'''def rewrite(w_fc, b_fc, w_proj, u, row, value):
    w_fc, b_fc, w_proj = w_fc.copy(), b_fc.copy(), w_proj.copy()
    w_fc[:, u] = 50 * row / (row @ row)
    b_fc[u] = -40
    w_proj[u] = 10 * value
    return w_fc, b_fc, w_proj
''',
'''def rewrite(w_fc, b_fc, w_proj, u, row, value):
    w_fc, b_fc, w_proj = w_fc.copy(), b_fc.copy(), w_proj.copy()
    w_fc[:, u] = 50 * row / (row @ row)
    b_fc[u] = -40
    w_proj[u] = value
    return w_fc, w_proj, b_fc
''',
'''def rewrite(w_fc, b_fc, w_proj, u, row, value):
    w_fc, b_fc, w_proj = w_fc.copy(), b_fc.copy(), w_proj.copy()
    w_fc[:, u] = 50 * row / (row @ row)
    b_fc[u] = -40
    w_proj[u] = value
''',
'''def rewrite(w_fc, b_fc, w_proj, u, row, value):
    w_fc, b_fc, w_proj = w_fc.copy(), b_fc.copy(), w_proj.copy()
    w_fc[:, u] = 50 * row / (row @ row)
    b_fc[u] = -40
    w_proj[u] = value
    return w_fc
''',
'''def rewrite(w_fc, b_fc, w_proj, u, row, value):
    w_fc, b_fc, w_proj = w_fc.copy(), b_fc.copy(), w_proj.copy()
    w_fc[:, u] = 50 * value / (value @ value)
    b_fc[u] = -40
    w_proj[u] = row
    return w_fc, b_fc, w_proj
''',
'''def rewrite(w_fc, b_fc, w_proj, u, row, value):
    new = w_fc, b_fc, w_proj
    w_fc[:, u] = 50 * row / (row @ row)
    b_fc[u] = -40
    w_proj[u] = value
    return new
''',
'''def rewrite(w_fc, b_fc, w_proj, u, row, value):
    w_fc, b_fc, w_proj = w_fc.copy(), b_fc.copy(), w_proj.copy()
    w_fc[:, u] = 50 * row / row @ row
    b_fc[u] = -40
    w_proj[u] = value
    return w_fc, b_fc, w_proj
''',
'''def rewrite(w_fc, b_fc, w_proj, u, row, value):
    w_fc, b_fc, w_proj = w_fc.copy(), b_fc.copy(), w_proj.copy()
    w_fc[:, u] = row / (row @ row)
    b_fc[u] = -40
    w_proj[u] = value
    return w_fc, b_fc, w_proj
''']}

RIGHT = {"gelu": [
'''def gelu(x):
    return 0.5 * x * (1 + np.tanh(0.7978845608028654 * (x + 0.044715 * x ** 3)))
''',
'''def gelu(values):
    z = (8 / math.pi) ** 0.5 * (values + 0.044715 * values * values * values)
    with np.errstate(over="ignore"):
        return values / (1 + np.exp(-z))
''',
'''def gelu(x):
    out = np.empty_like(x)
    for place in np.ndindex(*x.shape):
        one = float(x[place])
        inner = math.sqrt(2 / math.pi) * (one + 0.044715 * one ** 3)
        out[place] = one * 0.5 * (1 + math.tanh(inner))
    return out
''',
'''def gelu(x):
    root = float(np.sqrt(2 / np.pi))
    cube = np.power(x, 3)
    share = (np.tanh(root * x + root * 0.044715 * cube) + 1) / 2
    return share * x
''',
'''def gelu(x):
    inner = np.float32(math.sqrt(2 / math.pi)) * x * (1 + np.float32(0.044715) * np.square(x))
    return x / 2 + x / 2 * np.tanh(inner)
'''], "mlp": [
'''def mlp(x, w_fc, b_fc, w_proj, b_proj, linear=linear, gelu=gelu):
    return linear(gelu(linear(x, w_fc, b_fc)), w_proj, b_proj)
''',
'''def mlp(rows, w1, b1, w2, b2, linear=linear, gelu=gelu):
    wide = linear(rows, w1, b1)
    awake = gelu(wide)
    narrow = linear(awake, w2, b2)
    return narrow
''',
'''def mlp(x, w_fc, b_fc, w_proj, b_proj, linear=linear, gelu=gelu):
    rows = [linear(gelu(linear(row[None], w_fc, b_fc)), w_proj, b_proj) for row in x]
    return np.concatenate(rows)
''',
'''def mlp(x, w_fc, b_fc, w_proj, b_proj, linear=linear, gelu=gelu):
    y = np.empty_like(x)
    for t in range(len(x)):
        y[t] = linear(gelu(linear(x[t], w_fc, b_fc)), w_proj, b_proj)
    return y
''',
'''def mlp(x, w_fc, b_fc, w_proj, b_proj, linear=linear, gelu=gelu):
    for w, b, after in ((w_fc, b_fc, gelu), (w_proj, b_proj, lambda rows: rows)):
        x = after(linear(x, w, b))
    return x
'''], "rewrite": [
'''def rewrite(w_fc, b_fc, w_proj, u, row, value):
    w_fc, b_fc, w_proj = w_fc.copy(), b_fc.copy(), w_proj.copy()
    w_fc[:, u] = 50 * row / (row @ row)
    b_fc[u] = -40
    w_proj[u] = value
    return w_fc, b_fc, w_proj
''',
'''def rewrite(w_fc, b_fc, w_proj, u, row, value):
    keys, bias, values = np.array(w_fc), np.array(b_fc), np.array(w_proj)
    keys[:, u] = row * (50 / np.sum(row ** 2))
    bias[u], values[u] = -40, value
    return keys, bias, values
''',
'''def rewrite(w_fc, b_fc, w_proj, u, row, value):
    here = np.arange(len(b_fc)) == u
    key = 50 * row / np.dot(row, row)
    return (np.where(here, key[:, None], w_fc), np.where(here, np.float32(-40), b_fc),
            np.where(here[:, None], value, w_proj))
''']}
