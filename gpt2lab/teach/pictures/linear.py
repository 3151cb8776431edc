"""Pictures of lesson 01: one buffer under many shapes, a picture's channels, the walk of the loops."""
import numpy as np
from matplotlib.collections import LineCollection

from gpt2lab.teach import plot

SHAPES = [(24,), (4, 6), (6, 4), (2, 3, 4), (4, 3, 2)]
TURNS = ["none", "swap the last two axes", "reverse all axes"]
ORDERS = ["i-j-k", "i-k-j", "i-j-k, B transposed"]
A = np.array([[1, 2, 3], [4, 5, 6]])                                                # (T, in)
B = np.array([[1, 2, 0, 1], [0, 1, 1, 2], [2, 0, 1, 1]])                            # (in, out)
TINT = {"plain": (0.95, 0.95, 0.95), "old": (1, 1, 1), "row": (0.65, 0.82, 0.93), "new": (0.99, 0.85, 0.73)}


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
    fig.alt = (f"One buffer of {numbers.size} numbers, read under the shapes {', '.join(map(str, shapes))}; "
               "the row with index 1 is marked and lies together in the buffer each time.")
    return fig


def turned(array, turn):
    """The array with its axes in another order: a view."""
    if turn == TURNS[2]:
        return array.T
    return array.swapaxes(-1, -2) if turn == TURNS[1] and array.ndim > 1 else array


@plot.styled
def strides(shape, turn=TURNS[0], row=0, copy=False):
    """A buffer of 24 numbers, an array over it, and the places that one row of the array touches."""
    buffer = np.arange(24, dtype=np.float32)
    array = turned(buffer.reshape(shape), turn)
    if copy:
        array = array.copy()
    own = array.reshape(-1) if copy else buffer                 # the memory that the array reads
    rows = array.reshape(-1, array.shape[-1])
    row %= len(rows)
    steps = tuple(s // array.itemsize for s in array.strides)
    places = row * array.shape[-1] + np.arange(array.shape[-1]) if copy else rows[row].astype(int)
    shared = np.shares_memory(array, buffer)
    fig = _sheet(bottom=5.9 + _height(array.shape))
    ax = fig.axes[0]
    ax.text(0, -0.3, "the buffer", va="bottom")
    _cells(ax, buffer[None], 0, 0, None if copy else places)
    ax.text(0, 2.5, "its copy, a second buffer" if copy else "no second buffer: this is a view", va="bottom")
    if copy:
        _cells(ax, own[None], 0, 2.8, places)
    ax.text(0, 5.1, f"shape {array.shape}   strides {steps}   row {row} of {len(rows)}", va="bottom")
    _blocks(ax, array, 0, 5.4, row)
    fig.drawn = {"array": array, "strides": np.array(steps), "places": places, "buffer": own}
    fig.alt = (f"Shape {array.shape} with strides {steps}: row {row} touches the places {', '.join(map(str, places))} of "
               f"{'the buffer; it is a view' if shared else 'a buffer of its own; it is a copy'}.")
    return fig


@plot.styled
def planes(picture):
    """A picture [H, W, 4] with values from 0 to 1, and its four channels as planes [4, H, W]."""
    fig, axes = plot.figure(5, height=150, drawn={"picture": picture, "planes": picture.transpose(2, 0, 1)}, alt=(
        f"A picture of shape {picture.shape}, and its four channels red, green, blue and alpha side by side; white is 1."))
    axes[0].imshow(picture)
    axes[0].set(title="[H, W, 4]", ylabel="row H", xlabel="column W")
    for c, (ax, name) in enumerate(zip(axes[1:], ("red", "green", "blue", "alpha"))):
        ax.imshow(picture[:, :, c], cmap="gray", vmin=0, vmax=1)
        ax.set(title=f"[{c}] {name}", xlabel="column W", yticks=[])
    return fig


def visits(order, T=2, size=3, out=4):
    """The (i, j, k) of each step of a matrix product, in the order of the loops."""
    if order == "i-k-j":
        return [(i, j, k) for i in range(T) for k in range(size) for j in range(out)]
    return [(i, j, k) for i in range(T) for j in range(out) for k in range(size)]


def positions(order):
    """The place in B's memory that each step reads. Transposed, B has a row for each column."""
    (size, out), steps = B.shape, visits(order)
    return np.array([j * size + k if order == ORDERS[2] else k * out + j for i, j, k in steps])


@plot.styled
def walk(order, step):
    """The loops of a matrix product after `step` steps: A, B, the sums so far, the way through B's memory."""
    steps, way = visits(order), positions(order)
    step = min(max(step, 1), len(steps))
    C = np.zeros((len(A), B.shape[1]), int)
    for i, j, k in steps[:step]:
        C[i, j] += A[i, k] * B[k, j]
    i, j, k = steps[step - 1]
    shown = B.T if order == ORDERS[2] else B
    fig = plot.Figure(figsize=(6.4, 4.1), dpi=plot.DPI)
    top, bottom = fig.add_axes((0.02, 0.56, 0.96, 0.43)), fig.add_axes((0.1, 0.13, 0.87, 0.35))
    _grid(top, (-0.4, 17.5), (4.4, -1.1))
    for left, name, array, mark in ((0, "A", A, (i, k)), (5, f"B{'ᵀ' if shown is not B else ''}", shown,
                                                          (j, k) if shown is not B else (k, j)), (11, "C so far", C, (i, j))):
        top.text(left, -0.2, name, va="bottom")
        _cells(top, array, left, 0, None, mark=mark)
    top.text(15.6, 1, f"i = {i}\nj = {j}\nk = {k}", va="center", linespacing=1.5)
    jumps = int((np.abs(np.diff(way[:step])) > 1).sum())
    bottom.plot(np.arange(1, step + 1), way[:step], color=plot.BLUE, marker="o", markersize=4)
    bottom.plot(step, way[step - 1], color=plot.VERMILLION, marker="s", markersize=8)
    bottom.set(xlim=(0, len(steps) + 1), ylim=(-0.8, B.size - 0.2), xlabel="step", ylabel="place in B's memory",
               title=f"{order}, step {step} of {len(steps)}, {_times(jumps)} so far")
    bottom.set_yticks(range(0, B.size, 2))
    fig.drawn = {"A": A, "B": shown, "C": C, "way": way[:step]}
    fig.alt = (f"Loop order {order}, step {step} of {len(steps)}: place {way[step - 1]} of B's memory is read, and the way "
               f"there has {_times(jumps)} to a place that is no neighbour.")
    return fig


@plot.styled
def walks():
    """The whole walk through B's memory in each of the three ways."""
    ways = {order: positions(order) for order in ORDERS}
    jumps = {order: _times((np.abs(np.diff(way)) > 1).sum()) for order, way in ways.items()}
    fig, axes = plot.figure(3, height=230, sharey=True, drawn=ways, alt=(
        "The way through B's memory: " + "; ".join(f"{order} has {n}" for order, n in jumps.items()) + "."))
    for ax, colour, marker, (order, way) in zip(axes, plot.COLOURS, plot.MARKERS, ways.items()):
        ax.plot(np.arange(1, len(way) + 1), way, color=colour, marker=marker, markersize=4, linewidth=1)
        ax.set(title=f"{order}\n{jumps[order]}", xlabel="step")
    axes[0].set_ylabel("place in B's memory")
    return fig


def _times(jumps):
    return f"{jumps} jump{'' if jumps == 1 else 's'}"


def _sheet(bottom):
    """A figure with one axes, 25 square cells wide, from the heading above row 0 down to `bottom`."""
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
        inside = row - n * len(block)
        places = inside * block.shape[1] + np.arange(block.shape[1]) if 0 <= inside < len(block) else None
        _cells(ax, block, left, top, places)
        left += block.shape[1] + 0.5
    return left - 0.5 - start


def _cells(ax, array, left, top, places, mark=None):
    """Numbers in a grid of cells; `places` are tinted and framed, the cell `mark` has a thick frame."""
    rows, columns = array.shape
    tints = np.full((rows * columns, 3), TINT["plain"])
    if places is not None:
        tints[places] = TINT["row"]
    if mark is not None:
        tints[mark[0] * columns + mark[1]] = TINT["new"]
    ax.imshow(tints.reshape(rows, columns, 3), extent=(left, left + columns, top + rows, top), aspect="auto",
              interpolation="nearest")
    lines = [[(left, top + r), (left + columns, top + r)] for r in range(rows + 1)]
    lines += [[(left + c, top), (left + c, top + rows)] for c in range(columns + 1)]
    ax.add_collection(LineCollection(lines, colors="0.6", linewidths=0.8), autolim=False)
    marked = [] if places is None else [divmod(int(p), columns) for p in places]
    marked += [] if mark is None else [mark]
    frames = [[(left + c, top + r), (left + c + 1, top + r), (left + c + 1, top + r + 1), (left + c, top + r + 1),
               (left + c, top + r)] for r, c in marked]
    ax.add_collection(LineCollection(frames, colors=plot.VERMILLION if mark else plot.BLUE, linewidths=2), autolim=False)
    for (r, c), value in np.ndenumerate(array):
        ax.text(left + c + 0.5, top + r + 0.5, f"{value:g}", ha="center", va="center")
