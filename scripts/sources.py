"""Fetch benchmarks, models and tokenizers, pinned."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from excam.config import Dataset, Model
from excam.core import provenance
from excam.core.source_tables import every_pattern
from excam.excam40k import datasets
from excam.inference import sources
from scripts import step


@dataclass(frozen=True, kw_only=True)
class _ModelSource:
    """A model and where its files go."""

    model: str
    source_json: Annotated[str, "the entry of config.yaml as JSON"]
    manifest_path: Path


def fetch(manifest_path: Path, source_json: str, fill: Callable[[Path], dict[str, Any]]) -> None:
    """Let `fill` put files into the folder beside the manifest, and write it with the facts that `fill` returns."""
    started, folder = time.monotonic(), manifest_path.parent / "files"
    manifest_path.unlink(missing_ok=True)  # if it exists, the files are those it names
    facts = fill(folder)
    provenance.write_manifest(
        manifest_path,
        inputs=[],
        outputs=sources.matching_files(folder, ["**/*"]),
        settings=json.loads(source_json),
        seconds=time.monotonic() - started,
        **facts,
    )


def fetch_of_model(options: _ModelSource, fill: Callable[[str, Model, Path], dict[str, str]]) -> None:
    """Fetch by `fill`, a function of `excam.inference.sources`."""
    model = Model.model_validate(json.loads(options.source_json))
    fetch(
        options.manifest_path,
        options.source_json,
        lambda folder: {"licence": model.licence, **fill(options.model, model, folder)},
    )


@step(version=2)
def fetch_source(
    dataset: str,
    source_json: Annotated[str, "the entry of config.yaml as JSON"],
    manifest_path: Path,
    module: Annotated[str | None, "file of a benchmark that is not in the package"] = None,
) -> None:
    """Fetch one benchmark's files, pinned, and write the manifest last."""
    stated = datasets.load(dataset, module).SOURCE
    source = Dataset.model_validate(json.loads(source_json))

    def fill(folder: Path) -> dict[str, Any]:
        facts = sources.fetch_dataset(dataset, source, every_pattern(stated.files), folder)
        return {"licence": stated.licence, "rows": datasets.read(dataset, folder, {}, module).rows, **facts}

    fetch(manifest_path, source_json, fill)


@step(version=1)
def fetch_model(options: _ModelSource) -> None:
    """Fetch one model's weights and tokenizer, pinned, and write the manifest last."""
    fetch_of_model(options, sources.fetch_model)


@step(version=1)
def fetch_tokenizer(options: _ModelSource) -> None:
    """Fetch the tokenizer of one model of the hub, without its weights, and write the manifest last."""
    fetch_of_model(options, sources.fetch_tokenizer)
