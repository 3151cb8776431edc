"""Our BPE and the tokenizer through tiktoken, side by side with tiktoken on millions of characters.

    python tests/slow/fuzz_bpe.py --characters 5000000 --seed 1

Texts: random Unicode of all planes, random bytes, Python's own sources, text in the characters of
many scripts, awkward pieces put together, white space, digits; then words of up to 500,000 letters,
whose time must grow as n log n. Every text must give the ids of tiktoken, decode to itself, and be
the same when it is decoded piece by piece. Exit code 1 where one does not.
"""
import argparse
import collections
import os
import random
import sys
import sysconfig
import time
import unicodedata
from pathlib import Path
from string import ascii_lowercase

import tiktoken
from tiktoken.load import data_gym_to_mergeable_bpe_ranks
from tiktoken_ext.openai_public import r50k_pat_str

from gpt2lab import bpe
from gpt2lab.bpe import BPE
from gpt2lab.tokenizer import Tokenizer

FOLDER = Path(__file__).resolve().parents[2] / "data" / "gpt2-vocab"
FILES = FOLDER / "vocab.bpe", FOLDER / "encoder.json"
LONG = 500_000                      # letters of the longest word
GROWTH = 3                          # times the time for twice the word, at most
# First and last character of some scripts, with the share of spaces that their texts have.
SCRIPTS = {
    "Latin": (0x41, 0x24f, 6), "Greek": (0x370, 0x3ff, 6), "Cyrillic": (0x400, 0x52f, 6),
    "Armenian": (0x531, 0x58f, 6), "Hebrew": (0x591, 0x5f4, 6), "Arabic": (0x600, 0x6ff, 6),
    "Devanagari": (0x900, 0x97f, 5), "Bengali": (0x980, 0x9ff, 5), "Tamil": (0xb80, 0xbff, 7),
    "Thai": (0xe01, 0xe5b, 30), "Tibetan": (0xf00, 0xfff, 20), "Georgian": (0x10a0, 0x10ff, 7),
    "Hangul jamo": (0x1100, 0x11ff, 5), "Ethiopic": (0x1200, 0x137f, 5),
    "Khmer": (0x1780, 0x17ff, 30), "Mongolian": (0x1800, 0x18af, 6),
    "Vietnamese": (0x1e00, 0x1eff, 4), "marks": (0x300, 0x36f, 5),
    "Punctuation": (0x2000, 0x206f, 6), "Roman numerals": (0x2150, 0x218b, 5),
    "Symbols": (0x2190, 0x2bff, 6), "Kana": (0x3000, 0x30ff, 40), "Han": (0x4e00, 0x9fff, 40),
    "Yi": (0xa000, 0xa48c, 20), "Hangul": (0xac00, 0xd7a3, 4), "Compatibility": (0xf900, 0xfaff, 9),
    "Full width": (0xff00, 0xffef, 9), "Gothic": (0x10330, 0x1034a, 6),
    "Cuneiform": (0x12000, 0x123ff, 9), "Mathematics": (0x1d400, 0x1d7ff, 6),
    "Emoji": (0x1f300, 0x1faff, 6),
    "Han B": (0x20000, 0x2a6df, 40)}
WHITE = list(
    " \n\t\r\x0b\x0c\x1c\x1f\x85\xa0\u1680\u180e\u2003\u200b\u2028\u2029\u202f\u3000\ufeff")
AWKWARD = ["they'll sail", "I'll, you'll", "O'Malley", "'Members only'", "'Tomorrow'", "it\u2019s",
           "   three spaces", " x  y", "one \n two", "\n\n\n\nfour", "tail \n", "caf\u00e9",
           "cafe\u0301",
           "\ufb03", "\uff11\uff12\uff13", "    return None\n", "\ta\t b", "Imagine,", "raspberry",
           "seashore", "Cinderella", "hobgoblin", " gazed", "Stop <|endoftext|> now",
           "<|ENDOFTEXT|>",
           "<|endoftext|", "Is it late ?", "wait . . .", "\U0001f980", "\u4f60\u597d", " ", "'",
           "''",
           "'s", "'S", "'re", "'RE", "'\u017f", "x\u00b2", "\u00bd", "\u2167", "_", "a\x00b",
           "\x7f",
           "\xad", "\U0001f469\u200d\U0001f692", "\u200d", "\ufe0f", "1234567890", "3.14",
           "1,000", "x1y2",
           "\r\n", "\U0010ffff", "\uffff", "\ufffd", "...", "!!!", "--", "==", "://", "#$%&*"]


MIXED = ([chr(c) for c in range(0x20, 0x500) if unicodedata.category(chr(c))[0] in "LNP"]
         + [" "] * 200 + ["'s", "'ll", "'t"] * 20)


def random_unicode(dice, size):
    """Any character of any plane, unassigned ones too; all but the surrogates."""
    def one():
        code = dice.randrange(dice.choice((0x80, 0x800, 0x10000, 0x110000)))
        return chr(code) if not 0xd800 <= code < 0xe000 else " "
    return "".join(one() for _ in range(size))


def random_bytes(dice, size):
    return dice.randbytes(size).decode("latin-1")


def script(dice, size):
    first, last, word = dice.choice(list(SCRIPTS.values()))
    return "".join(" " if dice.randrange(word) == 0 else chr(dice.randint(first, last))
                   for _ in range(size))


def mixed(dice, size):
    """Latin, Greek and Cyrillic words with apostrophes, digits and marks between."""
    return "".join(dice.choices(MIXED, k=size))


def awkward(dice, size):
    text = ""
    while len(text) < size:
        text += dice.choice(AWKWARD)
    return text[:size]


def white_space(dice, size):
    text = ""
    while len(text) < size:
        text += dice.choice(WHITE) * dice.choice((1, 1, 2, 3, 7, 40))
        text += dice.choice(("", "", "x", "1", "!"))
    return text[:size]


def digits(dice, size):
    return "".join(dice.choices("0123456789" * 3 + " .,-x\n\u0663\u00b2\u2167\uff11", k=size))


def frequent(dice, size):
    """Frequent letters without a space: many merges compete."""
    return "".join(dice.choices("etaoinshrdlu  ", k=size))


MAKERS = [random_unicode, random_bytes, script, mixed, awkward, white_space, digits, frequent]


def sources(dice):
    """Texts of Python's standard library, code and prose, in random order, without an end."""
    folder = Path(sysconfig.get_path("stdlib"))
    files = sorted(p for kind in ("*.py", "*.txt") for p in folder.rglob(kind)
                   if "site-packages" not in p.parts)
    while True:
        text = dice.choice(files).read_text(encoding="utf-8", errors="replace")
        begin = dice.randrange(len(text) + 1)
        yield text[begin:begin + 20_000]


class Counts(collections.Counter):
    def wrong(self, kind, text, detail=""):
        self[kind] += 1
        if self[kind] <= 5:
            print(f"{kind}: {text[:200]!a} ... {detail}")


def compare(text, own, fast, reference, dice, counts, kind):
    """Ids, round trip and streamed pieces of one text through both tokenizers."""
    expected = reference.encode_ordinary(text)
    for name, tokenizer in (("own", own), ("Tokenizer", fast)):
        ids = tokenizer.encode(text)
        if ids != expected:
            counts.wrong("differences", text, name)
        if tokenizer.decode(ids) != text or tokenizer.decode_bytes(ids) != text.encode("utf-8"):
            counts.wrong("round-trip failures", text, name)
    pieces = list(fast.decode_stream(expected))
    if "".join(pieces) != text:
        counts.wrong("streams that differ", text)
    part = expected[dice.randrange(len(expected) + 1):][:50]      # may begin inside a character
    if "".join(fast.decode_stream(part)) != reference.decode(part, errors="replace"):
        counts.wrong("streams that differ", text, part)
    counts["pieces streamed"] += len(pieces)
    counts["texts"] += 1
    counts["characters " + kind] += len(text)
    counts["tokens"] += len(expected)


def seconds(function, text):
    begin = time.process_time()
    function(text)
    return time.process_time() - begin


def growth_of(function, word):
    """How much longer the whole word takes than its half; again where a busy machine disturbed."""
    for _ in range(4):
        half = seconds(function, word[:len(word) // 2])
        growth = seconds(function, word) / half
        if growth < GROWTH:
            break
    return growth


def long_words(own, fast, reference, dice, counts):
    """Words of up to 500,000 letters: equal ids, twice the word in less than 3 times the time."""
    words = {"one letter": "z" * LONG,
             "random letters": "".join(dice.choices(ascii_lowercase, k=LONG)),
             "frequent letters": "".join(dice.choices("etaoinshrdlu", k=LONG)),
             "Han": "".join(chr(dice.randint(0x4e00, 0x9fff)) for _ in range(LONG // 4)),
             "marks": "!?" * (LONG // 2)}
    for name, word in words.items():
        compare(word, own, fast, reference, dice, counts, "long words")
        growth = [growth_of(tokenizer.encode, word) for tokenizer in (own, fast)]
        if max(growth) >= GROWTH:
            counts.wrong("times that grow too fast", name, growth)
        print(f"  {name}, {len(word)} letters: twice the word costs {growth[0]:.2f} times the time "
              f"in our own, {growth[1]:.2f} through tiktoken")


def long_spaces(own, fast, counts):
    """More white space before a word than tiktoken's pattern can take."""
    for text, special in ((" " * 1_200_000 + "x", False), ("word" + " \n" * 600_000 + "1", False),
                          ("x<|endoftext|>" + "\n" * 1_000_001 + "!<|endoftext|>", True)):
        if own.encode(text, special) != fast.encode(text, special):
            counts.wrong("differences", text, "white space")
        counts["characters long white space"] += len(text)


def bounded_cache(own, dice, counts):
    """200,000 different words leave the cache within its bound."""
    fresh, largest = BPE(own.ranks, own.tokens), 0
    for _ in range(200):
        fresh.encode(" ".join("".join(dice.choices(ascii_lowercase, k=12)) for _ in range(1000)))
        largest = max(largest, len(fresh._cache))
    print(f"  cache after 200,000 different words: at most {largest} pieces")
    if not 0 < largest <= bpe.CACHED_PIECES:
        counts.wrong("caches too large", "", largest)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--characters", type=int, default=5_000_000)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    os.environ["TIKTOKEN_CACHE_DIR"] = ""                           # keep nothing on disk
    begin, dice, counts = time.perf_counter(), random.Random(args.seed), Counts()
    reference = tiktoken.Encoding(
        "reference", pat_str=r50k_pat_str, special_tokens={"<|endoftext|>": 50256},
        mergeable_ranks=data_gym_to_mergeable_bpe_ranks(*map(str, FILES)))
    own, fast = BPE.from_files(*FILES), Tokenizer(FOLDER)
    code, done = sources(dice), 0
    while done < args.characters:
        kind = dice.choice([*MAKERS, sources])
        text = next(code) if kind is sources else kind(dice, dice.choice((1, 9, 90, 900, 20_000)))
        compare(text, own, fast, reference, dice, counts, kind.__name__)
        done += len(text)
    long_words(own, fast, reference, dice, counts)
    long_spaces(own, fast, counts)
    bounded_cache(own, dice, counts)
    characters = sum(n for name, n in counts.items() if name.startswith("characters "))
    print(f"seed {args.seed}: {characters} characters compared, {counts['texts']} texts, "
          f"{counts['tokens']} tokens, {counts['pieces streamed']} pieces streamed, "
          f"{time.process_time() - begin:.0f} s, tiktoken {tiktoken.__version__}")
    for name, n in sorted(counts.items()):
        if name.startswith("characters "):
            print(f"  {name.removeprefix('characters ')}: {n}")
    failures = ("differences", "round-trip failures", "streams that differ",
                "times that grow too fast", "caches too large")
    print(", ".join(f"{name}: {counts[name]}" for name in failures))
    return 1 if any(counts[name] for name in failures) else 0


if __name__ == "__main__":
    sys.exit(main())
