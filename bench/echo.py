"""What do our two servers cost, beside one that only gives a request back?

    python -m bench.echo --clients 1 8 --requests 2000

`excam serve` with a metric that computes little (chrf), the annotation server (each answer is on the disk before it is
acknowledged), and a bare FastAPI application under uvicorn, one after the other, each in a process of its own and asked
from this one. Requests a second, and milliseconds of the server's processor time a request.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import aiohttp
import psutil

from bench.processes import ROOT
from excam.annotation import storage
from excam.annotation.answers import Answer
from excam.annotation.campaign import Campaign, Task, campaign
from excam.core.hash_order import digest
from excam.rubric import form as rater
from excam.rubric import manual
from scripts import run
from tests.helpers.annotation_server_process import Running, made

ECHO = """
import sys, uvicorn
from fastapi import FastAPI, Request
from fastapi.responses import Response

app = FastAPI()

@app.post("/")
async def echo(request: Request):
    return Response(await request.body(), media_type="application/json")

uvicorn.run(app, port=int(sys.argv[1]), access_log=False, log_level="warning")
"""
WAYS = ("echo", "excam serve", "excam annotate serve")
Ask = Callable[[int, int], tuple[str, str, dict]]  # client, number of the request -> method, path, body


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clients", type=int, nargs="+", default=[1, 8])
    parser.add_argument("--requests", type=int, default=2000, help="of all clients together")
    parser.add_argument("--port", type=int, default=8990)
    args = parser.parse_args(argv)
    print(f"{'server':<22}{'clients':>8}{'requests/s':>12}{'ms of processor':>17}")
    for way in WAYS:
        for clients in args.clients:
            with (
                tempfile.TemporaryDirectory() as folder,
                served(way, args.port, clients, Path(folder)) as (url, pid, ask),
            ):
                rate, cost = asyncio.run(measured(url, pid, ask, clients, args.requests))
            print(f"{way:<22}{clients:>8}{rate:>12.0f}{cost:>17.2f}", flush=True)


@contextmanager
def served(way: str, port: int, clients: int, folder: Path) -> Iterator[tuple[str, int, Ask]]:
    """Start a server; yield its address, its process and what is asked of it."""
    if way == "excam annotate serve":
        with annotation(clients, folder) as server:
            yield server
        return
    words = ["-c", ECHO, port] if way == "echo" else ["-m", "excam", "serve", "--metric", "chrf", "--port", port]
    path = "/" if way == "echo" else "/score"

    def ask(client: int, number: int) -> tuple[str, str, dict]:
        row = {
            "id": f"{client}",
            "instruction": "A dish?",
            "output": f"In Greece they eat sushi {number}.",
            "reference": "They eat moussaka.",
        }
        return "POST", path, {"rows": [row]}

    process = subprocess.Popen([sys.executable, *map(str, words)], cwd=ROOT, stderr=subprocess.DEVNULL)
    try:
        yield f"http://127.0.0.1:{port}", process.pid, ask
    finally:
        process.terminate()
        process.wait()


@contextmanager
def annotation(clients: int, folder: Path) -> Iterator[tuple[str, int, Ask]]:
    """Start the annotation server; each client is an annotator who changes one answer again and again."""
    usual = usual_campaign()
    names = [f"a{client}" for client in range(clients)]
    links = made(folder / "answers.store", usual, names)
    task = usual.tasks[0].id
    text = next(question.field for question in usual.form.questions if question.kind == "text")

    def ask(client: int, number: int) -> tuple[str, str, dict]:
        values = {**usual.form.empty(), text: f"word {number} " * 20}
        answer = Answer(task, names[client], values, number + 1, storage.utc_now())
        return "PUT", f"{links[names[client]]}/answers/{task}", answer.row()

    with Running(folder / "answers.store", log=folder / "log") as server:
        assert server.process, "it was started"
        yield server.url, server.process.pid, ask


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
        for number in range(20)
    ]
    return campaign("Bench", form, tasks)


async def measured(url: str, pid: int, ask: Ask, clients: int, requests: int) -> tuple[float, float]:
    """Return requests a second, and milliseconds of the server's processor time a request."""
    timeout = aiohttp.ClientTimeout(total=60)
    async with aiohttp.ClientSession(timeout=timeout) as session:

        async def client(number: int, count: int, first: int) -> None:
            for at in range(first, first + count):
                method, path, body = ask(number, at)
                async with session.request(method, url + path, json=body) as reply:
                    if reply.status != 200:
                        sys.exit(
                            f"bench: {url}: {reply.status}: {json.dumps(body)[:100]}: {(await reply.text())[:200]}"
                        )
                    await reply.read()

        await _until_there(session, url)
        await asyncio.gather(*(client(number, 5, 0) for number in range(clients)))  # loads what the first needs
        process = psutil.Process(pid)
        before, began, each = process.cpu_times(), time.perf_counter(), requests // clients
        await asyncio.gather(*(client(number, each, 5) for number in range(clients)))
        seconds, after = time.perf_counter() - began, process.cpu_times()
    used = after.user + after.system - before.user - before.system
    return each * clients / seconds, used / (each * clients) * 1000


async def _until_there(session: aiohttp.ClientSession, url: str) -> None:
    while True:
        try:
            async with session.get(f"{url}/health") as reply:
                await reply.read()
                return
        except aiohttp.ClientConnectionError:
            await asyncio.sleep(0.05)


if __name__ == "__main__":
    run(main)
