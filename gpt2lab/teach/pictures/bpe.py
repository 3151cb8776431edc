"""Pictures of lesson 03: bytes and tokens of a text, the table of printable bytes, merges step by step."""
from functools import cache

import numpy as np
from matplotlib import font_manager, ft2font

from gpt2lab.bpe import byte_characters, check_text, piece_pattern
from gpt2lab.teach import plot, show

WIDEST = 24                         # how many bytes fit side by side
ACROSS, DIGIT = 490, 9              # pixels: of a row of boxes, of a digit
LIGHT = ("#cfe3f1", "#f8dcc6")      # two pale colours that take turns


def label(token):
    """The text of a token's bytes as it can be drawn: hex where it is no text, U+... where the font lacks it."""
    try:
        text = token.decode("utf-8")
    except UnicodeDecodeError:
        space = token.startswith(b" ")
        return "·" * space + token[space:].hex()
    return "".join(show.token(c) if _in_font(c) else f"U+{ord(c):X}" for c in text)


@cache
def _in_font(character):
    return not character.isprintable() or _font().get_char_index(ord(character)) != 0


@cache
def _font():
    return ft2font.FT2Font(font_manager.findfont("DejaVu Sans"))


def fitting(text):
    """The text as bytes. Raises ValueError with a sentence where it cannot be drawn."""
    check_text(text)
    data = text.encode("utf-8")
    if not data:
        raise ValueError("there is no text: type a word")
    if len(data) > WIDEST:
        raise ValueError(f"this text has {len(data)} bytes and the picture holds {WIDEST}: type a shorter one")
    return data


@plot.styled
def byte_view(tokenizer, text):
    """A text in three rows: its characters, their bytes, the tokens that the bytes make."""
    data, ids = fitting(text), tokenizer.encode(text)
    tokens, characters = [tokenizer.decode_bytes([i]) for i in ids], [c.encode("utf-8") for c in text]
    fig, (ax,) = plot.figure(height=230, drawn={"bytes": np.frombuffer(data, np.uint8), "ids": np.array(ids)}, alt=(
        f"“{_said(text)}” has {len(characters)} characters, {len(data)} bytes and {len(ids)} tokens; "
        f"its widest character takes {max(map(len, characters))} bytes."))
    _boxes(ax, 3, characters, [label(c) for c in characters])
    _boxes(ax, 2, [data[i:i + 1] for i in range(len(data))], [f"{byte:02x}" for byte in data], "0.93")
    _boxes(ax, 1, tokens, [label(token) for token in tokens])
    _boxes(ax, 0, tokens, ids, "white")
    return _rows(fig, ax, len(data), ["ids", "tokens", "bytes (hex)", "characters"])


@plot.styled
def byte_table():
    """The 256 bytes in 16 rows, each with its printable character; grey where that is not its own."""
    table = byte_characters()
    moved = np.array([ord(table[byte]) != byte for byte in range(256)]).reshape(16, 16)
    fig, (ax,) = plot.figure(height=420, drawn={"moved": moved}, alt=(
        f"The 256 bytes as printable characters: {(~moved).sum()} print as themselves, {moved.sum()} (grey) borrow another "
        f"character, such as {table[32]} for the space and {table[10]} for the line break."))
    ax.imshow(moved, cmap="Greys", vmin=0, vmax=3, aspect="auto")
    for byte, character in table.items():
        ax.text(byte % 16, byte // 16, character, ha="center", va="center")
    digits = [f"{n:x}" for n in range(16)]
    ax.set_xticks(range(16), digits)
    ax.set_yticks(range(16), digits)
    ax.set(xlabel="second hex digit of the byte", ylabel="first hex digit")
    ax.tick_params(length=0)
    return fig


@plot.styled
def staircase(bpe, word):
    """All merges of one word, one row a merge from the bytes down, with the rank of each."""
    data, ids = fitting(word), bpe.encode(word)
    if len(piece_pattern().findall(word)) > 1:
        raise ValueError("this text is cut into several pieces: take one word")
    steps = bpe.merge_steps(word)
    ends = " | ".join(label(part) for part in steps[-1][0])
    fig, (ax,) = plot.figure(height=60 + 27 * len(steps), drawn={
        "ranks": np.array([rank for _, rank in steps[1:]], int), "ids": np.array(ids)}, alt=(
        f"“{_said(word)}” takes {len(steps) - 1} merges, one a row, and ends as {ends}."))
    for row, (parts, _) in enumerate(reversed(steps)):
        _boxes(ax, row, parts, [label(part) for part in parts])
    return _rows(fig, ax, len(data), ["the bytes" if rank is None else f"rank {rank}" for _, rank in reversed(steps)])


def merging(bpe, text, done):
    """A text after `done` merges, piece after piece: (parts, ranks, cuts, merges in all, next).

    ranks: of each pair of neighbours, None where the list lacks it; cuts: pairs that a cut divides;
    next: the pair that is merged next, None at the end.
    """
    parts, ranks, cuts, total, coming = [], [], [], 0, None
    for piece in piece_pattern().findall(text):
        steps = bpe.merge_steps(piece)
        at = min(max(done - total, 0), len(steps) - 1)
        if parts:
            cuts.append(len(ranks))
            ranks.append(None)
        known = [_rank(bpe, pair) for pair in zip(steps[at][0], steps[at][0][1:])]
        if coming is None and at < len(steps) - 1:
            coming = len(ranks) + known.index(steps[at + 1][1])
        parts, ranks, total = parts + steps[at][0], ranks + known, total + len(steps) - 1
    return parts, ranks, cuts, total, coming


@plot.styled
def player(bpe, tokenizer, text, done):
    """A text after some merges: its characters, bytes, parts, the rank of each pair, and tiktoken's answer."""
    data, (parts, ranks, cuts, total, coming) = fitting(text), merging(bpe, text, done)
    ids, ends = tokenizer.encode(text), np.cumsum([len(part) for part in parts])
    fig, (ax,) = plot.figure(height=310, drawn={
        "parts": np.cumsum([0, *map(len, parts)]), "ranks": np.array(ranks, float), "ids": np.array(ids)}, alt=(
        f"“{_said(text)}” after {min(done, total)} of {total} merges: {' | '.join(map(label, parts))}. " + (
            f"Next comes the pair of rank {ranks[coming]}." if coming is not None else
            f"No pair is left: the ids are {', '.join(map(str, bpe.encode(text)))}; tiktoken says "
            f"{'the same' if ids == bpe.encode(text) else 'something else'}.")))
    characters, tokens = [c.encode("utf-8") for c in text], [tokenizer.decode_bytes([i]) for i in ids]
    _boxes(ax, 6, characters, [label(c) for c in characters], "0.93")
    _boxes(ax, 5, [data[i:i + 1] for i in range(len(data))], [f"{byte:02x}" for byte in data], "0.93")
    _boxes(ax, 4, parts, [label(part) for part in parts])
    for pair, rank in enumerate(ranks):
        first = pair == coming
        words = "cut" if pair in cuts else "–" if rank is None else f"{rank}"
        ax.text(ends[pair], 3, words, rotation=0 if words == "–" else 90, ha="center", va="center", color=plot.VERMILLION if first else "black",
                fontweight="bold" if first else "normal")
        if first:
            ax.plot(ends[pair], 3.6, "^", color=plot.VERMILLION, markersize=5)
    if coming is None:
        _boxes(ax, 2, parts, bpe.encode(text), "white")
    _boxes(ax, 1, tokens, [label(token) for token in tokens])
    _boxes(ax, 0, tokens, ids, "white")
    return _rows(fig, ax, len(data), ["tiktoken: ids", "tiktoken: tokens", "ids", "rank of the pair", "parts", "bytes (hex)",
                                      "characters"])


def _rank(bpe, pair):
    """Rank of a pair of tokens, given as bytes; None where it is not in the list."""
    left, right = (_ids(bpe).get(part) for part in pair)
    return bpe.ranks.get((left, right), (None, None))[0]


@cache
def _ids(bpe):
    return {token: i for i, token in enumerate(bpe.tokens)}


def _said(text):
    """A text inside a sentence."""
    return show.token(text).replace("·", " ")


def _boxes(ax, row, parts, labels, colour=None):
    """One row of boxes, each as wide as its part has bytes; two colours take turns unless one is given."""
    widths = [len(part) for part in parts]
    starts = np.cumsum([0, *widths[:-1]])
    ax.broken_barh(list(zip(starts, widths)), (row - 0.4, 0.8), edgecolor="white" if colour != "white" else "0.7",
                   facecolors=colour or [LIGHT[i % 2] for i in range(len(parts))])
    room = ACROSS / max(sum(widths), 6)
    for start, width, words in zip(starts, widths, map(str, labels)):
        upright = len(words) > 1 and len(words) * DIGIT > width * room
        ax.text(start + width / 2, row, words, ha="center", va="center", rotation=90 if upright else 0)


def _rows(fig, ax, size, names):
    """The axis of rows of boxes: names at the left, bytes to the right. Placed by hand, which is quicker."""
    left = 0.012 * max(map(len, names)) + 0.03
    fig.set_layout_engine("none")
    ax.set_position((left, 0.02, 0.99 - left, 0.96))
    ax.set_yticks(range(len(names)), names)
    ax.set(xticks=[], xlim=(-0.1, max(size, 6) + 0.1), ylim=(-0.6, len(names) - 0.4))
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    return fig
