"""Slips that can happen in any exercise, told by what came out and what was wanted.

The first line of a docstring says what is wrong, the rest is a hint, as for a known mistake. A slip
is only looked for where no known mistake of the exercise fits.
"""
import warnings

import numpy as np

from .attempting import Failure, TimeUp
from .comparing import Yielded, same

TOLERANCE = 1e-5
_slips = []


def slip(test):
    """Register a test of (got, want): could this slip have made one of the other?"""
    _slips.append(test)
    return test


def slip_of(results, rights, misses):
    """(slip, explains all misses): the first that explains the first miss, else (None, False)."""
    missed = [i for i, text in enumerate(misses) if text]
    for test in _slips:
        if _could(test, results[missed[0]], rights[missed[0]]):
            return test, all(_could(test, results[i], rights[i]) for i in missed)
    return None, False


def _could(test, got, want):
    if isinstance(got, dict) and isinstance(want, dict) and got.keys() == want.keys():
        pairs = [(got[key], want[key]) for key in want if not same(got[key], want[key])]
        return bool(pairs) and all(_could(test, *pair) for pair in pairs)
    if isinstance(got, Yielded) and isinstance(want, Yielded):
        ended = same(got.returned, want.returned)       # then the slip is among the values
        got, want = (one.values if ended else (one.values, one.returned) for one in (got, want))
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")     # of rows that are nan
            return bool(test(got, want))
    except Exception:                           # not for results of this kind
        return False


def _alike(got, want):
    return same(got, want, TOLERANCE)


# No result, or one too many

@slip
def never_ends(got, want):
    """It does not come to an end, or takes far too long.

    Which number changes with each turn of your loop, and when is the loop's condition false?
    Where it does end: what does it compute more often than needed?
    """
    return got.error is TimeUp


@slip
def nothing_given_back(got, want):
    """Nothing is given back.

    print only shows a result; return hands it over. Does every way through your function reach a
    return?
    """
    return got.text.startswith("nothing came back")


@slip
def all_at_once(got, want):
    """Everything comes back at once, where one value after the other is asked for.

    return ends the function; yield hands a value over, and the function goes on when the next one
    is wanted. Which line of yours knows a new value first?
    """
    return isinstance(want, Yielded) and not isinstance(got, (Yielded, Failure))


@slip
def input_changed(got, want):
    """What was handed in is changed.

    +=, a slice on the left of =, sort, pop and del write into what came in, and the caller still
    needs it. Which of your lines does so, and what makes a copy?
    """
    return got.text.startswith("your function changed its input")


@slip
def not_refused(got, want):
    """What must be refused is accepted.

    The case says what is wrong with it. Where do you look for that, before you compute?
    """
    return isinstance(want, Failure) and not isinstance(got, Failure)


@slip
def wrong_kind_of_error(got, want):
    """It is refused, but with another kind of error than the one that was asked for.

    The error comes by itself, or you raise another one. Where do you look at what came in, and what
    do you raise?
    """
    return isinstance(want, Failure) and isinstance(got, Failure)


def _says(got, *words, error=Exception):
    return issubclass(got.error, error) and any(word in got.text for word in words)


@slip
def value_before_its_time(got, want):
    """A name is used before it has a value.

    Does each way through your function give it one, and does the loop that should have a turn?
    """
    return issubclass(got.error, UnboundLocalError)


@slip
def name_unknown(got, want):
    """A name is used that Python does not know here.

    Is it spelled as where you made it? Is it an argument, and is its module imported?
    """
    return issubclass(got.error, NameError)


@slip
def written_where_it_does_not_fit(got, want):
    """A result is written into an array that has no room for it.

    @= and += keep the array on their left: its shape, its kind, and it may be the caller's. Which
    of your lines does that, and what makes a new array?
    """
    return _says(got, "Output operand", "output operand")


@slip
def product_does_not_fit(got, want):
    """In a product of matrices the inner axes are not equally long.

    The last axis of the left one meets the last but one of the right one. Print both shapes: is one
    turned over, or in the wrong place?
    """
    return _says(got, "core dimension", "not aligned", "shape-mismatch for sum")


@slip
def shapes_do_not_fit(got, want):
    """Two arrays come together whose shapes do not fit.

    NumPy lays shapes side by side from the right: two sizes must be equal, or one of them 1. Print
    both shapes. Is an axis missing, such as keepdims leaves, or is one turned over?
    """
    return _says(got, "broadcast", "must match exactly", "setting an array element with a sequence",
                 "inhomogeneous")


@slip
def numbers_do_not_fill_the_shape(got, want):
    """There are more or fewer numbers than the shape asks for.

    Count them in front of the reshape, and multiply the sizes of the shape. Which of the two is
    wrong?
    """
    return _says(got, "cannot reshape", "buffer size", "buffer is smaller")


@slip
def axis_is_not_there(got, want):
    """An axis is asked for that the array does not have.

    Arrays with more or fewer axes come in as well. Which number means the last axis of each?
    """
    return _says(got, "for array of dimension", "too many indices", "subscripts", "dimensions",
                 "-dimensional", "values to unpack", "tuple index out of range", "index to scalar",
                 "object of type 'numpy.float32' has no len()",
                 "'numpy.float32' object is not iterable")


@slip
def place_is_not_there(got, want):
    """A place is asked for that is not there.

    Places count from 0, so the last one is the length less 1. Print the place and the length: which
    is not what you thought?
    """
    return issubclass(got.error, IndexError)


@slip
def key_is_not_there(got, want):
    """Something is looked up that the table does not have.

    The error shows the key. Compare it with a key of the table, and its kind too: b"a", "a" and 97
    are three different keys.
    """
    return issubclass(got.error, KeyError)


@slip
def text_and_bytes(got, want):
    """Text and bytes are mixed.

    "a" is text, b"a" is bytes. encode makes bytes of a text, decode makes a text of bytes. Which of
    the two do you have at this line?
    """
    return _says(got, "bytes", "codec") and issubclass(got.error, (TypeError, ValueError))


@slip
def min_of_nothing(got, want):
    """The smallest or largest of nothing is asked for.

    min and max need something to choose from. When is there nothing, and what is right then?
    """
    return _says(got, "empty", "zero-size", error=ValueError)


@slip
def truth_of_many(got, want):
    """One yes or no is made of a whole array.

    if and and ask for a single answer. Do you mean any of the numbers, all of them, or each for
    itself?
    """
    return _says(got, "ambiguous", error=ValueError)


@slip
def too_large_for_its_kind(got, want):
    """A number is too large, or too small, for the kind that is to hold it.

    A byte (uint8) holds 0 to 255, a float ends near 1.8e308. Print the number before the line that
    is shown: is it the one that you meant?
    """
    return issubclass(got.error, OverflowError)


@slip
def divided_by_zero(got, want):
    """A number is divided by 0.

    When is the number below the line 0, and what is right then?
    """
    return issubclass(got.error, ArithmeticError)


@slip
def calls_itself_for_ever(got, want):
    """The function calls itself again and again.

    For which input does it give a result without a call of itself?
    """
    return issubclass(got.error, RecursionError)


@slip
def arguments_do_not_fit(got, want):
    """A function is called with too few or too many arguments.

    Compare the call with the line that begins with def. Which argument is missing, or too many?
    """
    return _says(got, "positional argument", "required keyword", "unexpected keyword",
                 error=TypeError)


@slip
def kinds_do_not_fit(got, want):
    """Something of the wrong kind is used, such as a list where a number belongs.

    Print its type at the line that is shown. What did you think that it is?
    """
    return issubclass(got.error, (TypeError, AttributeError))


# The right numbers, in another form

@slip
def float64_for_float32(got, want):
    """The numbers are as wanted, but come out as float64, twice as wide.

    np.zeros, np.ones, np.eye and Python's own numbers in an array are float64. What dtype came in?
    """
    return got.dtype == np.float64 and want.dtype != np.float64 and _alike(got, want)


@slip
def another_dtype(got, want):
    """The numbers are as wanted, but of another dtype.

    Each array has a dtype. Which line changes it?
    """
    return got.dtype != want.dtype and _alike(got, want)


@slip
def list_for_an_array(got, want):
    """A list comes back where an array is asked for.

    Loops that append give a list. What makes one array of it, or do you need the loop at all?
    """
    return isinstance(got, (list, tuple)) and isinstance(want, np.ndarray) and _alike(
        np.array(got), want)


@slip
def turned_over(got, want):
    """Rows and columns have changed places.

    Is there a .T too many, or one missing?
    """
    return any(_alike(got, other) for other in (want.T, want.swapaxes(-1, -2)))


@slip
def axes_lost(got, want):
    """The numbers are as wanted, but in another shape.

    Compare the two shapes axis by axis. Which of your steps adds an axis or takes one away?
    """
    return got.size == want.size and got.shape != want.shape and _alike(
        got.reshape(-1), want.reshape(-1))


@slip
def one_row_only(got, want):
    """Only one row comes back.

    The others are made and dropped, or never made. Where does the loop end, and where are the rows
    kept?
    """
    return any(_alike(got, other) for other in (want[0], want[-1], want[:1], want[-1:]))


@slip
def only_one_of_them(got, want):
    """A part of the result is missing, at its beginning or at its end.

    A range and a slice leave their end out by themselves. Where do yours begin, and where do they
    end? Does a return stand inside of the loop?
    """
    return 0 < len(want) and len(got) < len(want) and any(
        _alike(got, other) for other in (want[:len(got)], want[len(want) - len(got):]))


@slip
def backwards(got, want):
    """What comes back runs the other way.

    The first stands last. On which side do you add, and does something turn the order over?
    """
    return _alike(got, want[::-1])


@slip
def in_order_of_size(got, want):
    """The result is sorted, and its own order is lost.

    sort and sets forget which came first. Which order is asked for?
    """
    return isinstance(got, (list, tuple)) and len(got) > 1 and _alike(got, sorted(want))


@slip
def one_list_a_turn(got, want):
    """There are lists in a list where one flat list is asked for.

    Does += or append put many things at the end?
    """
    return isinstance(got, list) and isinstance(got[0], (list, tuple, np.ndarray)) and _alike(
        [one for some in got for one in some], want)


@slip
def text_for_numbers(got, want):
    """A text comes back where a list is asked for.

    A text looks like the list when it is printed, but nobody can count with it. What collects
    numbers?
    """
    return isinstance(got, str) and isinstance(want, (list, tuple))


@slip
def a_set(got, want):
    """A set comes back, which knows no order and holds nothing twice.

    What keeps the order, and what comes twice?
    """
    return isinstance(got, (set, frozenset))


@slip
def number_of_another_kind(got, want):
    """The number is as wanted, but of another kind.

    A count, a place and an id are whole numbers. Where does a fraction or a text come in?
    """
    return not isinstance(want, np.ndarray) and _alike(got, want)


@slip
def bytes_for_text(got, want):
    """The text comes back as bytes, or as Python writes bytes.

    decode makes a text of bytes; str and repr only show them. Which one do you use?
    """
    return isinstance(want, str) and (isinstance(got, bytes) or "b'" in got or 'b"' in got)


@slip
def a_generator(got, want):
    """A generator comes back: there is a yield, or a for in round brackets.

    It has not computed anything yet. Where do the results wait until all are there, and what hands
    them over?
    """
    return "gives a generator" in got.text


@slip
def another_text_among_results(got, want):
    """All is right but a text: it is another one than the task names, or names for another case.

    Texts must be equal in every letter. Which texts does the task name, and when is each one right?
    """
    pairs = list(zip(got, want, strict=True))
    texts = [pair[0] == pair[1] for pair in pairs if all(isinstance(one, str) for one in pair)]
    others = [pair for pair in pairs if not isinstance(pair[1], str)]
    return isinstance(want, tuple) and not all(texts) and bool(others) and all(
        same(*pair) for pair in others)


@slip
def another_kind_of_thing(got, want):
    """Something of another kind comes back.

    The task says what to give back: a number, a text, a list, a dict, an array. What is yours?
    """
    kinds = (str, bytes, dict, np.ndarray, (list, tuple), (int, float, np.generic))
    return not isinstance(got, Failure) and not isinstance(want, Failure) and [
        isinstance(got, kind) for kind in kinds] != [isinstance(want, kind) for kind in kinds]


@slip
def other_axes(got, want):
    """The result has other axes than it should have.

    Compare the two shapes: what should each axis count? Write the shape behind each of your lines,
    and find the first that is wrong.
    """
    return got.shape != want.shape


@slip
def off_by_one(got, want):
    """The number is 1 too large or too small.

    Python counts from 0 and leaves the end of a range out. Which of the two did you count twice, or
    not at all?
    """
    return isinstance(want, (int, np.integer)) and abs(got - want) == 1


@slip
def white_space(got, want):
    """The text is as wanted but for its white space.

    Is something stripped, split, or put between the parts?
    """
    return isinstance(got, str) and got != want and "".join(got.split()) == "".join(want.split())


@slip
def letters_lost(got, want):
    """Some characters come out as others.

    All that is plain ASCII is right. How many bytes has another character, and which encoding are
    they in?
    """
    plain = "".join(one for one in want if ord(one) < 128)
    return isinstance(want, str) and plain != want and [
        one for one in got if ord(one) < 128 and one != "?"] == list(plain)


# Numbers that are off in a way that can be told

def _numbers(got, want):
    """Both as float64, where they have one shape and enough numbers that are not 0."""
    if got.shape != want.shape or want.size < 3 or not np.isfinite(got).all():
        return None
    return got.astype(np.float64), want.astype(np.float64)


def _even(values, axis=None):
    """Is each row (or column, or all) of one size, where the values count (nan: does not count)?"""
    spread = np.nanmax(values, axis=axis) - np.nanmin(values, axis=axis)
    size = 1e-6 + np.abs(np.nanmax(values, axis=axis))
    return np.isfinite(values).sum() >= 3 and (np.nan_to_num(spread) <= 1e-3 * size).all()


def _ratio(got, want):
    got, want = _numbers(got, want)
    if (np.abs(got[np.abs(want) < 1e-4]) > 1e-3).any():
        return np.array([np.nan])               # what should be 0 is not: no factor makes that
    ratio = np.where(np.abs(want) < 1e-4, np.nan, got / want)
    return ratio if np.nanmax(np.abs(ratio)) > 1e-4 else np.array([np.nan])


@slip
def sign_turned(got, want):
    """Every number has the other sign.

    Is something taken away the wrong way round, or is there a minus too many?
    """
    return np.abs(want).max() > 0 and _alike(got, -want)


@slip
def sign_lost(got, want):
    """The minus signs are lost.

    Is there an abs or a square too many?
    """
    return _alike(got, np.abs(want))


@slip
def made_whole(got, want):
    """The numbers are made whole.

    // and int cut the fraction off, round moves it. Which of your steps does so?
    """
    return any(_alike(got, whole(want)) for whole in (np.round, np.floor, np.trunc))


@slip
def all_by_one_amount(got, want):
    """All numbers are off by one and the same amount.

    Take what is wanted away from what you got. Which number of the task is that, and is it added
    too often or not at all?
    """
    got, want = _numbers(got, want)
    return _even(got - want)


@slip
def all_by_one_factor(got, want):
    """All numbers are off by one and the same factor.

    Divide what you got by what is wanted. Which number of the task is that, or its root or its
    square? Is a sum taken for a mean?
    """
    ratio = _ratio(got, want)
    return _even(ratio) and np.nanmin(np.abs(ratio - 1)) > 0.01     # nearer to 1: digits


@slip
def rows_by_a_factor(got, want):
    """Each row is off by a factor of its own.

    What is the same for a whole row and different for the next one is wrong: a sum, a mean, a
    length, a root. Along which axis is it taken, and of which numbers?
    """
    return want.ndim > 1 and want.shape[-1] > 2 and _even(_ratio(got, want), axis=-1)


@slip
def rows_by_an_amount(got, want):
    """Each row is off by an amount of its own.

    What is added to a whole row or taken from it is wrong: a mean, a largest number. Along which
    axis is it taken?
    """
    got, want = _numbers(got, want)
    return want.ndim > 1 and want.shape[-1] > 2 and _even(got - want, axis=-1)


@slip
def columns_by_an_amount(got, want):
    """Each column is off by an amount of its own.

    What is added to a whole column is wrong. Which of your arguments has one number a column, and
    where does it go?
    """
    got, want = _numbers(got, want)
    return want.ndim > 1 and want.shape[-2] > 2 and _even(got - want, axis=-2)


@slip
def columns_by_a_factor(got, want):
    """Each column is off by a factor of its own.

    What stretches a whole column is wrong. Which of your arguments has one number a column, and
    where does it go?
    """
    return want.ndim > 1 and want.shape[-2] > 2 and _even(_ratio(got, want), axis=-2)


@slip
def nan_or_infinity(got, want):
    """There is a nan or an infinity where a number is wanted.

    0 divided by 0 is nan, and so is infinity less infinity; one nan spoils all that it touches.
    Print each step: where does the first one appear?
    """
    return got.shape == want.shape and bool((~np.isfinite(got) & np.isfinite(want)).any())


@slip
def only_the_first_row(got, want):
    """The first row is right, the others are not.

    What is true of the first row only: its place is 0, nothing stands before it? What do you do for
    each of the others?
    """
    return want.ndim > 1 and len(want) > 1 and _alike(got[0], want[0])


@slip
def only_the_last_row(got, want):
    """The last row is right, the others are not.

    Does a loop write each row over the one before? What do the others lack?
    """
    return want.ndim > 1 and len(want) > 1 and _alike(got[-1], want[-1])


@slip
def few_digits(got, want):
    """The numbers are nearly right: the digits at the end are not.

    A constant with too few digits, a narrow dtype, a small number added or left out, or a step in
    another order. Which of your steps is not exactly the task's?
    """
    return got.shape == want.shape and bool((np.abs(got - want) <= 2e-3 * (1 + abs(want))).all())
