"""The process that holds an engine for the jobs of a machine (`hosting`): loads it, answers job after job, ends.

    python -m excam.inference.host --name NAME --model JSON --weights FOLDER --place PATH

`hosting.start` runs it. It ends when nobody has asked for `IDLE` seconds, and when its engine fails.
"""

from __future__ import annotations

import argparse
import json
import select
import socket
import sys
from collections.abc import Callable, Generator, Sequence
from pathlib import Path
from typing import Any, Protocol

from excam import gpus
from excam.config import Model
from excam.exceptions import ExcamError, in_a_line
from excam.inference import Backend, Batch, Choose, Generate, Message, Sampling, opening
from excam.inference.hosting import answer_written
from excam.provenance import quiet_libraries, say

IDLE = 120.0  # seconds: the next job of a run has to start, on a slow file system too
PATIENCE = 600.0  # seconds that a job may take to put a batch on its disk; one that was stopped holds nobody up longer


class Shared(Backend, Protocol):
    """An engine that serves several adapters of its base, one after another."""

    settings: Any

    def use(self, adapter: Path | None, content: str) -> None:
        """Answer with this adapter from now on, or with the base alone; `content` tells adapters apart."""
        ...


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--name", required=True)
    parser.add_argument("--model", required=True, help="the model's entry of config.yaml as JSON")
    parser.add_argument("--weights", type=Path, required=True, help="folder of the base model")
    parser.add_argument("--rank", type=int, help="of the adapters that it has room for; none where it is not given")
    parser.add_argument("--place", required=True, help="path of the socket, without its ending")
    args = parser.parse_args(argv)

    quiet_libraries()
    model = Model.model_validate_json(args.model)

    def load() -> Shared:
        gpus.take(model.gpus, args.name)
        return opening.backend(model).open_shared(args.name, model, args.weights, args.rank)

    sys.exit(serve(Path(f"{args.place}.sock"), load))


def serve(path: Path, load: Callable[[], Shared], idle: float = IDLE) -> int:
    """Listen at `path`, load the engine, and answer until nobody asks for `idle` seconds. Returns the exit code.

    Jobs may connect while it loads. A job that goes away calls its answers off; a failed engine ends all this.
    """
    path.unlink(missing_ok=True)  # of one that was killed; whoever has the lock may
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        listener.bind(str(path))
        path.chmod(0o600)
        listener.listen(128)
        try:
            return _serve(listener, load, idle)
        finally:
            path.unlink(missing_ok=True)


def _serve(listener: socket.socket, load: Callable[[], Shared], idle: float) -> int:
    problem: ExcamError | None = None
    engine: Shared | None = None
    try:
        engine = load()
    except ExcamError as found:
        problem = found
    while select.select([listener], [], [], idle)[0]:
        connection, _ = listener.accept()
        connection.settimeout(PATIENCE)
        with connection:
            try:
                if engine is None:
                    _tell(connection, {"problem": str(problem)})
                    return 1
                _answer(engine, connection)
            except ExcamError as found:  # of what is left of an engine that failed nobody is to be answered
                say(str(found))
                _tell(connection, {"problem": str(found)})
                return 1
            except (OSError, ValueError) as found:  # the job was killed: the next one is answered
                say(f"a job went away: {in_a_line(found)}")
    return 0


def _answer(engine: Shared, connection: socket.socket) -> None:
    """Answer one connection's question. Raises ExcamError where the engine fails, OSError where the job is gone."""
    _tell(connection, {"settings": dict(engine.settings)})
    with connection.makefile("rb") as asked:
        question = json.loads(asked.readline())
    try:
        engine.use(Path(question["adapter"]) if question["adapter"] else None, question["identity"])
    except ExcamError as found:  # of this adapter alone
        _tell(connection, {"problem": str(found)})
        return
    batches = _batches(engine, question)
    try:
        for batch in batches:
            _tell(connection, {"batch": [[at, answer_written(answer)] for at, answer in batch]})
    finally:
        batches.close()
    _tell(connection, {"end": True})


def _batches(engine: Shared, question: dict[str, Any]) -> Generator[Batch[Any]]:
    if "choose" in question:
        yield from engine.choose([Choose(_messages(one), tuple(one["options"])) for one in question["choose"]])
    else:
        sampling = Sampling(**question["sampling"])
        yield from engine.generate([Generate(_messages(one)) for one in question["generate"]], sampling)


def _messages(row: dict[str, Any]) -> tuple[Message, ...]:
    return tuple(Message(**one) for one in row["messages"])


def _tell(connection: socket.socket, message: dict[str, Any]) -> None:
    connection.sendall(json.dumps(message).encode("ascii") + b"\n")


if __name__ == "__main__":
    main()
