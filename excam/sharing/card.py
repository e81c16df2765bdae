"""The card of an adapter that is handed on: that of its training, and what its users have to know besides.

What it is for and what not, its base model, languages, the licences of what it learnt from (spec 77), what it measured
with counts and intervals, and the limits of spec 78. Numbers come from the run the adapter lies in; from where it
does not lie in one, they are not made up.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import yaml

from excam import licences, markdown
from excam.exceptions import ArtifactBroken
from excam.metric import adapters, manifests
from excam.metric.manifests import AdapterManifest, BaseManifest
from excam.provenance import read_json, sha256
from excam.sharing import prose
from excam.sharing.parcel import CARD

KEPT = {"revision", "licence", "origin", "settings", "outputs"}


def base(adapter: Path) -> BaseManifest:
    """What is said of the base model to others: revision, licence, origin, settings, digests; no path of this machine.

    Raises ModelInvalid where the base model is nowhere to be found, or a manifest is none.
    """
    if (adapter / adapters.BASE).is_file():
        return adapters.recorded(adapter)
    weights = adapters.base_of(adapter, adapters.manifest(adapter))
    found = manifests.read(weights / adapters.MANIFEST, BaseManifest, "its base model")
    kept = found.model_dump(mode="json", include=KEPT, exclude_unset=True)
    if found.origin.startswith("folder "):
        kept["origin"] = f"folder {Path(found.origin.removeprefix('folder ')).name}"
        kept["settings"]["folder"] = None
    return BaseManifest.model_validate(kept)


def written(adapter: Path, about: BaseManifest) -> str:
    """The whole README.md; `about` is what `base` says. The card of an adapter that was pulled stays as it is."""
    page = _text(adapter / CARD)
    if (adapter / adapters.BASE).is_file():
        return page
    manifest = adapters.manifest(adapter)
    header, body = _apart(page)
    rows = list(_rows(adapter, manifest))
    header |= {"base_model": about.settings.hub} if about.settings.hub else {}
    sections = [
        body.rstrip() or f"# ExCAM: {manifest.model}, trained on {manifest.trained_on}",
        prose.USES,
        prose.BASE.format(base=markdown.escaped(about.described)),
        _languages(rows),
        _ledger(rows),
        _numbers(adapter, manifest),
        prose.LIMITS,
    ]
    return f"---\n{yaml.safe_dump(header, sort_keys=False)}---\n\n" + "\n\n".join(sections) + "\n"


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.is_file() else ""


def _apart(page: str) -> tuple[dict[str, Any], str]:
    """The header of a card and the rest. Raises ArtifactBroken where the header is no YAML."""
    parts = page.split("---\n", 2)
    if len(parts) < 3 or parts[0]:
        return {"library_name": "peft", "tags": ["excam", "lora"]}, page
    try:
        header = yaml.safe_load(parts[1])
    except yaml.YAMLError:
        header = None
    if not isinstance(header, dict):
        raise ArtifactBroken(f"{CARD}: no header; expected YAML between two lines of ---; train it again, or delete it")
    return header, parts[2].strip()


def _run(adapter: Path) -> Path | None:
    """The results an adapter lies in."""
    above = adapter.resolve().parents
    return above[2] if len(above) > 2 and above[1].name == adapters.ADAPTERS.name else None


def _rows(adapter: Path, manifest: AdapterManifest) -> Iterable[dict[str, Any]]:
    """The rows it was trained on: those of the manifest by sha256, or none."""
    run = _run(adapter)
    mixture = run / "mixtures" / manifest.trained_on / "train.jsonl" if run else None
    if mixture and mixture.is_file() and sha256(mixture) in manifest.inputs.values():
        with mixture.open(encoding="utf-8") as stream:
            yield from map(json.loads, stream)


def _languages(rows: Iterable[Mapping[str, Any]]) -> str:
    counts = Counter(row["language"] for row in rows)
    if not counts:
        return prose.LANGUAGES.format(languages=prose.UNKNOWN)
    said = ", ".join(f"{markdown.escaped(language)} ({n})" for language, n in counts.most_common())
    return prose.LANGUAGES.format(languages=f"Rows of its training by language: {said}.")


def _ledger(rows: Iterable[Mapping[str, Any]]) -> str:
    """Rows by dataset and licence (spec 77)."""
    counts = Counter((row["dataset"], row["licence"]) for row in rows)
    table = [
        (markdown.escaped(dataset), markdown.escaped(licence), licences.kind(licence), n)
        for (dataset, licence), n in sorted(counts.items())
    ]
    head = ("dataset", "licence", "asks for", "rows")
    return prose.LEDGER.format(table=markdown.table(head, table).rstrip() if table else prose.UNKNOWN)


def _numbers(adapter: Path, manifest: AdapterManifest) -> str:
    """What its run measured on test sets: scaled accuracy with its interval, and what was not judged."""
    run = _run(adapter)
    cells = run / "evaluation" / manifest.model / manifest.trained_on / "report" if run else None
    table = []
    for file in sorted(cells.glob("*/test.json")) if cells else ():
        found = read_json(file, "n", "accuracy")
        accuracy = {name: _number(found["accuracy"].get(name)) for name in ("scaled", "low", "high")}
        interval = f"{accuracy['low']} to {accuracy['high']}"
        table.append((file.parent.name, found["n"], found["accuracy"]["failures"], accuracy["scaled"], interval))
    head = ("test set", "rows", "not judged", "scaled accuracy", "95% interval")
    return prose.NUMBERS.format(table=markdown.table(head, table).rstrip() if table else prose.NOT_MEASURED)


def _number(value: float | None) -> str:
    return "none" if value is None else f"{value:.3f}"
