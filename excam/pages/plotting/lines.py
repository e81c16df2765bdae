"""Lines over a common axis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from excam.core.exceptions import InputInvalid
from excam.pages.plotting.base import FONT, defaults, extent, plot

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Lines on white, in the order in which they are easiest to distinguish (Okabe and Ito), the palest left out.
INKS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#000000", "#56b4e9", "#e69f00")
DASHES = ("-", "--", ":")  # of few lines, or when the inks begin again
FEW = 12  # points of a line that are marked


def curves(
    lines: Mapping[str, Sequence[tuple[float, float]]],
    *,
    title: str,
    across: str,
    up: str,
    note: str = "",
    reference: Sequence[tuple[float, float]] = (),
) -> Figure:
    """Lines over a common axis, `lines` (x, y) by name; the legend beside them lists them as they end, from the top.

    Where a line has few points, each is marked. `reference` is a grey line of its own, for the note to explain.

    Raise InputInvalid if there is nothing to draw.
    """
    if not lines or not all(lines.values()):
        raise InputInvalid(f"curves got {len(lines)} lines, expected some, and points in each")
    with defaults():
        longest = max(extent(name, size=FONT)[0] for name in lines)
        figure, axes = plot(longest + 0.75, title=title, note=note, across=across, up=up)
        for at, points in enumerate(lines.values()):
            again = at if len(lines) <= len(DASHES) else at // len(INKS)  # of few, each is seen through the next
            ink, dash = INKS[at % len(INKS)], DASHES[again % len(DASHES)]
            mark = "o" if len(points) <= FEW else ""
            axes.plot(*zip(*points, strict=True), color=ink, linestyle=dash, linewidth=1.3, marker=mark, markersize=3)
        axes.grid(axis="y", color="#e5e5e5", linewidth=0.6)
        axes.set_axisbelow(True)
        axes.margins(x=0.01)
        order = sorted(lines, key=lambda name: -lines[name][-1][1])
        drawn = dict(zip(lines, axes.get_lines(), strict=True))
        if reference:
            axes.plot(*zip(*reference, strict=True), color="#999999", linewidth=0.9, zorder=1)
        place: dict[str, Any] = {"loc": "center left", "bbox_to_anchor": (1.01, 0.5), "frameon": False}
        axes.legend([drawn[name] for name in order], order, fontsize=FONT, labelspacing=0.5, **place)
    return figure
