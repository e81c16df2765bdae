"""Meta-evaluation: how good a metric is. Pure functions on vectors; no files, no models (spec 51-55)."""

from excam.metaeval.accuracy import Accuracy, interval, scaled_accuracy, summarise
from excam.metaeval.calibration import Calibration, error_probabilities, fit_calibration, uncalibrated
from excam.metaeval.correlation import (
    TieCalibration,
    kendall,
    sampled_tie_calibration,
    tie_calibrated_accuracy,
)
from excam.metaeval.permutation import PairedPermutation, holm, paired_permutation
from excam.metaeval.permutation_correlation import (
    CorrelationPermutation,
    KendallTest,
    correlation_permutation,
    kendall_test,
)
from excam.metaeval.ranking import Ranking, ranking, ranking_interval
from excam.metaeval.reliability import (
    Abstention,
    Reliability,
    abstention,
    reliability,
    signed_certainty,
)

__all__ = [
    "Abstention",
    "Accuracy",
    "Calibration",
    "CorrelationPermutation",
    "KendallTest",
    "PairedPermutation",
    "Ranking",
    "Reliability",
    "TieCalibration",
    "abstention",
    "correlation_permutation",
    "error_probabilities",
    "fit_calibration",
    "holm",
    "interval",
    "kendall",
    "kendall_test",
    "paired_permutation",
    "ranking",
    "ranking_interval",
    "reliability",
    "sampled_tie_calibration",
    "scaled_accuracy",
    "signed_certainty",
    "summarise",
    "tie_calibrated_accuracy",
    "uncalibrated",
]
