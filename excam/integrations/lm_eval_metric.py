"""ExCAM as a metric of lm-evaluation-harness: functions that the YAML of a task names (see `tasks/excam_texts.yaml`).

Texts are judged together at the end, as the harness does with corpus metrics, since a model judges many at once faster
than one by one. The adapter is named by the variable EXCAM_ADAPTER (a folder, or a name below results/adapters), the
folder of its base model by EXCAM_BASE, the longest report in tokens by EXCAM_MAX_TOKENS; in the file that EXCAM_TO
names, `excam explain` finds every report.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import excam
from excam.exceptions import InputInvalid
from excam.integrations import aggregates
from excam.metric.defaults import MAX_TOKENS
from excam.metric.metric import Metric
from excam.metric.scored import Scored
from excam.provenance import write_text

Pair = tuple[str, str]  # an instruction and its text
METRICS = ("excam", "excam_share_with_errors", "excam_not_judged")


def process_results(doc: Mapping[str, Any], results: Sequence[str]) -> dict[str, Pair]:
    """The pair of a row whose instruction stands in the column `instruction`."""
    return reading("instruction")(doc, results)


def reading(column: str) -> Callable[[Mapping[str, Any], Sequence[str]], dict[str, Pair]]:
    """A `process_results` for a task that keeps its instruction in another column."""

    def processed(doc: Mapping[str, Any], results: Sequence[str]) -> dict[str, Pair]:
        if not isinstance(doc.get(column), str):
            known = ", ".join(map(str, doc))[:100]
            raise InputInvalid(f"column {column}: no text in it; expected the instruction; the row has {known}")
        return dict.fromkeys(METRICS, (doc[column], results[0]))

    return processed


def mean(pairs: Sequence[Pair]) -> float:
    """The mean score of those that were judged; NaN where none was: 0 would be a score."""
    found = aggregates.of(judged(tuple(pairs))).mean
    return float("nan") if found is None else found


def share_with_errors(pairs: Sequence[Pair]) -> float:
    """The share with an error among those that were judged; NaN where none was."""
    found = aggregates.of(judged(tuple(pairs))).share_with_errors
    return float("nan") if found is None else found


def not_judged(pairs: Sequence[Pair]) -> int:
    """How many could not be judged. They are in none of the other numbers."""
    return aggregates.of(judged(tuple(pairs))).not_judged


@lru_cache(maxsize=1)  # three numbers of one list: judged once
def judged(pairs: tuple[Pair, ...]) -> tuple[Scored, ...]:
    """The results of all pairs, in order; also written to the file of EXCAM_TO, where it is set."""
    asked = os.environ.get
    metric = _metric(asked("EXCAM_ADAPTER", ""), asked("EXCAM_BASE"), asked("EXCAM_MAX_TOKENS", str(MAX_TOKENS)))
    found = tuple(metric.score([{"instruction": instruction, "output": text} for instruction, text in pairs]))
    if to := os.environ.get("EXCAM_TO"):
        write_text(Path(to), "".join(json.dumps(one.to_dict()) + "\n" for one in found))
    return found


@lru_cache(maxsize=1)  # several tasks of one run: opened once
def _metric(adapter: str, base: str | None, max_tokens: str) -> Metric:
    if not adapter:
        raise InputInvalid("EXCAM_ADAPTER: not set; expected the folder of an adapter, or its name")
    if not max_tokens.isdecimal() or not int(max_tokens):
        raise InputInvalid(f"EXCAM_MAX_TOKENS: found {max_tokens}; expected a number of tokens, 1 or more")
    return excam.load(adapter, base, int(max_tokens))
