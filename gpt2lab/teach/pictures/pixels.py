"""For pictures that must follow the hand: axes placed in pixels, words drawn once, a head's map."""
from functools import lru_cache

import numpy as np
from matplotlib.artist import Artist
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import PolyCollection
from matplotlib.patches import Rectangle

from gpt2lab.teach import plot

WIDTH = 640


@plot.styled
def paper(height, alt, drawn):
    """A Figure without a layout engine: the axes are placed in pixels, see box."""
    fig = plot.Figure(figsize=(WIDTH / plot.DPI, height / plot.DPI), dpi=plot.DPI)
    fig.alt, fig.drawn, fig.few_colours = alt, drawn, True
    return fig


def tall(fig):
    """Height of a figure in pixels."""
    return round(fig.get_figheight() * plot.DPI)


def box(fig, left, top, width, height, **settings):
    """Axes at a place in pixels, from the figure's upper left corner; without ticks and frame."""
    whole = fig.get_figheight() * plot.DPI
    ax = fig.add_axes([left / WIDTH, 1 - (top + height) / whole, width / WIDTH, height / whole],
                      xticks=[], yticks=[], **settings)
    ax.spines[:].set_visible(False)
    return ax


def write(fig, x, y, words, **settings):
    """Words at a place in pixels, from the figure's upper left corner; y: their middle."""
    whole = fig.get_figheight() * plot.DPI
    fig.text(x / WIDTH, 1 - y / whole, words, **{"va": "center", **settings})


class Stamp(Artist):
    """RGBA pixels (rows, columns, 4) on the figure as they are; x, y: their upper left corner."""

    def __init__(self, pixels, x=0, y=0, zorder=2):
        super().__init__()
        self.pixels, self.x, self.y = pixels, x, y
        self.set_zorder(zorder)

    def draw(self, renderer):
        bottom = round(renderer.height) - self.y - len(self.pixels)
        renderer.draw_image(renderer.new_gc(), self.x, bottom,
                            np.ascontiguousarray(self.pixels[::-1]))


@lru_cache(maxsize=12)
@plot.styled
def printed(draw, height, *arguments):
    """RGBA pixels of what draw(fig, *arguments) puts on empty paper: words are slow, drawn once."""
    fig = paper(height, "", {})
    fig.set_facecolor("none")
    draw(fig, *arguments)
    canvas = FigureCanvasAgg(fig)
    canvas.draw()
    return np.array(canvas.buffer_rgba())


def strip(ax, values, colours="PuOr", low=None, high=None):
    """One row of numbers (N,) as a row of coloured cells."""
    limit = np.abs(values[np.isfinite(values)]).max(initial=0) or 1
    low, high = (-limit, limit) if low is None else (low, high)
    return ax.imshow(np.ma.masked_invalid(values)[None], cmap=colours, vmin=low, vmax=high,
                     aspect="auto")


def hide(ax, first, last, rows=1):
    """Hatch the columns first to last (last not included)."""
    if first < last:
        ax.add_patch(Rectangle((first - 0.5, -0.5), last - first, rows, facecolor="0.9",
                               edgecolor="0.6", hatch="////", linewidth=0))


def frame(ax, column, row, columns=1, rows=1):
    """A thick frame around some cells of a map."""
    ax.add_patch(Rectangle((column - 0.5, row - 0.5), columns, rows, fill=False, linewidth=2,
                           edgecolor=plot.VERMILLION, clip_on=False, zorder=3))


def inked(ax, values, decimals=2):
    """Write the numbers into the cells of a strip that strip() has drawn."""
    image = ax.images[0]
    for s, value in enumerate(values):
        if np.isfinite(value):
            shade = np.mean(image.cmap(image.norm(value))[:3])
            ax.text(s, 0, f"{value:z.{decimals}f}", ha="center", va="center",
                    color="white" if shade < 0.5 else "black")


def stairs(T):
    """Corners of the region where the key is later than the query, in a (T, T) map."""
    steps = [(s, t) for t in range(T - 1) for s in ((t + 0.5, t - 0.5), (t + 0.5, t + 0.5))]
    return np.array([corner for corner, _ in steps] + [(T - 0.5, T - 1.5), (T - 0.5, -0.5)])


LEFT, SIZE = 122, 400                           # of a head's map, in pixels


def head_map(fig, top, tokens, weights, position):
    """One head's pattern (T, T) with T tokens on both axes, the row of one query framed."""
    ax = box(fig, LEFT, top, SIZE, SIZE)
    ax.imshow(weights, cmap="cividis", vmin=0, vmax=1, aspect="auto", interpolation="nearest")
    fig.add_artist(Stamp(printed(_map_words, tall(fig), top, tuple(tokens))))
    frame(ax, 0, position, columns=position + 1)


def _map_words(fig, top, tokens):
    """The words of a head's map: tokens and names of the axes, the scale, later keys hatched."""
    T = len(tokens)
    ax = box(fig, LEFT, top, SIZE, SIZE, xlim=(-0.5, T - 0.5), ylim=(T - 0.5, -0.5))
    ax.patch.set_visible(False)
    if T > 1:
        ax.add_collection(PolyCollection([stairs(T)], facecolors="0.9", edgecolors="0.6",
                                         hatch="////", linewidth=0))
    near = {"textcoords": "offset points"}
    step = -(-T // 32)                          # at most 32 labels
    for t in range(0, T, step):
        ax.annotate(tokens[t], (-0.5, t), (-5, 0), ha="right", va="center", **near)
        ax.annotate(tokens[t], (t, T - 0.5), (0, -5), ha="center", va="top", rotation=90, **near)
    place = ax.get_position()
    fig.text(12 / WIDTH, place.y0 + place.height / 2, "query: the token that looks", rotation=90,
             ha="center", va="center")
    write(fig, LEFT + SIZE / 2, tall(fig) - 10, "key: the token looked at", ha="center",
          va="bottom")
    scale = box(fig, LEFT + SIZE + 20, top + 40, 16, SIZE - 80)
    scale.imshow(np.linspace(1, 0, 128)[:, None], cmap="cividis", aspect="auto",
                 extent=(0, 1, 0, 1))
    for value in (0, 0.5, 1):
        scale.annotate(f"{value:g}", (1, value), (5, 0), va="center", **near)
    scale.annotate("weight", (0, 1.0), (0, 8), va="bottom", **near)
    if step > 1:
        every = {2: "second"}.get(step, step)
        scale.annotate(f"every\n{every} token\nis named", (0, 0), (-8, -8), va="top", **near)
