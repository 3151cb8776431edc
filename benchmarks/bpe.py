"""Own BPE beside the algorithm published with GPT-2, run the same way, and beside tiktoken.

    python benchmarks/bpe.py            a table
    python benchmarks/bpe.py --json     the same for machines

The published algorithm, written afresh here: cut with the `regex` package; keep the parts of each
piece as a tuple; look through the set of its pairs for the one of lowest rank; join all its places;
begin again. A dictionary keeps the parts of the pieces that were seen, as one text with spaces
between; each use cuts it and looks the numbers up. The texts: a part of Python's own library, where
most time goes into cutting; its words, each once, where every piece must be merged; and one word of
random letters, where all that repeated looking shows.
"""
import argparse
import json
import random
import statistics
import sysconfig
import time
from pathlib import Path

import regex

from gpt2lab import Tokenizer
from gpt2lab.bpe import BPE, byte_characters
from gpt2lab.checkpoint import DATA

VOCAB = DATA / "gpt2-vocab"
CUT = regex.compile(r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+")


def published():
    """encode(text) -> ids as GPT-2's first code did it."""
    lines = (VOCAB / "vocab.bpe").read_text(encoding="utf-8").split("\n")[1:-1]
    ranks = {tuple(line.split()): rank for rank, line in enumerate(lines)}
    numbers = json.loads((VOCAB / "encoder.json").read_text(encoding="utf-8"))
    letters, seen = byte_characters(), {}

    def parts_of(piece):
        if piece in seen:
            return seen[piece]
        parts = tuple(piece)
        while len(parts) > 1:
            pair = min(set(zip(parts, parts[1:])), key=lambda p: ranks.get(p, float("inf")))
            if pair not in ranks:
                break
            joined, i = [], 0
            while i < len(parts):
                if parts[i:i + 2] == pair:
                    joined.append(parts[i] + parts[i + 1])
                    i += 2
                else:
                    joined.append(parts[i])
                    i += 1
            parts = tuple(joined)
        seen[piece] = " ".join(parts)
        return seen[piece]

    def encode(text):
        ids = []
        for piece in CUT.findall(text):
            piece = "".join(letters[b] for b in piece.encode("utf-8"))
            ids += [numbers[part] for part in parts_of(piece).split(" ")]
        return ids
    return encode


def own():
    return BPE.from_files(VOCAB / "vocab.bpe", VOCAB / "encoder.json").encode


def by_tiktoken():
    return Tokenizer(VOCAB).encode


def texts():
    """{what: text}, the same on every run of one Python."""
    files = sorted(Path(sysconfig.get_path("stdlib")).glob("*.py"))
    library = "".join(path.read_text(encoding="utf-8", errors="replace") for path in files)
    library = library[:2_000_000]
    draw = random.Random(1)
    word = "".join(draw.choice("etaoinshrdlu") for _ in range(4_000))
    words = " ".join(sorted(set(regex.findall(r"[A-Za-z]+", library))))
    return {"2,000,000 characters of Python's library": library, "its words, each once": words,
            "a word of 4,000 letters": word}


def measure(repeats=3):
    """[{text, contestant: seconds, ratio}] medians of processor time; each with an empty cache."""
    rows = []
    for what, text in texts().items():
        took, ids = {"own": [], "published": [], "tiktoken": []}, {}
        for _ in range(repeats):
            for name, make in (("own", own), ("published", published), ("tiktoken", by_tiktoken)):
                encode, begin = make(), time.process_time()
                ids[name] = encode(text)
                took[name].append(time.process_time() - begin)
        assert ids["own"] == ids["published"] == ids["tiktoken"]
        ratios = [b / a for a, b in zip(took["own"], took["published"])]
        rows.append({"text": what, "tokens": len(ids["own"]),
                     **{name: statistics.median(seconds) for name, seconds in took.items()},
                     "own is faster than the published one by": statistics.median(ratios)})
    word = list(texts().values())[-1] * 125          # 500,000 letters
    encode, seconds = own(), []
    for length in (125_000, 250_000, 500_000):
        begin = time.process_time()
        encode(word[:length])
        seconds.append(time.process_time() - begin)
    return rows, dict(zip((125_000, 250_000, 500_000), seconds))


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print JSON")
    options = parser.parse_args()
    rows, growth = measure()
    if options.json:
        result = {"rows": rows, "own seconds by letters of one word": growth}
        return print(json.dumps(result, indent=1))
    print("| text | tokens | own, s | published, s | tiktoken, s | own is faster by |")
    print("|---|---|---|---|---|---|")
    for row in rows:
        print("| {} | {:,} | {:.3f} | {:.3f} | {:.3f} | {:.1f} |".format(*row.values()))
    print("\none word of n letters, own: "
          + ", ".join(f"{n:,}: {seconds:.2f} s" for n, seconds in growth.items()))


if __name__ == "__main__":
    main()
