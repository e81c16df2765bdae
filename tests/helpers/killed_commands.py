"""Kill commands that ask a model, or compute, at random moments; type each again; compare with an undisturbed run.

What a command writes under its own name is whole at every moment, the same bytes come out at the end, and a request is
asked again only where a kill caught it on its way.
"""

from __future__ import annotations

import itertools
import json
import random
import signal
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from killed_jobs import CONCURRENCY, SEED, Server, finish, start, write_instances

from bench.processes import ROOT
from excam.acre import items, source, translations
from excam.core import tables

ROWS = 120
MODEL = "served"


@dataclass(frozen=True, slots=True)
class Command:
    """Words of a command line, without the model, and what writes the files that it reads into a folder."""

    words: Sequence[str]
    write: Callable[[Path], None]
    asks: bool = True

    def line(self, endpoint: str) -> list[str]:
        """The whole command line, with the model behind a server."""
        if self.words[0] == "scripts":
            server = {"endpoint": endpoint, "concurrency": CONCURRENCY}
            model = {"backend": "openai", "server": server, "sampling": {"max_tokens": 64}}
            return [sys.executable, "-m", *self.words, "--model", json.dumps(model), "--seed", SEED]
        asked = ["--model", f"{MODEL}@{endpoint}", "--concurrency", str(CONCURRENCY)] if self.asks else []
        return [sys.executable, "-m", "excam", *self.words, *asked]


def rows(file: Path, of: str, **names: str) -> Callable[[Path], None]:
    """Own rows again and again, as many as `ROWS`, until each has an id and a text `of` its own."""
    read = [json.loads(line) for line in (ROOT / "mini" / file).read_text(encoding="utf-8").splitlines()]

    def write(folder: Path) -> None:
        made = (
            {**row, of: f"{row[of]} ({at})"} for at, row in enumerate(itertools.islice(itertools.cycle(read), ROWS))
        )
        named = (row | {name: text.format(at) for name, text in names.items()} for at, row in enumerate(made))
        write_lines(folder / "rows.jsonl", named)

    return write


def write_lines(path: Path, lines: object) -> None:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")


def instances(folder: Path) -> None:
    """Instances of Macaron."""
    write_instances(folder / "instances.parquet", ROWS)


def translated(folder: Path) -> None:
    """All translations of the miniature of CulT-Eval."""
    here = ROOT / "mini/cult-eval"
    made = source.written(source.files(here)[1:], items.read(here / "items.jsonl"))
    tables.write_frame(folder / "rows.parquet", translations.to_frame(made[:ROWS]))


def scored(folder: Path) -> None:
    """Scored rows, and the truth about them."""
    chance = random.Random(5)
    signature = "excam|model:m@0123abcd|judge:report.1.1"
    made = [
        {"id": f"{at}", "score": -5.0 * chance.randrange(2), "failure": None, "certainty": chance.random()}
        for at in range(4000)
    ]
    write_lines(folder / "scored.jsonl", ({**row, "signature": signature} for row in made))
    write_lines(folder / "gold.jsonl", ({"id": row["id"], "error": chance.random() < 0.5} for row in made))


def documents(folder: Path) -> None:
    """Documents of some thousand passages."""
    chance = random.Random(5)
    words = (ROOT / "mini/documents/answers.jsonl").read_text(encoding="utf-8").split()
    texts = ("\n\n".join(" ".join(chance.choices(words, k=90)) for _ in range(20)) for _ in range(150))
    write_lines(
        folder / "documents.jsonl", ({"id": f"{at}", "text": text, "licence": "MIT"} for at, text in enumerate(texts))
    )


COMMANDS = {
    "macaron ask": Command(
        ("macaron", "ask", "instances.parquet", "--mode", "text", "--to", "out/answers.parquet"), instances
    ),
    "rubric by a model": Command(
        ("score", "rows.jsonl", "--metric", "rubric", "--to", "out/rated.jsonl"),
        rows(Path("rubric/responses.jsonl"), "prompt", id="{}"),
    ),
    "acre judge": Command(("acre", "judge", "rows.parquet", "--to", "out/judged.parquet"), translated),
    "acre candidates": Command(
        ("acre", "candidates", "rows.jsonl", "--to", "out/candidates.jsonl"),
        rows(Path("cult-eval/items.jsonl"), "source", id="{}"),
    ),
    "calmqa filter": Command(
        ("calmqa", "filter", "rows.jsonl", "--to", "out/kept.jsonl"),
        rows(Path("calmqa/train.jsonl"), "question", question_id="{}"),
    ),
    "calibrate": Command(
        ("calibrate", "scored.jsonl", "--gold", "gold.jsonl", "--to", "out/calibration.json", "--overwrite"),
        scored,
        asks=False,
    ),
    "knowledge build": Command(("knowledge", "build", "documents.jsonl", "--to", "out/pack"), documents, asks=False),
}


def results(folder: Path) -> dict[str, bytes]:
    """What a command has written under its own names, but manifests, which say when."""
    files = (path for path in sorted((folder / "out").rglob("*")) if path.is_file())
    shown = (path for path in files if not path.name.startswith(".") and not path.name.endswith(".manifest.json"))
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in shown}


def prepared(folder: Path, command: Command) -> Path:
    folder.mkdir(parents=True)
    (folder / "out").mkdir()
    command.write(folder)
    return folder


@dataclass(frozen=True, slots=True)
class Story:
    """What became of a command that was killed `kills` times, in as many `runs` from an empty folder as that took.

    `again`: requests beyond those of undisturbed runs; `torn`: files that at some moment were not those of a whole run;
    `left`: hidden files at the end of a run, but what a kill left of a file that it hit while it was written.
    """

    kills: int
    runs: int
    requests: int
    again: int
    torn: Sequence[str]
    left: Sequence[str]


def killed(command: Command, folder: Path, kills: int, seed: int = 0) -> Story:
    """Kill a command so often, and each time type it again. Ends the program where it fails of itself."""
    chance, done, runs, again, torn, left = random.Random(seed), 0, 0, 0, set[str](), set[str]()
    with Server() as server:
        line = command.line(server.endpoint)
        seconds = finish(line, whole := prepared(folder / "whole", command))
        expected, requests = results(whole), server.asked.copy()
        if not expected or bool(requests) != command.asks:
            sys.exit(f"killed_commands: {len(expected)} files, {requests.total()} requests")
        while done < kills:
            server.asked.clear()
            here = prepared(folder / f"run-{runs}", command)
            while True:
                job = start(line, here)
                if done < kills:
                    _wait(chance, server, requests.total(), here, seconds)
                    job.kill()
                said, _ = job.communicate()
                if job.returncode not in (0, -signal.SIGKILL):
                    sys.exit(f"killed_commands: after {done} kills: {said[-2000:]}")
                ended = not job.returncode
                done += not ended
                outputs = results(here)
                torn |= {name for name in outputs if outputs[name] != expected.get(name)}
                if ended:
                    break
            torn |= expected.keys() - results(here).keys()
            again += (server.asked - requests).total()
            if requests.keys() != server.asked.keys():
                sys.exit(f"killed_commands: {len(server.asked)} different requests; expected {len(requests)}")
            left |= {
                path.name for path in (here / "out").rglob(".*") if path.suffix != ".part" or path.stem.count(".") < 3
            }
            runs += 1
    return Story(done, runs, requests.total(), again, sorted(torn), sorted(left))


def _wait(chance: random.Random, server: Server, requests: int, folder: Path, seconds: float) -> None:
    """Wait for some requests, for a first file, or for any time of a run."""
    how = chance.choice(("requests", "requests", "time") if requests else ("file", "file", "time"))
    end = time.monotonic() + 2 * seconds
    if how == "requests":
        server.wait(server.asked.total() + chance.randint(1, max(1, requests // 2)), 2 * seconds)
        time.sleep(chance.uniform(0, 0.05))
    elif how == "file":
        seen = set(folder.rglob("*"))
        while set(folder.rglob("*")) == seen and time.monotonic() < end:
            time.sleep(0.001)
        time.sleep(chance.uniform(0, 0.02))
    else:
        time.sleep(chance.uniform(0, seconds))
