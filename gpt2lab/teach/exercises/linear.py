"""Lesson 01: linear, the strides of a shape, and linear again, row by row."""
import numpy as np

from gpt2lab.linear import linear

from . import Case, exercise, mistake, random


@mistake(of=linear)
def turned_when_it_fits(x, w, b):
    """w is turned over whenever its second axis is as long as a row of x.

    That looks safe, but a square w always fits, so it is turned over too, without a word. w is
    (in, out), always. What may you leave out?
    """
    return x @ (w.T if w.shape[1] == x.shape[-1] else w) + b


@mistake(of=linear)
def no_bias(x, w, b):
    """The bias is forgotten.

    The sum of products starts at the bias, not at 0. Where does b go?
    """
    return x @ w


@mistake(of=linear)
def bias_each_time(x, w, b):
    """The bias is added once for every product, so it counts `in` times.

    The bias is where the sum starts: it stands outside the innermost loop. How often is it
    added in your loops?
    """
    return x @ w + x.shape[-1] * b


@mistake(of=linear)
def bias_summed(x, w, b):
    """All outputs get the same bias, the sum of b.

    Output number j has a bias of its own, b[j]. Which axis did you sum over?
    """
    return x @ w + b.sum()


@mistake(of=linear)
def in_float64(x, w, b):
    """The numbers come out as float64, twice as wide as they went in.

    np.zeros makes float64 unless you say otherwise. Which dtype has x?
    """
    return (x @ w + b).astype(np.float64)


@mistake(of=linear)
def rows_only(x, w, b):
    """A single row, of shape (in,), is not taken.

    Your loop runs over rows; in a single row it meets bare numbers. What does @ do with x of any
    number of axes?
    """
    return np.stack([row @ w + b for row in x])


@mistake(of=linear)
def matrices_only(x, w, b):
    """Only a matrix x of shape (T, in) is taken, no single row and no stack.

    x may have any number of axes, as long as the last one is `in`. Which operator of NumPy runs
    over the axes in front by itself?
    """
    if x.ndim != 2:
        raise ValueError("x")
    return x @ w + b


@mistake(of=linear)
def turned_until_it_fits(x, w, b):
    """A w that does not fit is turned over until it does.

    A w of shape (out, in) is a mistake of the caller, who should hear of it. What does @ do by
    itself when the shapes do not fit?
    """
    return x @ (w if w.shape[0] == x.shape[-1] else w.T) + b


@mistake(of=linear)
def out_in(x, w, b):
    """w is read as (out, in), the other way round.

    Some libraries store w like that; GPT-2 does not. Which axis of w must be as long as a row of
    x? Look at a w that is not square.
    """
    return x @ w.T + b


@mistake(of=linear)
def swapped(x, w, b):
    """x and w have changed places.

    In a product of matrices the order counts: x @ w takes rows of x and columns of w. Which
    comes first in the formula?
    """
    return w @ x + b


@mistake(of=linear)
def bias_before(x, w, b):
    """The bias is added to x, in front of the product.

    Read the formula from the left: the product comes first. How long is b, and how long is a row
    of x?
    """
    return (x + b) @ w


@mistake(of=linear)
def bias_down_the_rows(x, w, b):
    """Each row gets one number of the bias; each column should.

    b has one number for every output. Along which axis of y (T, out) do the outputs lie? What
    shape has b[:, None]?
    """
    return x @ w + b[:, None]


@mistake(of=linear)
def elementwise(x, w, b):
    """The product goes number by number, it is not the product of matrices.

    * multiplies the numbers that stand in the same place and adds nothing up. Which operator of
    NumPy takes rows times columns?
    """
    return x * w + b


@mistake(of=linear)
def bias_in_the_weights(x, w, b):
    """The bias is added to w, in front of the product.

    Then every input carries the bias along. Read the formula from the left: what comes first, the
    product or the sum?
    """
    return x @ (w + b)


@mistake(of=linear)
def bias_taken_away(x, w, b):
    """The bias is taken away, not added.

    Which sign stands in front of b in the formula?
    """
    return x @ w - b


@mistake(of=linear)
def first_bias_for_all(x, w, b):
    """All outputs get the first number of the bias.

    b has one number for every output. What does NumPy do with all of b when you add it to y?
    """
    return x @ w + b[0]


@mistake(of=linear)
def writes_into_the_bias(x, w, b):
    """The sum is written into b itself: y is a second name for it.

    += works in place, on the caller's array, and cannot change its shape. What does a plain + give?
    """
    y = b
    y += x @ w
    return y


@mistake(of=linear)
def negative_cut(x, w, b):
    """Negative outputs are cut off at 0.

    Many layers have such a step behind them, but it is not part of them. What does the formula do
    with a negative sum?
    """
    return np.maximum(x @ w + b, 0)


@mistake(of=linear)
def scaled(x, w, b):
    """The product is divided by the root of the number of inputs.

    That is done elsewhere in a model. Is there a division in this formula?
    """
    return x @ w / np.sqrt(np.float32(len(w))) + b


@mistake(of=linear)
def first_product_missing(x, w, b):
    """One product is missing in each sum, the first: k starts at 1.

    Python counts from 0. Which numbers does your range give?
    """
    return x[..., 1:] @ w[1:] + b


@mistake(of=linear)
def last_product_only(x, w, b):
    """Each product replaces the one before; only the last is left.

    A sum grows. What is the difference between = and +=?
    """
    return x[..., -1:] * w[-1] + b


@mistake(of=linear)
def squashed(x, w, b):
    """The outputs are squashed between -1 and 1.

    Some layers have a tanh behind them, but it is not part of them. What does the formula end with?
    """
    return np.tanh(x @ w + b)


@mistake(of=linear)
def sigmoid(x, w, b):
    """The outputs are squashed between 0 and 1.

    Some layers have a sigmoid behind them, but it is not part of them. What does the formula end
    with?
    """
    return 1 / (1 + np.exp(-(x @ w + b)))


@mistake(of=linear)
def mean_bias(x, w, b):
    """All outputs get the same bias, the mean of b.

    Output number j has a bias of its own, b[j]. What does NumPy do with all of b when you add it?
    """
    return x @ w + b.mean()


@mistake(of=linear)
def last_product_missing(x, w, b):
    """One product is missing in each sum, the last: k ends too early.

    A range leaves its end out by itself. Which numbers does yours give?
    """
    return x[..., :-1] @ w[:-1] + b


@mistake(of=linear)
def y_like_x(x, w, b):
    """The result is made in the shape of x, but its rows are as long as b.

    x has `in` numbers in a row, y has `out`. What shape must the empty y have?
    """
    y = np.zeros_like(x)
    y[..., :len(b)] = x @ w + b
    return y if len(b) <= x.shape[-1] else y[..., len(b)]


@mistake(of=linear)
def rows_in_a_list(x, w, b):
    """The rows come back in a list, not in an array.

    Loops that append give a list. Which operator of NumPy gives the whole array at once?
    """
    return (x @ w + b).tolist()


@mistake(of=linear)
def leading_axes_lost(x, w, b):
    """The result is a matrix whatever x was: the axes in front are gone.

    You made x flat so that it is a matrix. Has it to be? If it has, which shape must y get back?
    """
    return x.reshape(-1, len(w)) @ w + b


@mistake(of=linear)
def all_rows_in_one(x, w, b):
    """All rows of x are strung together into a single one.

    Each row is an input of its own, and gives a row of y. What does flatten do to the rows?
    """
    return x.reshape(-1) @ w + b


@mistake(of=linear)
def one_column_a_row(x, w, b):
    """Row t of x meets only column t of w.

    Every row must meet every column. With * and sum that takes one axis more; which operator does
    it by itself?
    """
    return (x * w.T).sum(axis=-1) + b


@mistake(of=linear)
def every_pair(x, w, b):
    """Each number of x is multiplied by each number of w, and nothing is added up.

    A sum over the inputs is missing, so there are too many axes. Over which axis of x and which
    of w does it go?
    """
    return np.multiply.outer(x, w) + b


@mistake(of=linear)
def reshaped_not_turned(x, w, b):
    """w gets another shape by reshape, and that mixes its numbers.

    reshape keeps the order in the buffer; it is no way to turn a matrix over. w is (in, out)
    already: does it have to be turned at all?
    """
    return x @ w.reshape(w.shape[::-1]).T + b


@mistake(of=linear)
def y_turned(x, w, b):
    """The result is turned over: a column for each row of x.

    y is (T, out). Is there a .T too many?
    """
    return (x @ w + b).T


@mistake(of=linear)
def x_turned(x, w, b):
    """x is turned over before the product.

    The rows of x are what meets the columns of w. Which axis of x must be as long as one of w?
    """
    return x.T @ w + b


@mistake(of=linear)
def whole_numbers(x, w, b):
    """The fractions are cut off: the numbers are made whole.

    The hand examples are whole numbers, a model's are not. Is there an int too many?
    """
    return x.astype(int) @ w.astype(int) + b.astype(int)


def strides_of(shape):
    """The right answer to the first exercise: each stride is the product of the sizes behind it."""
    steps, step = [], 1
    for size in reversed(shape):
        steps.append(step)
        step *= size
    return tuple(reversed(steps))


@mistake(of=strides_of)
def strides_in_bytes(shape):
    """The strides are in bytes; here they count numbers.

    NumPy's .strides are four times as large for float32. How far is the next number of a row?
    """
    return tuple(4 * step for step in strides_of(shape))


@mistake(of=strides_of)
def strides_of_columns(shape):
    """The first axis moves by 1; the last one should.

    You have put columns together, as Fortran does. Which index runs fastest when you read a
    matrix like a text?
    """
    return strides_of(shape[::-1])[::-1]


@mistake(of=strides_of)
def strides_backwards(shape):
    """The strides stand in the wrong order.

    The last axis has stride 1, the first has the largest. If you started at the end, what is left
    to do?
    """
    return strides_of(shape)[::-1]


@mistake(of=strides_of)
def strides_one_too_many(shape):
    """Each stride holds its own size as well.

    One step along an axis skips what lies behind that axis, not the whole axis. For the shape
    (2, 3), how far apart are rows 0 and 1?
    """
    return tuple(step * size for step, size in zip(strides_of(shape), shape))


@mistake(of=strides_of)
def strides_are_sizes(shape):
    """Each stride is only the size of the next axis, not the product of all that follow.

    With two axes that is the same. With three, a step along the first one skips a whole matrix.
    """
    return (*shape[1:], 1) if shape else ()


def linear_rows(x, w, b):
    """The right answer to the second exercise: i-k-j, each row of y starts as the bias."""
    y = np.tile(b, (len(x), 1))
    for i in range(len(x)):
        for k in range(len(w)):
            y[i] += x[i, k] * w[k]
    return y


@mistake(of=linear_rows)
def rows_add_the_bias_each_time(x, w, b):
    """The bias is added once for every k.

    The sum starts as the bias, and that is all of it. What belongs into the inner loop?
    """
    y = np.zeros((len(x), len(b)), x.dtype)
    for i in range(len(x)):
        for k in range(len(w)):
            y[i] += x[i, k] * w[k] + b
    return y


@mistake(of=linear_rows)
def rows_overwrite(x, w, b):
    """Each k overwrites the row, so only the last one is left.

    A sum grows. Which sign adds to what is there already?
    """
    y = np.tile(b, (len(x), 1))
    for i in range(len(x)):
        for k in range(len(w)):
            y[i] = x[i, k] * w[k]
    return y


@mistake(of=linear_rows)
def rows_from_zero(x, w, b):
    """The rows start at 0, so the bias is forgotten.

    Before anything is added, a row of y is the bias.
    """
    return x @ w


@mistake(of=linear_rows)
def rows_share_the_bias(x, w, b):
    """The caller's bias is changed: a row of y is the bias itself, not a copy of it.

    row = b gives the array a second name, and += writes into the array. How do you get a buffer
    of its own?
    """
    y = []
    for i in range(len(x)):
        row = b
        for k in range(len(w)):
            row += x[i, k] * w[k]
        y.append(row)
    return np.array(y)


@mistake(of=linear_rows)
def rows_forget(x, w, b):
    """Each product replaces the one before; only the last is left.

    Every k adds its part to the row. What is the difference between = and +=?
    """
    return x[:, -1:] * w[-1] + b


@mistake(of=linear_rows)
def rows_take_columns(x, w, b):
    """The columns of w are taken, not its rows.

    In i-k-j the innermost step takes one number x[i, k] and a whole row of w. Which index of w
    stands still?
    """
    return x @ w.T + b


@mistake(of=linear_rows)
def rows_in_float64(x, w, b):
    """The numbers come out as float64, twice as wide as they went in.

    np.zeros makes float64 unless you say otherwise. Which dtype has x?
    """
    return linear_rows(x.astype(np.float64), w, b.astype(np.float64))


@mistake(of=linear_rows)
def rows_start_at_one(x, w, b):
    """One product is missing in each sum, the first: k starts at 1.

    Python counts from 0. Which numbers does your range give?
    """
    return x[:, 1:] @ w[1:] + b


@mistake(of=linear_rows)
def rows_in_lists(x, w, b):
    """The rows come back in a list, not in an array.

    Loops that append give a list. What does np.tile give you to write the rows into?
    """
    return linear_rows(x, w, b).tolist()


@mistake(of=linear_rows)
def rows_like_x(x, w, b):
    """The result is made in the shape of x, but its rows are as long as b.

    x has `in` numbers in a row, y has `out`. How many numbers has a row that starts as the bias?
    """
    y = np.zeros_like(x)
    y[:, :] = b
    return y


@mistake(of=strides_of)
def strides_start_at_zero(shape):
    """The last axis has the stride 0.

    One step along the last axis goes to the next number. How far away is it?
    """
    return (*strides_of(shape)[:-1], 0)


@mistake(of=strides_of)
def strides_one_too_few(shape):
    """One stride is missing: the last axis has none.

    Every axis has a stride, so there are as many strides as sizes. What is the last one?
    """
    return strides_of(shape)[:-1]


@mistake(of=strides_of)
def strides_added(shape):
    """The sizes behind an axis are added up, not multiplied.

    A step along the first axis of (2, 3, 4) skips 3 rows of 4 numbers. How many numbers is that?
    """
    return tuple(sum(shape[i + 1:]) or 1 for i in range(len(shape)))


ROW = np.array([[2, 3, 5]], np.float32)
W = np.array([[1, 10], [2, 20], [4, 40]], np.float32)
BIAS = np.array([1, 2], np.float32)
COLUMN, TENS = np.array([[2], [3], [5], [7]], np.float32), np.array([[1, 10, 100]], np.float32)


def _random(label, shape, w_shape, seed):
    """A case of random numbers: x of this shape, w, and a bias that fits w."""
    return Case(label, (random(*shape, seed=seed), random(*w_shape, seed=seed + 1),
                        random(w_shape[1], seed=seed + 2)))


CASES = [
    Case("one row, two outputs, a bias", (ROW, W, BIAS)),
    Case("the column 2, 3, 5, 7 times the row 1, 10, 100", (COLUMN, TENS, np.zeros(3, np.float32))),
    _random("a square w", (2, 3), (3, 3), seed=1),
    _random("as many rows as outputs", (2, 3), (3, 2), seed=4),
    _random("all three square", (3, 3), (3, 3), seed=7),
    Case("a single row, shape (in,)", (ROW[0], W, BIAS)),
    _random("a stack of rows, shape (2, 3, 4)", (2, 3, 4), (4, 5), seed=10),
    Case("a w of shape (out, in), which must be refused",
         (random(2, 3, seed=13), random(4, 3, seed=14), random(4, seed=15))),
]

exercise(linear, CASES)
exercise(strides_of, [Case(f"shape {shape}", (shape,))
                      for shape in ((6,), (4, 6), (2, 3, 4), (5, 1, 2, 3))])
exercise(linear_rows, CASES[:5])
