"""Lesson 06: answers as people write them, for softmax, attend, by_hand and attend_window."""
WRONG = {"softmax": [
'''def softmax(scores):
    return np.exp(scores) / np.exp(scores).sum()
''',
'''def softmax(scores):
    e = np.exp(scores)
    return e / e.sum(axis=-1, keepdims=True)
''',
'''def softmax(scores):
    top = scores.max(axis=0, keepdims=True)
    e = np.exp(scores - top)
    return e / e.sum(axis=0, keepdims=True)
''',
'''def softmax(scores):
    e = np.exp(scores - np.max(scores))
    return e / np.sum(e)
''',
'''def softmax(scores):
    m = np.max(scores, axis=-1, keepdims=True)
    e = np.exp(scores - m)
    total = e.sum()
    return e / total
''',
'''def softmax(scores):
    e = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1)
''',
'''def softmax(scores):
    e = np.exp(scores - scores.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)
''',
'''def softmax(x):
    shifted = x - x.max(axis=-1, keepdims=True)
    return np.exp(x) / np.exp(shifted).sum(axis=-1, keepdims=True)
''',
'''def softmax(scores):
    return scores / scores.sum(axis=-1, keepdims=True)
''',
'''def softmax(scores):
    top = scores.max(axis=-1, keepdims=True)
    z = scores - top
    return z - np.log(np.exp(z).sum(axis=-1, keepdims=True))
''',
'''def softmax(scores):
    return 1 / (1 + np.exp(-scores))
''',
'''def softmax(scores):
    e = np.exp(scores - scores.min(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)
''',
'''def softmax(scores):
    e = 2 ** (scores - scores.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)
''',
'''def softmax(scores):
    scores -= scores.max(axis=-1, keepdims=True)
    np.exp(scores, out=scores)
    scores /= scores.sum(axis=-1, keepdims=True)
    return scores
''',
'''def softmax(scores):
    scores = np.asarray(scores, dtype=np.float64)
    e = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)
''',
'''def softmax(scores):
    e = np.exp(scores)
    return np.nan_to_num(e / e.sum(axis=-1, keepdims=True))
''',
'''def softmax(scores):
    e = np.exp(np.clip(scores, -80, 80))
    return e / e.sum(axis=-1, keepdims=True)
''',
'''def softmax(scores):
    e = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return e / (e.sum(axis=-1, keepdims=True) + 1e-5)
''',
'''def softmax(scores):
    e = np.exp(scores - scores.max())
    return e / e.sum(axis=-1, keepdims=True)
''',
'''def softmax(scores):
    out = []
    for row in scores:
        e = np.exp(row - max(row))
        out.append(e / sum(e))
    return np.array(out)
''',
'''def softmax(scores):
    rows = [[math.exp(s - max(row)) for s in row] for row in scores]
    return [[e / sum(row) for e in row] for row in rows]
''',
'''def softmax(scores):
    return np.exp(scores - scores.max(axis=-1, keepdims=True))
''',
'''def softmax(scores):
    e = np.exp(scores.max(axis=-1, keepdims=True) - scores)
    return e / e.sum(axis=-1, keepdims=True)
''',
'''def softmax(scores):
    best = scores.argmax(axis=-1)
    return np.eye(scores.shape[-1], dtype=scores.dtype)[best]
''',
'''def softmax(scores):
    scores = scores / math.sqrt(scores.shape[-1])
    e = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)
''',
'''def softmax(scores):
    e = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return np.round(e / e.sum(axis=-1, keepdims=True), 3)
''',
'''def softmax(scores):
    e = np.exp(scores - scores.mean(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)
''',
'''def softmax(scores):
    e = np.exp(scores - scores.max(axis=0, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)
''',
'''def softmax(scores):
    e = np.exp(scores / scores.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)
''',
'''def softmax(scores):
    e = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return e / np.linalg.norm(e, axis=-1, keepdims=True)
''',
'''def softmax(scores):
    e = scores ** 2
    return e / e.sum(axis=-1, keepdims=True)
''',
'''def softmax(scores):
    positive = np.where(scores > 0, scores, 0)
    return positive / positive.sum(axis=-1, keepdims=True)
''',
'''def softmax(scores):
    e = np.exp(scores - scores.max(axis=-1))
    return e / e.sum(axis=-1, keepdims=True)
''',
'''def softmax(scores):
    e = np.exp(scores - scores.mean())
    return e / e.sum(axis=-1, keepdims=True)
'''], "attend": [
'''def attend(q, k, v, softmax=softmax):
    T, S = q.shape[-2], k.shape[-2]
    scores = q @ k.swapaxes(-1, -2)
    later = np.arange(S) > np.arange(S - T, S)[:, None]
    return softmax(np.where(later, -np.inf, scores)) @ v
''',
'''def attend(q, k, v, softmax=softmax):
    T, S, Dh = q.shape[-2], k.shape[-2], q.shape[-1]
    scores = q @ k.swapaxes(-1, -2) / Dh
    later = np.arange(S) > np.arange(S - T, S)[:, None]
    return softmax(np.where(later, -np.inf, scores)) @ v
''',
'''def attend(q, k, v, softmax=softmax):
    T, S = q.shape[-2], k.shape[-2]
    scores = q @ k.swapaxes(-1, -2) / math.sqrt(S)
    mask = np.triu(np.ones((T, S), bool), S - T + 1)
    scores[..., mask] = -np.inf
    return softmax(scores) @ v
''',
'''def attend(q, k, v, softmax=softmax):
    scale = len(q) ** 0.5
    T, S = q.shape[-2], k.shape[-2]
    scores = q @ k.swapaxes(-1, -2) / scale
    return softmax(np.where(np.arange(S) > np.arange(S - T, S)[:, None], -np.inf, scores)) @ v
''',
'''def attend(q, k, v, softmax=softmax):
    scores = q @ k.swapaxes(-1, -2) / q.shape[-1] ** 0.5
    return softmax(scores) @ v
''',
'''def attend(q, k, v, softmax=softmax):
    T, S, Dh = q.shape[-2], k.shape[-2], q.shape[-1]
    scores = q @ k.swapaxes(-1, -2) / math.sqrt(Dh)
    hidden = np.triu(np.ones((T, S), dtype=bool))
    return softmax(np.where(hidden, -np.inf, scores)) @ v
''',
'''def attend(q, k, v, softmax=softmax):
    T, S, Dh = q.shape[-2], k.shape[-2], q.shape[-1]
    scores = q @ k.swapaxes(-1, -2) / Dh ** 0.5
    later = np.arange(S) < np.arange(S - T, S)[:, None]
    return softmax(np.where(later, -np.inf, scores)) @ v
''',
'''def attend(q, k, v, softmax=softmax):
    T, S, Dh = q.shape[-2], k.shape[-2], q.shape[-1]
    weights = softmax(q @ k.swapaxes(-1, -2) / Dh ** 0.5)
    weights = weights * (np.arange(S) <= np.arange(S - T, S)[:, None])
    return weights @ v
''',
'''def attend(q, k, v, softmax=softmax):
    T, S, Dh = q.shape[-2], k.shape[-2], q.shape[-1]
    scores = q @ k.swapaxes(-1, -2) / math.sqrt(Dh)
    seen = np.tril(np.ones((T, S), q.dtype), S - T)
    return softmax(scores * seen) @ v
''',
'''def attend(q, k, v, softmax=softmax):
    T, S, Dh = q.shape[-2], k.shape[-2], q.shape[-1]
    scores = q @ k.swapaxes(-1, -2) / Dh ** 0.5
    later = np.arange(S) > np.arange(S - T, S)[:, None]
    return softmax(np.where(later, np.float32(-1e9), scores)) @ v
''',
'''def attend(q, k, v, softmax=softmax):
    T, S, Dh = q.shape[-2], k.shape[-2], q.shape[-1]
    scores = q @ k.T / Dh ** 0.5
    later = np.arange(S) > np.arange(S - T, S)[:, None]
    return softmax(np.where(later, -np.inf, scores)) @ v
''',
'''def attend(q, k, v, softmax=softmax):
    T, S, Dh = q.shape[-2], k.shape[-2], q.shape[-1]
    scores = q @ k.swapaxes(-1, -2) / Dh ** 0.5
    later = np.arange(S)[None, :] > np.arange(T)[:, None]
    return softmax(np.where(later, -np.inf, scores)) @ v
''',
'''def attend(q, k, v, softmax=softmax):
    T, S, Dh = q.shape[-2], k.shape[-2], q.shape[-1]
    scores = q @ k.swapaxes(-1, -2) / Dh ** 0.5
    later = np.arange(S) > np.arange(S - T, S)[:, None]
    return softmax(np.where(later, -np.inf, scores))
''',
'''def attend(q, k, v, softmax=softmax):
    T, S, Dh = q.shape[-2], k.shape[-2], q.shape[-1]
    scores = q @ k.swapaxes(-1, -2) / Dh ** 0.5
    later = np.arange(S) > np.arange(S - T, S)[:, None]
    scores = np.where(later, 0, scores)
    return scores @ v
''',
'''def attend(q, k, v, softmax=softmax):
    T, S, Dh = q.shape[-2], k.shape[-2], q.shape[-1]
    scores = (q @ k.swapaxes(-1, -2)) * Dh ** 0.5
    later = np.arange(S) > np.arange(S - T, S)[:, None]
    return softmax(np.where(later, -np.inf, scores)) @ v
''',
'''def attend(q, k, v, softmax=softmax):
    T, S, Dh = q.shape[-2], k.shape[-2], q.shape[-1]
    scores = q @ k.swapaxes(-1, -2) / np.sqrt(Dh)
    later = np.arange(S) > np.arange(S - T, S)[:, None]
    return softmax(np.where(later, -np.inf, scores)) @ v
''',
'''def attend(q, k, v, softmax=softmax):
    T, S, Dh = q.shape[-2], k.shape[-2], q.shape[-1]
    scores = q @ k.swapaxes(-1, -2) / Dh ** 0.5
    later = np.arange(S) > np.arange(S - T, S)[:, None]
    scores = np.where(later, -np.inf, scores)
    e = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True) @ v
''',
'''def attend(q, k, v, softmax=softmax):
    T, Dh = q.shape[-2:]
    scores = q @ k.swapaxes(-1, -2) / Dh ** 0.5
    causal = np.tril(np.ones((T, T))) == 0
    return softmax(np.where(causal, -np.inf, scores)) @ v
''',
'''def attend(q, k, v, softmax=softmax):
    T, S, Dh = q.shape[-2], k.shape[-2], q.shape[-1]
    scores = q @ k.swapaxes(-1, -2) / Dh ** 0.5
    later = np.arange(S) > np.arange(S - T, S)[:, None] + 1
    return softmax(np.where(later, -np.inf, scores)) @ v
''',
'''def attend(q, k, v, softmax=softmax):
    T, S, Dh = q.shape[-2], k.shape[-2], q.shape[-1]
    later = np.arange(S) > np.arange(S - T, S)[:, None]
    scores = np.where(later, -np.inf, q @ k.swapaxes(-1, -2))
    return softmax(scores) / Dh ** 0.5 @ v
''',
'''def attend(q, k, v, softmax=softmax):
    T, S, Dh = q.shape[-2], k.shape[-2], q.shape[-1]
    scores = q @ q.swapaxes(-1, -2) / Dh ** 0.5
    later = np.arange(T) > np.arange(T)[:, None]
    return softmax(np.where(later, -np.inf, scores)) @ v[..., -T:, :]
''',
'''def attend(q, k, v, softmax=softmax):
    T, S, Dh = q.shape[-2], k.shape[-2], q.shape[-1]
    scores = k @ q.swapaxes(-1, -2) / Dh ** 0.5
    later = np.arange(S) > np.arange(S - T, S)[:, None]
    return softmax(np.where(later, -np.inf, scores)) @ v
''',
'''def attend(q, k, v, softmax=softmax):
    q /= q.shape[-1] ** 0.5
    T, S = q.shape[-2], k.shape[-2]
    scores = q @ k.swapaxes(-1, -2)
    scores += np.triu(np.full((T, S), -np.inf, q.dtype), S - T + 1)
    return softmax(scores) @ v
''',
'''def attend(q, k, v, softmax=softmax):
    T, S, Dh = len(q), len(k), len(q[0])
    mixed = np.zeros((T, Dh), q.dtype)
    for t in range(T):
        n = S - T + t + 1
        scores = np.array([q[t] @ k[s] for s in range(n)]) / Dh ** 0.5
        mixed[t] = softmax(scores) @ v[:n]
    return mixed
''',
'''def attend(q, k, v, softmax=softmax):
    T, S, Dh = q.shape[-2], k.shape[-2], q.shape[-1]
    scores = q @ k.swapaxes(-1, -2) / Dh ** 0.5
    mask = np.triu(np.ones((T, S), q.dtype), S - T + 1)
    return softmax(scores + mask * -np.inf) @ v
''',
'''def attend(q, k, v, softmax=softmax):
    att = (q @ k.swapaxes(-2, -1)) / math.sqrt(k.shape[-1])
    T = q.shape[-2]
    bias = np.tril(np.ones((T, k.shape[-2]), q.dtype), k.shape[-2] - T)
    att = att * bias - 1e4 * (1 - bias)
    att = softmax(att)
    return att @ v
''',
'''def attend(q, k, v, softmax=softmax):
    T, S, Dh = q.shape[-2], k.shape[-2], q.shape[-1]
    scores = q @ k.swapaxes(0, 1) / Dh ** 0.5
    later = np.arange(S) > np.arange(S - T, S)[:, None]
    return softmax(np.where(later, -np.inf, scores)) @ v
''',
'''def attend(q, k, v, softmax=softmax):
    T, S, Dh = q.shape[-2], k.shape[-2], q.shape[-1]
    scores = q @ k.swapaxes(-1, -2) / Dh ** 1/2
    later = np.arange(S) > np.arange(S - T, S)[:, None]
    return softmax(np.where(later, -np.inf, scores)) @ v
''',
'''def attend(q, k, v, softmax=softmax):
    T, S, Dh = q.shape[-2], k.shape[-2], q.shape[-1]
    scores = q @ k.reshape(*k.shape[:-2], Dh, S) / Dh ** 0.5
    later = np.arange(S) > np.arange(S - T, S)[:, None]
    return softmax(np.where(later, -np.inf, scores)) @ v
''',
'''def attend(q, k, v, softmax=softmax):
    T, S, Dh = q.shape[-2], k.shape[-2], q.shape[-1]
    scores = q @ k.swapaxes(-1, -2) / Dh ** 0.5
    later = np.arange(S) > np.arange(S - T, S)[:, None]
    return softmax(np.where(later, -np.inf, scores), axis=-1) @ v
''',
'''def attend(q, k, v, softmax=softmax):
    T, S, Dh = q.shape[-2], k.shape[-2], q.shape[-1]
    scores = q @ k.swapaxes(-1, -2) / Dh ** 0.5
    return softmax(scores + np.triu(np.ones((T, S)), S - T + 1) * -np.inf) @ v
''',
'''def attend(q, k, v, softmax=softmax):
    T, S, Dh = q.shape[-2], k.shape[-2], q.shape[-1]
    scores = q @ k.swapaxes(-1, -2) / Dh ** 0.5
    return softmax(scores + np.triu(np.ones_like(scores), 1) * -np.inf) @ v
''',
'''def attend(q, k, v, softmax=softmax):
    T, S, Dh = q.shape[-2], k.shape[-2], q.shape[-1]
    scores = q @ k.swapaxes(-1, -2) / Dh ** 0.5
    for t in range(T):
        for s in range(S):
            if s > t + S - T:
                scores[t][s] = -np.inf
    return softmax(scores) @ v
''',
'''def attend(q, k, v, softmax=softmax):
    T, S, Dh = q.shape[-2], k.shape[-2], q.shape[-1]
    scores = q @ k.swapaxes(-1, -2) / Dh ** 0.5
    for t in range(T):
        scores[t, S - T + t + 1:] = -np.inf
    return softmax(scores) @ v
''',
'''def attend(q, k, v, softmax=softmax):
    T, S, Dh = q.shape[-2], k.shape[-2], q.shape[-1]
    scores = q @ k.swapaxes(-1, -2) / Dh ** 0.5
    scores[np.triu_indices(T, 1)] = -np.inf
    return softmax(scores) @ v
''',
'''def attend(q, k, v, softmax=softmax):
    T, S, Dh = q.shape[-2], k.shape[-2], q.shape[-1]
    scores = q @ k.swapaxes(-1, -2) / Dh ** 0.5
    return softmax(scores + np.triu(np.full((T, S), -np.inf), S - T + 1)) @ v
'''], "by_hand": [
'''def by_hand(token, before, sharp, attend=attend):
    q = token * sharp
    return attend(q, before, token)
''',
'''def by_hand(token, before, sharp, attend=attend):
    n = token.shape[-1]
    q = token * sharp * np.sqrt(n)
    return attend(q, before, token)
''',
'''def by_hand(token, before, sharp, attend=attend):
    n = token.shape[1]
    return attend(sharp * n ** 0.5 * token, token, token)
''',
'''def by_hand(token, before, sharp, attend=attend):
    n = token.shape[1]
    return attend(sharp * n ** 0.5 * token, before, before)
''',
'''def by_hand(token, before, sharp, attend=attend):
    n = token.shape[1]
    return attend(sharp * n ** 0.5 * before, token, token)
''',
'''def by_hand(token, before, sharp, attend=attend):
    n = token.shape[1]
    q, k, v = token * sharp, before * n ** 0.5, token
    return q, k, v
''',
'''def by_hand(token, before, sharp, attend=attend):
    n = token.shape[1]
    return attend(token * sharp / n ** 0.5, before, token)
''',
'''def by_hand(token, before, sharp, attend=attend):
    return attend(token, before, token)
''',
'''def by_hand(token, before, sharp, attend=attend):
    T = len(token)
    return attend(token * sharp * T ** 0.5, before, token)
''',
'''def by_hand(token, before, sharp, attend=attend):
    n = token.shape[-1]
    return attend(token * sharp * n, before, token)
''',
'''def by_hand(token, before, sharp, attend=attend):
    n = token.shape[-1]
    return attend(token * sharp * n ** 0.5, before * sharp, token)
''',
'''def by_hand(token, before, sharp, attend=attend):
    n = token.shape[-1]
    q = token * sharp * n ** 0.5
    return attend(q, np.roll(token, 1, axis=0), token)
''',
'''def by_hand(token, before, sharp, attend=attend):
    n = token.shape[-1]
    q = token * sharp * n ** 0.5
    following = np.concatenate([token[1:], token[:1] * 0])
    return attend(q, token, following)
''',
'''def by_hand(token, before, sharp, attend=attend):
    n = token.shape[-1]
    x = np.concatenate([token, before], axis=-1)
    q = x * sharp * (2 * n) ** 0.5
    return attend(q, x, x)[:, :n]
''',
'''def by_hand(token, before, sharp, attend=attend):
    q = token * token.shape[-1] ** 0.5
    return attend(q, before, token)
''',
'''def by_hand(token, before, sharp, attend=attend):
    n = token.shape[-1]
    q = before * sharp * n ** 0.5
    return attend(q, before, token)
''',
'''def by_hand(token, before, sharp, attend=attend):
    n = token.shape[-1]
    q = token * sharp * n ** 0.5
    return attend(q, before, token * sharp)
''',
'''def by_hand(token, before, sharp, attend=attend):
    n = token.shape[-1]
    return attend(sharp * n ** 0.5 * token, token, before)
''',
'''def by_hand(token, before, sharp, attend=attend):
    return attend(before, token, token)
''',
'''def by_hand(token, before, sharp, attend=attend):
    q, k, v = token * sharp, token, before
    return attend(q, k, v)
''',
'''def by_hand(token, before, sharp, attend=attend):
    scores = token @ before.T * sharp
    e = np.exp(scores)
    return e / e.sum(axis=-1, keepdims=True) @ token
'''], "attend_window": [
'''def attend_window(q, k, v, width):
    T, S, Dh = q.shape[-2], k.shape[-2], q.shape[-1]
    scores = q @ k.swapaxes(-1, -2) / Dh ** 0.5
    hidden = np.ones((T, S), bool)
    for t in range(T):
        hidden[t, S - T + t - width + 1:S - T + t + 1] = False
    return softmax(np.where(hidden, -np.inf, scores)) @ v
''',
'''def attend_window(q, k, v, width):
    rows = []
    for t in range(len(q)):
        rows.append(attend(q[t:t + 1], k[t - width + 1:t + 1], v[t - width + 1:t + 1]))
    return np.concatenate(rows)
''',
'''def attend_window(q, k, v, width):
    return attend(q, k[..., -width:, :], v[..., -width:, :])
''',
'''def attend_window(q, k, v, width):
    T, S, Dh = q.shape[-2], k.shape[-2], q.shape[-1]
    behind = np.arange(S - T, S)[:, None] - np.arange(S)
    return softmax(np.where(behind >= width, -np.inf, q @ k.swapaxes(-1, -2) / Dh ** 0.5)) @ v
''',
'''def attend_window(q, k, v, width):
    T, S, Dh = q.shape[-2], k.shape[-2], q.shape[-1]
    behind = np.arange(S - T, S)[:, None] - np.arange(S)
    hidden = (behind < 0) | (behind > width)
    return softmax(np.where(hidden, -np.inf, q @ k.swapaxes(-1, -2) / Dh ** 0.5)) @ v
''',
'''def attend_window(q, k, v, width):
    T, S, Dh = q.shape[-2], k.shape[-2], q.shape[-1]
    behind = np.arange(T)[:, None] - np.arange(S)
    hidden = (behind < 0) | (behind >= width)
    return softmax(np.where(hidden, -np.inf, q @ k.swapaxes(-1, -2) / Dh ** 0.5)) @ v
''',
'''def attend_window(q, k, v, width):
    T, S, Dh = q.shape[-2], k.shape[-2], q.shape[-1]
    behind = np.arange(S - T, S)[:, None] - np.arange(S)
    hidden = abs(behind) >= width
    return softmax(np.where(hidden, -np.inf, q @ k.swapaxes(-1, -2) / Dh ** 0.5)) @ v
''',
'''def attend_window(q, k, v, width):
    T, S, Dh = q.shape[-2], k.shape[-2], q.shape[-1]
    behind = np.arange(S - T, S)[:, None] - np.arange(S)
    hidden = (behind < 0) | (behind >= width)
    return softmax(np.where(hidden, -np.inf, q @ k.swapaxes(-1, -2))) @ v
''',
'''def attend_window(q, k, v, width):
    T, S, Dh = q.shape[-2], k.shape[-2], q.shape[-1]
    behind = np.arange(S - T, S)[:, None] - np.arange(S)
    hidden = (behind < 0) | (behind >= width)
    return softmax(np.where(hidden, -np.inf, q @ k.T / Dh ** 0.5)) @ v
''']}

RIGHT = {"softmax": [
'''def softmax(x):
    e = np.exp(x - np.max(x, -1, keepdims=True))
    return e / np.sum(e, -1, keepdims=True)
''',
'''def softmax(scores):
    z = scores - scores.max(axis=-1)[..., None]
    return np.exp(z - np.log(np.exp(z).sum(axis=-1)[..., None]))
''',
'''def softmax(scores):
    out = np.empty_like(scores)
    for place in np.ndindex(*scores.shape[:-1]):
        row = scores[place]
        e = [math.exp(s - max(row)) for s in row]
        out[place] = [one / sum(e) for one in e]
    return out
''',
'''def softmax(a):
    def of_row(row):
        e = np.exp(row - row.max())
        return e / e.sum()
    return np.apply_along_axis(of_row, -1, a)
''',
'''def softmax(scores):
    top = np.maximum.reduce(scores, axis=-1, keepdims=True)
    e = np.exp(np.subtract(scores, top))
    return e * (1 / np.add.reduce(e, axis=-1, keepdims=True))
'''], "attend": [
'''def attend(queries, keys, values, softmax=softmax):
    T, S = queries.shape[-2], keys.shape[-2]
    att = np.einsum("...td,...sd->...ts", queries, keys) * queries.shape[-1] ** -0.5
    att[..., np.triu(np.ones((T, S), bool), S - T + 1)] = -np.inf
    return np.einsum("...ts,...sd->...td", softmax(att), values)
''',
'''def attend(q, k, v, softmax=softmax):
    T, S, Dh = q.shape[-2], k.shape[-2], q.shape[-1]
    scores = q / math.sqrt(Dh) @ np.moveaxis(k, -1, -2)
    scores += np.triu(np.full((T, S), -np.inf, q.dtype), S - T + 1)
    return softmax(scores) @ v
''',
'''def attend(q, k, v, softmax=softmax):
    if q.ndim > 2:
        return np.stack([attend(*one, softmax) for one in zip(q, k, v)])
    T, S, Dh = len(q), len(k), q.shape[1]
    rows = []
    for t in range(T):
        seen = S - T + t + 1
        rows.append(softmax(k[:seen] @ q[t] / Dh ** 0.5) @ v[:seen])
    return np.array(rows)
''',
'''def attend(q, k, v, softmax=softmax):
    T, S, Dh = q.shape[-2], k.shape[-2], q.shape[-1]
    seen = np.tri(T, S, S - T, dtype=bool)
    scores = np.where(seen, q @ k.swapaxes(-1, -2), -np.inf) / math.sqrt(Dh)
    return softmax(scores) @ v
''',
'''def attend(q, k, v, softmax=softmax):
    out = np.empty_like(q)
    S, T = k.shape[-2], q.shape[-2]
    for t in range(T):
        n = S - T + 1 + t
        scores = (k[..., :n, :] * q[..., t, None, :]).sum(axis=-1) / q.shape[-1] ** 0.5
        out[..., t, :] = (softmax(scores)[..., None] * v[..., :n, :]).sum(axis=-2)
    return out
'''], "by_hand": [
'''def by_hand(token, before, sharp, attend=attend):
    n = token.shape[-1]
    q, k, v = sharp * token, n ** 0.5 * before, token
    return attend(q, k, v)
''',
'''def by_hand(token, before, sharp, attend=attend):
    scale = (sharp * token.shape[-1] ** 0.5) ** 0.5
    return attend(scale * token, scale * before, token)
''',
'''def by_hand(token, before, sharp, attend=attend):
    n = token.shape[-1]
    x = np.concatenate([token, before], axis=-1)
    w_q, w_k, w_v = (np.zeros((2 * n, n), token.dtype) for _ in range(3))
    w_q[:n] = np.eye(n) * sharp * math.sqrt(n)
    w_k[n:] = np.eye(n)
    w_v[:n] = np.eye(n)
    return attend(x @ w_q, x @ w_k, x @ w_v)
''']}
