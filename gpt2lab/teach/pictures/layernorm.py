"""Pictures of lesson 05: the size of the stream, gaps between numbers, gain and bias, one row."""
import math

from gpt2lab.teach import plot


@plot.styled
def stream_sizes(sizes):
    """Size of the stream after the embedding and after each block, {label: (L + 1,)}."""
    ends = ", ".join(f"near {float(f'{values[-1]:.1g}'):,.0f} {label}"
                     for label, values in sizes.items())
    fig = plot.lines(sizes, "stream after so many blocks (0: the embedding)",
                     "size of the stream (RMS, log scale)", log=True, alt=(
                         f"Size of the stream after each block, {' and '.join(sizes)}.\n"
                         f"It ends {ends}."))
    fig.axes[0].set_xticks(range(len(next(iter(sizes.values())))))
    return fig


@plot.styled
def new_models(runs):
    """Stream and nudge in new models, {(spread, "with norm" or "without"): two rows (L + 1,)}."""
    spreads = sorted({spread for spread, _ in runs})
    ends = "; ".join(f"with numbers of about {spread:g} the stream ends at {_short(sizes[-1])} and "
                     f"the nudge at {_short(nudges[-1])} {how}"
                     for (spread, how), (sizes, nudges) in runs.items())
    fig, axes = plot.figure(2, height=360, drawn={
        f"{what}, {spread:g} {how}": row for (spread, how), rows in runs.items()
        for what, row in zip(("size", "nudge"), rows)}, alt=(
            "A new model of many blocks: the size of its stream, and how far a nudge grows.\n"
            f"{ends[0].upper()}{ends[1:]}."))
    for (spread, how), rows in runs.items():
        k = how != "with norm"
        for ax, row in zip(axes, rows):
            ax.plot(range(len(row)), row, color=plot.COLOURS[k], label=f"{spread:g}, {how}",
                    linestyle=plot.DASHES[spreads.index(spread)],
                    marker=plot.MARKERS[k], markevery=4, markersize=4)
    for ax, title in zip(axes, ("size of the stream", "growth of a nudge at the start")):
        ax.set(title=title, xlabel="stream after so many blocks", yscale="log")
        ax.yaxis.set_major_formatter("{x:g}")
    axes[0].set_ylabel("RMS (log scale)")
    axes[1].set_ylabel("times (log scale)")
    fig.legend(*axes[0].get_legend_handles_labels(), loc="outside upper center", frameon=False,
               ncols=2, title="size of the first numbers, and norm")
    return fig


def _short(value):
    return f"{float(f'{value:.1g}'):,g}" if value < 1e6 else f"1e{math.log10(value):.0f}"


def gaps(x, series):
    """Distance from each number x (n,) to the next one, {kind of number: (n,)}."""
    told = ", ".join(f"from {gap[0]:.3g} to {gap[-1]:.3g} for {kind}"
                     for kind, gap in series.items())
    return plot.lines(series, "number x (log scale)", "gap to the next (log scale)", x=x, log=True,
                      logx=True, alt=(
                          "The gap from each number to its next neighbour, a line for each type.\n"
                          f"It grows in steps with the number: between x = {x[0]:g} and "
                          f"{x[-1]:g} {told}."))


@plot.styled
def affine(shapes):
    """Rows as points of a plane, {what was done to them: (n, 2)}."""
    fig, axes = plot.figure(3, height=250, drawn=shapes, sharex=True, sharey=True, alt=(
        "A circle of rows: as it is, after gain and bias, and after a layer behind them.\n"
        "Gain and bias stretch it along the axes and shift it; the layer's full matrix tilts it "
        "too."))
    for ax, (title, xy), colour, marker in zip(axes, shapes.items(), plot.COLOURS, plot.MARKERS):
        ax.plot(xy[:, 0], xy[:, 1], color=colour, marker=marker, markevery=6, markersize=4)
        ax.axhline(0, color="0.8", linewidth=0.8, zorder=0)
        ax.axvline(0, color="0.8", linewidth=0.8, zorder=0)
        ax.set(title=title, xlabel="column 0", aspect="equal")
    axes[0].set_ylabel("column 1")
    return fig


@plot.styled
def one_row(before, after, settings):
    """A row (D,) before and after layer_norm; settings: words for the sentence."""
    fig, axes = plot.figure(2, height=290, drawn={"before": before, "after": after}, alt=(
        "One row before layer_norm and after it.\n"
        f"A row with {_size(before)} comes out with {_size(after)} ({settings}). Dashed: the mean; "
        "grey: one deviation to each side."))
    _row(axes[0], before, "before", plot.BLUE)
    _row(axes[1], after, "after", plot.GREEN)
    axes[0].set_ylabel("number")
    axes[1].set_ylim(min(axes[1].get_ylim()[0], -2), max(axes[1].get_ylim()[1], 2))
    return fig


@plot.styled
def settings(rows):
    """A row after layer_norm, {(gain, bias, epsilon): (D,)}."""
    names = [f"gain {gain:g}, bias {bias:g}, epsilon {epsilon:g}" for gain, bias, epsilon in rows]
    drawn = dict(zip(names, rows.values()))
    given = "; with ".join(f"{name} it has {_size(row)}" for name, row in drawn.items())
    fig, axes = plot.figure(len(rows), height=310, sharey=True, drawn=drawn, alt=(
        "The same row after layer_norm, a panel for each setting.\nDashed: the mean; grey: one "
        f"deviation to each side. With {given}."))
    for ax, name, row in zip(axes, names, rows.values()):
        _row(ax, row, name.replace(", epsilon", "\nepsilon"), plot.GREEN)
    axes[0].set_ylabel("number")
    return fig


def _size(row):
    return f"mean {row.mean():z.2f}, deviation {row.std():z.2f}"


def _row(ax, row, title, colour):
    """Bars of a row, its mean as a dashed line, mean plus and minus deviation as a grey band."""
    mean, deviation = row.mean(), row.std()
    hatch = "//" if colour == plot.GREEN else None
    ax.bar(range(len(row)), row, color=colour, hatch=hatch, edgecolor="white")
    ax.axhspan(mean - deviation, mean + deviation, color="0.9", zorder=0)
    ax.axhline(mean, color="black", linestyle="--", linewidth=1)
    ax.set(title=f"{title}\nmean {mean:z.2f}\ndeviation {deviation:z.2f}", xlabel="column",
           xticks=range(0, len(row), 2))
