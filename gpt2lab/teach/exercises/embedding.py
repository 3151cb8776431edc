"""Lesson 04: embed, the nearest rows, a row for a word never read."""
import numpy as np

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


# What is read from a row of x: the word from one part of its directions, the place from the other

class Apart:
    """Rows of x split in two: the k loudest directions of the position table, and the others.

    directions (D, D): one a row, the loudest first; unseen (V,): tokens that no row is read as.
    """

    def __init__(self, wte, wpe, directions, unseen):
        self.ids = np.flatnonzero(~unseen)                                          # (n,)
        self.turn = np.asarray(directions, np.float64).T                            # (D, D)
        self.words, self.places = wte[self.ids] @ self.turn, wpe @ self.turn
        # (n, D + 1): squares of each word in the first k directions, k from 0 to D
        self.squares = np.pad(np.cumsum(self.words ** 2, axis=-1), ((0, 0), (1, 0)))

    def word(self, x, k):
        """The words nearest by angle to what is left of x (T, D): ids (T,), cosines (T,)."""
        left = (x @ self.turn)[:, k:]                                               # (T, D - k)
        lengths = np.sqrt(np.maximum(self.squares[:, -1] - self.squares[:, k], 1e-12))
        cosines = (left @ self.words[:, k:].T) / lengths                            # (T, n)
        best = cosines.argmax(axis=-1)                                              # (T,)
        longest = np.maximum(np.linalg.norm(left, axis=-1), 1e-12)
        return self.ids[best], np.clip(cosines[np.arange(len(x)), best] / longest, 0, 1)

    def place(self, x, k):
        """The places whose rows are nearest to the taken part of x: (T, D) -> (T,)."""
        taken, rows = (x @ self.turn)[:, :k], self.places[:, :k]
        squares = (rows ** 2).sum(axis=-1) - 2 * taken @ rows.T                     # (T, N)
        return squares.argmin(axis=-1)


# What the lesson measures

def outcome(function, *arguments):
    """What a call gives, as a text: its rows, or the name of its error."""
    try:
        return str(function(*arguments).tolist())
    except Exception as error:                  # of the learner's function
        return type(error).__name__


def loudest(rows):
    """The directions of rows (n, D), and how many of them hold 99.9 % of the rows' squares.

    directions (D, D): one a row, at right angles; along the first the rows reach farthest.
    """
    _, reach, directions = np.linalg.svd(np.asarray(rows, np.float64))
    squares = np.cumsum(reach ** 2)                     # of the first one, the first two, ...
    return directions, 1 + int((squares < 0.999 * squares[-1]).sum())


def waves(positions, width):
    """The position table as it began, before training moved it: as train.py makes it. -> (N, D)"""
    half = width // 2
    frequencies = 2.5 * 125.0 ** (-np.arange(half) / (half - 1))                    # (D / 2,)
    angles = np.arange(positions)[:, None] * frequencies                            # (N, D / 2)
    return 0.35 * np.concatenate([np.sin(angles), np.cos(angles)], axis=-1)


def share(rows, directions):
    """How much of the squares of rows (n, D) lies in some directions (D, m), from 0 to 1.

    directions: the columns have length 1 and are at right angles to each other.
    """
    return float(((rows @ directions) ** 2).sum() / (rows.astype(np.float64) ** 2).sum())


def strips(weights, count):
    """The matrix of the first layer, h.0.attn.c_attn, cut into strips of columns: (count, D, n).

    Before the layer stands a norm (lesson 05). What of it is a matrix is multiplied in: the mean of
    each row goes, and each number has a gain. It also divides each row by its size; that is left
    out, for it treats word and place alike.
    """
    gain, matrix = weights["h.0.ln_1.weight"], weights["h.0.attn.c_attn.weight"]
    matrix = gain[:, None] * matrix                                                 # (D, 3 D)
    return np.stack(np.split(matrix - matrix.mean(axis=0), count, axis=-1))


def spread(rows):
    """How much rows (..., n, m) differ: the variances of their m numbers, added. -> (...)"""
    return rows.var(axis=-2).sum(axis=-1)


def by_use(counts, cosines):
    """[(times, how many tokens, their mean cosine)], for tokens that a book uses so many times.

    Shapes: counts (n,), cosines (n,).
    """
    limits, rows = (1, 2, 5, 20, 100, counts.max() + 1), []
    for low, above in zip(limits, limits[1:]):
        used = (counts >= low) & (counts < above)                                   # (n,)
        name = "once" if above == 2 else f"{low} to {above - 1}" if above <= 100 else "100 or more"
        rows.append((name, int(used.sum()), float(cosines[used].mean())))
    return rows


def before(asking, offering):
    """For each place from 1 on, the place up to it whose offer has the largest product with it.

    Shapes: asking (N, n), offering (N, n) -> (N - 1,).
    """
    fits = asking @ offering.T                                                      # (N, N)
    return np.array([fits[t, :t + 1].argmax() for t in range(1, len(fits))])


def one_token(text, encode, most=14):
    """The ids of words with spaces between them, one token each.

    Raises: ValueError with a sentence for no word, too many, or one of several tokens.
    """
    ids = {word: encode(" " + word) for word in text.split()}
    longer = [word for word, found in ids.items() if len(found) > 1]
    if longer:
        raise ValueError(f"a word of one token is needed; of more than one: {', '.join(longer)}")
    if not 1 <= len(ids) <= most:
        raise ValueError(f"{len(ids)} words, where " + (
            "one word is needed" if most == 1 else f"1 to {most} are needed"))
    return [found[0] for found in ids.values()]


# embed

def embed(ids, wte, wpe, start=0):
    """The right answer, as printed: section 6 shows what it lets pass.

    Where NumPy stops, any error of an answer will do: the check asks so for what is no ValueError.
    """
    try:
        return wte[ids] + wpe[start:start + len(ids)]
    except ValueError as error:
        raise IndexError("a place that has no row") from error


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


# nearest

def nearest(row, table, k):
    """The right answer to what is built second."""
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


# taught

def taught(wte, word, like, factor):
    """The right answer to the discovery."""
    table = wte.copy()
    table[word] = factor * wte[like].mean(axis=0)
    return table


@mistake(of=taught)
def table_changed(wte, word, like, factor):
    """The table that was handed in is changed.

    The model still needs its own table, and you want to compare. What makes a new array?
    """
    wte[word] = factor * wte[like].mean(axis=0)
    return wte


@mistake(of=taught)
def row_given(wte, word, like, factor):
    """The new row comes back, not the table.

    The model needs a row for every token. Where does the new row belong, and what do you return?
    """
    return factor * wte[like].mean(axis=0)


@mistake(of=taught)
def sum_of_rows(wte, word, like, factor):
    """The rows are added up, not averaged.

    Then three words make a row three times as long. What do you divide a sum by?
    """
    table = wte.copy()
    table[word] = factor * wte[like].sum(axis=0)
    return table


@mistake(of=taught)
def factor_forgotten(wte, word, like, factor):
    """The factor is not used.

    The mean has its right direction, but not its length. Which of your arguments is left over?
    """
    return taught(wte, word, like, 1)


@mistake(of=taught)
def mean_of_numbers(wte, word, like, factor):
    """All numbers of the row are the same: the mean runs over too much, or the wrong way.

    wte[like] has a row for each word, D columns. Along which axis do the words lie?
    """
    table = wte.copy()
    table[word] = factor * wte[like].mean()
    return table


@mistake(of=taught)
def only_the_first_word(wte, word, like, factor):
    """Only the first of the words is used.

    like is a list of ids, and each has a row. What does NumPy give for wte[like]?
    """
    return taught(wte, word, like[:1], factor)


@mistake(of=taught)
def only_the_last_word(wte, word, like, factor):
    """Only the last of the words is used.

    Does your loop keep what came before, or write over it?
    """
    return taught(wte, word, like[-1:], factor)


@mistake(of=taught)
def added_to_the_old_row(wte, word, like, factor):
    """The mean is added to the old row; it should take its place.

    The old row means nothing. Is there a += where = belongs?
    """
    table = wte.copy()
    table[word] += factor * wte[like].mean(axis=0)
    return table


@mistake(of=taught)
def old_row_in_the_mean(wte, word, like, factor):
    """The old row of the word is part of the mean.

    Nobody taught it anything. Which rows are to be averaged?
    """
    return taught(wte, word, [*like, word], factor)


@mistake(of=taught)
def whole_table_longer(wte, word, like, factor):
    """Every row becomes longer, not the new one alone.

    The other words are to stay as they are. What do you multiply by the factor?
    """
    table = wte * np.float32(factor)
    table[word] = factor * wte[like].mean(axis=0)
    return table


@mistake(of=taught)
def the_others_taught(wte, word, like, factor):
    """The rows of the other words are changed; that of the new word stays as it was.

    One row is new. Which index stands on the left of your =?
    """
    table = wte.copy()
    table[like] = factor * wte[word]
    return table


@mistake(of=taught)
def all_rows_the_same(wte, word, like, factor):
    """Every row of the table becomes the new row.

    Only one token is taught. Which index stands on the left of your =?
    """
    table = wte.copy()
    table[:] = factor * wte[like].mean(axis=0)
    return table


@mistake(of=taught)
def row_at_the_end(wte, word, like, factor):
    """The new row stands at the end of the table, which is one row longer.

    The word has an id already, and a row. Which row is to be exchanged?
    """
    return np.concatenate([wte, factor * wte[like].mean(axis=0, keepdims=True)]).astype(wte.dtype)


@mistake(of=taught)
def column_taught(wte, word, like, factor):
    """A column of the table is changed, not a row.

    Tokens lie along the first axis of wte. What does table[:, i] choose?
    """
    table = wte.copy()
    table[:, word] = factor * wte[:, like].mean(axis=-1)
    return table


@mistake(of=taught)
def set_to_length_one(wte, word, like, factor):
    """The new row gets length 1 first.

    How long the mean is matters as well: the factor starts from there. Do you divide by its length?
    """
    mean = wte[like].mean(axis=0)
    return taught(wte, word, like, factor / np.linalg.norm(mean))


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
    Case("the hand example from position 2 on, past the end: NumPy stops there by itself",
         (IDS, *HAND), {"start": 2}),
    Case("an id past the end of the table: NumPy stops there by itself", (np.array([1, 3]), *HAND)),
]
LARGE = random(9, 4, seed=7)                # V = 9, N = 6
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

TAUGHT = [
    Case("one word to be like", (WTE, 4, [1], 1.0)),
    Case("one word, and a factor", (WTE, 0, [5], 1.5)),
    Case("two words", (WTE, 3, [0, 2], 1.0)),
    Case("three words, and a factor", (WTE, 2, [5, 1, 4], 1.25)),
    Case("the last row", (LARGE, 8, [7, 3], 0.5)),
]

exercise(embed, CASES)
exercise(nearest, NEAR)
exercise(taught, TAUGHT)
