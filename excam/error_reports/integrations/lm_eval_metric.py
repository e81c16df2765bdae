"""ExCAM as a metric of lm-evaluation-harness: functions that the YAML of a task names (see `tasks/excam_texts.yaml`).

Texts are judged together at the end, as the harness does with corpus metrics, because a model judges batches faster.
Environment variables: EXCAM_ADAPTER is the adapter (a folder, or a name below results/adapters), EXCAM_BASE the folder
of its base model, EXCAM_MAX_TOKENS the token limit of a report, EXCAM_TO a file of results for `excam explain`.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from excam.core.exceptions import InputInvalid
from excam.core.provenance import write_text
from excam.error_reports.integrations import aggregates
from excam.scoring.ensemble import Ensemble
from excam.scoring.options import Options, open_scorer
from excam.scoring.results import Result
from excam.scoring.scorer import Scorer

Pair = tuple[str, str]  # an instruction and its text
METRICS = ("excam", "excam_share_with_errors", "excam_not_judged")


def process_results(doc: Mapping[str, Any], results: Sequence[str]) -> dict[str, Pair]:
    """Return the pair of a row with its instruction in the column `instruction`."""
    return reading("instruction")(doc, results)


def reading(column: str) -> Callable[[Mapping[str, Any], Sequence[str]], dict[str, Pair]]:
    """Return a `process_results` for a task with its instruction in another column."""

    def processed(doc: Mapping[str, Any], results: Sequence[str]) -> dict[str, Pair]:
        if not isinstance(doc.get(column), str):
            known = ", ".join(map(str, doc))[:100]
            raise InputInvalid(f"column {column}: no text in it; expected the instruction; the row has {known}")
        return dict.fromkeys(METRICS, (doc[column], results[0]))

    return processed


def mean(pairs: Sequence[Pair]) -> float:
    """Return the mean score of the judged texts; NaN if none was judged, because 0 is a score."""
    mean_score = aggregates.aggregate(judged(tuple(pairs))).mean
    return float("nan") if mean_score is None else mean_score


def share_with_errors(pairs: Sequence[Pair]) -> float:
    """Return the share of the judged texts with an error; NaN if none was judged."""
    share = aggregates.aggregate(judged(tuple(pairs))).share_with_errors
    return float("nan") if share is None else share


def not_judged(pairs: Sequence[Pair]) -> int:
    """Return the number of texts that could not be judged; they are in no other number."""
    return aggregates.aggregate(judged(tuple(pairs))).not_judged


@lru_cache(maxsize=1)  # judged once for three numbers of the same list
def judged(pairs: tuple[Pair, ...]) -> tuple[Result, ...]:
    """Return the results of all pairs in order, and write them to the file of EXCAM_TO if it is set."""
    asked = os.environ.get
    metric = _metric(asked("EXCAM_ADAPTER", ""), asked("EXCAM_BASE"), asked("EXCAM_MAX_TOKENS"))
    results = tuple(metric.score([{"instruction": instruction, "output": text} for instruction, text in pairs]))
    if to := os.environ.get("EXCAM_TO"):
        write_text(Path(to), "".join(json.dumps(result.to_dict()) + "\n" for result in results))
    return results


@lru_cache(maxsize=1)  # opened once for several tasks of a run
def _metric(adapter: str, base: str | None, max_tokens: str | None) -> Scorer | Ensemble:
    if not adapter:
        raise InputInvalid("EXCAM_ADAPTER: not set; expected the folder of an adapter, or its name")
    if max_tokens is not None and (not max_tokens.isdecimal() or not int(max_tokens)):
        raise InputInvalid(f"EXCAM_MAX_TOKENS: found {max_tokens}; expected a number of tokens, 1 or more")
    limit = None if max_tokens is None else int(max_tokens)
    return open_scorer(Options(models=(adapter,), bases=() if base is None else (Path(base),), max_tokens=limit))
