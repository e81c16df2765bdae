"""The experiment of `config.yaml`: validated once, frozen, with one-line errors.

`load(mapping)` is the only entry. `config.schema.json` is generated from the types of `sections`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from excam.config.checks import cross_check, one_line
from excam.config.registries import CHAT_TEMPLATES, LAYOUTS, modules_in
from excam.config.sections import (
    LEXICON,
    Construction,
    Dataset,
    Experiment,
    HubId,
    Model,
    ModuleName,
    Name,
    Price,
    Recipe,
    Sampling,
    Section,
    Server,
    Wheel,
)
from excam.exceptions import ConfigInvalid

__all__ = [
    "CHAT_TEMPLATES",
    "LAYOUTS",
    "LEXICON",
    "ConfigInvalid",
    "Construction",
    "Dataset",
    "Experiment",
    "HubId",
    "Model",
    "ModuleName",
    "Name",
    "Price",
    "Recipe",
    "Sampling",
    "Section",
    "Server",
    "Wheel",
    "in_order",
    "load",
    "modules_in",
    "one_line",
    "schema",
]


def load(raw: Mapping[str, Any], where: str = "config.yaml") -> Experiment:
    """Validate a configuration. Entries of `datasets` and `models` set to null are switched off.

    Raises ConfigInvalid with one line: where, what, and what would do.
    """
    if not isinstance(raw, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]  # YAML may be anything
        found = " ".join(repr(raw).split())[:60]
        raise ConfigInvalid(f"{where}: no experiment; found {found}; expected keys and values, such as `seed: 1`")
    cleaned = dict(raw)
    for section in ("datasets", "models"):
        if isinstance(entries := cleaned.get(section), Mapping):
            cleaned[section] = {name: entry for name, entry in entries.items() if entry is not None}
    try:
        experiment = Experiment.model_validate(cleaned)
    except ValidationError as problem:
        raise ConfigInvalid(f"{where}: {one_line(problem)}") from None
    cross_check(experiment, where)
    return experiment


def in_order(raw: Mapping[str, Any], first: Mapping[str, Any]) -> dict[str, Any]:
    """`raw` with its data sets and models in the order of `first`, others after them.

    Snakemake puts the entries that an overlay changes before all others, so figures would move with every overlay.
    """
    ordered = dict(raw)
    for section in ("datasets", "models"):
        if isinstance(entries := raw.get(section), Mapping):
            names = dict.fromkeys([*(name for name in first.get(section) or () if name in entries), *entries])
            ordered[section] = {name: entries[name] for name in names}
    return ordered


def schema() -> str:
    """The JSON schema that editors use (`config.schema.json`)."""
    return json.dumps(Experiment.model_json_schema(), indent=2, ensure_ascii=False) + "\n"
