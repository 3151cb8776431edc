"""Answers as different people write them, each wrong for some input, and some that are right."""
WRONG = {"induction_score": [
'''def induction_score(pattern, period):
    t = np.arange(period, pattern.shape[-1])
    return pattern[..., t, t - period].mean(axis=-1)
''',
'''def induction_score(pattern, period):
    t = np.arange(period, pattern.shape[-1])
    return pattern[..., t, t - period - 1].mean(axis=-1)
''',
'''def induction_score(pattern, period):
    t = np.arange(period, pattern.shape[-1])
    return pattern[..., t - period + 1, t].mean(axis=-1)
''',
'''def induction_score(pattern, period):
    t = np.arange(period, pattern.shape[-1])
    return pattern[..., t, t - period + 1].sum(axis=-1)
''',
'''def induction_score(pattern, period):
    T = pattern.shape[-1]
    t = np.arange(period, T)
    return pattern[..., t, t - period + 1].mean()
''',
'''def induction_score(pattern, period):
    T = len(pattern)
    return np.mean([pattern[t, t - period + 1] for t in range(period, T)])
''',
'''def induction_score(pattern, period):
    T = pattern.shape[-1]
    return pattern[..., period:, 1:T - period + 1].mean(axis=(-2, -1))
''',
'''def induction_score(pattern, period):
    stripe = np.diagonal(pattern, offset=1 - period, axis1=-2, axis2=-1)
    return stripe.mean(axis=-1)
''',
'''def induction_score(pattern, period):
    stripe = np.diagonal(pattern, offset=period - 1, axis1=-2, axis2=-1)
    return stripe[..., 1:].mean(axis=-1)
''',
'''def induction_score(pattern, period):
    t = np.arange(period, 2 * period)
    return pattern[..., t, t - period + 1].mean(axis=-1)
''',
'''def induction_score(pattern, period):
    total = 0.0
    for t in range(period, pattern.shape[-1]):
        total = total + pattern[..., t, t - period + 1]
    return total / pattern.shape[-1]
''',
'''def induction_score(pattern, period):
    t = np.arange(period, pattern.shape[-1])
    return pattern[..., t, t - period + 1].max(axis=-1)
''',
'''def induction_score(pattern, period):
    t = np.arange(period, pattern.shape[-1] - 1)
    return pattern[..., t, t - period + 1].mean(axis=-1)
''',
'''def induction_score(pattern, period):
    total = 0
    for t in range(period, pattern.shape[-1]):
        total += pattern[..., t, t - period + 1]
    return total / period
''',
'''def induction_score(pattern, period):
    T = pattern.shape[-1]
    scores = np.zeros(pattern.shape[:-2])
    for t in range(period, T):
        scores += pattern[..., t, t - period + 1] / (T - period)
    return scores
''',
'''def induction_score(pattern, period):
    t = np.arange(period, pattern.shape[-1])
    return pattern[..., t, t - period + 1].mean(axis=0)
''',
], "direct_logits": [
'''def direct_logits(parts, gain, bias, target, epsilon=1e-5):
    deviation = np.sqrt(parts.sum(axis=0).var() + epsilon)
    return np.append(parts / deviation * gain @ target, bias @ target)
''',
'''def direct_logits(parts, gain, bias, target, epsilon=1e-5):
    mean = parts.mean(axis=-1, keepdims=True)
    deviation = np.sqrt(parts.var(axis=-1, keepdims=True) + epsilon)
    return np.append((parts - mean) / deviation * gain @ target, bias @ target)
''',
'''def direct_logits(parts, gain, bias, target, epsilon=1e-5):
    sigma = np.sqrt(parts.sum(axis=0).var() + epsilon)
    rows = (parts - parts.mean(axis=-1, keepdims=True)) / sigma * gain
    return rows @ target
''',
'''def direct_logits(parts, gain, bias, target, epsilon=1e-5):
    sigma = np.sqrt(parts.sum(axis=0).var() + epsilon)
    rows = (parts - parts.mean(axis=-1, keepdims=True)) / sigma * gain
    return np.concatenate([[bias @ target], rows @ target])
''',
'''def direct_logits(parts, gain, bias, target, epsilon=1e-5):
    stream = parts.sum(axis=0)
    sigma = np.sqrt(stream.var() + epsilon)
    rows = (parts - stream.mean()) / sigma * gain
    return np.append(rows @ target, bias @ target)
''',
'''def direct_logits(parts, gain, bias, target, epsilon=1e-5):
    return np.append(layer_norm(parts, gain, bias, epsilon) @ target, bias @ target)
''',
'''def direct_logits(parts, gain, bias, target, epsilon=1e-5):
    sigma = parts.sum(axis=0).std() + epsilon
    rows = (parts - parts.mean(axis=-1, keepdims=True)) / sigma * gain
    return np.append(rows @ target, bias @ target)
''',
'''def direct_logits(parts, gain, bias, target, epsilon=1e-5):
    sigma = np.sqrt(parts.sum(axis=0).var() + epsilon)
    rows = (parts - parts.mean(axis=-1, keepdims=True)) / sigma
    return np.append(rows @ target, bias @ target)
''',
'''def direct_logits(parts, gain, bias, target, epsilon=1e-5):
    sigma = np.sqrt(parts.var() + epsilon)
    rows = (parts - parts.mean(axis=-1, keepdims=True)) / sigma * gain
    return np.append(rows @ target, bias @ target)
''',
'''def direct_logits(parts, gain, bias, target, epsilon=1e-5):
    sigma = np.sqrt(parts.sum(axis=0).var() + epsilon)
    rows = (parts - parts.mean(axis=-1, keepdims=True)) / sigma * gain + bias
    return np.append(rows @ target, bias @ target)
''',
'''def direct_logits(parts, gain, bias, target, epsilon=1e-5):
    sigma = np.sqrt(parts.sum(axis=0).var() + epsilon)
    rows = (parts - parts.mean(axis=0)) / sigma * gain
    return np.append(rows @ target, bias @ target)
''',
'''def direct_logits(parts, gain, bias, target, epsilon=1e-5):
    stream = parts.sum(axis=0)
    normed = (stream - stream.mean()) / np.sqrt(stream.var() + epsilon)
    return (normed * gain + bias) @ target
''',
'''def direct_logits(parts, gain, bias, target, epsilon=1e-5):
    sigma = parts.sum(axis=0).std()
    rows = (parts - parts.mean(axis=-1, keepdims=True)) / sigma * gain
    return np.append(rows @ target, bias @ target)
''',
'''def direct_logits(parts, gain, bias, target, epsilon=1e-5):
    variance = parts.sum(axis=0).var() + epsilon
    rows = (parts - parts.mean(axis=-1, keepdims=True)) / variance * gain
    return np.append(rows @ target, bias @ target)
''',
'''def direct_logits(parts, gain, bias, target, epsilon=1e-5):
    sigma = np.sqrt(parts.sum(axis=0).var() + epsilon)
    out = np.zeros(len(parts) + 1)
    for i, part in enumerate(parts):
        out[i] = ((part - part.mean()) / sigma * gain) @ target
    out[-1] = bias @ target
    return out
''',
'''def direct_logits(parts, gain, bias, target, epsilon=1e-5):
    sigma = np.sqrt(parts.sum(axis=0).var() + epsilon)
    rows = (parts - parts.mean(axis=-1, keepdims=True)) / sigma * gain
    return np.vstack([rows * target, bias * target])
''',
'''def direct_logits(parts, gain, bias, target, epsilon=1e-5):
    sigma = np.sqrt(parts.sum(axis=0).var() + epsilon)
    rows = (parts - parts.mean(axis=-1, keepdims=True)) / sigma * gain
    return np.append(rows @ target, bias.sum())
''',
]}
RIGHT = {"induction_score": [
'''def induction_score(weights, P):
    return np.diagonal(weights, 1 - P, -2, -1)[..., 1:].mean(-1)
''',
'''def induction_score(pattern, period):
    T = pattern.shape[-1]
    picked = [pattern[..., t, t - period + 1] for t in range(period, T)]
    return np.mean(picked, axis=0)
''',
'''def induction_score(pattern, period):
    T = pattern.shape[-1]
    total = np.zeros(pattern.shape[:-2], np.float32)
    for t in range(period, T):
        total = total + pattern[..., t, t - period + 1]
    return total / np.float32(T - period)
''',
'''def induction_score(pattern, period):
    below = pattern[..., period:, 1:]
    return np.trace(below, axis1=-2, axis2=-1) / np.float32(pattern.shape[-1] - period)
''',
'''def induction_score(pattern, period):
    T = pattern.shape[-1]
    mask = np.eye(T, k=1 - period, dtype=bool)
    mask[:period] = False
    return pattern[..., mask].mean(axis=-1)
''',
], "direct_logits": [
'''def direct_logits(p, g, b, w, eps=1e-5):
    s = np.sqrt(np.var(np.sum(p, axis=0)) + np.float32(eps))
    return np.append((p - p.mean(1)[:, None]) @ (g * w) / s, b @ w)
''',
'''def direct_logits(parts, gain, bias, target, epsilon=1e-5):
    stream = parts.sum(axis=0)
    sigma = np.sqrt(((stream - stream.mean()) ** 2).mean() + epsilon)
    out = np.zeros(len(parts) + 1, np.float32)
    for i, part in enumerate(parts):
        out[i] = ((part - part.mean()) / sigma * gain) @ target
    out[-1] = bias @ target
    return out
''',
'''def direct_logits(parts, gain, bias, target, epsilon=1e-5):
    sigma = np.sqrt(parts.sum(axis=0).var() + epsilon)
    rows = (parts - parts.mean(axis=-1, keepdims=True)) / sigma * gain
    return np.vstack([rows, bias]) @ target
''',
'''def direct_logits(parts, gain, bias, target, epsilon=1e-5):
    sigma = np.sqrt(parts.sum(axis=0).var() + epsilon)
    centred = parts - parts.mean(axis=-1, keepdims=True)
    added = (centred * gain * target).sum(axis=-1) / sigma
    return np.concatenate([added, [(bias * target).sum()]])
''',
'''def direct_logits(parts, gain, bias, target, epsilon=1e-5):
    sigma = (np.var(sum(parts)) + epsilon) ** 0.5
    added = [(part - part.mean()) / sigma * gain @ target for part in parts]
    return np.array(added + [bias @ target], np.float32)
''',
]}
