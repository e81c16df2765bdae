"""Texts about the nine benchmarks: printed name, task as the paper groups them, citation; language codes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from excam.excam40k import datasets

EXCAM = "Leiter et al. ExCAM: Explainable Cultural Awareness Metrics"

# ISO 639: two letters where there are two.
_CODES = """
Afar aa, Albanian sq, Arabic ar, Armenian hy, Assamese as, Azerbaijani az, Balochi bal, Basque eu, Belarusian be,
Bengali bn, Bulgarian bg, Chinese zh, Croatian hr, Dutch nl, English en, Estonian et, Faroese fo, Fijian fj, Finnish fi,
French fr, Georgian ka, German de, Greek el, Hebrew he, Hiligaynon hil, Hindi hi, Hungarian hu, Indonesian id,
Italian it, Japanese ja, Kazakh kk, Kirundi rn, Korean ko, Lithuanian lt, Macedonian mk, Malay ms, Malayalam ml,
Nepali ne, North Macedonian mk, Papiamento pap, Pashto ps, Persian fa, Polish pl, Portuguese pt, Russian ru,
Samoan sm, Serbian sr, Spanish es, Tagalog tl, Tamil ta, Telugu te, Tongan to, Tswana tn, Turkish tr,
Ukrainian uk, Urdu ur, Uzbek uz, Vietnamese vi, Wolof wo
"""
_CODE_OF: Mapping[str, str] = dict(re.findall(r"([A-Z][\w ]+) (\w+)", _CODES))


def codes(languages: Iterable[str]) -> list[str]:
    """ISO 639 codes of languages by their English names, sorted; a name without an entry has none."""
    return sorted({_CODE_OF[name] for name in languages if name in _CODE_OF})


def title(column: str) -> str:
    """Return the printed name of a dataset of the package; any other column keeps its name."""
    return (column in datasets.available() and datasets.load(column).SOURCE.title) or column


def citation(dataset: str) -> str:
    """Return the work to cite for a dataset of the package, "" for any other."""
    return datasets.load(dataset).SOURCE.citation if dataset in datasets.available() else ""
