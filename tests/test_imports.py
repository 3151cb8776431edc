"""A file imports only files above it, operations do not print, the package stays light."""
import ast
import importlib
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import gpt2lab

PACKAGE = Path(gpt2lab.__file__).parent
ORDER = ["files", "config", "safetensors", "unicode_classes", "bpe", "tokenizer", "linear",
         "embedding", "layernorm", "softmax", "attention", "heads", "gelu", "mlp", "block",
         "lm_head", "sampling", "kvcache", "lookup", "generate", "taps", "model", "checkpoint",
         "quantize", "inside", "training", "bench", "validate", "lessons", "train", "cli",
         "__main__"]
LIBRARY = ORDER[:ORDER.index("training") + 1]
OPERATIONS = ORDER[ORDER.index("linear"):ORDER.index("generate") + 1]
FILES = sorted(path.stem for path in PACKAGE.glob("*.py") if path.stem != "__init__")


def tree(stem):
    return ast.parse((PACKAGE / f"{stem}.py").read_text(encoding="utf-8"))


def imported(stem_or_tree, package="gpt2lab"):
    """All imported modules, in functions too: "numpy", and ".linear" for the package's own."""
    names = []
    for node in ast.walk(tree(stem_or_tree) if isinstance(stem_or_tree, str) else stem_or_tree):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            module = "." * node.level + (node.module or "")
            if module in (".", package):
                names += ["." + alias.name for alias in node.names]
            else:
                names.append(module)
    return [name.replace(package + ".", ".", 1) if name.startswith(package + ".") else name
            for name in names]


def own(stem_or_tree):
    """Files of the package that are imported."""
    return [name.split(".")[1] for name in imported(stem_or_tree) if name.startswith(".")]


def test_every_form_of_import_is_seen():
    source = ("import numpy as np\nimport gpt2lab.teach.plot\nfrom gpt2lab import mlp\n"
              "from . import gelu, heads\nfrom .linear import linear\n"
              "def f():\n    from gpt2lab.block import block\n")
    assert imported(ast.parse(source)) == ["numpy", ".teach.plot", ".mlp", ".gelu", ".heads",
                                           ".linear", ".block"]
    assert own(ast.parse(source)) == ["teach", "mlp", "gelu", "heads", "linear", "block"]


@pytest.mark.parametrize("stem", FILES)
def test_a_file_imports_only_files_above_it(stem):
    assert stem in ORDER, f"gpt2lab/{stem}.py has no place in the order"
    for name in own(stem):
        allowed = ORDER[:ORDER.index(stem)] + ["teach"] * (stem == "cli")       # for grade
        assert name in allowed, f"gpt2lab/{stem}.py imports {name}"


def test_the_order_names_no_file_that_is_gone():
    assert set(LIBRARY) <= set(FILES)


@pytest.mark.parametrize("stem", LIBRARY)
def test_the_library_does_not_print_or_import_what_lessons_need(stem):
    calls = [node.func.id for node in ast.walk(tree(stem))
             if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)]
    assert "print" not in calls and "input" not in calls
    names = {name.split(".")[0] for name in imported(stem)} | set(own(stem))
    assert not names & {"teach", "torch", "transformers", "matplotlib", "ipywidgets", "IPython"}


@pytest.mark.parametrize("stem", [*OPERATIONS, "inside"])
def test_an_operation_needs_numpy_and_the_standard_library_only(stem):
    outside = {name for name in imported(stem) if not name.startswith(".")}
    assert outside <= {"math", "functools", "itertools", "dataclasses", "numpy"}


def test_no_function_has_the_name_of_a_module():
    """Else gpt2lab.softmax would be the function, or the file, depending on what ran before."""
    for stem in FILES:
        if stem != "__main__":
            assert isinstance(getattr(gpt2lab, stem, gpt2lab), ModuleType), stem
    teach = importlib.import_module("gpt2lab.teach")
    for path in (PACKAGE / "teach").glob("*"):
        if path.stem not in ("__init__", "__pycache__") and path.suffix in ("", ".py"):
            assert isinstance(getattr(teach, path.stem, gpt2lab), ModuleType), path
    assert set(gpt2lab.__all__) & set(FILES) == {"safetensors", "bpe", "sampling"}
    for name in gpt2lab.__all__:
        assert hasattr(gpt2lab, name)


def test_importing_the_package_is_light_and_silent():
    code = ("import sys, gpt2lab\nheavy = ('matplotlib', 'torch', 'huggingface_hub', 'ipywidgets', "
            "'tiktoken', 'transformers', 'IPython', 'gpt2lab.teach')\n"
            "sys.exit(' '.join(name for name in heavy if name in sys.modules) or 0)")
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True,
                          text=True, cwd=PACKAGE.parent)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
