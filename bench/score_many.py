"""Many rows: what `excam score` remembers of them, and what a kill costs. No model: answers come by hash of the text.

    python -m bench.score_many --parts memory kills

`memory`: files of `--sizes` rows through what `excam score FILE` and `excam score FILE --to OTHER` do, each in a
process of its own: seconds, processor time a row, and the largest resident set beside that of a file of one batch.

`kills`: `--rows` rows with `--to`, killed with `kill -9` at random moments until it ends; the file must be that of an
undisturbed run byte for byte, and rows that were asked about twice are counted.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

from excam import provenance
from excam.config import Model, Sampling
from excam.inference import Generate, fake, opening
from excam.judges import report
from excam.metric import files
from excam.metric.cautions import Cautions
from excam.metric.metric import BATCH, Metric
from excam.metric.pairs import PairFile
from excam.records import CulturalError, Report
from scripts import run

WAYS = ("stream", "kept")
WRONG = report.write(Report((CulturalError("output", "sushi", "major", "incorrect answer"),), "Sushi is Japanese."))
RIGHT = report.write(Report())


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--parts", nargs="+", default=["memory", "kills"], choices=["memory", "kills"])
    parser.add_argument("--sizes", type=int, nargs="+", default=[BATCH, 10_000, 100_000, 1_000_000])
    parser.add_argument("--ways", nargs="+", default=list(WAYS), choices=WAYS)
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--numbers", type=Path, help="write them here, as JSON")
    parser.add_argument("--child", nargs=3, metavar=("WAY", "FOLDER", "TO"), help=argparse.SUPPRESS)
    args = parser.parse_args(argv)
    if args.child:
        _score(args.child[0], Path(args.child[1]), Path(args.child[2]))
        return
    found: dict[str, Any] = {"command": sys.argv}
    with tempfile.TemporaryDirectory() as place:
        if "memory" in args.parts:
            found["memory"] = [_memory(Path(place), way, size) for size in args.sizes for way in args.ways]
        if "kills" in args.parts:
            found["kills"] = _kills(Path(place), args.rows, args.kills, random.Random(args.seed))
    if args.numbers:
        provenance.write_json(args.numbers, found)


def _write(folder: Path, rows: int) -> None:
    folder.mkdir()
    with (folder / "pairs.jsonl").open("w") as stream:
        for number in range(rows):
            dish = "sushi" if number % 3 else "moussaka"
            row = {
                "id": f"row-{number}",
                "instruction": f"Name a Greek dish, please, for guest {number}.",
                "output": dish,
            }
            stream.write(json.dumps(row) + "\n")


def _child(way: str, folder: Path, to: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "bench.score_many", "--child", way, str(folder), str(folder / to)]
    return subprocess.Popen(command, stderr=subprocess.DEVNULL)


def _memory(place: Path, way: str, rows: int) -> dict[str, Any]:
    folder = place / f"{way}-{rows}"
    _write(folder, rows)
    began = time.perf_counter()
    child = _child(way, folder, "scored.jsonl")
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        sys.exit(f"bench.score_many: {way} of {rows} rows ended with {child.returncode}")
    told = {
        "way": way,
        "rows": rows,
        "wall_s": round(time.perf_counter() - began, 1),
        "cpu_ms_per_row": round(1000 * (usage.ru_utime + usage.ru_stime) / rows, 3),
        "peak_MB": round(usage.ru_maxrss / 1024, 1),
    }
    print(json.dumps(told), flush=True)
    for file in folder.iterdir():
        file.unlink()
    return told


def _kills(place: Path, rows: int, kills: int, chance: random.Random) -> dict[str, Any]:
    folder = place / "kills"
    _write(folder, rows)
    if _child("kept", folder, "whole.jsonl").wait():
        sys.exit("bench.score_many: the undisturbed run failed")
    asked = folder / "asked"
    asked.write_bytes(b"")
    done = 0
    while not (folder / "killed.jsonl").exists():
        child = _child("kept", folder, "killed.jsonl")
        if done < kills:
            enough = asked.stat().st_size + chance.randint(1, 2 * rows // kills)
            while child.poll() is None and asked.stat().st_size < enough:
                time.sleep(chance.uniform(0, 0.002))
            done += child.poll() is None
            child.send_signal(signal.SIGKILL)
        if child.wait() not in (0, -signal.SIGKILL):
            sys.exit(f"bench.score_many: a run after a kill ended with {child.returncode}")
    same = _digest(folder / "whole.jsonl") == _digest(folder / "killed.jsonl")
    told: dict[str, Any] = {"rows": rows, "kills": done, "same_bytes": same}
    told["asked_again"] = asked.stat().st_size - rows
    told["left_over"] = sorted(path.name for path in folder.glob(".*"))
    print(json.dumps(told), flush=True)
    return told


def _digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


# --- a child: the metric with a backend that knows one dish and counts what it is asked


class Counting(fake.Backend):
    """Adds a byte to a file for each request before it is answered, so that the count outlives a kill."""

    model = Model(gpus=0, backend="transformers", licence="", hub="local")

    def __init__(self, asked: Path) -> None:
        super().__init__(_answer, "fake")
        self._file = os.open(asked, os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def _completion(self, request: Generate, sampling: Sampling) -> Any:
        os.write(self._file, b".")
        return super()._completion(request, sampling)

    def _batches(self, requests: Any) -> Any:
        for batch in super()._batches(requests):
            self.asked.clear()  # it keeps every request for tests to look at
            yield batch


def _answer(request: Generate) -> str:
    return WRONG if "sushi" in request.messages[-1].content else RIGHT


def _score(way: str, folder: Path, to: Path) -> None:
    backend = cast(opening.Lazily, Counting(folder / "asked"))
    metric, rows = (
        Metric(backend, "model:fake", 512, Cautions.of_judge(["fake"])),
        PairFile(folder / "pairs.jsonl"),
    )
    if way == "kept":
        for _ in files.kept(metric, rows, to):
            pass
        return
    with to.open("w") as stream:
        for one in files.scored(metric, rows):
            stream.write(json.dumps(one.to_dict()) + "\n")


if __name__ == "__main__":
    run(main)
