"""Series over a few steps in a given order (equally far apart, whatever they are), with intervals, and their floors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from excam.core.exceptions import InputInvalid
from excam.pages.plotting.base import FONT, defaults, plot
from excam.pages.plotting.lines import INKS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

BESIDE = 0.2  # of a step: within this the points of a step are moved apart, so that their intervals can be read
MARKS = ("o", "s", "^", "D")
GREYS = ("#777777", "#999999", "#555555", "#aaaaaa", "#333333")
DASHES = ((0, (1, 1.5)), (0, (4, 2)), (0, (6, 2, 1, 2)), (0, (2, 2)), (0, (8, 2)))


@dataclass(frozen=True, slots=True)
class Steps:
    """One series: (number of the step, value, low, high); a floor is drawn thin and grey, without intervals."""

    points: Sequence[tuple[int, float, float, float]]
    is_floor: bool = False


def steps(
    series: Mapping[str, Steps], *, ticks: Sequence[str], title: str, across: str, up: str, note: str = ""
) -> Figure:
    """Series by name over steps with the names `ticks`; a grey line at 0, and the legend below the title.

    Raise InputInvalid if there is nothing to draw.
    """
    if not series or not all(curve.points for curve in series.values()):
        raise InputInvalid(f"steps got {len(series)} series, expected some, and points in each")
    with defaults():
        rows = -(-len(series) // 2)
        figure, axes = plot(6.2, 3.4, 0.45 + 0.19 * rows, 0.25, title=title, note=note, across=across, up=up)
        shown = [name for name, curve in series.items() if not curve.is_floor]
        for at, (name, curve) in enumerate(series.items()):
            x, y, low, high = zip(*curve.points, strict=True)
            if curve.is_floor:
                floor = at - len(shown)
                ink, dash = GREYS[floor % len(GREYS)], DASHES[floor % len(DASHES)]
                axes.plot(x, y, color=ink, linestyle=dash, linewidth=1.1, label=name, zorder=2)
                continue
            place = (shown.index(name) + 0.5) / len(shown) - 0.5
            moved = [step + BESIDE * place for step in x]
            beyond = [
                [max(0.0, value - bound) for value, bound in zip(y, low, strict=True)],
                [max(0.0, bound - value) for value, bound in zip(y, high, strict=True)],
            ]
            line: dict[str, Any] = {"linewidth": 1.3, "elinewidth": 1.1, "capsize": 2, "markersize": 4.5}
            ink, mark = INKS[shown.index(name) % len(INKS)], MARKS[shown.index(name) % len(MARKS)]
            axes.errorbar(moved, y, yerr=beyond, color=ink, marker=mark, label=name, zorder=3, **line)
        axes.axhline(0, color="#cccccc", linewidth=0.8, zorder=1)
        axes.set_xticks(range(len(ticks)), ticks)
        axes.set_ylim(-1.05, 1.05)
        where: dict[str, Any] = {"loc": "lower left", "bbox_to_anchor": (0, 1.01), "frameon": False}
        axes.legend(ncols=2, fontsize=FONT - 1, borderaxespad=0, columnspacing=1.5, handlelength=2.6, **where)
    return figure
