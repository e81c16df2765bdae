"""Meta-evaluation: how good a metric is. Pure functions on vectors; no files, no models (spec 51-55)."""

from excam.metaeval.accuracy import Accuracy, interval, scaled_accuracy, summarise
from excam.metaeval.correlation import (
    TieCalibration,
    kendall,
    sampled_tie_calibration,
    tie_calibrated_accuracy,
)
from excam.metaeval.permutation import PairedPermutation, holm, paired_permutation

__all__ = [
    "Accuracy",
    "PairedPermutation",
    "TieCalibration",
    "holm",
    "interval",
    "kendall",
    "paired_permutation",
    "sampled_tie_calibration",
    "scaled_accuracy",
    "summarise",
    "tie_calibrated_accuracy",
]
