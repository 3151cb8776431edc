"""The command line: gpt2lab, or python -m gpt2lab, and a command; --help lists them.

Every wrong input is one sentence on stderr and exit status 2; so is a standard stream that is
closed or does not take what is written. A PROMPT of - is read from standard input as UTF-8, or as
UTF-16 where the byte order mark of UTF-16 comes first (PowerShell writes such files). One byte
order mark at the beginning and one newline at the end, \\n or \\r\\n, are dropped: they are what
`echo` and editors add on some system. Nothing else is changed. The file that train reads is read
in the same way.
"""
import argparse
import codecs
import json
import math
import os
import shlex
import subprocess
import sys
import time
from contextlib import nullcontext
from pathlib import Path

import numpy as np

from .bpe import BPE
from .checkpoint import DATA, find, load, open_files, tokenizer
from .lessons import copy_lessons, missing
from .safetensors import open_file
from .sampling import probabilities

MARKS = {codecs.BOM_UTF8: "UTF-8", codecs.BOM_UTF16_LE: "UTF-16-LE",
         codecs.BOM_UTF16_BE: "UTF-16-BE"}
LONGEST_TEXT = 10_000_000       # bytes to train on; in a minute some two millions are read


class Parser(argparse.ArgumentParser):
    """argparse that says what is wrong in one line."""

    def error(self, message):
        raise ValueError(f"{message} (see {self.prog} --help)")

    def print_help(self, file=None):
        print(self.format_help(), end="", file=file)    # argparse is silent where this fails


def called():
    """The command as it was called."""
    return "python -m gpt2lab" if Path(sys.argv[0]).name == "__main__.py" else "gpt2lab"


def parser():
    main = Parser(prog=called(), description="GPT-2 in NumPy: run it and look inside.")
    commands = main.add_subparsers(dest="command", required=True, metavar="COMMAND")

    def command(name, function, help, *arguments, model=True, as_json=True):
        sub = commands.add_parser(name, help=help, description=help)
        sub.set_defaults(function=function)
        for flag, settings in arguments:
            sub.add_argument(flag, **settings)
        if model:
            sub.add_argument("--model", metavar="M", help="folder or Hub name "
                             "(default: GPT2LAB_MODEL, else gpt2-tiny)")
        if as_json:
            sub.add_argument("--json", action="store_true", help="for machines")

    stdin = "- reads standard input: UTF-8, one newline at its end dropped (\\n or \\r\\n)"
    prompt = "PROMPT", dict(metavar="PROMPT", help=f"text to go on from; {stdin}")
    command("generate", run_generate, "Write on from a prompt.", prompt,
            ("--max-new-tokens", dict(type=int, default=40, metavar="N",
                                      help="at most N tokens (default 40)")),
            ("--temperature", dict(type=float, default=1.0, metavar="T",
                                   help="0 is greedy (default 1.0)")),
            ("--top-k", dict(type=int, metavar="K", help="draw from the K best tokens only")),
            ("--top-p", dict(type=float, metavar="P",
                             help="draw from the best tokens that make up P")),
            ("--min-p", dict(type=float, metavar="P", help="drop tokens under P times the best")),
            ("--seed", dict(type=int, metavar="S", help="the same seed gives the same text")),
            ("--greedy", dict(action="store_true", help="always the best token")),
            ("--lookup", dict(type=int, metavar="K",
                              help="with --greedy: guess K tokens from the text, check them "
                                   "in one pass; the same text, sooner where it repeats")),
            as_json=False)
    command("logits", run_logits, "Show the best next tokens.", prompt,
            ("--top", dict(type=int, default=5, metavar="N", help="how many (default 5)")))
    command("tokens", run_tokens, "Cut a text into tokens, own BPE beside tiktoken.",
            ("TEXT", dict(metavar="TEXT", help=f"text to cut; {stdin}")), model=False)
    command("inspect", run_inspect, "List the tensors of a model.",
            ("M", dict(metavar="M", help="folder, .safetensors file or Hub name")), model=False)
    command("trace", run_trace, "Save every array on the way from text to logits as .npy.", prompt,
            ("--out", dict(required=True, metavar="DIR", help="folder to write to")), as_json=False)
    command("validate", run_validate, "Compare the model with transformers, or with stored values.")
    command("bench", run_bench, "Measure speed and memory.",
            ("--tokens", dict(type=int, default=100, metavar="N", help="new tokens (default 100)")))
    command("train", run_train, "Train a small GPT on a text of yours, in a minute. 150 kB are "
            "enough for words; 4 kB are only learned by heart.",
            ("TEXT", dict(metavar="TEXT", help=f"path of a UTF-8 text file; {stdin}")),
            ("--out", dict(required=True, metavar="FOLDER",
                           help="where the model is saved, ten times on its way; made if it is "
                                "not there")),
            ("--seconds", dict(type=float, metavar="S",
                               help="take as many steps as fit (default 60)")),
            ("--steps", dict(type=int, metavar="N",
                             help="take N steps; the same text, seed and N give the same file")),
            ("--tokens", dict(type=int, default=256, metavar="V",
                              help="GPT-2's first V tokens: 256, the single bytes (default), up to "
                                   "50256, with all merges")),
            ("--seed", dict(type=int, default=0, metavar="S", help="another start (default 0)")),
            model=False, as_json=False)
    command("lessons", run_lessons, "Copy the notebooks of the course; no file is written over.",
            ("FOLDER", dict(metavar="FOLDER", help="where you may write; made if it is not there")),
            model=False, as_json=False)
    command("grade", run_grade, "Run every check on a folder of learners' functions. It runs what "
            "strangers wrote: do that where there is nothing to lose.",
            ("FOLDER", dict(metavar="FOLDER", help="of one learner, or with a folder for each")),
            ("--names", dict(metavar="NAME", nargs="+", help="exercises that are asked for "
                                                              "(default: those that are there)")),
            model=False)
    return main


def main(argv=None):
    """Run one command; returns the exit status."""
    os.environ.setdefault("HF_HUB_VERBOSITY", "error")  # its notes on retries are not our sentence
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a terminal that lacks a character gets its escape
            stream.reconfigure(errors="backslashreplace")
    try:
        if sys.stdout is None:
            raise ValueError("standard output is closed: there is no place for a result")
        status = _run(argv)
        sys.stdout.flush()
        return status
    except BrokenPipeError:                 # the reader has gone: stop, and say nothing
        return 0
    except KeyboardInterrupt as stop:       # train says in it what is saved
        _complain(_sentence(stop) if str(stop) else "")
        return 130
    except (ValueError, OSError) as error:
        _complain(_sentence(error))
        return 2
    finally:
        _let_go_of_stdout()


def _run(argv):
    try:
        arguments = parser().parse_args(argv)
    except SystemExit:                      # --help has been printed
        return 0
    return arguments.function(arguments) or 0


def _sentence(error):
    return "gpt2lab: " + " ".join(str(error).split())


def _complain(sentence, end="\n"):
    """A line on stderr. Where nothing takes it the exit status tells."""
    try:
        if sys.stderr is not None:
            print(sentence, end=end, file=sys.stderr, flush=True)
    except OSError:
        pass


def _let_go_of_stdout():
    """Leave nothing to write for when Python ends: it would complain, and change the status."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def run_generate(a):
    model, prompt = load(a.model), _text(a.PROMPT)
    pieces = model.stream(prompt, max_new_tokens=a.max_new_tokens,
                          temperature=0 if a.greedy else a.temperature, top_k=a.top_k,
                          top_p=a.top_p, min_p=a.min_p, seed=a.seed, lookup=a.lookup)
    shown = _escaped if sys.stdout.isatty() else str    # a terminal must not obey a model
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
    best = [{"id": int(i), "logit": round(float(logits[i]), 6),
             "probability": round(float(probs[i]), 6), "text": model.tokenizer.decode([i])}
            for i in np.argsort(-logits, kind="stable")[:a.top]]
    if a.json:
        return _print_json({"ids": ids, "top": best})
    print(f"{len(ids)} ids: {' '.join(map(str, ids))}")
    for row in best:
        print(f"{row['id']:6d}  logit {row['logit']:9.4f}  probability {row['probability']:.4f}  "
              f"{_quoted(row['text'])}")


def run_tokens(a):
    text, installed = _text(a.TEXT), tokenizer()
    alone = isinstance(installed, BPE)
    own = installed if alone else BPE.from_files(DATA / "gpt2-vocab" / "vocab.bpe",
                                                 DATA / "gpt2-vocab" / "encoder.json")
    own_ids, ids = own.encode(text), None if alone else installed.encode(text)
    agree = None if alone else ids == own_ids
    tokens = [{"id": i, "text": own.decode([i]), "bytes": own.decode_bytes([i]).hex(" ")}
              for i in own_ids]
    if a.json:
        _print_json({"ids": own_ids, "tiktoken_ids": ids, "agree": agree, "tokens": tokens})
    else:
        for token in tokens:
            print(f"{token['id']:6d}  {_quoted(token['text']):20s}  {token['bytes']}")
        print(f"{len(own_ids)} tokens; tiktoken " + (
            "is not installed, so nothing is compared" if alone else
            "says the same" if agree else f"says otherwise: {ids}"))
    return 1 if agree is False else 0


def run_inspect(a):
    one = a.M.endswith(".safetensors")
    files = [open_file(os.path.expanduser(a.M))] if one else open_files(find(a.M))
    rows = [{"name": name, "dtype": entry.dtype, "shape": list(entry.shape),
             "bytes": entry.end - entry.begin,
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
    folder = Path(os.path.expanduser(a.out))
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
        shown = value if value is None or isinstance(value, str) else f"{value:,.4g}"
        print(f"{key.replace('_', ' '):32}  {shown}")


def run_train(a):
    from .train import train
    if a.steps is not None and a.seconds is not None:
        raise ValueError("--seconds chooses the number of steps: give --seconds or --steps")
    on_terminal, last = sys.stderr is not None and sys.stderr.isatty(), None

    def tell(step, steps, loss, left):
        nonlocal last
        now = time.monotonic()
        if step == 0:
            last = now
            if a.steps is None:
                print(f"{steps} steps; --steps {steps} repeats it exactly", flush=True)
        elif step == steps or now - last >= (0.2 if on_terminal else 5):
            last = now
            line = f"step {step} of {steps}  loss {loss:.3f}  {left:.0f} s left"
            _complain(f"\r{line:60}" if on_terminal else line, end="" if on_terminal else "\n")

    text = _text_in(a.TEXT)
    try:
        done = train(text, a.out, a.tokens, 60 if a.seconds is None else a.seconds, a.steps, a.seed,
                     tell)
    finally:
        if on_terminal and last:
            _complain("")                   # the line that was written again and again ends here
    if done.held_out is None:
        print("held-out loss: left out, the last tenth of the text is shorter than a context")
    else:
        per_byte = f" ({done.per_byte:.3f} a byte)" if a.tokens > 256 else ""
        print(f"held-out loss: {done.held_out:.3f} nats a token{per_byte} on the last tenth of the "
              f"text; by chance {math.log(a.tokens):.3f}")
    sample = "The " + done.model.generate("The ", max_new_tokens=100, seed=a.seed)
    print("it writes: " + (_escaped if sys.stdout.isatty() else str)(sample))
    # a folder of these names is taken for something else
    folder = os.path.join(".", a.out) if a.out == "gpt2-tiny" or a.out[:1] == "-" else a.out
    folder = subprocess.list2cmdline([folder]) if os.name == "nt" else shlex.quote(folder)
    print(f'more of it: {called()} generate "The " --model {folder}')


def run_lessons(a):
    found = copy_lessons(a.FOLDER)
    print(f"Lessons in {a.FOLDER}: {len(found['new'])} new, {len(found['same'])} as they were")
    if found["other"]:
        print(f"Changed there, or of another version, and left alone: {', '.join(found['other'])}")
    lacking = missing()
    if lacking:
        print(f"Not installed: {', '.join(lacking)}. Lessons need them: "
              'pip install "gpt2lab[learn]"')
    words = ["jupyter", "lab", os.path.join(a.FOLDER, "00_start_here.ipynb")]
    print("Open them with: " + (subprocess.list2cmdline if os.name == "nt" else shlex.join)(words))


def run_grade(a):
    try:
        from .teach.grading import grade
    except ImportError as error:
        raise ValueError(f"grade: {error.name} is missing: pip install gpt2lab[learn]") from None
    passed = True
    for row in grade(a.FOLDER, a.names):
        passed &= row["passed"] == row["cases"]
        if a.json:
            print(json.dumps(row), flush=True)
            continue
        why = "; ".join(filter(None, (row["error"], row["mistake"])))
        print(f"{row['learner']:16}  {row['exercise']:16}  {row['passed']} of {row['cases']} cases"
              f"  {row['seconds']:.2f} s" + (f"  {_escaped(why)}" if why else ""), flush=True)
    return 0 if passed else 1


def _text(argument):
    """A prompt from the command line (UTF-8 whatever the locale), or from standard input for "-".

    Raises: ValueError for what is no text. The rules stand at the head of this file.
    """
    if argument != "-":
        return argument if sys.platform == "win32" else _decoded(os.fsencode(argument), "UTF-8")
    return _text_of(_stdin().read())


def _text_in(path):
    """The text in a file, or for "-" in standard input; by the same rules."""
    path = os.path.expanduser(path)
    if os.path.isdir(path):
        raise ValueError(f"{path} is a folder, not a text file")
    with nullcontext(_stdin()) if path == "-" else open(path, "rb") as file:
        data = file.read(LONGEST_TEXT + 1)
    if len(data) > LONGEST_TEXT:
        raise ValueError(f"{path}: a text to train on has at most {LONGEST_TEXT} bytes")
    return _text_of(data)


def _stdin():
    if sys.stdin is None:
        raise ValueError("standard input is closed: - has nothing to read")
    return sys.stdin.buffer


def _text_of(data):
    mark = next((mark for mark in MARKS if data.startswith(mark)), b"")
    text = _decoded(data.removeprefix(mark), MARKS.get(mark, "UTF-8"))
    return text[:-2] if text.endswith("\r\n") else text.removesuffix("\n")


def _decoded(data, encoding):
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        raise ValueError(f"the text must be {encoding}, got byte 0x{data[error.start]:02x} "
                         f"at place {error.start}: {error.reason}") from None


def _escaped(text):
    """Text for a terminal: control characters but newline and tab become \\x1b and the like."""
    return "".join(c if c in "\n\t" or c.isprintable() else c.encode("unicode_escape").decode()
                   for c in text)


def _quoted(text):
    return '"' + _escaped(text).replace("\n", "\\n").replace("\t", "\\t") + '"'


def _print_json(value):
    print(json.dumps(value, indent=1))
