"""Lesson 12: a step with a cache, and a cache for each text."""
from functools import lru_cache

import numpy as np

from gpt2lab.attention import attend
from gpt2lab.embedding import embed
from gpt2lab.inside import multiplications
from gpt2lab.kvcache import KVCache

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


def cached_step(ids, past_k, past_v, wte, wpe, w_q, w_k, w_v):
    """The right answer: only the new tokens are read, keys and values of the old ones are there."""
    x = embed(ids, wte, wpe, start=len(past_k))
    k, v = np.concatenate([past_k, x @ w_k]), np.concatenate([past_v, x @ w_v])
    return attend(x @ w_q, k, v), k, v


@mistake(of=cached_step)
def positions_restart(ids, past_k, past_v, wte, wpe, w_q, w_k, w_v):
    """The positions of the new tokens start again at 0.

    embed has an argument for the position of the first new token. How many tokens came before?
    """
    x = embed(ids, wte, wpe)
    k, v = np.concatenate([past_k, x @ w_k]), np.concatenate([past_v, x @ w_v])
    return attend(x @ w_q, k, v), k, v


@mistake(of=cached_step)
def mask_without_offset(ids, past_k, past_v, wte, wpe, w_q, w_k, w_v):
    """The mask takes the first new token for the first token of the text.

    The new query t may look at all old keys and at the new ones up to itself. attend does this
    when the last query belongs to the last key. Do you mask a second time, or shift?
    """
    x = embed(ids, wte, wpe, start=len(past_k))
    k, v = np.concatenate([past_k, x @ w_k]), np.concatenate([past_v, x @ w_v])
    T = len(ids)
    mixed = [attend((x @ w_q)[t:t + 1], k[:t + 1], v[:t + 1])[0] for t in range(T)]
    return np.stack(mixed), k, v


@mistake(of=cached_step)
def no_mask(ids, past_k, past_v, wte, wpe, w_q, w_k, w_v):
    """The new tokens see each other's future.

    A cache does not make the mask needless: two new tokens in one step still have an order.
    """
    x = embed(ids, wte, wpe, start=len(past_k))
    k, v = np.concatenate([past_k, x @ w_k]), np.concatenate([past_v, x @ w_v])
    mixed = [attend((x @ w_q)[t:t + 1], k, v)[0] for t in range(len(ids))]
    return np.stack(mixed), k, v


@mistake(of=cached_step)
def old_rows_lost(ids, past_k, past_v, wte, wpe, w_q, w_k, w_v):
    """The old rows are overwritten: only the new keys and values are left.

    What must a new token be able to look at? Join the old rows and the new ones.
    """
    x = embed(ids, wte, wpe, start=len(past_k))
    return attend(x @ w_q, x @ w_k, x @ w_v), x @ w_k, x @ w_v


@mistake(of=cached_step)
def only_new_returned(ids, past_k, past_v, wte, wpe, w_q, w_k, w_v):
    """The new keys and values are given back without the old ones.

    The next step starts from what you return. It needs the rows of all tokens so far.
    """
    mixed, k, v = cached_step(ids, past_k, past_v, wte, wpe, w_q, w_k, w_v)
    return mixed, k[len(past_k):], v[len(past_v):]


@mistake(of=cached_step)
def new_rows_first(ids, past_k, past_v, wte, wpe, w_q, w_k, w_v):
    """The new rows stand before the old ones.

    Keys stand in the order of the text. Which of the two comes first in concatenate?
    """
    x = embed(ids, wte, wpe, start=len(past_k))
    k, v = np.concatenate([x @ w_k, past_k]), np.concatenate([x @ w_v, past_v])
    return attend(x @ w_q, k, v), k, v


@mistake(of=cached_step)
def nothing_returned_to_keep(ids, past_k, past_v, wte, wpe, w_q, w_k, w_v):
    """The old keys and values are given back without the new ones.

    The next step starts from what you return. Would it know the tokens of this step?
    """
    mixed, _, _ = cached_step(ids, past_k, past_v, wte, wpe, w_q, w_k, w_v)
    return mixed, past_k, past_v


def _step(ids, past_k, past_v, wte, wpe, w_q, w_k, w_v, start):
    """The right answer with another position of the first new token."""
    x = embed(ids, wte, wpe, start=start)
    k, v = np.concatenate([past_k, x @ w_k]), np.concatenate([past_v, x @ w_v])
    return attend(x @ w_q, k, v), k, v


@mistake(of=cached_step)
def one_position_late(ids, past_k, past_v, wte, wpe, w_q, w_k, w_v):
    """The positions of the new tokens are one too high.

    Positions count from 0. Where does the first new token stand when there is no old one?
    """
    return _step(ids, past_k, past_v, wte, wpe, w_q, w_k, w_v, start=len(past_k) + 1)


@mistake(of=cached_step)
def starts_at_their_number(ids, past_k, past_v, wte, wpe, w_q, w_k, w_v):
    """The positions start at the number of the new tokens, not of the old ones.

    What stands before the first new token, and which array has a row for each of it?
    """
    return _step(ids, past_k, past_v, wte, wpe, w_q, w_k, w_v, start=len(ids))


@mistake(of=cached_step)
def no_positions(ids, past_k, past_v, wte, wpe, w_q, w_k, w_v):
    """The position table is not used.

    Then "dog bites man" is "man bites dog". Which function adds both tables?
    """
    return _step(ids, past_k, past_v, wte, 0 * wpe, w_q, w_k, w_v, start=len(past_k))


@mistake(of=cached_step)
def last_id_only(ids, past_k, past_v, wte, wpe, w_q, w_k, w_v):
    """Only the last of the new tokens is read.

    A step may bring many tokens; the first one brings the whole prompt. How many rows must mixed
    have?
    """
    return _step(ids[-1:], past_k, past_v, wte, wpe, w_q, w_k, w_v, start=len(past_k))


@mistake(of=cached_step)
def keys_and_values_swapped(ids, past_k, past_v, wte, wpe, w_q, w_k, w_v):
    """Keys are made with w_v and values with w_k.

    Both have the same shape, so nothing complains. Which letter belongs to which?
    """
    return cached_step(ids, past_k, past_v, wte, wpe, w_q, w_v, w_k)


@mistake(of=cached_step)
def results_swapped(ids, past_k, past_v, wte, wpe, w_q, w_k, w_v):
    """The last two results have changed places: the values come before the keys.

    The next step takes them in the order in which you give them. Which comes first?
    """
    mixed, k, v = cached_step(ids, past_k, past_v, wte, wpe, w_q, w_k, w_v)
    return mixed, v, k


@mistake(of=cached_step)
def mixed_alone(ids, past_k, past_v, wte, wpe, w_q, w_k, w_v):
    """Only mixed comes back, without the keys and values.

    The next step needs them. How many results does the text name?
    """
    return cached_step(ids, past_k, past_v, wte, wpe, w_q, w_k, w_v)[0]


@mistake(of=cached_step)
def looks_at_new_ones_only(ids, past_k, past_v, wte, wpe, w_q, w_k, w_v):
    """The new tokens look at each other only; the old rows are joined after that.

    What should a new query be able to see? Then what comes first, to join or to look?
    """
    _, k, v = cached_step(ids, past_k, past_v, wte, wpe, w_q, w_k, w_v)
    x = embed(ids, wte, wpe, start=len(past_k))
    return attend(x @ w_q, x @ w_k, x @ w_v), k, v


@mistake(of=cached_step)
def no_query(ids, past_k, past_v, wte, wpe, w_q, w_k, w_v):
    """The rows themselves are handed to attend, in place of the queries.

    A query is made of a row by a matrix of its own. Which argument is not used?
    """
    x = embed(ids, wte, wpe, start=len(past_k))
    k, v = np.concatenate([past_k, x @ w_k]), np.concatenate([past_v, x @ w_v])
    return attend(x, k, v), k, v


@mistake(of=cached_step)
def joined_sideways(ids, past_k, past_v, wte, wpe, w_q, w_k, w_v):
    """Old and new keys are joined side by side, not one below the other.

    Each token is a row. Along which axis does concatenate join without being told?
    """
    x = embed(ids, wte, wpe, start=len(past_k))
    k = np.concatenate([past_k, x @ w_k], axis=1)
    return attend(x @ w_q, k, np.concatenate([past_v, x @ w_v], axis=1)), k, past_v


@mistake(of=cached_step)
def rows_flattened(ids, past_k, past_v, wte, wpe, w_q, w_k, w_v):
    """np.append makes one long row of all keys.

    Without an axis it flattens both arrays first. Which function joins rows and keeps them?
    """
    x = embed(ids, wte, wpe, start=len(past_k))
    k, v = np.append(past_k, x @ w_k), np.append(past_v, x @ w_v)
    return attend(x @ w_q, k, v), k, v


@mistake(of=cached_step)
def step_in_float64(ids, past_k, past_v, wte, wpe, w_q, w_k, w_v):
    """The numbers come out as float64, twice as wide as what went in.

    np.zeros and np.empty make float64 unless you say otherwise. Which dtype have the old rows?
    """
    return tuple(part.astype(np.float64) for part in cached_step(
        ids, past_k, past_v, wte, wpe, w_q, w_k, w_v))


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


TABLES = (random(9, 6, seed=1), random(8, 6, seed=2))
WEIGHTS = (*TABLES, random(6, 4, seed=3), random(6, 4, seed=4), random(6, 4, seed=5))
NOTHING = np.zeros((0, 4), np.float32)
PAST = (random(3, 4, seed=6), random(3, 4, seed=7))
exercise(cached_step, [
    Case("an empty cache and three tokens", (np.array([1, 5, 2]), NOTHING, NOTHING, *WEIGHTS)),
    Case("three tokens in the cache, one new", (np.array([4]), *PAST, *WEIGHTS)),
    Case("three tokens in the cache, two new", (np.array([8, 8]), *PAST, *WEIGHTS)),
    Case("one token in the cache, two new", (np.array([6, 3]), *(rows[:1] for rows in PAST),
                                             *WEIGHTS)),
    Case("up to the last position", (np.array([0, 1, 2, 3, 4]), *PAST, *WEIGHTS)),
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
