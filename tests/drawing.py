"""What every test of a lesson's pictures asks."""
from gpt2lab.teach import plot


def drawn(fig, render=True):
    """The arrays of a picture, which is checked: it can be made, is 640 pixels wide, has a sentence."""
    if render:
        assert int.from_bytes(plot.png(fig)[16:20], "big") == 640
    assert len(fig.alt.split()) > 5 and fig.alt.endswith(".")
    return fig.drawn
