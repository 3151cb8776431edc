"""Explorers: controls above one picture that they redraw in place.

    play.explore(draw, T=play.slider("temperature T", 1.0, 0.1, 3.0, 0.1))

draw(T=1.0) takes values and gives a Figure (see plot). The first picture stays in the file, so the
page reads where nothing runs.
"""
import ipywidgets as widgets
import traitlets
from IPython.display import display

from . import plot


def slider(label, value, low, high, step=None):
    """A slider for a whole number (step left out or whole) or a fraction; the arrow keys move it."""
    kind = widgets.FloatSlider if isinstance(value, float) else widgets.IntSlider
    return kind(value=value, min=low, max=high, step=step or (0.1 if isinstance(value, float) else 1),
                description=label, continuous_update=False, **WIDE)


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
    """Show the controls, a reset button and one picture: draw(**values of the controls) -> Figure."""
    def safe_draw():
        try:
            return draw(**{name: control.value for name, control in controls.items()})
        except Exception as error:              # Jupyter shows no error of a callback anywhere
            return plot.message(f"{type(error).__name__}: {error}")

    def redraw(_):
        if not resetting:
            fig = safe_draw()
            picture.update(plot.bundle(fig), metadata={"image/png": {"alt": fig.alt}}, raw=True)

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
    fig = draw(**start)                         # here an error must be seen, so not safe_draw
    picture = display(plot.bundle(fig), metadata={"image/png": {"alt": fig.alt}}, raw=True, display_id=True)
    for control in controls.values():
        control.observe(redraw, names="value")
    again.on_click(reset)


WIDE = {"style": {"description_width": "160px"}, "layout": widgets.Layout(width="600px")}


def _display(control):
    """Show a control, with a text for readers without a kernel."""
    bundle = dict(control._repr_mimebundle_())
    what = type(control).__name__.removeprefix("Float").removeprefix("Int").lower()
    value = "" if isinstance(control, widgets.Button) else f": {getattr(control, 'label', control.value)}"
    bundle["text/plain"] = f"[{what} {control.description}{value}; run this cell to use it]"
    display(bundle, raw=True)
