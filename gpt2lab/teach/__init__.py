"""What only lessons need: checks that name the mistake, pictures, sliders, your own operations."""
from . import play, plot, show
from .checking import check
from .exporting import export
from .keeping import built, keep, mine, yours
from .living import compare, diff, gallery, writes
from .versions import written_for

__all__ = ["play", "plot", "show", "check", "built", "keep", "mine", "yours", "export", "compare",
           "diff", "gallery", "writes", "written_for"]
