"""sampling: public cases, a slow reference, extremes, refusals, draws against the distribution."""
import math
import re
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings, strategies as st

from gpt2lab.sampling import greedy, probabilities, sample

pytestmark = pytest.mark.filterwarnings("error")
INF, NAN = math.inf, math.nan
LAST = 1 - 2**-53                       # the largest u below 1


def reference(logits, temperature=1.0, top_k=None, top_p=None, min_p=None):
    """The same distribution by exact fractions and 50 decimal digits, one token at a time.

    None where a cut falls so close to a sum that rounding may decide it.
    """
    order = sorted((i for i, logit in enumerate(logits) if logit > -INF),
                   key=lambda i: (-logits[i], i))
    if temperature == 0:
        order, temperature = order[:1], 1
    weight = {}
    with localcontext() as context:
        context.prec = 50
        for i in order:
            below = (Fraction(logits[order[0]]) - Fraction(logits[i])) / Fraction(temperature)
            below = Decimal(below.numerator) / Decimal(below.denominator)
            weight[i] = (-below).exp() if below < 2000 else Decimal(0)
        if top_k is not None:
            order = order[:top_k]
        if top_p is not None and top_p < 1:
            limit, kept, mass = Decimal(top_p) * sum(weight[i] for i in order), [], Decimal(0)
            for i in order:
                kept.append(i)
                mass += weight[i]
                if abs(mass - limit) < Decimal("1e-12") * limit:
                    return None
                if mass >= limit:
                    break
            order = kept
        if min_p is not None:
            limit = Decimal(min_p) * weight[order[0]]
            if any(0 < abs(weight[i] - limit) < Decimal("1e-12") * limit for i in order):
                return None
            order = [i for i in order if weight[i] >= limit]
        total = sum(weight[i] for i in order)
        probs = [0.0] * len(logits)
        for i in order:
            probs[i] = float(weight[i] / total)
    return probs


# --- the public cases SAMPLE-1 to SAMPLE-7 and their neighbours

@pytest.mark.parametrize("logits, right", [
    ([2, 5, 3], 1), ([5, 5, 3], 0), ([1, 5, 5], 1), ([-INF, -7, -INF], 1), ([-1e30, -1e31], 0),
    ([4], 0)])
def test_temperature_0_is_greedy_and_ties_go_to_the_lowest_id(logits, right):
    for more in ({}, {"top_k": 2}, {"top_p": 0.5}, {"min_p": 0.5},
                 {"top_k": 9, "top_p": 1.0, "min_p": 1.0}):
        probs = probabilities(logits, temperature=0, **more)
        assert probs.tolist() == [float(i == right) for i in range(len(logits))]
        assert {sample(probs, u) for u in (0, 0.3, 0.9, LAST)} == {right}
    assert greedy(np.array(logits, np.float32)) == right


@pytest.mark.parametrize("logits, named, right", [
    # SAMPLE-2: transformers 5.24.0
    ([2, 3, 1], {"top_k": 10}, [0.24472847, 0.66524096, 0.09003057]),
    ([2, 3, 1], {"top_k": 3}, [0.24472847, 0.66524096, 0.09003057]),
    ([2, 3, 1], {"top_k": 2}, [0.26894142, 0.73105858, 0]),
    # SAMPLE-3: the token that crosses p stays
    (np.log([0.45, 0.30, 0.15, 0.10]), {"top_p": 0.7}, [0.6, 0.4, 0, 0]),
    (np.log([0.25, 0.40, 0.35]), {"top_p": 0.5}, [0, 0.5333333, 0.4666667]),
    (np.log([0.45, 0.30, 0.15, 0.10]), {"top_p": 0.44}, [1, 0, 0, 0]),
    (np.log([0.45, 0.30, 0.15, 0.10]), {"top_p": 0.46}, [0.6, 0.4, 0, 0]),
    (np.log([0.45, 0.30, 0.15, 0.10]), {"top_p": 0.91}, [0.45, 0.30, 0.15, 0.10]),
    # SAMPLE-4: temperature first
    ([4, 3, 2, 1], {"temperature": 2, "top_p": 0.6}, [0.62245933, 0.37754067, 0, 0]),
    ([5, 4, 3, 2, 1, 0], {"temperature": 0.7, "top_k": 3, "top_p": 0.9},
     [0.80667863, 0.19332137, 0, 0, 0, 0]),
    # top_k before top_p: of [.4 .3 .2 .1], 2 tokens are 4/7 and 3/7, and 4/7 passes 0.5
    (np.log([0.4, 0.3, 0.2, 0.1]), {"top_k": 2, "top_p": 0.5}, [1, 0, 0, 0]),
    (np.log([0.4, 0.3, 0.2, 0.1]), {"top_p": 0.5}, [0.5714286, 0.4285714, 0, 0]),
    # SAMPLE-7: k tokens, not k + 1
    ([0.1, 0.9, 0.4, 0.7], {"top_k": 1}, [0, 1, 0, 0]),
    ([0.1, 0.9, 0.4, 0.7], {"top_k": 2}, [0, 0.54983400, 0, 0.45016600]),
    # min_p: at least p times the largest
    (np.log([0.4, 0.3, 0.2, 0.1]), {"min_p": 0.49}, [4 / 9, 3 / 9, 2 / 9, 0]),
    (np.log([0.4, 0.3, 0.2, 0.1]), {"min_p": 0.51}, [4 / 7, 3 / 7, 0, 0]),
    (np.log([0.4, 0.3, 0.2, 0.1]), {"min_p": 1}, [1, 0, 0, 0]),
    ([1, 3, 3, 2], {"min_p": 1}, [0, 0.5, 0.5, 0]),
    # ties by lowest id
    ([7, 7, 7, 7], {"top_k": 2}, [0.5, 0.5, 0, 0]),
    ([7, 7, 7, 7], {"top_p": 0.4}, [0.5, 0.5, 0, 0]),
    ([1, 7, 0, 7, 7], {"top_k": 2}, [0, 0.5, 0, 0.5, 0])])
def test_cases(logits, named, right):
    probs = probabilities(logits, **named)
    assert np.allclose(probs, right, rtol=0, atol=1e-7)
    assert [p > 0 for p in probs] == [p > 0 for p in right]


NEUTRAL = [{"top_k": 4}, {"top_k": 10**30}, {"top_p": 1}, {"top_p": 1.0}, {"min_p": 0},
           {"min_p": 0.0}, {"temperature": 1},
           {"top_k": np.int64(9), "top_p": np.float32(1), "min_p": np.float64(0)}]


@pytest.mark.parametrize("named", NEUTRAL)
def test_neutral_settings_change_nothing(named):
    """Not even the token with 1e-20, which a running sum cannot see."""
    logits = [3.0, 3.0, -43.0, -INF]
    assert np.array_equal(probabilities(logits, **named), probabilities(logits))
    assert 0 < probabilities(logits)[2] < 1e-19


@pytest.mark.parametrize("logits", [[1, NAN, 3], [NAN, NAN], [1, INF, 2], [INF, NAN], [-INF, -INF],
                                    [-INF, NAN], np.array([1, NAN, 3], np.float32)])
@pytest.mark.parametrize("temperature", [0, 1])
@pytest.mark.parametrize("more", [{}, {"top_k": 1}, {"top_p": 0.5}, {"min_p": 0.5}])
def test_logits_without_meaning_are_refused(logits, temperature, more):
    message = "probabilities: logits must be finite or -inf, and one finite"
    with pytest.raises(ValueError, match=message):
        probabilities(logits, temperature=temperature, **more)
    with pytest.raises(ValueError, match=message):
        greedy(logits)


@pytest.mark.parametrize("shape", [(), (0,), (1, 3), (3, 1)])
def test_wrong_shapes_are_refused(shape):
    for function in (lambda a: probabilities(a), lambda a: probabilities(a, temperature=0),
                     lambda a: sample(a, 0.5)):
        message = f"must have shape (V,) with V >= 1, got {shape}"
        with pytest.raises(ValueError, match=re.escape(message)):
            function(np.ones(shape))


@pytest.mark.parametrize("name, values, rule", [
    ("temperature", [-1, -1e-9, NAN, INF, None, "1", True, [1]], "a finite number of at least 0"),
    ("top_k", [0, -1, 1.0, 2.5, NAN, True, "3", [3]], "None or a whole number of at least 1"),
    ("top_p", [-0.1, 1.0001, NAN, INF, True, "0.9", [0.9]], "None or a number from 0 to 1"),
    ("min_p", [-0.1, 1.0001, NAN, INF, False, "0.1", [0.1]], "None or a number from 0 to 1")])
def test_settings_out_of_range_are_refused(name, values, rule):
    for value in values:
        with pytest.raises(ValueError, match=re.escape(f"{name} must be {rule}, got {value!r}")):
            probabilities([1, 2, 3], **{name: value})


# --- any logits and any settings against the slow reference

NUMBERS = (st.floats(-50, 50) | st.sampled_from([0.0, 1.0, 2.0, -INF]) | st.floats(-1e300, 1e300)
           | st.sampled_from([1.7e308, -1.7e308, 1e-300, 5e-324]))
LOGITS = st.lists(NUMBERS, min_size=1, max_size=10).filter(lambda row: max(row) > -INF)
SETTINGS = {
    "temperature": st.floats(0.1, 10) | st.sampled_from([0, 1, 1e-300, 1e-20, 1e3, 1e20, 1e300])
    | st.floats(-300, 300).map(lambda power: 10 ** power),
    "top_k": st.none() | st.integers(1, 15),
    "top_p": st.none() | st.floats(0, 1) | st.sampled_from([0, 1, 1e-300, 1e-9, 0.5, LAST]),
    "min_p": st.none() | st.floats(0, 1) | st.sampled_from([0, 1, 1e-300, 1e-9, 0.5, LAST])}


@given(LOGITS, st.fixed_dictionaries(SETTINGS))
@settings(max_examples=500, deadline=None, derandomize=True)
def test_agrees_with_the_reference(logits, named):
    probs = probabilities(logits, **named)
    assert probs.shape == (len(logits),) and probs.dtype == np.float64
    assert probs.min() >= 0 and np.isclose(probs.sum(), 1, rtol=0, atol=1e-12)
    assert probs[np.argmax(logits)] == probs.max()          # the best one always stays
    right = reference(logits, **named)
    assume(right is not None)
    assert np.allclose(probs, right, rtol=1e-9, atol=1e-300)
    assert all((p > 0) == (r > 0) for p, r in zip(probs, right) if not 0 < r < 1e-290)


def test_top_p_of_equal_logits_keeps_no_token_too_many():
    """Their weights are 1, so the sums are exact; sums of 1 / V would round, and keep 7 of 12."""
    for V in range(2, 100):
        for p in (0.125, 0.25, 0.375, 0.5, 0.75):
            kept = np.flatnonzero(probabilities(np.zeros(V), top_p=p))
            assert kept.tolist() == list(range(math.ceil(Fraction(p) * V))), (V, p)


@given(LOGITS, SETTINGS["temperature"])
@settings(max_examples=200, deadline=None, derandomize=True)
def test_the_narrowest_cut_is_greedy_at_every_temperature(logits, temperature):
    """Even where the temperature makes all probabilities equal."""
    narrowest = probabilities(logits, temperature=0)
    assert np.array_equal(probabilities(logits, temperature, top_k=1), narrowest)
    assert np.array_equal(probabilities(logits, temperature, top_p=0), narrowest)
    assert greedy(logits) == narrowest.argmax()


@given(LOGITS)
@settings(max_examples=100, deadline=None, derandomize=True)
def test_cuts_keep_the_order_and_the_proportions(logits):
    full = probabilities(logits)
    for named in ({"top_k": 3}, {"top_p": 0.8}, {"min_p": 0.1}):
        cut = probabilities(logits, **named)
        kept = cut > 0
        assert np.allclose(cut[kept] * full[kept].sum(), full[kept], rtol=1e-12, atol=0)
        assert not (~kept).any() or full[kept].min() >= full[~kept].max()


def test_logits_are_not_changed_and_float32_becomes_float64():
    logits = np.array([1, 2, 3, -INF], np.float32)
    logits.flags.writeable = False
    probs = probabilities(logits, 0.5, 3, 0.9, 0.1)
    assert probs.dtype == np.float64 and logits.tolist() == [1, 2, 3, -INF]
    assert np.array_equal(probs, probabilities(logits.astype(np.float64), 0.5, 3, 0.9, 0.1))


# --- sample: one number chooses one id

@pytest.mark.parametrize("probs, u, right", [
    ([0.25, 0.5, 0.25], 0, 0), ([0.25, 0.5, 0.25], 0.2499, 0), ([0.25, 0.5, 0.25], 0.25, 1),
    ([0.25, 0.5, 0.25], 0.7499, 1), ([0.25, 0.5, 0.25], 0.75, 2), ([0.25, 0.5, 0.25], LAST, 2),
    ([0, 0, 1], 0, 2), ([1, 0, 0], LAST, 0), ([0, 0.5, 0, 0.5, 0], 0, 1),
    ([0, 0.5, 0, 0.5, 0], 0.5, 3), ([0, 0.5, 0, 0.5, 0], LAST, 3), ([1], 0, 0),
    ([1, 1e-300], LAST, 0), ([1e-300, 1], 0, 0), ([5e-324, 0], LAST, 0), ([0, 5e-324, 0], 0.9, 1),
    ([0.1] * 10, LAST, 9), ([0.1] * 10, np.float64(0.55), 5), ([0.7, 0.2, 0.1, 0], LAST, 2)])
def test_sample(probs, u, right):
    chosen = sample(probs, u)
    assert chosen == right and type(chosen) is int


@given(st.lists(st.sampled_from([0.0, 5e-324, 1e-300, 1e-17, 1e-3]) | st.floats(0, 1), min_size=1,
                max_size=12).filter(any),
       st.floats(0, 1, exclude_max=True) | st.sampled_from([0, LAST, 5e-324, 0.5]))
@settings(max_examples=300, deadline=None, derandomize=True)
def test_the_chosen_one_has_a_probability_above_0(weights, u):
    total = sum(map(Fraction, weights))
    probs = np.array(weights)
    chosen = sample(probs, u)
    assert probs[chosen] > 0
    before = sum(map(Fraction, weights[:chosen])) / total
    rounding = Fraction(1, 10**14) if total > 1e-290 else 1
    assert before - rounding <= Fraction(u) <= before + Fraction(weights[chosen]) / total + rounding


@pytest.mark.parametrize("u", [1, 1.0, -1e-300, -1, 2, NAN, INF, None, "0.5", True, [0.5]])
def test_u_out_of_range_is_refused(u):
    with pytest.raises(ValueError, match="sample: u must be at least 0 and below 1, got"):
        sample([0.5, 0.5], u)


@pytest.mark.parametrize("probs", [[0, 0], [0.5, -0.1, 0.6], [NAN, 1], [1, NAN], [INF, 1],
                                   [-1, -1]])
def test_what_are_no_probabilities_is_refused(probs):
    with pytest.raises(ValueError, match="sample: probs must be at least 0 with a sum above 0"):
        sample(probs, 0.5)


# --- 20,000 draws against the exact distribution

# The chi-square value that a right sampler exceeds once in 1,000 runs, by degrees of freedom
# (tables of the distribution; the seeds are fixed, so the outcome is too).
CRITICAL = {1: 10.828, 2: 13.816, 3: 16.266, 4: 18.467, 5: 20.515, 6: 22.458, 7: 24.322}
DRAWN_FROM = [2.0, 1.0, 1.0, 0.5, 0.0, -0.5, 3.0, -1.0]
DRAWS = 20_000


def misfit(counts, probs):
    """Chi-square of the counts, as a share of the critical value: above 1 is too far off."""
    counts, expected = np.asarray(counts), DRAWS * np.asarray(probs)
    if counts[expected == 0].any():
        return INF
    kept = expected > 0
    assert expected[kept].min() > 5                         # else the test says nothing
    if kept.sum() == 1:
        return 0.0
    return ((counts - expected)[kept] ** 2 / expected[kept]).sum() / CRITICAL[kept.sum() - 1]


def draw(named, seed, sample=sample):
    probs = probabilities(DRAWN_FROM, **named)
    draws = np.random.default_rng(seed).random(DRAWS)
    return np.bincount([sample(probs, u) for u in draws], minlength=len(DRAWN_FROM))


def warmer(logits, temperature=1.0, **named):
    return probabilities(logits, temperature * 1.1, **named)


def one_more(logits, top_k=None, **named):
    return probabilities(logits, top_k=top_k + 1, **named)


def without_the_crossing_one(logits, top_p=None):
    probs = probabilities(logits)
    order = np.argsort(-probs, kind="stable")
    kept = order[np.cumsum(probs[order]) <= top_p]
    return np.where(np.isin(np.arange(len(probs)), kept), probs, 0) / probs[kept].sum()


def absolute(logits, min_p=None):
    probs = probabilities(logits)
    probs[probs < min_p] = 0
    return probs / probs.sum()


DISTRIBUTIONS = [({"temperature": 0}, lambda logits, temperature: probabilities(logits)),
                 ({"temperature": 0.7}, warmer), ({"temperature": 1}, warmer),
                 ({"top_k": 3}, one_more), ({"top_p": 0.8}, without_the_crossing_one),
                 ({"min_p": 0.1}, absolute)]


@pytest.mark.parametrize("seed, named", [
    *((seed, named) for seed, (named, _) in enumerate(DISTRIBUTIONS)),
    (6, {"temperature": 1.5, "top_k": 6, "top_p": 0.9, "min_p": 0.2})])
def test_draws_follow_the_distribution(seed, named):
    counts = draw(named, seed)
    assert misfit(counts, reference(DRAWN_FROM, **named)) < 1
    if named == {"temperature": 0}:
        assert counts.tolist() == [0, 0, 0, 0, 0, 0, DRAWS, 0]


@pytest.mark.parametrize("seed, named, wrong", [
    (seed, named, wrong) for seed, (named, wrong) in enumerate(DISTRIBUTIONS)])
def test_the_test_above_notices_wrong_probabilities(seed, named, wrong):
    total = np.cumsum(wrong(DRAWN_FROM, **named))
    draws = np.random.default_rng(seed).random(DRAWS)       # all at once: sample is right here
    counts = np.bincount(np.searchsorted(total, draws * total[-1], side="right"), minlength=8)
    assert misfit(counts, reference(DRAWN_FROM, **named)) > 1


@pytest.mark.parametrize("wrong", [
    lambda probs, u: sample(probs, u * u), lambda probs, u: sample(probs, 0.97 * u),
    lambda probs, u: (sample(probs, u) + 1) % len(probs), lambda probs, u: int(u * len(probs)),
    lambda probs, u: int(np.argmax(probs))])
def test_the_test_above_notices_a_wrong_sampler(wrong):
    assert misfit(draw({}, 1, sample=wrong), reference(DRAWN_FROM)) > 1


@pytest.mark.parametrize("logits", [[[1.0], [2.0, 3.0]], ["a", "b"], [{}, 1.0]])
def test_what_are_no_logits_is_refused_in_our_words(logits):
    with pytest.raises(ValueError, match="probabilities: logits must be a list of V numbers, got"):
        probabilities(logits)
