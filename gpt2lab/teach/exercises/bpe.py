"""Lesson 03: join and find_merges, then merge, and with it encode and decode."""
import re
from itertools import accumulate, chain, combinations
from typing import NamedTuple

from gpt2lab.bpe import byte_characters, piece_pattern
from gpt2lab.files import shipped
from gpt2lab.teach.show import token
from gpt2lab.unicode_classes import LETTERS, NUMBERS, SPACES

from . import Case, exercise, mistake

# What the lesson's explorer draws: a text in the middle of its merges

class Merging(NamedTuple):
    """A text after some merges, piece after piece."""
    parts: list         # the tokens so far, as bytes
    ranks: list         # of each pair of neighbours; None where the list lacks it
    cuts: list          # the places of the pairs that a cut divides
    done: int           # merges made
    total: int          # merges in all
    coming: int | None  # the place of the pair that is merged next; None at the end


def steps_of(merge, piece, ranks):
    """How a merge function merges one piece: [(parts, rank)], one a merge, from single bytes on.

    parts: after the merge, as bytes; rank: of the pair that it joined, None for the start.
    The function gets a list of pairs that grows by one at a time. What the new pair changes are its
    merges, the leftmost first. A shorter list merges nothing else, since each pair stands in the
    list below those that make its halves.
    """
    data = piece.encode("utf-8")
    inside = {(data[i:j], data[j:k]) for i, j, k in combinations(range(len(data) + 1), 3)}
    steps, shorter = [([bytes([byte]) for byte in data], None)], {}
    for rank, pair in sorted((ranks[pair], pair) for pair in inside if pair in ranks):
        shorter[pair] = rank
        parts, wanted = steps[-1][0], list(merge(list(steps[0][0]), dict(shorter)))
        while parts != wanted:
            i = next(i for i, (old, new) in enumerate(zip(parts, wanted)) if old != new)
            parts = parts[:i] + [parts[i] + parts[i + 1]] + parts[i + 2:]
            steps.append((parts, rank))
    return steps


def merging(pieces, ranks, done):
    """The text after `done` merges. pieces: the steps of each piece of the text (steps_of)."""
    parts, found, cuts, total, coming = [], [], [], 0, None
    for steps in pieces:
        at = min(max(done - total, 0), len(steps) - 1)
        now = steps[at][0]
        known = [ranks.get(pair) for pair in zip(now, now[1:])]
        if parts:
            cuts.append(len(found))
            found.append(None)
        if coming is None and at < len(steps) - 1:
            coming = len(found) + known.index(steps[at + 1][1])
        parts, found, total = parts + now, found + known, total + len(steps) - 1
    return Merging(parts, found, cuts, min(done, total), total, coming)


# join

def join(parts, pair):
    """The right answer: from the left, each place of the pair becomes one part."""
    return _join_where(parts, lambda two: tuple(two) == pair)


def _join_where(parts, fits):
    """One part of each two neighbours that fit, from the left."""
    new, i = [], 0
    while i < len(parts):
        two = parts[i:i + 2]
        new.append(b"".join(two) if fits(two) else parts[i])
        i += 2 if fits(two) else 1
    return new


@mistake(of=join)
def first_place_only(parts, pair):
    """Only the first place of the pair is joined.

    The pair may stand at several places of one piece. What does your loop do after the first?
    """
    places = [i for i in range(len(parts) - 1) if tuple(parts[i:i + 2]) == pair]
    return _joined_at(parts, places[:1])


@mistake(of=join)
def both_of_three(parts, pair):
    """Places that overlap are both joined, so bytes appear twice.

    In "aaa" the middle a belongs to two pairs. Once it is joined, where do you go on?
    """
    new, i = [], 0
    while i < len(parts):
        if tuple(parts[i:i + 2]) == pair:
            new.append(parts[i] + parts[i + 1])
            i += 1 if tuple(parts[i + 1:i + 3]) == pair else 2
        else:
            new.append(parts[i])
            i += 1
    return new


@mistake(of=join)
def from_the_right(parts, pair):
    """The pairs are joined from the right.

    In "aaa" it matters at which end you begin. The rule reads from the left.
    """
    turned = join([part[::-1] for part in parts[::-1]], tuple(half[::-1] for half in pair[::-1]))
    return [part[::-1] for part in turned[::-1]]


@mistake(of=join)
def joined_in_place(parts, pair):
    """The caller's list is changed.

    An assignment to a slice, pop and del all write into the list that came in. Where do you begin
    a list of your own?
    """
    parts[:] = join(parts, pair)
    return parts


@mistake(of=join)
def list_beside_tuple(parts, pair):
    """Nothing is joined: the pair is never found.

    parts[i:i + 2] is a list, and pair is a tuple. Are [1, 2] and (1, 2) equal in Python?
    """
    return list(parts)


@mistake(of=join)
def second_half_stays(parts, pair):
    """The second half of a joined pair stays behind as well.

    Two parts became one. By how much must i grow then?
    """
    return [part if tuple(parts[i:i + 2]) != pair else part + parts[i + 1]
            for i, part in enumerate(parts)]


@mistake(of=join)
def second_half_stays_and_last_part_lost(parts, pair):
    """The second half of a joined pair stays behind as well, and the last part is lost.

    A for loop over the pairs goes on by 1 and ends before the last part. Which loop lets you go on
    by 2, and sees all parts?
    """
    return second_half_stays(parts, pair)[:-1]


@mistake(of=join)
def looks_past_the_end(parts, pair):
    """The last part has no right neighbour, and it is asked for one.

    n parts have n - 1 pairs. What becomes of the last part?
    """
    return [(part, parts[i + 1]) for i, part in enumerate(parts)]


@mistake(of=join)
def last_part_lost(parts, pair):
    """A last part that is in no pair is lost.

    The loop over pairs ends one part too early. Who takes along what is left?
    """
    new = join(parts, pair)
    return new if tuple(parts[-2:]) == pair else new[:-1]


@mistake(of=join)
def end_not_joined(parts, pair):
    """A pair at the end of the piece is not joined.

    n parts have n - 1 pairs. How far does your loop go?
    """
    return join(parts[:-1], pair) + parts[-1:]


@mistake(of=join)
def start_not_joined(parts, pair):
    """A pair at the start of the piece is not joined.

    Python counts from 0. Where does your loop begin?
    """
    return parts[:1] + join(parts[1:], pair)


@mistake(of=join)
def left_half_is_enough(parts, pair):
    """The left half of the pair is enough to be joined with whatever follows.

    Both halves must be there, side by side. What do you compare with pair[1]?
    """
    return _join_where(parts, lambda two: len(two) == 2 and two[0] == pair[0])


@mistake(of=join)
def same_bytes_are_enough(parts, pair):
    """Two parts are joined because together they have the bytes of the pair.

    ug, s and u, gs have the same bytes and are two pairs. What must be equal to what?
    """
    return _join_where(parts, lambda two: b"".join(two) == b"".join(pair))


@mistake(of=join)
def halves_in_a_tuple(parts, pair):
    """The pair stands in the list as a tuple; its halves are not joined.

    b"u" and b"g" become b"ug". Which sign joins bytes?
    """
    return [pair if part == b"".join(pair) and part not in parts else part
            for part in join(parts, pair)]


@mistake(of=join)
def right_half_first(parts, pair):
    """The right half of the pair comes first.

    u before g makes ug. In which order do you add the two?
    """
    return [pair[1] + pair[0] if part == pair[0] + pair[1] and part not in parts else part
            for part in join(parts, pair)]


@mistake(of=join)
def others_dropped(parts, pair):
    """Only what was joined comes back.

    The other parts belong to the piece too. What does your loop do with a part that fits not?
    """
    return [part for part in join(parts, pair) if part not in parts]


@mistake(of=join)
def counted_to_the_old_end(parts, pair):
    """The list gets shorter while a loop still counts to its old length.

    Each pair takes one part away. Which loop asks for the length anew at every turn?
    """
    parts = list(parts)
    for i in range(len(parts) - 1):
        if (parts[i], parts[i + 1]) == pair:
            _join(parts, i)
    return parts


@mistake(of=join)
def slice_of_bytes(parts, pair):
    """The joined bytes are taken apart again: numbers stand in the list.

    A slice, += and extend take bytes for a list of numbers. Which brackets make one part of them?
    """
    new = []
    for part in join(parts, pair):
        new += part if part not in parts else [part]
    return new


@mistake(of=join)
def piece_as_one(parts, pair):
    """The piece comes back as one bytes, not as a list of parts.

    Who merges next needs the parts. Which join is too many?
    """
    return b"".join(parts)


def _joined_at(parts, places):
    return [part + parts[i + 1] if i in places else part for i, part in enumerate(parts)
            if i - 1 not in places]


# The cut before any merge

ALTERNATIVES = {
    "contraction": r"'(?:[sdmt]|ll|ve|re)",
    "letters": rf" ?[{LETTERS}]+",
    "numbers": rf" ?[{NUMBERS}]+",
    "marks": rf" ?[^{SPACES}{LETTERS}{NUMBERS}]+",
    "space before space": rf"[{SPACES}]+(?![^{SPACES}])",
    "other space": rf"[{SPACES}]+"}


def taken_by(text):
    """The pieces of a text, each with the alternative that takes it: [(piece, its name)]."""
    names = list(ALTERNATIVES)
    cutter = re.compile("|".join(f"({one})" for one in ALTERNATIVES.values()))
    return [(found[0], names[found.lastindex - 1]) for found in cutter.finditer(text)]


# find_merges

def rounds(text):
    """Finding merges on paper, one row a round: [(the parts, the pairs seen twice or more)]."""
    pieces, rows = list(map(_bytes, text.split())), []
    while True:
        counts = _counts(pieces)
        often = sorted((pair for pair in counts if counts[pair] > 1), key=counts.get, reverse=True)
        rows.append(("  ".join(b" ".join(parts).decode() for parts in pieces),
                     ", ".join(f"{b' '.join(pair).decode()} {counts[pair]}" for pair in often)))
        if not often:
            return rows
        pieces = [join(parts, often[0]) for parts in pieces]


def replay(pieces, found, join):
    """The pieces after the merges that were found in them, one after the other."""
    for pair in found:
        pieces = [join(parts, pair) for parts in pieces]
    return pieces


def forms(pieces, word):
    """The parts that a word is in, the commonest first, with their counts: "·gray 7, ·gra y 2"."""
    parts, found = [part for piece in pieces for part in piece], {}
    ends = list(accumulate(map(len, parts), initial=0))
    for place in re.finditer(rb"\b%b\b" % re.escape(word.encode("utf-8")), b"".join(parts)):
        here = [token(part.decode("utf-8", "replace")) for part, start in zip(parts, ends)
                if start < place.end() and start + len(part) > place.start()]
        found[" ".join(here)] = found.get(" ".join(here), 0) + 1
    return ", ".join(f"{form} {found[form]}" for form in sorted(found, key=found.get, reverse=True))


def written(pair):
    """A pair as a line of vocab.bpe: its bytes as printable characters, a space between."""
    table = byte_characters()
    return " ".join("".join(table[byte] for byte in part) for part in pair)


def _counts(pieces):
    """{pair: how often it comes}, in the order in which the pairs are met."""
    counts = {}
    for parts in pieces:
        for pair in zip(parts, parts[1:]):
            counts[pair] = counts.get(pair, 0) + 1
    return counts


def find_merges(pieces, n, join):
    """The right answer: count, take the commonest, the first met of equals, join it everywhere."""
    return _find(pieces, n, join)


def _find(pieces, n, join, count=_counts, choose=None, least=2):
    """find_merges with another way to count, to choose or to stop."""
    found = []
    while len(found) < n:
        counts = count(pieces)
        if max(counts.values(), default=0) < least:
            break
        found.append(choose(counts) if choose else max(counts, key=counts.get))
        pieces = [join(parts, found[-1]) for parts in pieces]
    return found


@mistake(of=find_merges)
def counted_once(pieces, n, join):
    """The pairs are counted once, and the commonest of that count are given.

    After a merge some pairs are gone, and new ones are there. When must you count again?
    """
    counts = _counts(pieces)
    often = sorted((pair for pair in counts if counts[pair] > 1), key=counts.get, reverse=True)
    return often[:n]


@mistake(of=find_merges)
def counted_once_to_the_end(pieces, n, join):
    """The pairs are counted once; even pairs seen only once are given.

    After a merge some pairs are gone, and new ones are there. When must you count again, and when
    is nothing left to find?
    """
    counts = _counts(pieces)
    return sorted(counts, key=counts.get, reverse=True)[:n]


@mistake(of=find_merges)
def across_the_cuts(pieces, n, join):
    """The last part of one piece and the first of the next are counted as a pair.

    No merge crosses a cut. Do you count in each piece by itself?
    """
    return find_merges([list(chain.from_iterable(pieces))], n, join)


@mistake(of=find_merges)
def counted_across_the_cuts(pieces, n, join):
    """Pairs across the cuts are counted, and can never be joined.

    No merge crosses a cut. Do you count in each piece by itself?
    """
    return _find(pieces, n, join, lambda pieces: _counts([list(chain.from_iterable(pieces))]))


@mistake(of=find_merges)
def last_met(pieces, n, join):
    """Of equally common pairs the last one is taken.

    The rule takes the one that is met first in the text. Does your comparison use > or >=?
    """
    return _find(pieces, n, join,
                 choose=lambda counts: max(list(counts)[::-1], key=counts.get))


@mistake(of=find_merges)
def largest_pair(pieces, n, join):
    """Of equally common pairs the one with the largest bytes is taken.

    max and sorted of (count, pair) compare the pairs too. What does max compare with key=?
    """
    return _find(pieces, n, join, choose=lambda counts: max(counts, key=lambda p: (counts[p], p)))


@mistake(of=find_merges)
def smallest_pair(pieces, n, join):
    """Of equally common pairs the one with the smallest bytes is taken.

    Sorting by the bytes is another rule. Which of the equals was met first in the text?
    """
    return _find(pieces, n, join, choose=lambda counts: min(counts, key=lambda p: (-counts[p], p)))


@mistake(of=find_merges)
def last_place_decides(pieces, n, join):
    """Of equally common pairs the one whose last place comes first is taken, or the like.

    A pair that is deleted and stored anew goes to the end of a dictionary. Which of the equals was
    met first in the text?
    """
    def count(pieces):
        counts = {}
        for parts in pieces:
            for pair in zip(parts, parts[1:]):
                counts[pair] = counts.pop(pair, 0) + 1
        return counts
    return _find(pieces, n, join, count)


@mistake(of=find_merges)
def rarest(pieces, n, join):
    """The rarest pair is taken.

    The list begins with the commonest. Do you want min or max?
    """
    return _find(pieces, n, join, choose=lambda counts: min(counts, key=counts.get))


@mistake(of=find_merges)
def pairs_seen_once(pieces, n, join):
    """It goes on with pairs that come only once.

    A part that stands at a single place shortens nothing else. Which count is too small?
    """
    return _find(pieces, n, join, least=1)


@mistake(of=find_merges)
def stops_at_twice(pieces, n, join):
    """A pair that comes twice is not taken any more.

    Twice is often enough. Does your comparison leave the 2 out?
    """
    return _find(pieces, n, join, least=3)


@mistake(of=find_merges)
def never_enough(pieces, n, join):
    """It goes on with pairs that come only once, until none is left and max stops with an error.

    A part that stands at a single place shortens nothing else. How often must the commonest pair
    come at least, and what if there is no pair at all?
    """
    return _find(pieces, n, join, lambda pieces: _counts(pieces) or max([]), least=1)


@mistake(of=find_merges)
def max_of_nothing(pieces, n, join):
    """It stops with an error when no pair is left.

    max needs something to choose from. What do you ask before you call it?
    """
    return _find(pieces, n, join, lambda pieces: _counts(pieces) or max([]))


@mistake(of=find_merges)
def one_round(pieces, n, join):
    """One pair is found, then it stops.

    n pairs are asked for. How far is your return indented?
    """
    return find_merges(pieces, min(n, 1), join)


@mistake(of=find_merges)
def one_too_many(pieces, n, join):
    """One pair too many is found.

    How many are there when your loop asks for the last time?
    """
    return find_merges(pieces, n + 1, join)


@mistake(of=find_merges)
def one_too_few(pieces, n, join):
    """One pair too few is found.

    A range leaves its end out by itself. How many turns does your loop have?
    """
    return find_merges(pieces, n - 1, join)


@mistake(of=find_merges)
def never_joined(pieces, n, join):
    """The same pair is found again and again.

    The pieces stay as they were. join gives a new list: what do you do with it?
    """
    return find_merges(pieces, min(n, 1), join) * n


@mistake(of=find_merges)
def pieces_overwritten(pieces, n, join):
    """The caller's list of pieces is changed.

    pieces[i] = ... writes into the list that came in. What makes a list of your own?
    """
    found = find_merges(pieces, n, join)
    pieces[:] = replay(pieces, found, join)
    return found


@mistake(of=find_merges)
def parts_for_pairs(pieces, n, join):
    """The joined parts are given, not the pairs.

    (b"u", b"g") is asked for, not b"ug": who merges must know where the part was cut.
    """
    return [left + right for left, right in find_merges(pieces, n, join)]


@mistake(of=find_merges)
def counts_beside(pieces, n, join):
    """Each pair comes with its count.

    The list holds pairs only. What do most_common and items give you?
    """
    found, given = find_merges(pieces, n, join), []
    for pair in found:
        given.append((pair, _counts(pieces)[pair]))
        pieces = [join(parts, pair) for parts in pieces]
    return given


@mistake(of=find_merges)
def counted_once_beside(pieces, n, join):
    """The pairs are counted once, and each comes with its count.

    most_common gives both. After a merge some pairs are gone, and new ones are there: when must you
    count again?
    """
    counts = _counts(pieces)
    return sorted(counts.items(), key=lambda item: -item[1])[:n]


@mistake(of=find_merges)
def ranks_given(pieces, n, join):
    """A dictionary of ranks comes back.

    That is the next step. A list in the order of finding is asked for.
    """
    return {pair: rank for rank, pair in enumerate(find_merges(pieces, n, join))}


@mistake(of=find_merges)
def each_piece_once(pieces, n, join):
    """A piece that stands in the text several times is counted once.

    A frequent word makes its pairs frequent. Is there a set too many?
    """
    return find_merges(list(map(list, dict.fromkeys(map(tuple, pieces)))), n, join)


@mistake(of=find_merges)
def once_a_piece(pieces, n, join):
    """A pair that stands in one piece several times is counted once.

    Each place counts. Is there a set too many?
    """
    return _find(pieces, n, join,
                 lambda pieces: _counts([p for parts in pieces
                                         for p in dict.fromkeys(zip(parts, parts[1:]))]))


@mistake(of=find_merges)
def counts_kept(pieces, n, join):
    """The counts of the round before are still there: they add up.

    Where do you make the dictionary of counts, before the loop or in it?
    """
    total = {}

    def count(pieces):
        for pair, times in _counts(pieces).items():
            total[pair] = total.get(pair, 0) + times
        return total
    return _find(pieces, n, join, count)


@mistake(of=find_merges)
def first_piece_decides(pieces, n, join):
    """Only the pairs of one piece are counted.

    Where do you make the dictionary of counts, before the loop over the pieces or in it?
    """
    return _find(pieces, n, join, lambda pieces: _counts(pieces[-1:]))


# merge

def merge(parts, ranks):
    """The right answer: the pair of lowest rank, the leftmost of equals, until no pair is left."""
    parts = list(parts)
    while True:
        known = [i for i, pair in enumerate(zip(parts, parts[1:])) if pair in ranks]
        if not known:
            return parts
        _join(parts, min(known, key=lambda i: ranks[parts[i], parts[i + 1]]))


@mistake(of=merge)
def left_to_right(parts, ranks):
    """The first pair from the left that is in the list is merged, whatever its rank.

    The list is not only a yes or no: each pair has a rank. Which of all the pairs may go first?
    """
    parts, i = list(parts), 0
    while i < len(parts) - 1:
        if (parts[i], parts[i + 1]) in ranks:
            _join(parts, i)
            i = 0
        else:
            i += 1
    return parts


@mistake(of=merge)
def longest_match(parts, ranks):
    """The longest token that fits is taken from the left, again and again.

    That finds long tokens, but not those that the merges make. Start from the pairs: which one is
    merged first?
    """
    data, tokens, found = b"".join(parts), {left + right for left, right in ranks}, []
    while data:
        size = next((n for n in range(len(data), 1, -1) if data[:n] in tokens), 1)
        found.append(data[:size])
        data = data[size:]
    return found


@mistake(of=merge)
def highest_rank(parts, ranks):
    """The pair of the highest rank is merged first.

    Rank 0 is the merge that was learned first. Do you want the smallest number or the largest?
    """
    return _merge_by(parts, ranks, lambda parts, i: (-ranks[parts[i], parts[i + 1]], i))


@mistake(of=merge)
def last_of_equals(parts, ranks):
    """Of two equal pairs the right one is merged first.

    In "aaa" the pair a, a stands twice, with one rank. From which side does the rule read?
    """
    return _merge_by(parts, ranks, lambda parts, i: (ranks[parts[i], parts[i + 1]], -i))


@mistake(of=merge)
def one_merge(parts, ranks):
    """One merge is made, then it stops.

    After a merge there are new neighbours. When are you really done?
    """
    return _merge_by(parts, ranks, lambda parts, i: (ranks[parts[i], parts[i + 1]], i), most=1)


@mistake(of=merge)
def start_pairs_only(parts, ranks):
    """Only pairs of the single bytes at the start are merged, in the order of their ranks.

    A merged part can be half of a new pair. Where do you look the pairs up again after a merge?
    """
    parts = list(parts)
    pairs = [(ranks[pair], i) for i, pair in enumerate(zip(parts, parts[1:])) if pair in ranks]
    free = set(range(len(parts)))
    for _, i in sorted(pairs):
        if {i, i + 1} <= free:
            parts[i], parts[i + 1] = parts[i] + parts[i + 1], b""
            free -= {i, i + 1}
    return [part for part in parts if part]


@mistake(of=merge)
def all_in_one_pass(parts, ranks):
    """Each walk from left to right merges every pair that it meets, whatever its rank.

    Only the pair of lowest rank may be merged before you look again. What does your walk do with
    the others?
    """
    parts, before = list(parts), None
    while parts != before:
        before, parts = parts, _walk(parts, ranks)
    return parts


@mistake(of=merge)
def overlapping(parts, ranks):
    """Equal pairs that overlap are both merged, so bytes appear twice.

    In "aaa" the middle a belongs to two pairs. Once it is merged, is the second pair still there?
    """
    parts = list(parts)
    while True:
        known = [pair for pair in zip(parts, parts[1:]) if pair in ranks]
        if not known or len(parts) > 99:
            return parts
        best, fresh, i = min(known, key=ranks.get), [], 0
        while i < len(parts):
            if tuple(parts[i:i + 2]) == best:
                fresh.append(parts[i] + parts[i + 1])
                i += 1 if tuple(parts[i + 1:i + 3]) == best else 2
            else:
                fresh.append(parts[i])
                i += 1
        parts = fresh


@mistake(of=merge)
def rank_zero_forgotten(parts, ranks):
    """The pair of rank 0 is never merged.

    0 counts as false in an "if". How do you ask whether a pair is in the list at all?
    """
    return merge(parts, {pair: rank for pair, rank in ranks.items() if rank})


@mistake(of=merge)
def stops_too_early(parts, ranks):
    """It stops as soon as one pair is not in the list.

    A pair without a rank cannot be merged, but its neighbours may. When is no pair left?
    """
    parts = list(parts)
    while len(parts) > 1 and all(pair in ranks for pair in zip(parts, parts[1:])):
        _join(parts, min(range(len(parts) - 1), key=lambda i: ranks[parts[i], parts[i + 1]]))
    return parts


@mistake(of=merge)
def merges_unknown_pairs(parts, ranks):
    """Pairs that are not in the list are merged too.

    Only learned pairs may become one part. What does your function do with a pair that has no rank?
    """
    return [b"".join(parts)] if parts else []


@mistake(of=merge)
def parts_overwritten(parts, ranks):
    """The caller's list is changed.

    An assignment to a slice, pop and del all write into the list that came in. What makes a list
    of your own, before the first merge?
    """
    while True:
        known = [i for i, pair in enumerate(zip(parts, parts[1:])) if pair in ranks]
        if not known:
            return parts
        _join(parts, min(known, key=lambda i: ranks[parts[i], parts[i + 1]]))


@mistake(of=merge)
def down_the_list(parts, ranks):
    """The list of ranks is walked once from the top, and never again.

    A merge can make a pair that stands further up. Where do you look for the lowest rank after
    each merge, in the list or in the parts?
    """
    parts = list(parts)
    for left, right in sorted(ranks, key=ranks.get):
        i = 0
        while i < len(parts) - 1:
            if (parts[i], parts[i + 1]) == (left, right):
                _join(parts, i)
            i += 1
    return parts


@mistake(of=merge)
def pair_of_lowest_rank_is_not_kept(parts, ranks):
    """The place of the pair is looked up by its first half alone.

    In "raspberry" the r stands at three places. Of which of them is the pair of lowest rank?
    """
    parts = list(parts)
    while True:
        known = [pair for pair in zip(parts, parts[1:]) if pair in ranks]
        if not known:
            return parts
        left, right = min(known, key=ranks.get)
        i = parts.index(left)
        parts[i:i + 2] = [left + right]


@mistake(of=merge)
def last_pair_forgotten(parts, ranks):
    """The last pair is never looked at.

    n parts have n - 1 pairs. How far does your range go?
    """
    parts = list(parts)
    while True:
        known = [i for i in range(len(parts) - 2) if (parts[i], parts[i + 1]) in ranks]
        if not known:
            return parts
        _join(parts, min(known, key=lambda i: ranks[parts[i], parts[i + 1]]))


@mistake(of=merge)
def first_pair_forgotten(parts, ranks):
    """The first pair is never looked at.

    Python counts from 0. Where does your loop begin?
    """
    return parts[:1] + merge(parts[1:], ranks)


@mistake(of=merge)
def stops_at_two(parts, ranks):
    """It stops when two parts are left.

    Two parts are one pair, and it may be in the list. When is no pair left at all?
    """
    parts = list(parts)
    while len(parts) > 2:
        known = [i for i, pair in enumerate(zip(parts, parts[1:])) if pair in ranks]
        if not known:
            return parts
        _join(parts, min(known, key=lambda i: ranks[parts[i], parts[i + 1]]))
    return parts


@mistake(of=merge)
def last_pair_not_merged(parts, ranks):
    """It stops when a single pair is left that could be merged.

    One pair is enough to go on. How many known pairs are there when you are done?
    """
    parts = list(parts)
    while True:
        known = [i for i, pair in enumerate(zip(parts, parts[1:])) if pair in ranks]
        if len(known) <= 1:
            return parts
        _join(parts, min(known, key=lambda i: ranks[parts[i], parts[i + 1]]))


@mistake(of=merge)
def three_for_one(parts, ranks):
    """A merge takes three parts away and puts back two of them.

    A slice leaves its end out by itself. How many parts has parts[i:i + 2]?
    """
    parts = list(parts)
    while True:
        known = [i for i, pair in enumerate(zip(parts, parts[1:])) if pair in ranks]
        if not known:
            return parts
        i = min(known, key=lambda i: ranks[parts[i], parts[i + 1]])
        parts[i:i + 3] = [parts[i] + parts[i + 1]]


@mistake(of=merge)
def put_at_the_end(parts, ranks):
    """The merged part is put at the end of the list.

    The word must read as before. Where did its two halves stand?
    """
    parts = list(parts)
    while True:
        known = [i for i, pair in enumerate(zip(parts, parts[1:])) if pair in ranks]
        if not known:
            return parts
        i = min(known, key=lambda i: ranks[parts[i], parts[i + 1]])
        parts.append(parts[i] + parts[i + 1])
        del parts[i:i + 2]


@mistake(of=merge)
def space_between(parts, ranks):
    """A space is put between the two halves.

    The space is a byte like any other. What stands between two parts when you join them?
    """
    parts = list(parts)
    while True:
        known = [i for i, pair in enumerate(zip(parts, parts[1:])) if pair in ranks]
        if not known:
            return parts
        i = min(known, key=lambda i: ranks[parts[i], parts[i + 1]])
        parts[i:i + 2] = [b" ".join(parts[i:i + 2])]


@mistake(of=merge)
def right_half_stays(parts, ranks):
    """The right half of a merged pair stays behind as well.

    Two parts become one, so the list gets shorter. What happens to the place i + 1?
    """
    parts = list(parts)
    while True:
        known = [i for i, pair in enumerate(zip(parts, parts[1:])) if pair in ranks]
        if not known:
            return parts
        i = min(known, key=lambda i: ranks[parts[i], parts[i + 1]])
        parts[i] += parts[i + 1]


@mistake(of=merge)
def halves_swapped(parts, ranks):
    """The right half of a pair comes first.

    u before g makes ug. In which order do you add the two?
    """
    parts = list(parts)
    while True:
        known = [i for i, pair in enumerate(zip(parts, parts[1:])) if pair in ranks]
        if not known:
            return parts
        i = min(known, key=lambda i: ranks[parts[i], parts[i + 1]])
        parts[i:i + 2] = [parts[i + 1] + parts[i]]


@mistake(of=merge)
def pair_left_as_a_tuple(parts, ranks):
    """The two halves stand in the list as a tuple; they are not joined.

    b"u" and b"g" become b"ug". Which sign joins bytes?
    """
    parts = list(parts)
    while True:
        known = [i for i, pair in enumerate(zip(parts, parts[1:])) if pair in ranks]
        if not known:
            return parts
        i = min(known, key=lambda i: ranks[parts[i], parts[i + 1]])
        parts[i:i + 2] = [(parts[i], parts[i + 1])]


@mistake(of=merge)
def nothing_merged(parts, ranks):
    """Nothing is merged: no pair is ever found.

    A key of ranks is a tuple of two bytes, such as (b"u", b"g"). What do you look for in it?
    """
    return list(parts)


@mistake(of=merge)
def places_not_renewed(parts, ranks):
    """The places are found once, at the start, and used to the end.

    After a merge all places behind it have moved, and there are new pairs. When do you look again?
    """
    parts = list(parts)
    known = [i for i, pair in enumerate(zip(parts, parts[1:])) if pair in ranks]
    while known:
        i = min(known, key=lambda i: ranks[parts[i], parts[i + 1]])
        _join(parts, i)
        known.remove(i)
    return parts


@mistake(of=merge)
def unknown_pairs_lowest(parts, ranks):
    """A pair that is not in the list counts as the lowest rank of all.

    It cannot be merged, so it must come last or not at all. Which number do you give to it?
    """
    parts = list(parts)
    while any(pair in ranks for pair in zip(parts, parts[1:])):
        found = [ranks.get(pair, -1) for pair in zip(parts, parts[1:])]
        _join(parts, found.index(min(found)))
    return parts


@mistake(of=merge)
def min_of_nothing(parts, ranks):
    """It stops with an error as soon as no pair is left.

    min needs something to choose from. What do you ask before you call it?
    """
    min([])


@mistake(of=merge)
def needs_two_parts(parts, ranks):
    """A piece of one part, or of none, is not taken.

    Such a piece has no pair. What do you ask before you look for the best one?
    """
    return min([]) if len(parts) < 2 else merge(parts, ranks)


@mistake(of=merge)
def ends_with_one_part(parts, ranks):
    """It stops with an error when all parts have become one.

    Then there is no pair, and min has nothing to choose from. What do you ask before you call it?
    """
    merged = merge(parts, ranks)
    return min([]) if len(merged) < 2 else merged


@mistake(of=merge)
def list_shrinks_while_counting(parts, ranks):
    """The list gets shorter while a loop still counts to its old length.

    Each merge takes one part away. Which loop asks for the length anew at every turn?
    """
    parts, changed = list(parts), True
    while changed:
        changed = False
        for i in range(len(parts) - 1):
            if (parts[i], parts[i + 1]) in ranks:
                _join(parts, i)
                changed = True
    return parts


@mistake(of=merge)
def one_bytes_at_the_end(parts, ranks):
    """The parts are joined into one bytes in the end.

    That is the word again. What should come back is the list of parts. Which join is too many?
    """
    return b"".join(parts)


@mistake(of=merge)
def bytes_in_a_slice(parts, ranks):
    """The joined bytes are taken apart again: numbers stand in the list.

    A slice takes bytes for a list of numbers. Which brackets make one part of them?
    """
    parts = list(parts)
    while True:
        known = [i for i, pair in enumerate(zip(parts, parts[1:])) if pair in ranks]
        if not known:
            return parts
        i = min(known, key=lambda i: ranks[parts[i], parts[i + 1]])
        parts[i:i + 2] = parts[i] + parts[i + 1]


@mistake(of=merge)
def numbers_for_parts(parts, ranks):
    """The parts are numbers, so no pair is found.

    list(b"hu") is [104, 117], and the keys of ranks are bytes, such as (b"h", b"u"). parts is a
    list already: what do you turn it into?
    """
    return list(b"".join(parts))


@mistake(of=merge)
def texts_from_the_start(parts, ranks):
    """The parts are made texts at the start, so no pair is found any more.

    The pairs in ranks are bytes, such as (b"u", b"g"). Is there a decode too many?
    """
    return [part.decode("utf-8", errors="replace") for part in parts]


@mistake(of=merge)
def texts_not_bytes(parts, ranks):
    """The parts are texts, not bytes.

    A part may be half a character, which is no text. Is there a decode too many?
    """
    return [part.decode("utf-8", errors="replace") for part in merge(parts, ranks)]


def _merge_by(parts, ranks, key, most=None):
    """Merge the pair with the smallest key, `most` times or until no pair is left."""
    parts, done = list(parts), 0
    while most is None or done < most:
        known = [i for i, pair in enumerate(zip(parts, parts[1:])) if pair in ranks]
        if not known:
            break
        _join(parts, min(known, key=lambda i: key(parts, i)))
        done += 1
    return parts


def _walk(parts, ranks):
    walked, i = [], 0
    while i < len(parts):
        pair = tuple(parts[i:i + 2])
        walked.append(b"".join(pair) if pair in ranks else parts[i])
        i += 2 if pair in ranks else 1
    return walked


def _join(parts, i):
    parts[i:i + 2] = [parts[i] + parts[i + 1]]


# encode

def encode(text, pattern, merge, ranks, ids):
    """The right answer to the first exercise."""
    return [ids[part] for piece in pattern.findall(text) for part in merge(_bytes(piece), ranks)]


@mistake(of=encode)
def not_cut(text, pattern, merge, ranks, ids):
    """The text is merged as a whole; it is not cut into pieces first.

    A merge must never cross the edge of a piece. What does pattern.findall(text) give?
    """
    return [ids[part] for part in merge(_bytes(text), ranks)]


@mistake(of=encode)
def cut_at_spaces(text, pattern, merge, ranks, ids):
    """The text is split at white space, and the spaces are lost.

    A space belongs to the word that follows it. Who cuts the text, str.split or the pattern?
    """
    return [ids[part] for piece in text.split() for part in merge(_bytes(piece), ranks)]


@mistake(of=encode)
def characters(text, pattern, merge, ranks, ids):
    """The parts start as characters, not as bytes.

    An é is one character and two bytes. Where is piece.encode("utf-8") cut into single bytes?
    """
    return [ids[part] for piece in pattern.findall(text)
            for part in merge([c.encode("utf-8") for c in piece], ranks)]


@mistake(of=encode)
def not_merged(text, pattern, merge, ranks, ids):
    """Each byte stays a token of its own: nothing is merged.

    The bytes are where it starts. Which function makes fewer parts of them?
    """
    return [ids[part] for part in _bytes(text)]


@mistake(of=encode)
def byte_values(text, pattern, merge, ranks, ids):
    """The values of the bytes stand where the ids should.

    The byte of H is 72, but its id is another number. Which table gives the id of a part?
    """
    return list(text.encode("utf-8"))


@mistake(of=encode)
def lower_case(text, pattern, merge, ranks, ids):
    """The text is changed to lower case first.

    Hello and hello are different tokens. Nothing may be lost on the way: encode the text as it is.
    """
    return encode(text.lower(), pattern, merge, ranks, ids)


@mistake(of=encode)
def stripped(text, pattern, merge, ranks, ids):
    """White space at the ends of the text is cut off.

    A text may begin with a space or end with a line break. What would decode give back?
    """
    return encode(text.strip(), pattern, merge, ranks, ids)


@mistake(of=encode)
def lists_in_a_list(text, pattern, merge, ranks, ids):
    """There is one list for each piece, in a list.

    One flat list of ids is asked for. Does += or append put the ids of a piece at its end?
    """
    return [[ids[part] for part in merge(_bytes(piece), ranks)] for piece in pattern.findall(text)]


@mistake(of=encode)
def pieces_stripped(text, pattern, merge, ranks, ids):
    """White space is cut off every piece.

    A space in front of a word is part of its token. Is there a strip too many?
    """
    return [ids[part] for piece in pattern.findall(text)
            for part in merge(_bytes(piece.strip()), ranks)]


@mistake(of=encode)
def parts_are_letters(text, pattern, merge, ranks, ids):
    """The parts are letters of a text, not bytes.

    The keys of ids are bytes, such as b"H". Which method of a text gives bytes?
    """
    return [ids[part] for piece in pattern.findall(text) for part in merge(list(piece), ranks)]


@mistake(of=encode)
def parts_are_numbers(text, pattern, merge, ranks, ids):
    """The parts are numbers: taking bytes apart gives whole numbers.

    list(b"H") is [72]. How do you get b"H" back from 72?
    """
    return [ids[part] for piece in pattern.findall(text)
            for part in merge(list(piece.encode("utf-8")), ranks)]


@mistake(of=encode)
def zero_bytes(text, pattern, merge, ranks, ids):
    """bytes(72) is made, which is 72 bytes of 0.

    bytes takes a list of numbers. How do you hand it a single one?
    """
    return [ids[part] for piece in pattern.findall(text)
            for part in merge([bytes(byte) for byte in piece.encode("utf-8")], ranks)]


@mistake(of=encode)
def latin_1_bytes(text, pattern, merge, ranks, ids):
    """Each character becomes a single byte.

    That is Latin-1, and has no room for most characters. Which encoding does GPT-2 use?
    """
    return [ids[part] for piece in pattern.findall(text)
            for part in merge([bytes([byte]) for byte in piece.encode("latin-1")], ranks)]


@mistake(of=encode)
def none_for_unknown(text, pattern, merge, ranks, ids):
    """The parts start as characters, and one that is no token gives None.

    An é is one character and two bytes. Where is piece.encode("utf-8") cut into single bytes?
    """
    return [ids.get(part) for piece in pattern.findall(text)
            for part in merge([c.encode("utf-8") for c in piece], ranks)]


@mistake(of=encode)
def utf_16(text, pattern, merge, ranks, ids):
    """The bytes are those of UTF-16.

    There each letter has two bytes, and the list of pairs knows none of them. Which encoding does
    GPT-2 use?
    """
    return [ids[part] for piece in pattern.findall(text)
            for part in merge([bytes([byte]) for byte in piece.encode("utf-16")], ranks)]


@mistake(of=encode)
def letters_dropped(text, pattern, merge, ranks, ids):
    """Characters outside of ASCII are dropped.

    Nothing may be lost on the way. Which encoding can write every character?
    """
    return encode(text.encode("ascii", errors="ignore").decode(), pattern, merge, ranks, ids)


@mistake(of=encode)
def last_piece_only(text, pattern, merge, ranks, ids):
    """Only the ids of the last piece come back.

    Each turn of the loop begins a new list. Where must the list be made, and which sign makes it
    longer?
    """
    found = []
    for piece in pattern.findall(text):
        found = [ids[part] for part in merge(_bytes(piece), ranks)]
    return found


@mistake(of=encode)
def first_piece_only(text, pattern, merge, ranks, ids):
    """Only the ids of the first piece come back.

    The loop ends at its first turn. How far is the return indented?
    """
    return [ids[part] for piece in pattern.findall(text)[:1]
            for part in merge(_bytes(piece), ranks)]


@mistake(of=encode)
def pieces_backwards(text, pattern, merge, ranks, ids):
    """The pieces come in the opposite order.

    The first piece of the text comes first. On which side do you add the new ids?
    """
    return [ids[part] for piece in pattern.findall(text)[::-1]
            for part in merge(_bytes(piece), ranks)]


@mistake(of=encode)
def whole_pieces(text, pattern, merge, ranks, ids):
    """Whole pieces are looked up, without a merge.

    Not every word is a token. Which function finds the parts that are?
    """
    return [ids[piece.encode("utf-8")] for piece in pattern.findall(text)]


@mistake(of=encode)
def between_the_pieces(text, pattern, merge, ranks, ids):
    """What lies between the pieces is taken, and that is nothing.

    split cuts out what the pattern finds. Which method gives what it finds?
    """
    return [ids[part] for piece in pattern.split(text) for part in merge(_bytes(piece), ranks)]


@mistake(of=encode)
def parts_given(text, pattern, merge, ranks, ids):
    """The parts come back, not their ids.

    Numbers are asked for. Which of your arguments is not used?
    """
    return [part for piece in pattern.findall(text) for part in merge(_bytes(piece), ranks)]


@mistake(of=encode)
def parts_as_texts(text, pattern, merge, ranks, ids):
    """The parts are turned into texts before they are looked up.

    The keys of ids are bytes, such as b"Hello". Is there a decode too many?
    """
    return [ids[part.decode("utf-8")] for piece in pattern.findall(text)
            for part in merge(_bytes(piece), ranks)]


@mistake(of=encode)
def ranks_for_ids(text, pattern, merge, ranks, ids):
    """A part is looked up among the ranks.

    The keys of ranks are pairs. Which table has parts for its keys?
    """
    return [ranks[part] for piece in pattern.findall(text) for part in merge(_bytes(piece), ranks)]


@mistake(of=encode)
def bytes_are_cut(text, pattern, merge, ranks, ids):
    """The text is turned into bytes before it is cut.

    The pattern knows letters, digits and spaces, so it needs the text. What comes first, the cut
    or the bytes?
    """
    return [ids[part] for piece in pattern.findall(text.encode("utf-8"))
            for part in merge(_bytes(piece), ranks)]


@mistake(of=encode)
def last_byte_lost(text, pattern, merge, ranks, ids):
    """The last byte of each piece is lost.

    A range leaves its end out by itself. How many bytes has the piece, and how many do you take?
    """
    return [ids[part] for piece in pattern.findall(text)
            for part in merge(_bytes(piece)[:-1], ranks)]


@mistake(of=encode)
def collected_in_a_set(text, pattern, merge, ranks, ids):
    """The ids are collected in a set, which has no order and no doubles.

    The same token may come twice, and its place counts. What keeps both?
    """
    return list(set(encode(text, pattern, merge, ranks, ids)))


@mistake(of=encode)
def ids_as_floats(text, pattern, merge, ranks, ids):
    """The ids come back as floats.

    An id is a place in a list, so a whole number. Where does a float come in?
    """
    return [float(i) for i in encode(text, pattern, merge, ranks, ids)]


def _bytes(text):
    return [bytes([byte]) for byte in text.encode("utf-8")]


# decode

def decode(ids, tokens):
    """The right answer to the second exercise."""
    return b"".join(tokens[i] for i in ids).decode("utf-8", errors="replace")


@mistake(of=decode)
def each_alone(ids, tokens):
    """Each token is decoded alone.

    The bytes of one character can be spread over several tokens. What do you have to join before
    you decode?
    """
    return "".join(tokens[i].decode("utf-8", errors="replace") for i in ids)


@mistake(of=decode)
def strict(ids, tokens):
    """Bytes that are no UTF-8 raise an error.

    A model may stop in the middle of a character. Look up the argument `errors` of bytes.decode.
    """
    return b"".join(tokens[i] for i in ids).decode("utf-8")


@mistake(of=decode)
def ignored(ids, tokens):
    """Bytes that are no UTF-8 vanish without a trace.

    The reader should see that something is missing. Which value of `errors` puts a mark there?
    """
    return b"".join(tokens[i] for i in ids).decode("utf-8", errors="ignore")


@mistake(of=decode)
def with_spaces(ids, tokens):
    """A space is put between the tokens.

    The spaces are part of the tokens already. What stands between them when you join?
    """
    return b" ".join(tokens[i] for i in ids).decode("utf-8", errors="replace")


@mistake(of=decode)
def latin_1(ids, tokens):
    """Each byte becomes a character of its own.

    That is Latin-1. In UTF-8 a character takes one to four bytes: which method of bytes knows it?
    """
    return "".join(chr(byte) for i in ids for byte in tokens[i])


@mistake(of=decode)
def still_bytes(ids, tokens):
    """The result is bytes, not a text.

    The bytes are right. One step is missing on the way back to a str.
    """
    return b"".join(tokens[i] for i in ids)


@mistake(of=decode)
def tidied(ids, tokens):
    """Spaces at the ends of the text are cut off.

    encode keeps every space, so decode must give every space back. Is there a strip too many?
    """
    return decode(ids, tokens).strip()


@mistake(of=decode)
def each_alone_and_strict(ids, tokens):
    """Each token is decoded alone, and half a character stops it with an error.

    The bytes of one character can be spread over several tokens. What do you have to join before
    you decode?
    """
    return "".join(tokens[i].decode("utf-8") for i in ids)


@mistake(of=decode)
def each_alone_or_a_mark(ids, tokens):
    """Each token is decoded alone, and one that is no text becomes a single mark.

    The bytes of one character can be spread over several tokens. What do you have to join before
    you decode?
    """
    found = []
    for i in ids:
        try:
            found.append(tokens[i].decode("utf-8"))
        except UnicodeDecodeError:
            found.append("\ufffd")
    return "".join(found)


@mistake(of=decode)
def one_mark_for_all(ids, tokens):
    """One character that is cut short takes the whole text with it.

    Only the broken place should become a mark. Look up the argument `errors` of bytes.decode.
    """
    try:
        return strict(ids, tokens)
    except UnicodeDecodeError:
        return "\ufffd"


@mistake(of=decode)
def written_with_b(ids, tokens):
    """str() writes bytes as Python shows them, with b'...' around them.

    That is a picture of the bytes, not their text. Which method of bytes gives the text?
    """
    return str(b"".join(tokens[i] for i in ids))


@mistake(of=decode)
def each_written_with_b(ids, tokens):
    """str() writes each token as Python shows bytes, with b'...' around it.

    That is a picture of the bytes, not their text. Which method of bytes gives the text?
    """
    return "".join(str(tokens[i]) for i in ids)


@mistake(of=decode)
def texts_in_a_list(ids, tokens):
    """A list of texts comes back, not one text.

    One text is asked for. What do you have to join, and when?
    """
    return [tokens[i].decode("utf-8", errors="replace") for i in ids]


@mistake(of=decode)
def ids_as_characters(ids, tokens):
    """The ids themselves are taken for bytes or characters.

    An id is a place in the table. Which of your arguments is not used?
    """
    return "".join(chr(i) for i in ids)


@mistake(of=decode)
def joined_as_texts(ids, tokens):
    """Bytes are joined by a text, which Python refuses.

    "" joins texts. What joins bytes?
    """
    return "".join(tokens[i] for i in ids)


@mistake(of=decode)
def ids_from_one(ids, tokens):
    """The ids are counted from 1.

    Id 0 is the first of the tokens. Is there a - 1 too many?
    """
    return decode([i - 1 for i in ids], tokens)


@mistake(of=decode)
def backwards(ids, tokens):
    """The tokens come in the opposite order.

    The first id comes first. On which side do you add the new bytes?
    """
    return decode(ids[::-1], tokens)


@mistake(of=decode)
def first_token_only(ids, tokens):
    """Only the first token comes back.

    The loop ends at its first turn. How far is the return indented?
    """
    return decode(ids[:1], tokens)


@mistake(of=decode)
def last_token_only(ids, tokens):
    """Only the last token comes back.

    Each turn of the loop begins anew. Which sign adds to what is there?
    """
    return decode(ids[-1:], tokens)


@mistake(of=decode)
def last_token_missing(ids, tokens):
    """The last token is missing.

    A slice and a range leave their end out by themselves. How many ids are there, and how many do
    you take?
    """
    return decode(ids[:-1], tokens)


@mistake(of=decode)
def places_for_ids(ids, tokens):
    """The tokens come in the order of the table, whatever the ids are.

    range(len(ids)) counts places in the list of ids. What stands at such a place?
    """
    return decode(range(len(ids)), tokens)


@mistake(of=decode)
def each_token_once(ids, tokens):
    """The tokens come in the order of the table, and each of them once.

    A text may use a token many times. Which of the two lists do you walk over?
    """
    return decode(sorted(set(ids)), tokens)


@mistake(of=decode)
def ascii_only(ids, tokens):
    """Every byte outside of ASCII becomes a mark.

    An é has two such bytes, and is no mistake. Which encoding are they in?
    """
    return b"".join(tokens[i] for i in ids).decode("ascii", errors="replace")


@mistake(of=decode)
def bytes_written_out(ids, tokens):
    """Bytes that are no UTF-8 are written out as \\x and digits.

    The reader should see a mark, not the bytes. Which value of `errors` puts � there?
    """
    return b"".join(tokens[i] for i in ids).decode("utf-8", errors="backslashreplace")


@mistake(of=decode)
def bytes_hidden(ids, tokens):
    """Bytes that are no UTF-8 become characters that cannot be printed.

    surrogateescape is for file names. Which value of `errors` puts � there?
    """
    return b"".join(tokens[i] for i in ids).decode("utf-8", errors="surrogateescape")


# Cases

WORDS = ["raspberry", "seashore", "Cinderella", "hobgoblin", " the", "🤗", " café", " 'two",
         "\n\n\n\nfour", "Hello", " hello", ",", "World", " "]
TEXTS = ["Hello", " hello", "Hello,World", "raspberry", " the café", "🤗", "\n\n\n\nfour", " 'two",
         "", " the "]


def _ranks(words):
    """The merges of GPT-2 that can happen within these words: {(bytes, bytes): rank}."""
    table = byte_characters()
    byte_of = {character: byte for byte, character in table.items()}
    printed = " ".join("".join(table[byte] for byte in word.encode("utf-8")) for word in words)
    lines = shipped("data", "gpt2-vocab", "vocab.bpe").read_text(encoding="utf-8").split("\n")[1:]
    return {tuple(bytes(byte_of[c] for c in part) for part in line.split(" ")): rank
            for rank, line in enumerate(lines) if line and line.replace(" ", "") in printed}


RANKS = _ranks(WORDS)
IDS = {bytes([byte]): i for i, byte in enumerate(sorted(range(256), key=byte_characters().get))} | {
    left + right: 256 + rank for (left, right), rank in RANKS.items()}
TOY = {(b"u", b"g"): 0, (b"h", b"u"): 1, (b"ug", b"s"): 2, (b"h", b"ug"): 3}
AS = {(b"a", b"a"): 5, (b"aa", b"a"): 9}

HAND = "bugs hug rugs hug mug hut jug hum hub"
KING = ("The old king saw the young queen. The young queen saw the old king. Then the old king saw "
        "that the young queen saw a young king, and the old king saw red.")
AWKWARD = ["I'd say they'll", "   three spaces", "3.14159 or 1,000", "🤗🦀 你好", "tail \n\n\n",
           "'Tomorrow'", "<|endoftext|>", "", "raspberry", "seashore", "Cinderella", "hobgoblin"]
U_G, A_A = (b"u", b"g"), (b"a", b"a")


def _pieces(text):
    return list(map(_bytes, text.split()))


exercise(join, [
    Case("the parts h, u, g, s and the pair u, g", (_bytes("hugs"), U_G)),
    Case("a pair at both ends", (_bytes("ughug"), U_G)),
    Case("a pair that is not there", (_bytes("gush"), U_G)),
    Case("a pair of longer parts", ([b"h", b"ug", b"s", b"h"], (b"h", b"ug"))),
    Case("halves that stand alone", (_bytes("uhgu"), U_G)),
    Case("the same bytes, cut elsewhere", ([b"ug", b"s", b"u", b"gs"], (b"u", b"gs"))),
    Case("three equal letters", (_bytes("aaa"), A_A)),
    Case("four equal letters", (_bytes("aaaa"), A_A)),
    Case("one part", ([b"u"], U_G)),
    Case("no part", ([], U_G))])
exercise(find_merges, [
    Case("the nine words of the hand example", (_pieces(HAND), 9, join)),
    Case("two merges of them", (_pieces(HAND), 2, join)),
    Case("no merge is asked for", (_pieces(HAND), 0, join)),
    Case("a pair twice in one piece", (_pieces("banana bat"), 5, join)),
    Case("pairs that are equally common", (_pieces("dc ba ba dc"), 5, join)),
    Case("more often across a cut", (_pieces("ba ab ba ab"), 1, join)),
    Case("equals, one of them met first and last", (_pieces("xy ab ab xy"), 1, join)),
    Case("five equal letters", (_pieces("aaaaa"), 5, join)),
    Case("no pair comes twice", (_pieces("ab cd"), 5, join)),
    Case("pieces of one part", (_pieces("a b a"), 5, join)),
    Case("no piece", ([], 5, join)),
    Case("the old king", (_pieces(KING), 12, join))])
exercise(merge, [
    Case("the parts h, u, g, s of the hand example", (_bytes("hugs"), TOY)),
    Case("one part", ([b"h"], TOY)),
    Case("no part", ([], TOY)),
    Case("no pair in the list", (_bytes("gush"), TOY)),
    Case("three equal letters", (_bytes("aaa"), AS)),
    Case("four equal letters", (_bytes("aaaa"), {(b"a", b"a"): 5})),
    Case("a merge that makes a pair of lower rank",
         (_bytes("hug"), {(b"h", b"ug"): 0, (b"u", b"g"): 1})),
    *(Case(repr(word), (_bytes(word), RANKS)) for word in WORDS[:6])])
exercise(encode, [Case(repr(text), (text, piece_pattern(), merge, RANKS, IDS)) for text in TEXTS])
exercise(decode, [
    Case("two tokens", ([0, 1], [b"Hello", b" world"])),
    Case("a space at the start and at the end", ([2, 1, 2], [b"Hello", b" world", b" "])),
    Case("an emoji over three tokens", ([2, 0, 1], [b"\xa4", b"\x97", b"\xf0\x9f"])),
    Case("an emoji that is cut short", ([0, 1], [b"ok \xf0\x9f", b"\xa4"])),
    Case("an é over two tokens", ([0, 1], [b"caf\xc3", b"\xa9"])),
    Case("no token", ([], [b"a"]))])
