"""Figures: numbers in, a matplotlib Figure out, and files with the same bytes every time.

No pyplot, no global state: figures are drawn under matplotlib's own defaults, whatever the user's settings are.
"""

from excam.pages.plotting.base import LEAST, save, words
from excam.pages.plotting.forest import ForestRow, Point, forest
from excam.pages.plotting.heat import Axis, Scale, Tile, heat_map
from excam.pages.plotting.lines import curves

__all__ = [
    "LEAST",
    "Axis",
    "ForestRow",
    "Point",
    "Scale",
    "Tile",
    "curves",
    "forest",
    "heat_map",
    "save",
    "words",
]
