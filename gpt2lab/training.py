"""How the numbers of a GPT arise: loss, gradient, step; each operation's way back, by hand.

The way there is the course's own: model.trace(ids) holds every array that the way back needs. g is
always the gradient of the loss by what an operation gave: how much the loss grows, by each number,
when that number grows a little. A function named ..._back turns it into the gradients by what the
operation got.
"""
import json
import math
import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, wraps
from pathlib import Path

import numpy as np
from numpy.random import default_rng  # now: NumPy loads it late, and a Ctrl-C meanwhile gets lost
from threadpoolctl import ThreadpoolController

from .checkpoint import tokenizer
from .config import Config
from .model import GPT2, Ops, read_ids
from .safetensors import save_file
from .softmax import softmax


def cross_entropy(logits, targets):
    """Mean of -log(p), p the probability that each row gives to the token that really follows.

    Shapes: logits (T, V), targets (T,) ids -> a number
    Units: nats; log(V) where every token is as likely as any other, 0 where all are certain.
    Source: section 2.1 of "Language Models are Unsupervised Multitask Learners" (GPT-2).
    Taught: notebooks/bonus/training.ipynb
    """
    top = logits.max(axis=-1, keepdims=True)                                        # (T, 1)
    sums = np.exp(logits - top).sum(axis=-1)                                        # (T,)
    right = logits[np.arange(len(targets)), targets]                                # (T,)
    # the two large numbers first: beside a top of 10,000 a float32 keeps 3 decimals of the log
    return float((np.log(sums) + (top[:, 0] - right)).mean())


def cross_entropy_back(logits, targets):
    """(p - one-hot) / T: the right token's score up by what it lacks, each other one's down.

    Shapes: logits (T, V), targets (T,) ids -> (T, V); each row sums to 0
    Taught: notebooks/bonus/training.ipynb
    """
    g = softmax(logits)                                                             # (T, V)
    g[np.arange(len(targets)), targets] -= 1
    return g / len(targets)                                                         # (T, V)


def linear_back(x, w, g):
    """Way back of y = x w + b: each weight gets its input times the gradient of its output.

    Shapes: x (T, in), w (in, out), g (T, out) -> by x (T, in), by w (in, out), by b (out,)
    Taught: notebooks/bonus/training.ipynb
    """
    return g @ w.T, x.T @ g, g.sum(axis=0)


def update(p, g, rate):
    """One small step downhill: each number against its gradient, rate times as far.

    Shapes: p and g (...) -> (...), a new array
    Source: gradient descent (Cauchy 1847).
    Taught: notebooks/bonus/training.ipynb
    """
    return p - rate * g                                                             # (...)


def layer_norm_back(x, gain, g, epsilon=1e-5):
    """Way back of layer_norm: mean and size are taken out of the gradient too, then it is scaled.

    Shapes: x (T, D), gain (D,), g (T, D) -> by x (T, D), by gain (D,), by bias (D,)
    """
    centred = x - x.mean(axis=-1, keepdims=True)                                    # (T, D)
    size = np.sqrt((centred ** 2).mean(axis=-1, keepdims=True) + epsilon)           # (T, 1)
    normed, h = centred / size, g * gain                                            # (T, D)
    h_x = h - h.mean(axis=-1, keepdims=True)                                        # (T, D)
    h_x -= normed * (h * normed).mean(axis=-1, keepdims=True)
    return h_x / size, (g * normed).sum(axis=0), g.sum(axis=0)


def gelu_back(x, g):
    """Way back of gelu: times its slope, near 1 where a unit is on and near 0 where it is off.

    Shapes: x and g (...) -> (...)
    """
    c = math.sqrt(2 / math.pi)
    x = np.clip(x, -30, 30)                     # the slope is 0 or 1 long before; no overflow
    t = np.tanh(c * (x + 0.044715 * (x * x * x)))                                   # (...)
    return g * 0.5 * (1 + t + x * (1 - t * t) * c * (1 + 3 * 0.044715 * (x * x)))   # (...)


def softmax_back(p, g):
    """Way back of softmax: p times what is above the mean; nothing where p is 0 or 1.

    Shapes: p and g (..., S) -> (..., S). One score moves its own p by p (1 - p).
    """
    return p * (g - (p * g).sum(axis=-1, keepdims=True))                            # (..., S)


def attend_back(q, k, v, pattern, g):
    """Way back of attend: two products' ways back, softmax's between them.

    Shapes: q, k, v and g (H, T, Dh), pattern (H, T, T) -> by q, by k, by v (H, T, Dh)
    """
    by_v = pattern.swapaxes(-1, -2) @ g                                             # (H, T, Dh)
    by_scores = softmax_back(pattern, g @ v.swapaxes(-1, -2))                       # (H, T, T)
    by_scores /= math.sqrt(q.shape[-1])
    return by_scores @ k, by_scores.swapaxes(-1, -2) @ q, by_v


def plus_back(g, h):
    """Way back of y = x + part(x): g goes on whole, and h, what the part's way back made, is added.

    Shapes: g and h (T, D) -> (T, D)
    """
    return g + h                                                                    # (T, D)


def embed_back(ids, g, V, N):
    """Way back of embed: each row gets the sum over the places where it was used.

    Shapes: ids (T,), g (T, D) -> by the token table (V, D), by the position table (N, D)
    """
    by_wte, by_wpe = np.zeros((V, g.shape[1]), g.dtype), np.zeros((N, g.shape[1]), g.dtype)
    np.add.at(by_wte, ids, g)                   # an id that comes twice adds twice
    by_wpe[:len(ids)] = g
    return by_wte, by_wpe


def one_thread(function):
    """Decorator: BLAS uses one thread while the function runs.

    The products of a small model are over before a second thread is awake; on a machine that does
    other work as well, two threads take up to ten times as long as one.
    """
    @wraps(function)
    def alone(*arguments, **named):
        with _threads().limit(limits=1):
            return function(*arguments, **named)
    return alone


@cache
def _threads():
    return ThreadpoolController()               # it looks for the libraries: once is enough


@dataclass(frozen=True)
class Rules:
    """What a training is made of. Rules(update=yours) exchanges one."""
    cross_entropy: Callable = cross_entropy
    cross_entropy_back: Callable = cross_entropy_back
    linear_back: Callable = linear_back
    layer_norm_back: Callable = layer_norm_back
    plus_back: Callable = plus_back
    update: Callable = update

    def __post_init__(self):
        for name, function in vars(self).items():
            if not callable(function):
                raise ValueError(f"Rules: {name} must be a function, got {function!r:.60}")


OURS = Rules()


def gradients(model, ids, rules=OURS):
    """Loss of one text, and its gradient by every weight: {name: array of the weight's shape}.

    ids: (T + 1,); the first T are read, the last T are to be predicted, each from those before it.
    Raises: ValueError for a model that computes something else than these ways back, for fewer than
        2 ids, more than N + 1, or an id outside 0 to V - 1.
    Taught: notebooks/bonus/training.ipynb
    """
    c, w, found = model.config, model.weights, {}
    _check_config(c)
    ids = read_ids(ids, c.vocab_size)                                               # (T + 1,)
    if len(ids) < 2:
        raise ValueError("training: a page must have at least 2 tokens, got 1")
    ids, targets = ids[:-1], ids[1:]                                                # (T,)
    a = _arrays(model, ids)
    loss = rules.cross_entropy(a["logits"], targets)
    g = rules.cross_entropy_back(a["logits"], targets)                              # (T, V)
    head = g.T @ a["ln_f"]                                                          # (V, D)
    g, found["ln_f.weight"], found["ln_f.bias"] = rules.layer_norm_back(
        a[f"h.{c.n_layer - 1}.resid_post"], w["ln_f.weight"], g @ w["wte.weight"],
        c.layer_norm_epsilon)                                                       # (T, D)
    for i in reversed(range(c.n_layer)):
        g = _block_back(i, c, a, w, g, found, rules)                                # (T, D)
    by_wte, found["wpe.weight"] = embed_back(ids, g, c.vocab_size, c.n_positions)
    found["wte.weight"] = head + by_wte         # one table, used at both ends
    return loss, found


def _block_back(i, c, a, w, g, found, rules):
    """The gradient by a block's input, from that by its output; those by its weights go to found.
    """
    at = f"h.{i}."

    def back(part, x, g):
        """Way back of the layer or norm `part`, which got x."""
        names, weight = (at + part + ".weight", at + part + ".bias"), w[at + part + ".weight"]
        norm = part.startswith("ln_")
        by_x, found[names[0]], found[names[1]] = (
            rules.layer_norm_back(x, weight, g, c.layer_norm_epsilon) if norm
            else rules.linear_back(x, weight, g))
        return by_x

    h = back("mlp.c_proj", a[at + "mlp.act"], g)                                    # (T, F)
    h = back("mlp.c_fc", a[at + "ln_2"], gelu_back(a[at + "mlp.c_fc"], h))          # (T, D)
    g = rules.plus_back(g, back("ln_2", a[at + "resid_mid"], h))                    # (T, D)
    T, D = g.shape
    q, k, v, mixed = (a[at + "attn." + name] for name in ("q", "k", "v", "mixed"))
    h = back("attn.c_proj", mixed.swapaxes(0, 1).reshape(T, D), g)                  # (T, D)
    h = h.reshape(T, c.n_head, -1).swapaxes(0, 1)                                   # (H, T, Dh)
    h = np.stack(attend_back(q, k, v, a[at + "attn.pattern"], h))                   # (3, H, T, Dh)
    h = h.transpose(2, 0, 1, 3).reshape(T, 3 * D)                                   # (T, 3 D)
    h = back("attn.c_attn", a[at + "ln_1"], h)                                      # (T, D)
    return rules.plus_back(g, back("ln_1", a[at + "resid_pre"], h))                 # (T, D)


def _arrays(model, ids):
    """model.trace(ids); what operations of yours compute by themselves comes from the library's."""
    needed, made = _needed(model.config, len(ids)), model.trace(ids)
    # One that is called row by row leaves its last row only: its name alone is not enough.
    found = {name: array for name, array in made.items() if np.shape(array) == needed.get(name)}
    if len(found) == len(needed):
        return found
    return GPT2(model.config, model.weights).trace(ids) | found


def _needed(c, T):
    """{name in the trace: shape} of all arrays that the ways back read, for T tokens."""
    stream, unit, head = (T, c.n_embd), (T, c.n_inner), (c.n_head, T, c.n_embd // c.n_head)
    shapes = {"resid_pre": stream, "ln_1": stream, "attn.q": head, "attn.k": head, "attn.v": head,
              "attn.pattern": (c.n_head, T, T), "attn.mixed": head, "resid_mid": stream,
              "ln_2": stream, "mlp.c_fc": unit, "mlp.act": unit, "resid_post": stream}
    return {f"h.{i}.{name}": shape for i in range(c.n_layer)
            for name, shape in shapes.items()} | {"ln_f": stream, "logits": (T, c.vocab_size)}


def _check_config(config):
    for key, value in (("activation_function", "gelu_new"), ("tie_word_embeddings", True),
                       ("scale_attn_weights", True), ("scale_attn_by_inverse_layer_idx", False)):
        if getattr(config, key) != value:
            raise ValueError(f"training: {key} must be {value!r}, got {getattr(config, key)!r}")


def adam(g, m, v, t):
    """The direction of step t (1, 2, ...): the gradient's mean of late, over its usual size.

    So every number moves at about the same pace, however small its gradient is.

    Shapes: g, m and v (P,) -> direction, new m, new v (P,); m and v begin with zeros
    Source: "Adam: A Method for Stochastic Optimization" (Kingma, Ba 2015), algorithm 1.
    """
    m = 0.9 * m + 0.1 * g                                                           # (P,)
    v = 0.999 * v + 0.001 * g * g                                                   # (P,)
    return m / (1 - 0.9 ** t) / (np.sqrt(v / (1 - 0.999 ** t)) + 1e-8), m, v


def small_config(V=256, N=128, D=64, L=1, H=4):
    """Config of a GPT that is trained in a minute: 74,688 numbers."""
    return Config(vocab_size=V, n_positions=N, n_embd=D, n_layer=L, n_head=H)


def pages_of(ids, T):
    """draw(rng): T + 1 ids of the text, from a place that chance chooses.

    Raises: ValueError for a text that is shorter.
    """
    ids = np.asarray(ids)                                                           # (n,)
    if len(ids) < T + 1:
        raise ValueError(f"training: a text must have more tokens than the context, {T}, "
                         f"got {len(ids)}")
    return lambda rng: ids[(start := rng.integers(len(ids) - T)):start + T + 1]     # (T + 1,)


def pages_and_repeats(ids, T, letters):
    """draw(rng): half of the pages are of the text; half are letters by chance, again and again.

    The letters of such a page are different ones, so many as chance says between 6 and 16, in an
    order by chance; they are told until the page is full. Only who looks back for what followed
    last time can know the later tellings: neither letters nor places alone tell them.

    letters: ids (K,) to choose from, K at least 16.
    Raises: ValueError for a text that is shorter than a page, or too few letters.
    Taught: notebooks/bonus/training.ipynb
    """
    text, letters = pages_of(ids, T), np.asarray(letters)                           # (K,)
    if letters.ndim != 1 or len(letters) < 16:
        raise ValueError("training: letters must be at least 16 ids, "
                         f"got shape {letters.shape}")

    def draw(rng):
        if rng.random() < 0.5:
            return text(rng)                                                        # (T + 1,)
        told = rng.permutation(letters)[:rng.integers(6, 17)]
        return np.resize(told, T + 1)                                               # (T + 1,)
    return draw


@one_thread
def held_out_loss(model, ids, rules=OURS):
    """Mean loss over a text, cut into pages of the context; what is left over is not read.

    Raises: ValueError for a text that fills no page.
    """
    T, ids = model.config.n_positions, read_ids(ids, model.config.vocab_size)
    pages = [ids[t:t + T + 1] for t in range(0, len(ids) - T, T)]
    if not pages:
        raise ValueError(f"training: a held-out text must have more than {T} tokens, "
                         f"got {len(ids)}")
    return float(np.mean([rules.cross_entropy(model(page[:-1]), page[1:]) for page in pages]))


class Training:
    """A GPT on its way from chance to a writer: .advance() is one step.

    All weights are views of one row of numbers, so that one `update` moves them all.

    draw: draw(rng) gives the ids (T + 1,) of a page. steps: after them the rate has come down to 0,
        in a straight line; over the first tenth, of 100 steps at most, it rises to `rate`. Further
        steps move nothing. pages: a step takes the mean gradient of so many. ops, rules: operations
        of yours. start: all numbers to begin with, (P,); None: first_numbers.
    .losses: of the pages of each step so far, before the step. A step that is interrupted leaves
    everything as it was.
    Raises: ValueError for a config or a number that cannot be trained with.
    """

    def __init__(self, config, draw, steps=3000, rate=0.006, pages=4, seed=0, ops=None,
                 rules=OURS, start=None):
        _check_config(config)
        for name, value in (("steps", steps), ("pages", pages)):
            whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
            if not whole or value < 1:
                raise ValueError(f"training: {name} must be a whole number of at least 1, "
                                 f"got {value!r}")
        if not isinstance(rate, (int, float, np.number)) or not math.isfinite(rate):
            raise ValueError(f"training: rate must be a finite number, got {rate!r}")
        if not callable(draw):
            raise ValueError(f"training: draw must be a function, got {draw!r:.60}")
        if not isinstance(rules, Rules):
            raise ValueError("training: rules must be a Rules, such as Rules(update=yours), "
                             f"got {rules!r:.60}")
        # Python's own numbers: a float64 of NumPy would make float64 of all others
        self.steps, self.rate, self.pages = int(steps), float(rate), int(pages)
        self.config, self.draw, self.ops, self.rules = config, draw, ops or Ops(), rules
        self._rng = default_rng(seed)
        row = first_numbers(config, self._rng)                                      # (P,)
        if start is not None:
            if np.shape(start) != row.shape:
                raise ValueError(f"training: start must have shape (P,) = {row.shape}, "
                                 f"got {np.shape(start)}")
            row = np.array(start, np.float32)
        zeros = np.zeros_like(row)                                                  # (P,)
        # row, Adam's m and v, losses, and where chance stands; none of them is ever written into
        self._now = row, zeros, zeros, [], self._rng.bit_generator.state
        self._model()                           # refuses operations that are none

    @property
    def losses(self):
        """A list, new after each step."""
        return list(self._now[3])

    @property
    def model(self):
        """A GPT2 with the numbers as they are now; further training does not touch it."""
        return self._model(tokenizer(self.config.vocab_size))

    def _model(self, tokenizer=None):
        row = self._now[0]
        row.flags.writeable = False
        return GPT2(self.config, named(self.config, row), tokenizer, self.ops)

    @one_thread
    def advance(self):
        """One step: read some pages, take the mean gradient, move every number a little."""
        row, m, v, losses, state = self._now
        self._rng.bit_generator.state = state
        model, t = self._model(), len(losses) + 1
        found = [gradients(model, self.draw(self._rng), self.rules) for _ in range(self.pages)]
        g = sum(np.concatenate([by[name].ravel() for name in model.weights])
                for _, by in found) / self.pages                                    # (P,)
        direction, m, v = adam(g, m, v, t)
        row = self.rules.update(row.copy(), direction, self.rate_at(t))             # (P,)
        row = np.array(row, np.float32).reshape(m.shape)                            # (P,)
        losses = [*losses, float(np.mean([loss for loss, _ in found]))]
        # One assignment: an interruption comes before it or after it, never between.
        self._now = row, m, v, losses, self._rng.bit_generator.state

    def rate_at(self, t):
        """Learning rate of step t (1, 2, ...)."""
        warm_up = min(100, self.steps // 10 + 1)
        return self.rate * min(t / warm_up, max(0, (self.steps + 1 - t) / self.steps))


def first_numbers(config, rng):
    """A row of all parameters before any training: chance; gains 1, biases 0."""
    row = np.empty(sum(math.prod(shape) for _, shape in config.shapes()), np.float32)
    for name, array in named(config, row).items():
        matrix = array.ndim == 2
        array[:] = rng.normal(0, 0.06, array.shape) if matrix else "bias" not in name
    return row                                                                      # (P,)


def named(config, row):
    """{name in the checkpoint: its part of the row (P,), as a view of its shape}."""
    views, at = {}, 0
    for name, shape in config.shapes():
        size = math.prod(shape)
        views[name] = row[at:at + size].reshape(shape)
        at += size
    return views


def save(model, folder):
    """Write config.json and model.safetensors, for gpt2lab.load(folder). Each whole or not at all.

    Raises: OSError, with what the system says, where the folder cannot be written to.
    """
    folder = Path(os.path.expanduser(folder))
    folder.mkdir(parents=True, exist_ok=True)
    values = {"model_type": "gpt2", "architectures": ["GPT2LMHeadModel"]} | vars(model.config)
    values |= {key: None for key in ("bos_token_id", "eos_token_id")     # not in a small V
               if (values[key] or 0) >= model.config.vocab_size}
    # first the file that may be in use, which Windows does not replace: then nothing is
    parts = folder / "model.safetensors.part", folder / "config.json.part"
    try:
        save_file(model.weights, parts[0])
        parts[1].write_text(json.dumps(values, indent=1) + "\n", encoding="utf-8")
        for part in parts:
            os.replace(part, part.with_suffix(""))
    finally:
        for part in parts:
            part.unlink(missing_ok=True)
