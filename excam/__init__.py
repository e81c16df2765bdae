"""ExCAM: finds, rates and explains cultural errors in instruction-output pairs.

>>> import excam
>>> metric = excam.load("results/adapters/smollm2-135m/all")
>>> for scored in metric.score([{"instruction": "Name a Greek dish.", "output": "Sushi."}]):
...     print(scored.score, scored.report)
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from excam import offline
from excam.records import CulturalError, Report, Sample, Unreadable, Verdict

if TYPE_CHECKING:
    from pathlib import Path

    from excam.metric.client import Client
    from excam.metric.metric import Metric

__version__ = "0.1.0"
__all__ = ["CulturalError", "Report", "Sample", "Unreadable", "Verdict", "__version__", "connect", "load"]

if offline.is_on():
    offline.switch_on(os.environ[offline.NAME])


def load(adapter: str | Path, base: str | Path | None = None, max_tokens: int = 512) -> Metric:
    """Open a metric: the folder of an adapter, or its name below ./results/adapters, such as `smollm2-135m/all`.

    Raises ModelInvalid, listing the names that are there, where it is neither. See `excam.metric.metric.Metric`.
    """
    from excam.metric.metric import Metric

    return Metric.open(adapter, base=base, max_tokens=max_tokens)


def connect(url: str) -> Client:
    """A metric that runs elsewhere: the client of a running `excam serve`. See `excam.metric.client.Client`."""
    from excam.metric.client import connect

    return connect(url)
