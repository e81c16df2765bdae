"""`lexicon`: a deterministic substitute for the generator of soft errors, for users without a GPU. Our own, not
ExCAM's.

It changes only the output, and there only whole words for which another of the same form and agreement is listed
(`lexicon_exchanges`). A row in which nothing can be exchanged safely is left out: `answer` returns a `LeftOut`.
"""

from __future__ import annotations

import json
from bisect import bisect
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from excam.core.hash_order import digest
from excam.error_reports.records import Sample, Severity
from excam.excam40k.construction import lexicon_exchanges, spans
from excam.excam40k.construction.cultures import in_a_sentence
from excam.excam40k.construction.lexicon_exchanges import Swap
from excam.excam40k.construction.lexicon_words import EXPLANATIONS, HOMES, TYPES

NAME = "lexicon"
LAST = "general"  # the family that is used only if no other minor error is possible

# Why a row is left out: its language has no table; its answer holds no listed word or cue of a culture; or no listed
# word can be exchanged so that the sentence stays grammatical and becomes wrong.
Reason = Literal["unknown-language", "no-cultural-word", "no-safe-exchange"]


@dataclass(frozen=True, slots=True)
class LeftOut:
    """The reason why a row gets no error."""

    reason: Reason


def answer(right: Sample, severity: Severity, seed: int) -> str | LeftOut:
    """Return a generator's answer about `right` in the form of Table 7, or the reason why the row is left out.

    A minor error misstates one detail of a custom. A major one inverts a norm or names a thing of a distant culture;
    half of the rows get two.
    """
    if right.language not in HOMES:
        return LeftOut("unknown-language")
    if not lexicon_exchanges.is_cultural(right):
        return LeftOut("no-cultural-word")
    swaps = _chosen(right, severity, seed)
    if not swaps:
        return LeftOut("no-safe-exchange")
    fields = {
        "Error Type": TYPES[swaps[0].family],
        "Cultural Content": "Yes",
        "Rule Adherence": "Single words are exchanged for others of the same form; all else is kept.",
        "Explanation": _explanation(right, swaps, seed),
        "Severity": severity,
        "Modified Instruction": right.instruction,
        "Modified Generated Text": _apply(right.output, swaps),
    }
    return "OUTPUT: " + json.dumps(fields, ensure_ascii=False)


def _chosen(right: Sample, severity: Severity, seed: int) -> list[Swap]:
    """Return the swaps of one row in the order of the text; none if nothing can be exchanged."""
    key = [NAME, right.pair, severity]
    found = sorted(
        lexicon_exchanges.possible(right, severity),
        key=lambda swap: (swap.family == LAST, digest(seed, *key, str(swap.start), swap.surface)),
    )
    with_verdict = [swap for swap in found if swap.family == "verdict"]
    found = with_verdict + [swap for swap in found if swap.family != "verdict"]
    wanted = 1 if severity == "minor" else 2 if with_verdict else 1 + int(digest(seed, *key), 16) % 2
    ends = lexicon_exchanges.text_of(right).ends
    taken: list[Swap] = []
    for swap in found:
        if len(taken) == wanted:
            break
        if all(_apart(swap, other, ends) for other in taken) and _is_one_span(right.output, swap):
            taken.append(swap)
    if with_verdict and len(taken) < wanted:  # a verdict against its own reason can be seen without any knowledge
        return []
    return sorted(taken, key=lambda swap: swap.start)


def _apart(swap: Swap, other: Swap, ends: Sequence[int]) -> bool:
    """Return whether two swaps are of one type and cannot undo each other: a verdict and a norm, or two sentences."""
    if TYPES[swap.family] != TYPES[other.family] or "verdict" in (swap.family, other.family):
        return {swap.family, other.family} == {"verdict", "norm"}
    return swap.surface != other.surface and bisect(ends, swap.start) != bisect(ends, other.start)


def _is_one_span(text: str, swap: Swap) -> bool:
    """Return whether the swap marks one span of the new text, and no other words than its own."""
    found = spans.diff_spans(text, _apply(text, [swap]), "strict").spans
    return len(found) == 1 and found[0].kind != "delete" and found[0].text in swap.surface


def _apply(text: str, swaps: Sequence[Swap]) -> str:
    for swap in reversed(swaps):
        text = text[: swap.start] + swap.surface + text[swap.end :]
    return text


def _explanation(right: Sample, swaps: Sequence[Swap], seed: int) -> str:
    """Return one sentence that names every span and says what is wrong with it."""
    culture = in_a_sentence(right.culture, right.language, right.task) or "this culture"
    parts = []
    for swap in swaps:
        (span,) = spans.diff_spans(right.output, _apply(right.output, [swap]), "strict").spans
        phrasings = EXPLANATIONS[swap.family]
        phrasing = phrasings[int(digest(seed, NAME, right.pair, swap.surface), 16) % len(phrasings)]
        owner = in_a_sentence(swap.owner, "", "freeform")
        parts.append(phrasing.format_map({"new": span.text, "owner": owner, "culture": culture}))
    text = "; ".join(parts) + "."
    return text[:1].upper() + text[1:]
