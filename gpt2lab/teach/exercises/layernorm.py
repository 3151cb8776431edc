"""Lesson 05: layer_norm, its little brother rms_norm, and fold, which saves gain and bias."""
import numpy as np

from gpt2lab import training
from gpt2lab.inside import size
from gpt2lab.layernorm import layer_norm
from gpt2lab.model import GPT2, Ops

from . import Case, exercise, mistake, random
from .training import frequencies_loss, read_book


@mistake(of=layer_norm)
def ddof_1(x, gain, bias, epsilon=1e-5):
    """The variance divides by D - 1, not by D.

    np.var(..., ddof=1) and torch.var do this: it is the estimate from a sample. Here the row is
    all there is. What does np.var do when you leave ddof out?
    """
    return _with(x, gain, bias, x.var(axis=-1, ddof=1, keepdims=True) + epsilon)


@mistake(of=layer_norm)
def epsilon_outside(x, gain, bias, epsilon=1e-5):
    """Epsilon stands outside the square root.

    Look at the formula: the root covers the variance and epsilon. What comes first, the sum or
    the root?
    """
    centred = x - x.mean(axis=-1, keepdims=True)
    root = np.sqrt(x.var(axis=-1, keepdims=True))
    return (centred / (root + epsilon) * gain + bias).astype(x.dtype)


@mistake(of=layer_norm)
def no_epsilon(x, gain, bias, epsilon=1e-5):
    """Epsilon is missing.

    Try a row of equal numbers: its variance is 0, and you divide 0 by 0. Where does the formula
    help?
    """
    return _with(x, gain, bias, x.var(axis=-1, keepdims=True))


@mistake(of=layer_norm)
def no_root(x, gain, bias, epsilon=1e-5):
    """The square root is missing: the row is divided by its variance.

    The variance is a square. Which number has the unit of the row itself?
    """
    return _with(x, gain, bias, (x.var(axis=-1, keepdims=True) + epsilon) ** 2)


@mistake(of=layer_norm)
def wrong_axis(x, gain, bias, epsilon=1e-5):
    """Mean and variance go down the columns, over the tokens, not along each row.

    One token must not change another's numbers. Which axis of x (T, D) runs along a row? With
    keepdims=True the result still fits x.
    """
    mean, variance = x.mean(axis=0, keepdims=True), x.var(axis=0, keepdims=True)
    return (x - mean) / np.sqrt(variance + epsilon) * gain + bias


@mistake(of=layer_norm)
def whole_array(x, gain, bias, epsilon=1e-5):
    """One mean and one variance for the whole array, not one for each row.

    x.mean() without an axis takes all numbers. Each token needs a mean of its own: which axis,
    and what does keepdims do?
    """
    return (x - x.mean()) / np.sqrt(x.var() + epsilon) * gain + bias


@mistake(of=layer_norm)
def no_bias(x, gain, bias, epsilon=1e-5):
    """The bias is forgotten.

    The gain stretches, the bias shifts. Read the formula to its end.
    """
    return layer_norm(x, gain, np.zeros_like(bias), epsilon)


@mistake(of=layer_norm)
def no_gain(x, gain, bias, epsilon=1e-5):
    """The gain is forgotten.

    The bias shifts, the gain stretches each of the D columns by its own number. Where does it go?
    """
    return layer_norm(x, np.ones_like(gain), bias, epsilon)


@mistake(of=layer_norm)
def mean_not_removed(x, gain, bias, epsilon=1e-5):
    """The mean is not taken away from the row.

    The variance is right, but the row is only divided. What is the numerator of the formula?
    """
    return (x / np.sqrt(x.var(axis=-1, keepdims=True) + epsilon) * gain + bias).astype(x.dtype)


@mistake(of=layer_norm)
def fixed_epsilon(x, gain, bias, epsilon=1e-5):
    """A fixed number stands where the argument epsilon should be used.

    The caller may choose epsilon. Is 1e-5 written out somewhere in your function?
    """
    return layer_norm(x, gain, bias)


@mistake(of=layer_norm)
def axis_1(x, gain, bias, epsilon=1e-5):
    """Mean and variance go along axis 1, which is the row only where x has two axes.

    A stack of rows has shape (2, 3, 4). Which number means "the last axis", however many there are?
    """
    mean, variance = x.mean(axis=1, keepdims=True), x.var(axis=1, keepdims=True)
    return (x - mean) / np.sqrt(variance + epsilon) * gain + bias


@mistake(of=layer_norm)
def no_keepdims(x, gain, bias, epsilon=1e-5):
    """The means have shape (T,), which does not fit x (T, D).

    With keepdims=True a mean along the row keeps an axis of length 1, and NumPy can stretch it.
    What shape do your mean and variance have?
    """
    return (x - x.mean(axis=-1)) / np.sqrt(x.var(axis=-1) + epsilon) * gain + bias


@mistake(of=layer_norm)
def bias_before_gain(x, gain, bias, epsilon=1e-5):
    """The bias is added before the gain multiplies.

    First stretch, then shift. Where do the brackets of the formula close?
    """
    return ((layer_norm(x, np.ones_like(gain), bias, epsilon)) * gain).astype(x.dtype)


@mistake(of=layer_norm)
def no_gain_no_bias(x, gain, bias, epsilon=1e-5):
    """Gain and bias are forgotten, both.

    The norm is right, but each column has a stretch and a shift of its own behind it. Which of
    your arguments are not used?
    """
    return layer_norm(x, np.ones_like(gain), np.zeros_like(bias), epsilon)


@mistake(of=layer_norm)
def bias_taken_away(x, gain, bias, epsilon=1e-5):
    """The bias is taken away, not added.

    Which sign stands in front of b in the formula?
    """
    return layer_norm(x, gain, -bias, epsilon)


@mistake(of=layer_norm)
def gain_added(x, gain, bias, epsilon=1e-5):
    """The gain is added, not multiplied by.

    A gain stretches, a bias shifts. Which sign stands in front of g in the formula?
    """
    return layer_norm(x, np.ones_like(gain), gain + bias, epsilon)


@mistake(of=layer_norm)
def gain_and_bias_multiply(x, gain, bias, epsilon=1e-5):
    """The row is multiplied by the sum of gain and bias.

    Only the gain multiplies; the bias comes after it. Are there brackets too many?
    """
    return layer_norm(x, gain + bias, np.zeros_like(bias), epsilon)


@mistake(of=layer_norm)
def gain_on_the_bias(x, gain, bias, epsilon=1e-5):
    """The gain multiplies the bias, not the row.

    What stands in front of the gain in the formula?
    """
    return layer_norm(x, np.ones_like(gain), gain * bias, epsilon)


@mistake(of=layer_norm)
def mean_is_a_sum(x, gain, bias, epsilon=1e-5):
    """The mean is a sum: it is not divided by D.

    The mean of 1, 2, 3, 6 is 3, not 12. How many numbers has a row?
    """
    centred = x - x.sum(axis=-1, keepdims=True)
    variance = (centred ** 2).mean(axis=-1, keepdims=True)
    return (centred / np.sqrt(variance + epsilon) * gain + bias).astype(x.dtype)


@mistake(of=layer_norm)
def divided_by_rows(x, gain, bias, epsilon=1e-5):
    """The sums are divided by the number of rows, not by the length of a row.

    len(x) counts rows. Which number of x.shape is D?
    """
    centred = x - x.sum(axis=-1, keepdims=True) / len(x)
    variance = (centred ** 2).sum(axis=-1, keepdims=True) / len(x)
    return (centred / np.sqrt(variance + epsilon) * gain + bias).astype(x.dtype)


@mistake(of=layer_norm)
def square_of_the_mean(x, gain, bias, epsilon=1e-5):
    """The mean of the distances is squared, not each distance.

    The distances from the mean add up to 0. What comes first, the square or the mean?
    """
    return _with(x, gain, bias, np.full((*x.shape[:-1], 1), epsilon, np.float32))


@mistake(of=layer_norm)
def root_mean_square(x, gain, bias, epsilon=1e-5):
    """The row is divided by the root of the mean of its squares, and no mean is taken away.

    That is RMSNorm. LayerNorm moves the row first, so that its mean is 0. What stands in the
    numerator, and what is squared?
    """
    return x / np.sqrt((x ** 2).mean(axis=-1, keepdims=True) + epsilon) * gain + bias


@mistake(of=layer_norm)
def squares_not_centred(x, gain, bias, epsilon=1e-5):
    """The squares are those of the row itself, not of the row without its mean.

    The variance tells how far the numbers lie from their mean. What is left of each number before
    it is squared?
    """
    return _with(x, gain, bias, (x ** 2).mean(axis=-1, keepdims=True) + epsilon)


@mistake(of=layer_norm)
def two_large_numbers(x, gain, bias, epsilon=1e-5):
    """The variance is a difference of two large numbers, and loses its digits.

    Mean of the squares minus square of the mean is right on paper. In float32 a row around 4000
    has squares of 16 million, without room for a fraction. What do you get smaller numbers from?
    """
    squares, mean = (x ** 2).mean(axis=-1, keepdims=True), x.mean(axis=-1, keepdims=True)
    return _with(x, gain, bias, squares - mean ** 2 + epsilon)


@mistake(of=layer_norm)
def squares_added_up(x, gain, bias, epsilon=1e-5):
    """The squares are added up, not averaged.

    The variance is a mean: a longer row must not get a larger one. What do you divide the sum by?
    """
    centred = x - x.mean(axis=-1, keepdims=True)
    return _with(x, gain, bias, (centred ** 2).sum(axis=-1, keepdims=True) + epsilon)


@mistake(of=layer_norm)
def one_variance(x, gain, bias, epsilon=1e-5):
    """Each row has a mean of its own, but all rows share one variance.

    keepdims alone does not say along which axis. Where did you name the axis, and where not?
    """
    return _with(x, gain, bias, ((x - x.mean(axis=-1, keepdims=True)) ** 2).mean() + epsilon)


@mistake(of=layer_norm)
def roots_averaged(x, gain, bias, epsilon=1e-5):
    """The root is taken number by number, before the mean.

    The root of a square is the number itself again, without its sign. What comes first, the mean
    or the root?
    """
    centred = x - x.mean(axis=-1, keepdims=True)
    root = np.sqrt(centred ** 2 + epsilon).mean(axis=-1, keepdims=True)
    return (centred / root * gain + bias).astype(x.dtype)


@mistake(of=layer_norm)
def not_squared(x, gain, bias, epsilon=1e-5):
    """The distances from the mean are averaged without being squared.

    The variance is the mean of the squares. What does abs leave out?
    """
    distances = np.abs(x - x.mean(axis=-1, keepdims=True))
    return _with(x, gain, bias, distances.mean(axis=-1, keepdims=True) + epsilon)


@mistake(of=layer_norm)
def times_the_root(x, gain, bias, epsilon=1e-5):
    """The row is multiplied by the root, not divided by it.

    A large row must become smaller. Which side of the line does the root stand on?
    """
    root = np.sqrt(x.var(axis=-1, keepdims=True) + epsilon)
    return ((x - x.mean(axis=-1, keepdims=True)) * root * gain + bias).astype(x.dtype)


@mistake(of=layer_norm)
def brackets_missing(x, gain, bias, epsilon=1e-5):
    """Only the mean is divided, not the difference: brackets are missing.

    Python divides before it takes away. What must be done first in this formula?
    """
    root = np.sqrt(x.var(axis=-1, keepdims=True) + epsilon)
    return (x - x.mean(axis=-1, keepdims=True) / root * gain + bias).astype(x.dtype)


@mistake(of=layer_norm)
def divided_by_length(x, gain, bias, epsilon=1e-5):
    """The centred row is divided by its length, so its variance is 1 / D and not 1.

    The length is the root of a sum, the deviation the root of a mean. And where is epsilon?
    """
    centred = x - x.mean(axis=-1, keepdims=True)
    return centred / np.linalg.norm(centred, axis=-1, keepdims=True) * gain + bias


@mistake(of=layer_norm)
def from_smallest_to_largest(x, gain, bias, epsilon=1e-5):
    """The row is stretched between its smallest and its largest number.

    Two numbers alone decide then. Which two numbers of a row does the formula use?
    """
    low, high = x.min(axis=-1, keepdims=True), x.max(axis=-1, keepdims=True)
    return ((x - low) / (high - low + epsilon) * gain + bias).astype(x.dtype)


@mistake(of=layer_norm)
def one_more_gain(x, gain, bias, epsilon=1e-5):
    """The gain counts from 0: 1 is added to it.

    Some models store it like that. Here a gain of 1 leaves the row as it is. What does the formula
    multiply by?
    """
    return layer_norm(x, 1 + gain, bias, epsilon)


@mistake(of=layer_norm)
def small_default(x, gain, bias, epsilon=1e-6):
    """Without an epsilon from the caller another one is used.

    The default stands in the first line of the stub. Is yours the same?
    """
    return layer_norm(x, gain, bias, epsilon)


@mistake(of=layer_norm)
def in_float64(x, gain, bias, epsilon=1e-5):
    """The numbers come out as float64, twice as wide as they went in.

    np.zeros makes float64 unless you say otherwise, and astype leaves it behind. Which dtype has x?
    """
    return layer_norm(x.astype(np.float64), gain, bias, epsilon)


@mistake(of=layer_norm)
def x_overwritten(x, gain, bias, epsilon=1e-5):
    """The caller's x is overwritten.

    -=, /= and x[...] = write into the array that came in; the stream is still needed elsewhere.
    Which of your lines do so, and what makes a new array?
    """
    x -= x.mean(axis=-1, keepdims=True)
    x /= np.sqrt((x ** 2).mean(axis=-1, keepdims=True) + epsilon)
    return x * gain + bias


@mistake(of=layer_norm)
def matrices_only(x, gain, bias, epsilon=1e-5):
    """Only a matrix x of shape (T, D) is taken, no single row and no stack.

    x may have any number of axes, as long as the last one is D. Which number means "the last
    axis", however many there are?
    """
    if x.ndim != 2:
        raise ValueError("x")
    return layer_norm(x, gain, bias, epsilon)


def _with(x, gain, bias, variance):
    return ((x - x.mean(axis=-1, keepdims=True)) / np.sqrt(variance) * gain + bias).astype(x.dtype)


def rms_norm(x, gain, epsilon=1e-5):
    """The right answer to the second exercise: no mean, no bias."""
    return x / np.sqrt((x * x).mean(axis=-1, keepdims=True) + epsilon) * gain


@mistake(of=rms_norm)
def rms_with_mean(x, gain, epsilon=1e-5):
    """The mean is still taken away.

    RMSNorm leaves the mean alone: only the size of the row is set.
    """
    return layer_norm(x, gain, np.zeros_like(gain), epsilon)


@mistake(of=rms_norm)
def rms_with_variance(x, gain, epsilon=1e-5):
    """The variance is used in place of the mean of the squares.

    The variance takes the mean away first. RMS is the root of the mean of the squares of x itself.
    """
    return x / np.sqrt(x.var(axis=-1, keepdims=True) + epsilon) * gain


@mistake(of=rms_norm)
def rms_with_deviation(x, gain, epsilon=1e-5):
    """The mean is still taken out of the divisor, and epsilon is missing.

    std takes the mean away before it squares. RMS is the root of the mean of the squares of x
    itself. And what is added under that root?
    """
    return (x / x.std(axis=-1, keepdims=True) * gain).astype(x.dtype)


@mistake(of=rms_norm)
def rms_deviation_and_epsilon(x, gain, epsilon=1e-5):
    """The mean is still taken out of the divisor, and epsilon stands outside the square root.

    std takes the mean away before it squares, and takes the root at once. Which squares does RMS
    average, and what is added before the root?
    """
    return (x / (x.std(axis=-1, keepdims=True) + epsilon) * gain).astype(x.dtype)


@mistake(of=rms_norm)
def rms_of_the_z_score(x, gain, epsilon=1e-5):
    """The mean is still taken away, and epsilon is missing.

    RMSNorm leaves the mean alone. What does it divide x itself by?
    """
    centred = x - x.mean(axis=-1, keepdims=True)
    return (centred / x.std(axis=-1, keepdims=True) * gain).astype(x.dtype)


@mistake(of=rms_norm)
def rms_only_the_row_centred(x, gain, epsilon=1e-5):
    """The divisor is right, but the mean is still taken away from the row.

    RMSNorm leaves the mean alone. What stands in the numerator?
    """
    return (x - x.mean(axis=-1, keepdims=True)) / np.sqrt(
        (x * x).mean(axis=-1, keepdims=True) + epsilon) * gain


@mistake(of=rms_norm)
def rms_sum(x, gain, epsilon=1e-5):
    """The squares are added up, not averaged.

    A longer row must not come out smaller: divide the sum by D, or take the mean.
    """
    return x / np.sqrt((x * x).sum(axis=-1, keepdims=True) + epsilon) * gain


@mistake(of=rms_norm)
def rms_epsilon_outside(x, gain, epsilon=1e-5):
    """Epsilon stands outside the square root.

    The root covers the mean of the squares and epsilon. What comes first, the sum or the root?
    """
    return x / (np.sqrt((x * x).mean(axis=-1, keepdims=True)) + epsilon) * gain


@mistake(of=rms_norm)
def rms_whole_array(x, gain, epsilon=1e-5):
    """One mean for the whole array, not one for each row.

    Which axis runs along a row, and what does keepdims do?
    """
    return x / np.sqrt((x * x).mean() + epsilon) * gain


@mistake(of=rms_norm)
def rms_no_epsilon(x, gain, epsilon=1e-5):
    """Epsilon is missing.

    A row of zeros would be divided by 0. What is added to the mean of the squares?
    """
    return x / np.sqrt((x * x).mean(axis=-1, keepdims=True)) * gain


@mistake(of=rms_norm)
def rms_fixed_epsilon(x, gain, epsilon=1e-5):
    """A fixed number stands where the argument epsilon should be used.

    The caller may choose epsilon. Is 1e-5 written out somewhere in your function?
    """
    return rms_norm(x, gain)


@mistake(of=rms_norm)
def rms_no_root(x, gain, epsilon=1e-5):
    """The square root is missing.

    The mean of the squares is a square. Which number has the unit of the row itself?
    """
    return x / ((x * x).mean(axis=-1, keepdims=True) + epsilon) * gain


@mistake(of=rms_norm)
def rms_no_gain(x, gain, epsilon=1e-5):
    """The gain is forgotten.

    Each of the D columns is stretched by a number of its own. Where does it go?
    """
    return rms_norm(x, np.ones_like(gain), epsilon)


@mistake(of=rms_norm)
def rms_wrong_axis(x, gain, epsilon=1e-5):
    """The mean goes down the columns, over the tokens, not along each row.

    One token must not change another's numbers. Which axis of x (T, D) runs along a row?
    """
    return x / np.sqrt((x * x).mean(axis=0, keepdims=True) + epsilon) * gain


@mistake(of=rms_norm)
def rms_axis_1(x, gain, epsilon=1e-5):
    """The mean goes along axis 1, which is the row only where x has two axes.

    A stack of rows has shape (2, 3, 4). Which number means "the last axis", however many there are?
    """
    return x / np.sqrt((x * x).mean(axis=1, keepdims=True) + epsilon) * gain


@mistake(of=rms_norm)
def rms_no_keepdims(x, gain, epsilon=1e-5):
    """The means have shape (T,), which does not fit x (T, D).

    With keepdims=True a mean along the row keeps an axis of length 1, and NumPy can stretch it.
    """
    return x / np.sqrt((x * x).mean(axis=-1) + epsilon) * gain


@mistake(of=rms_norm)
def rms_roots_averaged(x, gain, epsilon=1e-5):
    """The root is taken number by number, before the mean.

    The root of a square is the number itself again, without its sign. What comes first, the mean
    or the root?
    """
    return x / np.sqrt(x * x + epsilon).mean(axis=-1, keepdims=True) * gain


@mistake(of=rms_norm)
def rms_in_float64(x, gain, epsilon=1e-5):
    """The numbers come out as float64, twice as wide as they went in.

    np.zeros makes float64 unless you say otherwise, and astype leaves it behind. Which dtype has x?
    """
    return rms_norm(x.astype(np.float64), gain, epsilon)


@mistake(of=rms_norm)
def rms_x_overwritten(x, gain, epsilon=1e-5):
    """The caller's x is overwritten.

    /= and *= write into the array that came in. What makes a new array?
    """
    x /= np.sqrt((x * x).mean(axis=-1, keepdims=True) + epsilon)
    x *= gain
    return x


def fold(gain, bias, w, b):
    """The right answer to the second exercise: (n gain + bias) w + b is n w' + b'."""
    return gain[:, None] * w, bias @ w + b


@mistake(of=fold)
def gain_on_columns(gain, bias, w, b):
    """The gain multiplies the columns of w; each row of w belongs to one number of the input.

    Number i of the row that comes in is multiplied by row i of w. Which axis of w must the gain
    run along? gain[:, None] has shape (D, 1).
    """
    return (w.T * np.resize(gain, w.shape[1])[:, None]).T, bias @ w + b


@mistake(of=fold)
def bias_added_as_it_is(gain, bias, w, b):
    """The bias is added to b as it is: it must go through w first.

    Behind the norm the bias is a row of D numbers, a part of the layer's input. What does the
    layer do with its input?
    """
    return gain[:, None] * w, b + np.resize(bias, b.shape)


@mistake(of=fold)
def on_columns_and_added(gain, bias, w, b):
    """The gain multiplies the columns of w, and the bias is added to b as it is.

    Number i of the layer's input is multiplied by row i of w. gain[:, None] has shape (D, 1). And
    what does the layer do with an input such as the bias?
    """
    return gain_on_columns(gain, bias, w, b)[0], b + np.resize(bias, b.shape)


@mistake(of=fold)
def on_columns_and_lost(gain, bias, w, b):
    """The gain multiplies the columns of w, and the bias of the norm is lost.

    Number i of the layer's input is multiplied by row i of w. gain[:, None] has shape (D, 1). And
    what does the layer make of a row that is the bias alone?
    """
    return gain_on_columns(gain, bias, w, b)[0], b.copy()


@mistake(of=fold)
def bias_through_the_new_w(gain, bias, w, b):
    """The bias goes through the new w: it is stretched by the gain too.

    The norm adds the bias after the gain. Which of the two weights does it meet?
    """
    w = gain[:, None] * w
    return w, bias @ w + b


@mistake(of=fold)
def bias_lost(gain, bias, w, b):
    """The bias of the norm is lost: b comes out as it was.

    Put a row of zeros through the norm: what reaches the layer, and what does it make of that?
    """
    return gain[:, None] * w, b.copy()


@mistake(of=fold)
def layer_bias_lost(gain, bias, w, b):
    """The layer's own b is lost.

    The new b has two parts: what w makes of the bias, and what the layer added already.
    """
    return gain[:, None] * w, bias @ w


@mistake(of=fold)
def gain_lost(gain, bias, w, b):
    """The gain is lost: w comes out as it was.

    The norm no longer stretches. Who does it now?
    """
    return w.copy(), bias @ w + b


@mistake(of=fold)
def divided_by_the_gain(gain, bias, w, b):
    """w is divided by the gain, not multiplied.

    Nothing is undone here: the layer takes the stretch over.
    """
    return w / gain[:, None], bias @ w + b


@mistake(of=fold)
def bias_part_taken_away(gain, bias, w, b):
    """The part that w makes of the bias has the wrong sign.

    The norm adds its bias, and so must the layer. Which sign stands between the two parts of the
    new b?
    """
    return gain[:, None] * w, b - bias @ w


@mistake(of=fold)
def layer_bias_taken_away(gain, bias, w, b):
    """The layer's own b has the wrong sign.

    The layer still adds it, after what w makes of the bias.
    """
    return gain[:, None] * w, bias @ w - b


@mistake(of=fold)
def bias_into_the_weight(gain, bias, w, b):
    """The bias is added to the weight: it would be multiplied by the row then.

    A shift does not depend on the row n. Which of the two results is free of n?
    """
    return gain[:, None] * w + bias[:, None], b.copy()


@mistake(of=fold)
def folded_in_place(gain, bias, w, b):
    """The caller's w or b is overwritten.

    *= and += write into the array that came in; the model still needs it. What makes a new one?
    """
    b += bias @ w
    w *= gain[:, None]
    return w, b


@mistake(of=fold)
def other_order(gain, bias, w, b):
    """The two results have changed places: first comes w', then b'.

    In which order does the layer take its weight and its bias?
    """
    return bias @ w + b, gain[:, None] * w


def new_model(spread, layer_norm, blocks=24):
    """Sizes of the stream of an untrained model, and how far a nudge grows: two rows (blocks + 1,).

    spread: all numbers of the blocks are drawn with this deviation. The nudge: each number of the
    first stream is moved by about 1e-9; the second row is the change at each stage, over that.
    """
    config = training.Config(vocab_size=256, n_positions=8, n_embd=64, n_layer=blocks, n_head=4)
    row = training.first_numbers(config, np.random.default_rng(0)).astype(np.float64)
    w = training.named(config, _spread(config, row, spread))
    nudge = np.random.default_rng(1).normal(0, 1e-9, w["wpe.weight"].shape)
    texts = [np.stack(list(_stages(config, weights, layer_norm)))
             for weights in (w, w | {"wpe.weight": w["wpe.weight"] + nudge})]
    return (np.array([size(x) for x in texts[0]]),
            np.array([size(x) for x in texts[1] - texts[0]]) / size(nudge))


def _spread(config, row, spread):
    """The row, in which the weights of the blocks now have this deviation; it is written into."""
    for name, values in training.named(config, row).items():
        if name[0] == "h" and values.ndim == 2:
            values *= spread / 0.06
    return row


def _stages(config, w, layer_norm):
    """The streams (T, D) of the text "The old " after the embedding and after each block."""
    trace = GPT2(config, w, None, Ops(layer_norm=layer_norm)).trace(list(b"The old "))
    yield trace["embed"]
    for i in range(config.n_layer):
        yield trace[f"h.{i}.resid_post"]


def frequencies_alone():
    """Mean error on the book's bytes of a guess by how frequent each byte is, and nothing else."""
    return frequencies_loss(_bytes())


def _bytes():
    return np.frombuffer(read_book().encode(), np.uint8).astype(int)


def trained(ops, rate, normed, spread=0.06, seed=0, steps=50):
    """Losses (steps,) of a small new model with 12 blocks that learns to write the book's bytes.

    normed: whether ops.layer_norm is the norm; else it gives its rows back, and its way back too.
    spread: the numbers of the blocks are drawn with about this deviation.
    """
    config, rng = training.small_config(N=32, D=32, L=12, H=2), np.random.default_rng(seed)
    training_of = training.Training(config, training.pages_of(_bytes(), 32), steps, rate, 1, seed,
                                    ops, training.OURS if normed else NO_NORM,
                                    _spread(config, training.first_numbers(config, rng), spread))
    with np.errstate(all="ignore"):
        for _ in range(steps):
            training_of.advance()
    return np.array(training_of.losses)


def _handed_on(x, gain, g, epsilon=1e-5):
    """The way back of a norm that does nothing."""
    return g, np.zeros_like(gain), np.zeros_like(gain)


NO_NORM = training.Rules(layer_norm_back=_handed_on)


def reading(model, ids, i, factor, normed):
    """What becomes of block i when each part's rows of the stream are `factor` times as large.

    normed: the norm reads the larger rows; else what the norm gives is taken so many times.
    Gives the mean of the largest weight with which a token looks back (the first token has no
    choice and is left out), and the size of what the MLP adds.
    """
    at, found, rows = f"h.{i}.", {}, model.trace(ids)
    before = {at + "ln_1": rows[at + "resid_pre"], at + "ln_2": rows[at + "resid_mid"]}

    def tap(name, function):
        def norm(x, *rest, **named):
            x = before[name]
            return (function(np.float32(factor) * x, *rest, **named) if normed
                    else np.float32(factor) * function(x, *rest, **named))

        def keep(*arguments, **named):
            found[name] = function(*arguments, **named)
            return found[name]
        return norm if name in before else keep
    model.run_tapped(ids, tap)
    weights = found[at + "attn.pattern"][:, 1:].max(axis=-1)                        # (H, T - 1)
    return float(weights.mean()), size(found[at + "mlp"])


ONE, ZERO = np.ones(4, np.float32), np.zeros(4, np.float32)
HAND = np.array([[1, 2, 3, 6]], np.float32)
CASES = [
    Case("the row of the hand example", (HAND, ONE, ZERO, 0.5)),
    Case("gain and bias",
         (HAND, np.array([1, 2, 3, 4], np.float32), np.array([5, 6, 7, 8], np.float32))),
    Case("a row of equal numbers", (np.full((1, 4), 7, np.float32), ONE, ZERO)),
    Case("a row of tiny numbers", (random(1, 4, seed=1, scale=1e-3), ONE, ZERO)),
    Case("three rows", (random(3, 4, seed=2, scale=3, shift=2), ONE, ZERO)),
    Case("large numbers", (random(2, 4, seed=3, scale=1e4), ONE, ZERO)),
    Case("a row with a large mean", (4096 + HAND, ONE, ZERO)),
    Case("1000, 1000.25, 1000.5, 1001.25: a mean far larger than the deviation",
         (np.array([[1000, 1000.25, 1000.5, 1001.25]], np.float32), ONE, ZERO)),
    Case("a single row, shape (D,)", (HAND[0], ONE, ZERO)),
    Case("a stack of rows, shape (2, 3, 4)", (random(2, 3, 4, seed=4), ONE, ZERO)),
]

exercise(layer_norm, CASES)
exercise(rms_norm, [Case(case.label, (*case.arguments[:2], *case.arguments[3:])) for case in CASES])
exercise(fold, [
    Case("two numbers in, two out", (np.array([2, 3], np.float32), np.array([10, 20], np.float32),
                                     np.array([[1, 2], [3, 4]], np.float32),
                                     np.array([100, 200], np.float32))),
    Case("gain 1, bias 0: nothing changes", (ONE, ZERO, random(4, 4, seed=5), random(4, seed=6))),
    Case("four numbers in, twelve out", (random(4, seed=7, shift=2), random(4, seed=8),
                                         random(4, 12, seed=9), random(12, seed=10))),
    Case("a gain of 0", (np.array([0, 1, -2, 0], np.float32), random(4, seed=11),
                         random(4, 3, seed=12), random(3, seed=13))),
])
