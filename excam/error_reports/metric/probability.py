"""The probability that a text has a cultural error, and the verdict "unsure": a map fitted on rows with known truth.

A judge's p(R) is not the probability that it is right. `fitted` learns a map from the judge's verdict and p(R) to the
share of true errors (Platt or isotonic, `excam.stats`) on rows that people judged. The map is stored as
`calibration.json` beside its adapter and refused beside any other. Without it there is no probability, and a verdict
only states whether errors were found.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from excam.core.exceptions import InputInvalid, ModelInvalid
from excam.core.provenance import sha256
from excam.error_reports.records import Report
from excam.scoring.defaults import BAND
from excam.scoring.scored import Scored, Verdict

if TYPE_CHECKING:
    from excam.stats import Calibration

FILE = "calibration.json"
NONE = "cal:none"
FEW = 100  # rows; with fewer, the command says that the map is rough
Method = Literal["platt", "isotonic"]
METHODS: Mapping[str, Method] = {"platt": "platt", "isotonic": "isotonic"}


@dataclass(frozen=True, slots=True)
class Calibrated:
    """A fitted map, the digest of its file, and the closed band of probabilities in which a verdict is "unsure"."""

    calibration: Calibration
    digest: str
    band: tuple[float, float] = BAND

    @property
    def signature(self) -> str:
        """Return the part of a signature about the calibration."""
        low, high = self.band
        return f"cal:{self.calibration.method}@{self.digest[:8]},band{low:g}-{high:g}"

    def probability(self, report: Report | None, certainty: float | None) -> float | None:
        """Return the probability that the text has an error; None on a failure, or if p(R) is unknown."""
        from excam import stats

        if report is None or certainty is None:
            return None
        signed = stats.signed_certainty([bool(report.errors)], [certainty])
        return stats.error_probabilities(self.calibration, signed)[0]


def verdict(report: Report | None, probability: float | None, band: tuple[float, float]) -> Verdict | None:
    """Return the verdict on a row: by its probability, "unsure" inside the band, else by whether errors were found.

    None on a failure.
    """
    if report is None:
        return None
    if probability is None:
        return "error" if report.errors else "clean"
    low, high = band
    return "unsure" if low <= probability <= high else "error" if probability > high else "clean"


def checked_band(band: tuple[float, float]) -> tuple[float, float]:
    """Validate a band and return it unchanged. Raises InputInvalid if it is not a range of probabilities."""
    if not 0 <= band[0] <= band[1] <= 1:
        raise InputInvalid(f"band {band[0]:g} {band[1]:g}: expected two probabilities, the lower first, such as .4 .6")
    return band


def judge_of(signature: str) -> str:
    """Return the part of a signature that a calibration depends on: model, adapter, prompt, parser and sampling."""
    return "|".join(part for part in signature.split("|") if not part.startswith(("cal:", "v:")))


def fitted(results: Iterable[Scored], gold: Mapping[str, bool], method: Method, signature: str) -> dict[str, Any]:
    """Return the content of `calibration.json`, fitted on results with gold verdicts by id, scored with `signature`.

    Raises InputInvalid for a row of another judge or without a gold verdict, or if there is nothing to fit.
    """
    from excam import stats

    truth, found, certainty = [], [], []
    for one in results:
        if judge_of(one.signature) != judge_of(signature):
            raise InputInvalid(
                f"row {one.id}: scored by {judge_of(one.signature)}; expected {judge_of(signature)}; score it again"
            )
        if one.id not in gold:
            raise InputInvalid(f"row {one.id}: no gold verdict; expected one for every scored row")
        truth.append(gold[one.id])
        found.append(None if one.report is None else bool(one.report.errors))
        certainty.append(one.certainty)
    signed = stats.signed_certainty(found, certainty)
    calibration = stats.fit_calibration(truth, signed, method)
    if calibration is None:
        raise InputInvalid(f"{len(truth)} rows: nothing to fit; expected rows with and without errors, read with p(R)")
    reliability = stats.reliability(truth, stats.error_probabilities(calibration, signed))
    share = calibration.errors / calibration.n
    return {
        "judged": judge_of(signature),
        "calibration": asdict(calibration),
        # in-sample, so optimistic; the second number is that of always predicting the share of errors
        "brier_here": reliability.brier,
        "brier_of_the_share": share * (1 - share),
    }


def read_calibration(path: Path, adapter: str, signature: str, band: tuple[float, float]) -> Calibrated | None:
    """Return the calibration in a file; None if there is no file. `adapter` is the sha256 of the adapter's weights.

    Raises ModelInvalid if the file is no calibration, or one of another adapter or another judge.
    """
    if not path.exists():
        return None
    try:
        kept = json.loads(path.read_text(encoding="utf-8"))
        calibration = _calibration(kept["calibration"])
        of, judged = kept["adapter"], kept["judged"]
    except (OSError, ValueError, KeyError, TypeError, OverflowError, RecursionError):
        raise ModelInvalid(f"{path}: no calibration; expected what `excam calibrate` wrote; make it again") from None
    if of != adapter or judged != judge_of(signature):
        what = f"adapter {of}" if of != adapter else str(judged)
        wanted = f"adapter {adapter}" if of != adapter else judge_of(signature)
        raise ModelInvalid(f"{path}: made with {what}; expected {wanted}; make it again with `excam calibrate`")
    return Calibrated(calibration, sha256(path), band)


def _calibration(row: Mapping[str, Any]) -> Calibration:
    """Return the map in a dictionary. Raises ValueError, KeyError or TypeError if it is none."""
    from excam.stats import Calibration

    numbers = {name: tuple(map(float, row[name])) for name in ("certainty", "probability")}
    curve = {name: None if row[name] is None else float(row[name]) for name in ("slope", "intercept")}
    made = Calibration(**{**row, **numbers, **curve})
    known = {"platt": made.slope is not None and made.intercept is not None, "isotonic": bool(made.certainty)}
    if not known[made.method] or len(made.certainty) != len(made.probability):
        raise ValueError("no map")
    return made
