"""The wrong twin that a generator's answer describes (spec 24-29).

A generated sample that is no soft error is a value of type `Dropped`: there is no second try (spec 24), and nothing is
lost uncounted.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Literal

from excam import hostile
from excam.construction import spans
from excam.construction.generator import SoftAnswer, read
from excam.records import SEVERITIES, CulturalError, Report, Sample, Severity, Unreadable, Where


@dataclass(frozen=True, slots=True)
class Dropped:
    """Why there is no wrong twin.

    "not-cultural", "no-change", "empty-text", "no-severity", "unreadable:<why>", or why the text is hostile
    (`excam.hostile`).
    """

    reason: str
    detail: str


def soft_error(
    right: Sample,
    requested: Severity,
    answer: str,
    mode: spans.Mode,
    label: Literal["requested", "stated"] = "requested",
) -> Sample | Dropped:
    """The wrong twin of `right` that a generator's answer describes, or why there is none (spec 24-29).

    Every difference in the instruction and in the output is one error. All have one severity: the one that was
    requested, or the one that the generator says it did (spec 26).
    """
    said = read(answer)
    if isinstance(said, Unreadable):
        return Dropped(f"unreadable:{said.reason}", said.text[-300:])
    if not said.cultural:
        return Dropped("not-cultural", said.explanation[:300])
    severity = requested if label == "requested" else stated(said.severity)
    if severity is None:
        return Dropped("no-severity", said.severity[:300])
    if why := _unusable(right, said):
        return Dropped(why, "")
    pairs: dict[Where, tuple[str, str]] = {
        "instruction": (right.instruction, said.instruction),
        "output": (right.output, said.output),
    }
    errors = tuple(
        CulturalError(where, span.text, severity, said.error_type, span.start, span.end)
        for where, (original, modified) in pairs.items()
        for span in spans.diff_spans(original, modified, mode).spans
    )
    if not errors:
        return Dropped("no-change", said.explanation[:300])
    return replace(
        right,
        id=f"{right.pair}/wrong",
        instruction=said.instruction,
        output=said.output,
        report=Report(errors, said.explanation),
        origin="soft-minor" if requested == "minor" else "soft-major",
        stated_severity=stated(said.severity) or "other",
    )


def _unusable(right: Sample, said: SoftAnswer) -> str:
    """Why what the generator wrote may not become data: a text left empty, or hostile as no benchmark's row may be."""
    if (right.instruction.strip() and not said.instruction.strip()) or (
        right.output.strip() and not said.output.strip()
    ):
        return "empty-text"
    return hostile.reason(said.instruction, said.output, said.error_type, said.explanation)


def stated(severity: str) -> Severity | None:
    """The severity a generator says it did; None where it says neither "minor" nor "major", or both."""
    found: list[Severity] = [known for known in SEVERITIES if re.search(rf"\b{known}\b", severity)]
    return found[0] if len(found) == 1 else None
