"""Pictures of lesson 12: the work with and without a cache, and the cache as it fills."""
import numpy as np

from gpt2lab.teach import plot


def work_curves(lengths, naive, cached):
    """Multiplications so far over the length of the text: three arrays (n,)."""
    return plot.lines(
        {"without": naive / 1e9, "with cache": cached / 1e9}, "tokens T",
        "multiplications so far (10⁹)", x=lengths, alt=(
            "Multiplications so far over the length of the text, without a cache and with one.\n"
            f"At {lengths[-1]} tokens they are {naive[-1] / cached[-1]:.1f} times as many without "
            "a cache as with one."))


@plot.styled
def cache_step(step, tokens, keys, values, naive, cached, stored):
    """The cache after `step` moves: move 0 reads the prompt, each later one reads one new token.

    tokens: the texts of the S tokens that were read; keys, values (S, Dh): of one head; naive,
    cached: multiplications so far, without and with a cache; stored: bytes in all blocks.
    """
    length = len(tokens)
    old, rows = length - 1 if step else 0, length + 3
    fig, axes = plot.figure(3, height=400)
    fig.drawn = {"keys": keys, "values": values, "work": np.array([naive, cached])}
    fig.alt = ("K and V of one head so far, and the multiplications without a cache and with one.\n"
               f"Move {step}: rows {old} to {length - 1} of K and V are new, up to “{tokens[-1]}”; "
               f"{length} rows are kept, {stored:,} bytes in all blocks; without a cache "
               f"{naive / cached:.1f} times the multiplications.")
    for ax, name, array in ((axes[0], "K", keys), (axes[1], "V", values)):
        limit = np.abs(array).max()
        shown = np.full((rows, array.shape[1]), np.nan)
        shown[:length] = array
        ax.imshow(np.ma.masked_invalid(shown), cmap="PuOr", vmin=-limit, vmax=limit, aspect="auto")
        ax.axhspan(length - 0.5, rows - 0.5, facecolor="0.9", hatch="////", edgecolor="0.6",
                   linewidth=0)
        ax.axhspan(old - 0.5, length - 0.5, fill=False, edgecolor=plot.VERMILLION, linewidth=2.5)
        ax.set(title=f"{name} ({length}, {array.shape[1]})", xlabel="column Dh")
        every = -(-length // 16)
        ax.set_yticks(range(0, length, every), tokens[::every] if name == "K" else [])
    axes[0].set_ylabel("key S; framed: new")
    for place, (value, colour, hatch) in enumerate(((naive, plot.BLUE, None),
                                                    (cached, plot.GREEN, "//"))):
        axes[2].bar(place, value / 1e6, color=colour, hatch=hatch, edgecolor="white")
        axes[2].text(place, value / 1e6, f"{value / 1e6:,.0f}", ha="center", va="bottom")
    axes[2].set_xticks([0, 1], ["without", "with cache"])
    axes[2].set(title=f"{stored:,} bytes kept", ylabel="multiplications so far (10⁶)")
    return fig


def time_curves(lengths, naive, cached):
    """Measured seconds for one more token over the length of the text."""
    grown, held = naive[-1] / naive[0], cached[-1] / cached[0]
    return plot.lines(
        {"without": np.array(naive) * 1e3, "with cache": np.array(cached) * 1e3},
        "tokens T so far", "one more token (ms)", x=lengths, alt=(
            "Measured time for one more token over the length of the text, without and with a "
            "cache.\n"
            f"At {lengths[-1]} tokens it is {grown:.0f} times as long as at {lengths[0]} without a "
            f"cache, {held:.1f} times with one."))
