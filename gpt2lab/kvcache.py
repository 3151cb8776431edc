"""The KV cache: keys and values of the tokens so far, kept so that no token is read twice."""
from functools import partial

import numpy as np


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

    def remember(self, layer):
        """A function for block `layer`: it adds new k, v (H, T, Dh) and gives all (H, S, Dh)."""
        return partial(self._append, layer)

    def _append(self, layer, k, v):
        H, N, Dh = self.keys.shape[1:]
        if k.shape != v.shape or k.ndim != 3 or k.shape[::2] != (H, Dh):
            raise ValueError(f"KVCache: k and v must have shape (H, T, Dh) = ({H}, T, {Dh}), "
                             f"got {k.shape}, {v.shape}")
        end = self.length + k.shape[1]
        if end > N:
            raise ValueError(f"KVCache: holds N = {N} positions, got {end}")
        self.keys[layer, :, self.length:end] = k
        self.values[layer, :, self.length:end] = v
        return self.keys[layer, :, :end], self.values[layer, :, :end]               # (H, S, Dh)

    def __repr__(self):
        L, H, N, Dh = self.keys.shape
        return f"<KVCache {self.length} of {N} positions, {L} blocks, {H} heads of {Dh}>"
