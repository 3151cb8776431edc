"""Pictures of lesson 08: bent lines, three curves, a unit's activations and what it pushes."""
import numpy as np

from gpt2lab.teach import plot, show


@plot.styled
def along(tokens, act, block, unit):
    """The activation (T,) of one unit at each token of a text."""
    best = np.argsort(-act, kind="stable")[:3]
    told = ", ".join(f"“{tokens[t]}” ({show.number(act[t], 1)})" for t in best)
    fig, (ax,) = plot.figure(height=300, drawn={"activation": act}, alt=(
        "The activation of one unit at each token of a text.\n"
        f"On {len(act)} tokens, unit {unit} of block {block} is most awake at {told}."))
    ax.bar(range(len(act)), act, color=plot.BLUE)
    ax.axhline(0, color="black", linewidth=0.8)
    ax.set_xticks(range(len(act)), tokens, rotation=90)
    ax.set(ylabel="activation of the unit", xlabel="token that was read last")
    return fig


@plot.styled
def bends(x, wanted, fits):
    """A bump (n,) at x (n,), and beside it how near some units come to it: {title: (n,)}."""
    gaps = {title: float(np.sqrt(((fit - wanted) ** 2).mean())) for title, fit in fits.items()}
    told = ", ".join(f"{title}: {gap:.2f}" for title, gap in gaps.items())
    drawn = {"bump": wanted, **fits}
    fig, axes = plot.figure(len(fits), height=230, sharey=True, drawn=drawn, alt=(
        "A bump, dashed, and in each panel the nearest line that some units draw.\n"
        f"Typical distance from the bump, {told}."))
    for ax, (title, fit) in zip(axes, fits.items()):
        ax.plot(x, wanted, color=plot.BLACK, linestyle="--", linewidth=1.2)
        ax.plot(x, fit, color=plot.BLUE, linewidth=2)
        ax.set(title=title, xlabel="x", xticks=[0, 0.5, 1])
    axes[0].set(ylabel="y")
    return fig


@plot.styled
def curves(x, values, point, at, slopes, factor):
    """Activations on one plot, {name: (n,)} at x (n,), and the difference of the two GELUs.

    point: a number that is marked; at: {name: a number} there; slopes: the same, how steep.
    factor: that of the cube.
    """
    gap = values["GELU with tanh"] - values["GELU with erf"]
    fig, axes = plot.figure(2, height=300, drawn={**values, "tanh minus erf": gap,
                                                  "at the point": list(at.values())}, alt=(
        f"Curves of {', '.join(values)}, and the difference of the two GELUs.\n"
        f"At x = {point:.2f}: ReLU {at['ReLU']:z.2f} with slope {slopes['ReLU']:z.2f}, GELU with "
        f"erf {at['GELU with erf']:z.4f} with slope {slopes['GELU with erf']:z.2f}. "
        f"With the factor {factor:.4f} the two differ by {np.abs(gap).max():.5f} at most."))
    looks = (("-", 1.5, 3, 1), ("-", 4, 1, 0.5), ("--", 1.5, 2, 1))
    for i, ((name, y), (dash, width, order, alpha)) in enumerate(zip(values.items(), looks)):
        axes[0].plot(x, y, color=plot.COLOURS[i], linestyle=dash, linewidth=width, label=name,
                     zorder=order, alpha=alpha)
        axes[0].plot(point, at[name], plot.MARKERS[i], color=plot.COLOURS[i], zorder=4)
    beside = -0.4 < point < 3                           # where the curve rises: no room below
    axes[0].annotate(f"{at['GELU with erf']:z.4f}", (point, at["GELU with erf"]),
                     xytext=(10, -9) if beside else (0, -9), textcoords="offset points",
                     ha="left" if beside else "center", va="top", color=plot.VERMILLION)
    axes[0].legend(frameon=False, loc="upper left")
    axes[0].set(xlabel="x", ylabel="activation", xlim=(-4, 4), ylim=(-0.8, 4))
    axes[1].plot(x, 1e4 * gap, color=plot.BLACK)
    axes[1].plot(point, 1e4 * (at["GELU with tanh"] - at["GELU with erf"]), "o", color=plot.BLACK)
    for ax in axes:
        ax.axhline(0, color="0.8", linewidth=0.8, zorder=0)
        ax.axvline(0, color="0.8", linewidth=0.8, zorder=0)
    axes[1].set(xlabel="x", ylabel="difference in ten-thousandths",
                title="GELU with tanh minus with erf")
    fig.few_colours = True
    return fig


@plot.styled
def units(*portraits):
    """Two panels a unit, one unit below the other; for each the named arguments of unit."""
    rows = max(len(portrait["places"]) for portrait in portraits)
    fig, _ = plot.figure(height=50 + len(portraits) * (62 + 23 * rows))
    fig.clear()
    panels = np.atleast_2d(fig.subplots(len(portraits), 2))
    fig.alt = "Some units: where each is most awake, and the words that it pushes up and down.\n"
    fig.alt += " ".join(_unit(fig, pair, **portrait) for pair, portrait in zip(panels, portraits))
    fig.few_colours = True
    return fig


@plot.styled
def unit(**portrait):
    """One unit: where it is most awake, and the words that it pushes up and down.

    block, unit: its numbers; places (n,) in words and activations (n,) there, where yours is true
    the last one from a text of your own; words (m,) and pushes (m,) on them, up first, then down.
    """
    fig, axes = plot.figure(2, height=360)
    fig.alt = ("One unit: where it is most awake, and the words that it pushes up and down.\n"
               f"{_unit(fig, axes, **portrait)}")
    fig.few_colours = True
    return fig


def _unit(fig, axes, block, unit, places, activations, yours, words, pushes):
    """Two panels for one unit; fills fig.drawn and gives the sentence."""
    key = f"block {block}, unit {unit}"
    fig.drawn |= {f"{key} activations": activations, f"{key} pushes": pushes}
    colours = [plot.BLUE] * (len(places) - yours) + [plot.GREEN] * yours
    _bars(axes[0], places, activations, colours)
    axes[0].set(title=f"{key}: wakes at", xlabel="activation")
    shown = [word if len(word) < 16 else word[:14] + "…" for word in words]
    _bars(axes[1], shown, pushes, [plot.BLUE if value > 0 else plot.VERMILLION for value in pushes])
    up = len(words) - round(0.4 * len(words))
    axes[1].axhline(up - 0.5, color="0.6", linewidth=0.8, linestyle=":")
    axes[1].set(title="pushes up and down", xlabel="push on the logit")
    for ax in axes:
        if ax.get_subplotspec().rowspan.stop < ax.get_gridspec().nrows:
            ax.set_xlabel("")
    own = places[-1].removeprefix("yours: ")
    own = f", in your text at “{own}” ({show.number(activations[-1], 1)})" if yours else ""
    return (f"Unit {unit} of block {block} is most awake at “{places[0]}” "
            f"({show.number(activations[0], 1)}){own}; it pushes “{words[0]}” up most and "
            f"“{words[-1]}” down most.")


def _bars(ax, labels, values, colours):
    """Bars with the value at the end; those below 0 and those of your own text are hatched."""
    ax.barh(range(len(labels)), values, color=colours, edgecolor="white",
            hatch=["" if colour == plot.BLUE else "//" for colour in colours])
    low, high = min(*values, 0), max(*values, 0)
    span = high - low or 1
    for place, value in enumerate(values):
        ax.text(max(value, 0) + 0.02 * span, place, f"{value:z.1f}", va="center")
    ax.set_yticks(range(len(labels)), [str(label) for label in labels])
    ax.set(ylim=(len(labels) - 0.4, -0.6), xticks=[0], xlim=(low - 0.02 * span, high + 0.28 * span))
    ax.tick_params(axis="y", length=0)
