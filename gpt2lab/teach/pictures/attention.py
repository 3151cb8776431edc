"""Pictures of lesson 06: a head's pattern, where a query looks, the mask, what the root is for."""
import numpy as np

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
TOPS, HIGH, INDENT, LONG = (120, 185, 250, 345), 40, 105, 520


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
            inked(ax, values[:seen])
    fig.add_artist(Stamp(printed(_row_words, tall(fig), tokens, len(mixed))))
    write(fig, 8, 14, f"query {tokens[position]} at position {position}, block {block}, "
                      f"head {head}{cut}", fontsize=11)
    return fig


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
def scales(widths, without, divided):
    """Weights of random keys (a row for each Dh, keys), without and with the root."""
    maps = {"without the root": without, "divided by the root of Dh": divided}
    tops = [show.number(weights[-1].max(), 2) for weights in maps.values()]
    return plot.heat(
        maps, "numbers in a vector, Dh", "key", rows=widths, kind="probability", height=260, alt=(
            "Weights of random keys for several Dh, without the root and with it.\n"
            f"{without.shape[1]} keys for Dh = {', '.join(map(str, widths))}: at Dh = {widths[-1]} "
            f"the largest weight is {tops[0]} without the root and {tops[1]} with it."))


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
