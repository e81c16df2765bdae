"""Statistics for the evaluation of metrics: pure functions on vectors, without files or models.

This module has those that programs of users may call (docs/api.md).
"""

from excam.stats.accuracy import scaled_accuracy
from excam.stats.correlation import kendall, tie_calibrated_accuracy
from excam.stats.icc import icc21
from excam.stats.permutation import paired_permutation

__all__ = ["icc21", "kendall", "paired_permutation", "scaled_accuracy", "tie_calibrated_accuracy"]
