"""What stands around the learner's functions in the file that export writes; not run from here.

exporting.py copies all of it but this docstring and the remark below. The functions of the lessons,
which it calls, come before it in that file.
"""
# ruff: noqa: F821
import argparse
import json
import re
import sys
import unicodedata
from functools import partial
from itertools import groupby
from pathlib import Path

import numpy as np

KNOWN = {"model_type": "gpt2", "activation_function": "gelu_new", "scale_attn_weights": True,
         "scale_attn_by_inverse_layer_idx": False, "add_cross_attention": False}
OPTIONS = [     # name, kind, default, least, most, what it means
    ("max-new-tokens", int, 40, 0, 10 ** 6, "how many to write (40), as far as there is room"),
    ("temperature", float, 1.0, 0, 10 ** 6, "0: always the best token; above 1: wilder"),
    ("top-k", int, None, 1, 10 ** 6, "choose among so many of the best tokens"),
    ("top-p", float, None, 0, 1, "choose among the best that have this share"),
    ("min-p", float, None, 0, 1, "drop what has less than this share of the best"),
    ("seed", int, None, 0, 2 ** 63, "the same number, the same text")]


def read_config(path):
    """config.json as a dict; a model that is computed in another way is refused."""
    given = json.loads(path.read_text(encoding="utf-8"))
    config = KNOWN | {"n_positions": given.get("n_ctx"), "layer_norm_epsilon": 1e-5,
                      "eos_token_id": 50256, "tie_word_embeddings": True}
    config |= {key: value for key, value in given.items() if value is not None}
    wrong = [key for key in KNOWN if config[key] != KNOWN[key]]
    wrong += [key for key in ("n_layer", "n_head", "n_positions") if type(config[key]) is not int]
    if wrong:
        raise ValueError(f"a model whose {wrong[0]} is {config[wrong[0]]!r} is not computed here")
    return config


def read_weights(path, config):
    """({name: array} of the weight file, a list of the same for each block), all float32."""
    data, w = path.read_bytes(), {}
    for name, (dtype, *place) in read_header(data).items():
        if dtype not in ("F32", "F16"):
            raise ValueError(f"F32 and F16 can be read, and {name} is {dtype}")
        w[name.removeprefix("transformer.")] = tensor_view(data, dtype, *place).astype(np.float32)
    parts = ("ln_1", "attn.c_attn", "attn.c_proj", "ln_2", "mlp.c_fc", "mlp.c_proj")
    names = [f"{part}.{kind}" for part in parts for kind in ("weight", "bias")]
    blocks = [{name: w[f"h.{i}.{name}"] for name in names} for i in range(config["n_layer"])]
    w["head"] = w["wte.weight"] if config["tie_word_embeddings"] else w["lm_head.weight"]
    (N, D), left = w["wpe.weight"].shape, f"h.{len(blocks)}.ln_1.bias" in w
    if left or N != config["n_positions"] or D % config["n_head"] or w["ln_f.bias"].shape != (D,):
        raise ValueError("it holds another model than config.json describes")
    return w, blocks


def read_vocabulary(table, merges, V):
    """ranks {(bytes, bytes): rank}, ids {bytes: id}, tokens [bytes of id 0, of id 1, ...]."""
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]   # bytes that print as they are
    others = [byte for byte in range(256) if byte not in plain]     # these are written from 256 on
    byte_of = dict(zip(map(chr, [*plain, *range(256, 324)]), plain + others))
    names = json.loads(table.read_text(encoding="utf-8"))
    ids = {bytes(byte_of[c] for c in name): i for name, i in names.items()}
    lines = merges.read_text(encoding="utf-8").split("\n")
    pairs = [line.split(" ") for line in lines if line and not line.startswith("#version")]
    ranks = {tuple(bytes(byte_of[c] for c in part) for part in pair): rank
             for rank, pair in enumerate(pairs[:V - 256])}  # a small model knows the first alone
    whole = sorted(ids.values()) == [*range(len(ids))] and 256 <= len(ids) - len(pairs) < 300
    if not whole or any(a + b not in ids for a, b in ranks):
        raise ValueError(f"a token is missing, or {merges.name} is of another vocabulary")
    return ranks, ids, sorted(ids, key=ids.get)


def piece_pattern():
    """GPT-2's expression that cuts a text: 's and the like, words, numbers, marks, white space."""
    of = {"Z": "\t-\r\x85"}     # letters L, numbers N, white space Z, by Python's own tables
    for kind, run in groupby(map(chr, range(0x40000)), lambda c: unicodedata.category(c)[0]):
        first, *_, last = [*run] * 2            # twice: a run of one has a first and a last too
        of[kind] = of.get(kind, "") + f"{first}-{last}"
    cut = "'(?:[sdmt]|ll|ve|re)| ?[{L}]+| ?[{N}]+| ?[^{Z}{L}{N}]+|[{Z}]+(?![^{Z}])|[{Z}]+"
    return re.compile(cut.format(**of))


def reader(config, w, blocks):
    """A function next_logits(ids) -> (V,); it reads what is new in ids since its last call."""
    n_head, epsilon = config["n_head"], config["layer_norm_epsilon"]
    none = np.zeros((n_head, 0, len(w["ln_f.bias"]) // n_head), np.float32)         # (H, 0, Dh)
    past = [(none, none) for _ in blocks]       # of each block, k and v so far: (H, S, Dh) each
    heads = partial(attend_heads, linear=linear, attend=partial(attend, softmax=softmax))
    parts = {"layer_norm": layer_norm, "attend_heads": heads,
             "mlp": partial(mlp, linear=linear, gelu=gelu)}     # handed over, as in the lessons
    def add(i, k, v):                           # what block calls remember: new in, all out
        past[i] = remember(*past[i], k, v)
        return past[i]
    def next_logits(ids):
        start = past[0][0].shape[1]             # so many of the ids have been read
        x = embed(np.array(ids[start:]), w["wte.weight"], w["wpe.weight"], start=start) # (T, D)
        for i, weights in enumerate(blocks):
            x = block(x, weights, n_head=n_head, epsilon=epsilon, remember=partial(add, i), **parts)
        return lm_head(x[-1:], w["ln_f.weight"], w["ln_f.bias"], w["head"],             # (1, V)
                       epsilon=epsilon, layer_norm=layer_norm)[0]
    return next_logits


def show(ids, tokens):
    """Print the text of a stream of ids as it comes, in whole characters."""
    waiting = []
    for i in ids:
        waiting.append(i)
        if not decode(waiting, tokens).endswith("\ufffd"):  # else the character may go on
            print(decode(waiting, tokens), end="", flush=True)
            waiting = []
    print(decode(waiting, tokens))


def load(read, source, *others):
    """read(source, *others); where that fails, one line that says why, and the end."""
    try:
        return read(source, *others)
    except Exception as error:
        why = f"{error} is missing" if isinstance(error, KeyError) else error
        why = getattr(error, "strerror", None) or why
        print(f"{getattr(error, 'filename', source)}: {why} (see --help)", file=sys.stderr)
        raise SystemExit(2) from error


def main():
    parser = argparse.ArgumentParser(description=__doc__, usage="%(prog)s PROMPT [options], --help")
    parser.add_argument("prompt", help="the text to go on from, in quotes")
    parser.add_argument("--model", type=Path, metavar="FOLDER", help="where the model's files are")
    for name, kind, default, *_, words in OPTIONS:
        parser.add_argument(f"--{name}", type=kind, default=default, help=words)
    a, here = parser.parse_args(), Path(__file__).resolve()
    for name, *_, least, most, _ in OPTIONS:
        value = getattr(a, name.replace("-", "_"))
        if value is not None and not least <= value <= most:
            parser.error(f"--{name} must be from {least} to {most}, got {value}")
    beside = [here.parent, here.with_name(f"{here.stem}_model"), Path()]
    folder = a.model or next((p for p in beside if (p / "config.json").is_file()), beside[0])
    config = load(read_config, folder / "config.json")
    w, blocks = load(read_weights, folder / "model.safetensors", config)
    pairs = [(p / table, p / merges) for p in (folder, *beside) for table, merges in (
        ("encoder.json", "vocab.bpe"), ("vocab.json", "merges.txt"))]
    files = next((pair for pair in pairs if pair[0].is_file()), pairs[0])
    ranks, ids, tokens = load(read_vocabulary, *files, len(w["wte.weight"]))
    prompt, N = load(encode, a.prompt, piece_pattern(), merge, ranks, ids), config["n_positions"]
    if not 1 <= len(prompt) <= N or max(prompt) >= len(w["wte.weight"]):
        parser.error(f"the prompt must have 1 to {N} of the model's tokens, got {len(prompt)}")
    next_logits, random = reader(config, w, blocks), np.random.default_rng(a.seed)
    def choose(logits):                                                                 # (V,)
        logits = logits[:len(tokens)].astype(np.float64)        # the others only pad the table
        probs = probabilities(logits, a.temperature, a.top_k, a.top_p, a.min_p)
        return sample(probs, random.random())
    new = write_loop(next_logits, prompt, a.max_new_tokens, N, config["eos_token_id"], choose)
    sys.stdout.reconfigure(errors="backslashreplace")
    print(a.prompt, end="", flush=True)
    show(new, tokens)


if __name__ == "__main__":
    main()
