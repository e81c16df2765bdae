"""Every hash that a run has recorded of its files, with its source.

There are four sources: the records that `provenance.publish` keeps below results/.hashes, the manifests (`outputs`,
`inputs`), the cells and proofs that name their `inputs`, and Snakemake's checksums of inputs. In a copy of results/
alone, the last two are in `copies.KEPT`.
"""

from __future__ import annotations

import json
import os
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from excam.core.exceptions import InputInvalid
from excam.core.paths import HASHES, RESULTS, below_results
from excam.core.provenance import UNRECORDED, hash_record_path, write_json
from excam.lineage import copies, snakemake_records

PART = re.compile(r"\..+\.part")  # the name of a file that `provenance.publish` has not finished
DIGEST = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class RecordedHash:
    """A hash of a file, and the record that states it."""

    sha256: str
    by: str


class Evidence:
    """All recorded hashes of the files of a run. Paths are those of its rules."""

    def __init__(self, root: Path | None, results: Path | None = None) -> None:
        """Open the run in the folder `root`; if that is None, a copy of its results/ at `results`."""
        self.root = root
        self.results = results or (root or Path()) / RESULTS
        self.missing: Literal["gone", "left out"] = "gone" if root else "left out"
        records = snakemake_records.read_all(root) if root else {}
        records_of_run = copies.RunRecords(records) if records else self._kept  # Snakemake's own are never older
        self.records, self._stand_for = records_of_run.records, records_of_run.manifests
        self._outputs: dict[str, dict[str, str]] = {}

    @cached_property
    def _kept(self) -> copies.RunRecords:
        return copies.read_run_records(self.results / copies.KEPT.relative_to(RESULTS))

    def find(self, file: str) -> Path | None:
        """Return the path of a file on this disk; None if it does not exist. A copy has nothing outside results/."""
        path = Path(file)
        if path.is_relative_to(RESULTS):
            path = self.results / path.relative_to(RESULTS)
        elif self.root is None:
            return None
        else:
            path = self.root / path
        return path if path.is_file() else None

    def name(self, path: Path) -> str:
        """Return the path of a file below `results` as the rules name it."""
        return (RESULTS / path.relative_to(self.results)).as_posix()

    def published(self, part: str = "") -> list[str]:
        """Return the artifacts below results/<part>/ that exist or existed: they have a record of their own."""
        noted = (self.results / HASHES.name / part).rglob("*.sha256")
        names = {self.name(path).replace(f"/{HASHES.name}/", "/", 1).removesuffix(".sha256") for path in noted}
        return sorted(names | {name for name in self._there(part) if no_record(name) is None})

    def everything(self) -> list[str]:
        """Return every artifact of the run: published ones, and the files that manifests list."""
        return sorted({*self.published(), *self.manifests_listing})

    def without_record(self) -> Counter[str]:
        """Count the files below results/ that are neither artifacts nor records, by reason (`no_record`)."""
        there = (name for name in self._there() if not Path(name).is_relative_to(HASHES))
        return Counter(why for name in there if (why := no_record(name)))

    def _there(self, part: str = "", pattern: str = "*") -> Iterator[str]:
        """Yield files below results/<part>/. `rglob` skips a folder that is a link to another disk."""
        home = self.results / part
        for folder in (home, *(path for path in home.glob("*") if path.is_symlink() and path.is_dir())):
            yield from (self.name(path) for path in folder.rglob(pattern) if path.is_file())

    @cached_property
    def manifests_listing(self) -> dict[str, list[str]]:
        """Return file -> the manifests that list it among their outputs."""
        manifests: dict[str, list[str]] = defaultdict(list)
        for manifest in sorted({*self._there(pattern="*manifest.json"), *self._stand_for}):
            for file in self.outputs(manifest):
                manifests[file].append(manifest)
        return manifests

    @cached_property
    def _job_manifests(self) -> dict[tuple[str, str], list[str]]:
        manifests: dict[tuple[str, str], list[str]] = defaultdict(list)
        for output, record in sorted(self.records.items()):
            if output.endswith("manifest.json"):
                manifests[record.rule, record.command].append(output)
        return manifests

    def manifests(self, file: str) -> list[str]:
        """Return the manifests that list a file, that its job wrote, or that are in or above its folder.

        Manifests that should list it are included even if they are damaged and list nothing.
        """
        record = self.records.get(file)
        beside = self._job_manifests.get((record.rule, record.command), ()) if record else ()
        above = [(folder / "manifest.json").as_posix() for folder in Path(file).parents if RESULTS.name in folder.parts]
        there = [name for name in above if self.find(name)]
        return [
            name for name in dict.fromkeys((*self.manifests_listing.get(file, ()), *beside, *there)) if name != file
        ]

    def own_hash(self, file: str) -> list[RecordedHash]:
        """Return the hash that was recorded when the file was published.

        A damaged record gives a hash that no file has.
        """
        record = hash_record_path(Path(file))
        path = self.find(record.as_posix()) if record else None
        if not record or not path:
            return []
        line = path.read_bytes().decode("utf-8", errors="replace")
        digest, _, named = line.removesuffix("\n").partition("  ")
        whole = DIGEST.fullmatch(digest) and named == file
        return [RecordedHash(digest if whole else f"a damaged record {line[:200]!r}", record.as_posix())]

    def inputs(self, file: str) -> dict[str, str]:
        """Return the input hashes that a manifest, a cell or a proof records; nothing for any other file."""
        return _hashes(self._read_json(file).get("inputs"))

    def outputs(self, file: str) -> dict[str, str]:
        """Return the hashes of the files that a manifest lists."""
        if file not in self._outputs:  # each file of a manifest asks for it
            self._outputs[file] = self._read_outputs(file)
        return self._outputs[file]

    def _read_outputs(self, file: str) -> dict[str, str]:
        path = self.find(file)
        if path is None:
            return _hashes(self._stand_for.get(file, {}))
        content = self._read_json(file)
        fetched = "files" if (path.parent / "files").is_dir() else ""  # where an earlier release does not say it
        folder = Path(file).parent / str(content.get("outputs_in", fetched))
        return {os.path.normpath(folder / name): sha for name, sha in _hashes(content.get("outputs")).items()}

    def facts(self, file: str) -> dict[str, Any]:
        """Return the single values of a manifest other than hashes: revision, licence, seed, commit."""
        content = self._read_json(file)
        scalars = {name: value for name, value in content.items() if isinstance(value, (str, int, float))}
        return scalars if "outputs" in content else {}

    def consumers(self, file: str) -> list[RecordedHash]:
        """Return the hashes that Snakemake recorded of the file for any job that read it, in the chain or not."""
        return sorted(self._consumers.get(file, ()), key=lambda claim: claim.by)

    @cached_property
    def _consumers(self) -> dict[str, list[RecordedHash]]:
        claims: dict[str, list[RecordedHash]] = defaultdict(list)
        for output, record in self.records.items():
            for file, digest in record.checksums.items():
                claims[file].append(RecordedHash(digest, _noted(output)))
        return claims

    def checksums(self, output: str) -> dict[str, RecordedHash]:
        """Return Snakemake's hashes of the inputs of one output."""
        record = self.records.get(output)
        return {file: RecordedHash(value, _noted(output)) for file, value in record.checksums.items()} if record else {}

    def _read_json(self, file: str) -> dict[str, Any]:
        path = self.find(file) if file.endswith(".json") else None
        if path is None:
            return {}
        try:
            content = json.loads(path.read_text(encoding="utf-8"))
        except (ValueError, RecursionError):
            return {}  # partial or tampered with: the comparison of its hash reports it
        return content if isinstance(content, dict) else {}


def no_record(file: str) -> str | None:
    """Return why a file below results/ has no recorded hash because it is not an artifact; None for other files."""
    path = Path(file).relative_to(RESULTS)
    if PART.fullmatch(path.name):
        return "unfinished (of a job that runs or was killed)"
    return UNRECORDED.get(path.parts[0])


def _noted(output: str) -> str:
    return f"Snakemake's record of {output}"


def _hashes(value: Any) -> dict[str, str]:
    """Return path -> digest if a JSON value is such a table; otherwise nothing."""
    if not isinstance(value, dict):
        return {}
    return {name: text for name, text in value.items() if isinstance(text, str) and DIGEST.fullmatch(text)}


def artifact(evidence: Evidence, path: Path) -> str:
    """Return a file's path as the rules name it. Raises InputInvalid if it is not an artifact of the run.

    In a copy, the path can be that of the rules, relative to the copy or relative to the current folder, and need not
    exist.
    """
    home = Path(os.path.normpath(Path.cwd() / evidence.results))  # links stay as they are: results/ may be one
    tried = [home.parent / path]
    if evidence.root is None:
        tried = [home / (path.relative_to(RESULTS) if path.is_relative_to(RESULTS) else path), Path.cwd() / path]
    below = [file for candidate in tried if (file := Path(os.path.normpath(candidate))).is_relative_to(home)]
    if not below:
        raise InputInvalid(f"{path}: no artifact of this workflow; expected a file below {home}")
    file = next((candidate for candidate in below if candidate.is_file()), below[0])
    name = RESULTS / file.relative_to(home)
    recorded = {*evidence.records, *evidence.published()} if evidence.root is None else set()
    if not file.is_file() and name.as_posix() not in recorded:
        made = f"make it: snakemake {name}" if evidence.root else "the copy has no record of it either"
        raise InputInvalid(f"{path}: no such file; expected an artifact that was made; {made}")
    if (below_results(name) or ("",))[0] in UNRECORDED:
        raise InputInvalid(f"{path}: no artifact, as it changes while jobs run; expected one that a job publishes")
    return name.as_posix()


def write_run_records(root: Path) -> None:
    """Write the records of the run in `root` into its results/, so that a copy of results/ can be audited."""
    write_json(root / copies.KEPT, run_records(Evidence(root)).to_dict())


def run_records(evidence: Evidence) -> copies.RunRecords:
    """Return the records that a copy needs."""
    names = sorted({name for names in evidence.manifests_listing.values() for name in names})
    covered = {name: evidence.outputs(name) for name in names}
    return copies.RunRecords(evidence.records, covered)
