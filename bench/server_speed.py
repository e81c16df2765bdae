"""How fast is a model behind a server asked, for how much of the processor, and in how much memory?

    python -m bench.server_speed
    python -m bench.server_speed --parts memory

`--parts speed`: the same rows through each way, each in a process of its own, at a server of this machine that answers
in about a second (lognormal, `--sigma`; the same delays for every way): `excam score` with its files (`excam`), its
client with the journal alone (`client`), a plain asyncio loop of aiohttp that keeps nothing (`loop`), and
lm-evaluation-harness (`lm-eval`). Start-up, and the questions of what the server takes, are not counted. On a shared
machine compare rows a second within a round, and processor seconds.

`--parts clients`: HTTP clients alone at a server that answers at once: aiohttp, http.client and urllib3 in threads,
httpx.

`--parts memory`: `excam score` of `--many` rows at a server that answers at once; memory after each tenth.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from resource import RUSAGE_SELF, getrusage
from typing import Any

from bench.processes import environment
from excam.core import provenance
from scripts import run

WAYS = ("excam", "client", "loop", "lm-eval")
CLIENTS = ("aiohttp", "http.client", "urllib3", "httpx")
WORDS = ("tea", "rice", "bride", "feast", "priest", "lantern", "bread", "market", "river", "uncle", "winter", "drum")
LEFT_OUT = 64  # rows asked beforehand, so that connections and imports are there


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--parts", nargs="+", default=["speed"], choices=["speed", "clients", "memory"])
    parser.add_argument("--ways", nargs="+", default=list(WAYS), choices=WAYS)
    parser.add_argument("--rows", type=int, default=1024)
    parser.add_argument("--many", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--concurrency", type=int, default=64)
    parser.add_argument("--delay", type=float, default=1.0, help="median seconds of an answer")
    parser.add_argument("--sigma", type=float, default=0.7)
    parser.add_argument("--numbers", type=Path, help="write them here, as JSON")
    parser.add_argument("--child", nargs=2, help=argparse.SUPPRESS)  # way, address
    args = parser.parse_args(argv)
    if args.child:
        way, address = args.child
        print(json.dumps(_serve(args) if way == "server" else _measured(way, address, args)), flush=True)
        return
    numbers: dict[str, Any] = {"command": sys.argv}
    if "clients" in args.parts:
        numbers["clients"] = _rounds(args, CLIENTS, 0.0)
    if "speed" in args.parts:
        numbers["speed"] = _rounds(args, args.ways, args.delay)
    if "memory" in args.parts:
        numbers["memory"] = _rounds(args, ("memory",), 0.0)
    if args.numbers:
        provenance.write_json(args.numbers, numbers)


def _rounds(args: argparse.Namespace, ways: Sequence[str], delay: float) -> list[dict[str, Any]]:
    rounds: list[dict[str, Any]] = []
    for number in range(1 if "memory" in ways else args.rounds):
        for way in ways:
            with _server(args, delay) as address:
                done = subprocess.run(_child(args, way, address), stdout=subprocess.PIPE, env=environment(), check=True)
            rounds.append({"round": number + 1, "way": way, **json.loads(done.stdout.splitlines()[-1])})
            print(json.dumps(rounds[-1]), flush=True)
    return rounds


def _child(args: argparse.Namespace, way: str, address: str, **changed: float) -> list[str]:
    names = {"rows": args.rows, "many": args.many, "concurrency": args.concurrency, "delay": args.delay}
    values = names | {"sigma": args.sigma} | changed
    words = [word for name, value in values.items() for word in (f"--{name}", str(value))]
    return [sys.executable, "-m", "bench.server_speed", *words, "--child", way, address]


def _texts(rows: int) -> Iterator[str]:
    for row in range(rows):
        yield f"{row}: " + " ".join(random.Random(row).choices(WORDS, k=100))


# --- the server


@contextmanager
def _server(args: argparse.Namespace, delay: float) -> Iterator[str]:
    command = _child(args, "server", "", delay=delay)
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment()) as process:
        assert process.stdout
        try:
            yield f"http://127.0.0.1:{int(process.stdout.readline())}/v1"
        finally:
            process.kill()


def _serve(args: argparse.Namespace) -> None:
    """Answer every request with one clean report, after a delay that depends on its place alone."""
    chance, body = random.Random(1), _body()
    data = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body) + body

    class Answering(asyncio.Protocol):
        def connection_made(self, transport: Any) -> None:
            self._transport, self._came = transport, b""

        def data_received(self, data: bytes) -> None:
            self._came += data
            end = self._came.find(b"\r\n\r\n") + 4
            length = re.search(rb"content-length: (\d+)", self._came[:end], re.IGNORECASE)
            if end > 3 and length and len(self._came) >= end + int(length[1]):
                self._came = b""
                if args.delay:
                    seconds = args.delay * chance.lognormvariate(0, args.sigma)
                    asyncio.get_running_loop().call_later(seconds, self._send)
                else:
                    self._send()

        def _send(self) -> None:
            if not self._transport.is_closing():
                self._transport.write(data)

    async def listen() -> None:
        server = await asyncio.get_running_loop().create_server(Answering, "127.0.0.1", 0, backlog=1024)
        print(server.sockets[0].getsockname()[1], flush=True)
        await server.serve_forever()

    asyncio.run(listen())


def _body() -> bytes:
    from excam.error_reports.judges import report
    from excam.error_reports.records import Report

    text = report.write(Report())
    tokens = re.findall(r"\w+|\W", text)
    listed = [{"token": token, "logprob": -0.01, "bytes": list(token.encode()), "top_logprobs": []} for token in tokens]
    message = {"role": "assistant", "content": text}
    choice = {"index": 0, "message": message, "finish_reason": "stop", "logprobs": {"content": listed}}
    usage = {"prompt_tokens": 300, "completion_tokens": len(tokens)}
    return json.dumps({"object": "chat.completion", "model": "m", "choices": [choice], "usage": usage}).encode()


# --- the ways


def _measured(way: str, address: str, args: argparse.Namespace) -> dict[str, Any]:
    rows = args.many if way == "memory" else args.rows
    with tempfile.TemporaryDirectory() as scratch:
        ask = _open(way, address, args, Path(scratch))
        ask(LEFT_OUT)
        began, used = time.perf_counter(), time.process_time()
        more = ask(rows) or {}
        wall, processor = time.perf_counter() - began, time.process_time() - used
    measured = {"rows": rows, "rows_per_s": round(rows / wall, 2), "cpu_ms_per_row": round(1000 * processor / rows, 3)}
    return {**measured, "peak_MB": round(getrusage(RUSAGE_SELF).ru_maxrss / 1024), **more}


def _open(way: str, address: str, args: argparse.Namespace, scratch: Path) -> Callable[[int], dict[str, Any] | None]:
    if way in ("excam", "memory"):
        return _excam(address, args, scratch)
    if way == "client":
        return lambda rows: _client(address, args, scratch, rows)
    if way == "lm-eval":
        return _lm_eval(address, args)
    if way in ("http.client", "urllib3"):
        return lambda rows: _threads(way, address, args, rows)
    return lambda rows: asyncio.run(_loop(way, address, args, rows))


def _excam(address: str, args: argparse.Namespace, scratch: Path) -> Callable[[int], dict[str, Any]]:
    """What `excam score FILE --model m@... --to ...` does once it knows what the server takes."""
    from excam.scoring import files, metric
    from excam.scoring.options import Options, open_scorer
    from excam.scoring.rows import RowFile

    judge = open_scorer(Options(models=(f"m@{address}",), concurrency=args.concurrency))

    def ask(rows: int) -> dict[str, Any]:
        path, memory = scratch / f"{rows}.jsonl", list[int]()
        with path.open("w") as stream:
            stream.writelines(json.dumps({"prompt": "A?", "output": text}) + "\n" for text in _texts(rows))
        read = RowFile(path, metric.load("excam"))
        for number, _ in enumerate(files.results(judge, read, rows, scratch / f"{rows}.scored.jsonl"), 1):
            if number % max(1, rows // 10) == 0:
                memory.append(_resident())
        return {"MB_by_tenths": memory}

    return ask


def _resident() -> int:
    """Return the resident memory of this process in megabytes."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096 // 2**20


def _requests(rows: int) -> list[Any]:
    from excam.error_reports.judges import report
    from excam.inference import Generate

    return [Generate(report.messages("Generate a culturally correct text", text)) for text in _texts(rows)]


def _client(address: str, args: argparse.Namespace, scratch: Path, rows: int) -> None:
    from excam.config import Server
    from excam.inference import Sampling
    from excam.inference.backends import openai
    from excam.inference.journal import Journal, ask

    backend = openai.Backend("m", Server(endpoint=address, concurrency=args.concurrency))
    ask(backend, Sampling(512), Journal(scratch / f"{rows}.journal"), _requests(rows))


def _sent(rows: int) -> list[dict[str, Any]]:
    how = {"model": "m", "max_tokens": 512, "temperature": 0.0, "top_p": 1.0, "seed": 1, "logprobs": True}
    return [{"messages": [vars_of(message) for message in request.messages], **how} for request in _requests(rows)]


def vars_of(message: Any) -> dict[str, str]:
    return {"role": message.role, "content": message.content}


async def _loop(way: str, address: str, args: argparse.Namespace, rows: int) -> None:
    """What a reader would write: so many workers that post and read, and keep nothing."""
    coming = iter(_sent(rows))
    url = f"{address}/chat/completions"

    async def worker(ask: Callable[[dict[str, Any]], Awaitable[bytes]]) -> None:
        for fields in coming:
            assert json.loads(await ask(fields))["choices"]

    if way == "httpx":
        import httpx

        async with httpx.AsyncClient(timeout=600, limits=httpx.Limits(max_connections=None)) as client:

            async def ask_httpx(fields: dict[str, Any]) -> bytes:
                return (await client.post(url, json=fields)).content

            await asyncio.gather(*(worker(ask_httpx) for _ in range(args.concurrency)))
        return
    import aiohttp

    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:

        async def ask(fields: dict[str, Any]) -> bytes:
            async with session.post(url, json=fields) as response:
                return await response.read()

        await asyncio.gather(*(worker(ask) for _ in range(args.concurrency)))


def _threads(way: str, address: str, args: argparse.Namespace, rows: int) -> None:
    import http.client

    coming, lock, url = iter(_sent(rows)), threading.Lock(), f"{address}/chat/completions"
    kind = {"Content-Type": "application/json"}
    pool: Any = None
    if way == "urllib3":
        import urllib3

        pool = urllib3.PoolManager(maxsize=args.concurrency)

    def worker() -> None:
        connection = http.client.HTTPConnection(url.split("/")[2])
        while True:
            with lock:
                fields = next(coming, None)
            if fields is None:
                return
            body = json.dumps(fields).encode()
            if pool:
                data = pool.request("POST", url, body=body, headers=kind, retries=False).data
            else:
                connection.request("POST", "/v1/chat/completions", body, kind)
                data = connection.getresponse().read()
            assert json.loads(data)["choices"]

    workers = [threading.Thread(target=worker) for _ in range(args.concurrency)]
    for thread in workers:
        thread.start()
    for thread in workers:
        thread.join()


def _lm_eval(address: str, args: argparse.Namespace) -> Callable[[int], None]:
    from lm_eval.api.instance import Instance
    from lm_eval.models.api_models import JsonChatStr
    from lm_eval.models.openai_completions import LocalChatCompletion

    opened: Any = LocalChatCompletion  # its decorator hides the parameters
    model = opened(
        f"{address}/chat/completions", model="m", num_concurrent=args.concurrency, max_retries=8, max_gen_toks=512
    )

    def ask(rows: int) -> None:
        how = {"max_gen_toks": 512, "temperature": 0, "until": []}
        asked = [
            Instance("generate_until", {}, (JsonChatStr(json.dumps(fields["messages"])), dict(how)), at)
            for at, fields in enumerate(_sent(rows))
        ]
        assert len(model.generate_until(asked, disable_tqdm=True)) == rows

    return ask


if __name__ == "__main__":
    run(main)
