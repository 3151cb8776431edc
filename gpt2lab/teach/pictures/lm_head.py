"""Pictures of lesson 10: the token table seen from one row, a logit as a product, the logit lens."""
import numpy as np

from gpt2lab.lm_head import lm_head
from gpt2lab.softmax import softmax
from gpt2lab.teach import plot, show

BEST, POSITIONS = 10, 10            # how many tokens and positions are drawn


def best_tokens(logits, count=BEST):
    """Ids of the largest logits, the best first, equal ones by id."""
    return np.argsort(-logits, kind="stable")[:count]


def products(row, table):
    """The three factors of each logit: length of the row, lengths of the table's rows, cosines."""
    length, lengths = np.linalg.norm(row), np.linalg.norm(table, axis=-1)           # (V,)
    return length, lengths, table @ row / (length * lengths)


@plot.styled
def half_plane(model, row):
    """Every row of the token table by its part along `row` and its part across: nothing is lost."""
    table = model.weights["wte.weight"]                                             # (V, D)
    along = table @ (row / np.linalg.norm(row))                                     # (V,)
    across = np.sqrt(np.maximum((table ** 2).sum(axis=-1) - along ** 2, 0))         # (V,)
    best = best_tokens(along, 3)
    words = show.tokens(model.tokenizer, best)
    fig, (ax,) = plot.figure(height=330, drawn={"along": along, "across": across, "best": best}, alt=(
        f"All {len(table):,} tokens by how far they reach along the normed row. Only {(along > 0).sum():,} reach "
        f"forwards at all; farthest are “{words[0]}”, “{words[1]}” and “{words[2]}”."))
    ax.plot(along, across, ".", color="0.6", markersize=2, rasterized=True)
    ax.plot(along[best], across[best], plot.MARKERS[1], color=plot.VERMILLION)
    for word, i, offset in zip(words, best, ((30, 0), (30, 30), (15, 60))):
        ax.annotate(word, (along[i], across[i]), xytext=offset, textcoords="offset points", va="center", color=plot.VERMILLION,
                    arrowprops={"arrowstyle": "-", "color": plot.VERMILLION, "shrinkB": 4})
    ax.axvline(0, color="black", linewidth=0.8, linestyle="--")
    ax.set(xlabel="part of the token's row along the normed row", ylabel="the rest of its length",
           ylim=(0, None), xlim=(None, along.max() * 1.6))
    return fig


@plot.styled
def direction(model, prompt, back=0):
    """The ten best next tokens as length times length times cosine, after one token of the prompt."""
    trace = model.trace(model.encode(prompt))
    at = max(len(trace["logits"]) - 1 - back, 0)
    row, logits = trace["ln_f"][at], trace["logits"][at]                            # (D,) (V,)
    best = best_tokens(logits)
    length, lengths, cosines = products(row, model.weights["wte.weight"][best])
    words = show.tokens(model.tokenizer, best)
    here = show.tokens(model.tokenizer, model.encode(prompt))[at]
    fig, axes = plot.figure(3, height=340, sharey=True, drawn={
        "best": best, "row": length, "lengths": lengths, "cosines": cosines, "logits": logits[best]}, alt=(
        f"After “{here}” the normed row has length {length:.1f}. The best token “{words[0]}” has length {lengths[0]:.2f} and "
        f"cosine {cosines[0]:.2f}, which makes the logit {show.number(logits[best[0]], 2)}."))
    for ax, values, title, colour, hatch in (
            (axes[0], lengths, "length of the\ntoken's row", plot.BLUE, None),
            (axes[1], cosines, "cosine", plot.GREEN, "//"),
            (axes[2], logits[best], f"times {length:.1f}:\nthe logit", plot.VERMILLION, "..")):
        ax.barh(range(len(best)), values, color=colour, hatch=hatch, edgecolor="white")
        for place, value in enumerate(values):
            ax.annotate(f"{value:z.2f}", (max(value, 0), place), xytext=(3, 0), textcoords="offset points", va="center")
        ax.set(title=title, xticks=[0], xlim=(min(values.min(), 0), max(values.max(), 1e-3) * 1.45))
    axes[0].set_yticks(range(len(best)), words)
    axes[0].set(ylim=(len(best) - 0.5, -0.5), ylabel=f"best tokens after {here}")
    return fig


def readings(model, ids, normed=True, last=POSITIONS):
    """What the head says of the stream before the first block and after each: best ids and their probabilities.

    ids (T,) -> two arrays (L + 1, T), of the last positions only.
    """
    trace, w = model.trace(ids), model.weights
    streams = [trace["embed"], *(trace[f"h.{i}.resid_post"] for i in range(model.config.n_layer))]
    best, chances = [], []
    for x in streams:
        x = x[-last:]
        logits = lm_head(x, w["ln_f.weight"], w["ln_f.bias"], w["wte.weight"], model.config.layer_norm_epsilon) \
            if normed else x @ w["wte.weight"].T                                    # (T, V)
        best.append(logits.argmax(axis=-1))
        chances.append(softmax(logits).max(axis=-1))
    return np.array(best), np.array(chances)


@plot.styled
def lens(model, prompt, normed=True):
    """The best next word after each block (across) for each position (down), coloured by probability.

    Five columns have room; a model of more than four blocks shows the first, the last and three between.
    """
    ids = model.encode(prompt)
    best, chances = readings(model, ids, normed)
    parts = np.linspace(0, len(best) - 1, min(len(best), 5)).round().astype(int)    # 0: before the first block
    after = "each block" if len(parts) == len(best) else "blocks " + ", ".join(str(part - 1) for part in parts[1:])
    best, chances = best[parts], chances[parts]
    tokens, (L, T) = show.tokens(model.tokenizer, ids)[-best.shape[1]:], best.shape
    final = show.tokens(model.tokenizer, best[:, -1])
    cut = f" (the last {T} of {len(ids)} tokens)" if T < len(ids) else ""
    fig, (ax,) = plot.figure(height=110 + 38 * T, drawn={"best": best, "probabilities": chances}, alt=(
        f"Best next word after “{tokens[-1]}”{cut}: “{final[0]}” before the first block, then "
        f"{', '.join(f'“{word}”' for word in final[1:])} after {after}; the last has probability {show.number(chances[-1, -1], 2)}."))
    image = ax.imshow(chances.T, cmap="cividis", vmin=0, vmax=1, aspect="auto")
    for (block, position), chance in np.ndenumerate(chances):
        word = _short(show.token(model.tokenizer.decode([best[block, position]])))
        ax.text(block, position, f"{word}\n{chance:.2f}", ha="center", va="center",
                color="white" if chance < 0.5 else "black")
    ax.set_xticks(range(L), ["embedding", *(f"block {part - 1}" for part in parts[1:])])
    ax.set_yticks(range(T), map(_short, tokens))
    ax.xaxis.tick_top()
    ax.tick_params(length=0)
    ax.set(xlabel="best next token and its probability, read after this part", ylabel="token read last")
    ax.spines[:].set_visible(False)
    fig.colorbar(image, ax=ax, label="probability")
    return fig


def _short(word, most=8):
    """A token that fits its place."""
    return word if len(word) <= most else word[:most - 1] + "…"
