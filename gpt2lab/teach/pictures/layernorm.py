"""Pictures of lesson 05: the size of the stream, gaps between numbers, gain and bias, one row."""
import numpy as np

from gpt2lab.layernorm import layer_norm
from gpt2lab.teach import plot


def rms(array):
    """Root of the mean of the squares: the size of an array as one number."""
    return float(np.sqrt((array.astype(np.float64) ** 2).mean()))


def stream_sizes(traces):
    """Size of the stream after the embedding and after each block, {label: trace}."""
    sizes = {label: [rms(array) for name, array in trace.items() if name == "embed" or name.endswith("resid_post")]
             for label, trace in traces.items()}
    ends = ", ".join(f"{label} it ends near {float(f'{values[-1]:.1g}'):,.0f}" for label, values in sizes.items())
    fig = plot.lines(sizes, "block (0: after the embedding)", "size of the stream (RMS, log scale)", log=True,
                     alt=f"Size of the stream after each block: {ends}.")
    fig.axes[0].set_xticks(range(len(next(iter(sizes.values())))))
    return fig


def gaps():
    """Distance from a number to the next one, for float32 and float16."""
    x = 2.0 ** np.arange(0, 15.01, 0.125)
    series = {"float16": np.spacing(x.astype(np.float16)).astype(float), "float32": np.spacing(x.astype(np.float32)).astype(float)}
    fig = plot.lines(series, "number x (log scale)", "gap to the next (log scale)", x=x, log=True, logx=True,
                     alt="The gap between neighbouring numbers grows in steps with the number, for float16 and for float32.")
    return fig


@plot.styled
def affine(gain, bias, matrix):
    """A circle of points: as it is, after gain and bias, after a full matrix."""
    angle = np.linspace(0, 2 * np.pi, 49)
    circle = np.stack([np.cos(angle), np.sin(angle)], axis=-1)                      # (49, 2)
    shapes = {"rows x": circle, "x · gain + bias": circle * gain + bias, "x W + bias": circle @ matrix + bias}
    fig, axes = plot.figure(3, height=250, drawn=shapes, sharex=True, sharey=True, alt=(
        "A circle of rows; gain and bias stretch it along the axes and shift it; a full matrix also tilts it."))
    for ax, (title, xy), colour, marker in zip(axes, shapes.items(), plot.COLOURS, plot.MARKERS):
        ax.plot(xy[:, 0], xy[:, 1], color=colour, marker=marker, markevery=6, markersize=4)
        ax.axhline(0, color="0.8", linewidth=0.8, zorder=0)
        ax.axvline(0, color="0.8", linewidth=0.8, zorder=0)
        ax.set(title=title, xlabel="column 0", aspect="equal")
    axes[0].set_ylabel("column 1")
    return fig


@plot.styled
def one_row(x, gain=1.0, bias=0.0, epsilon=1e-5):
    """A row before and after layer_norm with the same gain and bias in all columns."""
    normed = layer_norm(x, np.full_like(x, gain), np.full_like(x, bias), epsilon)
    fig, axes = plot.figure(2, height=290, drawn={"before": x, "after": normed}, alt=(
        f"A row with mean {x.mean():z.2f} and deviation {x.std():z.2f} comes out with mean {normed.mean():z.2f} "
        f"and deviation {normed.std():z.2f} (gain {gain:g}, bias {bias:g}, epsilon {epsilon:.0e})."))
    _row(axes[0], x, "before", plot.BLUE)
    _row(axes[1], normed, "after", plot.GREEN)
    axes[0].set_ylabel("number")
    axes[1].set_ylim(min(axes[1].get_ylim()[0], -2), max(axes[1].get_ylim()[1], 2))
    return fig


@plot.styled
def settings(x, *choices):
    """A row after layer_norm, once for each (gain, bias, epsilon)."""
    rows = [layer_norm(x, np.full_like(x, gain), np.full_like(x, bias), epsilon) for gain, bias, epsilon in choices]
    fig, axes = plot.figure(len(choices), height=310, sharey=True, drawn=dict(zip(map(str, choices), rows)), alt=(
        "The same row after three settings: " + "; ".join(
            f"gain {gain:g}, bias {bias:g}, epsilon {epsilon:g} gives mean {row.mean():z.2f}, deviation {row.std():z.2f}"
            for (gain, bias, epsilon), row in zip(choices, rows)) + "."))
    for ax, (gain, bias, epsilon), row in zip(axes, choices, rows):
        _row(ax, row, f"gain {gain:g}, bias {bias:g}\nepsilon {epsilon:g}", plot.GREEN)
    axes[0].set_ylabel("number")
    return fig


def _row(ax, row, title, colour):
    """Bars of a row, its mean as a dashed line, mean plus and minus deviation as a grey band."""
    mean, deviation = row.mean(), row.std()
    ax.bar(range(len(row)), row, color=colour, hatch="//" if colour == plot.GREEN else None, edgecolor="white")
    ax.axhspan(mean - deviation, mean + deviation, color="0.9", zorder=0)
    ax.axhline(mean, color="black", linestyle="--", linewidth=1)
    ax.set(title=f"{title}\nmean {mean:z.2f}\ndeviation {deviation:z.2f}", xlabel="column",
           xticks=range(0, len(row), 2))
