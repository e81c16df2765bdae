"""Points of several series over a common axis, with means of parts and their intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from excam.core.exceptions import InputInvalid
from excam.pages.plotting.base import FINE, FONT, MARGIN, defaults, extent, filled, sheet
from excam.pages.plotting.lines import INKS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MARKS = ("o", "s", "^", "D")
SPREAD = 0.06  # points that coincide are moved up or down by at most this


@dataclass(frozen=True, slots=True)
class Cloud:
    """One series: points (x, y), and means of parts of them (x, y, low, high)."""

    points: Sequence[tuple[float, float]]
    means: Sequence[tuple[float, float, float, float]]


def scatter(clouds: Mapping[str, Cloud], *, title: str, across: str, up: str, note: str = "") -> Figure:
    """Points of several series by name, faint, under their means with intervals; grey lines at x = 0 and y = 0.

    Raise InputInvalid if there is nothing to draw.
    """
    if not clouds or not all(cloud.points for cloud in clouds.values()):
        raise InputInvalid(f"scatter got {len(clouds)} series, expected some, and points in each")
    with defaults():
        left, width, right, height = 0.75, 6.2, 0.25, 3.4
        note = filled(note, left + width + right - 2 * MARGIN, **FINE)
        legend = 0.2 * len(clouds)
        foot, top = 0.62 + extent(note or " ", **FINE)[1] + MARGIN, 0.42 + legend
        wide, tall = left + width + right, foot + height + top
        figure = sheet(wide, tall, title, note)
        axes = figure.add_axes((left / wide, foot / tall, width / wide, height / tall))
        for at, (name, cloud) in enumerate(clouds.items()):
            ink, mark = INKS[at % len(INKS)], MARKS[at % len(MARKS)]
            x, y = zip(*cloud.points, strict=True)
            moved = [value + _offset(place, x[place]) for place, value in enumerate(y)]
            axes.scatter(x, moved, s=5, color=ink, alpha=0.25, linewidths=0, zorder=2)
            if cloud.means:
                mean_x, mean_y, low, high = zip(*cloud.means, strict=True)
                beyond = [
                    [max(0.0, y - bound) for y, bound in zip(mean_y, low, strict=True)],
                    [max(0.0, bound - y) for y, bound in zip(mean_y, high, strict=True)],
                ]
                line: dict[str, Any] = {"linewidth": 1.3, "elinewidth": 1.1, "capsize": 2, "markersize": 5}
                axes.errorbar(mean_x, mean_y, yerr=beyond, color=ink, marker=mark, label=name, zorder=3, **line)
        axes.axhline(0, color="#999999", linewidth=0.8, zorder=1)
        axes.axvline(0, color="#999999", linewidth=0.8, zorder=1)
        axes.spines[["top", "right"]].set_visible(False)
        axes.tick_params(labelsize=FONT - 1, length=3, width=0.6)
        axes.set_ylim(-1.1, 1.1)
        axes.set_xlabel(across, size=FONT)
        axes.set_ylabel(up, size=FONT)
        axes.legend(loc="lower left", bbox_to_anchor=(0, 1.01), frameon=False, fontsize=FONT, borderaxespad=0)
    return figure


def _offset(place: int, x: float) -> float:
    """Return a shift in [-SPREAD, SPREAD] that is the same on every run."""
    return (int(sha256(f"{place}/{x}".encode()).hexdigest()[:8], 16) / 2**31 - 1) * SPREAD
