"""What comparing weights with their manifest costs: one file at a time, in threads, and where this node has seen them.

All three in the same run, on files of random bytes that it makes, in an order that turns; the shortest of the rounds.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from unittest import mock

from excam import hashing

WAYS: Mapping[str, Callable[[Mapping[Path, str]], object]] = {
    "one thread": lambda files: [hashing.sha256(path) for path in files],
    "threads": hashing.digests,
    "seen before": hashing.unlike,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=8)
    parser.add_argument("--megabytes", type=int, default=128, help="of each file")
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()

    with tempfile.TemporaryDirectory() as folder:
        files = _made(Path(folder), args.files, args.megabytes << 20)
        time.sleep(hashing.YOUNG + 0.5)  # younger ones are not kept
        with mock.patch.dict(os.environ, {hashing.CACHE: str(Path(folder, "cache"))}):
            hashing.unlike(files)
            found = _measured(files, args.rounds)
    gigabytes = args.files * args.megabytes / 1024
    print(f"{args.files} files of {args.megabytes} MiB, {hashing.threads()} threads\n")
    print("| way | s | GiB/s | times one thread |\n|---|---:|---:|---:|")
    for way, seconds in found.items():
        rate = f"{gigabytes / seconds:.2f}" if way != "seen before" else "read nothing"
        print(f"| {way} | {seconds:.4f} | {rate} | {found['one thread'] / seconds:.1f} |")


def _made(folder: Path, number: int, size: int) -> dict[Path, str]:
    """Files and their digests; what was read once comes from memory, so no disk is measured."""
    paths = [folder / f"model-{n}.safetensors" for n in range(number)]
    for path in paths:
        path.write_bytes(os.urandom(size))
    return {path: hashing.sha256(path) for path in paths}


def _measured(files: Mapping[Path, str], rounds: int) -> dict[str, float]:
    """The shortest time of each way, as a new process would have it."""
    best = dict.fromkeys(WAYS, float("inf"))
    for turn in range(rounds):
        ways = list(WAYS)
        for way in ways[turn % len(ways) :] + ways[: turn % len(ways)]:
            with mock.patch.object(hashing, "_known", {}):
                began = time.perf_counter()
                WAYS[way](files)
                best[way] = min(best[way], time.perf_counter() - began)
    return best


if __name__ == "__main__":
    main()
