"""Pictures of lesson 09: what adding saves, the size of the stream and of its parts, parts taken out."""
import numpy as np

from gpt2lab.block import block
from gpt2lab.heads import attend_heads
from gpt2lab.layernorm import layer_norm
from gpt2lab.mlp import mlp
from gpt2lab.model import GPT2
from gpt2lab.softmax import softmax
from gpt2lab.teach import plot, show

PARTS = {"attn": "attention", "mlp": "MLP"}


def replacing_block(x, w, n_head):
    """A block without the two additions: each part's result replaces the rows."""
    x = attend_heads(layer_norm(x, w["ln_1.weight"], w["ln_1.bias"]), w["attn.c_attn.weight"], w["attn.c_attn.bias"],
                     w["attn.c_proj.weight"], w["attn.c_proj.bias"], n_head)
    return mlp(layer_norm(x, w["ln_2.weight"], w["ln_2.bias"]), w["mlp.c_fc.weight"], w["mlp.c_fc.bias"],
               w["mlp.c_proj.weight"], w["mlp.c_proj.bias"])


def random_weights(rng, D):
    """One block's arrays: weights drawn so that sizes stay as they are, gains 1, biases 0."""
    w = {f"{norm}.{kind}": np.full(D, value, np.float32)
         for norm in ("ln_1", "ln_2") for kind, value in (("weight", 1), ("bias", 0))}
    for name, size, out in (("attn.c_attn", D, 3 * D), ("attn.c_proj", D, D), ("mlp.c_fc", D, 4 * D),
                            ("mlp.c_proj", 4 * D, D)):
        w[name + ".weight"] = ((rng.random((size, out)) - 0.5) * (12 / size) ** 0.5).astype(np.float32)
        w[name + ".bias"] = np.zeros(out, np.float32)
    return w


def alikeness(x):
    """Mean cosine of all pairs of different rows: 1 where all rows point the same way."""
    directions = x / np.linalg.norm(x, axis=-1, keepdims=True)                      # (T, D)
    return float((directions @ directions.T)[np.triu_indices(len(x), 1)].mean())


def many_blocks(blocks=24, T=8, D=32, n_head=4, seed=1):
    """How alike T random rows are after each of many random blocks, which add or which replace."""
    rng = np.random.default_rng(seed)
    adds = replaces = ((rng.random((T, D)) - 0.5) * 12 ** 0.5).astype(np.float32)
    series = {"adds": [alikeness(adds)], "replaces": [alikeness(replaces)]}
    for _ in range(blocks):
        w = random_weights(rng, D)
        adds, replaces = block(adds, w, n_head), replacing_block(replaces, w, n_head)
        series["adds"].append(alikeness(adds))
        series["replaces"].append(alikeness(replaces))
    return plot.lines(series, "number of blocks", "mean cosine of two rows", alt=(
        f"Eight different rows go through {blocks} random blocks. Where blocks replace, the mean cosine of two rows is "
        f"{show.number(series['replaces'][6], 2)} after six blocks; where blocks add, it is "
        f"{show.number(series['adds'][6], 2)} there, and {show.number(series['adds'][-1], 2)} at the end."))


def size(array):
    """Root of the mean of the squares, as in lesson 05."""
    return float(np.sqrt((array.astype(np.float64) ** 2).mean()))


def scaled(model, factors):
    """The model with some branches multiplied: {"h.2.attn": 0.0} takes attention out of block 2.

    A branch ends with the layer c_proj, so its weight and bias are multiplied.
    """
    w = dict(model.weights)
    for branch, factor in factors.items():
        for kind in ("weight", "bias"):
            name = f"{branch}.c_proj.{kind}"
            w[name] = w[name] * np.float32(factor)
    return GPT2(model.config, w, model.tokenizer, model.ops)


def without(model, *blocks):
    """The model with both branches of these blocks taken out."""
    return scaled(model, {f"h.{i}.{part}": 0.0 for i in blocks for part in PARTS})


def stream_sizes(trace, L):
    """Sizes of the stream (before block 0 and after each block), of what attention and the MLP add."""
    return (np.array([size(trace["embed"]), *(size(trace[f"h.{i}.resid_post"]) for i in range(L))]),
            *(np.array([size(trace[f"h.{i}.{part}"]) for i in range(L)]) for part in PARTS))


@plot.styled
def sizes(model, text):
    """Size of the stream, and of what each part adds to it, block by block."""
    stream, attention, added = stream_sizes(model.trace(model.encode(text)), model.config.n_layer)
    fig, (ax,) = plot.figure(height=320, drawn={"stream": stream, "attn": attention, "mlp": added}, alt=(
        f"Size (RMS) of the stream: {show.number(stream[0], 2)} before block 0, {show.number(stream[-1], 1)} after block "
        f"{len(stream) - 2}. Attention adds {_list(attention)}, the MLP {_list(added)}, block by block."))
    _sizes(ax, stream, attention, added, columns=3)
    return fig


def branches(model):
    """What can be taken out, for a list to choose from: (text, name of the branch)."""
    return [("nothing", ""), *((f"{word}, block {i}", f"h.{i}.{part}")
                               for i in range(model.config.n_layer) for part, word in PARTS.items())]


@plot.styled
def stream(model, text, first="", second="", factor=0.0, count=5):
    """Sizes with up to two branches multiplied by a factor; the next words with and without."""
    ids, L = model.encode(text), model.config.n_layer
    chosen = sorted({branch for branch in (first, second) if branch})
    other = scaled(model, {branch: factor for branch in chosen})
    before, after = model.trace(ids), other.trace(ids)
    probs = softmax(np.stack([before["logits"][-1], after["logits"][-1]]).astype(np.float64))   # (2, V)
    best = [np.argsort(-row, kind="stable")[:count] for row in probs]
    words = np.array(list(dict.fromkeys([*best[0], *best[1]])))
    names = [dict((b, a) for a, b in branches(model))[branch] for branch in chosen]
    how = "taken out" if factor == 0 else f"times {factor:.1f}"
    what = f"{' and '.join(names or ['nothing'])} {how}"
    labels = [_short(word) for word in show.tokens(model.tokenizer, words)]
    values = stream_sizes(after, L)
    fig, axes = plot.figure(2, height=360, width_ratios=(1, 1), drawn={
        "stream": values[0], "attn": values[1], "mlp": values[2], "stream before": stream_sizes(before, L)[0],
        "words": words, "probabilities": probs[:, words]}, alt=(
        f"With {what}: best next word “{labels[0]}” ({show.number(probs[0, words[0]], 2)}) as the model is, "
        f"“{show.tokens(model.tokenizer, best[1][:1])[0]}” ({show.number(probs[1].max(), 2)}) with the change."))
    _sizes(axes[0], *values, before=fig.drawn["stream before"] if names else None)
    for row, label, shift, colour, hatch in ((0, "as it is", -0.2, plot.BLUE, None), (1, "changed", 0.2, plot.VERMILLION, "//")):
        axes[1].barh(np.arange(len(words)) + shift, probs[row, words], height=0.4, color=colour, hatch=hatch,
                     edgecolor="white", label=label)
    axes[1].set_yticks(range(len(words)), labels)
    axes[1].set(ylim=(len(words) - 0.4, -0.6), xlim=(0, max(1.1 * probs.max(), 0.25)), xlabel="probability", ylabel="next word")
    axes[1].legend(frameon=False, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2)
    return fig


def _sizes(ax, stream, attention, added, before=None, columns=1):
    """Bars of what the parts add, the stream as a line between them; on a scale of factors of ten."""
    L, floor = len(attention), 0.05
    for values, shift, colour, hatch, label in ((attention, -0.19, plot.BLUE, None, "attention adds"),
                                                (added, 0.19, plot.VERMILLION, "//", "MLP adds")):
        ax.bar(np.arange(L) + shift, np.maximum(values, floor), width=0.36, color=colour, hatch=hatch, edgecolor="white",
               label=label)
    if before is not None:
        ax.plot(np.arange(L + 1) - 0.5, before, color="0.5", linestyle="--", label="stream as it was")
    ax.plot(np.arange(L + 1) - 0.5, np.maximum(stream, floor), color=plot.BLACK, marker="D", label="stream")
    ax.set_yscale("log")
    ax.yaxis.set_major_formatter("{x:g}")
    ax.minorticks_off()
    ax.set_xticks(range(0, L, -(-L // (12 if columns > 1 else 8))))                 # as many as there is room for
    ax.set(ylabel="size (RMS, log scale)", ylim=(floor, max(stream.max(), 10) * (5 if columns > 1 else 20)), xlabel="block")
    ax.legend(frameon=False, loc="upper left", ncols=columns)


def _list(values):
    return ", ".join(show.number(value, 1) for value in values)


def _short(word, most=12):
    """A token that fits its place."""
    return word if len(word) <= most else word[:most - 1] + "…"
