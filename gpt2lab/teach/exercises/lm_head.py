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
    Case("a norm of the caller's own", made(2, 4, 6, 18), {"layer_norm": half_norm}),
]
PARTS = [
    Case("small integers",
         (np.array([3.0, 4.0]), np.array([[1.0, 0.0], [0.0, 2.0], [-3.0, -4.0]]))),
    Case("five tokens", (random(4, seed=31).astype(float), random(5, 4, seed=32).astype(float))),
    Case("as many tokens as factors",
         (random(4, seed=33).astype(float), random(3, 4, seed=34).astype(float))),
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
