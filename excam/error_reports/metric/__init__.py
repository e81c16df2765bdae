"""ExCAM as a metric: `excam.scoring.metrics` describes the interface; `scorer.Metric` is what `excam.load` opens."""

from __future__ import annotations

from excam.error_reports import scoring
from excam.error_reports.judges import report
from excam.error_reports.records import WEIGHTS
from excam.inference import Flow, ask_for_text
from excam.scoring import defaults
from excam.scoring.metrics import Outcome, Row, Wording
from excam.scoring.scored import Direction

NAME, MAX_TOKENS = "excam", defaults.MAX_TOKENS
VERSION = report.VERSION.asks + report.VERSION.reads  # rises with either
DIRECTION: Direction = "higher"
COLUMNS = ("instruction", "output")
WORDING = Wording("mean of Eq. 1, more is better", WEIGHTS, "; without errors the score is p(R), 0 to 1")


def flow(row: Row) -> Flow[Outcome]:
    """Ask once for an error report about a pair; its score is Eq. 1."""
    texts = row.values["instruction"], row.values["output"]
    answer = yield from ask_for_text(report.messages(*texts))
    found = report.verdict(answer, *texts)
    if found.report is None:
        return Outcome(None, found.failure)
    score = scoring.score(found.report, found.certainty)
    return Outcome(score, None, {"certainty": found.certainty}, found.report.explanation, found.report.errors)
