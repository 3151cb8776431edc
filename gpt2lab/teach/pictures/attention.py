"""Pictures of lesson 06: a head's pattern and scores, the mask, the root, a head made by hand."""
import numpy as np
from matplotlib.collections import PolyCollection

from gpt2lab.teach import plot, show

from . import pixels
from .pixels import (
    LEFT,
    SIZE,
    WIDTH,
    Stamp,
    box,
    frame,
    hide,
    inked,
    paper,
    printed,
    strip,
    tall,
    write,
)


def words(tokens, count):
    """The first tokens of a text, shortened, and a remark where there are more."""
    cut = f", the first {count} of {len(tokens):,} tokens" if len(tokens) > count else ""
    return tuple(show.short(token) for token in tokens[:count]), cut


@plot.styled
def pattern(tokens, weights, position, block, head):
    """One head's pattern (T, T) on the first T tokens of a text: query down, key across.

    position: the query whose row is framed.
    """
    tokens, cut = words(tokens, len(weights))
    best = int(weights[position].argmax())
    fig = paper(SIZE + 140, drawn={"pattern": weights}, alt=(
        "One head's pattern: the weight of each token on the earlier ones, one row framed.\n"
        f"Block {block}, head {head}{cut}. The framed row: “{tokens[position]}” looks most at "
        f"“{tokens[best]}”, with weight {show.number(weights[position, best], 2)}."))
    pixels.head_map(fig, 35, tokens, weights, position)
    write(fig, LEFT + SIZE / 2, 18, f"block {block}, head {head}{cut}", ha="center", fontsize=11)
    return fig


ROWS = ("1 scores,\nall keys", "2 later keys\nmasked", "3 after\nsoftmax", "4 mixed\nvalue")
TOPS, HIGH, INDENT, LONG = (120, 185, 250, 345), 40, 105, 470


@plot.styled
def where(tokens, position, scores, masked, weights, mixed, block, head):
    """Four rows of one query: scores of all keys, later keys masked, weights, the mixed value.

    scores, masked, weights (S,) for the first S tokens of a text, mixed (Dh,).
    """
    S = len(scores)
    tokens, cut = words(tokens, S)
    best = int(weights.argmax())
    drawn = {"scores": scores, "masked": masked, "pattern": weights, "mixed": mixed}
    fig = paper(TOPS[-1] + HIGH + 35, drawn=drawn, alt=(
        "One query in four rows: scores of all keys, later keys masked, weights, the mixed "
        "value.\n"
        f"Block {block}, head {head}{cut}. The query “{tokens[position]}” at position {position} "
        f"of 0 to {S - 1} looks most at “{tokens[best]}”, with weight "
        f"{show.number(weights[best], 2)}."))
    boxes = [box(fig, INDENT, top, LONG, HIGH) for top in TOPS]
    limit = float(np.abs(scores).max()) or 1.0
    strip(boxes[0], scores, "PuOr", -limit, limit)
    strip(boxes[1], masked, "PuOr", -limit, limit)
    strip(boxes[2], weights, "cividis", 0, 1)
    strip(boxes[3], mixed)
    for ax, values in zip(boxes, (scores, masked, weights)):
        frame(ax, position, 0)
        seen = S if values is scores else position + 1
        hide(ax, seen, S)
        if S <= 12:
            inked(ax, values[:seen], 2 if values is weights else 1)
    for top, ax in zip(TOPS, boxes):
        _scale(fig, INDENT + LONG + 10, top, ax.images[0])
    fig.add_artist(Stamp(printed(_row_words, tall(fig), tokens, len(mixed))))
    write(fig, 8, 14, f"query {tokens[position]} at position {position}, block {block}, "
                      f"head {head}{cut}", fontsize=11)
    return fig


def _scale(fig, left, top, image):
    """The colours of a row as a narrow strip beside it, with the numbers of both ends."""
    low, high = image.get_clim()
    ax = box(fig, left, top, 10, HIGH)
    ax.imshow(np.linspace(1, 0, 64)[:, None], cmap=image.cmap, aspect="auto")
    for y, value in ((top + 6, high), (top + HIGH - 6, low)):
        write(fig, left + 14, y, f"{value:.3g}")


def _row_words(fig, tokens, Dh):
    """The words around the four rows: tokens above, names at the left, columns below."""
    S = len(tokens)
    ax = box(fig, INDENT, TOPS[0], LONG, HIGH, xlim=(-0.5, S - 0.5), ylim=(0, 1))
    ax.patch.set_visible(False)
    step = -(-S // 32)
    for s in range(0, S, step):
        ax.annotate(tokens[s], (s, 1), (0, 5), textcoords="offset points", ha="center", va="bottom",
                    rotation=90)
    for top, name in zip(TOPS, ROWS):
        write(fig, 8, top + HIGH / 2, name)
    every = f" (every {'second' if step == 2 else step} one is named)" if step > 1 else ""
    write(fig, INDENT, TOPS[2] + HIGH + 16, f"across: key, the token looked at{every}")
    write(fig, INDENT, TOPS[3] + HIGH + 16, f"across: the {Dh} columns of this head (Dh)")


@plot.styled
def steps(scores, masked, weights):
    """Scores (T, T), the same with later keys masked, and the pattern: three maps with numbers."""
    T, later = len(scores), np.isinf(masked)                                        # (T, T)
    maps = {"scores": scores, "masked": masked, "pattern": weights}
    fig, axes = plot.figure(3, height=270, drawn=maps, alt=(
        "Scores of queries and keys, the same with later keys masked, and the weights after "
        "softmax.\n"
        f"Of {T} queries and {T} keys, the {later.sum()} scores of later keys become minus "
        "infinity; after softmax their weights are 0 and each row sums to 1."))
    limit = np.abs(scores).max()
    places = range(T), range(T)
    plot.draw_map(axes[0], scores, *places, "PuOr", -limit, limit, decimals=1)
    plot.draw_map(axes[1], masked, *places, "PuOr", -limit, limit, masked=later, decimals=1)
    plot.draw_map(axes[2], weights, *places, "cividis", 0, 1, masked=later)
    for ax, word in zip(axes[1:], ("-inf", "0")):
        for t, s in np.argwhere(later):
            ax.text(s, t, word, ha="center", va="center", backgroundcolor="0.9", fontsize=10)
    for ax, title in zip(axes, ("scores", "later keys masked", "weights (softmax)")):
        ax.set(title=title, xlabel="key S")
        ax.tick_params(axis="x", rotation=0)
    axes[0].set_ylabel("query T")
    return fig


@plot.styled
def slopes(widths, without, divided):
    """Mean largest weight and mean slope of softmax on random keys, without and with the root.

    widths (n,): each Dh; without, divided (2, n): largest weights, slopes.
    """
    ends = [show.number(value, 2) for value in (without[0, -1], divided[0, -1], without[1, -1],
                                                divided[1, -1])]
    fig, axes = plot.figure(2, height=290, drawn={"without": without, "with": divided}, alt=(
        "Largest weight and slope of softmax on random keys by Dh, without the root and with it.\n"
        f"At Dh = {widths[-1]} the largest weight is {ends[0]} without the root and {ends[1]} with "
        f"it, the mean slope {ends[2]} and {ends[3]}."))
    titles = "largest of six weights, mean", "slope p (1 - p), mean"
    for row, (ax, title) in enumerate(zip(axes, titles)):
        for values, name, colour, marker, dash in (
                (without, "without the root", plot.VERMILLION, "s", "--"),
                (divided, "with the root", plot.BLUE, "o", "-")):
            ax.plot(widths, values[row], dash, color=colour, marker=marker, markersize=5)
            above = values[row].mean() > np.mean([without[row].mean(), divided[row].mean()])
            ax.annotate(name, (widths[-1], values[row, -1]), (0, 8 if above else -8),
                        textcoords="offset points", ha="right", va="bottom" if above else "top",
                        color=colour)
        ax.set_xscale("log", base=2)
        ax.xaxis.set_major_formatter("{x:g}")
        ax.set(title=title, xlabel="numbers in a vector, Dh", xticks=widths[::2])
    axes[0].set_ylim(0, 1.12)
    axes[1].set(ylim=(-0.02, 0.15), yticks=[0, 0.05, 0.1, 0.15])
    return fig


@plot.styled
def scale(Dh, scores, without, divided):
    """The same for one Dh, as bars: scores and their two weights, (keys,) each."""
    tops = [show.number(weights.max(), 2) for weights in (without, divided)]
    fig = paper(300, drawn={"scores": scores, "without": without, "with": divided}, alt=(
        "Weights of random keys for one Dh, without the root and with it.\n"
        f"{len(scores)} keys with Dh = {Dh} have scores from {scores.min():.0f} to "
        f"{scores.max():.0f}. The largest weight is {tops[0]} without the root, {tops[1]} with "
        "it."))
    _weights(fig, 60, "without the root", Dh, without, [f"{score:z.0f}" for score in scores],
             color=plot.VERMILLION, hatch="//")
    _weights(fig, 370, "divided by the root of Dh", Dh, divided,
             [f"{score:z.1f}" for score in scores / Dh ** 0.5], color=plot.BLUE)
    fig.axes[0].set_ylabel("weight")
    return fig


def _weights(fig, left, title, Dh, weights, scores, **look):
    """Bars of weights, the score written above each."""
    ax = fig.add_axes([left / WIDTH, 0.17, 255 / WIDTH, 0.66])
    ax.bar(range(len(weights)), weights, edgecolor="white", **look)
    for s, (weight, score) in enumerate(zip(weights, scores)):
        ax.text(s, weight, score, ha="center", va="bottom")
    ax.set(title=f"{title}\nDh = {Dh}, largest weight {weights.max():.2f}",
           xlabel="key (its score above the bar)", ylim=(0, 1.1), yticks=[0, 0.5, 1],
           xticks=range(len(weights)))


@plot.styled
def products(query, key, one, left, head):
    """Bars of the products of one query with one key, and what the other keys do not share.

    query, key: the two tokens; one (Dh,): their products, divided by the root; left (Dh,): the
    same without the mean of all keys' products; head: its name.
    """
    best = np.argsort(-one)[:2]
    score, two, rest = (show.number(part.sum(), 1) for part in (one, one[best], left))
    fig = paper(400, drawn={"products": one, "left": left}, alt=(
        "Products of one query and one key, column by column, and what other keys do not share.\n"
        f"“{query}” and “{key}” score {score}: {two} of it from columns {best[0]} and {best[1]}. "
        f"Without what all keys share, {rest} is left."))
    high = 1.25 * max(one.max(), left.max(), 0.1)
    low = 1.25 * min(one.min(), left.min(), -0.1)
    for top, values, title in (
            (30, one, f"{head}: “{query}” by “{key}”, column by column, adds up to {score}"),
            (215, left, f"the same without the mean of all keys, adds up to {rest}")):
        ax = fig.add_axes([60 / WIDTH, 1 - (top + 130) / 400, 560 / WIDTH, 130 / 400])
        ax.bar(range(len(values)), values, edgecolor="white",
               color=np.where(values < 0, plot.VERMILLION, plot.BLUE))
        ax.axhline(0, color=plot.BLACK, linewidth=0.8)
        for column in np.argsort(-values)[:2]:
            ax.text(column, values[column], f"{values[column]:.1f}", ha="center", va="bottom")
        ax.set(title=title, ylabel="part of the score", ylim=(low, high),
               xlim=(-0.7, len(values) - 0.3), xticks=range(0, len(values), 2))
    ax.set_xlabel("column of the query and the key (Dh)")
    return fig


SIDE, LEFTS, ABOVE = 235, (95, 390), 78         # of the two maps, in pixels


@plot.styled
def followed(tokens, position, hand, real, different, mixed, head):
    """Two patterns (T, T) of one text side by side: a head made by hand, and one of a model.

    position: the query whose row is framed; mixed (n,): what the first head hands over there, a
    share of each of the n different tokens; head: the name of the second.
    """
    T = len(hand)
    tokens, cut = words(tokens, T)
    looks = [f"looks most at “{tokens[row.round(4).argmax()]}” ({show.number(row.max(), 2)})"
             for row in (hand[position], real[position])]
    given = ", ".join(f"“{show.short(different[i])}” {show.number(mixed[i], 2)}"
                      for i in np.argsort(-mixed.round(4), kind="stable")[:2] if mixed[i] > 0.1)
    if position and np.ptp(hand[position, :position + 1]) < 1e-3:
        looks[0], given = f"looks at all {position + 1} alike", "a mix of them"
    fig = paper(ABOVE + SIDE + 100, drawn={"by hand": hand, "real": real, "mixed": mixed}, alt=(
        "Two patterns of one text: a head made by hand, and a head of the model.\n"
        f"From “{tokens[position]}” at position {position} of 0 to {T - 1}{cut}, the head made by "
        f"hand {looks[0]} and hands over {given}; {head} {looks[1]}."))
    write(fig, 8, 12, f"query “{tokens[position]}” at position {position}{cut}")
    for left, title, look, weights in zip(LEFTS, ("your head, by hand", head), looks, (hand, real)):
        ax = box(fig, left, ABOVE, SIDE, SIDE)
        ax.imshow(weights, cmap="cividis", vmin=0, vmax=1, aspect="auto", interpolation="nearest")
        frame(ax, 0, position, columns=position + 1)
        write(fig, left, 36, title, weight="bold")
        write(fig, left, 52, look)
    write(fig, LEFTS[0], 67, f"hands over {given}")
    fig.add_artist(Stamp(printed(_followed_words, tall(fig), tokens)))
    return fig


def _followed_words(fig, tokens):
    """The words of the two maps: tokens at the left and below, later keys hatched, the scale."""
    T, near = len(tokens), {"textcoords": "offset points"}
    step = -(-T // 18)                          # at most 18 labels
    for left in LEFTS:
        ax = box(fig, left, ABOVE, SIDE, SIDE, xlim=(-0.5, T - 0.5), ylim=(T - 0.5, -0.5))
        ax.patch.set_visible(False)
        if T > 1:
            ax.add_collection(PolyCollection([pixels.stairs(T)], facecolors="0.9", linewidth=0,
                                             edgecolors="0.6", hatch="////"))
        for t in range(0, T, step):
            ax.annotate(tokens[t], (t, T - 0.5), (0, -5), ha="center", va="top", rotation=90,
                        **near)
            if left == LEFTS[0]:
                ax.annotate(tokens[t], (-0.5, t), (-5, 0), ha="right", va="center", **near)
    scale = box(fig, 550, 8, 60, 10)
    scale.imshow(np.linspace(0, 1, 64)[None], cmap="cividis", aspect="auto")
    write(fig, 544, 13, "weight 0", ha="right")
    write(fig, 616, 13, "1")
    every = f" ({'every second' if step == 2 else 'every third'} one is named)" if step > 1 else ""
    write(fig, LEFTS[0], tall(fig) - 9, f"down: query, the token that looks; across: key{every}")
