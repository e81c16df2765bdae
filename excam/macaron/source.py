"""A folder with a Macaron benchmark: our form (templates, contexts, exports of authors), or the official tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from excam.core import counts, tables
from excam.core.exceptions import InputInvalid
from excam.core.provenance import say
from excam.macaron import contexts, official, scenarios, templates
from excam.macaron.scenarios import Built

TEMPLATES, CONTEXTS = "templates.yaml", "contexts.csv"
OFFICIAL = ("macaron_mcq.csv", "macaron_truefalse.csv")


def files(folder: Path) -> list[Path]:
    """Return the files that `read` reads. Raise InputInvalid for a folder with neither form."""
    if (folder / TEMPLATES).is_file():
        return [
            folder / TEMPLATES,
            folder / CONTEXTS,
            *sorted(folder.glob("exports/*.jsonl")),
            *sorted(folder.glob("reviews/*.jsonl")),
        ]
    if (folder / OFFICIAL[0]).is_file():
        return [path for name in OFFICIAL if (path := folder / name).is_file()]
    raise InputInvalid(
        f"{folder}: found neither {TEMPLATES} nor {OFFICIAL[0]}; expected a benchmark; see docs/macaron.md"
    )


def read(paths: Iterable[Path], columns: Mapping[str, str]) -> Built:
    """Return the scenarios of the files of one folder. Raise InputInvalid or SourceInvalid for invalid ones."""
    listed = list(paths)
    named = {path.name: path for path in listed if path.parent.name not in ("exports", "reviews")}
    if TEMPLATES not in named:
        return official.read(named[OFFICIAL[0]], named.get(OFFICIAL[1]), columns)
    rows = {
        kind: [row for path in listed if path.parent.name == kind for row in scenarios.read_exports(path)]
        for kind in ("exports", "reviews")
    }
    templates_, places = templates.read(named[TEMPLATES]), contexts.read_contexts(named[CONTEXTS])
    return scenarios.build(templates_, places, rows["exports"], rows["reviews"])


def write(built: Built, scenarios_path: Path, dropped_path: Path) -> None:
    """Write scenarios, and what was left out. Raise InputInvalid without a scenario."""
    tables.write_lines(dropped_path, scenarios.DROPPED, built.dropped_lines)
    if not built.scenarios:
        left_out = f"0 scenarios of {len(built.dropped)} submissions; expected some"
        raise InputInvalid(f"{scenarios_path}: {left_out}; {dropped_path} has the reasons")
    tables.write_frame(scenarios_path, scenarios.to_frame(built.scenarios))
    say(f"{scenarios_path}: {len(built.scenarios)} scenarios; left out: {counts.in_words(built.reasons)}")
