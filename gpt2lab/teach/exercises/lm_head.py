"""Lesson 10: lm_head; a logit taken apart; the logit lens."""
import numpy as np

from gpt2lab.inside import logit_parts
from gpt2lab.layernorm import layer_norm as library_norm
from gpt2lab.lm_head import lm_head
from gpt2lab.softmax import softmax

from . import Case, exercise, mistake, random


@mistake(of=lm_head)
def no_norm(x, gain, bias, wte, epsilon=1e-5, layer_norm=library_norm):
    """The final norm (ln_f) is forgotten.

    The stream is multiplied with the table as it comes out of the last block. What does the
    formula do with x first?
    """
    return x @ wte.T


@mistake(of=lm_head)
def no_transpose(x, gain, bias, wte, epsilon=1e-5, layer_norm=library_norm):
    """The table is not transposed.

    normed has shape (T, D), the table (V, D). NumPy refuses that, unless V = D by chance: then the
    numbers are wrong without a word. Which shape must stand on the right of @?
    """
    if x.shape[-1] != wte.shape[0]:             # NumPy's own sentence is too long for the gallery
        raise ValueError(f"{x.shape} @ {wte.shape} does not fit")
    return layer_norm(x, gain, bias, epsilon) @ wte


@mistake(of=lm_head)
def gain_and_bias_swapped(x, gain, bias, wte, epsilon=1e-5, layer_norm=library_norm):
    """Gain and bias are swapped.

    Both have shape (D,), so nothing complains. In which order does layer_norm take them?
    """
    return layer_norm(x, bias, gain, epsilon) @ wte.T


@mistake(of=lm_head)
def with_softmax(x, gain, bias, wte, epsilon=1e-5, layer_norm=library_norm):
    """A softmax is applied: these are probabilities, not logits.

    The head gives scores. They become probabilities in the next lesson. Where does your function
    go one step too far?
    """
    return softmax(layer_norm(x, gain, bias, epsilon) @ wte.T)


@mistake(of=lm_head)
def norm_down_the_columns(x, gain, bias, wte, epsilon=1e-5, layer_norm=library_norm):
    """The norm goes down the columns, over the tokens, not along each row.

    Each row is normed on its own. Which axis of x (T, D) runs along a row? The argument layer_norm
    does it right.
    """
    spread = np.sqrt(x.var(axis=0) + epsilon)
    return ((x - x.mean(axis=0)) / spread * gain + bias) @ wte.T


@mistake(of=lm_head)
def gain_and_bias_left_out(x, gain, bias, wte, epsilon=1e-5, layer_norm=library_norm):
    """The row is normed, but gain and bias of ln_f are left out.

    Training gave each column its own stretch and shift. What becomes of the arguments gain and
    bias in your function?
    """
    return layer_norm(x, np.ones_like(gain), np.zeros_like(bias), epsilon) @ wte.T


@mistake(of=lm_head)
def cosine_only(x, gain, bias, wte, epsilon=1e-5, layer_norm=library_norm):
    """The rows of the table are brought to length 1 first.

    The formula has a plain dot product: a long row counts more. What do you divide by that you
    should leave alone?
    """
    lengths = np.linalg.norm(wte, axis=-1, keepdims=True)
    return layer_norm(x, gain, bias, epsilon) @ (wte / lengths).T


@mistake(of=lm_head)
def divided_by_root_of_D(x, gain, bias, wte, epsilon=1e-5, layer_norm=library_norm):
    """The logits are divided by the root of D.

    Attention scales its scores. Does the formula of the head scale anything?
    """
    return layer_norm(x, gain, bias, epsilon) @ wte.T / float(x.shape[-1]) ** 0.5


@mistake(of=lm_head)
def last_row_only(x, gain, bias, wte, epsilon=1e-5, layer_norm=library_norm):
    """Only the last row comes out.

    That is enough to write text, and a later section measures what it saves. But here the
    caller decides: T rows in, T rows out. What picks one row in your function?
    """
    return lm_head(x[-1:], gain, bias, wte, epsilon, layer_norm)


@mistake(of=lm_head)
def epsilon_ignored(x, gain, bias, wte, epsilon=1e-5, layer_norm=library_norm):
    """The argument epsilon is not handed on to the norm.

    The caller may choose epsilon. Which arguments does layer_norm get from you?
    """
    return layer_norm(x, gain, bias) @ wte.T


@mistake(of=lm_head)
def norm_ignored(x, gain, bias, wte, epsilon=1e-5, layer_norm=library_norm):
    """The norm that is handed in as layer_norm is not used.

    The model can be run with another norm, yours for example. Call the argument layer_norm; what do
    you call now?
    """
    return lm_head(x, gain, bias, wte, epsilon)


@mistake(of=lm_head)
def norm_after_the_table(x, gain, bias, wte, epsilon=1e-5, layer_norm=library_norm):
    """The logits are normed, not the stream.

    Gain and bias have D numbers, one for each column of the stream; a row of logits has V. Which of
    the two steps comes first?
    """
    return layer_norm(x @ wte.T, gain, bias, epsilon)


@mistake(of=lm_head)
def table_normed(x, gain, bias, wte, epsilon=1e-5, layer_norm=library_norm):
    """The rows of the table are normed, not the rows of the stream.

    Both have D numbers, so nothing complains. Which letter stands inside norm() in the formula?
    """
    return x @ layer_norm(wte, gain, bias, epsilon).T


@mistake(of=lm_head)
def normed_twice(x, gain, bias, wte, epsilon=1e-5, layer_norm=library_norm):
    """The norm is applied twice.

    The second one undoes the gain and the bias of the first. How often do you call layer_norm?
    """
    return layer_norm(layer_norm(x, gain, bias, epsilon), gain, bias, epsilon) @ wte.T


@mistake(of=lm_head)
def stream_added(x, gain, bias, wte, epsilon=1e-5, layer_norm=library_norm):
    """The stream is added to the normed rows.

    Attention and MLP add what they made to the stream. Does the formula of the head add anything?
    """
    return (x + layer_norm(x, gain, bias, epsilon)) @ wte.T


@mistake(of=lm_head)
def gain_and_bias_alone(x, gain, bias, wte, epsilon=1e-5, layer_norm=library_norm):
    """Gain and bias are applied, but mean and deviation are not.

    The norm brings each row to mean 0 and variance 1 before it stretches. Which function does all
    of it, and is its result used?
    """
    return (x * gain + bias) @ wte.T


def _own_norm(x, gain, bias, root):
    """A norm written out, with another root."""
    return (x - x.mean(axis=-1, keepdims=True)) / root * gain + bias


@mistake(of=lm_head)
def gain_left_out(x, gain, bias, wte, epsilon=1e-5, layer_norm=library_norm):
    """The gain of ln_f is left out.

    Which argument is not used in your function? layer_norm takes it, too.
    """
    return layer_norm(x, np.ones_like(gain), bias, epsilon) @ wte.T


@mistake(of=lm_head)
def bias_left_out(x, gain, bias, wte, epsilon=1e-5, layer_norm=library_norm):
    """The bias of ln_f is left out.

    Which argument is not used in your function? layer_norm takes it, too.
    """
    return layer_norm(x, gain, np.zeros_like(bias), epsilon) @ wte.T


@mistake(of=lm_head)
def epsilon_behind_the_root(x, gain, bias, wte, epsilon=1e-5, layer_norm=library_norm):
    """The norm is written out, and epsilon is added behind the root.

    In lesson 05 epsilon stands with the variance. And why write it again? The argument layer_norm
    does it right.
    """
    return _own_norm(x, gain, bias, x.std(axis=-1, keepdims=True) + epsilon) @ wte.T


@mistake(of=lm_head)
def variance_over_one_less(x, gain, bias, wte, epsilon=1e-5, layer_norm=library_norm):
    """The norm is written out, and its variance divides by D - 1.

    LayerNorm takes the plain mean of D squares. And why write it again? The argument layer_norm
    does it right.
    """
    variance = x.var(axis=-1, keepdims=True, ddof=1)
    return _own_norm(x, gain, bias, np.sqrt(variance + epsilon)) @ wte.T


@mistake(of=lm_head)
def table_reshaped(x, gain, bias, wte, epsilon=1e-5, layer_norm=library_norm):
    """The table is reshaped to (D, V), not transposed.

    reshape keeps the order in memory and cuts it into other rows: the numbers of one token no
    longer stand together. What makes columns of the rows?
    """
    return layer_norm(x, gain, bias, epsilon) @ wte.reshape(wte.shape[::-1])


@mistake(of=lm_head)
def lying_on_its_side(x, gain, bias, wte, epsilon=1e-5, layer_norm=library_norm):
    """The answer is lying on its side: shape (V, T), not (T, V).

    One row for each position is asked for. What must stand on the left of @?
    """
    return wte @ layer_norm(x, gain, bias, epsilon).T


@mistake(of=lm_head)
def last_row_alone(x, gain, bias, wte, epsilon=1e-5, layer_norm=library_norm):
    """Only the last row comes out, and without its axis.

    That is enough to write text. But here the caller decides: T rows in, T rows out. What picks one
    row in your function?
    """
    return lm_head(x, gain, bias, wte, epsilon, layer_norm)[-1]


@mistake(of=lm_head)
def rows_averaged(x, gain, bias, wte, epsilon=1e-5, layer_norm=library_norm):
    """The rows are averaged: one row of logits for the whole text.

    Each position makes a guess of its own. Which step of yours mixes the positions?
    """
    return layer_norm(x, gain, bias, epsilon).mean(axis=0, keepdims=True) @ wte.T


@mistake(of=lm_head)
def best_ids(x, gain, bias, wte, epsilon=1e-5, layer_norm=library_norm):
    """The ids of the best tokens come out, not the logits.

    The head gives a score for every token. To choose one is the matter of the next lesson. Where
    does your function go one step too far?
    """
    return lm_head(x, gain, bias, wte, epsilon, layer_norm).argmax(axis=-1)


@mistake(of=lm_head)
def with_log_softmax(x, gain, bias, wte, epsilon=1e-5, layer_norm=library_norm):
    """These are the logarithms of the probabilities, not logits.

    They differ from the logits by one number in each row. Which step takes it away?
    """
    z = lm_head(x, gain, bias, wte, epsilon, layer_norm)
    z = z - z.max(axis=-1, keepdims=True)
    return z - np.log(np.exp(z).sum(axis=-1, keepdims=True))


@mistake(of=lm_head)
def maximum_taken_away(x, gain, bias, wte, epsilon=1e-5, layer_norm=library_norm):
    """The largest logit of each row is taken away.

    Softmax does so to keep exp small. Does the formula of the head take anything away?
    """
    z = lm_head(x, gain, bias, wte, epsilon, layer_norm)
    return z - z.max(axis=-1, keepdims=True)


@mistake(of=lm_head)
def both_of_length_1(x, gain, bias, wte, epsilon=1e-5, layer_norm=library_norm):
    """Only the cosines are left: both rows are brought to length 1.

    A logit is length times length times cosine. What do you divide by that you should leave alone?
    """
    x = layer_norm(x, gain, bias, epsilon)
    x, wte = (one / np.linalg.norm(one, axis=-1, keepdims=True) for one in (x, wte))
    return x @ wte.T


@mistake(of=lm_head)
def distances(x, gain, bias, wte, epsilon=1e-5, layer_norm=library_norm):
    """The score is how near two rows are, not their dot product.

    A long row far out in the right direction should score high, though it is far away. What does
    the formula do with each pair of rows?
    """
    x = layer_norm(x, gain, bias, epsilon)
    return -((x[:, None] - wte) ** 2).sum(axis=-1)


@mistake(of=lm_head)
def in_float64(x, gain, bias, wte, epsilon=1e-5, layer_norm=library_norm):
    """The logits come out as float64, twice as wide as what went in.

    np.zeros makes float64 unless you say otherwise, and astype leaves it behind. Which dtype has x?
    """
    return lm_head(x, gain, bias, wte, epsilon, layer_norm).astype(np.float64)


@mistake(of=lm_head)
def lists_of_logits(x, gain, bias, wte, epsilon=1e-5, layer_norm=library_norm):
    """The logits come back as a list of lists.

    The model goes on with an array. What makes an array of a list, and with which dtype?
    """
    return lm_head(x, gain, bias, wte, epsilon, layer_norm).tolist()


@mistake(of=lm_head)
def default_of_epsilon(x, gain, bias, wte, epsilon=1e-6, layer_norm=library_norm):
    """Without an epsilon from the caller another one is used.

    The default stands in the first line of the stub. Is yours the same?
    """
    return layer_norm(x, gain, bias, epsilon) @ wte.T


@mistake(of=lm_head)
def stream_overwritten(x, gain, bias, wte, epsilon=1e-5, layer_norm=library_norm):
    """The caller's x is overwritten.

    -=, /= and x[...] = write into the array that came in; the caller still needs it. Which of your
    lines do so, and what makes a new array?
    """
    x[...] = layer_norm(x, gain, bias, epsilon)
    return x @ wte.T


@mistake(of=logit_parts)
def parts_sum_of_squares(row, table):
    """A length is the sum of the squares, without the root.

    Pythagoras: the square of the length is the sum of the squares. What turns it into the length?
    """
    length, lengths = (row ** 2).sum(), (table ** 2).sum(axis=-1)
    cosines = table @ row / (length * lengths)
    return np.stack([np.full_like(lengths, length), lengths, cosines], axis=-1)


@mistake(of=logit_parts)
def parts_dot_as_cosine(row, table):
    """The third column is the dot product, not the cosine.

    The dot product is all three factors together. What is left when you divide by both lengths?
    """
    right = logit_parts(row, table)
    return np.stack([right[:, 0], right[:, 1], table @ row], axis=-1)


@mistake(of=logit_parts)
def parts_half_divided(row, table):
    """The dot product is divided by only one of the two lengths.

    A cosine lies between -1 and 1. Which length is still inside yours?
    """
    right = logit_parts(row, table)
    return np.stack([right[:, 0], right[:, 1], table @ row / right[:, 1]], axis=-1)


@mistake(of=logit_parts)
def parts_transposed(row, table):
    """The answer is lying on its side: shape (3, V), not (V, 3).

    One row for each token, three numbers in it. Along which axis do you stack?
    """
    return logit_parts(row, table).T


@mistake(of=logit_parts)
def parts_one_length_for_all(row, table):
    """One length serves all tokens: that of the whole table.

    Without an axis, norm looks through everything. Along which axis of (V, D) do the numbers of one
    token lie?
    """
    right = logit_parts(row, table)
    length = np.full(len(table), np.linalg.norm(table))
    return np.stack([right[:, 0], length, table @ row / (right[:, 0] * length)], axis=-1)


@mistake(of=logit_parts)
def parts_lengths_of_columns(row, table):
    """The lengths are those of the columns of the table, not of its rows.

    A token is a row of (V, D). Along which axis must you add up the squares?
    """
    lengths = np.linalg.norm(table, axis=0)
    length = np.full(len(table), np.linalg.norm(row))
    return np.stack([length, lengths, table @ row / (length * lengths)], axis=-1)


@mistake(of=logit_parts)
def parts_lengths_swapped(row, table):
    """The two lengths have changed places.

    Which column is asked for first: the length of the row, or those of the tokens?
    """
    return logit_parts(row, table)[:, [1, 0, 2]]


@mistake(of=logit_parts)
def parts_angle(row, table):
    """The third column is the angle, not its cosine.

    The dot product over both lengths is the cosine already. Which step goes too far?
    """
    right = logit_parts(row, table)
    right[:, 2] = np.arccos(np.clip(right[:, 2], -1, 1))
    return right


@mistake(of=logit_parts)
def parts_number_added(row, table):
    """A small number is added to what the dot product is divided by.

    Then short rows get too small a cosine. The rows here have a length: what do you divide by?
    """
    right = logit_parts(row, table)
    right[:, 2] = table @ row / (right[:, 0] * right[:, 1] + 1e-8)
    return right


def lens(streams, gain, bias, wte):
    """The right answer to the second exercise: (L, T), the best ids after each block."""
    return np.array([lm_head(x, gain, bias, wte).argmax(axis=-1) for x in streams])


@mistake(of=lens)
def lens_no_norm(streams, gain, bias, wte):
    """The final norm is left out.

    The lens asks: what if the model stopped here? Then ln_f and the table still come. Which
    function does both?
    """
    return np.array([(x @ wte.T).argmax(axis=-1) for x in streams])


@mistake(of=lens)
def lens_values(streams, gain, bias, wte):
    """The largest logits come out, not the ids that have them.

    max gives the value, and another function gives its place. The place in a row of logits is the
    id.
    """
    return np.array([lm_head(x, gain, bias, wte).max(axis=-1) for x in streams])


@mistake(of=lens)
def lens_wrong_axis(streams, gain, bias, wte):
    """The best is taken over the positions, not over the tokens of the vocabulary.

    Logits have shape (T, V). For each position you look for one of V tokens: along which axis?
    """
    return np.array([lm_head(x, gain, bias, wte).argmax(axis=0) for x in streams])


@mistake(of=lens)
def lens_last_position(streams, gain, bias, wte):
    """Only the last position is looked at.

    The answer has one row for each stream and one column for each position.
    """
    return np.array([lm_head(x, gain, bias, wte).argmax(axis=-1)[-1] for x in streams])


@mistake(of=lens)
def lens_transposed(streams, gain, bias, wte):
    """The answer is lying on its side: shape (T, L), not (L, T).

    One row for each stream is asked for. Along which axis do you join the rows?
    """
    return lens(streams, gain, bias, wte).T


@mistake(of=lens)
def lens_one_for_each_stream(streams, gain, bias, wte):
    """Each stream gives one number: the best place among all logits at once.

    Without an axis, argmax counts through the whole array. Along which axis lie the tokens of the
    vocabulary?
    """
    return np.array([lm_head(x, gain, bias, wte).argmax() for x in streams])


@mistake(of=lens)
def lens_last_stream(streams, gain, bias, wte):
    """Only the last stream is looked at.

    The answer has a row for each stream. Does your return stand in the loop, or is the result
    overwritten there?
    """
    return lens(streams[-1:], gain, bias, wte)


@mistake(of=lens)
def lens_worst(streams, gain, bias, wte):
    """These are the tokens with the smallest logit.

    argmin finds the smallest, and argsort begins with it. Where does the largest stand?
    """
    return np.array([lm_head(x, gain, bias, wte).argmin(axis=-1) for x in streams])


@mistake(of=lens)
def lens_as_floats(streams, gain, bias, wte):
    """The ids are floats.

    np.zeros makes float64 unless you say otherwise. Ids are whole numbers: which dtype holds them?
    """
    return lens(streams, gain, bias, wte).astype(float)


@mistake(of=lens)
def lens_as_lists(streams, gain, bias, wte):
    """The ids come back as a list.

    An array (L, T) is asked for. What makes an array of a list?
    """
    return lens(streams, gain, bias, wte).tolist()


@mistake(of=lens)
def lens_in_one_row(streams, gain, bias, wte):
    """All ids stand in one long row.

    One row for each stream is asked for. Which function joins arrays one below the other?
    """
    return lens(streams, gain, bias, wte).reshape(-1)


def half_norm(x, gain, bias, epsilon):
    """A norm that is none, to see whether the argument is used."""
    return x * gain / 2 + bias


HAND = [np.array(numbers, np.float32) for numbers in ([[1, 9]], [10, 10], [1, 2])]
TABLE = np.array([[1, 0], [0, 1], [1, 1]], np.float32)


def made(T, D, V, seed):
    """x, gain, bias, wte for T tokens."""
    return (random(T, D, seed=seed, scale=3, shift=1), random(D, seed=seed + 1, shift=1),
            random(D, seed=seed + 2), random(V, D, seed=seed + 3))


CASES = [
    Case("the numbers of the hand example", (*HAND, TABLE), {"epsilon": 9.0}),
    Case("three rows, seven tokens", made(3, 4, 7, 1)),
    Case("a square table: V = D", made(2, 4, 4, 5)),
    Case("a row of equal numbers", (np.full((1, 4), 7, np.float32), *made(1, 4, 6, 9)[1:])),
    Case("large numbers", (1e4 * random(2, 4, seed=13), *made(2, 4, 6, 14)[1:])),
    Case("a norm of the caller's own", made(2, 4, 4, 18), {"layer_norm": half_norm}),
    Case("numbers so small that epsilon counts", (random(2, 4, seed=22, scale=0.003),
                                                  *made(2, 4, 6, 23)[1:])),
]
PARTS = [
    Case("small integers",
         (np.array([3.0, 4.0]), np.array([[1.0, 0.0], [0.0, 2.0], [-3.0, -4.0]]))),
    Case("five tokens", (random(4, seed=31).astype(float), random(5, 4, seed=32).astype(float))),
    Case("as many tokens as factors",
         (random(4, seed=33).astype(float), random(3, 4, seed=34).astype(float))),
    Case("as many tokens as numbers in a row",
         (random(4, seed=35).astype(float), random(4, 4, seed=36).astype(float))),
    Case("very short rows",
         (random(4, seed=37) * 1e-7, random(5, 4, seed=38).astype(float) * 1e-7)),
]
LENS = [
    Case("two streams, three positions",
         ([random(3, 4, seed=41, scale=2, shift=1), random(3, 4, seed=42, scale=2)],
          *made(3, 4, 9, 43)[1:])),
    Case("one stream, one position", ([random(1, 4, seed=47, shift=2)], *made(1, 4, 9, 48)[1:])),
    Case("as many positions as tokens",
         ([random(5, 4, seed=51, shift=3), random(5, 4, seed=52)], *made(5, 4, 5, 53)[1:])),
]

exercise(lm_head, CASES)
exercise(logit_parts, PARTS)
exercise(lens, LENS)
