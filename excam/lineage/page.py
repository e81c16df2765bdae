"""A chain written down: a block for each job, from the artifact back, or a JSON line for each file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from excam.lineage.chain import Link
from excam.lineage.evidence import RESULTS

FACTS = (  # of a manifest, in this order, as far as it has them
    *("origin", "revision", "licence", "model", "base", "trained_on", "identity", "seed", "device", "rows"),
    *("excam", "commit", "python", "written"),
)


def lines(links: Sequence[Link]) -> Iterator[str]:
    """The chain for a reader. Files that one job made stand together; raw files come last."""
    jobs: dict[tuple[str, ...], list[Link]] = {}
    for link in links:
        jobs.setdefault(_job(link), []).append(link)
    for _, made in sorted(jobs.items(), key=lambda job: not job[0]):  # stable: only the raw files move
        yield from _block(made)


def _job(link: Link) -> tuple[str, ...]:
    """What tells jobs apart; nothing for a raw file."""
    if link.record:
        return (link.record.rule, link.record.command)
    return link.vouched[:1]


def _block(made: Sequence[Link]) -> Iterator[str]:
    record, vouched = made[0].record, made[0].vouched
    if record:
        stages = ", ".join(f"{name} {version}" for name, version in record.stages.items()) or "none recorded"
        yield f"rule {record.rule}, stage versions: {stages}, {record.made}"
        yield from (f"  settings: {text}" for text in record.settings)
        yield f"  command: {record.command}"
    elif vouched:
        yield f"files that {vouched[0]} stands for"
    else:
        yield "raw files, and others that no recorded rule made"
    for facts in filter(None, (link.facts for link in made)):
        yield "  manifest: " + ", ".join(f"{name} {facts[name]}" for name in FACTS if name in facts)
    for link in made:
        recorded = link.recorded[0] if link.recorded and link.status == "left out" else "none"
        yield f"  {link.status:8} {link.sha256 or recorded:64} {link.file}"
    yield ""


def rows(links: Sequence[Link]) -> Iterator[dict[str, Any]]:
    """The chain for machines: every file with its hashes and how it was made."""
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
    """How many files, and how many of each kind; the kinds add up."""
    count = Counter(link.status for link in links)
    kinds = ", ".join(f"{count[kind]} {kind}" for kind in ("proven", "differs", "gone", "unproven"))
    return f"{len(links)} files: {kinds}" + (f", {count['left out']} not in this copy" if count["left out"] else "")


def coverage(links: Sequence[Link], unrecorded: Mapping[str, int]) -> str:
    """How much was read, and how many files below results/ have no record for which reason (`without_record`)."""
    read = [link for link in links if link.sha256]
    below = sum(link.file.startswith(f"{RESULTS}/") for link in read)
    reasons = ", ".join(f"{n} {why}" for why, n in sorted(unrecorded.items())) or "none"
    size = sum(link.size for link in read)
    return (
        f"read {size / 1e6:,.1f} MB: {below} files below {RESULTS}/ and {len(read) - below} that they were made of; "
        f"without a record: {reasons}"
    )


def left_out(links: Sequence[Link]) -> str | None:
    """Where the files lay that are not in a copy, with how many there were; None where all are there."""
    folders = Counter("/".join(link.file.split("/")[:2]) for link in links if link.status == "left out")
    told = ", ".join(f"{folder} {n}" for folder, n in sorted(folders.items()))
    return f"not in this copy, each listed as `left out` with its recorded sha256: {told}" if told else None


def exit_code(links: Sequence[Link]) -> int:
    """1: something is not what was recorded; 3: something has no record; 4: something is not in the copy; 0: proven."""
    kinds = {link.status for link in links}
    codes = {"differs": 1, "gone": 1, "unproven": 3, "left out": 4}
    return next((code for kind, code in codes.items() if kind in kinds), 0)
