"""The corrupted version that a generator's answer describes.

A generated sample that is not a soft error gives a value of type `DropReason`: there is no second try, and every loss
is counted.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from excam.core import sanitize
from excam.error_reports.records import SEVERITIES, CulturalError, Report, Sample, Severity, Unreadable, Where
from excam.excam40k.construction import spans
from excam.excam40k.construction.generator import SoftAnswer, read
from excam.excam40k.construction.groups import joined


@dataclass(frozen=True, slots=True)
class DropReason:
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
) -> Sample | DropReason:
    """Return the corrupted version of `right` that a generator's answer describes, or the reason why there is none.

    Every difference in the instruction and in the output is one error; in strict mode, a statement that was exchanged
    for another is one too. All have one severity: the requested one, or the
    one that the generator states.
    """
    reply = read(answer)
    if isinstance(reply, Unreadable):
        return DropReason(f"unreadable:{reply.reason}", reply.text[-300:])
    if not reply.cultural:
        return DropReason("not-cultural", reply.explanation[:300])
    severity = requested if label == "requested" else severity_stated(reply.severity)
    if severity is None:
        return DropReason("no-severity", reply.severity[:300])
    if why := _unusable(right, reply):
        return DropReason(why, "")
    pairs: dict[Where, tuple[str, str]] = {
        "instruction": (right.instruction, reply.instruction),
        "output": (right.output, reply.output),
    }
    errors = tuple(
        CulturalError(where, span.text, severity, reply.error_type, span.start, span.end)
        for where, (original, modified) in pairs.items()
        for span in _differences(original, modified, mode)
    )
    if not errors:
        return DropReason("no-change", reply.explanation[:300])
    return replace(
        right,
        id=f"{right.pair}/wrong",
        instruction=reply.instruction,
        output=reply.output,
        report=Report(errors, reply.explanation),
        origin="soft-minor" if requested == "minor" else "soft-major",
        stated_severity=severity_stated(reply.severity) or "other",
    )


def _differences(original: str, modified: str, mode: spans.Mode) -> Sequence[spans.Span]:
    differences = spans.diff_spans(original, modified, mode).spans
    return spans.whole_statements(differences, modified) if mode == "strict" else differences


def in_joined_groups(samples: Sequence[Sample], partners: Mapping[str, str]) -> list[Sample]:
    """Return corrupted rows with the groups of those that were exchanged with each other joined (pair -> pair).

    The answer of one is the error of the other, so they are not independent of each other.
    """
    of_pair = {sample.pair: sample.group or sample.base for sample in samples}
    both = ((pair, partner) for pair, partner in partners.items() if pair in of_pair and partner in of_pair)
    first = joined((of_pair[pair], of_pair[partner]) for pair, partner in both)
    return [replace(sample, group=first.get(of_pair[sample.pair], of_pair[sample.pair])) for sample in samples]


def _unusable(right: Sample, reply: SoftAnswer) -> str:
    """Return why generated texts cannot be used: a text is empty, or contains what no benchmark row may contain."""
    if (right.instruction.strip() and not reply.instruction.strip()) or (
        right.output.strip() and not reply.output.strip()
    ):
        return "empty-text"
    return sanitize.rejection_reason(reply.instruction, reply.output, reply.error_type, reply.explanation)


def severity_stated(severity: str) -> Severity | None:
    """Return the severity that a generator states; None if it states neither "minor" nor "major", or both."""
    stated: list[Severity] = [name for name in SEVERITIES if re.search(rf"\b{name}\b", severity)]
    return stated[0] if len(stated) == 1 else None
