"""Kill judging at random moments, resume each time, and compare with an undisturbed run.

A local HTTP server answers as a function of the request. The same files must come out byte for byte, and what a kill
costs is what was on its way: at most `concurrency` requests that are asked again.
"""

from __future__ import annotations

import hashlib
import json
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import fake_chat_server
from fake_chat_server import send, wrong
from journal_contents import contents

from bench.processes import environment
from excam.error_reports import record_files
from excam.error_reports.judges import report
from excam.error_reports.records import CulturalError, Report, Sample

CONCURRENCY = 8
SEED = "7"
PROBE = "Answer with {}"  # what a step asks first, to learn what the server takes
WORDS = ("tea", "rice", "bride", "feast", "priest", "lantern", "bread", "market", "river", "uncle", "winter", "drum")


class Server(fake_chat_server.Server):
    """Chat completions by hash of the request, up to 20,000 characters long, after some milliseconds.

    `asked` counts each request but a step's probe. Prompts of which `refuse` is true get a status of 418. `port` 0: any that is free.
    """

    def __init__(
        self, refuse: Callable[[str], bool] = lambda prompt: False, port: int = 0, latency: float = 0.01
    ) -> None:
        self.asked: Counter[str] = Counter()
        self._refuse, self._latency = refuse, latency
        self._came = threading.Condition()
        super().__init__(default=self._reply, port=port)
        self.endpoint = self.endpoint.rstrip("/")

    def _reply(self, question: Mapping[str, Any]) -> Callable[[Any], None]:
        prompt = question["messages"][-1]["content"]
        with self._came:
            if prompt != PROBE:
                self.asked[hashlib.sha256(json.dumps(question).encode()).hexdigest()] += 1
            self._came.notify_all()
        step = wrong(418, "not today") if self._refuse(prompt) else (200, answer(question))

        def reply(handler: Any) -> None:
            time.sleep(self._latency * random.random())
            send(handler, *step)

        return reply

    def wait(self, requests: int, seconds: float) -> None:
        """Return when so many requests have come in all, or after so long."""
        with self._came:
            self._came.wait_for(lambda: self.asked.total() >= requests, seconds)


def answer(question: Mapping[str, Any]) -> dict[str, Any]:
    """A chat completion: a judge's report."""
    prompt = question["messages"][-1]["content"]
    chance = random.Random(hashlib.sha256(prompt.encode()).digest())
    words = " ".join(chance.choices(WORDS, k=chance.choice((5, 50, 3000))))
    errors = [CulturalError("output", chance.choice(WORDS), "major", "culture")] * chance.randrange(3)
    text = report.write(Report(tuple(errors), words))
    tokens = [{"token": word, "logprob": -chance.random(), "bytes": None} for word in (text[:7], text[7:])]
    choice = {
        "message": {"role": "assistant", "content": text},
        "finish_reason": "stop",
        "logprobs": {"content": tokens},
    }
    return {"choices": [choice], "usage": {"prompt_tokens": len(prompt.split()), "completion_tokens": len(tokens)}}


def write_samples(path: Path, rows: int) -> None:
    """So many rows, which a judge is asked about."""
    dataset = path.parent.name
    made = [
        Sample(
            **{"id": f"{dataset}/{row}/minor/right", "pair": f"{dataset}/{row}/minor", "base": f"{dataset}/{row}"},
            **{"dataset": dataset, "task": "generation", "report": Report(), "origin": "source", "answer": ""},
            **{"language": "English", "culture": "Peru", "stratum": "Peru", "licence": "MIT"},
            instruction=f"{dataset} {row}: " + " ".join(random.Random(row).choices(WORDS, k=200)),
            output=WORDS[row % len(WORDS)],
        )
        for row in range(rows)
    ]
    record_files.write_samples(path, made)


def command(endpoint: str) -> list[str]:
    """A job as its rule would start it, in a folder with `blend/test.parquet`."""
    server = {"endpoint": endpoint, "concurrency": CONCURRENCY}
    model = {"backend": "openai", "server": server, "sampling": {"max_tokens": 64}}
    words = ["scripts", "judge", "--name", "served/nothing/report", "--judge", "report", "--model", json.dumps(model)]
    words += ["--journal", "journal.jsonl", "--seed", SEED, "--samples", "blend/test.parquet"]
    words += ["--transcripts", "out/test.jsonl", "--manifests", "out/test.manifest.json"]
    return [sys.executable, "-m", *words]


def prepare(folder: Path, rows: int) -> Path:
    """A folder with samples of so many rows. Returns it."""
    (folder / "blend").mkdir(parents=True, exist_ok=True)
    write_samples(folder / "blend/test.parquet", rows)
    return folder


def start(words: Sequence[str], folder: Path, **options: Any) -> subprocess.Popen[str]:
    """The job; all it says is on `stdout`."""
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    return subprocess.Popen(words, cwd=folder, env=environment(), **streams, **options)


def finish(words: Sequence[str], folder: Path) -> float:
    """Run the job to its end; seconds. Ends the program where the job fails."""
    began = time.perf_counter()
    job = start(words, folder)
    said, _ = job.communicate()
    if job.returncode:
        sys.exit(f"killed_jobs: {said[-2000:]}")
    return time.perf_counter() - began


def results(folder: Path) -> dict[str, bytes]:
    """What came out, without manifests, which say when."""
    files = sorted((folder / "out").rglob("*.jsonl"))
    return {file.relative_to(folder).as_posix(): file.read_bytes() for file in files}


@dataclass(frozen=True, slots=True)
class Outcome:
    """Of one job that was killed again and again. `again`: requests that had been asked before, per kill and in all."""

    kills: int
    equal: bool
    rows: int
    again_per_kill: int
    again: int
    seconds: float


def killed(folder: Path, kills: int, rows: int, seed: int = 0) -> Outcome:
    """Kill one job so often, let it end, and compare: after each kill what is there under its name, at the end all.

    A kill comes some requests, and up to 50 ms, after a start. One in eight, and those when little is left to ask, come
    at any time: while the job starts, reads its journal, writes.
    """
    began, chance = time.perf_counter(), random.Random(seed)
    with Server() as server:
        whole = prepare(folder / "whole", rows)
        finish(command(server.endpoint), whole)
        seconds = finish(command(server.endpoint), whole)  # with nothing to ask
        expected = results(whole)
        if len(server.asked) != rows or server.asked.total() != rows:
            sys.exit(f"killed_jobs: {server.asked.total()} requests for {rows} rows; expected one each")
    with Server() as server:
        interrupted, words = prepare(folder / "torn", rows), command(server.endpoint)
        done, again, equal = 0, [0], bool(expected)
        while done < kills:
            before = server.asked.total() - len(server.asked)
            job = start(words, interrupted)
            left = rows - len(server.asked)
            if done % 8 == 7 or left <= CONCURRENCY:
                time.sleep(chance.uniform(0, seconds))
            else:
                steps = chance.randint(1, max(1, 2 * left // (kills - done + 1)))
                server.wait(server.asked.total() + steps, 60)
                time.sleep(chance.uniform(0, 0.05))
            job.kill()
            job.communicate()
            done += job.returncode == -signal.SIGKILL  # else it was through already
            again.append(server.asked.total() - len(server.asked) - before)
            equal = equal and results(interrupted).items() <= expected.items()
        before = server.asked.total() - len(server.asked)
        finish(words, interrupted)
        again.append(server.asked.total() - len(server.asked) - before)
    if len(contents(interrupted / "journal.jsonl").answers) > 1:
        sys.exit(
            "killed_jobs: two identities in one journal: the code was edited meanwhile, so everything was asked again; run again"
        )
    return Outcome(
        done, equal and results(interrupted) == expected, rows, max(again), sum(again), time.perf_counter() - began
    )
