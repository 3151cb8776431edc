"""Pictures of the bonus lesson on training: losses that fall, and what is written meanwhile."""
import textwrap

import numpy as np

from gpt2lab.teach import plot, show

COLUMNS, LINES = 74, 3          # of a text that a model wrote


@plot.styled
def figure(panels=1, **settings):
    """plot.figure with few colours: this lesson stores many pictures."""
    fig, axes = plot.figure(panels, **settings)
    fig.few_colours = True
    return fig, axes


def smooth(losses, width=20):
    """The mean of each loss and of those before it, up to `width` of them."""
    sums = np.concatenate([[0.0], np.cumsum(losses)])
    ends = np.arange(1, len(losses) + 1)
    starts = np.maximum(ends - width, 0)
    return (sums[ends] - sums[starts]) / (ends - starts)


@plot.styled
def falling(losses, diary, step, text, total):
    """Losses of a training up to now, of the pages and held out, and a text of one moment.

    losses: of each step; diary: {step: (held-out loss, model)}; text: what the model of `step`
    writes; total: how many steps there will be.
    """
    stages = [t for t in diary if t <= max(step, len(losses))]
    held_out = np.array([diary[t][0] for t in stages])
    fig, (ax,) = figure(height=330, alt=(
        "The loss over the steps, of the pages that are read and of pages held out; below it, "
        "what the model writes.\n"
        f"At step {step:,} the held-out loss is {diary[step][0]:.2f}. It writes: "
        f"{show.short(' '.join(text.split()), 90)}."))
    fig.drawn = {"losses": np.array(losses), "held out": held_out}
    if len(losses):
        ax.plot(np.arange(len(losses)), smooth(losses), color=plot.BLUE,
                label="pages read, mean of 20 steps")
    ax.plot(stages, held_out, color=plot.VERMILLION, linestyle="--", marker="s", markersize=4,
            label="pages held out")
    ax.plot([step], [diary[step][0]], marker="o", markersize=11, markerfacecolor="none",
            color=plot.BLACK, linestyle="none", label="this moment")
    ax.set(xlim=(-0.02 * total, 1.02 * total), ylim=(0, 6), xlabel="step",
           ylabel="loss (nats a letter)")
    ax.legend(frameon=False, loc="upper right")
    ax.set_title(written(text), family="DejaVu Sans Mono", loc="left", fontsize=10)
    return fig


def written(text):
    """A text in lines of one width, control characters made visible."""
    whole = "".join(c if c.isprintable() else " " for c in " ".join(text.split()))
    rows = textwrap.wrap(whole, COLUMNS)[:LINES]
    return "\n".join(rows + [""] * (LINES - len(rows)))


@plot.styled
def line(x, y, path, step, rate):
    """Points and the line of one step; beside it the loss of all steps, this one marked.

    path: (steps, 3): k, b and the loss before each step.
    """
    path = np.asarray(path, dtype=float)
    k, b, loss = path[step]
    fig, (left, right) = figure(2, height=280, alt=(
        "Points and the line of one step; beside it the loss over the steps.\n"
        f"At step {step}, rate {rate:g}: k = {k:.3g}, b = {b:.3g}, loss {loss:.3g}."))
    fig.drawn = {"points": np.array([x, y]), "path": path}
    left.plot(x, y, "o", color=plot.BLACK)
    left.plot(x, k * x + b, color=plot.BLUE)
    for at, error in zip(x, k * x + b - y):
        left.plot([at, at], [k * at + b - error, k * at + b], color=plot.VERMILLION, linewidth=1)
    sign, size = ("-", -b) if b < 0 else ("+", b)
    left.set(xlabel="x", ylabel="y", ylim=(-5, 6),
             title=f"step {step}: y = {k:.3g} x {sign} {size:.3g}")
    right.plot(path[:, 2], color=plot.BLUE)
    right.plot([step], [loss], "o", color=plot.VERMILLION)
    right.set(xlabel="step", ylabel="loss (mean squared error)", title=f"rate {rate:g}",
              ylim=(0, 20))
    return fig


@plot.styled
def pairs(losses, floor):
    """Loss of the table of pairs over the steps, and the lowest that counting can give."""
    series = {"table, mean of 20 steps": smooth(losses)}
    fig = plot.lines(series, "step", "loss (nats a letter)", at_end=False, alt=(
        "The loss of the table of pairs over the steps, and the lowest that any such table can "
        f"have.\nIt begins at {losses[0]:.2f} and comes down to {smooth(losses)[-1]:.2f}; the "
        f"lowest is {floor:.2f}."))
    fig.few_colours = True
    ax = fig.axes[0]
    ax.axhline(floor, color=plot.VERMILLION, linestyle="--", label="counted pairs")
    ax.set(ylim=(0, 6))
    ax.legend(frameon=False)
    fig.drawn["floor"] = np.array([floor])
    return fig


@plot.styled
def plateau(stages, held_out, weights, floor):
    """Held-out loss over the steps, and each head's weight on the place before: (stages, H)."""
    best = int(weights[-1].argmax())
    fig, (left, right) = figure(2, height=290, alt=(
        "The held-out loss over the steps; beside it, how much weight each head gives to the place "
        "before.\n"
        f"Head {best} gives {weights[0, best]:.2f} of its weight to the place before at the start "
        f"and {weights[-1, best]:.2f} at the end; the loss ends at {held_out[-1]:.2f}."))
    fig.drawn = {"held out": np.array(held_out), "weights": weights}
    left.plot(stages, held_out, color=plot.BLUE, marker="o", markersize=4)
    left.axhline(floor, color=plot.VERMILLION, linestyle="--")
    left.annotate("table of pairs", (stages[-1], floor), xytext=(0, 4), ha="right",
                  textcoords="offset points", color=plot.VERMILLION)
    left.set(xlabel="step", ylabel="held-out loss (nats a letter)", ylim=(0, 6))
    for h in range(weights.shape[1]):
        right.plot(stages, weights[:, h], color=plot.COLOURS[h % 5], linestyle=plot.DASHES[h % 5],
                   label=f"head {h}")
    right.set(xlabel="step", ylabel="weight on the place before", ylim=(0, 1))
    right.legend(frameon=False)
    return fig


@plot.styled
def short(curves, floor=None):
    """Losses of short trainings, {name: (losses, held-out loss)}; the latter is a mark.

    floor: (name, loss) of a line to compare with.
    """
    fig, (ax,) = figure(height=330, alt=(
        "The loss of short trainings over their steps, and at the right, as a mark, each one's "
        "loss on a held-out text.\n" + "; ".join(
            f"{name}: {smooth(losses)[-1]:.1f}, held out {held_out:.1f}"
            for name, (losses, held_out) in curves.items()) + "."))
    fig.drawn = {name: np.array(losses) for name, (losses, _) in curves.items()}
    for i, (name, (losses, held_out)) in enumerate(curves.items()):
        ax.plot(smooth(losses), color=plot.COLOURS[i % 5], linestyle=plot.DASHES[i % 5], label=name)
        ax.plot([1.03 * len(losses)], [min(held_out, 8.6)], plot.MARKERS[i % 5],
                color=plot.COLOURS[i % 5], clip_on=False)
        if held_out > 8.6:
            ax.annotate(f"{held_out:.0f} ", (1.03 * len(losses), 8.6), ha="right", va="center",
                        color=plot.COLOURS[i % 5])
    if floor is not None:
        ax.axhline(floor[1], color="0.5", linestyle=":", label=floor[0])
    ax.set(xlabel="step (the marks at the right: held out)", ylabel="loss (nats a letter)",
           ylim=(0, 9))
    ax.legend(frameon=False, loc="lower center", bbox_to_anchor=(0.5, 1), ncols=2)
    return fig


@plot.styled
def copying(stages, first, later, before, followed):
    """Loss on the first and on later tellings; beside it the work of two heads, (stages,) each.

    before: of the head of block 0 that looks most at the letter before; followed: of the one of
    the last block that looks most at what followed in the tellings before.
    """
    fig, (left, right) = figure(2, height=290, alt=(
        "The loss on the first and on later tellings of random letters, over the steps; beside it, "
        "what two heads look at.\n"
        f"The later tellings cost {later[0]:.2f} nats at the start and {later[-1]:.2f} at the end, "
        f"the first {first[-1]:.2f}. The head of block 0 gives {before[-1]:.2f} of its weight to "
        f"the letter before, that of the last block {followed[-1]:.2f} to what followed."))
    fig.drawn = {"first": np.array(first), "later": np.array(later), "before": np.array(before),
                 "followed": np.array(followed)}
    left.plot(stages, first, color=plot.BLUE, label="first telling")
    left.plot(stages, later, color=plot.VERMILLION, linestyle="--", label="later tellings")
    left.set(xlabel="step", ylabel="loss (nats a letter)", ylim=(0, 6))
    left.legend(frameon=False)
    right.plot(stages, before, color=plot.GREEN, label="block 0: on the letter before")
    right.plot(stages, followed, color=plot.PURPLE, linestyle="--",
               label="last block: on what followed")
    right.set(xlabel="step", ylabel="weight of the head", ylim=(0, 1.3), yticks=[0, 0.5, 1])
    right.legend(frameon=False, loc="upper left")
    return fig


@plot.styled
def head_map(pattern, letters, step, head, score):
    """The pattern (T, T) of a head of the last block, while random letters are told again."""
    fig = plot.heat({f"step {step:,}: last block, head {head}": pattern}, "query", "key",
                    rows=letters, columns=letters, kind="probability", height=450, alt=(
        "The weights of one head while random letters are told again and again.\n"
        f"At step {step:,}, head {head} of the last block gives {score:.2f} of its weight, in the "
        "later tellings, to what followed before."))
    fig.few_colours = True
    return fig


@plot.styled
def head_maps(patterns, steps, scores):
    """The patterns (n, T, T) of one head at some steps (n,), with its weights on what followed."""
    said = ", ".join(f"{step:,}: {score:.2f}" for step, score in zip(steps, scores))
    fig = plot.heat({f"step {step:,}": one for step, one in zip(steps, patterns)}, "query", "key",
                    kind="probability", height=190, alt=(
        "The weights of one head at some steps of its training.\n"
        f"Its weight on what followed in the tellings before, step by step: {said}."))
    fig.few_colours = True
    ticks = range(0, patterns.shape[-1], 15)
    for ax in fig.axes[:len(steps)]:
        ax.set(xticks=ticks, yticks=ticks)
        ax.tick_params(axis="x", rotation=0)
    return fig
