"""Every pin of requirements.txt can be had as a wheel, for each Python and system of the course.

    pytest -q -n 0 -s tests/slow/slow_pins.py

Asks the package index pin by pin. The markers are evaluated here: pip would take those of the
Python that runs it. Needs a network.
"""
import subprocess
import sys
import tempfile
import zipfile
from concurrent.futures import ThreadPoolExecutor
from email.parser import Parser
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

REQUIREMENTS = Path(__file__).resolve().parents[2] / "requirements.txt"
PYTHONS = ("3.11", "3.12", "3.13", "3.14", "3.15")
AT_ONCE = 4         # processes: they mostly wait for the network

# Pins of which no version has a wheel, {(name, Python, system): reason}. When there is one after
# all, the test fails until it leaves this list.
EXCEPTIONS = {}


def manylinux(machine):
    """All tags that a Linux with glibc 2.28 or newer accepts."""
    return [f"manylinux_2_{minor}_{machine}" for minor in range(28, 4, -1)] + [
        f"manylinux{name}_{machine}" for name in ("2014", "2010", "1")]


# The platform tags for pip, and what the markers read there.
SYSTEMS = {
    "Linux x86-64": (manylinux("x86_64"), ("posix", "linux", "Linux", "x86_64")),
    "Linux ARM": (manylinux("aarch64"), ("posix", "linux", "Linux", "aarch64")),
    "macOS arm64": (["macosx_14_0_arm64"], ("posix", "darwin", "Darwin", "arm64")),
    "macOS x86-64": (["macosx_14_0_x86_64"], ("posix", "darwin", "Darwin", "x86_64")),
    "Windows": (["win_amd64"], ("nt", "win32", "Windows", "AMD64")),
}
TARGETS = [(python, system) for python in PYTHONS for system in SYSTEMS]


def environment(python, system):
    """All that a marker can ask, as this Python on this system would answer."""
    _, (os_name, sys_platform, platform_system, machine) = SYSTEMS[system]
    return {"python_version": python, "python_full_version": python + ".0",
            "implementation_name": "cpython", "implementation_version": python + ".0",
            "platform_python_implementation": "CPython", "os_name": os_name,
            "sys_platform": sys_platform, "platform_system": platform_system,
            "platform_machine": machine, "platform_release": "", "platform_version": "",
            "extra": ""}


def pins(text):
    """The requirements of a file; comments and the line of this project itself (-e .) left out."""
    lines = [line.split("#")[0].strip() for line in text.splitlines()]
    return [Requirement(line) for line in lines if line and not line.startswith("-e ")]


def applies(pin, target):
    return pin.marker is None or pin.marker.evaluate(environment(*target))


def wheel(pin, python, system):
    """(file name, Requires-Python) of the wheel of a pin, or None where the index has none."""
    tags = [part for tag in SYSTEMS[system][0] for part in ("--platform", tag)]
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check",
             "--no-deps", "--only-binary=:all:", "--python-version", python, *tags, "-d", folder,
             f"{pin.name}{pin.specifier}"], capture_output=True, text=True)
        if "No matching distribution found" in done.stderr:
            return None
        assert done.returncode == 0, f"pip could not ask for {pin}: {done.stderr[-500:]}"
        path, = Path(folder).iterdir()
        with zipfile.ZipFile(path) as file:
            name, = (n for n in file.namelist() if n.endswith(".dist-info/METADATA")
                     and n.count("/") == 1)
            metadata = Parser().parsestr(file.read(name).decode())
    return path.name, metadata["Requires-Python"] or ""


def missing(pin, targets=TARGETS):
    """The targets for which a pin has no wheel. One wheel for all systems is fetched only once."""
    without, for_all = [], None
    for python, system in targets:
        if not applies(pin, (python, system)):
            continue
        if for_all is not None and for_all.contains(python + ".0"):
            continue
        found = wheel(pin, python, system)
        if found is None:
            without.append((python, system))
        elif found[0].endswith("-none-any.whl"):
            for_all = SpecifierSet(found[1])
    return without


@pytest.mark.parametrize("target", TARGETS, ids=" ".join)
def test_each_package_has_one_exact_pin(target):
    here = [pin for pin in pins(REQUIREMENTS.read_text(encoding="utf-8")) if applies(pin, target)]
    assert all(str(pin.specifier).startswith("==") and "*" not in str(pin.specifier)
               for pin in here)
    names = [pin.name for pin in here]
    assert len(names) == len(set(names))
    assert set(names) == {pin.name for pin in pins(REQUIREMENTS.read_text(encoding="utf-8"))}


def test_every_pin_can_be_had():
    asked = pins(REQUIREMENTS.read_text(encoding="utf-8"))
    with ThreadPoolExecutor(AT_ONCE) as pool:
        answers = list(pool.map(missing, asked))
    without = {(pin.name, *target): f"{pin.name}{pin.specifier}: Python {' on '.join(target)}"
               for pin, targets in zip(asked, answers) for target in targets}
    unknown = [text for key, text in without.items() if key not in EXCEPTIONS]
    if unknown:
        pytest.fail("no wheel for\n" + "\n".join(unknown), pytrace=False)
    over = [" ".join(key) for key in EXCEPTIONS if key not in without]
    if over:
        pytest.fail("not missing; take out of EXCEPTIONS:\n" + "\n".join(over), pytrace=False)


def test_what_is_missing_is_named():
    """A version that does not exist, one that 3.15 lacks, and the same kept away from 3.15."""
    two = [("3.11", "Windows"), ("3.15", "Windows")]
    assert missing(Requirement("numpy==2.4.999"), two) == two
    assert missing(Requirement("numpy==2.4.6"), two) == two[1:]
    assert missing(Requirement('numpy==2.4.6; python_version < "3.15"'), two) == []
