"""Closed values, else entailment and agreement: the margin is a log-odds, so that 0 is as likely right as wrong.

What a program decides needs no model, except that two names in different words may mean the same: then all three
count. Where no program decides, the two likelihoods count, if both lean to one side. The weights are those of a
logistic regression on 286 dev rows of three benchmarks, answered by Qwen2.5-Coder-1.5B without tuning
(`docs/grounded/`). What a model is worth in another language or on other texts, `excam qualify` says.
"""

from __future__ import annotations

from dataclasses import replace

from excam.error_reports.comparators import _closed_values, agreement, entailment
from excam.error_reports.comparators._closed_values import Outcome
from excam.error_reports.comparators._differences import lacking
from excam.error_reports.comparators.base import Case, Comparison, Need
from excam.error_reports.comparators.lemmas import stems_of
from excam.inference import Flow
from excam.inference.run import together

VERSION = 5
FITTED = "Qwen2.5-Coder-1.5B"  # the model of the weights; another one needs its own qualification
NEEDS: tuple[Need, ...] = ("expected", "passages")
INTERCEPT = -1.17  # beside the margin of words
OF_WORDS, OF_ENTAILMENT, OF_AGREEMENT = 1.73, 1.32, 1.17  # of their margins
CLOSED = 3.0  # log-odds of what a program decides alone: set below the 4.7 of dev rows (1,113 of 1,123 right)
OTHER_NAME = -0.9  # log-odds of two names in different words: in 897 of 1,261 dev rows of `variants` they differ
LEAST = 0.5  # nats; a model of 1.5 billion parameters had .1 to .3 either way where nothing was stated


def margin(words: Outcome, entailed: float | None, agrees: float | None) -> float | None:
    """Return the log-odds that a text is right; None if neither a program nor two likelihoods decide."""
    if words.margin is not None and not words.names:
        return CLOSED if words.margin > 0 else -CLOSED
    leanings = (entailed or 0.0, agrees or 0.0)
    if min(leanings) < LEAST and max(leanings) > -LEAST:
        return None if words.margin is None else OTHER_NAME
    by_words = 0.0 if words.margin is None else INTERCEPT + OF_WORDS * words.margin
    return by_words + OF_ENTAILMENT * leanings[0] + OF_AGREEMENT * leanings[1]


def compare(case: Case) -> Flow[Comparison]:
    """Compare by closed values, and ask only about what they leave open; not decidable without a statement."""
    words = _closed_values.decided(replace(case, passages=()), stems_of(case))
    if lacking(case) or (words.margin is not None and not words.names):
        return Comparison(margin(words, None, None), _closed_values.differing(case, words), words.reason)
    entailed, agrees = yield from together([entailment.compare(case), agreement.compare(case)])
    reason = words.reason
    for name, comparison in (("entailment", entailed), ("agreement", agrees)):
        reason += f", {name} {comparison.margin:+.2f}" if comparison.margin is not None else ""
    whole = margin(words, entailed.margin, agrees.margin)
    marked = _closed_values.differing(case, words) or agrees.differing
    return Comparison(whole, marked, reason)
