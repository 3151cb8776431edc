"""Imported into the kernel of a notebook under test: notes explorers, and what they must show."""
import ipywidgets as widgets

from gpt2lab.teach import play, plot

explorers = []                                  # (draw, controls)
pictures = {}                                   # what was asked for before


def start():
    """From now on play.explore notes what it is given."""
    explore = play.explore

    def noted(draw, **controls):
        explorers.append((draw, controls))
        explore(draw, **controls)
    play.explore = noted


def setting(control):
    """What a control is set to: the index of a list's choice, the value of any other."""
    return control.index if isinstance(control, widgets.Dropdown) else control.value


def describe():
    """[{name: what the test must know of the control}], one an explorer."""
    return [{name: {"kind": type(control).__name__.removeprefix("Float").removeprefix("Int"),
                    "start": setting(control), "label": control.description,
                    "choices": len(getattr(control, "options", ())),
                    **{key: getattr(control, key, None) for key in ("min", "max", "step")}}
             for name, control in controls.items()} for _, controls in explorers]


def settings(i):
    """{name: setting} of explorer i."""
    return {name: setting(control) for name, control in explorers[i][1].items()}


def picture(i):
    """What explorer i ought to show: PNG in base64, its text, the error that refused both."""
    draw, controls = explorers[i]
    values = {name: control.value for name, control in controls.items()}
    if (i, str(values)) not in pictures:        # the same settings must give the same picture again
        try:
            fig, refused = draw(**values), None
        except Exception as error:
            refused = f"{type(error).__name__}: {error}"
            fig = plot.message(refused)
        pictures[i, str(values)] = plot.bundle(fig)["image/png"], fig.alt, refused
    return pictures[i, str(values)]
