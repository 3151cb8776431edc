"""Pictures of lesson 02: the parts of the file, its bytes, the bits of a number; and what a broken file is told."""
import json
import tempfile
from pathlib import Path

import numpy as np
from matplotlib.patches import Rectangle

from gpt2lab import safetensors
from gpt2lab.teach import plot

WIDTH = 12                      # bytes in a line of the byte view
TINT = {"length": "#CFE3F2", "header": "#CDE9DF", "data": "#F8DCC9"}
HATCH = {"length": "//", "header": "", "data": ".."}
FIELDS = {"F32": (1, 8, 23), "BF16": (1, 8, 7), "F16": (1, 5, 10)}                  # bits of sign, exponent, fraction


def parts(path):
    """The share of each part of a model's file, in percent."""
    entries, sizes = safetensors.read_header(path).entries, {}
    sizes["length and header"] = min(entry.begin for entry in entries.values())
    for name, entry in entries.items():
        part = group(name)
        sizes[part] = sizes.get(part, 0) + entry.end - entry.begin
    shares = 100 * np.array(list(sizes.values())) / sum(sizes.values())
    return plot.bars(list(sizes), shares, "percent of the file", "", height=280, alt=(
        "Shares of the file: " + ", ".join(f"{part} {share:.3g} percent" for part, share in zip(sizes, shares)) + "."))


def group(name):
    """The part of the model that a tensor belongs to: h.0, ..., ln_f, wpe, wte."""
    words = name.removeprefix("transformer.").split(".")
    return ".".join(words[:2]) if words[0] == "h" else words[0]


@plot.styled
def byte_view(path, name, number=0):
    """The bytes of a file in hexadecimal: its length, the header entry of one tensor, its numbers from `number` on.

    Below, the share of every tensor, with this one marked.
    """
    entries = safetensors.read_header(path).entries
    dtype, shape, begin, end = entries[name]
    size = safetensors.BITS[dtype] // 8
    number = min(number, max((end - begin) // size - 1, 0))
    at = begin + number * size
    with open(path, "rb") as file:
        top = file.read(min(entry.begin for entry in entries.values()))
        file.seek(at)
        data = file.read(min(2 * WIDTH, end - at))
    first, last = place_of_entry(top, name)
    stretches = [("length", 0, top[:8]), ("header", first, top[first:last]), ("data", at, data)]
    numbers = _numbers(data, dtype)
    shares = np.array([100 * (e.end - e.begin) for e in entries.values()]) / sum(e.end - e.begin for e in entries.values())

    lines = [(what, start + i, chunk[i:i + WIDTH]) for what, start, chunk in stretches for i in range(0, len(chunk), WIDTH)]
    high = 0.2 * (len(lines) + 3)               # inches
    fig = plot.Figure(figsize=(6.4, high + 2), dpi=plot.DPI)
    ax = fig.add_axes((0.01, 2 / (high + 2), 0.98, high / (high + 2)))
    bars = fig.add_axes((0.12, 0.55 / (high + 2), 0.85, 1.1 / (high + 2)))
    _draw_bytes(ax, lines, numbers, size, {"length": "length of the header", "header": "its entry in the header",
                                           "data": f"its data, from number {number:,} on"})
    _draw_shares(bars, entries, shares, list(entries).index(name))
    length = int.from_bytes(top[:8], "little")
    fig.drawn = {"length": np.array(length), "entry": top[first:last], "bytes": data, "numbers": numbers, "shares": shares}
    fig.alt = (f"Length {length:,}; {name} has dtype {dtype}, shape {shape} and the bytes {begin:,} to {end:,} of the file, "
               f"{shares[list(entries).index(name)]:.3g} percent of all tensors; its number {number} begins at byte {at:,}"
               f"{f' and is {numbers[0]:z.3f}' if len(numbers) else ''}.")
    return fig


def place_of_entry(top, name):
    """Where in the file's first bytes the header entry of this name begins and ends."""
    text = top[8:].decode("utf-8")
    start = text.index(json.dumps(name, ensure_ascii=False) + ":")
    value = text.index("{", start + len(json.dumps(name, ensure_ascii=False)))
    _, end = json.JSONDecoder().raw_decode(text, value)
    return 8 + len(text[:start].encode()), 8 + len(text[:end].encode())


def _numbers(data, dtype):
    """Bytes as numbers, as far as they are whole."""
    kind = safetensors.NUMPY[dtype]
    values = np.frombuffer(data[:len(data) // np.dtype(kind).itemsize * np.dtype(kind).itemsize], kind)
    return from_bf16(values) if dtype == "BF16" else values


def _draw_bytes(ax, lines, numbers, size, headings):
    mono = {"family": "DejaVu Sans Mono", "va": "center"}
    y, shown, before = -0.3, 0, None
    for what, start, chunk in lines:
        if what != before:
            y += 1.3
            ax.text(12, y - 1.05, headings[what], va="center", weight="bold")
            before = what
        ax.add_patch(Rectangle((11.5, y - 0.5), 3 * len(chunk), 1, facecolor=TINT[what], edgecolor="white",
                               hatch=HATCH[what], linewidth=0))
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
    ax.set(ylabel="percent (log)", xlabel="tensors in the order of the header", ylim=(1e-3, 200), title=(
        f"share of each tensor; this one: {shares[chosen]:.3g} percent"))


def to_bf16(x):
    """float32 -> the 16 bits of the nearest BF16 (of two equally near ones the even one), as uint16."""
    bits = np.array(x, np.float32).view(np.uint32)
    return ((bits + np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1))) >> np.uint32(16)).astype(np.uint16)


def from_bf16(bits):
    """The 16 bits of BF16 -> float32."""
    return (bits.astype(np.uint32) << np.uint32(16)).view(np.float32)


@plot.styled
def bits(value):
    """One number in F32, BF16 and F16: the bits of its sign, exponent and fraction."""
    with np.errstate(over="ignore"):
        words = {"F32": f"{np.float32(value).view(np.uint32):032b}", "BF16": f"{to_bf16(value)[()]:016b}",
                 "F16": f"{np.float16(value).view(np.uint16):016b}"}
        read = {"F32": np.float32(value), "BF16": from_bf16(to_bf16(value))[()], "F16": np.float16(value)}
    fig, (ax,) = plot.figure(height=210, drawn={name: np.array(list(map(int, word))) for name, word in words.items()}, alt=(
        f"The bits of {value:g}: " + "; ".join(f"{name} has {s} for the sign, {e} for the exponent, {f} for the fraction"
                                               for name, (s, e, f) in FIELDS.items()) + "."))
    for row, (name, word) in enumerate(words.items()):
        x = 0
        ax.text(-1, row, name, ha="right", va="center", weight="bold")
        for part, width, hatch, tint in zip(("sign", "exponent", "fraction"), FIELDS[name], ("//", "", ".."), TINT.values()):
            ax.add_patch(Rectangle((x, row - 0.3), width, 0.6, facecolor=tint, edgecolor="white", hatch=hatch, linewidth=0))
            ax.text(x + width / 2, row - 0.48, f"{part} {width}" if width > 1 else "±", ha="center", va="center")
            for digit in word[:width]:
                ax.text(x + 0.5, row, digit, ha="center", va="center")
                x += 1
            word = word[width:]
            x += 0.8
        ax.text(x + 0.6, row, f"= {float(read[name]):.8g}", va="center")
    ax.set(xlim=(-3.5, 41), ylim=(2.6, -0.8))
    ax.axis("off")
    return fig


def says(data):
    """What the library says of a file with these bytes."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.safetensors"
        path.write_bytes(data)
        try:
            return f"accepted: {', '.join(safetensors.read_header(path).entries)}"
        except safetensors.SafetensorsError as error:
            return str(error).removeprefix(f"{path}: ")
