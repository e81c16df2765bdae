"""Every hash that a run has recorded of its files, and who says so.

Four witnesses: the records that `provenance.publish` keeps below results/.hashes, the manifests (`outputs`, `inputs`),
the cells and proofs that name their `inputs`, and Snakemake's checksums of inputs. Where results/ lies alone, what
Snakemake and the manifests said is in `copies.KEPT`.
"""

from __future__ import annotations

import json
import os
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from excam.exceptions import InputInvalid
from excam.lineage import copies, snakemake_records
from excam.provenance import HASHES, UNRECORDED, record_of, write_json

RESULTS = "results"
PART = re.compile(r"\..+\.part")  # the name of a file that `provenance.publish` has not finished
DIGEST = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Claim:
    """Somebody's word that a file has a hash."""

    sha256: str
    by: str


class Evidence:
    """What is recorded about the files of a run. Paths are those of its rules."""

    def __init__(self, root: Path | None, results: Path | None = None) -> None:
        """The run in the folder `root`; or, where that is None, a copy of its results/ that lies at `results`."""
        self.root = root
        self.results = results or (root or Path()) / RESULTS
        self.missing: Literal["gone", "left out"] = "gone" if root else "left out"
        records = snakemake_records.read_all(root) if root else {}
        known = copies.Kept(records) if records else self._kept  # Snakemake's own are never older
        self.records, self._stand_for = known.records, known.manifests

    @cached_property
    def _kept(self) -> copies.Kept:
        return copies.read(self.results / copies.KEPT.relative_to(RESULTS))

    @property
    def options(self) -> tuple[str, ...]:
        """Options of snakemake that chose the experiment of the run, as far as it kept them."""
        return self._kept.options

    def find(self, file: str) -> Path | None:
        """Where a file lies; None where it is not there. Of a copy, nothing lies outside results/."""
        path = Path(file)
        if path.parts[:1] == (RESULTS,):
            path = self.results.joinpath(*path.parts[1:])
        elif self.root is None:
            return None
        else:
            path = self.root / path
        return path if path.is_file() else None

    def name(self, path: Path) -> str:
        """A file below `results` as the rules name it."""
        return (RESULTS / path.relative_to(self.results)).as_posix()

    def published(self, part: str = "") -> list[str]:
        """Artifacts below results/<part>/ that are there or that were: they have a record of their own."""
        noted = (self.results / HASHES.name / part).rglob("*.sha256")
        names = {self.name(path).replace(f"/{HASHES.name}/", "/", 1).removesuffix(".sha256") for path in noted}
        return sorted(names | {name for name in self._there(part) if no_record(name) is None})

    def everything(self) -> list[str]:
        """Every artifact of the run: published ones, and the files that manifests stand for."""
        return sorted({*self.published(), *self.vouchers})

    def without_record(self) -> Counter[str]:
        """Files below results/ that are neither artifacts nor records: how many for each reason (`no_record`)."""
        there = (name for name in self._there() if Path(name).parts[1] != HASHES.name)
        return Counter(why for name in there if (why := no_record(name)))

    def _there(self, part: str = "", pattern: str = "*") -> Iterator[str]:
        """Files below results/<part>/. A folder of results/ may be a link to another disk, which `rglob` skips."""
        home = self.results / part
        for folder in (home, *(path for path in home.glob("*") if path.is_symlink() and path.is_dir())):
            yield from (self.name(path) for path in folder.rglob(pattern) if path.is_file())

    @cached_property
    def vouchers(self) -> dict[str, list[str]]:
        """File -> the manifests that name it among their outputs."""
        found: dict[str, list[str]] = defaultdict(list)
        for manifest in sorted({*self._there(pattern="*manifest.json"), *self._stand_for}):
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
        above = [(folder / "manifest.json").as_posix() for folder in Path(file).parents if RESULTS in folder.parts]
        there = [name for name in above if self.find(name)]
        return [name for name in dict.fromkeys((*self.vouchers.get(file, ()), *beside, *there)) if name != file]

    def own(self, file: str) -> list[Claim]:
        """What was recorded when the file was published. A record that is no such line is a claim no file fulfils."""
        record = record_of(Path(file))
        path = self.find(record.as_posix()) if record else None
        if not record or not path:
            return []
        line = path.read_bytes().decode("utf-8", errors="replace")
        digest, _, named = line.removesuffix("\n").partition("  ")
        whole = DIGEST.fullmatch(digest) and named == file
        return [Claim(digest if whole else f"a damaged record {line[:200]!r}", record.as_posix())]

    def inputs(self, file: str) -> dict[str, str]:
        """Hashes of what a manifest, a cell or a proof says it was made of; nothing for any other file."""
        return _hashes(self._json(file).get("inputs"))

    def outputs(self, file: str) -> dict[str, str]:
        """Hashes of the files that a manifest stands for."""
        kept, path = self._stand_for.get(file, {}), self.find(file)
        if path is None:
            return _hashes(kept)
        outputs = _hashes(self._json(file).get("outputs"))
        names = [(one, name) for one in kept for name in outputs if f"/{one}".endswith(f"/{name}")]
        said = {(self.results / Path(one.removesuffix(name)).relative_to(RESULTS)) for one, name in names[:1]}
        return {self.name(file): digest for file, digest in _placed(path.parent, outputs, said)}

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
        path = self.find(file) if file.endswith(".json") else None
        if path is None:
            return {}
        try:
            content = json.loads(path.read_text(encoding="utf-8"))
        except (ValueError, RecursionError):
            return {}  # torn or tampered with: its hash tells
        return content if isinstance(content, dict) else {}


def no_record(file: str) -> str | None:
    """Why a file below results/ has no recorded hash, as it is no artifact; None for every other file."""
    folder, name = Path(file).parts[1], Path(file).name
    if PART.fullmatch(name):
        return "unfinished (of a job that runs or was killed)"
    return UNRECORDED.get(folder)


def _noted(output: str) -> str:
    return f"Snakemake's record of {output}"


def _hashes(value: Any) -> dict[str, str]:
    """Path -> digest, as far as a JSON value is such a table."""
    if not isinstance(value, dict):
        return {}
    return {name: text for name, text in value.items() if isinstance(text, str) and DIGEST.fullmatch(text)}


def _placed(folder: Path, outputs: dict[str, str], said: set[Path]) -> Iterator[tuple[Path, str]]:
    """Where the outputs of a manifest in `folder` lie.

    A manifest names them from the deepest folder that holds them all, which it does not name: itself below the
    manifest's. The one that has most of them is it; of several the one that a record says, else that of fetched files
    (`files`), else the highest.
    """
    if not outputs:
        return
    fetched = folder / "files"
    homes = {folder, *said, *([fetched] if fetched.is_dir() else [])}
    for name in outputs:
        depth = name.count("/")
        homes |= {path.parents[depth] for path in folder.rglob(Path(name).name) if path.as_posix().endswith(f"/{name}")}
    best = max(homes, key=lambda home: (_present(home, outputs), home in said, home == fetched, -len(home.parts)))
    for name, digest in outputs.items():
        yield best / name, digest


def _present(home: Path, outputs: dict[str, str]) -> int:
    return sum((home / name).is_file() for name in outputs)


def artifact(evidence: Evidence, path: Path) -> str:
    """A file as the rules name it. Raises InputInvalid for what is no artifact of the run.

    In a copy it may be named as the rules do, from the copy's folder or from the current one, and need not be there.
    """
    home = Path(os.path.normpath(Path.cwd() / evidence.results))  # links stay as they are: results/ may be one
    tried = [home.parent / path]
    if evidence.root is None:
        tried = [home.joinpath(*path.parts[path.parts[:1] == (RESULTS,) :]), Path.cwd() / path]
    below = [file for one in tried if (file := Path(os.path.normpath(one))).is_relative_to(home)]
    if not below:
        raise InputInvalid(f"{path}: no artifact of this workflow; expected a file below {home}")
    file = next((one for one in below if one.is_file()), below[0])
    name = Path(RESULTS, file.relative_to(home))
    recorded = {*evidence.records, *evidence.published()} if evidence.root is None else set()
    if not file.is_file() and name.as_posix() not in recorded:
        made = f"make it: snakemake {name}" if evidence.root else "the copy has no record of it either"
        raise InputInvalid(f"{path}: no such file; expected an artifact that was made; {made}")
    if name.parts[1] in UNRECORDED:
        raise InputInvalid(f"{path}: no artifact, as it changes while jobs run; for journals: excam journal verify")
    return name.as_posix()


def keep(root: Path, options: Sequence[str]) -> None:
    """Keep what is known of the run in `root` inside its results/, so that a copy of that can be audited."""
    write_json(root / copies.KEPT, kept(Evidence(root), options).to_dict())


def kept(evidence: Evidence, options: Sequence[str] = ()) -> copies.Kept:
    """What a copy needs to be told of a run; `options`: those of snakemake that chose the experiment."""
    names = sorted({name for vouchers in evidence.vouchers.values() for name in vouchers})
    stands = {name: evidence.outputs(name) for name in names}
    return copies.Kept(evidence.records, stands, tuple(options) or evidence.options)
