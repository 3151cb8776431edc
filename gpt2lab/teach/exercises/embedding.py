"""Lesson 04: embed, its strict version, the nearest rows."""
import numpy as np

from gpt2lab import embedding

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

def embed(ids, wte, wpe, start=0):
    """The right answer: any error will do where a table has no such row; here it is IndexError."""
    return wte[ids] + wpe[start + np.arange(len(ids))]


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


@mistake(of=embed)
def one_position_too_few(ids, wte, wpe, start=0):
    """The slice of positions is one row too short.

    A slice leaves its end out by itself. How many rows has wpe[1:4]?
    """
    return wte[ids] + wpe[start:start + len(ids) - 1]


@mistake(of=embed)
def one_position_too_many(ids, wte, wpe, start=0):
    """The slice of positions is one row too long.

    A slice leaves its end out by itself. How many rows has wpe[1:4], and how many ids are there?
    """
    return wte[ids] + wpe[start:start + len(ids) + 1]


@mistake(of=embed)
def positions_taken_away(ids, wte, wpe, start=0):
    """The position rows are taken away, not added.

    Which sign stands between the two rows in the formula?
    """
    return wte[ids] - wpe[start:start + len(ids)]


@mistake(of=embed)
def bare_positions(ids, wte, wpe, start=0):
    """The number of the place is added, not its row in the position table.

    Each place has a row of D learned numbers. Which of your arguments is not used?
    """
    return wte[ids] + np.arange(start, start + len(ids), dtype=np.float32)[:, None]


@mistake(of=embed)
def ids_ignored(ids, wte, wpe, start=0):
    """The first rows of the token table are taken, whatever the ids are.

    ids[t] says which row token t has. Do you use the ids, or only their number?
    """
    return wte[:len(ids)] + wpe[start:start + len(ids)]


@mistake(of=embed)
def first_id_for_all(ids, wte, wpe, start=0):
    """All tokens get the row of the first id.

    NumPy spreads one row over all the others. How many token rows does a text of T tokens need?
    """
    return wte[ids[0]] + wpe[start:start + len(ids)]


@mistake(of=embed)
def first_row_only(ids, wte, wpe, start=0):
    """Only the first token gets its position.

    Each token has a place. What do you do for the others?
    """
    x = wte[ids]
    x[0] += wpe[start]
    return x


@mistake(of=embed)
def one_below_the_other(ids, wte, wpe, start=0):
    """The position rows stand below the token rows, so there are 2 T rows.

    The model expects one row a token. How do two rows become one?
    """
    return np.concatenate([wte[ids], wpe[start:start + len(ids)]])


@mistake(of=embed)
def start_as_a_page(ids, wte, wpe, start=0):
    """start counts whole texts, not tokens.

    start = 1 means: one token stood before. Do you multiply it by something?
    """
    return wte[ids] + wpe[start * len(ids):(start + 1) * len(ids)]


@mistake(of=embed)
def last_positions(ids, wte, wpe, start=0):
    """The last rows of the position table are taken.

    A negative place counts from the end of the table. Where does a text begin?
    """
    return wte[ids] + wpe[-len(ids):]


@mistake(of=embed)
def start_skips_ids(ids, wte, wpe, start=0):
    """start leaves out the first ids.

    All of these ids are new tokens, and each needs a row. What does start say: where they stand in
    the text, or which of them count?
    """
    return wte[ids[start:]] + wpe[start:len(ids)]


@mistake(of=embed)
def ids_from_one(ids, wte, wpe, start=0):
    """The ids are counted from 1.

    Id 0 is the first row of the table. Is there a - 1 too many?
    """
    return wte[ids - 1] + wpe[start:start + len(ids)]


@mistake(of=embed)
def columns(ids, wte, wpe, start=0):
    """The ids choose columns of the table, not rows.

    wte has shape (V, D). Along which axis do the tokens lie?
    """
    return wte[:, ids] + wpe[:, start:start + len(ids)]


@mistake(of=embed)
def single_numbers(ids, wte, wpe, start=0):
    """Each id chooses a single number, not a row.

    np.take without an axis reads the table as one flat row. Which axis do the ids run along?
    """
    return np.take(wte, ids) + np.take(wpe, np.arange(start, start + len(ids)))


@mistake(of=embed)
def added_up(ids, wte, wpe, start=0):
    """The rows of all tokens are added up into one.

    x has a row for each token, (T, D). Which two rows are added, and which stay apart?
    """
    return wte[ids].sum(axis=0) + wpe[start:start + len(ids)].sum(axis=0)


@mistake(of=embed)
def last_row_only(ids, wte, wpe, start=0):
    """Only the row of the last token comes back.

    The loop makes a row for each token. Where do you keep the rows before the last?
    """
    return wte[ids[-1]] + wpe[start + len(ids) - 1]


@mistake(of=embed)
def scaled(ids, wte, wpe, start=0):
    """The token rows are multiplied by the root of D.

    The first transformer did that; GPT-2 does not. Is there a factor in this formula?
    """
    return wte[ids] * np.sqrt(np.float32(wte.shape[1])) + wpe[start:start + len(ids)]


@mistake(of=embed)
def sines(ids, wte, wpe, start=0):
    """The positions are sines and cosines, not rows of the table.

    The first transformer computed them; GPT-2 learned them, and they are handed in. Which of your
    arguments is not used?
    """
    steps = 10000 ** (np.arange(0, wte.shape[1], 2) / wte.shape[1])
    angles = np.arange(start, start + len(ids))[:, None] / steps
    waves = np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(len(ids), -1)
    return wte[ids] + waves.astype(np.float32)


@mistake(of=embed)
def in_float64(ids, wte, wpe, start=0):
    """The numbers come out as float64, twice as wide as those of the tables.

    np.zeros and np.eye make float64 unless you say otherwise. Which dtype has wte?
    """
    return (wte[ids] + wpe[start:start + len(ids)]).astype(np.float64)


@mistake(of=embed)
def rows_in_a_list(ids, wte, wpe, start=0):
    """The rows come back in a list, not in an array.

    x is one array of shape (T, D). What does NumPy take as an index besides a single number?
    """
    return [wte[i] + wpe[start + t] for t, i in enumerate(ids)]


@mistake(of=embed)
def table_overwritten(ids, wte, wpe, start=0):
    """The table itself is changed.

    += into a row of wte changes the weights: the next call finds other numbers. Where else can the
    sum go?
    """
    for t, i in enumerate(ids):
        wte[i] += wpe[start + t]
    return wte[ids]


@mistake(of=embed)
def past_the_end_goes_round(ids, wte, wpe, start=0):
    """Positions past the end begin again at 0.

    Then two tokens share a place, and nobody hears that the text is too long. What does NumPy do
    with a place that is not there, when you let it?
    """
    return wte[ids] + wpe[(start + np.arange(len(ids))) % len(wpe)]


@mistake(of=embed)
def past_the_end_is_the_last(ids, wte, wpe, start=0):
    """All positions past the end get the last row.

    Then several tokens share a place, and nobody hears that the text is too long. What does NumPy
    do with a place that is not there, when you let it?
    """
    return wte[ids] + wpe[np.minimum(start + np.arange(len(ids)), len(wpe) - 1)]


@mistake(of=embed)
def cut_to_fit(ids, wte, wpe, start=0):
    """Tokens past the last position are dropped.

    Whoever hands in T ids expects T rows, or an error. What does NumPy do with a place that is not
    there, when you let it?
    """
    places = wpe[start:start + len(ids)]
    return wte[ids[:len(places)]] + places


@mistake(of=embed)
def ids_go_round(ids, wte, wpe, start=0):
    """An id past the end of the table begins again at 0.

    There is no such token, and somebody should hear of it. What does NumPy do with a row that is
    not there, when you let it?
    """
    return embed(ids % len(wte), wte, wpe, start)


# strict_embed

def strict_embed(ids, wte, wpe, start=0):
    """The right answer to the first exercise: the library refuses just this."""
    return embedding.embed(ids, wte, wpe, start)


@mistake(of=strict_embed)
def start_may_be_negative(ids, wte, wpe, start=0):
    """A negative start is not refused.

    NumPy counts negative places from the end. Between which two numbers must start lie?
    """
    return wte[ids] + wpe[start:][:1] if start < 0 else strict_embed(ids, wte, wpe, start)


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
    return strict_embed(ids, wte, wpe, start)


@mistake(of=strict_embed)
def positions_go_round(ids, wte, wpe, start=0):
    """Positions past the end begin again at 0.

    Then two tokens share a place, and the model cannot know. This call must be refused.
    """
    if not 0 <= ids.min() <= ids.max() < len(wte):
        raise ValueError("ids")
    return wte[ids] + wpe[(start + np.arange(len(ids))) % len(wpe)]


@mistake(of=strict_embed)
def id_v_passes(ids, wte, wpe, start=0):
    """The id V gets through your check: it is one too lenient.

    There are V rows, and they count from 0. Which is the last id?
    """
    if ids.min() < 0 or ids.max() > len(wte):
        raise ValueError("ids")
    return wte[ids] + wpe[_places(ids, wpe, start)]


@mistake(of=strict_embed)
def position_n_passes(ids, wte, wpe, start=0):
    """The position N gets through your check: it is one too lenient.

    There are N rows, and they count from 0. Which is the last position?
    """
    if start < 0 or start + len(ids) > len(wpe) + 1:
        raise ValueError("positions")
    if ids.min() < 0 or ids.max() >= len(wte):
        raise ValueError("ids")
    return wte[ids] + wpe[start:start + len(ids)]


@mistake(of=strict_embed)
def id_zero_refused(ids, wte, wpe, start=0):
    """The id 0 is refused.

    0 is the first row of the table. Is your comparison one too strict?
    """
    if ids.min() <= 0:
        raise ValueError("ids")
    return strict_embed(ids, wte, wpe, start)


@mistake(of=strict_embed)
def asserted(ids, wte, wpe, start=0):
    """What is wrong is found, but the error is not a ValueError.

    assert is for slips of the author; a caller's mistake has an error of its own. How do you raise
    the one that was asked for?
    """
    assert 0 <= ids.min() <= ids.max() < len(wte) and 0 <= start <= len(wpe) - len(ids)
    return wte[ids] + wpe[start:start + len(ids)]


def _places(ids, wpe, start):
    if start < 0 or start + len(ids) > len(wpe):
        raise ValueError("positions")
    return slice(start, start + len(ids))


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


@mistake(of=nearest)
def all_of_them(row, table, k):
    """All ids come back, not the k best.

    The order is right. Which slice has the first k?
    """
    return nearest(row, table, len(table))


@mistake(of=nearest)
def one_more(row, table, k):
    """One id too many comes back.

    A slice leaves its end out by itself. How long is the list [:k]?
    """
    return nearest(row, table, k + 1)


@mistake(of=nearest)
def only_the_best(row, table, k):
    """Only the best id comes back, however large k is.

    argmax knows one place. What puts all of them in order?
    """
    return nearest(row, table, 1)


@mistake(of=nearest)
def rows_given(row, table, k):
    """The rows come back, not their ids.

    argsort gives places in the table; the places are asked for. Do you use them as an index?
    """
    return [table[i] for i in nearest(row, table, k)]


@mistake(of=nearest)
def ids_as_floats(row, table, k):
    """The ids come back as floats.

    An id is a place in a list, so a whole number. Where does a float come in?
    """
    return [float(i) for i in nearest(row, table, k)]


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
    Case("the hand example from position 2 on, which must be refused", (IDS, *HAND), {"start": 2}),
    Case("an id that the table does not have, which must be refused", (np.array([1, 3]), *HAND)),
]
LARGE = random(9, 4, seed=7)                # V = 9, N = 6
LIMITS = [
    Case("three tokens that fit", (IDS, LARGE, WPE)),
    Case("a text that fills the context", (np.array([0, 1, 2, 3, 4, 5]), LARGE, WPE)),
    Case("one token past the context", (np.array([0, 1, 2, 3, 4, 5, 0]), LARGE, WPE)),
    Case("one token at position N", (np.array([1]), LARGE, WPE), {"start": 6}),
    Case("two tokens of which one fits", (np.array([1, 2]), LARGE, WPE), {"start": 5}),
    Case("three tokens where one fits", (IDS, LARGE, WPE[:1])),
    Case("start -1", (np.array([1]), LARGE, WPE), {"start": -1}),
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
