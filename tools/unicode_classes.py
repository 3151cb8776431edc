"""Write gpt2lab/unicode_classes.py: which characters are letters, numbers and white space.

GPT-2's pattern speaks of \\p{L}, \\p{N} and \\s. Which characters these are depends on the edition
of Unicode. We ask tiktoken about every character, so that our own tokenizer cuts exactly where
tiktoken cuts. Run it again when a new tiktoken brings a new edition (tests/test_bpe.py says so):

    python tools/unicode_classes.py
"""
from pathlib import Path

import tiktoken

TARGET = Path(__file__).parents[1] / "gpt2lab" / "unicode_classes.py"
HEAD = '''"""Which characters are letters, numbers and white space: the inside of [...] for `re`.

HIGH are the characters above U+FFFF, LOW the others; there is no white space above.
Made by tools/unicode_classes.py, which asked tiktoken {version} about every character.
"""
'''


def members(pattern):
    """Code points that tiktoken's expressions match with `pattern`."""
    single_bytes = {bytes([byte]): byte for byte in range(256)}
    probe = tiktoken.Encoding("probe", pat_str=pattern, mergeable_ranks=single_bytes,
                              special_tokens={})
    return [code for code in range(0x110000)
            if not 0xD800 <= code < 0xE000 and probe.encode_ordinary(chr(code))]


def ranges(codes):
    """[1, 2, 3, 7] -> [(1, 3), (7, 7)]"""
    found = []
    for code in codes:
        if found and found[-1][1] == code - 1:
            found[-1][1] = code
        else:
            found.append([code, code])
    return found


def escaped(code):
    if chr(code).isascii() and chr(code).isalnum():
        return chr(code)
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def literal(name, codes):
    parts = [escaped(a) if a == b else f"{escaped(a)}-{escaped(b)}" for a, b in ranges(codes)]
    lines, line = [], ""
    for part in parts:
        if len(line) + len(part) > 82:
            lines.append(line)
            line = ""
        line += part
    return f"{name} = (\n" + "".join(f'    "{line}"\n' for line in [*lines, line]) + ")\n"


if __name__ == "__main__":
    text = HEAD.format(version=tiktoken.__version__) + literal("SPACES", members(r"\s"))
    for name, pattern in (("LETTERS", r"\p{L}"), ("NUMBERS", r"\p{N}")):
        codes = members(pattern)
        text += literal(f"LOW_{name}", [code for code in codes if code < 0x10000])
        text += literal(f"HIGH_{name}", [code for code in codes if code >= 0x10000])
        text += f"{name} = LOW_{name} + HIGH_{name}\n"
    TARGET.write_text(text, encoding="utf-8")
    print(f"wrote {TARGET.name}")
