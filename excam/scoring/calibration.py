"""The probability that a text has an error, and the verdict "unsure": a map fitted on rows with known truth.

A judge's confidence is not the probability that it is right. `fitted` learns a curve (Platt's, `excam.stats`)
from what a metric says of a row (`Metric.error_signal`) to the share of true errors, on rows that people judged. The
map belongs to one judge, named by its signature, and is refused for any other. That of an adapter is stored beside it,
any other in a file of its own. Without one there is no probability.
"""

from __future__ import annotations

import json
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from excam.core.exceptions import InputInvalid, ModelInvalid
from excam.core.provenance import sha256
from excam.scoring.defaults import BAND
from excam.scoring.joining import distinct
from excam.scoring.metric import Metric
from excam.scoring.results import Result, Verdict

if TYPE_CHECKING:
    from excam.stats.calibration import Calibration

FILE = "calibration.json"
NONE = "cal:none"


@dataclass(frozen=True, slots=True)
class Calibrated:
    """A fitted map, the digest of its file, and the closed band of probabilities in which a verdict is "unsure"."""

    calibration: Calibration
    digest: str
    measured: str  # how often the judge was right on the rows that it was fitted on
    band: tuple[float, float] = BAND

    @property
    def signature(self) -> str:
        """Return the part of a signature about the calibration."""
        low, high = self.band
        return f"cal:{self.calibration.method}@{self.digest[:8]},band{low:g}-{high:g}"

    def probability(self, signal: float | None) -> float | None:
        """Return the probability that the text has an error; None if the metric says nothing."""
        from excam.stats.calibration import error_probabilities

        return None if signal is None else error_probabilities(self.calibration, [signal])[0]


def verdict(has_errors: bool | None, probability: float | None, band: tuple[float, float]) -> Verdict | None:
    """Return the verdict on a row: by its probability, "unsure" inside the band, else by whether it `has_errors`.

    None where neither is known.
    """
    if probability is None:
        return None if has_errors is None else "error" if has_errors else "clean"
    low, high = band
    return "unsure" if low <= probability <= high else "error" if probability > high else "clean"


def checked_band(band: tuple[float, float]) -> tuple[float, float]:
    """Validate a band and return it unchanged. Raises InputInvalid if it is not a range of probabilities."""
    if not 0 <= band[0] <= band[1] <= 1:
        raise InputInvalid(f"band {band[0]:g} {band[1]:g}: expected two probabilities, the lower first, such as .4 .6")
    return band


def judge_of(signature: str) -> str:
    """Return the part of a signature that a calibration depends on: metric, model, prompt, parser and sampling."""
    return "|".join(part for part in signature.split("|") if not part.startswith(("cal:", "v:")))


def refusal(metric: Metric) -> str | None:
    """Return why a metric cannot have a calibration; None if it can."""
    if metric.needs_file:
        return "its scores are of a whole file, and mean something else in another"
    return "it states no range of its scores" if metric.error_signal(0.0, 1.0) is None else None


def fitted(results: Sequence[Result], gold: Mapping[str, bool], metric: Metric) -> dict[str, Any]:
    """Return the content of a calibration, fitted on results of one judge with gold verdicts by id.

    Results that repeat another under a new id are left out, see `joining.distinct`. Raises InputInvalid for rows of
    several judges, or if there is nothing to fit.

    Args:
        results: of one judge
        gold: whether a row has an error, by id
        metric: that scored them
    """
    from excam.stats.calibration import error_probabilities, fit_calibration

    if why := refusal(metric):
        raise InputInvalid(f"metric {metric.name}: {why}; expected a metric with a calibration; see docs/api.md")
    from excam.scoring.compare import clusters_of_texts, shared_signature

    judged = judge_of(shared_signature({"rows": results}))
    contents = [result.content and (gold[result.id], *result.content) for result in results]
    rows, results = results, [results[at] for at in distinct([result.id for result in results], contents)]
    truth = [gold[result.id] for result in results]
    signals = [None if row.score is None else metric.error_signal(row.score, row.certainty) for row in results]
    clusters = clusters_of_texts(results)
    measured, calibration = _measured(results, truth, signals, clusters), fit_calibration(truth, signals)
    if calibration is None and set(signals) == {None} and any(row.score is not None for row in results):
        raise InputInvalid("no row has a certainty: the server sends no log-probabilities; calibrate needs them")
    if calibration is None:
        expected = "expected rows with and without errors, read with p(R)"
        raise InputInvalid(f"{len(truth)} rows: nothing to fit; {expected}" + (f"; {measured}" if measured else ""))
    chances = error_probabilities(calibration, signals)
    squares = [(chance - is_error) ** 2 for chance, is_error in zip(chances, truth, strict=True) if chance is not None]
    share = calibration.errors / calibration.n
    failed = sum(result.score is None for result in results)
    return {
        "judged": judged,
        "measured": measured,
        "repeated": len(rows) - len(results),  # rows left out
        "failed": failed,
        "uncertain": signals.count(None) - failed,  # rows with a score, from which no probability follows
        "clusters": len({name for name, signal in zip(clusters, signals, strict=True) if signal is not None}),
        "calibration": asdict(calibration),
        # in-sample, so optimistic; the second number is that of always predicting the share of errors
        "brier_here": sum(squares) / len(squares),
        "brier_of_the_share": share * (1 - share),
    }


def _measured(
    results: Sequence[Result],
    truth: Sequence[bool],
    signals: Sequence[float | None],
    clusters: Sequence[Hashable],
) -> str:
    """Return what the judge is worth on the rows with a score, "" without any."""
    from excam.scoring import worth
    from excam.stats.binary_gold import association

    places = [at for at, result in enumerate(results) if result.score is not None]
    labels, verdicts = [-float(truth[at]) for at in places], [results[at].verdict or "" for at in places]
    groups = [clusters[at] for at in places]
    auc = association([truth[at] for at in places], [signals[at] for at in places], groups).auc
    return (
        worth.in_words(labels, verdicts, groups, auc, auc, len({result.instruction for result in results}))
        if places
        else ""
    )


def read(path: Path, signature: str, band: tuple[float, float]) -> Calibrated:
    """Return the calibration in a file. Raises ModelInvalid if it is none, or one of another judge."""
    try:
        if not path.exists():
            raise ModelInvalid(f"{path}: no such file; expected what `excam calibrate` wrote")
        content = json.loads(path.read_text(encoding="utf-8"))
        calibration, judged = _calibration(content["calibration"]), content["judged"]
        measured = str(content.get("measured") or f"calibrated on {calibration.n} labelled rows")
    except (OSError, ValueError, KeyError, TypeError, OverflowError, RecursionError):
        raise ModelInvalid(f"{path}: no calibration; expected what `excam calibrate` wrote; make it again") from None
    if judged != judge_of(signature):
        raise ModelInvalid(
            f"{path}: made with {judged}; expected {judge_of(signature)}; make it again with `excam calibrate`"
        )
    return Calibrated(calibration, sha256(path), measured, checked_band(band))


def _calibration(row: Mapping[str, Any]) -> Calibration:
    """Return the curve in a dictionary. Raises ValueError, KeyError or TypeError if it is none."""
    from excam.stats.calibration import Calibration

    if row["method"] != "platt":
        raise ValueError("another kind of curve, of an earlier version")
    n, unscored, errors = (int(row[name]) for name in ("n", "unscored", "errors"))
    return Calibration(n, unscored, errors, float(row["slope"]), float(row["intercept"]))
