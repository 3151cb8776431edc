"""Pictures of the bonus lesson on the memory wall: work and bytes, the roofline, few bits."""
import numpy as np

from gpt2lab.teach import plot, show


@plot.styled
def intensities(new, series):
    """Operations for each byte over the tokens of a pass: new (n,), {label: (n,)}."""
    ends = "; ".join(f"{label}: {values[0]:.1f} with 1, {values[-1]:.0f} with {new[-1]}"
                     for label, values in series.items())
    fig = plot.lines(
        series, "new tokens in one pass T (log scale)", "operations for each byte (log scale)",
        x=new, log=True, logx=True, at_end=False, height=340,
        alt=f"Operations for each byte that is read, over the tokens of a pass.\n{ends}.")
    fig.axes[0].set_yticks([0.5, 1, 2, 5, 10, 20, 50, 100])
    fig.axes[0].minorticks_off()
    return fig


@plot.styled
def roofline(bandwidth, rate, points):
    """The lower of two roofs, rate and bandwidth x intensity, and what was measured.

    points: {label: (operations for each byte, operations a second)}
    """
    x = 2.0 ** np.arange(-3, 10.01, 0.125)
    roof = np.minimum(rate, bandwidth * x)
    fig, (ax,) = plot.figure(height=360)
    fig.drawn = {"x": x, "roof": roof, "points": np.array(list(points.values()))}
    measured = "; ".join(f"{label} at {a:.1f}: {b / min(rate, bandwidth * a):.0%} of its roof"
                         for label, (a, b) in points.items())
    fig.alt = ("Roofline: operations a second over operations for each byte, and what was "
               "measured.\n"
               f"{bandwidth / 1e9:.1f} GB a second, {rate / 1e9:.0f} billion operations "
               f"a second, so the roofs meet at {rate / bandwidth:.1f} operations for each byte. "
               f"{measured}.")
    ax.plot(x, roof / 1e9, color="black", label="roof")
    ax.axvline(rate / bandwidth, color="0.6", linestyle=":", linewidth=1,
               label="where the roofs meet")
    for i, (label, (intensity, speed)) in enumerate(points.items()):
        ax.plot(intensity, speed / 1e9, plot.MARKERS[i % 5], color=plot.COLOURS[i % 5],
                label=label, linestyle="none")
    ax.set(xscale="log", yscale="log", xlabel="operations for each byte (log scale)",
           ylabel="10⁹ operations a second (log scale)")
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_formatter("{x:g}")
        axis.set_minor_formatter("")
    low, high = ax.get_ylim()
    ticks = np.outer(10.0 ** np.arange(-3, 6), [1, 2, 5]).ravel()
    ax.set_yticks(ticks[(low <= ticks) & (ticks <= high)])
    ax.legend(frameon=False, loc="lower right")
    return fig


@plot.styled
def steps(column, rounded):
    """The weights of one column (in,) before and after rounding, {number of bits: (in,)}."""
    fig, axes = plot.figure(len(rounded), height=280, sharey=True)
    fig.drawn = {str(bits): after for bits, after in rounded.items()}
    fig.alt = "The same weights before and after rounding, a panel for each number of bits.\n"
    fig.alt += "; ".join(
        f"{bits} bits leave {2 ** bits - 1} levels, "
        f"mean error {show.number(np.abs(after - column).mean())}"
        for bits, after in rounded.items()) + "."
    for ax, (bits, after) in zip(axes, rounded.items()):
        _levels(ax, column, bits, "column")
        ax.plot(column, after, plot.MARKERS[0], color=plot.VERMILLION, markersize=4)
        ax.set(title=f"{bits} bits, {2 ** bits - 1} levels", xlabel="weight before")
    axes[0].set_ylabel("weight after")
    return fig


def _levels(ax, column, bits, shared):
    """A faint line for each level, where they can be told apart, and the diagonal of no error."""
    limit, most = np.abs(column).max(), 2 ** (bits - 1) - 1
    if bits <= 5 and shared == "column":
        for level in range(-most, most + 1):
            ax.axhline(level * limit / most, color="0.85", linewidth=0.7, zorder=0)
    ax.plot([-limit, limit], [-limit, limit], color="0.6", linewidth=0.8, linestyle="--", zorder=1)


@plot.styled
def losses(kinds, bits, perplexities):
    """Perplexity over the stored bits of a weight; kinds (n,) are the labels."""
    fig, (ax,) = plot.figure(height=300)
    fig.drawn = {"bits": np.array(bits), "perplexity": np.array(perplexities)}
    fig.alt = "Perplexity over the stored bits of a weight, a point for each type.\n"
    fig.alt += "With the scales, " + "; ".join(
        f"{kind} {b:.1f} bits, {show.number(p, 0)}"
        for kind, b, p in zip(kinds, bits, perplexities)) + "."
    ax.plot(bits, perplexities, color=plot.BLUE, marker=plot.MARKERS[0])
    for kind, b, p in zip(kinds, bits, perplexities):
        ax.annotate(kind, (b, p), xytext=(4, 7), textcoords="offset points")
    ax.set(xscale="log", yscale="log", xlabel="stored bits for each weight (log scale)",
           ylabel="perplexity (log scale)", xlim=(min(bits) * 0.8, max(bits) * 1.5),
           ylim=(min(perplexities) * 0.6, max(perplexities) * 2))
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_formatter("{x:g}")
        axis.set_minor_formatter("")
    ax.set_xticks([2, 4, 8, 16, 32])
    return fig


@plot.styled
def few_bits(bits, shared, column, after, words, p, q, chosen, lost):
    """One column of weights (in,) before and after rounding, and the next token of both models.

    words (K,): the best tokens, that of the float32 model first; p, q (K,): their probabilities in
    the float32 model and in the rounded one, which chooses the word `chosen`; lost: the KL
    divergence in nats.
    """
    levels, lost = f"{2 ** bits - 1} levels", show.number(lost, 2)
    fig, axes = plot.figure(2, height=330)
    fig.drawn = {"before": column, "after": after, "p": p, "q": q, "words": words}
    fig.alt = ("One column of weights before and after rounding, and the next tokens of both "
               "models.\n"
               f"{bits} bits, one scale for each {shared}: {levels}, KL {lost} nats; the best next "
               f"token is “{chosen}”, with float32 “{words[0]}”.")
    _levels(axes[0], column, bits, shared)
    axes[0].plot(column, after, plot.MARKERS[0], color=plot.VERMILLION, markersize=3)
    title = {"matrix": f"matrix, {levels}; this column uses {len(np.unique(after))}",
             "column": f"a column, {levels}", "group of 32": f"{levels} for each scale"}[shared]
    axes[0].set(title=title, xlabel="weight before", ylabel="weight after")
    places = np.arange(len(words))[::-1]
    axes[1].barh(places + 0.2, p, height=0.38, color=plot.BLUE, label="float32")
    axes[1].barh(places - 0.2, q, height=0.38, color=plot.VERMILLION, hatch="//",
                 edgecolor="white", label=f"{bits} bits")
    axes[1].set_yticks(places, words)
    axes[1].set(title=f"KL {lost} nats, best: {show.short(chosen, 14)}",
                xlabel="probability of the next token")
    axes[1].legend(frameon=False, loc="best")
    return fig
