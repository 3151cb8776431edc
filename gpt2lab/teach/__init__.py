"""What only the lessons need: checks that name the mistake, pictures, sliders, your own operations."""
from . import play, plot, show
from .check import check
from .keep import built, keep, mine
from .living import compare, diff, gallery, writes

__all__ = ["play", "plot", "show", "check", "built", "keep", "mine", "compare", "diff", "gallery", "writes"]
