"""Pictures of lesson 11: kept and cut tokens, the line of one draw, many draws, and text that grows."""
import textwrap

import numpy as np

from gpt2lab.kvcache import KVCache
from gpt2lab.sampling import probabilities, sample
from gpt2lab.teach import plot, show


def bits(probs):
    """Entropy in bits: how surprising the next token is on average."""
    kept = probs[probs > 0]
    return abs(float((kept * np.log2(kept)).sum()))


def split(logits, temperature=1.0, **cuts):
    """Probabilities before and after the cuts, (V,) each. Greedy is a cut to one, from temperature 1."""
    return probabilities(logits, temperature or 1.0), probabilities(logits, temperature, **cuts)


@plot.styled
def candidates(model, prompt, choices, count=8):
    """The best tokens after the prompt, once for each {title: settings}."""
    logits = model.next_logits(model.encode(prompt))                                # (V,)
    best = np.argsort(-logits, kind="stable")[:count]
    words, drawn, told = show.tokens(model.tokenizer, best), {"best": best}, []
    fig, axes = plot.figure(len(choices), height=90 + 24 * count, sharey=True, drawn=drawn)
    for ax, (title, settings) in zip(axes, choices.items()):
        before, after = split(logits, **settings)
        drawn[title] = after[best]
        number = int((after > 0).sum())
        told.append(f"{title}: {number:,} candidate{'s' * (number > 1)}, “{words[0]}” has {show.number(after[best[0]], 2)}")
        _bars(ax, before[best], after[best], 1.28 if len(choices) > 1 else 1.1)
        ax.set(title=f"{title}\n{number:,} candidate{'s' * (number > 1)}", xlabel="probability")
    axes[0].set_yticks(range(count), words)
    axes[0].set(ylim=(count - 0.5, -0.5), ylabel="best next tokens")
    fig.alt = f"Next tokens after “{show.token(prompt).replace('·', ' ')}”. " + "; ".join(told) + "."
    return fig


def _bars(ax, before, after, room):
    """Before the cuts: bars, blue for kept, hatched and marked "cut" for the others. After: diamonds."""
    kept, places = after > 0, np.arange(len(before))
    ax.barh(places[kept], before[kept], color=plot.BLUE)
    ax.barh(places[~kept], before[~kept], color="white", edgecolor="0.5", hatch="////")
    ax.plot(after[kept], places[kept], plot.MARKERS[3], color=plot.VERMILLION, markersize=5, clip_on=False)
    for place, (x, y) in enumerate(zip(before, after)):
        ax.annotate(f"{y:.2f}" if y > 0 else "cut", (max(x, y), place), xytext=(7, 0),
                    textcoords="offset points", va="center", color="black" if y > 0 else "0.35")
    ax.set_xlim(0, max(before.max(), after.max()) * room)


@plot.styled
def line(probs, *draws):
    """The probabilities end to end on a line from 0 to 1, and where each u falls."""
    edges = np.concatenate([[0], np.cumsum(probs)])                                 # (V + 1,)
    ids = [sample(probs, u) for u in draws]
    fig, (ax,) = plot.figure(height=150, drawn={"edges": edges, "u": np.array(draws), "ids": np.array(ids)}, alt=(
        "The probabilities laid end to end: " + ", ".join(f"u = {u:g} falls on id {i}" for u, i in zip(draws, ids)) + "."))
    for i, (start, end) in enumerate(zip(edges, edges[1:])):
        ax.barh(0, end - start, left=start, color=("0.85", "white")[i % 2], edgecolor="black")
        if end > start:
            ax.text((start + end) / 2, 0, f"id {i}", ha="center", va="center")
    for u in draws:
        ax.annotate(f"u = {u:g}", (u, 0.4), xytext=(u, 0.95), ha="center", color=plot.VERMILLION,
                    arrowprops={"arrowstyle": "->", "color": plot.VERMILLION})
    ax.set(xlim=(-0.01, 1.01), ylim=(-0.5, 1.25), yticks=[], xlabel="running sum of the probabilities",
           xticks=np.round(edges, 2))
    ax.spines["left"].set_visible(False)
    return fig


@plot.styled
def many_draws(labels, exact, counts):
    """Shares in many draws as bars, the exact probabilities as diamonds."""
    shares = np.asarray(counts) / np.sum(counts)
    near = np.abs(shares - exact).max() < 0.01
    fig, (ax,) = plot.figure(height=300, drawn={"exact": np.asarray(exact), "shares": shares}, alt=(
        f"Shares in {np.sum(counts):,} draws against the exact probabilities of {len(exact)} tokens: "
        f"{'all' if near else 'not all'} within 0.01 of each other."))
    places = np.arange(len(exact))
    ax.bar(places, shares, color=plot.BLUE, label=f"share in {np.sum(counts):,} draws")
    ax.plot(places, exact, plot.MARKERS[3], color=plot.VERMILLION, label="exact probability")
    ax.set_xticks(places, labels, rotation=60)
    ax.set(ylabel="probability", xlabel="token")
    ax.legend(frameon=False)
    return fig


@plot.styled
def nucleus(model, prompts, top_p):
    """Running sums of the sorted probabilities, and how many tokens reach top_p, {prompt: ...}."""
    fig, (ax,) = plot.figure(height=320)
    told = []
    for i, prompt in enumerate(prompts):
        total = np.cumsum(np.sort(probabilities(model.next_logits(model.encode(prompt))))[::-1])        # (V,)
        number = 1 + int(np.searchsorted(total, top_p))
        fig.drawn[prompt] = total
        told.append(f"after “{prompt}” {number:,}")
        steps = np.unique(np.geomspace(1, len(total), 200).astype(int))
        ax.plot(steps, total[steps - 1], color=plot.COLOURS[i], linestyle=plot.DASHES[i], label=prompt)
        ax.plot(number, total[number - 1], plot.MARKERS[i], color=plot.COLOURS[i])
        ax.annotate(f"{number:,}", (number, total[number - 1]), xytext=(6, -12), textcoords="offset points",
                    color=plot.COLOURS[i])
    ax.axhline(top_p, color="0.4", linewidth=0.8)
    ax.set(xscale="log", ylim=(0, 1.05), xlabel="number of best tokens (log scale)", ylabel="their probability together")
    ax.xaxis.set_major_formatter("{x:,.0f}")
    ax.legend(frameon=False, loc="lower right")
    fig.alt = f"Tokens needed to reach {top_p:g}: " + ", ".join(told) + "."
    return fig


class Growing:
    """Text that grows draw by draw. What was drawn is remembered, so one more draw costs one model step.

    growing(prompt, seed, count, temperature=0.8, ...) is the text after `count` draws: always the
    same for the same arguments, and the same as model.generate writes with this seed.
    """
    MOST = 16                                   # texts that are remembered

    def __init__(self, model):
        self.model, self.texts = model, {}

    def __call__(self, prompt, seed, count, **settings):
        key = (prompt, seed, *sorted(settings.items()))
        text = self.texts.pop(key, None)
        if text is None or len(text.drawn) > count:
            text = Text(self.model, prompt, seed, settings)
        while len(text.drawn) < count and not text.end:
            text.draw()
        self.texts[key] = text
        if len(self.texts) > self.MOST:
            del self.texts[next(iter(self.texts))]
        return text


class Text:
    """A prompt and the tokens drawn after it: .drawn (ids), .us (the u of each), .logits of the next token."""

    def __init__(self, model, prompt, seed, settings):
        self.model, self.settings = model, settings
        self.ids, self.rng, self.cache = model.encode(prompt), np.random.default_rng(seed), KVCache(model.config)
        self.drawn, self.us, self.end = [], [], ""
        self.logits = model.next_logits(self.ids, self.cache)                       # (V,)

    def draw(self):
        self.us.append(self.rng.random())
        self.drawn.append(sample(probabilities(self.logits, **self.settings), self.us[-1]))
        if self.drawn[-1] == self.model.config.eos_token_id:
            self.end = "the end token was drawn"
        elif self.cache.length == self.model.config.n_positions:
            self.end = "the context is full"
        else:
            self.logits = self.model.next_logits(self.drawn[-1:], self.cache)


@plot.styled
def explorer(growing, prompt, temperature=1.0, greedy=False, top_k=0, top_p=1.0, min_p=0.0, seed=0, presses=0):
    """The text after some draws, the 20 best next tokens with kept and cut ones, and what the cuts leave."""
    settings = {"temperature": 0 if greedy else temperature, "top_k": top_k or None,
                "top_p": None if top_p >= 1 else top_p, "min_p": min(min_p, 1.0) or None}
    text = growing(prompt, seed, presses, **settings)
    before, after = split(text.logits, **settings)                                  # (V,) each
    best = np.argsort(-text.logits, kind="stable")[:20]
    words, number, mass = show.tokens(growing.model.tokenizer, best), int((after > 0).sum()), before[after > 0].sum()
    written = growing.model.tokenizer.decode(text.drawn)
    fig = plot.Figure(figsize=(6.4, 5.7), dpi=plot.DPI, layout="constrained")
    top, ax, side = fig.subplot_mosaic("TT;BS", height_ratios=[1, 4.4], width_ratios=[2.3, 1]).values()
    fig.drawn = {"ids": np.array(text.ids + text.drawn), "best": best, "before": before[best], "after": after[best],
                 "number": number, "mass": mass, "bits": bits(after), "u": np.array(text.us)}
    fig.alt = (f"{len(text.drawn)} tokens drawn with seed {seed}. {number:,} of {len(after):,} tokens kept; together they had "
               f"{mass:.2f} of the probability. Entropy {bits(after):.2f} bits. Best: “{words[0]}” with {after[best[0]]:.2f}.")
    top.axis("off")
    top.text(0, 1, _wrapped(prompt, written, 5), va="top", transform=top.transAxes)
    _bars(ax, before[best], after[best], 1.2)
    ax.set_yticks(range(20), words)
    ax.set(ylim=(19.5, -0.5), xlabel="probability: bar before, diamond after the cuts", ylabel="20 best next tokens")
    last = f"{show.token(growing.model.tokenizer.decode(text.drawn[-1:]))}\nwith u = {text.us[-1]:.3f}" if text.drawn else "none yet"
    side.axis("off")
    side.text(0, 1, f"candidates\n{number:,} of {len(after):,}\n\nmass kept\n{mass:.3f}\n\nentropy before\n{bits(before):.2f} bits\n\n"
                    f"entropy after\n{bits(after):.2f} bits\n\ntokens drawn\n{len(text.drawn)}\n\nlast draw\n{last}"
                    f"{chr(10) * 2 + text.end if text.end else ''}", va="top", transform=side.transAxes)
    return fig


def _wrapped(prompt, written, most):
    """The text in lines, what was drawn after a bar; the last lines only, where it is long."""
    shown = show.token(f"{prompt}|{written}").replace("·", " ")
    lines = textwrap.wrap(shown, 72, break_on_hyphens=False) or [""]
    return "\n".join(lines if len(lines) <= most else ["…", *lines[1 - most:]])
