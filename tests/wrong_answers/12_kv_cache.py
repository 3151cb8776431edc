"""Answers as different people write them, each wrong for some input, and some that are right."""
WRONG = {"remember": [
'''def remember(old_k, old_v, k, v):
    all_k = np.concatenate([old_k, k])
    all_v = np.concatenate([old_v, v])
    return all_k, all_v
''',
'''def remember(old_k, old_v, k, v):
    return np.concatenate([k, old_k], axis=1), np.concatenate([v, old_v], axis=1)
''',
'''def remember(old_k, old_v, k, v):
    return np.vstack([old_k, k]), np.vstack([old_v, v])
''',
'''def remember(old_k, old_v, k, v):
    return np.concatenate([old_k, k], axis=-1), np.concatenate([old_v, v], axis=-1)
''',
'''def remember(old_k, old_v, k, v):
    return np.dstack([old_k, k]), np.dstack([old_v, v])
''',
'''def remember(old_k, old_v, k, v):
    all_k = np.append(old_k, k)
    all_v = np.append(old_v, v)
    return all_k, all_v
''',
'''def remember(old_k, old_v, k, v):
    all_k = np.append(old_k, k, axis=0)
    all_v = np.append(old_v, v, axis=0)
    return all_k, all_v
''',
'''def remember(old_k, old_v, k, v):
    all_k = np.concatenate([old_k, k], axis=1)
    all_v = np.concatenate([old_v, v], axis=1)
    return all_v, all_k
''',
'''def remember(old_k, old_v, k, v):
    all_k = np.concatenate([old_k, k], axis=1)
    all_v = np.concatenate([old_v, v], axis=1)
    return all_k, all_k
''',
'''def remember(old_k, old_v, k, v):
    all_k = np.concatenate([old_k, k], axis=1)
    all_v = np.concatenate([old_v, k], axis=1)
    return all_k, all_v
''',
'''def remember(old_k, old_v, k, v):
    all_k = np.concatenate([old_k, k], axis=1)
    all_v = np.concatenate([old_k, v], axis=1)
    return all_k, all_v
''',
'''def remember(old_k, old_v, k, v):
    return np.concatenate([old_k, old_v], axis=1), np.concatenate([k, v], axis=1)
''',
'''def remember(old_k, old_v, k, v):
    return k, v
''',
'''def remember(old_k, old_v, k, v):
    old_k = np.concatenate([old_k, k], axis=1)
    old_v = np.concatenate([old_v, v], axis=1)
    return k, v
''',
'''def remember(old_k, old_v, k, v):
    all_k = np.concatenate([old_k, k], axis=1)
    all_v = np.concatenate([old_v, v], axis=1)
    return old_k, old_v
''',
'''def remember(old_k, old_v, k, v):
    old_k = np.concatenate([old_k, k], axis=1)
    old_v = np.concatenate([old_v, v], axis=1)
''',
'''def remember(old_k, old_v, k, v):
    all_k = np.concatenate([old_k, k], axis=1)
    return all_k, v
''',
'''def remember(old_k, old_v, k, v):
    return old_k + k, old_v + v
''',
'''def remember(old_k, old_v, k, v):
    return [old_k, k], [old_v, v]
''',
'''def remember(old_k, old_v, k, v):
    H, old, Dh = old_k.shape
    all_k = np.zeros((H, old + k.shape[1], Dh))
    all_v = np.zeros((H, old + v.shape[1], Dh))
    all_k[:, :old], all_k[:, old:] = old_k, k
    all_v[:, :old], all_v[:, old:] = old_v, v
    return all_k, all_v
''',
'''def remember(old_k, old_v, k, v):
    H, old, Dh = old_k.shape
    all_k = np.zeros((H, old + 1, Dh), np.float32)
    all_v = np.zeros((H, old + 1, Dh), np.float32)
    all_k[:, :old], all_k[:, old] = old_k, k[:, -1]
    all_v[:, :old], all_v[:, old] = old_v, v[:, -1]
    return all_k, all_v
''',
'''def remember(old_k, old_v, k, v):
    all_k = [list(old) + list(new) for old, new in zip(old_k, k)]
    all_v = [list(old) + list(new) for old, new in zip(old_v, v)]
    return all_k, all_v
''',
'''def remember(old_k, old_v, k, v):
    return list(old_k) + list(k), list(old_v) + list(v)
''',
'''def remember(old_k, old_v, k, v):
    return np.stack([old_k, k], axis=1), np.stack([old_v, v], axis=1)
''',
'''def remember(old_k, old_v, k, v):
    T = k.shape[1]
    old_k[:, -T:] = k
    old_v[:, -T:] = v
    return old_k, old_v
''',
'''def remember(old_k, old_v, k, v):
    all_k = np.concatenate((old_k, k), axis=1)
    all_v = np.concatenate((old_v, v), axis=1)
    return np.array([all_k, all_v])
''',
'''def remember(old_k, old_v, k, v):
    return np.concatenate((old_k, k), axis=1)
''',
'''def remember(old_k, old_v, k, v):
    return np.concatenate(old_k, k), np.concatenate(old_v, v)
''',
'''def remember(old_k, old_v, k, v):
    all_k = np.concatenate([old_k[0], k[0]])
    all_v = np.concatenate([old_v[0], v[0]])
    return all_k, all_v
''',
'''def remember(old_k, old_v, k, v):
    all_k = np.concatenate([old_k[:, 1:], k], axis=1)
    all_v = np.concatenate([old_v[:, 1:], v], axis=1)
    return all_k, all_v
''',
]}
RIGHT = {"remember": [
'''def remember(past_k, past_v, new_k, new_v):
    return np.hstack((past_k, new_k)), np.hstack((past_v, new_v))
''',
'''def remember(old_k, old_v, k, v):
    return [np.append(old, new, axis=1) for old, new in ((old_k, k), (old_v, v))]
''',
'''def remember(old_k, old_v, k, v):
    H, past, Dh = old_k.shape
    keys = np.empty((H, past + k.shape[1], Dh), k.dtype)
    values = np.empty_like(keys)
    keys[:, :past], keys[:, past:] = old_k, k
    values[:, :past], values[:, past:] = old_v, v
    return keys, values
''',
'''def remember(old_k, old_v, k, v):
    all_k = np.stack([np.vstack([old, new]) for old, new in zip(old_k, k)])
    all_v = np.stack([np.vstack([old, new]) for old, new in zip(old_v, v)])
    return all_k, all_v
''',
'''def remember(old_k, old_v, k, v):
    for t in range(k.shape[1]):
        old_k = np.concatenate([old_k, k[:, t:t + 1]], axis=-2)
        old_v = np.concatenate([old_v, v[:, t:t + 1]], axis=-2)
    return old_k, old_v
''',
]}
