"""What every test of a lesson's pictures asks."""
from gpt2lab.teach import plot


def drawn(fig, render=True):
    """The arrays of a picture, which is checked: drawn 640 pixels wide, with a sentence."""
    if render:
        assert int.from_bytes(plot.png(fig)[16:20], "big") == 640
    assert len(fig.alt.split()) > 5 and fig.alt.endswith(".")
    return fig.drawn
