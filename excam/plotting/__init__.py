"""Figures: numbers in, a matplotlib Figure out, and files with the same bytes every time (spec 56-59, 84).

No pyplot, no global state: figures are drawn under matplotlib's own defaults, whatever the user's settings are.
"""

from excam.plotting.bars import Bars, stacked
from excam.plotting.base import save, words
from excam.plotting.forest import Point, forest
from excam.plotting.heat import heat_map
from excam.plotting.lines import curves

__all__ = ["Bars", "Point", "curves", "forest", "heat_map", "save", "stacked", "words"]
