"""A table of numbers coloured around 0 (ExCAM Figures 3, 4 and 11)."""

from __future__ import annotations

import itertools
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from excam.core.exceptions import InputInvalid
from excam.pages.markdown import rounded
from excam.pages.plotting.base import FEWER, FINE, FONT, HEADING, LEAST, MARGIN, defaults, extent, filled, sheet, words

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap
    from matplotlib.figure import Figure

SMALL = FONT - 2  # points, of the text below a number
ROW, GAP, BAR = 0.33, 0.12, 0.11  # inches: a row, a separator in cells, the colour bar's width
LONG = 0.9  # inches: a line of the colour bar's title, at least
STRIPE = {"black": (0.0, 0.0, 0.0), "white": (1.0, 1.0, 1.0)}  # as the letters of a cell
# Orange to blue through near-white: distinguishable under every common colour blindness; both ends dark in greyscale.
# The third orange is pale: black letters on a stronger one have the contrast, but are hard to read.
PALETTE = ("#7f3b08", "#b35806", "#eda35b", "#fdcf9c", "#f7f6f4", "#92c5de", "#4393c3", "#2166ac", "#053061")


@dataclass(frozen=True, slots=True)
class Tile:
    """A number with a sign behind it (a letter at most), a short text under it, and a black frame around it.

    Without a value the cell does not exist: it is empty, "n/a". `n` are the items behind the value, by default those
    of its column: of fewer than ten no number is drawn.
    """

    value: float | None
    n: int | None = None
    mark: str = ""
    below: str = ""
    framed: bool = False


@dataclass(frozen=True, slots=True)
class Axis:
    """The names of rows or columns; those in `made_up` are striped, since no model stands behind them.

    Separator k is a gap before row (column) k. `counts` are the items behind each column (None: not printed).
    """

    names: Sequence[str]
    separators: Sequence[int] = ()
    made_up: Collection[str] = ()
    counts: Sequence[int | None] | None = None

    def only(self, places: Sequence[int]) -> Axis:
        """Return the labels of these rows (columns) alone."""
        separators = [sum(index < separator for index in places) for separator in self.separators]
        counts = None if self.counts is None else [self.counts[index] for index in places]
        return replace(self, names=[self.names[index] for index in places], separators=separators, counts=counts)

    @property
    def places(self) -> list[float]:
        """Return the positions of the rows (columns), in cells."""
        return [
            index + GAP * sum(0 < separator <= index for separator in self.separators)
            for index in range(len(self.names))
        ]


@dataclass(frozen=True, slots=True)
class Scale:
    """The colours: the title of their bar, its ends, the palest value, and the digits of the numbers in the cells.

    `limits` are by default the smallest and largest number with `centre` between; equal distances from `centre` are
    equally deep.
    """

    title: str
    limits: tuple[float, float] | None = None
    centre: float = 0.0
    digits: int = 2


def heat_map(
    cells: Sequence[Sequence[Tile]], rows: Axis, columns: Axis, scale: Scale, *, title: str = "", note: str = ""
) -> Figure:
    """A table of numbers coloured around a centre (ExCAM Figures 3, 4, 11): rows are models, columns are test sets.

    The figure grows with its texts, so that none overlap. Rows and columns all of whose numbers have fewer than ten
    items behind them are not drawn; the note names them. Raise InputInvalid for cells that do not fit the
    labels, and for numbers that are not finite.
    """
    _check(cells, rows, columns)
    few = _few(cells, columns)
    shown_rows, strips = _shown(cells, few)
    if not strips:
        return words(title, f"Fewer than {LEAST} rows are behind each number: none is drawn.")
    left_out = [name for r, name in enumerate(rows.names) if r not in shown_rows]
    left_out += [name for c, name in enumerate(columns.names) if c not in strips]
    if left_out:
        note = f"{note} Not drawn, since fewer than {LEAST} rows are behind each number: {', '.join(left_out)}.".strip()
        cells = [[cells[r][c] for c in strips] for r in shown_rows]
        rows, columns = rows.only(shown_rows), columns.only(strips)
        few = _few(cells, columns)
    values = [
        [None if small else cell.value for cell, small in zip(*pair, strict=True)]
        for pair in zip(cells, few, strict=True)
    ]
    numbers = [number for row in values for number in row if number is not None]
    centre = scale.centre
    low, high = scale.limits or (min([centre, *numbers]), max([centre, *numbers]))
    reach = max(centre - low, high - centre) or 1.0
    with defaults():
        import matplotlib.colors

        colours = matplotlib.colors.LinearSegmentedColormap.from_list("excam", PALETTE)
        figure, axes, bar = _canvas(cells, rows, columns, scale, title, note)
        _label(axes, rows, columns)
        for r, c in itertools.product(range(len(rows.names)), range(len(columns.names))):
            number, at, cell = values[r][c], (columns.places[c], rows.places[r]), cells[r][c]
            face = None if number is None else colours(0.5 + (number - centre) / reach / 2)
            text = FEWER if few[r][c] else rounded(number, scale.digits)
            striped = rows.names[r] in rows.made_up or columns.names[c] in columns.made_up
            _draw_cell(axes, at, cell, text, face, striped=striped)
            if cell.framed and not few[r][c]:
                _draw_frame(axes, *at)
        _draw_bar(bar, colours, low, high, centre, reach)
    return figure


def _check(cells: Sequence[Sequence[Tile]], rows: Axis, columns: Axis) -> None:
    height, width = len(rows.names), len(columns.names)
    if not height or not width or (columns.counts is not None and len(columns.counts) != width):
        raise InputInvalid(f"heat map got {height} rows and {width} columns, expected some, and a count for each")
    if [len(row) for row in cells] != [width] * height:
        raise InputInvalid(f"heat map got cells that are not {height} rows of {width}, as its labels are")
    for number in (cell.value for row in cells for cell in row if cell.value is not None):
        if not float("-inf") < number < float("inf"):
            raise InputInvalid(f"heat map got the number {number}, expected finite ones; give None where there is none")


def _few(cells: Sequence[Sequence[Tile]], columns: Axis) -> list[list[bool]]:
    """Return of each cell whether too few items stand behind its number to draw it."""
    counts = columns.counts or [None] * len(columns.names)
    behind = [[count if cell.n is None else cell.n for cell, count in zip(row, counts, strict=True)] for row in cells]
    return [[n is not None and n < LEAST for n in row] for row in behind]


def _shown(cells: Sequence[Sequence[Tile]], few: Sequence[Sequence[bool]]) -> list[list[int]]:
    """Return the rows, and the columns, that have a number to draw, or no number at all."""
    pairs = [[*zip(*row, strict=True)] for row in zip(cells, few, strict=True)]
    return [
        [at for at, line in enumerate(lines) if {small for cell, small in line if cell.value is not None} != {True}]
        for lines in (pairs, zip(*pairs, strict=True))
    ]


def _wrapped(name: str, width: int = 10) -> str:
    """A column label, on several lines where it is long: broken at spaces, after hyphens, at humps (CulturalBench)."""
    parts = re.split(r"( )|(?<=-)|(?<=[a-z])(?=[A-Z])", name) if len(name) > width else [name]
    lines = [""]
    for part in filter(None, parts):
        if lines[-1] and len(lines[-1] + part) > width:
            lines.append("")
        lines[-1] += part
    return "\n".join(line.strip() for line in lines if line.strip())


def _canvas(
    grid: Sequence[Sequence[Tile]], rows: Axis, columns: Axis, scale: Scale, title: str, note: str
) -> tuple[Figure, Axes, Axes]:
    """A figure as large as its texts need, with axes for its cells and axes for the colour bar."""
    wide, tall = columns.places[-1] + 1, rows.places[-1] + 1
    widest = [*map(_wrapped, columns.names), f"*−0.{'0' * scale.digits}*", "n = 1,000"]
    head = [extent(text, size=FONT) for text in widest]
    beneath = [extent(cell.below, size=SMALL) for row in grid for cell in row if cell.below]
    width = wide * (max(size[0] for size in [*head, *beneath]) + 0.12)
    height = tall * (ROW + max((size[1] for size in beneath), default=0.0))
    left = MARGIN + max(extent(name, size=FONT)[0] for name in rows.names) + 0.08
    bar_title = filled(scale.title, max(height, LONG), size=FONT - 1)
    long, thick = extent(bar_title, size=FONT - 1)
    right = 0.18 + BAR + 0.42 + thick + MARGIN
    full_width = max(left + width + right, extent(title, **HEADING)[0] + 2 * MARGIN)
    note = filled(note, full_width - 2 * MARGIN, **FINE)
    foot = MARGIN + (extent(note, **FINE)[1] + 0.1 if note else 0) + max(0.0, long - height)
    top = MARGIN + (extent(title, **HEADING)[1] + 0.12 if title else 0) + max(size[1] for size in head) + 0.24
    full_height = foot + height + top
    figure = sheet(full_width, full_height, title, note)
    cells = figure.add_axes((left / full_width, foot / full_height, width / full_width, height / full_height))
    cells.set(xlim=(-0.5, wide - 0.5), ylim=(tall - 0.5, -0.5))
    cells.set_axis_off()
    start = (left + width + 0.18) / full_width
    bar = figure.add_axes((start, foot / full_height, BAR / full_width, height / full_height))
    middle = foot + height - max(long, height) / 2  # a title longer than the bar goes on below it
    beside: dict[str, Any] = {"size": FONT - 1, "rotation": 90, "ha": "right", "va": "center", "parse_math": False}
    beside["multialignment"] = "center"
    figure.text(1 - MARGIN / full_width, middle / full_height, bar_title, **beside)
    return figure, cells, bar


def _label(axes: Axes, rows: Axis, columns: Axis) -> None:
    style: dict[str, Any] = {"textcoords": "offset points", "parse_math": False, "annotation_clip": False}
    counts = columns.counts or [None] * len(columns.names)
    for x, name, count in zip(columns.places, map(_wrapped, columns.names), counts, strict=True):
        lift = 4 if columns.counts is None else 16
        axes.annotate(name, (x, -0.5), (0, lift), size=FONT, ha="center", va="bottom", **style)
        if count is not None:
            text, font = f"n = {count:,}", FONT - 1.5
            axes.annotate(text, (x, -0.5), (0, 4), size=font, color="#555555", ha="center", va="bottom", **style)
    for y, name in zip(rows.places, rows.names, strict=True):
        axes.annotate(name, (-0.5, y), (-5, 0), size=FONT, ha="right", va="center", **style)


def _draw_cell(
    axes: Axes, at: tuple[float, float], cell: Tile, text: str, face: tuple[float, ...] | None, *, striped: bool
) -> None:
    """One rectangle with its number and the text below, in the ink with more contrast; without a face: an empty one."""
    from matplotlib.patches import Rectangle

    x, y = at
    corner, edge = (x - 0.5, y - 0.5), {"edgecolor": "white", "linewidth": 1.0}
    if face is None:
        axes.add_patch(Rectangle(corner, 1, 1, fill=False, edgecolor="#cfcfcf", linestyle=":"))
        axes.text(x, y, text, size=FONT - 1, color="#555555", ha="center", va="center")
        return
    axes.add_patch(Rectangle(corner, 1, 1, facecolor=face, **edge))
    ink = _ink(face)
    style: dict[str, Any] = {"ha": "center", "va": "center"}
    if striped:
        axes.add_patch(Rectangle(corner, 1, 1, fill=False, hatch="////", edgecolor=(*STRIPE[ink], 0.45), linewidth=0))
        style["bbox"] = {"facecolor": face, "edgecolor": "none", "pad": 1.2}
    if cell.below:
        axes.text(x, y + 0.26, cell.below, size=SMALL, color=ink, **style)
        y -= 0.15
    axes.text(x, y, text, size=FONT, color=ink, **style)
    beside = (FONT * 0.33 * len(text), 0)  # so that the digits of marked and unmarked cells are aligned
    axes.annotate(
        cell.mark, (x, y), beside, textcoords="offset points", size=FONT, color=ink, weight="bold", va="center"
    )


def _ink(face: tuple[float, ...]) -> str:
    """Return the colour of letters on a face, by its luminance (WCAG 2)."""
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in face[:3]]
    luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    return "black" if luminance > 0.179 else "white"  # there black and white are equal


def _draw_frame(axes: Axes, x: float, y: float) -> None:
    from matplotlib.patches import Rectangle

    inside = (x - 0.47, y - 0.44)
    axes.add_patch(Rectangle(inside, 0.94, 0.88, fill=False, edgecolor="black", linewidth=1.3, zorder=3))


def _draw_bar(axes: Axes, colours: Colormap, low: float, high: float, centre: float, reach: float) -> None:
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize

    bar = axes.figure.colorbar(ScalarMappable(Normalize(centre - reach, centre + reach), colours), cax=axes)
    bar.outline.set_visible(False)
    axes.set_ylim(low, high if high > low else centre + reach)
    axes.tick_params(labelsize=FONT - 1, length=2, width=0.6)
