"""Containment, entailment and agreement together: the margin is a log-odds, so that 0 is as likely right as wrong.

The weights are those of a logistic regression on 286 dev rows of three benchmarks, answered by Qwen2.5-Coder-1.5B
without tuning (`docs/grounded/`): on unseen rows the three together are right more often than each alone, and where
they are sure they are hardly ever wrong. What a model is worth in another language or on other texts, `excam qualify`
says.
"""

from __future__ import annotations

from dataclasses import replace

from excam.error_reports.comparators import agreement, entailment, lemmas
from excam.error_reports.comparators.base import Case, Comparison, Need
from excam.inference import Flow
from excam.inference.run import together

VERSION = 3
NEEDS: tuple[Need, ...] = ("expected", "passages")
INTERCEPT = -1.17
OF_LEMMAS, OF_ENTAILMENT, OF_AGREEMENT = 1.73, 1.32, 1.17  # of their margins


def margin(words: float, entailed: float | None, agrees: float | None) -> float:
    """Return the log-odds that a text is right; a comparison that decides nothing counts nothing."""
    return INTERCEPT + OF_LEMMAS * words + OF_ENTAILMENT * (entailed or 0.0) + OF_AGREEMENT * (agrees or 0.0)


def compare(case: Case) -> Flow[Comparison]:
    """Compare in all three ways; not decidable without an expected statement."""
    by_words, entailed, agrees = yield from together(
        [lemmas.compare(replace(case, passages=())), entailment.compare(case), agreement.compare(case)]
    )
    if by_words.margin is None:
        return by_words
    reason = f"words {by_words.margin:+.2f}"
    for name, comparison in (("entailment", entailed), ("agreement", agrees)):
        reason += f", {name} {comparison.margin:+.2f}" if comparison.margin is not None else ""
    whole = margin(by_words.margin, entailed.margin, agrees.margin)
    return Comparison(whole, by_words.differing or agrees.differing, reason)
