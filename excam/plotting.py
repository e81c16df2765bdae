"""Figures: numbers in, a matplotlib Figure out, and files with the same bytes every time (spec 56-59, 84).

No pyplot, no global state: figures are drawn under matplotlib's own defaults, whatever the user's settings are.
"""

from __future__ import annotations

import io
import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from excam.exceptions import InputInvalid

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap
    from matplotlib.figure import Figure

Grid = Sequence[Sequence[float | None]]
FONT = 8.5  # points
ROW, GAP, MARGIN, BAR = (
    0.33,
    0.12,
    0.12,
    0.11,
)  # inches: a row, a separator in cells, the border, the colour bar's width
# Orange to blue through near-white: told apart under every common colour blindness; both ends dark in greyscale.
PALETTE = ("#7f3b08", "#b35806", "#e08214", "#fdb863", "#f7f6f4", "#92c5de", "#4393c3", "#2166ac", "#053061")
# Lines on white, in the order in which they are told apart best (Okabe and Ito), the palest left out.
INKS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#000000", "#56b4e9", "#e69f00")
DASHES = ("-", "--", ":")  # when the inks begin again
METADATA: dict[str, dict[str, Any]] = {  # without what differs from day to day
    ".pdf": {"CreationDate": None, "Creator": None, "Producer": None},
    ".svg": {"Date": None, "Creator": None},
    ".png": {"Software": None},
}


@contextmanager
def _defaults() -> Iterator[None]:
    import matplotlib

    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        # Type 42 embeds the font; text of an SVG becomes outlines, so that it looks alike where the font is missing.
        matplotlib.rcParams.update({"svg.hashsalt": "excam", "pdf.fonttype": 42, "svg.fonttype": "path"})
        yield


def heat_map(
    values: Grid,
    rows: Sequence[str],
    columns: Sequence[str],
    *,
    counts: Sequence[int | None] | None = None,
    marks: Sequence[Sequence[bool]] | None = None,
    title: str = "",
    note: str = "",
    limits: tuple[float, float] | None = None,
    separators: Sequence[int] = (),
    row_separators: Sequence[int] = (),
    digits: int = 2,
) -> Figure:
    """A table of numbers coloured around 0 (ExCAM Figures 3, 4, 11): rows are models, columns are test sets.

    `values[row][column]` is the number printed; None is a cell that does not exist (hatched, "n/a"). `counts` are the
    items behind each column (None: not printed), `marks` the cells with a "*". `limits` are the ends of the colour
    scale, by default the smallest and largest number with 0 between; 0 is always palest, and equal distances from it
    are equally deep. Separator k is a gap before column (row) k. The figure grows with its texts, so that none overlap.
    Raises InputInvalid for shapes that do not fit together and for numbers that are not finite.
    """
    _check(values, rows, columns, counts, marks)
    numbers = [number for row in values for number in row if number is not None]
    low, high = limits or (min([0.0, *numbers]), max([0.0, *numbers]))
    reach = max(abs(low), abs(high)) or 1.0
    names = [_wrapped(name) for name in columns]
    across = [_place(column, separators) for column in range(len(columns))]
    down = [_place(row, row_separators) for row in range(len(rows))]
    with _defaults():
        import matplotlib.colors

        colours = matplotlib.colors.LinearSegmentedColormap.from_list("excam", PALETTE)
        figure, cells, bar = _canvas(names, rows, across[-1] + 1, down[-1] + 1, title, note, digits)
        _label(cells, names, rows, counts, across, down)
        for r, row in enumerate(values):
            for c, number in enumerate(row):
                text = "n/a" if number is None else _printed(number, digits)
                face = None if number is None else colours(0.5 + number / reach / 2)
                _draw_cell(cells, across[c], down[r], text, face, "*" if marks and marks[r][c] else "")
        _draw_bar(bar, colours, low, high, reach)
    return figure


def curves(
    lines: Mapping[str, Sequence[tuple[float, float]]], *, title: str, across: str, up: str, note: str = ""
) -> Figure:
    """Lines over a common axis, `lines` (x, y) by name; the legend beside them lists them as they end, from the top.

    Raises InputInvalid when there is nothing to draw.
    """
    if not lines or not all(lines.values()):
        raise InputInvalid(f"curves got {len(lines)} lines, expected some, and points in each")
    with _defaults():
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure

        longest = max(_size(name, size=FONT)[0] for name in lines)
        left, width, right, height = 0.75, 4.6, longest + 0.75, 2.8
        fine: dict[str, Any] = {"size": FONT - 1}
        note = _filled(note, left + width + right - 2 * MARGIN, **fine)
        foot, top = 0.62 + _size(note or " ", **fine)[1] + MARGIN, 0.42
        size = (left + width + right, foot + height + top)
        figure = Figure(figsize=size, facecolor="white")
        FigureCanvasAgg(figure)
        axes = figure.add_axes((left / size[0], foot / size[1], width / size[0], height / size[1]))
        for at, points in enumerate(lines.values()):
            ink, dash = INKS[at % len(INKS)], DASHES[at // len(INKS) % len(DASHES)]
            axes.plot(*zip(*points, strict=True), color=ink, linestyle=dash, linewidth=1.3)
        axes.spines[["top", "right"]].set_visible(False)
        axes.tick_params(labelsize=FONT - 1, length=3, width=0.6)
        axes.grid(axis="y", color="#e5e5e5", linewidth=0.6)
        axes.set_axisbelow(True)
        axes.set_xlabel(across, size=FONT)
        axes.set_ylabel(up, size=FONT)
        axes.margins(x=0.01)
        order = sorted(lines, key=lambda name: -lines[name][-1][1])
        drawn = dict(zip(lines, axes.get_lines(), strict=True))
        place: dict[str, Any] = {"loc": "center left", "bbox_to_anchor": (1.01, 0.5), "frameon": False}
        axes.legend([drawn[name] for name in order], order, fontsize=FONT, labelspacing=0.5, **place)
        edge = MARGIN / size[0]
        figure.text(edge, 1 - MARGIN / size[1], title, va="top", size=FONT + 1.5, weight="bold", parse_math=False)
        figure.text(edge, MARGIN / size[1], note, va="bottom", color="#444444", parse_math=False, **fine)
    return figure


def _check(
    values: Grid,
    rows: Sequence[str],
    columns: Sequence[str],
    counts: Sequence[int | None] | None,
    marks: Sequence[Sequence[bool]] | None,
) -> None:
    if not rows or not columns or (counts is not None and len(counts) != len(columns)):
        raise InputInvalid(
            f"heat map got {len(rows)} rows and {len(columns)} columns, expected some, and a count for each"
        )
    for name, grid in (("values", values), ("marks", marks)):
        if grid is not None and [len(row) for row in grid] != [len(columns)] * len(rows):
            raise InputInvalid(
                f"heat map got {name} that are not {len(rows)} rows of {len(columns)}, as its labels are"
            )
    for number in (number for row in values for number in row if number is not None):
        if not float("-inf") < number < float("inf"):
            raise InputInvalid(f"heat map got the number {number}, expected finite ones; give None where there is none")


def _printed(number: float, digits: int) -> str:
    return f"{number:z.{digits}f}".replace("-", "−")


def _wrapped(name: str, width: int = 10) -> str:
    """A column label, on several lines where it is long: broken at spaces, after hyphens, at humps (CulturalBench)."""
    parts = re.split(r"( )|(?<=-)|(?<=[a-z])(?=[A-Z])", name) if len(name) > width else [name]
    lines = [""]
    for part in filter(None, parts):
        if lines[-1] and len(lines[-1] + part) > width:
            lines.append("")
        lines[-1] += part
    return "\n".join(line.strip() for line in lines if line.strip())


def _place(index: int, separators: Sequence[int]) -> float:
    return index + GAP * sum(0 < separator <= index for separator in separators)


def _size(text: str, **font: Any) -> tuple[float, float]:
    """Width and height of a text as drawn, in inches."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(
        (0.1, 0.1), dpi=720
    )  # at screen resolution letters snap to pixels, and a line comes out up to 5% off
    extent = figure.text(0, 0, text, parse_math=False, **font).get_window_extent(FigureCanvasAgg(figure).get_renderer())
    return extent.width / 720, extent.height / 720


def _filled(note: str, width: float, **font: Any) -> str:
    """The note in lines of at most `width` inches: characters differ in width, so narrower until they fit."""
    for letters in range(int(24 * width), 10, -1):
        text = "\n".join(textwrap.fill(line, letters) for line in note.splitlines())
        if _size(text, **font)[0] <= width:
            return text
    return note


def _canvas(
    names: Sequence[str], rows: Sequence[str], wide: float, tall: float, title: str, note: str, digits: int
) -> tuple[Figure, Axes, Axes]:
    """A figure as large as its texts need, with axes for `wide` by `tall` cells and axes for the colour bar."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    head = [_size(text, size=FONT) for text in [*names, f"*−0.{'0' * digits}*", "n = 1,000"]]
    width = wide * (max(size[0] for size in head) + 0.12)
    height = tall * ROW
    left = MARGIN + max(_size(row, size=FONT)[0] for row in rows) + 0.08
    right = 0.18 + BAR + 0.42 + MARGIN
    heading: dict[str, Any] = {"size": FONT + 1.5, "weight": "bold"}
    fine: dict[str, Any] = {"size": FONT - 1}
    full_width = max(left + width + right, _size(title, **heading)[0] + 2 * MARGIN)
    note = _filled(note, full_width - 2 * MARGIN, **fine)
    foot = MARGIN + (_size(note, **fine)[1] + 0.1 if note else 0)
    top = MARGIN + (_size(title, **heading)[1] + 0.12 if title else 0) + max(size[1] for size in head) + 0.24
    full_height = foot + height + top
    figure = Figure(figsize=(full_width, full_height), facecolor="white")
    FigureCanvasAgg(figure)
    cells = figure.add_axes((left / full_width, foot / full_height, width / full_width, height / full_height))
    cells.set(xlim=(-0.5, wide - 0.5), ylim=(tall - 0.5, -0.5))
    cells.set_axis_off()
    start = (left + width + 0.18) / full_width
    bar = figure.add_axes((start, foot / full_height, BAR / full_width, height / full_height))
    edge = MARGIN / full_width
    figure.text(edge, 1 - MARGIN / full_height, title, va="top", parse_math=False, **heading)
    figure.text(edge, MARGIN / full_height, note, va="bottom", color="#444444", parse_math=False, **fine)
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


def _draw_cell(axes: Axes, x: float, y: float, text: str, face: tuple[float, ...] | None, mark: str) -> None:
    """One rectangle and its number, black or white, whichever stands out more; without a face: hatched."""
    from matplotlib.patches import Rectangle

    corner, edge = (x - 0.5, y - 0.5), {"edgecolor": "white", "linewidth": 1.0}
    if face is None:
        axes.add_patch(Rectangle(corner, 1, 1, facecolor="#f2f2f2", hatch="////", edgecolor="#cfcfcf", linewidth=0))
        axes.add_patch(Rectangle(corner, 1, 1, fill=False, **edge))
        plate = {"facecolor": "#f2f2f2", "edgecolor": "none", "pad": 1.2}
        axes.text(x, y, text, size=FONT - 1, color="#555555", ha="center", va="center", bbox=plate)
        return
    axes.add_patch(Rectangle(corner, 1, 1, facecolor=face, **edge))
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in face[:3]]
    luminance = (
        0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    )  # WCAG 2; at .179 black and white are equal
    ink = "black" if luminance > 0.179 else "white"
    axes.text(x, y, text, size=FONT, color=ink, ha="center", va="center")
    beside = (FONT * 0.33 * len(text), 0)  # so that the digits of marked and unmarked cells stand in line
    axes.annotate(mark, (x, y), beside, textcoords="offset points", size=FONT, color=ink, weight="bold", va="center")


def _draw_bar(axes: Axes, colours: Colormap, low: float, high: float, reach: float) -> None:
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize

    bar = axes.figure.colorbar(ScalarMappable(Normalize(-reach, reach), colours), cax=axes)
    bar.outline.set_visible(False)
    axes.set_ylim(low, high if high > low else reach)
    axes.tick_params(labelsize=FONT - 1, length=2, width=0.6)


def save(figure: Figure, paths: Sequence[Path]) -> None:
    """Write a figure as PDF, SVG or PNG (300 dpi), by suffix: the same figure gives the same bytes, whenever.

    Raises InputInvalid for another suffix, before anything is written.
    """
    for path in paths:
        if path.suffix not in METADATA:
            raise InputInvalid(f"cannot write {path.name}: got suffix {path.suffix!r}, expected .pdf, .svg or .png")
    for path in paths:
        drawn = io.BytesIO()
        with _defaults():
            figure.savefig(drawn, format=path.suffix[1:], dpi=300, metadata=METADATA[path.suffix])
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(drawn.getvalue())
