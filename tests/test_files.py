"""Shipped files are found in a checkout and in an installed package."""
from pathlib import Path

from gpt2lab import files


def test_in_a_checkout_data_and_notebooks_stand_beside_the_package():
    for folder in ("data", "notebooks"):
        assert files.shipped(folder) == Path(files.__file__).resolve().parents[1] / folder
    assert files.shipped("data", "gpt2-tiny", "config.json").is_file()


def test_in_an_installed_package_they_stand_inside(tmp_path, monkeypatch):
    (tmp_path / "gpt2lab" / "data").mkdir(parents=True)
    monkeypatch.setattr(files, "PACKAGE", tmp_path / "gpt2lab")
    assert files.shipped("data", "a") == tmp_path / "gpt2lab" / "data" / "a"
    assert files.shipped("notebooks") == tmp_path / "notebooks"
