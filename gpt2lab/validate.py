"""Is a model computed right? Against transformers where installed, else against stored values."""
import os
from pathlib import Path

import numpy as np

from .checkpoint import BUNDLED, chosen, find, load

TOLERANCE = 1e-4
STORED = BUNDLED / "reference.npz"          # tests/golden/make_golden.py makes it
# What is published of the real weights. Parameters: counted from the configs on the Hub.
PARAMETERS = {"gpt2": 124_439_808, "gpt2-medium": 354_823_168, "gpt2-large": 774_030_080,
              "gpt2-xl": 1_557_611_200, "distilgpt2": 81_912_576, "gpt2-mini": 38_604_288}
# Greedy continuations: prompt, text that must stand in the continuation, new tokens (None: to the
# end of the context), source.
GREEDY = {
    "gpt2": [("The dog", " was found in a field near the intersection of West and West Streets.\n\n"
              "The dog", 18, "transformers, tests/models/gpt2/test_modeling_gpt2.py"),
             ("Alan Turing theorized that computers would one day become",
              " the most powerful machines on the planet.\n\nThe computer is a machine that can "
              "perform complex calculations, and it can perform these calculations in a way that "
              "is very similar to the human brain.", 40, "jaymody/picoGPT, README")],
    "gpt2-mini": [("i want to sleep!!", "not sure if I\u2019m going to sleep at night, "
                   "but I\u2019m sure I\u2019m going to sleep", None,
                   "the article that this course started from")],
}


def validate(source=None):
    """[{check, found, ok}], one row a prompt, of the model that load(source) gives.

    Raises: ValueError where there is nothing to compare with.
    """
    folder = find(source)
    model = load(folder)
    try:
        import torch
        from transformers import GPT2LMHeadModel
    except ImportError:
        if folder.resolve() == BUNDLED.resolve():
            return _against_stored(model)
        return _against_published(_name(chosen(source)), model)
    reference = GPT2LMHeadModel.from_pretrained(folder, dtype=torch.float32, local_files_only=True)
    reference.eval()
    rows = []
    for ids in _prompts(model.config):
        with torch.no_grad():
            wanted = reference(torch.tensor([ids])).logits[0].numpy()               # (T, V)
        rows.append(_row(f"{len(ids)} tokens against transformers", model(ids), wanted))
    return rows


def _prompts(config):
    """Ids to try: one, a few, as many as fit (64 at most), spread over the vocabulary."""
    V, N = config.vocab_size, config.n_positions
    lengths = sorted({1, min(8, N), min(64, N)})
    return [[(7919 * i + 464) % V for i in range(length)] for length in lengths]


def _name(source):
    """The name under which a model may be published: "gpt2" of gpt2, owner/gpt2, ~/gpt2, "."."""
    return Path(os.path.abspath(os.path.expanduser(source))).name


def _against_stored(model):
    """Rows for the bundled model."""
    if not STORED.is_file():
        raise ValueError(f"validate: the stored values are missing: no file {STORED}")
    with np.load(STORED) as stored:
        prompts = [name.removesuffix("/ids") for name in stored.files if name.endswith("/ids")]
        count = stored[f"{prompts[0]}/logits"].shape[1]
        columns = np.linspace(0, model.config.vocab_size - 1, count).astype(int)    # (count,)
        rows = []
        for prompt in prompts:
            logits = model(stored[f"{prompt}/ids"])                                 # (T, V)
            row = _row(f"{prompt} against stored values",
                       logits[:, columns], stored[f"{prompt}/logits"])
            same = logits.argmax(axis=-1) == stored[f"{prompt}/argmax"]             # (T,)
            row["ok"] = row["ok"] and bool(same.all())
            rows.append(row)
        return rows


def _against_published(name, model):
    """Rows for one of the models in PARAMETERS.

    Raises: ValueError where nothing that it computes is published.
    """
    count = sum(array.size for array in model.weights.values())
    if name not in GREEDY:
        size = f" but its size ({count:,} parameters, published {PARAMETERS.get(name, 0):,})"
        raise ValueError(f"validate: for {name} there are no stored values"
                         f"{size if name in PARAMETERS else ''}; "
                         "install transformers and torch to compare")
    rows = [{"check": "parameters as published", "ok": count == PARAMETERS[name],
             "found": f"{count:,} of {PARAMETERS[name]:,}"}]
    for prompt, wanted, tokens, origin in GREEDY[name]:
        tokens = tokens or model.config.n_positions - len(model.encode(prompt))
        text = model.generate(prompt, max_new_tokens=tokens, temperature=0, eos_token_id=None)
        rows.append({"check": f"greedy text after {prompt!r} as published ({origin})",
                     "ok": wanted in text, "found": f"{text[:len(wanted)]!r:.80}"})
    return rows


def _row(check, logits, wanted):
    apart = float(np.abs(logits - wanted).max())
    same = bool((logits.argmax(axis=-1) == wanted.argmax(axis=-1)).all())
    found = (f"largest difference {apart:.1e}, "
             f"best token {'the same' if same else 'different'} in every row")
    return {"check": check, "ok": apart <= TOLERANCE and same, "largest_difference": apart,
            "same_best_token": same, "found": found}
