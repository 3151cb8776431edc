"""Every published GPT-2 by its name, as transformers writes it: pytest tests/slow/slow_hub.py

Checkpoints with each real model's depth, number of heads and config keys, and narrow heads, behind
the loopback Hub of tests/hub.py; gpt2lab in a process of its own, with nothing but environment
variables.
"""
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from huggingface_hub.constants import DOWNLOAD_CHUNK_SIZE
from transformers import GPT2Config, GPT2LMHeadModel

from hub import Hub, environment

# name: (blocks, heads); a head has 2 numbers here, 64 in the real ones
REAL = {"gpt2": (12, 12), "gpt2-medium": (24, 16), "gpt2-large": (36, 20), "gpt2-xl": (48, 25),
        "distilgpt2": (6, 12)}
ROOT = Path(__file__).resolve().parents[2]
IDS = [464, 3290, 318, 50256, 0, 11]
ASK = """
import json, sys
import numpy as np
import gpt2lab
model = gpt2lab.load(sys.argv[1])
np.save(sys.argv[2], model(json.loads(sys.argv[3])))
"""


@pytest.fixture
def hub():
    server = Hub()
    yield server
    server.shutdown()
    server.server_close()


def make(folder, name, **saving):
    """A random model of this depth, saved by transformers, and its logits for IDS."""
    L, H = REAL[name]
    torch.manual_seed(L)
    config = GPT2Config(n_layer=L, n_head=H, n_embd=2 * H, n_positions=64, initializer_range=0.3)
    model = GPT2LMHeadModel(config).eval()
    model.save_pretrained(folder, **saving)
    with torch.no_grad():
        return model(torch.tensor([IDS])).logits[0].numpy()


def python(hub, home, *words, **variables):
    """The end of a Python process that knows this Hub and nothing else."""
    return subprocess.run([sys.executable, *words], capture_output=True, text=True, timeout=300,
                          cwd=ROOT, env=environment(hub, home, **variables))


def logits(hub, home, name, **variables):
    """What gpt2lab gives for IDS, in a process of its own."""
    out = home.parent / "logits.npy"
    done = python(hub, home, "-c", ASK, name, str(out), json.dumps(IDS), **variables)
    assert done.returncode == 0, done.stderr
    return np.load(out)


@pytest.mark.parametrize("owner", ["", "openai-community/"], ids=["old name", "new name"])
@pytest.mark.parametrize("name", REAL)
def test_each_published_model(hub, tmp_path, name, owner):
    wanted = make(tmp_path / "source", name)
    hub.put("openai-community/" + name, tmp_path / "source")
    hub.moved[name] = "openai-community/" + name
    found = logits(hub, tmp_path / "home", owner + name)
    assert np.abs(found - wanted).max() <= 1e-4 and np.ptp(wanted) > 1
    assert np.array_equal(found.argmax(axis=-1), wanted.argmax(axis=-1))
    assert hub.fetched() == ["config.json", "model.safetensors"]
    hub.log.clear()
    again = logits(hub, tmp_path / "home", owner + name, HF_HUB_OFFLINE="1")
    assert np.array_equal(again, found) and not hub.log


def test_shards_of_transformers(hub, tmp_path):
    wanted = make(tmp_path / "source", "gpt2-medium", max_shard_size="1MB")
    files = hub.put("one/sharded", tmp_path / "source")
    shards = sorted(file for file in files if file.endswith(".safetensors"))
    assert len(shards) > 2
    assert np.abs(logits(hub, tmp_path / "home", "one/sharded") - wanted).max() <= 1e-4
    assert hub.fetched() == sorted(["config.json", "model.safetensors.index.json", *shards])


@pytest.mark.parametrize("cut", [15_000_000, 25_000_000])
def test_a_large_file_goes_on_where_the_connection_broke(hub, tmp_path, cut):
    """Over 10 MB, so that the client's own steps are seen; twice broken."""
    torch.manual_seed(0)
    model = GPT2LMHeadModel(GPT2Config(n_layer=1, n_head=4, n_embd=192, n_positions=16))
    model.save_pretrained(tmp_path / "source")
    hub.put("gpt2", tmp_path / "source")
    hub.cuts["model.safetensors"] = [cut, 0]
    logits(hub, tmp_path / "home", "gpt2")
    written = cut - cut % DOWNLOAD_CHUNK_SIZE
    rest = f"bytes={written}-"
    assert written and hub.bodies("model.safetensors") == [None, rest, rest]


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0,
                    reason="only root can mount a small disk")
def test_a_disk_that_is_full(hub, tmp_path):
    make(tmp_path / "source", "gpt2")
    hub.put("gpt2", tmp_path / "source")
    home = tmp_path / "home"
    home.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(home)]
    if subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("mounting is not allowed here")
    try:
        done = python(hub, home, "-m", "gpt2lab", "inspect", "gpt2")
    finally:
        subprocess.run(["umount", str(home)], check=True)
    assert done.returncode == 2 and done.stdout == "", done.stderr
    assert "the disk is full" in done.stderr.splitlines()[-1], done.stderr
