"""How likely a text has a cultural error, and when to say "unsure": a map fitted on rows whose truth is known.

A judge's p(R) is not a probability that it is right. `fitted` learns, from rows that somebody has judged, the map from
what the judge says and how sure it is to the share of true errors (Platt or isotonic, `excam.metaeval`); it lies as
`calibration.json` beside the adapter it was made with, and is refused beside any other. Without it there is no
probability, and a verdict is only whether errors were found.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from excam.exceptions import InputInvalid, ModelInvalid
from excam.metric.defaults import BAND
from excam.metric.scored import Scored, Verdict
from excam.provenance import sha256
from excam.records import Report

if TYPE_CHECKING:
    from excam.metaeval import Calibration

FILE = "calibration.json"
NONE = "cal:none"
FEW = 100  # rows below which a fitted map is told to be rough
Method = Literal["platt", "isotonic"]
METHODS: Mapping[str, Method] = {"platt": "platt", "isotonic": "isotonic"}


@dataclass(frozen=True, slots=True)
class Calibrated:
    """A fitted map, the digest of its file, and the band between which a verdict is "unsure", both ends in it."""

    calibration: Calibration
    digest: str
    band: tuple[float, float] = BAND

    @property
    def said(self) -> str:
        """Its part of a signature."""
        low, high = self.band
        return f"cal:{self.calibration.method}@{self.digest[:8]},band{low:g}-{high:g}"

    def probability(self, report: Report | None, certainty: float | None) -> float | None:
        """The chance that the text has an error; None on a failure, or where p(R) is unknown."""
        from excam import metaeval

        if report is None or certainty is None:
            return None
        signed = metaeval.signed_certainty([bool(report.errors)], [certainty])
        return metaeval.error_probabilities(self.calibration, signed)[0]


def verdict(report: Report | None, probability: float | None, band: tuple[float, float]) -> Verdict | None:
    """What to make of a row: by its probability, "unsure" inside the band; without one, by whether errors were found.

    None on a failure.
    """
    if report is None:
        return None
    if probability is None:
        return "error" if report.errors else "clean"
    low, high = band
    return "unsure" if low <= probability <= high else "error" if probability > high else "clean"


def checked_band(band: tuple[float, float]) -> tuple[float, float]:
    """The same. Raises InputInvalid where it is no band of probabilities."""
    if not 0 <= band[0] <= band[1] <= 1:
        raise InputInvalid(f"band {band[0]:g} {band[1]:g}: expected two probabilities, the lower first, such as .4 .6")
    return band


def how(signature: str) -> str:
    """The part of a signature that a calibration hangs on: model, adapter, prompt and reader, sampling."""
    return "|".join(part for part in signature.split("|") if not part.startswith(("cal:", "v:")))


def fitted(results: Iterable[Scored], gold: Mapping[str, bool], method: Method, signature: str) -> dict[str, Any]:
    """What `calibration.json` holds of results whose truth is known by id, all judged as `signature` says.

    Raises InputInvalid for a row of another judge, without a gold verdict, or where there is nothing to fit.
    """
    from excam import metaeval

    truth, found, certainty = [], [], []
    for one in results:
        if how(one.signature) != how(signature):
            raise InputInvalid(
                f"row {one.id}: scored by {how(one.signature)}; expected {how(signature)}; score it again"
            )
        if one.id not in gold:
            raise InputInvalid(f"row {one.id}: no gold verdict; expected one for every scored row")
        truth.append(gold[one.id])
        found.append(None if one.report is None else bool(one.report.errors))
        certainty.append(one.certainty)
    signed = metaeval.signed_certainty(found, certainty)
    calibration = metaeval.fit_calibration(truth, signed, method)
    if calibration is None:
        raise InputInvalid(f"{len(truth)} rows: nothing to fit; expected rows with and without errors, read with p(R)")
    reliability = metaeval.reliability(truth, metaeval.error_probabilities(calibration, signed))
    share = calibration.errors / calibration.n
    return {
        "judged": how(signature),
        "calibration": asdict(calibration),
        # on the rows it was fitted on, so too good; always naming the share of errors would have the second number
        "brier_here": reliability.brier,
        "brier_of_the_share": share * (1 - share),
    }


def opened(path: Path, adapter: str, signature: str, band: tuple[float, float]) -> Calibrated | None:
    """The calibration in a file; None where there is none. `adapter` is the sha256 of its weights.

    Raises ModelInvalid where it is no calibration, or that of another adapter or another way of judging.
    """
    if not path.exists():
        return None
    try:
        kept = json.loads(path.read_text(encoding="utf-8"))
        calibration = _calibration(kept["calibration"])
        of, judged = kept["adapter"], kept["judged"]
    except (OSError, ValueError, KeyError, TypeError, OverflowError, RecursionError):
        raise ModelInvalid(f"{path}: no calibration; expected what `excam calibrate` wrote; make it again") from None
    if of != adapter or judged != how(signature):
        what = f"adapter {of}" if of != adapter else str(judged)
        wanted = f"adapter {adapter}" if of != adapter else how(signature)
        raise ModelInvalid(f"{path}: made with {what}; expected {wanted}; make it again with `excam calibrate`")
    return Calibrated(calibration, sha256(path), band)


def _calibration(row: Mapping[str, Any]) -> Calibration:
    """Raises ValueError, KeyError or TypeError where the numbers make no map."""
    from excam.metaeval import Calibration

    numbers = {name: tuple(map(float, row[name])) for name in ("certainty", "probability")}
    curve = {name: None if row[name] is None else float(row[name]) for name in ("slope", "intercept")}
    made = Calibration(**{**row, **numbers, **curve})
    known = {"platt": made.slope is not None and made.intercept is not None, "isotonic": bool(made.certainty)}
    if not known[made.method] or len(made.certainty) != len(made.probability):
        raise ValueError("no map")
    return made
