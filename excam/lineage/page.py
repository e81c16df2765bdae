"""A chain as text: a block for each job, starting at the artifact, or a JSON line for each file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from excam.core.paths import RESULTS
from excam.lineage.chain import Link

FACTS = (  # of a manifest, in this order, as far as it has them
    *("origin", "revision", "licence", "model", "base", "trained_on", "identity", "seed", "device", "rows"),
    *("excam", "commit", "python", "written"),
)


def lines(links: Sequence[Link]) -> Iterator[str]:
    """Yield the chain for a reader. Files that one job made are together; raw files come last."""
    jobs: dict[tuple[str, ...], list[Link]] = {}
    for link in links:
        jobs.setdefault(_job(link), []).append(link)
    for _, made in sorted(jobs.items(), key=lambda job: not job[0]):  # stable: only the raw files move
        yield from _job_lines(made)


def _job(link: Link) -> tuple[str, ...]:
    """Return the key of the job that made a file; nothing for a raw file."""
    if link.record:
        return (link.record.rule, link.record.command)
    return link.listing[:1]


def _job_lines(made: Sequence[Link]) -> Iterator[str]:
    """Yield the lines of one job: its rule, settings and command, then each of its files with state and hash."""
    record, listing = made[0].record, made[0].listing
    if record:
        stages = ", ".join(f"{name} {version}" for name, version in record.stages.items()) or "none recorded"
        yield f"rule {record.rule}, stage versions: {stages}, {record.made}"
        yield from (f"  settings: {text}" for text in record.settings)
        yield f"  command: {record.command}"
    elif listing:
        yield f"files that {listing[0]} lists"
    else:
        yield "raw files, and others that no recorded rule made"
    for facts in filter(None, (link.facts for link in made)):
        yield "  manifest: " + ", ".join(f"{name} {facts[name]}" for name in FACTS if name in facts)
    for link in made:
        recorded = link.recorded[0] if link.recorded and link.status == "left out" else "none"
        yield f"  {link.status:8} {link.sha256 or recorded:64} {link.file}"
    yield ""


def rows(links: Sequence[Link]) -> Iterator[dict[str, Any]]:
    """Yield the chain for programs: every file with its hashes and its job."""
    for link in links:
        record = link.record
        yield {
            "file": link.file,
            "status": link.status,
            "sha256": link.sha256,
            "recorded": [{"sha256": claim.sha256, "by": claim.by} for claim in link.claims],
            "rule": record and record.rule,
            "stages": record and record.stages,
            "settings": record and list(record.settings),
            "command": record and record.command,
            "made": record and record.made,
            "inputs": record and list(record.inputs),
            "manifest": link.facts or None,
        }


def summary(links: Sequence[Link]) -> str:
    """Return the number of files, in total and of each state."""
    count = Counter(link.status for link in links)
    kinds = ", ".join(f"{count[kind]} {kind}" for kind in ("proven", "differs", "gone", "unproven"))
    return f"{len(links)} files: {kinds}" + (f", {count['left out']} not in this copy" if count["left out"] else "")


def coverage(links: Sequence[Link], unrecorded: Mapping[str, int]) -> str:
    """Return how much was read, and how many files below results/ have no record, by reason (`without_record`)."""
    read = [link for link in links if link.sha256]
    below = sum(link.file.startswith(f"{RESULTS}/") for link in read)
    reasons = ", ".join(f"{n} {why}" for why, n in sorted(unrecorded.items())) or "none"
    size = sum(link.size for link in read)
    return (
        f"read {size / 1e6:,.1f} MB: {below} files below {RESULTS}/ and {len(read) - below} that they were made of; "
        f"without a record: {reasons}"
    )


def left_out(links: Sequence[Link]) -> str | None:
    """Return the folders of the files that are missing in a copy, with their number; None if none is missing."""
    folders = Counter("/".join(link.file.split("/")[:2]) for link in links if link.status == "left out")
    counts = ", ".join(f"{folder} {n}" for folder, n in sorted(folders.items()))
    return f"not in this copy, each listed as `left out` with its recorded sha256: {counts}" if counts else None


def exit_code(links: Sequence[Link]) -> int:
    """Return 1 if a file differs or is gone, 3 if one has no record, 4 if one is left out of the copy, else 0."""
    kinds = {link.status for link in links}
    codes = {"differs": 1, "gone": 1, "unproven": 3, "left out": 4}
    return next((code for kind, code in codes.items() if kind in kinds), 0)
