"""Prompt lookup beside plain greedy writing: tokens a pass, tokens a second, and the same tokens.

    python benchmarks/lookup.py            a table
    python benchmarks/lookup.py --json     the same for machines
    python benchmarks/lookup.py --cpu      counts CPU seconds: if busy, and with OMP_NUM_THREADS=1

Two models: the bundled one, and random weights of GPT-2 124M's shape. Three texts:

  loop    what the bundled model writes by itself: greedy text that repeats one sentence
  plain   a short story
  trap    made against the rule that says how many guesses are checked: each second token is one of
          ten, drawn at random, so about each second pass checks a wrong guess

Where a model would not write the text by itself, it is steered: all is computed as always, then the
next token of the text gets the largest logit.

The repeats alternate, and ratios are taken repeat by repeat, so that a slow moment of the machine
hits both sides; given are medians.
"""
import argparse
import json
import statistics
import sys
import time
from pathlib import Path

import numpy as np

import gpt2lab
from gpt2lab import GPT2, Config

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
from recipes import STORY, weights_of

K = 8
BIG = {"model_type": "gpt2", "vocab_size": 50257, "n_positions": 1024, "n_embd": 768, "n_layer": 12,
       "n_head": 12}


class Steered(GPT2):
    """A model that counts its passes and, where it has a text, writes that."""
    text, passes = None, 0

    def last_logits(self, ids, rows, cache=None):
        logits = super().last_logits(ids, rows, cache)                              # (rows, V)
        self.passes += 1
        if self.text:
            following = self.text[cache.length - rows + 1:cache.length + 1]
            logits[np.arange(len(following)), following] = 1e9
        return logits


def models():
    """{name: Steered}; the random weights have the spread of GPT-2's first ones."""
    tiny, config, rng = gpt2lab.load(), Config.from_dict(BIG), np.random.default_rng(0)
    shapes = {name: array.shape for name, array in weights_of(BIG).items()}
    weights = {}
    for name, shape in shapes.items():
        if "ln_" in name and name.endswith("weight"):
            weights[name] = np.ones(shape, np.float32)
        else:
            weights[name] = rng.standard_normal(shape, np.float32) * np.float32(0.02)
    return {"gpt2-tiny": Steered(tiny.config, tiny.weights, tiny.tokenizer),
            "random 124M": Steered(config, weights, tiny.tokenizer)}


def texts(model):
    """{name: (prompt, text to steer along or None)}."""
    tiny = gpt2lab.load()
    loop = tiny.encode("Once upon a time")
    loop += tiny.generate_ids(loop, max_new_tokens=200, temperature=0, eos_token_id=None).ids
    trap = np.full(200, 1000)
    trap[1::2] = 2000 + np.random.default_rng(1).integers(0, 10, 100)
    return {"loop": (loop[:4], None if model.config == tiny.config else loop),
            "plain": (tiny.encode(STORY)[:8], tiny.encode(STORY)),
            "trap": (trap[:8].tolist(), trap.tolist())}


def run(model, prompt, tokens, lookup, clock):
    """(ids, passes, seconds) of one text."""
    model.passes, start = 0, clock()
    done = model.generate_ids(prompt, max_new_tokens=tokens, temperature=0, eos_token_id=None,
                              lookup=lookup)
    return done.ids, model.passes, clock() - start


def measure(model, name, prompt, text, tokens, repeats, clock):
    """One row of the table."""
    model.text = text
    tokens = min(tokens, len(text) - len(prompt)) if text else tokens
    run(model, prompt, 8, K, clock)             # warm up
    pairs = [[run(model, prompt, tokens, lookup, clock) for lookup in (None, K)]
             for _ in range(repeats)]
    if any(without[0] != with_[0] for without, with_ in pairs):
        raise SystemExit(f"{name}: other tokens with lookup than without")
    rates = [[tokens / seconds for _, _, seconds in pair] for pair in pairs]
    without, with_ = (statistics.median(column) for column in zip(*rates))
    return {"text": name, "tokens": tokens, "tokens_per_pass": tokens / pairs[0][1][1],
            "per_second_without": without, "per_second_with": with_,
            "ratio": statistics.median(b / a for a, b in rates)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--json", action="store_true", help="for machines")
    parser.add_argument("--repeats", type=int, default=5, help="of each text (default 5)")
    parser.add_argument("--cpu", action="store_true", help="CPU seconds, not the clock on the wall")
    arguments = parser.parse_args()
    clock, rows = time.process_time if arguments.cpu else time.perf_counter, []
    for (label, model), tokens in zip(models().items(), (200, 80)):
        for name, (prompt, text) in texts(model).items():
            rows.append({"model": label} | measure(
                model, name, prompt, text, tokens, arguments.repeats, clock))
    if arguments.json:
        settings = {"lookup": K, "repeats": arguments.repeats, "cpu": arguments.cpu}
        return print(json.dumps(settings | {"rows": rows}, indent=1))
    print(f"lookup {K}, the same tokens everywhere\n")
    print("model        text   tokens  tokens a pass  a second without    with  ratio")
    for row in rows:
        print(f"{row['model']:12} {row['text']:5} {row['tokens']:7} {row['tokens_per_pass']:14.2f} "
              f"{row['per_second_without']:17.1f} {row['per_second_with']:7.1f} "
              f"{row['ratio']:6.2f}")


if __name__ == "__main__":
    main()
