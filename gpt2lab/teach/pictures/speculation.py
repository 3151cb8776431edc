"""Pictures of the bonus lesson on speculation: passes as a strip, tokens a pass, times."""
import numpy as np
from matplotlib.patches import Rectangle
from matplotlib.ticker import LogLocator, NullLocator

from gpt2lab.teach import plot

KEPT, OWN, REFUSED = "✓", "▸", "×"
ROWS, WIDTH, LONG = 24, 66, 24      # passes that are drawn; characters in a row, in a token
LOOK = {KEPT: {"facecolor": "#d5efe6", "edgecolor": plot.GREEN},
        OWN: {"facecolor": "#d4e6f3", "edgecolor": plot.BLUE, "linewidth": 2},
        REFUSED: {"facecolor": "0.95", "edgecolor": "0.6", "hatch": "////"}}


@plot.styled
def strip(passes):
    """One row a pass: guesses kept, the model's own token behind them, guesses refused.

    passes: the texts of each pass, [(guesses checked, new tokens)]; the new ones are guesses that
    were kept and one token of the model's own.
    """
    if not passes:
        return plot.message("The two best tokens behind this text are too close to call: "
                            "try another one.")
    new = sum(len(kept) for _, kept in passes)
    right = sum(len(kept) - 1 for _, kept in passes)
    wrong = sum(len(checked) for checked, _ in passes) - right
    shown, each = passes[:ROWS], f"{new / len(passes):.1f} a pass"
    fig, (ax,) = plot.figure(height=70 + 23 * len(shown), alt=(
        "One row a pass: guesses kept, the model's own token behind them, guesses refused.\n"
        f"{new} new tokens in {len(passes)} passes, {each}: {right} guesses kept, "
        f"{wrong} refused."))
    fig.drawn = {"tokens": np.array([len(kept) for _, kept in passes]),
                 "checked": np.array([len(checked) for checked, _ in passes])}
    for row, (checked, kept) in enumerate(shown):
        cells = [*((KEPT, token) for token in kept[:-1]), (OWN, kept[-1]),
                 *((REFUSED, token) for token in checked[len(kept) - 1:])]
        _row(ax, row, [(mark, mark + token[:LONG]) for mark, token in cells])
        ax.text(WIDTH + 1, row, f"+{len(kept)}", va="center")
    cut = f" (the first {ROWS} are shown)" if len(passes) > ROWS else ""
    ax.set(xlim=(0, WIDTH + 4), ylim=(len(shown) - 0.4, -0.6), ylabel="pass", xticks=[],
           title=f"{KEPT} guess kept    {OWN} the model's own token    {REFUSED} guess refused\n"
                 f"{new} tokens, {len(passes)} passes: {each}; {right} kept, {wrong} refused{cut}")
    ax.set_yticks(range(len(shown)), range(1, len(shown) + 1))
    ax.spines[:].set_visible(False)
    ax.tick_params(length=0)
    return fig


def _row(ax, row, cells):
    """The tokens of one pass, from left to right, as wide as their texts; dots where it is full.

    The model's own token is drawn in any case: dots stand for the last guesses kept, if need be.
    """
    x, full = 0.0, None                         # full: the mark of the guesses that have no room
    own = 3 + next(len(text) + 0.8 for mark, text in cells if mark == OWN)
    for mark, text in cells:
        width = len(text) + 0.8
        if mark == full:
            continue
        if mark != OWN and x + width + (own if mark == KEPT else 0) > WIDTH - 2:
            ax.text(x, row, "...", va="center", in_layout=False)
            x, full = x + 3, mark
            continue
        ax.add_patch(Rectangle((x, row - 0.4), width - 0.2, 0.8, in_layout=False, **LOOK[mark]))
        ax.text(x + width / 2 - 0.1, row, text, ha="center", va="center",
                family="DejaVu Sans Mono", in_layout=False)
        x += width


def tokens_per_pass(ks, series):
    """Tokens a pass over the number of guesses: ks (n,), {text: (n,)}."""
    best = "; ".join(f"{label} {values[-1]:.1f}" for label, values in series.items())
    return plot.lines(
        series, "guesses k", "tokens a pass", x=np.array(ks), at_end=False,
        alt=("Tokens a pass over the number of guesses, a line for each text.\n"
             f"With k = {ks[-1]}: {best}."))


@plot.styled
def pass_times(rows, seconds):
    """Milliseconds of one pass over its tokens, beside as many passes over one token."""
    one = seconds[rows.index(1)]
    series = {"one pass": np.array(seconds) * 1e3,
              "one pass for each token": np.array(rows) * one * 1e3}
    fig = plot.lines(
        series, "rows of the pass (log scale)", "time (ms, log scale)", x=np.array(rows), log=True,
        logx=True, at_end=False, alt=(
            "Measured time of one pass over its tokens, beside the time of one pass for each of "
            "them.\n"
            f"One pass over {rows[-1]} tokens takes as long as {seconds[-1] / one:.0f} passes over "
            "one token."))
    fig.axes[0].yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    fig.axes[0].yaxis.set_minor_locator(NullLocator())
    return fig
