"""Pictures of lesson 04: a map of words, what and where in one row, how alike the places are."""
from itertools import product

import matplotlib
import matplotlib.ticker
import numpy as np
from matplotlib.textpath import TextPath

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
    ax, beside = fig.add_axes((0.05, 0.13, 0.47, 0.79)), fig.add_axes((0.54, 0.13, 0.45, 0.79))
    _points(ax, names, places)
    ax.set(xticks=[], yticks=[], title="map of the rows", xlabel="first axis")
    ax.set_ylabel("second axis", labelpad=2)
    beside.axis("off")
    beside.set(ylim=(MOST - 0.5, -0.5), xlim=(0, 1), title="nearest tokens by cosine")
    for line, (name, others) in enumerate(zip(names, near)):
        beside.text(0, line, _that_fit(f"{name}:", others, 0.45 * 640), va="center")
    if left_out:
        fig.text(0.01, 0.03, show.short(reasons, 84), color=plot.VERMILLION)
    return fig


def _that_fit(name, others, width):
    """A line of text, at most so many pixels wide: of the others, as many as fit."""
    line = name
    for other in others:
        longer = f"{line}  {other}"
        if _pixels(longer) > width:
            return line if line != name else show.short(longer, 36)
        line = longer
    return line


def _pixels(text):
    return TextPath((0, 0), text, size=plot.STYLE["font.size"]).get_extents().x1 * plot.DPI / 72


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
def askew(places, words, free):
    """Rows of two numbers: words (n, 2) at places (m, 2), and the direction `free` (2,) that no
    place reaches along, on which all rows of one word fall together."""
    rows = words[:, None] + places                                                  # (n, m, 2)
    reach = rows @ free                                                             # (n, m)
    fig, (ax,) = plot.figure(height=370, drawn={"rows": rows, "reach": reach}, alt=(
        "Rows of two words at three places, and the direction that no place uses.\n"
        "Along it all rows of a word are one: " + ", ".join(
            f"word {i} at {show.number(part.mean(), 0)}" for i, part in enumerate(reach)) + "."))
    ends = np.outer([-6.5, 7.5], free)
    ax.plot(*ends.T, color=plot.GREEN)
    ax.text(*ends[0] + (0.4, 0), "free direction", color=plot.GREEN, va="center")
    ax.plot(*np.array([[0, 0], places[-1] * 1.15]).T, color=plot.VERMILLION, linestyle="--",
            linewidth=1)
    ax.plot(*places.T, "s", color=plot.VERMILLION)
    ax.text(*places[-1] * 1.15 + (0.3, 0), "places", color=plot.VERMILLION, va="center")
    for i, (at, part, colour) in enumerate(zip(rows, reach, (plot.BLUE, plot.PURPLE))):
        landed = part.mean() * free
        for row in at:
            ax.annotate("", landed, row, arrowprops={"arrowstyle": "->", "color": "0.7"})
        ax.plot(*at.T, plot.MARKERS[0], color=colour)
        ax.plot(*landed, plot.MARKERS[3], color=colour, markersize=8)
        ax.text(*at[-1] + (0.4, 0), f"word {i} at {len(at)} places", color=colour, va="center")
        ax.text(*landed - (0.5, 0), show.number(part.mean(), 0), color=colour, ha="right",
                va="center", weight="bold")
    ax.set(aspect="equal", xlabel="first number", ylabel="second number", xlim=(-8, 25),
           ylim=(-6, 16))
    return fig


@plot.styled
def reaches(places, words, taken):
    """How far rows reach along each direction, on average: places (D,), words (D,).

    The directions are those of the position table, its loudest first; so many are taken away.
    """
    fig, (ax,) = plot.figure(height=310, drawn={"places": places, "words": words}, alt=(
        "How far places and words reach along each direction, on average.\n"
        f"Places reach {show.number(places[0])} along direction 1, "
        f"{show.number(places[taken - 1])} along {taken}, {show.number(places[taken])} along "
        f"{taken + 1}, {show.number(places[-1])} along {len(places)}; words reach "
        f"{show.number(words.min())} or more along all."))
    fig.few_colours = True
    at = 1 + np.arange(len(places))
    ax.semilogy(at, places, color=plot.VERMILLION, linestyle="--")
    ax.semilogy(at, words, color=plot.BLUE)
    ax.axvline(taken + 0.5, color="0.6", linewidth=0.8)
    ax.text(taken - 1, 0.0012, "taken away", color="0.3", ha="right")
    ax.text(taken + 2, 1.0, "free", color="0.3")
    ax.text(22, 0.45, "places", color=plot.VERMILLION)
    ax.text(22, 0.0088, "words of the story", color=plot.BLUE)
    ax.set(xlabel="direction, the places' loudest first", ylabel="reach",
           xlim=(0, len(places) + 1), ylim=(0.0007, 2))
    ax.set_yticks([0.001, 0.01, 0.1, 1], ["0.001", "0.01", "0.1", "1"])
    return fig


@plot.styled
def apart(tokens, read, cosines, places, taken):
    """What one text's rows say when they are split: words from one part, places from the other.

    tokens, read: of each place the word and the one that is nearest to what is left, as bytes;
    cosines (T,): how near; places (T,): the place that the other part is nearest to.
    """
    T, names = len(tokens), [show.short(label(token), 13) for token in tokens]
    found = [show.short(label(token), 13) for token in read]
    hits = np.array([one == other for one, other in zip(tokens, read)])
    right = int((np.asarray(places) == np.arange(T)).sum()) if taken else 0
    fig, (ax, beside) = plot.figure(2, height=90 + 24 * max(T, 6), width_ratios=(3, 2), drawn={
        "cosines": cosines, "places": places, "read": read}, alt=(
        "Words and places that are read from the rows of x, split in two parts.\n"
        f"{taken} directions are taken away: {hits.sum()} of {T} words are found in the rest, "
        f"{right} of {T} places in what was taken."))
    rows = np.arange(T)
    ax.barh(rows, cosines, color=[plot.BLUE if hit else "0.85" for hit in hits], height=0.7)
    for row, (name, hit) in enumerate(zip(found, hits)):
        ax.text(1.04, row, f"{'✓' if hit else '✗'} {name}", va="center",
                color=plot.BLUE if hit else plot.VERMILLION)
    ax.set_yticks(rows, names)
    ax.set(xlim=(0, 1.85), ylim=(T - 0.4, -0.6), xticks=[0, 0.5, 1], title="what: nearest word",
           xlabel="cosine with that word's row")
    beside.plot(rows, rows, color="0.75", linewidth=6, solid_capstyle="round")
    if taken:
        beside.plot(places, rows, "s", color=plot.VERMILLION, markersize=6, clip_on=False)
    furthest = max(max(places), T) if taken else T
    beside.set(ylim=(T - 0.4, -0.6), xlim=(-0.06 * furthest, 1.04 * furthest), yticks=rows,
               title="where: nearest place", xlabel="place (grey: true)")
    beside.xaxis.set_major_locator(matplotlib.ticker.MaxNLocator(5, integer=True))
    beside.tick_params(labelleft=False)
    return fig


@plot.styled
def strips(words):
    """How much of what reaches each strip of a layer comes from the word: shares (n,)."""
    n, order = len(words), np.argsort(-words)
    best, next_one = (show.number(100 * words[i], 0) for i in order[:2])
    fig, (ax,) = plot.figure(height=290, drawn={"words": words}, alt=(
        f"What reaches each of the {n} strips of the first layer: word or place.\n"
        f"Strip {order[0]} gets {best} % from the word; no other gets more than {next_one} %."))
    at = np.arange(n)
    ax.bar(at, 100 * words, color=plot.BLUE, width=0.75)
    ax.bar(at, 100 * (1 - words), bottom=100 * words, color="white", edgecolor=plot.VERMILLION,
           hatch="///", width=0.75)
    for place, share in enumerate(words):
        ax.text(place, 103, f"{100 * share:.0f}", ha="center", color=plot.BLUE)
    ax.text(n - 0.35, 103, "word", color=plot.BLUE)
    ax.text(n - 0.35, 50, "place", color=plot.VERMILLION)
    ax.set(xlabel="strip of 32 outputs", ylabel="share in %", xticks=at, xlim=(-0.6, n + 0.5),
           ylim=(0, 112), yticks=[0, 25, 50, 75, 100])
    return fig


@plot.styled
def positions(cosines):
    """How alike each position's row is to every other's: cosines (N, N)."""
    N = len(cosines)
    near, ten, fifty = (show.number(np.diagonal(cosines, n).mean(), 2) for n in (1, 10, 50))
    fig, (ax,) = plot.figure(height=350, drawn={"cosines": cosines}, alt=(
        "Cosines of all position rows with each other.\n"
        f"On average over {N} positions neighbours have {near}, places 10 apart {ten}, places 50 "
        f"apart {fifty}."))
    few = matplotlib.colormaps["PuOr"].resampled(11)        # few colours: the file stays small
    image = ax.imshow(cosines, cmap=few, vmin=-1, vmax=1, interpolation="nearest",
                      aspect="auto")
    ax.set(xlabel="position", ylabel="position")
    fig.colorbar(image, ax=ax, label="cosine of the two rows")
    return fig
