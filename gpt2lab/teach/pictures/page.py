"""A page to draw plans on: boxes, arrows, pluses, and the marks of the lessons."""
from matplotlib.patches import Circle, FancyArrowPatch, FancyBboxPatch, Polygon

from gpt2lab.teach import plot

GREY, INK, PALE = "#666666", "#222222", "#F1F4F7"


class Page:
    """A page of pixels, 640 wide, y downwards, with the few shapes that plans are made of."""

    def __init__(self, height, built):
        self.fig = plot.Figure(figsize=(6.4, height / plot.DPI), dpi=plot.DPI)
        self.ax, self.built = self.fig.add_axes((0, 0, 1, 1)), built
        self.ax.set(xlim=(0, 640), ylim=(height, 0))
        self.ax.axis("off")

    def words(self, x, y, text, size=10, color=INK, ha="center", background=None, **settings):
        box = background and {"facecolor": background, "edgecolor": "none", "pad": 3}
        self.ax.text(x, y, text, fontsize=size, color=color, ha=ha, va="center", bbox=box,
                     linespacing=1.3, zorder=4, **settings)

    def box(self, left, top, right, bottom, name, what, colour, width=1.4):
        """A rounded box: its name, below it what it does; a light tint of the colour inside."""
        self._rounded(left, top, right, bottom, tint(colour), INK if colour == "white" else colour,
                      width)
        lines = what.count("\n") + 1 if what else 0
        middle, y = (left + right) / 2, (top + bottom) / 2
        self.words(middle, y - 9 * lines, name, size=11, weight="bold")
        if what:
            self.words(middle, y + 10, what)

    def panel(self, left, top, right, bottom):
        self._rounded(left, top, right, bottom, PALE, "#C3CAD1", zorder=0)

    def wedge(self, corners):
        self.ax.add_patch(Polygon(corners, facecolor=PALE, edgecolor="none", zorder=-1))

    def _rounded(self, left, top, right, bottom, inside, edge, width=1.4, zorder=2):
        self.ax.add_patch(FancyBboxPatch(
            (left, top), right - left, bottom - top, boxstyle="round,pad=0,rounding_size=9",
            facecolor=inside, edgecolor=edge, linewidth=width, zorder=zorder))

    def arrow(self, start, end, colour, width):
        self.ax.add_patch(FancyArrowPatch(
            start, end, arrowstyle="-|>", mutation_scale=9 + 2 * width, color=colour,
            linewidth=width, shrinkA=0, shrinkB=0, joinstyle="miter", capstyle="butt", zorder=1))

    def line(self, points, colour, width):
        self.ax.plot(*zip(*points), color=colour, linewidth=width, zorder=1,
                     solid_joinstyle="miter", solid_capstyle="projecting")

    def plus(self, x, y):
        self.ax.add_patch(Circle((x, y), 13, facecolor="white", edgecolor=plot.BLUE,
                                 linewidth=2, zorder=3))
        self.words(x, y - 1, "+", size=15, color=plot.BLUE, weight="bold")

    def badge(self, x, y, lesson, hollow=None):
        """A lesson's number in a round mark, filled where it is built."""
        hollow = lesson not in self.built if hollow is None else hollow
        self.ax.add_patch(FancyBboxPatch(
            (x - 14, y - 10), 28, 20, boxstyle="round,pad=0,rounding_size=10",
            facecolor="white" if hollow else INK, edgecolor=INK, linewidth=1.3, zorder=5))
        self.ax.text(x, y, lesson, fontsize=10, weight="bold", ha="center", va="center_baseline",
                     color=INK if hollow else "white", zorder=6)


def tint(colour):
    """A colour mixed with white."""
    return tuple(0.86 + 0.14 * part for part in plot.matplotlib.colors.to_rgb(colour))
