"""Pictures of lesson 12: the work with and without a cache, and the cache as it fills."""
import numpy as np

from gpt2lab.kvcache import KVCache
from gpt2lab.teach import plot, show


def multiplications(config, new, seen):
    """Multiplications of one pass that reads `new` tokens, of which the last sees `seen` keys.

    Each token meets every weight of the blocks once; q k and pattern v cost 2 D for each pair of
    query and key; the LM head is taken for the last row only.
    """
    D, F, L, V = config.n_embd, config.n_inner, config.n_layer, config.vocab_size
    return L * new * (4 * D * D + 2 * D * F) + L * 2 * D * new * seen + V * D


def work(config, prompt, total):
    """Sums over the steps that make a text of `total` tokens: (without a cache, with a cache)."""
    lengths = np.arange(prompt, total + 1)
    naive = np.cumsum([multiplications(config, n, n) for n in lengths])
    cached = np.cumsum([multiplications(config, prompt if n == prompt else 1, n) for n in lengths])
    return naive, cached


def work_curves(config, prompt, total):
    """Multiplications so far over the length of the text."""
    naive, cached = work(config, prompt, total)
    return plot.lines({"without": naive / 1e9, "with cache": cached / 1e9}, "tokens T", "multiplications so far (10⁹)",
                      x=np.arange(prompt, total + 1), alt=(
                          f"Multiplications until the text has {total} tokens: without a cache "
                          f"{naive[-1] / cached[-1]:.1f} times as many as with one."))


@plot.styled
def cache_step(model, text, step, block=0, head=0):
    """The cache after `step` moves: move 0 reads the prompt, each later one reads one new token."""
    ids = model.encode(text)[:24]
    cache, new = KVCache(model.config), ids
    for _ in range(step):
        logits = model.next_logits(new, cache)
        new = [int(logits.argmax())]
        ids = ids + new
    old = cache.length
    model.next_logits(new, cache)
    length, prompt = cache.length, len(ids) - step
    keys = cache.keys[block, head, :length]                                         # (S, Dh)
    values = cache.values[block, head, :length]                                     # (S, Dh)
    naive, cached = work(model.config, prompt, length)
    tokens = show.tokens(model.tokenizer, ids)
    bytes_used = 2 * model.config.n_layer * length * model.config.n_embd * 4
    fig, axes = plot.figure(3, height=400, drawn={"keys": keys, "values": values, "work": np.array([naive[-1], cached[-1]])}, alt=(
        f"Move {step}: rows {old} to {length - 1} of K and V are new, {length} rows are kept, {bytes_used:,} bytes in all blocks; "
        f"without a cache {naive[-1] / cached[-1]:.1f} times the multiplications."))
    rows = length + 3
    for ax, name, array in ((axes[0], "K", keys), (axes[1], "V", values)):
        limit = np.abs(array).max()
        shown = np.full((rows, array.shape[1]), np.nan)
        shown[:length] = array
        ax.imshow(np.ma.masked_invalid(shown), cmap="PuOr", vmin=-limit, vmax=limit, aspect="auto")
        ax.axhspan(length - 0.5, rows - 0.5, facecolor="0.9", hatch="////", edgecolor="0.6", linewidth=0)
        ax.axhspan(old - 0.5, length - 0.5, fill=False, edgecolor=plot.VERMILLION, linewidth=2.5)
        ax.set(title=f"{name} ({length}, {array.shape[1]})", xlabel="column Dh")
        ax.set_yticks(range(0, length, -(-length // 16)), tokens[::-(-length // 16)] if name == "K" else [])
    axes[0].set_ylabel("key S; framed: new")
    for place, (name, value, colour, hatch) in enumerate((("without", naive[-1], plot.BLUE, None),
                                                          ("with", cached[-1], plot.GREEN, "//"))):
        axes[2].bar(place, value / 1e6, color=colour, hatch=hatch, edgecolor="white")
        axes[2].text(place, value / 1e6, f"{value / 1e6:,.0f}", ha="center", va="bottom")
    axes[2].set_xticks([0, 1], ["without", "with cache"])
    axes[2].set(title=f"{bytes_used:,} bytes kept", ylabel="multiplications so far (10⁶)")
    return fig


def time_curves(lengths, naive, cached):
    """Measured seconds for one more token over the length of the text."""
    return plot.lines({"without": np.array(naive) * 1e3, "with cache": np.array(cached) * 1e3}, "tokens T so far",
                      "one more token (ms)", x=lengths,
                      alt="Measured time for one more token over the length of the text, without and with a cache.")
