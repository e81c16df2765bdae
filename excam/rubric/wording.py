"""What the manual asks of the words of a rating: how many sentences, and that a rationale names a made-up claim.

People's ratings are refused otherwise. A model's words are kept as they are and counted: nothing could correct them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from excam.annotation import wording
from excam.rubric.manual import DIMENSIONS, ScoringRubric
from excam.rubric.rules import Findings


def breaches(texts: Mapping[str, str], findings: Findings, rubric: ScoringRubric) -> Iterator[str]:
    """Yield a line for each text, of those that are there, that is not worded as the manual asks.

    `texts` are `rationale_*` and `notes`.
    """
    for name, (low, high) in lengths(rubric).items():
        count = wording.sentences(texts.get(name, ""))
        if texts.get(name, "").strip() and not low <= count <= high:
            yield f"{name}: found {count} sentences; expected {low if low == high else f'{low} to {high}'}"
    for name, rule in rubric.manual.rules.items():
        for score, finding in rule.mention.items():
            claim, rationale = getattr(findings, finding), texts.get(f"rationale_{score}", "")
            if claim.strip() and rationale.strip() and not wording.names(rationale, claim):
                yield f"rationale_{score}: does not name {claim[:40]!r}; expected 3 of its words in a row (rule {name})"


def lengths(rubric: ScoringRubric) -> dict[str, list[int]]:
    """Return the least and the most sentences of each text of a rating; empty if the manual states none."""
    names = {"rationale": [f"rationale_{name}" for name in DIMENSIONS], "overall": ["rationale_overall"]}
    sentences = rubric.manual.sentences
    return {field: range_ for name, range_ in sentences.items() for field in names.get(name, [name])}
