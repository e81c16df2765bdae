"""ExCAM40k, the data set of the paper: its sources, how its rows are made, checked and published."""

from excam.excam40k.construction.spans import diff_spans

__all__ = ["diff_spans"]
