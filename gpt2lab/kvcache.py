"""The KV cache: keys and values of the tokens so far, kept so that no token is read twice."""
from functools import partial

import numpy as np


def remember(old_k, old_v, k, v):
    """All keys and values so far: in each head the new rows below the old ones.

    Shapes: old_k and old_v (H, S - T, Dh), k and v (H, T, Dh) -> all_k (H, S, Dh), all_v (H, S, Dh)
    Raises: ValueError where they do not fit.
    Taught: notebooks/12_kv_cache.ipynb
    """
    old, new = old_k.shape, k.shape
    fit = (old_v.shape, v.shape) == (old, new) and len(old) == len(new) == 3
    if not fit or old[::2] != new[::2]:
        raise ValueError("remember: old_k and old_v (H, S - T, Dh), k and v (H, T, Dh) must have "
                         f"one H and one Dh, got {old}, {old_v.shape}, {new}, {v.shape}")
    all_k = np.concatenate([old_k, k], axis=-2)                                     # (H, S, Dh)
    all_v = np.concatenate([old_v, v], axis=-2)                                     # (H, S, Dh)
    return all_k, all_v


class KVCache:
    """Keys and values of every block, allocated once for the whole context.

    Shapes: keys and values (L, H, N, Dh) float32, of which the first `length` positions are used.
    One cache belongs to one text. Set .length back to forget the latest tokens; 0 starts anew.
    Taught: notebooks/12_kv_cache.ipynb
    """

    def __init__(self, config):
        self.keys = np.zeros(self.shape(config), np.float32)                        # (L, H, N, Dh)
        self.values = np.zeros(self.shape(config), np.float32)                      # (L, H, N, Dh)
        self.length = 0                         # tokens that all blocks have seen

    @staticmethod
    def shape(config):
        """(L, H, N, Dh) of a model of this config."""
        return config.n_layer, config.n_head, config.n_positions, config.n_embd // config.n_head

    def remember(self, layer, join=remember):
        """A function for block `layer`: it adds new k, v (H, T, Dh) and gives all (H, S, Dh).

        join: makes all of old and new, as the function remember does. In place of remember itself
            the new rows are written where they belong: the same arrays, and nothing is copied.
        """
        return partial(self._append, layer, join)

    def _append(self, layer, join, k, v):
        H, N, Dh = self.keys.shape[1:]
        if k.shape != v.shape or k.ndim != 3 or k.shape[::2] != (H, Dh):
            raise ValueError(f"KVCache: k and v must have shape (H, T, Dh) = ({H}, T, {Dh}), "
                             f"got {k.shape}, {v.shape}")
        start, end = self.length, self.length + k.shape[1]
        if end > N:
            raise ValueError(f"KVCache: holds N = {N} positions, got {end}")
        keys, values = self.keys[layer, :, :end], self.values[layer, :, :end]       # (H, S, Dh)
        if join is remember:
            keys[:, start:], values[:, start:] = k, v
            return keys, values                                                     # (H, S, Dh)
        all_k, all_v = _joined(join, keys[:, :start], values[:, :start], k, v)      # (H, S, Dh)
        keys[:, start:], values[:, start:] = all_k[:, start:], all_v[:, start:]
        return all_k, all_v                                                         # (H, S, Dh)

    def __repr__(self):
        L, H, N, Dh = self.keys.shape
        return f"<KVCache {self.length} of {N} positions, {L} blocks, {H} heads of {Dh}>"


def _joined(join, old_k, old_v, k, v):
    """join(old_k, old_v, k, v), where it gives two arrays (H, S, Dh); the old rows stay theirs."""
    old_k.flags.writeable = old_v.flags.writeable = False       # of these views, not of the cache
    both = join(old_k, old_v, k, v)
    H, S, Dh = len(k), old_k.shape[1] + k.shape[1], k.shape[2]
    parts = both if isinstance(both, (tuple, list)) else [both]
    got = [getattr(part, "shape", type(part).__name__) for part in parts]
    if got != 2 * [(H, S, Dh)]:
        raise ValueError("remember: must give all keys and all values, two arrays of shape "
                         f"(H, S, Dh) = {H, S, Dh}, got {', '.join(map(str, got))}")
    return both
