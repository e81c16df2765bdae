"""Stacked bars of shares: how votes and ratings are distributed, one bar per question (beside ExCAM Table 3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from excam.core.exceptions import InputInvalid
from excam.pages.plotting.base import FEWER, FINE, FONT, HEADING, LEAST, MARGIN, defaults, extent, filled, sheet

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ROW, BAR, WIDTH = 0.27, 0.72, 4.4  # inches: a row; of it, the bar; inches: 100 %
ABOVE, BELOW = 0.52, 0.34  # inches: a panel's heading and its legend, its ticks
# From dark to pale and the letters on each: an order that is seen without colour, contrast at least 5 to 1.
FACES = (("#08306b", "white"), ("#2171b5", "white"), ("#6baed6", "black"), ("#c6dbef", "black"), ("#e3e3e3", "black"))


@dataclass(frozen=True, slots=True)
class Bars:
    """A panel: `rows` holds, by name, how often each of `segments` occurred, from left to right."""

    heading: str
    segments: Sequence[str]
    rows: Mapping[str, Sequence[int]]


def stacked(panels: Sequence[Bars], *, title: str = "", note: str = "") -> Figure:
    """Return a figure: panels below each other, a bar of 100 % per row with its `n` on the right, but none
    where `n` is below ten.

    A share is written into its segment if it fits. Raise InputInvalid if there is no panel or no row, for
    two to five segments more or fewer, and where a row has not one count, not negative, per segment.
    """
    _refuse_invalid(panels)
    with defaults():
        names = [name for panel in panels for name in panel.rows]
        left = MARGIN + max(extent(name, size=FONT)[0] for name in names) + 0.1
        right = (
            MARGIN + 0.1 + max(extent(_n_text(row), size=FONT)[0] for panel in panels for row in panel.rows.values())
        )
        legends = max(_legend_width(panel.segments) for panel in panels)
        wide = max(left + max(WIDTH + right, legends + MARGIN), extent(title, **HEADING)[0] + 2 * MARGIN)
        note = filled(note, wide - 2 * MARGIN, **FINE)
        foot, top = MARGIN + extent(note or " ", **FINE)[1] + 0.06, extent(title or " ", **HEADING)[1] + MARGIN
        tall = foot + top + sum(ABOVE + ROW * len(panel.rows) + BELOW for panel in panels)
        figure = sheet(wide, tall, title, note)
        bottom = tall - top
        for panel in panels:
            bottom -= ABOVE + ROW * len(panel.rows)
            place = (left / wide, bottom / tall, WIDTH / wide, ROW * len(panel.rows) / tall)
            _draw_panel(figure.add_axes(place), panel)
            bottom -= BELOW
    return figure


def _refuse_invalid(panels: Sequence[Bars]) -> None:
    if not panels or not all(panel.rows for panel in panels):
        raise InputInvalid(f"bars got {len(panels)} panels, expected some, and rows in each")
    for panel in panels:
        if not 2 <= len(panel.segments) <= len(FACES):
            raise InputInvalid(f"bars got {len(panel.segments)} segments, expected 2 to {len(FACES)}")
        for name, row in panel.rows.items():
            if len(row) != len(panel.segments) or min(row) < 0:
                raise InputInvalid(f"bars got {list(row)} for {name}, expected a count for each of {panel.segments}")


def _draw_panel(axes: Axes, panel: Bars) -> None:
    axes.set(xlim=(0, 100), ylim=(len(panel.rows) - 0.5, -0.5), yticks=[], xticks=range(0, 101, 25))
    axes.set_xticks(range(0, 101, 25), [f"{tick} %" for tick in range(0, 101, 25)])
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.tick_params(labelsize=FONT - 1.5, length=2.5, width=0.6)
    style = {"textcoords": "offset points", "va": "center", "parse_math": False, "annotation_clip": False}
    for y, (name, row) in enumerate(panel.rows.items()):
        axes.annotate(name, (0, y), (-6, 0), ha="right", size=FONT, **style)
        axes.annotate(_n_text(row), (100, y), (6, 0), ha="left", size=FONT, color="#444444", **style)
        _draw_bar(axes, y, row)
    axes.annotate(panel.heading, (0, -0.5), (0, 27), size=FONT + 0.5, weight="bold", **style)
    _draw_legend(axes, panel.segments)


def _draw_bar(axes: Axes, y: int, row: Sequence[int]) -> None:
    total, start = sum(row), 0.0
    if total < LEAST:
        axes.text(50, y, FEWER if total else "none yet", size=FONT - 1, color="#555555", ha="center", va="center")
        return
    for count, (face, ink) in zip(row, _segment_colours(len(row)), strict=True):
        share = 100 * count / total
        axes.barh(y, share, BAR, start, color=face, edgecolor="white", linewidth=0.8)
        if extent(text := f"{share:.1f}", size=FONT - 1)[0] + 0.03 <= share / 100 * WIDTH:
            axes.text(start + share / 2, y, text, size=FONT - 1, color=ink, ha="center", va="center")
        start += share


def _segment_colours(segments: int) -> list[tuple[str, str]]:
    """Return the fill colour and text colour of each segment, with maximal contrast between segments."""
    return [FACES[round(at * (len(FACES) - 1) / (segments - 1))] for at in range(segments)]


def _draw_legend(axes: Axes, segments: Sequence[str]) -> None:
    """Draw the legend above the bars: a square and a name per segment, in the order of the bars."""
    from matplotlib.patches import Rectangle

    inch, start = 100 / WIDTH, 0.0  # across; down, one is 1 / ROW
    for name, (face, _) in zip(segments, _segment_colours(len(segments)), strict=True):
        style = {"facecolor": face, "edgecolor": "#999999", "linewidth": 0.4, "clip_on": False}
        axes.add_patch(Rectangle((start, -0.5 - 0.22 / ROW), 0.1 * inch, 0.1 / ROW, **style))
        beside = {"textcoords": "offset points", "va": "center", "parse_math": False, "annotation_clip": False}
        axes.annotate(name, (start + 0.15 * inch, -0.5 - 0.17 / ROW), (0, 0), size=FONT - 1, **beside)
        start += _legend_entry_width(name) * inch


def _legend_entry_width(name: str) -> float:
    return extent(name, size=FONT - 1)[0] + 0.32


def _legend_width(segments: Sequence[str]) -> float:
    return sum(map(_legend_entry_width, segments))


def _n_text(row: Sequence[int]) -> str:
    return f"n = {sum(row):,}"
