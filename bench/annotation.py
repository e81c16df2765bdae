"""How long does a save take when many annotators answer at once? And what do the store's two choices buy?

    python -m bench.annotation --annotators 200 --saves 10 --pause 0.5 1.5 --rounds 3

Each simulated annotator has a connection of her own and, again and again, pauses for a random time within the bounds,
sends an answer and waits for its 200, which comes when it is on disk. A real server process answers. With pauses of
0.5 to 1.5 s, 200 annotators send some 150 answers a second, far more than people do; `--pause 0 0` shows how much the
server can take. In the same rounds the same is done with a rollback journal in place of the write-ahead log, and
straight to the store, which shows what is the disk's share. Stops with code 1 where a save failed or is not in the
store.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import random
import socket
import statistics
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import product
from pathlib import Path

from excam.annotation import campaign, storage
from excam.annotation.answers import Answer
from excam.annotation.store import Store
from excam.markdown import table
from excam.provenance import say


class RollbackJournal(Store):
    """SQLite's default: pages are saved away before they are changed, and who reads holds up who writes."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._reader.close()
        self._writer.execute("PRAGMA journal_mode = DELETE")
        self._reader = storage.connect(path)


STORES: Mapping[str, type[Store]] = {
    "as it is: write-ahead log": Store,
    "rollback journal": RollbackJournal,
}
ALONE = "as it is, without a server: one thread saves one answer after the other"
KINDS = (*STORES, ALONE)


@dataclass(slots=True)
class Round:
    """Milliseconds of each save, how many failed, seconds of the whole."""

    waits: list[float] = field(default_factory=list)
    failed: int = 0
    seconds: float = 0.0

    def row(self) -> list[str]:
        ordered = sorted(self.waits)
        times = (statistics.median(ordered), ordered[int(0.95 * len(ordered))], ordered[-1])
        return [
            *(f"{each:.1f}" for each in times),
            f"{len(ordered) / self.seconds:.0f}",
            str(len(ordered)),
            str(self.failed),
        ]


def invented(tasks: int) -> campaign.Campaign:
    """A campaign of texts as long as those of the benchmarks."""
    text = (("The correct answer: " + "what people of that region do on that day, and why. " * 8, False),)
    made = [
        campaign.Task(
            *(
                f"{number:016x}",
                f"row/{number}",
                "calmqa",
                "English",
                "Peru",
                3,
                text,
                text,
                text,
                text,
                "So.",
                "minor",
            ),
            error_type="incorrect information",
            comparisons=tuple(campaign.Comparison(f"{2 * number + at:08x}", "Not so.") for at in (0, 1)),
        )
        for number in range(tasks)
    ]
    return campaign.campaign("Bench", made, {each.code: "a/all/report" for task in made for each in task.comparisons})


def serve(kind: str, path: Path, port: int) -> None:
    """The server process; its log goes to a file, as it would."""
    from excam.annotation import listening

    with path.with_suffix(".log").open("w") as sys.stderr:
        listening.serve(STORES[kind](path), "127.0.0.1", port, [])


def answer(task: str, name: str) -> Answer:
    """An answer after step 1, with a comment of ordinary length."""
    return Answer(task, name, "yes", error_valid="valid", comment_1="As I know it. " * 9, saved=storage.now())


async def annotate(link: str, name: str, port: int, tasks: Sequence[str], pause: Sequence[float], found: Round) -> None:
    """One annotator: every task once, in order."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    for task in tasks:
        await asyncio.sleep(random.uniform(*pause))
        body = json.dumps({"base": 0, "answer": asdict(answer(task, name))}).encode()
        head = f"PUT {link}/answers/{task} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n\r\n"
        started = time.perf_counter()
        writer.write(head.encode() + body)
        reply = await reader.readuntil(b"\r\n\r\n")
        length = next(int(line[15:]) for line in reply.split(b"\r\n") if line.lower().startswith(b"content-length:"))
        await reader.readexactly(length)
        found.waits.append(1000 * (time.perf_counter() - started))
        found.failed += not reply.startswith(b"HTTP/1.1 200")
    writer.close()


async def together(links: Mapping[str, str], port: int, tasks: Sequence[str], pause: Sequence[float]) -> Round:
    """All annotators at once."""
    found, started = Round(), time.perf_counter()
    await asyncio.gather(*(annotate(link, name, port, tasks, pause, found) for name, link in links.items()))
    found.seconds = time.perf_counter() - started
    return found


def measured(kind: str, args: argparse.Namespace, folder: Path) -> Round:
    """One round with a new store. Saves that are not in the store afterwards have failed."""
    path, content = folder / "answers.store", invented(args.saves)
    storage.create(path, content)
    names = [f"a{number}" for number in range(args.annotators)]
    with Store(path) as store:
        links = {name: f"/a/{token}" for name, token in zip(names, store.add(names), strict=True)}
    tasks = [task.id for task in content.tasks]
    found = alone(path, names, tasks) if kind == ALONE else served(kind, path, links, tasks, args.pause)
    with Store(path) as store:
        found.failed += args.annotators * args.saves - len(store.answers())
    return found


def alone(path: Path, names: Sequence[str], tasks: Sequence[str]) -> Round:
    """Without a server, and without pauses."""
    found, began = Round(), time.perf_counter()
    with Store(path) as store:
        for task, name in product(tasks, names):
            started = time.perf_counter()
            store.save(0, answer(task, name))
            found.waits.append(1000 * (time.perf_counter() - started))
    found.seconds = time.perf_counter() - began
    return found


def served(kind: str, path: Path, links: Mapping[str, str], tasks: Sequence[str], pause: Sequence[float]) -> Round:
    """With a new server process."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    server = multiprocessing.get_context("spawn").Process(target=serve, args=(kind, path, port))
    server.start()
    try:
        wait_for(port)
        return asyncio.run(together(links, port, tasks, pause))
    finally:
        server.terminate()
        server.join()


def wait_for(port: int) -> None:
    """Until a server listens, for 30 s at most."""
    end = time.monotonic() + 30
    while time.monotonic() < end:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            time.sleep(0.05)
    raise SystemExit("the server does not start")


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--annotators", type=int, default=200)
    parser.add_argument("--saves", type=int, default=10, help="answers of each annotator")
    parser.add_argument("--pause", type=float, nargs=2, default=(0.5, 1.5), help="bounds of a pause, in seconds")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--folder", type=Path, help="where the stores are made: on the disk to be measured")
    args = parser.parse_args(argv)

    rows: list[list[str]] = []
    failed = 0
    for number in range(args.rounds):
        for kind in KINDS:
            with tempfile.TemporaryDirectory(dir=args.folder) as folder:
                found = measured(kind, args, Path(folder))
            failed += found.failed
            rows.append([kind, str(number + 1), *found.row()])
            say(" | ".join(rows[-1]))
    head = ("store", "round", "median ms", "95 % ms", "longest ms", "saves a second", "saves", "failed")
    print(table(head, sorted(rows, key=lambda row: KINDS.index(row[0]))))
    raise SystemExit(1 if failed else 0)


if __name__ == "__main__":
    main()
