"""Answers as different people write them, each wrong for some input, and some that are right."""
WRONG = {"cached_step": [
'''def cached_step(ids, past_k, past_v, wte, wpe, w_q, w_k, w_v):
    x = embed(ids, wte, wpe)
    k = np.concatenate([past_k, x @ w_k])
    v = np.concatenate([past_v, x @ w_v])
    return attend(x @ w_q, k, v), k, v
''',
'''def cached_step(ids, past_k, past_v, wte, wpe, w_q, w_k, w_v):
    x = embed(ids, wte, wpe, start=len(ids))
    k = np.vstack([past_k, x @ w_k])
    v = np.vstack([past_v, x @ w_v])
    return attend(x @ w_q, k, v), k, v
''',
'''def cached_step(ids, past_k, past_v, wte, wpe, w_q, w_k, w_v):
    x = embed(ids, wte, wpe, start=len(past_k))
    k = np.concatenate([x @ w_k, past_k])
    v = np.concatenate([x @ w_v, past_v])
    return attend(x @ w_q, k, v), k, v
''',
'''def cached_step(ids, past_k, past_v, wte, wpe, w_q, w_k, w_v):
    x = embed(ids, wte, wpe, start=len(past_k))
    new_k, new_v = x @ w_k, x @ w_v
    k, v = np.concatenate([past_k, new_k]), np.concatenate([past_v, new_v])
    return attend(x @ w_q, k, v), new_k, new_v
''',
'''def cached_step(ids, past_k, past_v, wte, wpe, w_q, w_k, w_v):
    x = embed(ids, wte, wpe, start=len(past_k))
    q, k, v = x @ w_q, x @ w_k, x @ w_v
    mixed = attend(q, k, v)
    return mixed, np.concatenate([past_k, k]), np.concatenate([past_v, v])
''',
'''def cached_step(ids, past_k, past_v, wte, wpe, w_q, w_k, w_v):
    x = embed(ids, wte, wpe, start=len(past_k))
    k = np.concatenate([past_k, x @ w_v])
    v = np.concatenate([past_v, x @ w_k])
    return attend(x @ w_q, k, v), k, v
''',
'''def cached_step(ids, past_k, past_v, wte, wpe, w_q, w_k, w_v):
    x = embed(ids, wte, wpe, start=len(past_k))
    k = np.concatenate([past_k, x @ w_k])
    v = np.concatenate([past_v, x @ w_v])
    return attend(x, k, v), k, v
''',
'''def cached_step(ids, past_k, past_v, wte, wpe, w_q, w_k, w_v):
    x = embed(ids, wte, wpe, start=len(past_k))
    k = np.concatenate([past_k, x @ w_k], axis=1)
    v = np.concatenate([past_v, x @ w_v], axis=1)
    return attend(x @ w_q, k, v), k, v
''',
'''def cached_step(ids, past_k, past_v, wte, wpe, w_q, w_k, w_v):
    x = embed(ids, wte, wpe, start=len(past_k) + 1)
    k = np.concatenate([past_k, x @ w_k])
    v = np.concatenate([past_v, x @ w_v])
    return attend(x @ w_q, k, v), k, v
''',
'''def cached_step(ids, past_k, past_v, wte, wpe, w_q, w_k, w_v):
    x = embed(ids, wte, wpe, start=len(past_k))
    k = np.concatenate([past_k, x @ w_k])
    v = np.concatenate([past_v, x @ w_v])
    return attend(x @ w_q, k, v), v, k
''',
'''def cached_step(ids, past_k, past_v, wte, wpe, w_q, w_k, w_v):
    x = embed(ids, wte, wpe, start=len(past_k))
    k = np.concatenate([past_k, x @ w_k])
    v = np.concatenate([past_v, x @ w_v])
    scores = (x @ w_q) @ k.T / np.sqrt(np.float32(k.shape[-1]))
    e = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True) @ v, k, v
''',
'''def cached_step(ids, past_k, past_v, wte, wpe, w_q, w_k, w_v):
    x = embed(ids[-1:], wte, wpe, start=len(past_k))
    k = np.concatenate([past_k, x @ w_k])
    v = np.concatenate([past_v, x @ w_v])
    return attend(x @ w_q, k, v), k, v
''',
'''def cached_step(ids, past_k, past_v, wte, wpe, w_q, w_k, w_v):
    x = wte[ids]
    k = np.concatenate([past_k, x @ w_k])
    v = np.concatenate([past_v, x @ w_v])
    return attend(x @ w_q, k, v), k, v
''',
'''def cached_step(ids, past_k, past_v, wte, wpe, w_q, w_k, w_v):
    x = embed(ids, wte, wpe, start=len(past_k))
    k = np.append(past_k, x @ w_k)
    v = np.append(past_v, x @ w_v)
    return attend(x @ w_q, k, v), k, v
''',
'''def cached_step(ids, past_k, past_v, wte, wpe, w_q, w_k, w_v):
    x = embed(ids, wte, wpe, start=len(past_k))
    k = np.zeros((len(past_k) + len(ids), w_k.shape[1]))
    v = np.zeros((len(past_v) + len(ids), w_v.shape[1]))
    k[:len(past_k)], k[len(past_k):] = past_k, x @ w_k
    v[:len(past_v)], v[len(past_v):] = past_v, x @ w_v
    return attend(x @ w_q, k, v), k, v
''',
'''def cached_step(ids, past_k, past_v, wte, wpe, w_q, w_k, w_v):
    x = embed(ids, wte, wpe, start=len(past_k))
    k = np.concatenate([past_k, x @ w_k])
    v = np.concatenate([past_v, x @ w_v])
    return attend(x @ w_q, k, v)
''',
]}
RIGHT = {"cached_step": [
'''def cached_step(new, old_k, old_v, words, places, a, b, c):
    rows = embed(new, words, places, len(old_k))
    keys, values = np.vstack((old_k, rows @ b)), np.vstack((old_v, rows @ c))
    return attend(rows @ a, keys, values), keys, values
''',
'''def cached_step(ids, past_k, past_v, wte, wpe, w_q, w_k, w_v):
    S = len(past_k) + len(ids)
    x = wte[np.asarray(ids)] + wpe[len(past_k):S]
    k = np.r_[past_k, x @ w_k]
    v = np.r_[past_v, x @ w_v]
    return attend(x @ w_q, k, v), k, v
''',
'''def cached_step(ids, past_k, past_v, wte, wpe, w_q, w_k, w_v):
    mixed = []
    for token in ids:
        x = embed([token], wte, wpe, start=len(past_k))
        past_k = np.append(past_k, x @ w_k, axis=0)
        past_v = np.append(past_v, x @ w_v, axis=0)
        mixed.append(attend(x @ w_q, past_k, past_v)[0])
    return np.array(mixed), past_k, past_v
''',
'''def cached_step(ids, past_k, past_v, wte, wpe, w_q, w_k, w_v):
    P, T = past_k.shape[0], len(ids)
    x = embed(ids, wte, wpe, start=P)
    k = np.empty((P + T, past_k.shape[1]), np.float32)
    v = np.empty((P + T, past_v.shape[1]), np.float32)
    k[:P], k[P:] = past_k, x @ w_k
    v[:P], v[P:] = past_v, x @ w_v
    return attend(x @ w_q, k, v), k, v
''',
'''def cached_step(ids, past_k, past_v, wte, wpe, w_q, w_k, w_v):
    x = embed(ids, wte, wpe, start=past_k.shape[0])
    k, v = (np.concatenate([old, x @ w]) for old, w in ((past_k, w_k), (past_v, w_v)))
    scores = (x @ w_q) @ k.T / np.float32(np.sqrt(k.shape[-1]))
    T, S = scores.shape
    scores[np.arange(S) > np.arange(S - T, S)[:, None]] = -np.inf
    e = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return [e / e.sum(axis=-1, keepdims=True) @ v, k, v]
''',
]}
