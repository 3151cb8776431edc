"""Lesson 07: attend_heads; head_parts and fewest_heads; what the lesson needs beside them."""
import time
from itertools import combinations

import numpy as np
from numpy.random import default_rng

from gpt2lab.attention import attend
from gpt2lab.heads import attend_heads
from gpt2lab.inside import without_heads
from gpt2lab.linear import linear
from gpt2lab.softmax import softmax
from gpt2lab.training import adam, attend_back, cross_entropy_back, linear_back, one_thread

from . import Case, exercise, mistake, random


def named(words):
    """[(block, head), ...] of words such as "1.0 3.2".

    Raises: ValueError where a word is not two whole numbers with a point between.
    """
    parts = [word.split(".") for word in words.replace(",", " ").split()]
    for part in parts:
        if len(part) != 2 or not all(number.isdecimal() for number in part):
            raise ValueError(f"a head is written block.head, such as 1.0, not {'.'.join(part)}")
    return [(int(block), int(head)) for block, head in parts]


def speaker(model, text):
    """says(off): the model's next word with the heads `off` switched off; it asks only once."""
    ids, known = model.encode(text), {}

    def says(off):
        off = frozenset(off)
        if off not in known:
            less = model.tapped(without_heads(model, off))
            known[off] = model.tokenizer.decode([int(less.next_logits(ids).argmax())])
        return known[off]
    return says


def best_time(run, times=30):
    """The shortest of some runs, in microseconds."""
    taken = []
    for _ in range(times):
        start = time.perf_counter()
        run()
        taken.append(time.perf_counter() - start)
    return round(1e6 * min(taken))


def lookups(rng, count, contents):
    """Examples of six rows [role A, B or none | content], and the contents of A and of B.

    Shapes: rows (count, 6, 3 + contents), wanted (count, 2)
    """
    roles = rng.permuted(np.tile([0, 1, 2, 2, 2, 2], (count, 1)), axis=1)
    found = rng.integers(contents, size=roles.shape)
    rows = np.concatenate([np.eye(3)[roles], np.eye(contents)[found]], axis=-1)
    return rows, np.stack([found[roles == 0], found[roles == 1]], axis=-1)


@one_thread
def two_lookups(n_head, contents=5, whole=False, steps=800, rate=0.03, seed=0, attend=attend):
    """Trains heads, 8 columns wide together, to find A's and B's content.

    Each head has one learned query. Keys are made of the roles and values of the contents; where
    `whole`, both of the whole row. Gives (numbers of weights, share right for A, for B), on
    examples that were not trained on.
    """
    rng, width = default_rng(seed), 8
    role, content = (slice(None), slice(None)) if whole else (slice(0, 3), slice(3, None))
    rows, _ = lookups(rng, 1, contents)
    shapes = {"q": (1, width), "k": (rows[..., role].shape[-1], width),
              "v": (rows[..., content].shape[-1], width), "out": (width, 2 * contents)}
    w = {name: 0.3 * rng.standard_normal(shape) for name, shape in shapes.items()}
    moments = {name: (0, 0) for name in w}

    def cut(y):                                 # (examples, rows, 8) -> (examples x H, rows, Dh)
        return y.reshape(*y.shape[:2], n_head, -1).swapaxes(1, 2).reshape(
            -1, y.shape[1], width // n_head)

    def merge(y):                               # and back: (examples x rows, 8)
        return y.reshape(-1, n_head, *y.shape[1:]).swapaxes(1, 2).reshape(-1, width)

    def run(rows):
        q = cut(np.tile(w["q"], (len(rows), 1, 1)))
        k, v = cut(rows[..., role] @ w["k"]), cut(rows[..., content] @ w["v"])
        merged = merge(attend(q, k, v))                                 # (examples, 8)
        return q, k, v, merged, (merged @ w["out"]).reshape(-1, contents)

    for t in range(1, steps + 1):
        rows, wanted = lookups(rng, 64, contents)
        q, k, v, merged, logits = run(rows)
        g = cross_entropy_back(logits, wanted.reshape(-1)).reshape(-1, 2 * contents)
        by_merged, by_out, _ = linear_back(merged, w["out"], g)
        pattern = softmax(q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1]))
        by_q, by_k, by_v = map(merge, attend_back(q, k, v, pattern, cut(by_merged[:, None])))
        flat = rows.reshape(-1, rows.shape[-1])
        found = {"q": by_q.sum(axis=0, keepdims=True), "k": flat[:, role].T @ by_k,
                 "v": flat[:, content].T @ by_v, "out": by_out}
        for name in w:
            step, *moments[name] = adam(found[name], *moments[name], t)
            w[name] = w[name] - rate * step
    rows, wanted = lookups(default_rng([seed, 1]), 2000, contents)
    right = (run(rows)[-1].argmax(axis=-1).reshape(-1, 2) == wanted).mean(axis=0)
    return sum(array.size for array in w.values()), *right.tolist()


def _heads(x, w_qkv, b_qkv, w_out, b_out, n_head, remember, linear, attend, order=(0, 1, 2)):
    """attend_heads with the three parts in another order."""
    parts = np.split(linear(x, w_qkv, b_qkv), 3, axis=-1)
    return _finish([_cut(parts[i], n_head) for i in order], w_out, b_out, remember, linear, attend)


def _cut(part, n_head):
    return part.reshape(len(part), n_head, -1).swapaxes(0, 1)


def _finish(qkv, w_out, b_out, remember, linear, attend, merge=None):
    q, k, v = qkv
    if remember is not None:
        k, v = remember(k, v)
    mixed = attend(q, k, v)
    merged = mixed.swapaxes(0, 1).reshape(mixed.shape[1], -1) if merge is None else merge(mixed)
    return merged if w_out is None else linear(merged, w_out, b_out)


@mistake(of=attend_heads)
def reshape_alone(x, w_qkv, b_qkv, w_out, b_out, n_head, remember=None, linear=linear,
                  attend=attend):
    """The cut into heads is a reshape without exchanging axes.

    reshape keeps the order of the numbers: the first head gets the first tokens, not its columns of
    all tokens. Which axis should be cut in two, and which must come to the front then?
    """
    T, Dh = len(x), x.shape[-1] // n_head
    qkv = [part.reshape(n_head, T, Dh) for part in np.split(linear(x, w_qkv, b_qkv), 3, axis=-1)]
    return _finish(qkv, w_out, b_out, remember, linear, attend)


@mistake(of=attend_heads)
def merge_without_swap(x, w_qkv, b_qkv, w_out, b_out, n_head, remember=None, linear=linear,
                       attend=attend):
    """The heads are merged by reshape without exchanging the axes back.

    mixed (H, T, Dh) in its order is head after head. A row of the result is one token with all its
    heads: which two axes must change places before the reshape?
    """
    qkv = [_cut(part, n_head) for part in np.split(linear(x, w_qkv, b_qkv), 3, axis=-1)]
    return _finish(qkv, w_out, b_out, remember, linear, attend,
                   lambda mixed: mixed.reshape(len(x), -1))


@mistake(of=attend_heads)
def interleaved(x, w_qkv, b_qkv, w_out, b_out, n_head, remember=None, linear=linear, attend=attend):
    """The heads are interleaved: each takes every H-th column, not a strip of neighbours.

    reshape(T, Dh, H) makes the head the fastest axis. Head 0 owns the columns 0 to Dh - 1: in which
    order do H and Dh stand then?
    """
    qkv = [part.reshape(len(part), -1, n_head).transpose(2, 0, 1)
           for part in np.split(linear(x, w_qkv, b_qkv), 3, axis=-1)]
    return _finish(qkv, w_out, b_out, remember, linear, attend)


@mistake(of=attend_heads)
def heads_before_parts(x, w_qkv, b_qkv, w_out, b_out, n_head, remember=None, linear=linear,
                       attend=attend):
    """The 3 D columns are cut into heads first, and each head into q, k and v.

    Some other models store them so. In GPT-2's file all of Q comes first, then all of K, then all
    of V. What do you have to cut first?
    """
    parts = linear(x, w_qkv, b_qkv).reshape(len(x), n_head, 3, -1)
    qkv = [parts[:, :, i].swapaxes(0, 1) for i in range(3)]
    return _finish(qkv, w_out, b_out, remember, linear, attend)


@mistake(of=attend_heads)
def q_and_k_swapped(x, w_qkv, b_qkv, w_out, b_out, n_head, remember=None, linear=linear,
                    attend=attend):
    """Q and K are swapped.

    The three parts of the projection stand in the order of its name. Who asks, and who is asked?
    """
    return _heads(x, w_qkv, b_qkv, w_out, b_out, n_head, remember, linear, attend, (1, 0, 2))


@mistake(of=attend_heads)
def k_and_v_swapped(x, w_qkv, b_qkv, w_out, b_out, n_head, remember=None, linear=linear,
                    attend=attend):
    """K and V are swapped.

    The three parts of the projection stand in the order of its name. Which part is compared, and
    which is mixed?
    """
    return _heads(x, w_qkv, b_qkv, w_out, b_out, n_head, remember, linear, attend, (0, 2, 1))


@mistake(of=attend_heads)
def no_projection(x, w_qkv, b_qkv, w_out, b_out, n_head, remember=None, linear=linear,
                  attend=attend):
    """The output projection is missing.

    The merged heads lie side by side and have not met yet. Which weights have you not used?
    """
    return _heads(x, w_qkv, b_qkv, None, None, n_head, remember, linear, attend)


@mistake(of=attend_heads)
def transposed_projection(x, w_qkv, b_qkv, w_out, b_out, n_head, remember=None, linear=linear,
                          attend=attend):
    """The output projection is transposed.

    w_out is square, so nothing complains. GPT-2 stores (in, out): on which side of the product does
    the input axis stand?
    """
    return _heads(x, w_qkv, b_qkv, w_out.T, b_out, n_head, remember, linear, attend)


@mistake(of=attend_heads)
def remember_ignored(x, w_qkv, b_qkv, w_out, b_out, n_head, remember=None, linear=linear,
                     attend=attend):
    """The keys and values that remember gives back are not used.

    Where remember is not None, it takes your k and v (H, T, Dh). What comes back, and which k and v
    must your attend get then?
    """
    return _heads(x, w_qkv, b_qkv, w_out, b_out, n_head, None, linear, attend)


@mistake(of=attend_heads)
def reshape_both_ways(x, w_qkv, b_qkv, w_out, b_out, n_head, remember=None, linear=linear,
                      attend=attend):
    """No axes are exchanged, neither at the cut nor at the merge.

    The shapes fit all the way, but a head holds a few whole tokens, not some columns of every
    token. Follow the number 21 of the small array through your reshape.
    """
    T, Dh = len(x), x.shape[-1] // n_head
    qkv = [part.reshape(n_head, T, Dh) for part in np.split(linear(x, w_qkv, b_qkv), 3, axis=-1)]
    return _finish(qkv, w_out, b_out, remember, linear, attend, lambda mixed: mixed.reshape(T, -1))


@mistake(of=attend_heads)
def merged_interleaved(x, w_qkv, b_qkv, w_out, b_out, n_head, remember=None, linear=linear,
                       attend=attend):
    """The cut is right, but the merge interleaves the columns of the heads.

    After the merge the columns 0 to Dh - 1 must be those of head 0. Which of H and Dh comes last,
    and so changes fastest, in your reshape?
    """
    qkv = [_cut(part, n_head) for part in np.split(linear(x, w_qkv, b_qkv), 3, axis=-1)]
    return _finish(qkv, w_out, b_out, remember, linear, attend,
                   lambda mixed: mixed.transpose(1, 2, 0).reshape(len(x), -1))


@mistake(of=attend_heads)
def no_bias_at_the_end(x, w_qkv, b_qkv, w_out, b_out, n_head, remember=None, linear=linear,
                       attend=attend):
    """The bias of the output projection is forgotten.

    A layer is a product plus a bias. Which of your arguments has not been used?
    """
    return _heads(x, w_qkv, b_qkv, w_out, np.zeros_like(b_out), n_head, remember, linear, attend)


@mistake(of=attend_heads)
def one_head_of_all(x, w_qkv, b_qkv, w_out, b_out, n_head, remember=None, linear=linear,
                    attend=attend):
    """There is one head as wide as the model: nothing is cut.

    With one softmax for all columns, each token has a single pattern. Where does n_head come in?
    """
    return _heads(x, w_qkv, b_qkv, w_out, b_out, 1, remember, linear, attend)


@mistake(of=attend_heads)
def own_attend(x, w_qkv, b_qkv, w_out, b_out, n_head, remember=None, linear=linear, attend=attend):
    """The attend that is handed in is not used.

    The model hands in the attend that it wants: yours, or one with a head switched off. Call the
    argument.
    """
    return _heads(x, w_qkv, b_qkv, w_out, b_out, n_head, remember, linear, _library_attend)


@mistake(of=attend_heads)
def own_linear(x, w_qkv, b_qkv, w_out, b_out, n_head, remember=None, linear=linear, attend=attend):
    """The linear that is handed in is not used.

    The model hands in the linear that it wants. Call the argument, for both projections.
    """
    return _heads(x, w_qkv, b_qkv, w_out, b_out, n_head, remember, _library_linear, attend)


@mistake(of=attend_heads)
def interleaved_both_ways(x, w_qkv, b_qkv, w_out, b_out, n_head, remember=None, linear=linear,
                          attend=attend):
    """The heads are interleaved, at the cut and at the merge: each takes every H-th column.

    The two fit each other, but not the weights, which were trained with strips of neighbours. In
    which order do H and Dh stand in your reshape?
    """
    qkv = [part.reshape(len(part), -1, n_head).transpose(2, 0, 1)
           for part in np.split(linear(x, w_qkv, b_qkv), 3, axis=-1)]
    return _finish(qkv, w_out, b_out, remember, linear, attend,
                   lambda mixed: mixed.transpose(1, 2, 0).reshape(len(x), -1))


@mistake(of=attend_heads)
def heads_not_in_front(x, w_qkv, b_qkv, w_out, b_out, n_head, remember=None, linear=linear,
                       attend=attend):
    """The heads are never brought to the front: each token's heads attend to each other.

    attend takes stacks (H, T, Dh): the last axis but one must be the tokens. What shape has your
    cut?
    """
    qkv = [part.reshape(len(part), n_head, -1)
           for part in np.split(linear(x, w_qkv, b_qkv), 3, axis=-1)]
    return _finish(qkv, w_out, b_out, remember, linear, attend,
                   lambda mixed: mixed.reshape(len(x), -1))


@mistake(of=attend_heads)
def merge_reversed(x, w_qkv, b_qkv, w_out, b_out, n_head, remember=None, linear=linear,
                   attend=attend):
    """The merge turns all axes around with .T, not only the heads and the tokens.

    mixed.T has the shape (Dh, T, H). You want (T, H, Dh): which two axes change places?
    """
    return _finish([_cut(part, n_head) for part in np.split(linear(x, w_qkv, b_qkv), 3, axis=-1)],
                   w_out, b_out, remember, linear, attend, lambda mixed: mixed.T.reshape(x.shape))


@mistake(of=attend_heads)
def tokens_split(x, w_qkv, b_qkv, w_out, b_out, n_head, remember=None, linear=linear,
                 attend=attend):
    """np.split cuts the tokens in three, not the 3 D columns.

    Without an axis it cuts along the first one. Which axis has Q, K and V side by side?
    """
    T, D = x.shape
    q, k, v = (part.reshape(T, n_head, -1).swapaxes(0, 1)
               for part in np.split(linear(x, w_qkv, b_qkv), 3))
    return _finish((q, k, v), w_out, b_out, remember, linear, attend,
                   lambda mixed: mixed.swapaxes(0, 1).reshape(T, D))


@mistake(of=attend_heads)
def no_bias_at_the_start(x, w_qkv, b_qkv, w_out, b_out, n_head, remember=None, linear=linear,
                         attend=attend):
    """The bias of Q, K and V is forgotten.

    A layer is a product plus a bias. Which of your arguments has not been used?
    """
    return _heads(x, w_qkv, np.zeros_like(b_qkv), w_out, b_out, n_head, remember, linear, attend)


@mistake(of=attend_heads)
def bias_for_each_head(x, w_qkv, b_qkv, w_out, b_out, n_head, remember=None, linear=linear,
                       attend=attend):
    """The bias of the output projection is added once for each head.

    A sum over heads may add its bias one time. Does b_out stand inside your loop?
    """
    return _heads(x, w_qkv, b_qkv, w_out, n_head * b_out, n_head, remember, linear, attend)


@mistake(of=attend_heads)
def scaled_twice(x, w_qkv, b_qkv, w_out, b_out, n_head, remember=None, linear=linear,
                 attend=attend):
    """The root of Dh is divided by twice: here, and once more inside attend.

    attend takes q as it is. What does its formula do with the scores?
    """
    def smaller(q, k, v):
        return attend(q / q.shape[-1] ** 0.5, k, v)
    return _heads(x, w_qkv, b_qkv, w_out, b_out, n_head, remember, linear, smaller)


@mistake(of=attend_heads)
def heads_averaged(x, w_qkv, b_qkv, w_out, b_out, n_head, remember=None, linear=linear,
                   attend=attend):
    """The heads are averaged, so that all columns of a token say the same.

    Heads keep their answers apart, each in columns of its own. How do H arrays (T, Dh) become one
    of shape (T, D) without a mean?
    """
    def mean(q, k, v):
        mixed = attend(q, k, v)
        return np.zeros_like(mixed) + mixed.mean(axis=0)
    return _heads(x, w_qkv, b_qkv, w_out, b_out, n_head, remember, linear, mean)


@mistake(of=attend_heads)
def with_residual(x, w_qkv, b_qkv, w_out, b_out, n_head, remember=None, linear=linear,
                  attend=attend):
    """x itself is added to the result.

    Adding to the stream is the block's work, in lesson 09. What does the formula give back?
    """
    return x + attend_heads(x, w_qkv, b_qkv, w_out, b_out, n_head, remember, linear, attend)


@mistake(of=attend_heads)
def remembered_before_the_cut(x, w_qkv, b_qkv, w_out, b_out, n_head, remember=None, linear=linear,
                              attend=attend):
    """remember gets keys and values that are not cut into heads yet.

    It takes k and v of the shape (H, T, Dh). Which comes first, the cut or remember?
    """
    q, k, v = np.split(linear(x, w_qkv, b_qkv), 3, axis=-1)
    if remember is not None:
        k, v = remember(k, v)
    return _finish([_cut(part, n_head) for part in (q, k, v)], w_out, b_out, None, linear, attend)


@mistake(of=attend_heads)
def width_with_a_point(x, w_qkv, b_qkv, w_out, b_out, n_head, remember=None, linear=linear,
                       attend=attend):
    """D / n_head is a float, such as 3.0, and a shape needs whole numbers.

    Which operator divides whole numbers into a whole number? Or what does -1 mean in reshape?
    """
    Dh = x.shape[-1] / n_head
    return _finish([part.reshape(len(part), n_head, Dh).swapaxes(0, 1)
                    for part in np.split(linear(x, w_qkv, b_qkv), 3, axis=-1)],
                   w_out, b_out, remember, linear, attend)


@mistake(of=attend_heads)
def heads_in_float64(x, w_qkv, b_qkv, w_out, b_out, n_head, remember=None, linear=linear,
                     attend=attend):
    """The values are right, but float32 numbers have become float64.

    np.zeros makes float64 numbers, if it is not told another type. Where does such an array come
    in?
    """
    return attend_heads(x, w_qkv, b_qkv, w_out, b_out, n_head, remember, linear, attend).astype(
        np.float64)


_library_attend, _library_linear = attend, linear


def fewest_heads(says, heads, word, most=3):
    """The right answer to the second exercise: sets of one head, then of two, and so on."""
    for size in range(1, most + 1):
        for off in combinations(heads, size):
            if says(off) == word:
                return off
    return ()


def _searched(says, heads, word, sizes):
    """The first set of one of the sizes, one size after another, that makes the word; or ()."""
    return next((off for size in sizes for off in combinations(heads, size) if says(off) == word),
                ())


@mistake(of=fewest_heads)
def one_head_alone(says, heads, word, most=3):
    """Only single heads are tried; some words need two or three switched off at once.

    Which tool of itertools gives all pairs, and all sets of three?
    """
    return _searched(says, heads, word, [1])


@mistake(of=fewest_heads)
def largest_first(says, heads, word, most=3):
    """Large sets are tried before small ones, so the set that comes back is not the smallest.

    Where one head is enough, one is wanted. Which size does your outer loop begin with?
    """
    return _searched(says, heads, word, range(most, 0, -1))


@mistake(of=fewest_heads)
def most_left_out(says, heads, word, most=3):
    """Sets of `most` heads are not tried.

    A range leaves its end out by itself. Which sizes does yours give?
    """
    return _searched(says, heads, word, range(1, most))


@mistake(of=fewest_heads)
def pairs_at_most(says, heads, word, most=3):
    """Sets of more than two heads are not tried, whatever `most` is.

    How does one loop go over all sizes up to most?
    """
    return _searched(says, heads, word, range(1, min(most, 2) + 1))


@mistake(of=fewest_heads)
def beyond_most(says, heads, word, most=3):
    """Sets of more than `most` heads are tried too.

    Where no set of up to `most` heads does it, () is wanted. Where does your search end?
    """
    return _searched(says, heads, word, range(1, len(heads) + 1))


@mistake(of=fewest_heads)
def neighbours_alone(says, heads, word, most=3):
    """Only heads that stand beside each other in the list are switched off together.

    Any two heads make a pair. What does itertools call sets of a size?
    """
    sets = (heads[i:i + size] for size in range(1, most + 1)
            for i in range(len(heads) - size + 1))
    return next((tuple(off) for off in sets if says(tuple(off)) == word), ())


@mistake(of=fewest_heads)
def piled_up(says, heads, word, most=3):
    """Each head is switched off beside all heads that were tried before it: the set only grows.

    A head of which nothing came must be on again for the next trial. Where does each set begin?
    """
    sets = (tuple(heads[:size]) for size in range(1, most + 1))
    return next((off for off in sets if says(off) == word), ())


@mistake(of=fewest_heads)
def all_but_these(says, heads, word, most=3):
    """All heads are off but a few; the few should be off.

    says takes the heads that are switched off. What do you hand to it?
    """
    return next((off for size in range(1, most + 1) for off in combinations(heads, size)
                 if says(tuple(head for head in heads if head not in off)) == word), ())


@mistake(of=fewest_heads)
def the_last_set(says, heads, word, most=3):
    """The last set of its size comes back; the first is wanted.

    Who has found one need not look on. Where does your return stand?
    """
    for size in range(1, most + 1):
        found = [off for off in combinations(heads, size) if says(off) == word]
        if found:
            return found[-1]
    return ()


@mistake(of=fewest_heads)
def all_sets(says, heads, word, most=3):
    """Several sets come back; the first of the smallest is wanted.

    Who has found one need not look on. What does return give back here?
    """
    return [off for size in range(1, most + 1) for off in combinations(heads, size)
            if says(off) == word]


@mistake(of=fewest_heads)
def size_alone(says, heads, word, most=3):
    """The number of heads comes back; the heads themselves are wanted.

    The loop knows which heads it has switched off. What are they called in your loop?
    """
    off = _searched(says, heads, word, range(1, most + 1))
    return len(off)


@mistake(of=fewest_heads)
def head_without_its_set(says, heads, word, most=3):
    """A single head is handed over bare, not in a set.

    says takes a set, here of one head: (head,) with a comma. Which sizes do your sets have?
    """
    return next((head for head in heads if says((head,)) == word), ()) or _searched(
        says, heads, word, range(2, most + 1))


@mistake(of=fewest_heads)
def set_for_another_word(says, heads, word, most=3):
    """The first set comes back for which the word is not said.

    Which comparison stands in your if?
    """
    return next((off for size in range(1, most + 1) for off in combinations(heads, size)
                 if says(off) != word), ())


@mistake(of=fewest_heads)
def sizes_from_0(says, heads, word, most=3):
    """The sizes go from 0 to most - 1; asked for are 1 to most.

    range(n) begins at 0 and leaves n out. Which two numbers does your range need?
    """
    return _searched(says, heads, word, range(most))


@mistake(of=fewest_heads)
def nothing_found(says, heads, word, most=3):
    """The empty tuple comes back although a set of up to `most` heads does it.

    Print each set, what says gives for it, and the word you look for. Is the set among those that
    you try? Is the comparison ever true? The blank in front of a word is a part of it.
    """
    return ()


@mistake(of=fewest_heads)
def set_without_blank(says, heads, word, most=3):
    """The blank in front of the word is taken away, and another word is found or none.

    The model's words carry the blank before them: " king". Do you compare with word as it came?
    """
    return _searched(says, heads, word.strip(), range(1, most + 1))


@mistake(of=fewest_heads)
def empty_set_tried(says, heads, word, most=3):
    """The empty set counts as an answer.

    Asked for are heads to switch off, at least one. Which size does your range begin with?
    """
    return _searched(says, heads, word, range(most + 1))


@mistake(of=fewest_heads)
def first_head_kept_on(says, heads, word, most=3):
    """The first of the heads is never switched off.

    Python counts from 0. Which of the heads do your sets use?
    """
    return _searched(says, heads[1:], word, range(1, most + 1))


@mistake(of=fewest_heads)
def last_head_kept_on(says, heads, word, most=3):
    """The last of the heads is never switched off.

    A range leaves its end out by itself. Which of the heads do your sets use?
    """
    return _searched(says, heads[:-1], word, range(1, most + 1))


def head_parts(mixed, w_out):
    """The right answer to the second exercise: each head's rows of w_out, on its own."""
    return mixed @ w_out.reshape(len(mixed), -1, w_out.shape[-1])


@mistake(of=head_parts)
def columns_of_w_out(mixed, w_out):
    """Each head got its columns of w_out, not its rows.

    w_out is stored (in, out), and the numbers of a head come in: Dh of them. Along which axis of
    w_out do you cut?
    """
    D = w_out.shape[-1]
    return mixed @ w_out.T.reshape(len(mixed), -1, D)


@mistake(of=head_parts)
def interleaved_rows(mixed, w_out):
    """Each head got every H-th row of w_out.

    After the merge, head 0 fills the columns 0 to Dh - 1. So which rows of w_out meet it?
    """
    H, D = len(mixed), w_out.shape[-1]
    return mixed @ w_out.reshape(-1, H, D).swapaxes(0, 1)


@mistake(of=head_parts)
def sum_of_parts(mixed, w_out):
    """The parts are already added up.

    The exercise asks for each head on its own, (H, T, D). Their sum is the next step.
    """
    return head_parts(mixed, w_out).sum(axis=0)


@mistake(of=head_parts)
def not_its_rows(mixed, w_out):
    """Each head meets all of w_out, or a strip of its columns, not its own rows.

    A row of mixed has Dh numbers, so Dh rows must stand on the right of @. Along which axis of
    w_out do you cut?
    """
    return mixed @ w_out


@mistake(of=head_parts)
def rows_of_head_0(mixed, w_out):
    """All heads meet the first Dh rows of w_out, those of head 0.

    After the merge, head h fills the columns from h * Dh on. Which rows of w_out meet them?
    """
    return mixed @ w_out[:mixed.shape[-1]]


@mistake(of=head_parts)
def columns_of_head_0(mixed, w_out):
    """All heads meet the first Dh columns of w_out; each has rows of its own there.

    w_out is stored (in, out), and the numbers of a head come in. Along which axis do you cut, and
    where does head h begin?
    """
    return mixed @ w_out[:, :mixed.shape[-1]].T


@mistake(of=head_parts)
def parts_of_tokens(mixed, w_out):
    """The tokens come first, then the heads: (T, H, D), not (H, T, D).

    Asked for is a stack with a table for each head. Which two axes must change places?
    """
    return head_parts(mixed, w_out).swapaxes(0, 1)


@mistake(of=head_parts)
def parts_in_float64(mixed, w_out):
    """The values are right, but float32 numbers have become float64.

    np.zeros makes float64 numbers, if it is not told another type. Where does such an array come
    in?
    """
    return head_parts(mixed, w_out).astype(np.float64)


def _arguments(T, D, n_head, seed=0):
    return (random(T, D, seed=seed), random(D, 3 * D, seed=seed + 1), random(3 * D, seed=seed + 2),
            random(D, D, seed=seed + 3), random(D, seed=seed + 4), n_head)


def _older(k, v):
    """Puts two older rows in front of k and v (H, T, Dh)."""
    old = np.linspace(-1, 1, k[:, :1].size * 2, dtype=k.dtype).reshape(k.shape[0], 2, k.shape[2])
    return np.concatenate([old, k], axis=1), np.concatenate([old[:, ::-1], v], axis=1)


def _values(q, k, v):
    """An attend that gives back the values of the queries' own tokens."""
    return v[:, -q.shape[1]:]


def _twice(x, w, b):
    """A linear that gives twice the numbers."""
    return 2 * (x @ w + b)


HAND = (np.array([[2, 4], [4, 8], [9, 0]], np.float32),
        np.array([[0, 0, 1, 1, 1, 0], [0, 0, 1, 1, 0, 1]], np.float32), np.zeros(6, np.float32),
        np.array([[0, 1], [2, 0]], np.float32), np.array([100, 100], np.float32), 2)
CASES = [
    Case("three tokens, two heads of one column each", HAND),
    Case("five tokens, D = 6, 2 heads", _arguments(5, 6, 2)),
    Case("four tokens, D = 4, 1 head", _arguments(4, 4, 1, seed=10)),
    Case("one token, D = 6, 3 heads", _arguments(1, 6, 3, seed=20)),
    Case("three tokens, D = 12, 3 heads", _arguments(3, 12, 3, seed=30)),
    Case("remember puts two older rows in front", (*_arguments(3, 6, 2, seed=40), _older)),
    Case("another attend is handed in", _arguments(3, 6, 2, seed=50), {"attend": _values}),
    Case("another linear is handed in", _arguments(3, 6, 2, seed=60), {"linear": _twice}),
]


def _told(words):
    """A `says` that knows what is said for some sets of heads; for all others it says " king"."""
    def says(off):
        return words.get(frozenset(off), " king")
    return says


FOUR = [(0, 0), (0, 1), (1, 0), (1, 1)]
WORDS = _told({
    frozenset(): " nobody", frozenset({(0, 1)}): " nobody",
    frozenset({(1, 0)}): " man", frozenset({(1, 1)}): " dog",
    frozenset({(0, 0), (0, 1)}): " man",
    frozenset({(0, 0), (1, 0)}): " woman", frozenset({(0, 1), (1, 1)}): " woman",
    frozenset({(0, 0), (0, 1), (1, 1)}): " lady", frozenset({(0, 1), (1, 0), (1, 1)}): " lady",
    frozenset(FOUR): " queen", frozenset({(0, 0)}): " first", frozenset({(0, 1), (1, 0)}): " last",
    # words without the blank in front are others
    frozenset({(0, 0), (1, 1)}): "man", frozenset({(0, 0), (0, 1), (1, 0)}): "woman",
    frozenset({(0, 0), (1, 0), (1, 1)}): "lady", frozenset({(1, 0), (1, 1)}): "queen"})
SEARCHES = [
    Case("one head is enough", (WORDS, FOUR, " man")),
    Case("two heads are needed, which do not stand side by side", (WORDS, FOUR, " woman")),
    Case("three heads are needed", (WORDS, FOUR, " lady")),
    Case("the first head alone", (WORDS, FOUR, " first")),
    Case("the last head alone", (WORDS, FOUR, " dog")),
    Case("two heads are needed, and two are allowed", (WORDS, FOUR, " woman", 2)),
    Case("no set of up to two heads does it", (WORDS, FOUR, " lady", 2)),
    Case("no set of up to three heads does it", (WORDS, FOUR, " queen")),
    Case("all four heads are needed", (WORDS, FOUR, " queen", 4)),
    Case("what is said with all heads on does not count", (WORDS, FOUR, " nobody")),
]
PARTS = [
    Case("two heads of one column, one token",
         (np.array([[[2]], [[3]]], np.float32), np.array([[1, 10], [100, 1000]], np.float32))),
    Case("two heads, D = 6", (random(2, 3, 3, seed=5), random(6, 6, seed=6))),
]

exercise(attend_heads, CASES, tolerance=2e-5)
exercise(fewest_heads, SEARCHES)
exercise(head_parts, PARTS)
