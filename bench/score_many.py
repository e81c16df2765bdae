"""Are a million rows scored once each, in how much memory, and does it matter how often the jobs are killed?

    python -m bench.score_many --rows 1000000 --kills 20

Shards of Parquet, CSV and JSON Lines, one of them with a tenth of all rows, are scored twice by jobs as the workflow
runs them (one process for each batch of shards), with a backend that answers by hash of the request. The second time
jobs get SIGKILL at random moments and are started again. Then the tables of both must have equal bytes and every row
once, in order. The backend takes no time, so rows per second are those of our own work, on one core.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.processes import environment
from excam.core import provenance, row_files
from excam.core.tables import read_frame
from scripts import run

WORDS = ("tea", "rice", "bride", "feast", "priest", "lantern", "bread", "market", "river", "uncle", "winter", "drum")
KINDS = ("parquet", "csv", "jsonl")
MODEL = "by-hash"
LAST = 0.8  # no kill after this share of the undisturbed run's time, because the second run may be faster


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--shards", type=int, default=91, help="the first has a tenth of the rows")
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--job-megabytes", type=int, default=64)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--numbers", type=Path, help="write them here, as JSON")
    parser.add_argument("--job", help=argparse.SUPPRESS)  # a child: scores this batch
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--scores", type=Path, help=argparse.SUPPRESS)
    args = parser.parse_args(argv)
    if args.job:
        _score(args.job, args.folder, args.scores, args.job_megabytes)
        return
    with tempfile.TemporaryDirectory(prefix="excam-many-") as place:
        numbers = _measured(args, Path(place))
    print(json.dumps(numbers, indent=1))
    if args.numbers:
        provenance.write_json(args.numbers, {"command": sys.argv, **numbers})


def _measured(args: argparse.Namespace, place: Path) -> dict[str, Any]:
    texts = place / "texts"
    _write_shards(texts, args.rows, args.shards)
    steady = _Run(args, texts, place / "steady")
    steady.finish([])
    chance = random.Random(args.seed)
    killed = _Run(args, texts, place / "killed")
    killed.finish(sorted(chance.uniform(0, LAST * steady.seconds) for _ in range(args.kills)))
    tables = _tables(steady.scores)
    same = [name for name, path in tables.items() if path.read_bytes() == _tables(killed.scores)[name].read_bytes()]
    rows, in_order = _rows(texts, tables)
    tokens = [_tokens(finished_run.scores) for finished_run in (steady, killed)]
    return {
        "rows": args.rows,
        "shards": args.shards,
        "MB_of_texts": round(sum(path.stat().st_size for path in texts.iterdir()) / 1e6, 1),
        "jobs": steady.jobs,
        "rows_scored": rows,
        "shards_with_all_rows_once_in_order": in_order,
        "seconds": round(steady.seconds, 1),
        "rows_per_s": round(args.rows / steady.seconds),
        "peak_MB_of_a_job": round(max(steady.peaks)),
        "kills": killed.kills,
        "seconds_with_kills": round(killed.seconds, 1),
        "peak_MB_with_kills": round(max(killed.peaks)),
        "tables_with_same_bytes": len(same),
        "tokens": tokens[0],
        "tokens_with_kills": tokens[1],
    }


def _write_shards(texts: Path, rows: int, shards: int) -> None:
    """Write the shards; the first has a tenth of the rows, the others share the rest."""
    import polars as pl

    first = rows // 10 if shards > 1 else rows
    begin = 0
    for number in range(shards):
        end = first + (rows - first) * number // max(1, shards - 1)
        path = texts / f"{number:04d}.{KINDS[number % 3]}"
        path.parent.mkdir(exist_ok=True)
        frame = pl.DataFrame([_row(row_number) for row_number in range(begin, end)])
        {"parquet": frame.write_parquet, "csv": frame.write_csv, "jsonl": frame.write_ndjson}[path.suffix[1:]](path)
        begin = end


def _row(number: int) -> dict[str, str]:
    chance = random.Random(number)
    return {
        "id": f"row-{number}",
        "instruction": f"What is brought to the {chance.choice(WORDS)} of {number}?",
        "output": " ".join(chance.choices(WORDS, k=chance.randint(20, 80))),
    }


@dataclass
class _Run:
    """All jobs of one run: `seconds` that a job was at work, `peaks` of their memory in MB."""

    args: argparse.Namespace
    texts: Path
    scores: Path
    seconds: float = 0.0
    kills: int = 0
    jobs: int = 0
    peaks: list[float] = field(default_factory=list)

    def finish(self, moments: list[float]) -> None:
        """Run every job until it is complete; it is killed at these moments, in seconds of work."""
        from excam.scoring import shards

        batches = shards.batches(shards.find(self.texts), self.args.job_megabytes * 10**6)
        self.jobs = len(batches)
        for name in batches:
            while not self._ended(name, moments):
                provenance.say(f"killed {self.kills} times, the last after {self.seconds:.1f} s")

    def _ended(self, name: str, moments: list[float]) -> bool:
        """Start a job; return True when it has ended by itself, False when it was killed."""
        command = [sys.executable, "-m", "bench.score_many", "--job", name, "--folder", str(self.texts)]
        command += ["--scores", str(self.scores), "--job-megabytes", str(self.args.job_megabytes)]
        began = time.monotonic()
        with (self.texts.parent / "log").open("ab") as log:
            job = subprocess.Popen(command, env=environment(), stderr=log)
        status, usage = _waited(job.pid, began + moments[0] - self.seconds if moments else None)
        self.seconds += time.monotonic() - began
        self.peaks.append(usage.ru_maxrss / 1024)
        if moments and self.seconds >= moments[0]:
            moments.pop(0)
        job.returncode = os.waitstatus_to_exitcode(status)
        self.kills += job.returncode == -signal.SIGKILL
        if job.returncode not in (0, -signal.SIGKILL):
            log = (self.texts.parent / "log").read_text()[-2000:]
            sys.exit(f"bench.score_many: job {name} ended with {job.returncode}: {log}")
        return job.returncode == 0


def _waited(process: int, until: float | None) -> tuple[int, resource.struct_rusage]:
    """Wait for the end of a process, and kill it if it is there at this moment."""
    while until is not None and time.monotonic() < until:
        ended, status, usage = os.wait4(process, os.WNOHANG)
        if ended:
            return status, usage
        time.sleep(0.005)
    if until is not None:
        os.kill(process, signal.SIGKILL)
    return os.wait4(process, 0)[1:]


def _tables(scores: Path) -> dict[str, Path]:
    return {path.stem: path for path in sorted((scores / "shards").glob("*.parquet"))}


def _rows(texts: Path, tables: dict[str, Path]) -> tuple[int, int]:
    """Return the number of scored rows, and of shards whose table has their ids in their order."""
    rows = in_order = 0
    for path in sorted(texts.iterdir()):
        ids = read_frame(tables[path.stem])["id"].to_list()
        rows += len(ids)
        in_order += ids == [row["id"] for _, row in row_files.rows(path)]
    return rows, in_order


def _tokens(scores: Path) -> int:
    counts = [provenance.read_json(path, "counts")["counts"] for path in (scores / "shards").glob("*.json")]
    return sum(count["prompt_tokens"] + count["completion_tokens"] for count in counts)


# --- a job: scores the shards of one batch, as the step `score_shards` does, with a backend without a model


def _score(name: str, folder: Path, scores: Path, job_megabytes: int) -> None:
    from excam.scoring import metric, shards
    from excam.scoring.metric import Setup
    from excam.scoring.models import OpenedModel
    from excam.scoring.scorer import Scorer
    from excam.scoring.shard_scoring import score_shards

    backend: Any = _backend()
    model = OpenedModel(backend, f"model:{MODEL}", names=(MODEL,))
    judge = Scorer(metric.load("excam").prepared(Setup(model, judge="report")), model)
    batch = shards.batches(shards.find(folder), job_megabytes * 10**6)[name]
    _, problems = score_shards(judge, batch, {}, scores, {"metric": "excam", "model": MODEL})
    if problems:
        sys.exit("\n".join(problems))


def _backend() -> Any:
    """Return a backend that keeps no request and answers with a report, or seldom with prose, by hash."""
    import hashlib

    from excam.error_reports.judges import report
    from excam.error_reports.records import CulturalError, Report
    from excam.inference import Completion, Generate, Sampling

    class Backend:
        identity = MODEL

        def generate(self, requests: Sequence[Generate], sampling: Sampling) -> Iterator[list[tuple[int, Completion]]]:
            """Yield batches of 256."""
            for start in range(0, len(requests), 256):
                end = min(start + 256, len(requests))
                yield [(at, answer(requests[at])) for at in range(start, end)]

    def answer(request: Generate) -> Completion:
        content = request.messages[-1].content
        digest = hashlib.sha256(content.encode()).digest()
        word = next(word for word in WORDS if word in content)
        errors = (CulturalError("output", word, "minor", "custom"),) if digest[0] < 64 else ()
        text = "I cannot say." if digest[1] < 8 else report.write(Report(errors, ""))
        tokens = len(text.split())
        logprobs = tuple(-digest[at % 32] / 512 for at in range(tokens))
        return Completion(text, logprobs, -digest[2] / 512, "stop", len(content.split()), tokens)

    return Backend()


if __name__ == "__main__":
    run(main)
