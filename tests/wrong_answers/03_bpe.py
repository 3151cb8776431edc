"""Answers as different people write them, each wrong for some input, and some that are right."""
WRONG = {"join": [
'''def join(parts, pair):
    parts = list(parts)
    for i in range(len(parts) - 1):
        if (parts[i], parts[i + 1]) == pair:
            parts[i:i + 2] = [parts[i] + parts[i + 1]]
    return parts
''',
'''def join(parts, pair):
    new, i = [], 0
    while i < len(parts):
        if parts[i:i + 2] == pair:
            new.append(parts[i] + parts[i + 1])
            i += 2
        else:
            new.append(parts[i])
            i += 1
    return new
''',
'''def join(parts, pair):
    new = []
    i = 0
    while i < len(parts):
        if (parts[i], parts[i + 1]) == pair:
            new.append(parts[i] + parts[i + 1])
            i += 2
        else:
            new.append(parts[i])
            i += 1
    return new
''',
'''def join(parts, pair):
    new = []
    i = 0
    while i < len(parts) - 1:
        if (parts[i], parts[i + 1]) == pair:
            new.append(parts[i] + parts[i + 1])
            i += 2
        else:
            new.append(parts[i])
            i += 1
    return new
''',
'''def join(parts, pair):
    new = []
    for i in range(len(parts)):
        if tuple(parts[i:i + 2]) == pair:
            new.append(parts[i] + parts[i + 1])
        else:
            new.append(parts[i])
    return new
''',
'''def join(parts, pair):
    i = 0
    while i < len(parts) - 1:
        if (parts[i], parts[i + 1]) == pair:
            parts[i:i + 2] = [parts[i] + parts[i + 1]]
        i += 1
    return parts
''',
'''def join(parts, pair):
    parts = list(parts)
    for i, two in enumerate(zip(parts, parts[1:])):
        if two == pair:
            parts[i:i + 2] = [parts[i] + parts[i + 1]]
            return parts
    return parts
''',
'''def join(parts, pair):
    parts = list(parts)
    for i in range(len(parts) - 2, -1, -1):
        if tuple(parts[i:i + 2]) == pair:
            parts[i:i + 2] = [parts[i] + parts[i + 1]]
    return parts
''',
'''def join(parts, pair):
    new, i = [], 0
    while i < len(parts):
        if tuple(parts[i:i + 2]) == pair:
            new += parts[i] + parts[i + 1]
            i += 2
        else:
            new.append(parts[i])
            i += 1
    return new
''',
'''def join(parts, pair):
    new, i = [], 0
    while i < len(parts):
        if tuple(parts[i:i + 2]) == pair:
            new.append(pair)
            i += 2
        else:
            new.append(parts[i])
            i += 1
    return new
''',
'''def join(parts, pair):
    new, i = [], 0
    while i < len(parts):
        if tuple(parts[i:i + 2]) == pair:
            new.append(parts[i] + parts[i + 1])
            i += 2
        else:
            i += 1
    return new
''',
'''def join(parts, pair):
    new, i = [], 0
    while i < len(parts) - 1:
        if parts[i] + parts[i + 1] == pair[0] + pair[1]:
            new.append(parts[i] + parts[i + 1])
            i += 2
        else:
            new.append(parts[i])
            i += 1
    return new + parts[i:]
''',
'''def join(parts, pair):
    new, i = [], 0
    while i < len(parts):
        if parts[i] == pair[0] and i + 1 < len(parts):
            new.append(parts[i] + parts[i + 1])
            i += 2
        else:
            new.append(parts[i])
            i += 1
    return new
''',
'''def join(parts, pair):
    new, i = [], 0
    while i < len(parts):
        if tuple(parts[i:i + 2]) == pair:
            new.append(pair[1] + pair[0])
            i += 2
        else:
            new.append(parts[i])
            i += 1
    return new
''',
'''def join(parts, pair):
    new, i = [], 0
    while i < len(parts):
        if tuple(parts[i:i + 2]) == pair:
            new.append(b"".join(pair))
        else:
            new.append(parts[i])
        i += 1
    return new
''',
'''def join(parts, pair):
    new, i = [], 0
    while i < len(parts) - 2:
        if tuple(parts[i:i + 2]) == pair:
            new.append(b"".join(pair))
            i += 2
        else:
            new.append(parts[i])
            i += 1
    return new + parts[i:]
''',
'''def join(parts, pair):
    new = []
    for i in range(len(parts) - 1):
        if tuple(parts[i:i + 2]) == pair:
            new.append(parts[i] + parts[i + 1])
        else:
            new.append(parts[i])
    return new
''',
'''def join(parts, pair):
    new = []
    for left, right in zip(parts, parts[1:]):
        if (left, right) == pair:
            new.append(left + right)
        else:
            new.append(left)
    return new
''',
], "find_merges": [
'''def find_merges(pieces, n, join):
    found = []
    for _ in range(n):
        counts = {}
        for parts in pieces:
            for pair in zip(parts, parts[1:]):
                counts[pair] = counts.get(pair, 0) + 1
        if not counts or max(counts.values()) < 2:
            break
        best = max(counts, key=counts.get)
        found.append(best)
    return found
''',
'''def find_merges(pieces, n, join):
    found = []
    for _ in range(n):
        counts = {}
        for parts in pieces:
            for pair in zip(parts, parts[1:]):
                counts[pair] = counts.get(pair, 0) + 1
        if not counts or max(counts.values()) < 2:
            break
        best = max(counts, key=counts.get)
        found.append(best)
        for parts in pieces:
            join(parts, best)
    return found
''',
'''def find_merges(pieces, n, join):
    found = []
    for _ in range(n):
        counts = {}
        for parts in pieces:
            for pair in zip(parts, parts[1:]):
                counts[pair] = counts.get(pair, 0) + 1
        best = max(counts, key=counts.get)
        found.append(best)
        pieces = [join(parts, best) for parts in pieces]
    return found
''',
'''def find_merges(pieces, n, join):
    found = []
    for _ in range(n):
        counts = {}
        for parts in pieces:
            for pair in zip(parts, parts[1:]):
                counts[pair] = counts.get(pair, 0) + 1
        if not counts:
            break
        best = max(counts, key=counts.get)
        found.append(best)
        pieces = [join(parts, best) for parts in pieces]
    return found
''',
'''def find_merges(pieces, n, join):
    found = []
    for _ in range(n):
        counts = {}
        for parts in pieces:
            for pair in zip(parts, parts[1:]):
                counts[pair] = counts.get(pair, 0) + 1
        if not counts or max(counts.values()) <= 2:
            break
        best = max(counts, key=counts.get)
        found.append(best)
        pieces = [join(parts, best) for parts in pieces]
    return found
''',
'''def find_merges(pieces, n, join):
    found, counts = [], {}
    for _ in range(n):
        for parts in pieces:
            for pair in zip(parts, parts[1:]):
                counts[pair] = counts.get(pair, 0) + 1
        if not counts or max(counts.values()) < 2:
            break
        best = max(counts, key=counts.get)
        found.append(best)
        pieces = [join(parts, best) for parts in pieces]
    return found
''',
'''def find_merges(pieces, n, join):
    found = []
    for _ in range(n):
        for parts in pieces:
            counts = {}
            for pair in zip(parts, parts[1:]):
                counts[pair] = counts.get(pair, 0) + 1
        if not counts or max(counts.values()) < 2:
            break
        best = max(counts, key=counts.get)
        found.append(best)
        pieces = [join(parts, best) for parts in pieces]
    return found
''',
'''def find_merges(pieces, n, join):
    found = []
    for _ in range(n):
        counts = {}
        for parts in pieces:
            for pair in set(zip(parts, parts[1:])):
                counts[pair] = counts.get(pair, 0) + 1
        if not counts or max(counts.values()) < 2:
            break
        best = max(counts, key=counts.get)
        found.append(best)
        pieces = [join(parts, best) for parts in pieces]
    return found
''',
'''def find_merges(pieces, n, join):
    found = []
    for _ in range(n):
        counts = {}
        every = [part for parts in pieces for part in parts]
        for pair in zip(every, every[1:]):
            counts[pair] = counts.get(pair, 0) + 1
        if not counts or max(counts.values()) < 2:
            break
        best = max(counts, key=counts.get)
        found.append(best)
        pieces = [join(parts, best) for parts in pieces]
    return found
''',
'''def find_merges(pieces, n, join):
    found = []
    for _ in range(n):
        counts = {}
        for parts in pieces:
            for pair in zip(parts, parts[1:]):
                counts[pair] = counts.get(pair, 0) + 1
        if not counts or max(counts.values()) < 2:
            break
        best = max(counts, key=counts.get)
        found.append(best[0] + best[1])
        pieces = [join(parts, best) for parts in pieces]
    return found
''',
'''def find_merges(pieces, n, join):
    found = []
    for _ in range(n):
        counts = {}
        for parts in pieces:
            for pair in zip(parts, parts[1:]):
                counts[pair] = counts.get(pair, 0) + 1
        if not counts or max(counts.values()) < 2:
            break
        best = max(counts, key=counts.get)
        found.append((best, counts[best]))
        pieces = [join(parts, best) for parts in pieces]
    return found
''',
'''def find_merges(pieces, n, join):
    found = []
    for _ in range(n):
        counts = {}
        for parts in pieces:
            for pair in zip(parts, parts[1:]):
                counts[pair] = counts.get(pair, 0) + 1
        if not counts or max(counts.values()) < 2:
            break
        best = min(counts, key=counts.get)
        found.append(best)
        pieces = [join(parts, best) for parts in pieces]
    return found
''',
'''def find_merges(pieces, n, join):
    found = []
    for _ in range(n):
        counts = {}
        for parts in pieces:
            for pair in zip(parts, parts[1:]):
                counts[pair] = counts.get(pair, 0) + 1
        if not counts or max(counts.values()) < 2:
            break
        best = max(counts, key=lambda pair: (counts[pair], pair))
        found.append(best)
        pieces = [join(parts, best) for parts in pieces]
    return found
''',
'''def find_merges(pieces, n, join):
    found = []
    for _ in range(n):
        counts = {}
        for parts in pieces:
            for pair in zip(parts, parts[1:]):
                counts[pair] = counts.get(pair, 0) + 1
        if not counts or max(counts.values()) < 2:
            break
        best = sorted(counts, key=counts.get)[-1]
        found.append(best)
        pieces = [join(parts, best) for parts in pieces]
    return found
''',
'''def find_merges(pieces, n, join):
    counts = {}
    for parts in pieces:
        for pair in zip(parts, parts[1:]):
            counts[pair] = counts.get(pair, 0) + 1
    return sorted(counts, key=counts.get, reverse=True)[:n]
''',
'''def find_merges(pieces, n, join):
    from collections import Counter
    counts = Counter()
    for parts in pieces:
        counts.update(zip(parts, parts[1:]))
    return counts.most_common(n)
''',
'''def find_merges(pieces, n, join):
    found = []
    for _ in range(n):
        counts = {}
        for parts in pieces:
            for pair in zip(parts, parts[1:]):
                counts[pair] = counts.get(pair, 0) + 1
        if not counts or max(counts.values()) < 2:
            break
        best = max(counts, key=counts.get)
        found.append(best)
        for i in range(len(pieces)):
            pieces[i] = join(pieces[i], best)
    return found
''',
'''def find_merges(pieces, n, join):
    found = []
    for _ in range(n):
        counts = {}
        for parts in pieces:
            for pair in zip(parts, parts[1:]):
                counts[pair] = counts.get(pair, 0) + 1
        if not counts or max(counts.values()) < 2:
            break
        best = max(counts, key=counts.get)
        found.append(best)
        pieces = [join(parts, best) for parts in pieces]
        return found
''',
'''def find_merges(pieces, n, join):
    found = []
    for _ in range(n - 1):
        counts = {}
        for parts in pieces:
            for pair in zip(parts, parts[1:]):
                counts[pair] = counts.get(pair, 0) + 1
        if not counts or max(counts.values()) < 2:
            break
        best = max(counts, key=counts.get)
        found.append(best)
        pieces = [join(parts, best) for parts in pieces]
    return found
''',
'''def find_merges(pieces, n, join):
    found = []
    for _ in range(n + 1):
        counts = {}
        for parts in pieces:
            for pair in zip(parts, parts[1:]):
                counts[pair] = counts.get(pair, 0) + 1
        if not counts or max(counts.values()) < 2:
            break
        best = max(counts, key=counts.get)
        found.append(best)
        pieces = [join(parts, best) for parts in pieces]
    return found
''',
'''def find_merges(pieces, n, join):
    found = []
    while len(found) < n:
        counts = {}
        for parts in pieces:
            for pair in zip(parts, parts[1:]):
                counts[pair] = counts.get(pair, 0) + 1
        if max(counts.values()) < 2:
            break
        best = max(counts, key=counts.get)
        found.append(best)
        pieces = [join(parts, best) for parts in pieces]
    return found
''',
], "merge": [
'''def merge(parts, ranks):
    parts = list(parts)
    while True:
        places = [i for i, pair in enumerate(zip(parts, parts[1:])) if pair in ranks]
        if not places:
            return parts
        i = min(places, key=lambda i: ranks[parts[i], parts[i + 1]])
        parts[i:i + 2] = parts[i] + parts[i + 1]
''',
'''def merge(parts, ranks):
    parts = list(b"".join(parts))
    while True:
        places = [i for i, pair in enumerate(zip(parts, parts[1:])) if pair in ranks]
        if not places:
            return parts
        i = min(places, key=lambda i: ranks[parts[i], parts[i + 1]])
        parts[i:i + 2] = [parts[i] + parts[i + 1]]
''',
'''def merge(parts, ranks):
    parts = list(parts)
    for pair in sorted(ranks, key=ranks.get):
        parts = join(parts, pair)
    return parts
''',
'''def merge(parts, ranks):
    parts = list(parts)
    i = 0
    while i < len(parts) - 1:
        if (parts[i], parts[i + 1]) in ranks:
            parts[i:i + 2] = [parts[i] + parts[i + 1]]
            i = 0
        else:
            i += 1
    return parts
''',
'''def merge(parts, ranks):
    result = []
    i = 0
    while i < len(parts):
        if i + 1 < len(parts) and (parts[i], parts[i + 1]) in ranks:
            result.append(parts[i] + parts[i + 1])
            i += 2
        else:
            result.append(parts[i])
            i += 1
    return result
''',
'''def merge(parts, ranks):
    parts = list(parts)
    while True:
        places = [i for i in range(len(parts) - 1) if (parts[i], parts[i + 1]) in ranks]
        if not places:
            return parts
        best = max(places, key=lambda i: ranks[parts[i], parts[i + 1]])
        parts[best:best + 2] = [parts[best] + parts[best + 1]]
''',
'''def merge(parts, ranks):
    parts = list(parts)
    while True:
        places = [i for i, pair in enumerate(zip(parts, parts[1:])) if pair in ranks]
        if not places:
            return parts
        i = min(places)
        parts[i:i + 2] = [parts[i] + parts[i + 1]]
''',
'''def merge(parts, ranks):
    while True:
        places = [i for i, pair in enumerate(zip(parts, parts[1:])) if pair in ranks]
        if not places:
            return parts
        i = min(places, key=lambda i: ranks[parts[i], parts[i + 1]])
        parts[i:i + 2] = [parts[i] + parts[i + 1]]
''',
'''def merge(parts, ranks):
    parts = list(parts)
    pairs = list(zip(parts, parts[1:]))
    i = min(range(len(pairs)), key=lambda i: ranks.get(pairs[i], float("inf")))
    if pairs[i] in ranks:
        parts[i:i + 2] = [parts[i] + parts[i + 1]]
    return parts
''',
'''def merge(parts, ranks):
    parts = list(parts)
    while len(parts) > 1:
        pairs = [(parts[i], parts[i + 1]) for i in range(len(parts) - 1)]
        best = min(pairs, key=lambda p: ranks.get(p, 1e9))
        if best not in ranks:
            break
        i = parts.index(best[0])
        parts[i:i + 2] = [best[0] + best[1]]
    return parts
''',
'''def merge(parts, ranks):
    parts = list(parts)
    while True:
        found = None
        for i in range(len(parts) - 1):
            rank = ranks.get((parts[i], parts[i + 1]))
            if rank and (found is None or rank < found[0]):
                found = rank, i
        if found is None:
            return parts
        i = found[1]
        parts[i:i + 2] = [parts[i] + parts[i + 1]]
''',
'''def merge(parts, ranks):
    parts = list(parts)
    while True:
        best, place = None, None
        for i in range(len(parts) - 1):
            rank = ranks.get((parts[i], parts[i + 1]))
            if rank is not None and (best is None or rank <= best):
                best, place = rank, i
        if place is None:
            return parts
        parts = parts[:place] + [parts[place] + parts[place + 1]] + parts[place + 2:]
''',
'''def merge(parts, ranks):
    parts = list(parts)
    for (a, b), rank in sorted(ranks.items(), key=lambda item: item[1]):
        i = 0
        while i < len(parts) - 1:
            if parts[i] == a and parts[i + 1] == b:
                parts[i:i + 2] = [a + b]
            i += 1
    return parts
''',
'''def merge(parts, ranks):
    parts = list(parts)
    for a, b in ranks:
        for i in range(len(parts) - 1):
            if i + 1 < len(parts) and (parts[i], parts[i + 1]) == (a, b):
                parts[i:i + 2] = [a + b]
    return parts
''',
'''def merge(parts, ranks):
    parts = list(parts)
    while True:
        i = min(range(len(parts) - 1), key=lambda i: ranks.get((parts[i], parts[i + 1]), 10 ** 9))
        if (parts[i], parts[i + 1]) not in ranks:
            return parts
        parts[i:i + 2] = [parts[i] + parts[i + 1]]
''',
'''def merge(parts, ranks):
    parts = list(parts)
    while len(parts) > 1:
        i = min(range(len(parts) - 1), key=lambda i: ranks.get((parts[i], parts[i + 1]), 10 ** 9))
        parts[i:i + 2] = [parts[i] + parts[i + 1]]
    return parts
''',
'''def merge(parts, ranks):
    parts = list(parts)
    while True:
        places = [i for i in range(len(parts) - 2) if (parts[i], parts[i + 1]) in ranks]
        if not places:
            return parts
        i = min(places, key=lambda i: ranks[parts[i], parts[i + 1]])
        parts[i:i + 2] = [parts[i] + parts[i + 1]]
''',
'''def merge(parts, ranks):
    parts = list(parts)
    while True:
        places = [i for i, pair in enumerate(zip(parts, parts[1:])) if pair in ranks]
        if not places:
            return parts
        i = min(places, key=lambda i: ranks[parts[i], parts[i + 1]])
        parts[i] = parts[i] + parts[i + 1]
''',
'''def merge(parts, ranks):
    parts = list(parts)
    while True:
        places = [i for i, pair in enumerate(zip(parts, parts[1:])) if pair in ranks]
        if not places:
            return parts
        i = min(places, key=lambda i: ranks[parts[i], parts[i + 1]])
        parts[i:i + 1] = [parts[i] + parts[i + 1]]
''',
'''def merge(parts, ranks):
    parts = list(parts)
    places = [i for i, pair in enumerate(zip(parts, parts[1:])) if pair in ranks]
    while places:
        i = min(places, key=lambda i: ranks[parts[i], parts[i + 1]])
        parts[i:i + 2] = [parts[i] + parts[i + 1]]
        places.remove(i)
    return parts
''',
'''def merge(parts, ranks):
    parts = list(parts)
    while True:
        joined = [parts[i] + parts[i + 1] for i in range(len(parts) - 1)]
        places = [i for i, pair in enumerate(joined) if pair in ranks]
        if not places:
            return parts
        i = min(places, key=lambda i: ranks[joined[i]])
        parts[i:i + 2] = [joined[i]]
''',
'''def merge(parts, ranks):
    tokens = {a + b for a, b in ranks}
    text, result = b"".join(parts), []
    while text:
        for n in range(len(text), 0, -1):
            if n == 1 or text[:n] in tokens:
                result.append(text[:n])
                text = text[n:]
                break
    return result
''',
'''def merge(parts, ranks):
    parts = list(parts)
    while True:
        places = [i for i, pair in enumerate(zip(parts, parts[1:])) if pair in ranks]
        if not places:
            return parts
        i = max(places, key=lambda i: len(parts[i]) + len(parts[i + 1]))
        parts[i:i + 2] = [parts[i] + parts[i + 1]]
''',
'''def merge(parts, ranks):
    parts = list(parts)
    while True:
        places = [i for i, pair in enumerate(zip(parts, parts[1:])) if pair in ranks]
        if not places:
            return b"".join(parts)
        i = min(places, key=lambda i: ranks[parts[i], parts[i + 1]])
        parts[i:i + 2] = [parts[i] + parts[i + 1]]
''',
'''def merge(parts, ranks):
    parts = list(parts)
    while True:
        places = [i for i, pair in enumerate(zip(parts, parts[1:])) if pair in ranks]
        if not places:
            return parts
        i = min(places, key=lambda i: ranks[parts[i], parts[i + 1]])
        parts[i:i + 2] = [parts[i + 1] + parts[i]]
''',
'''def merge(parts, ranks):
    pairs = list(zip(parts, parts[1:]))
    for pair in sorted(pairs, key=lambda p: ranks.get(p, float("inf"))):
        if pair in ranks:
            merged, i = [], 0
            while i < len(parts):
                if tuple(parts[i:i + 2]) == pair:
                    merged.append(pair[0] + pair[1])
                    i += 2
                else:
                    merged.append(parts[i])
                    i += 1
            parts = merged
    return list(parts)
''',
'''def merge(parts, ranks):
    parts = list(parts)
    while True:
        ranked = [ranks.get(pair, -1) for pair in zip(parts, parts[1:])]
        if not ranked or max(ranked) < 0:
            return parts
        i = ranked.index(min(ranked))
        parts[i:i + 2] = [parts[i] + parts[i + 1]]
''',
'''def merge(parts, ranks):
    best = None
    for i in range(len(parts) - 1):
        pair = (parts[i], parts[i + 1])
        if pair in ranks:
            if best is None or ranks[pair] < ranks[best]:
                best = pair
    if best is None:
        return parts
    merged = parts.copy()
    i = merged.index(best[0])
    merged[i] = best[0] + best[1]
    merged.pop(i + 1)
    return merged
''',
'''def merge(parts, ranks):
    parts = list(parts)
    changed = True
    while changed:
        changed = False
        for i in range(len(parts) - 1):
            if (parts[i], parts[i + 1]) in ranks:
                parts[i] = parts[i] + parts[i + 1]
                del parts[i + 1]
                changed = True
    return parts
''',
'''def merge(parts, ranks):
    parts = list(parts)
    while True:
        places = [i for i, pair in enumerate(zip(parts, parts[1:])) if pair in ranks]
        if not places:
            return [part.decode() for part in parts]
        i = min(places, key=lambda i: ranks[parts[i], parts[i + 1]])
        parts[i:i + 2] = [parts[i] + parts[i + 1]]
''',
'''def merge(parts, ranks):
    parts = list(parts)
    while True:
        places = [i for i, pair in enumerate(zip(parts, parts[1:])) if pair in ranks]
        if not places:
            return [ranks.get((a, b)) for a, b in zip(parts, parts[1:])]
        i = min(places, key=lambda i: ranks[parts[i], parts[i + 1]])
        parts[i:i + 2] = [parts[i] + parts[i + 1]]
''',
'''def merge(parts, ranks):
    parts = list(parts)
    while True:
        places = [i for i, pair in enumerate(zip(parts, parts[1:])) if pair in ranks]
        i = min(places, key=lambda i: ranks[parts[i], parts[i + 1]])
        parts[i:i + 2] = [parts[i] + parts[i + 1]]
        if not places:
            return parts
''',
'''def merge(parts, ranks):
    parts = list(parts)
    while True:
        places = [i for i, pair in enumerate(zip(parts, parts[1:])) if pair in ranks]
        if not places:
            return parts
        i = min(places, key=lambda i: ranks[parts[i], parts[i + 1]])
        parts[i:i + 2] = [(parts[i], parts[i + 1])]
''',
], "encode": [
'''def encode(text, pattern, merge, ranks, ids):
    parts = [bytes([b]) for b in text.encode("utf-8")]
    return [ids[part] for part in merge(parts, ranks)]
''',
'''def encode(text, pattern, merge, ranks, ids):
    result = []
    for word in text.split():
        parts = [bytes([b]) for b in word.encode("utf-8")]
        result += [ids[part] for part in merge(parts, ranks)]
    return result
''',
'''def encode(text, pattern, merge, ranks, ids):
    result = []
    for piece in pattern.findall(text):
        parts = [c.encode("utf-8") for c in piece]
        result += [ids[part] for part in merge(parts, ranks)]
    return result
''',
'''def encode(text, pattern, merge, ranks, ids):
    result = []
    for piece in pattern.findall(text):
        parts = merge(list(piece), ranks)
        result.extend(ids[p] for p in parts)
    return result
''',
'''def encode(text, pattern, merge, ranks, ids):
    result = []
    for piece in pattern.findall(text):
        parts = merge(piece.encode("utf-8"), ranks)
        result.extend(ids[p] for p in parts)
    return result
''',
'''def encode(text, pattern, merge, ranks, ids):
    result = []
    for piece in pattern.findall(text):
        parts = merge(list(piece.encode("utf-8")), ranks)
        result.extend(ids[p] for p in parts)
    return result
''',
'''def encode(text, pattern, merge, ranks, ids):
    result = []
    for piece in pattern.findall(text):
        parts = [bytes(b) for b in piece.encode("utf-8")]
        result += [ids[part] for part in merge(parts, ranks)]
    return result
''',
'''def encode(text, pattern, merge, ranks, ids):
    result = []
    for piece in pattern.findall(text):
        parts = [bytes([ord(c)]) for c in piece]
        result += [ids[part] for part in merge(parts, ranks)]
    return result
''',
'''def encode(text, pattern, merge, ranks, ids):
    result = []
    for piece in pattern.findall(text):
        parts = [bytes([b]) for b in piece.encode("latin-1")]
        result += [ids[part] for part in merge(parts, ranks)]
    return result
''',
'''def encode(text, pattern, merge, ranks, ids):
    result = []
    for piece in pattern.findall(text):
        for b in piece.encode("utf-8"):
            result.append(ids[bytes([b])])
    return result
''',
'''def encode(text, pattern, merge, ranks, ids):
    result = []
    for piece in pattern.findall(text):
        parts = [bytes([b]) for b in piece.encode("utf-8")]
        merge(parts, ranks)
        result += [ids[part] for part in parts]
    return result
''',
'''def encode(text, pattern, merge, ranks, ids):
    result = []
    for piece in pattern.findall(text):
        parts = [bytes([b]) for b in piece.encode("utf-8")]
        result.append([ids[part] for part in merge(parts, ranks)])
    return result
''',
'''def encode(text, pattern, merge, ranks, ids):
    for piece in pattern.findall(text):
        parts = [bytes([b]) for b in piece.encode("utf-8")]
        found = [ids[part] for part in merge(parts, ranks)]
    return found
''',
'''def encode(text, pattern, merge, ranks, ids):
    for piece in pattern.findall(text):
        parts = [bytes([b]) for b in piece.encode("utf-8")]
        return [ids[part] for part in merge(parts, ranks)]
''',
'''def encode(text, pattern, merge, ranks, ids):
    return [ids[piece.encode("utf-8")] for piece in pattern.findall(text)]
''',
'''def encode(text, pattern, merge, ranks, ids):
    found = []
    for piece in pattern.findall(text):
        whole = piece.encode("utf-8")
        if whole in ids:
            found.append(ids[whole])
        else:
            found += [ids[bytes([b])] for b in whole]
    return found
''',
'''def encode(text, pattern, merge, ranks, ids):
    found = []
    for piece in pattern.findall(text.lower()):
        parts = [bytes([b]) for b in piece.encode("utf-8")]
        found += [ids[part] for part in merge(parts, ranks)]
    return found
''',
'''def encode(text, pattern, merge, ranks, ids):
    found = []
    for piece in pattern.findall(text):
        parts = [bytes([b]) for b in piece.strip().encode("utf-8")]
        found += [ids[part] for part in merge(parts, ranks)]
    return found
''',
'''def encode(text, pattern, merge, ranks, ids):
    found = []
    for piece in pattern.split(text):
        parts = [bytes([b]) for b in piece.encode("utf-8")]
        found += [ids[part] for part in merge(parts, ranks)]
    return found
''',
'''def encode(text, pattern, merge, ranks, ids):
    found = []
    for piece in pattern.findall(text):
        parts = [bytes([b]) for b in piece.encode("utf-8")]
        found += merge(parts, ranks)
    return found
''',
'''def encode(text, pattern, merge, ranks, ids):
    parts = []
    for piece in pattern.findall(text):
        parts += [bytes([b]) for b in piece.encode("utf-8")]
    return [ids[part] for part in merge(parts, ranks)]
''',
'''def encode(text, pattern, merge, ranks, ids):
    found = []
    for piece in pattern.findall(text):
        parts = [bytes([b]) for b in piece.encode("ascii", errors="ignore")]
        found += [ids[part] for part in merge(parts, ranks)]
    return found
''',
'''def encode(text, pattern, merge, ranks, ids):
    found = []
    for piece in pattern.findall(text):
        parts = [bytes([b]) for b in piece.encode("utf-8")]
        found += [ids.get(part[0], 0) for part in merge(parts, ranks)]
    return found
''',
'''def encode(text, pattern, merge, ranks, ids):
    found = set()
    for piece in pattern.findall(text):
        parts = [bytes([b]) for b in piece.encode("utf-8")]
        found.update(ids[part] for part in merge(parts, ranks))
    return list(found)
''',
'''def encode(text, pattern, merge, ranks, ids):
    parts = [bytes([b]) for b in text.encode("utf-8")]
    return [ids[part] for part in parts]
''',
'''def encode(text, pattern, merge, ranks, ids):
    data = text.encode("utf-8")
    found = []
    for piece in pattern.findall(data):
        parts = [bytes([b]) for b in piece]
        found += [ids[part] for part in merge(parts, ranks)]
    return found
''',
'''def encode(text, pattern, merge, ranks, ids):
    found = []
    for piece in pattern.findall(text):
        parts = merge([bytes([b]) for b in piece.encode("utf-8")], ranks)
        found += [ranks[part] + 256 for part in parts]
    return found
''',
'''def encode(text, pattern, merge, ranks, ids):
    found = []
    for piece in pattern.findall(text):
        parts = merge([bytes([b]) for b in piece.encode("utf-8")], ranks)
        found += [ids[part.decode("utf-8")] for part in parts]
    return found
''',
'''def encode(text, pattern, merge, ranks, ids):
    found = []
    for piece in pattern.findall(text):
        data = piece.encode("utf-8")
        parts = [data[i:i + 1] for i in range(len(data) - 1)]
        found += [ids[part] for part in merge(parts, ranks)]
    return found
''',
'''def encode(text, pattern, merge, ranks, ids):
    found = []
    for piece in pattern.findall(text):
        parts = merge([bytes([b]) for b in piece.encode("utf-8")], ranks)
        found = [ids[part] for part in parts] + found
    return found
''',
], "decode": [
'''def decode(ids, tokens):
    return "".join(tokens[i].decode("utf-8", errors="replace") for i in ids)
''',
'''def decode(ids, tokens):
    return "".join(tokens[i].decode() for i in ids)
''',
'''def decode(ids, tokens):
    return b"".join(tokens[i] for i in ids).decode("utf-8")
''',
'''def decode(ids, tokens):
    return b"".join(tokens[i] for i in ids).decode("utf-8", errors="ignore")
''',
'''def decode(ids, tokens):
    return b"".join(tokens[i] for i in ids)
''',
'''def decode(ids, tokens):
    return b"".join([tokens[i] for i in ids]).decode("latin-1")
''',
'''def decode(ids, tokens):
    return b" ".join(tokens[i] for i in ids).decode("utf-8", "replace")
''',
'''def decode(ids, tokens):
    text = ""
    for i in ids:
        text += str(tokens[i])
    return text
''',
'''def decode(ids, tokens):
    return [tokens[i].decode("utf-8", errors="replace") for i in ids]
''',
'''def decode(ids, tokens):
    return "".join(chr(i) for i in ids)
''',
'''def decode(ids, tokens):
    return bytes(ids).decode("utf-8", errors="replace")
''',
'''def decode(ids, tokens):
    return "".join(tokens[i] for i in ids)
''',
'''def decode(ids, tokens):
    data = b"".join(tokens[i] for i in ids)
    return "".join(chr(byte) for byte in data)
''',
'''def decode(ids, tokens):
    data = b"".join(tokens[i - 1] for i in ids)
    return data.decode("utf-8", errors="replace")
''',
'''def decode(ids, tokens):
    data = b""
    for i in ids:
        data = tokens[i] + data
    return data.decode("utf-8", errors="replace")
''',
'''def decode(ids, tokens):
    data = b""
    for i in ids:
        data += tokens[i]
        return data.decode("utf-8", errors="replace")
''',
'''def decode(ids, tokens):
    data = b"".join(tokens[i] for i in ids)
    return data.decode("utf-8", errors="replace").strip()
''',
'''def decode(ids, tokens):
    data = b"".join(tokens[i] for i in ids)
    return data.decode("ascii", errors="replace")
''',
'''def decode(ids, tokens):
    try:
        return b"".join(tokens[i] for i in ids).decode("utf-8")
    except UnicodeDecodeError:
        return "\\ufffd"
''',
'''def decode(ids, tokens):
    data = b"".join(tokens[i] for i in ids[:-1])
    return data.decode("utf-8", errors="replace")
''',
'''def decode(ids, tokens):
    text = ""
    for i in ids:
        try:
            text += tokens[i].decode("utf-8")
        except UnicodeDecodeError:
            text += "\\ufffd"
    return text
''',
'''def decode(ids, tokens):
    data = b"".join(tokens[i] for i in ids)
    return data.decode("utf-8", errors="backslashreplace")
''',
'''def decode(ids, tokens):
    return str(b"".join(tokens[i] for i in ids))
''',
'''def decode(ids, tokens):
    return b"".join(tokens[i] for i in ids).decode("utf-16", errors="replace")
''',
'''def decode(ids, tokens):
    data = b"".join(tokens[i] for i in ids)
    return data.decode("utf-8", errors="replace").replace("\\ufffd", "")
''',
'''def decode(ids, tokens):
    pieces = []
    for i in range(len(ids)):
        pieces.append(tokens[i])
    return b"".join(pieces).decode("utf-8", errors="replace")
''',
'''def decode(ids, tokens):
    names = {token: i for i, token in enumerate(tokens)}
    return b"".join(names[i] for i in ids).decode("utf-8", errors="replace")
''',
'''def decode(ids, tokens):
    text = b"".join(tokens[i] for i in ids).decode("utf-8", errors="replace")
    return text.replace("\\u0120", " ")[1:]
''',
'''def decode(ids, tokens):
    data = b"".join(token for i, token in enumerate(tokens) if i in ids)
    return data.decode("utf-8", errors="replace")
''',
'''def decode(ids, tokens):
    data = b"".join(tokens[i] for i in ids)
    return data.decode("utf-8", errors="surrogateescape")
''',
]}

RIGHT = {"join": [
'''def join(parts, pair):
    new = []
    for part in parts:
        if new and not done and (new[-1], part) == pair:
            new[-1] += part
            done = True
        else:
            new.append(part)
            done = False
    return new
''',
'''def join(parts, pair):
    parts, i = list(parts), 0
    while i + 1 < len(parts):
        if parts[i] == pair[0] and parts[i + 1] == pair[1]:
            parts[i:i + 2] = [b"".join(pair)]
        i += 1
    return parts
''',
'''def join(parts, pair):
    if len(parts) < 2:
        return list(parts)
    if (parts[0], parts[1]) == tuple(pair):
        return [parts[0] + parts[1], *join(parts[2:], pair)]
    return [parts[0], *join(parts[1:], pair)]
''',
], "find_merges": [
'''def find_merges(pieces, n, join):
    from collections import Counter
    found, pieces = [], list(pieces)
    for _ in range(n):
        counts = Counter(pair for parts in pieces for pair in zip(parts, parts[1:]))
        if not counts:
            break
        (pair, times), = counts.most_common(1)
        if times == 1:
            break
        found.append(pair)
        pieces = [join(parts, pair) for parts in pieces]
    return found
''',
'''def find_merges(pieces, n, join):
    if n == 0:
        return []
    counts = {}
    for parts in pieces:
        for i in range(len(parts) - 1):
            pair = parts[i], parts[i + 1]
            counts[pair] = counts.get(pair, 0) + 1
    best, most = None, 1
    for pair, times in counts.items():
        if times > most:
            best, most = pair, times
    if best is None:
        return []
    return [best] + find_merges([join(parts, best) for parts in pieces], n - 1, join)
''',
], "merge": [
'''def merge(parts, ranks):
    parts = parts.copy()
    while True:
        best = None
        for i in range(len(parts) - 1):
            rank = ranks.get((parts[i], parts[i + 1]))
            if rank is not None and (best is None or rank < best[0]):
                best = rank, i
        if best is None:
            return parts
        i = best[1]
        parts[i] += parts.pop(i + 1)
''',
'''def merge(tokens, table):
    pairs = zip(tokens, tokens[1:])
    found = sorted((table[pair], i) for i, pair in enumerate(pairs) if pair in table)
    if not found:
        return list(tokens)
    i = found[0][1]
    return merge(tokens[:i] + [tokens[i] + tokens[i + 1]] + tokens[i + 2:], table)
''',
'''def merge(parts, ranks):
    parts = [bytes(part) for part in parts]
    while len(parts) > 1:
        order = [ranks.get((a, b), math.inf) for a, b in zip(parts, parts[1:])]
        low = min(order)
        if low == math.inf:
            break
        at = order.index(low)
        parts = [*parts[:at], b"".join(parts[at:at + 2]), *parts[at + 2:]]
    return parts
''',
'''def merge(parts, ranks):
    parts = tuple(parts)
    while True:
        pairs = [pair for pair in zip(parts, parts[1:]) if pair in ranks]
        if not pairs:
            return list(parts)
        best = min(pairs, key=ranks.get)
        for i in range(len(parts) - 1):
            if parts[i:i + 2] == best:
                parts = parts[:i] + (best[0] + best[1],) + parts[i + 2:]
                break
''',
'''def merge(parts, ranks):
    cuts = [0]
    for part in parts:
        cuts.append(cuts[-1] + len(part))
    whole = b"".join(parts)

    def rank_at(j):
        return ranks.get((whole[cuts[j - 1]:cuts[j]], whole[cuts[j]:cuts[j + 1]]), np.inf)

    while len(cuts) > 2:
        j = min(range(1, len(cuts) - 1), key=rank_at)
        if rank_at(j) == np.inf:
            break
        del cuts[j]
    return [whole[a:b] for a, b in zip(cuts, cuts[1:])]
''',
], "encode": [
'''def encode(text, pattern, merge, ranks, ids):
    return [ids[part] for piece in pattern.findall(text)
            for part in merge([bytes([b]) for b in piece.encode()], ranks)]
''',
'''def encode(text, pattern, merge, ranks, ids):
    result = []
    for match in pattern.finditer(text):
        data = match.group().encode("utf8")
        parts = [data[i:i + 1] for i in range(len(data))]
        for part in merge(parts, ranks):
            result.append(ids[part])
    return result
''',
'''def encode(text, cutter, join, order, numbers):
    def of_piece(piece):
        parts = [number.to_bytes(1, "little") for number in bytes(piece, "utf-8")]
        return [numbers.get(part) for part in join(parts, order)]
    return sum(map(of_piece, cutter.findall(text)), [])
''',
'''def encode(text, pattern, merge, ranks, ids):
    found = []
    for piece in pattern.findall(text):
        parts = [chr(b).encode("latin-1") for b in piece.encode("utf-8")]
        found.extend(ids[part] for part in merge(parts, ranks))
    return np.array(found, dtype=np.int64)
''',
'''def encode(text, pattern, merge, ranks, ids):
    seen, found = {}, []
    for piece in pattern.findall(text):
        if piece not in seen:
            seen[piece] = merge([bytes((b,)) for b in piece.encode("utf-8")], ranks)
        found += map(ids.__getitem__, seen[piece])
    return found
''',
], "decode": [
'''def decode(ids, tokens):
    data = b""
    for i in ids:
        data += tokens[i]
    return data.decode("utf-8", "replace")
''',
'''def decode(ids, tokens):
    return str(b"".join([tokens[i] for i in ids]), "utf-8", "replace")
''',
'''def decode(numbers, table):
    data = bytearray()
    for number in numbers:
        data.extend(table[number])
    return data.decode(errors="replace")
''',
'''def decode(ids, tokens):
    return bytes(byte for i in ids for byte in tokens[i]).decode("utf8", errors="replace")
''',
'''def decode(ids, tokens):
    import io
    file = io.BytesIO()
    for i in ids:
        file.write(tokens[int(i)])
    return file.getvalue().decode("utf-8", "replace")
''',
]}
