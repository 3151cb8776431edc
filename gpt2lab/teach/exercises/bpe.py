"""Lesson 03: merge, and with it encode and decode."""
from typing import NamedTuple

from gpt2lab.bpe import byte_characters, piece_pattern
from gpt2lab.files import shipped

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


def merging(pieces, ranks, done):
    """The text after `done` merges. pieces: merge_steps of each piece of the text."""
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

exercise(merge, [
    Case("the parts h, u, g, s of the hand example", (_bytes("hugs"), TOY)),
    Case("one part", ([b"h"], TOY)),
    Case("no part", ([], TOY)),
    Case("no pair in the list", (_bytes("gush"), TOY)),
    Case("three equal letters", (_bytes("aaa"), AS)),
    Case("four equal letters", (_bytes("aaaa"), {(b"a", b"a"): 5})),
    *(Case(repr(word), (_bytes(word), RANKS)) for word in WORDS[:6])])
exercise(encode, [Case(repr(text), (text, piece_pattern(), merge, RANKS, IDS)) for text in TEXTS])
exercise(decode, [
    Case("two tokens", ([0, 1], [b"Hello", b" world"])),
    Case("a space at the start and at the end", ([2, 1, 2], [b"Hello", b" world", b" "])),
    Case("an emoji over three tokens", ([2, 0, 1], [b"\xa4", b"\x97", b"\xf0\x9f"])),
    Case("an emoji that is cut short", ([0, 1], [b"ok \xf0\x9f", b"\xa4"])),
    Case("an é over two tokens", ([0, 1], [b"caf\xc3", b"\xa9"])),
    Case("no token", ([], [b"a"]))])
