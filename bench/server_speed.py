"""How fast is a model behind a server asked, for how much of the processor, and in how much memory?

    python -m bench.server_speed

The same rows through each way, each in a process of its own, at a server of this machine that answers in about a second
(lognormal, `--sigma`; the same delays for every way): `excam score` with its files (`excam`), its client with the
journal alone (`client`), a plain asyncio loop of aiohttp that keeps nothing (`loop`), and lm-evaluation-harness
(`lm-eval`). Start-up, and the questions of what the server takes, are not counted. On a shared machine compare rows a
second within a round, and processor seconds.
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
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from resource import RUSAGE_SELF, getrusage
from typing import Any

from bench.processes import environment
from excam.core import provenance
from scripts import run

WAYS = ("excam", "client", "loop", "lm-eval")
WORDS = ("tea", "rice", "bride", "feast", "priest", "lantern", "bread", "market", "river", "uncle", "winter", "drum")
LEFT_OUT = 64  # rows asked beforehand, so that connections and imports are there


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ways", nargs="+", default=list(WAYS), choices=WAYS)
    parser.add_argument("--rows", type=int, default=1024)
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
    rounds = _rounds(args)
    if args.numbers:
        provenance.write_json(args.numbers, {"command": sys.argv, "speed": rounds})


def _rounds(args: argparse.Namespace) -> list[dict[str, Any]]:
    rounds: list[dict[str, Any]] = []
    for number in range(args.rounds):
        for way in args.ways:
            with _server(args) as address:
                done = subprocess.run(_child(args, way, address), stdout=subprocess.PIPE, env=environment(), check=True)
            rounds.append({"round": number + 1, "way": way, **json.loads(done.stdout.splitlines()[-1])})
            print(json.dumps(rounds[-1]), flush=True)
    return rounds


def _child(args: argparse.Namespace, way: str, address: str) -> list[str]:
    words = [
        word for name in ("rows", "concurrency", "delay", "sigma") for word in (f"--{name}", str(vars(args)[name]))
    ]
    return [sys.executable, "-m", "bench.server_speed", *words, "--child", way, address]


def _texts(rows: int) -> Iterator[str]:
    for row in range(rows):
        yield f"{row}: " + " ".join(random.Random(row).choices(WORDS, k=100))


# --- the server


@contextmanager
def _server(args: argparse.Namespace) -> Iterator[str]:
    command = _child(args, "server", "")
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
                seconds = args.delay * chance.lognormvariate(0, args.sigma)
                asyncio.get_running_loop().call_later(seconds, self._send)

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
    rows = args.rows
    with tempfile.TemporaryDirectory() as scratch:
        ask = _open(way, address, args, Path(scratch))
        ask(LEFT_OUT)
        began, used = time.perf_counter(), time.process_time()
        ask(rows)
        wall, processor = time.perf_counter() - began, time.process_time() - used
    measured = {"rows": rows, "rows_per_s": round(rows / wall, 2), "cpu_ms_per_row": round(1000 * processor / rows, 3)}
    return {**measured, "peak_MB": round(getrusage(RUSAGE_SELF).ru_maxrss / 1024)}


def _open(way: str, address: str, args: argparse.Namespace, scratch: Path) -> Callable[[int], None]:
    if way == "excam":
        return _excam(address, args, scratch)
    if way == "client":
        return lambda rows: _client(address, args, scratch, rows)
    if way == "lm-eval":
        return _lm_eval(address, args)
    return lambda rows: asyncio.run(_loop(address, args, rows))


def _excam(address: str, args: argparse.Namespace, scratch: Path) -> Callable[[int], None]:
    """What `excam score FILE --model m@... --to ...` does once it knows what the server takes."""
    from excam.scoring import files, metric
    from excam.scoring.opening import open_scorer
    from excam.scoring.options import Options
    from excam.scoring.rows import RowFile

    judge = open_scorer(Options(models=(f"m@{address}",), concurrency=args.concurrency))

    def ask(rows: int) -> None:
        path = scratch / f"{rows}.jsonl"
        with path.open("w") as stream:
            stream.writelines(json.dumps({"prompt": "A?", "output": text}) + "\n" for text in _texts(rows))
        read = RowFile(path, metric.load("excam"))
        for _ in files.results(judge, read, rows, scratch / f"{rows}.scored.jsonl"):
            pass

    return ask


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


async def _loop(address: str, args: argparse.Namespace, rows: int) -> None:
    """What a reader would write: so many workers that post and read, and keep nothing."""
    import aiohttp

    coming = iter(_sent(rows))
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:

        async def worker() -> None:
            for fields in coming:
                async with session.post(f"{address}/chat/completions", json=fields) as response:
                    assert json.loads(await response.read())["choices"]

        await asyncio.gather(*(worker() for _ in range(args.concurrency)))


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
