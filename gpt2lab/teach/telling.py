"""The story that goes through the course, told by the model as it is now, and its stations."""
from . import plot
from .exercises.start_here import done
from .living import STORY, writes
from .pictures.start_here import stations


def story(model, lesson):
    """Print how the model goes on with the story; show the stations, filled where they are yours.

    lesson: the number of this lesson, "05"; its station has a thick edge.
    """
    print(STORY + writes(model, STORY))
    plot.show(stations(model.config, done(), lesson, STORY, writes(model, STORY, 1)))
