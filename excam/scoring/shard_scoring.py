"""Scoring of shards: each becomes one Parquet table and, written last, one manifest with its counts.

A shard that has both is not scored again, and a killed run goes on within its shard. In memory are one batch of rows
and a digest of each id of the shard.
"""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from excam.core.exceptions import AnswersMissing, ArtifactBroken, InputInvalid
from excam.core.provenance import Progress, open_plain, read_json, say, sha256, write_manifest
from excam.scoring import files, result_files
from excam.scoring.files import Judge
from excam.scoring.metric import Row
from excam.scoring.results import Result
from excam.scoring.rows import RowFile
from excam.scoring.shards import Shard
from excam.scoring.summary import Summary

SILENT = 3  # shards in a row without answers; then the server or engine is taken to be down


class TokenLog(Progress):
    """Progress of one shard that also keeps the tokens of answers in a file, so that they survive a kill."""

    def __init__(self, what: str, rows: int, file: Path) -> None:
        super().__init__(what, rows)
        self.file = file

    def count_tokens(self, prompt: int, completion: int) -> None:
        log = open_plain(self.file, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        try:
            os.write(log, f"{prompt} {completion}\n".encode("ascii"))
        finally:
            os.close(log)

    def totals(self) -> dict[str, int]:
        """Return the tokens of all runs of this shard; a kill loses at most those of the answers that just came."""
        pairs: list[tuple[int, int]] = []
        with suppress(FileNotFoundError):
            lines = self.file.read_text(encoding="ascii").split("\n")[:-1]
            pairs = [(int(line.split()[0]), int(line.split()[1])) for line in lines]
        return {"prompt_tokens": sum(p for p, _ in pairs), "completion_tokens": sum(c for _, c in pairs)}


def score_shard(
    judge: Judge, rows: Iterable[Row], shard: Shard, scores: Path, settings: Mapping[str, Any]
) -> dict[str, Any]:
    """Score the rows of a shard, write its table and then its manifest, and return its counts.

    Where both are there, and shard, signature and table are as recorded, only the counts are read. Raises InputInvalid
    for a shard that changes meanwhile, or a table of other texts under the same name.

    Args:
        judge: that scores
        rows: of the shard; they can be iterated several times
        shard: the file
        scores: the folder of tables and manifests
        settings: what decides the scores, for the manifest
    """
    table = shard.table(scores)
    began, digest = time.monotonic(), sha256(shard.path)
    tokens = table.with_name(f".{table.name}.tokens")
    judge = judge.for_rows(rows)
    with result_files.Growing(table, judge) as growing:
        if (counts := _recorded(judge.signature, shard, digest, scores, settings)) is None:
            total = sum(1 for _ in rows)
            log = TokenLog(f"{shard.name}, rows", total, tokens)
            deque(files.grown(judge, rows, growing, log), maxlen=0)
            if sha256(shard.path) != digest:
                raise InputInvalid(
                    f"{shard.path}: changed while it was read; expected a complete file; run again when it is: rows "
                    "before the first change are not scored again"
                )
            summary = Summary()
            result_files.write(table, summary.counting(map(Result.of_row, result_files.read_part(growing.part), rows)))
            counts = _counts(summary) | log.totals()
            write_manifest(
                shard.manifest(scores),
                inputs=[shard.path],
                outputs=[table],
                settings=settings,
                seconds=time.monotonic() - began,
                signature=judge.signature,
                shard=digest,
                counts=counts,
            )
        growing.drop()
        tokens.unlink(missing_ok=True)
    return counts


def _recorded(
    signature: str, shard: Shard, digest: str, scores: Path, settings: Mapping[str, Any]
) -> dict[str, Any] | None:
    """Return the counts of a shard that was scored as it is; None if it must be scored."""
    manifest, table = shard.manifest(scores), shard.table(scores)
    if not manifest.is_file():
        return None
    recorded = read_json(manifest, "inputs", "outputs", "settings", "signature", "shard", "counts")
    same = recorded["shard"] == digest
    if recorded["settings"] != settings or not (same or str(shard.path) in recorded["inputs"]):
        inputs = f"{', '.join(recorded['inputs'])} ({', '.join(map(str, recorded['settings'].values()))})"
        raise InputInvalid(f"{table}: holds the scores of {inputs}; expected those of {shard.path}; move {scores} away")
    if not same or recorded["signature"] != signature or not table.is_file():
        return None
    if recorded["outputs"] != {table.name: sha256(table)}:
        return None
    return recorded["counts"]


def _counts(summary: Summary) -> dict[str, Any]:
    """Return the counts of a shard as JSON."""
    counted = summary.counts
    return {
        "rows": counted["rows"],
        "scored": counted["rows"] - counted["failed"] - counted["not known"],
        "failed": counted["failed"],
        "not_known": counted["not known"],
        "with_errors": counted["with errors"],
        "score_sum": summary.score_sum,
        "failures": dict(sorted(summary.failures.items())),
        "warnings": dict(sorted(summary.warnings.items())),
        "signature": summary.signature,
    }


def score_shards(
    judge: Judge, shards: Sequence[Shard], columns: Mapping[str, str], scores: Path, settings: Mapping[str, Any]
) -> tuple[dict[str, dict[str, Any]], list[str]]:
    """Score shards in order; return the counts of each by name, and one line for each that could not be scored.

    `columns` has the names of columns that the user chose, by the metric's. How a shard is read is said once.
    A shard that cannot be read, or with rows that the model left unanswered, does not stop the others; three without
    answers in a row do.

    Args:
        judge: that scores
        shards: in the order in which they are scored
        columns: names of columns that the user chose, by the metric's
        scores: the folder of tables and manifests
        settings: what decides the scores, for the manifests
    """
    counts: dict[str, dict[str, Any]] = {}
    problems: list[str] = []
    notes: set[str] = set()
    silent = 0
    for number, shard in enumerate(shards, 1):
        try:
            rows = RowFile(shard.path, judge.metric, columns)
            if (how := rows.said.removeprefix(f"{shard.path}: ")) and how not in notes:
                say(f"{shard.path}: {how}")
                notes.add(how)
            counts[shard.name] = shard_counts = score_shard(judge, rows, shard, scores, settings)
        except AnswersMissing as problem:
            problems.append(f"{shard.path}: {problem}")
            silent += 1
            if silent == SILENT:
                break
        except (InputInvalid, ArtifactBroken) as problem:
            named = str(shard.path) in str(problem)  # not in one about an id
            problems.append(str(problem) if named else f"{shard.path}: {problem}")
        else:
            silent = 0
            say(
                f"{shard.path}: shard {number} of {len(shards)}: "
                f"{shard_counts['scored']} of {shard_counts['rows']} rows scored"
            )
    return counts, problems
