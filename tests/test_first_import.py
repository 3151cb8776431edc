"""On a fresh machine matplotlib first lists the fonts: lessons must not show what it says then."""
import os
import subprocess
import sys

import pytest

# The message comes from a timer after 5 seconds; here after none, while the fonts are looked for.
SLOW = """
import os, threading, time
class Soon(threading.Timer):
    def __init__(self, seconds, function):
        super().__init__(0, function)
threading.Timer = Soon
walk = os.walk
def slow_walk(*arguments, **named):
    time.sleep(0.5)
    os.walk = walk                      # the first one was slow enough
    return walk(*arguments, **named)
os.walk = slow_walk
"""


def stderr_of(code, folder):
    environment = dict(os.environ, MPLCONFIGDIR=str(folder), PYTHONPATH=os.pathsep.join(sys.path))
    done = subprocess.run([sys.executable, "-c", SLOW + code], capture_output=True, text=True,
                          timeout=100, env=environment)
    assert done.returncode == 0, done.stderr
    return done.stderr


@pytest.mark.parametrize("place", ["empty", "a file"])
def test_the_first_picture_on_a_machine_is_silent(place, tmp_path):
    """Without a list of fonts, and where none can be kept (a home that is read-only)."""
    folders = [tmp_path / name for name in ("plain", "ours")]
    for folder in folders if place == "a file" else ():
        folder.write_text("")
    assert "font cache" in stderr_of("import matplotlib.font_manager", folders[0])
    assert stderr_of("import gpt2lab.teach.plot", folders[1]) == ""
    if place == "empty":                                # and a list was really made
        assert list(folders[1].glob("fontlist*.json"))


def test_what_goes_wrong_later_is_still_said(tmp_path):
    code = ("from gpt2lab.teach import plot\nimport logging\n"
            "logging.getLogger('matplotlib.font_manager').warning('font not found')")
    assert stderr_of(code, tmp_path) == "font not found\n"
