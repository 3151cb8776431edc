"""A model by its name: what the Hub is asked, what is kept, one sentence for all that goes wrong.

The real client, huggingface_hub, talks to a server on the loopback address (tests/hub.py), which
answers as the Hub does. The Xet storage protocol is not part of it: such a file takes the client's
other road.
"""
import errno
import hashlib
import json
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import gpt2lab
from gpt2lab.checkpoint import INDEX, CheckpointError
from gpt2lab.cli import main
from gpt2lab.config import ConfigError
from hub import COMMIT, TOKEN, Hub, environment
from recipes import A_IDS, A_LAST, A, write_checkpoint, write_shards

ROOT = Path(__file__).resolve().parents[1]
NAMES = ["gpt2", "gpt2-medium", "gpt2-large", "gpt2-xl", "distilgpt2", "openai-community/gpt2",
         "some.one/tiny_gpt2-x"]
DATA = ("config.json", "model.safetensors", INDEX, "model-00001-of-00002.safetensors",
        "model-00002-of-00002.safetensors")


@pytest.fixture
def hub(tmp_path, monkeypatch):
    """The server, and this process's huggingface_hub turned to it, with no cache and no token."""
    from huggingface_hub import constants
    from huggingface_hub.utils import close_session
    server = Hub()
    for name in ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN", "http_proxy", "https_proxy", "all_proxy",
                 "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "GPT2LAB_MODEL"):
        monkeypatch.delenv(name, raising=False)
    template = server.url + "/{repo_id}/resolve/{revision}/{filename}"
    for name, value in {"ENDPOINT": server.url, "HF_HUB_CACHE": str(tmp_path / "cache"),
                        "HF_HUB_OFFLINE": False, "HUGGINGFACE_CO_URL_TEMPLATE": template,
                        "HF_TOKEN_PATH": str(tmp_path / "no token")}.items():
        monkeypatch.setattr(constants, name, value)
    sleep = "huggingface_hub.file_download.time.sleep"      # between its retries
    monkeypatch.setattr(sleep, lambda seconds: None)
    close_session()
    yield server
    close_session()
    server.shutdown()
    server.server_close()
    allowed = [file for file in server.fetched() if file not in DATA]
    assert not allowed, f"asked for {allowed}"      # in every test: no code, pickle, other format


@pytest.fixture
def source(tmp_path):
    return write_checkpoint(tmp_path / "source")


def refused(name, *parts, error=CheckpointError):
    """load refuses the name soon, with one sentence in which all the parts occur."""
    begin = time.perf_counter()
    with pytest.raises(error) as caught:
        gpt2lab.load(name)
    sentence = str(caught.value)
    assert sentence.startswith(name) and "\n" not in sentence and len(sentence) < 400, sentence
    assert time.perf_counter() - begin < 3
    for part in parts:
        assert part in sentence, sentence


def assert_is_a(model):
    assert np.abs(model(A_IDS)[-1] - A_LAST).max() < 1e-5


def asked(hub):
    """The paths of all requests about models, in order."""
    return [path for _, path, _, _ in hub.log
            if not path.startswith("/api/") or path.startswith("/api/models/")]


def kept(tmp_path):
    """The files in the cache that hold bytes of the model."""
    return sorted(path.name for path in (tmp_path / "cache").rglob("*")
                  if path.is_file() and "blobs" in path.parts and path.stat().st_size)


# --- what is asked for ----------------------------------------------------------------------------

@pytest.mark.parametrize("name", NAMES)
def test_a_name_is_fetched_once(hub, source, name):
    hub.put(name, source)
    assert_is_a(gpt2lab.load(name))
    assert hub.fetched() == ["config.json", "model.safetensors"]
    assert asked(hub)[0] == f"/api/models/{name}"
    hub.log.clear()
    assert_is_a(gpt2lab.load(name))
    again = [method for method, path, _, _ in hub.log if "/api/" not in path]
    assert again == ["HEAD"]                        # config.json: is it still this commit?


def test_the_old_name_leads_to_the_new_one(hub, source):
    hub.put("openai-community/gpt2", source)
    hub.moved["gpt2"] = "openai-community/gpt2"
    assert_is_a(gpt2lab.load("gpt2"))
    assert asked(hub)[:2] == ["/api/models/gpt2", "/api/models/openai-community/gpt2"]
    assert {"/gpt2/resolve/main/config.json",
            "/openai-community/gpt2/resolve/main/config.json"} < set(asked(hub))


def test_the_variable_names_the_model(hub, source, monkeypatch):
    hub.put("gpt2", source)
    monkeypatch.setenv("GPT2LAB_MODEL", "gpt2")
    assert_is_a(gpt2lab.load())
    assert gpt2lab.load("gpt2-tiny").config.n_layer == 4
    monkeypatch.setenv("GPT2LAB_MODEL", str(source))
    assert_is_a(gpt2lab.load())
    monkeypatch.setenv("GPT2LAB_MODEL", "")
    assert gpt2lab.load().config.n_layer == 4


def test_shards(hub, tmp_path):
    hub.put("one/sharded", write_shards(tmp_path / "source"))
    assert_is_a(gpt2lab.load("one/sharded"))
    assert hub.fetched() == sorted(["config.json", *DATA[2:]])
    hub.down = 503
    assert_is_a(gpt2lab.load("one/sharded"))


def test_one_file_or_shards_but_not_both(hub, tmp_path, source):
    write_shards(source)
    hub.put("one/both", source)
    assert_is_a(gpt2lab.load("one/both"))
    assert hub.fetched() == ["config.json", "model.safetensors"]


def test_an_index_that_names_other_files_is_refused(hub, tmp_path):
    files = hub.put("one/bad", write_shards(tmp_path / "source"))
    for place in ("../../x.safetensors", "pytorch_model.bin"):
        files[INDEX] = json.dumps({"weight_map": {"wte.weight": place}}).encode()
        with pytest.raises(CheckpointError, match="is not the name of a safetensors file"):
            gpt2lab.load("one/bad")
        assert hub.fetched() == ["config.json", INDEX]


# --- tokens ---------------------------------------------------------------------------------------

@pytest.mark.parametrize("kind", ["gated", "private"])
def test_a_token_opens_the_door_and_goes_to_no_other_host(hub, source, monkeypatch, kind):
    hub.put("one/closed", source)
    getattr(hub, kind).add("one/closed")
    refused("one/closed", "HF_TOKEN", *["gated"] * (kind == "gated"))
    monkeypatch.setenv("HF_TOKEN", "hf_of_somebody_else")
    refused("one/closed", "HF_TOKEN")
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    hub.log.clear()
    assert_is_a(gpt2lab.load("one/closed"))
    assert {token for _, path, _, token in hub.log if "/cdn/" not in path} == {f"Bearer {TOKEN}"}
    assert [token for _, path, _, token in hub.log if "/cdn/" in path] == [None]


# --- what goes wrong ------------------------------------------------------------------------------

def test_no_such_model(hub, monkeypatch):
    refused("no/such", "no such model on the Hub")
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    refused("no-such", "no such model on the Hub")


@pytest.mark.parametrize("keys, part", [({"model_type": "bert"}, "'bert'"),
                                        ({"n_head": 3}, "n_head = 3")])
def test_another_architecture_is_refused_before_its_weights_are_fetched(hub, tmp_path, keys, part):
    hub.put("one/other", write_checkpoint(tmp_path / "source", A | keys, {}))
    refused("one/other", "config.json: ", part, error=ConfigError)
    assert hub.fetched() == ["config.json"]


def test_pickles_only(hub, source):
    files = hub.put("one/old", source)
    del files["model.safetensors"]
    refused("one/old", "no model.safetensors", "pickled")
    del files["config.json"]
    refused("one/old", "no config.json")
    hub.repos["one/old"] = {"config.json": files.get("config.json", json.dumps(A).encode())}
    refused("one/old", "no model.safetensors")


def test_no_network(hub, source, tmp_path):
    hub.put("gpt2", source)
    assert_is_a(gpt2lab.load("gpt2"))
    hub.shutdown()
    hub.server_close()
    from huggingface_hub.utils import close_session
    close_session()
    assert_is_a(gpt2lab.load("gpt2"))                   # from the cache
    refused("gpt2-medium", "config.json", "not in the cache", "Connect")


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_hub_that_is_down(hub, source, status):
    hub.put("gpt2", source)
    hub.down = status
    refused("gpt2", "config.json", str(status))
    assert asked(hub) == ["/api/models/gpt2"]       # once: for a file the client asks and asks
    hub.down = None
    assert_is_a(gpt2lab.load("gpt2"))
    hub.down = status
    assert_is_a(gpt2lab.load("gpt2"))


def test_offline_mode(hub, source, monkeypatch, tmp_path):
    hub.put("gpt2", source)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    refused("gpt2", "HF_HUB_OFFLINE", "config.json", str(tmp_path))
    assert not hub.log
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
    assert_is_a(gpt2lab.load("gpt2"))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    hub.log.clear()
    assert_is_a(gpt2lab.load("gpt2"))
    assert not hub.log


def test_a_cut_connection_goes_on_where_it_broke(hub, source, monkeypatch):
    monkeypatch.setattr("huggingface_hub.constants.DOWNLOAD_CHUNK_SIZE", 1000)      # it has 10 MB
    hub.put("gpt2", source)
    hub.cuts["model.safetensors"] = [3000, 2500]
    assert_is_a(gpt2lab.load("gpt2"))
    assert hub.bodies("model.safetensors") == [None, "bytes=3000-", "bytes=5000-"]


def test_a_download_that_breaks_off_for_good(hub, source, tmp_path):
    hub.put("gpt2", source)
    hub.cuts["model.safetensors"] = [3000] + [0] * 9
    refused("gpt2", "model.safetensors", "failed", "run it again")
    assert len(kept(tmp_path)) == 1                     # config.json: no half a file
    hub.cuts.clear()
    hub.log.clear()
    assert_is_a(gpt2lab.load("gpt2"))
    assert hub.bodies("model.safetensors") == [None]    # huggingface_hub 2 keeps no broken download


@pytest.mark.parametrize("change, part", [
    (lambda data: data[:-4], "size"), (lambda data: data + b"more", "size"),
    (lambda data: b"", "size"), (lambda data: data[:-1] + bytes([data[-1] ^ 1]), "SHA-256"),
    (lambda data: bytes(len(data)), "SHA-256")],
    ids=["cut", "longer", "empty", "one bit", "zeros"])
def test_other_bytes_than_the_hub_promised(hub, source, tmp_path, change, part):
    hub.put("gpt2", source)
    hub.change["model.safetensors"] = change
    refused("gpt2", "model.safetensors", part, "thrown away")
    assert len(kept(tmp_path)) == 1
    hub.change.clear()
    assert_is_a(gpt2lab.load("gpt2"))
    assert hashlib.sha256((source / "model.safetensors").read_bytes()).hexdigest() in kept(tmp_path)


def test_the_disk_is_full(hub, source, tmp_path, monkeypatch):
    hub.put("gpt2", source)

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")
    monkeypatch.setattr("huggingface_hub.file_download._chmod_and_move", full)
    refused("gpt2", "disk is full", "config.json", str(tmp_path))


# --- the command line -----------------------------------------------------------------------------

def test_one_line_on_stderr(hub, source, capsys):
    hub.put("gpt2", source)
    for name, part in (("no/such", "no such model"), ("a b", "no name on the Hub")):
        assert main(["inspect", name]) == 2
        out, err = capsys.readouterr()
        assert out == "" and err.count("\n") == 1
        assert err.startswith(f"gpt2lab: {name}: ") and part in err
    assert main(["inspect", "gpt2"]) == 0
    assert "1,960 numbers" in capsys.readouterr().out


def test_nothing_but_environment_variables(hub, source, tmp_path):
    """HF_ENDPOINT, HF_TOKEN, HF_HOME, HF_HUB_OFFLINE in processes of their own.

    The first connection breaks.
    """
    hub.put("gpt2", source)
    hub.gated.add("gpt2")
    hub.cuts["model.safetensors"] = [5000]

    def inspect(**variables):
        done = subprocess.run([sys.executable, "-m", "gpt2lab", "inspect", "gpt2"], cwd=ROOT,
                              capture_output=True, text=True, timeout=60,
                              env=environment(hub, tmp_path / "home", **variables))
        return done.returncode, done.stdout, done.stderr.splitlines()
    status, out, err = inspect()
    assert (status, out, len(err)) == (2, "", 1)
    assert "gated" in err[0] and err[0].startswith("gpt2lab: gpt2: ")
    status, out, err = inspect(HF_TOKEN=TOKEN)
    assert (status, err) == (0, []) and "1,960 numbers" in out
    assert len(hub.bodies("model.safetensors")) == 2
    kept_in = tmp_path / "home" / "hub" / "models--gpt2" / "snapshots" / COMMIT
    assert (kept_in / "model.safetensors").is_file()
    hub.log.clear()
    assert inspect(HF_HUB_OFFLINE="1") == (0, out, [])
    assert not hub.log
