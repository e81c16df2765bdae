"""Which judge a job asks, or reads, and the passages that it is shown."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from excam.config import Judging
from excam.core.exceptions import InputInvalid
from excam.error_reports import judges
from excam.error_reports.records import Sample, Verdict
from excam.excam40k import shown_evidence
from excam.inference import Flow


@dataclass(frozen=True, kw_only=True)
class JudgingOptions:
    """What `judge_of` reads."""

    judge: str
    samples_path: Path
    evidence_path: Annotated[Path | None, "passages of these rows, for a judge that reads them"] = None
    judging: Annotated[str, "section `judging` as JSON"] = "{}"


def judge_of(options: JudgingOptions) -> Callable[[Sample], Flow[Verdict]]:
    """Return the function that judges one sample. Raise InputInvalid if passages lack, or nobody reads them."""
    reads = options.judge == "grounded"
    if reads != bool(options.evidence_path):
        expected = "expected --evidence FILE" if reads else "expected no --evidence: it reads none"
        raise InputInvalid(f"judge {options.judge}: found {options.evidence_path or 'no passages'}; {expected}")
    if options.evidence_path:
        return shown_evidence.judging(
            shown_evidence.read(options.evidence_path), Judging.model_validate_json(options.judging)
        )
    return judges.load(options.judge).judge
