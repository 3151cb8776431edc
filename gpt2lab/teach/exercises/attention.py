"""Lesson 06: softmax and attend; by_hand and attend_window."""
import math

import numpy as np

from gpt2lab.attention import attend
from gpt2lab.softmax import softmax

from . import Case, exercise, hint, mistake, random, title

library_softmax = softmax


@mistake(of=softmax)
def no_maximum(scores):
    """The largest score is not taken away first.

    exp(1000) is infinity, and infinity divided by infinity is nan. Which number can you subtract
    from all scores of a row, so that the largest exponent is 0?
    """
    weights = np.exp(scores)
    return weights / weights.sum(axis=-1, keepdims=True)


@mistake(of=softmax)
def one_maximum(scores):
    """One maximum is taken for the whole array, not one for each row.

    A row far below the maximum of another row becomes 0 everywhere, and 0 is divided by 0. Which
    axis should the maximum run along?
    """
    weights = np.exp(scores - scores.max())
    return weights / weights.sum(axis=-1, keepdims=True)


@mistake(of=softmax)
def wrong_axis_of_softmax(scores):
    """The sum goes down the columns, not along each row.

    Each row of scores belongs to one query and must sum to 1. Which axis runs along a row?
    """
    weights = np.exp(scores - scores.max(axis=0, keepdims=True))
    return weights / weights.sum(axis=0, keepdims=True)


@mistake(of=softmax)
def one_sum(scores):
    """All numbers of the array share one sum, not those of each row.

    sum() without an axis adds everything up. Each row must sum to 1 on its own: which axis, and
    what does keepdims do?
    """
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return weights / weights.sum()


@mistake(of=softmax)
def no_keepdims(scores):
    """The sum of each row, or its maximum, has lost its axis.

    For scores (T, S) they have shape (T,), which NumPy lines up with the columns. What does
    keepdims=True do to a maximum and a sum along the last axis?
    """
    weights = np.exp(scores - scores.max(axis=-1))
    return weights / weights.sum(axis=-1)


@mistake(of=softmax)
def no_sum(scores):
    """The weights are not divided by their sum.

    They are positive, but do they add up to 1? Look at the denominator of the formula.
    """
    return np.exp(scores - scores.max(axis=-1, keepdims=True))


@mistake(of=softmax)
def no_exponential(scores):
    """The scores are divided by their sum as they are, without the exponential.

    A score can be negative, a probability cannot. What turns every number into a positive one?
    """
    return scores / scores.sum(axis=-1, keepdims=True)


@mistake(of=softmax)
def squares(scores):
    """The scores are squared, not put into the exponent.

    A square makes -2 as good as 2: the order is lost. Which function grows from its left end to its
    right one, and is positive everywhere?
    """
    weights = scores ** 2
    return weights / weights.sum(axis=-1, keepdims=True)


@mistake(of=softmax)
def clipped_at_zero(scores):
    """Negative scores are clipped to 0, and nothing is raised to a power.

    What scores less than 0 then gets nothing, however near it is to the best. What makes every
    number positive, and keeps the order?
    """
    weights = np.maximum(scores, 0)
    return weights / weights.sum(axis=-1, keepdims=True)


@mistake(of=softmax)
def no_keepdims_in_the_maximum(scores):
    """The maximum of each row has lost its axis; the sum has kept it.

    For scores (T, S) the maxima have shape (T,), which NumPy lines up with the columns. What did
    you write in the sum that is missing here?
    """
    weights = np.exp(scores - scores.max(axis=-1))
    return weights / weights.sum(axis=-1, keepdims=True)


@mistake(of=softmax)
def maximum_of_sizes(scores):
    """The largest size (absolute value) is taken away, not the largest score.

    With scores of -1000 and -1001, what is left after you take away 1000? The maximum itself can
    be negative.
    """
    sizes = np.abs(np.where(np.isfinite(scores), scores, 0))
    weights = np.exp(scores - sizes.max(axis=-1, keepdims=True))
    return weights / weights.sum(axis=-1, keepdims=True)


@mistake(of=softmax)
def whole_array(scores):
    """Maximum and sum are taken of the whole array: it is one softmax, not one for each row.

    Each row belongs to one query and must sum to 1 on its own. Which axis runs along a row?
    """
    weights = np.exp(scores - scores.max())
    return weights / weights.sum()


@mistake(of=softmax)
def axis_from_the_front(scores):
    """Maximum and sum run along axis 1, which is the last one only for two axes.

    Heads come as a stack with three axes, and one row has one axis. Which number means the last
    axis, however many there are?
    """
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    return weights / weights.sum(axis=1, keepdims=True)


@mistake(of=softmax)
def maximum_of_columns(scores):
    """The maximum is taken down the columns, the sum along the rows.

    Only a number that is the same for a whole row cancels in the quotient. Which axis must both
    share?
    """
    weights = np.exp(scores - scores.max(axis=0, keepdims=True))
    return weights / weights.sum(axis=-1, keepdims=True)


@mistake(of=softmax)
def not_the_maximum(scores):
    """What is taken away from a row is not its maximum, but its minimum or its mean.

    Any number cancels, but not any number keeps the exponents from growing. What happens where a
    score is minus infinity? Which number makes 0 the largest exponent?
    """
    weights = np.exp(scores - scores.min(axis=-1, keepdims=True))
    return weights / weights.sum(axis=-1, keepdims=True)


@mistake(of=softmax)
def sign_turned(scores):
    """The smallest score gets the largest weight: the sign in the exponent is turned.

    The best score must get the largest weight. Which of the two do you take from the other?
    """
    weights = np.exp(scores.max(axis=-1, keepdims=True) - scores)
    return weights / weights.sum(axis=-1, keepdims=True)


@mistake(of=softmax)
def maximum_in_the_sum_only(scores):
    """The maximum is taken away in the sum only, not in the e's that are divided by it.

    It cancels only where it stands above and below. Which array do you divide?
    """
    sums = np.exp(scores - scores.max(axis=-1, keepdims=True)).sum(axis=-1, keepdims=True)
    return np.exp(scores) / sums


@mistake(of=softmax)
def logarithm_of_softmax(scores):
    """The logarithms of the weights come out, not the weights.

    That is log-softmax, which training uses. The weights of a row are positive and sum to 1.
    """
    shifted = scores - scores.max(axis=-1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))


@mistake(of=softmax)
def sigmoid(scores):
    """Each score goes through a sigmoid on its own: the weights of a row do not sum to 1.

    In softmax the scores of a row compete: if one grows, the others shrink. By what is each e
    divided?
    """
    return 1 / (1 + np.exp(-scores))


@mistake(of=softmax)
def base_two(scores):
    """The base of the powers is 2, not e.

    It makes positive numbers too, but other ones. Which function of NumPy has the base e?
    """
    weights = np.exp2(scores - scores.max(axis=-1, keepdims=True))
    return weights / weights.sum(axis=-1, keepdims=True)


@mistake(of=softmax)
def best_score_only(scores):
    """The best score gets the whole weight, the others get 0.

    Softmax is soft: a score that is nearly as good gets nearly as much. What makes weights of all
    scores?
    """
    best = scores.argmax(axis=-1)[..., None]
    return (np.arange(scores.shape[-1]) == best).astype(scores.dtype)


@mistake(of=softmax)
def nan_for_zero(scores):
    """Large scores overflow, and the nan that comes of it is replaced by 0.

    The best key would get no weight at all. What can you take away from all scores of a row, so
    that nothing overflows?
    """
    weights = np.exp(scores)
    return np.nan_to_num(weights / weights.sum(axis=-1, keepdims=True))


@mistake(of=softmax)
def clipped_scores(scores):
    """Scores are clipped to a range: above its end all are taken for equal.

    1000, 999 and 990 are three different scores, and their differences decide. What can you take
    away from all of them instead?
    """
    weights = np.exp(np.clip(scores, -80, 80))
    return weights / weights.sum(axis=-1, keepdims=True)


@mistake(of=softmax)
def list_of_rows(scores):
    """The rows come back as a list, not as an array.

    What uses the weights multiplies an array with @. What makes an array of a list, and where can
    you do without the loop?
    """
    return [list(row) for row in softmax(scores)]


@mistake(of=softmax)
def rows_of_one_table(scores):
    """It works for a table (T, S), not for another number of axes.

    A loop over the first axis finds rows in a table, tables in a stack, and numbers in one row.
    What do maximum and sum along axis -1 find?
    """
    rows = []
    for row in scores:
        weights = np.exp(row - max(row))
        rows.append(weights / sum(weights))
    return np.array(rows)


@mistake(of=softmax)
def softmax_in_place(scores):
    """The caller's scores are changed: an operator such as -= writes into their array.

    Whoever called may still need them. What does scores = scores - 1 do, and what does -= do?
    """
    scores[:] = softmax(scores)
    return scores


@mistake(of=softmax)
def softmax_in_float64(scores):
    """The values are right, but float32 numbers have become float64.

    Twice the memory, for digits that nobody uses. A Python list turned into an array is float64,
    and so is np.zeros. Where does one come in?
    """
    return softmax(scores).astype(np.float64)


def _scores(q, k):
    return q @ k.swapaxes(-1, -2) / q.shape[-1] ** 0.5


def _later(T, S):
    return np.arange(S) > np.arange(S - T, S)[:, None]


def _mixed(q, v, scores, softmax, later=None, fill=-np.inf):
    later = _later(q.shape[-2], v.shape[-2]) if later is None else later
    return softmax(np.where(later, fill, scores)) @ v


@mistake(of=attend)
def hides_itself(q, k, v, softmax=softmax):
    """The mask is off by one: a token cannot see itself.

    The first query has no key left at all. Is the key at a query's own place later than the query?
    """
    T, S = q.shape[-2], k.shape[-2]
    return _mixed(q, v, _scores(q, k), softmax, np.arange(S) >= np.arange(S - T, S)[:, None])


@mistake(of=attend)
def sees_the_next(q, k, v, softmax=softmax):
    """The mask is off by one: a token sees the one after it.

    Write the mask for T = 2 on paper. Which keys may the first query see?
    """
    T, S = q.shape[-2], k.shape[-2]
    return _mixed(q, v, _scores(q, k), softmax, np.arange(S) > np.arange(S - T, S)[:, None] + 1)


@mistake(of=attend)
def no_mask(q, k, v, softmax=softmax):
    """Nothing is masked: each query sees the later tokens too.

    When the model writes, the later tokens are not there yet. Which scores must not count?
    """
    return softmax(_scores(q, k)) @ v


@mistake(of=attend)
def mask_after_softmax(q, k, v, softmax=softmax):
    """The mask comes after softmax: the weights of a row no longer sum to 1.

    Softmax has already given a share to the later keys. Where must the mask stand, so that they
    get none?
    """
    return np.where(_later(q.shape[-2], k.shape[-2]), 0, softmax(_scores(q, k))) @ v


@mistake(of=attend)
def masked_with_10_thousand(q, k, v, softmax=softmax):
    """The masked scores are -10,000, which is not low enough.

    If all allowed keys score lower still, the later ones win. Which number is lower than every
    score?
    """
    return _mixed(q, v, _scores(q, k), softmax, fill=-1e4)


@mistake(of=attend)
def queries_at_the_front(q, k, v, softmax=softmax):
    """With fewer queries than keys, the queries are taken for the first tokens, not for the last.

    T queries belong to the last T of S tokens. Which key belongs to query 0, if T = 1 and S = 3?
    """
    T, S = q.shape[-2], k.shape[-2]
    return _mixed(q, v, _scores(q, k), softmax, np.arange(S) > np.arange(T)[:, None])


@mistake(of=attend)
def no_scale(q, k, v, softmax=softmax):
    """The scores are not divided by the root of Dh.

    The more numbers a vector has, the larger its dot products. What brings them back?
    """
    return _mixed(q, v, q @ k.swapaxes(-1, -2), softmax)


@mistake(of=attend)
def scaled_by_width(q, k, v, softmax=softmax):
    """The scores are divided by Dh, not by its root.

    The variance of the scores grows with Dh. The scores themselves grow more slowly: how?
    """
    return _mixed(q, v, q @ k.swapaxes(-1, -2) / q.shape[-1], softmax)


@mistake(of=attend)
def best_key_only(q, k, v, softmax=softmax):
    """Only the value of the best key is taken, not the weighted mean.

    The weights between 0 and 1 are lost. How do you mix all rows of v at once?
    """
    best = np.where(_later(q.shape[-2], k.shape[-2]), -np.inf, _scores(q, k)).argmax(axis=-1)
    return (np.arange(k.shape[-2]) == best[..., None]).astype(v.dtype) @ v


@mistake(of=attend)
def names_as_contents(q, k, v, softmax=softmax):
    """The keys are mixed, not the values.

    A key says what a token can be found by. What does the token hand over?
    """
    return _mixed(q, k, _scores(q, k), softmax)


@mistake(of=attend)
def hides_itself_from_the_front(q, k, v, softmax=softmax):
    """The mask takes in the diagonal from its upper left corner: a token cannot see itself.

    np.triu begins with the diagonal, if it is not told another k. Draw the mask for two queries and
    five keys: which number is the first that must be hidden in row 0?
    """
    T, S = q.shape[-2], k.shape[-2]
    return _mixed(q, v, _scores(q, k), softmax, np.arange(S) >= np.arange(T)[:, None])


@mistake(of=attend)
def masked_with_zero(q, k, v, softmax=softmax):
    """The masked scores are 0, and 0 is a score like any other.

    exp(0) is 1, so the later keys still get weight. Which score has the exponential 0?
    """
    return _mixed(q, v, _scores(q, k), softmax, fill=0)


@mistake(of=attend)
def masked_with_10_billion(q, k, v, softmax=softmax):
    """The masked scores are a number like -10,000,000,000: low, but not lower than every score.

    For the scores of real models it is enough, and OpenAI's own code does it. Which number needs
    no such luck?
    """
    return _mixed(q, v, _scores(q, k), softmax, fill=-1e10)


@mistake(of=attend)
def masked_with_the_lowest(q, k, v, softmax=softmax):
    """The masked scores are the lowest number of float32, and a score can be that number too.

    Then the hidden key gets as much as the allowed one. Which value is lower than every number?
    """
    return _mixed(q, v, _scores(q, k), softmax, fill=LOWEST)


@mistake(of=attend)
def mask_turned_around(q, k, v, softmax=softmax):
    """The mask hides the earlier keys and shows the later ones.

    Which side of the diagonal is the future: keys with a larger place than the query, or a smaller?
    """
    T, S = q.shape[-2], k.shape[-2]
    return _mixed(q, v, _scores(q, k), softmax, np.arange(S) < np.arange(S - T, S)[:, None])


@mistake(of=attend)
def scaled_by_model(q, k, v, softmax=softmax):
    """The scores are divided by the root of D, the width of all heads together.

    Each head compares vectors of Dh numbers. Which axis of q is that?
    """
    heads = math.prod(q.shape[:-2])
    return _mixed(q, v, q @ k.swapaxes(-1, -2) / (heads * q.shape[-1]) ** 0.5, softmax)


@mistake(of=attend)
def scaled_up(q, k, v, softmax=softmax):
    """The scores are multiplied by the root of Dh, not divided.

    Large vectors give large scores. Should they become larger still?
    """
    return _mixed(q, v, q @ k.swapaxes(-1, -2) * q.shape[-1] ** 0.5, softmax)


@mistake(of=attend)
def softmax_over_queries(q, k, v, softmax=softmax):
    """Softmax runs over the queries, down the columns, not over the keys.

    Each query shares out a weight of 1 among its keys. Along which axis of scores (T, S) do the
    keys lie?
    """
    scores = np.where(_later(q.shape[-2], k.shape[-2]), -np.inf, _scores(q, k))
    return softmax(scores.swapaxes(-1, -2)).swapaxes(-1, -2) @ v


@mistake(of=attend)
def all_axes_reversed(q, k, v, softmax=softmax):
    """It works for one head, not for a stack of heads (H, T, Dh).

    k.T makes (Dh, S, H) of a stack, len(q) is H, and q[0] is a head. You want (H, Dh, S): only the
    last two axes change places. Which function exchanges two axes?
    """
    return _mixed(q, v, q @ k.T / q.shape[-1] ** 0.5, softmax)


@mistake(of=attend)
def first_axes_exchanged(q, k, v, softmax=softmax):
    """The first two axes of k change places, not the last two.

    For one head they are the same. A stack of heads has H in front: count the axes from the end.
    """
    return _mixed(q, v, q @ k.swapaxes(0, 1) / q.shape[-1] ** 0.5, softmax)


@mistake(of=attend)
def keys_reshaped(q, k, v, softmax=softmax):
    """k is given the turned shape by reshape, not turned.

    reshape keeps the order of the numbers: the columns would be no keys. Which function makes
    columns of rows?
    """
    turned = k.reshape(*k.shape[:-2], k.shape[-1], k.shape[-2])
    return _mixed(q, v, q @ turned / q.shape[-1] ** 0.5, softmax)


@mistake(of=attend)
def roles_exchanged(q, k, v, softmax=softmax):
    """Queries and keys have changed places: the keys ask.

    Scores have the shape (T, S), a row for each query. Which array stands on the left of @?
    """
    scores = k @ q.swapaxes(-1, -2) / q.shape[-1] ** 0.5
    return _mixed(q, v, scores, softmax)


@mistake(of=attend)
def scaled_by_tokens(q, k, v, softmax=softmax):
    """The scores are divided by the root of the number of tokens, not of Dh.

    A dot product adds up the products of two rows. How many are that?
    """
    return _mixed(q, v, q @ k.swapaxes(-1, -2) / k.shape[-2] ** 0.5, softmax)


@mistake(of=attend)
def scaled_by_first_axis(q, k, v, softmax=softmax):
    """The scores are divided by the root of len(q): the first axis, not the last.

    The first axis counts tokens, or heads in a stack. A dot product adds up Dh products: which
    axis of q is that?
    """
    return _mixed(q, v, q @ k.swapaxes(-1, -2) / len(q) ** 0.5, softmax)


@mistake(of=attend)
def half_for_root(q, k, v, softmax=softmax):
    """** 1/2 is no root: Python takes the power 1 first, then halves.

    So the scores are divided by Dh and by 2. What must stand in brackets, or how do you write one
    half as one number?
    """
    return _mixed(q, v, q @ k.swapaxes(-1, -2) / q.shape[-1] ** 1/2, softmax)


@mistake(of=attend)
def scaled_after_softmax(q, k, v, softmax=softmax):
    """The weights are divided by the root of Dh, after softmax, not the scores before it.

    Then the weights of a row no longer sum to 1. Where does the root stand in the formula?
    """
    scale = q.shape[-1] ** 0.5
    return _mixed(q, v, q @ k.swapaxes(-1, -2), lambda scores: softmax(scores) / scale)


@mistake(of=attend)
def weights_come_out(q, k, v, softmax=softmax):
    """The weights come out, not the mixed values.

    They say how much of each key's value a query gets. Which array have you not used?
    """
    return softmax(np.where(_later(q.shape[-2], k.shape[-2]), -np.inf, _scores(q, k)))


@mistake(of=attend)
def no_softmax(q, k, v, softmax=softmax):
    """There is no softmax: the scores themselves weigh the values.

    A weighted mean needs weights that are positive and sum to 1. What makes them of scores?
    """
    return np.where(_later(q.shape[-2], k.shape[-2]), 0, _scores(q, k)) @ v


@mistake(of=attend)
def zero_times_infinity(q, k, v, softmax=softmax):
    """The mask is a product with infinity: 0 times infinity is nan, not 0.

    The allowed keys should get 0 added, and get nan. How can you choose minus infinity or the
    score, without a product?
    """
    later = np.where(_later(q.shape[-2], k.shape[-2]), 1, 0).astype(q.dtype)
    return softmax(_scores(q, k) + later * -np.float32(np.inf)) @ v


@mistake(of=attend)
def mask_of_queries_alone(q, k, v, softmax=softmax):
    """The mask has the shape (T, T), which fails where there are fewer queries than keys.

    Scores have the shape (T, S). How many columns must the mask have, and which key belongs to
    query 0?
    """
    T = q.shape[-2]
    return softmax(np.where(_later(T, T), -np.inf, _scores(q, k))) @ v


@mistake(of=attend)
def masked_by_pairs(q, k, v, softmax=softmax):
    """np.triu_indices gives pairs (t, s) for one square table, and scores may be neither.

    A stack has heads in front, so [..., t, s]. And with fewer queries than keys, which pair is the
    first that must be hidden in row 0?
    """
    scores = _scores(q, k)
    scores[np.triu_indices(q.shape[-2], 1)] = -np.inf
    return softmax(scores) @ v


@mistake(of=attend)
def masked_number_by_number(q, k, v, softmax=softmax):
    """The mask is set as scores[t, s], which is not one number in a stack of heads.

    The first axis of a stack counts heads. Which index means "in all heads", or how do you mask
    all at once?
    """
    scores, T, S = _scores(q, k), q.shape[-2], k.shape[-2]
    for t in range(T):
        for s in range(S):
            if s > S - T + t:
                scores[t, s] = -np.inf
    return softmax(scores) @ v


@mistake(of=attend)
def axis_for_softmax(q, k, v, softmax=softmax):
    """The softmax that is handed in gets an axis, and takes none.

    Yours has one argument, the scores: it runs along the last axis. What do you hand over?
    """
    scores = np.where(_later(q.shape[-2], k.shape[-2]), -np.inf, _scores(q, k))
    return softmax(scores, axis=-1) @ v


@mistake(of=attend)
def in_float64(q, k, v, softmax=softmax):
    """The values are right, but float32 numbers have become float64.

    A mask of 0 and -inf made by np.zeros or np.where is float64, and so is np.sqrt of a plain
    number; each of them turns a float32 array into float64. Where does one come in?
    np.where(later, -np.inf, scores) has the type of scores.
    """
    return attend(q, k, v, softmax).astype(np.float64)


@mistake(of=attend)
def own_softmax(q, k, v, softmax=softmax):
    """The softmax that is handed in as an argument is not used.

    The model may be run with another softmax, yours for example. Which one does your function call?
    """
    return _mixed(q, v, _scores(q, k), library_softmax, _later(q.shape[-2], k.shape[-2]))


def token_rows(ids):
    """One-hot rows of a text's tokens, the same of the token before each, and which tokens differ.

    The first token has none before it: its row is 0. Shapes: ids (T,) -> (T, n), (T, n), (n,)
    """
    different = np.unique(ids)                                                      # (n,)
    token = (np.asarray(ids)[:, None] == different).astype(np.float32)              # (T, n)
    return token, np.concatenate([np.zeros_like(token[:1]), token[:-1]]), different


def by_hand(token, before, sharp, attend=attend):
    """The right answer to the first exercise: a head that finds what followed last time."""
    return attend(token * (sharp * token.shape[-1] ** 0.5), before, token)


@mistake(of=by_hand)
def finds_itself(token, before, sharp, attend=attend):
    """The keys say what a token is: so each query finds its own token, and hands over itself.

    You look for the place after an earlier twin. By which of the two rows can that place be found?
    """
    return attend(token * (sharp * token.shape[-1] ** 0.5), token, token)


@mistake(of=by_hand)
def hands_over_what_was_before(token, before, sharp, attend=attend):
    """The place is found, but it hands over the token before it: that is the query's own.

    What should come out is the token that stands there. Which row says it?
    """
    return attend(token * (sharp * token.shape[-1] ** 0.5), before, before)


@mistake(of=by_hand)
def asks_with_what_was_before(token, before, sharp, attend=attend):
    """Query and key are exchanged: each token looks for the token that stood before it.

    "What followed me last time?" asks about the token itself. Which row asks, which is found?
    """
    return attend(before * (sharp * token.shape[-1] ** 0.5), token, token)


@mistake(of=by_hand)
def both_say_what_was_before(token, before, sharp, attend=attend):
    """Query and key both say what stood before: places with the same token before them meet.

    The query asks about its own token, not about the one before it. Which row is that?
    """
    return attend(before * (sharp * token.shape[-1] ** 0.5), before, token)


@mistake(of=by_hand)
def finds_itself_and_hands_over_what_was_before(token, before, sharp, attend=attend):
    """Each query finds its own token, and hands over what stood before that.

    This looks back: what led to me? You want the place after an earlier twin. By which row can that
    place be found, and which row says what stands there?
    """
    return attend(token * (sharp * token.shape[-1] ** 0.5), token, before)


@mistake(of=by_hand)
def exchanged_and_hands_over_what_was_before(token, before, sharp, attend=attend):
    """Query and key are exchanged, and the values say what stood before.

    "What followed me last time?" asks about the token itself. Which row asks, which is found, and
    which says what stands there?
    """
    return attend(before * (sharp * token.shape[-1] ** 0.5), token, before)


def _two_mistakes(rows, factor, said):
    """Known mistake: the rows of `rows` are mixed up, and the query is not multiplied as it should.

    rows: the mistake with these rows and the right factor; factor(sharp, n): what is taken.
    """
    def wrong(token, before, sharp, attend=attend):
        scale = factor(sharp, token.shape[-1])
        return rows(token, before, scale / token.shape[-1] ** 0.5, attend)
    wrong.__name__ = f"{rows.__name__}_{factor.__name__}"
    wrong.__doc__ = (f"{said}, and the score is not `sharp` ({factor.__doc__}).\n\n"
                     "Mend the rows first. " + hint(rows))
    return mistake(of=by_hand)(wrong)


def root_forgotten(sharp, n):
    """the root is forgotten"""
    return sharp


def as_the_rows_are(sharp, n):
    """nothing is multiplied"""
    return 1.0


for _rows, _said in ((finds_itself, "Each query finds its own token"),
                     (asks_with_what_was_before, "Query and key are exchanged"),
                     (both_say_what_was_before, "Query and key both say what stood before"),
                     (hands_over_what_was_before, "What was before is handed over"),
                     (finds_itself_and_hands_over_what_was_before,
                      "Each query finds its own token and hands over the one before"),
                     (exchanged_and_hands_over_what_was_before,
                      "Query and key are exchanged, and what was before is handed over")):
    for _factor in (root_forgotten, as_the_rows_are):
        _two_mistakes(_rows, _factor, _said)


@mistake(of=by_hand)
def not_sharp(token, before, sharp, attend=attend):
    """`sharp` is not used: the score of a key that fits is the same for every `sharp`.

    One-hot rows that fit have the dot product 1. By what must the query be multiplied?
    """
    return attend(token * token.shape[-1] ** 0.5, before, token)


@mistake(of=by_hand)
def as_it_is(token, before, sharp, attend=attend):
    """The rows are handed to attend as they are: a key that fits scores 1 / root of n, too little.

    Softmax then gives it hardly more than the others. By what must the query be multiplied, so that
    after the division by the root `sharp` is left?
    """
    return attend(token, before, token)


@mistake(of=by_hand)
def blunt(token, before, sharp, attend=attend):
    """The score of a key that fits is less than `sharp`: attend divides by the root of n.

    The rows have n numbers. What can you multiply the query by, so that `sharp` is left after the
    division?
    """
    return attend(token * sharp, before, token)


@mistake(of=by_hand)
def blunter(token, before, sharp, attend=attend):
    """The query is divided by the root of n, and attend divides by it once more.

    attend does its division anyway. What undoes it?
    """
    return attend(token * (sharp / token.shape[-1] ** 0.5), before, token)


@mistake(of=by_hand)
def too_sharp(token, before, sharp, attend=attend):
    """The query is multiplied by n, not by its root: the score is larger than `sharp`.

    attend divides by the root of n. What undoes that, no more and no less?
    """
    return attend(token * (sharp * token.shape[-1]), before, token)


@mistake(of=by_hand)
def sharp_twice(token, before, sharp, attend=attend):
    """Query and key are both multiplied by `sharp`: the score is its square.

    A dot product multiplies the two. Which one of them is enough?
    """
    return attend(token * (sharp * token.shape[-1] ** 0.5), before * sharp, token)


@mistake(of=by_hand)
def root_of_tokens(token, before, sharp, attend=attend):
    """The root of the number of tokens is taken, len(token), not that of n.

    attend divides by the root of the rows' width. Which axis of token is that?
    """
    return attend(token * (sharp * len(token) ** 0.5), before, token)


@mistake(of=by_hand)
def sharp_contents(token, before, sharp, attend=attend):
    """The values are multiplied too: what is handed over is no longer a mean of tokens.

    Only the score is to be sharp. Which of q, k and v has no part in it?
    """
    scale = sharp * token.shape[-1] ** 0.5
    return attend(token * scale, before, token * scale)


@mistake(of=by_hand)
def last_before_the_first(token, before, sharp, attend=attend):
    """np.roll puts the last token before the first one: the first key is found by it.

    Before the first token stands nothing, and `before` says so. Why not take it?
    """
    return attend(token * (sharp * token.shape[-1] ** 0.5), np.roll(token, 1, axis=0), token)


@mistake(of=by_hand)
def hands_over_what_follows(token, before, sharp, attend=attend):
    """The twin itself is found, and the value is the token after it: no token knows that one.

    A query also fits its own place, whose next token is not written yet. Find the place after the
    twin instead: which row says what stood before it?
    """
    return attend(token * (sharp * token.shape[-1] ** 0.5), token, np.roll(token, -1, axis=0))


@mistake(of=by_hand)
def hands_over_what_follows_or_nothing(token, before, sharp, attend=attend):
    """The twin itself is found, and the value is the token after it: the last row has none yet.

    A query also fits its own place, whose next token is not written. Find the place after the twin
    instead: which row says what stood before it?
    """
    following = np.concatenate([token[1:], np.zeros_like(token[:1])])
    return attend(token * (sharp * token.shape[-1] ** 0.5), token, following)


@mistake(of=by_hand)
def own_softmax_without_mask(token, before, sharp, attend=attend):
    """Softmax stands alone, without attend: later places with the same token before them count too.

    A token must not see what comes later. Which function that you built masks, divides and mixes?
    """
    return softmax(sharp * (token @ before.T)) @ token


@mistake(of=by_hand)
def joined_rows(token, before, sharp, attend=attend):
    """Query and key hold both rows: then each token also fits itself.

    The query needs one of the two rows, the key the other. Which?
    """
    both = np.concatenate([token, before], axis=-1)
    values = np.concatenate([token, 0 * before], axis=-1)
    scale = sharp * both.shape[-1] ** 0.5
    return attend(both * scale, both, values)[..., :token.shape[-1]]


@mistake(of=by_hand)
def three_arrays(token, before, sharp, attend=attend):
    """q, k and v come out, not what attend makes of them.

    Return attend(q, k, v): the mixed values.
    """
    return token * (sharp * token.shape[-1] ** 0.5), before, token


@mistake(of=by_hand)
def own_attend(token, before, sharp, attend=attend):
    """The attend that is handed in as an argument is not used.

    The explorer hands in another one, to see your q, k and v. Which one does your function call?
    """
    return by_hand(token, before, sharp)


@mistake(of=by_hand)
def by_hand_in_float64(token, before, sharp, attend=attend):
    """The values are right, but float32 numbers have become float64.

    np.sqrt of a plain number gives a NumPy float64, and so does np.zeros: each turns a float32
    array into float64. Where does one come in?
    """
    return by_hand(token, before, sharp, attend).astype(np.float64)


def attend_window(q, k, v, width, softmax=softmax):
    """The right answer to the second exercise: a query sees the last `width` keys up to its own."""
    T, S = q.shape[-2], k.shape[-2]
    behind = np.arange(S - T, S)[:, None] - np.arange(S)                            # (T, S)
    return softmax(np.where((behind < 0) | (behind >= width), -np.inf, _scores(q, k))) @ v


@mistake(of=attend_window)
def window_axes_reversed(q, k, v, width, softmax=softmax):
    """A stack of heads is turned over by k.T, which reverses all axes.

    Only the last two axes of k change places. What did you use in attend?
    """
    T, S = q.shape[-2], k.shape[-2]
    behind = np.arange(S - T, S)[:, None] - np.arange(S)
    scores = q @ k.T / q.shape[-1] ** 0.5
    return softmax(np.where((behind < 0) | (behind >= width), -np.inf, scores)) @ v


@mistake(of=attend_window)
def window_later_visible(q, k, v, width, softmax=softmax):
    """Later keys are visible: only the far end of the window is closed.

    A window has two ends. Which of the two did you hide?
    """
    T, S = q.shape[-2], k.shape[-2]
    behind = np.arange(S - T, S)[:, None] - np.arange(S)
    return softmax(np.where(behind >= width, -np.inf, _scores(q, k))) @ v


@mistake(of=attend_window)
def window_one_narrower(q, k, v, width, softmax=softmax):
    """The window is one key too narrow.

    With width 1 a query still sees itself. Is a key `width` places back hidden, or the one before
    it?
    """
    return attend_window(q, k, v, width - 1, softmax)


@mistake(of=attend_window)
def window_without_mask(q, k, v, width, softmax=softmax):
    """The window reaches into the future.

    A window ends at the query's own token. Keep the mask for the later keys, and add a second one.
    """
    T, S = q.shape[-2], k.shape[-2]
    behind = np.arange(S - T, S)[:, None] - np.arange(S)
    return softmax(np.where(np.abs(behind) >= width, -np.inf, _scores(q, k))) @ v


@mistake(of=attend_window)
def window_one_wider(q, k, v, width, softmax=softmax):
    """The window is one key too wide.

    With width 1 a query sees only itself. How far back is the first key that is out of sight?
    """
    return attend_window(q, k, v, width + 1, softmax)


@mistake(of=attend_window)
def window_ignored(q, k, v, width, softmax=softmax):
    """The width changes nothing.

    Which keys are too far back? Compare places of queries and keys, as the causal mask does.
    """
    return attend(q, k, v, softmax)


@mistake(of=attend_window)
def window_at_the_front(q, k, v, width, softmax=softmax):
    """With fewer queries than keys, the queries are taken for the first tokens, not for the last.

    T queries belong to the last T of S tokens. At which place stands query 0?
    """
    behind = np.arange(q.shape[-2])[:, None] - np.arange(k.shape[-2])
    return softmax(np.where((behind < 0) | (behind >= width), -np.inf, _scores(q, k))) @ v


@mistake(of=attend_window)
def window_starts_below_zero(q, k, v, width, softmax=softmax):
    """The slice of a window starts below 0, which counts from the end.

    Near the front a window has fewer than `width` keys. k[-1:1] is empty, or the wrong rows. What
    is the lowest start that makes sense?
    """
    rows, first = [], k.shape[-2] - q.shape[-2]
    for t in range(q.shape[-2]):
        seen = slice(first + t + 1 - width, first + t + 1)
        scores = _scores(q[..., t:t + 1, :], k[..., seen, :])
        rows.append(softmax(scores) @ v[..., seen, :])
    return np.concatenate(rows, axis=-2)


@mistake(of=attend_window)
def window_of_plain_rows(q, k, v, width, softmax=softmax, attend=attend):
    """The loop counts len(q) and slices q[t:t + 1]: in a stack of heads that is a head, not a row.

    And near the front the slice of a window starts below 0, which counts from the end. Mask all
    scores at once instead: how far behind its query is each key?
    """
    rows = []
    for t in range(len(q)):
        seen = slice(t - width + 1, t + 1)
        rows.append(attend(q[t:t + 1], k[seen], v[seen], softmax))
    return np.concatenate(rows)


@mistake(of=attend_window)
def window_unscaled(q, k, v, width, softmax=softmax):
    """The scores are not divided by the root of Dh.

    A window changes which keys are seen, and nothing else of attend. What did you do with the dot
    products there?
    """
    return attend_window(q * np.float32(q.shape[-1] ** 0.5), k, v, width, softmax)


@mistake(of=attend_window)
def window_masked_with_zero(q, k, v, width, softmax=softmax):
    """The hidden scores are 0, and 0 is a score like any other.

    exp(0) is 1, so hidden keys still get weight. Which score has the exponential 0?
    """
    behind = np.arange(k.shape[-2] - q.shape[-2], k.shape[-2])[:, None] - np.arange(k.shape[-2])
    return softmax(np.where((behind < 0) | (behind >= width), 0, _scores(q, k))) @ v


@mistake(of=attend_window)
def window_in_float64(q, k, v, width, softmax=softmax):
    """The values are right, but float32 numbers have become float64.

    np.sqrt of a plain number gives a NumPy float64, and that turns a float32 array into float64;
    so does a mask of 0 and -inf made by np.zeros. Where does one come in?
    """
    return attend_window(q, k, v, width, softmax).astype(np.float64)


def _qkv(*shape, T=None, seed=0):
    """Random q, k, v of this shape; only the last T queries."""
    q, k, v = (random(*shape, seed=seed + i, scale=1.5) for i in range(3))
    return q[..., -(T or shape[-2]):, :], k, v


def sharper(scores):
    """A softmax at half the temperature: shows whether the argument is used. It lets nan pass."""
    weights = np.exp(2 * (scores - scores.max(axis=-1, keepdims=True)))
    return weights / weights.sum(axis=-1, keepdims=True)


def _low(score):
    """Two tokens whose only allowed key has this score for query 0; v tells them apart."""
    q, k, v = [[1, 0], [1, 0]], [[score * 2 ** 0.5, 0], [0, 0]], [[10, 1], [20, 2]]
    return tuple(np.array(rows, np.float32) for rows in (q, k, v))


def _column(*numbers):
    return np.array(numbers, np.float32)[:, None]


LOWEST = np.finfo(np.float32).min
HAND = (np.array([[0, 0, 0, 0], [2, 0, 0, 0], [2, 0, 2, 0]], np.float32),
        np.array([[0, 1, 0, 0], [1, 0, 0, 1], [2, 0, 0, 0]], np.float32),
        np.array([[10, 0, 0, 0], [0, 10, 0, 0], [20, 20, 4, 0]], np.float32))
STACK = _qkv(2, 5, 3, seed=20)
def _softmax_of_yours(scores):
    """softmax as a learner has it, without ours' checks: nan passes through."""
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return weights / weights.sum(axis=-1, keepdims=True)


def _attend_of_yours(q, k, v, softmax):
    """attend as a learner has it, without ours' checks."""
    return _mixed(q, v, _scores(q, k), softmax)


def _with_yours(of, wrong, **yours):
    """The same mistake where the learner's own softmax runs: what ours refuses comes out as nan."""
    def again(*arguments, **named):
        return wrong(*arguments, **{"softmax": _softmax_of_yours} | yours | named)
    again.__name__ = wrong.__name__ + "_with_yours"
    again.__doc__ = f"{title(wrong).rstrip('.')} (your softmax has no check).\n\n{hint(wrong)}"
    mistake(of=of)(again)


for _wrong in (hides_itself, hides_itself_from_the_front, zero_times_infinity, masked_by_pairs):
    _with_yours(attend, _wrong)
for _wrong in (window_one_narrower, window_starts_below_zero):
    _with_yours(attend_window, _wrong)
_with_yours(attend_window, window_of_plain_rows, attend=_attend_of_yours)


SCORES = [
    Case("one row: 0, 1, 2", (np.array([[0, 1, 2]], np.float32),)),
    Case("large scores: 1000, 999, 990", (np.array([[1000, 999, 990]], np.float32),)),
    Case("low scores: -1000, -1001", (np.array([[-1000, -1001]], np.float32),)),
    Case("three rows", (random(3, 4, seed=1, scale=2),)),
    Case("rows far apart", (np.array([[0, 1], [-1000, -1001]], np.float32),)),
    Case("a stack, shape (2, 3, 4)", (random(2, 3, 4, seed=2, scale=2),)),
    Case("scores far apart: 0 and -1000", (np.array([[0, -1000]], np.float32),)),
    Case("one row alone, shape (3,)", (np.array([2, 0, 1], np.float32),)),
    Case("scores of minus infinity",
         (np.array([[1, -np.inf, 3], [2, -np.inf, -np.inf]], np.float32),)),
]
CASES = [
    Case("the hand example", HAND),
    Case("five tokens, Dh = 3", _qkv(5, 3)),
    Case("one token", _qkv(1, 4, seed=5)),
    Case("a very low score, -20,000", _low(-2e4)),
    Case("an extremely low score, -200,000,000,000", _low(-2e11)),
    Case("two queries at the end of five tokens", _qkv(5, 3, T=2, seed=10)),
    Case("one query at the end of four tokens", _qkv(4, 4, T=1, seed=15)),
    Case("a stack of two heads, shape (2, 5, 3)", STACK),
    Case("a stack, two queries at the end", _qkv(3, 5, 4, T=2, seed=25)),
    Case("a softmax of the caller's own", _qkv(5, 3, seed=30), {"softmax": sharper}),
    Case("the lowest score that float32 can hold",
         (_column(1, 1), _column(LOWEST, 0), _column(10, 20))),
]
WINDOWS = [
    *(Case(f"five tokens, width {width}", (*_qkv(5, 3), width)) for width in (1, 2, 9)),
    Case("one query at the end, width 2", (*_qkv(4, 4, T=1, seed=15), 2)),
    Case("a stack of two heads, width 2", (*STACK, 2)),
]
BY_HAND = [
    Case("old king old", (*token_rows([0, 1, 0])[:2], 8)),
    Case("old king saw young queen old", (*token_rows([3, 1, 2, 4, 0, 3])[:2], 5)),
    Case("two followers: my cat my dog my", (*token_rows([0, 1, 0, 2, 0])[:2], 4)),
    Case("a token alone", (*token_rows([0])[:2], 8)),
    Case("one token twice: no no", (*token_rows([0, 0])[:2], 3)),
    Case("not sharp at all: 0", (*token_rows([0, 1, 2, 0])[:2], 0)),
    Case("an attend of the caller's own", (*token_rows([2, 1, 0, 2])[:2], 2),
         {"attend": no_mask}),
]

exercise(softmax, SCORES, tolerance=1e-6)
exercise(attend, CASES)
exercise(attend_window, WINDOWS)
exercise(by_hand, BY_HAND)
