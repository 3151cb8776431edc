"""gpt2lab lessons: the notebooks come whole, and nothing that a learner has is written over."""
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from gpt2lab import files, lessons
from gpt2lab.cli import main
from gpt2lab.lessons import copy_lessons

SHIPPED = files.shipped("notebooks")
NAMES = sorted(path.relative_to(SHIPPED).as_posix() for path in SHIPPED.rglob("*.ipynb")
               if not {"my_ops", ".ipynb_checkpoints"} & set(path.parts))


def run(capsys, folder):
    status = main(["lessons", str(folder)])
    out, err = capsys.readouterr()
    return status, out, err


def there(folder):
    return sorted(path.relative_to(folder).as_posix() for path in Path(folder).rglob("*")
                  if path.is_file())


def test_all_notebooks_come_byte_for_byte(tmp_path, capsys):
    status, out, err = run(capsys, tmp_path / "new" / "lessons")
    assert (status, err) == (0, "") and f": {len(NAMES)} new, 0 as they were\n" in out
    assert there(tmp_path / "new" / "lessons") == NAMES
    assert "00_start_here.ipynb" in NAMES and "bonus/looking_inside.ipynb" in NAMES
    for name in NAMES:
        assert (tmp_path / "new/lessons" / name).read_bytes() == (SHIPPED / name).read_bytes()


def test_no_file_of_a_learner_is_written_over(tmp_path, capsys):
    """Not a changed lesson, not a folder or a link under its name; what is the same is fine."""
    copy_lessons(tmp_path)
    (tmp_path / "05_layernorm.ipynb").write_bytes(b"mine")
    (tmp_path / "bonus" / "looking_inside.ipynb").write_bytes(b"")
    (tmp_path / "my_ops").mkdir()
    (tmp_path / "my_ops" / "gelu.py").write_text("mine")
    (tmp_path / "06_attention.ipynb").unlink()
    (tmp_path / "07_heads.ipynb").unlink()
    (tmp_path / "07_heads.ipynb").mkdir()
    before = {name: (tmp_path / name).read_bytes() for name in there(tmp_path)}
    status, out, err = run(capsys, tmp_path)
    assert (status, err) == (0, "")
    assert out.startswith(f"Lessons in {tmp_path}: 1 new, {len(NAMES) - 4} as they were\n")
    assert ": 05_layernorm.ipynb, 07_heads.ipynb, bonus/looking_inside.ipynb\n" in out
    for name, data in before.items():
        assert (tmp_path / name).read_bytes() == data
    assert set(there(tmp_path)) - set(before) == {"06_attention.ipynb"}
    assert f": 0 new, {len(NAMES) - 3} as they were\n" in run(capsys, tmp_path)[1]


@pytest.mark.skipif(os.name == "nt", reason="links need rights on Windows")
def test_a_link_that_leads_nowhere_is_not_followed(tmp_path):
    (tmp_path / "x").mkdir()
    (tmp_path / "x" / "05_layernorm.ipynb").symlink_to(tmp_path / "elsewhere")
    assert copy_lessons(tmp_path / "x")["other"] == ["05_layernorm.ipynb"]
    assert not (tmp_path / "elsewhere").exists()


def test_a_lesson_that_comes_meanwhile_stays(tmp_path, monkeypatch):
    monkeypatch.setattr(lessons.os.path, "lexists", lambda path: False)
    (tmp_path / "00_start_here.ipynb").write_bytes(b"mine")
    with pytest.raises(FileExistsError):
        copy_lessons(tmp_path)
    assert (tmp_path / "00_start_here.ipynb").read_bytes() == b"mine"


def test_operations_and_checkpoints_are_no_lessons(tmp_path, monkeypatch):
    source = tmp_path / "notebooks"
    for name in ("01_a.ipynb", "bonus/b.ipynb", ".ipynb_checkpoints/01_a-checkpoint.ipynb",
                 "bonus/.ipynb_checkpoints/b.ipynb", "my_ops/x.ipynb", "my_ops/gelu.py",
                 "note.txt"):
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_text(name)
    monkeypatch.setattr(lessons, "shipped", lambda *parts: tmp_path.joinpath(*parts))
    assert copy_lessons(tmp_path / "x")["new"] == ["01_a.ipynb", "bonus/b.ipynb"]
    assert there(tmp_path / "x") == ["01_a.ipynb", "bonus/b.ipynb"]


def test_a_package_without_its_notebooks_says_so(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(lessons, "shipped", lambda *parts: tmp_path.joinpath(*parts))
    status, out, err = run(capsys, tmp_path / "x")
    assert (status, out) == (2, "") and "is missing: install gpt2lab again" in err
    assert not (tmp_path / "x").exists()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
def test_a_full_disk_leaves_no_half_a_lesson(tmp_path, monkeypatch, capsys):
    """The file is opened as it is in the code; its bytes go to a device that is full."""
    def on_a_full_disk(path, mode):
        open(path, mode).close()
        return open("/dev/full", "wb")
    monkeypatch.setattr(lessons, "open", on_a_full_disk, raising=False)
    status, out, err = run(capsys, tmp_path)
    assert (status, out) == (2, "") and "No space left" in err and err.count("\n") == 1
    assert there(tmp_path) == []


@pytest.mark.skipif(os.name == "nt", reason="quoted for a POSIX shell")
def test_the_line_that_opens_them_can_be_pasted(tmp_path, capsys):
    folder = tmp_path / "my l\u00e4b #1"
    line = run(capsys, folder)[1].split("Open them with: ")[1]
    assert shlex.split(line) == ["jupyter", "lab", str(folder / "00_start_here.ipynb")]


def test_what_is_not_installed_is_named(tmp_path, capsys, monkeypatch):
    assert "Not installed" not in run(capsys, tmp_path)[1]
    monkeypatch.setattr(lessons.importlib.util, "find_spec", lambda name: None)
    status, out, _ = run(capsys, tmp_path)
    assert status == 0 and "Not installed: jupyterlab, matplotlib, ipywidgets, psutil." in out
    assert 'pip install "gpt2lab[learn]"' in out


def test_the_command_loads_nothing_heavy(tmp_path):
    code = ("import sys; from gpt2lab.cli import main; main(['lessons', sys.argv[1]])\n"
            "sys.exit(' '.join({'matplotlib', 'jupyterlab', 'tiktoken'} & set(sys.modules)) or 0)")
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path)], capture_output=True,
                          text=True)
    assert (done.returncode, done.stderr) == (0, "")
