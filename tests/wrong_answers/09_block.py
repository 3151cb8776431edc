"""Lesson 09: answers as people write them, for block, contributions and steer."""
HEAD = '''def block(x, w, n_head, epsilon=1e-5, remember=None, layer_norm=layer_norm,
          attend_heads=attend_heads, mlp=mlp):
'''
NAMES = '''    attn = (w["attn.c_attn.weight"], w["attn.c_attn.bias"],
            w["attn.c_proj.weight"], w["attn.c_proj.bias"])
    fc = (w["mlp.c_fc.weight"], w["mlp.c_fc.bias"], w["mlp.c_proj.weight"], w["mlp.c_proj.bias"])
    g1, b1, g2, b2 = (w[name] for name in ("ln_1.weight", "ln_1.bias",
                                           "ln_2.weight", "ln_2.bias"))
'''

WRONG = {"block": [
    HEAD + NAMES + body for body in (
'''    x = attend_heads(layer_norm(x, g1, b1, epsilon), *attn, n_head, remember)
    return x + mlp(layer_norm(x, g2, b2, epsilon), *fc)
''',
'''    m = x + attend_heads(layer_norm(x, g1, b1, epsilon), *attn, n_head, remember)
    return mlp(layer_norm(m, g2, b2, epsilon), *fc)
''',
'''    m = layer_norm(x + attend_heads(x, *attn, n_head, remember), g1, b1, epsilon)
    return layer_norm(m + mlp(m, *fc), g2, b2, epsilon)
''',
'''    m = x + attend_heads(layer_norm(x, g1, b1, epsilon), *attn, n_head, remember)
    return m + mlp(layer_norm(x, g2, b2, epsilon), *fc)
''',
'''    m = x + attend_heads(layer_norm(x, g1, b1, epsilon), *attn, n_head, remember)
    return m + mlp(layer_norm(m, g1, b1, epsilon), *fc)
''',
'''    m = x + attend_heads(layer_norm(x, g1, b1), *attn, n_head, remember)
    return m + mlp(layer_norm(m, g2, b2), *fc)
''',
'''    m = x + attend_heads(layer_norm(x, g1, b1, epsilon), *attn, n_head)
    return m + mlp(layer_norm(m, g2, b2, epsilon), *fc)
''',
'''    x = layer_norm(x, g1, b1, epsilon)
    x = x + attend_heads(x, *attn, n_head, remember)
    x = layer_norm(x, g2, b2, epsilon)
    return x + mlp(x, *fc)
''',
'''    m = x + attend_heads(x, *attn, n_head, remember)
    return m + mlp(layer_norm(m, g2, b2, epsilon), *fc)
''',
'''    m = x + attend_heads(layer_norm(x, g1, b1, epsilon), *attn, n_head, remember)
    return m + mlp(m, *fc)
''',
'''    x += attend_heads(layer_norm(x, g1, b1, epsilon), *attn, n_head, remember)
    x += mlp(layer_norm(x, g2, b2, epsilon), *fc)
    return x
''',
'''    normed = layer_norm(x, g1, b1, epsilon)
    return x + attend_heads(normed, *attn, n_head, remember)
''',
'''    m = x + mlp(layer_norm(x, g2, b2, epsilon), *fc)
    return m + attend_heads(layer_norm(m, g1, b1, epsilon), *attn, n_head, remember)
''',
'''    normed = layer_norm(x, g1, b1, epsilon)
    return x + attend_heads(normed, *attn, n_head, remember) + mlp(normed, *fc)
''',
'''    m = x + attend_heads(layer_norm(x, g1, b1, epsilon), *attn, n_head, remember)
    return x + mlp(layer_norm(m, g2, b2, epsilon), *fc)
''',
'''    m = x + attend_heads(layer_norm(x, g1, b1, epsilon), *attn, n_head, remember)
    y = m + mlp(layer_norm(m, g2, b2, epsilon), *fc)
    return x + y
''',
'''    m = x + attend_heads(layer_norm(x, g2, b2, epsilon), *attn, n_head, remember)
    return m + mlp(layer_norm(m, g1, b1, epsilon), *fc)
''',
'''    m = x + layer_norm(attend_heads(x, *attn, n_head, remember), g1, b1, epsilon)
    return m + layer_norm(mlp(m, *fc), g2, b2, epsilon)
''',
'''    m = x + attend_heads(layer_norm(x, g1, b1, epsilon), *attn, 4, remember)
    return m + mlp(layer_norm(m, g2, b2, epsilon), *fc)
''',
'''    m = x + attend_heads(layer_norm(x, g1, b1, epsilon), *attn, n_head, remember)
    return m + mlp(layer_norm(m, g2, b2, 1e-5), *fc)
''',
'''    m = x + attend_heads(layer_norm(x, b1, g1, epsilon), *attn, n_head, remember)
    return m + mlp(layer_norm(m, b2, g2, epsilon), *fc)
''',
'''    mean, var = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
    m = x + attend_heads((x - mean) / (var + epsilon) ** 0.5 * g1 + b1, *attn, n_head, remember)
    mean, var = m.mean(-1, keepdims=True), m.var(-1, keepdims=True)
    return m + mlp((m - mean) / (var + epsilon) ** 0.5 * g2 + b2, *fc)
''',
'''    m = x + attend_heads(layer_norm(x, g1, b1, epsilon), *attn, n_head, remember)
    hidden = gelu(linear(layer_norm(m, g2, b2, epsilon), *fc[:2]))
    return m + linear(hidden, *fc[2:])
''',
'''    normed = layer_norm(x, g1, b1, epsilon)
    a = attend_heads(normed, *attn, n_head, remember)
    m = mlp(layer_norm(x + a, g2, b2, epsilon), *fc)
    return a + m
''',
'''    normed = layer_norm(x, g1, b1, epsilon)
    a = attend_heads(normed, *attn, n_head, remember)
    return x + mlp(layer_norm(a, g2, b2, epsilon), *fc)
''',
'''    m = x + attend_heads(layer_norm(x, g1, b1, epsilon), *attn, n_head, remember)
    y = m + mlp(layer_norm(m, g2, b2, epsilon), *fc)
    return layer_norm(y, g2, b2, epsilon)
''',
'''    normed = layer_norm(x, g1, b1, epsilon)
    m = normed + attend_heads(normed, *attn, n_head, remember)
    return m + mlp(layer_norm(m, g2, b2, epsilon), *fc)
''',
'''    m = x + attend_heads(layer_norm(x, g1, b1, epsilon), *attn, n_head, epsilon, remember)
    return m + mlp(layer_norm(m, g2, b2, epsilon), *fc)
''',
'''    m = x + attend_heads(layer_norm(x, g1, b1, epsilon), *attn, n_head, remember)
    normed = layer_norm(m, g2, b2, epsilon)
    return normed + mlp(normed, *fc)
''',
'''    m = x + attend_heads(layer_norm(x, g1, b1, epsilon), *attn, n_head, remember)
    y = (m + mlp(layer_norm(m, g2, b2, epsilon), *fc)).astype(float)
    return y
''')],
    "contributions": [
    """def contributions(x, blocks, n_head):
    """ + body for body in (
    """streams = [x]
    for w in blocks:
        x = block(x, w, n_head)
        streams.append(x)
    return np.array(streams)
""",
    """streams = []
    for w in blocks:
        x = block(x, w, n_head)
        streams.append(x)
    return np.array(streams)
""",
    """streams = []
    for w in blocks:
        streams.append(x)
        x = block(x, w, n_head)
    return np.array(streams)
""",
    """parts = [x]
    for w in blocks:
        y = block(x, w, n_head)
        parts.append(y - x)
        x = y
    return np.array(parts)
""")],
    "steer": [
    """def steer(x, row, strength):
    """ + body for body in (
    """return x + strength * row
""",
    """return x + strength * row / np.linalg.norm(row)
""",
    """return x + strength * np.linalg.norm(x) * row / np.linalg.norm(row)
""",
    """return x + strength * np.linalg.norm(x, axis=0) * row / np.linalg.norm(row)
""",
    """return x + strength * np.linalg.norm(x, axis=-1, keepdims=True) * row
""",
    """return strength * np.linalg.norm(x, axis=-1, keepdims=True) * row / np.linalg.norm(row)
""",
    """x += strength * np.linalg.norm(x, axis=-1, keepdims=True) * row / np.linalg.norm(row)
    return x
""",
    """return x - strength * np.linalg.norm(x, axis=-1, keepdims=True) * row / np.linalg.norm(row)
""",
    """return x + np.linalg.norm(x, axis=-1, keepdims=True) * row / np.linalg.norm(row)
""",
    """push = strength * np.linalg.norm(x[-1]) * row / np.linalg.norm(row)
    y = x.copy()
    y[-1] += push
    return y
""",
    """lengths = (x ** 2).sum(axis=-1, keepdims=True)
    return x + strength * lengths * row / (row ** 2).sum()
""",
    """size = np.sqrt((x ** 2).mean(axis=-1, keepdims=True))
    return x + strength * size * row / np.linalg.norm(row)
""",
    """return strength * (x + np.linalg.norm(x, axis=-1, keepdims=True) * row / np.linalg.norm(row))
""",
    """y = np.zeros(x.shape)
    for t in range(len(x)):
        y[t] = x[t] + strength * np.linalg.norm(x[t]) * row / np.linalg.norm(row)
    return y
""",
    """lengths = np.linalg.norm(x, axis=-1)
    return x + strength * lengths * row / np.linalg.norm(row)
""",
    """lengths = np.abs(x).sum(axis=-1, keepdims=True)
    return x + strength * lengths * row / np.abs(row).sum()
""",
    """return x + strength * np.linalg.norm(x, axis=-1, keepdims=True) * row / row.sum()
""")]}

RIGHT = {"steer": [
    """def steer(x, row, strength):
    size = lambda a: np.sqrt((a ** 2).mean(axis=-1, keepdims=True))
    return x + strength * size(x) * row / size(row)
""",
    """def steer(x, row, strength):
    y = x.copy()
    unit = row / np.linalg.norm(row)
    for t, stream in enumerate(x):
        y[t] += strength * np.linalg.norm(stream) * unit
    return y
""",
    """def steer(x, row, strength):
    lengths = np.sqrt((x * x).sum(axis=1))[:, None]
    return x + strength * lengths * (row / (row @ row) ** 0.5)[None]
"""], "block": [
    HEAD + NAMES + '''    a = attend_heads(layer_norm(x, g1, b1, epsilon), *attn, n_head, remember)
    x = x + a
    x = x + mlp(layer_norm(x, g2, b2, epsilon), *fc)
    return x
''',
    HEAD + NAMES + '''    a = attend_heads(layer_norm(x, g1, b1, epsilon), *attn, n_head, remember)
    return mlp(layer_norm(a + x, g2, b2, epsilon), *fc) + (a + x)
''',
'''def block(x, w, n_head, epsilon=1e-5, remember=None, layer_norm=layer_norm,
          attend_heads=attend_heads, mlp=mlp):
    both = lambda name: (w[name + ".weight"], w[name + ".bias"])
    y = x.copy()
    y += attend_heads(layer_norm(y, *both("ln_1"), epsilon), *both("attn.c_attn"),
                      *both("attn.c_proj"), n_head, remember)
    y += mlp(layer_norm(y, *both("ln_2"), epsilon), *both("mlp.c_fc"), *both("mlp.c_proj"))
    return y
''',
'''def block(x, w, n_head, epsilon=1e-5, remember=None, layer_norm=layer_norm,
          attend_heads=attend_heads, mlp=mlp):
    def norm(rows, number):
        return layer_norm(rows, w[f"ln_{number}.weight"], w[f"ln_{number}.bias"], epsilon)
    arrays = [w[f"attn.{part}.{kind}"] for part in ("c_attn", "c_proj")
              for kind in ("weight", "bias")]
    m = np.add(x, attend_heads(norm(x, 1), *arrays, n_head, remember=remember))
    arrays = [w[f"mlp.{part}.{kind}"] for part in ("c_fc", "c_proj") for kind in ("weight", "bias")]
    return np.add(m, mlp(norm(m, 2), *arrays))
''',
'''def block(stream, arrays, n_head, epsilon=1e-5, remember=None, layer_norm=layer_norm,
          attend_heads=attend_heads, mlp=mlp):
    a = arrays
    normed = layer_norm(stream, a["ln_1.weight"], a["ln_1.bias"], epsilon=epsilon)
    branch = attend_heads(normed, a["attn.c_attn.weight"], a["attn.c_attn.bias"],
                          a["attn.c_proj.weight"], a["attn.c_proj.bias"], n_head, remember)
    middle = stream + branch
    normed = layer_norm(middle, a["ln_2.weight"], a["ln_2.bias"], epsilon=epsilon)
    branch = mlp(normed, a["mlp.c_fc.weight"], a["mlp.c_fc.bias"],
                 a["mlp.c_proj.weight"], a["mlp.c_proj.bias"])
    return middle + branch
''']}
