"""Lesson 11: answers as people write them, for probabilities and sample."""
HEAD = '''def probabilities(logits, temperature=1.0, top_k=None, top_p=None, min_p=None):
'''
GREEDY = '''    if temperature == 0:
        return np.where(np.arange(len(logits)) == logits.argmax(), 1.0, 0.0)
'''
SOFT = '''    probs = np.exp((logits - logits.max()) / temperature)
    probs = probs / probs.sum()
'''
TOP_K = '''    order = np.argsort(-logits, kind="stable")[:top_k]
'''
TOP_P = '''    if top_p is not None:
        total = np.cumsum(probs[order])
        order = order[:1 + (total < top_p * total[-1]).sum()]
'''
KEEP = '''    kept = np.zeros_like(probs)
    kept[order] = probs[order]
'''
MIN_P = '''    if min_p is not None:
        kept[kept < min_p * kept.max()] = 0
'''
END = '''    return kept / kept.sum()
'''

WRONG = {"probabilities": [HEAD + body for body in (
    GREEDY + '''    logits = logits * temperature
    probs = np.exp(logits - logits.max())
    probs = probs / probs.sum()
''' + TOP_K + TOP_P + KEEP + MIN_P + END,
    GREEDY + '''    probs = np.exp(logits - logits.max())
    probs = probs / probs.sum() / temperature
''' + TOP_K + TOP_P + KEEP + MIN_P + END,
    GREEDY + '''    probs = np.exp(logits / temperature)
    probs = probs / probs.sum()
''' + TOP_K + TOP_P + KEEP + MIN_P + END,
    SOFT + TOP_K + TOP_P + KEEP + MIN_P + END,
'''    if temperature == 0:
        best = (logits == logits.max()).astype(float)
        return best / best.sum()
''' + SOFT + TOP_K + TOP_P + KEEP + MIN_P + END,
'''    if temperature == 0:
        probs = np.zeros(len(logits))
        probs[np.argsort(logits)[-1]] = 1
        return probs
''' + SOFT + TOP_K + TOP_P + KEEP + MIN_P + END,
    GREEDY + SOFT + '''    order = np.argsort(-logits, kind="stable")
''' + TOP_P + KEEP + MIN_P + END,
    GREEDY + SOFT + '''    order = np.argsort(-logits, kind="stable")
    if top_k is not None:
        order = order[:top_k - 1]
''' + TOP_P + KEEP + MIN_P + END,
    GREEDY + SOFT + '''    if top_k is not None:
        smallest = np.sort(probs)[-top_k]
        probs = np.where(probs >= smallest, probs, 0)
    order = np.argsort(-probs, kind="stable")
''' + TOP_P + KEEP + MIN_P + END,
    GREEDY + SOFT + '''    order = np.argsort(logits, kind="stable")[:top_k]
''' + TOP_P + KEEP + MIN_P + END,
    GREEDY + SOFT + '''    order = np.argsort(-logits, kind="stable")
    order = order[:min(top_k, len(order))]
''' + TOP_P + KEEP + MIN_P + END,
    GREEDY + SOFT + TOP_K + '''    if top_p is not None:
        total = np.cumsum(probs[order])
        order = order[total <= top_p * total[-1]]
''' + KEEP + MIN_P + END,
    GREEDY + SOFT + TOP_K + '''    if top_p is not None:
        total = np.cumsum(probs[order])
        order = order[:2 + (total < top_p * total[-1]).sum()]
''' + KEEP + MIN_P + END,
    GREEDY + SOFT + TOP_K + '''    if top_p is not None:
        total = np.cumsum(probs[order])
        order = order[:1 + (total < top_p).sum()]
''' + KEEP + MIN_P + END,
    GREEDY + SOFT + TOP_K + '''    if top_p is not None:
        order = np.sort(order)
        total = np.cumsum(probs[order])
        order = order[:1 + (total < top_p * total[-1]).sum()]
''' + KEEP + MIN_P + END,
    GREEDY + SOFT + TOP_K + TOP_P + KEEP + '''    if min_p is not None:
        kept[kept < min_p] = 0
''' + END,
    GREEDY + SOFT + TOP_K + TOP_P + KEEP + '''    if min_p is not None:
        kept[kept <= min_p * kept.max()] = 0
''' + END,
    GREEDY + SOFT + '''    if min_p is not None:
        probs[probs < min_p * probs.max()] = 0
        probs = probs / probs.sum()
''' + TOP_K + TOP_P + KEEP + END,
    GREEDY + SOFT + TOP_K + TOP_P + KEEP + MIN_P + '''    return kept
''',
    GREEDY + SOFT + TOP_K + TOP_P + '''    kept = probs[order]
''' + MIN_P + END,
    GREEDY + '''    probs = np.exp(logits - logits.max())
''' + TOP_K + TOP_P + KEEP + MIN_P + '''    kept = kept ** (1 / temperature)
''' + END,
    GREEDY + '''    logits /= temperature
    logits -= logits.max()
    probs = np.exp(logits)
''' + TOP_K + TOP_P + KEEP + MIN_P + END,
'''    temperature = max(temperature, 1e-6)
''' + SOFT + TOP_K + TOP_P + KEEP + MIN_P + END,
    GREEDY + SOFT + '''    kept = probs
    order = np.argsort(-logits, kind="stable")
    if top_k is not None:
        order = order[:top_k]
    elif top_p is not None:
        order = order[:1 + (np.cumsum(probs[order]) < top_p).sum()]
    elif min_p is not None:
        order = order[probs[order] >= min_p * probs.max()]
''' + KEEP + END,
'''    if temperature == 0:
        return int(logits.argmax())
''' + SOFT + TOP_K + TOP_P + KEEP + MIN_P + END,
    GREEDY + '''    z = logits / temperature
    order = np.argsort(-z, kind="stable")
    if top_k is not None:
        z = np.where(np.isin(np.arange(len(z)), order[:top_k]), z, 0)
    probs = np.exp(z - z.max())
    probs = probs / probs.sum()
''' + TOP_P + KEEP + MIN_P + END,
    GREEDY + SOFT + '''    order = np.argsort(logits)[::-1][:top_k]
''' + TOP_P + KEEP + MIN_P + END,
    GREEDY + SOFT + '''    order = np.argsort(-logits, kind="stable")
''' + TOP_P + '''    order = order[:top_k]
''' + KEEP + MIN_P + END,
    GREEDY + '''    probs = np.exp(logits - logits.max() / temperature)
    probs = probs / probs.sum()
''' + TOP_K + TOP_P + KEEP + MIN_P + END,
    GREEDY + SOFT + TOP_K + '''    if top_p is not None:
        order = order[probs[order] > 1 - top_p]
''' + KEEP + MIN_P + END)], "sample": [
'''def sample(probs, u):
    total = np.cumsum(probs)
    return int(np.searchsorted(total, u * total[-1]))
''',
'''def sample(probs, u):
    return int(np.searchsorted(np.cumsum(probs), u, side="right"))
''',
'''def sample(probs, u):
    return int(np.random.choice(len(probs), p=probs / probs.sum()))
''',
'''def sample(probs, u):
    return int(np.argmax(probs))
''',
'''def sample(probs, u):
    return int(u * len(probs))
''',
'''def sample(probs, u):
    for i, p in enumerate(probs):
        if u < p:
            return i
    return len(probs) - 1
''',
'''def sample(probs, u):
    u = u * probs.sum()
    total = 0.0
    for i, p in enumerate(probs):
        total += p
        if u <= total:
            return i
''',
'''def sample(probs, u):
    total, i = 0.0, 0
    while total <= u * probs.sum():
        total += probs[i]
        i += 1
    return i
''',
'''def sample(probs, u):
    order = np.argsort(-probs, kind="stable")
    total = np.cumsum(probs[order])
    return int(order[np.searchsorted(total, u * total[-1], side="right")])
''',
'''def sample(probs, u):
    total = np.cumsum(probs)
    return float(probs[np.searchsorted(total, u * total[-1], side="right")])
''',
'''def sample(probs, u):
    total = np.cumsum(probs)
    return int(np.searchsorted(total, (1 - u) * total[-1], side="right"))
''',
'''def sample(probs, u):
    total = np.cumsum(probs)
    return int((total > u).argmax())
''',
'''def sample(probs, u):
    total = np.cumsum(probs)
    return len(total[total < u * total[-1]])
''',
'''def sample(probs, u):
    running = 0.0
    for i in range(len(probs)):
        running += probs[i]
        if running > u:
            return i
    return len(probs) - 1
''',
'''def sample(probs, u):
    kept = probs[probs > 0]
    total = np.cumsum(kept)
    return int(np.searchsorted(total, u * total[-1], side="right"))
''',
'''def sample(probs, u):
    probs /= probs.sum()
    return int((np.cumsum(probs) > u).argmax())
''',
'''def sample(probs, u):
    return round(u * (len(probs) - 1))
''',
'''def sample(probs, u):
    total = np.cumsum(probs)
    return np.where(total > u * total[-1])[0]
''',
'''def sample(probs, u):
    total = np.cumsum(probs)
    return float(np.searchsorted(total, u * total[-1], side="right"))
''',
'''def sample(probs, u):
    return int(np.searchsorted(probs, u, side="right"))
''',
'''def sample(probs, u):
    total = np.cumsum(probs)
    return int(np.abs(total - u * total[-1]).argmin())
''',
'''def sample(probs, u):
    return int(np.abs(probs - u).argmin())
''',
'''def sample(probs, u):
    total = np.cumsum(probs)
    return int(np.searchsorted(total, u * total[-1], side="right")) - 1
''',
'''def sample(probs, u):
    total = np.cumsum(probs)
    i = np.searchsorted(total, u * total[-1], side="right")
    one = np.zeros(len(probs))
    one[i] = 1
    return one
''',
'''def sample(probs, u):
    return int((probs > u).argmax())
''',
'''def sample(probs, u):
    total = np.cumsum(probs)
    return int(np.searchsorted(total, u * total.sum(), side="right"))
''',
'''def sample(probs, u):
    for i in range(len(probs)):
        if sum(probs[:i]) > u * sum(probs):
            return i
    return len(probs) - 1
''',
'''def sample(probs, u):
    total = np.cumsum(probs[::-1])
    return int(np.searchsorted(total, u * total[-1], side="right"))
''',
'''def sample(probs, u):
    e = np.exp(probs - probs.max())
    total = np.cumsum(e / e.sum())
    return int(np.searchsorted(total, u, side="right"))
''',
'''def sample(probs, u):
    total = np.cumsum(probs)
    return int(np.digitize(u * total[-1], total)) + 1
''']}

RIGHT = {"probabilities": [
'''def probabilities(logits, temperature=1.0, top_k=None, top_p=None, min_p=None):
    n = len(logits)
    if temperature == 0:
        out = np.zeros(n)
        out[np.argmax(logits)] = 1
        return out
    top = max(logits)
    weights = [math.exp((z - top) / temperature) for z in logits]
    order = sorted(range(n), key=lambda i: -logits[i])[:top_k]
    if top_p is not None:
        whole, total, kept = sum(weights[i] for i in order), 0.0, []
        for i in order:
            if kept and total >= top_p * whole:
                break
            kept.append(i)
            total += weights[i]
        order = kept
    if min_p is not None:
        order = [i for i in order if weights[i] >= min_p * weights[order[0]]]
    whole = sum(weights[i] for i in order)
    return np.array([weights[i] / whole if i in order else 0.0 for i in range(n)])
''',
'''def probabilities(z, temperature=1.0, top_k=None, top_p=None, min_p=None):
    if temperature == 0:
        return np.eye(len(z))[z.argmax()]
    z = (z - z.max()) / temperature
    order = np.lexsort((np.arange(len(z)), -z))
    if top_k is not None:
        z = np.where(np.isin(np.arange(len(z)), order[:top_k]), z, -np.inf)
    p = np.exp(z) / np.exp(z).sum()
    if top_p is not None:
        before = np.cumsum(p[order]) - p[order]
        drop = order[before >= top_p]
        drop = drop[drop != order[0]]
        p[drop] = 0
        p = p / p.sum()
    if min_p is not None:
        p = np.where(p >= min_p * p.max(), p, 0)
        p = p / p.sum()
    return p
''',
'''def probabilities(logits, temperature=1.0, top_k=None, top_p=None, min_p=None):
    if temperature == 0:
        temperature, top_k = 1.0, 1
    order = np.argsort(-logits, kind="stable")
    p = np.exp((logits[order] - logits[order[0]]) / temperature)
    p[top_k or len(p):] = 0
    p = p / p.sum()
    if top_p is not None:
        p[1 + np.searchsorted(np.cumsum(p), top_p):] = 0
    if min_p is not None:
        p *= p >= min_p * p[0]
    back = np.empty_like(p)
    back[order] = p / p.sum()
    return back
''',
    HEAD + GREEDY + SOFT + TOP_K + TOP_P + KEEP + MIN_P + END,
'''def probabilities(
        logits, temperature=1.0, top_k=None, top_p=None, min_p=None):
    ids = list(range(len(logits)))
    best = max(ids, key=lambda i: logits[i])
    if temperature == 0:
        return np.array([float(i == best) for i in ids])
    weight = {i: math.exp((logits[i] - logits[best]) / temperature) for i in ids}
    ids.sort(key=lambda i: logits[i], reverse=True)
    if top_k is not None:
        ids = ids[:top_k]
    if top_p is not None:
        share, count = 0.0, 0
        whole = math.fsum(weight[i] for i in ids)
        while share < top_p * whole and count < len(ids) or count == 0:
            share += weight[ids[count]]
            count += 1
        ids = ids[:count]
    if min_p is not None:
        ids = [i for i in ids if not weight[i] < min_p * weight[best]]
    result = np.zeros(len(logits))
    for i in ids:
        result[i] = weight[i] / math.fsum(weight[j] for j in ids)
    return result
'''], "sample": [
'''def sample(probs, u):
    total = np.cumsum(probs)
    return (total > u * total[-1]).argmax()
''',
'''def sample(p, u):
    target, running = u * sum(p), 0.0
    for i, one in enumerate(p):
        running += one
        if running > target:
            return i
''',
'''def sample(probs, u):
    total = np.cumsum(probs)
    return np.searchsorted(total / total[-1], u, side="right")
''',
'''def sample(probs, u):
    total = probs.cumsum()
    return int((total <= u * total[-1]).sum())
''',
'''def sample(probs, u):
    ends = np.add.accumulate(probs)
    return int(np.flatnonzero(ends > ends[-1] * u)[0])
''']}
