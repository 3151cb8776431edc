"""Lesson 07: answers as people write them, for its exercises."""
HEAD = '''def attend_heads(x, w_qkv, b_qkv, w_out, b_out, n_head, remember=None, linear=linear,
                 attend=attend):
'''
SEARCH = '''from itertools import combinations

def fewest_heads(says, heads, word, most=3):
'''

WRONG = {"attend_heads": [HEAD + body for body in (
'''    T, D = x.shape
    q, k, v = (part.reshape(n_head, T, D // n_head)
               for part in np.split(linear(x, w_qkv, b_qkv), 3, axis=-1))
    if remember is not None:
        k, v = remember(k, v)
    merged = attend(q, k, v).reshape(T, D)
    return linear(merged, w_out, b_out)
''',
'''    T, D = x.shape
    qkv = np.split(linear(x, w_qkv, b_qkv), 3, axis=-1)
    q, k, v = (part.reshape(T, n_head, -1).swapaxes(0, 1) for part in qkv)
    if remember is not None:
        k, v = remember(k, v)
    return linear(attend(q, k, v).reshape(T, D), w_out, b_out)
''',
'''    T, D = x.shape
    qkv = np.split(linear(x, w_qkv, b_qkv), 3, axis=-1)
    q, k, v = (part.reshape(T, n_head, -1).swapaxes(0, 1) for part in qkv)
    if remember is not None:
        k, v = remember(k, v)
    return attend(q, k, v).swapaxes(0, 1).reshape(T, D)
''',
'''    T, D = x.shape
    qkv = np.split(linear(x, w_qkv, b_qkv), 3, axis=-1)
    q, k, v = (part.reshape(T, n_head, -1).swapaxes(0, 1) for part in qkv)
    if remember is not None:
        k, v = remember(k, v)
    return attend(q, k, v).swapaxes(0, 1).reshape(T, D) @ w_out
''',
'''    T, D = x.shape
    qkv = np.split(linear(x, w_qkv, b_qkv), 3, axis=-1)
    q, k, v = (part.reshape(T, n_head, -1).swapaxes(0, 1) for part in qkv)
    if remember is not None:
        k, v = remember(k, v)
    merged = attend(q, k, v).swapaxes(0, 1).reshape(T, D)
    return linear(merged, w_out.T, b_out)
''',
'''    T, D = x.shape
    k, q, v = (part.reshape(T, n_head, -1).swapaxes(0, 1)
               for part in np.split(linear(x, w_qkv, b_qkv), 3, axis=-1))
    if remember is not None:
        k, v = remember(k, v)
    merged = attend(q, k, v).swapaxes(0, 1).reshape(T, D)
    return linear(merged, w_out, b_out)
''',
'''    T, D = x.shape
    qkv = np.split(linear(x, w_qkv, b_qkv), 3, axis=-1)
    q, k, v = (part.reshape(T, n_head, -1).swapaxes(0, 1) for part in qkv)
    merged = attend(q, k, v).swapaxes(0, 1).reshape(T, D)
    return linear(merged, w_out, b_out)
''',
'''    T, D = x.shape
    qkv = np.split(linear(x, w_qkv, b_qkv), 3, axis=-1)
    q, k, v = (part.reshape(T, n_head, -1).swapaxes(0, 1) for part in qkv)
    if remember is not None:
        remember(k, v)
    merged = attend(q, k, v).swapaxes(0, 1).reshape(T, D)
    return linear(merged, w_out, b_out)
''',
'''    T, D = x.shape
    qkv = np.split(x @ w_qkv + b_qkv, 3, axis=-1)
    q, k, v = (part.reshape(T, n_head, -1).swapaxes(0, 1) for part in qkv)
    if remember is not None:
        k, v = remember(k, v)
    merged = attend(q, k, v).swapaxes(0, 1).reshape(T, D)
    return merged @ w_out + b_out
''',
'''    T, D = x.shape
    qkv = np.split(linear(x, w_qkv, b_qkv), 3, axis=-1)
    q, k, v = (part.reshape(T, n_head, -1).swapaxes(0, 1) for part in qkv)
    if remember is not None:
        k, v = remember(k, v)
    S = k.shape[1]
    scores = q @ k.swapaxes(1, 2) / (D // n_head) ** 0.5
    scores = np.where(np.arange(S) > np.arange(S - T, S)[:, None], -np.inf, scores)
    merged = (softmax(scores) @ v).swapaxes(0, 1).reshape(T, D)
    return linear(merged, w_out, b_out)
''',
'''    T, D = x.shape
    Dh = D // n_head
    q, k, v = (part.reshape(T, Dh, n_head).transpose(2, 0, 1)
               for part in np.split(linear(x, w_qkv, b_qkv), 3, axis=-1))
    if remember is not None:
        k, v = remember(k, v)
    merged = attend(q, k, v).transpose(1, 2, 0).reshape(T, D)
    return linear(merged, w_out, b_out)
''',
'''    T, D = x.shape
    heads = linear(x, w_qkv, b_qkv).reshape(T, n_head, 3 * D // n_head).swapaxes(0, 1)
    q, k, v = np.split(heads, 3, axis=-1)
    if remember is not None:
        k, v = remember(k, v)
    merged = attend(q, k, v).swapaxes(0, 1).reshape(T, D)
    return linear(merged, w_out, b_out)
''',
'''    T, D = x.shape
    qkv = np.split(linear(x, w_qkv, b_qkv), 3, axis=-1)
    q, k, v = (part.reshape(T, n_head, -1).swapaxes(0, 1) for part in qkv)
    if remember is not None:
        k, v = remember(k, v)
    mixed = attend(q, k, v).mean(axis=0)
    return linear(np.tile(mixed, n_head), w_out, b_out)
''',
'''    T, D = x.shape
    q, k, v = np.split(linear(x, w_qkv, b_qkv), 3, axis=-1)
    if remember is not None:
        k, v = remember(k, v)
    return linear(attend(q, k, v), w_out, b_out)
''',
'''    T, D = x.shape
    qkv = np.split(linear(x, w_qkv, b_qkv), 3, axis=-1)
    q, k, v = (part.reshape(T, n_head, -1).swapaxes(0, 1) for part in qkv)
    if remember is not None:
        k, v = remember(k, v)
    merged = attend(q, v, k).swapaxes(0, 1).reshape(T, D)
    return linear(merged, w_out, b_out)
''',
'''    T, D = x.shape
    qkv = np.split(x @ w_qkv, 3, axis=-1)
    q, k, v = (part.reshape(T, n_head, -1).swapaxes(0, 1) for part in qkv)
    if remember is not None:
        k, v = remember(k, v)
    merged = attend(q, k, v).swapaxes(0, 1).reshape(T, D)
    return linear(merged, w_out, b_out)
''',
'''    T, D = x.shape
    q, k, v = np.split(linear(x, w_qkv, b_qkv), 3, axis=0)
    q, k, v = (part.reshape(T, n_head, -1).swapaxes(0, 1) for part in (q, k, v))
    if remember is not None:
        k, v = remember(k, v)
    merged = attend(q, k, v).swapaxes(0, 1).reshape(T, D)
    return linear(merged, w_out, b_out)
''',
'''    T, D = x.shape
    qkv = np.split(linear(x, w_qkv, b_qkv), 3, axis=-1)
    q, k, v = (part.reshape(T, n_head, -1) for part in qkv)
    if remember is not None:
        k, v = remember(k, v)
    merged = attend(q, k, v).reshape(T, D)
    return linear(merged, w_out, b_out)
''',
'''    T, D = x.shape
    qkv = np.split(linear(x, w_qkv, b_qkv), 3, axis=-1)
    q, k, v = (part.reshape(T, n_head, -1).swapaxes(0, 1) for part in qkv)
    if remember is not None:
        k, v = remember(k, v)
    merged = attend(q, k, v).swapaxes(0, 1).reshape(T, D)
    return x + linear(merged, w_out, b_out)
''',
'''    T, D = x.shape
    Dh = D // n_head
    qkv = linear(x, w_qkv, b_qkv)
    heads = []
    for h in range(n_head):
        q, k, v = (qkv[:, at + h * Dh:at + (h + 1) * Dh] for at in (0, D, 2 * D))
        heads.append(attend(q, k, v))
    return linear(np.concatenate(heads, axis=-1), w_out, b_out)
''',
'''    T, D = x.shape
    q, k, v = np.split(linear(x, w_qkv, b_qkv), 3, axis=-1)
    if remember is not None:
        k, v = remember(k, v)
    q, k, v = (part.reshape(len(part), n_head, -1).swapaxes(0, 1) for part in (q, k, v))
    merged = attend(q, k, v).swapaxes(0, 1).reshape(T, D)
    return linear(merged, w_out, b_out)
''',
'''    T, D = x.shape
    qkv = np.split(linear(x, w_qkv, b_qkv), 3, axis=-1)
    q, k, v = (part.reshape(T, n_head, D / n_head).swapaxes(0, 1) for part in qkv)
    if remember is not None:
        k, v = remember(k, v)
    merged = attend(q, k, v).swapaxes(0, 1).reshape(T, D)
    return linear(merged, w_out, b_out)
''',
'''    T, D = x.shape
    Dh = D // n_head
    q, k, v = (part.reshape(T, n_head, Dh).swapaxes(0, 1)
               for part in np.split(linear(x, w_qkv, b_qkv), 3, axis=-1))
    if remember is not None:
        k, v = remember(k, v)
    y = np.zeros((T, D))
    for h, one in enumerate(attend(q, k, v)):
        y += linear(one, w_out[h * Dh:(h + 1) * Dh], b_out)
    return y
''',
'''    T, D = x.shape
    qkv = np.split(linear(x, w_qkv, b_qkv), 3, axis=-1)
    q, k, v = (part.reshape(T, n_head, -1).swapaxes(0, 1) for part in qkv)
    if remember is not None:
        k, v = remember(k, v)
    mixed = attend(q, k, v)
    return linear(mixed.T.reshape(T, D), w_out, b_out)
''',
'''    T, D = x.shape
    qkv = np.split(linear(x, w_qkv, b_qkv), 3, axis=-1)
    q, k, v = (part.reshape(T, n_head, -1).swapaxes(0, 1) for part in qkv)
    if remember is not None:
        k, v = remember(k, v)
    merged = attend(q / q.shape[-1] ** 0.5, k, v).swapaxes(0, 1).reshape(T, D)
    return linear(merged, w_out, b_out)
''',
'''    T, D = x.shape
    n_head = 2
    qkv = np.split(linear(x, w_qkv, b_qkv), 3, axis=-1)
    q, k, v = (part.reshape(T, n_head, -1).swapaxes(0, 1) for part in qkv)
    if remember is not None:
        k, v = remember(k, v)
    merged = attend(q, k, v).swapaxes(0, 1).reshape(T, D)
    return linear(merged, w_out, b_out)
''',
'''    T, D = x.shape
    qkv = np.split(linear(x, w_qkv, b_qkv), 3, axis=-1)
    q, k, v = (part.reshape(T, n_head, -1).swapaxes(0, 1) for part in qkv)
    k, v = remember(k, v)
    merged = attend(q, k, v).swapaxes(0, 1).reshape(T, D)
    return linear(merged, w_out, b_out)
''',
'''    T, D = x.shape
    qkv = np.split(linear(x, w_qkv, b_qkv), 3, axis=-1)
    q, k, v = (part.reshape(T, n_head, -1).swapaxes(0, 1) for part in qkv)
    if remember is not None:
        v, k = remember(k, v)
    merged = attend(q, k, v).swapaxes(0, 1).reshape(T, D)
    return linear(merged, w_out, b_out)
''',
'''    T, D = x.shape
    qkv = np.split(linear(x, w_qkv, b_qkv), 3, axis=-1)
    q, k, v = (part.reshape(T, n_head, -1).swapaxes(0, 1) for part in qkv)
    if remember is not None:
        k, v = remember(k, v)
    heads = attend(q, k, v)
    merged = np.concatenate(list(heads), axis=0).reshape(T, D)
    return linear(merged, w_out, b_out)
''',
'''    T, D = x.shape
    q, k, v = linear(x, w_qkv, b_qkv).reshape(T, n_head, 3, -1).transpose(2, 1, 0, 3)
    if remember is not None:
        k, v = remember(k, v)
    merged = attend(q, k, v).swapaxes(0, 1).reshape(T, D)
    return linear(merged, w_out, b_out)
''')],
    "head_parts": ["def head_parts(mixed, w_out):\n" + body for body in (
'''    H, T, Dh = mixed.shape
    return mixed @ w_out[:, :Dh].T
''',
'''    H, T, Dh = mixed.shape
    return np.stack([mixed[h] @ w_out[:, h * Dh:(h + 1) * Dh].T for h in range(H)])
''',
'''    H, T, Dh = mixed.shape
    strips = np.split(w_out, H, axis=1)
    return np.stack([mixed[h] @ strips[h].T for h in range(H)])
''',
'''    H, T, Dh = mixed.shape
    return np.stack([mixed[h] @ w_out[:, h * Dh:(h + 1) * Dh] for h in range(H)])
''',
'''    H, T, Dh = mixed.shape
    return sum(mixed[h] @ w_out[h * Dh:(h + 1) * Dh] for h in range(H))
''',
'''    H, T, Dh = mixed.shape
    return mixed.swapaxes(0, 1).reshape(T, H * Dh) @ w_out
''',
'''    H, T, Dh = mixed.shape
    return np.stack([mixed[h] @ w_out[h::H] for h in range(H)])
''',
'''    H, T, Dh = mixed.shape
    return np.stack([mixed[h] @ w_out[h:h + Dh] for h in range(H)])
''',
'''    H, T, Dh = mixed.shape
    return np.stack([mixed[h] @ w_out[:Dh] for h in range(H)])
''',
'''    H, T, Dh = mixed.shape
    y = np.zeros((H, T, H * Dh))
    for h in range(H):
        y[h] = mixed[h] @ w_out[h * Dh:(h + 1) * Dh]
    return y
''',
'''    H, T, Dh = mixed.shape
    return (mixed @ w_out.reshape(H, Dh, -1)).swapaxes(0, 1)
''',
'''    return mixed @ w_out
''')],
    "fewest_heads": [SEARCH + body for body in (
'''    for head in heads:
        if says((head,)) == word:
            return (head,)
    return ()
''',
'''    for head in heads:
        if says(head) == word:
            return head
''',
'''    for size in range(1, most):
        for off in combinations(heads, size):
            if says(off) == word:
                return off
    return ()
''',
'''    for size in range(most):
        for off in combinations(heads, size):
            if says(off) == word:
                return off
    return ()
''',
'''    for size in range(most + 1):
        for off in combinations(heads, size):
            if says(off) == word:
                return off
    return ()
''',
'''    for size in range(most, 0, -1):
        for off in combinations(heads, size):
            if says(off) == word:
                return off
    return ()
''',
'''    for size in range(1, len(heads) + 1):
        for off in combinations(heads, size):
            if says(off) == word:
                return off
    return ()
''',
'''    for size in range(1, 4):
        for off in combinations(heads, size):
            if says(off) == word:
                return off
    return ()
''',
'''    found = []
    for size in range(1, most + 1):
        for off in combinations(heads, size):
            if says(off) == word:
                found.append(off)
    return found
''',
'''    best = ()
    for size in range(1, most + 1):
        for off in combinations(heads, size):
            if says(off) == word:
                best = off
    return best
''',
'''    for size in range(1, most + 1):
        for off in combinations(heads, size):
            if says(off) == word:
                return size
    return ()
''',
'''    for size in range(1, most + 1):
        for off in combinations(heads, size):
            if says(off) == word.strip():
                return off
    return ()
''',
'''    for size in range(1, most + 1):
        for off in combinations(heads, size):
            if says(off) != word:
                return off
    return ()
''',
'''    for size in range(1, most + 1):
        for i in range(len(heads) - size + 1):
            off = tuple(heads[i:i + size])
            if says(off) == word:
                return off
    return ()
''',
'''    off = []
    for head in heads:
        off.append(head)
        if len(off) <= most and says(tuple(off)) == word:
            return tuple(off)
    return ()
''',
'''    for size in range(1, most + 1):
        for off in combinations(heads, size):
            on = [head for head in heads if head not in off]
            if says(on) == word:
                return off
    return ()
''',
'''    for size in range(1, most + 1):
        for off in combinations(heads, size):
            if says(off) == word:
                return off
        return ()
''')]}

RIGHT = {"attend_heads": [HEAD + body for body in (
'''    T, D = x.shape
    q, k, v = linear(x, w_qkv, b_qkv).reshape(T, 3, n_head, D // n_head).transpose(1, 2, 0, 3)
    if remember is not None:
        k, v = remember(k, v)
    return linear(attend(q, k, v).transpose(1, 0, 2).reshape(T, D), w_out, b_out)
''',
'''    D = x.shape[-1]
    qkv = linear(x, w_qkv, b_qkv)
    cut = lambda part: np.stack(np.split(part, n_head, axis=-1))
    q, k, v = cut(qkv[:, :D]), cut(qkv[:, D:2 * D]), cut(qkv[:, 2 * D:])
    if remember:
        k, v = remember(k, v)
    return linear(np.concatenate(list(attend(q, k, v)), axis=-1), w_out, b_out)
''',
'''    T, D = x.shape
    Dh = D // n_head
    qkv = linear(x, w_qkv, b_qkv)
    q, k, v = np.empty((3, n_head, T, Dh), x.dtype)
    for h in range(n_head):
        q[h] = qkv[:, h * Dh:(h + 1) * Dh]
        k[h] = qkv[:, D + h * Dh:D + (h + 1) * Dh]
        v[h] = qkv[:, 2 * D + h * Dh:2 * D + (h + 1) * Dh]
    if remember is not None:
        k, v = remember(k, v)
    mixed = attend(q, k, v)
    return linear(np.hstack([mixed[h] for h in range(n_head)]), w_out, b_out)
''',
'''    D = x.shape[1]
    parts = [linear(x, w_qkv[:, i * D:(i + 1) * D], b_qkv[i * D:(i + 1) * D]) for i in range(3)]
    q, k, v = [np.moveaxis(part.reshape(-1, n_head, D // n_head), 1, 0) for part in parts]
    if remember is not None:
        k, v = remember(k, v)
    merged = np.moveaxis(attend(q, k, v), 0, 1).reshape(-1, D)
    return linear(merged, w_out, b_out)
''',
'''    T, D = x.shape
    def cut(part):
        return np.ascontiguousarray(part.reshape(T, n_head, -1).transpose(1, 0, 2))
    q, k, v = map(cut, np.hsplit(linear(x, w_qkv, b_qkv), 3))
    if remember is not None:
        old_and_new = remember(k, v)
        k, v = old_and_new[0], old_and_new[1]
    mixed = np.stack([attend(q[h:h + 1], k[h:h + 1], v[h:h + 1])[0] for h in range(n_head)], 1)
    return linear(mixed.reshape(T, D), w_out, b_out)
''')],
    "head_parts": ["def head_parts(mixed, w_out):\n" + body for body in (
'''    H, T, Dh = mixed.shape
    return np.stack([mixed[h] @ w_out[h * Dh:(h + 1) * Dh] for h in range(H)])
''',)],
    "fewest_heads": [SEARCH + body for body in (
'''    for size in range(1, most + 1):
        for off in combinations(heads, size):
            if says(list(off)) == word:
                return list(off)
    return []
''',)]}
