"""The file that export writes: it runs alone and writes what the library writes."""
import json
import re
import shutil
import subprocess
import sys
import unicodedata
from pathlib import Path

import numpy as np
import pytest

import gpt2lab
from cells import run
from gpt2lab.bpe import piece_pattern
from gpt2lab.teach import export, keep
from gpt2lab.teach.exporting import NAMES, SHAPES, answers, assembled
from gpt2lab.teach.keeping import BUILDS
from recipes import PROMPTS, write_checkpoint, write_safetensors
from test_bpe import AWKWARD, OWN, STATED

ROOT = Path(__file__).parents[1]
TINY, VOCABULARY = ROOT / "data" / "gpt2-tiny", ROOT / "data" / "gpt2-vocab"
REFERENCE = np.load(TINY / "reference.npz")
# Runs a file where nothing can be imported but what Python and NumPy bring.
ALONE = """
import runpy, sys
class Only:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] not in {*sys.stdlib_module_names, "numpy"}:
            raise ImportError(f"the file imports {name}")
sys.meta_path.insert(0, Only())
del sys.argv[0]
runpy.run_path(sys.argv[0], run_name="__main__")
"""


@pytest.fixture
def my_ops(tmp_path, monkeypatch):
    """An empty folder of kept operations; the current directory is an empty one too."""
    (tmp_path / "here").mkdir()
    monkeypatch.setenv("GPT2LAB_MY_OPS", str(tmp_path / "here" / "ops"))
    monkeypatch.chdir(tmp_path / "here")
    return tmp_path / "here" / "ops"


def kept(names, *cells):
    """Run cells as a learner does, and keep the functions of these names."""
    space = {}
    for cell in cells:
        run("import json, math\nimport numpy as np\n" + cell, space)
    for name in names.split():
        assert keep(space[name]) == "Kept for the later lessons.", name


def alone(*arguments, file="my_gpt2.py"):
    """(exit status, stdout, stderr) of the file in a process of its own."""
    done = subprocess.run([sys.executable, "-I", "-X", "utf8", "-c", ALONE, file,
                           *map(str, arguments)], capture_output=True, encoding="utf-8")
    return done.returncode, done.stdout, done.stderr


def refused(*arguments):
    """The one sentence with which the file refuses something, below how it is used."""
    status, printed, said = alone(*arguments)
    said = said.removeprefix("usage: my_gpt2.py PROMPT [options], --help\n")
    assert (status, printed, said.count("\n")) == (2, "", 1), said
    return said


def loaded(file="my_gpt2.py"):
    """The names of the file, as an import gives them."""
    space = {"__name__": "my_gpt2", "__file__": str(Path(file).resolve())}
    exec(compile(Path(file).read_text(encoding="utf-8"), file, "exec"), space)
    return space


def next_logits_of(space, folder):
    """next_logits of the file's model, and its context."""
    config = space["read_config"](folder / "config.json")
    weights = space["read_weights"](folder / "model.safetensors", config)
    return space["reader"](config, *weights), config["n_positions"]


def writes_the_reference():
    """The file writes the stored greedy texts, token for token, with the stored logits."""
    space = loaded()
    for name in ("sentence", "code", "one token", "emoji"):
        ids, greedy = REFERENCE[f"{name}/ids"].tolist(), REFERENCE[f"{name}/greedy"].tolist()
        if f"{name}/last" in REFERENCE:
            next_logits, _ = next_logits_of(space, TINY)
            np.testing.assert_allclose(next_logits(ids), REFERENCE[f"{name}/last"], atol=1e-4)
        next_logits, context = next_logits_of(space, TINY)
        assert list(space["write_loop"](next_logits, ids, len(greedy), context, None,
                                        lambda logits: int(logits.argmax()))) == greedy
    want = PROMPTS[name] + OWN.decode(greedy) + "\n"
    assert alone(PROMPTS[name], "--temperature", 0) == (0, want, "")


def test_the_diligent_learners_file(my_ops, capsys):
    kept(" ".join(NAMES), *(answers()[name] for name in NAMES))
    export(with_model=True)
    text = Path("my_gpt2.py").read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 300
    assert "19 of its 19 functions are yours.\n" in capsys.readouterr().out
    assert text.count("\n# --- ") == 20 and "I wrote all 19 functions" in " ".join(text.split())
    assert re.findall(r"^def (\w+)", text, flags=re.M)[:19] == NAMES
    writes_the_reference()


def test_without_anything_kept_the_answers_stand_in(my_ops, capsys):
    export(with_model=True)
    text = Path("my_gpt2.py").read_text(encoding="utf-8")
    assert text.count(" (the course's, mine is missing): ") == 19 and "I wrote 0 of" in text
    assert "0 of its 19 functions are yours. The course's answers" in capsys.readouterr().out
    assert max(map(len, text.splitlines())) <= 100
    writes_the_reference()


def test_every_function_of_the_lessons_is_used(my_ops, monkeypatch, capsys):
    export(with_model=True)
    space, used = loaded(), set()

    def noted(name, function):
        def wrapped(*arguments, **named):
            used.add(name)
            return function(*arguments, **named)
        return wrapped
    space |= {name: noted(name, space[name]) for name in NAMES}
    monkeypatch.setattr(sys, "argv", ["my_gpt2.py", "Hello", "--max-new-tokens", "2"])
    space["main"]()
    assert used == set(NAMES)


def test_the_parts_are_those_of_the_course():
    assert list(SHAPES) == NAMES and list(BUILDS) == sorted(BUILDS)
    for lesson, names in BUILDS.items():
        (path,) = ROOT.glob(f"notebooks/{lesson}_*.ipynb")
        assert all(f"def {name}(" in path.read_text(encoding="utf-8") for name in names)


# What learners write

ODD = {
    "softmax attend":
    "def softmax(scores):\n    scores = scores - top(scores)\n    total = sum(np.exp(scores))\n"
    "    return np.exp(scores) / total\n\n"
    "def top(x):\n    return x.max(axis=-1, keepdims=True)\n\n"
    "def sum(x):\n    return x.sum(axis=-1, keepdims=True)\n\n"
    # attend's softmax is this one, with its helpers
    "def attend(q, k, v, softmax=softmax):\n"
    '    """Query by query.\n\nThis line\n  is not moved.\n    """\n'
    "    S, T = k.shape[-2], q.shape[-2]\n    rows = []\n    for t in range(T):\n"
    "        seen = S - T + t + 1\n"
    "        scores = q[..., t:t + 1, :] @ k[..., :seen, :].swapaxes(-1, -2) / root(q.shape[-1])\n"
    "        rows.append(softmax(scores) @ v[..., :seen, :])\n"
    "    return np.concatenate(rows, axis=-2)\n\nfrom math import sqrt as root\n",
    # mean and EPSILON are other things in lm_head; sqrt is another function in gelu
    "layer_norm":
    "EPSILON = 1e-5\ndef mean(x):\n    return x.mean(axis=-1, keepdims=True)\n\n"
    "def layer_norm(x, gain, bias, epsilon=EPSILON):\n    x = x - mean(x)\n"
    "    return x / sqrt(mean(x * x) + epsilon) * gain + bias\n\nfrom numpy import sqrt\n",
    "gelu":
    "from math import pi, sqrt\nC = 0.044715\nswitch = lambda x: 1 + np.tanh(x)\n"
    "def gelu(x):\n    return x / 2 * switch(sqrt(2 / pi) * (x + C * x ** 3))\n",
    "lm_head":
    "EPSILON = 0.1\ndef mean(x):\n    return 3\n\n"
    "from gpt2lab.layernorm import layer_norm\n"
    "def lm_head(x, gain, bias, wte, epsilon=1e-5, layer_norm=layer_norm):\n"
    "    if mean(x) == 3 and EPSILON == 0.1:\n"
    "        return layer_norm(x, gain, bias, epsilon) @ wte.T\n",
    # named as another lesson's function, and as one of the glue
    "merge":
    "def merge(parts, ranks):\n    parts = list(parts)\n    while block(parts, ranks):\n"
    "        i = load(parts, ranks)\n        parts[i:i + 2] = [parts[i] + parts[i + 1]]\n"
    "    return parts\n\n"
    "def block(parts, ranks):\n    return [i for i in range(len(parts) - 1)\n"
    "            if (parts[i], parts[i + 1]) in ranks]\n\n"
    "def load(parts, ranks):\n"
    "    return min(block(parts, ranks), key=lambda i: ranks[parts[i], parts[i + 1]])\n",
    # "re" is not re, and a table is an array
    "read_header":
    "SIZES = np.array([4, 2, 2])\nre = {'F32': 0, 'F16': 1, 'BF16': 2}\n"
    "def read_header(data):\n    import struct\n    (n,) = struct.unpack_from('<Q', data)\n"
    "    if n > len(data):\n        raise ValueError('cut short')\n"
    "    table = json.loads(data[8:8 + n].decode())\n    found = {}\n"
    "    for name in table:\n        if name != '__metadata__':\n            e = table[name]\n"
    "            begin, end = (8 + n + place for place in e['data_offsets'])\n"
    "            size = int(SIZES[re[e['dtype']]]) * int(np.prod(e['shape']))\n"
    "            if end > len(data) or size != end - begin:\n"
    "                raise ValueError('no fit')\n"
    "            found[name] = e['dtype'], tuple(e['shape']), begin, end\n    return found\n",
    "embed":
    "class Table:\n    def __init__(self, rows):\n        self.rows = rows\n\n"
    "    def __getitem__(self, i):\n        return self.rows[i]\n\n"
    "def embed(ids, wte, wpe, start=0):\n"
    "    return np.array([Table(wte)[i] + wpe[start + t] for t, i in enumerate(ids)])\n",
    "linear":
    "def linear(x, w, b):\n    return np.einsum('...i,io->...o', x, w) + b\n",
    "decode":
    "from functools import reduce\n"
    "def decode(ids, tokens):\n"
    "    return reduce(bytes.__add__, [tokens[i] for i in ids], b'').decode(errors='replace')\n",
}


def test_odd_answers_with_names_that_clash(my_ops, capsys):
    for names, cell in ODD.items():
        kept(names, cell)
    export(with_model=True)
    assert f"{len(ODD) + 1} of its 19 functions are yours." in capsys.readouterr().out
    text = Path("my_gpt2.py").read_text(encoding="utf-8")
    scopes = re.findall(r"^def own_(\w+)\(", text, flags=re.M)
    assert scopes == ["read_header", "merge", "softmax", "attend", "gelu", "lm_head"]
    assert "\n\nThis line\n  is not moved.\n" in text
    assert "():\n    from math import sqrt\n\n    switch = lambda x: " in text
    assert "\nfrom math import sqrt as root\n" in text and "\nfrom numpy import sqrt\n" in text
    writes_the_reference()


def test_what_two_functions_share_stands_there_once(my_ops, capsys):
    helper = "SCALE = 1.0\ndef helper(x):\n    return x * SCALE\n\n"
    kept("softmax attend", helper + answers()["softmax"].replace("np.exp(", "helper(1) * np.exp("),
         answers()["attend"].replace("return softmax(", "return helper(1) * softmax("))
    assert "def softmax" in (my_ops / "attend.py").read_text(encoding="utf-8")
    export()
    text = Path("my_gpt2.py").read_text(encoding="utf-8")
    for part in ("def helper(", "SCALE = 1.0\n", "def softmax("):
        assert text.count(part) == 1
    assert "2 of its 19 functions are yours." in capsys.readouterr().out


def test_an_operation_of_the_library_that_stood_in_is_the_files_own(my_ops, capsys):
    kept("attend mlp", "from gpt2lab.softmax import softmax\n" + answers()["attend"],
         "from gpt2lab.gelu import gelu as switch\nfrom gpt2lab.linear import linear\n"
         + answers()["mlp"].replace("gelu=gelu", "gelu=switch"))
    assert "from gpt2lab.softmax import" in (my_ops / "attend.py").read_text(encoding="utf-8")
    export()
    text = Path("my_gpt2.py").read_text(encoding="utf-8")
    assert "\nswitch = gelu\n" in text and "import gpt2lab" not in text
    assert "from gpt2lab" not in text
    assert "2 of its 19 functions are yours." in capsys.readouterr().out


@pytest.mark.parametrize("name, text, why", [
    ("softmax", "from gpt2lab.inside import attention\n", "needs more than Python and NumPy"),
    ("gelu", "def gelu(x):\n    from matplotlib import cm\n    return x\n",
     "needs more than Python and NumPy (from matplotlib import cm)"),
    ("linear", "def linear(x, w, b):\n    return x @ w\n", "does not pass its check"),
    ("mlp", "def mlp(:\n", "it is no Python (line 1)"),
    ("embed", "def other(x):\n    return x\n", "holds no function embed"),
    ("decode", "def decode(ids, tokens):\n    pass\n\n1 / 0\n", "ZeroDivisionError"),
    ("encode", "import sys\nsys.exit()\ndef encode():\n    pass\n", "ends Python"),
    ("sample", "COUNT = 0\nre = 1\n\n\ndef sample(probs, u):\n    global COUNT\n    COUNT += 1\n"
               "    return int(probs.cumsum().searchsorted(u, side='right'))\n", "COUNT"),
])
def test_what_cannot_stand_in_the_file_is_left_out(name, text, why, my_ops, capsys):
    my_ops.mkdir()
    (my_ops / f"{name}.py").write_text(text, encoding="utf-8")
    export()
    printed = capsys.readouterr().out
    assert f"\nYour {name} is left out: " in printed and why in printed, printed
    assert assembled("my_gpt2.py", {}) == Path("my_gpt2.py").read_text(encoding="utf-8")


# Where it is written, and what it says

def test_a_file_that_export_did_not_write_stays(my_ops, capsys):
    Path("mine.py").write_text("print(1)\n", encoding="utf-8")
    with pytest.raises(ValueError, match="no export wrote it"):
        export("mine.py")
    with pytest.raises(ValueError, match="no export wrote it"):
        export(".")
    assert Path("mine.py").read_text(encoding="utf-8") == "print(1)\n"
    export("new/file.py")
    export("new/file.py")
    assert [path.name for path in Path("new").iterdir()] == ["file.py"]


def test_what_it_prints(my_ops, capsys):
    export()
    export(with_model=True)
    Path("my_gpt2_model", "config.json").write_text("{}", encoding="utf-8")
    export(with_model=True)
    first, second, third = capsys.readouterr().out.split("my_gpt2.py, beside ops: ")[1:]
    assert 'Try: python my_gpt2.py "Once upon a time"' in first and "config.json, " in first
    assert "my_gpt2_model/: hand that folder on" in second and "left as it is" in third
    assert str(Path.cwd()) not in first + second + third
    assert max(map(len, (first + second).splitlines())) <= 100
    assert Path("my_gpt2_model", "config.json").read_text(encoding="utf-8") == "{}"


def test_an_installed_library_without_lessons(my_ops, monkeypatch, tmp_path):
    from gpt2lab.teach import exporting
    answers.cache_clear()
    monkeypatch.setattr(exporting, "shipped", lambda *parts: tmp_path)
    with pytest.raises(ValueError, match="hold no answer for linear"):
        export()


@pytest.fixture
def small(tmp_path, monkeypatch):
    """The folder of a model of GPT-2's first 300 tokens; GPT2LAB_MODEL names it."""
    sizes = {"model_type": "gpt2", "vocab_size": 300, "n_positions": 64, "n_embd": 16, "n_layer": 1,
             "n_head": 2, "bos_token_id": None, "eos_token_id": None}
    monkeypatch.setenv("GPT2LAB_MODEL", str(tmp_path / "small"))
    return write_checkpoint(tmp_path / "small", sizes)


def test_the_model_is_the_one_that_load_takes(my_ops, small, capsys):
    export(with_model=True)
    assert ("\nThose of the model small are in my_gpt2_model/: hand that folder on with the file.\n"
            in capsys.readouterr().out)
    model = gpt2lab.load(small)
    for prompt in ("in the end she heard the other one", "§ 3, naïve 🐕"):
        want = model.generate(prompt, max_new_tokens=20, temperature=0)
        assert alone(prompt, "--temperature", 0, "--max-new-tokens", 20) == (
            0, f"{prompt}{want}\n", "")
    assert len(model.encode("the other one")) == 9                  # the first merges are used
    assert "must have 1 to 64 of the model's tokens, got 65" in refused("§" + "x" * 63)


def test_a_folder_that_holds_another_model_is_left_as_it_is(my_ops, small, monkeypatch, capsys):
    place, config = Path("my_gpt2_model"), "config.json"
    monkeypatch.setenv("GPT2LAB_MODEL", "")
    export(with_model=True)
    assert (place / config).read_bytes() == (TINY / config).read_bytes()
    monkeypatch.setenv("GPT2LAB_MODEL", str(small))
    export(with_model=True)             # an untouched copy of the bundled model may go
    assert (place / config).read_bytes() == (small / config).read_bytes()
    capsys.readouterr()
    export(with_model=True)
    monkeypatch.setenv("GPT2LAB_MODEL", "gpt2-tiny")
    export(with_model=True)
    same, other = re.findall(".*my_gpt2_model/.*", capsys.readouterr().out)
    assert same.startswith("Those of the model small are in my_gpt2_model/: ")
    assert other == ("my_gpt2_model/ was there before, does not hold the bundled model, "
                     "and is left as it is.")
    assert (place / config).read_bytes() == (small / config).read_bytes()


def test_a_model_that_was_trained_into_that_folder_gets_its_vocabulary(my_ops, small, monkeypatch):
    place = small.rename("my_gpt2_model")
    monkeypatch.setenv("GPT2LAB_MODEL", str(place))
    before = (place / "model.safetensors").read_bytes()
    export(with_model=True)
    assert (place / "model.safetensors").read_bytes() == before
    want = gpt2lab.load().generate("the", temperature=0, max_new_tokens=9)
    assert alone("the", "--temperature", 0, "--max-new-tokens", 9) == (0, f"the{want}\n", "")


def test_a_model_in_several_files_is_refused_before_anything_is_written(my_ops, small):
    (small / "model.safetensors").rename(small / "model-00001-of-00001.safetensors")
    with pytest.raises(ValueError, match="small must hold all weights in one file"):
        export(with_model=True)
    assert not list(Path().iterdir())
    export()


# How it runs

@pytest.fixture(scope="module")
def desk(tmp_path_factory):
    """A folder with my_gpt2.py, made of the answers, and the bundled model in my_gpt2_model."""
    place = tmp_path_factory.mktemp("desk")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        patch.setenv("GPT2LAB_MY_OPS", str(place / "ops"))
        export(with_model=True)
    return place


@pytest.fixture
def at_desk(desk, monkeypatch):
    monkeypatch.chdir(desk)
    return desk


def with_vocabulary(folder):
    """Give a folder the vocabulary under the names that the Hub uses."""
    shutil.copy(VOCABULARY / "encoder.json", folder / "vocab.json")
    shutil.copy(VOCABULARY / "vocab.bpe", folder / "merges.txt")
    return folder


@pytest.mark.parametrize("settings", [
    {"temperature": 0.8, "seed": 3}, {"top_k": 5, "seed": 1}, {"top_p": 0.7, "seed": 12},
    {"min_p": 0.1, "seed": 4}, {"temperature": 1.3, "top_k": 9, "top_p": 0.9, "seed": 2}])
def test_it_draws_what_the_library_draws(settings, at_desk):
    options = [word for name, value in settings.items()
               for word in (f"--{name.replace('_', '-')}", value)]
    want = gpt2lab.load("gpt2-tiny").generate("The king", max_new_tokens=12, **settings)
    assert alone("The king", "--max-new-tokens", 12, *options) == (0, f"The king{want}\n", "")


def test_a_folder_from_the_hub_in_half_precision(at_desk, tmp_path, monkeypatch):
    weights = gpt2lab.load("gpt2-tiny").weights
    config = json.loads((TINY / "config.json").read_text(encoding="utf-8"))
    del config["n_positions"], config["eos_token_id"]
    halves = {f"transformer.{name}": np.array(array, np.float16) for name, array in weights.items()}
    folder = with_vocabulary(write_checkpoint(tmp_path / "half", config, halves))
    want = gpt2lab.load(write_checkpoint(tmp_path / "same", config | {"n_positions": 256}, halves))
    status, printed, said = alone("The king", "--model", folder, "--temperature", 0)
    assert (status, printed, said) == (0, "The king" + want.generate("The king", temperature=0)
                                       + "\n", "")
    monkeypatch.chdir(folder)           # the current directory is looked at last
    shutil.copy(at_desk / "my_gpt2.py", tmp_path / "my_gpt2.py")
    assert alone("The king", "--temperature", 0, file=str(tmp_path / "my_gpt2.py"))[1] == printed


def test_a_head_of_its_own(at_desk, tmp_path):
    weights = dict(gpt2lab.load("gpt2-tiny").weights)
    config = json.loads((TINY / "config.json").read_text(encoding="utf-8"))
    weights["lm_head.weight"] = weights["wte.weight"][::-1].copy()
    folder = write_checkpoint(tmp_path, config | {"tie_word_embeddings": False}, weights)
    next_logits, _ = next_logits_of(loaded(), folder)
    np.testing.assert_allclose(next_logits([5, 6]), gpt2lab.load(folder)([5, 6])[-1], atol=1e-4)


def test_rows_that_only_pad_the_table_are_never_chosen(at_desk, tmp_path):
    weights = dict(gpt2lab.load("gpt2-tiny").weights)
    config = json.loads((TINY / "config.json").read_text(encoding="utf-8"))
    table = weights["wte.weight"]
    weights["wte.weight"] = np.concatenate([table, 9 * table[:40]])
    folder = write_checkpoint(tmp_path, config | {"vocab_size": len(table) + 40}, weights)
    want = gpt2lab.load(folder).generate("The king", max_new_tokens=9, temperature=0)
    assert next_logits_of(loaded(), folder)[0](OWN.encode("The king")).argmax() >= len(table)
    assert alone("The king", "--temperature", 0, "--max-new-tokens", 9, "--model", folder) == (
        0, f"The king{want}\n", "")


def test_logits_one_by_one_and_up_to_the_last_position(at_desk):
    ids = REFERENCE["all positions/ids"].tolist()
    want = gpt2lab.load("gpt2-tiny")(ids)                                           # (N, V)
    next_logits, N = next_logits_of(loaded(), TINY)
    for t in (1, 2, 3, 40, 41, N):
        np.testing.assert_allclose(next_logits(ids[:t]), want[t - 1], atol=1e-4)


def test_only_whole_characters_are_printed(at_desk, capsys):
    space, printed = loaded(), []
    ids = OWN.encode("ab 🤗é今") + OWN.encode("🤗")[:1]

    def stream():
        for i in ids:
            yield i
            printed.append(capsys.readouterr().out)
    space["show"](stream(), OWN.tokens)
    assert "".join(printed) == "ab 🤗é今" and capsys.readouterr().out == "\ufffd\n"
    assert "\ufffd" not in "".join(printed) and len(printed) == len(ids)


@pytest.mark.parametrize("key, value", [
    ("activation_function", "relu"), ("activation_function", "gelu"), ("model_type", "llama"),
    ("scale_attn_weights", False), ("scale_attn_by_inverse_layer_idx", True),
    ("add_cross_attention", True), ("n_layer", "4"), ("n_head", None)])
def test_a_model_that_is_computed_otherwise_is_refused(key, value, at_desk, tmp_path):
    config = json.loads((TINY / "config.json").read_text(encoding="utf-8")) | {key: value}
    (tmp_path / "config.json").write_text(json.dumps(config), encoding="utf-8")
    said = refused("x", "--model", tmp_path)
    assert "config.json: " in said and key in said


@pytest.mark.parametrize("change, words", [
    ({"n_layer": 3}, "another model than config.json describes"),
    ({"n_layer": 5}, "'h.4.ln_1.weight' is missing"),
    ({"n_positions": 255}, "another model than config.json describes"),
    ({"n_head": 3}, "another model than config.json describes"),
])
def test_weights_that_do_not_fit_config_json_are_refused(change, words, at_desk, tmp_path):
    config = json.loads((TINY / "config.json").read_text(encoding="utf-8")) | change
    (tmp_path / "config.json").write_text(json.dumps(config), encoding="utf-8")
    shutil.copy(TINY / "model.safetensors", tmp_path)
    assert words in refused("x", "--model", tmp_path)


def test_missing_and_broken_files_are_refused(at_desk, tmp_path):
    assert "config.json: No such file" in refused("x", "--model", tmp_path)
    shutil.copy(TINY / "config.json", tmp_path)
    assert "model.safetensors: No such file" in refused("x", "--model", tmp_path)
    (tmp_path / "model.safetensors").write_bytes(b"version https://git-lfs")
    assert "model.safetensors: " in refused("x", "--model", tmp_path)
    bits = "BF16", np.zeros((2, 2), np.uint16)
    write_safetensors(tmp_path / "model.safetensors", {"wte.weight": bits})
    assert "F32 and F16 can be read, and wte.weight is BF16" in refused("x", "--model", tmp_path)
    shutil.copy(TINY / "model.safetensors", tmp_path)
    assert alone("x", "--model", tmp_path, "--max-new-tokens", 0) == (0, "x\n", "")
    (tmp_path / "config.json").write_text("{", encoding="utf-8")
    assert "config.json: " in refused("x", "--model", tmp_path)


@pytest.mark.parametrize("file, change, words", [
    ("vocab.json", lambda text: text[:99], "vocab.json: "),
    ("vocab.json", lambda text: text.replace('"!": 0, ', ""), "a token is missing"),
    ("vocab.json", lambda text: text.replace('"!": 0, ', '"\u4eca": 0, '), "is missing"),
    ("merges.txt", lambda text: text + "q zebra\n", "merges.txt is of another vocabulary"),
    ("merges.txt", lambda text: text[:2000], "a token is missing"),
    ("merges.txt", lambda text: text + "abc\n", "vocab.json: "),
])
def test_a_broken_vocabulary_is_refused(file, change, words, at_desk, tmp_path):
    with_vocabulary(shutil.copytree(TINY, tmp_path / "model", ignore=lambda *_: ["train"]))
    path = tmp_path / "model" / file
    text = path.read_text(encoding="utf-8")
    assert change(text) != text
    path.write_text(change(text), encoding="utf-8")
    assert words in refused("x", "--model", path.parent)


def test_a_model_without_a_vocabulary_is_refused(tmp_path, at_desk):
    shutil.copy(at_desk / "my_gpt2.py", tmp_path)
    for file in ("config.json", "model.safetensors"):
        shutil.copy(TINY / file, tmp_path)
    status, printed, said = alone("x", file=str(tmp_path / "my_gpt2.py"))
    # the current directory, which is looked at too, holds none either
    assert (status, printed) == (2, "") and "encoder.json: No such file" in said


@pytest.mark.parametrize("arguments, words", [
    ([""], "must have 1 to 256"), (["tick tock " * 200], "must have 1 to 256"), ([], "prompt"),
    (["x", "--temperature", "-1"], "--temperature must be from 0 to 1000000, got -1.0"),
    (["x", "--temperature", "nan"], "--temperature must be from 0 to 1000000, got nan"),
    (["x", "--top-k", "0"], "--top-k must be from 1 to 1000000, got 0"),
    (["x", "--top-k", "two"], "--top-k"), (["x", "--seed", "-3"], "--seed must be"),
    (["x", "--top-p", "1.5"], "--top-p must be from 0 to 1, got 1.5"),
    (["x", "--min-p", "-0.1"], "--min-p must be"),
    (["x", "--max-new-tokens", "-1"], "must be from 0"),
])
def test_wrong_arguments_are_refused(arguments, words, at_desk):
    assert words in refused(*arguments)


def test_a_vocabulary_of_another_model_is_refused(at_desk, tmp_path):
    folder = with_vocabulary(write_checkpoint(tmp_path))
    assert "must have 1 to 12 of the model's tokens" in refused("The king", "--model", folder)


def test_the_prompt_may_fill_the_context(at_desk):
    prompt = OWN.decode(REFERENCE["all positions/ids"])
    assert alone(prompt, "--temperature", 0) == (0, prompt + "\n", "")


# How text is cut

def test_text_is_cut_as_the_library_cuts_it(at_desk):
    cut, ours = loaded()["piece_pattern"]().findall, piece_pattern().findall
    files = [*(ROOT / "data").rglob("*.txt"), *(ROOT / "gpt2lab").glob("*.py"), ROOT / "README.md"]
    texts = AWKWARD + [row[1] for row in STATED] + [*PROMPTS.values()]
    for text in texts + [path.read_text(encoding="utf-8") for path in files]:
        assert cut(text) == ours(text)


def test_each_character_that_python_knows_is_of_the_librarys_kind(at_desk):
    """Of those that this Python's tables lack, or know since later, nothing is promised."""
    cut, ours = loaded()["piece_pattern"]().findall, piece_pattern().findall
    known = [chr(i) for i in range(0x110000) if unicodedata.category(chr(i)) != "Cn"
             and unicodedata.ucd_3_2_0.category(chr(i)) != "Cn"]
    assert len(known) > 90_000
    for i in range(0, len(known), 1000):
        text = "".join(f"x{c}1 {c}!{c} \n" for c in known[i:i + 1000])
        assert cut(text) == ours(text), known[i]


@pytest.mark.parametrize("text", [
    "Ŝi diris: «Ĝis revido!»", "Ο βασιλιάς είδε τη βασίλισσα.", "Король увидел 2 королевы…",
    "המלך ראה את המלכה", "رأى الملك الملكة في عام ٢٠٢٤", "राजा ने रानी को देखा",
    "রাজা রানীকে দেখলেন",
    "ராஜா ராணியைப் பார்த்தார்",
    "พระราชาเห็นพระราชินี", "王様は女王を見た。", "국왕은 왕비를 보았다", "მეფემ დედოფალი დაინახა",
    "Թագավորը տեսավ թագուհուն", "ንጉሡ ንግሥቲቱን አየ", "ព្រះរាជាបានឃើញ",
    "Nhà vua đã nhìn thấy hoàng hậu"])
def test_a_sentence_of_many_languages(text, at_desk):
    space = loaded()
    ranks, ids, tokens = space["read_vocabulary"](VOCABULARY / "encoder.json",
                                                  VOCABULARY / "vocab.bpe", 50257)
    found = space["encode"](text, space["piece_pattern"](), space["merge"], ranks, ids)
    assert found == OWN.encode(text) and space["decode"](found, tokens) == text
    assert tokens == OWN.tokens
