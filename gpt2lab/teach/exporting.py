"""export("my_gpt2.py"): all that the learner built in one file that runs with NumPy alone."""
import ast
import builtins
import filecmp
import json
import re
import shutil
import textwrap
from functools import cache
from pathlib import Path

from gpt2lab.checkpoint import BUNDLED, chosen, find
from gpt2lab.files import shipped

from .exercises import exercises
from .joining import bound, import_lines, imports, joined, statements
from .judging import results_of
from .keeping import BUILDS, beside, folder, load, write

# What goes into each function and what comes out.
SHAPES = {
    "linear": "x (T, in), w (in, out), b (out,) -> (T, out)",
    "read_header": "bytes -> {name: (dtype, shape, begin, end)}",
    "tensor_view": "bytes, one such place -> array",
    "merge": "[bytes], {(bytes, bytes): rank} -> [bytes]",
    "encode": "text -> ids",
    "decode": "ids -> text",
    "embed": "ids (T,), wte (V, D), wpe (N, D) -> (T, D)",
    "layer_norm": "x (T, D), gain (D,), bias (D,) -> (T, D)",
    "softmax": "scores (..., S) -> (..., S), of sum 1",
    "attend": "q (H, T, Dh), k, v (H, S, Dh) -> (H, T, Dh)",
    "attend_heads": "x (T, D) -> (T, D), by w (D, 3 D), (D, D)",
    "gelu": "x (T, F) -> (T, F)",
    "mlp": "x (T, D), w (D, F), w (F, D) -> (T, D)",
    "block": "x (T, D), {name: array} -> (T, D)",
    "lm_head": "x (T, D), wte (V, D) -> logits (T, V)",
    "probabilities": "logits (V,) -> (V,), of sum 1",
    "sample": "probs (V,), a random number -> id",
    "remember": "k, v: old (H, S - T, Dh), new (H, T, Dh) -> all",
    "write_loop": "ids -> more ids, one by one",
}
NAMES = [name for names in BUILDS.values() for name in names]
NEEDED = ("config.json, model.safetensors, and vocab.bpe with encoder.json "
          "(or merges.txt with vocab.json)")
MARK = '"""GPT-2 in one file, made with the lessons of gpt2lab: '
ABOUT = """
It needs Python, NumPy, and beside it, in {folder} there, or in --model FOLDER: {needed}. {whose};
the glue at the end is the course's. A text goes through encode (merge), embed, block after block
(layer_norm, attend_heads, mlp), lm_head, probabilities, sample, write_loop and decode; unicodedata
cuts ordinary text of all languages as GPT-2 does. Shapes: T new tokens, S with those before, N at
most; D numbers a token, H heads of Dh, F = 4 D; V tokens."""
ANSWER = re.compile(r"<summary>Answer</summary>\s*```python\n(.*?)```", re.S)
MODULES = {"np": "import numpy as np", "math": "import math", "json": "import json"}    # of answers
AROUND = Path(__file__).with_name("around.py")


def export(path="my_gpt2.py", with_model=False):
    """Write one file, of your operations and what is around them, that writes text by itself.

    It needs NumPy, a model's files and nothing else. Where you have not built a function, or it
    cannot stand in that file, the course's short answer stands in, marked. What a friend needs
    beside the file is printed.
    with_model: puts the files of the model that gpt2lab.load() takes (the bundled one, or what
    GPT2LAB_MODEL names) into a folder beside it, where the file finds them. Where that folder holds
    another model it is left as it is, unless it is an untouched copy of the bundled one.
    Returns the path of the file.
    Raises: ValueError where the path is that of a file which export did not write, or the model's
    files cannot be found.
    """
    path, model = beside(path), find() if with_model else None
    files = _files(model) if with_model else {}
    if path.is_dir() or path.exists() and not _is_export(path):
        raise ValueError(f"export: {path} is there, and no export wrote it: choose another name")
    own, remarks = {}, []
    for name in NAMES:
        kept = folder() / f"{name}.py"
        if kept.is_file():
            try:
                text = kept.read_text(encoding="utf-8")
                _try(name, assembled(path.name, own | {name: text}))
                own[name] = text
            except (OSError, ValueError) as error:
                remarks.append(f"Your {name} is left out: {error}.")
    text = assembled(path.name, own)
    write(path, text)
    place = f"beside {folder().name}" if path.parent == beside(".") else f"in {path.parent}"
    print(f"{path.name}, {place}: {len(text.splitlines())} lines.\n"
          f"{len(own)} of its {len(NAMES)} functions are yours.", end="")
    print(" The course's answers stand in for the rest." * (len(own) < len(NAMES)))
    print(*remarks, sep="\n", end="\n" * bool(remarks))
    print(f'Try: python {path.name} "Once upon a time" --temperature 0.8\n'
          f"A friend needs NumPy, this file, and beside it the model's files:\n{NEEDED}.")
    if with_model:
        place = path.with_name(f"{path.stem}_model")
        whose = "the bundled model"
        if model != BUNDLED:
            whose = f"the model {Path(chosen()).resolve().name}"
        print(f"Those of {whose} are in {place.name}/: hand that folder on with the file."
              if _copied(files, place) else
              f"{place.name}/ was there before, does not hold {whose}, and is left as it is.")
    return path


def _is_export(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.readline().startswith(MARK)


def _files(model):
    """{name: path} of what must stand beside the file, for a model in this folder."""
    found = {name: model / name for name in ("config.json", "model.safetensors")}
    found |= {name: shipped("data", "gpt2-vocab", name) for name in ("vocab.bpe", "encoder.json")}
    if not found["model.safetensors"].is_file():
        raise ValueError(f"export: {model} must hold all weights in one file, model.safetensors")
    return found


def _copied(files, place):
    """Copy files into a folder; False where it holds others of these names, not the bundled ones.

    So a model that stands there alone is never overwritten.
    """
    def fit(files):
        return all(filecmp.cmp(path, place / name, shallow=False)
                   for name, path in files.items() if (place / name).exists())
    if not (fit(files) or fit(_files(BUNDLED))):
        return False
    place.mkdir(exist_ok=True)
    for name, path in files.items():
        if path.resolve() != (place / name).resolve():
            shutil.copyfile(path, place / name)
    return True


def _try(name, text):
    """ValueError unless the function of this name, taken from the text, passes its cases."""
    misses = results_of(exercises()[name], load(text, name))[1]
    wrong = next(filter(None, misses), None)
    if wrong:
        raise ValueError(f"it does not pass its check ({wrong})")


@cache
def answers():
    """{name: the course's short answer, with its imports} of all parts, out of the lessons."""
    found = {}
    for path in sorted(shipped("notebooks").glob("[0-9]*.ipynb")):
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
            for text in ANSWER.findall("".join(cell["source"])):
                tree = ast.parse(text)
                used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
                lines = [line for name, line in MODULES.items() if name in used]
                found[tree.body[-1].name] = "\n".join([*lines, text])
    missing = [name for name in NAMES if name not in found]
    if missing:
        raise ValueError(f"export: the lessons that came with gpt2lab hold no answer for "
                         f"{missing[0]}: install it again")
    return found


def assembled(file, own):
    """The text of the exported file. own: {name: text of a kept file} for what is the learner's.

    Raises: ValueError for a kept file that needs more than Python and NumPy.
    """
    around = statements(AROUND.read_text(encoding="utf-8"))[1:]        # without its docstring
    lines = [line for node, _ in around for _, _, line in imports(node)]
    taken = dict.fromkeys([*dir(builtins), *NAMES, *(
        name for node, _ in around for name in bound(node))])
    taken |= {name: meaning for node, _ in around for name, meaning, _ in imports(node)}
    parts = []
    for lesson, name in [(lesson, name) for lesson, names in BUILDS.items() for name in names]:
        text, more = joined(name, own.get(name) or answers()[name], taken)
        whose = "" if name in own else " (the course's, mine is missing)"
        parts.append(f"# --- {lesson} {name}{whose}: {SHAPES[name]}\n{text}")
        lines += more
    others = [name for name in NAMES if name not in own]
    whose = f"I wrote all {len(NAMES)} functions of the lessons" if not others else (
        f"I wrote {len(own)} of the {len(NAMES)} functions of the lessons; the course's answers "
        f"stand in for {', '.join(others)}")
    about = ABOUT.format(needed=NEEDED, whose=whose, folder=f"{Path(file).stem}_model/")
    head = (f'{MARK}python {file} "Once upon a time"\n\n{textwrap.fill(about.strip(), 100)}\n"""\n'
            f"{import_lines(lines)}")
    constant, *glue = [text for node, text in around if not imports(node)]
    glue[0] = f"# --- The glue, the course's: files, model, command line\n{glue[0]}"
    return "\n\n".join([head, constant, *parts, *glue]) + "\n"
