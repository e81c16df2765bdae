"""A folder with a Macaron benchmark: our form (templates, contexts, exports of authors), or the official tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from excam.core.exceptions import InputInvalid
from excam.core.tables import read_jsonl
from excam.macaron import campaign, official, scenarios, templates
from excam.macaron.scenarios import Built

TEMPLATES, CONTEXTS = "templates.yaml", "contexts.csv"
OFFICIAL = ("macaron_mcq.csv", "macaron_truefalse.csv")


def files(folder: Path) -> list[Path]:
    """Return the files that `read` reads. Raise InputInvalid for a folder with neither form."""
    if (folder / TEMPLATES).is_file():
        return [folder / TEMPLATES, folder / CONTEXTS, *sorted(folder.glob("exports/*.jsonl")), *_reviews(folder)]
    if (folder / OFFICIAL[0]).is_file():
        return [path for name in OFFICIAL if (path := folder / name).is_file()]
    raise InputInvalid(
        f"{folder}: found neither {TEMPLATES} nor {OFFICIAL[0]}; expected a benchmark; see docs/macaron.md"
    )


def _reviews(folder: Path) -> list[Path]:
    return sorted(folder.glob("reviews/*.jsonl"))


def read(paths: Iterable[Path], columns: Mapping[str, str]) -> Built:
    """Return the scenarios of the files of one folder. Raise InputInvalid or SourceInvalid for invalid ones."""
    named = {path.name: path for path in paths}
    if TEMPLATES not in named:
        return official.read(named[OFFICIAL[0]], named.get(OFFICIAL[1]), columns)
    of_kind = {kind: [path for path in named.values() if path.parent.name == kind] for kind in ("exports", "reviews")}
    return scenarios.build(
        templates.read(named[TEMPLATES]),
        campaign.read_contexts(named[CONTEXTS]),
        [row for path in of_kind["exports"] for row in scenarios.read_exports(path)],
        [row for path in of_kind["reviews"] for row in read_jsonl(path)],
    )
