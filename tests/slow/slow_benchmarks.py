"""The benchmark scripts themselves, without their large models."""
import json
import sys

import gpt2lab
import lookup

TINY = gpt2lab.load()


def test_benchmark_of_the_bundled_model(monkeypatch, capsys):
    """The script without the large model: its rows, its texts, its claim of the same tokens."""
    tiny = {"gpt2-tiny": lookup.Steered(TINY.config, TINY.weights, TINY.tokenizer)}
    monkeypatch.setattr(lookup, "models", lambda: tiny)
    monkeypatch.setattr(sys, "argv", ["lookup.py", "--json", "--repeats", "1"])
    lookup.main()
    tokens_per_pass = {row["text"]: row["tokens_per_pass"]
                       for row in json.loads(capsys.readouterr().out)["rows"]}
    assert tokens_per_pass["loop"] > 3
    assert tokens_per_pass["plain"] < 1.2
    assert tokens_per_pass["trap"] < 1.3
    one = tiny["gpt2-tiny"]
    one.text = plain = lookup.texts(one)["plain"][1]
    assert lookup.run(one, plain[:8], 20, 8, lookup.time.process_time)[0] == plain[8:28]
