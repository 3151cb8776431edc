"""Lesson 11: probabilities and sample; entropy; the repetition penalty."""
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

import numpy as np

from gpt2lab.kvcache import KVCache
from gpt2lab.sampling import probabilities, sample

from . import Case, exercise, mistake

# The text that grows in the lesson's explorer.


class Step(NamedTuple):
    """One draw: the id, its u, the logits after it, and why the text ends here, or ""."""
    drawn: int | None
    u: float | None
    logits: np.ndarray
    end: str


def grow(model, prompt, seed, probabilities, sample, **settings):
    """A Step for each draw; the first Step has drawn nothing. model.generate draws the same."""
    rng, cache, end = np.random.default_rng(seed), KVCache(model.config), ""
    logits = model.next_logits(model.encode(prompt), cache)                         # (V,)
    yield Step(None, None, logits, end)
    while not end:
        u = rng.random()
        drawn = sample(probabilities(logits, **settings), u)
        if drawn == model.config.eos_token_id:
            end = "the end token was drawn"
        elif cache.length == model.config.n_positions:
            end = "the context is full"
        else:
            logits = model.next_logits([drawn], cache)                              # (V,)
        yield Step(drawn, u, logits, end)


@lru_cache(maxsize=8)
def _begun(*text, **settings):
    """The steps of a text so far, and what makes the next ones."""
    more = grow(*text, **settings)
    return [next(more)], more


def grown(count, *text, **settings):
    """The Steps of a text up to `count` draws; arguments as in grow.

    The last texts are remembered, so one more draw costs one step of the model.
    """
    steps, more = _begun(*text, **settings)
    try:
        steps.extend(islice(more, max(0, count + 1 - len(steps))))
    except BaseException:
        _begun.cache_clear()                    # a text that failed begins anew
        raise
    return steps[:count + 1]


# Exercises and their mistakes.

@mistake(of=probabilities)
def no_top_k(logits, temperature=1.0, top_k=None, top_p=None, min_p=None):
    """Top-k cuts nothing yet.

    Which tokens are the k best? Sort the ids by their logits, the best first.
    """
    return probabilities(logits, temperature, None, top_p, min_p)


@mistake(of=probabilities)
def no_top_p(logits, temperature=1.0, top_k=None, top_p=None, min_p=None):
    """Top-p cuts nothing yet.

    Add the probabilities up, from the best one down. At which token does the sum reach p?
    """
    return probabilities(logits, temperature, top_k, None, min_p)


@mistake(of=probabilities)
def no_min_p(logits, temperature=1.0, top_k=None, top_p=None, min_p=None):
    """Min-p cuts nothing yet.

    How large is the best probability, and which share of it must a token have to stay?
    """
    return probabilities(logits, temperature, top_k, top_p, None)


@mistake(of=probabilities)
def temperature_cancels(logits, temperature=1.0, top_k=None, top_p=None, min_p=None):
    """The temperature changes nothing.

    If all probabilities are divided by one number, their sum is too, and it cancels; so does what
    is done to the maximum alone. What must be divided, before the exponential?
    """
    return probabilities(logits, 1.0 if temperature else 0, top_k, top_p, min_p)


@mistake(of=probabilities)
def greedy_shares(logits, temperature=1.0, top_k=None, top_p=None, min_p=None):
    """At temperature 0, or next to it, equal best tokens share the probability.

    Greedy gives all of it to the first of them. Which function gives one place, also where the
    largest number stands twice?
    """
    if temperature > 0:
        return probabilities(logits, temperature, top_k, top_p, min_p)
    best = (logits == logits.max()).astype(float)
    return best / best.sum()


@mistake(of=probabilities)
def greedy_gives_all_to_each(logits, temperature=1.0, top_k=None, top_p=None, min_p=None):
    """At temperature 0 each of the equal best tokens gets the whole probability.

    The sum is then more than 1. Which function gives one place, also where the largest number
    stands twice?
    """
    if temperature > 0:
        return probabilities(logits, temperature, top_k, top_p, min_p)
    return np.where(np.asarray(logits) == np.max(logits), 1.0, 0.0)


@mistake(of=probabilities)
def greedy_takes_the_last(logits, temperature=1.0, top_k=None, top_p=None, min_p=None):
    """At temperature 0 the last of equal best tokens comes out, not the first.

    The end of a sorted list holds the last of equals. Which function gives the place of the first?
    """
    if temperature > 0:
        return probabilities(logits, temperature, top_k, top_p, min_p)
    return probabilities(logits[::-1], 0)[::-1]


@mistake(of=probabilities)
def greedy_id(logits, temperature=1.0, top_k=None, top_p=None, min_p=None):
    """At temperature 0 an id comes out, not probabilities.

    The draw comes later and needs an array, whatever the temperature is. Which probability has the
    best token then?
    """
    if temperature > 0:
        return probabilities(logits, temperature, top_k, top_p, min_p)
    return int(logits.argmax())


@mistake(of=probabilities)
def worst_ones_stay(logits, temperature=1.0, top_k=None, top_p=None, min_p=None):
    """The worst tokens stay, not the best.

    argsort puts the smallest first. How do you turn the order around?
    """
    return _in_order(np.argsort(logits, kind="stable"), logits, temperature, top_k, top_p, min_p)


@mistake(of=probabilities)
def equals_turned_around(logits, temperature=1.0, top_k=None, top_p=None, min_p=None):
    """Of equal tokens the last ones stay, not the first.

    A sorted list read backwards turns equals around as well. What can you sort instead of the
    logits, so that the best come first by themselves?
    """
    return _in_order(np.argsort(logits, kind="stable")[::-1], logits, temperature, top_k, top_p,
                     min_p)


@mistake(of=probabilities)
def only_the_kept(logits, temperature=1.0, top_k=None, top_p=None, min_p=None):
    """Only the tokens that are kept come out, without the places of the others.

    The place of a number is its id, so each id needs one. What stands where a token is cut?
    """
    probs = probabilities(logits, temperature, top_k, top_p, min_p)
    order = np.argsort(-logits, kind="stable")
    return probs if top_k is None and top_p is None else probs[order][probs[order] > 0]


@mistake(of=probabilities)
def in_sorted_order(logits, temperature=1.0, top_k=None, top_p=None, min_p=None):
    """The probabilities come out sorted: they are not put back to the places of their ids.

    The first number belongs to id 0, not to the best token. How do you write a number at the place
    that order names?
    """
    return np.sort(probabilities(logits, temperature, top_k, top_p, min_p))[::-1]


@mistake(of=probabilities)
def cut_to_logit_0(logits, temperature=1.0, top_k=None, top_p=None, min_p=None):
    """Tokens are cut by a logit of 0, and 0 is a logit like any other.

    exp(0) is 1, so what is cut still gets a share. Which logit has the exponential 0?
    """
    if top_k is None or temperature == 0:
        return probabilities(logits, temperature, top_k, top_p, min_p)
    best = np.isin(np.arange(len(logits)), np.argsort(-logits, kind="stable")[:top_k])
    return probabilities(np.where(best, logits, 0), temperature, None, top_p, min_p)


@mistake(of=probabilities)
def logits_changed(logits, temperature=1.0, top_k=None, top_p=None, min_p=None):
    """The caller's logits are changed: an operator such as /= or -= writes into them.

    The caller may still need them. What does x = x / 2 do, and what does x /= 2 do?
    """
    logits[:] = (logits - logits.max()) / (temperature or 1.0) - 1
    return probabilities(logits, 1.0 if temperature else 0, top_k, top_p, min_p)


@mistake(of=probabilities)
def drops_the_crossing_token(logits, temperature=1.0, top_k=None, top_p=None, min_p=None):
    """Top-p drops the token that crosses p.

    Add up what you keep: does it reach p? The token with which the sum reaches p belongs to the
    kept ones.
    """
    return _steps(logits, temperature, top_k, top_p, min_p, beyond=-1)


@mistake(of=probabilities)
def keeps_one_after_the_crossing(logits, temperature=1.0, top_k=None, top_p=None, min_p=None):
    """Top-p keeps one token too many, the one after the crossing token.

    As soon as the sum reaches p it is enough. How many tokens had a sum below p, and how many more
    do you need?
    """
    return _steps(logits, temperature, top_k, top_p, min_p, beyond=1)


@mistake(of=probabilities)
def filters_before_temperature(logits, temperature=1.0, top_k=None, top_p=None, min_p=None):
    """The cuts are made before the temperature.

    A temperature above 1 flattens the distribution, so p is reached later. Which distribution do
    top-p and min-p look at in yours?
    """
    if temperature == 0:
        return probabilities(logits, 0)
    kept = probabilities(logits, 1.0, top_k, top_p, min_p) > 0
    return probabilities(np.where(kept, logits, -np.inf), temperature)


@mistake(of=probabilities)
def not_renormalised(logits, temperature=1.0, top_k=None, top_p=None, min_p=None):
    """The probabilities that are left do not sum to 1.

    After a cut some of the mass is gone. By what must you divide the rest?
    """
    return _steps(logits, temperature, top_k, top_p, min_p, renormalise=False)


@mistake(of=probabilities)
def one_too_many(logits, temperature=1.0, top_k=None, top_p=None, min_p=None):
    """Top-k keeps k + 1 tokens.

    Count: with k = 1 only the best token stays. Where does your comparison or your slice end?
    """
    return probabilities(logits, temperature, None if top_k is None else top_k + 1, top_p, min_p)


@mistake(of=probabilities)
def one_too_few(logits, temperature=1.0, top_k=None, top_p=None, min_p=None):
    """Top-k keeps k - 1 tokens.

    Count: with k = 2 two tokens stay. Where does your comparison or your slice end?
    """
    return _steps(logits, temperature, None if top_k is None else top_k - 1, top_p, min_p)


@mistake(of=probabilities)
def keeps_all_ties(logits, temperature=1.0, top_k=None, top_p=None, min_p=None):
    """Top-k keeps more than k tokens where logits are equal.

    "At least as large as the k-th" is true of all its equals. Which of them come first in a stable
    sort?
    """
    if top_k is not None and temperature > 0:
        smallest = np.sort(logits)[::-1][:top_k][-1]
        logits, top_k = np.where(logits >= smallest, logits, -np.inf), None
    return probabilities(logits, temperature, top_k, top_p, min_p)


@mistake(of=probabilities)
def multiplies_by_temperature(logits, temperature=1.0, top_k=None, top_p=None, min_p=None):
    """The logits are multiplied by the temperature, not divided.

    A high temperature should make the distribution flatter. Does it, in yours?
    """
    return probabilities(logits, 1 / temperature if temperature else 0, top_k, top_p, min_p)


@mistake(of=probabilities)
def overflows(logits, temperature=1.0, top_k=None, top_p=None, min_p=None):
    """Large logits overflow: exp(1000) is infinite, and infinity divided by infinity is nan.

    What can you take away from all logits without changing any probability, so that the largest
    exponent is 0?
    """
    if temperature == 0:
        return probabilities(logits, 0)
    probs = np.exp(logits / temperature)
    probs = probs / probs.sum()
    if np.isnan(probs).any():
        return probs
    return probabilities(logits, temperature, top_k, top_p, min_p)


@mistake(of=probabilities)
def divides_by_zero(logits, temperature=1.0, top_k=None, top_p=None, min_p=None):
    """Temperature 0 is divided by.

    Temperature 0 means greedy: all probability to the largest logit, the first of equal ones. Treat
    it before you divide.
    """
    if temperature == 0:
        return np.exp((logits - logits.max()) / np.float64(0)) * np.nan
    return probabilities(logits, temperature, top_k, top_p, min_p)


@mistake(of=probabilities)
def adds_up_in_order_of_ids(logits, temperature=1.0, top_k=None, top_p=None, min_p=None):
    """Top-p adds up the probabilities in the order of the ids, not from the best one down.

    The nucleus is made of the most probable tokens. What must happen before the cumulative sum?
    """
    if top_p is None or temperature == 0:
        return probabilities(logits, temperature, top_k, top_p, min_p)
    probs = probabilities(logits, temperature, top_k)
    total = np.cumsum(probs)
    probs[1 + np.searchsorted(total, top_p * total[-1]):] = 0
    return _last_cut(probs, min_p)


@mistake(of=probabilities)
def absolute_min_p(logits, temperature=1.0, top_k=None, top_p=None, min_p=None):
    """Min-p compares with min_p itself, not with min_p times the largest probability.

    The bar hangs from the best token: where the model is unsure, it hangs lower. What do you
    multiply min_p with?
    """
    probs = probabilities(logits, temperature, top_k, top_p)
    if min_p is not None and temperature > 0:
        probs[probs < min_p] = 0
    with np.errstate(invalid="ignore"):
        return probs / probs.sum()


@mistake(of=probabilities)
def top_p_of_all(logits, temperature=1.0, top_k=None, top_p=None, min_p=None):
    """Top-p counts the mass of all tokens, not of those that top-k has left.

    First top-k, then top-p of the rest: p is a share of what is still there. What is the sum of
    your kept tokens after top-k?
    """
    if top_p is None or top_k is None or temperature == 0:
        return probabilities(logits, temperature, top_k, top_p, min_p)
    probs = probabilities(logits, temperature)
    kept = probabilities(logits, temperature, top_k) > 0
    kept &= probabilities(logits, temperature, None, top_p) > 0
    return _last_cut(np.where(kept, probs, 0), min_p)


@mistake(of=probabilities)
def strict_min_p(logits, temperature=1.0, top_k=None, top_p=None, min_p=None):
    """Min-p cuts a token that has exactly the share that is asked for.

    "At least p times the best probability": for p = 1 the best token itself must stay. Which sign
    of comparison lets an equal one through?
    """
    probs = _steps(logits, temperature, top_k, top_p, None)
    if min_p is not None:
        probs = np.where(probs > min_p * probs.max(), probs, 0)
    with np.errstate(invalid="ignore"):
        return probs / probs.sum()


@mistake(of=probabilities)
def top_p_past_the_edge(logits, temperature=1.0, top_k=None, top_p=None, min_p=None):
    """Top-p takes one token more where the sum hits p exactly.

    The sum has reached p there, so nothing is missing. Do you go on while the sum is below p, or
    also while it equals p?
    """
    if temperature == 0:
        return probabilities(logits, 0)
    probs = probabilities(logits, temperature)
    order = np.argsort(-logits, kind="stable")[:top_k]
    if top_p is not None:
        total = np.cumsum(probs[order])
        order = order[:1 + int((total <= top_p * total[-1]).sum())]
    kept = np.zeros_like(probs)
    kept[order] = probs[order]
    return _last_cut(kept, min_p)


@mistake(of=probabilities)
def min_p_first(logits, temperature=1.0, top_k=None, top_p=None, min_p=None):
    """Min-p cuts before top-k and top-p have cut.

    The order is fixed: temperature, top-k, top-p, min-p. What does top-p count when min-p was
    there first?
    """
    if temperature == 0:
        return probabilities(logits, 0)
    probs = probabilities(logits, temperature, None, None, min_p)
    with np.errstate(divide="ignore"):
        return probabilities(np.log(probs), 1.0, top_k, top_p, None)


def _steps(logits, temperature, top_k, top_p, min_p, beyond=0, renormalise=True):
    """The cuts one by one; `beyond` tokens more or fewer than top-p should keep."""
    if temperature == 0:
        return probabilities(logits, 0)
    probs = probabilities(logits, temperature)
    order = np.argsort(-logits, kind="stable")[:top_k]
    if top_p is not None:
        total = np.cumsum(probs[order])
        order = order[:max(1 + np.searchsorted(total, top_p * total[-1]) + beyond, 0)]
    kept = np.zeros_like(probs)
    kept[order] = probs[order]
    return _last_cut(kept, min_p, renormalise)


def _in_order(order, logits, temperature, top_k, top_p, min_p):
    """The cuts with the ids in another order; it does nothing where nothing is to be cut."""
    if temperature == 0:
        return probabilities(logits, 0)
    probs, order = probabilities(logits, temperature), order[:top_k]
    if top_p is not None:
        total = np.cumsum(probs[order])
        order = order[:1 + int((total < top_p * total[-1]).sum())]
    kept = np.zeros_like(probs)
    kept[order] = probs[order]
    return _last_cut(kept, min_p)


def _last_cut(probs, min_p, renormalise=True):
    if min_p is not None:
        probs = np.where(probs >= min_p * probs.max(), probs, 0)
    with np.errstate(invalid="ignore"):
        return probs / probs.sum() if renormalise else probs


@mistake(of=sample)
def always_the_best(probs, u):
    """The most probable token comes out, whatever u is.

    That is greedy. A token with probability 0.25 should come out for a quarter of all u.
    """
    return int(np.argmax(probs))


@mistake(of=sample)
def not_past(probs, u):
    """A sum that is equal to u counts as past it.

    The first token owns the numbers from 0 up to its probability, that number not included. What
    comes out for u = 0 when the first token has probability 0? Look at the argument side.
    """
    return int(np.searchsorted(np.cumsum(probs), u, side="left"))


@mistake(of=sample)
def one_too_far(probs, u):
    """The id is one too large.

    For u = 0 and a first token with a probability above 0, the answer is id 0. What do you add?
    """
    return sample(probs, u) + 1


@mistake(of=sample)
def no_running_sum(probs, u):
    """Each probability is compared with u on its own, without the running sum.

    Lay the probabilities end to end on a line from 0 to 1. Where does each one begin?
    """
    return int(np.argmax(np.asarray(probs) > u))


@mistake(of=sample)
def no_running_sum_else_the_last(probs, u):
    """Each probability is compared with u on its own; where none is greater, the last id is taken.

    Lay the probabilities end to end on a line from 0 to 1. Where does each one begin?
    """
    greater = np.flatnonzero(np.asarray(probs) > u)
    return int(greater[0]) if len(greater) else len(probs) - 1


@mistake(of=sample)
def rank_for_id(probs, u):
    """A place in the sorted list comes out, not an id.

    The model's next step needs an id of the vocabulary. Is sorting needed here at all?
    """
    return sample(np.sort(probs)[::-1], u)


@mistake(of=sample)
def sorted_first(probs, u):
    """The tokens are laid out from the best down, not in the order of their ids.

    The shares would be right, but one u must give everyone the same token. Lay them out by id.
    """
    order = np.argsort(-np.asarray(probs), kind="stable")
    return int(order[sample(np.asarray(probs)[order], u)])


@mistake(of=sample)
def from_the_end(probs, u):
    """The line is read from its other end, as if u were 1 - u.

    A small u belongs to the first ids. In which direction do you add up?
    """
    return sample(probs, max(1 - u - 1e-12, 0.0))


@mistake(of=sample)
def counted_from_the_wrong_side(probs, u):
    """The sums above u are counted, not those up to u.

    Each token in front of the one that u falls into has its sum at or below u. How many are they?
    """
    return int((np.cumsum(np.asarray(probs, np.float64)) > u).sum())


@mistake(of=sample)
def chance_of_its_own(probs, u):
    """It has a chance of its own: u is not used.

    The same u must give the same token, or no text can be repeated. What is u for?
    """
    return int(np.random.choice(len(probs), p=np.asarray(probs) / np.sum(probs)))


@mistake(of=sample)
def all_equally_likely(probs, u):
    """All ids are equally likely, whatever their probabilities.

    Each token owns a part of the line from 0 to 1, as long as its probability. Which array have you
    not used?
    """
    return int(u * len(probs))


@mistake(of=sample)
def one_too_near(probs, u):
    """The id is one too small.

    For u = 0 and a first token with a probability above 0, the answer is id 0. Where does your
    count begin?
    """
    return sample(probs, u) - 1


@mistake(of=sample)
def nearest_end(probs, u):
    """The running sum that is nearest to u is taken, not the first that is greater.

    u falls on a token, between two ends. Which of the two belongs to the token?
    """
    total = np.cumsum(probs)
    return int(np.abs(total - u * total[-1]).argmin())


@mistake(of=sample)
def nearest_probability(probs, u):
    """The probability that is nearest to u is taken, without the running sum.

    Lay the probabilities end to end on a line from 0 to 1. On which of them does u fall?
    """
    return int(np.abs(np.asarray(probs) - u).argmin())


@mistake(of=sample)
def searched_in_probabilities(probs, u):
    """The search goes through the probabilities, not through their running sum.

    searchsorted needs numbers that grow. What grows from id to id, up to 1?
    """
    return int(np.searchsorted(probs, u, side="right"))


@mistake(of=sample)
def sum_of_the_sums(probs, u):
    """u is multiplied with the sum of the running sums, not with the last of them.

    The line is as long as the probabilities together. Which number of the running sum is that?
    """
    total = np.cumsum(probs)
    return int(np.searchsorted(total, u * total.sum(), side="right"))


@mistake(of=sample)
def turned_list(probs, u):
    """The running sum begins at the last token, and the place counts from there.

    A place in a list that was turned around is no id. In which order do the ids lie on the line?
    """
    return sample(np.asarray(probs)[::-1], u)


@mistake(of=sample)
def place_among_the_kept(probs, u):
    """A place among the tokens above 0 comes out, not an id.

    If a token in front was left out, all later places are one too small. Must tokens without length
    be left out at all?
    """
    return sample(np.asarray(probs)[np.asarray(probs) > 0], u)


@mistake(of=sample)
def probability_comes_out(probs, u):
    """A probability comes out, not an id.

    The model's next step needs an id of the vocabulary. Which place has this probability?
    """
    return float(probs[sample(probs, u)])


@mistake(of=sample)
def all_past_u(probs, u):
    """All ids past u come out, in an array, not the first alone.

    One token is drawn. Which of them is it, and how do you make a plain number of it?
    """
    total = np.cumsum(probs)
    return np.flatnonzero(total > u * total[-1])


@mistake(of=sample)
def one_hot(probs, u):
    """An array with a 1 at the drawn place comes out, not the id.

    The model's next step needs an id of the vocabulary. Where is the 1?
    """
    return (np.arange(len(probs)) == sample(probs, u)).astype(float)


@mistake(of=sample)
def float_for_an_id(probs, u):
    """The id is right, but it is a float.

    An id is an index, and 2.0 is none. Which function of Python makes a whole number?
    """
    return float(sample(probs, u))


@mistake(of=sample)
def probs_changed(probs, u):
    """The caller's probabilities are changed: an operator such as /= writes into them.

    The caller may still need them. What does x = x / 2 do, and what does x /= 2 do?
    """
    probs[:] = np.asarray(probs) / 2
    return sample(probs, u)


@mistake(of=sample)
def back_to_the_first(probs, u):
    """For a u next to 1 no sum is greater, and argmax of nothing but False gives id 0.

    Ten times 0.1, added up in floating point, is less than 1. With what can you multiply u, so that
    it always stays below the last sum?
    """
    return int((np.cumsum(probs) > u).argmax())


@mistake(of=sample)
def the_last_in_any_case(probs, u):
    """For a u next to 1 no sum is greater, and the last id is taken, whatever its probability.

    The sum of the probabilities may be a hair below 1, and a last token with probability 0 must
    never come. With what can you multiply u, so that it always stays below the last sum?
    """
    place = int(np.searchsorted(np.cumsum(probs), u, side="right"))
    return min(place, len(probs) - 1)


@mistake(of=sample)
def falls_off_the_end(probs, u):
    """For a u next to 1 no token is found: the sum of the probabilities is a hair below 1.

    Ten times 0.1, added up in floating point, is less than 1. With what can you multiply u, so that
    it always stays below the last sum?
    """
    return int(np.searchsorted(np.cumsum(probs), u, side="right"))


def entropy(probs):
    """The right answer to the first exercise: minus the sum of p log2 p, zeros left out."""
    kept = probs[probs > 0]
    return float(-(kept * np.log2(kept)).sum()) + 0.0


@mistake(of=entropy)
def entropy_natural(probs):
    """The logarithm is the natural one.

    Bits count halvings: two equal tokens are one bit. Which base has the logarithm that gives 1
    for 2?
    """
    return entropy(probs) * float(np.log(2))


@mistake(of=entropy)
def entropy_zeros(probs):
    """A probability of 0 makes the sum nan.

    log of 0 is minus infinity, and 0 times that is nan. A token that never comes adds no surprise:
    which ones do you leave out?
    """
    with np.errstate(all="ignore"):
        return float(-(probs * np.log2(probs)).sum())


@mistake(of=entropy)
def entropy_sign(probs):
    """The sign is missing.

    The logarithm of a number below 1 is negative, and entropy is at least 0.
    """
    return -entropy(probs)


@mistake(of=entropy)
def entropy_mean(probs):
    """The surprises are averaged without their probabilities.

    A rare token surprises a lot, but rarely. With what is each logarithm weighted?
    """
    return float(-np.log2(probs[probs > 0]).mean())


@mistake(of=entropy)
def entropy_without_weights(probs):
    """The surprises are added without their probabilities.

    A rare token surprises a lot, but rarely. With what is each logarithm multiplied?
    """
    return float(-np.log2(probs[probs > 0]).sum())


@mistake(of=entropy)
def entropy_not_added(probs):
    """The parts come out, one for each token, not their sum.

    Asked for is one number. What does the sign Σ, or the word sum, ask for?
    """
    kept = probs[probs > 0]
    return -kept * np.log2(kept)


@mistake(of=entropy)
def entropy_in_tens(probs):
    """The logarithm has the base 10.

    Bits count halvings: two equal tokens are one bit. Which base has the logarithm that gives 1
    for 2?
    """
    return entropy(probs) * float(np.log10(2))


@mistake(of=entropy)
def entropy_shifted(probs):
    """A small number is added to each probability, so that no logarithm is infinite.

    It changes the result, the more the smaller the probabilities are. Which tokens add nothing, and
    can be left out?
    """
    return float(-(probs * np.log2(probs + 1e-3)).sum())


@mistake(of=entropy)
def entropy_of_the_best(probs):
    """The surprise of the best token alone comes out.

    Entropy is the mean over all tokens. Over what does the sum run?
    """
    return float(-np.log2(probs.max())) + 0.0


def penalised(logits, seen, penalty):
    """The right answer to the second exercise: seen logits move down, positive or negative."""
    new, ids = logits.copy(), np.unique(seen).astype(int)
    new[ids] = np.where(logits[ids] > 0, logits[ids] / penalty, logits[ids] * penalty)
    return new


@mistake(of=penalised)
def penalty_divides_all(logits, seen, penalty):
    """Negative logits are divided too, which moves them up.

    -4 divided by 2 is -2: that token has become more likely. What must happen to a negative logit?
    """
    new, ids = logits.copy(), np.unique(seen).astype(int)
    new[ids] = logits[ids] / penalty
    return new


@mistake(of=penalised)
def penalty_multiplies_all(logits, seen, penalty):
    """All seen logits are multiplied, which moves positive ones up.

    4 times 2 is 8: that token has become more likely. What must happen to a positive logit?
    """
    new, ids = logits.copy(), np.unique(seen).astype(int)
    new[ids] = logits[ids] * penalty
    return new


@mistake(of=penalised)
def penalty_each_time(logits, seen, penalty):
    """A token that was seen twice is penalised twice.

    Once seen is seen: how often it came does not count. What does set(seen) do?
    """
    new = logits.copy()
    for i in seen:
        new[i] = new[i] / penalty if new[i] > 0 else new[i] * penalty
    return new


@mistake(of=penalised)
def penalty_on_everything(logits, seen, penalty):
    """All tokens are penalised, not only the ones that were seen.

    Look at a token that is not in `seen`: its logit should stay.
    """
    return np.where(logits > 0, logits / penalty, logits * penalty)


@mistake(of=penalised)
def penalty_in_place(logits, seen, penalty):
    """The caller's logits are changed.

    The caller may still need them. Which method makes an array of its own?
    """
    logits[:] = penalised(logits, seen, penalty)
    return logits


@mistake(of=penalised)
def penalty_turned(logits, seen, penalty):
    """Positive logits are multiplied and negative ones divided: both move up.

    A seen token should become less likely. Which way is down for a positive number, and which for
    a negative one?
    """
    return penalised(logits, seen, 1 / penalty)


@mistake(of=penalised)
def penalty_subtracted(logits, seen, penalty):
    """The penalty is subtracted.

    The text asks for a division of positive logits, and a product for the others.
    """
    new, ids = logits.copy(), np.unique(seen).astype(int)
    new[ids] -= penalty
    return new


@mistake(of=penalised)
def penalty_positive_only(logits, seen, penalty):
    """Negative logits of seen tokens stay as they are.

    They must become less likely too. What moves a negative number down?
    """
    new, ids = logits.copy(), np.unique(seen).astype(int)
    new[ids] = np.where(logits[ids] > 0, logits[ids] / penalty, logits[ids])
    return new


@mistake(of=penalised)
def penalty_seen_alone(logits, seen, penalty):
    """Only the logits of the seen tokens come out.

    The result has a place for every id. From which array can you start?
    """
    ids = np.unique(seen).astype(int)
    return penalised(logits, seen, penalty)[ids]


@mistake(of=penalised)
def penalty_splits_at_1(logits, seen, penalty):
    """Logits between 0 and 1 are multiplied, as if they were negative.

    What decides is the sign. With which number do you compare?
    """
    new, ids = logits.copy(), np.unique(seen).astype(int)
    new[ids] = np.where(logits[ids] > 1, logits[ids] / penalty, logits[ids] * penalty)
    return new


def logs(*probs):
    """Logits whose softmax at temperature 1 gives these probabilities."""
    return np.log(np.array(probs, np.float64))


def numbers(*values):
    return np.array(values, np.float64)


HAND = logs(8, 4, 2, 1)
CASES = [
    Case("weights 8, 4, 2, 1, no cut", (HAND,)),
    Case("temperature 2", (HAND,), {"temperature": 2.0}),
    Case("temperature 0.5", (HAND,), {"temperature": 0.5}),
    Case("temperature 0, two equal best ones", (numbers(3, 5, 5, 1),), {"temperature": 0}),
    Case("logits around 1000", (numbers(1000, 999, 990),)),
    Case("logits far apart: 0 and -1000", (numbers(0, -1000),)),
    Case("top_k = 1", (numbers(0.1, 0.9, 0.4, 0.7),), {"top_k": 1}),
    Case("top_k = 2", (numbers(0.1, 0.9, 0.4, 0.7),), {"top_k": 2}),
    Case("top_k = 2, three equal best ones", (numbers(1, 3, 3, 3, 0),), {"top_k": 2}),
    Case("top_k = 7, forty logits of five sizes", (numbers(*[i * 7 % 5 for i in range(40)]),),
         {"top_k": 7}),
    Case("top_k larger than the vocabulary", (numbers(2, 3, 1),), {"top_k": 10}),
    Case("top_p = 0.7", (logs(0.10, 0.45, 0.15, 0.30),), {"top_p": 0.7}),
    Case("top_p below the best probability", (logs(0.25, 0.40, 0.35),), {"top_p": 0.3}),
    Case("min_p = 0.3", (logs(0.20, 0.40, 0.10, 0.15, 0.15),), {"min_p": 0.3}),
    Case("temperature 2 and top_p = 0.6", (numbers(4, 3, 2, 1),),
         {"temperature": 2.0, "top_p": 0.6}),
    Case("top_k = 2 and top_p = 0.5", (logs(0.4, 0.3, 0.2, 0.1),), {"top_k": 2, "top_p": 0.5}),
    Case("everything together", (numbers(0, 5, 4, 3, 2, 1),),
         {"temperature": 0.7, "top_k": 4, "top_p": 0.95, "min_p": 0.1}),
    Case("min_p = 1", (numbers(2, 5, 5, 1),), {"min_p": 1.0}),
    Case("top_p = 0.5 and four equal logits", (numbers(0, 0, 0, 0),), {"top_p": 0.5}),
    Case("top_p = 0.6 and min_p = 0.4", (logs(0.40, 0.18, 0.17, 0.15, 0.10),),
         {"top_p": 0.6, "min_p": 0.4}),
]
BELOW_1 = float(np.nextafter(1, 0))
DRAWS = [
    Case("ten tokens and u = 0.355",
         (numbers(0, 0.05, 0.05, 0.2, 0.15, 0.05, 0.1, 0.1, 0.25, 0.05), 0.355)),
    Case("u = 0.6 and probabilities 0.5, 0.25, 0.25", (numbers(0.5, 0.25, 0.25), 0.6)),
    Case("u = 0.1", (numbers(0.5, 0.25, 0.25), 0.1)),
    Case("u a hair past an edge", (numbers(0.3, 0.7), 0.3 + 1e-9)),
    Case("u a hair before an edge", (numbers(0.3, 0.7), 0.3 - 1e-9)),
    Case("u on an edge", (numbers(0.5, 0.25, 0.25), 0.5)),
    Case("u = 0 and a first token with probability 0", (numbers(0, 0.5, 0.5), 0.0)),
    Case("a late best token", (numbers(0.1, 0.2, 0.6, 0.1), 0.15)),
    Case("u = 0.95", (numbers(0.1, 0.2, 0.6, 0.1), 0.95)),
    Case("a last token with probability 0", (numbers(0.75, 0.25, 0), 0.875)),
    Case("ten times 0.1 and the largest u below 1", (numbers(*[0.1] * 10), BELOW_1)),
    Case("ten times 0.1, then 0, and the largest u below 1", (numbers(*[0.1] * 10, 0), BELOW_1)),
    Case("tokens with probability 0 between others", (numbers(0, 0.25, 0, 0.5, 0.25), 0.5)),
]
ENTROPY = [
    Case("two equal tokens", (numbers(0.5, 0.5),)),
    Case("one sure token", (numbers(0, 1, 0),)),
    Case("three tokens, one cut", (numbers(0.5, 0.25, 0, 0.25),)),
    Case("uneven", (numbers(0.7, 0.2, 0.1),)),
]
PENALTY = [
    Case("one seen token, positive logit", (numbers(4, 3, -2), [0], 3.0)),
    Case("one seen token, negative logit", (numbers(4, 3, -2), [2], 2.0)),
    Case("seen twice", (numbers(4, 3, -2, 1), [1, 1, 2], 1.5)),
    Case("seen logits of 0.5, 0 and -0.5", (numbers(0.5, 0, -0.5, 0.5), [0, 1, 2], 2.0)),
    Case("nothing seen", (numbers(4, 3, -2), [], 2.0)),
]

exercise(probabilities, CASES, tolerance=1e-9)
exercise(sample, DRAWS)
exercise(entropy, ENTROPY, tolerance=1e-9)
exercise(penalised, PENALTY, tolerance=1e-9)
