"""The command that puts the metric behind HTTP."""

from __future__ import annotations

from contextlib import suppress
from typing import Annotated

import typer

from excam.extras import needed
from excam.metric import defaults
from excam.metric.commands import ADAPTER, BASE, DEFAULT, MAX_TOKENS
from excam.terminal import stop, stopping


def serve(
    adapter: ADAPTER = DEFAULT,
    base: BASE = None,
    host: Annotated[str, typer.Option(help="address to listen at")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0: any that is free")] = 8010,
    max_pairs: Annotated[int, typer.Option(min=1, help="of one request, and of one batch")] = defaults.MAX_PAIRS,
    queue: Annotated[
        int, typer.Option(min=1, help="places for pairs that wait; who finds no room is told when to return")
    ] = defaults.QUEUE,
    timeout: Annotated[float, typer.Option(min=1, help="seconds after which a request is given up")] = defaults.TIMEOUT,
    allow_host: Annotated[list[str] | None, typer.Option(help="another name of this machine; several times")] = None,
    max_tokens: MAX_TOKENS = defaults.MAX_TOKENS,
) -> None:
    """Judge pairs that come over HTTP: POST /score, GET /health, GET /openapi.json. One model, judged in batches.

    Where EXCAM_SERVER_KEY is set, clients have to send it as a bearer token. Ends with Ctrl-C or SIGTERM: what is being
    judged is still answered, who waits is told to come back. Logs hold no texts.

    Example: excam serve --adapter results/adapters/smollm2-135m/all --port 8010
    """
    from excam.metric.metric import Metric
    from excam.provenance import quiet_libraries

    quiet_libraries()
    with stopping():
        needed("serve", "fastapi", "uvicorn")
    from excam.metric import listening

    if queue < max_pairs:
        stop(f"--queue: found {queue}; expected {max_pairs} or more, as many as --max-pairs lets one request hold")
    with stopping(), suppress(KeyboardInterrupt):  # uvicorn raises it again when it has ended in good order
        metric = Metric.open(adapter, base, max_tokens)
        listening.serve(metric, host, port, allow_host or [], max_pairs, queue, timeout)
