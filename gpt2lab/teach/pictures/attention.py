"""Pictures of lesson 06: one head's pattern, where one query looks, the mask, what the root is for."""
import math
from functools import lru_cache

import numpy as np
from matplotlib.artist import Artist
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import PolyCollection
from matplotlib.patches import Rectangle

from gpt2lab.softmax import softmax
from gpt2lab.teach import plot, show

MOST = 64           # how many tokens are drawn: the first ones, which see nothing of the rest
WIDTH = 640


class Reader:
    """What the model computes for a text, cut to its first MOST tokens.

    The last text is remembered: a slider that only chooses what to draw costs no run of the model.
    """

    def __init__(self, model):
        self.model, self.text = model, None

    def __call__(self, text):
        if text != self.text:
            ids = self.model.encode(text)
            self.total, self.ids = len(ids), ids[:MOST]
            self.tokens = tuple(short(token) for token in show.tokens(self.model.tokenizer, self.ids))
            self.trace = self.model.trace(self.ids)
            self.text = text
        return self

    def __getitem__(self, place):
        """reader["pattern", block, head]: one head's q, k, v, scores, pattern or mixed."""
        name, block, head = place
        return self.trace[f"h.{block}.attn.{name}"][head]

    def place(self, position):
        """The position, or the last one where the text is shorter."""
        return min(position, len(self.ids) - 1)

    @property
    def cut(self):
        """A remark where the text is longer than what is drawn."""
        return f", the first {MOST} of {self.total:,} tokens" if self.total > MOST else ""


def short(token, most=10):
    """A token that fits its place."""
    return token if len(token) <= most else token[:most - 1] + "…"


def paper(height, alt, drawn):
    """A Figure without a layout engine: the axes are placed in pixels, see box."""
    fig = plot.Figure(figsize=(WIDTH / plot.DPI, height / plot.DPI), dpi=plot.DPI)
    fig.alt, fig.drawn, fig.few_colours = alt, drawn, True
    return fig


def box(fig, left, top, width, height, **settings):
    """Axes at a place in pixels, from the figure's upper left corner; without ticks and frame."""
    whole = fig.get_figheight() * plot.DPI
    ax = fig.add_axes([left / WIDTH, 1 - (top + height) / whole, width / WIDTH, height / whole],
                      xticks=[], yticks=[], **settings)
    ax.spines[:].set_visible(False)
    return ax


class Stamp(Artist):
    """RGBA pixels (rows, columns, 4) on the figure as they are; x, y: their upper left corner."""

    def __init__(self, pixels, x=0, y=0, zorder=2):
        super().__init__()
        self.pixels, self.x, self.y = pixels, x, y
        self.set_zorder(zorder)

    def draw(self, renderer):
        bottom = round(renderer.height) - self.y - len(self.pixels)
        renderer.draw_image(renderer.new_gc(), self.x, bottom, np.ascontiguousarray(self.pixels[::-1]))


@lru_cache(maxsize=12)
def printed(draw, height, *arguments):
    """RGBA pixels of what draw(fig, *arguments) puts on empty paper: words are slow, so drawn once."""
    fig = plot.Figure(figsize=(WIDTH / plot.DPI, height / plot.DPI), dpi=plot.DPI, facecolor="none")
    draw(fig, *arguments)
    canvas = FigureCanvasAgg(fig)
    canvas.draw()
    return np.array(canvas.buffer_rgba())


def strip(ax, values, colours="PuOr", low=None, high=None):
    """One row of numbers (N,) as a row of coloured cells."""
    limit = np.abs(values[np.isfinite(values)]).max(initial=0) or 1
    low, high = (-limit, limit) if low is None else (low, high)
    return ax.imshow(np.ma.masked_invalid(values)[None], cmap=colours, vmin=low, vmax=high, aspect="auto")


def hide(ax, first, last, rows=1):
    """Hatch the columns first to last (last not included)."""
    if first < last:
        ax.add_patch(Rectangle((first - 0.5, -0.5), last - first, rows, facecolor="0.9", edgecolor="0.6",
                               hatch="////", linewidth=0))


def frame(ax, column, row, columns=1, rows=1):
    """A thick frame around some cells of a map."""
    ax.add_patch(Rectangle((column - 0.5, row - 0.5), columns, rows, fill=False, edgecolor=plot.VERMILLION,
                           linewidth=2, clip_on=False, zorder=3))


def stairs(T):
    """Corners of the region where the key is later than the query, in a (T, T) map."""
    steps = [(s, t) for t in range(T - 1) for s in ((t + 0.5, t - 0.5), (t + 0.5, t + 0.5))]
    return np.array([corner for corner, _ in steps] + [(T - 0.5, T - 1.5), (T - 0.5, -0.5)])


def inked(ax, values, decimals=2):
    """Write the numbers into the cells of a strip that strip() has drawn."""
    image = ax.images[0]
    for s, value in enumerate(values):
        if np.isfinite(value):
            shade = np.mean(image.cmap(image.norm(value))[:3])
            ax.text(s, 0, f"{value:z.{decimals}f}", ha="center", va="center", color="white" if shade < 0.5 else "black")


LEFT, SIZE = 122, 400                           # of a head's map, in pixels


def _map_words(fig, top, tokens):
    """The words of a head's map: tokens at both axes, what the axes are, the scale, later keys hatched."""
    T, ax = len(tokens), box(fig, LEFT, top, SIZE, SIZE, xlim=(-0.5, len(tokens) - 0.5), ylim=(len(tokens) - 0.5, -0.5))
    ax.patch.set_visible(False)
    if T > 1:
        ax.add_collection(PolyCollection([stairs(T)], facecolors="0.9", edgecolors="0.6", hatch="////", linewidth=0))
    step = -(-T // 32)                          # at most 32 labels
    for t in range(0, T, step):
        ax.annotate(tokens[t], (-0.5, t), (-5, 0), textcoords="offset points", ha="right", va="center")
        ax.annotate(tokens[t], (t, T - 0.5), (0, -5), textcoords="offset points", ha="center", va="top", rotation=90)
    fig.text(12 / WIDTH, ax.get_position().y0 + ax.get_position().height / 2, "query: the token that looks",
             rotation=90, ha="center", va="center")
    fig.text((LEFT + SIZE / 2) / WIDTH, 10 / (fig.get_figheight() * plot.DPI), "key: the token looked at", ha="center", va="bottom")
    scale = box(fig, LEFT + SIZE + 20, top + 40, 16, SIZE - 80)
    scale.imshow(np.linspace(1, 0, 128)[:, None], cmap="cividis", aspect="auto", extent=(0, 1, 0, 1))
    for value in (0, 0.5, 1):
        scale.annotate(f"{value:g}", (1, value), (5, 0), textcoords="offset points", va="center")
    scale.annotate("weight", (0, 1.0), (0, 8), textcoords="offset points", va="bottom")
    if step > 1:
        scale.annotate(f"every\n{ {2: 'second'}.get(step, step) } token\nis named", (0, 0), (-8, -8), textcoords="offset points", va="top")


def head_map(fig, top, at, weights, position):
    """One head's pattern (T, T) with tokens on both axes, the row of one query framed."""
    ax = box(fig, LEFT, top, SIZE, SIZE)
    ax.imshow(weights, cmap="cividis", vmin=0, vmax=1, aspect="auto", interpolation="nearest")
    fig.add_artist(Stamp(printed(_map_words, round(fig.get_figheight() * plot.DPI), top, at.tokens)))
    frame(ax, 0, position, columns=position + 1)


@plot.styled
def pattern(reader, text, block, head, position=MOST):
    """One head's pattern on a text: query tokens down, key tokens across."""
    at = reader(text)
    weights, position = at["pattern", block, head], at.place(position)              # (T, T)
    best = int(weights[position].argmax())
    fig = paper(SIZE + 140, drawn={"pattern": weights}, alt=(
        f"Block {block}, head {head}{at.cut}. The framed row: “{at.tokens[position]}” looks most at "
        f"“{at.tokens[best]}”, with weight {show.number(weights[position, best], 2)}."))
    head_map(fig, 35, at, weights, position)
    fig.text((LEFT + SIZE / 2) / WIDTH, 1 - 18 / fig.get_figheight() / plot.DPI, f"block {block}, head {head}{at.cut}",
             ha="center", va="center", fontsize=11)
    return fig


ROWS = (("scores", "1 scores,\nall keys"), ("masked", "2 later keys\nmasked"), ("pattern", "3 after\nsoftmax"),
        ("mixed", "4 mixed\nvalue"))
TOPS, HIGH, INDENT, LONG = (120, 185, 250, 345), 40, 105, 520


def _row_words(fig, tokens, Dh):
    """The words around the four rows: tokens above, names at the left, columns below."""
    ax = box(fig, INDENT, TOPS[0], LONG, HIGH, xlim=(-0.5, len(tokens) - 0.5), ylim=(0, 1))
    ax.patch.set_visible(False)
    step = -(-len(tokens) // 32)
    for s in range(0, len(tokens), step):
        ax.annotate(tokens[s], (s, 1), (0, 5), textcoords="offset points", ha="center", va="bottom", rotation=90)
    high = fig.get_figheight() * plot.DPI
    for top, (_, name) in zip(TOPS, ROWS):
        fig.text(8 / WIDTH, 1 - (top + HIGH / 2) / high, name, va="center")
    fig.text(INDENT / WIDTH, 1 - (TOPS[2] + HIGH + 16) / high, "across: key, the token looked at" + (
        f" (every {'second' if step == 2 else step} one is named)" if step > 1 else ""), va="center")
    fig.text(INDENT / WIDTH, 1 - (TOPS[3] + HIGH + 16) / high, f"across: the {Dh} columns of this head (Dh)", va="center")


@plot.styled
def where(reader, text, block, head, position=MOST):
    """Four rows of one query: scores of all keys, later keys masked, weights, and the mixed value."""
    at = reader(text)
    position = at.place(position)
    q, k = at["q", block, head][position], at["k", block, head]                     # (Dh,) (S, Dh)
    scores = k @ q / math.sqrt(len(q))                                              # (S,)
    rows = {"scores": scores, "masked": at["scores", block, head][position],
            "pattern": at["pattern", block, head][position], "mixed": at["mixed", block, head][position]}
    best, S = int(rows["pattern"].argmax()), len(scores)
    fig = paper(TOPS[-1] + HIGH + 35, drawn=rows, alt=(
        f"Block {block}, head {head}{at.cut}. The query “{at.tokens[position]}” at position {position} of 0 to {S - 1} "
        f"looks most at “{at.tokens[best]}”, with weight {show.number(rows['pattern'][best], 2)}."))
    limit = float(np.abs(scores).max()) or 1.0
    for top, (name, values) in zip(TOPS, rows.items()):
        ax = box(fig, INDENT, top, LONG, HIGH)
        if name == "pattern":
            strip(ax, values, "cividis", 0, 1)
        else:
            strip(ax, values, "PuOr", *((-limit, limit) if name != "mixed" else ()))
        if name != "mixed":
            frame(ax, position, 0)
            if name != "scores":
                hide(ax, position + 1, S)
            if S <= 12:
                inked(ax, values if name == "scores" else np.where(np.arange(S) <= position, values, np.nan))
    fig.add_artist(Stamp(printed(_row_words, TOPS[-1] + HIGH + 35, at.tokens, len(q))))
    fig.text(8 / WIDTH, 1 - 14 / fig.get_figheight() / plot.DPI, f"query {at.tokens[position]} at position {position}, "
             f"block {block}, head {head}{at.cut}", va="center", fontsize=11)
    return fig


@plot.styled
def steps(scores):
    """Scores (T, T), the same with later keys masked, and the pattern: three maps with their numbers."""
    T = len(scores)
    later = np.arange(T) > np.arange(T)[:, None]                                    # (T, T)
    masked = np.where(later, -np.inf, scores)
    weights = softmax(masked)
    fig, axes = plot.figure(3, height=270, drawn={"scores": scores, "masked": masked, "pattern": weights}, alt=(
        f"Scores of {T} queries and {T} keys; the {later.sum()} scores of later keys become minus infinity; after "
        f"softmax their weights are 0 and each row sums to 1."))
    limit = np.abs(scores).max()
    plot.draw_map(axes[0], scores, range(T), range(T), "PuOr", -limit, limit, decimals=1)
    plot.draw_map(axes[1], masked, range(T), range(T), "PuOr", -limit, limit, masked=later, decimals=1)
    for t, s in np.argwhere(later):
        axes[1].text(s, t, "-inf", ha="center", va="center", backgroundcolor="0.9", fontsize=10)
    plot.draw_map(axes[2], weights, range(T), range(T), "cividis", 0, 1, masked=later)
    for t, s in np.argwhere(later):
        axes[2].text(s, t, "0", ha="center", va="center", backgroundcolor="0.9", fontsize=10)
    for ax, title in zip(axes, ("scores", "later keys masked", "weights (softmax)")):
        ax.set(title=title, xlabel="key S")
        ax.tick_params(axis="x", rotation=0)
    axes[0].set_ylabel("query T")
    return fig


def coins(*shape, seed=0):
    """Numbers that are 1 or -1, each as likely as the other."""
    return np.where(np.random.default_rng(seed).random(shape) < 0.5, -1.0, 1.0)


KEYS = 6


def coin_scores(Dh, seed):
    """Dot products of one random query with KEYS random keys, of Dh numbers each."""
    numbers = coins(KEYS + 1, 256, seed=seed)[:, :Dh]
    return numbers[1:] @ numbers[0]                                                 # (KEYS,)


@plot.styled
def scales(widths, seed):
    """Weights of random keys without and with the root, a row for each Dh."""
    scores = np.array([coin_scores(Dh, seed) for Dh in widths])
    roots = np.sqrt(np.array(widths))[:, None]
    maps = {"without the root": softmax(scores), "divided by the root of Dh": softmax(scores / roots)}
    tops = [weights[-1].max() for weights in maps.values()]
    return plot.heat(maps, "numbers in a vector, Dh", "key", rows=widths, kind="probability", height=260, alt=(
        f"Weights of {KEYS} random keys for Dh = {', '.join(map(str, widths))}. At Dh = {widths[-1]} the largest weight is "
        f"{show.number(tops[0], 2)} without the root and {show.number(tops[1], 2)} with it."))


@plot.styled
def scale(Dh, seed):
    """The same for one Dh, as bars."""
    scores = coin_scores(Dh, seed)
    drawn = {"scores": scores, "without": softmax(scores), "with": softmax(scores / math.sqrt(Dh))}
    fig = paper(300, drawn=drawn, alt=(
        f"{KEYS} random keys with Dh = {Dh}: scores from {scores.min():.0f} to {scores.max():.0f}. The largest weight is "
        f"{show.number(drawn['without'].max(), 2)} without the root, {show.number(drawn['with'].max(), 2)} with it."))
    for left, name, title, colour, hatch in ((60, "without", "without the root", plot.VERMILLION, "//"),
                                             (370, "with", "divided by the root of Dh", plot.BLUE, None)):
        ax = fig.add_axes([left / WIDTH, 0.17, 255 / WIDTH, 0.66])
        ax.bar(range(KEYS), drawn[name], color=colour, hatch=hatch, edgecolor="white")
        for s, (weight, score) in enumerate(zip(drawn[name], scores if name == "without" else scores / math.sqrt(Dh))):
            ax.text(s, weight, f"{score:z.{0 if name == 'without' else 1}f}", ha="center", va="bottom")
        ax.set(title=f"{title}\nDh = {Dh}, largest weight {drawn[name].max():.2f}", xlabel="key (its score above the bar)",
               ylim=(0, 1.1), yticks=[0, 0.5, 1], xticks=range(KEYS))
    fig.axes[0].set_ylabel("weight")
    return fig
