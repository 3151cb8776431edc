"""Pictures of lesson 01: a line that learns, a layer as a network, one buffer under many shapes."""
import textwrap

import numpy as np
from matplotlib.collections import LineCollection

from gpt2lab.teach import plot, show

TINT = {"plain": (0.95, 0.95, 0.95), "row": (0.65, 0.82, 0.93), "new": (0.99, 0.85, 0.73)}


@plot.styled
def line(x, y, k, b):
    """Points and one line, its errors as strokes; beside it their squares and the mean."""
    errors = k * x + b - y
    squares = errors ** 2
    loss = squares.mean()
    fig, (left, right) = plot.figure(2, height=280, width_ratios=(3, 2), alt=(
        "Four orders as points, and a line; the strokes are its errors. Beside it, their squares.\n"
        f"y = {_line(k, b)}: the loss, the mean of the squares, is {loss:.2f}."))
    fig.drawn = {"points": np.array([x, y]), "errors": errors, "squares": squares}
    _points(left, x, y, k, b)
    left.set_title(f"y = {_line(k, b)}")
    right.bar(x, squares, color=plot.VERMILLION, width=0.6)
    right.axhline(loss, color=plot.BLACK, linestyle="--")
    right.annotate("mean", (x[-1] + 1.3, loss), xytext=(0, 3), textcoords="offset points",
                   ha="right")
    right.set(xlabel="cakes x", ylabel="error, squared", xticks=x, title=f"loss {loss:.2f}",
              xlim=(x[0] - 0.6, x[-1] + 1.3), ylim=(0, max(5, 1.1 * squares.max())))
    return fig


@plot.styled
def learning(x, y, path, step, rate):
    """Points and the line of one step, the first one dotted; beside it the loss of all steps.

    path: (steps, 3): k, b and the loss before each step.
    """
    path = np.asarray(path, dtype=float)
    k, b, loss = path[step]
    fig, (left, right) = plot.figure(2, height=290, alt=(
        "Four orders and the line of one step, the first line dotted; beside it the loss, step by "
        f"step.\nAt step {step}, with the rate {rate:g}: y = {_line(k, b)}, loss {_big(loss)}."))
    fig.drawn = {"points": np.array([x, y]), "path": path}
    _points(left, x, y, k, b, first=path[0])
    left.set_title(f"step {step}: y = {_line(k, b)}")
    _named(left, x, (k, b), path[0])
    right.plot(path[:, 2], color=plot.BLUE, linestyle=":")
    right.plot(path[:step + 1, 2], color=plot.BLUE)
    right.plot([step], [loss], "o", color=plot.VERMILLION, markersize=8, clip_on=False, zorder=3)
    top = max(TOP, 1.1 * path[:step + 1, 2].max())      # grows, so the dot stays on its curve
    right.set(xlabel="step", ylabel="loss", ylim=(0, top), title=f"loss {_big(loss)}")
    right.yaxis.set_major_formatter(lambda at, _: f"{at:g}" if at < 10_000 else f"{at:.1e}")
    return fig


TOP = 30                # of the axis of the loss, or more
SEEN = -5, 13           # minutes that the axis shows


def _named(ax, x, now, first):
    """Names the line of this step and the first one, where they are far enough from each other."""
    ends = x[0] + 0.5, x[-1] - 0.5
    at = max(ends, key=lambda at: abs((now[0] - first[0]) * at + now[1] - first[1]))
    here, there = now[0] * at + now[1], first[0] * at + first[1]
    if not any(SEEN[0] < now[0] * end + now[1] < SEEN[1] for end in np.linspace(x[0], x[-1], 50)):
        ax.text(x.mean(), SEEN[1] - 1, "the line has left the picture", ha="center", va="top")
    elif abs(here - there) > 2:
        for height, name, colour in ((here, "now", plot.BLUE), (there, "step 0", "0.4")):
            if SEEN[0] + 1.5 < height < SEEN[1] - 1.5:
                above = height == max(here, there)
                ax.annotate(name, (at, height), xytext=(0, 5 if above else -5), color=colour,
                            textcoords="offset points", ha="center",
                            va="bottom" if above else "top")


def _points(ax, x, y, k, b, first=None):
    """Points, a line, and its errors; the first line (k, b) is dotted."""
    ends = np.array([x[0] - 0.3, x[-1] + 0.3])
    if first is not None:
        ax.plot(ends, first[0] * ends + first[1], color="0.5", linestyle=":")
    for at, come in zip(x, y):
        ax.plot([at, at], [come, k * at + b], color=plot.VERMILLION, linewidth=2.5)
    ax.plot(ends, k * ends + b, color=plot.BLUE)
    ax.plot(x, y, "o", color=plot.BLACK)
    ax.set(xlabel="cakes x", ylabel="minutes y", xticks=x, xlim=ends, ylim=SEEN)


def _line(k, b):
    """The right side of y = k x + b."""
    return f"{_big(k)} x {'-' if b < 0 else '+'} {_big(abs(b))}"


def _big(value):
    """Two decimals, or powers of ten where a number has flown off."""
    return f"{value:z.2f}" if abs(value) < 1000 else f"{value:.0e}"


@plot.styled
def network(w, b, inputs, outputs, edge):
    """A layer as nodes and edges, and as a matrix (in, out); one weight is marked in both.

    edge: the names of the input and the output whose weight is marked.
    """
    i, j = inputs.index(edge[0]), outputs.index(edge[1])
    fig = plot.Figure(figsize=(6.4, 2.9), dpi=plot.DPI)
    net, table = fig.add_axes((0, 0, 0.56, 1)), fig.add_axes((0.6, 0, 0.4, 1))
    high = len(outputs) - 1
    left = [high / 2 + (len(inputs) - 1) / 2 - n for n in range(len(inputs))]
    _grid(net, (-0.42, 1.48), (-0.75, high + 0.75))
    for a in range(len(inputs)):
        for c in range(len(outputs)):
            marked, right = (a, c) == (i, j), high - c
            net.plot([0, 1], [left[a], right], color=plot.VERMILLION if marked else "0.6",
                     linewidth=3 if marked else 1, zorder=2 if marked else 1)
            net.text(0.72, left[a] + 0.72 * (right - left[a]), f"{w[a, c]:g}", ha="center",
                     va="center", zorder=4, weight="bold" if marked else "normal",
                     bbox={"facecolor": "white", "edgecolor": "none", "pad": 1.5})
    for a, name in enumerate(inputs):
        net.plot(0, left[a], "o", color=plot.BLUE, markersize=16, zorder=3)
        net.text(-0.09, left[a], name, ha="right", va="center")
    for c, name in enumerate(outputs):
        net.plot(1, high - c, "o", color="white", markeredgecolor=plot.BLACK, markersize=24,
                 zorder=3)
        net.text(1, high - c, f"+{b[c]:g}", ha="center", va="center", zorder=4)
        net.text(1.12, high - c, name, va="center")
    _grid(table, (-1.4, len(outputs) + 0.2), (len(inputs) + 2.6, -1.4))
    for top, name, array, mark in ((0, "W", w, (i, j)), (len(inputs) + 0.8, "b", b[None], None)):
        table.text(-0.15, top - 0.2, name, ha="right", va="bottom", weight="bold")
        _cells(table, array, 0, top, None, mark=mark)
    for a, name in enumerate(inputs):
        table.text(-0.15, a + 0.5, name, ha="right", va="center")
    for c, name in enumerate(outputs):
        table.text(c + 0.5, -0.2, name, ha="center", va="bottom")
    fig.drawn = {"W": w, "b": b}
    fig.alt = ("A layer as nodes and edges, and beside it the same numbers as a matrix.\n"
               f"The edge from {inputs[i]} to {outputs[j]}, {w[i, j]:g}, is row {i}, column {j} of "
               "W; the biases stand in the nodes of the outputs.")
    return fig


@plot.styled
def next_words(words, scores, text, more, changed):
    """The scores of the next words, highest first; above them what was changed, and the text.

    text: as far as it was given; more: what the model goes on.
    """
    more = " ".join(more.split())
    fig = plot.bars([show.short(word, 14) for word in words], scores, "score", "", height=300, alt=(
        "The words that the model finds likeliest next, with their scores; above them its text.\n"
        f"{changed}. It goes on: \"{more}\"."))
    fig.axes[0].patches[0].set_color(plot.VERMILLION)
    story = textwrap.wrap(f"{text} {more}", 75)[:2]
    fig.axes[0].set_title("\n".join([changed, *story]), loc="left", x=-0.1)
    return fig


@plot.styled
def shapes(numbers, *shapes):
    """A flat buffer, and below it the same numbers under each shape; row 1 is marked."""
    fig = _sheet(bottom=3.4 + max(map(_height, shapes)))
    ax = fig.axes[0]
    _cells(ax, numbers[None], 0, 0, None)
    ax.text(0, -0.3, "the buffer", va="bottom")
    left = 0
    for shape in shapes:
        array = numbers.reshape(shape)
        ax.text(left, 2.6, f"shape {shape}", va="bottom")
        left += _blocks(ax, array, left, 2.9, row=1) + 1
    fig.drawn = {str(shape): numbers.reshape(shape) for shape in shapes}
    fig.alt = ("One buffer, and its numbers read under several shapes; one row is marked.\n"
               f"{numbers.size} numbers under the shapes {', '.join(map(str, shapes))}: the row "
               "with index 1 lies together in the buffer each time.")
    return fig


@plot.styled
def strides(buffer, array, row=0):
    """A buffer (24,), an array over it or over a copy, and the places that one of its rows touches.

    The numbers of the buffer are their places in it: 0, 1, 2, ...
    """
    copy = not np.shares_memory(array, buffer)
    own = array.reshape(-1) if copy else buffer                 # the memory that the array reads
    rows = array.reshape(-1, array.shape[-1])
    row %= len(rows)
    steps = tuple(stride // array.itemsize for stride in array.strides)
    first = row * array.shape[-1]
    places = np.arange(first, first + array.shape[-1]) if copy else rows[row].astype(int)
    fig = _sheet(bottom=5.9 + _height(array.shape))
    ax = fig.axes[0]
    ax.text(0, -0.3, "the buffer", va="bottom")
    _cells(ax, buffer[None], 0, 0, None if copy else places)
    second = "its copy, a second buffer" if copy else "no second buffer: this is a view"
    ax.text(0, 2.5, second, va="bottom")
    if copy:
        _cells(ax, own[None], 0, 2.8, places)
    words = f"shape {array.shape}   strides {steps}   row {row} of {len(rows)}"
    ax.text(0, 5.1, words, va="bottom")
    _blocks(ax, array, 0, 5.4, row)
    fig.drawn = {"array": array, "strides": np.array(steps), "places": places, "buffer": own}
    whose = "a buffer of its own; it is a copy" if copy else "the buffer; it is a view"
    fig.alt = ("A buffer, an array over it or over its copy, and the places that one row touches.\n"
               f"Shape {array.shape} with strides {steps}: row {row} touches the places "
               f"{', '.join(map(str, places))} of {whose}.")
    return fig


@plot.styled
def planes(picture):
    """A picture [H, W, 4] with values from 0 to 1, and its four channels as planes [4, H, W]."""
    drawn = {"picture": picture, "planes": picture.transpose(2, 0, 1)}
    fig, axes = plot.figure(5, height=150, drawn=drawn, alt=(
        "A picture, and its four channels side by side as planes.\n"
        f"The picture has shape {picture.shape}; its channels are red, green, blue and alpha; "
        "white is 1."))
    axes[0].imshow(picture)
    axes[0].set(title="[H, W, 4]", ylabel="row H", xlabel="column W")
    for c, (ax, name) in enumerate(zip(axes[1:], ("red", "green", "blue", "alpha"))):
        ax.imshow(picture[:, :, c], cmap="gray", vmin=0, vmax=1)
        ax.set(title=f"[{c}] {name}", xlabel="column W", yticks=[])
    return fig


@plot.styled
def walks(ways):
    """The whole walk through B's memory, {order of the loops: places}."""
    jumps = {order: _jumps(places) for order, places in ways.items()}
    told = "; ".join(f"{order} has {count}" for order, count in jumps.items())
    fig, axes = plot.figure(len(ways), height=230, sharey=True, drawn=ways, alt=(
        f"The way through B's memory, a panel for each order of the loops.\n{told}."))
    for ax, colour, marker, (order, places) in zip(axes, plot.COLOURS, plot.MARKERS, ways.items()):
        steps = np.arange(1, len(places) + 1)
        ax.plot(steps, places, color=colour, marker=marker, markersize=4, linewidth=1)
        ax.set(title=f"{order}\n{jumps[order]}", xlabel="step")
    axes[0].set_ylabel("place in B's memory")
    return fig


def _jumps(places):
    """How often the way goes to a place that is no neighbour, in words."""
    count = int((np.abs(np.diff(places)) > 1).sum())
    return f"{count} jump{'' if count == 1 else 's'}"


def _sheet(bottom):
    """A figure with one axes, 25 square cells wide, from the heading above row 0 to `bottom`."""
    fig = plot.Figure(figsize=(6.4, 6.4 / 25 * (bottom + 1.2)), dpi=plot.DPI)
    _grid(fig.add_axes((0, 0, 1, 1)), (-0.5, 24.5), (bottom, -1.2))
    return fig


def _grid(ax, xlim, ylim):
    ax.set(xlim=xlim, ylim=ylim)
    ax.axis("off")


def _height(shape):
    """Rows of a block."""
    return shape[-2] if len(shape) > 1 else 1


def _blocks(ax, array, left, top, row):
    """An array as blocks of rows and columns side by side; gives their width."""
    blocks, start = array.reshape(-1, _height(array.shape), array.shape[-1]), left
    for n, block in enumerate(blocks):
        inside, size = row - n * len(block), block.shape[1]
        marked = 0 <= inside < len(block)
        _cells(ax, block, left, top, inside * size + np.arange(size) if marked else None)
        left += size + 0.5
    return left - 0.5 - start


def _cells(ax, array, left, top, places, mark=None):
    """Numbers in a grid of cells; `places` are tinted and framed, so is the cell `mark`."""
    rows, columns = array.shape
    tints = np.full((rows * columns, 3), TINT["plain"])
    if places is not None:
        tints[places] = TINT["row"]
    if mark is not None:
        tints[mark[0] * columns + mark[1]] = TINT["new"]
    ax.imshow(tints.reshape(rows, columns, 3), aspect="auto", interpolation="nearest",
              extent=(left, left + columns, top + rows, top))
    lines = [[(left, top + r), (left + columns, top + r)] for r in range(rows + 1)]
    lines += [[(left + c, top), (left + c, top + rows)] for c in range(columns + 1)]
    ax.add_collection(LineCollection(lines, colors="0.6", linewidths=0.8), autolim=False)
    marked = [] if places is None else [divmod(int(p), columns) for p in places]
    marked += [] if mark is None else [mark]
    corners = np.array([(0, 0), (1, 0), (1, 1), (0, 1), (0, 0)])
    frames = [corners + (left + c, top + r) for r, c in marked]
    colour = plot.VERMILLION if mark else plot.BLUE
    ax.add_collection(LineCollection(frames, colors=colour, linewidths=2), autolim=False)
    for (r, c), value in np.ndenumerate(array):
        ax.text(left + c + 0.5, top + r + 0.5, f"{value:g}", ha="center", va="center")
