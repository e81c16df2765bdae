"""The chain from an artifact back to the raw shards: every file, the job that made it, and the state of its bytes.

A file is `proven` if at least one hash is recorded and all agree with its bytes, `differs` if one does not agree,
`gone` if it is missing, `unproven` if no hash is recorded. In a copy of results/ a file can be `left out`: it is
missing, perhaps on purpose.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Literal

from excam.core.exceptions import InputInvalid
from excam.core.provenance import Progress, sha256
from excam.lineage.recorded_hashes import Evidence, RecordedHash
from excam.lineage.snakemake_records import OutputRecord

Status = Literal["proven", "differs", "gone", "unproven", "left out"]


@dataclass(frozen=True, slots=True)
class Link:
    """One file of a chain."""

    file: str
    sha256: str | None  # of the current file; None if it is missing
    claims: tuple[RecordedHash, ...]
    record: OutputRecord | None  # how Snakemake made it; None for raw files and for files that a manifest lists
    listing: tuple[str, ...]  # manifests that name it among their outputs
    facts: dict[str, Any]  # of a manifest: revision, licence, seed, commit ...
    missing: Status = "gone"  # what a file is that is not there
    size: int = 0  # bytes that were read

    @property
    def recorded(self) -> tuple[str, ...]:
        """Return each recorded hash once."""
        return tuple(dict.fromkeys(claim.sha256 for claim in self.claims))

    @property
    def status(self) -> Status:
        """Return the state of its bytes."""
        if self.sha256 is None:
            return "differs" if self.missing == "left out" and len(self.recorded) > 1 else self.missing
        if not self.claims:
            return "unproven"
        return "proven" if all(claim.sha256 == self.sha256 for claim in self.claims) else "differs"

    @property
    def problem(self) -> str | None:
        """Return one line with the file, the recorded and the found hash; None if "proven" or "left out"."""
        if self.status in ("proven", "left out"):
            return None
        if self.status == "unproven":
            return f"{self.file}: unproven: no hash of it is recorded; found sha256 {self.sha256}"
        against = [claim for claim in self.claims if claim.sha256 != self.sha256]
        wanted = (
            "; ".join(f"{digest} ({by})" for digest, by in _distinct_hashes(against)) or "a file (an input of a job)"
        )
        there = f"found {self.sha256 or 'nothing'}"
        if agree := sum(claim.sha256 == self.sha256 for claim in self.claims):
            there += f"; {agree} other records agree with what is there: made again since, or that record changed"
        return f"{self.file}: {self.status}: expected sha256 {wanted}, {there}"


def _distinct_hashes(claims: Iterable[RecordedHash]) -> list[tuple[str, str]]:
    """Return each digest once, with a text that names its first source and the number of others."""
    by_digest: dict[str, list[str]] = {}
    for claim in claims:
        by_digest.setdefault(claim.sha256, []).append(claim.by)
    return [(digest, by[0] + (f" and {len(by) - 1} more" if len(by) > 1 else "")) for digest, by in by_digest.items()]


def walk(evidence: Evidence, artifacts: Sequence[str], beside: Sequence[str] = ()) -> list[Link]:
    """Return the chain of `artifacts` (paths as the rules name them) back to the raw shards, with every file once.

    Files of `beside` that are not in the chain come last. Each is compared only with the records of its own bytes: a
    file that was made of an earlier version has another hash of it, which says nothing about the file.
    """
    claims = _hashes_by_file(evidence, artifacts)
    claims |= {file: _recorded_hashes(evidence, file) for file in beside if file not in claims}
    order = list(claims)
    progress = Progress("hashing, files", len(order))
    hashes: dict[str, tuple[str | None, int]] = {}
    with ThreadPoolExecutor() as pool:
        for file, read in zip(order, pool.map(lambda name: _hash_file(evidence, name), order), strict=True):
            hashes[file] = read
            progress.advance()
    return [
        Link(
            file,
            hashes[file][0],
            tuple(claims[file] or evidence.consumers(file)),
            evidence.records.get(file),
            tuple(evidence.manifests_listing.get(file, ())),
            evidence.facts(file),
            evidence.missing,
            hashes[file][1],
        )
        for file in order
    ]


def _hash_file(evidence: Evidence, file: str) -> tuple[str | None, int]:
    """Return digest and size of a file; (None, 0) if it does not exist."""
    path = evidence.find(file)
    try:
        return (sha256(path), path.stat().st_size) if path else (None, 0)
    except OSError as problem:
        raise InputInvalid(f"{path}: cannot be read: {problem.strerror}; expected a file that you may read") from None


def _hashes_by_file(evidence: Evidence, artifacts: Sequence[str]) -> dict[str, list[RecordedHash]]:
    """Return the recorded hashes by file, in the order in which the files are met, nearest first.

    A manifest that is an input represents its files (weights, raw shards), so the chain goes on through them. One that
    only lists a file does not pull in what else its job made.
    """
    claims: dict[str, list[RecordedHash]] = {}
    todo = deque((file, True) for file in artifacts)
    followed: set[tuple[str, bool]] = set()
    while todo:
        file, expands = todo.popleft()
        if (file, expands) in followed:
            continue
        followed.add((file, expands))
        if file not in claims:
            claims[file] = _recorded_hashes(evidence, file)
            todo += [(manifest, False) for manifest in evidence.manifests(file)]
            record = evidence.records.get(file)
            todo += [(name, True) for name in (*(record.inputs if record else ()), *evidence.inputs(file))]
        if expands:
            todo += [(name, True) for name in evidence.outputs(file)]
    for file in list(claims):  # only now: every file of the chain is known, and each may speak of any other
        for name, claim in _input_hashes(evidence, file):
            claims[name].append(claim)
    return claims


def _recorded_hashes(evidence: Evidence, file: str) -> list[RecordedHash]:
    """Return the hashes recorded when a file was made: by its own record, and by the manifests that list it."""
    listing = evidence.manifests_listing.get(file, ())
    return [
        *evidence.own_hash(file),
        *(RecordedHash(evidence.outputs(manifest)[file], manifest) for manifest in listing),
    ]


def _input_hashes(evidence: Evidence, file: str) -> Iterable[tuple[str, RecordedHash]]:
    """Return what a file of the chain and its record say about the hashes of its inputs."""
    yield from ((name, RecordedHash(digest, file)) for name, digest in evidence.inputs(file).items())
    yield from evidence.checksums(file).items()
