"""The experiment of `config.yaml`, validated and immutable, with one-line errors.

`load(mapping)` is the only entry point. `config.schema.json` is generated from the types of `sections`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import ValidationError

from excam.config.checks import cross_check, first_error
from excam.config.sections import (
    EACH,
    LEXICON,
    Construction,
    Dataset,
    Evidence,
    Experiment,
    HubId,
    Invented,
    Judging,
    Model,
    ModuleName,
    Name,
    Price,
    Recipe,
    Sampling,
    Section,
    Server,
    Teaching,
    Wheel,
    Wording,
)
from excam.core.exceptions import ConfigInvalid
from excam.core.registries import CHAT_TEMPLATES, LAYOUTS, modules_in

__all__ = [
    "CHAT_TEMPLATES",
    "LAYOUTS",
    "LEXICON",
    "ConfigInvalid",
    "Construction",
    "Dataset",
    "Evidence",
    "Experiment",
    "HubId",
    "Invented",
    "Judging",
    "Model",
    "ModuleName",
    "Name",
    "Price",
    "Recipe",
    "Sampling",
    "Section",
    "Server",
    "Teaching",
    "Wheel",
    "Wording",
    "first_error",
    "json_schema",
    "load",
    "modules_in",
    "ordered_like",
]


def load(raw: Mapping[str, Any], where: str = "config.yaml") -> Experiment:
    """Return the validated experiment. Null entries of `datasets`, `models` and `crossing.metrics` are disabled.

    `where` is the file name in messages. Raise ConfigInvalid with one line: place, problem, and expected value.
    """
    if not isinstance(raw, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]  # YAML may be anything
        found = " ".join(repr(raw).split())[:60]
        raise ConfigInvalid(f"{where}: no experiment; found {found}; expected keys and values, such as `seed: 1`")
    cleaned = _without_nulls(raw, ("datasets", "models"))
    if isinstance(crossing := cleaned.get("crossing"), Mapping):
        cleaned["crossing"] = _without_nulls(crossing, ("metrics",))
    cleaned["tuned"] = _leave_one_out(cleaned.get("tuned", {}), cleaned.get("datasets"))
    try:
        experiment = Experiment.model_validate(cleaned)
    except ValidationError as problem:
        raise ConfigInvalid(f"{where}: {first_error(problem)}") from None
    cross_check(experiment, where)
    return experiment


def _without_nulls(raw: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """Return a section, those of its mappings with these names without the entries that are null."""
    return {
        name: {key: one for key, one in value.items() if one is not None}
        if name in names and isinstance(value, Mapping)
        else value
        for name, value in raw.items()
    }


def _leave_one_out(tuned: Any, datasets: Any) -> Any:
    """Return the section `tuned` with one mixture per dataset in place of `EACH`; any other value unchanged."""
    if not (isinstance(tuned, Mapping) and isinstance(tuned.get("mixtures"), list) and isinstance(datasets, Mapping)):
        return tuned
    given = tuned["mixtures"]
    each = [name for name in (f"without-{dataset}" for dataset in datasets) if name not in given]
    return {**tuned, "mixtures": [name for one in given for name in (each if one == EACH else [one])]}


def ordered_like(raw: Mapping[str, Any], first: Mapping[str, Any]) -> dict[str, Any]:
    """Return `raw` with its data sets and models in the order of `first`, others after them.

    Snakemake puts the entries that an overlay changes first, which would change the order in figures.
    """
    ordered = dict(raw)
    for section in ("datasets", "models"):
        if isinstance(entries := raw.get(section), Mapping):
            names = dict.fromkeys([*(name for name in first.get(section) or () if name in entries), *entries])
            ordered[section] = {name: entries[name] for name in names}
    return ordered


def json_schema() -> str:
    """Return the JSON schema for editors (`config.schema.json`)."""
    return json.dumps(Experiment.model_json_schema(), indent=2, ensure_ascii=False) + "\n"
