"""`excam serve`: a metric as an HTTP server."""

from __future__ import annotations

from contextlib import suppress
from typing import Annotated

import typer

from excam.core.extras import require_extra
from excam.core.terminal import HOST, HOST_NAMES, PORT, exit_on_error, stop
from excam.scoring import defaults
from excam.scoring.options import Options, with_options


@with_options
def serve(
    *,
    scoring: Options,
    host: HOST = "127.0.0.1",
    port: PORT = 8010,
    max_rows: Annotated[int, typer.Option(min=1, help="limit of a request, and of a batch")] = defaults.MAX_ROWS,
    queue: Annotated[
        int, typer.Option(min=1, help="limit of waiting rows; a request beyond it is refused, with a time to retry")
    ] = defaults.QUEUE,
    timeout: Annotated[float, typer.Option(min=1, help="seconds until a waiting request fails")] = defaults.TIMEOUT,
    allow_host: HOST_NAMES = None,
) -> None:
    """Score rows that come over HTTP: POST /score, GET /health. Rows are scored in batches.

    If EXCAM_SERVER_KEY is set, clients must send it as a bearer token. On Ctrl-C or SIGTERM, rows being scored are
    still answered and waiting requests are refused. Logs contain no texts.

    Example: excam serve --model results/adapters/smollm2-135m/all --port 8010
    """
    from excam.core.provenance import quiet_libraries
    from excam.scoring.opening import open_scorer

    quiet_libraries()
    with exit_on_error():
        require_extra("serve", "fastapi", "uvicorn")
    from excam.scoring import service
    from excam.scoring.request_queue import RequestQueue

    if queue < max_rows:
        stop(f"--queue: found {queue}; expected {max_rows} or more, as many as --max-rows lets one request hold")
    with exit_on_error(), suppress(KeyboardInterrupt):  # uvicorn raises it again after a clean shutdown
        scorer = open_scorer(scoring)
        if scorer.metric.needs_file:
            stop(f"serve: metric {scorer.metric.name} needs all rows of a file; expected one that scores row by row")
        service.serve(RequestQueue(scorer, max_rows, queue), host, port, allow_host or [], timeout)
