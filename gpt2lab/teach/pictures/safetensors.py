"""Pictures of lesson 02: the parts of the file, its bytes, the bits of a number."""
import json
import math

import numpy as np
from matplotlib.patches import Rectangle

from gpt2lab.teach import plot, show

WIDTH = 12                      # bytes in a line of the byte view
TINT = {"length": "#CFE3F2", "header": "#CDE9DF", "data": "#F8DCC9"}
HATCH = {"length": "//", "header": "", "data": ".."}
PARTS = ("sign", "exponent", "fraction")
FIELDS = {"F32": (1, 8, 23), "BF16": (1, 8, 7), "F16": (1, 5, 10)}          # bits of each part


def parts(entries):
    """The share of each part of a model's file, in percent.

    entries: {name: (dtype, shape, begin, end)}, the places counted from the start of the file.
    """
    sizes = {"length and header": _start(entries)}
    for name, (_, _, begin, end) in entries.items():
        part = group(name)
        sizes[part] = sizes.get(part, 0) + end - begin
    shares = 100 * np.array(list(sizes.values())) / sum(sizes.values())
    told = ", ".join(f"{part} {share:.3g}" for part, share in zip(sizes, shares))
    return plot.bars(list(sizes), shares, "percent of the file", "", height=280,
                     alt=(
                         "The share of each part of a model's file.\nLength and header are about "
                         f"{_start(entries) / 1e3:.0f} thousand of {sum(sizes.values()) / 1e6:.0f} "
                         f"million bytes. In percent: {told}."))


def group(name):
    """The part of the model that a tensor belongs to: h.0, ..., ln_f, wpe, wte."""
    words = name.removeprefix("transformer.").split(".")
    return ".".join(words[:2]) if words[0] == "h" else words[0]


def _start(entries):
    """Where the data begin."""
    return min(begin for _, _, begin, _ in entries.values())


@plot.styled
def byte_view(raw, entries, name, values, number=0):
    """The bytes of a file in hexadecimal: its length, one tensor's header entry, its first numbers.

    raw: the bytes of the file (n,), uint8; entries: {name: (dtype, shape, begin, end)}; values: the
    tensor's numbers, shown from `number` on. Below, the share of each tensor, this one marked.
    """
    dtype, shape, begin, end = entries[name]
    values = np.reshape(values, -1)
    size = (end - begin) // max(math.prod(shape), 1)
    number = min(number, max(len(values) - 1, 0))
    at = begin + number * size if size else begin
    top = raw[:_start(entries)].tobytes()
    data = raw[at:min(at + 2 * WIDTH, end)].tobytes()
    first, last = place_of_entry(top, name)
    numbers = values[number:number + len(data) // max(size, 1)]
    sizes = np.array([end - begin for _, _, begin, end in entries.values()])
    shares, chosen = 100 * sizes / sizes.sum(), list(entries).index(name)

    stretches = [("length", 0, top[:8]), ("header", first, top[first:last]), ("data", at, data)]
    lines = [(what, start + i, chunk[i:i + WIDTH]) for what, start, chunk in stretches
             for i in range(0, len(chunk), WIDTH)]
    high = 0.2 * (len(lines) + 3)               # inches
    fig = plot.Figure(figsize=(6.4, high + 2), dpi=plot.DPI)
    ax = fig.add_axes((0.01, 2 / (high + 2), 0.98, high / (high + 2)))
    bars = fig.add_axes((0.12, 0.55 / (high + 2), 0.85, 1.1 / (high + 2)))
    _draw_bytes(ax, lines, numbers, size, {
        "length": "length of the header", "header": "its entry in the header",
        "data": f"its data, from number {number:,} on"})
    _draw_shares(bars, entries, shares, chosen)
    length = int.from_bytes(top[:8], "little")
    fig.drawn = {"length": np.array(length), "entry": top[first:last], "bytes": data,
                 "numbers": numbers, "shares": shares}
    value = f" and is {numbers[0]:z.3f}" if len(numbers) else ""
    fig.alt = ("Bytes of a file: its length, one tensor's entry, its numbers; below, the shares of "
               "all tensors.\n"
               f"Length {length:,}; {show.token(name)} has dtype {dtype}, shape {tuple(shape)} "
               f"and the bytes {begin:,} to {end:,} of the file, {shares[chosen]:.3g} percent of "
               f"all tensors; its number {number} begins at byte {at:,}{value}.")
    return fig


def place_of_entry(top, name):
    """Where in the file's first bytes the header entry of this name begins and ends."""
    text, key = top[8:].decode("utf-8"), json.dumps(name, ensure_ascii=False)
    start = text.index(f"{key}:")
    value = text.index("{", start + len(key))
    _, end = json.JSONDecoder().raw_decode(text, value)
    return 8 + len(text[:start].encode()), 8 + len(text[:end].encode())


def _draw_bytes(ax, lines, numbers, size, headings):
    mono = {"family": plot.MONO, "va": "center"}
    y, shown, before = -0.3, 0, None
    for what, start, chunk in lines:
        if what != before:
            y += 1.3
            ax.text(12, y - 1.05, headings[what], va="center", weight="bold")
            before = what
        ax.add_patch(Rectangle((11.5, y - 0.5), 3 * len(chunk), 1, facecolor=TINT[what],
                               edgecolor="white", hatch=HATCH[what], linewidth=0))
        ax.text(10.5, y, f"{start:,}", ha="right", va="center", color="0.35")
        ax.text(12, y, " ".join(f"{byte:02x}" for byte in chunk), **mono)
        if what == "header":
            words = "".join(chr(byte) if 32 <= byte < 127 else "." for byte in chunk)
        elif what == "length":
            words = f"= {int.from_bytes(chunk, 'little'):,}"
        else:
            count = len(chunk) // size
            words = "  ".join(f"{value:z.3f}" for value in numbers[shown:shown + min(count, 3)])
            shown += count
        ax.text(48.5, y, words, **(mono if what == "header" else {"va": "center"}))
        y += 1
    ax.text(10.5, -0.05, "byte", ha="right", va="center", color="0.35")
    ax.set(xlim=(0, 72), ylim=(y - 0.3, -0.8))
    ax.axis("off")


def _draw_shares(ax, entries, shares, chosen):
    places = np.arange(len(shares))
    ax.vlines(places, 1e-3, shares, color="0.6", linewidth=3)
    ax.vlines(chosen, 1e-3, shares[chosen], color=plot.VERMILLION, linewidth=7)
    ax.plot(chosen, shares[chosen], marker="v", color=plot.VERMILLION, markersize=9)
    groups = [group(name) for name in entries]
    ticks, small = {}, []                       # parts of a few tensors share a label
    for part in dict.fromkeys(groups):
        if groups.count(part) > 3:
            ticks[groups.index(part) + (groups.count(part) - 1) / 2] = part
        else:
            small.append(part)
    if small:
        ticks[np.mean([groups.index(part) for part in small])] = " ".join(small)
    ax.set_yscale("log")
    ax.minorticks_off()
    ax.set_yticks([0.01, 1, 100], ["0.01", "1", "100"])
    ax.set_xticks(list(ticks), list(ticks.values()))
    ax.tick_params(axis="x", length=0)
    ax.set(ylabel="percent (log)", xlabel="tensors in the order of the header", ylim=(1e-3, 200),
           title=f"share of each tensor; this one: {shares[chosen]:.3g} percent")


@plot.styled
def bits(stored, read, at=0):
    """One of some numbers in several types: the bits of its sign, exponent and fraction.

    stored: {"F32", "BF16" or "F16": the bits of each, as whole numbers (n,)}; read: {type: the
    numbers that these bits hold (n,)}; at: which of them is drawn.
    """
    words = {name: f"{int(bits[at]):0{sum(FIELDS[name])}b}" for name, bits in stored.items()}
    told = "; ".join(f"{s}, {e} and {f} bits in {name}"
                     for name, (s, e, f) in FIELDS.items() if name in words)
    drawn = {name: np.array(list(map(int, word))) for name, word in words.items()}
    fig, (ax,) = plot.figure(height=210, drawn=drawn, alt=(
        "One number in several types: the bits of its sign, exponent and fraction.\n"
        f"In {read['F32'][at]:g}, sign, exponent and fraction take {told}."))
    for row, (name, word) in enumerate(words.items()):
        x = 0
        ax.text(-1, row, name, ha="right", va="center", weight="bold")
        for part, width, hatch, tint in zip(PARTS, FIELDS[name], HATCH.values(), TINT.values()):
            ax.add_patch(Rectangle((x, row - 0.3), width, 0.6, facecolor=tint, edgecolor="white",
                                   hatch=hatch, linewidth=0))
            label = f"{part} {width}" if width > 1 else "±"
            ax.text(x + width / 2, row - 0.48, label, ha="center", va="center")
            for digit in word[:width]:
                ax.text(x + 0.5, row, digit, ha="center", va="center")
                x += 1
            word = word[width:]
            x += 0.8
        ax.text(x + 0.6, row, f"= {float(read[name][at]):.8g}", va="center")
    ax.set(xlim=(-3.5, 41), ylim=(2.6, -0.8))
    ax.axis("off")
    return fig


@plot.styled
def by_hand(four):
    """Four bytes of a file as the 32 bits of one number, and what each part of the bits gives.

    four: the bytes (4,), in the order of the file; the last one stands first in the number.
    """
    word, (sign, exponent, fraction) = _f32(four)
    power, share = exponent - 127, fraction / 2 ** 23
    value = np.frombuffer(bytes(four), "<f4")[0]
    fig, (ax,) = plot.figure(height=250, drawn={
        "bits": np.array(list(map(int, word))), "value": np.array(value),
        "fields": np.array([sign, exponent, fraction])}, alt=(
        "Four bytes of a file as bits: sign, exponent and fraction, each with what it gives.\n"
        f"Sign {sign}, exponent {exponent} - 127 = {power}, fraction {fraction} / 8388608 = "
        f"{share:g}; together {value:g}."))
    for i, byte in enumerate(reversed(bytes(four))):
        ax.plot([8 * i + 0.2, 8 * i + 7.8], [-0.75, -0.75], color="0.4", linewidth=1)
        ax.text(8 * i + 4, -1.15, f"byte {3 - i}: {byte}", ha="center", va="center")
    _draw_bits(ax, 0, word)
    told = [(0.5, "sign", [str(sign), "minus" if sign else "plus"]),
            (5, "exponent", [str(exponent), f"{exponent} - 127 = {power}", f"times 2^{power}"]),
            (20.5, "fraction", [str(fraction), f"{fraction} / 8388608 = {share:g}",
                                f"1 + {share:g}"])]
    for x, part, steps in told:
        ax.text(x, 0.85, part, ha="center", va="center", weight="bold")
        for row, step in enumerate(steps):
            ax.text(x, 1.5 + 0.6 * row, step, ha="center", va="center")
    ax.text(16, 3.75, f"{'-' if sign else '+'} 2^{power} x {1 + share:g} = {value:g}", ha="center",
            va="center", weight="bold", fontsize=12)
    ax.set(xlim=(-1.5, 33), ylim=(4.1, -1.6))
    ax.axis("off")
    return fig


@plot.styled
def swapped(was, now, prompt, before, after, where):
    """One number of a file before and after a byte was changed, and what the model writes.

    was, now: its four bytes (4,); prompt, before, after: texts; where: the number, in words.
    """
    fig = plot.Figure(figsize=(6.4, 2.9), dpi=plot.DPI)      # no layout: it follows a slider
    ax = fig.add_axes((0.01, 0.01, 0.98, 0.98))
    values = [np.frombuffer(bytes(four), "<f4")[0] for four in (was, now)]
    changed = np.flatnonzero(np.asarray(was) != np.asarray(now))
    fig.drawn = {"was": np.array(was), "now": np.array(now), "values": np.array(values)}
    bits = [_f32(four)[0] for four in (was, now)]
    ax.text(-0.2, -2.5, where, va="center", weight="bold", fontsize=11)
    for i in range(4):
        for row, four in enumerate((was, now)):
            mark = i in changed
            ax.text(8 * (3 - i) + 4, (-1.1, 1.25)[row], f"{'→ ' if mark and row else ''}{four[i]}",
                    ha="center", va="center", weight="bold" if mark else "normal",
                    color=plot.VERMILLION if mark else plot.BLACK)
        ax.text(8 * (3 - i) + 4, -1.75, f"byte {i}", ha="center", va="center", color="0.35")
    for row, (word, value) in enumerate(zip(bits, values)):
        _draw_bits(ax, 2.35 * row, word, marked=[
            i for i in range(32) if row and bits[0][i] != bits[1][i]])
        ax.text(33, 2.35 * row, f"= {value:z.5g}", va="center")
    for row, (word, text) in enumerate((("before", before), ("after", after))):
        ax.text(-0.2, 4 + 1.5 * row, word, va="center", weight="bold")
        ax.text(4, 4 + 1.5 * row, _two_lines(prompt, text), va="center", linespacing=1.3)
    same = "the same story" if before == after else "another story"
    bytes_of = [", ".join(str(int(byte)) for byte in four) for four in (was, now)]
    fig.alt = ("One number before and after one of its bytes is changed, and what the model "
               f"writes.\n{where}: {bytes_of[0]} is {values[0]:z.5g}, {bytes_of[1]} is "
               f"{values[1]:z.5g}. The model goes on \"{show.token(after).replace('·', ' ')}\", "
               f"which is {same}.")
    ax.set(xlim=(-0.5, 40), ylim=(6.4, -3))
    ax.axis("off")
    return fig


def _two_lines(prompt, text):
    """What the model was given, and below it what it goes on with."""
    return f"{prompt}\n... {show.short(show.token(text).replace('·', ' ').strip(), 70)}"


def _f32(four):
    """Four bytes as 32 signs 0 or 1, and their sign, exponent and fraction as whole numbers."""
    word = f"{int.from_bytes(bytes(four), 'little'):032b}"
    return word, (int(word[0]), int(word[1:9], 2), int(word[9:], 2))


def _draw_bits(ax, y, word, marked=()):
    """32 bits in one row, no gaps, coloured by part; the marked ones bold, with a line below."""
    x = 0
    for width, hatch, tint in zip(FIELDS["F32"], HATCH.values(), TINT.values()):
        ax.add_patch(Rectangle((x, y - 0.42), width, 0.84, facecolor=tint, edgecolor="white",
                               hatch=hatch, linewidth=0))
        x += width
    for i, digit in enumerate(word):
        ax.text(i + 0.5, y, digit, ha="center", va="center",
                weight="bold" if i in marked else "normal",
                color=plot.VERMILLION if i in marked else plot.BLACK)
