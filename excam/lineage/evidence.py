"""Every hash that a run has recorded of its files, and who says so.

Four witnesses: the records that `provenance.publish` keeps below results/.hashes, the manifests (`outputs`, `inputs`),
the cells and proofs that name their `inputs`, and Snakemake's checksums of inputs.
"""

from __future__ import annotations

import json
import os
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from excam.exceptions import InputInvalid
from excam.lineage import snakemake_records
from excam.provenance import UNRECORDED, record_of

DIGEST = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Claim:
    """Somebody's word that a file has a hash."""

    sha256: str
    by: str


class Evidence:
    """What is recorded about the files of the workflow that runs in `root`. Paths are those of its rules."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.records = snakemake_records.read_all(root)

    @cached_property
    def vouchers(self) -> dict[str, list[str]]:
        """File -> the manifests that name it among their outputs."""
        found: dict[str, list[str]] = defaultdict(list)
        for path in sorted((self.root / "results").rglob("*manifest.json")):
            manifest = path.relative_to(self.root).as_posix()
            for file in self.outputs(manifest):
                found[file].append(manifest)
        return found

    @cached_property
    def _job_manifests(self) -> dict[tuple[str, str], list[str]]:
        found: dict[tuple[str, str], list[str]] = defaultdict(list)
        for output, record in sorted(self.records.items()):
            if output.endswith("manifest.json"):
                found[record.rule, record.command].append(output)
        return found

    def manifests(self, file: str) -> list[str]:
        """Manifests that vouch for a file, that its job wrote, or that lie in or above its folder.

        Those that should vouch for it are among them even where they are damaged and name nothing.
        """
        record = self.records.get(file)
        beside = self._job_manifests.get((record.rule, record.command), ()) if record else ()
        above = [(folder / "manifest.json").as_posix() for folder in Path(file).parents if "results" in folder.parts]
        there = [name for name in above if (self.root / name).is_file()]
        return [name for name in dict.fromkeys((*self.vouchers.get(file, ()), *beside, *there)) if name != file]

    def own(self, file: str) -> list[Claim]:
        """What was recorded when the file was published. A record that is no such line is a claim no file fulfils."""
        record = record_of(Path(file))
        if record is None or not (self.root / record).is_file():
            return []
        line = (self.root / record).read_bytes().decode("utf-8", errors="replace")
        digest, _, named = line.removesuffix("\n").partition("  ")
        whole = DIGEST.fullmatch(digest) and named == file
        return [Claim(digest if whole else f"a damaged record {line[:200]!r}", record.as_posix())]

    def inputs(self, file: str) -> dict[str, str]:
        """Hashes of what a manifest, a cell or a proof says it was made of; nothing for any other file."""
        return _hashes(self._json(file).get("inputs"))

    def outputs(self, file: str) -> dict[str, str]:
        """Hashes of the files that a manifest stands for."""
        return dict(_placed(self.root, file, _hashes(self._json(file).get("outputs"))))

    def facts(self, file: str) -> dict[str, Any]:
        """What a manifest says beside its hashes, where that is one value: revision, licence, seed, commit."""
        content = self._json(file)
        scalars = {name: value for name, value in content.items() if isinstance(value, (str, int, float))}
        return scalars if "outputs" in content else {}

    def consumers(self, file: str) -> list[Claim]:
        """What Snakemake took as the file's hash for any job that read it, in the chain or not."""
        found = [Claim(r.checksums[file], _noted(output)) for output, r in self.records.items() if file in r.checksums]
        return sorted(found, key=lambda claim: claim.by)

    def checksums(self, output: str) -> dict[str, Claim]:
        """Snakemake's hashes of the inputs of one output."""
        record = self.records.get(output)
        return {file: Claim(value, _noted(output)) for file, value in record.checksums.items()} if record else {}

    def _json(self, file: str) -> dict[str, Any]:
        path = self.root / file
        if path.suffix != ".json" or not path.is_file():
            return {}
        try:
            content = json.loads(path.read_text(encoding="utf-8"))
        except (ValueError, RecursionError):
            return {}  # torn or tampered with: its hash tells
        return content if isinstance(content, dict) else {}


def _noted(output: str) -> str:
    return f"Snakemake's record of {output}"


def _hashes(value: Any) -> dict[str, str]:
    """Path -> digest, as far as a JSON value is such a table."""
    if not isinstance(value, dict):
        return {}
    return {name: text for name, text in value.items() if isinstance(text, str) and DIGEST.fullmatch(text)}


def _placed(root: Path, manifest: str, outputs: dict[str, str]) -> Iterator[tuple[str, str]]:
    """A manifest's outputs by their path from `root`.

    A manifest names them from the deepest folder that holds them all, which it does not name: itself below the
    manifest's. The one that has most of them is it, the highest of several.
    """
    folder = (root / manifest).parent
    if not outputs:
        return
    homes = {folder, folder / "files"}
    for name in outputs:
        depth = name.count("/")
        homes |= {path.parents[depth] for path in folder.rglob(Path(name).name) if path.as_posix().endswith(f"/{name}")}
    best = max(homes, key=lambda home: (_present(home, outputs), -len(home.parts)))
    for name, digest in outputs.items():
        yield (best / name).relative_to(root).as_posix(), digest


def _present(home: Path, outputs: dict[str, str]) -> int:
    return sum((home / name).is_file() for name in outputs)


def artifact(root: Path, path: Path) -> str:
    """A file as the rules name it. Raises InputInvalid for what is no artifact of the workflow in `root`."""
    home = Path(os.path.normpath(Path.cwd() / root))  # links stay as they are: results/ may be one
    absolute = Path(os.path.normpath(home / path))
    name = absolute.relative_to(home) if absolute.is_relative_to(home) else Path()
    if name.parts[:1] != ("results",):
        raise InputInvalid(f"{path}: no artifact of this workflow; expected a file below {home / 'results'}")
    if not absolute.is_file():
        raise InputInvalid(f"{path}: no such file; expected an artifact that was made; make it: snakemake {name}")
    if name.parts[1] in UNRECORDED:
        raise InputInvalid(f"{path}: no artifact, as it changes while jobs run; for journals: excam journal verify")
    return name.as_posix()
