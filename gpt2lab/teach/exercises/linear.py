"""Lesson 01: linear; a step of learning; the one bias that changes a story; strides."""
from functools import cache

import numpy as np

from gpt2lab.checkpoint import load
from gpt2lab.linear import linear
from gpt2lab.teach.living import STORY

from . import Case, exercise, mistake, random

# A model in which one bias is another one.

LAYERS = [f"h.{i}.{part}" for i in range(4)
          for part in ("attn.c_attn", "attn.c_proj", "mlp.c_fc", "mlp.c_proj")]


def with_bias(model, layer, b):
    """The model with b as the bias of one layer, such as "h.1.attn.c_attn"."""
    def tap(name, function):
        return (lambda x, w, _: function(x, w, b)) if name == layer else function
    return model.tapped(tap)


def likeliest(model, text=STORY, count=5):
    """(words, scores) of the tokens that the model finds likeliest after a text."""
    logits = model.next_logits(model.encode(text))                                  # (V,)
    best = np.argsort(-logits, kind="stable")[:count]
    return [model.tokenizer.decode([i]) for i in best], logits[best]


def next_word(model, layer, b):
    """The word that the model says after the story, with b as the bias of one layer."""
    return likeliest(with_bias(model, layer, b), count=1)[0][0]


# Exercises and their mistakes.


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
def bias_in_the_weights(x, w, b):
    """The bias is added to w, in front of the product.

    Then every input carries the bias along. Read the formula from the left: what comes first, the
    product or the sum?
    """
    return x @ (w + b)


@mistake(of=linear)
def first_bias_for_all(x, w, b):
    """All outputs get the first number of the bias.

    b has one number for every output. What does NumPy do with all of b when you add it to y?
    """
    return x @ w + b[0]


@mistake(of=linear)
def negative_cut(x, w, b):
    """Negative outputs are cut off at 0.

    Many layers have such a step behind them, but it is not part of them. What does the formula do
    with a negative sum?
    """
    return np.maximum(x @ w + b, 0)


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
def bias_taken_away(x, w, b):
    """The bias is taken away, not added.

    Which sign stands in front of b in the formula?
    """
    return x @ w - b


@mistake(of=linear)
def writes_into_the_bias(x, w, b):
    """The sum is written into b itself: y is a second name for it.

    += works in place, on the caller's array, and cannot change its shape. What does a plain + give?
    """
    y = b
    y += x @ w
    return y


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


def downhill(loss, numbers, rate):
    """The right answer to the first exercise: each number goes against its own slope."""
    now, slopes = loss(numbers), np.zeros(len(numbers))
    for i in range(len(numbers)):
        tried = numbers.copy()
        tried[i] += 0.0001
        slopes[i] = (loss(tried) - now) / 0.0001
    return numbers - rate * slopes


def _slopes(loss, numbers):
    """The slope of the loss by each number."""
    return numbers - downhill(loss, numbers, 1.0)


@mistake(of=downhill)
def step_uphill(loss, numbers, rate):
    """The numbers go up the slope, so the loss grows.

    Where the loss rises with a number, that number must shrink. Which sign stands before rate?
    """
    return numbers + rate * _slopes(loss, numbers)


@mistake(of=downhill)
def step_without_rate(loss, numbers, rate):
    """The step is the whole slope; rate is not used.

    Only a share of the slope is taken, or the numbers jump over the goal. What is rate for?
    """
    return numbers - _slopes(loss, numbers)


@mistake(of=downhill)
def step_not_divided(loss, numbers, rate):
    """The slope is only the change of the loss; it is not divided by how far the number moved.

    A slope says how much the loss changes for each whole unit. How small was your trial?
    """
    return numbers - rate * _slopes(loss, numbers) * 0.0001


@mistake(of=downhill)
def step_all_at_once(loss, numbers, rate):
    """All numbers are raised together, so they share one slope.

    Each number has a slope of its own: raise one, and leave the others as they are.
    """
    tiny = 0.0001
    return numbers - rate * (loss(numbers + tiny) - loss(numbers)) / tiny


@mistake(of=downhill)
def step_trials_pile_up(loss, numbers, rate):
    """The trials pile up: a number that was raised stays raised while the next one is tried.

    The slopes then add up from left to right. Where must the copy be made, inside the loop or in
    front of it?
    """
    return numbers - rate * np.cumsum(_slopes(loss, numbers))


@mistake(of=downhill)
def step_one_by_one(loss, numbers, rate):
    """A number has moved already when the next one is tried.

    All slopes are those of one place, where the step begins. When may the numbers move?
    """
    moved = numbers.copy()
    for i in range(len(moved)):
        moved[i] -= rate * _slopes(loss, moved)[i]
    return moved


@mistake(of=downhill)
def step_in_place(loss, numbers, rate):
    """The caller's own numbers are raised for the trial, or moved.

    They are an argument: raise a number in a copy. Which method of an array gives one?
    """
    tried = numbers
    for i in range(len(numbers)):
        tried[i] += 0.0001
    return tried


@mistake(of=downhill)
def step_first_only(loss, numbers, rate):
    """Only the first number moves.

    Each number has a slope. How often does your loop turn before it returns?
    """
    return numbers - rate * _slopes(loss, numbers) * (np.arange(len(numbers)) == 0)


@mistake(of=downhill)
def step_last_only(loss, numbers, rate):
    """Only the last number moves.

    Each number has a slope. Does your loop forget those before it?
    """
    return numbers - rate * _slopes(loss, numbers) * (np.arange(len(numbers)) == len(numbers) - 1)


@mistake(of=downhill)
def step_of_the_sign(loss, numbers, rate):
    """Every number moves by the rate, however steep its slope is.

    The slope tells more than the side. What is rate multiplied by?
    """
    return numbers - rate * np.sign(_slopes(loss, numbers))


@mistake(of=downhill)
def step_gives_slopes(loss, numbers, rate):
    """The slopes come back, not the numbers after the step.

    You have what is needed. What is left to do with the slopes, the rate and the numbers?
    """
    return _slopes(loss, numbers)


@mistake(of=downhill)
def step_gives_the_way(loss, numbers, rate):
    """How far each number is to move comes back, not where it is then.

    From what is the way taken away?
    """
    return rate * _slopes(loss, numbers)


@mistake(of=downhill)
def step_scaled_by_the_number(loss, numbers, rate):
    """Each number is multiplied by its step, in place of being moved by it.

    The step is taken away from the number. Which sign did you write?
    """
    return numbers * rate * _slopes(loss, numbers)


@mistake(of=downhill)
def step_from_the_loss(loss, numbers, rate):
    """Every number loses the same: the rate times the loss itself.

    The loss says how wrong all of it is, and not which way a number must go. What does the loss do
    when one number grows a little?
    """
    return numbers - rate * loss(numbers)


@mistake(of=downhill)
def step_in_a_list(loss, numbers, rate):
    """The numbers come back in a list, not in an array.

    The next step wants an array again. What makes one of a list?
    """
    return list(downhill(loss, numbers, rate))


def find_number(says, b, amount, word):
    """The right answer to the second exercise: raise one number after the other, each alone."""
    for i in range(len(b)):
        changed = b.copy()
        changed[i] += amount
        if says(changed) == word:
            return i


def _found(says, trials, word):
    """The place of the first trial for which the word is said, or None."""
    return next((i for i, trial in enumerate(trials) if says(trial) == word), None)


def _raised(b, i, amount):
    changed = b.copy()
    changed[i] += amount
    return changed


@mistake(of=find_number)
def find_in_place(says, b, amount, word):
    """The caller's own bias is changed.

    b[i] += amount writes into the array that you were given. Which method of an array makes one
    that you may change?
    """
    for i in range(len(b)):
        b[i] += amount
        if says(b) == word:
            return i


@mistake(of=find_number)
def find_piled_up(says, b, amount, word):
    """The changes pile up: a number that was changed stays changed while the next one is tried.

    One number at a time is wanted. Where must the copy be made, inside the loop or in front of it?
    """
    return _found(says, (b + amount * (np.arange(len(b)) <= i) for i in range(len(b))), word)


@mistake(of=find_number)
def find_all_moved(says, b, amount, word):
    """All numbers of the bias are moved.

    b + amount adds to each of them; one number alone is wanted. Which index is missing?
    """
    return _found(says, (b + b.dtype.type(amount) for _ in b), word)


@mistake(of=find_number)
def find_unchanged(says, b, amount, word):
    """It is the unchanged bias that is asked, each time.

    The copy is changed, and says hears nothing of it. What do you hand to says?
    """
    return _found(says, (b for _ in b), word)


@mistake(of=find_number)
def find_replaced(says, b, amount, word):
    """The number is replaced by the amount; the amount should be added to it.

    The number was there for a reason, and stays a part. What is the difference between = and +=?
    """
    return _found(says, (np.where(np.arange(len(b)) == i, b.dtype.type(amount), b)
                         for i in range(len(b))), word)


@mistake(of=find_number)
def find_taken_away(says, b, amount, word):
    """The amount is taken away, not added.

    The amount has its sign already: it may be below zero. Which sign did you write?
    """
    return _found(says, (_raised(b, i, -amount) for i in range(len(b))), word)


@mistake(of=find_number)
def find_multiplied(says, b, amount, word):
    """The number is multiplied by the amount; the amount should be added to it.

    Which sign stands before the = ?
    """
    return _found(says, (np.where(np.arange(len(b)) == i, b * b.dtype.type(amount), b)
                         for i in range(len(b))), word)


@mistake(of=find_number)
def find_last(says, b, amount, word):
    """The last number that does it comes back; the first is wanted.

    Who has found it need not look on. Where does your return stand?
    """
    hits = [i for i in range(len(b)) if says(_raised(b, i, amount)) == word]
    return hits[-1] if hits else None


@mistake(of=find_number)
def find_all(says, b, amount, word):
    """All places come back in a list; the first is wanted, as a number.

    Who has found it need not look on. What does return give back here?
    """
    return [i for i in range(len(b)) if says(_raised(b, i, amount)) == word]


@mistake(of=find_number)
def find_the_bias(says, b, amount, word):
    """The changed bias comes back; its place is wanted.

    The loop knows which number it has changed. What is that called in your loop?
    """
    return _raised(b, find_number(says, b, amount, word), amount)


@mistake(of=find_number)
def find_the_number(says, b, amount, word):
    """The number itself comes back; its place in b is wanted.

    b[i] stands at the place i. Which of the two do you return?
    """
    return float(b[find_number(says, b, amount, word)])


@mistake(of=find_number)
def find_from_one(says, b, amount, word):
    """The places are counted from 1.

    Python counts from 0. Which place has the first number of an array?
    """
    return find_number(says, b, amount, word) + 1


@mistake(of=find_number)
def find_the_unlike(says, b, amount, word):
    """The first number comes back for which the word is not said.

    Which comparison stands in your if?
    """
    return _found(lambda changed: says(changed) != word,
                  (_raised(b, i, amount) for i in range(len(b))), True)


@mistake(of=find_number)
def find_first_missing(says, b, amount, word):
    """The first number of b is not tried.

    Python counts from 0. Which places does your range give?
    """
    return next((i for i in range(1, len(b)) if says(_raised(b, i, amount)) == word), None)


@mistake(of=find_number)
def find_last_missing(says, b, amount, word):
    """The last number of b is not tried.

    A range leaves its end out by itself. Which places does yours give?
    """
    return next((i for i in range(len(b) - 1) if says(_raised(b, i, amount)) == word), None)


@mistake(of=find_number)
def find_without_blank(says, b, amount, word):
    """The word is never heard: the blank in front of it is a part of the word.

    The model's words carry the blank before them: " queen". Do you compare with word as it came?
    """
    return _found(says, (_raised(b, i, amount) for i in range(len(b))), word.strip())


@mistake(of=find_number)
def find_always_queen(says, b, amount, word):
    """Only " queen" is looked for, whatever word is asked for.

    The next one may want another word. Which of the arguments do you not use?
    """
    return _found(says, (_raised(b, i, amount) for i in range(len(b))), " queen")


@mistake(of=find_number)
def find_always_eight(says, b, amount, word):
    """Every number is lowered by 8, whatever amount is asked for.

    The next one may want another amount. Which of the arguments do you not use?
    """
    return _found(says, (_raised(b, i, -8) for i in range(len(b))), word)


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
def strides_of_the_axes_before(shape):
    """The sizes of the axes in front are multiplied, not of those behind.

    The last axis moves by 1, and each axis in front of it steps over all that lies behind. From
    which end do you multiply?
    """
    return strides_of_columns(shape)[::-1]


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

# Losses to walk down: the line of the lesson, a plane, and the layer of cups and cakes.
POINTS = np.array([[0.0, 1.0, 2.0, 3.0], [1.0, 4.0, 5.0, 8.0]])
ORDERS = np.array([[1.0, 0.0], [0.0, 1.0], [2.0, 1.0], [1.0, 3.0]])
PRICES = np.array([[3.0, 4.0, 0.0], [2.0, 2.0, 9.0]])
STARTS = np.array([1.0, 1.0, 0.0])


def _line(numbers):
    k, b = numbers
    return np.mean((k * POINTS[0] + b - POINTS[1]) ** 2)


def _plane(numbers):
    return float(3 * numbers[0] - 2 * numbers[1] + 5 * numbers[2] + 4)


def _valley(numbers):
    return float((numbers[0] - 2) ** 2)


def _layer(numbers):
    y = ORDERS @ numbers[:6].reshape(2, 3) + numbers[6:]
    return np.mean((y - ORDERS @ PRICES - STARTS) ** 2)


# A slope that is found by trying depends a little on how far the trial goes.
exercise(downhill, [
    Case("the line, from k = 1 and b = 1", (_line, np.array([1.0, 1.0]), 0.1)),
    Case("one number in a valley", (_valley, np.array([5.0]), 0.25)),
    Case("three numbers on a plane, which has the slopes 3, -2, 5",
         (_plane, np.array([0.5, 0.0, -1.0]), 0.2)),
    Case("nine numbers of a layer", (_layer, np.linspace(-1, 1, 9), 0.05)),
], tolerance=1e-3)

LAYER = "h.1.attn.c_attn"


@cache
def _model():
    model = load("gpt2-tiny")
    likeliest(model)                            # so that the tapped ones need not make its table
    return model


@cache
def _story_goes_on(more):
    b = _model().weights[f"{LAYER}.bias"].copy()
    b[270:290] += np.frombuffer(more, np.float32)               # all 384 would take seconds
    return next_word(_model(), LAYER, b)


def _story(more):
    """The bundled model's next word in the story, with more (20,) added to a bias of block 1."""
    return _story_goes_on(np.ascontiguousarray(more, np.float32).tobytes())


def _scales(b):
    """Two pans, two numbers in each."""
    return " left" if b[0] + b[1] > b[2] + b[3] else " right"


def _loudest(b):
    return f" voice {int(np.argmax(b))}"


def _door(b):
    """Three push at a door, with the forces 2, 1 and 3."""
    return " open" if 2 * b[0] + b[1] + 3 * b[2] > 4.5 else " shut"


exercise(find_number, [
    Case("a pair of scales, two numbers in each pan",
         (_scales, np.array([1, 1, 1, 2], np.float32), -2, " left")),
    Case("three push at a door, and one alone can open it",
         (_door, np.zeros(3, np.float32), 2, " open")),
    Case("the door must stay shut",
         (_door, np.array([1, 0, 0], np.float32), 1.5, " shut")),
    Case("five voices, of which the loudest is heard",
         (_loudest, np.array([3, 1, 2, 0, 2.5], np.float32), 2, " voice 4")),
    Case("the first of five voices grows",
         (_loudest, np.array([2, 2.5, 1, 0, 1], np.float32), 1, " voice 0")),
    Case("the first of five voices grows a lot",
         (_loudest, np.array([2, 2.5, 1, 0, 1], np.float32), 3, " voice 0")),
    Case("the story: what is added to a bias of block 1",
         (_story, np.zeros(20, np.float32), -8, " queen")),
])
