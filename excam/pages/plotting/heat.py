"""A table of numbers coloured around 0 (ExCAM Figures 3, 4 and 11)."""

from __future__ import annotations

import itertools
import re
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from excam.core.exceptions import InputInvalid
from excam.pages.plotting.base import FEWER, FINE, FONT, HEADING, LEAST, MARGIN, defaults, extent, filled, sheet

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap
    from matplotlib.figure import Figure

Grid = Sequence[Sequence[float | None]]
Marks = Sequence[Sequence[str]]
Sizes = Sequence[Sequence[int | None]]
SMALL = FONT - 2  # points, of the text below a number
ROW, GAP, BAR = 0.33, 0.12, 0.11  # inches: a row, a separator in cells, the colour bar's width
STRIPE = {"black": (0.0, 0.0, 0.0), "white": (1.0, 1.0, 1.0)}  # as the letters of a cell
# Orange to blue through near-white: distinguishable under every common colour blindness; both ends dark in greyscale.
# The third orange is pale: black letters on a stronger one have the contrast, but are hard to read.
PALETTE = ("#7f3b08", "#b35806", "#eda35b", "#fdcf9c", "#f7f6f4", "#92c5de", "#4393c3", "#2166ac", "#053061")


def heat_map(
    values: Grid,
    rows: Sequence[str],
    columns: Sequence[str],
    *,
    scale: str,
    counts: Sequence[int | None] | None = None,
    sizes: Sizes | None = None,
    marks: Marks | None = None,
    below: Marks | None = None,
    framed: Sequence[Sequence[bool]] | None = None,
    made_up: Collection[str] = (),
    title: str = "",
    note: str = "",
    limits: tuple[float, float] | None = None,
    separators: Sequence[int] = (),
    row_separators: Sequence[int] = (),
    digits: int = 2,
    centre: float = 0.0,
) -> Figure:
    """A table of numbers coloured around `centre` (ExCAM Figures 3, 4, 11): rows are models, columns are test sets.

    `values[row][column]` is the number printed; None is a cell that does not exist (hatched, "n/a"). `scale` is the
    title of the colour bar. `counts` are the items behind each column (None: not printed), `sizes` those behind each
    cell, by default `counts`: of fewer than ten no number is drawn. `marks` are the sign behind each number (a letter
    at most), `below` a short text under each number, `framed` the cells with a black frame, `made_up` the labels of
    rows and columns that are striped, since no model stands behind them. `limits` are the ends of the colour scale, by
    default the smallest and largest number with `centre` between; it is always palest, and equal distances from it are
    equally deep. Separator k is a gap before column (row) k. The figure grows with its texts, so that none overlap.
    Raise InputInvalid for shapes that do not fit together and for numbers that are not finite.
    """
    _check(
        values,
        rows,
        columns,
        counts,
        {"values": values, "marks": marks, "below": below, "framed": framed, "sizes": sizes},
    )
    few = _few(sizes or [list(counts or [None] * len(columns))] * len(rows))
    values = [
        [None if small else cell for cell, small in zip(*pair, strict=True)] for pair in zip(values, few, strict=True)
    ]
    numbers = [number for row in values for number in row if number is not None]
    low, high = limits or (min([centre, *numbers]), max([centre, *numbers]))
    reach = max(centre - low, high - centre) or 1.0
    names = [_wrapped(name) for name in columns]
    across, down = _places(len(columns), separators), _places(len(rows), row_separators)
    with defaults():
        import matplotlib.colors

        colours = matplotlib.colors.LinearSegmentedColormap.from_list("excam", PALETTE)
        figure, cells, bar = _canvas(names, rows, across[-1] + 1, down[-1] + 1, title, note, scale, digits, below)
        _label(cells, names, rows, counts, across, down)
        for r, c in itertools.product(range(len(rows)), range(len(columns))):
            number, at = values[r][c], (across[c], down[r])
            face = None if number is None else colours(0.5 + (number - centre) / reach / 2)
            beneath = below[r][c] if below else ""
            text = FEWER if few[r][c] else _printed(number, digits)
            striped = rows[r] in made_up or columns[c] in made_up
            _draw_cell(cells, *at, text, face, marks[r][c] if marks else "", beneath, striped)
            if framed and framed[r][c] and not few[r][c]:
                _draw_frame(cells, *at)
        _draw_bar(bar, colours, low, high, centre, reach)
    return figure


def _check(
    values: Grid,
    rows: Sequence[str],
    columns: Sequence[str],
    counts: Sequence[int | None] | None,
    grids: Mapping[str, Sequence[Sequence[Any]] | None],
) -> None:
    if not rows or not columns or (counts is not None and len(counts) != len(columns)):
        raise InputInvalid(
            f"heat map got {len(rows)} rows and {len(columns)} columns, expected some, and a count for each"
        )
    for name, grid in grids.items():
        if grid is not None and [len(row) for row in grid] != [len(columns)] * len(rows):
            raise InputInvalid(
                f"heat map got {name} that are not {len(rows)} rows of {len(columns)}, as its labels are"
            )
    for number in (number for row in values for number in row if number is not None):
        if not float("-inf") < number < float("inf"):
            raise InputInvalid(f"heat map got the number {number}, expected finite ones; give None where there is none")


def _printed(number: float | None, digits: int) -> str:
    return "n/a" if number is None else f"{number:z.{digits}f}".replace("-", "−")


def _wrapped(name: str, width: int = 10) -> str:
    """A column label, on several lines where it is long: broken at spaces, after hyphens, at humps (CulturalBench)."""
    parts = re.split(r"( )|(?<=-)|(?<=[a-z])(?=[A-Z])", name) if len(name) > width else [name]
    lines = [""]
    for part in filter(None, parts):
        if lines[-1] and len(lines[-1] + part) > width:
            lines.append("")
        lines[-1] += part
    return "\n".join(line.strip() for line in lines if line.strip())


def _places(number: int, separators: Sequence[int]) -> list[float]:
    """Return the positions of the cells of a row (column), in cells."""
    return [index + GAP * sum(0 < separator <= index for separator in separators) for index in range(number)]


def _canvas(
    names: Sequence[str],
    rows: Sequence[str],
    wide: float,
    tall: float,
    title: str,
    note: str,
    scale: str,
    digits: int,
    below: Marks | None,
) -> tuple[Figure, Axes, Axes]:
    """A figure as large as its texts need, with axes for `wide` by `tall` cells and axes for the colour bar."""
    head = [extent(text, size=FONT) for text in [*names, f"*−0.{'0' * digits}*", "n = 1,000"]]
    beneath = [extent(text, size=SMALL) for row in below or () for text in row if text]
    width = wide * (max(size[0] for size in [*head, *beneath]) + 0.12)
    height = tall * (ROW + max((size[1] for size in beneath), default=0.0))
    left = MARGIN + max(extent(row, size=FONT)[0] for row in rows) + 0.08
    long, thick = extent(scale, size=FONT - 1)
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
    figure.text(1 - MARGIN / full_width, middle / full_height, scale, **beside)
    return figure, cells, bar


def _label(
    axes: Axes,
    names: Sequence[str],
    rows: Sequence[str],
    counts: Sequence[int | None] | None,
    across: Sequence[float],
    down: Sequence[float],
) -> None:
    style: dict[str, Any] = {"textcoords": "offset points", "parse_math": False, "annotation_clip": False}
    for x, name, count in zip(across, names, counts or [None] * len(names), strict=True):
        lift = 4 if counts is None else 16
        axes.annotate(name, (x, -0.5), (0, lift), size=FONT, ha="center", va="bottom", **style)
        if count is not None:
            text, font = f"n = {count:,}", FONT - 1.5
            axes.annotate(text, (x, -0.5), (0, 4), size=font, color="#555555", ha="center", va="bottom", **style)
    for y, name in zip(down, rows, strict=True):
        axes.annotate(name, (-0.5, y), (-5, 0), size=FONT, ha="right", va="center", **style)


def _few(sizes: Sizes) -> list[list[bool]]:
    """Return which cells have too few items behind them for a number."""
    return [[size is not None and size < LEAST for size in row] for row in sizes]


def _draw_cell(
    axes: Axes, x: float, y: float, text: str, face: tuple[float, ...] | None, mark: str, below: str, striped: bool
) -> None:
    """One rectangle with its number and the text below, in the ink with more contrast; without a face: hatched."""
    from matplotlib.patches import Rectangle

    corner, edge = (x - 0.5, y - 0.5), {"edgecolor": "white", "linewidth": 1.0}
    if face is None:
        axes.add_patch(Rectangle(corner, 1, 1, facecolor="#f2f2f2", hatch="////", edgecolor="#cfcfcf", linewidth=0))
        axes.add_patch(Rectangle(corner, 1, 1, fill=False, **edge))
        plate = {"facecolor": "#f2f2f2", "edgecolor": "none", "pad": 1.2}
        axes.text(x, y, text, size=FONT - 1, color="#555555", ha="center", va="center", bbox=plate)
        return
    axes.add_patch(Rectangle(corner, 1, 1, facecolor=face, **edge))
    ink = _ink(face)
    style: dict[str, Any] = {"ha": "center", "va": "center"}
    if striped:
        axes.add_patch(Rectangle(corner, 1, 1, fill=False, hatch="////", edgecolor=(*STRIPE[ink], 0.45), linewidth=0))
        style["bbox"] = {"facecolor": face, "edgecolor": "none", "pad": 1.2}
    if below:
        axes.text(x, y + 0.26, below, size=SMALL, color=ink, **style)
        y -= 0.15
    axes.text(x, y, text, size=FONT, color=ink, **style)
    beside = (FONT * 0.33 * len(text), 0)  # so that the digits of marked and unmarked cells are aligned
    axes.annotate(mark, (x, y), beside, textcoords="offset points", size=FONT, color=ink, weight="bold", va="center")


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
