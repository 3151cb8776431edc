"""Answers as different people write them, each wrong for some input, and some that are right."""
WRONG = {"write_loop": [
'''def write_loop(next_logits, ids, max_new_tokens, context, end, choose):
    ids, new = list(ids), []
    for _ in range(max_new_tokens):
        if len(ids) == context:
            return new, "context full"
        chosen = choose(next_logits(ids))
        if chosen == end:
            return new, "end token"
        new.append(chosen)
        ids.append(chosen)
    return new, "enough"
''',
'''def write_loop(next_logits, ids, max_new_tokens, context, end, choose):
    ids, new = list(ids), []
    while len(new) < max_new_tokens and len(ids) < context:
        chosen = choose(next_logits(ids))
        if chosen == end:
            break
        new.append(chosen)
        ids.append(chosen)
    return new
''',
'''def write_loop(next_logits, ids, max_new_tokens, context, end, choose):
    ids, new, reason = list(ids), [], "enough"
    while len(new) < max_new_tokens:
        if len(ids) == context:
            reason = "context full"
            break
        chosen = choose(next_logits(ids))
        if chosen == end:
            reason = "end token"
            break
        new.append(chosen)
        ids.append(chosen)
    for i in new:
        yield i
    return reason
''',
'''def write_loop(next_logits, ids, max_new_tokens, context, end, choose):
    ids, new = list(ids), []
    for _ in range(max_new_tokens):
        if len(ids) == context:
            break
        chosen = choose(next_logits(ids))
        if chosen == end:
            break
        new.append(chosen)
        ids.append(chosen)
        print(chosen)
''',
'''def write_loop(next_logits, ids, max_new_tokens, context, end, choose):
    ids = list(ids)
    for _ in range(max_new_tokens):
        if len(ids) == context:
            return "context full"
        chosen = choose(next_logits(ids))
        if chosen == end:
            return "end token"
        ids.append(chosen)
    return "enough"
''',
'''def write_loop(next_logits, ids, max_new_tokens, context, end, choose):
    ids = list(ids)
    for _ in range(max_new_tokens):
        if len(ids) == context:
            return "context full"
        chosen = choose(next_logits(ids))
        if chosen == end:
            return "end token"
        ids.append(chosen)
        return chosen
    return "enough"
''',
'''def write_loop(next_logits, ids, max_new_tokens, context, end, choose):
    ids = list(ids)
    for _ in range(max_new_tokens):
        if len(ids) == context:
            return "context full"
        chosen = choose(next_logits(ids))
        if chosen == end:
            return "end token"
        ids.append(chosen)
        yield ids
    return "enough"
''',
'''def write_loop(next_logits, ids, max_new_tokens, context, end, choose):
    ids, new = list(ids), []
    for _ in range(max_new_tokens):
        if len(ids) == context:
            return "context full"
        chosen = choose(next_logits(ids))
        if chosen == end:
            return "end token"
        ids.append(chosen)
        new.append(chosen)
    yield new
    return "enough"
''',
'''def write_loop(next_logits, ids, max_new_tokens, context, end, choose):
    ids, new = list(ids), []
    for _ in range(max_new_tokens):
        if len(ids) == context:
            return new, "context full"
        chosen = choose(next_logits(ids))
        if chosen == end:
            return new, "end token"
        ids.append(chosen)
        new.append(chosen)
        yield chosen
    return new, "enough"
''',
'''def write_loop(next_logits, ids, max_new_tokens, context, end, choose):
    ids = list(ids)
    for _ in range(max_new_tokens):
        if len(ids) == context:
            return
        chosen = choose(next_logits(ids))
        if chosen == end:
            return
        yield chosen
        ids.append(chosen)
''',
'''def write_loop(next_logits, ids, max_new_tokens, context, end, choose):
    ids = list(ids)
    for _ in range(max_new_tokens):
        if len(ids) == context:
            yield "context full"
            return
        chosen = choose(next_logits(ids))
        if chosen == end:
            yield "end token"
            return
        yield chosen
        ids.append(chosen)
    yield "enough"
''',
'''def write_loop(next_logits, ids, max_new_tokens, context, end, choose):
    ids = list(ids)
    for _ in range(max_new_tokens):
        if len(ids) == context:
            break
        chosen = choose(next_logits(ids))
        if chosen == end:
            break
        yield chosen
        ids.append(chosen)
    return "enough"
''',
'''def write_loop(next_logits, ids, max_new_tokens, context, end, choose):
    ids = list(ids)
    for _ in range(max_new_tokens):
        if len(ids) == context:
            return "context_full"
        chosen = choose(next_logits(ids))
        if chosen == end:
            return "eos"
        yield chosen
        ids.append(chosen)
    return "max_new_tokens"
''',
'''def write_loop(next_logits, ids, max_new_tokens, context, end, choose):
    ids = list(ids)
    for _ in range(max_new_tokens):
        if len(ids) == context:
            return "context full"
        chosen = choose(next_logits(ids))
        if chosen == end:
            return "end of text"
        yield chosen
        ids.append(chosen)
    return "max tokens"
''',
'''def write_loop(next_logits, ids, max_new_tokens, context, end, choose):
    ids = list(ids)
    for _ in range(max_new_tokens):
        if len(ids) == context:
            return "context full"
        chosen = choose(next_logits(ids))
        yield chosen
        if chosen == end:
            return "end token"
        ids.append(chosen)
    return "enough"
''',
'''def write_loop(next_logits, ids, max_new_tokens, context, end, choose):
    ids = list(ids)
    for _ in range(max_new_tokens):
        if len(ids) == context:
            return "context full"
        chosen = choose(next_logits(ids))
        if end and chosen == end:
            return "end token"
        yield chosen
        ids.append(chosen)
    return "enough"
''',
'''def write_loop(next_logits, ids, max_new_tokens, context, end, choose):
    ids = list(ids)
    for _ in range(max_new_tokens):
        if len(ids) == context:
            return "context full"
        chosen = choose(next_logits(ids))
        if chosen is end:
            return "end token"
        yield chosen
        ids.append(chosen)
    return "enough"
''',
'''def write_loop(next_logits, ids, max_new_tokens, context, end, choose):
    ids = list(ids)
    for _ in range(max_new_tokens):
        if ids[-1] == end:
            return "end token"
        if len(ids) == context:
            return "context full"
        chosen = choose(next_logits(ids))
        yield chosen
        ids.append(chosen)
    return "enough"
''',
'''def write_loop(next_logits, ids, max_new_tokens, context, end, choose):
    ids, given = list(ids), 0
    while given < max_new_tokens:
        if len(ids) == context:
            return "context full"
        chosen = choose(next_logits(ids))
        ids.append(chosen)
        if chosen == end:
            continue
        given += 1
        yield chosen
    return "enough"
''',
'''def write_loop(next_logits, ids, max_new_tokens, context, end, choose):
    ids = list(ids)
    for _ in range(max_new_tokens):
        if len(ids) == context:
            return "context full"
        chosen = choose(next_logits(ids))
        yield chosen
        ids.append(chosen)
    return "enough"
''',
'''def write_loop(next_logits, ids, max_new_tokens, context, end, choose):
    ids = list(ids)
    for _ in range(max_new_tokens + 1):
        if len(ids) == context:
            return "context full"
        chosen = choose(next_logits(ids))
        if chosen == end:
            return "end token"
        yield chosen
        ids.append(chosen)
    return "enough"
''',
'''def write_loop(next_logits, ids, max_new_tokens, context, end, choose):
    ids = list(ids)
    while len(ids) < max_new_tokens:
        if len(ids) == context:
            return "context full"
        chosen = choose(next_logits(ids))
        if chosen == end:
            return "end token"
        yield chosen
        ids.append(chosen)
    return "enough"
''',
'''def write_loop(next_logits, ids, max_new_tokens, context, end, choose):
    ids = list(ids)
    for _ in range(1, max_new_tokens):
        if len(ids) == context:
            return "context full"
        chosen = choose(next_logits(ids))
        if chosen == end:
            return "end token"
        yield chosen
        ids.append(chosen)
    return "enough"
''',
'''def write_loop(next_logits, ids, max_new_tokens, context, end, choose):
    ids = list(ids)
    for _ in range(max_new_tokens):
        if len(ids) > context:
            return "context full"
        chosen = choose(next_logits(ids))
        if chosen == end:
            return "end token"
        yield chosen
        ids.append(chosen)
    return "enough"
''',
'''def write_loop(next_logits, ids, max_new_tokens, context, end, choose):
    ids = list(ids)
    for _ in range(max_new_tokens):
        if len(ids) >= context - 1:
            return "context full"
        chosen = choose(next_logits(ids))
        if chosen == end:
            return "end token"
        yield chosen
        ids.append(chosen)
    return "enough"
''',
'''def write_loop(next_logits, ids, max_new_tokens, context, end, choose):
    ids, given = list(ids), 0
    while True:
        if len(ids) >= context:
            return "context full"
        if given == max_new_tokens:
            return "enough"
        chosen = choose(next_logits(ids))
        if chosen == end:
            return "end token"
        yield chosen
        ids.append(chosen)
        given += 1
''',
'''def write_loop(next_logits, ids, max_new_tokens, context, end, choose):
    ids = list(ids)
    for i in range(max_new_tokens):
        if i == context:
            return "context full"
        chosen = choose(next_logits(ids))
        if chosen == end:
            return "end token"
        yield chosen
        ids.append(chosen)
    return "enough"
''',
'''def write_loop(next_logits, ids, max_new_tokens, context, end, choose):
    ids = list(ids)
    for _ in range(max_new_tokens):
        chosen = choose(next_logits(ids))
        if chosen == end:
            return "end token"
        if len(ids) == context:
            return "context full"
        yield chosen
        ids.append(chosen)
    return "enough"
''',
'''def write_loop(next_logits, ids, max_new_tokens, context, end, choose):
    ids = list(ids)
    for _ in range(max_new_tokens):
        chosen = choose(next_logits(ids[-context:]))
        if chosen == end:
            return "end token"
        yield chosen
        ids.append(chosen)
    return "enough"
''',
'''def write_loop(next_logits, ids, max_new_tokens, context, end, choose):
    ids = list(ids)
    for _ in range(max_new_tokens):
        if len(ids) == context:
            return "context full"
        chosen = choose(next_logits(ids[-1:]))
        if chosen == end:
            return "end token"
        yield chosen
        ids.append(chosen)
    return "enough"
''',
'''def write_loop(next_logits, ids, max_new_tokens, context, end, choose):
    for _ in range(max_new_tokens):
        if len(ids) == context:
            return "context full"
        chosen = choose(next_logits(ids))
        if chosen == end:
            return "end token"
        yield chosen
    return "enough"
''',
'''def write_loop(next_logits, ids, max_new_tokens, context, end, choose):
    for _ in range(max_new_tokens):
        if len(ids) == context:
            return "context full"
        chosen = choose(next_logits(ids))
        if chosen == end:
            return "end token"
        yield chosen
        ids.append(chosen)
    return "enough"
''',
'''def write_loop(next_logits, ids, max_new_tokens, context, end, choose):
    ids, logits = list(ids), next_logits(ids)
    for _ in range(max_new_tokens):
        if len(ids) == context:
            return "context full"
        chosen = choose(logits)
        if chosen == end:
            return "end token"
        yield chosen
        ids.append(chosen)
    return "enough"
''',
'''def write_loop(next_logits, ids, max_new_tokens, context, end, choose):
    ids = list(ids)
    for _ in range(max_new_tokens):
        if len(ids) == context:
            return "context full"
        chosen = int(np.argmax(next_logits(ids)))
        if chosen == end:
            return "end token"
        yield chosen
        ids.append(chosen)
    return "enough"
''',
'''def write_loop(next_logits, ids, max_new_tokens, context, end, choose):
    ids = list(ids)
    for _ in range(max_new_tokens):
        if len(ids) == context:
            return "context full"
        chosen = choose(ids)
        if chosen == end:
            return "end token"
        yield chosen
        ids.append(chosen)
    return "enough"
''',
'''def write_loop(next_logits, ids, max_new_tokens, context, end, choose):
    ids = list(ids)
    for _ in range(max_new_tokens):
        if len(ids) == context:
            return "context full"
        chosen = choose(next_logits(ids)[-1])
        if chosen == end:
            return "end token"
        yield chosen
        ids.append(chosen)
    return "enough"
''',
'''def write_loop(next_logits, ids, max_new_tokens, context, end, choose):
    ids = list(ids)
    for _ in range(max_new_tokens):
        if len(ids) == context:
            return "context full"
        if choose(next_logits(ids)) == end:
            return "end token"
        ids.append(choose(next_logits(ids)))
        yield ids[-1]
    return "enough"
''',
'''def write_loop(next_logits, ids, max_new_tokens, context, end, choose):
    ids = list(ids)
    for _ in range(max_new_tokens):
        if len(ids) == context:
            return "context full"
        chosen = choose(next_logits, ids)
        if chosen == end:
            return "end token"
        yield chosen
        ids.append(chosen)
    return "enough"
''',
'''def write_loop(next_logits, ids, max_new_tokens, context, end, choose):
    ids = list(ids)
    for _ in range(max_new_tokens):
        if len(ids) == context:
            return "context full"
        chosen = next_logits(ids)
        if chosen == end:
            return "end token"
        yield choose(chosen)
        ids.append(chosen)
    return "enough"
''',
'''def write_loop(next_logits, ids, max_new_tokens, context, end, choose):
    ids = list(ids)
    while True:
        if len(ids) == context:
            return "context full"
        chosen = choose(next_logits(ids))
        if chosen == end:
            return "end token"
        yield chosen
        ids.append(chosen)
''',
]}
RIGHT = {"write_loop": [
'''def write_loop(model, prompt, n, size, stop, pick):
    text = list(prompt)
    while len(text) - len(prompt) < n:
        if len(text) >= size:
            return "context full"
        token = pick(model(text))
        if token == stop:
            return "end token"
        text.append(token)
        yield token
    return "enough"
''',
'''def write_loop(next_logits, ids, max_new_tokens, context, end, choose):
    if max_new_tokens == 0:
        return "enough"
    if len(ids) == context:
        return "context full"
    token = choose(next_logits(ids))
    if token == end:
        return "end token"
    yield token
    return (yield from write_loop(
        next_logits, [*ids, token], max_new_tokens - 1, context, end, choose))
''',
'''def write_loop(next_logits, ids, max_new_tokens, context, end, choose):
    def loop(text):
        for _ in range(max_new_tokens):
            if len(text) == context:
                return "context full"
            token = choose(next_logits(text))
            if end is not None and token == end:
                return "end token"
            yield token
            text = text + [token]
        return "enough"
    return loop(list(ids))
''',
'''def write_loop(next_logits, ids, max_new_tokens, context, end, choose):
    text, reason = np.array(ids, dtype=int), "enough"
    for _ in range(max_new_tokens):
        if len(text) == context:
            reason = "context full"
            break
        token = choose(next_logits(text))
        if token == end:
            reason = "end token"
            break
        text = np.append(text, token)
        yield text[-1]
    return reason
''',
'''def write_loop(next_logits, ids, max_new_tokens, context, end, choose):
    room = context - len(ids)
    ids = list(ids)
    for _ in range(min(max_new_tokens, room)):
        token = choose(next_logits(ids))
        if token == end:
            return "end token"
        yield token
        ids.append(token)
    return "enough" if max_new_tokens <= room else "context full"
''',
]}
