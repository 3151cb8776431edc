"""A folder with random weights of the exact shape of GPT-2 124M, as transformers would save it.

    python benchmarks/random_checkpoint.py FOLDER

The numbers mean nothing: speed and memory do not depend on them. Needs requirements-slow.txt.
"""
import json
import sys
from pathlib import Path

import numpy as np
from safetensors.numpy import save_file

CONFIG = {"model_type": "gpt2", "architectures": ["GPT2LMHeadModel"], "activation_function": "gelu_new",
          "vocab_size": 50257, "n_positions": 1024, "n_embd": 768, "n_layer": 12, "n_head": 12,
          "layer_norm_epsilon": 1e-5, "bos_token_id": 50256, "eos_token_id": 50256}


def make(folder, seed=0):
    """Write config.json and model.safetensors, unless they are there."""
    folder = Path(folder)
    if (folder / "config.json").exists():
        return folder
    folder.mkdir(parents=True, exist_ok=True)
    D, V, N = CONFIG["n_embd"], CONFIG["vocab_size"], CONFIG["n_positions"]
    rng = np.random.default_rng(seed)

    def normal(*shape):
        return rng.normal(0, 0.02, shape).astype(np.float32)
    weights = {"wte.weight": normal(V, D), "wpe.weight": normal(N, D)}
    for name in ["ln_f", *(f"h.{i}.{norm}" for i in range(CONFIG["n_layer"]) for norm in ("ln_1", "ln_2"))]:
        weights |= {f"{name}.weight": np.ones(D, np.float32), f"{name}.bias": np.zeros(D, np.float32)}
    for i in range(CONFIG["n_layer"]):
        for name, rows, columns in (("attn.c_attn", D, 3 * D), ("attn.c_proj", D, D),
                                    ("mlp.c_fc", D, 4 * D), ("mlp.c_proj", 4 * D, D)):
            weights |= {f"h.{i}.{name}.weight": normal(rows, columns), f"h.{i}.{name}.bias": normal(columns)}
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    (folder / "config.json").write_text(json.dumps(CONFIG, indent=1), encoding="utf-8")
    return folder


if __name__ == "__main__":
    print(make(sys.argv[1]))
