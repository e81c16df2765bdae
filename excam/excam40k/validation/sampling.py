"""Drawing a campaign: which soft errors people see, in which order, with which explanations.

Every choice is an order by hash (`excam.core.hash_order`), so another seed gives another campaign and a new data set
moves no other row. At most one row of a group: annotators would judge pairs and translations of a question as one.

People see four boxes: both texts of a row and of its original, in pieces, with marked changes. Each text is marked by
its own comparison with the other: in a modified text the marks are the differences of which its gold errors were made.
If something was inserted or deleted, the other text has a gap, an empty piece.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from excam.annotation import form as forms
from excam.annotation.campaign import Campaign, Passage, Task, campaign
from excam.core.exceptions import InputInvalid
from excam.core.hash_order import digest
from excam.error_reports.records import SEVERITIES, WHERE, Sample, Where
from excam.excam40k.construction import spans

# Why a wrong row cannot be shown; the rest is eligible.
REASONS = ("another-language", "no-right-twin", "no-explanation", "unreadable", "same-group")


@dataclass(frozen=True, slots=True)
class Wanted:
    """`rows` of a dataset and language, each seen by `annotators` people."""

    dataset: str
    language: str
    rows: int
    annotators: int


Explanations = Mapping[str, str | None]  # by row id: what a system wrote, None where it found no error; absent: unread


def explanations(judgements: Iterable[Mapping[str, object]]) -> dict[str, str | None]:
    """Return each judged row's explanation. A row whose answer could not be read, or explains nothing, is left out."""
    by_row: dict[str, str | None] = {}
    for row in judgements:
        report = json.loads(str(row["report"])) if row["report"] is not None else None
        if report is not None and (not report["errors"] or report["explanation"].strip()):
            by_row[str(row["id"])] = report["explanation"] if report["errors"] else None
    return by_row


def draw(
    title: str,
    samples: Sequence[Sample],
    systems: Mapping[str, Explanations],
    wanted: Sequence[Wanted],
    mode: spans.Mode,
    seed: int,
) -> tuple[Campaign, list[dict[str, str | int]]]:
    """Return a campaign, and for each of `wanted` the number of rows, of ineligible ones by reason, and of drawn ones.

    `samples`: test rows, right and wrong. A cell with fewer eligible rows than wanted gives what it has: the counts say
    so. Raises InputInvalid if nothing at all can be shown.
    """
    rights = {sample.pair: sample for sample in samples if not sample.report.errors}
    taken: dict[str, tuple[Sample, Wanted]] = {}
    counts: list[dict[str, str | int]] = []
    for cell in wanted:
        wrong = [s for s in samples if s.dataset == cell.dataset and s.origin.startswith("soft")]
        eligible, why = _eligible(wrong, cell.language, rights, systems, seed)
        drawn = eligible[: cell.rows]
        taken.update((sample.id, (sample, cell)) for sample in drawn)
        by_severity = Counter(sample.report.errors[0].severity for sample in drawn)
        numbers = {"rows": len(wrong), **{reason: why[reason] for reason in REASONS}, "eligible": len(eligible)}
        numbers |= {"wanted": cell.rows, "drawn": len(drawn), **{kind: by_severity[kind] for kind in SEVERITIES}}
        counts.append({"dataset": cell.dataset, "language": cell.language, **numbers})
    if not taken:
        raise InputInvalid("annotation: no soft error can be shown; expected rows that every system judged readably")
    tasks = []
    for row in sorted(taken, key=lambda row: digest(seed, "annotation/place", row)):
        sample, cell = taken[row]
        tasks.append(_task(rights[sample.pair], sample, systems, cell.annotators, mode, seed))
    return campaign(title, forms.load("soft_errors"), tasks), counts


def _eligible(
    wrong: Iterable[Sample], language: str, rights: Mapping[str, Sample], systems: Mapping[str, Explanations], seed: int
) -> tuple[list[Sample], Counter[str]]:
    """Return the rows of a language that can be shown, in drawing order; count the others by reason."""
    eligible: dict[str, Sample] = {}
    why: Counter[str] = Counter()
    for sample in sorted(wrong, key=lambda sample: digest(seed, "annotation/draw", sample.id)):
        group = sample.group or sample.base
        if sample.language != language:
            why["another-language"] += 1
        elif sample.pair not in rights:
            why["no-right-twin"] += 1
        elif not sample.report.explanation.strip():
            why["no-explanation"] += 1
        elif any(sample.id not in explained for explained in systems.values()):
            why["unreadable"] += 1
        elif group in eligible:
            why["same-group"] += 1
        else:
            eligible[group] = sample
    return list(eligible.values()), why


def _task(
    right: Sample,
    wrong: Sample,
    systems: Mapping[str, Explanations],
    annotators: int,
    mode: spans.Mode,
    seed: int,
) -> Task:
    """Return a task. The order of the systems differs between rows and reveals nothing."""
    shown = boxes(right, wrong, mode)
    order = sorted(systems, key=lambda system: digest(seed, "annotation/code", wrong.id, system)[:8])
    return Task(
        id=digest(seed, "annotation/task", wrong.id)[:16],
        row=wrong.id,
        language=wrong.language,
        culture=wrong.culture,
        annotators=annotators,
        shown={
            "dataset": wrong.dataset,
            "original_instruction": shown["instruction"][0],
            "modified_instruction": shown["instruction"][1],
            "original_output": shown["output"][0],
            "modified_output": shown["output"][1],
            "explanation": wrong.report.explanation,
            "severity": wrong.report.errors[0].severity,
            "error_type": wrong.report.errors[0].type,
            **{f"comparison_{at}": systems[system][wrong.id] for at, system in enumerate(order, 1)},
        },
        hidden={f"source_{at}": system for at, system in enumerate(order, 1)},
    )


def boxes(right: Sample, wrong: Sample, mode: spans.Mode) -> dict[Where, tuple[Passage, Passage]]:
    """Return the original and the modified text for instruction and output. `mode`: how the gold spans were made."""
    texts: dict[Where, tuple[str, str]] = {where: (getattr(right, where), getattr(wrong, where)) for where in WHERE}
    return {where: (_marked(new, old, mode), _marked(old, new, mode)) for where, (old, new) in texts.items()}


def _marked(other: str, text: str, mode: spans.Mode) -> Passage:
    """Return a text in pieces, marked where it differs from the other one."""
    pieces, at = [], 0
    for span in spans.diff_spans(other, text, mode).spans:
        start = span.end if span.kind == "delete" else span.start  # a gap behind the word that it points at
        if start > at:
            pieces.append((text[at:start], False))
        pieces.append((text[start : span.end], True))
        at = span.end
    return (*pieces, (text[at:], False)) if at < len(text) or not pieces else tuple(pieces)
