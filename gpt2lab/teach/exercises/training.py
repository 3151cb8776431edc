"""Bonus lesson: loss, its gradient, one step, the way back through a layer."""
import math
import os
import re
from functools import lru_cache

import numpy as np

from gpt2lab import inside, training
from gpt2lab.checkpoint import DATA, tokenizer
from gpt2lab.model import GPT2
from gpt2lab.sampling import probabilities, sample
from gpt2lab.softmax import softmax
from gpt2lab.teach.keeping import beside
from gpt2lab.training import Rules, Training, named, pages_of, small_config

# what the lesson measures, and what its pictures show


def steps(wanted):
    """How many steps a training of the lesson takes: `wanted`, or GPT2LAB_STEPS where that is less.

    Tests set it: the same cells then run in seconds.
    """
    most = os.environ.get("GPT2LAB_STEPS")
    return min(wanted, int(most)) if most else wanted


def read_book(path=None):
    """The text of a file of yours, or of the book that ships; a relative path begins beside my_ops.

    Raises: ValueError for a file that is no UTF-8; OSError where it cannot be read.
    """
    path = DATA / "training-text" / "wizard-of-oz.txt" if path is None else beside(path)
    return path.read_text(encoding="utf-8")


def split(text, V=256):
    """Ids of a text: the first nine tenths to learn from, the last tenth held out."""
    ids = np.array(tokenizer(V).encode(text))                                       # (n,)
    return ids[:len(ids) * 9 // 10], ids[len(ids) * 9 // 10:]


def note(diary, run, held_out, pages=16):
    """Keep the model of this moment, and its loss on the held-out text, about 30 times a training.

    diary: {step: (held-out loss, GPT2)}. The loss is that of the first `pages` pages.
    """
    t, N = len(run.losses), run.config.n_positions
    if t in diary or not (t in (0, 10, 30, 60, run.steps) or t % -(-run.steps // 30) == 0):
        return
    model = run.model
    diary[t] = training.held_out_loss(model, held_out[:pages * N + 1], run.rules), model


@lru_cache(maxsize=256)
def writes(model, prompt="The ", letters=110, temperature=0.7, seed=1):
    """What a model writes after a prompt, drawn with a seed; the prompt is part of it."""
    return prompt + model.generate(prompt, max_new_tokens=letters, temperature=temperature,
                                   seed=seed, eos_token_id=None)


def growing(model, prompt, temperature, seed, letters=200):
    """All of a text so far, again and again while it is written; at most the context."""
    room = model.config.n_positions - len(model.encode(prompt)) + 1
    text = prompt
    for piece in model.stream(prompt, max_new_tokens=min(letters, room), temperature=temperature,
                              seed=seed, eos_token_id=None):
        text += piece
        yield text


def known_words(text, book):
    """How many of the words of a text stand in a book: (known, all). The last one may be cut."""
    words, known = re.findall(r"[A-Za-z]+", text)[:-1], set(re.findall(r"[A-Za-z]+", book))
    return sum(word in known for word in words), len(words)


def counted(book, V=256):
    """How often each id followed each: (V, V), and the mean loss of these shares on the same text.

    No table of pairs can have a lower loss on it.
    """
    pairs = np.zeros((V, V))                                                        # (V, V)
    np.add.at(pairs, (book[:-1], book[1:]), 1)
    shares = pairs / np.maximum(pairs.sum(axis=1, keepdims=True), 1)                # (V, V)
    seen = pairs > 0
    return pairs, float(-(pairs[seen] * np.log(shares[seen])).sum() / pairs.sum())


def pairs_write(table, letters=60, seed=1):
    """What a table of pairs writes after a T: each letter drawn by the one before it alone."""
    rng, ids = np.random.default_rng(seed), tokenizer(256).encode("T")
    for _ in range(letters):
        ids.append(sample(probabilities(table[ids[-1]]), rng.random()))
    return tokenizer(256).decode(ids)


def points():
    """Twelve points near the line y = 2 x - 1: x and y, (12,) each."""
    x = np.linspace(-1, 2, 12)                                                      # (12,)
    return x, 2 * x - 1 + 0.4 * np.sin(7 * x)


def tiny_model(seed=0):
    """A model of two small blocks in float64, so that tiny differences can be seen."""
    config, rng = small_config(V=256, N=8, D=8, L=2, H=2), np.random.default_rng(seed)
    row = training.first_numbers(config, rng).astype(np.float64) * 4                # (P,)
    return GPT2(config, named(config, row))


def without_plus(x, w, n_head, epsilon=1e-5, remember=None, layer_norm=None, attend_heads=None,
                 mlp=None):
    """A block that hands on what its parts make, and drops what came in."""
    normed = layer_norm(x, w["ln_1.weight"], w["ln_1.bias"], epsilon)               # (T, D)
    x = attend_heads(normed, w["attn.c_attn.weight"], w["attn.c_attn.bias"],
                     w["attn.c_proj.weight"], w["attn.c_proj.bias"], n_head, remember)
    normed = layer_norm(x, w["ln_2.weight"], w["ln_2.bias"], epsilon)               # (T, D)
    return mlp(normed, w["mlp.c_fc.weight"], w["mlp.c_fc.bias"],                    # (T, D)
               w["mlp.c_proj.weight"], w["mlp.c_proj.bias"])


def trained(run):
    """The losses of a training that is run to its end."""
    while len(run.losses) < run.steps:
        run.advance()
    return run.losses


def previous_weights(diary, page):
    """Mean weight of each head of block 0 on the place before, at each stage: (stages, H)."""
    return np.array([inside.previous_word(model.trace(page)["h.0.attn.pattern"])
                     for _, model in diary.values()])                               # (stages, H)


# what can go wrong: settings of a short training


def _same_pages(ids):
    """draw(rng) that gives the same four pages again and again."""
    pages = [pages_of(ids, 32)(np.random.default_rng(seed)) for seed in range(4)]
    return lambda rng: pages[rng.integers(4)]


class _NotMovedOn:
    """Targets that were not moved on by one: what is to be predicted is what was read."""

    def __init__(self, ids):
        self.draw_of = pages_of(ids, 32)

    def draw(self, rng):
        self.page = self.draw_of(rng)                                               # (T + 1,)
        return self.page

    def rules(self):
        return Rules(cross_entropy=lambda logits, _: training.cross_entropy(logits, self.page[:-1]),
                     cross_entropy_back=lambda logits, _: training.cross_entropy_back(
                         logits, self.page[:-1]))


def no_mask(q, k, v, softmax=softmax):
    """attend without the mask: each query sees the keys that come later, too."""
    return softmax(q @ k.swapaxes(-1, -2) / math.sqrt(q.shape[-1])) @ v             # (..., T, Dh)


def _settings(ids):
    """{what went wrong: what a Training is given}."""
    unmoved = _NotMovedOn(ids)
    return {
        "nothing": {},
        "rate ten times too small": {"rate": 0.0006},
        "rate a hundred times too large": {"rate": 0.6},
        "uphill: p + rate g": {"rules": Rules(update=lambda p, g, rate: p + rate * g)},
        "one-hot not subtracted": {"rules": Rules(
            cross_entropy_back=lambda logits, targets: softmax(logits) / len(targets))},
        "targets not moved on by one": {"draw": unmoved.draw, "rules": unmoved.rules()},
        "the same four pages again and again": {"draw": _same_pages(ids)},
        "mean for the bias's sum": {"rules": Rules(linear_back=lambda x, w, g: (
            g @ w.T, x.T @ g, g.mean(axis=0)))}}


MISTAKES = ["nothing", "rate ten times too small", "rate a hundred times too large",
            "uphill: p + rate g", "one-hot not subtracted", "targets not moved on by one",
            "the same four pages again and again", "mean for the bias's sum"]


@lru_cache(maxsize=16)
def went_wrong(what, wanted=150):
    """A short training with one thing wrong: (losses, held-out loss in the right engine)."""
    ids, held_out = split(read_book())
    settings = {"draw": pages_of(ids, 32)} | _settings(ids)[what]
    run = Training(small_config(N=32, D=32, H=2), settings.pop("draw"), steps(wanted), **settings)
    trained(run)
    right = GPT2(run.config, run.model.weights, run.model.tokenizer)
    return run.losses, training.held_out_loss(right, held_out[:2000])


# the copying head


def letters():
    """Ids of the letters a to z, (26,)."""
    return np.array(tokenizer(256).encode("abcdefghijklmnopqrstuvwxyz"))            # (26,)


def tellings(model, count=8):
    """Mean loss on the first and on the second telling of random letters, and the patterns.

    Returns: (first, second, (count, L, H, T, T)).
    """
    rng, first, second, patterns = np.random.default_rng(5), [], [], []
    half = model.config.n_positions // 2
    for _ in range(count):
        ids = np.tile(rng.choice(letters(), half), 2)                          # (T,)
        trace = model.trace(ids)
        losses = inside.position_losses(trace["logits"], ids)                       # (T - 1,)
        first.append(losses[:half - 1].mean())
        second.append(losses[half:].mean())
        patterns.append([trace[f"h.{i}.attn.pattern"] for i in range(model.config.n_layer)])
    return float(np.mean(first)), float(np.mean(second)), np.array(patterns)


def best_scores(told):
    """Of each stage and block, the best head's weight on what followed last time: (stages, L)."""
    return np.array([scores(one).max(axis=-1) for one in told])


def copying_head(told):
    """(block, head) that looks most at what followed last time; told: what tellings gave."""
    return tuple(map(int, np.unravel_index(scores(told).argmax(), told[2].shape[1:3])))


def scores(told):
    """Mean weight of each head on what followed in the first telling: (L, H)."""
    patterns = told[2]                                                  # (count, L, H, T, T)
    return inside.induction_score(patterns, patterns.shape[-1] // 2).mean(axis=0)   # (L, H)


# the exercises
