"""Pictures of lesson 11: kept and cut tokens, the line of a draw, many draws, text that grows."""
import textwrap

import numpy as np

from gpt2lab.teach import plot, show


@plot.styled
def candidates(prompt, words, best, choices):
    """The best tokens after the prompt, once for each {title: (before, after)}.

    words, best (n,): the tokens that are shown, as texts and as ids; before, after (V,):
    probabilities before and after the cuts.
    """
    drawn, told = {"best": best}, []
    fig, axes = plot.figure(len(choices), height=90 + 24 * len(best), sharey=True, drawn=drawn)
    for ax, (title, (before, after)) in zip(axes, choices.items()):
        drawn[title] = after[best]
        number = int((after > 0).sum())
        many = f"{number:,} candidate{'s' * (number > 1)}"
        told.append(f"{title}: {many}, “{words[0]}” has {show.number(after[best[0]], 2)}")
        _bars(ax, before[best], after[best], 1.28 if len(choices) > 1 else 1.1)
        ax.set(title=f"{title}\n{many}", xlabel="probability")
    axes[0].set_yticks(range(len(best)), words)
    axes[0].set(ylim=(len(best) - 0.5, -0.5), ylabel="best next tokens")
    prompt = show.token(prompt).replace("·", " ")
    fig.alt = ("The best next tokens after a prompt, before and after the cuts.\n"
               f"After “{prompt}”, {'; '.join(told)}.")
    return fig


def _bars(ax, before, after, room):
    """Before the cuts: bars, hatched and marked "cut" where a token is cut. After: diamonds."""
    kept, places = after > 0, np.arange(len(before))
    ax.barh(places[kept], before[kept], color=plot.BLUE)
    ax.barh(places[~kept], before[~kept], color="white", edgecolor="0.5", hatch="////")
    ax.plot(after[kept], places[kept], plot.MARKERS[3], color=plot.VERMILLION, markersize=5,
            clip_on=False)
    for place, (x, y) in enumerate(zip(before, after)):
        text, colour = (f"{y:.2f}", "black") if y > 0 else ("cut", "0.35")
        ax.annotate(text, (max(x, y), place), xytext=(7, 0), textcoords="offset points",
                    va="center", color=colour)
    ax.set_xlim(0, max(before.max(), after.max()) * room)


@plot.styled
def line(probs, us, ids):
    """The probabilities (V,) end to end on a line from 0 to 1, and the id on which each u falls."""
    edges = np.concatenate([[0], np.cumsum(probs)])                                 # (V + 1,)
    falls = ", ".join(f"u = {u:g} falls on id {i}" for u, i in zip(us, ids))
    drawn = {"edges": edges, "u": np.array(us), "ids": np.array(ids)}
    fig, (ax,) = plot.figure(height=150, drawn=drawn, alt=(
        f"The probabilities laid end to end, and where some numbers u fall.\n{falls}."))
    for i, (start, end) in enumerate(zip(edges, edges[1:])):
        ax.barh(0, end - start, left=start, color=("0.85", "white")[i % 2], edgecolor="black")
        if end > start:
            ax.text((start + end) / 2, 0, f"id {i}", ha="center", va="center")
    for u in us:
        ax.annotate(f"u = {u:g}", (u, 0.4), xytext=(u, 0.95), ha="center", color=plot.VERMILLION,
                    arrowprops={"arrowstyle": "->", "color": plot.VERMILLION})
    ax.set(xlim=(-0.01, 1.01), ylim=(-0.5, 1.25), yticks=[], xticks=np.round(edges, 2),
           xlabel="running sum of the probabilities")
    ax.spines["left"].set_visible(False)
    return fig


@plot.styled
def many_draws(labels, exact, counts):
    """Shares in many draws as bars, the exact probabilities as diamonds; (n,) each."""
    shares, draws = np.asarray(counts) / np.sum(counts), f"{np.sum(counts):,} draws"
    near = np.abs(shares - exact).max() < 0.01
    fig, (ax,) = plot.figure(height=300, drawn={"exact": np.asarray(exact), "shares": shares}, alt=(
        "The share of each token in many draws, beside its exact probability.\n"
        f"Shares in {draws} and exact probabilities of {len(exact)} tokens: "
        f"{'all' if near else 'not all'} within 0.01 of each other."))
    places = np.arange(len(exact))
    ax.bar(places, shares, color=plot.BLUE, label=f"share in {draws}")
    ax.plot(places, exact, plot.MARKERS[3], color=plot.VERMILLION, label="exact probability")
    ax.set_xticks(places, labels, rotation=60)
    ax.set(ylabel="probability", xlabel="token")
    ax.legend(frameon=False)
    return fig


@plot.styled
def nucleus(sums, top_p):
    """Running sums of the sorted probabilities, {prompt: (V,)}, and where each reaches top_p."""
    fig, (ax,) = plot.figure(height=320, drawn=dict(sums))
    told = []
    for i, (prompt, total) in enumerate(sums.items()):
        number = 1 + int(np.searchsorted(total, top_p))
        told.append(f"after “{show.token(prompt).replace('·', ' ')}” {number:,}")
        steps = np.unique(np.geomspace(1, len(total), 200).astype(int))
        look = {"color": plot.COLOURS[i]}
        ax.plot(steps, total[steps - 1], linestyle=plot.DASHES[i], label=prompt, **look)
        ax.plot(number, total[number - 1], plot.MARKERS[i], **look)
        ax.annotate(f"{number:,}", (number, total[number - 1]), xytext=(6, -12),
                    textcoords="offset points", **look)
    ax.axhline(top_p, color="0.4", linewidth=0.8)
    ax.set(xscale="log", ylim=(0, 1.05), xlabel="number of best tokens (log scale)",
           ylabel="their probability together")
    ax.xaxis.set_major_formatter("{x:,.0f}")
    ax.legend(frameon=False, loc="lower right")
    fig.alt = ("The probability of the best tokens together, over their number, for some prompts.\n"
               f"Tokens needed to reach {top_p:g}: {', '.join(told)}.")
    return fig


@plot.styled
def explorer(prompt, written, last, seed, steps, words, best, before, after, bits):
    """The text after some draws, its best next tokens with kept and cut ones, what the cuts leave.

    written: the text that was drawn; last: its last token; steps: one of nothing drawn, then one a
    draw, with .u and .end (why the text ends, or ""); words, best (n,): best next tokens, as texts
    and as ids; before, after (V,): probabilities before and after the cuts; bits: their entropies.
    """
    draws = len(steps) - 1
    number, mass = int((after > 0).sum()), before[after > 0].sum()
    many = f"{number:,} of {len(after):,}"
    fig = plot.Figure(figsize=(6.4, 5.7), dpi=plot.DPI, layout="constrained")
    top, ax, side = fig.subplot_mosaic("TT;BS", height_ratios=[1, 4.4],
                                       width_ratios=[2.3, 1]).values()
    fig.drawn = {"best": best, "before": before[best], "after": after[best], "number": number,
                 "mass": mass, "bits": bits[1]}
    fig.alt = ("The text so far, its best next tokens, and which of them the cuts keep.\n"
               f"{draws} tokens drawn with seed {seed}. {many} tokens kept; together they had "
               f"{mass:.2f} of the probability. Entropy {bits[1]:.2f} bits. Best: “{words[0]}” "
               f"with {after[best[0]]:.2f}.")
    top.axis("off")
    top.text(0, 1, _wrapped(prompt, written, 5), va="top", transform=top.transAxes)
    _bars(ax, before[best], after[best], 1.2)
    ax.set_yticks(range(len(best)), words)
    ax.set(ylim=(len(best) - 0.5, -0.5), ylabel=f"{len(best)} best next tokens",
           xlabel="probability: bar before, diamond after the cuts")
    last = f"{show.token(last)}\nwith u = {steps[-1].u:.3f}" if draws else "none yet"
    told = {"candidates": many, "mass kept": f"{mass:.3f}", "entropy before": f"{bits[0]:.2f} bits",
            "entropy after": f"{bits[1]:.2f} bits", "tokens drawn": draws, "last draw": last}
    lines = [f"{name}\n{value}" for name, value in told.items()]
    if steps[-1].end:
        lines.append(steps[-1].end)
    side.axis("off")
    side.text(0, 1, "\n\n".join(lines), va="top", transform=side.transAxes)
    return fig


def _wrapped(prompt, written, most):
    """The text in lines, what was drawn after a bar; the last lines only, where it is long."""
    shown = show.token(f"{prompt}|{written}").replace("·", " ")
    lines = textwrap.wrap(shown, 72, break_on_hyphens=False) or [""]
    return "\n".join(lines if len(lines) <= most else ["…", *lines[1 - most:]])
