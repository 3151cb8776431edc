"""Pictures of lesson 01: one buffer under many shapes, a picture's channels, the loops' walk."""
import numpy as np
from matplotlib.collections import LineCollection

from gpt2lab.teach import plot

TINT = {"plain": (0.95, 0.95, 0.95), "row": (0.65, 0.82, 0.93), "new": (0.99, 0.85, 0.73)}


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
def walk(order, a, b, sums, steps, places):
    """The loops of a matrix product so far: A, B, the sums, the way through B's memory.

    a (T, in), b (in, out) as it lies in memory (transposed it is (out, in)), sums (T, out); steps:
    the (i, j, k) of all steps; places: where in b's memory each step so far has read.
    """
    turned = "transposed" in order
    i, j, k = steps[len(places) - 1]
    fig = plot.Figure(figsize=(6.4, 4.1), dpi=plot.DPI)
    top = fig.add_axes((0.02, 0.56, 0.96, 0.43))
    bottom = fig.add_axes((0.1, 0.13, 0.87, 0.35))
    _grid(top, (-0.4, 17.5), (4.4, -1.1))
    for left, name, array, mark in ((0, "A", a, (i, k)),
                                    (5, "Bᵀ" if turned else "B", b, (j, k) if turned else (k, j)),
                                    (11, "C so far", sums, (i, j))):
        top.text(left, -0.2, name, va="bottom")
        _cells(top, array, left, 0, None, mark=mark)
    top.text(15.6, 1, f"i = {i}\nj = {j}\nk = {k}", va="center", linespacing=1.5)
    bottom.plot(np.arange(1, len(places) + 1), places, color=plot.BLUE, marker="o", markersize=4)
    bottom.plot(len(places), places[-1], color=plot.VERMILLION, marker="s", markersize=8)
    where, jumps = f"step {len(places)} of {len(steps)}", _jumps(places)
    bottom.set(xlim=(0, len(steps) + 1), ylim=(-0.8, b.size - 0.2), xlabel="step",
               ylabel="place in B's memory", title=f"{order}, {where}, {jumps} so far")
    bottom.set_yticks(range(0, b.size, 2))
    fig.drawn = {"A": a, "B": b, "C": sums, "way": np.asarray(places)}
    fig.alt = ("The loops of a matrix product so far, and their way through B's memory.\n"
               f"Loop order {order}, {where}: place {places[-1]} of B's memory is read, and the "
               f"way there has {jumps} to a place that is no neighbour.")
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
