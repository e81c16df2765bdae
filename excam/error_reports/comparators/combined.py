"""Closed values, else entailment and agreement: the margin is a log-odds, so that 0 is as likely right as wrong.

What a program decides needs no model. Elsewhere the two likelihoods count, if both lean to one side. The weights are
those of a logistic regression on 286 dev rows of three benchmarks, answered by `FITTED` without tuning
(`docs/grounded/`). What a model is worth in another language or on other texts, `excam qualify` says.
"""

from __future__ import annotations

from excam.error_reports.comparators import agreement, closed, entailment
from excam.error_reports.comparators.base import Case, Comparison, Need
from excam.inference import Flow
from excam.inference.run import together

VERSION = 6
NEEDS: tuple[Need, ...] = ("expected", "passages")
FITTED = "Qwen2.5-Coder-1.5B"  # the model of the weights; another one needs its own qualification
OF_ENTAILMENT, OF_AGREEMENT = 1.32, 1.17  # of their margins
LEAST = 0.5  # nats; a model of 1.5 billion parameters had .1 to .3 either way where nothing was stated


def margin(words: Comparison, entailed: float | None, agrees: float | None) -> float | None:
    """Return the log-odds that a text is right; None if neither a program nor two likelihoods decide."""
    leanings = (entailed or 0.0, agrees or 0.0)
    if words.margin is not None or (min(leanings) < LEAST and max(leanings) > -LEAST):
        return words.margin
    return OF_ENTAILMENT * leanings[0] + OF_AGREEMENT * leanings[1]


def compare(case: Case) -> Flow[Comparison]:
    """Compare by closed values, and ask only about what they leave open; not decidable without a statement."""
    words = closed.by_values(case)
    if words.margin is not None or not (case.expected.strip() and case.text.strip()):
        return words
    entailed, agrees = yield from together([entailment.compare(case), agreement.compare(case)])
    reason = words.reason
    for name, comparison in (("entailment", entailed), ("agreement", agrees)):
        reason += f", {name} {comparison.margin:+.2f}" if comparison.margin is not None else ""
    return Comparison(margin(words, entailed.margin, agrees.margin), agrees.differing, reason)
