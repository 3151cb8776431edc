"""Answers as different people write them, each wrong for some input, and some that are right."""
WRONG = {"write_loop": [
'''def write_loop(next_logits, ids, max_new_tokens, context, end):
    ids, start = list(ids), len(ids)
    while len(ids) - start < max_new_tokens:
        if len(ids) == context:
            return ids, "context full"
        chosen = int(np.argmax(next_logits(ids)))
        if chosen == end:
            return ids, "end token"
        ids.append(chosen)
    return ids, "enough"
''',
'''def write_loop(next_logits, ids, max_new_tokens, context, end):
    ids, new = list(ids), []
    for _ in range(max_new_tokens):
        chosen = int(next_logits(ids).argmax())
        if chosen == end:
            return new, "end token"
        ids.append(chosen)
        new.append(chosen)
    return new, "enough"
''',
'''def write_loop(next_logits, ids, max_new_tokens, context, end):
    text, new = list(ids), []
    while len(new) < max_new_tokens:
        if len(text) > context:
            return new, "context full"
        best = int(np.argmax(next_logits(text)))
        if best == end:
            return new, "end token"
        text.append(best)
        new.append(best)
    return new, "enough"
''',
'''def write_loop(next_logits, ids, max_new_tokens, context, end):
    text, new = list(ids), []
    for i in range(max_new_tokens):
        if len(text) >= context - 1:
            return new, "context full"
        best = int(np.argmax(next_logits(text)))
        if best == end:
            return new, "end token"
        text += [best]
        new += [best]
    return new, "enough"
''',
'''def write_loop(next_logits, ids, max_new_tokens, context, end):
    text, new = list(ids), []
    while len(new) < max_new_tokens:
        if len(text) == context:
            return new, "context full"
        token = int(np.argmax(next_logits(text)))
        text.append(token)
        new.append(token)
        if token == end:
            return new, "end token"
    return new, "enough"
''',
'''def write_loop(next_logits, ids, max_new_tokens, context, end):
    text, new = list(ids), []
    while True:
        if text[-1] == end:
            return new, "end token"
        if len(new) == max_new_tokens:
            return new, "enough"
        if len(text) == context:
            return new, "context full"
        token = int(np.argmax(next_logits(text)))
        text.append(token)
        if token != end:
            new.append(token)
''',
'''def write_loop(next_logits, ids, max_new_tokens, context, end):
    ids, new = list(ids), []
    while True:
        if len(ids) >= context:
            return new, "context full"
        if len(new) >= max_new_tokens:
            return new, "enough"
        token = int(np.argmax(next_logits(ids)))
        if token == end:
            return new, "end token"
        ids.append(token)
        new.append(token)
''',
'''def write_loop(next_logits, ids, max_new_tokens, context, end):
    ids, new = list(ids), []
    while len(new) < max_new_tokens:
        if len(ids) == context:
            return new, "context full"
        token = int(np.argmax(next_logits(ids[-1:])))
        if token == end:
            return new, "end token"
        ids.append(token)
        new.append(token)
    return new, "enough"
''',
'''def write_loop(next_logits, ids, max_new_tokens, context, end):
    new = []
    while len(new) < max_new_tokens:
        if len(ids) + len(new) == context:
            return new, "context full"
        token = int(np.argmax(next_logits(new or ids)))
        if token == end:
            return new, "end token"
        new.append(token)
    return new, "enough"
''',
'''def write_loop(next_logits, ids, max_new_tokens, context, end):
    new = []
    while len(new) < max_new_tokens:
        if len(ids) == context:
            return new, "context full"
        token = int(np.argmax(next_logits(ids)))
        if token == end:
            return new, "end token"
        ids.append(token)
        new.append(token)
    return new, "enough"
''',
'''def write_loop(next_logits, ids, max_new_tokens, context, end):
    ids, new = list(ids), []
    while len(new) < max_new_tokens and len(ids) < context:
        token = int(np.argmax(next_logits(ids)))
        if token == end:
            break
        ids.append(token)
        new.append(token)
    return new
''',
'''def write_loop(next_logits, ids, max_new_tokens, context, end):
    ids, new = list(ids), []
    while len(new) < max_new_tokens:
        if len(ids) == context:
            return new, "context_full"
        token = int(np.argmax(next_logits(ids)))
        if token == end:
            return new, "eos"
        ids.append(token)
        new.append(token)
    return new, "max_new_tokens"
''',
'''def write_loop(next_logits, ids, max_new_tokens, context, end):
    ids, new = list(ids), []
    while len(new) < max_new_tokens:
        if len(ids) == context:
            return new, "context full"
        token = int(np.argmax(next_logits(ids)))
        if end and token == end:
            return new, "end token"
        ids.append(token)
        new.append(token)
    return new, "enough"
''',
'''def write_loop(next_logits, ids, max_new_tokens, context, end):
    ids, new = list(ids), []
    while len(new) < max_new_tokens:
        if len(ids) == context:
            return new, "context full"
        token = int(np.argsort(next_logits(ids))[0])
        if token == end:
            return new, "end token"
        ids.append(token)
        new.append(token)
    return new, "enough"
''',
'''def write_loop(next_logits, ids, max_new_tokens, context, end):
    ids, new = list(ids), []
    while True:
        token = int(np.argmax(next_logits(ids)))
        if token == end:
            return new, "end token"
        ids.append(token)
        new.append(token)
        if len(new) >= max_new_tokens:
            return new, "enough"
        if len(ids) >= context:
            return new, "context full"
''',
'''def write_loop(next_logits, ids, max_new_tokens, context, end):
    new = []
    while len(new) < max_new_tokens:
        if len(ids) + len(new) >= context:
            return new, "context full"
        token = int(np.argmax(next_logits(ids)))
        if token == end:
            return new, "end token"
        new.append(token)
    return new, "enough"
''',
'''def write_loop(next_logits, ids, max_new_tokens, context, end):
    ids, new = list(ids), []
    while len(ids) < max_new_tokens:
        if len(ids) == context:
            return new, "context full"
        token = int(np.argmax(next_logits(ids)))
        if token == end:
            return new, "end token"
        ids.append(token)
        new.append(token)
    return new, "enough"
''',
'''def write_loop(next_logits, ids, max_new_tokens, context, end):
    ids, new = list(ids), []
    for _ in range(max_new_tokens):
        window = ids[-context:]
        token = int(np.argmax(next_logits(window)))
        if token == end:
            return new, "end token"
        ids.append(token)
        new.append(token)
    return new, "enough" if len(ids) < context else "context full"
''',
'''def write_loop(next_logits, ids, max_new_tokens, context, end):
    ids, new = list(ids), []
    while len(new) < max_new_tokens:
        if len(ids) == context:
            return "context full", new
        token = int(np.argmax(next_logits(ids)))
        if token == end:
            return "end token", new
        ids.append(token)
        new.append(token)
    return "enough", new
''',
'''def write_loop(next_logits, ids, max_new_tokens, context, end):
    rng = np.random.default_rng(0)
    ids, new = list(ids), []
    while len(new) < max_new_tokens:
        if len(ids) == context:
            return new, "context full"
        z = np.asarray(next_logits(ids), np.float64)
        p = np.exp(z - z.max())
        token = int(rng.choice(len(p), p=p / p.sum()))
        if token == end:
            return new, "end token"
        ids.append(token)
        new.append(token)
    return new, "enough"
''',
'''def write_loop(next_logits, ids, max_new_tokens, context, end):
    ids, new = list(ids), []
    while len(new) < max_new_tokens:
        if len(ids) == context:
            return new, "context full"
        token = int(np.argmax(next_logits(ids)[-1]))
        if token == end:
            return new, "end token"
        ids.append(token)
        new.append(token)
    return new, "enough"
''',
'''def write_loop(next_logits, ids, max_new_tokens, context, end):
    ids, new = list(ids), []
    while len(new) < max_new_tokens:
        if len(ids) == context:
            return new, "context full"
        token = int(np.argmax(next_logits(ids)))
        if token is end:
            return new, "end token"
        ids.append(token)
        new.append(token)
    return new, "enough"
''',
'''def write_loop(next_logits, ids, max_new_tokens, context, end):
    ids = list(ids)
    for _ in range(max_new_tokens):
        if len(ids) == context:
            return
        token = int(np.argmax(next_logits(ids)))
        if token == end:
            return
        ids.append(token)
        yield token
''',
'''def write_loop(next_logits, ids, max_new_tokens, context, end):
    if end is None:
        end = 50256
    text, new, reason = list(ids), [], "enough"
    while len(new) < max_new_tokens:
        if len(text) == context:
            reason = "context full"
        token = int(np.argmax(next_logits(text)))
        if token == end:
            reason = "end token"
        text.append(token)
        new.append(token)
    return new, reason
''',
'''def write_loop(next_logits, ids, max_new_tokens, context, end):
    ids, new = list(ids), []
    while len(new) < max_new_tokens:
        if len(new) == context:
            return new, "context full"
        token = int(np.argmax(next_logits(ids)))
        if token == end:
            return new, "end token"
        ids.append(token)
        new.append(token)
    return new, "enough"
''',
'''def write_loop(next_logits, ids, max_new_tokens, context, end):
    ids, new = list(ids), []
    while len(new) <= max_new_tokens:
        if len(ids) == context:
            return new, "context full"
        token = int(np.argmax(next_logits(ids)))
        if token == end:
            return new, "end token"
        ids.append(token)
        new.append(token)
    return new, "enough"
''',
'''def write_loop(next_logits, ids, max_new_tokens, context, end):
    ids, new = np.array(ids), np.array([])
    while len(new) < max_new_tokens:
        if len(ids) == context:
            return new, "context full"
        token = np.argmax(next_logits(ids))
        if token == end:
            return new, "end token"
        ids = np.append(ids, token)
        new = np.append(new, token)
    return new, "enough"
''',
'''def write_loop(next_logits, ids, max_new_tokens, context, end):
    ids, new = list(ids), []
    while len(new) < max_new_tokens:
        if len(ids) == context:
            break
        token = int(np.argmax(next_logits(ids)))
        if token == end:
            break
        ids.append(token)
        new.append(token)
    return new, "enough"
''',
'''def write_loop(next_logits, ids, max_new_tokens, context, end):
    ids, new = list(ids), []
    while max_new_tokens > 0:
        if len(ids) == context:
            return new, "context full"
        token = int(np.argmax(next_logits(ids)))
        if token == end:
            return new, "end of text"
        ids.append(token)
        new.append(token)
        max_new_tokens -= 1
    return new, "max tokens"
''',
'''def write_loop(next_logits, ids, max_new_tokens, context, end):
    ids, new = list(ids), []
    while len(new) < max_new_tokens:
        if len(ids) == context:
            return new, "context full"
        token = int(np.argmax(next_logits(ids)))
        ids.append(token)
        if token == end:
            continue
        new.append(token)
    return new, "enough"
''',
]}
RIGHT = {"write_loop": [
'''def write_loop(model, prompt, n, size, stop):
    text = list(prompt)
    for _ in range(n):
        if len(text) >= size:
            return text[len(prompt):], "context full"
        token = model(text).argmax()
        if token == stop:
            return text[len(prompt):], "end token"
        text.append(token)
    return text[len(prompt):], "enough"
''',
'''def write_loop(next_logits, ids, max_new_tokens, context, end):
    new, reason = [], "enough"
    while len(new) < max_new_tokens:
        if len(ids) + len(new) == context:
            reason = "context full"
            break
        logits = list(next_logits(list(ids) + new))
        best = logits.index(max(logits))
        if end is not None and best == end:
            reason = "end token"
            break
        new.append(best)
    return new, reason
''',
'''def write_loop(next_logits, ids, max_new_tokens, context, end):
    if max_new_tokens == 0:
        return [], "enough"
    if len(ids) == context:
        return [], "context full"
    token = int(np.argmax(next_logits(ids)))
    if token == end:
        return [], "end token"
    rest, reason = write_loop(next_logits, [*ids, token], max_new_tokens - 1, context, end)
    return [token] + rest, reason
''',
'''def write_loop(next_logits, ids, max_new_tokens, context, end):
    text = np.array(ids, dtype=int)
    start = len(text)
    while len(text) - start < max_new_tokens:
        if len(text) == context:
            return text[start:], "context full"
        token = np.argmax(next_logits(text))
        if token == end:
            return text[start:], "end token"
        text = np.append(text, token)
    return text[start:], "enough"
''',
'''def write_loop(next_logits, ids, max_new_tokens, context, end):
    room = context - len(ids)
    ids, new = list(ids), []
    for _ in range(min(max_new_tokens, room)):
        token = int(np.argmax(next_logits(ids)))
        if token == end:
            return new, "end token"
        ids.append(token)
        new.append(token)
    return new, "enough" if max_new_tokens <= room else "context full"
''',
]}
