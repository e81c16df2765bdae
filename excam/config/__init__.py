"""The experiment of `config.yaml`, validated and immutable, with one-line errors.

`load(mapping)` is the only entry point. `config.schema.json` is generated from the types of the sections;
each section is a module, with its checks beside it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

from pydantic import ValidationError
from yaml import YAMLError

from excam.config.base import EACH, LEXICON, HubId, ModuleName, Name, Place, Section
from excam.config.datasets import Construction, Dataset
from excam.config.experiment import BY_DOCUMENTS, Experiment, check, first_error
from excam.config.models import Model, Price, Sampling, Server, Wheel
from excam.config.training import Judging, Recipe
from excam.core import yaml_text
from excam.core.exceptions import ConfigInvalid, in_a_line
from excam.core.registries import CHAT_TEMPLATES, LAYOUTS, modules_in

__all__ = [
    "BY_DOCUMENTS",
    "CHAT_TEMPLATES",
    "LAYOUTS",
    "LEXICON",
    "ConfigInvalid",
    "Construction",
    "Dataset",
    "Experiment",
    "HubId",
    "Judging",
    "Model",
    "ModuleName",
    "Name",
    "Price",
    "Recipe",
    "Sampling",
    "Section",
    "Server",
    "Wheel",
    "first_error",
    "json_schema",
    "load",
    "load_merged",
    "modules_in",
    "ordered_like",
]


def load(
    raw: Mapping[str, Any], where: str = "config.yaml", files: Mapping[str, Any] = MappingProxyType({})
) -> Experiment:
    """Return the validated experiment. Null entries of `datasets`, `models` and `crossing.metrics` are disabled.

    `where` is the file name in messages; `files` are those that `raw` is merged of by name, each over the ones before
    it: then a message names the one with the entry. Raise ConfigInvalid with one line: place, problem, expected value.
    """
    try:
        return _validated(raw, where)
    except ConfigInvalid as problem:
        line = str(problem).removeprefix(f"{where}: ")
        raise ConfigInvalid(f"{_file_with(line.split(':')[0], files, raw) or where}: {line}") from None


def load_merged(raw: Mapping[str, Any], paths: Sequence[str | Path]) -> Experiment:
    """Return the validated experiment that is merged of these files, each over the ones before it; messages name one.

    Data sets and models are in the order of the first file.
    """
    files = {os.path.relpath(path): _read(Path(path)) for path in paths}
    return load(ordered_like(raw, next(iter(files.values()))), files=files)


def _read(path: Path) -> Any:
    try:
        return yaml_text.load(path.read_text(encoding="utf-8")) or {}
    except (ValueError, YAMLError) as problem:
        raise ConfigInvalid(f"{os.path.relpath(path)}: not readable as YAML: {in_a_line(problem)}") from None


def _file_with(place: str, files: Mapping[str, Any], raw: Mapping[str, Any]) -> str | None:
    """Return the file that has most of a place such as `datasets.blend.cap`, the last of several; None without files.

    What `raw` has and no file has was given on the command line: "--config".
    """

    def depth(content: Any) -> int:
        keys = 0
        for key in place.split("."):
            if not isinstance(content, Mapping) or key not in content:
                break
            content, keys = content[key], keys + 1
        return keys

    best = max(list(files)[::-1], key=lambda name: depth(files[name]), default=None)
    return "--config" if best and depth(raw) > depth(files[best]) else best


def _validated(raw: Mapping[str, Any], where: str) -> Experiment:
    if not isinstance(raw, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]  # YAML may be anything
        excerpt = " ".join(repr(raw).split())[:60]
        raise ConfigInvalid(f"{where}: no experiment; found {excerpt}; expected keys and values, such as `seed: 1`")
    try:
        yaml_text.refuse_larger(raw)
    except yaml_text.TooLarge as problem:
        raise ConfigInvalid(f"{where}: {problem}") from None
    cleaned = _without_nulls(raw, ("datasets", "models"))
    if isinstance(crossing := cleaned.get("crossing"), Mapping):
        cleaned["crossing"] = _without_nulls(crossing, ("metrics",))
    cleaned["tuned"] = _leave_one_out(cleaned.get("tuned", {}), cleaned.get("datasets"))
    try:
        experiment = Experiment.model_validate(cleaned)
    except ValidationError as problem:
        raise ConfigInvalid(f"{where}: {first_error(problem)}") from None
    check(experiment, Place(where))
    return experiment


def _without_nulls(raw: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """Return a section, those of its mappings with these names without the entries that are null."""
    return {
        name: {key: entry for key, entry in value.items() if entry is not None}
        if name in names and isinstance(value, Mapping)
        else value
        for name, value in raw.items()
    }


def _leave_one_out(tuned: Any, datasets: Any) -> Any:
    """Return the section `tuned` with one mixture per dataset in place of `EACH`; any other value unchanged."""
    if not (isinstance(tuned, Mapping) and isinstance(tuned.get("mixtures"), list) and isinstance(datasets, Mapping)):
        return tuned
    mixtures = tuned["mixtures"]
    each = [name for name in (f"without-{dataset}" for dataset in datasets) if name not in mixtures]
    return {**tuned, "mixtures": [name for mixture in mixtures for name in (each if mixture == EACH else [mixture])]}


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
