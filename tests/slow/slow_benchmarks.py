"""The benchmark scripts themselves, without their large models."""
import json
import sys
from pathlib import Path

import gpt2lab

ROOT = Path(__file__).resolve().parents[2]
TINY = gpt2lab.load()


def test_benchmark_of_the_bundled_model(monkeypatch, capsys):
    """The script itself, without the large model: its rows, its texts, its claim of the same tokens."""
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    monkeypatch.delitem(sys.modules, "lookup", raising=False)
    import lookup
    tiny = {"gpt2-tiny": lookup.Steered(TINY.config, TINY.weights, TINY.tokenizer)}
    monkeypatch.setattr(lookup, "models", lambda: tiny)
    monkeypatch.setattr(sys, "argv", ["lookup.py", "--json", "--repeats", "1"])
    lookup.main()
    rows = {row["text"]: row for row in json.loads(capsys.readouterr().out)["rows"]}
    assert rows["loop"]["tokens_per_pass"] > 3 and rows["plain"]["tokens_per_pass"] < 1.2 and rows["trap"]["tokens_per_pass"] < 1.3
    plain = lookup.texts(tiny["gpt2-tiny"])["plain"][1]
    tiny["gpt2-tiny"].text = plain
    assert lookup.run(tiny["gpt2-tiny"], plain[:8], 20, 8, lookup.time.process_time)[0] == plain[8:28]
