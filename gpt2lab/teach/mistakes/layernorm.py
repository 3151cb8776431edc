"""Lesson 05: layer_norm, and its little brother rms_norm."""
import numpy as np

from gpt2lab.layernorm import layer_norm

from . import Case, Exercise, random


def ddof_1(x, gain, bias, epsilon=1e-5):
    """The variance divides by D - 1, not by D.

    np.var(..., ddof=1) and torch.var do this: it is the estimate from a sample. Here the row is
    all there is. What does np.var do when you leave ddof out?
    """
    return _with(x, gain, bias, x.var(axis=-1, ddof=1, keepdims=True) + epsilon)


def epsilon_outside(x, gain, bias, epsilon=1e-5):
    """Epsilon stands outside the square root.

    Look at the formula: the root covers the variance and epsilon. What comes first, the sum or
    the root?
    """
    centred = x - x.mean(axis=-1, keepdims=True)
    return (centred / (np.sqrt(x.var(axis=-1, keepdims=True)) + epsilon) * gain + bias).astype(x.dtype)


def no_epsilon(x, gain, bias, epsilon=1e-5):
    """Epsilon is missing.

    Try a row of equal numbers: its variance is 0, and you divide 0 by 0. Where does the formula
    help?
    """
    return _with(x, gain, bias, x.var(axis=-1, keepdims=True))


def no_root(x, gain, bias, epsilon=1e-5):
    """The square root is missing.

    The variance is a square. Which number has the unit of the row itself?
    """
    return _with(x, gain, bias, (x.var(axis=-1, keepdims=True) + epsilon) ** 2)


def wrong_axis(x, gain, bias, epsilon=1e-5):
    """Mean and variance go down the columns, over the tokens, not along each row.

    One token must not change another's numbers. Which axis of x (T, D) runs along a row? With
    keepdims=True the result still fits x.
    """
    mean, variance = x.mean(axis=0, keepdims=True), x.var(axis=0, keepdims=True)
    return (x - mean) / np.sqrt(variance + epsilon) * gain + bias


def whole_array(x, gain, bias, epsilon=1e-5):
    """One mean and one variance for the whole array, not one for each row.

    x.mean() without an axis takes all numbers. Each token needs a mean of its own: which axis,
    and what does keepdims do?
    """
    return (x - x.mean()) / np.sqrt(x.var() + epsilon) * gain + bias


def no_bias(x, gain, bias, epsilon=1e-5):
    """The bias is forgotten.

    The gain stretches, the bias shifts. Read the formula to its end.
    """
    return layer_norm(x, gain, np.zeros_like(bias), epsilon)


def no_gain(x, gain, bias, epsilon=1e-5):
    """The gain is forgotten.

    The bias shifts, the gain stretches each of the D columns by its own number. Where does it go?
    """
    return layer_norm(x, np.ones_like(gain), bias, epsilon)


def mean_not_removed(x, gain, bias, epsilon=1e-5):
    """The mean is not taken away from the row.

    The variance is right, but the row is only divided. What is the numerator of the formula?
    """
    return (x / np.sqrt(x.var(axis=-1, keepdims=True) + epsilon) * gain + bias).astype(x.dtype)


def fixed_epsilon(x, gain, bias, epsilon=1e-5):
    """A fixed number stands where the argument epsilon should be used.

    The caller may choose epsilon. Is 1e-5 written out somewhere in your function?
    """
    return layer_norm(x, gain, bias)


def _with(x, gain, bias, variance):
    return ((x - x.mean(axis=-1, keepdims=True)) / np.sqrt(variance) * gain + bias).astype(x.dtype)


def rms_norm(x, gain, epsilon=1e-5):
    """The right answer to the second exercise: no mean, no bias."""
    return x / np.sqrt((x * x).mean(axis=-1, keepdims=True) + epsilon) * gain


def rms_with_mean(x, gain, epsilon=1e-5):
    """The mean is still taken away.

    RMSNorm leaves the mean alone: only the size of the row is set.
    """
    return layer_norm(x, gain, np.zeros_like(gain), epsilon)


def rms_with_variance(x, gain, epsilon=1e-5):
    """The variance is used in place of the mean of the squares.

    The variance takes the mean away first. RMS is the root of the mean of the squares of x itself.
    """
    return x / np.sqrt(x.var(axis=-1, keepdims=True) + epsilon) * gain


def rms_sum(x, gain, epsilon=1e-5):
    """The squares are added up, not averaged.

    A longer row must not come out smaller: divide the sum by D, or take the mean.
    """
    return x / np.sqrt((x * x).sum(axis=-1, keepdims=True) + epsilon) * gain


def strict_layer_norm(x, gain, bias, epsilon=1e-5):
    """The right answer to the first exercise is the library's own function."""
    return layer_norm(x, gain, bias, epsilon)


def no_check(x, gain, bias, epsilon=1e-5):
    """A gain of the wrong shape is spread over the row without a word.

    NumPy stretches shape (1,) to any length. Compare gain.shape and bias.shape with (D,) before
    you compute, and raise ValueError.
    """
    return ddof_0(x, gain, bias, epsilon)


def checks_gain_only(x, gain, bias, epsilon=1e-5):
    """The gain is checked, the bias is not.

    The bias can be stretched just as silently.
    """
    if gain.shape != x.shape[-1:]:
        raise ValueError("gain")
    return ddof_0(x, gain, bias, epsilon)


def ddof_0(x, gain, bias, epsilon):
    return _with(x, gain, bias, x.var(axis=-1, keepdims=True) + epsilon)


ONE, ZERO = np.ones(4, np.float32), np.zeros(4, np.float32)
HAND = np.array([[1, 2, 3, 6]], np.float32)
CASES = [
    Case("the row of the hand example", (HAND, ONE, ZERO, 0.5)),
    Case("gain and bias", (HAND, np.array([1, 2, 3, 4], np.float32), np.array([5, 6, 7, 8], np.float32))),
    Case("a row of equal numbers", (np.full((1, 4), 7, np.float32), ONE, ZERO)),
    Case("a row of tiny numbers", (random(1, 4, seed=1, scale=1e-3), ONE, ZERO)),
    Case("three rows", (random(3, 4, seed=2, scale=3, shift=2), ONE, ZERO)),
    Case("large numbers", (random(2, 4, seed=3, scale=1e4), ONE, ZERO)),
    Case("a stack of rows, shape (2, 3, 4)", (random(2, 3, 4, seed=4), ONE, ZERO)),
]
WRONG_GAIN = Case("gain of shape (1,)", (HAND, np.ones(1, np.float32), ZERO))
WRONG_BIAS = Case("bias of shape (1,)", (HAND, ONE, np.zeros(1, np.float32)))

EXERCISES = [
    Exercise("layer_norm", layer_norm, CASES,
             [ddof_1, epsilon_outside, no_epsilon, no_root, wrong_axis, whole_array, no_bias, no_gain,
              mean_not_removed, fixed_epsilon]),
    Exercise("strict_layer_norm", strict_layer_norm, [CASES[1], WRONG_GAIN, WRONG_BIAS], [no_check, checks_gain_only]),
    Exercise("rms_norm", rms_norm, [Case(case.label, (*case.arguments[:2], *case.arguments[3:])) for case in CASES],
             [rms_with_mean, rms_with_variance, rms_sum]),
]
