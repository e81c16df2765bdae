"""ExCAM: finds, rates and explains cultural errors in instruction-output pairs.

>>> import excam
>>> metric = excam.load("results/adapters/smollm2-135m/all")
>>> for scored in metric.score([{"instruction": "Name a Greek dish.", "output": "Sushi."}]):
...     print(scored.score, scored.report)
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from excam.core import offline
from excam.core.release import VERSION
from excam.error_reports.records import CulturalError, Report, Sample, Unreadable, Verdict

if TYPE_CHECKING:
    from pathlib import Path

    from excam.error_reports.metric.scorer import Metric
    from excam.scoring.client import Client

__version__ = VERSION
__all__ = ["CulturalError", "Report", "Sample", "Unreadable", "Verdict", "__version__", "connect", "load"]

if offline.is_on():
    offline.switch_on(os.environ[offline.NAME])


def load(
    adapter: str | Path,
    base: str | Path | None = None,
    max_tokens: int = 512,
    judge: str | None = None,
    backend: str | None = None,
    budget: float | None = None,
    price: tuple[float, float] | None = None,
) -> Metric:
    """Open a metric: the folder of an adapter, or its name below ./results/adapters, such as `smollm2-135m/all`.

    Or the folder of any chat model, or `NAME@http://host/v1` for one behind a server, which `judge` asks for a report
    with an explanation and examples (`prompted-report`). A model of this machine runs with `backend`, `vllm` or
    `transformers`: by default with vLLM where a GPU is visible.

    `budget` is what a model behind a server may cost, at the `price` of a million prompt tokens and of a million answer
    tokens (by default that of its entry in ./config.yaml); BudgetSpent is raised before a request that could exceed it.

    Raise ModelInvalid, listing the available adapters, if it is none of them. See
    `excam.error_reports.metric.scorer.Metric`.
    """
    from excam.error_reports.metric.scorer import Metric
    from excam.scoring import budgets

    limit = budgets.checked(budget, price, [str(adapter)])
    return Metric.open(adapter, base=base, max_tokens=max_tokens, judge=judge, engine=backend, budget=limit)


def connect(url: str) -> Client:
    """Return a client of a running `excam serve`, used like a metric. See `excam.scoring.client.Client`."""
    from excam.scoring.client import connect

    return connect(url)
