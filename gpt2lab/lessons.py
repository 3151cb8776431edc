"""The notebooks, copied to where a learner may write."""
import importlib.util
import os
from pathlib import Path

from .files import shipped

LEFT_OUT = {"my_ops", ".ipynb_checkpoints"}             # a learner's own, and JupyterLab's
NEEDED = ("jupyterlab", "matplotlib", "ipywidgets", "psutil")     # the extra `learn`


def copy_lessons(folder):
    """Copy each notebook that is not in the folder yet, those of bonus/ too; never over a file.

    Returns: {"new": names, "same": names, "other": names}. The last are there with another content,
        changed by the learner or of another version, and stay as they are.
    Raises: ValueError where the folder is a file; OSError, with what the system says, where it
        cannot be written to.
    """
    source, target = shipped("notebooks"), Path(os.path.expanduser(folder))
    if not source.is_dir():
        raise ValueError(f"lessons: the folder {source} is missing: install gpt2lab again")
    if target.is_file():
        raise ValueError(f"lessons: {target} is a file, not a folder")
    found = {"new": [], "same": [], "other": []}
    for path in sorted(source.rglob("*.ipynb")):
        name = path.relative_to(source)
        if not LEFT_OUT.intersection(name.parts):
            found[_copy(path, target / name)].append(name.as_posix())
    return found


def missing():
    """What lessons need and is not installed."""
    return [name for name in NEEDED if importlib.util.find_spec(name) is None]


def _copy(path, target):
    """Copy one file where none stands, whole or not at all. Returns "new", "same" or "other"."""
    data = path.read_bytes()
    if os.path.lexists(target):         # a link that leads nowhere is somebody's too
        return "same" if target.is_file() and target.read_bytes() == data else "other"
    target.parent.mkdir(parents=True, exist_ok=True)
    file = open(target, "xb")           # x: not even over a file that came this moment
    try:
        with file:
            file.write(data)
    except BaseException:
        target.unlink()
        raise
    return "new"
