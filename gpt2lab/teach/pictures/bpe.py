"""Pictures of lesson 03: bytes and tokens of a text, merges step by step."""
import textwrap

import numpy as np

from gpt2lab.teach import plot, show

WIDEST = 30                         # how many bytes fit side by side
ACROSS, DIGIT = 490, 9              # pixels: of a row of boxes, of a digit
ACROSS_PAGE, LINES = 70, 6          # bytes in a line of a text that is merged, lines at most
COLUMN, POINTS = 9, 10.8            # pixels across of a character that is so high
LONGEST = 2_000                     # bytes of a text whose merges are found
LIGHT = ("#cfe3f1", "#f8dcc6")      # two pale colours that take turns
ROWS = ["tiktoken: ids", "tiktoken: tokens", "ids", "rank of the pair", "parts", "bytes (hex)",
        "characters"]


def label(token):
    """The text of a token's bytes as it can be drawn.

    Hex where the bytes are no text, U+... where the font lacks a character.
    """
    try:
        text = token.decode("utf-8")
    except UnicodeDecodeError:
        space = token.startswith(b" ")
        return "·" * space + token[space:].hex()
    return "".join(show.token(c) if plot.in_font(c) or not c.isprintable() else f"U+{ord(c):X}"
                   for c in text)


def fitting(data, most=WIDEST):
    """The bytes of a text. Raises ValueError with a sentence where they cannot be drawn."""
    if not data:
        raise ValueError("there is no text: type a word")
    if len(data) > most:
        raise ValueError(f"this text has {len(data):,} bytes and the picture holds {most:,}: "
                         "type a shorter one")
    return data


@plot.styled
def byte_view(tokens, ids):
    """A text in rows: its characters, their bytes, the tokens (bytes) that they make, the ids."""
    data = fitting(b"".join(tokens))
    characters = _characters(data)
    drawn = {"bytes": np.frombuffer(data, np.uint8), "ids": np.array(ids)}
    fig, (ax,) = plot.figure(height=230, drawn=drawn, alt=(
        "A text in rows: its characters, their bytes, its tokens and their ids.\n"
        f"“{_said(data)}” has {len(characters)} characters, {len(data)} bytes and {len(ids)} "
        f"tokens; its widest character takes {max(map(len, characters))} bytes."))
    _boxes(ax, 3, characters, map(label, characters))
    _hex_row(ax, 2, data)
    _boxes(ax, 1, tokens, map(label, tokens))
    _boxes(ax, 0, tokens, ids, "white")
    return _rows(fig, ax, len(data), ["ids (decimal)", "tokens", "bytes (hex)", "characters"])


@plot.styled
def growing(pieces, found, total):
    """A text cut by the merges found in it so far, and these merges, the newest last.

    pieces: [[part]] as bytes; found: [(left, right)] so far; total: how many can be found. Orange:
    a whole word is one part; blue: another part of several bytes; grey: a single byte.
    """
    parts = [(part, len(piece) == 1 and _is_word(part)) for piece in pieces for part in piece]
    data = fitting(b"".join(part for part, _ in parts), LONGEST)
    ends = np.cumsum([len(part) for part, _ in parts])
    breaks = _breaks([sum(map(len, piece)) for piece in pieces])
    rows, seen = min(len(breaks) - 1, LINES), _spread(data)
    names = [f"{label(left)}+{label(right)}" for left, right in found]
    lines = min(-(-total // 10), 4)             # of the merges so far: as many at each step
    table = textwrap.wrap("  ".join(names[:-1]), 74, break_long_words=False)[-lines:]
    below = 62 + 16 * lines                     # pixels under the text
    fig, (ax,) = plot.figure(
        height=below + 4 + 28 * rows, drawn={"parts": np.array([0, *ends]), "found": len(found),
                                       "breaks": np.array(breaks)},
        alt=("A text cut by the merges that were found in it so far, and these merges.\n"
             f"{len(found)} of {total} merges: {len(data):,} bytes are {len(parts):,} parts. "
             f"{_whole_words(parts, found)}"))
    starts = np.array([0, *ends[:-1]])
    for row, (first, last) in enumerate(zip(breaks[:rows], breaks[1:])):
        here = [i for i in range(np.searchsorted(ends, first, "right"), len(parts))
                if starts[i] < last]
        bars = [(max(starts[i], first) - first, min(ends[i], last) - max(starts[i], first))
                for i in here]
        ax.broken_barh(bars, (-row - 0.42, 0.84), edgecolor="white", linewidth=1.5, facecolors=[
            LIGHT[parts[i][1]] if len(parts[i][0]) > 1 else "0.92" for i in here])
        ax.text(0, -row, seen[first:last], va="center_baseline", family=plot.MONO, fontsize=POINTS)
    left, height = 5 / 640, fig.bbox.height
    fig.set_layout_engine("none")
    ax.set_position((left, below / height, ACROSS_PAGE * COLUMN / 640, 1 - (below + 4) / height))
    ax.set(xlim=(0, ACROSS_PAGE), ylim=(0.5 - rows, 0.5))
    ax.axis("off")
    for x, words, colour in ((12, "a single byte", "0.92"), (142, "several bytes", LIGHT[0]),
                             (272, "a whole word", LIGHT[1])):
        fig.text(x / 640, (below - 26) / height, words, va="baseline",
                 bbox={"facecolor": colour, "edgecolor": "none", "pad": 4})
    newest = f"merge {len(found)}: {names[-1]}" if names else "nothing is merged yet"
    fig.text(left, (below - 54) / height, newest, color=plot.VERMILLION, fontweight="bold")
    fig.text(left, (below - 60) / height, "\n".join(table), va="top", fontsize=10,
             family=plot.MONO)
    return fig


@plot.styled
def staircase(steps):
    """All merges of one word, [(parts, rank)]: one row a merge from the bytes down, with its rank.
    """
    data = fitting(b"".join(steps[0][0]))
    ends = " | ".join(map(label, steps[-1][0]))
    drawn = {"ranks": np.array([rank for _, rank in steps[1:]], int),
             "parts": np.cumsum([0, *map(len, steps[-1][0])])}
    fig, (ax,) = plot.figure(height=60 + 27 * len(steps), drawn=drawn, alt=(
        "The merges of one word, one a row, from its bytes up.\n"
        f"“{_said(data)}” takes {len(steps) - 1} merges and ends as {ends}."))
    for row, (parts, _) in enumerate(reversed(steps)):
        _boxes(ax, row, parts, map(label, parts))
    names = ["the bytes" if rank is None else f"rank {rank}" for _, rank in reversed(steps)]
    return _rows(fig, ax, len(data), names)


@plot.styled
def player(state, ids, other_tokens, other_ids):
    """A text after some merges: characters, bytes, parts, the rank of each pair, tiktoken's answer.

    state: as merging of the lesson's exercises gives it; ids: of the text; other_tokens (bytes),
    other_ids: what tiktoken makes of it, drawn when no merge is left.
    """
    data, ends = fitting(b"".join(state.parts)), np.cumsum([len(part) for part in state.parts])
    drawn = {"parts": np.array([0, *ends]), "ranks": np.array(state.ranks, float),
             "ids": np.array([] if state.coming is not None else other_ids)}
    if state.coming is not None:
        then = f"Next comes the pair of rank {state.ranks[state.coming]}."
    else:
        alike = "the same" if list(ids) == list(other_ids) else "something else"
        then = (f"No pair is left: the ids are {', '.join(map(str, ids))}; "
                f"tiktoken says {alike}.")
    fig, (ax,) = plot.figure(height=310, drawn=drawn, alt=(
        "A text after some of its merges, and what tiktoken makes of it.\n"
        f"“{_said(data)}” after {state.done} of {state.total} merges: "
        f"{' | '.join(map(label, state.parts))}. {then}"))
    characters = _characters(data)
    _boxes(ax, 6, characters, map(label, characters), "0.93")
    _hex_row(ax, 5, data)
    _boxes(ax, 4, state.parts, map(label, state.parts))
    for pair, rank in enumerate(state.ranks):
        words = "cut" if pair in state.cuts else "–" if rank is None else f"{rank}"
        first = pair == state.coming
        ax.text(ends[pair], 3, words, rotation=0 if words == "–" else 90, ha="center", va="center",
                color=plot.VERMILLION if first else "black",
                fontweight="bold" if first else "normal")
        if first:
            ax.plot(ends[pair], 3.6, "^", color=plot.VERMILLION, markersize=5)
    if state.coming is None:
        _boxes(ax, 2, state.parts, ids, "white")
        _boxes(ax, 1, other_tokens, map(label, other_tokens))
        _boxes(ax, 0, other_tokens, other_ids, "white")
    else:
        ax.text(max(len(data), 6) / 2, 1, "after the last merge", ha="center", va="center",
                color="0.4")
    return _rows(fig, ax, len(data), ROWS)


def _breaks(lengths):
    """Where the lines of a text begin and the last one ends: between pieces where they fit."""
    breaks, place = [0], 0
    for length in lengths:
        if place + length - breaks[-1] > ACROSS_PAGE and place > breaks[-1]:
            breaks.append(place)
        place += length
        while place - breaks[-1] > ACROSS_PAGE:
            breaks.append(breaks[-1] + ACROSS_PAGE)
    return [*breaks, place]


def _is_word(part):
    """Is a whole piece a word that merges made: letters, in several bytes?"""
    return len(part) > 1 and part.decode("utf-8").removeprefix(" ").isalpha()


def _whole_words(parts, found):
    """A sentence: which words are one part by now, and which merge made the first of them."""
    words = list(dict.fromkeys(part for part, whole in parts if whole))
    if not words:
        return "No whole word so far."
    made = [left + right for left, right in found]
    first = min(words, key=made.index)
    more = f" and {len(words) - 6} more" * (len(words) > 6)
    return (f"The first whole word came with merge {made.index(first) + 1}: {label(first)}. "
            f"By now: {', '.join(map(label, words[:6]))}{more}.")


def _spread(data):
    """A text with one column for each byte: blanks stand behind a character of several bytes."""
    found = ""
    for character in _characters(data):
        text = character.decode("utf-8")
        seen = "·" if text == " " else text if plot.in_font(text, plot.MONO) else "▯"
        found += seen.ljust(len(character))
    return found


def _characters(data):
    """The characters of a text, each as its bytes."""
    return [character.encode("utf-8") for character in data.decode("utf-8")]


def _said(data):
    """A text inside a sentence."""
    return show.token(data.decode("utf-8")).replace("·", " ")


def _hex_row(ax, row, data):
    """One box a byte."""
    _boxes(ax, row, [data[i:i + 1] for i in range(len(data))], [f"{byte:02x}" for byte in data],
           "0.93")


def _boxes(ax, row, parts, labels, colour=None):
    """One row of boxes, each as wide as its part has bytes, in one colour or in two by turns."""
    widths = [len(part) for part in parts]
    starts = np.cumsum([0, *widths[:-1]])
    ax.broken_barh(list(zip(starts, widths)), (row - 0.4, 0.8),
                   edgecolor="0.7" if colour == "white" else "white",
                   facecolors=colour or [LIGHT[i % 2] for i in range(len(parts))])
    room = ACROSS / max(sum(widths), 6)
    for start, width, words in zip(starts, widths, map(str, labels)):
        upright = len(words) > 1 and len(words) * DIGIT > width * room
        ax.text(start + width / 2, row, words, ha="center", va="center",
                rotation=90 if upright else 0)


def _rows(fig, ax, size, names):
    """The axis of rows of boxes: names at the left, bytes to the right.

    Placed by hand, which is quicker.
    """
    left = 0.012 * max(map(len, names)) + 0.03
    fig.set_layout_engine("none")
    ax.set_position((left, 0.02, 0.99 - left, 0.96))
    ax.set_yticks(range(len(names)), names)
    ax.set(xticks=[], xlim=(-0.1, max(size, 6) + 0.1), ylim=(-0.6, len(names) - 0.4))
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    return fig
