"""Pictures of lesson 04: a map of words, their nearest tokens, how alike the position rows are."""
from itertools import product

import matplotlib
import numpy as np

from gpt2lab.teach import plot, show
from gpt2lab.teach.pictures.bpe import label

MOST = 14                           # words on one map
LETTER, LINE = 9, 16                # pixels that a letter and a line of text need at most


@plot.styled
def word_map(places, share, tokens, nearest, left_out):
    """Words, at most MOST, as points of a plane, and beside them their nearest tokens.

    places (n, 2); share: how much of the rows' spread these places keep; tokens: the words as bytes
    (n,); nearest: for each word its nearest tokens as bytes; left_out: {word without a place: why}.
    """
    names, near = list(map(label, tokens)), [list(map(label, row)) for row in nearest]
    reasons = ", ".join(f"{label(word.encode('utf-8'))} ({why})" for word, why in left_out.items())
    reasons = f"Left out: {reasons}." if left_out else ""
    fig = plot.Figure(figsize=(6.4, 3.8), dpi=plot.DPI)
    fig.drawn = {"tokens": tokens, "places": places, "nearest": nearest}
    best = ", ".join(f"“{token}”" for token in near[0])
    fig.alt = ("A map of words by their rows, and the nearest tokens of each.\n"
               f"{len(names)} words; the map keeps {show.number(100 * share, 0)} % of their "
               f"spread. Nearest to “{names[0]}” are {best}. {reasons}").strip()
    ax, beside = fig.add_axes((0.05, 0.13, 0.51, 0.79)), fig.add_axes((0.58, 0.13, 0.41, 0.79))
    _points(ax, names, places)
    ax.set(xticks=[], yticks=[], title="map of the rows", xlabel="first axis")
    ax.set_ylabel("second axis", labelpad=2)
    beside.axis("off")
    beside.set(ylim=(MOST - 0.5, -0.5), xlim=(0, 1), title="nearest tokens by cosine")
    for line, (name, others) in enumerate(zip(names, near)):
        beside.text(0, line, show.short(f"{name}:  {'  '.join(others)}", 36), va="center")
    if left_out:
        fig.text(0.01, 0.03, show.short(reasons, 84), color=plot.VERMILLION)
    return fig


def _points(ax, names, places):
    """Points with their names, moved apart where they would cover each other."""
    width, height = ax.get_position().size * ax.figure.get_size_inches() * plot.DPI
    low, high = places.min(axis=0), places.max(axis=0)
    span = np.maximum(high - low, 1e-9)
    low, high = low - span * (0.06, 0.08), high + span * (0.06, 0.08)
    ax.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]))
    pixels = (places - low) / (high - low) * (width, height)                        # (n, 2)
    ax.plot(*places.T, "o", color=plot.BLUE, markersize=5, clip_on=False)
    taken = [(x - 4, y - 4, x + 4, y + 4) for x, y in pixels]
    for (x, y), name in zip(pixels, names):
        name = show.short(name, 16)
        wide = LETTER * len(name)
        for dx, dy in _spots(wide):
            box = (x + dx, y + dy - LINE / 2, x + dx + wide, y + dy + LINE / 2)
            inside = 0 <= box[0] and box[2] <= width and 0 <= box[1] and box[3] <= height
            if inside and not any(_cover(box, other) for other in taken):
                break
        taken.append(box)
        end = {7: "left", -wide - 7: "right"}.get(dx, "center")
        at = (box[0] if end == "left" else box[2] if end == "right" else x, y + dy)
        if abs(dy) > 12:
            ax.annotate(name, (x, y), at, xycoords="axes pixels", textcoords="axes pixels", ha=end,
                        va="center", arrowprops={"arrowstyle": "-", "color": "0.6", "shrinkA": 0})
        else:
            ax.text(at[0] / width, at[1] / height, name, transform=ax.transAxes, ha=end,
                    va="center")


def _spots(wide):
    """Where a name of this width may begin, seen from its point: the best place first."""
    def far(spot):
        dx, dy = spot
        return abs(dy) + 8 * (dx == -wide / 2) + (dx < 0), spot
    return sorted(product((7, -wide - 7, -wide / 2), range(-90, 91, 10)), key=far)


def _cover(a, b):
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


@plot.styled
def positions(cosines):
    """How alike each position's row is to every other's: cosines (N, N)."""
    N = len(cosines)
    near, ten, fifty = (show.number(np.diagonal(cosines, n).mean(), 2) for n in (1, 10, 50))
    fig, (ax,) = plot.figure(height=390, drawn={"cosines": cosines}, alt=(
        "Cosines of all position rows with each other.\n"
        f"On average over {N} positions neighbours have {near}, places 10 apart {ten}, places 50 "
        f"apart {fifty}."))
    few = matplotlib.colormaps["PuOr"].resampled(17)        # few colours: the file stays small
    image = ax.imshow(cosines, cmap=few, vmin=-1, vmax=1, interpolation="nearest")
    ax.set(xlabel="position", ylabel="position")
    fig.colorbar(image, ax=ax, label="cosine of the two rows")
    return fig


@plot.styled
def one_position(cosines, at):
    """How alike the row of one position is to all others: cosines (N,)."""
    order = np.argsort(-cosines, kind="stable")
    best = order[order != at][0]
    fig, (ax,) = plot.figure(height=260, drawn={"cosines": cosines}, alt=(
        "Cosines of one position's row with the rows of all positions.\n"
        f"Of {len(cosines)} rows the most alike to position {at} is that of position {best} with "
        f"cosine {cosines[best]:z.2f}."))
    ax.plot(cosines, color=plot.BLUE)
    ax.axvline(at, color=plot.VERMILLION, linestyle="--")
    ax.axhline(0, color="0.7", linewidth=0.8)
    ax.set(xlabel=f"position (dashed: {at})", ylabel="cosine", ylim=(-0.5, 1.05),
           xlim=(0, len(cosines) - 1))
    return fig
