"""How fast does a running `excam serve` answer clients that ask at once, and what becomes of those it has no room for?

    excam serve --adapter results/adapters/smollm2-135m/all --port 8010
    python -m bench.serving http://127.0.0.1:8010 --clients 1 8 50

Each of so many clients has a connection of its own and sends its next request when the last is answered; one that finds
the queue full waits as long as the server says; its time counts from its first try. `--clients 1` is the alternative
without neighbours: what the others gain over it they owe to being judged in one batch.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import statistics
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import httpx

from excam.core import provenance
from scripts import run


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("url", help="address of the server")
    parser.add_argument("--clients", type=int, nargs="+", default=[1, 8, 50])
    parser.add_argument("--requests", type=int, default=8, help="of each client")
    parser.add_argument("--pairs", type=int, default=1, help="in each request")
    parser.add_argument("--numbers", type=Path, help="write them here, as JSON")
    args = parser.parse_args(argv)

    table = {}
    for clients in args.clients:
        table[clients] = asyncio.run(_load(args.url, clients, args.requests, args.pairs))
        print(f"{clients} clients: {json.dumps(table[clients])}", flush=True)
    if args.numbers:
        provenance.write_json(args.numbers, {"command": sys.argv, "clients": table})


async def _load(url: str, clients: int, requests: int, pairs: int) -> dict[str, float | int]:
    """`requests` from each of `clients`, all at once. Times in seconds."""
    times: list[float] = []
    seen: Counter[str] = Counter()
    began = time.monotonic()
    await asyncio.gather(*(_client(url, name, requests, pairs, times, seen) for name in range(clients)))
    seconds = time.monotonic() - began
    ordered = sorted(times)
    return {
        "requests": len(times),
        "requests_per_s": round(len(times) / seconds, 2),
        "pairs_per_s": round(len(times) * pairs / seconds, 2),
        "p50_s": round(statistics.median(ordered), 3),
        "p95_s": round(ordered[math.ceil(0.95 * len(ordered)) - 1], 3),
        "max_s": round(ordered[-1], 3),
        "told_to_wait": seen["503"],
        "errors": seen["errors"],
        "wrong_rows": seen["wrong"],
    }


async def _client(url: str, name: int, requests: int, pairs: int, times: list[float], seen: Counter[str]) -> None:
    async with httpx.AsyncClient(timeout=900) as http:
        for number in range(requests):
            rows = [
                {"prompt": "A dish?", "output": f"In Greece they eat sushi {name} {number} {at}.", "id": str(at)}
                for at in range(pairs)
            ]
            began = time.monotonic()
            answer = await http.post(f"{url}/score", json={"pairs": rows})
            while answer.status_code == 503:
                seen["503"] += 1
                await asyncio.sleep(float(answer.headers["Retry-After"]))
                answer = await http.post(f"{url}/score", json={"pairs": rows})
            times.append(time.monotonic() - began)
            if answer.status_code != 200:
                seen["errors"] += 1
            elif [row["output"] for row in answer.json()["results"]] != [row["output"] for row in rows]:
                seen["wrong"] += 1


if __name__ == "__main__":
    run(main)
