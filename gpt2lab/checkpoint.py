"""Where weights come from: the bundled model, a folder, the Hugging Face Hub; checked."""
import errno
import hashlib
import json
import os
import re
from functools import cache
from pathlib import Path

import numpy as np

from .config import Config, ConfigError
from .files import shipped
from .model import GPT2, Ops
from .safetensors import open_file
from .tokenizer import best_tokenizer

DATA = shipped("data")
BUNDLED = DATA / "gpt2-tiny"
BUFFER = re.compile(r"h\.\d+\.attn\.(bias|masked_bias)")         # masks of older files
INDEX = "model.safetensors.index.json"
TIMEOUT = 10                    # seconds that the Hub may take to say what a model has
PICKLES = " (pickled .bin files run code when loaded and are not read)"
FLOATS = ("F16", "BF16", "F32", "F64")


class CheckpointError(ValueError):
    """The weights cannot be found, or are not exactly those of config.json's GPT-2."""


def load(source=None, ops=None):
    """A GPT2 ready to run.

    source: "gpt2-tiny" for the bundled model, whatever the working directory holds ("./gpt2-tiny"
        is a folder there); a folder with config.json and *.safetensors, with ~ for your home; else
        a name on the Hugging Face Hub ("gpt2", "owner/name"), which is fetched once and then kept
        in the cache of huggingface_hub. None is the model that the environment variable
        GPT2LAB_MODEL names, and the bundled one where it is not set or empty.
    ops: an Ops with operations of yours; None: the library's.
    A model of 256 to 50,256 tokens gets GPT-2's first V tokens: the bytes and the first merges.
    Raises: CheckpointError, ConfigError or SafetensorsError (all ValueError) with one sentence.
        Either everything fits, each parameter from exactly one tensor, or nothing is loaded.
        OSError, with what the system says, for a file that cannot be read.
    """
    folder = find(source)
    config = Config.from_file(folder / "config.json")
    weights = read_weights(folder, config)
    return GPT2(config, weights, tokenizer(config.vocab_size), Ops() if ops is None else ops)


@cache
def tokenizer(size=None):
    """GPT-2's tokenizer from the bundled vocabulary files, made once.

    size: V of a model. Between 256 (the single bytes alone) and 50,257 it is the tokenizer of the
        first V tokens, without an end token; else the whole one.
    """
    if size is not None:
        whole = tokenizer()
        return whole.first(size) if 256 <= size < len(whole.tokens) else whole
    folder = DATA / "gpt2-vocab"
    _require(folder.is_dir(), f"the folder {folder} is missing: install gpt2lab again")
    return best_tokenizer(folder)


def chosen(source=None):
    """What load takes for `source`: itself, or for None what GPT2LAB_MODEL says, or the bundled."""
    return (os.environ.get("GPT2LAB_MODEL") or "gpt2-tiny") if source is None else source


def find(source=None):
    """The folder of a model: see load. Fetches from the Hub what is not a folder here."""
    source = chosen(source)
    _require(isinstance(source, (str, os.PathLike)),
             f"a model must be a folder or a name, got {source!r}")
    if source == "gpt2-tiny":
        _require(BUNDLED.is_dir(), f"the folder {BUNDLED} is missing: install gpt2lab again")
        return BUNDLED
    folder = Path(os.path.expanduser(source))       # Path's own expanduser fails for "~nobody"
    if folder.is_dir():
        _require((folder / "config.json").is_file(), f"{folder}: the folder holds no config.json")
        return folder
    _require(not folder.exists(), f"{folder}: a model is a folder, this is a file")
    _require(isinstance(source, str) and re.fullmatch(r"[\w-][\w.-]*(/[\w-][\w.-]*)?", source),
             f"{source}: there is no such folder, and it is no name on the Hub")
    return _fetch(source)


def _fetch(name):
    """Folder of a model of the Hub in huggingface_hub's cache: config.json, checked, then weights.

    Nothing else is fetched, no code and no pickle. Where the Hub gives no answer, the cache must
    have all.
    """
    try:
        from huggingface_hub import HfApi, hf_hub_download
    except ImportError:
        raise CheckpointError(f"{name}: there is no such folder, and huggingface_hub, which could "
                              "fetch it, is not installed (pip install huggingface_hub)") from None
    listed = trouble = None
    try:
        info = HfApi().model_info(name, timeout=TIMEOUT)
        listed = [file.rfilename for file in info.siblings or ()]
    except Exception as error:              # no network, no such model: the cache may do
        trouble = error

    def get(file, commit=None):
        if listed is not None:
            _require(file in listed, f"{name}: the model on the Hub has no {file}"
                     + PICKLES * any(other.endswith(".bin") for other in listed))
        try:
            return Path(hf_hub_download(name, file, revision=commit,
                                        local_files_only=listed is None))
        except Exception as error:          # whatever the network does, the user gets one sentence
            raise CheckpointError(f"{name}: {_what_happened(trouble or error, file)}") from None

    config = get("config.json")
    folder, commit = config.parent, config.parent.name      # all files from one commit
    try:
        Config.from_file(config)
    except ConfigError as error:
        raise ConfigError(str(error).replace(str(config), f"{name}: config.json")) from None
    sharded = INDEX in (listed or ()) and "model.safetensors" not in listed
    files = ["model.safetensors"]
    if sharded or (folder / INDEX).is_file():
        files = sorted(set(read_index(get(INDEX, commit)).values()))
    for file in files:
        new = not (folder / file).exists()
        path = get(file, commit)
        if new:
            _check_sum(name, path)
    return folder


def _check_sum(name, path):
    """Refuse, and throw away, a fresh file that is not the one that the Hub names by its SHA-256.

    huggingface_hub compares sizes only. It keeps a large file under its SHA-256.
    """
    kept = path.resolve()
    if re.fullmatch(r"[0-9a-f]{64}", kept.name):
        with open(kept, "rb") as file:
            same = hashlib.file_digest(file, "sha256").hexdigest() == kept.name
        if not same:
            path.unlink()
            kept.unlink()
        _require(same, f"{name}: {path.name} came with a wrong SHA-256 and was thrown away: "
                       "run it again")


def _what_happened(error, file):
    """One sentence about an exception of huggingface_hub."""
    from huggingface_hub import constants, errors
    reason = " ".join(str(error).split()) or type(error).__name__
    if isinstance(error, errors.OfflineModeIsEnabled):
        return f"HF_HUB_OFFLINE is set, and {file} is not in the cache {constants.HF_HUB_CACHE}"
    if isinstance(error, errors.GatedRepoError):
        return ("the model is gated: accept its terms on its page, "
                "and set HF_TOKEN to a token of yours")
    if isinstance(error, errors.RepositoryNotFoundError):
        return ("no such folder here, and no such model on the Hub, "
                "or a private one that HF_TOKEN does not open")
    if isinstance(error, OSError) and error.errno == errno.ENOSPC:
        return f"the disk is full: no room for {file} in {constants.HF_HUB_CACHE}"
    if isinstance(error, errors.HfHubHTTPError):
        return f"the Hub refuses {file}: {reason:.160}"
    if "Consistency check failed" in reason:
        return f"{file} came with a wrong size and was thrown away: run it again"
    reason = f"{type(error).__name__}: {reason:.120}"
    return f"{file} is not in the cache, and fetching it failed: run it again ({reason})"


def read_weights(folder, config):
    """{name in the checkpoint, without "transformer.": array float32}: all, of the right shapes.

    A float32 array is a view of the mapped file. Raises CheckpointError, SafetensorsError.
    """
    tensors = {}                            # bare name -> (file, name there)
    for file in open_files(folder):
        for name in file:
            bare = name.removeprefix("transformer.")
            _require(bare not in tensors,
                     f"{folder}: tensor {bare} is there twice ({name} in {file.path})")
            tensors[bare] = file, name
    head = "lm_head.weight"
    weights = {}
    for name, shape in config.shapes():             # ends at the first missing one, for any n_layer
        _require(name in tensors, f"{folder}: tensor {name} of shape {shape} is missing")
        weights[name] = _read(*tensors[name], shape)
    for name in tensors:
        _require(name in weights or BUFFER.fullmatch(name) or name == head,
                 f"{folder}: tensor {name} is no part of the model that config.json describes")
    if config.tie_word_embeddings and head in tensors:
        table = weights["wte.weight"]                                               # (V, D)
        _require(np.array_equal(_read(*tensors[head], table.shape), table),
                 f"{folder}: lm_head.weight differs from wte.weight, but config.json ties them")
    return weights


def _read(file, name, shape):
    """One tensor as float32, if it has this shape and holds floating-point numbers."""
    entry = file.entries[name]
    tensor = f"{file.path}: tensor {name}"
    _require(entry.shape == shape,
             f"{tensor} has shape {entry.shape}, config.json asks for {shape}")
    _require(entry.dtype in FLOATS,
             f"{tensor} has dtype {entry.dtype}, not one of {', '.join(FLOATS)}")
    with np.errstate(over="ignore"):
        array = file[name].astype(np.float32, copy=False)                           # shape
    if entry.dtype == "F64":
        _require(np.isfinite(array).all(), f"{tensor} holds numbers that float32 cannot hold")
    array.flags.writeable = False
    return array


def open_files(folder):
    """The opened safetensors files of a checkpoint: those that the index names, or the only one."""
    index = folder / INDEX
    if not index.is_file():
        files = sorted(folder.glob("*.safetensors"))
        found = [file.name for file in files] or "no safetensors file"
        _require(len(files) == 1 or folder / "model.safetensors" in files,
                 f"{folder}: needs model.safetensors or its index, holds {found}"
                 + PICKLES * bool(list(folder.glob("*.bin"))))
        return [open_file(files[0] if len(files) == 1 else folder / "model.safetensors")]
    place_of = read_index(index)
    shards = sorted(set(place_of.values()))
    missing = [shard for shard in shards if not (folder / shard).is_file()]
    _require(not missing, f"{folder}: files that the index names are missing: {', '.join(missing)}")
    files = [open_file(folder / shard) for shard in shards]
    for shard, file in zip(shards, files):
        named = {name for name, place in place_of.items() if place == shard}
        for name in sorted(named.symmetric_difference(file))[:1]:
            raise CheckpointError(f"{index}: tensor {name} is in the index or in {shard}, "
                                  "but not in both")
    return files


def read_index(index):
    """{tensor name: file name} of an index file; the files stand beside it."""
    try:
        place_of = json.loads(index.read_text(encoding="utf-8"))["weight_map"]
        shards = sorted(set(place_of.values()))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise CheckpointError(f"{index}: must be JSON with a weight_map "
                              "from tensor names to file names") from None
    for shard in shards:
        _require(isinstance(shard, str) and re.fullmatch(r"[\w.-]+\.safetensors", shard),
                 f"{index}: {shard!r} is not the name of a safetensors file in this folder")
    return place_of


def _require(condition, sentence):
    if not condition:
        raise CheckpointError(sentence)
