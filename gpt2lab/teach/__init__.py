"""What only lessons need: checks that name the mistake, pictures, sliders, your own operations."""
from . import play, plot, show
from .certifying import certificate
from .checking import check
from .exporting import export
from .guessing import guess, guesses
from .keeping import built, keep, mine, yours
from .living import compare, diff, gallery, writes
from .telling import story
from .versions import written_for

__all__ = ["play", "plot", "show", "certificate", "check", "export", "guess", "guesses", "built",
           "keep", "mine", "yours", "compare", "diff", "gallery", "story", "writes",
           "written_for"]
