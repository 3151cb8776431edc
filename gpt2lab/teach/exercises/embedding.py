"""Lesson 04: embed, its strict version, the nearest rows."""
import numpy as np

from gpt2lab.embedding import embed

from . import Case, exercise, mistake, random

# What the lesson's map shows: which words have one row

def one_token_words(text, encode, unseen, most):
    """({word: id}, {word that was left out: why}) of words with spaces between them.

    encode: text -> ids; unseen (V,): the tokens that training never saw.
    Raises: ValueError with a sentence where less than three words are left, or more than `most`.
    """
    found, left_out = {}, {}
    for word in dict.fromkeys(text.split()):
        ids = encode(" " + word)
        if len(ids) > 1:
            left_out[word] = f"{len(ids)} tokens"
        elif unseen[ids[0]]:
            left_out[word] = "never seen in training"
        else:
            found[word] = ids[0]
    if len(found) < 3:
        reasons = ", ".join(f"{word} ({why})" for word, why in left_out.items())
        raise ValueError("a map needs three words that are one token each."
                         + (f" Left out: {reasons}." if left_out else ""))
    if len(found) > most:
        raise ValueError(f"{len(found)} words are too many: {most} fit on the map")
    return found, left_out


# embed

@mistake(of=embed)
def no_position(ids, wte, wpe, start=0):
    """The position rows are forgotten.

    Each token has its row, but nothing says where it stands. What is the second table for?
    """
    return wte[ids]


@mistake(of=embed)
def no_token(ids, wte, wpe, start=0):
    """The token rows are forgotten: there are only position rows.

    The rows say where, but not what. Which table do the ids belong to?
    """
    return wpe[start:start + len(ids)]


@mistake(of=embed)
def start_ignored(ids, wte, wpe, start=0):
    """The positions always begin at 0: start is not used.

    A later token may come in a call of its own. Which position has the first of these ids?
    """
    return wte[ids] + wpe[:len(ids)]


@mistake(of=embed)
def all_positions(ids, wte, wpe, start=0):
    """The whole position table is added, not the rows of these positions.

    T tokens need T position rows. Which slice of wpe has them?
    """
    return wte[ids] + wpe


@mistake(of=embed)
def slice_ends_early(ids, wte, wpe, start=0):
    """The slice of positions ends at the number of tokens, wherever it starts.

    It begins at start and must be as long as ids. Where does it end?
    """
    return wte[ids] + wpe[start:len(ids)]


@mistake(of=embed)
def from_one(ids, wte, wpe, start=0):
    """The positions are counted from 1.

    The first token of a text stands at position 0. Is there a + 1 too many?
    """
    return wte[ids] + wpe[np.arange(len(ids)) + start + 1]


@mistake(of=embed)
def one_position_for_all(ids, wte, wpe, start=0):
    """All tokens get the position row of the first one.

    NumPy spreads one row over all the others. How many position rows does a text of T tokens need?
    """
    return wte[ids] + wpe[start]


@mistake(of=embed)
def position_by_id(ids, wte, wpe, start=0):
    """The id picks the position row as well.

    The id says which token it is. What says where the token stands?
    """
    return wte[ids] + wpe[ids]


@mistake(of=embed)
def tables_swapped(ids, wte, wpe, start=0):
    """The two tables have changed places.

    The ids pick rows of one table, the places rows of the other. Which is which?
    """
    return wpe[ids] + wte[start:start + len(ids)]


@mistake(of=embed)
def start_added_to_ids(ids, wte, wpe, start=0):
    """start is added to the ids, not to the positions.

    A later token is still the same token. Which of the two indices moves with start?
    """
    return wte[ids + start] + wpe[:len(ids)]


@mistake(of=embed)
def product(ids, wte, wpe, start=0):
    """The two rows are multiplied.

    Read the formula again: how do the two rows become one?
    """
    return wte[ids] * wpe[start:start + len(ids)]


@mistake(of=embed)
def mean(ids, wte, wpe, start=0):
    """The two rows are averaged.

    That halves every number. The formula has no division.
    """
    return (wte[ids] + wpe[start:start + len(ids)]) / 2


@mistake(of=embed)
def concatenated(ids, wte, wpe, start=0):
    """The two rows stand side by side, so each is 2 D long.

    The model expects D numbers a token. How can two rows of length D become one of length D?
    """
    return np.concatenate([wte[ids], wpe[start:start + len(ids)]], axis=-1)


@mistake(of=embed)
def order_lost(ids, wte, wpe, start=0):
    """The ids are sorted before the look-up.

    Row t of the result belongs to ids[t]. What does sorting do to the text?
    """
    return wte[np.sort(ids)] + wpe[start:start + len(ids)]


# strict_embed

def strict_embed(ids, wte, wpe, start=0):
    """The right answer to the first exercise: the library refuses just this."""
    return embed(ids, wte, wpe, start)


@mistake(of=strict_embed)
def start_may_be_negative(ids, wte, wpe, start=0):
    """A negative start is not refused.

    NumPy counts negative places from the end. Between which two numbers must start lie?
    """
    return wte[ids] + wpe[start:][:1] if start < 0 else embed(ids, wte, wpe, start)


@mistake(of=strict_embed)
def nothing_refused(ids, wte, wpe, start=0):
    """Nothing is refused: NumPy decides what happens.

    A slice past the end is only shorter, and -1 is the last row. Which limits have V and N?
    """
    return wte[ids] + wpe[start:start + len(ids)]


@mistake(of=strict_embed)
def positions_unchecked(ids, wte, wpe, start=0):
    """The ids are checked, the positions are not.

    The last of these tokens stands at start + T - 1. Which is the last row of wpe?
    """
    if len(ids) and not 0 <= ids.min() <= ids.max() < len(wte):
        raise ValueError("ids")
    return nothing_refused(ids, wte, wpe, start)


@mistake(of=strict_embed)
def ids_unchecked(ids, wte, wpe, start=0):
    """The positions are checked, the ids are not.

    NumPy takes an id of -1 for the last row. Which ids does the token table have?
    """
    if not 0 <= start <= len(wpe) - len(ids):
        raise ValueError("positions")
    return nothing_refused(ids, wte, wpe, start)


@mistake(of=strict_embed)
def any_id_will_do(ids, wte, wpe, start=0):
    """Ids are refused only if all of them are wrong.

    One wrong id is enough. Do you look at the smallest and the largest, or at all of them together?
    """
    if not 0 <= start <= len(wpe) - len(ids) or ((ids < 0) | (ids >= len(wte))).all():
        raise ValueError("ids")
    return wte[np.clip(ids, -len(wte), len(wte) - 1)] + wpe[start:start + len(ids)]


@mistake(of=strict_embed)
def ids_against_positions(ids, wte, wpe, start=0):
    """The ids are compared with the number of positions, not with the number of tokens.

    There are V rows in one table and N in the other. Which one does an id choose a row of?
    """
    if not 0 <= start <= len(wpe) - len(ids) or ids.min() < 0 or ids.max() >= len(wpe):
        raise ValueError("ids")
    return wte[ids] + wpe[start:start + len(ids)]


@mistake(of=strict_embed)
def start_forgotten(ids, wte, wpe, start=0):
    """Only the number of ids is compared with N; start is left out.

    With start = 3 one token can already be too many. Where does the last token stand?
    """
    if len(ids) > len(wpe) or not 0 <= ids.min() <= ids.max() < len(wte):
        raise ValueError("ids or positions")
    return nothing_refused(ids, wte, wpe, start)


@mistake(of=strict_embed)
def last_place_refused(ids, wte, wpe, start=0):
    """The last position is refused too.

    Positions go from 0 to N - 1, so N tokens fit. Is your comparison one too strict?
    """
    if start + len(ids) >= len(wpe):
        raise ValueError("positions")
    return embed(ids, wte, wpe, start)


@mistake(of=strict_embed)
def positions_go_round(ids, wte, wpe, start=0):
    """Positions past the end begin again at 0.

    Then two tokens share a place, and the model cannot know. This call must be refused.
    """
    if not 0 <= ids.min() <= ids.max() < len(wte):
        raise ValueError("ids")
    return wte[ids] + wpe[(start + np.arange(len(ids))) % len(wpe)]


# nearest

def nearest(row, table, k):
    """The right answer to the second exercise."""
    cosines = table @ row / (np.linalg.norm(table, axis=-1) * np.linalg.norm(row))
    return _best(-cosines, k)


@mistake(of=nearest)
def dot_products(row, table, k):
    """The dot products are compared, so long rows win.

    The cosine asks for the direction only. What do you divide a dot product by?
    """
    return _best(-(table @ row), k)


@mistake(of=nearest)
def distances(row, table, k):
    """The distances are compared.

    A long row of the same direction is far away, but its cosine is 1. Which formula is asked for?
    """
    return _best(np.linalg.norm(table - row, axis=-1), k)


@mistake(of=nearest)
def farthest(row, table, k):
    """The smallest cosines come first.

    argsort sorts upwards. Which end do you want, and which comes first?
    """
    return _best(table @ row / np.linalg.norm(table, axis=-1), k)


@mistake(of=nearest)
def worst_of_the_best_first(row, table, k):
    """The right ids, in the wrong order: the best one stands last.

    The nearest row should come first. Which way does your list run?
    """
    return nearest(row, table, k)[::-1]


@mistake(of=nearest)
def sign_lost(row, table, k):
    """The sign of the cosine is lost, so opposite rows count as near.

    -1 means the opposite direction. Is there an abs or a square too many?
    """
    return _best(-np.abs(table @ row / np.linalg.norm(table, axis=-1)), k)


@mistake(of=nearest)
def square_lengths(row, table, k):
    """The dot product is divided by the square of the length.

    Then short rows win. The length is the root of the sum of the squares.
    """
    return _best(-(table @ row / (table ** 2).sum(axis=-1)), k)


@mistake(of=nearest)
def cosines_given(row, table, k):
    """The cosines come back, not the ids.

    You know how near they are; the question is which rows they are. What does argsort give?
    """
    cosines = table @ row / (np.linalg.norm(table, axis=-1) * np.linalg.norm(row))
    return list(np.sort(cosines)[::-1][:k])


@mistake(of=nearest)
def one_too_few(row, table, k):
    """One id is missing at the front: the row itself is left out.

    Here the row counts as its own nearest, so that any row may be asked for. Where does your list
    begin?
    """
    return _best(-(table @ row / np.linalg.norm(table, axis=-1)), k + 1)[1:]


def _best(keys, k):
    return [int(i) for i in np.argsort(keys, kind="stable")[:k]]


# Cases

IDS = np.array([2, 0, 2])
WTE, WPE = random(6, 4, seed=1), random(6, 4, seed=2)
HAND = (np.array([[1, 2], [3, 4], [5, 6]], np.float32),
        np.array([[10, 0], [20, 0], [30, 0], [40, 0]], np.float32))
CASES = [
    Case("the hand example", (IDS, *HAND)),
    Case("the hand example from position 1 on", (IDS, *HAND), {"start": 1}),
    Case("one token", (np.array([5]), WTE, WPE)),
    Case("one token at position 3", (np.array([1]), WTE, WPE), {"start": 3}),
    Case("four tokens", (np.array([5, 1, 1, 3]), WTE, WPE)),
    Case("four tokens from position 1 on", (np.array([0, 4, 2, 3]), WTE, WPE), {"start": 1}),
    Case("more tokens in the table than positions",
         (np.array([3, 2, 8]), random(9, 4, seed=3), random(4, 4, seed=4))),
]
LARGE = random(9, 4, seed=7)                # V = 9, N = 6
LIMITS = [
    Case("three tokens that fit", (IDS, LARGE, WPE)),
    Case("a text that fills the context", (np.array([0, 1, 2, 3, 4, 5]), LARGE, WPE)),
    Case("one token past the context", (np.array([0, 1, 2, 3, 4, 5, 0]), LARGE, WPE)),
    Case("one token at position N", (np.array([1]), LARGE, WPE), {"start": 6}),
    Case("two tokens of which one fits", (np.array([1, 2]), LARGE, WPE), {"start": 5}),
    Case("three tokens where one fits", (IDS, LARGE, WPE[:1])),
    Case("start -2", (np.array([1]), LARGE, WPE), {"start": -2}),
    Case("an id above N, below V", (np.array([7, 1]), LARGE, WPE)),
    Case("id -1", (np.array([1, -1]), LARGE, WPE)),
    Case("id V", (np.array([9, 1]), LARGE, WPE)),
]
TABLE = np.array([[1, 0], [3, 0.3], [0.1, 0.05], [-2, 0.1], [0.3, 5], [0.5, 0.5], [-0.2, -3]],
                 np.float32)
NEAR = [
    Case("a row of the table", (TABLE[0], TABLE, 3)),
    Case("a short row of the table", (TABLE[2], TABLE, 2)),
    Case("the nearest alone", (TABLE[5], TABLE, 1)),
    Case("all rows, in order", (np.array([1, 0.8], np.float32), TABLE, 7)),
    Case("a row that is not in the table", (np.array([0.2, -1], np.float32), TABLE, 3)),
    Case("rows of 8 numbers", (random(8, seed=5), random(12, 8, seed=6, scale=2), 5)),
]

exercise(embed, CASES)
exercise(strict_embed, LIMITS)
exercise(nearest, NEAR)
