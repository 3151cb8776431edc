"""Lesson 07: attend_heads; previous_score and head_parts."""
import numpy as np

from gpt2lab.attention import attend
from gpt2lab.heads import attend_heads
from gpt2lab.linear import linear

from . import Case, exercise, mistake, random


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
def no_bias_at_the_end(x, w_qkv, b_qkv, w_out, b_out, n_head, remember=None, linear=linear,
                       attend=attend):
    """The bias of the output projection is forgotten.

    A layer is a product plus a bias. Which of your arguments has not been used?
    """
    return _heads(x, w_qkv, b_qkv, w_out, np.zeros_like(b_out), n_head, remember, linear, attend)


@mistake(of=attend_heads)
def remember_ignored(x, w_qkv, b_qkv, w_out, b_out, n_head, remember=None, linear=linear,
                     attend=attend):
    """The keys and values that remember gives back are not used.

    Where remember is not None, it takes your k and v (H, T, Dh). What comes back, and which k and v
    must your attend get then?
    """
    return _heads(x, w_qkv, b_qkv, w_out, b_out, n_head, None, linear, attend)


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


def previous_score(pattern):
    """The right answer to the first exercise: the mean of the weights one left of the diagonal."""
    t = np.arange(1, pattern.shape[-1])
    return pattern[:, t, t - 1].mean(axis=-1)


@mistake(of=previous_score)
def score_of_itself(pattern):
    """The weights on the diagonal are taken: each token's look at itself.

    The previous token stands one column to the left. Which query has none?
    """
    return np.diagonal(pattern, axis1=-2, axis2=-1)[:, 1:].mean(axis=-1)


@mistake(of=previous_score)
def score_with_first(pattern):
    """The sum is divided by T, but the first token has no previous one.

    Only T - 1 tokens can have a score. A perfect head must get exactly 1.
    """
    return previous_score(pattern) * np.float32((pattern.shape[-1] - 1) / pattern.shape[-1])


@mistake(of=previous_score)
def score_above(pattern):
    """The weights right of the diagonal are taken: those are masked, and 0.

    Query down, key across: which index is the larger one, if a token looks back?
    """
    t = np.arange(1, pattern.shape[-1])
    return pattern[:, t - 1, t].mean(axis=-1)


@mistake(of=previous_score)
def score_of_all_heads(pattern):
    """One number came out for all heads together.

    Each head needs its own mean. Which axis of your weights (H, T - 1) should the mean run along?
    """
    return np.full(len(pattern), previous_score(pattern).mean())


@mistake(of=previous_score)
def score_of_each_token(pattern):
    """The mean runs over the heads: one number for each token comes out.

    Each head needs its own mean, over its tokens. Which axis of your weights (H, T - 1) is that?
    """
    t = np.arange(1, pattern.shape[-1])
    return pattern[:, t, t - 1].mean(axis=0)


@mistake(of=previous_score)
def score_not_averaged(pattern):
    """The weights are added, not averaged.

    A perfect head must get 1, however long the text is. By what do you divide the sum?
    """
    return previous_score(pattern) * np.float32(pattern.shape[-1] - 1)


@mistake(of=previous_score)
def score_two_back(pattern):
    """The weights two to the left of the diagonal are taken, not one.

    Token 1 looks back at token 0. Which column belongs to query t?
    """
    t = np.arange(2, pattern.shape[-1])
    return pattern[:, t, t - 2].mean(axis=-1)


@mistake(of=previous_score)
def diagonal_of_heads(pattern):
    """np.diagonal goes through the first two axes, heads and queries, not queries and keys.

    Without axes it takes the first two. Which two axes hold the pattern of one head?
    """
    return np.diagonal(pattern, -1).mean(axis=-1)


@mistake(of=previous_score)
def score_keeps_its_axis(pattern):
    """The result has an axis too many: (H, 1), not (H,).

    Asked for is one number for each head. What does keepdims=True do to a mean?
    """
    return previous_score(pattern)[:, None]


@mistake(of=previous_score)
def score_in_float64(pattern):
    """The values are right, but float32 numbers have become float64.

    A list of Python's numbers turned into an array is float64, and so is np.zeros. Where does one
    come in?
    """
    return previous_score(pattern).astype(np.float64)


def head_parts(mixed, w_out):
    """The right answer to the second exercise: each head's rows of w_out, on its own."""
    return mixed @ w_out.reshape(len(mixed), -1, w_out.shape[-1])


@mistake(of=head_parts)
def columns_of_w_out(mixed, w_out):
    """Each head got its columns of w_out, not its rows.

    w_out is stored (in, out), and the heads come in. Along which axis do you cut?
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


def _pattern(*shape, seed):
    weights = np.tril(np.random.default_rng(seed).random(shape))
    return (weights / weights.sum(axis=-1, keepdims=True)).astype(np.float32)


PERFECT = np.stack([np.eye(4, k=-1), np.eye(4), np.tile([1, 0, 0, 0], (4, 1))]).astype(np.float32)
PERFECT[:, 0] = [1, 0, 0, 0]
PATTERNS = [
    Case("heads that look at the previous token, at themselves, at the first", (PERFECT,)),
    Case("two heads, five tokens", (_pattern(2, 5, 5, seed=1),)),
]
PARTS = [
    Case("two heads of one column, one token",
         (np.array([[[2]], [[3]]], np.float32), np.array([[1, 10], [100, 1000]], np.float32))),
    Case("two heads, D = 6", (random(2, 3, 3, seed=5), random(6, 6, seed=6))),
]

exercise(attend_heads, CASES, tolerance=2e-5)
exercise(previous_score, PATTERNS)
exercise(head_parts, PARTS)
