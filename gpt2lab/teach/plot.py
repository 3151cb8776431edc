"""Pictures of arrays. A drawing function takes arrays and gives a Figure; show(figure) displays it.

A figure carries .drawn, the arrays that were drawn, by name, and .alt, a text of two lines. The
first says what is drawn, without a result and without an answer: a folded output shows it alone.
The second says what is to be read in the picture. Figures are made without pyplot, so none stays
open. All are 640 pixels wide.
"""
import base64
import contextlib
import io
import textwrap
import threading
import warnings
from contextlib import contextmanager
from functools import cache, wraps

import numpy as np
from IPython.display import display
from PIL import Image

with contextlib.redirect_stderr(io.StringIO()):     # there it tells of the first list of fonts
    import matplotlib
    from matplotlib import font_manager, ft2font
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

from . import show as text

DPI = 100
BLUE, VERMILLION, GREEN, PURPLE, BLACK = "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#000000"
COLOURS = (BLUE, VERMILLION, GREEN, PURPLE, BLACK)
DASHES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)))
MARKERS = ("o", "s", "^", "D", "v")
STYLE = {"font.family": "DejaVu Sans", "font.size": 10, "axes.titlesize": 11, "axes.labelsize": 10,
         "figure.facecolor": "white", "axes.facecolor": "white", "axes.spines.top": False,
         "axes.spines.right": False, "axes.grid": False, "hatch.linewidth": 0.6,
         "text.parse_math": False}
SETTINGS = {name: value for name, value in matplotlib.rcParamsDefault.items()
            if name not in ("backend", "backend_fallback")} | STYLE
MONO, COLUMNS, LINES = "DejaVu Sans Mono", 72, 12       # of a message
CAPTION = 100                                           # characters of a printed line
_DRAWING = threading.RLock()


@contextmanager
def house_style():
    """Draw, measure and render in here: the same picture whatever the user has set.

    matplotlib's own defaults and STYLE hold, afterwards the user's settings are back. A character
    that the font lacks becomes a box, without a warning. The settings are those of the process, and
    JupyterLab moves sliders in a thread beside the cells: so one thread draws, the others wait.
    """
    with _DRAWING, warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing|Matplotlib currently does not")
        other = {name: value for name, value in SETTINGS.items()
                 if matplotlib.rcParams[name] != value}         # few: setting all takes longer
        with matplotlib.rc_context(other):
            yield


def styled(draw):
    """Decorator of every function that makes or changes a figure: it runs in the house style."""
    @wraps(draw)
    def drawing(*arguments, **named):
        with house_style():
            return draw(*arguments, **named)
    return drawing


@cache
def in_font(character, family="DejaVu Sans"):
    """Whether the font has a character; else a box stands in its place."""
    return _font(family).get_char_index(ord(character)) != 0


@cache
def _font(family):
    return ft2font.FT2Font(font_manager.findfont(family))


def figure(panels=1, height=300, alt="", drawn=None, **settings):
    """(Figure, [axes]) 640 pixels wide, panels side by side."""
    fig = Figure(figsize=(6.4, height / DPI), dpi=DPI, layout="constrained")
    axes = np.atleast_1d(fig.subplots(1, panels, **settings))
    fig.alt, fig.drawn = alt, drawn or {}
    return fig, list(axes)


def png(fig):
    """The picture as PNG bytes, the same on every run and with every user's settings."""
    with house_style():
        canvas = FigureCanvasAgg(fig)
        canvas.draw()                           # once; savefig would draw twice
    image = Image.fromarray(np.asarray(canvas.buffer_rgba())).convert("RGB")
    if getattr(fig, "few_colours", False):      # a third of the bytes; colours move by 15 of 255
        image = image.quantize(256, method=Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE)
    buffer = io.BytesIO()
    image.save(buffer, "png")
    return buffer.getvalue()


def bundle(fig):
    """What Jupyter needs to display the figure: the PNG, and its text of two lines."""
    return {"image/png": base64.b64encode(png(fig)).decode(), "text/plain": fig.alt}


def metadata(alt):
    """What goes beside a bundle: the two lines of its text in one, as alternative text."""
    return {"image/png": {"alt": alt.replace("\n", " ")}}


def show(fig):
    """Display a figure with its text, which stands below it as the caption too.

    Raises ValueError where the text has not two lines.
    """
    parts = fig.alt.split("\n")
    if len(parts) != 2 or not all(map(str.strip, parts)):
        raise ValueError("a picture needs a text of two lines: what is drawn, then what is to be "
                         "read in it; set figure.alt")
    display(bundle(fig), metadata=metadata(fig.alt), raw=True)
    print(caption(fig.alt))


def caption(alt):
    """The text of a picture in lines that fit a page: a page breaks wider ones within a word."""
    return "\n".join(textwrap.fill(part, CAPTION, break_long_words=False, break_on_hyphens=False)
                     for part in alt.split("\n"))


@styled
def lines(series, xlabel, ylabel, alt, x=None, log=False, logx=False, height=300, title="",
          at_end=True):
    """One line a series {label: values}, with its colour, dash, marker, and label at its end."""
    drawn = {name: np.asarray(y) for name, y in series.items()}
    fig, (ax,) = figure(height=height, alt=alt, drawn=drawn)
    for i, (name, y) in enumerate(series.items()):
        steps = np.arange(len(y)) if x is None else x
        ax.plot(steps, y, color=COLOURS[i % 5], linestyle=DASHES[i % 5], label=name,
                marker=MARKERS[i % 5] if len(y) <= 20 else None)
        if at_end:
            ax.annotate(name, (steps[-1], y[-1]), xytext=(6, 0), textcoords="offset points",
                        color=COLOURS[i % 5], va="center", annotation_clip=False)
    if not at_end:
        ax.legend(frameon=False)
    ax.set(xlabel=xlabel, ylabel=ylabel, title=title)
    if log:
        ax.set_yscale("log")
        ax.yaxis.set_major_formatter("{x:g}")
    if logx:
        ax.set_xscale("log", base=2)
        ax.xaxis.set_major_formatter("{x:g}")
        ax.tick_params(axis="x", rotation=45)
    return fig


@styled
def bars(labels, values, xlabel, ylabel, alt, height=300, title="", signed=False):
    """One bar a label, its value written at its end; horizontal, so that words can be read."""
    fig, (ax,) = figure(height=height, alt=alt, drawn={"values": np.asarray(values)})
    places = np.arange(len(labels))[::-1]
    colours = [VERMILLION if signed and value < 0 else BLUE for value in values]
    ax.barh(places, values, color=colours, hatch=None)
    ax.set_yticks(places, labels)
    for place, value in zip(places, values):
        ax.annotate(f"{value:z.3g}", (value, place), xytext=(4 if value >= 0 else -4, 0),
                    textcoords="offset points", va="center", ha="left" if value >= 0 else "right")
    ax.margins(x=0.15)
    ax.set(xlabel=xlabel, ylabel=ylabel, title=title)
    return fig


@styled
def heat(panels, ylabel, xlabel, alt, rows=None, columns=None, kind="signed", masked=None,
         height=320, decimals=2):
    """Maps side by side, {title: array (R, C)}.

    kind: "signed" (PuOr around 0) or "probability" (cividis, 0 to 1). rows, columns: tick labels.
    masked: a (R, C) array, true where a cell is hatched grey. Maps up to 8 x 8 show the numbers.
    """
    arrays = {title: np.asarray(values) for title, values in panels.items()}
    fig, axes = figure(len(arrays), height=height, alt=alt, drawn=arrays, squeeze=True)
    finite = [np.abs(a[np.isfinite(a)]).max(initial=0) for a in arrays.values()]
    limit = max(finite) or 1
    low, high, colours = (-limit, limit, "PuOr") if kind == "signed" else (0, 1, "cividis")
    for ax, (title, values) in zip(axes, arrays.items()):
        image = draw_map(ax, values, rows, columns, colours, low, high, masked, decimals)
        ax.set(title=title, xlabel=xlabel, ylabel=ylabel if ax is axes[0] else "")
    fig.colorbar(image, ax=axes, shrink=0.8)
    return fig


def draw_map(ax, values, rows, columns, colours, low, high, masked=None, decimals=2):
    """One map (R, C) on an axes: colours, ticks, hatched cells, numbers where there is room."""
    hidden = ~np.isfinite(values) if masked is None else np.asarray(masked)
    image = ax.imshow(np.ma.array(values, mask=hidden), cmap=colours, vmin=low, vmax=high,
                      aspect="auto")
    for r, c in np.argwhere(hidden):
        ax.add_patch(matplotlib.patches.Rectangle((c - 0.5, r - 0.5), 1, 1, facecolor="0.9",
                                                  edgecolor="0.6", hatch="////", linewidth=0))
    for labels, set_ticks, rotation in ((rows, ax.set_yticks, 0), (columns, ax.set_xticks, 90)):
        if labels is not None:
            step = -(-len(labels) // 32)        # at most 32 labels
            words = [str(t) for t in labels[::step]]
            set_ticks(np.arange(0, len(labels), step), words, rotation=rotation)
        else:
            size = values.shape[0 if rotation == 0 else 1]
            set_ticks(np.arange(0, size, -(-size // 12)))
    if max(values.shape) <= 8:
        for (r, c), value in np.ndenumerate(values):
            if not hidden[r, c]:
                dark = np.mean(image.cmap(image.norm(value))[:3]) < 0.5
                ax.text(c, r, f"{value:z.{decimals}f}", ha="center", va="center",
                        color="white" if dark else "black",
                        fontsize=9 if values.shape[1] > 5 else 10)
    ax.spines[:].set_visible(False)
    return image


@styled
def message(words):
    """A picture of a text: stands in a picture's place when a drawing fails.

    It is as high as the text needs; of a very long text the beginning is shown, and an ellipsis.
    """
    beginning = text.short(words.strip(), COLUMNS * LINES).split("\n")
    visible = [text.token(line).replace("·", " ") for line in beginning]
    boxes = not all(in_font(c, MONO) for line in visible for c in line)     # twice as wide
    columns = COLUMNS // 2 if boxes else COLUMNS
    rows = [row for line in visible for row in textwrap.wrap(line, columns)]
    if len(rows) > LINES:
        rows[LINES - 1:] = [rows[LINES - 1][:columns - 1] + "…"]
    fig, (ax,) = figure(height=max(120, 30 + 18 * len(rows)), alt=(
        f"A message in place of the picture.\n{' '.join(visible)}"))
    fig.set_layout_engine("none")
    ax.set_position((0.02, 0, 0.96, 1))
    ax.axis("off")
    ax.text(0, 0.5, "\n".join(rows), va="center", family=MONO)
    return fig
