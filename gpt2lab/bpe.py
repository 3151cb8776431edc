"""Byte pair encoding from scratch: text -> bytes -> pieces -> token ids, and back."""
import codecs
import heapq
import json
import operator
import re
from functools import cache
from pathlib import Path

from .unicode_classes import HIGH_LETTERS, HIGH_NUMBERS, LOW_LETTERS, LOW_NUMBERS, SPACES

END_OF_TEXT = "<|endoftext|>"
SHORT = 40                  # bytes; up to here _merge is the faster way, and ids are kept
CACHED_PIECES = 65_536
NO_MERGE = 2**31                                # a rank behind all others


@cache
def piece_pattern():
    """The compiled expression that cuts text into pieces; merges never cross a cut.

    A contraction, or letters, or numbers, or other marks, each with at most one space before it;
    else white space: all of it at the end of the text or before more white space but for its last
    character (which stays with the word that follows), or what is left.
    `re` tries the ranges above U+FFFF one by one, so they stand behind a look at the character's
    number: 4 times as fast on English text as [letters], [numbers], [marks] in one piece each.
    Source: encoder.py of openai/gpt-2. Taught: notebooks/03_bpe.ipynb
    """
    high = "\U00010000-\U0010ffff"
    letters = rf"(?:[{LOW_LETTERS}]+|(?=[{high}])[{HIGH_LETTERS}]+)+"
    numbers = rf"(?:[{LOW_NUMBERS}]+|(?=[{high}])[{HIGH_NUMBERS}]+)+"
    marks = (rf"(?:[^{SPACES}{LOW_LETTERS}{LOW_NUMBERS}{high}]+|"
             rf"(?=[{high}])[^\0-\uffff{HIGH_LETTERS}{HIGH_NUMBERS}]+)+")
    return re.compile(rf"'(?:[sdmt]|ll|ve|re)| ?{letters}| ?{numbers}| ?{marks}|"
                      rf"[{SPACES}]+(?![^{SPACES}])|[{SPACES}]+")


def byte_characters():
    """One printable character for each of the 256 bytes, as the vocabulary files write them.

    Bytes that print as themselves keep their character; the others take the next ones from 256 on.
    Source: bytes_to_unicode in encoder.py of openai/gpt-2. Taught: notebooks/03_bpe.ipynb
    """
    plain = {*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1),
             *range(ord("®"), ord("ÿ") + 1)}
    others = [byte for byte in range(256) if byte not in plain]
    return {byte: chr(byte) for byte in plain} | {b: chr(256 + n) for n, b in enumerate(others)}


class BPE:
    """GPT-2's tokenizer. Token ids are whole numbers from 0 to 50,256; the last is <|endoftext|>.

    Taught: notebooks/03_bpe.ipynb
    """

    def __init__(self, ranks, tokens, has_end=True):
        self.ranks = ranks                      # {(id, id): (rank, id of the merged token)}
        self.tokens = tokens                    # id -> bytes
        self.end_of_text = len(tokens) - 1 if has_end else None
        self._byte_ids = {token[0]: i for i, token in enumerate(tokens) if len(token) == 1}
        self._rank_of = {pair: rank for pair, (rank, _) in ranks.items()}
        self._merged = dict(ranks.values())     # rank -> id of the merged token
        self._cache = {}                        # piece -> its ids

    @classmethod
    def from_files(cls, vocab_bpe, encoder_json):
        """Read OpenAI's two vocabulary files. Raises ValueError where they are not GPT-2's."""
        tokens = read_tokens(encoder_json)
        ids = {token: i for i, token in enumerate(tokens)}
        byte_of = {char: byte for byte, char in byte_characters().items()}
        lines = Path(vocab_bpe).read_text(encoding="utf-8", errors="replace").split("\n")
        merges = [line.split(" ") for line in (line.rstrip("\r") for line in lines)
                  if line and not line.startswith("#version")]
        if len(merges) != 50_000 or any(len(pair) != 2 for pair in merges):
            raise ValueError(f"{vocab_bpe}: must hold 50000 merges of two parts, "
                             f"got {len(merges)} lines")
        ranks = {}
        try:
            for rank, (left, right) in enumerate(merges):
                left, right = (bytes(byte_of[char] for char in part) for part in (left, right))
                ranks[ids[left], ids[right]] = rank, ids[left + right]
        except KeyError:
            raise ValueError(f"{vocab_bpe}: merge {rank + 1} is not of tokens of "
                             f"{encoder_json}") from None
        return cls(ranks, tokens)

    def first(self, size):
        """A tokenizer with the first `size` tokens only: the 256 bytes and the first merges.

        It has no end token.
        Raises: ValueError for a size below 256, or above what there is without the end token.
        """
        check_size(size, self)
        ranks = {pair: found for pair, found in self.ranks.items() if found[1] < size}
        return BPE(ranks, self.tokens[:size], has_end=False)

    def encode(self, text, allow_special=False):
        """Token ids of a text.

        <|endoftext|> in the text is plain text, unless allow_special asks for the special token.
        Raises: ValueError for text with half a surrogate pair, which is no Unicode text.
        """
        check_text(text)
        if allow_special and END_OF_TEXT in text and self.end_of_text is not None:
            first, *others = text.split(END_OF_TEXT)
            ids = self.encode(first)
            for part in others:
                ids += [self.end_of_text, *self.encode(part)]
            return ids
        ids = []
        for piece in piece_pattern().findall(text):
            ids += self._cache.get(piece) or self._encode_piece(piece)
        return ids

    def decode(self, ids):
        """Text of token ids; bytes that are no UTF-8 become U+FFFD.

        Raises: ValueError for an unknown id.
        """
        return self.decode_bytes(ids).decode("utf-8", errors="replace")

    def decode_bytes(self, ids):
        """Bytes of token ids, exactly. Raises ValueError for an unknown id."""
        return b"".join(self.tokens[check_id(i, len(self.tokens))] for i in ids)

    def decode_stream(self, ids):
        """Text pieces of token ids as they come, one an id, each of whole characters.

        A piece is empty while a character is not complete; the pieces join to decode(ids).
        """
        decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        for i in ids:
            yield decoder.decode(self.decode_bytes([i]))
        yield decoder.decode(b"", final=True)

    def merge_steps(self, piece):
        """How one piece is merged: a list of (parts, rank), one a merge, from single bytes on.

        parts: the tokens (bytes) after the merge; rank: place of the merge in the list of merges,
        None for the start. merge_steps("hug")[0] is ([b"h", b"u", b"g"], None).
        """
        check_text(piece)
        steps = []
        self._merge_by_heap(piece.encode("utf-8"), steps)
        return steps

    def _encode_piece(self, piece):
        data = piece.encode("utf-8")
        if len(data) > SHORT:
            return self._merge_by_heap(data)
        if len(self._cache) >= CACHED_PIECES:
            self._cache.clear()
        ids = self._cache[piece] = self._merge(data)
        return ids

    def _merge(self, data):
        """Ids of one piece: merge the neighbours of lowest rank, the leftmost first, to the end."""
        ids, rank_of = [self._byte_ids[byte] for byte in data], self._rank_of
        ranks = [rank_of.get(pair, NO_MERGE) for pair in zip(ids, ids[1:])]         # of i and i + 1
        while ranks and (lowest := min(ranks)) < NO_MERGE:
            i = ranks.index(lowest)
            ids[i:i + 2] = [self._merged[lowest]]
            del ranks[i]
            if i > 0:
                ranks[i - 1] = rank_of.get((ids[i - 1], ids[i]), NO_MERGE)
            if i < len(ranks):
                ranks[i] = rank_of.get((ids[i], ids[i + 1]), NO_MERGE)
        return ids

    def _merge_by_heap(self, data, steps=None):
        """The same for long pieces: n log n steps for n bytes, where _merge takes n^2.

        A heap holds the possible merges, a linked list the parts.
        """
        size = len(data)
        ids = [self._byte_ids[byte] for byte in data]   # id of the part that begins here, or None
        before, after = list(range(-1, size - 1)), list(range(1, size + 1))
        heap = []

        def consider(i):
            if i >= 0 and after[i] < size and (ids[i], ids[after[i]]) in self.ranks:
                rank, merged = self.ranks[ids[i], ids[after[i]]]
                heapq.heappush(heap, (rank, i, ids[i], ids[after[i]], merged))

        def note(rank):
            if steps is not None:
                steps.append(([self.tokens[i] for i in ids if i is not None], rank))

        note(None)
        for i in range(size - 1):
            consider(i)
        while heap:
            rank, i, left, right, merged = heapq.heappop(heap)
            j = after[i]
            if ids[i] != left or j == size or ids[j] != right:
                continue                                # a neighbour was merged away meanwhile
            ids[i], ids[j], after[i] = merged, None, after[j]
            if after[i] < size:
                before[after[i]] = i
            consider(before[i])
            consider(i)
            note(rank)
        return [i for i in ids if i is not None]


def read_tokens(encoder_json):
    """List of the tokens' bytes in the order of their ids.

    Raises: ValueError where the file is not GPT-2's.
    """
    byte_of = {char: byte for byte, char in byte_characters().items()}
    try:
        table = json.loads(Path(encoder_json).read_text(encoding="utf-8"))
        names = sorted(table, key=lambda name: table[name])
        tokens = [bytes(byte_of[char] for char in name) for name in names]
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{encoder_json}: not GPT-2's table of tokens: {error}") from None
    if [table[name] for name in names] != list(range(50_257)) or names[-1] != END_OF_TEXT:
        raise ValueError(f"{encoder_json}: must hold 50257 tokens, numbered from 0 and ending with "
                         f"{END_OF_TEXT}, got {len(table)}")
    if sum(len(token) == 1 for token in tokens) != 256:
        raise ValueError(f"{encoder_json}: must hold a token for each of the 256 bytes")
    return tokens


def check_size(size, tokenizer):
    """Raise ValueError if `size` is no number of first tokens: each text needs the 256 bytes."""
    most = len(tokenizer.tokens) - (tokenizer.end_of_text is not None)
    if not hasattr(size, "__index__") or not 256 <= size <= most:
        raise ValueError(f"first: size must be a whole number from 256 to {most}, got {size!r:.60}")


def check_text(text):
    """Raise ValueError with one sentence if `text` is no Unicode text."""
    if not isinstance(text, str):
        raise ValueError(f"encode: text must be a str, got {type(text).__name__}")
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise ValueError(f"encode: text must be Unicode, got half a surrogate pair "
                         f"({text[error.start]!a}) at place {error.start}") from None


def check_id(i, size):
    """`i` as an int, if it is a token id; else ValueError."""
    try:
        number = -1 if isinstance(i, bool) else operator.index(i)
    except TypeError:                           # a fraction, a text, an array of several
        number = -1
    if not 0 <= number < size:
        raise ValueError(f"decode: a token id must be a whole number from 0 to {size - 1}, "
                         f"got {i!r:.60}")
    return number
