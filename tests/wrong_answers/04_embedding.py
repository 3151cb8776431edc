"""Answers as different people write them, each wrong for some input, and some that are right."""
WRONG = {"embed": [
'''def embed(ids, wte, wpe, start=0):
    return wte[ids]
''',
'''def embed(ids, wte, wpe, start=0):
    return wte[ids] + wpe[ids]
''',
'''def embed(ids, wte, wpe, start=0):
    return wte[ids] + wpe[:len(ids)]
''',
'''def embed(ids, wte, wpe, start=0):
    return wte[ids] + wpe[start]
''',
'''def embed(ids, wte, wpe, start=0):
    return wte[ids] + wpe[start:len(ids)]
''',
'''def embed(ids, wte, wpe, start=0):
    return wte[ids] + wpe[start + 1:start + 1 + len(ids)]
''',
'''def embed(ids, wte, wpe, start=0):
    positions = np.arange(1, len(ids) + 1) + start
    return wte[ids] + wpe[positions]
''',
'''def embed(ids, wte, wpe, start=0):
    return wte[ids] + wpe[start:start + len(ids) - 1]
''',
'''def embed(ids, wte, wpe, start=0):
    return wte[ids] * wpe[start:start + len(ids)]
''',
'''def embed(ids, wte, wpe, start=0):
    return np.concatenate([wte[ids], wpe[start:start + len(ids)]], axis=-1)
''',
'''def embed(ids, wte, wpe, start=0):
    return wte[:, ids] + wpe[:, start:start + len(ids)]
''',
'''def embed(ids, wte, wpe, start=0):
    x = np.zeros((len(ids), wte.shape[1]))
    for t, i in enumerate(ids):
        x[t] = wte[i] + wpe[start + t]
    return x
''',
'''def embed(ids, wte, wpe, start=0):
    x = []
    for t, i in enumerate(ids):
        x.append(wte[i] + wpe[start + t])
    return x
''',
'''def embed(ids, wte, wpe, start=0):
    one_hot = np.eye(len(wte))[ids]
    return one_hot @ wte + wpe[start:start + len(ids)]
''',
'''def embed(ids, wte, wpe, start=0):
    positions = np.arange(start, start + len(ids)) % len(wpe)
    return wte[ids] + wpe[positions]
''',
'''def embed(ids, wte, wpe, start=0):
    d_model = wte.shape[-1]
    return wte[ids] * np.sqrt(d_model) + wpe[start:start + len(ids)]
''',
'''def embed(ids, wte, wpe, start=0):
    tok = np.take(wte, ids)
    pos = np.take(wpe, range(start, start + len(ids)))
    return tok + pos
''',
'''def embed(ids, wte, wpe, start=0):
    rows = wte[start:start + len(ids)]
    places = wpe[ids]
    return rows + places
''',
'''def embed(ids, wte, wpe, start=0):
    T = len(ids)
    D = wte.shape[1]
    pos = np.arange(start, start + T)[:, None] / 10000 ** (2 * np.arange(D // 2) / D)
    table = np.concatenate([np.sin(pos), np.cos(pos)], axis=-1)
    return wte[ids] + table
''',
'''def embed(ids, wte, wpe, start=0):
    result = wte[ids[0]] + wpe[start]
    for t in range(1, len(ids)):
        result = result + wte[ids[t]] + wpe[start + t]
    return result
''',
'''def embed(ids, wte, wpe, start=0):
    ids = ids[start:]
    return wte[ids] + wpe[start:start + len(ids)]
''',
'''def embed(ids, wte, wpe, start=0):
    positions = np.clip(np.arange(start, start + len(ids)), 0, len(wpe) - 1)
    return wte[ids] + wpe[positions]
''',
'''def embed(ids, wte, wpe, start=0):
    return (wte[ids] + wpe[start:start + len(ids)]) / 2
''',
'''def embed(ids, wte, wpe, start=0):
    return wte[ids - 1] + wpe[start:start + len(ids)]
''',
'''def embed(ids, wte, wpe, start=0):
    for t in range(len(ids)):
        wte[ids[t]] += wpe[start + t]
    return wte[ids]
''',
'''def embed(ids, wte, wpe, start=0):
    return wte[ids] + wpe[-len(ids):]
''',
'''def embed(ids, wte, wpe, start=0):
    x = wte[ids] + wpe[start:start + len(ids)]
    x = x - x.mean(axis=-1, keepdims=True)
    return x / x.std(axis=-1, keepdims=True)
''',
'''def embed(ids, wte, wpe, start=0):
    return wte[ids] + wpe
''',
'''def embed(ids, wte, wpe, start=0):
    for t, i in enumerate(ids):
        x = wte[i] + wpe[start + t]
    return x
''',
'''def embed(ids, wte, wpe, start=0):
    x = np.zeros((len(ids), wte.shape[1]), np.float32)
    for t in range(len(ids)):
        x[t] = wte[ids[t]] + wpe[t]
    return x
''',
], "taught": [
'''def taught(wte, word, like, factor):
    wte[word] = wte[like].mean(axis=0) * factor
    return wte
''',
'''def taught(wte, word, like, factor):
    table = wte
    table[word] = factor * np.mean(wte[like], axis=0)
    return table
''',
'''def taught(wte, word, like, factor):
    return factor * wte[like].mean(axis=0)
''',
'''def taught(wte, word, like, factor):
    table = wte.copy()
    table[word] = wte[like].mean(axis=0)
    return table
''',
'''def taught(wte, word, like, factor):
    table = wte.copy()
    table[word] = factor * wte[like].mean()
    return table
''',
'''def taught(wte, word, like, factor):
    table = wte.copy()
    table[word] = factor * wte[like].sum(axis=0)
    return table
''',
'''def taught(wte, word, like, factor):
    table = wte.copy()
    row = 0
    for i in like:
        row = wte[i]
    table[word] = factor * row
    return table
''',
'''def taught(wte, word, like, factor):
    table = wte.copy()
    table[word] = factor * wte[like[0]]
    return table
''',
'''def taught(wte, word, like, factor):
    table = wte.copy()
    table[word] += factor * wte[like].mean(axis=0)
    return table
''',
'''def taught(wte, word, like, factor):
    table = wte.copy()
    table[word] = factor * wte[like].mean(axis=1)
    return table
''',
'''def taught(wte, word, like, factor):
    table = wte.copy()
    table[:, word] = factor * wte[:, like].mean(axis=1)
    return table
''',
'''def taught(wte, word, like, factor):
    table = np.array(wte, dtype=np.float64)
    table[word] = factor * table[like].mean(axis=0)
    return table
''',
'''def taught(wte, word, like, factor):
    table = wte.copy()
    table[word] = factor * wte[like].mean(axis=0)
''',
'''def taught(wte, word, like, factor):
    table = factor * wte
    table[word] = table[like].mean(axis=0)
    return table
''',
'''def taught(wte, word, like, factor):
    table = wte.copy()
    table[like] = factor * wte[word]
    return table
''',
'''def taught(wte, word, like, factor):
    table = list(wte)
    table[word] = factor * wte[like].mean(axis=0)
    return table
''',
'''def taught(wte, word, like, factor):
    row = factor * wte[like].mean(axis=0)
    return np.concatenate([wte, row[None]])
''',
'''def taught(wte, word, like, factor):
    table = wte.copy()
    table[word] = factor * wte[like]
    return table
''',
'''def taught(wte, word, like, factor):
    table = wte.copy()
    table[word] = wte[like].mean(axis=0) / factor
    return table
''',
'''def taught(wte, word, like, factor):
    table = np.zeros_like(wte)
    table[word] = factor * wte[like].mean(axis=0)
    return table
''',
]}

RIGHT = {"embed": [
'''def embed(tokens, token_table, position_table, start=0):
    return token_table[tokens] + position_table[start + np.arange(len(tokens))]
''',
'''def embed(ids, wte, wpe, start=0):
    x = np.empty((len(ids), wte.shape[1]), wte.dtype)
    for t, i in enumerate(ids):
        for d in range(wte.shape[1]):
            x[t, d] = wte[i, d] + wpe[start + t, d]
    return x
''',
'''def embed(ids, wte, wpe, start=0):
    one_hot = np.zeros((ids.size, len(wte)), np.float32)
    one_hot[np.arange(ids.size), ids] = 1
    return one_hot @ wte + np.take(wpe, range(start, start + ids.size), axis=0)
''',
'''def embed(ids, wte, wpe, start=0):
    T = ids.shape[0]
    x = wte[ids]
    x += wpe[start:][:T]
    return x
''',
'''def embed(ids, wte, wpe, start=0):
    if start + len(ids) > len(wpe):
        raise ValueError("too long")
    return np.stack([wte[i] + wpe[t] for t, i in enumerate(ids, start)])
''',
], "taught": [
'''def taught(wte, word, like, factor):
    table = np.array(wte)
    table[word] = 0
    for i in like:
        table[word] += factor * wte[i] / len(like)
    return table
''',
'''def taught(wte, word, like, factor):
    row = np.mean([wte[i] for i in like], axis=0) * factor
    return np.concatenate([wte[:word], row[None].astype(wte.dtype), wte[word + 1:]])
''',
'''def taught(wte, word, like, factor):
    chosen = np.arange(len(wte))[:, None] == word
    return np.where(chosen, np.float32(factor) * wte[like].mean(axis=0), wte)
''',
]}
