"""The command line: python -m gpt2lab generate | logits | tokens | inspect | trace | validate | bench.

Every wrong input is one sentence on stderr and exit status 2. A PROMPT of - is read from standard
input; exactly one newline at its end is dropped, nothing else is changed.
"""
import argparse
import json
import os
import sys
from pathlib import Path

import numpy as np

from .bpe import BPE
from .checkpoint import DATA, find, load, open_files, tokenizer
from .safetensors import open_file
from .sampling import probabilities


class Parser(argparse.ArgumentParser):
    """argparse that says what is wrong in one line."""

    def error(self, message):
        raise ValueError(f"{message} (see {self.prog} --help)")


def parser():
    main = Parser(prog="python -m gpt2lab", description="GPT-2 in NumPy: run it and look inside.")
    commands = main.add_subparsers(dest="command", required=True, metavar="COMMAND")

    def command(name, function, help, *arguments, model=True, as_json=True):
        sub = commands.add_parser(name, help=help, description=help)
        sub.set_defaults(function=function)
        for flag, settings in arguments:
            sub.add_argument(flag, **settings)
        if model:
            sub.add_argument("--model", metavar="M", help="folder or Hub name (default: GPT2LAB_MODEL, else gpt2-tiny)")
        if as_json:
            sub.add_argument("--json", action="store_true", help="for machines")

    prompt = "PROMPT", dict(metavar="PROMPT", help="text to go on from; - reads standard input")
    command("generate", run_generate, "Write on from a prompt.", prompt,
            ("--max-new-tokens", dict(type=int, default=40, metavar="N", help="at most N tokens (default 40)")),
            ("--temperature", dict(type=float, default=1.0, metavar="T", help="0 is greedy (default 1.0)")),
            ("--top-k", dict(type=int, metavar="K", help="draw from the K best tokens only")),
            ("--top-p", dict(type=float, metavar="P", help="draw from the best tokens that make up P")),
            ("--min-p", dict(type=float, metavar="P", help="drop tokens under P times the best")),
            ("--seed", dict(type=int, metavar="S", help="the same seed gives the same text")),
            ("--greedy", dict(action="store_true", help="always the best token")),
            ("--lookup", dict(type=int, metavar="K", help="with --greedy: guess K tokens from the text, check them "
                                                          "in one pass; the same text, sooner where it repeats")),
            as_json=False)
    command("logits", run_logits, "Show the best next tokens.", prompt,
            ("--top", dict(type=int, default=5, metavar="N", help="how many (default 5)")))
    command("tokens", run_tokens, "Cut a text into tokens, own BPE beside tiktoken.",
            ("TEXT", dict(metavar="TEXT", help="- reads standard input")), model=False)
    command("inspect", run_inspect, "List the tensors of a model.",
            ("M", dict(metavar="M", help="folder, .safetensors file or Hub name")), model=False)
    command("trace", run_trace, "Save every array on the way from text to logits as .npy.", prompt,
            ("--out", dict(required=True, metavar="DIR", help="folder to write to")), as_json=False)
    command("validate", run_validate, "Compare the model with transformers, or with stored values.")
    command("bench", run_bench, "Measure speed and memory.",
            ("--tokens", dict(type=int, default=100, metavar="N", help="new tokens (default 100)")))
    return main


def main(argv=None):
    """Run one command; returns the exit status."""
    os.environ.setdefault("HF_HUB_VERBOSITY", "error")      # its notes on retries are not our one sentence
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):      # a terminal that cannot show a character gets its escape
            stream.reconfigure(errors="backslashreplace")
    try:
        arguments = parser().parse_args(argv)
        status = arguments.function(arguments)
        sys.stdout.flush()
        return status or 0
    except BrokenPipeError:                     # the reader has gone: stop, and say nothing
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        print(file=sys.stderr)
        return 130
    except (ValueError, OSError) as error:
        print("gpt2lab: " + " ".join(str(error).split()), file=sys.stderr)
        return 2


def run_generate(a):
    model, prompt = load(a.model), _text(a.PROMPT)
    pieces = model.stream(prompt, max_new_tokens=a.max_new_tokens, temperature=0 if a.greedy else a.temperature,
                          top_k=a.top_k, top_p=a.top_p, min_p=a.min_p, seed=a.seed, lookup=a.lookup)
    shown = _escaped if sys.stdout.isatty() else str        # a terminal must not obey what a model writes
    print(shown(prompt), end="", flush=True)
    for piece in pieces:
        print(shown(piece), end="", flush=True)
    print()


def run_logits(a):
    model = load(a.model)
    ids = model.encode(_text(a.PROMPT))
    logits = model.next_logits(ids)                                                 # (V,)
    if not 1 <= a.top <= len(logits):
        raise ValueError(f"--top must be from 1 to {len(logits)}, got {a.top}")
    probs = probabilities(logits)                                                   # (V,)
    best = [{"id": int(i), "logit": round(float(logits[i]), 6), "probability": round(float(probs[i]), 6),
             "text": model.tokenizer.decode([i])} for i in np.argsort(-logits, kind="stable")[:a.top]]
    if a.json:
        return _print_json({"ids": ids, "top": best})
    print(f"{len(ids)} ids: {' '.join(map(str, ids))}")
    for row in best:
        print(f"{row['id']:6d}  logit {row['logit']:9.4f}  probability {row['probability']:.4f}  {_quoted(row['text'])}")


def run_tokens(a):
    text, tiktoken = _text(a.TEXT), tokenizer()
    own = BPE.from_files(DATA / "gpt2-vocab" / "vocab.bpe", DATA / "gpt2-vocab" / "encoder.json")
    ids, own_ids = tiktoken.encode(text), own.encode(text)
    tokens = [{"id": i, "text": own.decode([i]), "bytes": own.decode_bytes([i]).hex(" ")} for i in own_ids]
    if a.json:
        _print_json({"ids": own_ids, "tiktoken_ids": ids, "agree": ids == own_ids, "tokens": tokens})
    else:
        for token in tokens:
            print(f"{token['id']:6d}  {_quoted(token['text']):20s}  {token['bytes']}")
        print(f"{len(own_ids)} tokens; tiktoken says " + ("the same" if ids == own_ids else f"otherwise: {ids}"))
    return 0 if ids == own_ids else 1


def run_inspect(a):
    files = [open_file(a.M)] if a.M.endswith(".safetensors") else open_files(find(a.M))
    rows = [{"name": name, "dtype": entry.dtype, "shape": list(entry.shape), "bytes": entry.end - entry.begin,
             "parameters": int(np.prod(entry.shape, dtype=object))}
            for file in files for name, entry in file.entries.items()]
    total = sum(row["parameters"] for row in rows)
    for row in rows:
        row["share"] = round(row["parameters"] / total, 6) if total else 0.0
    if a.json:
        return _print_json({"parameters": total, "tensors": rows})
    width = max([4, *(len(_escaped(row["name"])) for row in rows)])
    print(f"{'name':{width}}  dtype  {'shape':>14}  {'bytes':>12}  share")
    for row in rows:
        print(f"{_escaped(row['name']):{width}}  {row['dtype']:5}  {str(tuple(row['shape'])):>14}  "
              f"{row['bytes']:12,d}  {row['share']:6.2%}")
    print(f"{len(rows)} tensors, {total:,d} numbers")


def run_trace(a):
    model = load(a.model)
    arrays = model.trace(model.encode(_text(a.PROMPT)))
    folder = Path(a.out)
    folder.mkdir(parents=True, exist_ok=True)
    for name, array in arrays.items():
        np.save(folder / f"{name}.npy", array)
    print(f"{len(arrays)} arrays written to {folder}")


def run_validate(a):
    from .validate import validate
    rows = validate(a.model)
    if a.json:
        _print_json(rows)
    else:
        for row in rows:
            print(f"{'ok  ' if row['ok'] else 'FAIL'}  {row['check']}: {row['found']}")
    return 0 if all(row["ok"] for row in rows) else 1


def run_bench(a):
    from .bench import bench
    result = bench(load(a.model), a.tokens)
    if a.json:
        return _print_json(result)
    for key, value in result.items():
        print(f"{key.replace('_', ' '):32}  {value if value is None or isinstance(value, str) else f'{value:,.4g}'}")


def _text(argument):
    """A prompt from the command line (UTF-8 whatever the locale), or from standard input for "-"."""
    if argument != "-":
        return os.fsencode(argument).decode("utf-8") if sys.platform != "win32" else argument
    return sys.stdin.buffer.read().decode("utf-8").removesuffix("\n")


def _escaped(text):
    """Text that a terminal can show: control characters but newline and tab become \\x1b and the like."""
    return "".join(c if c in "\n\t" or c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def _quoted(text):
    return '"' + _escaped(text).replace("\n", "\\n").replace("\t", "\\t") + '"'


def _print_json(value):
    print(json.dumps(value, indent=1))
