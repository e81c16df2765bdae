"""ExCAM: finds, rates and explains cultural errors in instruction-output pairs, and four more metrics.

>>> import excam
>>> metric = excam.load("results/adapters/smollm2-135m/all")
>>> for scored in metric.score([{"instruction": "Name a Greek dish.", "output": "Sushi."}]):
...     print(scored.score, scored.report)
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from excam.core import offline
from excam.core.release import VERSION

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from excam.error_reports.records import CulturalError, Report, Sample, Unreadable, Verdict
    from excam.scoring.agreement import Combine
    from excam.scoring.ensemble import Ensemble
    from excam.scoring.metric import Metric
    from excam.scoring.scorer import Scorer

__version__ = VERSION
__all__ = ["CulturalError", "Report", "Sample", "Unreadable", "Verdict", "__version__", "load"]

if offline.is_on():
    offline.switch_on(os.environ[offline.NAME])


def __getattr__(name: str) -> Any:
    """Import records when they are used: `excam --help` needs none."""
    if name not in __all__:
        raise AttributeError(f"module 'excam' has no attribute {name!r}")
    from excam.error_reports import records

    return getattr(records, name)


def load(
    model: str | Path | Sequence[str | Path] | None = None,
    metric: str | Metric = "excam",
    *,
    base: str | Path | None = None,
    without: Sequence[str] = (),
    judge: str | None = None,
    backend: str | None = None,
    dtype: str | None = None,
    max_tokens: int | None = None,
    evidence: str | Path | None = None,
    calibration: str | Path | None = None,
    qualification: str | Path | None = None,
    band: tuple[float, float] | None = None,
    repeat: int = 1,
    temperature: float = 0.0,
    combine: Combine | None = None,
    concurrency: int | None = None,
    rate: int | None = None,
    timeout: float | None = None,
    omit: Sequence[str] = (),
) -> Scorer | Ensemble:
    """Open a metric with its model: an adapter's folder, or its name below ./results/adapters (`smollm2-135m/all`).

    Or the folder of any chat model, or `NAME@http://host/v1` for one behind a server; several models judge each row and
    are combined. `metric` is one of `excam list metrics`, or an object of your own (`excam.scoring.metric.Metric`); one
    that asks no model needs none. The arguments are the options of `excam score`; one that the metric cannot have is
    refused. `concurrency` is the number of requests that are open at a server at once, 64 by default; fewer while it is
    busy. `rate` limits the requests of a minute, `timeout` the seconds for an answer; `omit` says what a server does
    not take, which is otherwise found out with the first request. See `excam.scoring.scorer.Scorer`.
    Raise ModelInvalid, listing the available adapters, if there is no such model; InputInvalid for an option.
    """
    from pathlib import Path

    from excam.scoring.opening import open_scorer
    from excam.scoring.options import Options

    models = () if model is None else (model,) if isinstance(model, str | Path) else tuple(model)
    options = Options(
        metric=metric,
        models=models,
        bases=() if base is None else (Path(base),),
        without=tuple(without),
        judge=judge,
        backend=backend,
        dtype=dtype,
        max_tokens=max_tokens,
        evidence=None if evidence is None else Path(evidence),
        calibration=None if calibration is None else Path(calibration),
        qualification=None if qualification is None else Path(qualification),
        band=band,
        repeat=repeat,
        temperature=temperature,
        combine=combine,
        concurrency=concurrency,
        rate=rate,
        timeout=timeout,
        omit=tuple(omit),
    )
    return open_scorer(options)
