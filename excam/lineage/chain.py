"""From an artifact back to the raw shards: every file on the way, who made it of what, and whether it still is that.

A file is `proven` when some hash of it is recorded and all agree with its bytes, `differs` when one does not, `gone`
when it is not there, `unproven` when nobody recorded a hash: then nothing can be said, which is not the same as proven.
In a copy of results/ a file may be `left out`: it is not there, and whoever copied may have meant it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Literal

from excam.exceptions import InputInvalid
from excam.lineage.evidence import Claim, Evidence
from excam.lineage.snakemake_records import Record
from excam.provenance import Progress, sha256

Status = Literal["proven", "differs", "gone", "unproven", "left out"]


@dataclass(frozen=True, slots=True)
class Link:
    """One file of a chain."""

    file: str
    sha256: str | None  # of its bytes now; None where it is not there
    claims: tuple[Claim, ...]
    record: Record | None  # how Snakemake made it; None for raw files and what a manifest stands for
    vouched: tuple[str, ...]  # manifests that name it among their outputs
    facts: dict[str, Any]  # of a manifest: revision, licence, seed, commit ...
    missing: Status = "gone"  # what a file is that is not there
    size: int = 0  # bytes that were read

    @property
    def recorded(self) -> tuple[str, ...]:
        """Each hash that was recorded of it, once."""
        return tuple(dict.fromkeys(claim.sha256 for claim in self.claims))

    @property
    def status(self) -> Status:
        """What can be said about its bytes."""
        if self.sha256 is None:
            return "differs" if self.missing == "left out" and len(self.recorded) > 1 else self.missing
        if not self.claims:
            return "unproven"
        return "proven" if all(claim.sha256 == self.sha256 for claim in self.claims) else "differs"

    @property
    def problem(self) -> str | None:
        """One line that names the file, what was recorded and what is there; None where nothing speaks against it."""
        if self.status in ("proven", "left out"):
            return None
        if self.status == "unproven":
            return f"{self.file}: unproven: no hash of it is recorded; found sha256 {self.sha256}"
        against = [claim for claim in self.claims if claim.sha256 != self.sha256]
        wanted = "; ".join(f"{digest} ({by})" for digest, by in _told(against)) or "a file (an input of a job)"
        there = f"found {self.sha256 or 'nothing'}"
        agree = sum(claim.sha256 == self.sha256 for claim in self.claims)
        if agree:
            there += f"; {agree} other records agree with what is there: made anew since, or that record changed"
        return f"{self.file}: {self.status}: expected sha256 {wanted}, {there}"


def _told(claims: Iterable[Claim]) -> list[tuple[str, str]]:
    """Each digest once, with who says so first and how many more do."""
    by_digest: dict[str, list[str]] = {}
    for claim in claims:
        by_digest.setdefault(claim.sha256, []).append(claim.by)
    return [(one, by[0] + (f" and {len(by) - 1} more" if len(by) > 1 else "")) for one, by in by_digest.items()]


def walk(evidence: Evidence, artifacts: Sequence[str], beside: Sequence[str] = ()) -> list[Link]:
    """The chain of `artifacts` (paths as the rules name them), from them back to the raw shards, every file once.

    Files of `beside` that are not in it come last, each compared with the records of its own bytes alone: what was made
    of an earlier version of it has another hash of it, which says nothing about the file.
    """
    claims = _claims(evidence, artifacts)
    claims |= {file: _own(evidence, file) for file in beside if file not in claims}
    order = list(claims)
    progress = Progress("hashing, files", len(order))
    found: dict[str, tuple[str | None, int]] = {}
    with ThreadPoolExecutor() as pool:
        for file, read in zip(order, pool.map(lambda name: _read(evidence, name), order), strict=True):
            found[file] = read
            progress.advance()
    return [
        Link(
            file,
            found[file][0],
            tuple(claims[file] or evidence.consumers(file)),
            evidence.records.get(file),
            tuple(evidence.vouchers.get(file, ())),
            evidence.facts(file),
            evidence.missing,
            found[file][1],
        )
        for file in order
    ]


def _read(evidence: Evidence, file: str) -> tuple[str | None, int]:
    """The digest and the size of a file; (None, 0) where it is not there."""
    path = evidence.find(file)
    try:
        return (sha256(path), path.stat().st_size) if path else (None, 0)
    except OSError as problem:
        raise InputInvalid(f"{path}: cannot be read: {problem.strerror}; expected a file that you may read") from None


def _claims(evidence: Evidence, artifacts: Sequence[str]) -> dict[str, list[Claim]]:
    """Claims by file, in the order in which the files are met, nearest first.

    A manifest that is an input stands for its files (weights, raw shards), so the chain goes on through them. One that
    only vouches for a file does not pull in what else its job made.
    """
    claims: dict[str, list[Claim]] = {}
    todo = deque((file, True) for file in artifacts)
    followed: set[tuple[str, bool]] = set()
    while todo:
        file, stands = todo.popleft()
        if (file, stands) in followed:
            continue
        followed.add((file, stands))
        if file not in claims:
            claims[file] = _own(evidence, file)
            todo += [(manifest, False) for manifest in evidence.manifests(file)]
            record = evidence.records.get(file)
            todo += [(name, True) for name in (*(record.inputs if record else ()), *evidence.inputs(file))]
        if stands:
            todo += [(name, True) for name in evidence.outputs(file)]
    for file in list(claims):  # only now: every file of the chain is known, and each may speak of any other
        for name, claim in _said(evidence, file):
            claims[name].append(claim)
    return claims


def _own(evidence: Evidence, file: str) -> list[Claim]:
    """What is recorded of a file's bytes when it was made: its own record, and the manifests that stand for it."""
    vouched = evidence.vouchers.get(file, ())
    return [*evidence.own(file), *(Claim(evidence.outputs(manifest)[file], manifest) for manifest in vouched)]


def _said(evidence: Evidence, file: str) -> Iterable[tuple[str, Claim]]:
    """What one file of the chain and its record say about the hashes of what it was made of."""
    yield from ((name, Claim(digest, file)) for name, digest in evidence.inputs(file).items())
    yield from evidence.checksums(file).items()
