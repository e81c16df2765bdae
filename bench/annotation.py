"""How fast does a campaign's server acknowledge answers, and does a kill lose one that it acknowledged?

    python -m bench.annotation --annotators 200 --seconds 60
    python -m bench.annotation --annotators 20 --kills 200

The real server on a store on disk, the rater's form of the rubric. Each annotator saves a change of a task every three
seconds, as a person who types and clicks does, over a connection of their own; page and list of answers are asked once
at the beginning. The time is that of the request as the annotator sees it, with this program and the server on the same
machine. With kills the server gets SIGKILL at random moments and starts again; at the end every acknowledged answer,
and none twice, must be in the store.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import signal
import ssl
import statistics
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import httpx

from excam.annotation.answers import Answer
from excam.annotation.campaign import Campaign, Task, campaign
from excam.annotation.store import Store
from excam.core import provenance
from excam.core.hash_order import digest
from excam.rubric import form as rater
from excam.rubric import manual
from scripts import run
from tests.helpers.annotation_server_process import Running, events, made

CONTEXT = ssl.create_default_context()  # one for all: making 200 would take ten seconds of the same processor
PACE = 3.0  # seconds between two saves of an annotator
TASKS = 20


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--annotators", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--kills", type=int, default=0, help="then it lasts until all are done")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--numbers", type=Path, help="write them here, as JSON")
    args = parser.parse_args(argv)
    with tempfile.TemporaryDirectory(prefix="excam-annotation-") as folder:
        numbers = _measured(args, Path(folder))
    print(json.dumps(numbers, indent=1))
    if args.numbers:
        provenance.write_json(args.numbers, {"command": sys.argv, **numbers})


def _measured(args: argparse.Namespace, folder: Path) -> dict[str, Any]:
    names = [f"rater-{number}" for number in range(args.annotators)]
    made_up_campaign = usual_campaign()
    links = made(folder / "answers.store", made_up_campaign, names)
    saved = _Saved()
    with Running(folder / "answers.store", log=folder / "log") as server:
        asyncio.run(_everybody(args, server, made_up_campaign, links, saved))
        server.end(signal.SIGKILL if args.kills else signal.SIGTERM)
    with Store(folder / "answers.store") as store:
        lost = sum(not _kept(store, name, task, rows) for (name, task), rows in saved.acknowledged.items())
    return {
        "annotators": args.annotators,
        "acknowledged": sum(map(len, saved.acknowledged.values())),
        "kills": saved.kills,
        "lost": lost,
        **_times("page", saved.times["page"]),
        **_times("save", saved.times["save"]),
        "unanswered": saved.unanswered,
    }


def usual_campaign() -> Campaign:
    """Return a campaign of the rater's form with tasks of a usual length."""
    form = rater.made_of(manual.load())
    shown = {name: "" for part in form.shows for name in part.of}
    facets = {name: "main" for name in form.facets if name not in ("language", "culture")}
    text = "A colleague from another country asks how to decline an invitation without giving offence. " * 8
    tasks = [
        Task(
            digest(0, "bench", str(number))[:16],
            f"row-{number}",
            "English",
            "Japan",
            3,
            {**shown, **facets, "prompt": text, "response": text * 2},
        )
        for number in range(TASKS)
    ]
    return campaign("Bench", form, tasks)


class _Saved:
    """What the annotators sent, and what they were told."""

    def __init__(self) -> None:
        self.times: dict[str, list[float]] = defaultdict(list)
        self.acknowledged: dict[tuple[str, str], list[tuple[int, str]]] = defaultdict(list)
        self.unanswered = 0
        self.kills = 0


async def _everybody(
    args: argparse.Namespace, server: Running, made_up_campaign: Campaign, links: dict[str, str], saved: _Saved
) -> None:
    done = asyncio.Event()
    people = [
        asyncio.create_task(
            _person(name, link, server, made_up_campaign, saved, done, PACE / 10 if args.kills else PACE)
        )
        for name, link in links.items()
    ]
    if args.kills:
        chance = random.Random(args.seed)
        for _ in range(args.kills):
            await asyncio.sleep(chance.uniform(0.05, 0.6))
            await asyncio.to_thread(server.end, signal.SIGKILL)
            await asyncio.to_thread(server.start)
            saved.kills += 1
            print(f"kill {saved.kills} of {args.kills}", end="\r", file=sys.stderr)
    else:
        await asyncio.sleep(args.seconds)
    done.set()
    await asyncio.gather(*people)


async def _person(
    name: str, link: str, server: Running, made_up_campaign: Campaign, saved: _Saved, done: asyncio.Event, pace: float
) -> None:
    chance = random.Random(name)
    await asyncio.sleep(chance.uniform(0, pace))
    async with httpx.AsyncClient(base_url=server.url, timeout=30, verify=CONTEXT) as client:
        await _timed(client, "GET", link, "page", saved)
        await _timed(client, "GET", f"{link}/answers", "page", saved)
        revisions: dict[str, int] = {}
        texts = [question.field for question in made_up_campaign.form.questions if question.kind == "text"]
        number = 0
        while not done.is_set():
            task = made_up_campaign.tasks[number // 10 % TASKS].id
            number += 1
            values = {**made_up_campaign.form.empty(), texts[0]: f"word {number} " * 20}
            answer = Answer(task, name, values, number, "2026-04-01T12:00:00.000Z")
            body = {"base": revisions.get(task, 0), "answer": answer.row()}
            reply = await _timed(client, "PUT", f"{link}/answers/{task}", "save", saved, json=body)
            if reply is not None and reply.status_code == 200:
                revisions[task] = reply.json()["revision"]
                saved.acknowledged[name, task].append((revisions[task], values[texts[0]]))
            elif reply is not None and reply.status_code == 409:  # saved, and the reply was lost: go on from there
                revisions[task] = reply.json()["revision"]
            await asyncio.sleep(chance.uniform(0.5, 1.5) * pace)


async def _timed(
    client: httpx.AsyncClient, method: str, path: str, kind: str, saved: _Saved, **more: Any
) -> httpx.Response | None:
    """Return the reply; None where the server was away."""
    began = time.perf_counter()
    try:
        reply = await client.request(method, path, **more)
    except httpx.TransportError:
        saved.unanswered += 1
        await asyncio.sleep(0.2)
        return None
    saved.times[kind].append(time.perf_counter() - began)
    return reply


def _kept(store: Store, name: str, task: str, acknowledged: Sequence[tuple[int, str]]) -> bool:
    """Return whether the history has every acknowledged revision, once, with what was sent."""
    texts = defaultdict(list)
    for event in events(store, name, task):
        texts[event.revision].append(json.dumps(event.answer.row()))
    return all(len(texts[number]) == 1 and json.dumps(text)[1:-1] in texts[number][0] for number, text in acknowledged)


def _times(name: str, seconds: Sequence[float]) -> dict[str, float]:
    if len(seconds) < 2:
        return {}
    milliseconds = sorted(1000 * duration for duration in seconds)
    return {
        f"{name}_requests": len(seconds),
        f"{name}_ms_median": round(statistics.median(milliseconds), 1),
        f"{name}_ms_p95": round(milliseconds[int(0.95 * len(milliseconds))], 1),
        f"{name}_ms_most": round(milliseconds[-1], 1),
    }


if __name__ == "__main__":
    run(main)
