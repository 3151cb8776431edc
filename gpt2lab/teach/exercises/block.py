"""Lesson 09: block; many blocks, forwards and back; what each part adds; a stream is steered."""
from dataclasses import replace

import numpy as np

from gpt2lab import training
from gpt2lab.block import block
from gpt2lab.checkpoint import DATA
from gpt2lab.heads import attend_heads as library_heads
from gpt2lab.inside import alikeness, size
from gpt2lab.layernorm import layer_norm as library_norm
from gpt2lab.mlp import mlp as library_mlp
from gpt2lab.model import GPT2, Ops

from . import Case, exercise, mistake, random

# Random blocks: do their rows stay apart?


def many_blocks(block=block, blocks=24, T=8, D=32, n_head=4, seed=1):
    """How alike T random rows are after each of many random blocks: three lists (blocks + 1,).

    block: the operation that adds.
    """
    runs = _runs({"adds": block, "replaces": no_residual, "replaces, no attention": _mlp_alone},
                 blocks, T, D, n_head, seed)
    return {name: [alikeness(x) for x in stages] for name, stages in runs.items()}


def places_of_norm(block=block, blocks=24, T=8, D=32, n_head=4, seed=1):
    """How alike T random rows are after each of many random blocks: four lists (blocks + 1,).

    block: the operation whose norms stand in the branches (pre-norm).
    """
    runs = _runs({"pre-norm": block, "post-norm": post_norm, "post-norm, branches × 0.2":
                  _light_post_norm, "replaces": no_residual}, blocks, T, D, n_head, seed)
    return {name: [alikeness(x) for x in stages] for name, stages in runs.items()}


def branch_shares(block=block, blocks=24, T=8, D=32, n_head=4, seed=1):
    """Size of what attention adds, over the size of the stream that it is added to.

    For each of the random blocks of `places_of_norm`: {"pre-norm": (blocks,), "post-norm": ...}.
    """
    x, stack = _start(blocks, T, D, seed)
    shares = {"pre-norm": [], "post-norm": []}
    for kind, operation in (("pre-norm", block), ("post-norm", post_norm)):
        for rows, w in zip(stages_of(x, stack, n_head, operation), stack):
            p = Parts(w, n_head, 1e-5, None, library_norm, library_heads, library_mlp)
            read = p.ln_1(rows) if kind == "pre-norm" else rows
            shares[kind].append(size(p.attention(read)) / size(rows))
    return shares


def _start(blocks, T, D, seed):
    """Random rows (T, D), and the arrays of random blocks."""
    rng = np.random.default_rng(seed)
    x = ((rng.random((T, D)) - 0.5) * 12 ** 0.5).astype(np.float32)
    return x, [random_block(rng, D) for _ in range(blocks)]


def _mlp_alone(x, w, n_head):
    """A block without attention, whose MLP replaces the rows."""
    p = Parts(w, n_head, 1e-5, None, library_norm, library_heads, library_mlp)
    return p.mlp(p.ln_2(x))


def _light_post_norm(x, w, n_head, factor=0.2):
    """A block with the norm behind each sum, whose branches weigh less."""
    p = Parts(w, n_head, 1e-5, None, library_norm, library_heads, library_mlp)
    factor = np.float32(factor)
    x = p.ln_1(x + factor * p.attention(x))
    return p.ln_2(x + factor * p.mlp(x))


def _runs(operations, blocks, T, D, n_head, seed):
    """The stream at each stage, {name: (blocks + 1) x (T, D)}: the same random blocks for all."""
    x, stack = _start(blocks, T, D, seed)
    return {name: stages_of(x, stack, n_head, operation) for name, operation in operations.items()}


def stages_of(x, blocks, n_head, block=block):
    """The stream before the first block and after each: L + 1 arrays (T, D)."""
    stages = [x]
    for w in blocks:
        stages.append(block(stages[-1], w, n_head))
    return stages


def cosine(a, b):
    """Mean cosine of the rows of a with those of b in the same places."""
    lengths = np.linalg.norm(a, axis=-1) * np.linalg.norm(b, axis=-1)
    return float(((a * b).sum(axis=-1) / lengths).mean())


def random_block(rng, D):
    """One block's arrays: weights drawn so that sizes stay as they are, gains 1, biases 0."""
    w = {}
    for norm in ("ln_1", "ln_2"):
        w[f"{norm}.weight"] = np.ones(D, np.float32)
        w[f"{norm}.bias"] = np.zeros(D, np.float32)
    for name, into, out in (("attn.c_attn", D, 3 * D), ("attn.c_proj", D, D),
                            ("mlp.c_fc", D, 4 * D), ("mlp.c_proj", 4 * D, D)):
        numbers = (rng.random((into, out)) - 0.5) * (12 / into) ** 0.5
        w[f"{name}.weight"] = numbers.astype(np.float32)
        w[f"{name}.bias"] = np.zeros(out, np.float32)
    return w


def piled_errors(x, blocks, n_head, block=block, share=0.01, seed=0):
    """Size of the error of the stream after each block, as a share of the stream's size (L,).

    Each block's result gets an error by chance, `share` of the size of what the block has added.
    """
    rng, right, wrong, found = np.random.default_rng(seed), x, x, []
    for w in blocks:
        right, before = block(right, w, n_head), wrong
        wrong = block(wrong, w, n_head)
        noise = rng.normal(size=x.shape)
        noise *= share * size(wrong - before) / size(noise)
        wrong = wrong + noise.astype(np.float32)
        found.append(size(wrong - right) / size(right))
    return found


def next_words(softmax, *logits, count=5):
    """The best next tokens of some models, and how probable each model finds them.

    Shapes: logits (V,) each, K of them -> ids of W tokens, each once, probabilities (K, W).
    """
    probs = softmax(np.stack(logits).astype(np.float64))                            # (K, V)
    best = np.argsort(-probs, axis=-1, kind="stable")[:, :count]                    # (K, count)
    best = list(dict.fromkeys(best.ravel()))
    return best, probs[:, best]


# Can the token still be read from the stream? A reader is fitted, and tried on other pages.

def read_back(model, blocks, block=block, fitted=24, tried=8):
    """Share of the tokens that a reader finds in the stream, at each stage: lists (L + 1,).

    In whole percents: one token of these pages, more or less, depends on the processor.

    For each stage a linear layer (lesson 01) is fitted by least squares: it is to make of a row of
    the stream the token's row of the table. Then it reads later pages of the book; the nearest row
    of all tokens of these pages is its answer. "adds": behind `block`; "replaces": behind blocks
    without a plus; "shuffled": fitted with the tokens in another order; "cosine": no reader, the
    cosine of the stream with the embedding.
    """
    w, pages = model.weights, book_pages(model, fitted + tried)                     # (pages, T)
    table, place = w["wte.weight"], w["wpe.weight"][:pages.shape[1]]                # (V, D), (T, D)
    ids, known = pages.ravel(), fitted * pages.shape[1]
    candidates = np.unique(ids)
    mixed = np.random.default_rng(0).permutation(ids[:known])
    found = {"adds": [], "replaces": [], "shuffled": [], "cosine": []}
    for name, operation in (("adds", block), ("replaces", no_residual)):
        runs = [stages_of(table[page] + place, blocks, model.config.n_head, operation)
                for page in pages]
        for rows in map(np.concatenate, zip(*runs)):                                # (tokens, D)
            rows = np.pad(rows.astype(float), ((0, 0), (0, 1)), constant_values=1)  # 1: for b
            fits = [(name, ids[:known])] + [("shuffled", mixed)] * (name == "adds")
            for kind, labels in fits:
                reader = np.linalg.lstsq(rows[:known], table[labels], rcond=None)[0]
                read = candidates[nearest_rows(rows[known:] @ reader, table[candidates])]
                found[kind].append(round(float((read == ids[known:]).mean()), 2))
            if name == "adds":
                found["cosine"].append(cosine(
                    rows[known:, :-1], np.concatenate([run[0] for run in runs])[known:]))
    return found


def nearest_rows(rows, table):
    """For each row the place of the nearest row of the table: (n, D), (V, D) -> (n,)."""
    return ((table ** 2).sum(axis=-1) - 2 * rows @ table.T).argmin(axis=-1)


def book_pages(model, count):
    """The first pages of the book that ships, of 128 tokens or what the model can read."""
    T = min(128, model.config.n_positions)
    text = (DATA / "training-text" / "wizard-of-oz.txt").read_text(encoding="utf-8")
    return np.array(model.encode(text[:8 * count * T])[:count * T]).reshape(count, T)


# The way back: how large is the gradient by the stream, behind each block?

def way_back(model, ids):
    """Size of the gradient by the stream, from the last stage to the first: three lists (L + 1,).

    All as multiples of the last stage's. "both ways": as it is; "plus alone", "branches alone":
    where each addition hands on only what comes along the plus, or only what comes through the
    branch. The way forwards is the same in all three.
    """
    ways = {"both ways": training.plus_back, "plus alone": lambda g, h: g,
            "branches alone": lambda g, h: h}
    found = {}
    for name, way in ways.items():
        steps = []

        def plus_back(g, h, way=way, steps=steps):
            steps.append((size(g), size(handed := way(g, h))))
            return handed
        training.gradients(model, ids, training.Rules(plus_back=plus_back))
        last = steps[0][0]
        found[name] = [1.0, *(handed / last for _, handed in steps[1::2])]
    return found


def nudge_grows(x, w, n_head, block=block, by=1e-3, seed=0):
    """How many times as large a small nudge of the stream x is behind a block.

    Every number of x gets an error by chance, `by` of the size of x.
    """
    nudge = np.random.default_rng(seed).normal(size=x.shape)
    nudged = (x + by * size(x) * nudge).astype(x.dtype)
    return size(block(nudged, w, n_head) - block(x, w, n_head)) / size(nudged - x)


# Training: what of the plus is needed, forwards and back?

TRAINED = {"both ways": (True, training.plus_back), "plus alone": (True, lambda g, h: g),
           "branches alone": (True, lambda g, h: h), "no plus at all": (False, lambda g, h: h)}


def trained(ops, blocks, way, rate=0.003, seed=0, steps=100):
    """Mean loss of the last ten steps of a small new model that learns one sentence by heart.

    ops: with a block that adds; way: a name in TRAINED: whether the blocks add, and what each
    addition hands back, g of the plus or h of the branch.
    """
    adds, back = TRAINED[way]
    ids, V = sentence()
    training_of = training.Training(
        training.small_config(V=V, N=16, D=32, L=blocks, H=2), training.pages_of(ids, 16), steps,
        rate, 1, seed, ops if adds else replace(ops, block=no_residual),
        training.Rules(plus_back=back))
    for _ in range(steps):
        training_of.advance()
    return float(np.mean(training_of.losses[-10:]))


def letters_loss():
    """Mean loss on that sentence of a writer who knows how frequent each letter is, no more."""
    ids, V = sentence()
    shares = np.bincount(ids, minlength=V) / len(ids)
    return float(-(shares * np.log(shares)).sum())


def sentence(times=20):
    """The story's first sentence again and again, its letters numbered: ids, and how many letters.
    """
    text = "The old king saw the young queen. " * times
    letters = sorted(set(text))
    return np.array([letters.index(letter) for letter in text]), len(letters)


def words_kept(model, other, pages=8):
    """Share of the places of the book at which the best next word of both models is the same."""
    same = [model(page).argmax(axis=-1) == other(page).argmax(axis=-1)
            for page in book_pages(model, pages)]
    return float(np.mean(same))


def deep_model(ops=None, blocks=24, D=32, V=256, seed=1):
    """A GPT-2 with many blocks and random weights, and a text for it: model, ids (17,)."""
    config, rng = training.small_config(V=V, N=16, D=D, L=blocks), np.random.default_rng(seed)
    weights = training.named(config, training.first_numbers(config, rng))
    for i in range(blocks):
        weights |= {f"h.{i}.{name}": array for name, array in random_block(rng, D).items()}
    return GPT2(config, weights, None, ops or Ops()), rng.integers(V, size=17)


# Exercises and their mistakes.

class Parts:
    """The four parts of one block, ready to be called with rows only."""

    def __init__(self, w, n_head, epsilon, remember, layer_norm, attend_heads, mlp):
        def norm(name):
            return lambda rows: layer_norm(rows, w[f"{name}.weight"], w[f"{name}.bias"], epsilon)
        self.ln_1, self.ln_2 = norm("ln_1"), norm("ln_2")
        self.attention = lambda rows: attend_heads(
            rows, w["attn.c_attn.weight"], w["attn.c_attn.bias"],
            w["attn.c_proj.weight"], w["attn.c_proj.bias"], n_head, remember)
        self.mlp = lambda rows: mlp(
            rows, w["mlp.c_fc.weight"], w["mlp.c_fc.bias"],
            w["mlp.c_proj.weight"], w["mlp.c_proj.bias"])


def mistaken(compute):
    """Give compute(x, parts) the arguments of block."""
    def wrong(x, w, n_head, epsilon=1e-5, remember=None, layer_norm=library_norm,
              attend_heads=library_heads, mlp=library_mlp):
        return compute(x, Parts(w, n_head, epsilon, remember, layer_norm, attend_heads, mlp))
    wrong.__name__, wrong.__doc__ = compute.__name__, compute.__doc__
    return wrong


@mistake(of=block)
@mistaken
def no_attention_residual(x, p):
    """Attention replaces the stream: the first addition is forgotten.

    What stood in x before this block is lost. What does the formula add to attention's result?
    """
    x = p.attention(p.ln_1(x))
    return x + p.mlp(p.ln_2(x))


@mistake(of=block)
@mistaken
def no_mlp_residual(x, p):
    """The MLP replaces the stream: the second addition is forgotten.

    What stood in x in the middle of the block is lost. What does the formula add to the MLP's
    result?
    """
    x = x + p.attention(p.ln_1(x))
    return p.mlp(p.ln_2(x))


@mistake(of=block)
@mistaken
def no_residual(x, p):
    """Nothing is added: each part replaces the stream.

    Then every block begins anew, and nothing of the embedding goes on. Where are the two sums of
    the formula?
    """
    return p.mlp(p.ln_2(p.attention(p.ln_1(x))))


@mistake(of=block)
@mistaken
def attention_branch_lost(x, p):
    """The MLP is added to the old x: what attention has added is lost.

    The second sum starts from the stream in the middle. Which of your arrays is that?
    """
    m = x + p.attention(p.ln_1(x))
    return x + p.mlp(p.ln_2(m))


@mistake(of=block)
@mistaken
def stream_added_twice(x, p):
    """The old x is added once more at the end.

    The stream in the middle holds it already. What does the second sum start from?
    """
    m = x + p.attention(p.ln_1(x))
    return x + (m + p.mlp(p.ln_2(m)))


@mistake(of=block)
@mistaken
def post_norm(x, p):
    """The norm comes after each sum, not in front of each part (post-norm).

    The transformer of 2017 did that. In GPT-2 the stream itself is never normed. What do the parts
    read, and what is added to what?
    """
    x = p.ln_1(x + p.attention(x))
    return p.ln_2(x + p.mlp(x))


@mistake(of=block)
@mistaken
def parallel(x, p):
    """The MLP reads the old x, from before attention has added its part.

    Some models do that, to run both parts at once. In GPT-2 the MLP sees what attention has
    brought. Which rows does your second norm take?
    """
    return x + p.attention(p.ln_1(x)) + p.mlp(p.ln_2(x))


@mistake(of=block)
@mistaken
def norms_swapped(x, p):
    """The two norms are swapped.

    Their gains and biases have the same shape, so nothing complains. Which one stands in front of
    attention, ln_1 or ln_2?
    """
    x = x + p.attention(p.ln_2(x))
    return x + p.mlp(p.ln_1(x))


@mistake(of=block)
@mistaken
def norm_the_sum(x, p):
    """The sum in the middle is normed, and the MLP's result is added to the normed rows.

    You need the normed rows for the MLP and the rows as they are for the sum. Does your second
    norm overwrite x?
    """
    x = p.ln_2(x + p.attention(p.ln_1(x)))
    return x + p.mlp(x)


@mistake(of=block)
@mistaken
def adds_to_normed(x, p):
    """Both parts are added to the normed rows, not to the stream.

    The norm makes a copy for the part to read. Does your norm overwrite x?
    """
    x = p.ln_1(x)
    x = x + p.attention(x)
    x = p.ln_2(x)
    return x + p.mlp(x)


@mistake(of=block)
@mistaken
def first_norm_forgotten(x, p):
    """Attention reads the stream without the norm.

    Each of the two parts has a norm in front. What do you give to attend_heads?
    """
    x = x + p.attention(x)
    return x + p.mlp(p.ln_2(x))


@mistake(of=block)
@mistaken
def second_norm_forgotten(x, p):
    """The MLP reads the stream without the norm.

    Each of the two parts has a norm in front. What do you give to mlp?
    """
    x = x + p.attention(p.ln_1(x))
    return x + p.mlp(x)


@mistake(of=block)
@mistaken
def norm_not_renewed(x, p):
    """The MLP reads the rows that were normed for attention.

    The stream has changed since then, and the MLP has a norm of its own. What do you give to mlp?
    """
    normed = p.ln_1(x)
    return x + p.attention(normed) + p.mlp(normed)


@mistake(of=block)
@mistaken
def one_norm_for_both(x, p):
    """Both parts get the first norm's gain and bias.

    The block has two norms, with numbers of their own. What does the second call take?
    """
    x = x + p.attention(p.ln_1(x))
    return x + p.mlp(p.ln_1(x))


@mistake(of=block)
@mistaken
def mlp_first(x, p):
    """The MLP comes first and attention second.

    First a token looks at the others, then it thinks about what it saw. Which half of the formula
    is the first?
    """
    x = x + p.mlp(p.ln_2(x))
    return x + p.attention(p.ln_1(x))


@mistake(of=block)
@mistaken
def no_norm_at_all(x, p):
    """Both parts read the stream without a norm.

    Each part reads normed rows, with gain and bias of its own norm. Where do ln_1 and ln_2 come in?
    """
    m = x + p.attention(x)
    return m + p.mlp(m)


@mistake(of=block)
@mistaken
def attention_left_out(x, p):
    """Attention is left out.

    Then no token sees another. What happens before the second norm?
    """
    return x + p.mlp(p.ln_2(x))


@mistake(of=block)
@mistaken
def mlp_left_out(x, p):
    """The MLP is left out.

    The block has two halves. What happens after attention has added its part?
    """
    return x + p.attention(p.ln_1(x))


@mistake(of=block)
@mistaken
def branches_alone(x, p):
    """What both parts add comes out, without the stream itself.

    The next block goes on from the sum. Which term of the first sum is missing at the end?
    """
    a = p.attention(p.ln_1(x))
    return a + p.mlp(p.ln_2(x + a))


@mistake(of=block)
@mistaken
def first_adds_to_normed(x, p):
    """Attention's result is added to the normed rows, not to the stream.

    The norm makes a copy for attention to read. To which array do you add?
    """
    normed = p.ln_1(x)
    m = normed + p.attention(normed)
    return m + p.mlp(p.ln_2(m))


@mistake(of=block)
@mistaken
def mlp_reads_the_branch(x, p):
    """The MLP reads what attention adds, not the stream with it.

    The second norm takes the stream in the middle. Which sum is that?
    """
    return x + p.mlp(p.ln_2(p.attention(p.ln_1(x))))


@mistake(of=block)
@mistaken
def norm_behind_the_parts(x, p):
    """The norms stand behind the parts, not in front of them.

    A part reads normed rows, and what it gives is added as it is. What do you give to layer_norm?
    """
    m = x + p.ln_1(p.attention(x))
    return m + p.ln_2(p.mlp(m))


@mistake(of=block)
@mistaken
def norm_at_the_end(x, p):
    """The result is normed once more.

    Only behind the last block stands one more norm, and it is not the block's. What does the
    formula give back?
    """
    m = x + p.attention(p.ln_1(x))
    return p.ln_2(m + p.mlp(p.ln_2(m)))


@mistake(of=block)
def second_epsilon_ignored(x, w, n_head, epsilon=1e-5, remember=None, layer_norm=library_norm,
                           attend_heads=library_heads, mlp=library_mlp):
    """epsilon is handed on to the first norm only.

    Both norms need it. Which arguments does your second call of layer_norm have?
    """
    return _with_norms((epsilon, 1e-5), x, w, n_head, remember, layer_norm, attend_heads, mlp)


@mistake(of=block)
def first_epsilon_ignored(x, w, n_head, epsilon=1e-5, remember=None, layer_norm=library_norm,
                          attend_heads=library_heads, mlp=library_mlp):
    """epsilon is handed on to the second norm only.

    Both norms need it. Which arguments does your first call of layer_norm have?
    """
    return _with_norms((1e-5, epsilon), x, w, n_head, remember, layer_norm, attend_heads, mlp)


def _with_norms(epsilons, x, w, n_head, remember, layer_norm, attend_heads, mlp):
    """block with an epsilon for each norm."""
    left = iter(epsilons)
    return block(x, w, n_head, None, remember, lambda rows, gain, bias, _: layer_norm(
        rows, gain, bias, next(left)), attend_heads, mlp)


@mistake(of=block)
def gain_and_bias_swapped(x, w, n_head, epsilon=1e-5, remember=None, layer_norm=library_norm,
                          attend_heads=library_heads, mlp=library_mlp):
    """Gain and bias of the norms are swapped.

    They have the same shape, so nothing complains. The gain is called weight in the file: in which
    order does layer_norm take the two?
    """
    return block(x, w, n_head, epsilon, remember, lambda rows, gain, bias, epsilon: layer_norm(
        rows, bias, gain, epsilon), attend_heads, mlp)


@mistake(of=block)
def arguments_of_attention(x, w, n_head, epsilon=1e-5, remember=None, layer_norm=library_norm,
                           attend_heads=library_heads, mlp=library_mlp):
    """attend_heads gets epsilon, in the place of remember.

    Only the norms take epsilon. Which arguments follow n_head in attend_heads?
    """
    def heads(x, w_qkv, b_qkv, w_out, b_out, n_head, remember):
        return attend_heads(x, w_qkv, b_qkv, w_out, b_out, n_head, epsilon, remember)
    return block(x, w, n_head, epsilon, remember, layer_norm, heads, mlp)


@mistake(of=block)
@mistaken
def stream_changed(x, p):
    """The caller's stream is changed: an operator such as += writes into it.

    The stream before the block is needed elsewhere. What does x = x + 1 do, and what does += do?
    """
    x += p.attention(p.ln_1(x))
    x += p.mlp(p.ln_2(x))
    return x


@mistake(of=block)
def block_in_float64(x, w, n_head, epsilon=1e-5, remember=None, layer_norm=library_norm,
                     attend_heads=library_heads, mlp=library_mlp):
    """The values are right, but float32 numbers have become float64.

    np.zeros makes float64 numbers, if it is not told another type. Where does such an array come
    in?
    """
    return block(x, w, n_head, epsilon, remember, layer_norm, attend_heads, mlp).astype(np.float64)


@mistake(of=block)
def norm_ignored(x, w, n_head, epsilon=1e-5, remember=None, layer_norm=library_norm,
                 attend_heads=library_heads, mlp=library_mlp):
    """The layer_norm that is handed in is not used.

    The model can be run with another norm, yours for example. Which function do you call?
    """
    return block(x, w, n_head, epsilon, remember, library_norm, attend_heads, mlp)


@mistake(of=block)
def epsilon_ignored(x, w, n_head, epsilon=1e-5, remember=None, layer_norm=library_norm,
                    attend_heads=library_heads, mlp=library_mlp):
    """The argument epsilon is not handed on to the norms.

    The caller may choose epsilon. Which arguments does layer_norm get from you, both times?
    """
    return block(x, w, n_head, 1e-5, remember, layer_norm, attend_heads, mlp)


@mistake(of=block)
def remember_ignored(x, w, n_head, epsilon=1e-5, remember=None, layer_norm=library_norm,
                     attend_heads=library_heads, mlp=library_mlp):
    """The argument remember is not handed on to attend_heads.

    Lesson 12 needs it: it keeps the keys and values of earlier tokens. It is the last argument of
    attend_heads.
    """
    return block(x, w, n_head, epsilon, None, layer_norm, attend_heads, mlp)


@mistake(of=block)
def parts_ignored(x, w, n_head, epsilon=1e-5, remember=None, layer_norm=library_norm,
                  attend_heads=library_heads, mlp=library_mlp):
    """The functions that are handed in are not used.

    The model can be run with other parts, yours for example. Call the arguments layer_norm,
    attend_heads and mlp; what do you call now?
    """
    return block(x, w, n_head, epsilon, remember)


@mistake(of=block)
def heads_ignored(x, w, n_head, epsilon=1e-5, remember=None, layer_norm=library_norm,
                  attend_heads=library_heads, mlp=library_mlp):
    """The attend_heads that is handed in is not used.

    The model can be run with another attention, yours for example. Which function do you call?
    """
    return block(x, w, n_head, epsilon, remember, layer_norm, library_heads, mlp)


@mistake(of=block)
def mlp_ignored(x, w, n_head, epsilon=1e-5, remember=None, layer_norm=library_norm,
                attend_heads=library_heads, mlp=library_mlp):
    """The mlp that is handed in is not used.

    The model can be run with another MLP, yours for example. Which function do you call?
    """
    return block(x, w, n_head, epsilon, remember, layer_norm, attend_heads, library_mlp)


def contributions(x, blocks, n_head):
    """The right answer to the first exercise: the embedding and what each part adds.

    Shapes: x (T, D), L blocks -> (1 + 2 L, T, D).
    """
    return _parts_of(x, blocks, n_head)


def _parts_of(x, blocks, n_head, norms=lambda p: (p.ln_1, p.ln_2)):
    """The embedding and what each part adds, behind these two norms in each block."""
    parts = [x]
    for w in blocks:
        p = Parts(w, n_head, 1e-5, None, library_norm, library_heads, library_mlp)
        first, second = norms(p)
        parts.append(p.attention(first(x)))
        x = x + parts[-1]
        parts.append(p.mlp(second(x)))
        x = x + parts[-1]
    return np.array(parts)


@mistake(of=contributions)
def no_embedding(x, blocks, n_head):
    """The embedding is missing from the list.

    The sum of all rows must be the stream at the end. What was there before the first block?
    """
    return contributions(x, blocks, n_head)[1:]


@mistake(of=contributions)
def streams_not_parts(x, blocks, n_head):
    """The stream after each part comes out, not what the part adds.

    Each entry holds everything before it as well, so their sum counts it many times. What is
    new in each step?
    """
    return np.cumsum(contributions(x, blocks, n_head), axis=0)


@mistake(of=contributions)
def streams_after_blocks(x, blocks, n_head):
    """The stream after each block comes out, not what each part adds.

    You kept the streams; asked for is what is added to them, and each block adds twice. What does
    attention give before it is added, and what does the MLP?
    """
    return np.cumsum(contributions(x, blocks, n_head), axis=0)[::2]


@mistake(of=contributions)
def streams_after_blocks_only(x, blocks, n_head):
    """The stream after each block comes out, without the embedding, not what each part adds.

    You kept the streams; asked for is what is added to them, and each block adds twice. What does
    attention give before it is added, and what does the MLP?
    """
    return np.cumsum(contributions(x, blocks, n_head), axis=0)[2::2]


@mistake(of=contributions)
def streams_before_blocks(x, blocks, n_head):
    """The stream before each block comes out, not what each part adds.

    You kept the streams; asked for is what is added to them, and each block adds twice. What does
    attention give before it is added, and what does the MLP?
    """
    return np.cumsum(contributions(x, blocks, n_head), axis=0)[:-1:2]


@mistake(of=contributions)
def whole_blocks(x, blocks, n_head):
    """Attention and MLP of a block are put together.

    Asked for are 1 + 2 L parts: each block adds twice. Where do you cut between the two?
    """
    parts = contributions(x, blocks, n_head)
    return np.array([parts[0], *(parts[1::2] + parts[2::2])])


@mistake(of=contributions)
def parts_read_the_start(x, blocks, n_head):
    """Every part reads the embedding: the stream does not go on.

    After each part, the stream is the old one plus what the part adds. Where does your loop
    change x?
    """
    parts = [x]
    for w in blocks:
        p = Parts(w, n_head, 1e-5, None, library_norm, library_heads, library_mlp)
        parts += [p.attention(p.ln_1(x)), p.mlp(p.ln_2(x))]
    return np.array(parts)


@mistake(of=contributions)
def parts_in_parallel(x, blocks, n_head):
    """In each block the MLP reads the stream from before attention.

    Attention's part must be in x when the second norm reads it. When do you add it?
    """
    parts = [x]
    for w in blocks:
        p = Parts(w, n_head, 1e-5, None, library_norm, library_heads, library_mlp)
        parts += [p.attention(p.ln_1(x)), p.mlp(p.ln_2(x))]
        x = x + parts[-2] + parts[-1]
    return np.array(parts)


@mistake(of=contributions)
def parts_without_norm(x, blocks, n_head):
    """The parts read the stream without a norm.

    Each part has a norm in front, as in the block. What do you give to attend_heads and mlp?
    """
    return _parts_of(x, blocks, n_head, lambda p: (lambda x: x, lambda x: x))


@mistake(of=contributions)
def parts_with_one_norm(x, blocks, n_head):
    """Both parts get the first norm's gain and bias.

    The block has two norms, with numbers of their own. What does the second call take?
    """
    return _parts_of(x, blocks, n_head, lambda p: (p.ln_1, p.ln_1))


@mistake(of=contributions)
def stream_at_the_end(x, blocks, n_head):
    """The stream after the last block is in the list as well.

    It is the sum of the others, so the sum would count everything twice. How many arrays are
    1 + 2 L?
    """
    parts = contributions(x, blocks, n_head)
    return np.concatenate([parts, parts.sum(axis=0, keepdims=True)])


@mistake(of=contributions)
def attention_parts_first(x, blocks, n_head):
    """All parts of attention come first, then all of the MLPs.

    The order is that of section 10: block by block. When do you put the MLP's part into the list?
    """
    parts = contributions(x, blocks, n_head)
    return np.concatenate([parts[:1], parts[1::2], parts[2::2]])


@mistake(of=contributions)
def parts_in_float64(x, blocks, n_head):
    """The values are right, but float32 numbers have become float64.

    np.zeros makes float64 numbers, if it is not told another type. Where does such an array come
    in?
    """
    return contributions(x, blocks, n_head).astype(np.float64)


def steer(x, row, strength):
    """The right answer to the second exercise: each row of the stream gets a push towards `row`.

    The push is `strength` times as long as the row that it is added to.
    Shapes: x (T, D), row (D,) -> (T, D).
    """
    lengths = np.linalg.norm(x, axis=-1, keepdims=True)                             # (T, 1)
    return x + strength * lengths * row / np.linalg.norm(row)                       # (T, D)


@mistake(of=steer)
def steer_not_measured(x, row, strength):
    """The row is added as it is, times strength: the push does not fit the stream's length.

    The stream is longer after each block. What must the push be as long as?
    """
    return x + strength * row


@mistake(of=steer)
def steer_replaces(x, row, strength):
    """The push alone comes out: the stream is lost.

    A stream is steered as a block changes it. What does a block do with its branch?
    """
    return steer(x, row, strength) - x


@mistake(of=steer)
def steer_whole_stream(x, row, strength):
    """The length of the whole stream is taken, not each row's own.

    np.linalg.norm without an axis takes all numbers of x together. Along which axis lie the numbers
    of one row?
    """
    return x + strength * np.linalg.norm(x) * row / np.linalg.norm(row)


@mistake(of=steer)
def steer_row_not_shortened(x, row, strength):
    """The row's own length is still in the push.

    First make the row 1 long, then as long as you want it. What do you divide row by?
    """
    return x + strength * np.linalg.norm(x, axis=-1, keepdims=True) * row


@mistake(of=steer)
def steer_one_long(x, row, strength):
    """The push is `strength` long, whatever the stream's length is.

    At a strength of 1 it is as long as the stream's own row. By what do you multiply?
    """
    return x + strength * row / np.linalg.norm(row)


@mistake(of=steer)
def steer_away(x, row, strength):
    """The stream is pushed away from the row.

    Look at the sign: what is added shall point where row points.
    """
    return steer(x, row, -strength)


@mistake(of=steer)
def steer_last_row(x, row, strength):
    """Only the last row is pushed.

    Asked for is the whole stream, all T rows.
    """
    return np.concatenate([x[:-1], steer(x[-1:], row, strength)])


@mistake(of=steer)
def steer_by_columns(x, row, strength):
    """The lengths are those of the columns.

    A row of x has D numbers; axis 0 runs down a column. Which axis runs along a row?
    """
    return x + strength * np.linalg.norm(x, axis=0) * row / np.linalg.norm(row)


@mistake(of=steer)
def steer_squared(x, row, strength):
    """The sum of the squares stands where the length should: a root is missing.

    The length is the root of that sum, for x as well as for row.
    """
    squares = (x ** 2).sum(axis=-1, keepdims=True)
    return x + strength * squares * row / (row ** 2).sum()


@mistake(of=steer)
def steer_two_measures(x, row, strength):
    """One of the two is a length, the other a mean over D numbers.

    Take the root of the sum of the squares for both, or of their mean for both.
    """
    lengths = np.sqrt((x ** 2).mean(axis=-1, keepdims=True))
    return x + strength * lengths * row / np.linalg.norm(row)


@mistake(of=steer)
def steer_without_strength(x, row, strength):
    """The strength is not used.

    At 0 nothing is to change, at 1 the push is as long as the row. Where does strength come in?
    """
    return steer(x, row, 1.0)


@mistake(of=steer)
def steer_strength_on_all(x, row, strength):
    """The stream is multiplied by strength as well.

    x stays as it is. What belongs into the brackets?
    """
    return strength * steer(x, row, 1.0)


@mistake(of=steer)
def steer_in_place(x, row, strength):
    """The caller's stream is changed: an operator such as += writes into it.

    The stream before the push is needed elsewhere. What does x = x + 1 do, and what does += do?
    """
    x += steer(x, row, strength) - x
    return x


@mistake(of=steer)
def steer_in_float64(x, row, strength):
    """The values are right, but float32 numbers have become float64.

    np.zeros makes float64 numbers, if it is not told another type. Where does such an array come
    in?
    """
    return steer(x, row, strength).astype(np.float64)


def half_norm(x, gain, bias, epsilon=1e-5):
    """A norm that is none, to see whether the argument is used."""
    return x * gain / 2 + bias


def other_heads(x, w_qkv, b_qkv, w_out, b_out, n_head, remember=None):
    """An attention that is none, to see whether the argument is used."""
    return x @ w_out / 2 + b_out


def other_mlp(x, w_fc, b_fc, w_proj, b_proj):
    """An MLP that is none, to see whether the argument is used."""
    return x / 2 + b_proj


def last_is_doubled(k, v):
    """A memory that is none, to see whether the argument is used."""
    return k, 2 * v


def weights(D, seed):
    """The arrays of one block under their names, with numbers of ordinary size."""
    shapes = {"ln_1.weight": (D,), "ln_1.bias": (D,),
              "attn.c_attn.weight": (D, 3 * D), "attn.c_attn.bias": (3 * D,),
              "attn.c_proj.weight": (D, D), "attn.c_proj.bias": (D,),
              "ln_2.weight": (D,), "ln_2.bias": (D,),
              "mlp.c_fc.weight": (D, 4 * D), "mlp.c_fc.bias": (4 * D,),
              "mlp.c_proj.weight": (4 * D, D), "mlp.c_proj.bias": (D,)}
    around = {"ln_1.weight": 1.0, "ln_2.weight": 1.0}       # gains; all others around 0
    return {name: random(*shape, seed=seed + i, scale=0.5, shift=around.get(name, 0.0))
            for i, (name, shape) in enumerate(shapes.items())}


def _case(label, seed, first, n_head=2, T=3, **named):
    """T rows of D = 4 and a block; seed and first: where their numbers begin."""
    return Case(label, (random(T, 4, seed=seed), weights(4, first), n_head), named)


def _stack(label, seed, firsts, n_head):
    return Case(label, (random(3, 4, seed=seed), [weights(4, first) for first in firsts], n_head))


LARGE = random(3, 4, seed=3, scale=20, shift=5), weights(4, 50), 2
CASES = [
    _case("three rows, D = 4, two heads", 1, 10),
    _case("one row", 2, 30, n_head=1, T=1),
    Case("a stream of larger numbers", LARGE),
    _case("another epsilon", 4, 70, epsilon=0.5),
    Case("a stream of tiny numbers", (random(3, 4, seed=13, scale=1e-3), weights(4, 270), 2)),
    _case("keys and values from elsewhere", 5, 90, remember=last_is_doubled),
    _case("a norm of the caller's own", 6, 110, layer_norm=half_norm),
    _case("an attention of the caller's own", 11, 230, attend_heads=other_heads),
    _case("an MLP of the caller's own", 12, 250, mlp=other_mlp),
]
STACK = [_stack("two blocks", 7, (130, 150), 2), _stack("three blocks", 8, (170, 190, 210), 1)]

exercise(block, CASES)
exercise(contributions, STACK)
exercise(steer, [
    Case("three rows, D = 4, strength 0.5",
         (random(3, 4, seed=21), random(4, seed=22, scale=3), 0.5)),
    Case("as many rows as numbers in a row, strength 2",
         (random(4, 4, seed=23, scale=2), random(4, seed=24), 2.0)),
    Case("one row, a strength below 0", (random(1, 4, seed=25), random(4, seed=26), -0.75)),
    Case("a long stream, a short row",
         (random(2, 4, seed=27, scale=40), random(4, seed=28, scale=0.01), 0.25)),
])
