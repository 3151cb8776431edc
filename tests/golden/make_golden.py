"""Make the stored reference values, with torch and transformers: what GPT-2 really computes.

python tests/golden/make_golden.py            write the two files of FILES
python tests/golden/make_golden.py --check    compute all anew and compare with the stored files

Nothing of gpt2lab is used here, so that a fault in it cannot hide in the reference.
In the files, for each prompt p: p/ids; p/argmax and p/logsumexp of each row; p/logits (T, columns);
p/last for some; p/greedy, the ids that follow; p/shapes and p/trace, the traced arrays (names, in
order, under "names"), sampled and joined. recipes.py says which columns and places.
"""
import io
import sys
import tempfile
import zipfile
from pathlib import Path

import numpy as np
import torch
from transformers import GPT2LMHeadModel, GPT2Tokenizer
from transformers.utils.logging import disable_progress_bar

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))     # a script: no pytest's pythonpath
from recipes import (
    FULL_ROWS,
    PROMPTS,
    SMALL,
    SMALL_PROMPTS,
    columns,
    sampled,
    write_checkpoint,
)

HERE = Path(__file__).resolve().parent
DATA = HERE.parent.parent / "data"
FILES = {"gpt2-tiny": DATA / "gpt2-tiny" / "reference.npz", "small": HERE / "small.npz"}
CONTINUATION = 40
TOLERANCE = 1e-5                # another machine adds up in another order


def reference_model(folder):
    """GPT2LMHeadModel in float32 whose attention is written out, not fused."""
    model, report = GPT2LMHeadModel.from_pretrained(folder, attn_implementation="eager",
                                                    dtype=torch.float32,
                                                    output_loading_info=True)
    wrong = {kind: names for kind, names in report.items() if names}
    assert not wrong, f"transformers did not take the checkpoint as it is: {wrong}"
    return model.eval()


def trace(model, ids):
    """{name: array} of one run, under the names and in the order of gpt2lab's trace."""
    seen = {}

    def keep(name, module, before=False):
        def hook(module, inputs, outputs=None):
            value = inputs if before else outputs
            seen[name] = (value[0] if isinstance(value, tuple) else value)[0].detach().clone()
        return (module.register_forward_pre_hook if before else module.register_forward_hook)(hook)

    body = model.transformer
    hooks = [keep("embed", body.drop), keep("ln_f", body.ln_f)]
    for i, block in enumerate(body.h):
        at = f"h.{i}."
        hooks += [keep(at + "resid_pre", block, before=True),
                  keep(at + "resid_mid", block.ln_2, before=True),
                  keep(at + "resid_post", block), keep(at + "merged", block.attn.c_proj,
                                                       before=True)]
        hooks += [keep(at + name, block.get_submodule(name)) for name in
                  ("ln_1", "attn", "attn.c_attn", "attn.c_proj", "ln_2", "mlp", "mlp.c_fc",
                   "mlp.act", "mlp.c_proj")]
    with torch.no_grad():
        result = model(torch.tensor([ids]), output_attentions=True, use_cache=False)
    for hook in hooks:
        hook.remove()

    T, H = len(ids), model.config.n_head
    later = torch.ones(T, T, dtype=torch.bool).triu(1)
    for i, pattern in enumerate(result.attentions):
        at = f"h.{i}."
        heads = lambda rows: rows.view(T, H, -1).transpose(0, 1)                    # noqa: E731
        q, k, v = (heads(part) for part in seen[at + "attn.c_attn"].chunk(3, dim=-1))
        scores = (q @ k.mT / q.shape[-1] ** 0.5).masked_fill(later, -torch.inf)
        # transformers does not show its scores; these are right if its pattern follows from them
        assert torch.allclose(scores.softmax(-1), pattern[0], atol=1e-6)
        seen |= {at + "attn.q": q, at + "attn.k": k, at + "attn.v": v, at + "attn.scores": scores,
                 at + "attn.pattern": pattern[0], at + "attn.mixed": heads(seen.pop(at + "merged"))}
    seen["logits"] = result.logits[0]
    return {name: seen[name].numpy() for name in names(model.config.n_layer)}


def names(n_layer):
    """The names of a trace, in the order of computing."""
    block = ("resid_pre ln_1 attn.c_attn attn.q attn.k attn.v attn.scores attn.pattern attn.mixed "
             "attn.c_proj attn resid_mid ln_2 mlp.c_fc mlp.act mlp.c_proj mlp resid_post").split()
    return ["embed", *(f"h.{i}.{name}" for i in range(n_layer) for name in block), "ln_f", "logits"]


def greedy(model, ids):
    """The ids that follow, each the most probable one, without a cache; a full context ends it."""
    text, gap = list(ids), np.inf
    while len(text) - len(ids) < CONTINUATION and len(text) <= model.config.n_positions:
        with torch.no_grad():
            best = model(torch.tensor([text]), use_cache=False,
                         logits_to_keep=1).logits[0, -1].topk(2)
        text.append(int(best.indices[0]))
        gap = min(gap, float(best.values[0] - best.values[1]))
    assert gap > 1e-3, f"two tokens are nearly as probable ({gap}): take another prompt"
    return text[len(ids):]


def reference(folder, prompts):
    """{key: array}, what is stored of one checkpoint."""
    model = reference_model(folder)
    stored = {"names": np.array(names(model.config.n_layer))}
    for prompt, ids in prompts.items():
        arrays = trace(model, ids)
        logits, shapes = arrays["logits"], np.zeros((len(arrays), 3), np.int32)
        for row, array in zip(shapes, arrays.values()):
            row[:array.ndim] = array.shape
        stored |= {
            f"{prompt}/ids": np.array(ids, np.int32),
            f"{prompt}/argmax": logits.argmax(axis=-1).astype(np.int32),
            f"{prompt}/logsumexp": torch.tensor(logits).logsumexp(-1).numpy(),
            f"{prompt}/logits": logits[:, columns(logits.shape[1])],
            f"{prompt}/greedy": np.array(greedy(model, ids), np.int32),
            f"{prompt}/shapes": shapes,
            f"{prompt}/trace": np.concatenate([sampled(array, len(ids))
                                               for array in arrays.values()])}
        if prompt in FULL_ROWS:
            stored[f"{prompt}/last"] = logits[-1]
    return stored


def references():
    """{checkpoint: {key: array}}, what all stored files hold."""
    tokenizer = GPT2Tokenizer(vocab=str(DATA / "gpt2-vocab/encoder.json"),
                              merges=str(DATA / "gpt2-vocab/vocab.bpe"))
    tiny = {prompt: tokenizer.encode(text)[:256] for prompt, text in PROMPTS.items()}
    for prompt, count in (("one token", 1), ("two tokens", 2), ("all positions", 256)):
        assert len(tiny[prompt]) == count
    with tempfile.TemporaryDirectory() as folder:
        return {"gpt2-tiny": reference(DATA / "gpt2-tiny", tiny),
                "small": reference(write_checkpoint(folder, SMALL), SMALL_PROMPTS)}


def write(path, arrays):
    """An .npz whose bytes depend on the arrays only: np.savez promises nothing about its dates."""
    with zipfile.ZipFile(path, "w") as file:
        for key, array in arrays.items():
            buffer = io.BytesIO()
            np.lib.format.write_array(buffer, array, allow_pickle=False)
            entry = zipfile.ZipInfo(key + ".npy", date_time=(1980, 1, 1, 0, 0, 0))
            file.writestr(entry, buffer.getvalue(), zipfile.ZIP_DEFLATED, 9)


def differences(name, arrays):
    """One line for each array that is not as stored in the file, and the largest difference."""
    stored, lines, largest = dict(np.load(FILES[name])), [], 0.0
    for key in sorted(stored.keys() ^ arrays.keys()):
        lines.append(f"{name}: {key} is {'no longer computed' if key in stored else 'not stored'}")
    for key in stored.keys() & arrays.keys():
        old, new = stored[key], arrays[key]
        if old.shape != new.shape or old.dtype != new.dtype:
            lines.append(f"{name}: {key} is stored as {old.dtype} {old.shape}, "
                         f"computed as {new.dtype} {new.shape}")
        elif old.dtype.kind != "f":
            if not np.array_equal(old, new):
                lines.append(f"{name}: {key} differs")
        else:
            finite = np.isfinite(old) & np.isfinite(new)
            off = np.abs(old[finite] - new[finite]).max()
            allowed = TOLERANCE * max(1, np.abs(old[finite]).max())
            if off > allowed or not np.array_equal(old[~finite], new[~finite]):
                lines.append(f"{name}: {key} differs by {off:.2g}")
            largest = max(largest, off)
    return sorted(lines), largest


def main(arguments):
    torch.set_num_threads(1)            # one order of adding up: two runs give the same bytes
    disable_progress_bar()
    if arguments not in ([], ["--check"]):
        print("usage: make_golden.py [--check]", file=sys.stderr)
        return 2
    failed = False
    for name, arrays in references().items():
        if not arguments:
            write(FILES[name], arrays)
            print(f"{name}: {len(arrays)} arrays, {FILES[name].stat().st_size} bytes")
            continue
        lines, largest = differences(name, arrays)
        as_stored = f"{name}: {len(arrays)} arrays as stored, largest difference {largest:.2g}"
        print("\n".join(lines or [as_stored]))
        failed = failed or bool(lines)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
