"""GPT-2: ids -> logits, with every intermediate array by name and every operation exchangeable."""
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from types import MappingProxyType

import numpy as np

from . import generate
from .attention import attend, attend_in_pieces
from .block import block
from .config import Config
from .embedding import embed
from .gelu import exact_gelu, gelu, gelu_in_pieces
from .heads import attend_heads
from .kvcache import KVCache, remember
from .layernorm import layer_norm
from .linear import linear
from .lm_head import lm_head
from .mlp import mlp
from .softmax import softmax
from .taps import Recorder, by_weight
from .tokenizer import Tokenizer

ACTIVATIONS = {"gelu_new": gelu, "gelu": exact_gelu, "relu": lambda x: np.maximum(x, 0)}


@dataclass(frozen=True)
class Ops:
    """The operations of a model. Ops(layer_norm=yours) exchanges one, in all its places.

    An operation made of others gets them as arguments, so the exchanged ones are used there too.
    """
    embed: Callable = embed
    layer_norm: Callable = layer_norm
    linear: Callable = linear
    softmax: Callable = softmax
    attend: Callable = attend
    attend_heads: Callable = attend_heads
    gelu: Callable = gelu
    mlp: Callable = mlp
    block: Callable = block
    lm_head: Callable = lm_head
    remember: Callable = remember

    def __post_init__(self):
        for name, function in vars(self).items():
            if not callable(function):
                raise ValueError(f"Ops: {name} must be a function, got {function!r:.60}")


@dataclass(frozen=True, eq=False, repr=False)
class GPT2:
    """A GPT-2: model(ids) -> logits. Made by gpt2lab.load; what it is made of does not change.

    weights: name in the checkpoint -> array. tap: see tapped.
    Raises: ValueError for weights or operations that are not those of a model of this config.
    """
    config: Config
    weights: Mapping[str, np.ndarray]
    tokenizer: Tokenizer | None = None
    ops: Ops = Ops()
    tap: Callable | None = None

    def __post_init__(self):
        if not isinstance(self.ops, Ops):
            raise ValueError("GPT2: ops must be an Ops, such as Ops(layer_norm=yours), "
                             f"got {self.ops!r:.60}")
        weights = dict(self.weights)
        _check_weights(self.config, weights)
        object.__setattr__(self, "weights", MappingProxyType(weights))

    def __call__(self, ids, cache=None):
        """Logits after each of the ids.

        Shapes: ids (T,) -> (T, V) float32
        cache: a KVCache that holds the tokens before these; it takes the new ones in.
        Raises: ValueError for ids outside 0 to V - 1, none at all, or more than the context holds;
            for a cache of another model.
        """
        x = self._stream(self.check_ids(ids, cache), cache)                         # (T, D)
        return self._logits(x, self._head_table)                                    # (T, V)

    def _stream(self, ids, cache):
        """ids (T,) -> the residual stream after the last block (T, D)."""
        w, start = self.weights, 0 if cache is None else cache.length
        embed = self._watched("embed", self.ops.embed)
        x = embed(ids, w["wte.weight"], w["wpe.weight"], start=start)               # (T, D)
        for i in range(self.config.n_layer):
            remember = None if cache is None else cache.remember(
                i, self._watched(f"h.{i}.attn.remember", self.ops.remember))
            x = self._block(i, x, remember)                                         # (T, D)
        if cache is not None:
            cache.length += len(ids)            # only now: a failure half-way changes nothing
        return x                                                                    # (T, D)

    def _block(self, i, x, remember):
        """The stream x (T, D) after block i; each operation gets those that it uses."""
        c, ops, w = self.config, self.ops, self._block_weights[i]
        at, watched = f"h.{i}.", self._watched
        layer_norm = self._watched_by_weight("layer_norm", at, w)
        linear = self._watched_by_weight("linear", at, w)
        softmax = watched(at + "attn.pattern", ops.softmax)
        attend = watched(at + "attn.mixed", partial(ops.attend, softmax=softmax))
        gelu = watched(at + "mlp.act", self._activation)
        if self.tap is None:        # nobody watches: long prompts in pieces, the rows are the same
            attend = partial(attend_in_pieces, attend=attend)
            gelu = partial(gelu_in_pieces, gelu=gelu)
        attend_heads = watched(at + "attn", partial(
            ops.attend_heads, linear=linear, attend=self._scaled(i, attend)))
        mlp = watched(at + "mlp", partial(ops.mlp, linear=linear, gelu=gelu))
        block = watched(at + "resid_post", partial(
            ops.block, layer_norm=layer_norm, attend_heads=attend_heads, mlp=mlp))
        return block(x, w, n_head=c.n_head, epsilon=c.layer_norm_epsilon, remember=remember)

    def _logits(self, x, wte):
        """The stream x (T, D) -> logits (T, V)."""
        w, epsilon = self.weights, self.config.layer_norm_epsilon
        gain, bias = w["ln_f.weight"], w["ln_f.bias"]
        layer_norm = self._watched_by_weight("layer_norm", "", {"ln_f.weight": gain})
        lm_head = self._watched("logits", partial(self.ops.lm_head, layer_norm=layer_norm))
        return lm_head(x, gain, bias, wte, epsilon=epsilon)                         # (T, V)

    def next_logits(self, ids, cache=None):
        """Logits after the last of the ids only, (V,); ids that the tokenizer lacks get -inf."""
        return self.last_logits(ids, 1, cache)[0]                                   # (V,)

    def last_logits(self, ids, rows, cache=None):
        """Logits after each of the last `rows` ids, (rows, V); those of next_logits for each.

        Raises: ValueError for rows outside 1 to T, and what model(ids) raises.
        """
        ids = self.check_ids(ids, cache)
        if not 1 <= rows <= len(ids):
            raise ValueError(f"last_logits: rows must be from 1 to T = {len(ids)}, got {rows}")
        logits = self._logits(self._stream(ids, cache)[-rows:], self._quick_table)  # (rows, V)
        if self.tokenizer is not None and logits.shape[1] > len(self.tokenizer.tokens):
            logits[:, len(self.tokenizer.tokens):] = -np.inf    # columns that only pad the table
        return logits

    def trace(self, ids):
        """Every array on the way from ids to logits: {name: array}, in the order of computing.

        Names follow the checkpoint ("h.0.attn.c_attn" is what that layer gives). The others:
        embed, and in each block resid_pre, attn.q, attn.k, attn.v, attn.scores (masked),
        attn.pattern, attn.mixed, attn and mlp (what the part adds), resid_mid (what ln_2 gets),
        mlp.act, resid_post; at the end ln_f and logits. attn.q is scaled where config.json asks
        for it. What an operation of yours computes by itself has no name and is not there.
        Above 64 ids the last bits may differ from model(ids), which takes attention in pieces.
        """
        recorder = Recorder(self.config, self.weights, copies=self.ops != Ops())
        self.run_tapped(ids, recorder)
        return recorder.arrays()

    def run_tapped(self, ids, tap, cache=None):
        """Logits (T, V) of one run with tap(name, function) for each operation: see tapped."""
        return self.tapped(tap)(ids, cache)

    def tapped(self, tap):
        """This model with tap(name, function) for every operation: to watch, or to intervene
        (ablate a head: inside.without_heads; scale a norm; replace a row).

        name: that of what the operation gives, as in trace; so linear and layer_norm are named by
            the weight that they get, whoever calls them in whatever order. Where they get a copy,
            nobody knows which it was: "h.0.linear?".
            With a cache there is "h.0.attn.remember" too, which gives a pair.
        tap gives the function to call: `function` itself, or another one around it.
        """
        before = self.tap
        both = tap if before is None else lambda name, function: tap(name, before(name, function))
        model = replace(self, tap=both)
        for name in ("_block_weights", "_quick_table"):         # a tap changes nothing of them, so
            vars(model)[name] = getattr(self, name)             # all tapped models share one
        return model

    def generate(self, prompt, **settings):
        """The text that follows the prompt, without it. Settings as in generate.stream_ids."""
        return "".join(self.stream(prompt, **settings))

    def stream(self, prompt, **settings):
        """The text that follows the prompt, in pieces of whole characters, as they are made."""
        ids = generate.stream_ids(self, self.encode(prompt), **settings)
        return self.tokenizer.decode_stream(ids)

    def generate_ids(self, ids, **settings):
        """The ids that follow: .ids (the new ones), .stop_reason. Settings as in stream_ids."""
        return generate.generate_ids(self, ids, **settings)

    def encode(self, prompt):
        """Ids of a prompt. Raises ValueError where it is empty."""
        ids = self.tokenizer.encode(prompt)
        if not ids:
            raise ValueError("the prompt is empty: give at least one character")
        return ids

    def check_ids(self, ids, cache=None):
        """ids as an array (T,). Raises ValueError where the model cannot read them."""
        ids, N, used = read_ids(ids, self.config.vocab_size), self.config.n_positions, 0
        if cache is not None:
            _check_cache(self.config, cache)
            used = cache.length
        if used + len(ids) > N:
            raise ValueError(f"the context holds N = {N} tokens, got {used + len(ids)}")
        return ids

    @cached_property
    def _block_weights(self):
        """Of each block, its arrays by their names without "h.0."."""
        return [{name.removeprefix(f"h.{i}."): array for name, array in self.weights.items()
                 if name.startswith(f"h.{i}.")} for i in range(self.config.n_layer)]

    @cached_property
    def _head_table(self):
        """The LM head's table (V, D)."""
        return self.weights.get("lm_head.weight", self.weights["wte.weight"])       # (V, D)

    @cached_property
    def _quick_table(self):
        """The table; where its rows are short and cannot change, a copy laid out by columns.

        BLAS is slow at many short rows times one vector: by columns it takes a quarter of the time
        for gpt2-tiny's 50,257 rows of 128. Rows of 768 would gain a tenth, for a copy of 154 MB.
        """
        table = self._head_table                                                    # (V, D)
        short = table.shape[1] < 512 and not table.flags.writeable
        return np.asfortranarray(table) if short else table                         # (V, D)

    @property
    def _activation(self):
        """gelu, or what config.json names in its place; an exchanged gelu goes before both."""
        named = ACTIVATIONS[self.config.activation_function]
        return named if self.ops.gelu is gelu else self.ops.gelu

    def _watched(self, name, function):
        """The function, or what the tap gives for it."""
        return function if self.tap is None else self.tap(name, function)

    def _watched_by_weight(self, kind, at, weights):
        """linear or layer_norm, watched under the name of the weight that each call receives."""
        function = getattr(self.ops, kind)
        return function if self.tap is None else by_weight(self.tap, function, kind, at, weights)

    def _scaled(self, i, attend):
        """attend, scaled as config.json wants: through q, since attend divides by sqrt(Dh)."""
        c = self.config
        factor = 1.0 if c.scale_attn_weights else float(c.n_embd // c.n_head) ** 0.5
        if c.scale_attn_by_inverse_layer_idx:
            factor /= i + 1
        return attend if factor == 1 else lambda q, k, v: attend(q * factor, k, v)

    def __repr__(self):
        c = self.config
        return (f"<GPT2 with {c.n_layer} blocks, {c.n_head} heads, D = {c.n_embd}, "
                f"N = {c.n_positions}, V = {c.vocab_size}>")


def read_ids(ids, V):
    """Token ids as an array (T,). Raises ValueError where they are none of a vocabulary of V."""
    try:
        ids = np.asarray(ids)
    except ValueError:                          # lists of different lengths
        raise ValueError(f"ids must be a flat list of token ids, got {ids!r:.60}") from None
    if ids.ndim != 1 or not len(ids):
        raise ValueError(f"ids must be a list of at least one token id, got shape {ids.shape}")
    if ids.dtype.kind not in "iu":
        raise ValueError(f"ids must be whole numbers, got {ids.dtype}")
    if ids.min() < 0 or ids.max() >= V:
        wrong = ids[(ids < 0) | (ids >= V)][0]
        raise ValueError(f"ids must be from 0 to V - 1 = {V - 1}, got {wrong}")
    return ids


def _check_weights(config, weights):
    """Raise ValueError unless these are the arrays of a model of this config."""
    shapes = dict(config.shapes())
    allowed = shapes | {"lm_head.weight": shapes["wte.weight"]}
    missing = sorted(shapes.keys() - weights)
    if missing:
        raise ValueError(f"GPT2: weight {missing[0]} of shape {shapes[missing[0]]} is missing")
    for name, array in weights.items():
        if name not in allowed:
            raise ValueError(f"GPT2: weight {name} is no part of a model of this config")
        if np.shape(array) != allowed[name]:
            raise ValueError(f"GPT2: weight {name} must have shape {allowed[name]}, "
                             f"got {np.shape(array)}")


def _check_cache(config, cache):
    """Raise ValueError unless the cache was made for a model of this config."""
    wanted, got = KVCache.shape(config), np.shape(cache.keys)
    if got != wanted:
        raise ValueError("the cache belongs to another model: it must hold (L, H, N, Dh) = "
                         f"{wanted}, got {got}")
