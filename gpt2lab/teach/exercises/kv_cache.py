"""Lesson 12: old rows and new ones, and a cache for each text."""
from functools import lru_cache

import numpy as np

from gpt2lab.inside import multiplications
from gpt2lab.kvcache import KVCache, remember

from . import Case, exercise, mistake, random

# what the lesson's pictures show


def work(config, prompt, total):
    """Multiplications so far, for each length of a text that grows from `prompt` to `total` tokens.

    Shapes: -> without a cache (n,), with one (n,); n = total - prompt + 1
    """
    lengths = range(prompt, total + 1)
    naive = np.cumsum([multiplications(config, n, n) for n in lengths])
    cached = np.cumsum([multiplications(config, prompt if n == prompt else 1, n) for n in lengths])
    return naive, cached


@lru_cache(maxsize=21)
def grown(model, text, moves):
    """The prompt (24 tokens at most) in one pass, then one new token a move: all ids, the cache."""
    ids, cache = model.encode(text)[:24], KVCache(model.config)
    logits = model.next_logits(ids, cache)
    for _ in range(moves):
        ids = ids + [int(logits.argmax())]
        logits = model.next_logits(ids[-1:], cache)
    return ids, cache


# the exercises


@mistake(of=remember)
def new_rows_first(old_k, old_v, k, v):
    """The new rows stand above the old ones.

    Keys stand in the order of the text. Which of the two comes first in concatenate?
    """
    return np.concatenate([k, old_k], axis=-2), np.concatenate([v, old_v], axis=-2)


@mistake(of=remember)
def keys_and_values_swapped(old_k, old_v, k, v):
    """The two results have changed places: the values come before the keys.

    Both have the same shape, so nothing complains. Which of them does the stub name first?
    """
    return remember(old_v, old_k, v, k)


@mistake(of=remember)
def keys_twice(old_k, old_v, k, v):
    """The keys come back twice, and no values.

    A key says where to look, a value what is there. Which one is missing in your return?
    """
    return remember(old_k, old_k, k, k)


@mistake(of=remember)
def values_twice(old_k, old_v, k, v):
    """The values come back twice, and no keys.

    A key says where to look, a value what is there. Which one is missing in your return?
    """
    return remember(old_v, old_v, v, v)


@mistake(of=remember)
def new_keys_under_old_values(old_k, old_v, k, v):
    """Below the old values stand the new keys.

    Both have the same shape, so nothing complains. Which new rows belong to old_v?
    """
    return remember(old_k, old_v, k, k)


@mistake(of=remember)
def new_values_under_old_keys(old_k, old_v, k, v):
    """Below the old keys stand the new values.

    Both have the same shape, so nothing complains. Which new rows belong to old_k?
    """
    return remember(old_k, old_v, v, v)


@mistake(of=remember)
def values_below_old_keys(old_k, old_v, k, v):
    """Above the new values stand the old keys.

    Both have the same shape, so nothing complains. Which old rows belong to v?
    """
    return remember(old_k, old_k, k, v)


@mistake(of=remember)
def keys_below_old_values(old_k, old_v, k, v):
    """Above the new keys stand the old values.

    Both have the same shape, so nothing complains. Which old rows belong to k?
    """
    return remember(old_v, old_v, k, v)


@mistake(of=remember)
def old_with_old(old_k, old_v, k, v):
    """Old rows are joined with old ones, new rows with new ones.

    All keys go into one array and all values into another. Which two pairs are those?
    """
    return np.concatenate([old_k, old_v], axis=-2), np.concatenate([k, v], axis=-2)


@mistake(of=remember)
def old_rows_lost(old_k, old_v, k, v):
    """The old rows are lost: only the new keys and values come back.

    What must a new token be able to look at? Join the old rows and the new ones.
    """
    return k, v


@mistake(of=remember)
def only_old_returned(old_k, old_v, k, v):
    """The old keys and values come back without the new ones.

    A token looks at itself too, and later ones look at it. Where do its rows go?
    """
    return old_k, old_v


@mistake(of=remember)
def values_without_old(old_k, old_v, k, v):
    """The keys are joined, but of the values only the new rows come back.

    Each key has a value, and a weight finds both at the same place. What do you do with v?
    """
    return remember(old_k, old_v, k, v)[0], v


@mistake(of=remember)
def keys_without_old(old_k, old_v, k, v):
    """The values are joined, but of the keys only the new rows come back.

    Each key has a value, and a weight finds both at the same place. What do you do with k?
    """
    return k, remember(old_k, old_v, k, v)[1]


@mistake(of=remember)
def joined_along_the_heads(old_k, old_v, k, v):
    """Old and new are joined along the heads' axis.

    Without an axis, concatenate takes the first one, and so does vstack: that of the heads. Which
    axis of (H, T, Dh) counts the tokens?
    """
    return np.concatenate([old_k, k]), np.concatenate([old_v, v])


@mistake(of=remember)
def joined_sideways(old_k, old_v, k, v):
    """Old and new are joined side by side, along the last axis.

    Each token is a row of Dh numbers, and the rows stay as long as they are. Which axis of
    (H, T, Dh) counts the tokens?
    """
    return np.concatenate([old_k, k], axis=-1), np.concatenate([old_v, v], axis=-1)


@mistake(of=remember)
def stacked(old_k, old_v, k, v):
    """Old and new are stacked on a new axis.

    stack needs arrays of one shape and makes an axis; concatenate makes one longer that is there.
    How many axes has the result?
    """
    return np.stack([old_k, k], axis=1), np.stack([old_v, v], axis=1)


@mistake(of=remember)
def rows_flattened(old_k, old_v, k, v):
    """np.append makes one long row of all numbers.

    Without an axis it flattens both arrays first. How do you tell it which axis grows?
    """
    return np.append(old_k, k), np.append(old_v, v)


@mistake(of=remember)
def added_up(old_k, old_v, k, v):
    """Old and new numbers are added up.

    + adds arrays, also where it joins lists. How many rows has the result?
    """
    return old_k + k, old_v + v


@mistake(of=remember)
def last_old_rows_overwritten(old_k, old_v, k, v):
    """The new rows take the place of the last old ones.

    Nothing is forgotten: the result has a row for each token, old or new. How many are those?
    """
    T = k.shape[1]
    return remember(old_k[:, :-T], old_v[:, :-T], k, v)


@mistake(of=remember)
def oldest_row_dropped(old_k, old_v, k, v):
    """The oldest row is dropped when new ones come.

    That is a window that moves, and the model forgets the beginning. How many rows must come back?
    """
    return remember(old_k[:, 1:], old_v[:, 1:], k, v)


@mistake(of=remember)
def last_new_row_only(old_k, old_v, k, v):
    """Of the new rows only the last one is kept.

    The first call brings a whole prompt at once: T is not always 1. Is there a place in your
    function that takes one row?
    """
    return remember(old_k, old_v, k[:, -1:], v[:, -1:])


@mistake(of=remember)
def first_new_row_only(old_k, old_v, k, v):
    """Of the new rows only the first one is kept.

    The first call brings a whole prompt at once: T is not always 1. Is there a place in your
    function that takes one row?
    """
    return remember(old_k, old_v, k[:, :1], v[:, :1])


@mistake(of=remember)
def one_head_only(old_k, old_v, k, v):
    """Only the first head comes back.

    k[0] is the first head, not the first row. Which axis stands in front?
    """
    return tuple(rows[0] for rows in remember(old_k, old_v, k, v))


@mistake(of=remember)
def keys_alone(old_k, old_v, k, v):
    """Only the keys come back.

    The heads need the values too. What does return give when there is a comma?
    """
    return remember(old_k, old_v, k, v)[0]


@mistake(of=remember)
def in_one_array(old_k, old_v, k, v):
    """Keys and values come back in one array.

    Two results are asked for, each an array of its own. What does return give when there is a
    comma?
    """
    return np.stack(remember(old_k, old_v, k, v))


@mistake(of=remember)
def paired(old_k, old_v, k, v):
    """Old and new lie side by side in a list, but are not joined.

    A list of two arrays is no array. Which function makes one of them?
    """
    return [old_k, k], [old_v, v]


@mistake(of=remember)
def rows_as_lists(old_k, old_v, k, v):
    """The numbers come back in lists.

    attend works on arrays. Which function joins arrays and gives one back?
    """
    return tuple(rows.tolist() for rows in remember(old_k, old_v, k, v))


@mistake(of=remember)
def rows_in_float64(old_k, old_v, k, v):
    """The numbers come out as float64, twice as wide as what went in.

    np.zeros and np.empty make float64 unless you say otherwise. Which dtype have the old rows?
    """
    return tuple(rows.astype(np.float64) for rows in remember(old_k, old_v, k, v))


def read_all(texts, new_cache, step):
    """The right answer: a new cache for each text."""
    return [step(ids, new_cache()) for ids in texts]


@mistake(of=read_all)
def shared_cache(texts, new_cache, step):
    """One cache serves all texts.

    The second text then sees the tokens of the first. When must new_cache be called?
    """
    cache = new_cache()
    return [step(ids, cache) for ids in texts]


@mistake(of=read_all)
def cache_for_each_token(texts, new_cache, step):
    """Each token gets a new cache.

    Then no token sees the ones before it. A cache lives as long as its text.
    """
    return [[step([i], new_cache()) for i in ids][-1] for ids in texts]


@mistake(of=read_all)
def last_text_only(texts, new_cache, step):
    """Only the last text is answered.

    One result for each text is asked for: collect them in a list.
    """
    return [step(ids, new_cache()) for ids in texts][-1:]


@mistake(of=read_all)
def first_text_only(texts, new_cache, step):
    """Only the first text is answered.

    A return inside the loop ends it. Where do the results wait until all are there?
    """
    return [step(ids, new_cache()) for ids in texts[:1]]


@mistake(of=read_all)
def one_long_text(texts, new_cache, step):
    """All texts are read as one.

    Each text has a result of its own. What must you not join?
    """
    return [step([i for ids in texts for i in ids], new_cache())]


@mistake(of=read_all)
def cache_not_made(texts, new_cache, step):
    """The function new_cache is handed over, not the cache that it makes.

    A function is called with brackets. What does new_cache without them stand for?
    """
    return [step(ids, new_cache) for ids in texts]


@mistake(of=read_all)
def text_and_cache_swapped(texts, new_cache, step):
    """Text and cache have changed places.

    In which order does step take them?
    """
    return [step(new_cache(), ids) for ids in texts]


@mistake(of=read_all)
def pairs_with_the_cache(texts, new_cache, step):
    """Each result is paired with its cache.

    Only the results are asked for. What else do you put into the list?
    """
    caches = [new_cache() for _ in texts]
    return [(step(ids, cache), cache) for ids, cache in zip(texts, caches)]


def total_bytes(tokens, n_layer, n_embd):
    """The right answer: 2 for K and V, 4 bytes for a float32."""
    return 2 * n_layer * tokens * n_embd * 4


@mistake(of=total_bytes)
def only_keys(tokens, n_layer, n_embd):
    """Only the keys are counted.

    For each token a block keeps two rows of D numbers. Which ones?
    """
    return n_layer * tokens * n_embd * 4


@mistake(of=total_bytes)
def with_queries(tokens, n_layer, n_embd):
    """The queries are counted too.

    A query is used once, by its own token. Does any later token need it?
    """
    return 3 * n_layer * tokens * n_embd * 4


@mistake(of=total_bytes)
def numbers_not_bytes(tokens, n_layer, n_embd):
    """These are numbers, not bytes.

    How many bytes has one float32?
    """
    return 2 * n_layer * tokens * n_embd


@mistake(of=total_bytes)
def one_block(tokens, n_layer, n_embd):
    """Only one block is counted.

    Every block has keys and values of its own.
    """
    return 2 * tokens * n_embd * 4


@mistake(of=total_bytes)
def in_float64_bytes(tokens, n_layer, n_embd):
    """Eight bytes are counted for a number.

    float64 has eight. How many bits has float32, and how many bits has a byte?
    """
    return 2 * n_layer * tokens * n_embd * 8


@mistake(of=total_bytes)
def bits_not_bytes(tokens, n_layer, n_embd):
    """These are bits, not bytes.

    How many bits has a byte?
    """
    return 2 * n_layer * tokens * n_embd * 32


@mistake(of=total_bytes)
def in_megabytes(tokens, n_layer, n_embd):
    """These are megabytes, not bytes.

    What do you divide by at the end?
    """
    return 2 * n_layer * tokens * n_embd * 4 / 1e6


@mistake(of=total_bytes)
def one_token(tokens, n_layer, n_embd):
    """The tokens are not counted.

    Each token has a key and a value in every block. Which argument is not used?
    """
    return 2 * n_layer * n_embd * 4


@mistake(of=total_bytes)
def square_of_tokens(tokens, n_layer, n_embd):
    """The tokens are multiplied with the tokens.

    That is the size of a pattern, which nobody keeps. How many keys has one token?
    """
    return 2 * n_layer * tokens * tokens * n_embd * 4


@mistake(of=total_bytes)
def square_of_width(tokens, n_layer, n_embd):
    """D is multiplied with D.

    That is the size of a weight matrix. How many numbers has one key of all heads together?
    """
    return 2 * n_layer * tokens * n_embd * n_embd * 4


class ToyCache(list):
    """A cache that only new_cache makes: another list will not do."""


def _toy_step(ids, cache):
    if not isinstance(cache, ToyCache):
        raise TypeError(f"step: cache must come from new_cache(), got {cache!r}"[:80])
    cache.extend(ids)
    return sum((place + 1) * i for place, i in enumerate(cache))


def _rows(H, old, new, Dh, seed):
    """Old keys, old values, new keys, new values of H heads, all different."""
    return tuple(random(H, rows, Dh, seed=seed + i) for i, rows in enumerate((old, old, new, new)))


exercise(remember, [
    Case("no old rows, three new ones", _rows(2, 0, 3, 4, seed=10)),
    Case("three old rows, a new one", _rows(2, 3, 1, 4, seed=20)),
    Case("two old rows, three new ones", _rows(2, 2, 3, 4, seed=30)),
    Case("as many heads as old rows, new rows and numbers", _rows(3, 3, 3, 3, seed=40)),
    Case("a single head", _rows(1, 4, 2, 5, seed=50)),
    Case("many heads of two numbers, one old row and a new one", _rows(6, 1, 1, 2, seed=60)),
])
exercise(read_all, [
    Case("two texts", ([[1, 2, 3], [4, 6]], ToyCache, _toy_step)),
    Case("one text", ([[7, 8]], ToyCache, _toy_step)),
    Case("no text", ([], ToyCache, _toy_step)),
])
exercise(total_bytes, [
    Case("the bundled model, 256 tokens", (256, 4, 128)),
    Case("GPT-2 124M, 1024 tokens", (1024, 12, 768)),
    Case("one token", (1, 12, 768)),
    Case("a very small model", (7, 3, 10)),
])
