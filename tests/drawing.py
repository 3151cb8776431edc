"""What every test of a lesson's pictures asks."""
import re

from gpt2lab.teach import plot


def drawn(fig, render=True):
    """The arrays of a picture, which is checked: drawn 640 pixels wide, with a text."""
    if render:
        assert int.from_bytes(plot.png(fig)[16:20], "big") == 640
    two_lines(fig.alt)
    return fig.drawn


def two_lines(alt):
    """The two lines of a picture's text, which are checked: what is drawn, what is to be read."""
    lines = alt.split("\n")
    assert len(lines) == 2, f"a picture's text has two lines: {alt!r}"
    for line in lines:
        assert len(line.split()) >= 3 and re.fullmatch(r"\S.*\.", line), alt
    return lines
