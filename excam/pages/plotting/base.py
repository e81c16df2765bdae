"""What every figure shares: a sheet with title and note, sizes of texts, and files with the same bytes every time."""

from __future__ import annotations

import io
import textwrap
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from excam.core.exceptions import InputInvalid
from excam.core.provenance import publish

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FONT = 8.5  # points
LEAST = 10  # texts: of fewer nothing is drawn, since a number would look like a finding
FEWER = f"n < {LEAST}"
MARGIN = 0.12  # inches: the border
HEADING: dict[str, Any] = {"size": FONT + 1.5, "weight": "bold"}
FINE: dict[str, Any] = {"size": FONT - 1}
METADATA: dict[str, dict[str, Any]] = {  # without what differs from day to day
    ".pdf": {"CreationDate": None, "Creator": None, "Producer": None},
    ".svg": {"Date": None, "Creator": None},
    ".png": {"Software": None},
}


@contextmanager
def defaults() -> Iterator[None]:
    """Draw under matplotlib's own defaults, whatever the user's settings are."""
    import matplotlib

    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        # Type 42 embeds the font; text of an SVG becomes outlines, so that it looks alike where the font is missing.
        matplotlib.rcParams.update({"svg.hashsalt": "excam", "pdf.fonttype": 42, "svg.fonttype": "path"})
        yield


def sheet(width: float, height: float, title: str, note: str) -> Figure:
    """An empty figure of so many inches: the title at its top left, the note, in lines already, at its bottom left."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), facecolor="white")
    FigureCanvasAgg(figure)
    edge = MARGIN / width
    figure.text(edge, 1 - MARGIN / height, title, va="top", parse_math=False, **HEADING)
    figure.text(edge, MARGIN / height, note, va="bottom", color="#444444", parse_math=False, **FINE)
    return figure


def plot(right: float, *, title: str, note: str, across: str, up: str) -> tuple[Figure, Axes]:
    """A figure and its axes, on their `right` so many inches for a legend."""
    wide, tall, above, left = 4.6, 2.8, 0.42, 0.75  # inches
    width = left + wide + right
    note = filled(note, width - 2 * MARGIN, **FINE)
    foot = 0.62 + extent(note or " ", **FINE)[1] + MARGIN
    height = foot + tall + above
    figure = sheet(width, height, title, note)
    axes = figure.add_axes((left / width, foot / height, wide / width, tall / height))
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(labelsize=FONT - 1, length=3, width=0.6)
    axes.set_xlabel(across, size=FONT)
    axes.set_ylabel(up, size=FONT)
    return figure, axes


def words(title: str, text: str, width: float = 5.0) -> Figure:
    """A figure that says why there is nothing to draw: still a file, and no empty axes."""
    with defaults():
        text = filled(text, width - 2 * MARGIN, **FINE)
        height = extent(title, **HEADING)[1] + extent(text, **FINE)[1] + 0.2 + 2 * MARGIN
        return sheet(max(width, extent(title, **HEADING)[0] + 2 * MARGIN), height, title, text)


def extent(text: str, **font: Any) -> tuple[float, float]:
    """Width and height of a text as drawn, in inches."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    # At screen resolution letters snap to pixels, and a line comes out up to 5% off
    figure = Figure((0.1, 0.1), dpi=720)
    box = figure.text(0, 0, text, parse_math=False, **font).get_window_extent(FigureCanvasAgg(figure).get_renderer())
    return box.width / 720, box.height / 720


def filled(note: str, width: float, **font: Any) -> str:
    """The note in lines of at most `width` inches: characters differ in width, so narrower until they fit."""
    for letters in range(int(24 * width), 10, -1):
        text = "\n".join(textwrap.fill(line, letters) for line in note.splitlines())
        if extent(text, **font)[0] <= width:
            return text
    return note


def save(figure: Figure, paths: Sequence[Path]) -> None:
    """Write a figure as PDF, SVG or PNG (300 dpi), by suffix: the same figure gives the same bytes, whenever.

    Raise InputInvalid for another suffix, before anything is written.
    """
    for path in paths:
        if path.suffix not in METADATA:
            raise InputInvalid(f"cannot write {path.name}: got suffix {path.suffix!r}, expected .pdf, .svg or .png")
    for path in paths:
        drawn = io.BytesIO()
        with defaults():
            figure.savefig(drawn, format=path.suffix[1:], dpi=300, metadata=METADATA[path.suffix])
        with publish(path) as temporary:
            temporary.write_bytes(drawn.getvalue())
