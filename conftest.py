"""Tests and notebooks run with the bundled model, and without the operations that you have kept."""
import os
import tempfile

_empty = tempfile.TemporaryDirectory()         # what a lesson exports stands beside my_ops
os.environ["GPT2LAB_MY_OPS"] = os.path.join(_empty.name, "my_ops")
os.environ.pop("GPT2LAB_MODEL", None)
os.environ.setdefault("GPT2LAB_STEPS", "30")     # of a training: enough to see that it runs
if "PYTEST_XDIST_WORKER" in os.environ:         # two files at once: one thread each is faster
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
