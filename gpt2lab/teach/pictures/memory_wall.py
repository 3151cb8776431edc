"""Pictures of the bonus lesson on the memory wall: work and bytes, the roofline, weights in few bits."""
import numpy as np

from gpt2lab.config import Config
from gpt2lab.model import GPT2
from gpt2lab.quantize import divergence, each_matrix
from gpt2lab.softmax import softmax
from gpt2lab.teach import plot, show

from .kv_cache import multiplications

SHARED = ("matrix", "column", "group of 32")    # what one scale serves


def operations(config, new, seen):
    """Multiplications and additions of one pass over `new` tokens, the last of which sees `seen` keys."""
    return 2 * multiplications(config, new, seen)


def bytes_read(config, seen):
    """Bytes of all weights and of the cache, each read once, as float32.

    Left out: the arrays in between, which stay in the processor, and all of the position table
    but a few rows.
    """
    D, F, L, V = config.n_embd, config.n_inner, config.n_layer, config.vocab_size
    block = 4 * D * D + 2 * D * F + 9 * D + F           # matrices; biases and the gains of two norms
    return 4 * (V * D + L * block + 2 * D) + 2 * L * seen * D * 4


def intensities(configs, most=256):
    """Operations for each byte over the tokens of a pass, {label: config}."""
    new = 2 ** np.arange(int(np.log2(most)) + 1)
    series = {label: np.array([operations(config, n, n) / bytes_read(config, n) for n in new])
              for label, config in configs.items()}
    ends = "; ".join(f"{label}: {values[0]:.1f} with 1, {values[-1]:.0f} with {new[-1]}"
                     for label, values in series.items())
    fig = plot.lines(series, "new tokens in one pass T (log scale)", "operations for each byte (log scale)",
                     x=new, log=True, logx=True, at_end=False, height=340,
                     alt=f"Operations for each byte that is read, over the tokens of a pass. {ends}.")
    fig.axes[0].set_yticks([0.5, 1, 2, 5, 10, 20, 50, 100])
    fig.axes[0].minorticks_off()
    return fig


def random_model(config, seed=0):
    """A GPT-2 of any size with random weights: it writes nonsense, at the speed of a real one."""
    D, F, V, N = config.n_embd, config.n_inner, config.vocab_size, config.n_positions
    rng = np.random.default_rng(seed)

    def numbers(*shape):
        return rng.random(shape, np.float32) * np.float32(0.04) - np.float32(0.02)
    weights = {"wte.weight": numbers(V, D), "wpe.weight": numbers(N, D)}
    for i in range(config.n_layer):
        for name, rows, columns in (("attn.c_attn", D, 3 * D), ("attn.c_proj", D, D), ("mlp.c_fc", D, F), ("mlp.c_proj", F, D)):
            weights |= {f"h.{i}.{name}.weight": numbers(rows, columns), f"h.{i}.{name}.bias": numbers(columns)}
    for name in ("ln_f", *(f"h.{i}.ln_{n}" for i in range(config.n_layer) for n in (1, 2))):
        weights |= {f"{name}.weight": np.ones(D, np.float32), f"{name}.bias": np.zeros(D, np.float32)}
    return GPT2(config, weights)


def larger_config():
    """A model whose weights are larger than the cache of most processors."""
    return Config(vocab_size=50257, n_positions=256, n_embd=512, n_layer=6, n_head=8)


@plot.styled
def roofline(bandwidth, rate, points):
    """The roof min(rate, bandwidth x intensity) and {label: (operations for each byte, operations a second)}."""
    x = 2.0 ** np.arange(-3, 10.01, 0.125)
    roof = np.minimum(rate, bandwidth * x)
    fig, (ax,) = plot.figure(height=360, drawn={"x": x, "roof": roof, "points": np.array(list(points.values()))}, alt=(
        f"Roofline: {bandwidth / 1e9:.1f} GB a second, {rate / 1e9:.0f} billion operations a second, so the roofs meet at "
        f"{rate / bandwidth:.1f} operations for each byte. " + "; ".join(
            f"{label} at {a:.1f}: {b / min(rate, bandwidth * a):.0%} of its roof" for label, (a, b) in points.items()) + "."))
    ax.plot(x, roof / 1e9, color="black", label="roof")
    ax.axvline(rate / bandwidth, color="0.6", linestyle=":", linewidth=1,
               label="where the roofs meet")
    for i, (label, (intensity, speed)) in enumerate(points.items()):
        ax.plot(intensity, speed / 1e9, plot.MARKERS[i % 5], color=plot.COLOURS[i % 5], label=label, linestyle="none")
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


def rounded(w, bits, shared="column"):
    """w (in, out) to the nearest of 2^bits - 1 levels, symmetric around 0; one scale for each `shared`."""
    most = 2 ** (bits - 1) - 1
    sizes = np.abs(w)
    if shared == "matrix":
        largest = sizes.max()
    elif shared == "column":
        largest = sizes.max(axis=0)                                                 # (out,)
    else:
        groups = np.maximum.reduceat(sizes, np.arange(0, len(w), 32), axis=0)       # (groups, out)
        largest = np.repeat(groups, 32, axis=0)[:len(w)]                            # (in, out)
    scale = np.where(largest > 0, largest, np.float32(1)) / np.float32(most)
    new = w / scale
    np.rint(new, out=new)
    new *= scale
    return new


@plot.styled
def steps(column, *bits):
    """The weights of one column (in,) before and after, once for each number of bits."""
    new = [rounded(column[:, None], b)[:, 0] for b in bits]
    fig, axes = plot.figure(len(bits), height=280, sharey=True, drawn=dict(zip(map(str, bits), new)), alt=(
        "The same weights rounded: " + "; ".join(
            f"{b} bits leave {2 ** b - 1} levels, mean error {show.number(np.abs(after - column).mean())}"
            for b, after in zip(bits, new)) + "."))
    for ax, b, after in zip(axes, bits, new):
        _levels(ax, column, b, "column")
        ax.plot(column, after, plot.MARKERS[0], color=plot.VERMILLION, markersize=4)
        ax.set(title=f"{b} bits, {2 ** b - 1} levels", xlabel="weight before")
    axes[0].set_ylabel("weight after")
    return fig


def _levels(ax, column, bits, shared):
    """A faint line for each level, where they can be told apart, and the diagonal of no error."""
    limit = np.abs(column).max()
    if bits <= 5 and shared == "column":
        for level in range(-(2 ** (bits - 1) - 1), 2 ** (bits - 1)):
            ax.axhline(level * limit / (2 ** (bits - 1) - 1), color="0.85", linewidth=0.7, zorder=0)
    ax.plot([-limit, limit], [-limit, limit], color="0.6", linewidth=0.8, linestyle="--", zorder=1)


@plot.styled
def losses(kinds, bits, perplexities):
    """Perplexity over the stored bits of a weight; kinds (n,) are the labels."""
    fig, (ax,) = plot.figure(height=300, drawn={"bits": np.array(bits), "perplexity": np.array(perplexities)}, alt=(
        "Perplexity over bits for each weight, scales included: " + "; ".join(
            f"{kind} {b:.1f} bits, {show.number(p, 0)}" for kind, b, p in zip(kinds, bits, perplexities)) + "."))
    ax.plot(bits, perplexities, color=plot.BLUE, marker=plot.MARKERS[0])
    for kind, b, p in zip(kinds, bits, perplexities):
        ax.annotate(kind, (b, p), xytext=(4, 7), textcoords="offset points")
    ax.set(xscale="log", yscale="log", xlabel="stored bits for each weight (log scale)", ylabel="perplexity (log scale)",
           ylim=(min(perplexities) * 0.6, max(perplexities) * 2), xlim=(min(bits) * 0.8, max(bits) * 1.5))
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_formatter("{x:g}")
        axis.set_minor_formatter("")
    ax.set_xticks([2, 4, 8, 16, 32])
    return fig


@plot.styled
def few_bits(model, text, bits, shared="column", best=5):
    """One column before and after rounding, and the next tokens of the model with all matrices rounded so."""
    ids = model.encode(text)[-64:]
    column = model.weights["h.0.mlp.c_fc.weight"][:, 0]                             # (in,)
    copy, _ = each_matrix(model, lambda w: rounded(w, bits, shared))
    after = copy.weights["h.0.mlp.c_fc.weight"][:, 0]
    logits, new = model.next_logits(ids), copy.next_logits(ids)                     # (V,)
    p, q = softmax(logits), softmax(new)
    top = np.argsort(-p, kind="stable")[:best]
    if new.argmax() not in top:
        top = np.append(top, new.argmax())          # the rounded model's best is always shown
    lost = divergence(logits[None], new[None])
    words = show.tokens(model.tokenizer, [*top, int(new.argmax())])
    fig, axes = plot.figure(2, height=330, drawn={"before": column, "after": after, "p": p[top], "q": q[top], "top": top}, alt=(
        f"{bits} bits, one scale for each {shared}: {2 ** bits - 1} levels, KL {show.number(lost, 2)} nats; "
        f"the best next token is “{words[-1]}”, with float32 “{words[0]}”."))
    _levels(axes[0], column, bits, shared)
    axes[0].plot(column, after, plot.MARKERS[0], color=plot.VERMILLION, markersize=3)
    levels = f"{2 ** bits - 1} levels"
    levels = {"matrix": f"matrix, {levels}; this column uses {len(np.unique(after))}", "column": f"a column, {levels}",
              "group of 32": f"{levels} for each scale"}[shared]
    axes[0].set(title=levels, xlabel="weight before", ylabel="weight after")
    places = np.arange(len(top))[::-1]
    axes[1].barh(places + 0.2, p[top], height=0.38, color=plot.BLUE, label="float32")
    axes[1].barh(places - 0.2, q[top], height=0.38, color=plot.VERMILLION, hatch="//", edgecolor="white", label=f"{bits} bits")
    axes[1].set_yticks(places, words[:-1])
    chosen = words[-1] if len(words[-1]) <= 14 else words[-1][:13] + "…"
    axes[1].set(title=f"KL {show.number(lost, 2)} nats, best: {chosen}", xlabel="probability of the next token")
    axes[1].legend(frameon=False, loc="best")
    return fig
