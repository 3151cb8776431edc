"""Is a model computed right? Against transformers where it is installed, else against stored values."""
import os

import numpy as np

from .checkpoint import BUNDLED, DATA, find, load

TOLERANCE = 1e-4
STORED = DATA.parent / "tests" / "golden" / "gpt2-tiny.npz"
# Greedy continuations of the published weights, each with its source.
PUBLISHED = {
    "gpt2": [([464, 3290], [373, 1043, 287, 257, 2214, 1474, 262, 16246, 286, 2688, 290, 2688, 27262, 13, 198, 198, 464, 3290],
              "transformers, tests/models/gpt2/test_modeling_gpt2.py")],
}


def validate(source=None):
    """[{check, found, ok}]: one row a prompt. Raises ValueError where there is nothing to compare with."""
    folder, model = find(source), load(source)
    try:
        os.environ.setdefault("HF_HUB_OFFLINE", "1")        # the folder is here: ask nobody
        import torch
        from transformers import GPT2LMHeadModel
    except ImportError:
        return _against_stored(source, folder, model)
    reference = GPT2LMHeadModel.from_pretrained(folder, dtype=torch.float32).eval()
    rows = []
    for ids in _prompts(model.config):
        with torch.no_grad():
            wanted = reference(torch.tensor([ids])).logits[0].numpy()               # (T, V)
        rows.append(_row(f"{len(ids)} tokens against transformers", model(ids), wanted))
    return rows


def _prompts(config):
    """Ids to try: one, a few, as many as fit (64 at most), spread over the vocabulary."""
    V, N = config.vocab_size, config.n_positions
    return [[(7919 * i + 464) % V for i in range(length)] for length in sorted({1, min(8, N), min(64, N)})]


def _against_stored(source, folder, model):
    if folder.resolve() == BUNDLED.resolve():
        if not STORED.is_file():
            raise ValueError(f"validate: the stored values are missing: no file {STORED}")
        with np.load(STORED) as stored:
            prompts = [name.removesuffix("/ids") for name in stored.files if name.endswith("/ids")]
            columns = np.linspace(0, model.config.vocab_size - 1, stored[f"{prompts[0]}/logits"].shape[1]).astype(int)
            rows = []
            for prompt in prompts:
                logits = model(stored[f"{prompt}/ids"])                             # (T, V)
                row = _row(f"{prompt} against stored values", logits[:, columns], stored[f"{prompt}/logits"])
                row["ok"] = row["ok"] and bool((logits.argmax(axis=-1) == stored[f"{prompt}/argmax"]).all())
                rows.append(row)
            return rows
    name = str(source).removeprefix("openai-community/")
    if name not in PUBLISHED:
        raise ValueError(f"validate: for {source} there are no stored values; install transformers and torch to compare")
    rows = []
    for prompt, wanted, origin in PUBLISHED[name]:
        got = model.generate_ids(prompt, max_new_tokens=len(wanted), temperature=0, eos_token_id=None).ids
        rows.append({"check": f"greedy text after {prompt} as published ({origin})", "ok": got == wanted,
                     "found": f"{sum(a == b for a, b in zip(got, wanted))} of {len(wanted)} tokens alike"})
    return rows


def _row(check, logits, wanted):
    apart = float(np.abs(logits - wanted).max())
    same = bool((logits.argmax(axis=-1) == wanted.argmax(axis=-1)).all())
    return {"check": check, "ok": apart <= TOLERANCE and same, "largest_difference": apart, "same_best_token": same,
            "found": f"largest difference {apart:.1e}, best token {'the same' if same else 'different'} in every row"}
