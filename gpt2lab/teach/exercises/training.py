"""Bonus lesson: loss, its gradient, one step, the way back through a layer."""
import math
import os
import re
from dataclasses import replace
from functools import lru_cache

import numpy as np

from gpt2lab import inside, training
from gpt2lab.checkpoint import DATA, tokenizer
from gpt2lab.gelu import gelu
from gpt2lab.model import GPT2
from gpt2lab.sampling import probabilities, sample
from gpt2lab.softmax import softmax
from gpt2lab.teach.keeping import beside
from gpt2lab.training import (
    Training,
    cross_entropy,
    cross_entropy_back,
    gelu_back,
    linear_back,
    named,
    pages_of,
    small_config,
    update,
)

from . import Case, exercise, mistake, random

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


@training.one_thread
def note(diary, run, held_out, pages=16):
    """Keep the model of this moment, and its loss on the held-out text, about 30 times a training.

    diary: {step: (held-out loss, GPT2)}. The loss is that of `pages` pages from all over the text.
    """
    t, N = len(run.losses), run.config.n_positions
    if t in diary or t not in (0, 10, 30, 60, run.steps) and t % max(20, -(-run.steps // 30)):
        return
    model, losses = run.model, []
    for start in np.linspace(0, len(held_out) - N - 1, pages).astype(int):
        page = held_out[start:start + N + 1]                                        # (T + 1,)
        losses.append(run.rules.cross_entropy(model(page[:-1]), page[1:]))
    diary[t] = float(np.mean(losses)), model


@lru_cache(maxsize=256)
@training.one_thread
def writes(model, prompt="The ", letters=110, temperature=0.7, seed=1):
    """What a model writes after a prompt, drawn with a seed; the prompt is part of it."""
    return prompt + model.generate(prompt, max_new_tokens=letters, temperature=temperature,
                                   seed=seed, eos_token_id=None)


def visible(text):
    """A text in one line: what cannot be printed becomes a dot."""
    return "".join(c if c.isprintable() and c != "\ufffd" else "·" for c in text)


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


def frequencies_loss(book, V=256):
    """Mean loss of a writer who knows how frequent each id is, and nothing else."""
    shares = np.bincount(book, minlength=V) / len(book)                             # (V,)
    return float(-(shares[shares > 0] * np.log(shares[shares > 0])).sum())


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


def first_gradient(run, page):
    """Size of the loss's gradient by block 0's c_attn now: the root of the sum of its squares."""
    _, found = training.gradients(run.model, page, run.rules)
    return float(np.linalg.norm(found["h.0.attn.c_attn.weight"]))


@training.one_thread
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

    def rules(self, rules):
        return replace(
            rules, cross_entropy=lambda logits, _: rules.cross_entropy(logits, self.page[:-1]),
            cross_entropy_back=lambda logits, _: rules.cross_entropy_back(logits, self.page[:-1]))


def no_mask(q, k, v, softmax=softmax):
    """attend without the mask: each query sees the keys that come later, too."""
    return softmax(q @ k.swapaxes(-1, -2) / math.sqrt(q.shape[-1])) @ v             # (..., T, Dh)


def _settings(ids, rules):
    """{what went wrong: what a Training is given}."""
    unmoved = _NotMovedOn(ids)
    return {
        "nothing wrong": {},
        "rate ten times too small": {"rate": 0.0006},
        "rate a hundred times too large": {"rate": 0.6},
        "uphill: p + rate g": {"rules": replace(rules, update=lambda p, g, rate: p + rate * g)},
        "one-hot not subtracted": {"rules": replace(
            rules, cross_entropy_back=lambda logits, targets: softmax(logits) / len(targets))},
        "targets not moved on by one": {"draw": unmoved.draw, "rules": unmoved.rules(rules)},
        "the same four pages again and again": {"draw": _same_pages(ids)},
        "mean for the bias's sum": {"rules": bias_by_mean(rules)}}


MISTAKES = ["nothing wrong", "rate ten times too small", "rate a hundred times too large",
            "uphill: p + rate g", "one-hot not subtracted", "targets not moved on by one",
            "the same four pages again and again", "mean for the bias's sum"]


def bias_by_mean(rules):
    """Rules with a mean in place of the sum over rows in linear_back's third result."""
    def linear_back(x, w, g):
        by_x, by_w, _ = rules.linear_back(x, w, g)
        return by_x, by_w, g.mean(axis=0)
    return replace(rules, linear_back=linear_back)


@lru_cache(maxsize=16)
def went_wrong(what, rules, wanted=150):
    """A short training with one thing wrong: (losses, held-out loss in the right engine).

    rules: those that are right.
    """
    ids, held_out = split(read_book())
    settings = {"draw": pages_of(ids, 32), "rules": rules} | _settings(ids, rules)[what]
    run = Training(small_config(N=32, D=32, H=2), settings.pop("draw"), steps(wanted), **settings)
    trained(run)
    right = GPT2(run.config, run.model.weights, run.model.tokenizer)
    return run.losses, training.held_out_loss(right, held_out[:2000], rules)


# the copying head


def letters():
    """Ids of the letters a to z, (26,)."""
    return np.array(tokenizer(256).encode("abcdefghijklmnopqrstuvwxyz"))            # (26,)


def _told(rng, period, T):
    """Different letters by chance, told again and again: (T,) ids."""
    return np.resize(rng.permutation(letters())[:period], T)                        # (T,)


def told_letters(T, period=10):
    """The letters of the text whose pattern tellings gives."""
    return tokenizer(256).decode(_told(np.random.default_rng(5), period, T))


@training.one_thread
def tellings(model, count=16, period=10):
    """Mean loss of the first telling of random letters and of the later ones; a pattern; scores.

    The letters, `period` different ones, are told until the context is full.
    Returns: (first, later, (L, H, T, T) of the first of `count` texts, (L, H) mean weight of each
        head on what followed in the tellings before, (L, H) on the letter before).
    """
    rng, losses, patterns = np.random.default_rng(5), [], []
    T = model.config.n_positions
    for _ in range(count):
        ids = _told(rng, period, T)                                                 # (T,)
        trace = model.trace(ids)
        losses.append(inside.position_losses(trace["logits"], ids))                 # (T - 1,)
        patterns.append(inside.patterns_of(trace))                                  # (L, H, T, T)
    first, later = np.split(np.mean(losses, axis=0), [period - 1])
    scores = _what_followed(np.array(patterns), period).mean(axis=0)                # (L, H)
    before = inside.previous_word(np.array(patterns)).mean(axis=0)                  # (L, H)
    return float(first.mean()), float(later[1:].mean()), patterns[0], scores, before


def stacked(told):
    """What tellings gave at each stage, as five arrays (stages, ...)."""
    return tuple(map(np.array, zip(*told)))


def _what_followed(patterns, period):
    """Mean weight of the later tellings on what followed in all tellings before: (..., H)."""
    T, found = patterns.shape[-1], []
    for t in range(period, T):
        found.append(patterns[..., t, range(t % period + 1, t, period)].sum(axis=-1))   # (..., H)
    return np.mean(found, axis=0)


# the exercises

def _log_p(logits, axis=-1):
    """The logarithm of each probability."""
    z = logits - logits.max(axis=axis, keepdims=True)
    return z - np.log(np.exp(z).sum(axis=axis, keepdims=True))


def _of(rows, targets):
    """One number of each row, that of its target."""
    return rows[np.arange(len(targets)), targets]                                   # (T,)


def _one_hot(logits, targets):
    return np.eye(logits.shape[-1], dtype=logits.dtype)[targets]                    # (T, V)


@mistake(of=cross_entropy)
def loss_summed(logits, targets):
    """The losses of the rows are added up: a longer text costs more.

    What is wanted is the loss of one token, whatever the length of the text. Which step makes one
    number of T?
    """
    return -_of(_log_p(logits), targets).sum()


@mistake(of=cross_entropy)
def loss_in_bits(logits, targets):
    """The logarithm has base 2: these are bits.

    Nats are asked for. Which logarithm undoes exp?
    """
    return -_of(_log_p(logits), targets).mean() / np.log(2)


@mistake(of=cross_entropy)
def loss_base_10(logits, targets):
    """The logarithm has base 10.

    Nats are asked for. Which logarithm undoes exp?
    """
    return -_of(_log_p(logits), targets).mean() / np.log(10)


@mistake(of=cross_entropy)
def loss_sign_forgotten(logits, targets):
    """The minus is missing: the loss is below 0.

    The logarithm of a number below 1 is negative. A loss is large where p is small: what turns it
    round?
    """
    return _of(_log_p(logits), targets).mean()


@mistake(of=cross_entropy)
def loss_without_log(logits, targets):
    """This is the mean of p, without the logarithm.

    It grows when the model gets better, so it is no loss. Which two steps stand in front of p in
    the formula?
    """
    return np.exp(_of(_log_p(logits), targets)).mean()


@mistake(of=cross_entropy)
def loss_minus_p(logits, targets):
    """The sign is turned, but the logarithm is missing: this is -p.

    A token that the model takes for impossible must cost far more than one that it merely doubts.
    Which function of p does that?
    """
    return -np.exp(_of(_log_p(logits), targets)).mean()


@mistake(of=cross_entropy)
def loss_one_minus_p(logits, targets):
    """This is 1 - p, not -log(p).

    Nothing can cost more than 1 like that, not even a token that the model takes for impossible.
    Which function of p goes up without an end?
    """
    return 1 - np.exp(_of(_log_p(logits), targets)).mean()


@mistake(of=cross_entropy)
def loss_log_of_the_mean(logits, targets):
    """The probabilities are averaged first, and the log is taken of their mean.

    Then one sure guess hides all bad ones. Each row has a loss of its own: which of the two steps
    comes first?
    """
    return -np.log(np.exp(_of(_log_p(logits), targets)).mean())


@mistake(of=cross_entropy)
def loss_of_all_tokens(logits, targets):
    """All V tokens of a row are averaged, the wrong ones too.

    Only one token follows. Where do the targets come into your function, and what do they pick?
    """
    return -_log_p(logits).mean()


@mistake(of=cross_entropy)
def loss_of_all_tokens_summed(logits, targets):
    """In each row the losses of all V tokens are added up.

    Only one token follows. Where do the targets come into your function, and what do they pick?
    """
    return -_log_p(logits).sum(axis=-1).mean()


@mistake(of=cross_entropy)
def loss_over_rows(logits, targets):
    """The probabilities add up to 1 over the rows, not over the vocabulary.

    Each row is a guess of its own. Along which axis do its V scores lie?
    """
    return -_of(_log_p(logits, axis=0), targets).mean()


@mistake(of=cross_entropy)
def loss_over_everything(logits, targets):
    """One softmax is taken over all rows together.

    Each row is a guess of its own, and its probabilities add up to 1. What does a sum without an
    axis add up?
    """
    return -_of(_log_p(logits, axis=(0, 1)), targets).mean()


@mistake(of=cross_entropy)
def loss_of_logits(logits, targets):
    """The logits are taken as they are: softmax is missing.

    A logit says nothing without the others of its row. What must be taken from it?
    """
    return -_of(logits, targets).mean()


@mistake(of=cross_entropy)
def loss_log_of_logits(logits, targets):
    """The logarithm is taken of the logits, as if they were probabilities.

    A logit may be negative, and then it has no logarithm. What makes probabilities of the logits?
    """
    return -np.log(_of(logits, targets)).mean()


@mistake(of=cross_entropy)
def loss_overflows(logits, targets):
    """Large logits overflow: exp of 1,000 is infinite.

    Take the largest logit of each row away first. Why does no probability change? And where must it
    come back?
    """
    return (np.log(np.exp(logits).sum(axis=-1)) - _of(logits, targets)).mean()


@mistake(of=cross_entropy)
def loss_softmax_overflows(logits, targets):
    """Large logits overflow in the softmax: infinite divided by infinite is nan.

    exp of 1,000 is infinite. Take the largest logit of each row away first. Why does no probability
    change?
    """
    p = np.exp(logits) / np.exp(logits).sum(axis=-1, keepdims=True)
    return -np.log(_of(p, targets)).mean()


@mistake(of=cross_entropy)
def loss_of_softmax(logits, targets):
    """Softmax first, log afterwards: a probability of 0 has no log.

    exp of -800 is 0 in the computer, so that token costs infinitely much, and it should cost 800.
    Can you write log(exp(z) / sum) so that exp of that token's own z is never needed?
    """
    return -np.log(_of(softmax(logits), targets)).mean()


def _kept_from_0(number):
    """The mistake with this number; each puts an end to the loss elsewhere."""
    def loss(logits, targets):
        return -np.log(_of(softmax(logits), targets) + logits.dtype.type(number)).mean()

    loss.__name__ = f"loss_kept_from_0_by_{number:.0e}"
    loss.__doc__ = f"""About {number:.0e} is added to p, or p is cut off there: the loss has an end.

    A token that is unlikely enough should cost 800 nats. What does minus the log of your small
    number come to? Which form of the formula needs no such help?
    """
    return loss


for _number in (1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-12, 1e-15, 1e-16, 1e-20, 1e-30):
    mistake(of=cross_entropy)(_kept_from_0(_number))


@mistake(of=cross_entropy)
def loss_one_maximum(logits, targets):
    """One maximum is taken for all rows.

    A row that lies far below it has no exp left: all are 0, and so is their sum. Along which axis
    does each row find its own?
    """
    z = logits - logits.max()
    return (np.log(np.exp(z).sum(axis=-1)) - _of(z, targets)).mean()


@mistake(of=cross_entropy)
def loss_maximum_gone(logits, targets):
    """The largest logit is taken from the sum only, and does not come back.

    log(sum of exp(z - top)) is smaller than log(sum of exp(z)). By how much? Then the right token's
    logit has to go the same way, or the sum has to come back.
    """
    z = logits - logits.max(axis=-1, keepdims=True)
    return (np.log(np.exp(z).sum(axis=-1)) - _of(logits, targets)).mean()


@mistake(of=cross_entropy)
def loss_maximum_back_twice(logits, targets):
    """The largest logit comes back although it was taken from the right token's logit as well.

    Either both are moved, or neither of them. Where is top still too many?
    """
    top = logits.max(axis=-1)
    sums = np.exp(logits - top[:, None]).sum(axis=-1)
    return (np.log(sums) + top - (_of(logits, targets) - top)).mean()


@mistake(of=cross_entropy)
def loss_of_the_best(logits, targets):
    """The most likely token is taken, not the one that follows.

    The text says which token is right, whatever the model likes best. Which argument tells it?
    """
    return -_log_p(logits).max(axis=-1).mean()


@mistake(of=cross_entropy)
def loss_over_V(logits, targets):
    """The sum is divided by V, the size of the vocabulary.

    How many losses are in the sum? So many make the mean.
    """
    return -_of(_log_p(logits), targets).sum() / logits.shape[-1]


@mistake(of=cross_entropy)
def loss_over_T_and_V(logits, targets):
    """The sum is divided by T times V.

    How many losses are in the sum? So many make the mean.
    """
    return -_of(_log_p(logits), targets).mean() / logits.shape[-1]


@mistake(of=cross_entropy)
def loss_of_each_row(logits, targets):
    """The loss of each row comes back, not their mean.

    One number is asked for. Which step is left?
    """
    return -_of(_log_p(logits), targets)


@mistake(of=cross_entropy)
def loss_first_row_only(logits, targets):
    """Only the first row counts.

    Every row guesses a token. Does a return stand inside of the loop?
    """
    return -_of(_log_p(logits), targets)[0]


@mistake(of=cross_entropy)
def loss_last_row_only(logits, targets):
    """Only the last row counts.

    Writing needs the last row alone; a loss asks all of them. What picks one row in your function?
    """
    return -_of(_log_p(logits), targets)[-1]


@mistake(of=cross_entropy)
def loss_first_target(logits, targets):
    """Every row is asked for the first target.

    Row t has a target of its own, targets[t]. What walks through rows and targets together?
    """
    return -_log_p(logits)[:, targets[0]].mean()


@mistake(of=cross_entropy)
def loss_every_pair(logits, targets):
    """Every row is asked for every target: T times T numbers.

    A slice and a list of ids make a table. What picks one number from each row?
    """
    return -_log_p(logits)[:, targets].mean()


@mistake(of=cross_entropy)
def loss_rows_of_targets(logits, targets):
    """The targets are taken for rows, and all tokens of these rows are averaged.

    With one index NumPy picks rows. A token's probability has two: which row, and which column?
    """
    return -_log_p(logits)[targets].mean()


@mistake(of=cross_entropy)
def loss_moved_again(logits, targets):
    """The targets are moved on by one again, and the last row is left out.

    They were moved when they were cut out of the text: targets[t] is what follows row t. How many
    rows are there, and how many targets?
    """
    right = _of(_log_p(logits)[:-1], targets[1:])
    return -right.sum() / np.float64(len(right))            # one row: 0 by 0, without a warning


@mistake(of=cross_entropy)
def loss_as_perplexity(logits, targets):
    """This is exp of the loss.

    The loss is the logarithm itself. Which step goes too far?
    """
    return np.exp(-_of(_log_p(logits), targets).mean())


@mistake(of=cross_entropy)
def loss_squared(logits, targets):
    """These are squared errors, (p - 1)^2 for the right token and p^2 for the others.

    That serves for a line. Here it can hardly tell a small p from a tiny one. What does the formula
    do with p?
    """
    return ((softmax(logits) - _one_hot(logits, targets)) ** 2).sum(axis=-1).mean()


@mistake(of=cross_entropy)
def loss_squared_of_each(logits, targets):
    """These are squared errors, averaged over all T times V numbers.

    That serves for a line. Here it can hardly tell a small p from a tiny one. What does the formula
    do with p?
    """
    return ((softmax(logits) - _one_hot(logits, targets)) ** 2).mean()


@mistake(of=cross_entropy)
def loss_entropy(logits, targets):
    """This is how unsure the model is: -p log(p) over all tokens, whatever follows.

    A model that is sure and wrong must pay. Where do the targets come into your function?
    """
    return -(softmax(logits) * _log_p(logits)).sum(axis=-1).mean()


@mistake(of=cross_entropy)
def loss_p_log_p(logits, targets):
    """The loss of the right token is multiplied by its p.

    In an entropy p stands in front of the log. Here the text is certain of its token: which number
    stands there then?
    """
    right = _of(_log_p(logits), targets)
    return -(np.exp(right) * right).mean()


@mistake(of=cross_entropy)
def loss_yes_or_no(logits, targets):
    """Each wrong token costs as well, -log(1 - p), as for V questions of yes or no.

    The probabilities of a row are one question, and their sum is 1. Which single term of the row is
    in the formula?
    """
    others = np.log(1 - softmax(logits))
    others = others.sum(axis=-1) - _of(others, targets)
    return -(_of(_log_p(logits), targets) + others).mean()


@mistake(of=cross_entropy)
def loss_softmax_twice(logits, targets):
    """Softmax is applied twice.

    Probabilities lie between 0 and 1; taken for logits, they are all nearly alike. Which of your
    steps makes probabilities already?
    """
    return -_of(_log_p(softmax(logits)), targets).mean()


@mistake(of=cross_entropy_back)
def back_one_hot_missing(logits, targets):
    """The one-hot is not taken away: this is p / T, whatever follows.

    Then every score is pushed down, the right one too. What does the right token have to lose, and
    which number does it lack up to 1?
    """
    return softmax(logits) / len(targets)


@mistake(of=cross_entropy_back)
def back_turned_round(logits, targets):
    """The sign is turned round: one-hot minus p points downhill.

    A gradient says how much the loss grows. Does the loss grow when the right token's score grows?
    """
    return (_one_hot(logits, targets) - softmax(logits)) / len(targets)


@mistake(of=cross_entropy_back)
def back_not_over_T(logits, targets):
    """The division by T is missing.

    The loss is the mean over T rows. How much does a mean move when one of its T numbers moves by
    1?
    """
    return softmax(logits) - _one_hot(logits, targets)


@mistake(of=cross_entropy_back)
def back_over_V(logits, targets):
    """It is divided by V, not by T.

    The loss is a mean. Over how many numbers?
    """
    return cross_entropy_back(logits, targets) * (len(targets) / logits.shape[-1])


@mistake(of=cross_entropy_back)
def back_over_T_and_V(logits, targets):
    """It is divided by T times V.

    The loss is a mean over the rows. Is it one over the vocabulary as well?
    """
    return cross_entropy_back(logits, targets) / logits.shape[-1]


@mistake(of=cross_entropy_back)
def back_over_T_twice(logits, targets):
    """It is divided by T twice.

    One mean is taken, over the rows. Where do you divide a second time?
    """
    return cross_entropy_back(logits, targets) / len(targets)


@mistake(of=cross_entropy_back)
def back_times_T(logits, targets):
    """It is multiplied by T.

    The loss is a mean over T rows: does one row count for more in it, or for less?
    """
    return (softmax(logits) - _one_hot(logits, targets)) * len(targets)


@mistake(of=cross_entropy_back)
def back_target_only(logits, targets):
    """Only the right token has a gradient; all others are 0.

    Softmax ties them together: a wrong token's score grows, and the right one's p falls. What is
    the gradient where the one-hot is 0?
    """
    return cross_entropy_back(logits, targets) * _one_hot(logits, targets)


@mistake(of=cross_entropy_back)
def back_others_only(logits, targets):
    """The right token's gradient is 0; only the others have one.

    The right score should go up by what its p lacks. What is p - 1 there?
    """
    return cross_entropy_back(logits, targets) * (1 - _one_hot(logits, targets))


@mistake(of=cross_entropy_back)
def back_of_logits(logits, targets):
    """The one-hot is taken from the logits: softmax is missing.

    Probabilities lie between 0 and 1, and each row of the gradient adds up to 0. What makes
    probabilities of logits?
    """
    return (logits - _one_hot(logits, targets)) / len(targets)


@mistake(of=cross_entropy_back)
def back_of_log_p(logits, targets):
    """The one-hot is taken from log(p), not from p.

    The logarithm belongs to the loss. On its way back it has turned into something else. What
    stands in the formula?
    """
    return (_log_p(logits) - _one_hot(logits, targets)) / len(targets)


@mistake(of=cross_entropy_back)
def back_one_hot_inside(logits, targets):
    """The one-hot is taken from the logits, and softmax comes after.

    Then each row adds up to 1, and a gradient's row adds up to 0. Which of the two steps comes
    first?
    """
    return softmax(logits - _one_hot(logits, targets)) / len(targets)


@mistake(of=cross_entropy_back)
def back_over_rows(logits, targets):
    """Softmax goes down the columns, over the rows of the text.

    Each row is a guess of its own. Along which axis do its V scores lie?
    """
    return (softmax(logits.T).T - _one_hot(logits, targets)) / len(targets)


@mistake(of=cross_entropy_back)
def back_over_everything(logits, targets):
    """One softmax is taken over all rows together.

    Each row is a guess of its own, and its probabilities add up to 1. What does a sum without an
    axis add up?
    """
    p = softmax(logits.reshape(-1)).reshape(logits.shape)
    return (p - _one_hot(logits, targets)) / len(targets)


@mistake(of=cross_entropy_back)
def back_first_target(logits, targets):
    """In every row the first target is taken.

    Row t has a target of its own, targets[t]. What walks through rows and targets together?
    """
    return cross_entropy_back(logits, np.full_like(targets, targets[0]))


@mistake(of=cross_entropy_back)
def back_every_pair(logits, targets):
    """All targets are taken away in every row.

    [:, targets] means all rows with all these columns. What picks one column of each row?
    """
    p = softmax(logits)
    p[:, targets] -= 1
    return p / len(targets)


@mistake(of=cross_entropy_back)
def back_rows_of_targets(logits, targets):
    """The targets are taken for rows: 1 is taken from whole rows.

    With one index NumPy picks rows. A token's score has two: which row, and which column?
    """
    p = softmax(logits)
    p[targets] -= 1
    return p / len(targets)


@mistake(of=cross_entropy_back)
def back_everywhere_one(logits, targets):
    """1 is taken away everywhere, not only at the right token.

    The one-hot is 1 in one place of each row. Which number stands in the others?
    """
    return (softmax(logits) - 1) / len(targets)


@mistake(of=cross_entropy_back)
def back_one_hot_added(logits, targets):
    """The one-hot is added, not taken away.

    The right score should go up, so its gradient is below 0. Which sign does p + 1 have?
    """
    return (softmax(logits) + _one_hot(logits, targets)) / len(targets)


@mistake(of=cross_entropy_back)
def back_p_replaced(logits, targets):
    """The right token's p is replaced by -1; 1 should be taken away from it.

    A token that is nearly certain has nearly nothing left to gain. What is the difference between
    = and -=?
    """
    g, one_hot = softmax(logits), _one_hot(logits, targets)
    return (g * (1 - one_hot) - one_hot) / len(targets)


@mistake(of=cross_entropy_back)
def back_by_p(logits, targets):
    """This is the gradient by p, -1 / p at the right token, not by the logits.

    The way back goes on through softmax. What is left of -1 / p behind it?
    """
    return -_one_hot(logits, targets) / softmax(logits) / len(targets)


@mistake(of=cross_entropy_back)
def back_slope_twice(logits, targets):
    """p (1 - p), the slope of softmax, comes in a second time.

    p minus one-hot is the way back through log and softmax together. What is left to multiply?
    """
    p = softmax(logits)
    return (p - _one_hot(logits, targets)) * p * (1 - p) / len(targets)


@mistake(of=cross_entropy_back)
def back_of_squares(logits, targets):
    """There is a factor 2, as a square has.

    The loss of a line is a square; this one is a logarithm. Where does the 2 come from?
    """
    return 2 * cross_entropy_back(logits, targets)


@mistake(of=cross_entropy_back)
def back_of_the_best(logits, targets):
    """The 1 is taken away at the most likely token, not at the one that follows.

    The text says which token is right, whatever the model likes best. Which argument tells it?
    """
    return cross_entropy_back(logits, logits.argmax(axis=-1))


@mistake(of=cross_entropy_back)
def back_moved_again(logits, targets):
    """The targets are moved on by one again.

    They were moved when they were cut out of the text: targets[t] is what follows row t. What has
    the last row to do with the first target?
    """
    return cross_entropy_back(logits, np.roll(targets, -1))


@mistake(of=cross_entropy_back)
def back_overflows(logits, targets):
    """Large logits overflow: infinite divided by infinite is nan.

    exp of 1,000 is infinite. Take the largest logit of each row away first, or let a softmax do so
    that you have built. Why does no probability change?
    """
    p = np.exp(logits) / np.exp(logits).sum(axis=-1, keepdims=True)
    return (p - _one_hot(logits, targets)) / len(targets)


@mistake(of=cross_entropy_back)
def back_one_maximum(logits, targets):
    """One maximum is taken for all rows.

    A row that lies far below it has no exp left: all are 0, and so is their sum. Along which axis
    does each row find its own?
    """
    p = np.exp(logits - logits.max())
    p /= p.sum(axis=-1, keepdims=True)
    return (p - _one_hot(logits, targets)) / len(targets)


@mistake(of=cross_entropy_back)
def back_in_float64(logits, targets):
    """The gradient comes out as float64, twice as wide as the logits.

    np.eye and np.zeros make float64 unless you say otherwise. Which dtype have the logits?
    """
    return cross_entropy_back(logits, targets).astype(np.float64)


@mistake(of=cross_entropy_back)
def back_in_float32(logits, targets):
    """float64 logits give a float32 gradient.

    A gradient is checked in float64, where small differences have digits enough. Which dtype have
    the logits?
    """
    return cross_entropy_back(logits, targets).astype(np.float32)


@mistake(of=cross_entropy_back)
def back_summed(logits, targets):
    """The rows are added up: V numbers come back.

    Every logit has a gradient, so the gradient has the shape of the logits. Which step drops the
    rows?
    """
    return cross_entropy_back(logits, targets).sum(axis=0)


@mistake(of=cross_entropy_back)
def back_targets_numbers(logits, targets):
    """Only the right tokens' numbers come back, one for each row.

    Every logit has a gradient, so the gradient has the shape of the logits. What happens to the
    wrong tokens?
    """
    return _of(cross_entropy_back(logits, targets), targets)


@mistake(of=cross_entropy_back)
def back_weighed_with_the_loss(logits, targets):
    """The gradient is multiplied by the loss.

    A gradient says how the loss changes; how large it is now does not matter. Is the loss needed in
    your function?
    """
    return cross_entropy_back(logits, targets) * logits.dtype.type(cross_entropy(logits, targets))


@mistake(of=linear_back)
def twin_w_not_turned(x, w, g):
    """w is not turned over in the gradient by x.

    g has `out` numbers in a row, and w goes from `in` to `out`. On the way back it has to go from
    `out` to `in`; a square w fits both ways, and no error tells you. Where does the .T go?
    """
    return g @ w, x.T @ g, g.sum(axis=0)


@mistake(of=linear_back)
def twin_by_w_turned(x, w, g):
    """The gradient by w is lying on its side: (out, in).

    x and g have changed places in the product. A gradient has the shape of what it belongs to:
    which of the two must be turned over to stand on the left?
    """
    return g @ w.T, g.T @ x, g.sum(axis=0)


@mistake(of=linear_back)
def twin_x_not_turned(x, w, g):
    """In the gradient by w, g is turned over and x is not.

    Each weight adds up over the tokens, so the axis T must vanish in the product. Which axis of x
    has to meet the first one of g?
    """
    return g @ w.T, x @ g.T, g.sum(axis=0)


@mistake(of=linear_back)
def twin_nothing_turned(x, w, g):
    """In the gradient by w, x is not turned over.

    Each weight adds up over the tokens, so the axis T must vanish in the product. Which axis of x
    has to meet the first one of g?
    """
    return g @ w.T, x @ g, g.sum(axis=0)


@mistake(of=linear_back)
def twin_mean_of_bias(x, w, g):
    """The bias gets the mean over the tokens, not the sum.

    The bias is added in every row, so every row moves it. The loss has been divided by T already:
    where?
    """
    return g @ w.T, x.T @ g, g.mean(axis=0)


@mistake(of=linear_back)
def twin_bias_not_summed(x, w, g):
    """The bias gets g itself, T rows of it.

    One bias serves all rows. What has to happen to the axis of the tokens?
    """
    return g @ w.T, x.T @ g, g.copy()


@mistake(of=linear_back)
def twin_bias_keeps_an_axis(x, w, g):
    """The gradient by the bias has an axis of length 1 too many.

    b has shape (out,). What leaves an axis behind in a sum?
    """
    return g @ w.T, x.T @ g, g.sum(axis=0, keepdims=True)


@mistake(of=linear_back)
def twin_bias_of_rows(x, w, g):
    """The bias is summed over the outputs: one number for each token.

    b has one number for each output. Which axis of g (T, out) has to vanish?
    """
    return g @ w.T, x.T @ g, g.sum(axis=1)


@mistake(of=linear_back)
def twin_bias_one_number(x, w, g):
    """The bias gets one number, the sum of all of g.

    b has one number for each output. What does a sum without an axis add up?
    """
    return g @ w.T, x.T @ g, g.sum()


@mistake(of=linear_back)
def twin_bias_first_row(x, w, g):
    """The bias gets the first token's gradient only.

    The bias is added in every row, so every row moves it. What picks one row in your function?
    """
    return g @ w.T, x.T @ g, g[0].copy()


@mistake(of=linear_back)
def twin_bias_last_row(x, w, g):
    """The bias gets the last token's gradient only.

    The bias is added in every row, so every row moves it. What is the difference between = and +=?
    """
    return g @ w.T, x.T @ g, g[-1].copy()


@mistake(of=linear_back)
def twin_last_token_only(x, w, g):
    """w and b get the gradient of the last token only.

    Every token adds its part to both. What is the difference between = and +=?
    """
    return g @ w.T, np.outer(x[-1], g[-1]), g[-1].copy()


@mistake(of=linear_back)
def twin_bias_ones(x, w, g):
    """The bias gets 1 everywhere, and g is forgotten.

    y grows by 1 where b does; but how much does the loss grow with y? That is what g says.
    """
    return g @ w.T, x.T @ g, np.ones_like(g[0])


@mistake(of=linear_back)
def twin_bias_counts(x, w, g):
    """The bias gets T everywhere, and g is forgotten.

    It is added in T rows, that is right; but how much does the loss grow with each y? That is what
    g says.
    """
    return g @ w.T, x.T @ g, np.full_like(g[0], len(g))


@mistake(of=linear_back)
def twin_w_elementwise(x, w, g):
    """For w, x and g are multiplied number by number.

    Every input meets every output, and the tokens add up. Which operator takes rows times columns?
    """
    return g @ w.T, x * g, g.sum(axis=0)


@mistake(of=linear_back)
def twin_w_every_token(x, w, g):
    """For w the tokens are not added up: one matrix for each of them.

    One w serves all rows. Which operator adds up over the tokens by itself?
    """
    return g @ w.T, x[:, :, None] * g[:, None, :], g.sum(axis=0)


@mistake(of=linear_back)
def twin_w_sums_first(x, w, g):
    """For w, x and g are summed over the tokens first, and multiplied afterwards.

    Each token's input belongs to its own gradient. Which of the two steps comes first?
    """
    return g @ w.T, np.outer(x.sum(axis=0), g.sum(axis=0)), g.sum(axis=0)


@mistake(of=linear_back)
def twin_w_without_g(x, w, g):
    """For w, g is forgotten: each weight gets the sum of its inputs.

    y grows by x where a weight does; but how much does the loss grow with y? That is what g says.
    """
    return g @ w.T, x.T @ np.ones_like(g), g.sum(axis=0)


@mistake(of=linear_back)
def twin_w_mean(x, w, g):
    """w gets the mean over the tokens, not the sum.

    Every token adds its part. The loss has been divided by T already: where?
    """
    return g @ w.T, x.T @ g / len(x), g.sum(axis=0)


@mistake(of=linear_back)
def twin_means(x, w, g):
    """w and b get the mean over the tokens, not the sum.

    Every token adds its part. The loss has been divided by T already: where?
    """
    return g @ w.T, x.T @ g / len(x), g.mean(axis=0)


@mistake(of=linear_back)
def twin_all_over_T(x, w, g):
    """All three are divided by T.

    g has been divided by T already, in the loss's way back. What does a second time do?
    """
    return g @ w.T / len(x), x.T @ g / len(x), g.mean(axis=0)


@mistake(of=linear_back)
def twin_x_from_x(x, w, g):
    """The gradient by x is made from x; g belongs there.

    y = x w + b, so a number of x moves y by w. And y moves the loss by what?
    """
    return x @ w @ w.T, x.T @ g, g.sum(axis=0)


@mistake(of=linear_back)
def twin_x_times_x(x, w, g):
    """The gradient by x is multiplied by x once more.

    y = x w + b is a straight line in x: its slope is w, wherever x stands. Which factor is too
    many?
    """
    return x * (g @ w.T), x.T @ g, g.sum(axis=0)


@mistake(of=linear_back)
def twin_x_without_g(x, w, g):
    """For x, g is forgotten: each input gets the sum of its weights.

    y grows by w where x does; but how much does the loss grow with y? That is what g says.
    """
    return np.ones_like(g) @ w.T, x.T @ g, g.sum(axis=0)


@mistake(of=linear_back)
def twin_x_summed(x, w, g):
    """The gradient by x is summed over the tokens.

    Every token has an input of its own, so the gradient has the shape of x. Which step drops the
    tokens?
    """
    return (g @ w.T).sum(axis=0), x.T @ g, g.sum(axis=0)


@mistake(of=linear_back)
def twin_inverse(x, w, g):
    """The gradient goes back through the inverse of w.

    The way back does not undo the layer. It asks how much y moves with x: which numbers say that?
    """
    return g @ np.linalg.pinv(w), x.T @ g, g.sum(axis=0)


@mistake(of=linear_back)
def twin_w_reshaped(x, w, g):
    """w gets another shape by reshape, and that mixes its numbers.

    reshape keeps the order in the buffer; it is no way to turn a matrix over. What is?
    """
    return g @ w.reshape(w.shape[::-1]), x.T @ g, g.sum(axis=0)


@mistake(of=linear_back)
def twin_x_reshaped(x, w, g):
    """x gets another shape by reshape, and that mixes its numbers.

    reshape keeps the order in the buffer; it is no way to turn a matrix over. What is?
    """
    return g @ w.T, x.reshape(x.shape[::-1]) @ g, g.sum(axis=0)


@mistake(of=linear_back)
def twin_w_first(x, w, g):
    """w comes first, then x: the order of the results is another one.

    The order is that of the arguments of linear: x, w, b. In which order do you return them?
    """
    return x.T @ g, g @ w.T, g.sum(axis=0)


@mistake(of=linear_back)
def twin_x_last(x, w, g):
    """x comes last: the order of the results is another one.

    The order is that of the arguments of linear: x, w, b. In which order do you return them?
    """
    return x.T @ g, g.sum(axis=0), g @ w.T


@mistake(of=linear_back)
def twin_w_last(x, w, g):
    """w comes last: the order of the results is another one.

    The order is that of the arguments of linear: x, w, b. In which order do you return them?
    """
    return g @ w.T, g.sum(axis=0), x.T @ g


@mistake(of=linear_back)
def twin_b_first(x, w, g):
    """The results stand the other way round: b first, x last.

    The order is that of the arguments of linear: x, w, b. In which order do you return them?
    """
    return g.sum(axis=0), x.T @ g, g @ w.T


@mistake(of=linear_back)
def twin_downhill(x, w, g):
    """All signs are turned: these point downhill.

    A gradient says how much the loss grows. The step against it comes later: where?
    """
    return -g @ w.T, -x.T @ g, -g.sum(axis=0)


@mistake(of=linear_back)
def twin_without_bias(x, w, g):
    """The gradient by the bias is missing: two results come back.

    linear has three arguments. How much does the loss grow with b?
    """
    return g @ w.T, x.T @ g


@mistake(of=linear_back)
def twin_x_alone(x, w, g):
    """Only the gradient by x comes back.

    It goes on to the layer before, but the weights need theirs as well. How many results are asked
    for?
    """
    return g @ w.T


@mistake(of=linear_back)
def twin_in_float64(x, w, g):
    """The gradients come out as float64, twice as wide as what came in.

    np.zeros makes float64 unless you say otherwise. Which dtype has g?
    """
    return tuple(one.astype(np.float64) for one in linear_back(x, w, g))


@mistake(of=linear_back)
def twin_in_float32(x, w, g):
    """float64 arrays give float32 gradients.

    A gradient is checked in float64, where small differences have digits enough. Which dtype has g?
    """
    return tuple(one.astype(np.float32) for one in linear_back(x, w, g))


@mistake(of=update)
def step_uphill(p, g, rate):
    """The step goes uphill: the loss grows.

    A gradient says where the loss grows, and you want it to fall. Which sign does that take?
    """
    return p + rate * g


@mistake(of=update)
def step_without_rate(p, g, rate):
    """The rate is forgotten: the step is as long as the gradient.

    The slope is true only near by. Which argument keeps the step small?
    """
    return p - g


@mistake(of=update)
def step_of_rate_alone(p, g, rate):
    """Every number moves by the rate, and the gradient is forgotten.

    Which way is downhill, and how steep is it? Which argument says so?
    """
    return p - rate * np.ones_like(g)


@mistake(of=update)
def step_by_sign(p, g, rate):
    """Only the sign of the gradient is used: every step is equally long.

    The steeper it is, the longer is the step; where it is level, there is none. What does sign
    throw away?
    """
    return p - rate * np.sign(g)


@mistake(of=update)
def step_up_or_down(p, g, rate):
    """Every number moves by the rate, up or down, even where the gradient is 0.

    The steeper it is, the longer is the step; where it is level, there is none. What does your
    function still use of g?
    """
    return np.where(g > 0, p - rate, p + rate)


@mistake(of=update)
def step_over_rate(p, g, rate):
    """The gradient is divided by the rate: the smaller the rate, the longer the step.

    What should happen to a step when the rate is halved?
    """
    return p - g / rate


@mistake(of=update)
def step_over_g(p, g, rate):
    """The rate is divided by the gradient: the steeper, the shorter the step.

    What should happen to a step where the slope is twice as large, and where it is 0?
    """
    return p - rate / g


@mistake(of=update)
def step_in_proportion(p, g, rate):
    """The step is multiplied by p: a number at 0 never moves.

    How far a number moves depends on its gradient, not on where it stands. Which factor is too
    many?
    """
    return p - rate * g * p


@mistake(of=update)
def step_alone(p, g, rate):
    """The step comes back, without the numbers that it starts from.

    Where do you stand after the step? Which argument says where you stood before?
    """
    return -rate * g


@mistake(of=update)
def step_alone_uphill(p, g, rate):
    """Only rate times gradient comes back: neither the minus nor the numbers to start from.

    Where do you stand after a step against the gradient? Which argument says where you stood
    before?
    """
    return rate * g


@mistake(of=update)
def step_of_both(p, g, rate):
    """The rate multiplies p as well.

    Where you stand is not made smaller; the step is. Is there a bracket too many?
    """
    return rate * (p - g)


@mistake(of=update)
def step_rate_with_p(p, g, rate):
    """The rate multiplies p, not the gradient.

    Where you stand is not made smaller; the step is. Which of the two does the rate belong to?
    """
    return rate * p - g


@mistake(of=update)
def step_swapped(p, g, rate):
    """p and g have changed places.

    Which is what you start from, and which says where to go? Look at the order of the arguments.
    """
    return g - rate * p


@mistake(of=update)
def step_from_the_other_side(p, g, rate):
    """The difference is the wrong way round: rate times g, minus p.

    You stand at p. What is taken from what?
    """
    return rate * g - p


@mistake(of=update)
def step_as_a_mean(p, g, rate):
    """p and g are mixed, as in a running mean.

    A running mean moves towards g. Here p moves against it, by how much?
    """
    return (1 - rate) * p + rate * g


@mistake(of=update)
def step_that_decays(p, g, rate):
    """p is made a little smaller in each step, too.

    Some trainings do that as well, but it is another rule. What does p have in front of it in this
    one?
    """
    return p - rate * (g + p)


@mistake(of=update)
def step_always_down(p, g, rate):
    """The sign of the gradient is lost: every number goes down.

    Where the gradient is below 0, going up makes the loss fall. Is there an abs too many?
    """
    return p - rate * np.abs(g)


@mistake(of=update)
def step_of_squares(p, g, rate):
    """The gradient is squared, and its sign is lost.

    A slope twice as large makes the step twice as long. What makes it four times as long in yours?
    """
    return p - rate * g * g


@mistake(of=update)
def step_rate_squared(p, g, rate):
    """The rate is multiplied in twice.

    Half the rate, half the step: is it half in yours?
    """
    return p - rate * rate * g


@mistake(of=update)
def step_of_two(p, g, rate):
    """The step is twice as long as it should be.

    The 2 of a square belongs to the gradient, and is in it already. Is there one in the rule?
    """
    return p - 2 * rate * g


@mistake(of=update)
def step_of_length_1(p, g, rate):
    """The gradient is brought to length 1: every step is equally long.

    The steeper it is, the longer is the step. What do you divide by that you should leave alone?
    """
    return p - rate * g / np.linalg.norm(g)


@mistake(of=update)
def step_of_the_mean(p, g, rate):
    """All numbers move by the mean of the gradient.

    Each number has a slope of its own. What makes one number of all of g?
    """
    return p - rate * np.mean(g)


@mistake(of=update)
def step_of_the_sum(p, g, rate):
    """All numbers move by the sum of the gradient.

    Each number has a slope of its own. What makes one number of all of g?
    """
    return p - rate * np.sum(g)


@mistake(of=update)
def step_shrinks(p, g, rate):
    """p is multiplied, not moved: a number at 0 stays there.

    Where is the minus that moves p, and what stands behind it?
    """
    return p * (rate * g)


@mistake(of=update)
def step_not_taken(p, g, rate):
    """p comes back as it was.

    What becomes of the new numbers in your function?
    """
    return +p


@mistake(of=update)
def step_in_place(p, g, rate):
    """The caller's own p is changed.

    -= writes into the array that came in. The caller may still need the old numbers, and measures
    with both. Which sign makes a new array?
    """
    p -= rate * g
    return p


@mistake(of=update)
def step_in_float64(p, g, rate):
    """The numbers come out as float64, twice as wide as they went in.

    np.array and np.zeros make float64 unless you say otherwise. Which dtype has p?
    """
    return update(p, g, rate).astype(np.float64)


@mistake(of=update)
def step_in_float32(p, g, rate):
    """float64 numbers come out as float32.

    A gradient is checked in float64, where small differences have digits enough. Which dtype has p?
    """
    return update(p, g, rate).astype(np.float32)


ROOT, CUBIC = math.sqrt(2 / math.pi), 0.044715


def _slope(x, half=0.5, one=1.0, inner=None, power=2, first=1, second=1):
    """gelu's slope by the product rule; its parts can be exchanged."""
    t = np.tanh(ROOT * (x + CUBIC * x * x * x))
    inner = ROOT * (1 + 3 * CUBIC * x * x) if inner is None else inner
    return half * (first * (one + t) + second * x * (1 - t ** power) * inner)


@mistake(of=gelu_back)
def bend_gelu_itself(x, g):
    """g is multiplied by gelu, not by its slope.

    How much does gelu(x) grow when x grows a little? At a large x it is 1, not x.
    """
    return g * gelu(x)


@mistake(of=gelu_back)
def bend_share_only(x, g):
    """The second term of the product rule is missing: only the share is left.

    x stands in front of the bracket and in it. When x grows, both grow. What does the bracket's
    slope add?
    """
    return g * _slope(x, second=0)


@mistake(of=gelu_back)
def bend_second_only(x, g):
    """The first term of the product rule is missing: the share itself.

    x stands in front of the bracket and in it. When x grows, both grow. What does the x in front
    add?
    """
    return g * _slope(x, first=0)


@mistake(of=gelu_back)
def bend_inner_missing(x, g):
    """The slope of what stands inside tanh is missing.

    tanh's slope is taken at an inner number, which moves with x at a pace of its own. What is the
    slope of sqrt(2 / pi) (x + 0.044715 x^3)?
    """
    return g * _slope(x, inner=1.0)


@mistake(of=gelu_back)
def bend_cube_missing(x, g):
    """The inner slope has the root only; the cube's part is missing.

    The inner number holds x and x^3, and both move. What is the slope of x^3?
    """
    return g * _slope(x, inner=ROOT)


@mistake(of=gelu_back)
def bend_root_missing(x, g):
    """The root of 2 / pi is missing in the inner slope.

    It multiplies the whole bracket, so the slope too. Where must it stand a second time?
    """
    return g * _slope(x, inner=1 + 3 * CUBIC * x * x)


@mistake(of=gelu_back)
def bend_3_missing(x, g):
    """The slope of x^3 lacks its 3.

    Which factor comes down when a power is turned into its slope?
    """
    return g * _slope(x, inner=ROOT * (1 + CUBIC * x * x))


@mistake(of=gelu_back)
def bend_inner_cubed(x, g):
    """The inner slope keeps x^3: its power is not taken down.

    Which power of x is the slope of x^3?
    """
    return g * _slope(x, inner=ROOT * (1 + 3 * CUBIC * x * x * x))


@mistake(of=gelu_back)
def bend_inner_itself(x, g):
    """The inner number itself is taken, not its slope.

    tanh's slope is multiplied by how fast the inner number moves. How fast does x move with x?
    """
    return g * _slope(x, inner=ROOT * (x + CUBIC * x * x * x))


@mistake(of=gelu_back)
def bend_x_missing(x, g):
    """The x in front is missing in the second term.

    In x times share, the slope of the share is multiplied by what stays as it is. What is that?
    """
    t = np.tanh(ROOT * (x + CUBIC * x * x * x))
    return g * 0.5 * (1 + t + (1 - t * t) * ROOT * (1 + 3 * CUBIC * x * x))


@mistake(of=gelu_back)
def bend_t_not_squared(x, g):
    """The slope of tanh is taken for 1 - t.

    At t = -1 tanh is level, so its slope is 0 there, as at t = 1. What does 1 - t give?
    """
    return g * _slope(x, power=1)


@mistake(of=gelu_back)
def bend_root_of_the_slope(x, g):
    """The slope of tanh is 1 over cosh, without the square.

    1 - t * t is 1 over the square of cosh. At x = 1, which of the two is nearer to how tanh grows?
    """
    t = np.tanh(ROOT * (x + CUBIC * x * x * x))
    inner = ROOT * (1 + 3 * CUBIC * x * x)
    return g * 0.5 * (1 + t + x * np.sqrt(1 - t * t) * inner)


@mistake(of=gelu_back)
def bend_half_missing(x, g):
    """The 0.5 is missing: everything is twice as large.

    Far to the right gelu is x itself. What is its slope there?
    """
    return g * _slope(x, half=1.0)


@mistake(of=gelu_back)
def bend_half_of_one_term(x, g):
    """The 0.5 reaches only one of the two terms: the second is twice as large.

    It stands in front of the whole product. Is a bracket missing?
    """
    return g * _slope(x, second=2)


@mistake(of=gelu_back)
def bend_one_missing(x, g):
    """The 1 beside tanh is missing.

    tanh lies between -1 and 1, a share between 0 and 1. What lifts it?
    """
    return g * _slope(x, one=0.0)


@mistake(of=gelu_back)
def bend_taken_away(x, g):
    """The second term is taken away; it should be added.

    tanh rises everywhere, so its slope is positive. Which sign has the product rule?
    """
    return g * _slope(x, second=-1)


@mistake(of=gelu_back)
def bend_of_relu(x, g):
    """This is the slope of ReLU: 1 above 0, and 0 below.

    gelu is soft: near 0 its slope goes over from 0 to 1 bit by bit. What is it at 0?
    """
    return g * (x > 0)


@mistake(of=gelu_back)
def bend_without_g(x, g):
    """g is forgotten: this is the slope alone.

    How much the loss grows with gelu(x) is what g says. What has to be multiplied?
    """
    return _slope(x)


@mistake(of=gelu_back)
def bend_g_of_one_term(x, g):
    """g reaches only the first of the two terms.

    It stands in front of the whole slope. Is a bracket missing?
    """
    return g * _slope(x, second=0) + _slope(x, first=0)


@mistake(of=gelu_back)
def bend_g_added(x, g):
    """g is added to the slope.

    The loss grows g times as fast as gelu(x), and gelu(x) so many times as fast as x. What do you
    do with the two?
    """
    return g + _slope(x)


@mistake(of=gelu_back)
def bend_g_over_slope(x, g):
    """g is divided by the slope.

    The way back does not undo gelu. Where gelu is level, what should reach x?
    """
    return g / _slope(x)


@mistake(of=gelu_back)
def bend_at_g(x, g):
    """The slope is taken at g, and multiplied by x: the arguments have changed places.

    Where did gelu stand on its way there, and what comes back? Look at the order of the arguments.
    """
    return x * _slope(g)


@mistake(of=gelu_back)
def bend_of_g(x, g):
    """g is sent through gelu.

    That is the way there. On the way back g is stretched by a number that depends on x. Which one?
    """
    return gelu(g)


@mistake(of=gelu_back)
def bend_of_the_product(x, g):
    """x times g is sent through gelu.

    That is the way there, of another number. How much does gelu(x) grow when x grows a little?
    """
    return gelu(x * g)


@mistake(of=gelu_back)
def bend_of_sigmoid_form(x, g):
    """This is the slope of another approximation, x times sigmoid(1.702 x).

    GPT-2 was trained with the tanh form. Which function stands in the formula?
    """
    s = 1 / (1 + np.exp(-1.702 * x))
    return g * (s + 1.702 * x * s * (1 - s))


@mistake(of=gelu_back)
def bend_of_silu(x, g):
    """This is the slope of x times sigmoid(x), of another activation.

    GPT-2 was trained with gelu. Which function stands in the formula?
    """
    s = 1 / (1 + np.exp(-x))
    return g * (s + x * s * (1 - s))


@mistake(of=gelu_back)
def bend_of_erf_form(x, g):
    """This is the slope of the other GELU, the one with erf.

    It is nearly the same, and the difference adds up in training. Which function stands in the
    formula?
    """
    bell = np.exp(-x * x / 2) / math.sqrt(2 * math.pi)
    below = 0.5 * (1 + np.vectorize(math.erf, otypes=[np.float64])(x / math.sqrt(2)))
    return (g * (below + x * bell)).astype(x.dtype)


@mistake(of=gelu_back)
def bend_downhill(x, g):
    """The sign is turned.

    A gradient says how much the loss grows; the step against it comes later. Where is the minus too
    many?
    """
    return -gelu_back(x, g)


@mistake(of=gelu_back)
def bend_in_float64(x, g):
    """float32 numbers have become float64.

    np.sqrt of a plain number gives a NumPy float64, and so does astype. Which dtype has x?
    """
    return gelu_back(x.astype(np.float64), g)


@mistake(of=gelu_back)
def bend_in_float32(x, g):
    """float64 numbers have become float32.

    A gradient is checked in float64, where small differences have digits enough. Which dtype has x?
    """
    return gelu_back(x, g).astype(np.float32)


def whole(*rows, dtype=np.float32):
    """A small array of numbers that are written out."""
    return np.array(rows, dtype)


def _wide(case):
    """The case with its arrays in float64, as a check of gradients uses them."""
    arguments = (one.astype(np.float64) if getattr(one, "dtype", None) == np.float32 else one
                 for one in case.arguments)
    return Case(f"{case.label}, in float64", tuple(arguments))


def _ids(*ids):
    return np.array(ids)


HALF = Case("two rows, p = 1/2 and p = 1/8",
            (np.log(whole([4, 2, 1, 1], [1, 1, 2, 4])), _ids(0, 1)))
RANDOM = Case("three rows, V = 5", (random(3, 5, seed=1, scale=2), _ids(4, 0, 4)))
SQUARE = Case("as many rows as tokens", (random(4, 4, seed=2, scale=2), _ids(3, 1, 0, 1)))
SINGLE = Case("one row", (random(1, 6, seed=3, scale=2), _ids(2)))
SURE = Case("sure of the right tokens", (8 * np.eye(3, dtype=np.float32), _ids(0, 1, 2)))
LARGE = Case("logits of about 1,000", (random(4, 3, seed=4, shift=1000), _ids(0, 2, 2, 1)))
LOW = Case("logits of about -1,000", (random(4, 3, seed=5, shift=-1000), _ids(1, 0, 2, 1)))
APART = Case("one row far above the other",
             (whole([900, 902, 901], [-901, -900, -902]), _ids(0, 2)))
UNLIKELY = Case("a right token 800 below the best one",
                (whole([800, 0, 2], [1, 0, 2], [3, 803, 1]), _ids(1, 2, 0)))
HAND = (whole([1, 2, 0], [3, -1, 1]), whole([1, 0], [2, 1], [-1, 3]), whole([1, 0], [2, -1]))


def _layer(label, T, n_in, n_out, seed):
    return Case(label, (random(T, n_in, seed=seed), random(n_in, n_out, seed=seed + 1),
                        random(T, n_out, seed=seed + 2)))


LAYERS = [
    Case("two rows of whole numbers", HAND),
    _layer("five rows, three inputs, four outputs", 5, 3, 4, 10),
    _layer("a square w", 2, 3, 3, 20),
    _layer("as many rows as outputs", 3, 2, 3, 30),
    _layer("as many rows as inputs", 3, 3, 2, 40),
    _layer("all three square", 3, 3, 3, 50),
    _layer("one row", 1, 4, 2, 60),
    _wide(_layer("three rows", 3, 2, 4, 70)),
]
MOVED = (random(3, 4, seed=80), random(3, 4, seed=81), 0.1)
STEPS = [
    Case("four numbers, rate 0.5", (whole(1, 2, 0, -3), whole(4, -2, 1, 0), 0.5)),
    Case("a matrix, rate 0.1", MOVED),
    Case("rate 0.001", (*MOVED[:2], 0.001)),
    Case("rate 0", (*MOVED[:2], 0.0)),
    _wide(Case("a matrix, rate 2", (*MOVED[:2], 2.0))),
]
SLOPES = [
    Case("the whole numbers from -3 to 3, g = 1",
         (whole(*range(-3, 4)), np.ones(7, np.float32))),
    Case("another g", (whole(-1, 0, 1, 2), whole(2, -4, 3, 0.5))),
    Case("where the two GELUs differ most", (whole(-2.7, 2.7, -1.36, 1.36), whole(1, 2, 3, 4))),
    Case("numbers near 0", (random(6, seed=90, scale=0.05), random(6, seed=91))),
    Case("large numbers", (whole(-1e4, -30, 30, 1e4), whole(3, 3, 3, 3))),
    Case("three rows", (random(3, 4, seed=92, scale=2), random(3, 4, seed=93))),
    Case("a stack of rows, shape (2, 3, 4)", (random(2, 3, 4, seed=94), random(2, 3, 4, seed=95))),
    _wide(Case("two rows", (random(2, 3, seed=96, scale=2), random(2, 3, seed=97)))),
]

exercise(cross_entropy, [HALF, RANDOM, SQUARE, SINGLE, SURE, LARGE, LOW, APART, UNLIKELY,
                         _wide(RANDOM)], tolerance=1e-4)
exercise(cross_entropy_back, [HALF, RANDOM, SQUARE, SINGLE, LARGE, LOW, APART, _wide(RANDOM)])
exercise(linear_back, LAYERS)
exercise(update, STEPS)
exercise(gelu_back, SLOPES)
