"""Answers as different people write them, each wrong for some input, and some that are right."""
WRONG = {"guess": [
'''def guess(ids, k, longest=3):
    for n in range(min(longest, len(ids) - 1), 0, -1):
        for start in range(len(ids) - n):
            if ids[start:start + n] == ids[-n:]:
                return (ids[start + n:] * k)[:k]
    return []
''',
'''def guess(ids, k, longest=3):
    for n in range(1, longest + 1):
        for start in range(len(ids) - n - 1, -1, -1):
            if ids[start:start + n] == ids[-n:]:
                return (ids[start + n:] * k)[:k]
    return []
''',
'''def guess(ids, k, longest=3):
    for n in range(longest, 0, -1):
        for start in range(len(ids) - n - 1, -1, -1):
            if ids[start:start + n] == ids[-n:]:
                return ids[start + n:start + n + k]
    return []
''',
'''def guess(ids, k, longest=3):
    for n in range(longest, 0, -1):
        for start in range(len(ids) - n - 1, -1, -1):
            if ids[start:start + n] == ids[-n:]:
                return (ids[start:] * k)[:k]
    return []
''',
'''def guess(ids, k, longest=3):
    for n in range(longest, 0, -1):
        for start in range(len(ids) - n, -1, -1):
            if ids[start:start + n] == ids[-n:]:
                return (ids[start + n:] * k)[:k]
    return []
''',
'''def guess(ids, k, longest=3):
    for n in range(longest, 0, -1):
        tail = ids[-n:]
        for start in range(len(ids) - 2 * n, -1, -1):
            if ids[start:start + n] == tail:
                return (ids[start + n:] * k)[:k]
    return []
''',
'''def guess(ids, k, longest=3):
    for n in range(longest, 0, -1):
        for start in range(len(ids) - n - 1, -1, -1):
            if ids[start:start + n] == ids[-n:]:
                found = ids[start + n:start + n + k]
                while len(found) < k:
                    found.append(found[-1])
                return found
    return []
''',
'''def guess(ids, k, longest=3):
    n = longest
    for start in range(len(ids) - n - 1, -1, -1):
        if ids[start:start + n] == ids[-n:]:
            return (ids[start + n:] * k)[:k]
    return []
''',
'''def guess(ids, k, longest=3):
    for n in range(longest, 1, -1):
        for start in range(len(ids) - n - 1, -1, -1):
            if ids[start:start + n] == ids[-n:]:
                return (ids[start + n:] * k)[:k]
    return []
''',
'''def guess(ids, k, longest=3):
    for n in range(longest, 0, -1):
        for start in range(len(ids) - n - 1, 0, -1):
            if ids[start:start + n] == ids[-n:]:
                return (ids[start + n:] * k)[:k]
    return []
''',
'''def guess(ids, k, longest=3):
    for n in range(longest, 0, -1):
        for start in range(len(ids) - n - 1, -1, -1):
            if ids[start:start + n] == ids[-n:]:
                return (ids[start + n:] * k)[:k]
    return [ids[-1]] * k
''',
'''def guess(ids, k, longest=3):
    text = list(ids)
    for _ in range(k):
        for n in range(min(longest, len(text) - 1), 0, -1):
            places = [s for s in range(len(text) - n) if text[s:s + n] == text[-n:]]
            if places:
                text.append(text[places[-1] + n])
                break
    return text[len(ids):]
''',
'''def guess(ids, k, longest=3):
    for n in range(longest, 0, -1):
        for start in range(len(ids) - n - 1, -1, -1):
            if ids[start:start + n] == ids[-n:]:
                while len(ids) < start + n + k:
                    ids.append(ids[-1])
                return ids[start + n:start + n + k]
    return []
''',
'''def guess(ids, k, longest=3):
    for n in range(longest, 0, -1):
        for start in range(len(ids) - n - 1, -1, -1):
            if ids[start:start + n] == ids[:n]:
                return (ids[start + n:] * k)[:k]
    return []
''',
'''def guess(ids, k, longest=3):
    for n in range(longest, 0, -1):
        for start in range(len(ids) - n - 1, -1, -1):
            if ids[start:start + n] == ids[-n:]:
                return (ids[start + n:] * k)[:k]
''',
'''def guess(ids, k, longest=3):
    last = ids[-1]
    for place in range(len(ids) - 2, -1, -1):
        if ids[place] == last:
            return (ids[place + 1:] * k)[:k]
    return []
''',
'''def guess(ids, k, longest=3):
    for n in range(longest, 0, -1):
        for start in range(len(ids) - n - 1, -1, -1):
            if set(ids[start:start + n]) == set(ids[-n:]):
                return (ids[start + n:] * k)[:k]
    return []
''',
], "accept": [
'''def accept(guessed, greedy):
    return sum(g == c for g, c in zip(guessed, greedy))
''',
'''def accept(guessed, greedy):
    n = 1
    for g, c in zip(guessed, greedy):
        if g != c:
            break
        n += 1
    return n
''',
'''def accept(guessed, greedy):
    for i in range(len(guessed)):
        if guessed[i] != greedy[i + 1]:
            return i
    return len(guessed)
''',
'''def accept(guessed, greedy):
    same = [g == c for g, c in zip(guessed, greedy)]
    return same.index(False)
''',
'''def accept(guessed, greedy):
    for i, (g, c) in enumerate(zip(guessed, greedy)):
        if g != c:
            return i
''',
'''def accept(guessed, greedy):
    for i, (g, c) in enumerate(zip(guessed, greedy)):
        if g != c:
            return i
    return len(greedy)
''',
'''def accept(guessed, greedy):
    return len(guessed) if guessed == greedy[:len(guessed)] else 0
''',
'''def accept(guessed, greedy):
    out = []
    for g, c in zip(guessed, greedy):
        if g != c:
            break
        out.append(g)
    return out
''',
'''def accept(guessed, greedy):
    same = np.array(guessed) == np.array(greedy[:-1])
    return int(np.argmin(same))
''',
'''def accept(guessed, greedy):
    best = run = 0
    for g, c in zip(guessed, greedy):
        run = run + 1 if g == c else 0
        best = max(best, run)
    return best
''',
'''def accept(guessed, greedy):
    count = 0
    for g in guessed:
        if g in greedy:
            count += 1
        else:
            break
    return count
''',
'''def accept(guessed, greedy):
    right = 0
    while guessed[right] == greedy[right]:
        right += 1
    return right
''',
'''def accept(guessed, greedy):
    return all(g == c for g, c in zip(guessed, greedy))
''',
'''def accept(guessed, greedy):
    count = 0
    for i in range(len(guessed) - 1, -1, -1):
        if guessed[i] == greedy[i]:
            count += 1
        else:
            break
    return count
''',
'''def accept(guessed, greedy):
    right = 0
    for i in range(len(guessed) - 1):
        if guessed[i] != greedy[i]:
            return right
        right += 1
    return right
''',
'''def accept(guessed, greedy):
    for i, (g, c) in enumerate(zip(guessed, greedy)):
        if g != c:
            return i + 1
    return len(guessed)
''',
], "step": [
'''def step(choose, ids, k, guess, accept):
    guessed = guess(ids, k)
    greedy = choose(ids + guessed, k + 1)
    return greedy[:accept(guessed, greedy) + 1]
''',
'''def step(choose, ids, k, guess, accept):
    guessed = guess(ids, k)
    greedy = choose(ids + guessed, len(guessed))
    return greedy[:accept(guessed, greedy) + 1]
''',
'''def step(choose, ids, k, guess, accept):
    guessed = guess(ids, k)
    greedy = choose(ids + guessed, len(guessed) + 1)
    return greedy[:accept(guessed, greedy)]
''',
'''def step(choose, ids, k, guess, accept):
    guessed = guess(ids, k)
    return guessed + choose(ids + guessed, 1)
''',
'''def step(choose, ids, k, guess, accept):
    guessed = guess(ids, k)
    greedy = choose(ids + guessed, len(guessed) + 1)
    return guessed[:accept(guessed, greedy)]
''',
'''def step(choose, ids, k, guess, accept):
    guessed = guess(ids, k)
    return choose(ids + guessed, len(guessed) + 1)
''',
'''def step(choose, ids, k, guess, accept):
    guessed = guess(ids, k)
    greedy = choose(guessed, len(guessed) + 1)
    return greedy[:accept(guessed, greedy) + 1]
''',
'''def step(choose, ids, k, guess, accept):
    guessed = guess(ids, k)
    greedy = choose(ids, len(guessed) + 1)
    return greedy[:accept(guessed, greedy) + 1]
''',
'''def step(choose, ids, k, guess, accept):
    guessed = guess(ids, k)
    greedy = choose(ids + guessed, len(guessed) + 1)
    return ids + greedy[:accept(guessed, greedy) + 1]
''',
'''def step(choose, ids, k, guess, accept):
    guessed = guess(ids, k)
    greedy = choose(ids + guessed, len(guessed) + 1)
    a = accept(guessed, greedy)
    return greedy[a:]
''',
'''def step(choose, ids, k, guess, accept):
    guessed = guess(ids, k)
    greedy = choose(ids + guessed, len(guessed) + 1)
    a = accept(guessed, greedy)
    return guessed[:a] + [greedy[0]]
''',
'''def step(choose, ids, k, guess, accept):
    guessed = guess(ids, k)
    greedy = choose(ids + guessed, len(guessed) + 1)
    a = accept(guessed, greedy)
    return guessed[:a] + [greedy[-1]]
''',
'''def step(choose, ids, k, guess, accept):
    guessed = guess(ids, k)
    greedy = choose(ids + guessed, len(guessed) + 1)
    return greedy[accept(guessed, greedy)]
''',
'''def step(choose, ids, k, guess, accept):
    guessed = guess(ids, k)
    ids += guessed
    greedy = choose(ids, len(guessed) + 1)
    return greedy[:accept(guessed, greedy) + 1]
''',
'''def step(choose, ids, k, guess, accept):
    guessed = guess(ids, k)
    if not guessed:
        return []
    greedy = choose(ids + guessed, len(guessed) + 1)
    return greedy[:accept(guessed, greedy) + 1]
''',
'''def step(choose, ids, k, guess, accept):
    greedy = choose(ids, 1)
    guessed = guess(ids + greedy, k)
    return greedy + guessed[:accept(guessed, choose(ids + greedy + guessed, len(guessed) + 1))]
''',
'''def step(choose, ids, k, guess, accept):
    guessed = guess(ids, k)
    greedy = choose(ids + guessed, len(guessed) + 1)
    return guessed[:accept(guessed, greedy) + 1]
''',
'''def step(choose, ids, k, guess, accept):
    guessed = guess(ids, k)
    greedy = choose(ids + guessed, len(ids) + len(guessed))
    return greedy[:accept(guessed, greedy) + 1]
''',
]}
RIGHT = {"guess": [
'''def guess(text, count, most=3):
    for n in range(most, 0, -1):
        for at in reversed(range(len(text) - n)):
            if text[at:at + n] == text[len(text) - n:]:
                follow = text[at + n:]
                return [follow[i % len(follow)] for i in range(count)]
    return []
''',
'''def guess(ids, k, longest=3):
    best, place = 0, None
    for p in range(1, len(ids)):
        n = 0
        while n < longest and n < p and ids[p - 1 - n] == ids[-1 - n]:
            n += 1
        if n > 0 and n >= best:
            best, place = n, p
    if place is None:
        return []
    out = list(ids)
    for i in range(k):
        out.append(out[place + i])
    return out[len(ids):]
''',
'''def guess(ids, k, longest=3):
    n = min(longest, len(ids) - 1)
    while n > 0:
        places = [s + n for s in range(len(ids) - n) if ids[s:s + n] == ids[-n:]]
        if places:
            found = []
            while len(found) < k:
                found += ids[places[-1]:]
            return found[:k]
        n -= 1
    return []
''',
'''def guess(ids, k, longest=3):
    a = np.array(ids)
    for n in range(min(longest, len(a) - 1), 0, -1):
        windows = np.lib.stride_tricks.sliding_window_view(a, n)[:-1]
        hits = np.flatnonzero((windows == a[-n:]).all(axis=1))
        if len(hits):
            return np.resize(a[hits[-1] + n:], k)
    return []
''',
'''def guess(ids, k, longest=3):
    if longest == 0 or len(ids) < 2:
        return []
    n = min(longest, len(ids) - 1)
    for start in range(len(ids) - n - 1, -1, -1):
        if all(ids[start + i] == ids[len(ids) - n + i] for i in range(n)):
            behind = ids[start + n:]
            return (behind * (k // len(behind) + 1))[:k]
    return guess(ids, k, n - 1)
''',
], "accept": [
'''def accept(g, c):
    return next((i for i in range(len(g)) if g[i] != c[i]), len(g))
''',
'''def accept(guessed, greedy):
    return int(np.cumprod([a == b for a, b in zip(guessed, greedy)]).sum())
''',
'''def accept(guessed, greedy):
    for i, (a, b) in enumerate(zip(guessed, greedy)):
        if a != b:
            return i
    return len(guessed)
''',
'''def accept(guessed, greedy):
    if not guessed or guessed[0] != greedy[0]:
        return 0
    return 1 + accept(guessed[1:], greedy[1:])
''',
'''def accept(guessed, greedy):
    same = [a == b for a, b in zip(guessed, greedy)] + [False]
    return np.argmin(same)
''',
], "step": [
'''def step(model, text, count, find, check):
    g = find(text, count)
    c = model([*text, *g], 1 + len(g))
    return c[:1 + check(g, c)]
''',
'''def step(choose, ids, k, guess, accept):
    guessed = guess(ids, k)
    greedy = choose(ids + guessed, len(guessed) + 1)
    a = accept(guessed, greedy)
    return guessed[:a] + [greedy[a]]
''',
'''def step(choose, ids, k, guess, accept):
    guessed = list(guess(ids, k))
    rows = len(guessed) + 1
    greedy = choose(list(ids) + guessed, rows)
    new = []
    for i in range(accept(guessed, greedy)):
        new.append(greedy[i])
    new.append(greedy[len(new)])
    return new
''',
'''def step(choose, ids, k, guess, accept):
    guessed = guess(ids, k)
    greedy = np.array(choose(ids + guessed, len(guessed) + 1))
    return greedy[:accept(guessed, greedy.tolist()) + 1]
''',
'''def step(choose, ids, k, guess, accept):
    text = ids.copy()
    text.extend(guess(ids, k))
    guessed = text[len(ids):]
    greedy = choose(text, len(text) - len(ids) + 1)
    return greedy[:1 + accept(guessed, greedy)]
''',
]}
