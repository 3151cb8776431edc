"""Prompt lookup: guess the next tokens from the text so far, check them all in one pass."""
from itertools import cycle, islice

from .kvcache import KVCache
from .sampling import check_logits


def guess(ids, k, longest=3):
    """The k tokens that followed when the text last had the end that it has now.

    ids: the text, a list. Its last `longest` tokens are looked for further up, the latest place
        first; where they do not occur, one token fewer, down to the last one alone.
    Returns: the k tokens behind that place; where the text ends before, it goes round: these tokens
        again. [] where there is no such place.
    Source: "Prompt Lookup Decoding" (Saxena 2023). Taught: notebooks/bonus/speculation.ipynb
    """
    for n in range(min(longest, len(ids) - 1), 0, -1):
        end = ids[-n:]                                                              # n tokens
        for start in range(len(ids) - n - 1, -1, -1):
            if ids[start:start + n] == end:
                return list(islice(cycle(ids[start + n:]), k))
    return []


def accept(guessed, greedy):
    """How many of the guessed tokens, counted from the first, greedy chooses too.

    greedy: the best token after the text, then after the text and one guess, and so on. Behind the
        first wrong guess they mean nothing: they follow a text that greedy does not write.
    """
    right = 0
    for guessed_id, best in zip(guessed, greedy):
        if guessed_id != best:
            break
        right += 1
    return right


def passes(choose, ids, left, k, longest=3, careful=True, guess=guess, accept=accept):
    """The passes in which greedy writes `left` tokens behind ids: (guesses checked, new ids) each.

    choose(text, guessed): greedy's ids behind the text, behind the text and one guess, and so on.
    A pass checks up to k guesses. Kept are those that greedy chooses too, and the token that it
    chooses after them: 1 to k + 1 tokens a pass.
    A wrong guess costs time. So a pass checks one guess where the pass before it had a right one,
    and all where both passes before it had; where it checks none, the guess is still compared with
    what came. careful=False: every pass checks all its guesses.
    guess, accept: those of this file, or the learner's.
    """
    text, before, right = list(ids), 0, 0                   # right guesses in the latest two passes
    while left > 0:
        guessed = guess(text, min(k, left - 1), longest)
        checked = guessed if not careful or before and right else guessed[:right]
        greedy = choose(text, checked)
        new = greedy[:accept(checked, greedy) + 1]
        yield checked, new
        text, left = text + new, left - len(new)
        compared = guessed[:len(new)]           # those not checked, too; 0 stands behind the last
        before, right = right, accept(compared, new[:len(compared)] + [0])


def logits_behind(model, cache, text, guessed):
    """Logits behind the text and each guess, (1 + guesses, V); the cache forgets earlier ones."""
    cache.length = min(cache.length, len(text) - 1)         # so much of the text has been read
    return model.last_logits(text[cache.length:] + guessed, 1 + len(guessed), cache)


def stream_guessed(model, ids, max_new_tokens, eos, k):
    """The iterator of generate.stream_ids with lookup = k: greedy's ids, in fewer passes.

    ids: the prompt as an array (T,), checked.
    A pass over several rows can round otherwise than a pass over one. Where the two best logits are
        as near as that (about 1e-5), another token may be chosen than without lookup.
    """
    cache, rows = KVCache(model.config), []

    def choose(text, guessed):
        rows[:] = logits_behind(model, cache, text, guessed)                        # (V,) each
        return [int(row.argmax()) for row in rows]
    room = model.config.n_positions - len(ids) + 1          # the full context predicts one more
    for _, new in passes(choose, ids.tolist(), min(max_new_tokens, room), k):
        for chosen, row in zip(new, rows):
            check_logits(row, dtype=None)
            if chosen == eos:
                return "eos"
            yield chosen
    return "max_new_tokens" if max_new_tokens <= room else "context_full"
