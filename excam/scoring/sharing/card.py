"""The card of a shared adapter: the card of its training, and what its users have to know.

Intended use, base model, languages, licences of the training data, measurements with counts and intervals, limits of
the method. Numbers come from the run that the adapter is in; without a run there are none.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import yaml

from excam.core import licences, yaml_text
from excam.core.exceptions import ArtifactBroken
from excam.core.paths import ADAPTERS
from excam.core.provenance import read_json, sha256
from excam.pages import markdown
from excam.scoring import adapters, manifests
from excam.scoring.manifests import AdapterManifest, BaseManifest
from excam.scoring.sharing import prose
from excam.scoring.sharing.parcel import CARD

KEPT = {"revision", "licence", "origin", "settings", "outputs"}


def base(adapter: Path) -> BaseManifest:
    """Return the public manifest of the base model: revision, licence, origin, settings, digests; no local path.

    Raises ModelInvalid if the base model is not found, or a manifest is invalid.
    """
    if (adapter / adapters.BASE).is_file():
        return adapters.recorded_base(adapter)
    weights = adapters.base_of(adapter, adapters.manifest(adapter))
    base_manifest = manifests.read(weights / adapters.MANIFEST, BaseManifest, "its base model")
    kept = base_manifest.model_dump(mode="json", include=KEPT, exclude_unset=True)
    if base_manifest.origin.startswith("folder "):
        kept["origin"] = f"folder {Path(base_manifest.origin.removeprefix('folder ')).name}"
        kept["settings"]["folder"] = None
    return BaseManifest.model_validate(kept)


def text(adapter: Path, about: BaseManifest) -> str:
    """Return the text of README.md; `about` is what `base` returns. The card of a pulled adapter stays unchanged."""
    page = _text(adapter / CARD)
    if (adapter / adapters.BASE).is_file():
        return page
    manifest = adapters.manifest(adapter)
    header, body = _header_and_body(page)
    rows = list(_rows(adapter, manifest))
    header |= {"base_model": about.settings.hub} if about.settings.hub else {}
    sections = [
        body.rstrip() or f"# ExCAM: {manifest.model}, trained on {manifest.trained_on}",
        prose.USES,
        prose.BASE.format(base=markdown.escape(about.described)),
        _languages(rows),
        _ledger(rows),
        _numbers(adapter, manifest),
        prose.LIMITS,
    ]
    return f"---\n{yaml.safe_dump(header, sort_keys=False)}---\n\n" + "\n\n".join(sections) + "\n"


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.is_file() else ""


def _header_and_body(page: str) -> tuple[dict[str, Any], str]:
    """Return the header of a card and its body. Raises ArtifactBroken if the header is not YAML."""
    parts = page.split("---\n", 2)
    if len(parts) < 3 or parts[0]:
        return {"library_name": "peft", "tags": ["excam", "lora"]}, page
    try:
        header = yaml_text.load(parts[1])
    except yaml.YAMLError:
        header = None
    if not isinstance(header, dict):
        raise ArtifactBroken(f"{CARD}: no header; expected YAML between two lines of ---; train it again, or delete it")
    return header, parts[2].strip()


def _run(adapter: Path) -> Path | None:
    """Return the folder of results that an adapter is in, None if it is in none."""
    above = adapter.resolve().parents
    return above[2] if len(above) > 2 and above[1].name == ADAPTERS.name else None


def _rows(adapter: Path, manifest: AdapterManifest) -> Iterable[dict[str, Any]]:
    """Yield the rows it was trained on, if the file with the sha256 of the manifest is there."""
    run = _run(adapter)
    mixture = run / "mixtures" / manifest.trained_on / "train.jsonl" if run else None
    if mixture and mixture.is_file() and sha256(mixture) in manifest.inputs.values():
        with mixture.open(encoding="utf-8") as stream:
            yield from map(json.loads, stream)


def _languages(rows: Iterable[Mapping[str, Any]]) -> str:
    counts = Counter(row["language"] for row in rows)
    if not counts:
        return prose.LANGUAGES.format(languages=prose.UNKNOWN)
    listed = ", ".join(f"{markdown.escape(language)} ({n})" for language, n in counts.most_common())
    return prose.LANGUAGES.format(languages=f"Rows of its training by language: {listed}.")


def _ledger(rows: Iterable[Mapping[str, Any]]) -> str:
    """Return the section on licences, with rows by dataset and licence."""
    counts = Counter((row["dataset"], row["licence"]) for row in rows)
    table = [
        (markdown.escape(dataset), markdown.escape(licence), licences.licence_kind(licence), n)
        for (dataset, licence), n in sorted(counts.items())
    ]
    head = ("dataset", "licence", "asks for", "rows")
    return prose.LEDGER.format(table=markdown.table(head, table).rstrip() if table else prose.UNKNOWN)


def _numbers(adapter: Path, manifest: AdapterManifest) -> str:
    """Return the section on test sets: scaled accuracy with its interval, and the number of failures."""
    run = _run(adapter)
    cells = run / "evaluation" / manifest.model / manifest.trained_on / "report" if run else None
    table = []
    for file in sorted(cells.glob("*/test.json")) if cells else ():
        report = read_json(file, "n", "accuracy")
        accuracy = {name: _number(report["accuracy"].get(name)) for name in ("scaled", "low", "high")}
        interval = f"{accuracy['low']} to {accuracy['high']}"
        table.append((file.parent.name, report["n"], report["accuracy"]["failures"], accuracy["scaled"], interval))
    head = ("test set", "rows", "not judged", "scaled accuracy", "95% interval")
    return prose.NUMBERS.format(table=markdown.table(head, table).rstrip() if table else prose.NOT_MEASURED)


def _number(value: float | None) -> str:
    return "none" if value is None else f"{value:.3f}"
