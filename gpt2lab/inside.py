"""Looking inside: what heads look at and are worth, what adds to a logit, what a pass costs."""
from functools import lru_cache

import numpy as np

from gpt2lab.taps import by_position


@lru_cache(maxsize=2)
def trace_of(model, text, most=None):
    """The ids of a text (T,), and every array that the model makes for its first `most` tokens.

    Later tokens change nothing of what is computed for earlier ones. The last two texts are
    remembered: who looks at another array of the same text runs no model. Arrays: see model.trace.
    Raises: ValueError where the text is empty or the model cannot read so much.
    """
    ids = model.encode(text)
    return tuple(ids), model.trace(ids[:most])


def patterns_of(trace):
    """The patterns of all heads in one array (L, H, T, T); trace: as model.trace gives it."""
    return np.stack([a for name, a in trace.items() if name.endswith(".attn.pattern")])


def previous_word(pattern):
    """Mean weight that a token gives to the one before it; the first token has none.

    Shapes: pattern (..., T, T) -> (...); nan where T = 1.
    Taught: notebooks/07_heads.ipynb
    """
    t = np.arange(1, pattern.shape[-1])
    return _mean(pattern[..., t, t - 1])                                            # (...)


def first_word(pattern):
    """Mean weight that the later tokens give to the first one.

    Shapes: pattern (..., T, T) -> (...); nan where T = 1.
    Taught: notebooks/07_heads.ipynb
    """
    return _mean(pattern[..., 1:, 0])                                               # (...)


def what_followed(pattern, ids):
    """Mean weight on the token that followed the same token last time.

    Only tokens that have stood there before count.
    Shapes: pattern (..., T, T), ids (T or more,), the first T count -> (...); nan where nothing is
        repeated.
    Taught: notebooks/07_heads.ipynb
    """
    last, places = {}, []
    for t, i in enumerate(ids[:pattern.shape[-1]]):
        if i in last:
            places.append((t, last[i] + 1))
        last[i] = t
    t, s = np.array(places, int).reshape(-1, 2).T
    return _mean(pattern[..., t, s])                                                # (...)


def head_jobs(pattern, ids):
    """The three scores in one array: previous word, first word, what followed last time.

    Shapes: pattern (..., T, T), ids (T or more,) -> (3, ...); nan where nothing can be measured.
    Taught: notebooks/07_heads.ipynb
    """
    return np.stack([previous_word(pattern), first_word(pattern), what_followed(pattern, ids)])


def _mean(weights):
    """Mean along the last axis, nan where it is empty."""
    if weights.shape[-1]:
        return weights.mean(axis=-1)
    return np.full(weights.shape[:-1], np.nan)


def induction_score(pattern, period):
    """Mean weight that a token said before gives to the token that followed it then.

    Shapes: pattern (..., T, T) of a text that says its first `period` tokens again and again
        -> (...); a perfect induction head scores 1.
    Raises: ValueError where nothing is said twice, or pattern is not square.
    Source: "In-context Learning and Induction Heads" (Olsson and others 2022).
    Taught: notebooks/bonus/looking_inside.ipynb
    """
    if pattern.ndim < 2 or pattern.shape[-1] != pattern.shape[-2]:
        raise ValueError("induction_score: pattern must have shape (..., T, T), "
                         f"got {pattern.shape}")
    T = pattern.shape[-1]
    if not 1 <= period < T:
        raise ValueError(f"induction_score: period must be from 1 to T - 1 = {T - 1}, got {period}")
    t = np.arange(period, T)                    # the queries whose token was said before
    return pattern[..., t, t - period + 1].mean(axis=-1)                            # (...)


def position_losses(logits, ids):
    """How surprising each token was: minus the log of the probability that it got, in nats.

    Shapes: logits (T, V), ids (T,) -> (T - 1,); entry t is the loss of ids[t + 1]. The first token
        is predicted by nothing.
    Raises: ValueError where logits and ids do not fit.
    Taught: notebooks/bonus/looking_inside.ipynb
    """
    ids = np.asarray(ids)                                                           # (T,)
    if logits.ndim != 2 or ids.shape != logits.shape[:1]:
        raise ValueError("position_losses: logits (T, V) and ids (T,) must have one T, "
                         f"got {logits.shape}, {ids.shape}")
    V = logits.shape[1]
    if len(ids) and not 0 <= ids.min() <= ids.max() < V:
        raise ValueError(f"position_losses: ids must be from 0 to V - 1 = {V - 1}, "
                         f"got {ids.min()} to {ids.max()}")
    shifted = logits[:-1] - logits[:-1].max(axis=-1, keepdims=True)                 # (T - 1, V)
    wanted = shifted[np.arange(len(shifted)), ids[1:]]                              # (T - 1,)
    return np.log(np.exp(shifted).sum(axis=-1)) - wanted                            # (T - 1,)


def head_contributions(mixed, w_out):
    """What each head adds to the stream: its strip times its rows of c_proj.

    Shapes: mixed (H, T, Dh), w_out (D, D) -> (H, T, D); their sum plus the bias is attention.
    Raises: ValueError where w_out does not fit.
    Taught: notebooks/07_heads.ipynb
    """
    H, T, Dh = mixed.shape
    if w_out.shape != (H * Dh, H * Dh):
        raise ValueError(f"head_contributions: w_out must have shape {(H * Dh, H * Dh)}, "
                         f"got {w_out.shape}")
    return mixed @ w_out.reshape(H, Dh, H * Dh)                                     # (H, T, D)


def stream_parts(trace, weights, n_layer, t):
    """Everything that was added to the stream at position t: names and rows (K, D).

    trace, weights: as model.trace and model.weights give them. The rows add up to the stream after
    the last block: the embedding, and of each block its heads, the bias of c_proj, and its MLP.
    """
    names, rows = ["embedding"], [trace["embed"][t]]
    for i in range(n_layer):
        mixed = trace[f"h.{i}.attn.mixed"][:, t:t + 1]                              # (H, 1, Dh)
        w_out = weights[f"h.{i}.attn.c_proj.weight"]                                # (D, D)
        heads = head_contributions(mixed, w_out)[:, 0]                              # (H, D)
        rows += [*heads, weights[f"h.{i}.attn.c_proj.bias"], trace[f"h.{i}.mlp"][t]]
        names += [f"block {i} head {h}" for h in range(len(heads))]
        names += [f"block {i} c_proj bias", f"block {i} MLP"]
    return names, np.stack(rows)                                                    # (K, D)


def size(array):
    """Root of the mean of the squares: how large the numbers of an array are, as one number."""
    return float(np.sqrt((array.astype(np.float64) ** 2).mean()))


def stream_stages(trace, with_mid=False):
    """The stream before the first block and after each, {name in the trace: (T, D)}.

    trace: as model.trace gives it. with_mid: the stream after each attention, too.
    """
    ends = ("embed", "resid_post", "resid_mid") if with_mid else ("embed", "resid_post")
    return {name: x for name, x in trace.items() if name.endswith(ends)}            # (T, D) each


def stream_sizes(trace):
    """Size of the stream at each stage (L + 1,). See stream_stages."""
    return [size(x) for x in stream_stages(trace).values()]


def part_sizes(trace, part):
    """Size of what one part, "attn" or "mlp", adds to the stream in each block (L,)."""
    return [size(array) for name, array in trace.items() if name.endswith("." + part)]


def alikeness(x):
    """Mean cosine of all pairs of different rows: 1 where all rows point the same way.

    Shapes: x (T, D) -> a number.
    Taught: notebooks/09_block.ipynb
    """
    directions = x / np.linalg.norm(x, axis=-1, keepdims=True)                      # (T, D)
    return float((directions @ directions.T)[np.triu_indices(len(x), 1)].mean())


def unit_activations(model, texts):
    """How awake each unit of each MLP is at every place of some texts, one text after the other.

    Shapes: texts of P tokens together -> a list of L arrays (P, F).
    Taught: notebooks/08_mlp.ipynb
    """
    kept = [[] for _ in range(model.config.n_layer)]

    def tap(name, function):
        if not name.endswith(".mlp.act"):
            return function

        def act(*arguments, **named):
            awake = function(*arguments, **named)                                   # (T, F)
            kept[int(name.split(".")[1])].append(awake)
            return awake
        return act

    watched = model.tapped(tap)
    for text in texts:
        watched.next_logits(model.encode(text))             # the quickest pass: one row of logits
    return [np.concatenate(arrays) for arrays in kept]                              # (P, F) each


def unit_pushes(weights, block, unit):
    """What an activation of 1 adds to each token's logit, but for the last norm's divisor.

    The way through later blocks is left out: in the last block there is none.
    Shapes: weights, as model.weights -> (V,).
    Taught: notebooks/08_mlp.ipynb
    """
    value = weights[f"h.{block}.mlp.c_proj.weight"][unit]                           # (D,)
    return weights["wte.weight"] @ ((value - value.mean()) * weights["ln_f.weight"])    # (V,)


def direct_logits(parts, gain, bias, target, epsilon=1e-5):
    """What each part of the stream adds to one logit, through the final norm; they add up to it.

    The norm is taken as the linear map that it is at this position: each part loses its own mean,
    and all are divided by the deviation of their sum.

    Shapes: parts (K, D), gain, bias and target (D,) -> (K + 1,); the last one is the bias.
    target: the token's row of the table; or the difference of two rows, for that of two logits.
    Raises: ValueError where gain, bias or target does not fit.
    Source: "A Mathematical Framework for Transformer Circuits" (Elhage and others 2021).
    Taught: notebooks/bonus/looking_inside.ipynb
    """
    D = parts.shape[-1]
    for name, row in (("gain", gain), ("bias", bias), ("target", target)):
        if row.shape != (D,):
            raise ValueError(f"direct_logits: {name} must have shape (D,) = ({D},), "
                             f"got {row.shape}")
    deviation = float(np.sqrt(parts.sum(axis=0, dtype=np.float64).var() + epsilon))
    centred = parts - parts.mean(axis=-1, keepdims=True)                            # (K, D)
    return np.append(centred / deviation * gain @ target, bias @ target)            # (K + 1,)


def logit_parts(row, table):
    """The three factors of each logit: length of the normed row, length of the token's row, cosine.

    Shapes: row (D,), table (V, D) -> (V, 3); the product of the three is the token's logit.
    Taught: notebooks/10_lm_head.ipynb
    """
    length, lengths = np.linalg.norm(row), np.linalg.norm(table, axis=-1)           # (), (V,)
    cosines = table @ row / (length * lengths)                                      # (V,)
    return np.stack([np.full_like(lengths, length), lengths, cosines], axis=-1)     # (V, 3)


def along_and_across(row, table):
    """How far each row of the table reaches along one row, and the length of the rest.

    Shapes: row (D,), table (V, D) -> along (V,), across (V,). along has a sign; along^2 + across^2
        is the square of the length.
    Taught: notebooks/10_lm_head.ipynb
    """
    along = table @ (row / np.linalg.norm(row))                                     # (V,)
    squares = (table ** 2).sum(axis=-1) - along ** 2                                # (V,)
    return along, np.sqrt(np.maximum(squares, 0))       # rounding may leave a square below 0


def best_tokens(logits, count=10):
    """Ids of the largest logits, the best first, equal ones by id: (V,) -> (count,)."""
    return np.argsort(-logits, kind="stable")[:count]                               # (count,)


def ranks(logits, token):
    """Place of one token among all: 1 for the best. Shapes: logits (..., V) -> (...)."""
    return (logits > logits[..., token:token + 1]).sum(axis=-1) + 1                 # (...)


def first_token(trace):
    """What each head does with the first token: mean weight on it, and how long its value is.

    trace: as model.trace gives it.
    Shapes: -> weight (L, H), the mean over the later queries; length (L, H), as a multiple of the
        mean length of the other values.
    Raises: ValueError where there is no other token.
    Taught: notebooks/bonus/looking_inside.ipynb
    """
    values = [v for name, v in trace.items() if name.endswith(".attn.v")]   # (H, T, Dh) each
    lengths = np.linalg.norm(values, axis=-1)                                       # (L, H, T)
    if lengths.shape[-1] < 2:
        raise ValueError("first_token: the text must have at least two tokens, got 1")
    return first_word(patterns_of(trace)), lengths[..., 0] / lengths[..., 1:].mean(axis=-1)


def multiplications(config, new, seen):
    """Multiplications of one pass that reads `new` tokens, of which the last sees `seen` keys.

    Each token meets every weight of the blocks once; q k and pattern v cost 2 D for each pair of
    query and key; the LM head is taken for the last row only.
    Taught: notebooks/12_kv_cache.ipynb
    """
    D, F, L, V = config.n_embd, config.n_inner, config.n_layer, config.vocab_size
    return L * new * (4 * D * D + 2 * D * F) + L * 2 * D * new * seen + V * D


def bytes_read(config, seen):
    """Bytes of all weights and of a cache of `seen` tokens, each read once, as float32.

    Left out: the arrays in between, which stay in the processor, and all of the position table
    but a few rows.
    Taught: notebooks/bonus/memory_wall.ipynb
    """
    D, F, L, V = config.n_embd, config.n_inner, config.n_layer, config.vocab_size
    block = 4 * D * D + 2 * D * F + 9 * D + F       # matrices; biases and the gains of two norms
    return 4 * (V * D + L * block + 2 * D) + 2 * L * seen * D * 4


def without_heads(model, heads):
    """A tap (see GPT2.tapped) that switches off the heads (block, head): what they mix becomes 0.

    It is set to 0 where attend gives all heads at once, and where they stand side by side in front
    of c_proj, however they were made.
    Raises: ValueError for a head that the model does not have, and in the run where c_proj is
        multiplied head by head.
    """
    L, H, D = model.config.n_layer, model.config.n_head, model.config.n_embd
    for block, head in heads:
        if not (0 <= block < L and 0 <= head < H):
            raise ValueError(f"without_heads: there is no head {head} in block {block}")

    def tap(name, function):
        part, off = name.rpartition(".")[2], [
            head for block, head in heads if name.rpartition(".")[0] == f"h.{block}.attn"]

        def attend(*arguments, **named):
            mixed = function(*arguments, **named)                                   # (H, T, Dh)
            if np.ndim(mixed) == 3 and len(mixed) == H:
                mixed = mixed.copy()
                mixed[off] = 0
            return mixed

        def c_proj(*arguments, **named):
            (merged, *rest), named = by_position(function, arguments, named)
            if merged.shape[-1] != D:
                raise ValueError("without_heads: c_proj must get all heads side by side, "
                                 f"(T, D) with D = {D}, got {merged.shape}")
            left = merged.reshape(-1, H, D // H).copy()                             # (T, H, Dh)
            left[:, off] = 0
            return function(left.reshape(merged.shape), *rest, **named)
        return {"mixed": attend, "c_proj": c_proj}.get(part, function) if off else function
    return tap


def unit(rows):
    """Rows of length 1: their dot products are cosines. Shapes: rows (n, D) -> (n, D).

    A row of zeros has no direction: it stays as it is.
    Taught: notebooks/04_embedding.ipynb
    """
    return rows / np.maximum(np.linalg.norm(rows, axis=-1, keepdims=True), 1e-12)   # (n, D)


def never_seen(wte):
    """Which rows of the token table belong to tokens never read: all equal, more than a hundred.

    Shapes: wte (V, D) -> (V,) bool.
    Taught: notebooks/04_embedding.ipynb
    """
    _, group, counts = np.unique(wte[:, 0], return_inverse=True, return_counts=True)
    common = wte[np.flatnonzero(group == counts.argmax())[0]]                       # (D,)
    equal = (wte == common).all(axis=-1)                                            # (V,)
    return equal if equal.sum() > 100 else np.zeros(len(wte), bool)


def nearest_rows(table, ids, count, left_out=None):
    """The rows that are nearest to some rows by cosine, best first, without the row itself.

    Shapes: table (V, D) of rows of length 1 (see unit), ids (n,), left_out (V,) bool
        -> ids (n, count) and their cosines (n, count). Of equal cosines the smaller id comes first.
    Taught: notebooks/04_embedding.ipynb
    """
    cosines = np.ascontiguousarray((table @ table[ids].T).T)                        # (n, V)
    if left_out is not None:
        cosines[:, left_out] = -2
    cosines[np.arange(len(ids)), ids] = -2
    best = np.argpartition(-cosines, count, axis=-1)[:, :count]                     # (n, count)
    values = np.take_along_axis(cosines, best, axis=-1)                             # (n, count)
    order = np.lexsort((best, -values))                                             # (n, count)
    return np.take_along_axis(best, order, axis=-1), np.take_along_axis(values, order, axis=-1)


def flat(rows):
    """Rows flattened to two dimensions (PCA by SVD), and the share of their spread that is kept.

    The first axis is the direction in which the rows differ most, the second the next. The sign of
    an axis is free: the largest number on it is made positive.

    Shapes: rows (n, D) -> places (n, 2), share.
    Taught: notebooks/04_embedding.ipynb
    """
    centred = rows.astype(np.float64) - rows.mean(axis=0)                           # (n, D)
    u, s, _ = np.linalg.svd(centred, full_matrices=False)
    places = u[:, :2] * s[:2]                                                       # (n, 2)
    largest = np.take_along_axis(places, np.abs(places).argmax(axis=0)[None], axis=0)
    share = (s[:2] ** 2).sum() / max((s ** 2).sum(), 1e-12)
    return places * np.where(largest < 0, -1, 1), share
