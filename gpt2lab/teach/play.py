"""Explorers: controls above one picture that they redraw in place.

    play.explore(draw, T=play.slider("temperature T", 1.0, 0.1, 3.0, 0.1))

draw(T=1.0) takes values and gives a Figure (see plot). The picture's text stands below it. The
first picture stays in the file, so the page reads where nothing runs.
"""
import time

import ipywidgets as widgets
import traitlets
from IPython.display import display

from . import plot


def slider(label, value, low, high, step=None):
    """A slider for a whole number (step left out or whole) or a fraction; arrow keys move it.

    The picture follows while it is dragged; of the values that the kernel is too slow for, the
    latest is drawn.
    """
    fraction = isinstance(value, float)
    kind = widgets.FloatSlider if fraction else widgets.IntSlider
    return kind(value=value, min=low, max=high, step=step or (0.1 if fraction else 1),
                description=label, continuous_update=True, **WIDE)


def choice(label, options, value=None):
    """A list to choose from; options are texts, or (text, value) pairs."""
    settings = {} if value is None else {"value": value}
    return widgets.Dropdown(options=options, description=label, **settings, **WIDE)


def words(label, value):
    """A line of text; the picture changes when you press Enter or leave it."""
    return widgets.Text(value=value, description=label, continuous_update=False, **WIDE)


def switch(label, value=False):
    """A check box."""
    return widgets.Checkbox(value=value, description=label, indent=False, **WIDE)


class Button(widgets.Button):
    """A button whose value counts how often it was pressed."""
    value = traitlets.Int(0)

    def __init__(self, **settings):
        super().__init__(**settings)
        self.on_click(self._count)

    def _count(self, _):
        self.value += 1


def button(label):
    """A button; its value counts the presses."""
    return Button(description=label, layout=widgets.Layout(width="max-content"))


def explore(draw, **controls):
    """Show the controls, a reset button, the picture that draw(**values) gives, and its text."""
    def bundle():
        fig = plot.styled(draw)(**{name: control.value for name, control in controls.items()})
        return plot.bundle(fig)

    def redraw(_):
        if resetting:
            return
        try:
            drawn = bundle()
        except Exception as error:              # Jupyter shows no error of a callback anywhere
            drawn = plot.bundle(plot.message(_said(error)))
        picture.update(drawn, metadata=_alt(drawn), raw=True)
        words.update(_text(plot.caption(drawn["text/plain"])), raw=True)

    def reset(_):
        resetting.append(True)
        for name, control in controls.items():
            control.value = start[name]
        resetting.clear()
        redraw(None)

    start, resetting = {name: control.value for name, control in controls.items()}, []
    again = widgets.Button(description="Reset", layout=widgets.Layout(width="max-content"))
    for control in (*controls.values(), again):
        _display(control)
    display({"application/javascript": NAMES, "text/plain": ""}, raw=True)
    first = bundle()                            # here an error must be seen
    picture = display(first, metadata=_alt(first), raw=True, display_id=True)
    words = display(_text(plot.caption(first["text/plain"])), raw=True, display_id=True)
    for control in controls.values():
        control.observe(redraw, names="value")
    again.on_click(reset)


def write(text_of, **controls):
    """Show the controls, a button, and the text that text_of(**values) gives, as it grows.

    text_of is a generator that gives all of the text so far. It runs once now, with the values of
    the controls, and anew each time the button is pressed; presses= tells it how often it was.
    """
    def texts():
        values = {name: control.value for name, control in controls.items()}
        return text_of(presses=again.value, **values)

    def rewrite(_):
        try:
            for text in texts():
                page.update(_text(text), raw=True)
        except Exception as error:              # Jupyter shows no error of a callback anywhere
            page.update(_text(_said(error)), raw=True)

    again = button("Write")
    for control in (*controls.values(), again):
        _display(control)
    display({"application/javascript": NAMES, "text/plain": ""}, raw=True)
    *_, first = texts()                         # here an error must be seen
    page = display(_text(first), raw=True, display_id=True)
    again.observe(rewrite, names="value")


def train(run, note, draw, every=1.0):
    """Train to the end before your eyes: draw() gives a Figure of what there is, again and again.

    run: a training, with .advance(), .losses and .steps. note() is called before each step and at
    the end, to keep what is to be looked at later. every: seconds between two pictures.
    The kernel's stop button ends it, and the cell goes on from there when it is run again.
    """
    def shown(words):
        drawn = plot.bundle(draw())
        picture.update(drawn, metadata=_alt(drawn), raw=True)
        line.update(_text(words), raw=True)

    note()
    begin = last = time.perf_counter()
    done, drawn = len(run.losses), plot.bundle(draw())
    line = display(_text(f"Step {done:,} of {run.steps:,}"), raw=True, display_id=True)
    picture = display(drawn, metadata=_alt(drawn), raw=True, display_id=True)
    try:
        while len(run.losses) < run.steps:
            run.advance()
            note()
            now, t = time.perf_counter(), len(run.losses)
            if now - last >= every:
                left = (now - begin) / (t - done) * (run.steps - t)
                shown(f"Step {t:,} of {run.steps:,}, {left:.0f} seconds left")
                last = time.perf_counter()
    except KeyboardInterrupt:
        shown(f"Stopped at step {len(run.losses):,} of {run.steps:,}: "
              "run this cell again and it goes on.")
        return
    took, rest = f"{time.perf_counter() - begin:.0f} seconds", run.steps - done
    shown(f"{run.steps:,} steps in {took}" if not done else
          f"{run.steps:,} steps, {took} for the last {rest:,}" if rest else
          f"{run.steps:,} steps: all are done")


def _alt(bundle):
    """The metadata of a picture: its text in one line."""
    return plot.metadata(bundle["text/plain"])


def _text(words):
    """What Jupyter needs to display words alone."""
    return {"text/plain": words}


def _said(error):
    """Kind and words of an exception, whatever its words are."""
    try:
        return f"{type(error).__name__}: {error}"
    except Exception:
        return type(error).__name__


# ipywidgets names no slider for screen readers: each gets the label that stands before it.
NAMES = """\
{
  const name = () => document.querySelectorAll('[role="slider"]:not([aria-label])').forEach(one => {
    const label = one.closest('.jupyter-widgets')?.querySelector('label');
    if (label) one.setAttribute('aria-label', label.textContent);
  });
  const again = setInterval(name, 200);
  setTimeout(() => clearInterval(again), 10000);
}"""
WIDE = {"style": {"description_width": "160px"}, "layout": widgets.Layout(width="600px")}


def _display(control):
    """Show a control, with a text for readers without a kernel."""
    what = type(control).__name__.removeprefix("Float").removeprefix("Int").lower()
    is_button = isinstance(control, widgets.Button)
    now = "" if is_button else f": {getattr(control, 'label', control.value)}"
    place(control, f"[{what} {control.description}{now}; run this cell to use it]")


def place(widget, words):
    """Show a widget; words: what stands in its place for readers without a kernel."""
    display(dict(widget._repr_mimebundle_()) | {"text/plain": words}, raw=True)
