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


def _toy_cache():
    return []


def _toy_step(ids, cache):
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
    Case("up to the last position", (np.array([0, 1, 2, 3, 4]), *PAST, *WEIGHTS)),
])
exercise(read_all, [
    Case("two texts", ([[1, 2, 3], [4, 5]], _toy_cache, _toy_step)),
    Case("one text", ([[7, 8]], _toy_cache, _toy_step)),
    Case("no text", ([], _toy_cache, _toy_step)),
])
exercise(total_bytes, [
    Case("the bundled model, 256 tokens", (256, 4, 128)),
    Case("GPT-2 124M, 1024 tokens", (1024, 12, 768)),
    Case("one token", (1, 12, 768)),
])
