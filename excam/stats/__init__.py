"""Statistics for the evaluation of metrics: pure functions on vectors, without files or models."""

from excam.stats.accuracy import Accuracy, accuracy_interval, scaled_accuracy, summarise_accuracy
from excam.stats.calibration import Calibration, error_probabilities, fit_calibration
from excam.stats.correlation import (
    TieCalibration,
    kendall,
    sampled_tie_calibration,
    tie_calibrated_accuracy,
    tie_calibration_by_item,
)
from excam.stats.icc import Icc, icc21, icc21_bootstrap, icc_of_mean
from excam.stats.permutation import PairedPermutation, holm, paired_permutation
from excam.stats.permutation_correlation import (
    CorrelationPermutation,
    correlation_permutation,
)

__all__ = [
    "Accuracy",
    "Calibration",
    "CorrelationPermutation",
    "Icc",
    "PairedPermutation",
    "TieCalibration",
    "accuracy_interval",
    "correlation_permutation",
    "error_probabilities",
    "fit_calibration",
    "holm",
    "icc21",
    "icc21_bootstrap",
    "icc_of_mean",
    "kendall",
    "paired_permutation",
    "sampled_tie_calibration",
    "scaled_accuracy",
    "summarise_accuracy",
    "tie_calibrated_accuracy",
    "tie_calibration_by_item",
]
