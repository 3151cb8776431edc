"""Bonus lesson looking_inside: induction_score, direct_logits, position_losses."""
import warnings
from functools import lru_cache

import numpy as np

from gpt2lab.inside import (
    direct_logits,
    induction_score,
    patterns_of,
    position_losses,
    ranks,
    stream_parts,
    stream_stages,
    trace_of,
    without_heads,
)
from gpt2lab.layernorm import layer_norm
from gpt2lab.lm_head import lm_head
from gpt2lab.softmax import softmax

from . import Case, exercise, mistake, random, title

# what the lesson measures, and what its pictures show

COMMON = 2000       # how many tokens the random words are drawn from; of few, a tenth
KINDS = ("tokens with short rows", "any token met in training", "any token")
ROWS = 12           # how many positions the lens shows


@lru_cache(maxsize=4)
def pool(model, kind=KINDS[0]):
    """Ids to draw from: of the shortest rows of the token table, met in training, or all."""
    table = model.weights["wte.weight"].astype(np.float64)                          # (V, D)
    if kind == KINDS[2]:
        return np.arange(len(table))
    if kind == KINDS[1]:                # tokens that were never met share one row (lesson 04)
        first, count = np.unique(table[:, 0], return_counts=True)
        return np.flatnonzero(table[:, 0] != first[count.argmax()])
    count = min(COMMON, len(table) // 10)
    return np.sort(np.argsort((table ** 2).sum(axis=-1), kind="stable")[:count])


def twice(model, length, seed, kind=KINDS[0], before=0):
    """Random tokens said twice: nothing but the first telling can predict the second.

    before: how many other random tokens stand in front, once; (before + 2 * length,) in all.
    """
    ids = pool(model, kind)
    draws = np.random.default_rng(seed).random(before + length)
    drawn = ids[(draws * len(ids)).astype(int)]
    return np.concatenate([drawn, drawn[before:]])


@lru_cache(maxsize=2)
def twice_measured(model, kind, length, seed=1):
    """Random tokens said twice, their trace, and the loss of each but the first."""
    ids = twice(model, length, seed, kind)
    trace = model.trace(ids)
    return ids, trace, position_losses(trace["logits"], ids)


def mean_losses(model, texts):
    """Loss of each token but the first, mean over texts of one length: (T - 1,)."""
    return np.mean([position_losses(model(ids), ids) for ids in texts], axis=0)


def mean_pattern(model, texts, block, head):
    """One head's pattern, mean over texts of one length: (T, T)."""
    return np.mean([model.trace(ids)[f"h.{block}.attn.pattern"][head] for ids in texts], axis=0)


def induction_scores(model, texts, before=0, function=induction_score):
    """Score of each head on each text said twice after `before` other tokens: (texts, L, H).

    function: induction_score, or the learner's.
    """
    def scores(ids):
        patterns = patterns_of(model.trace(ids))[..., before:, before:]             # (L, H, T, T)
        return function(patterns, (len(ids) - before) // 2)                         # (L, H)
    return np.array([scores(ids) for ids in texts])


def scores_by_length(model, kind, lengths, seeds, function=induction_score):
    """Mean scores of all heads (n, L, H), for each of n pairs (before, length); see twice."""
    return np.array([
        induction_scores(model, [twice(model, length, seed, kind, before) for seed in seeds],
                         before, function).mean(axis=0) for before, length in lengths])


def of_each_head(model, measure):
    """measure(model without one head) for every head: (L, H, ...)."""
    def off(block, head):
        return measure(model.tapped(without_heads(model, [(block, head)])))
    return np.array([[off(block, head) for head in range(model.config.n_head)]
                     for block in range(model.config.n_layer)])


def added_losses(model, texts):
    """How much the mean loss of each token grows when a head is off: (L, H, T - 1)."""
    before = mean_losses(model, texts)
    return of_each_head(model, lambda changed: mean_losses(changed, texts)) - before


def first_changed(block, head, value=1.0, reach=True):
    """A tap: one head finds the first token's value times `value`, or cannot reach it at all."""
    def tap(name, function):
        def attend(q, k, v):
            v = v.copy()
            v[head, 0] *= np.float32(value)
            mixed = function(q, k, v)                                               # (H, T, Dh)
            alone = int(q.shape[1] == k.shape[1])   # the first query has nothing else to look at
            if not reach and k.shape[1] > 1:
                mixed[head, alone:] = function(q[head, alone:], k[head, 1:], v[head, 1:])
            return mixed
        return attend if name == f"h.{block}.attn.mixed" else function
    return tap


def word_id(model, word):
    """The first token of a word with a space before it. Raises ValueError where there is none.

    Where the space is a token of its own, as in a model of single bytes, it is the one behind it.
    """
    if not word.strip():
        raise ValueError("the word is empty: give at least one letter")
    first, *others = model.encode(" " + word.strip())
    return others[0] if model.tokenizer.decode([first]) == " " else first


@lru_cache(maxsize=1)
def lens_logits(model, text):
    """What the LM head says of the stream at each stage, for the last ROWS tokens.

    Returns: the names of the stages in the trace, logits (K, T, V). A model of more than 6 blocks
        is read behind each block, another one behind each attention too.
    """
    w, c = model.weights, model.config
    head = (w["ln_f.weight"], w["ln_f.bias"], w.get("lm_head.weight", w["wte.weight"]),
            c.layer_norm_epsilon)
    _, trace = trace_of(model, text)
    streams = stream_stages(trace, with_mid=c.n_layer <= 6)
    return list(streams), np.stack([lm_head(x[-ROWS:], *head) for x in streams.values()])


@lru_cache(maxsize=2)
def lens_of(model, text, token):
    """Rank and probability of one token in lens_logits: (K, T), (K, T)."""
    _, logits = lens_logits(model, text)                                            # (K, T, V)
    top = logits.max(axis=-1, keepdims=True)
    chance = np.exp(logits[..., token] - top[..., 0]) / np.exp(logits - top).sum(axis=-1)
    return ranks(logits, token), chance


def shares(model, text, word, function=direct_logits, instead_of=""):
    """Names of all parts, and what each adds to the logit of a word after a text (K + 1,).

    function: direct_logits, or the learner's. instead_of: another word; then it is what each part
    adds to the difference of the two logits.
    """
    (ids, trace), w, c = trace_of(model, text), model.weights, model.config
    names, parts = stream_parts(trace, w, c.n_layer, len(ids) - 1)
    table = w.get("lm_head.weight", w["wte.weight"])
    target = table[word_id(model, word)]
    if instead_of.strip():
        if word_id(model, instead_of) == word_id(model, word):
            raise ValueError("both words begin with the same token: there is nothing to compare")
        target = target - table[word_id(model, instead_of)]
    gain, bias = w["ln_f.weight"], w["ln_f.bias"]
    return [*names, "ln_f bias"], function(parts, gain, bias, target, c.layer_norm_epsilon)


def heads_of(names, values, model):
    """The heads' values out of all, (L, H)."""
    found = [value for name, value in zip(names, values) if " head " in name]
    return np.array(found).reshape(model.config.n_layer, model.config.n_head)


def logits_lost(model, text, word):
    """How much the logit of a word after a text falls when a head is off: (L, H)."""
    token, ids = word_id(model, word), model.encode(text)
    return model(ids)[-1, token] - of_each_head(model, lambda changed: changed(ids)[-1, token])


def bars_without(model, text, word, places, function=direct_logits):
    """What each MLP adds to a logit, and the logit, with one head of `places` off: table rows."""
    models = [model, *(model.tapped(without_heads(model, [place])) for place in places)]
    runs = [shares(one, text, word, function) for one in models]
    rows = [(name, *(values[i] for _, values in runs))
            for i, name in enumerate(runs[0][0]) if name.endswith(" MLP")]
    return [*rows, ("the logit", *(values.sum() for _, values in runs))]


def splits(*arguments, function=direct_logits):
    """Rows of a table, the right one first: what is wrong, the sum, the first part, the last.

    function: direct_logits, or the learner's.
    """
    wrong = (normed_alone, not_centred, mean_from_the_first, gain_first, bias_in_every_part)
    split = {"(none)": function(*arguments)}
    split |= {title(mistake).rstrip("."): mistake(*arguments) for mistake in wrong}
    return [(name, added.sum(), added[0], added[-2])            # added[-1] is the bias
            for name, added in split.items()]


# the exercises


def _score(pattern, period, back, first=None, last=None):
    """Mean weight `back` tokens behind each query from `first` on; nan where there is none."""
    t = np.arange(period if first is None else first, pattern.shape[-1] if last is None else last)
    return _mean(pattern[..., t, t - back], axis=-1)


def _mean(weights, axis=None):
    """Their mean, and nan of no weights without a warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return np.mean(weights, axis=axis, dtype=np.float32)


@mistake(of=induction_score)
def same_token(pattern, period):
    """The weight on the same token is taken, not on the one that followed it.

    From t, one period back stands the token itself. What comes one place after that?
    """
    return _score(pattern, period, period)


@mistake(of=induction_score)
def token_before(pattern, period):
    """The weight on the token in front of the earlier one is taken.

    The key stands after the earlier token, so it is nearer to the query than a whole period. Is
    that one more or one less to go back?
    """
    return _score(pattern, period, period + 1)


@mistake(of=induction_score)
def first_telling_too(pattern, period):
    """The queries of the first telling count as well.

    Nothing has been said before them, so no head can do its job there. From which t on is there
    something to find?
    """
    return _score(pattern, period, period - 1, first=0)


@mistake(of=induction_score)
def one_query_late(pattern, period):
    """The first query of the second telling is left out.

    Its token was said before, a whole period ago. Where must t begin?
    """
    return _score(pattern, period, period - 1, first=period + 1)


@mistake(of=induction_score)
def one_query_early(pattern, period):
    """One query too early: the last token of the first telling counts as well.

    It was never said before, so there is nothing to find. What is the position of the first token
    of the second telling?
    """
    return _score(pattern, period, period - 1, first=period - 1)


@mistake(of=induction_score)
def key_and_query_swapped(pattern, period):
    """Query and key are swapped: those weights are masked, and 0.

    Query down, key across: which index comes first, and which of the two is the later place?
    """
    t = np.arange(period, pattern.shape[-1])
    return pattern[..., t - period + 1, t].mean(axis=-1)


@mistake(of=induction_score)
def added_not_averaged(pattern, period):
    """The weights are added up; their mean is asked for.

    A perfect head must score 1, however long the text is.
    """
    return induction_score(pattern, period) * np.float32(pattern.shape[-1] - period)


@mistake(of=induction_score)
def divided_by_all(pattern, period):
    """The sum is divided by all T queries.

    Only the queries of the later tellings can have a score. How many are these?
    """
    T = pattern.shape[-1]
    return induction_score(pattern, period) * np.float32((T - period) / T)


@mistake(of=induction_score)
def one_for_all_heads(pattern, period):
    """One number came out for all heads together.

    Each head needs its own mean. Along which axis of your weights should it run?
    """
    scores = induction_score(pattern, period)
    return scores.mean() if pattern.ndim > 2 else scores


@mistake(of=induction_score)
def one_query_short(pattern, period):
    """The last query is left out.

    np.arange stops in front of its second number. Which is the last position of T?
    """
    return _score(pattern, period, period - 1, last=pattern.shape[-1] - 1)


@mistake(of=induction_score)
def second_telling_only(pattern, period):
    """Only the second telling counts: T is taken to be twice the period.

    A text may hold a third telling, or only a part of the second. What tells you how many queries
    there are?
    """
    t = np.arange(period, 2 * period)
    return pattern[..., t, t - period + 1].mean(axis=-1)


@mistake(of=induction_score)
def divided_by_the_period(pattern, period):
    """The sum is divided by the period.

    There are as many queries as positions behind the first telling. How many are these when T is
    not twice the period?
    """
    T = pattern.shape[-1]
    return induction_score(pattern, period) * np.float32((T - period) / period)


@mistake(of=induction_score)
def best_query(pattern, period):
    """The largest weight came out, not the mean.

    A head that copies once may do so by chance. What counts all of its queries?
    """
    t = np.arange(period, pattern.shape[-1])
    return pattern[..., t, t - period + 1].max(axis=-1)


@mistake(of=induction_score)
def mean_over_the_first_axis(pattern, period):
    """The mean runs along the first axis: over the heads, not over the queries.

    After picking, the queries lie along the last axis. Which number means "the last axis", however
    many there are?
    """
    t = np.arange(period, pattern.shape[-1])
    return pattern[..., t, t - period + 1].mean(axis=0)


@mistake(of=induction_score)
def whole_square(pattern, period):
    """All queries are paired with all keys: a square of weights, not one weight for each query.

    Two slices cut out a rectangle. What picks the weights one by one, along a line that slopes
    down?
    """
    T = pattern.shape[-1]
    return pattern[..., period:, 1:T - period + 1].mean(axis=(-2, -1))


@mistake(of=induction_score)
def one_matrix_only(pattern, period):
    """Only a single pattern (T, T) is taken, no stack of heads or blocks.

    With more axes, the first index picks a head. What stands for all axes in front of the last two?
    """
    if pattern.ndim > 2:
        raise IndexError("the first axis is not that of the queries")
    return induction_score(pattern, period)


@mistake(of=induction_score)
def one_matrix_only_by_len(pattern, period):
    """T is taken from the first axis, which in a stack is that of the heads.

    len gives the length of the first axis. Which one has the T keys, and what stands in front of
    the index of a query?
    """
    picked = [pattern[t, t - period + 1] for t in range(period, len(pattern))]
    return _mean(picked)


@mistake(of=induction_score)
def score_in_float64(pattern, period):
    """The scores come out as float64, twice as wide as the weights.

    np.zeros makes float64 unless you say otherwise, and so does a list of Python's numbers. Which
    dtype has pattern?
    """
    return induction_score(pattern, period).astype(np.float64)


@mistake(of=induction_score)
def stack_only(pattern, period):
    """Only a stack of heads (H, T, T) is taken, no single pattern and no blocks.

    There may be any number of axes in front of the last two, none as well. What stands for all of
    them?
    """
    if pattern.ndim != 3:
        raise IndexError("there must be one axis in front of the last two")
    return induction_score(pattern, period)


@mistake(of=induction_score)
def middle_weight(pattern, period):
    """The weight in the middle came out, not the mean.

    The median does not see how large the others are. What adds up all and divides by their number?
    """
    t = np.arange(period, pattern.shape[-1])
    return np.median(pattern[..., t, t - period + 1], axis=-1)


def _direct(parts, gain, bias, target, epsilon, centred=None, deviation=None):
    """direct_logits with another step in the place of one."""
    if deviation is None:
        deviation = float(np.sqrt(parts.sum(axis=0).var() + epsilon))
    if centred is None:
        centred = parts - parts.mean(axis=-1, keepdims=True)
    return np.append(centred / deviation * gain @ target, bias @ target)


@mistake(of=direct_logits)
def normed_alone(parts, gain, bias, target, epsilon=1e-5):
    """Each part is divided by its own deviation.

    The real norm divides once, when everything has been added. Whose deviation is it?
    """
    normed = layer_norm(parts, gain, np.zeros_like(bias), epsilon)
    return np.append(normed @ target, bias @ target)


@mistake(of=direct_logits)
def not_divided(parts, gain, bias, target, epsilon=1e-5):
    """Nothing is divided by the deviation.

    The final norm does more than take the mean away. What comes below the line of its formula?
    """
    return _direct(parts, gain, bias, target, epsilon, deviation=1.0)


@mistake(of=direct_logits)
def root_left_out(parts, gain, bias, target, epsilon=1e-5):
    """The root is forgotten: the parts are divided by the variance.

    The hand example has the variance 16 and ε = 9. Which number made of them does it divide by?
    """
    variance = float(parts.sum(axis=0).var() + epsilon)
    return _direct(parts, gain, bias, target, epsilon, deviation=variance)


@mistake(of=direct_logits)
def not_centred(parts, gain, bias, target, epsilon=1e-5):
    """The mean of each part is left in.

    The norm takes the mean of the sum away. How much of that mean comes from each part?
    """
    return _direct(parts, gain, bias, target, epsilon, centred=parts)


@mistake(of=direct_logits)
def mean_of_the_sum(parts, gain, bias, target, epsilon=1e-5):
    """The mean of the whole stream is taken from each part.

    Then it is taken away once for every part, so far too often. Which mean belongs to one part?
    """
    return _direct(parts, gain, bias, target, epsilon, centred=parts - parts.sum(axis=0).mean())


@mistake(of=direct_logits)
def mean_from_the_first(parts, gain, bias, target, epsilon=1e-5):
    """The mean of the whole stream is taken from the first part alone.

    The sum is right, so adding up cannot show it. But the first part pays for all others. Which
    mean does each part bring with it?
    """
    centred = parts.copy()
    centred[0] -= parts.sum(axis=0).mean()
    return _direct(parts, gain, bias, target, epsilon, centred=centred)


@mistake(of=direct_logits)
def mean_over_parts(parts, gain, bias, target, epsilon=1e-5):
    """The mean is taken over the parts, for each column.

    LayerNorm works along a row, over its D columns. Which axis is that, and what does keepdims do?
    """
    return _direct(parts, gain, bias, target, epsilon, centred=parts - parts.mean(axis=0))


@mistake(of=direct_logits)
def deviation_of_the_mean(parts, gain, bias, target, epsilon=1e-5):
    """The deviation is that of the mean of the parts, not of their sum.

    The stream is what you get by adding. So which row does the norm look at?
    """
    deviation = float(np.sqrt(parts.mean(axis=0).var() + epsilon))
    return _direct(parts, gain, bias, target, epsilon, deviation=deviation)


@mistake(of=direct_logits)
def deviation_of_all(parts, gain, bias, target, epsilon=1e-5):
    """The deviation is that of all numbers of all parts.

    The norm has never seen the parts one by one. Add them first: what shape has the row then?
    """
    deviation = float(np.sqrt(parts.var() + epsilon))
    return _direct(parts, gain, bias, target, epsilon, deviation=deviation)


@mistake(of=direct_logits)
def no_gain_at_all(parts, gain, bias, target, epsilon=1e-5):
    """The gain is forgotten.

    After the division, each column is stretched. Which of your arguments has not been used?
    """
    return _direct(parts, np.ones_like(gain), bias, target, epsilon)


@mistake(of=direct_logits)
def gain_first(parts, gain, bias, target, epsilon=1e-5):
    """The gain comes before the mean is taken away.

    The order of the norm is: mean, deviation, gain. Which of them sees the stretched columns?
    """
    scaled = parts * gain
    centred = scaled - scaled.mean(axis=-1, keepdims=True)
    return _direct(parts, np.ones_like(gain), bias, target, epsilon, centred=centred)


@mistake(of=direct_logits)
def epsilon_left_out(parts, gain, bias, target, epsilon=1e-5):
    """The epsilon is forgotten, or is not the argument.

    The model divides by the root of (variance + epsilon). You must divide by the same number.
    """
    return _direct(parts, gain, bias, target, 0.0)


@mistake(of=direct_logits)
def epsilon_after_the_root(parts, gain, bias, target, epsilon=1e-5):
    """The epsilon is added to the deviation.

    In lesson 05 it stands with the variance: before or after the root?
    """
    deviation = float(parts.sum(axis=0).std() + epsilon)
    return _direct(parts, gain, bias, target, epsilon, deviation=deviation)


@mistake(of=direct_logits)
def another_default(parts, gain, bias, target, epsilon=1e-6):
    """Without an epsilon from the caller another one is used.

    The default stands in the first line of the stub. Is yours the same?
    """
    return _direct(parts, gain, bias, target, epsilon)


@mistake(of=direct_logits)
def bias_left_out(parts, gain, bias, target, epsilon=1e-5):
    """The entry of the bias is missing at the end.

    The norm adds its bias to the row, so it is a part as well. What does it do to the logit?
    """
    return _direct(parts, gain, bias, target, epsilon)[:-1]


@mistake(of=direct_logits)
def bias_at_the_front(parts, gain, bias, target, epsilon=1e-5):
    """The entry of the bias comes first; it is asked for at the end.

    The names of the parts go with the entries, one by one. Which entry has the embedding's name?
    """
    return np.roll(_direct(parts, gain, bias, target, epsilon), 1)


@mistake(of=direct_logits)
def bias_in_every_part(parts, gain, bias, target, epsilon=1e-5):
    """The bias of the norm was added in every part.

    It is added once, at the end. Where should its share stand, and where not?
    """
    added = _direct(parts, gain, bias, target, epsilon)
    added[:-1] += added[-1]
    return added


@mistake(of=direct_logits)
def bias_not_multiplied(parts, gain, bias, target, epsilon=1e-5):
    """The bias is added up without the token's row.

    It is part of the normed row, and that row is multiplied with the target. What happens to each
    number of the bias then?
    """
    added = _direct(parts, gain, bias, target, epsilon)
    added[-1] = bias.sum()
    return added


@mistake(of=direct_logits)
def already_added(parts, gain, bias, target, epsilon=1e-5):
    """The parts are already added up: only the logit is left.

    Every part should keep its own number. Over which axis did you sum?
    """
    return _direct(parts, gain, bias, target, epsilon).sum()


@mistake(of=direct_logits)
def column_by_column(parts, gain, bias, target, epsilon=1e-5):
    """The products are there, but each row has not been added up.

    A dot product multiplies number by number, and adds. Each part should end as one number.
    """
    deviation = float(np.sqrt(parts.sum(axis=0).var() + epsilon))
    centred = parts - parts.mean(axis=-1, keepdims=True)
    return np.concatenate([centred / deviation * gain * target, (bias * target)[None]])


@mistake(of=direct_logits)
def deviation_over_one_less(parts, gain, bias, target, epsilon=1e-5):
    """The variance divides by D - 1.

    LayerNorm takes the plain mean of D squares. Which argument of var changes that?
    """
    deviation = float(np.sqrt(parts.sum(axis=0).var(ddof=1) + epsilon))
    return _direct(parts, gain, bias, target, epsilon, deviation=deviation)


@mistake(of=direct_logits)
def two_large_numbers(parts, gain, bias, target, epsilon=1e-5):
    """The variance is a difference of two large numbers, and loses its digits.

    Mean of the squares minus square of the mean is right on paper. In float32 a large mean leaves
    no room for the fraction. What do you get smaller numbers from?
    """
    stream = parts.sum(axis=0)
    deviation = np.sqrt((stream * stream).mean() - stream.mean() ** 2 + epsilon)
    return _direct(parts, gain, bias, target, epsilon, deviation=deviation)


@mistake(of=direct_logits)
def variances_added(parts, gain, bias, target, epsilon=1e-5):
    """The variances of the parts are added up; that is not the variance of their sum.

    Two parts may pull the same way or cancel. Add them first: what shape has the row then?
    """
    deviation = float(np.sqrt(parts.var(axis=-1).sum() + epsilon))
    return _direct(parts, gain, bias, target, epsilon, deviation=deviation)


@mistake(of=direct_logits)
def normed_alone_with_bias(parts, gain, bias, target, epsilon=1e-5):
    """Each part goes through the whole norm, bias and all.

    The real norm divides once, when everything has been added, and adds its bias once. Whose
    deviation is it, and where does the bias go?
    """
    return np.append(layer_norm(parts, gain, bias, epsilon) @ target, bias @ target)


@mistake(of=direct_logits)
def target_left_out(parts, gain, bias, target, epsilon=1e-5):
    """The numbers of each part are added up without the token's row.

    A logit is a dot product with the row of one token. Which of your arguments has not been used?
    """
    return _direct(parts, gain, bias, np.ones_like(target), epsilon)


@mistake(of=direct_logits)
def added_in_float64(parts, gain, bias, target, epsilon=1e-5):
    """The numbers come out as float64, twice as wide as the parts.

    np.zeros makes float64 unless you say otherwise, and so does a list of Python's numbers. Which
    dtype have the parts?
    """
    return _direct(parts, gain, bias, target, epsilon).astype(np.float64)


@mistake(of=direct_logits)
def list_of_shares(parts, gain, bias, target, epsilon=1e-5):
    """The numbers come back as a list.

    An array is asked for. What makes an array of a list, and with which dtype?
    """
    return _direct(parts, gain, bias, target, epsilon).tolist()


@mistake(of=direct_logits)
def parts_overwritten(parts, gain, bias, target, epsilon=1e-5):
    """The caller's parts are overwritten.

    -=, /= and parts[...] = write into the array that came in. Which of your lines do so, and what
    makes a new array?
    """
    added = _direct(parts, gain, bias, target, epsilon)
    parts -= parts.mean(axis=-1, keepdims=True)
    return added


def _losses(logits, ids):
    """A copy of the right answer that does not check its arguments."""
    shifted = logits - logits.max(axis=-1, keepdims=True)
    return np.log(np.exp(shifted).sum(axis=-1)) - shifted[np.arange(len(ids)), ids]


def _losses_of_all(logits):
    """The loss that each row would give each token: (T, V)."""
    shifted = logits - logits.max(axis=-1, keepdims=True)
    return np.log(np.exp(shifted).sum(axis=-1, keepdims=True)) - shifted


@mistake(of=position_losses)
def not_moved(logits, ids):
    """Row t is asked for token t, which the model has already read.

    The row after token t guesses the next one. Which id belongs to row 0?
    """
    return _losses(logits[1:], ids[1:])


@mistake(of=position_losses)
def just_read(logits, ids):
    """Each row is asked for the token that was just read: ids[:-1] is taken, not what comes next.

    The last row is rightly left out. The row after token t guesses the next one: which ids are
    T - 1 of them, without the first?
    """
    return _losses(logits[:-1], ids[:-1])


@mistake(of=position_losses)
def not_shortened(logits, ids):
    """The last row is asked as well, though nothing comes after it.

    T tokens give T - 1 guesses that can be checked. What did you compare the last row with?
    """
    return _losses(logits, np.roll(ids, -1))


@mistake(of=position_losses)
def without_log(logits, ids):
    """The probability came out, not its logarithm.

    A loss is large where the probability is small. Which function makes a sum of surprises out of a
    product of probabilities?
    """
    return np.exp(-position_losses(logits, ids))


@mistake(of=position_losses)
def sign_forgotten(logits, ids):
    """The minus is missing.

    The logarithm of a number below 1 is negative. A surprise is positive.
    """
    return -position_losses(logits, ids)


@mistake(of=position_losses)
def in_bits(logits, ids):
    """The logarithm has base 2: these are bits.

    Nats are asked for. Which logarithm undoes exp?
    """
    return (position_losses(logits, ids) / np.float32(np.log(2))).astype(logits.dtype)


@mistake(of=position_losses)
def logits_alone(logits, ids):
    """The logit is taken as it is; softmax is missing.

    A logit says nothing without the others (lesson 10). What must all of them be divided by?
    """
    return -logits[np.arange(len(ids) - 1), ids[1:]]


@mistake(of=position_losses)
def overflowing(logits, ids):
    """Large logits overflow: exp of 1,000 is infinite.

    Take the largest logit of each row away first. Why does the loss stay the same?
    """
    return np.log(np.exp(logits[:-1]).sum(axis=-1)) - logits[np.arange(len(ids) - 1), ids[1:]]


@mistake(of=position_losses)
def softmax_first(logits, ids):
    """Softmax first, log afterwards: a probability of 0 has no log.

    The chance of an unlikely token is too small for float32, its logarithm is not. Can you write
    log(exp(z) / sum) so that exp of that token's own z is never needed?
    """
    chance = softmax(logits[:-1])
    with np.errstate(divide="ignore"):
        return -np.log(chance[np.arange(len(ids) - 1), ids[1:]])


@mistake(of=position_losses)
def logits_cut(logits, ids):
    """Large logits are cut to a fixed size before exp.

    Then they look alike, though one of them is far larger. Take the row's maximum away: which
    number is the largest after that, and can exp of it overflow?
    """
    return _losses(np.clip(logits[:-1], -80, 80), ids[1:])


@mistake(of=position_losses)
def overflowing_softmax(logits, ids):
    """Large logits overflow in the softmax: infinite divided by infinite is nan.

    exp of 1,000 is infinite. Take the largest logit of each row away first. Why does no probability
    change?
    """
    z = np.exp(logits[:-1])
    with np.errstate(divide="ignore"):
        return -np.log((z / z.sum(axis=-1, keepdims=True))[np.arange(len(ids) - 1), ids[1:]])


SMALL = (1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-12, 1e-15, 1e-16, 1e-20, 1e-30)


def _small_number_added(number):
    """The mistake with this number; each caps the loss elsewhere."""
    def capped(logits, ids):
        return -np.log(softmax(logits[:-1])[np.arange(len(ids) - 1), ids[1:]] + np.float32(number))

    capped.__name__ = f"added_{number:.0e}"
    capped.__doc__ = f"""About {number:.0e} is added so that the log can be taken: it caps the loss.

    A token that is unlikely enough should cost 1,000 nats. What does minus the log of your small
    number come to? Which form of the formula needs no such help?
    """
    return capped


for _number in SMALL:
    mistake(of=position_losses)(_small_number_added(_number))


@mistake(of=position_losses)
def one_maximum(logits, ids):
    """One maximum is taken for all rows.

    A row that lies far below it has no exp left: all are 0, and so is their sum. Along which axis
    does each row find its own?
    """
    z = logits[:-1] - logits[:-1].max()
    with np.errstate(divide="ignore"):
        return np.log(np.exp(z).sum(axis=-1)) - z[np.arange(len(z)), ids[1:]]


@mistake(of=position_losses)
def over_positions(logits, ids):
    """The probabilities add up over positions, not over the vocabulary.

    Each position has its own softmax. Along which axis do the V scores of one position lie?
    """
    shifted = logits[:-1] - logits[:-1].max(axis=0)
    return (np.log(np.exp(shifted).sum(axis=0)) - shifted)[np.arange(len(ids) - 1), ids[1:]]


@mistake(of=position_losses)
def their_mean(logits, ids):
    """One mean came out for all positions.

    The lesson needs the loss of each position. Which step do you leave out?
    """
    return position_losses(logits, ids).mean()


@mistake(of=position_losses)
def one_column_of_losses(logits, ids):
    """The losses stand in a column, (T - 1, 1), not in a row.

    An axis of length 1 is left over, from keepdims or from the indices. How do you drop it?
    """
    return position_losses(logits, ids)[:, None]


@mistake(of=position_losses)
def all_tokens_at_once(logits, ids):
    """Every row is asked for every token: (T - 1, T - 1).

    A slice and a list of ids make a table. What picks one number from each row?
    """
    return _losses_of_all(logits[:-1])[:, ids[1:]]


@mistake(of=position_losses)
def exp_of_the_loss(logits, ids):
    """This is the perplexity of each token: exp of its loss.

    The loss is the logarithm itself. Which step goes too far?
    """
    return np.exp(position_losses(logits, ids))


@mistake(of=position_losses)
def losses_in_float64(logits, ids):
    """The losses come out as float64, twice as wide as the logits.

    np.zeros makes float64 unless you say otherwise, and astype leaves it behind. Which dtype have
    the logits?
    """
    return position_losses(logits, ids).astype(np.float64)


@mistake(of=position_losses)
def list_of_losses(logits, ids):
    """The losses come back as a list.

    An array is asked for. What makes an array of a list, and with which dtype?
    """
    return position_losses(logits, ids).tolist()


@mistake(of=position_losses)
def logits_overwritten(logits, ids):
    """The caller's logits are overwritten.

    -= and logits[...] = write into the array that came in. Which of your lines do so, and what
    makes a new array?
    """
    losses = position_losses(logits, ids)
    logits -= logits.max(axis=-1, keepdims=True)
    return losses


def _pattern(*shape, seed):
    weights = np.tril(np.random.default_rng(seed).random(shape) + 0.1)
    return (weights / weights.sum(axis=-1, keepdims=True)).astype(np.float32)


PLACES = [[0, 0, 0, 1, 2, 3], [0, 1, 2, 3, 4, 5], [0, 0, 0, 0, 0, 0]]       # where each query looks
PERFECT = np.eye(6, dtype=np.float32)[PLACES]
SCORES = [
    Case("three heads: perfect, looking at itself, at the first token; period 3", (PERFECT, 3)),
    Case("two heads, seven tokens, period 4", (_pattern(2, 7, 7, seed=1), 4)),
    Case("one head without an axis of heads, period 2", (_pattern(6, 6, seed=2), 2)),
    Case("blocks and heads, shape (2, 3, 8, 8), period 4", (_pattern(2, 3, 8, 8, seed=3), 4)),
    Case("one head, ten tokens, three tellings of 3 and one token", (_pattern(10, 10, seed=4), 3)),
    Case("four heads, six tokens, period 2", (_pattern(4, 6, 6, seed=6), 2)),
    Case("one token more than the period", (_pattern(2, 5, 5, seed=5), 4)),
]


def _row(*numbers):
    return np.array(numbers, np.float32)


def _rows(D, *seeds):
    return [random(D, seed=seed) for seed in seeds]


HAND = (np.array([[1, 3], [0, 4], [0, 2]], np.float32), _row(10, 10), _row(1, 2), _row(1, 2), 9.0)
DIRECT = [
    Case("the parts of the hand example", HAND),
    Case("five parts, D = 6", (random(5, 6, seed=1, shift=1), *_rows(6, 2, 3, 4))),
    Case("one part is the whole stream", (random(1, 4, seed=5), *_rows(4, 6, 7, 8))),
    Case("parts with large means and a large epsilon",
         (random(3, 4, seed=9, shift=20), *_rows(4, 10, 11, 12), 0.5)),
    Case("parts with very large means",
         (random(3, 4, seed=9, shift=np.array([[400], [300], [500]])), *_rows(4, 10, 11, 12))),
    Case("parts so small that epsilon counts",
         (random(3, 4, seed=16, scale=0.002), *_rows(4, 17, 18, 19))),
    Case("a part of zeros only",
         (np.array([[1, 2, 4], [0, 0, 0]], np.float32), *_rows(3, 13, 14, 15))),
]
LOSSES = [
    Case("two tokens, three scores",
         (np.array([[1, 0, 2], [0, 0, 0]], np.float32), np.array([2, 1]))),
    Case("five tokens, V = 7", (random(5, 7, seed=16, scale=2), np.array([3, 0, 6, 6, 1]))),
    Case("large logits", (random(4, 3, seed=17, shift=1000), np.array([0, 2, 2, 1]))),
    Case("one logit of 1,000, and another token comes",
         (np.array([[1000, 0, 0], [0, 1, 2], [2, 1, 0]], np.float32), np.array([0, 1, 2]))),
]


exercise(induction_score, SCORES)
exercise(direct_logits, DIRECT, tolerance=1e-4)
exercise(position_losses, LOSSES, tolerance=1e-4)
