"""Points with their intervals, one panel per group of rows of the test set (ExCAM Figure 10)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from excam.core.exceptions import InputInvalid
from excam.pages.plotting.base import FINE, FONT, HEADING, MARGIN, defaults, extent, filled, sheet

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Point = tuple[float, float, float]  # value, low and high end of its interval
ROW, PANEL, GAP = 0.21, 1.45, 0.32  # inches: a row, the width of a panel, between panels
ABOVE, BELOW = 0.44, 0.28  # inches: a panel's heading, its ticks
LEAST = 4.6  # inches: the width below which a note becomes a column of single words
PER_LINE = 5  # panels
TUNED, UNTUNED = "#0072b2", "#d55e00"


@dataclass(frozen=True, slots=True)
class ForestRow:
    """The name of a point in every panel: where `tuned` a filled blue dot, else an open orange square.

    `beside` is a text right of it.
    """

    name: str
    tuned: bool
    beside: str = ""


def forest(
    panels: Mapping[str, Sequence[Point | None]],
    rows: Sequence[ForestRow],
    across: str,
    *,
    beside: str = "",
    title: str = "",
    note: str = "",
) -> Figure:
    """One panel per key of `panels`, five of them side by side, all over one common axis; None: no point.

    `rows` belong to the points of every panel. `across` is the title of that axis, `beside` the heading of the texts
    right of the first line of panels, which are not drawn without it. A line break in a panel's name begins its second
    line. Raise InputInvalid for shapes that do not fit together and for a point outside its interval.
    """
    _check(panels, rows)
    with defaults():
        lines = [list(panels)[at : at + PER_LINE] for at in range(0, len(panels), PER_LINE)]
        left = MARGIN + max(extent(row.name, size=FONT)[0] for row in rows) + 0.1
        texts = [beside, *(row.beside for row in rows)]
        right = MARGIN + 0.1 + (max(extent(text, size=FONT)[0] for text in texts) if beside else 0)
        block = ABOVE + ROW * len(rows) + BELOW
        wide = max(left + len(lines[0]) * (PANEL + GAP) + right, extent(title, **HEADING)[0] + 2 * MARGIN, LEAST)
        note = filled(note, wide - 2 * MARGIN, **FINE)
        title_height = extent(across, **FINE)[1] + 0.08
        foot, top = (
            MARGIN + extent(note or " ", **FINE)[1] + title_height + 0.08,
            extent(title or " ", **HEADING)[1] + MARGIN,
        )
        tall = foot + block * len(lines) + top
        figure = sheet(wide, tall, title, note)
        limits = _limits(panels)
        middle = (left + (len(lines[0]) * (PANEL + GAP) - GAP) / 2) / wide
        figure.text(middle, (foot - 0.06) / tall, across, ha="center", va="top", parse_math=False, **FINE)
        for down, names in enumerate(lines):
            bottom = foot + block * (len(lines) - 1 - down) + BELOW
            for place, name in enumerate(names):
                start = left + place * (PANEL + GAP)
                axes = figure.add_axes((start / wide, bottom / tall, PANEL / wide, ROW * len(rows) / tall))
                _panel(axes, name, panels[name], rows, limits)
                if place == 0:
                    _names(axes, [row.name for row in rows], (-6, 0), "right", at=0.0)
                if beside and down == 0 and place == len(names) - 1:
                    _names(axes, [row.beside for row in rows], (8, 0), "left", at=1.0, heading=beside)
    return figure


def _check(panels: Mapping[str, Sequence[Point | None]], rows: Sequence[ForestRow]) -> None:
    wrong = [name for name, points in panels.items() if len(points) != len(rows)]
    if not panels or not rows or wrong:
        raise InputInvalid(
            f"forest got {len(panels)} panels and {len(rows)} rows, expected some, and a point for each row"
        )
    for name, points in panels.items():
        for point in filter(None, points):
            if not point[1] <= point[0] <= point[2]:
                raise InputInvalid(f"forest got {point[0]} in [{point[1]}, {point[2]}] of {name}, expected it inside")


def _limits(panels: Mapping[str, Sequence[Point | None]]) -> tuple[float, float]:
    """Return the x limits of all panels: they contain every interval and 0."""
    ends = [end for points in panels.values() for point in points if point for end in point]
    return min([0.0, *ends]) - 0.04, max([0.0, *ends]) + 0.04


def _panel(
    axes: Axes,
    name: str,
    points: Sequence[Point | None],
    rows: Sequence[ForestRow],
    limits: tuple[float, float],
) -> None:
    from matplotlib.ticker import MaxNLocator

    axes.set(xlim=limits, ylim=(len(points) - 0.5, -0.5), yticks=[])
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.tick_params(labelsize=FONT - 1.5, length=2.5, width=0.6)
    axes.xaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10]))
    axes.grid(axis="x", color="#ececec", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.axvline(0, color="#777777", linewidth=0.8, linestyle="--", zorder=1)
    for y, (point, row) in enumerate(zip(points, rows, strict=True)):
        if point is None:
            axes.text(sum(limits) / 2, y, "n/a", size=FONT - 1.5, color="#555555", ha="center", va="center")
            continue
        value, low, high = point
        ink = TUNED if row.tuned else UNTUNED
        axes.plot(
            [low, high],
            [y, y],
            color=ink,
            linewidth=1.3,
            solid_capstyle="butt",
            zorder=2,
        )
        shape = {"marker": "o", "markersize": 4.2} if row.tuned else {"marker": "s", "markersize": 3.8}
        inside = ink if row.tuned else "white"
        axes.plot([value], [y], color=ink, markerfacecolor=inside, markeredgewidth=1.0, zorder=3, **shape)
    above, _, under = name.partition("\n")
    style = {"xycoords": "axes fraction", "textcoords": "offset points", "parse_math": False, "ha": "center"}
    axes.annotate(above, (0.5, 1), (0, 13 if under else 4), size=FONT, va="bottom", **style)
    axes.annotate(under, (0.5, 1), (0, 3), size=FONT - 1.5, color="#555555", va="bottom", **style)


def _names(
    axes: Axes, texts: Sequence[str], offset: tuple[int, int], side: str, *, at: float, heading: str = ""
) -> None:
    """Texts in line with the rows of a panel, beside it."""
    style = {"xycoords": ("axes fraction", "data"), "textcoords": "offset points", "parse_math": False, "ha": side}
    for y, text in enumerate(texts):
        axes.annotate(text, (at, y), offset, size=FONT, va="center", annotation_clip=False, **style)
    if heading:
        axes.annotate(heading, (at, -0.5), (offset[0], 3), size=FONT - 1.5, color="#555555", va="bottom", **style)
