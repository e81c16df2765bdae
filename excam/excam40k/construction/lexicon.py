"""`lexicon`: a deterministic substitute for the generator of soft errors, for users without a GPU. Our own, not
ExCAM's.

It changes only the output. Where two base samples hold norms that exclude one another, each gets the other's answer
(`norms`); years of long answers are exchanged among them (`figures`). Elsewhere it changes whole words
for which another of the same form and agreement is listed (`lexicon_exchanges`). A row in which nothing can be
exchanged safely is left out: `answer` returns a `LeftOut`.
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
from excam.excam40k.construction.lexicon_tables import is_rejected
from excam.excam40k.construction.lexicon_words import EXPLANATIONS, HOMES, OTHER_NORM, RULE_DECIDES, TYPES
from excam.excam40k.construction.norms import VERDICT, Exchange, states_a_rule, verdict_alone

NAME = "lexicon"
MISJUDGED = "misjudged behaviour"  # the type of an error in a verdict
LAST = "general"  # the family that is used only if no other minor error is possible

# Why a row is left out: its answer is too long, or we read it and found it false, unreadable or demeaning
# (`lexicon_rejected.tsv`; answers in which no error can be written were not read); its language has no table; its
# answer holds no listed word or cue of a culture; or no listed word can be exchanged so that the sentence stays
# grammatical and becomes wrong.
Reason = Literal["read-and-rejected", "unknown-language", "no-cultural-word", "no-safe-exchange"]


@dataclass(frozen=True, slots=True)
class LeftOut:
    """The reason why a row gets no error."""

    reason: Reason


def answer(right: Sample, severity: Severity, seed: int, exchange: Exchange | None = None) -> str | LeftOut:
    """Return a generator's answer about `right` in the form of Table 7, or the reason why the row is left out.

    With an exchange, a number of another answer, a whole one, or else the other verdict alone stands in the place of
    the right one. Otherwise a minor error misstates one detail of a custom; a major one inverts a norm or names a
    thing of a distant culture, and half of the rows get two.
    """
    if exchange and exchange.swaps:
        rule = "A number of another answer stands in the place of the right one; all else is kept."
        return _with_swaps(right, severity, exchange.swaps, rule, seed)
    if exchange and exchange.turns_verdict:
        alone = verdict_alone(right)
        output = alone.output.removesuffix(alone.answer) + ("No" if alone.answer == "Yes" else "Yes")
        rule = "The verdict stands alone and is turned round; the story is kept."
        return _written(right, severity, MISJUDGED, rule, _other_norm(right, exchange, seed), output)
    if exchange and exchange.partner:
        output = right.output.removesuffix(right.answer) + exchange.partner.answer
        rule = "A norm of another culture stands in the place of the right one; all else is kept."
        return _written(right, severity, TYPES["norm"], rule, _other_norm(right, exchange, seed), output)
    if is_rejected(right.answer):
        return LeftOut("read-and-rejected")
    if right.language not in HOMES:
        return LeftOut("unknown-language")
    if not lexicon_exchanges.is_cultural(right):
        return LeftOut("no-cultural-word")
    if right.task == "impersonation" and states_a_rule(right):
        return LeftOut("no-safe-exchange")  # one other word in a rule tells by itself that it is wrong
    swaps = _chosen(right, severity, seed)
    if not swaps:
        return LeftOut("no-safe-exchange")
    rule = "Single words are exchanged for others of the same form; all else is kept."
    return _with_swaps(right, severity, swaps, rule, seed)


def _with_swaps(right: Sample, severity: Severity, swaps: Sequence[Swap], rule: str, seed: int) -> str:
    changed = _apply(right.output, swaps)
    return _written(right, severity, TYPES[swaps[0].family], rule, _explanation(right, swaps, seed), changed)


def _written(right: Sample, severity: Severity, kind: str, rule: str, explanation: str, output: str) -> str:
    fields = {
        "Error Type": kind,
        "Cultural Content": "Yes",
        "Rule Adherence": rule,
        "Explanation": explanation,
        "Severity": severity,
        "Modified Instruction": right.instruction,
        "Modified Generated Text": output,
    }
    return "OUTPUT: " + json.dumps(fields, ensure_ascii=False)


def _other_norm(right: Sample, exchange: Exchange, seed: int) -> str:
    """Return one or two sentences that say which norm holds in the culture, and what follows for the story."""
    verdict = VERDICT.fullmatch(right.answer)
    assert verdict
    phrasings = OTHER_NORM if exchange.partner else RULE_DECIDES
    phrasing = phrasings[int(digest(seed, NAME, right.pair, "other norm"), 16) % len(phrasings)]
    culture = in_a_sentence(right.culture, right.language, right.task)
    values = {"custom": exchange.custom, "culture": culture, "right": verdict[2].rstrip("."), "verdict": verdict[1]}
    return phrasing.format_map(values)


def _chosen(right: Sample, severity: Severity, seed: int) -> list[Swap]:
    """Return the swaps of one row in the order of the text; none if nothing can be exchanged."""
    key = [NAME, right.pair, severity]
    candidates = sorted(
        lexicon_exchanges.possible(right, severity),
        key=lambda swap: (swap.family == LAST, digest(seed, *key, str(swap.start), swap.surface)),
    )
    wanted = 1 if severity == "minor" else 1 + int(digest(seed, *key), 16) % 2
    ends = lexicon_exchanges.text_of(right).ends
    taken: list[Swap] = []
    for swap in candidates:
        if len(taken) == wanted:
            break
        if all(_apart(swap, other, ends) for other in taken) and _is_one_span(right.output, swap):
            taken.append(swap)
    return sorted(taken, key=lambda swap: swap.start)


def _apart(swap: Swap, other: Swap, ends: Sequence[int]) -> bool:
    """Return whether two swaps are of one type, in two sentences, so that they cannot undo each other."""
    if TYPES[swap.family] != TYPES[other.family]:
        return False
    return swap.surface != other.surface and bisect(ends, swap.start) != bisect(ends, other.start)


def _is_one_span(text: str, swap: Swap) -> bool:
    """Return whether the swap marks one span of the new text, and no other words than its own."""
    differences = spans.diff_spans(text, _apply(text, [swap]), "strict").spans
    return len(differences) == 1 and differences[0].kind != "delete" and differences[0].text in swap.surface


def _apply(text: str, swaps: Sequence[Swap]) -> str:
    for swap in reversed(swaps):
        text = text[: swap.start] + swap.surface + text[swap.end :]
    return text


def _explanation(right: Sample, swaps: Sequence[Swap], seed: int) -> str:
    """Return one sentence that names every span, what is wrong with it, and what would be right."""
    culture = in_a_sentence(right.culture, right.language, right.task) or "this culture"
    parts = []
    for swap in swaps:
        (span,) = spans.diff_spans(right.output, _apply(right.output, [swap]), "strict").spans
        phrasings = EXPLANATIONS[swap.family]
        phrasing = phrasings[int(digest(seed, NAME, right.pair, swap.surface), 16) % len(phrasings)]
        owner = in_a_sentence(swap.owner, "", "freeform")
        wrong = phrasing.format_map({"new": span.text, "owner": owner, "culture": culture})
        parts.append(f"{wrong}, it should be '{right.output[swap.start : swap.end]}'")
    text = "; ".join(dict.fromkeys(parts)) + "."
    return text[:1].upper() + text[1:]
