"""`excam serve`: ExCAM as an HTTP server."""

from __future__ import annotations

from contextlib import suppress
from typing import Annotated

import typer

from excam.cli.score_commands import ADAPTER, BASE, DEFAULT, ENGINE, JUDGE, MAX_TOKENS
from excam.core.extras import require_extra
from excam.core.terminal import exit_on_error, stop
from excam.scoring import defaults


def serve(
    adapter: ADAPTER = str(DEFAULT),
    base: BASE = None,
    judge: JUDGE = None,
    engine: ENGINE = None,
    host: Annotated[str, typer.Option(help="address to listen at")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0: any free port")] = 8010,
    max_pairs: Annotated[int, typer.Option(min=1, help="limit of a request, and of a batch")] = defaults.MAX_PAIRS,
    queue: Annotated[
        int, typer.Option(min=1, help="limit of waiting pairs; a request beyond it is refused, with a time to retry")
    ] = defaults.QUEUE,
    timeout: Annotated[
        float, typer.Option(min=1, help="seconds after which a waiting request fails")
    ] = defaults.TIMEOUT,
    allow_host: Annotated[list[str] | None, typer.Option(help="another name of this machine; may be repeated")] = None,
    max_tokens: MAX_TOKENS = defaults.MAX_TOKENS,
) -> None:
    """Judge pairs that come over HTTP: POST /score, GET /health, GET /openapi.json. One model, judged in batches.

    If EXCAM_SERVER_KEY is set, clients must send it as a bearer token. On Ctrl-C or SIGTERM, pairs being judged are
    still answered and waiting requests are refused. Logs contain no texts.

    Example: excam serve --model results/adapters/smollm2-135m/all --port 8010
    """
    from excam.core.provenance import quiet_libraries
    from excam.error_reports.metric.scorer import Metric

    quiet_libraries()
    with exit_on_error():
        require_extra("serve", "fastapi", "uvicorn")
    from excam.scoring import service

    if queue < max_pairs:
        stop(f"--queue: found {queue}; expected {max_pairs} or more, as many as --max-pairs lets one request hold")
    with exit_on_error(), suppress(KeyboardInterrupt):  # uvicorn raises it again after a clean shutdown
        metric = Metric.open(adapter, base, max_tokens, judge=judge, engine=engine)
        service.serve(metric, host, port, allow_host or [], max_pairs, queue, timeout)
