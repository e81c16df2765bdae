"""The corrupted version that a generator's answer describes.

A generated sample that is not a soft error gives a value of type `Dropped`: there is no second try, and every loss is
counted.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Literal

from excam.core import sanitize
from excam.error_reports.records import SEVERITIES, CulturalError, Report, Sample, Severity, Unreadable, Where
from excam.excam40k.construction import spans
from excam.excam40k.construction.generator import SoftAnswer, read


@dataclass(frozen=True, slots=True)
class Dropped:
    """The reason why there is no corrupted version.

    "not-cultural", "no-change", "empty-text", "no-severity", "unreadable:<why>", or why the text is hostile
    (`excam.core.sanitize`).
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
    """Return the corrupted version of `right` that a generator's answer describes, or the reason why there is none.

    Every difference in the instruction and in the output is one error. All have one severity: the requested one, or the
    one that the generator states.
    """
    reply = read(answer)
    if isinstance(reply, Unreadable):
        return Dropped(f"unreadable:{reply.reason}", reply.text[-300:])
    if not reply.cultural:
        return Dropped("not-cultural", reply.explanation[:300])
    severity = requested if label == "requested" else severity_stated(reply.severity)
    if severity is None:
        return Dropped("no-severity", reply.severity[:300])
    if why := _unusable(right, reply):
        return Dropped(why, "")
    pairs: dict[Where, tuple[str, str]] = {
        "instruction": (right.instruction, reply.instruction),
        "output": (right.output, reply.output),
    }
    errors = tuple(
        CulturalError(where, span.text, severity, reply.error_type, span.start, span.end)
        for where, (original, modified) in pairs.items()
        for span in spans.diff_spans(original, modified, mode).spans
    )
    if not errors:
        return Dropped("no-change", reply.explanation[:300])
    return replace(
        right,
        id=f"{right.pair}/wrong",
        instruction=reply.instruction,
        output=reply.output,
        report=Report(errors, reply.explanation),
        origin="soft-minor" if requested == "minor" else "soft-major",
        stated_severity=severity_stated(reply.severity) or "other",
    )


def _unusable(right: Sample, reply: SoftAnswer) -> str:
    """Return why generated texts cannot be used: a text is empty, or contains what no benchmark row may contain."""
    if (right.instruction.strip() and not reply.instruction.strip()) or (
        right.output.strip() and not reply.output.strip()
    ):
        return "empty-text"
    return sanitize.rejection_reason(reply.instruction, reply.output, reply.error_type, reply.explanation)


def severity_stated(severity: str) -> Severity | None:
    """Return the severity that a generator states; None if it states neither "minor" nor "major", or both."""
    found: list[Severity] = [known for known in SEVERITIES if re.search(rf"\b{known}\b", severity)]
    return found[0] if len(found) == 1 else None
