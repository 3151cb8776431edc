"""Own BPE side by side with tiktoken, on at least 5 million characters of every kind.

    python tests/slow/fuzz_bpe.py --characters 5000000 --seed 1

Ids must be equal, decode(encode(s)) must be s, and streamed pieces must join to the decoded text.
Then words of 500,000 characters: the same ids, and twice the word in less than 3 times the time;
a million white-space characters; and the cache's limit. Exit code 1 otherwise.
"""
import argparse
import random
import sys
import sysconfig
import time
from pathlib import Path

from gpt2lab import Tokenizer
from gpt2lab.bpe import BPE, CACHED_PIECES
from gpt2lab.checkpoint import DATA

VOCAB = DATA / "gpt2-vocab"
LETTERS = "abcdefghijklmnopqrstuvwxyz"
# First and last code point of scripts, marks, symbols, controls and the higher planes.
BLOCKS = [(0x20, 0x7E), (0x00, 0x1F), (0x7F, 0xFF), (0x100, 0x24F), (0x300, 0x36F), (0x370, 0x3FF),
          (0x400, 0x4FF), (0x590, 0x5FF), (0x600, 0x6FF), (0x900, 0x97F), (0xE00, 0xE7F),
          (0x1100, 0x11FF), (0x2000, 0x206F), (0x2150, 0x218F), (0x2460, 0x24FF), (0x3040, 0x30FF),
          (0x4E00, 0x9FFF), (0xAC00, 0xD7A3), (0xE000, 0xE0FF), (0xFF00, 0xFFEF),
          (0x1D400, 0x1D7FF), (0x1F300, 0x1FAFF), (0x20000, 0x2A6DF), (0xE0100, 0xE01EF)]
SPACES = " \t\n\r\x0b\x0c\x1c\x1d\x85\xa0\u1680\u2003\u2028\u202f\u205f\u3000\u200b\ufeff"
AWKWARD = ["they'll", "I'LL", "O'Malley", "'Tomorrow'", "it’s", "   three", " x  y", "\n\n\n\n",
           "caf\u00e9", "cafe\u0301", "\ufb03", "１２３", "    return None\n", "\ta\t b",
           "raspberry", "hobgoblin", "<|endoftext|>", "<|endoftext|", "Is it late ?", "🦀",
           "👩‍👩‍👧", "你好", "½²", "\x00", "3.14159", "a\u00adb", "zzzzzzzz", "Ⅷ", "s's", " '"]


def texts(draw):
    """Endless texts of all kinds."""
    code = sorted(Path(sysconfig.get_path("stdlib")).glob("*.py"))
    while True:
        size = draw.randrange(1, 4000)
        low, high = draw.choice(BLOCKS)
        block = [chr(draw.randint(low, high)) for _ in range(size)]
        yield "".join(block)
        yield "".join(c if draw.random() < 0.8 else draw.choice(SPACES + "'.,0") for c in block)
        points = [draw.randrange(0x110000) for _ in range(size)]
        yield "".join(chr(c) for c in points if not 0xD800 <= c < 0xE000)
        yield draw.randbytes(size).decode("latin-1")
        yield draw.randbytes(size).decode("utf-8", errors="replace")
        yield "".join(draw.choice(SPACES) for _ in range(size // 8)) + draw.choice("a1!")
        yield "".join(draw.choice(AWKWARD) + draw.choice(["", " ", "  ", "\n"])
                      for _ in range(size // 8))
        source = draw.choice(code).read_text(encoding="utf-8", errors="replace")
        start = draw.randrange(len(source) + 1)
        yield source[start:start + 8 * size]
        yield "".join(draw.choice(LETTERS) for _ in range(size))


def long_words(own, tiktoken, draw):
    """Differences on words of 500,000 characters, and words whose time grows above n log n."""
    wrong = 0
    kinds = {"random letters": draw.choices(LETTERS, k=500_000),
             "frequent letters": draw.choices("etaoin", k=500_000),
             "one letter": "z" * 500_000, "two marks": "!?" * 250_000}
    for name, word in kinds.items():
        word = "".join(word)
        half, whole = (min(seconds(own.encode, text) for _ in range(2))
                       for text in (word[:250_000], word))
        wrong += own.encode(word) != tiktoken.encode(word)
        wrong += whole > 3 * half                   # n log n: 2.1 times
        print(f"word of 500,000 characters, {name}: {whole:.1f} s of computing, "
              f"{whole / half:.1f} times that of its half")
    return wrong


def seconds(encode, text):
    begin = time.process_time()
    encode(text)
    return time.process_time() - begin


def long_white_space(own, tiktoken):
    """Differences on more white space before other text than tiktoken's own pattern takes."""
    texts = [" " * 1_200_000 + "x", "word" + " \n" * 600_000 + "1",
             "x<|endoftext|>" + "\n" * 1_000_001 + "!<|endoftext|>"]
    return sum(own.encode(text, special) != tiktoken.encode(text, special)
               for text in texts for special in (False, True))


def cache_too_large(draw):
    """1 where 200,000 different words make the cache larger than it may be."""
    own, largest = BPE.from_files(VOCAB / "vocab.bpe", VOCAB / "encoder.json"), 0
    for _ in range(200):
        own.encode(" ".join("".join(draw.choices(LETTERS, k=12)) for _ in range(1000)))
        largest = max(largest, len(own._cache))
    print(f"cache after 200,000 different words: at most {largest:,} pieces")
    return int(not 0 < largest <= CACHED_PIECES)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--characters", type=int, default=5_000_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    own, tiktoken = BPE.from_files(VOCAB / "vocab.bpe", VOCAB / "encoder.json"), Tokenizer(VOCAB)
    draw, done, count, wrong = random.Random(options.seed), 0, 0, 0
    start = time.perf_counter()
    for text in texts(draw):
        ids, special = own.encode(text), own.encode(text, allow_special=True)
        some = [draw.randrange(50_257) for _ in range(20)]
        tests = {"ids": ids == tiktoken.encode(text),
                 "ids with special tokens": special == tiktoken.encode(text, allow_special=True),
                 "round trip": own.decode(ids) == tiktoken.decode(ids) == text,
                 "stream": "".join(tiktoken.decode_stream(some)) == own.decode(some)}
        for name in (name for name, right in tests.items() if not right):
            wrong += 1
            print(f"{name} differ:", ascii(text[:200]), some)
        done, count = done + len(text), count + 1
        if done >= options.characters:
            break
    print(f"seed {options.seed}: {done:,} characters in {count:,} texts, "
          f"{time.perf_counter() - start:.0f} s")
    wrong += long_words(own, tiktoken, draw)
    wrong += long_white_space(own, tiktoken) + cache_too_large(draw)
    print(f"differences and limits passed: {wrong}")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
