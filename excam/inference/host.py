"""The process that runs an engine for the jobs of a machine (see `hosting`), serving one job after another.

    python -m excam.inference.host --name NAME --model JSON --weights FOLDER --place PATH

`hosting.start_engine` runs it. It exits after some seconds without a request (`--idle`), or when its engine fails.
"""

from __future__ import annotations

import argparse
import json
import select
import socket
import sys
from collections.abc import Callable, Generator, Sequence
from pathlib import Path
from typing import Any, Protocol, TypeVar

from excam.config import Model
from excam.core.exceptions import ExcamError, in_a_line
from excam.core.provenance import quiet_libraries, say
from excam.inference import Backend, Batch, Choose, Generate, Sampling, backend_factory, gpus, request_from_row
from excam.inference.hosting import answer_to_json

T = TypeVar("T", Choose, Generate)

IDLE = 300.0  # seconds: longer than jobs that ask no model take between two that ask
PATIENCE = 600.0  # seconds that a job may take to save a batch; a stopped job blocks others no longer than that


class _SharedEngine(Backend, Protocol):
    """An engine that serves several adapters of its base model, one at a time."""

    settings: Any

    def use(self, adapter: Path | None, content: str) -> None:
        """Switch to this adapter, or to the base model (None); `content` identifies the adapter."""
        ...


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--name", required=True)
    parser.add_argument("--model", required=True, help="the model's entry of config.yaml as JSON")
    parser.add_argument("--weights", type=Path, required=True, help="folder of the base model")
    parser.add_argument("--rank", type=int, help="maximum rank of adapters (vLLM; without it, none are served)")
    parser.add_argument("--idle", type=float, default=IDLE, help="seconds without a request after which it exits")
    parser.add_argument("--place", required=True, help="path of the socket, without its ending")
    args = parser.parse_args(argv)

    quiet_libraries()
    model = Model.model_validate_json(args.model)

    def load() -> _SharedEngine:
        gpus.take_gpus(model.gpus, args.name)
        return backend_factory.backend_module(model).open_shared(args.name, model, args.weights, args.rank)

    sys.exit(serve(Path(f"{args.place}.sock"), load, args.idle))


def serve(path: Path, load: Callable[[], _SharedEngine], idle: float) -> int:
    """Listen at `path`, load the engine, answer until `idle` seconds pass without a request; return the exit code.

    Jobs may connect while it loads. If a job disconnects, its requests are cancelled; a failed engine ends the process.
    """
    path.unlink(missing_ok=True)  # left by a killed process; the holder of the lock may remove it
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        listener.bind(str(path))
        path.chmod(0o600)
        listener.listen(128)
        try:
            return _serve(listener, load, idle)
        finally:
            path.unlink(missing_ok=True)


def _serve(listener: socket.socket, load: Callable[[], _SharedEngine], idle: float) -> int:
    problem: ExcamError | None = None
    engine: _SharedEngine | None = None
    try:
        engine = load()
    except ExcamError as failure:
        problem = failure
    while select.select([listener], [], [], idle)[0]:
        connection, _ = listener.accept()
        connection.settimeout(PATIENCE)
        with connection:
            try:
                if engine is None:
                    _send(connection, {"problem": str(problem)})
                    return 1
                _answer_connection(engine, connection)
            except ExcamError as failure:  # a failed engine must not answer further requests
                say(str(failure))
                _send(connection, {"problem": str(failure)})
                return 1
            except OSError as disconnection:  # the job was killed: serve the next one
                say(f"a job went away: {in_a_line(disconnection)}")
    return 0


def _answer_connection(engine: _SharedEngine, connection: socket.socket) -> None:
    """Answer one connection. Raise ExcamError if the engine fails, OSError if the job has disconnected."""
    _send(connection, {"settings": dict(engine.settings)})
    with connection.makefile("rb") as stream:
        line = stream.readline()
    if not line.endswith(b"\n"):
        raise ConnectionError("it ended in the middle of its question")
    question = json.loads(line)
    try:
        engine.use(Path(question["adapter"]) if question["adapter"] else None, question["identity"])
    except ExcamError as failure:  # only this adapter fails
        _send(connection, {"problem": str(failure)})
        return
    batches = _batches(engine, question)
    try:
        for batch in batches:
            _send(connection, {"batch": [[at, answer_to_json(answer)] for at, answer in batch]})
    finally:
        batches.close()
    _send(connection, {"end": True})


def _batches(engine: _SharedEngine, question: dict[str, Any]) -> Generator[Batch[Any]]:
    if "choose" in question:
        yield from engine.choose([_request(row, Choose) for row in question["choose"]])
    else:
        sampling = Sampling(**question["sampling"])
        yield from engine.generate([_request(row, Generate) for row in question["generate"]], sampling)


def _request(row: dict[str, Any], kind: type[T]) -> T:
    request = request_from_row(row)
    assert isinstance(request, kind), "the other process sent what it was asked"
    return request


def _send(connection: socket.socket, message: dict[str, Any]) -> None:
    connection.sendall(json.dumps(message).encode("ascii") + b"\n")


if __name__ == "__main__":
    main()
