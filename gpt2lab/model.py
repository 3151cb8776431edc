"""GPT-2: ids -> logits, with every intermediate array by name and every operation exchangeable."""
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np

from . import generate
from .attention import attend, attend_in_pieces
from .block import block
from .embedding import embed
from .gelu import exact_gelu, gelu, gelu_in_pieces
from .heads import attend_heads
from .layernorm import layer_norm
from .linear import linear
from .lm_head import lm_head
from .mlp import mlp
from .softmax import softmax

ACTIVATIONS = {"gelu_new": gelu, "gelu": exact_gelu, "relu": lambda x: np.maximum(x, 0)}


@dataclass(frozen=True)
class Ops:
    """The operations of a model. Ops(layer_norm=yours) exchanges one, in all its places.

    An operation made of others gets them as arguments, so the exchanged ones are used there too.
    """
    embed: callable = embed
    layer_norm: callable = layer_norm
    linear: callable = linear
    softmax: callable = softmax
    attend: callable = attend
    attend_heads: callable = attend_heads
    gelu: callable = gelu
    mlp: callable = mlp
    block: callable = block
    lm_head: callable = lm_head


class GPT2:
    """A GPT-2: model(ids) -> logits. Made by gpt2lab.load.

    config, weights (name in the checkpoint -> array), tokenizer and ops can be looked at.
    """

    def __init__(self, config, weights, tokenizer=None, ops=None):
        self.config, self.weights, self.tokenizer = config, weights, tokenizer
        self.ops = Ops() if ops is None else ops
        self._blocks = [{name.removeprefix(f"h.{i}."): array for name, array in weights.items()
                         if name.startswith(f"h.{i}.")} for i in range(config.n_layer)]
        self._linked = self._link()

    def __call__(self, ids, cache=None):
        """Logits after each of the ids.

        Shapes: ids (T,) -> (T, V) float32
        cache: a KVCache that holds the tokens before these; it takes the new ones in.
        Raises: ValueError for ids outside 0 to V - 1, none at all, or more than the context holds.
        """
        x = self._stream(self.check_ids(ids, cache), cache, self._linked)           # (T, D)
        return self._linked["lm_head"](x)                                           # (T, V)

    def next_logits(self, ids, cache=None):
        """Logits after the last of the ids only, (V,); ids that the tokenizer lacks get -inf."""
        return self.last_logits(ids, 1, cache)[0]                                   # (V,)

    def last_logits(self, ids, rows, cache=None):
        """Logits after each of the last `rows` ids, (rows, V); ids that the tokenizer lacks get -inf."""
        x = self._stream(self.check_ids(ids, cache), cache, self._linked)           # (T, D)
        logits = self._linked["lm_head"](x[-rows:], wte=self._head_table)           # (rows, V)
        if self.tokenizer is not None and logits.shape[1] > len(self.tokenizer.tokens):
            logits[:, len(self.tokenizer.tokens):] = -np.inf    # columns that only pad the table
        return logits

    def trace(self, ids):
        """Every array on the way from ids to logits: {name: array}, in the order of computing.

        Names follow the checkpoint ("h.0.attn.c_attn" is what that layer gives). The others:
        embed, and in each block resid_pre, attn.q, attn.k, attn.v, attn.scores (masked),
        attn.pattern, attn.mixed, attn and mlp (what the part adds), resid_mid, mlp.act,
        resid_post; at the end ln_f and logits. attn.q is scaled where config.json asks for it.
        Above 64 ids the last bits may differ from model(ids), which takes attention in pieces.
        """
        arrays = {}
        self.run_tapped(ids, partial(_recorded, arrays))
        return arrays

    def run_tapped(self, ids, tap, cache=None):
        """Run once with tap(name, function) in place of every operation; name as in trace."""
        linked = self._link(tap)
        linked["lm_head"](self._stream(self.check_ids(ids, cache), cache, linked))

    def generate(self, prompt, **settings):
        """The text that follows the prompt (without the prompt). Settings as in generate.stream_ids."""
        return "".join(self.stream(prompt, **settings))

    def stream(self, prompt, **settings):
        """The text that follows the prompt, in pieces of whole characters, as they are made."""
        ids = generate.stream_ids(self, self.encode(prompt), **settings)
        return self.tokenizer.decode_stream(ids)

    def generate_ids(self, ids, **settings):
        """The ids that follow `ids`: .ids (the new ones) and .stop_reason. Settings as in stream_ids."""
        return generate.generate_ids(self, ids, **settings)

    def encode(self, prompt):
        """Ids of a prompt. Raises ValueError where it is empty."""
        ids = self.tokenizer.encode(prompt)
        if not ids:
            raise ValueError("the prompt is empty: give at least one character")
        return ids

    def check_ids(self, ids, cache=None):
        """ids as an array (T,). Raises ValueError with one sentence where the model cannot read them."""
        V, N = self.config.vocab_size, self.config.n_positions
        ids, used = np.asarray(ids), cache.length if cache is not None else 0
        if ids.ndim != 1 or not len(ids):
            raise ValueError(f"ids must be a list of at least one token id, got shape {ids.shape}")
        if ids.dtype.kind not in "iu":
            raise ValueError(f"ids must be whole numbers, got {ids.dtype}")
        if ids.min() < 0 or ids.max() >= V:
            wrong = ids[(ids < 0) | (ids >= V)][0]
            raise ValueError(f"ids must be from 0 to V - 1 = {V - 1}, got {wrong}")
        if used + len(ids) > N:
            raise ValueError(f"the context holds N = {N} tokens, got {used + len(ids)}")
        return ids

    def _stream(self, ids, cache, linked):
        """ids (T,) -> the residual stream after the last block (T, D)."""
        x = linked["embed"](ids, start=cache.length if cache is not None else 0)    # (T, D)
        for i, run_block in enumerate(linked["blocks"]):
            x = run_block(x, self._blocks[i], remember=cache.remember(i) if cache is not None else None)
        if cache is not None:
            cache.length += len(ids)            # only now: a failure half-way changes nothing
        return x                                                                    # (T, D)

    @cached_property
    def _head_table(self):
        """The LM head's table (V, D); where its rows are short and cannot change, a copy laid out by columns.

        BLAS is slow at many short rows times one vector: 2.0 ms for gpt2-tiny's 50,257 rows of 128, by
        columns 0.5 ms. Rows of 768 would gain a tenth, for a copy of 154 MB.
        """
        table = self._linked["lm_head"].keywords["wte"]                             # (V, D)
        short = table.shape[1] < 512 and not table.flags.writeable
        return np.asfortranarray(table) if short else table                         # (V, D)

    def _link(self, tap=None):
        """Give each operation the ones that it uses. tap(name, function) may watch a function.

        Where nobody watches, attention and GELU take long prompts in pieces: faster, the rows are the same.
        """
        ops, c, w = self.ops, self.config, self.weights
        in_pieces = tap is None
        tap = tap or (lambda name, function: function)
        activation = ACTIVATIONS[c.activation_function] if ops.gelu is gelu else ops.gelu
        if in_pieces:
            activation = partial(gelu_in_pieces, gelu=activation)
        blocks = []
        for i in range(c.n_layer):
            at = f"h.{i}."
            attend = tap(at + "attn.mixed", partial(ops.attend, softmax=tap(at + "attn.pattern", ops.softmax)))
            if in_pieces:
                attend = partial(attend_in_pieces, attend=attend)
            heads = partial(ops.attend_heads, attend=self._scaled(attend, i), linear=_in_turn(
                tap(at + "attn.c_attn", ops.linear), tap(at + "attn.c_proj", ops.linear)))
            mlp = partial(ops.mlp, gelu=tap(at + "mlp.act", activation), linear=_in_turn(
                tap(at + "mlp.c_fc", ops.linear), tap(at + "mlp.c_proj", ops.linear)))
            norm = _in_turn(tap(at + "ln_1", ops.layer_norm), tap(at + "ln_2", ops.layer_norm))
            blocks.append(tap(at + "resid_post", partial(
                ops.block, n_head=c.n_head, epsilon=c.layer_norm_epsilon, layer_norm=norm,
                attend_heads=tap(at + "attn", heads), mlp=tap(at + "mlp", mlp))))
        head = partial(ops.lm_head, gain=w["ln_f.weight"], bias=w["ln_f.bias"],
                       wte=w.get("lm_head.weight", w["wte.weight"]), epsilon=c.layer_norm_epsilon,
                       layer_norm=tap("ln_f", ops.layer_norm))
        return {"embed": tap("embed", partial(ops.embed, wte=w["wte.weight"], wpe=w["wpe.weight"])),
                "blocks": blocks, "lm_head": tap("logits", head)}

    def _scaled(self, attend, i):
        """attend as config.json wants its scores scaled: through q, since attend divides by sqrt(Dh)."""
        c = self.config
        factor = 1.0 if c.scale_attn_weights else float(c.n_embd // c.n_head) ** 0.5
        if c.scale_attn_by_inverse_layer_idx:
            factor /= i + 1
        return attend if factor == 1 else lambda q, k, v: attend(q * factor, k, v)

    def __repr__(self):
        c = self.config
        return f"<GPT2 with {c.n_layer} blocks, {c.n_head} heads, D = {c.n_embd}, N = {c.n_positions}, V = {c.vocab_size}>"


def _in_turn(first, second):
    """A function that is `first` on odd calls and `second` on even ones: the two of a block."""
    functions = [second, first]

    def call(*arguments, **named):
        functions.reverse()
        return functions[0](*arguments, **named)
    return call


INPUTS = {"ln_1": ["resid_pre"], "ln_2": ["resid_mid"], "attn.pattern": ["attn.scores"],
          "attn.mixed": ["attn.q", "attn.k", "attn.v"]}     # what goes in is recorded as well


def _recorded(arrays, name, function):
    """`function`, which keeps what comes in (where INPUTS says so) and what goes out in `arrays`."""
    prefix = name[:name.index(".", 2) + 1] if name.startswith("h.") else ""
    place = name.removeprefix(prefix)

    def call(*arguments, **named):
        arrays.update(zip((prefix + key for key in INPUTS.get(place, ())), arguments))
        arrays[name] = function(*arguments, **named)
        return arrays[name]
    return call
