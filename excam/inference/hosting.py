"""Share one engine between the jobs of a machine: the first job starts it, others connect, and it exits when idle.

Loading a large model takes minutes and a GPU can hold one, so jobs with the same base model (several adapters, judges
or shards) share a process that keeps it loaded. On a CPU, a job that would wait for long starts another, which later
jobs find loaded for a short time. Jobs communicate with it through a socket below `FOLDER` that only this
user can open; requests and batches of answers are lines of JSON. If a job is killed, the engine keeps running; if the
engine is killed, a job fails with a one-line message and its journal keeps the answers.
"""

from __future__ import annotations

import hashlib
import json
import os
import socket
import stat
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from itertools import count
from pathlib import Path
from typing import Any, BinaryIO

from excam.config import Model
from excam.core.exceptions import ModelInvalid
from excam.core.provenance import open_plain, say
from excam.inference import (
    Answer,
    Batch,
    Choice,
    Choose,
    Completion,
    Generate,
    Missing,
    Sampling,
    answer_from_row,
    answer_to_row,
    request_to_row,
)
from excam.inference.gpus import lock_or_close
from excam.inference.vllm_environment import python_with_vllm

FOLDER = "/tmp/excam-engines"  # noqa: S108 - socket paths must be short; owner and mode are checked
FOLDER_VARIABLE = "EXCAM_ENGINES"  # environment variable with another folder
ALLOCATION = ("SLURM_JOB_ID", "CUDA_VISIBLE_DEVICES")  # only jobs with the same GPUs share an engine
# Seconds between two checks, and before a message about a wait; attempts to start an engine
RETRY_INTERVAL, ANNOUNCE_AFTER, TRIES = (0.2, 60.0, 3)
START_SECONDS = 8.0  # seconds that an engine of a small model takes to start
EXTRA_IDLE = 5.0  # seconds without a request after which a second engine of a CPU exits, for its memory
SHUTDOWN_SECONDS = 5.0  # seconds that a failed engine has to log the reason and exit


@dataclass(frozen=True, slots=True)
class EngineSpec:
    """An engine to start or connect to: model and folder of weights.

    `rank` is the maximum rank of adapters, where the engine reserves memory for them as it starts (None: for none).
    `number` tells engines of a CPU apart that answer at once.
    """

    name: str
    model: Model
    files: Path
    rank: int | None
    content: str  # identity of the base model, which determines its answers
    number: int = 0

    @property
    def place(self) -> Path:
        """The path of its files without suffix: `.sock`, `.lock` and `.log`."""
        parts = [self.content, self.model.model_dump_json(exclude={"sampling"}), str(self.files.resolve()), self.rank]
        parts += [self.number, *(os.environ.get(name, "") for name in ALLOCATION)]
        return socket_folder() / hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:20]

    def command(self) -> list[str]:
        """Return the arguments of Python that start it, without the path."""
        words = ["--name", self.name, "--model", self.model.model_dump_json(), "--weights", str(self.files.resolve())]
        words += ["--rank", str(self.rank)] if self.rank else []
        return ["-m", "excam.inference.host", *words, *(["--idle", str(EXTRA_IDLE)] if self.number else [])]

    @property
    def python(self) -> Path:
        """The program that runs it: that of the environment with vLLM, if there is one and the engine is vLLM."""
        return (self.model.backend == "vllm" and python_with_vllm()) or Path(sys.executable)


def socket_folder() -> Path:
    """Return the folder of sockets. Raise ModelInvalid if other users could write to it."""
    path = Path(os.environ.get(FOLDER_VARIABLE, f"{FOLDER}-{os.getuid()}"))
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    status = path.lstat()
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.getuid() or status.st_mode & 0o077:
        raise ModelInvalid(
            f"{path}: not a folder of yours alone; expected mode 700; remove it, or set {FOLDER_VARIABLE}"
        )
    return path


class HostedBackend:
    """A backend whose engine runs in another process; see `Backend` for its methods."""

    def __init__(self, wanted: EngineSpec, adapter: Path | None, identity: str) -> None:
        self.wanted, self.adapter, self.identity = wanted, adapter, identity
        self.settings: Mapping[str, Any] = {}

    def generate(self, requests: Sequence[Generate], sampling: Sampling) -> Iterator[Batch[Completion]]:
        """Yield batches as the engine has them."""
        return self._answers(
            {"generate": [request_to_row(request) for request in requests], "sampling": asdict(sampling)}
        )

    def choose(self, requests: Sequence[Choose]) -> Iterator[Batch[Choice]]:
        """Yield batches as the engine has them."""
        return self._answers({"choose": [request_to_row(request) for request in requests]})

    def _answers(self, question: Mapping[str, Any]) -> Iterator[Any]:
        adapter = str(self.adapter.resolve()) if self.adapter else None
        line = json.dumps({**question, "adapter": adapter, "identity": self.identity}).encode("ascii") + b"\n"
        with _free_engine(self.wanted) as engine:
            connection, stream = _answering_connection(engine)
            with connection, stream:
                settings = _next_message(engine, stream)["settings"]
                self.settings = settings | ({"serve": "lora"} if adapter else {})
                with suppress(OSError):  # the engine was killed: there is no next message
                    connection.sendall(line)
                while "batch" in (message := _next_message(engine, stream)):
                    yield [(at, answer_from_json(answer)) for at, answer in message["batch"]]


@contextmanager
def _free_engine(wanted: EngineSpec) -> Iterator[EngineSpec]:
    """Give the engine to ask: with GPUs the one of all jobs, on a CPU the first that no other job is asking."""
    if wanted.model.gpus:
        yield wanted
        return
    engine, lock = _take_turn(wanted)
    try:
        yield engine
    finally:
        os.close(lock)


def _take_turn(wanted: EngineSpec) -> tuple[EngineSpec, int]:
    """Return a free engine of a CPU and its lock, which a killed job releases.

    If each engine that runs is busy, wait `START_SECONDS` for one of them before another is started.
    """
    until = time.monotonic() + START_SECONDS
    while True:
        for number in count():
            engine = replace(wanted, number=number)
            if number and not Path(f"{engine.place}.sock").exists() and time.monotonic() < until:
                break
            lock = _try_lock(f"{engine.place}.turn")
            if lock is not None:
                return engine, lock
        time.sleep(RETRY_INTERVAL)


def _try_lock(path: str) -> int | None:
    """Lock a file and return it open; None if another process holds the lock."""
    return lock_or_close(open_plain(Path(path), os.O_RDWR | os.O_CREAT))


def answer_to_json(answer: Answer | Missing) -> dict[str, Any]:
    """Return an answer as a JSON value."""
    return {"missing": answer.reason} if isinstance(answer, Missing) else answer_to_row(answer)


def answer_from_json(row: Mapping[str, Any]) -> Answer | Missing:
    """Return the answer of a JSON value made by `answer_to_json`."""
    return Missing(row["missing"]) if "missing" in row else answer_from_row(row)


def _next_message(wanted: EngineSpec, stream: BinaryIO) -> dict[str, Any]:
    """Return the next line of the engine, parsed. Raise ModelInvalid if it reports a problem or has ended."""
    line = b""
    with suppress(OSError):  # it was killed before it read all that it was sent
        line = stream.readline()
    if not line.endswith(b"\n"):
        _await_end(wanted.place)
        raise ModelInvalid(
            f"{wanted.name}: its engine ended ({last_log_line(wanted.place)}); what was answered is kept; run again"
        )
    message = json.loads(line)
    if "problem" in message:
        raise ModelInvalid(message["problem"])
    return message


def _await_end(place: Path) -> None:
    """Wait until a failed engine has logged the reason and exited, which releases its lock after its connections."""
    until = time.monotonic() + SHUTDOWN_SECONDS
    while (lock := _try_lock(f"{place}.lock")) is None and time.monotonic() < until:
        time.sleep(RETRY_INTERVAL)
    if lock is not None:
        os.close(lock)


def _answering_connection(wanted: EngineSpec) -> tuple[socket.socket, BinaryIO]:
    """Return a connection and its stream on which the engine has started to answer; start the engine if necessary.

    An idle engine may exit at the moment a job connects; then another one is started. Raise ModelInvalid.
    """
    for _ in range(TRIES):
        connection = _connect_or_start(wanted)
        if _wait_for_turn(wanted, connection):
            return connection, connection.makefile("rb")
        connection.close()
    raise _not_started(wanted)


def _wait_for_turn(wanted: EngineSpec, connection: socket.socket) -> bool:
    """Wait until the engine serves this connection, with a message if that takes long; False if the engine exited."""
    for seconds in (ANNOUNCE_AFTER, None):
        connection.settimeout(seconds)
        try:
            is_answered = bool(connection.recv(1, socket.MSG_PEEK))
        except TimeoutError:
            say(f"{wanted.name}: waiting for its engine, which loads or answers another job: {wanted.place}.log")
        except OSError:
            break
        else:
            connection.settimeout(None)
            return is_answered
    return False


def _connect_or_start(wanted: EngineSpec) -> socket.socket:
    """Return a connection to the engine, starting it if none runs. Raise ModelInvalid if it does not start."""
    started: subprocess.Popen[bytes] | None = None
    while not (started and started.poll()):
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            connection.connect(f"{wanted.place}.sock")
        except (FileNotFoundError, ConnectionRefusedError):
            connection.close()
            started = start_engine(wanted.place, wanted.python, wanted.command()) or started
            time.sleep(RETRY_INTERVAL)
        else:
            return connection
    raise _not_started(wanted)


def _not_started(wanted: EngineSpec) -> ModelInvalid:
    return ModelInvalid(f"{wanted.name}: its engine does not start: {last_log_line(wanted.place)}")


def start_engine(place: Path, python: Path, command: Sequence[str]) -> subprocess.Popen[bytes] | None:
    """Start an engine and return its process; None if another engine holds the lock of `place`."""
    lock = _try_lock(f"{place}.lock")
    if lock is None:
        return None
    try:
        log = open_plain(Path(f"{place}.log"), os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        words = [str(python), *command, "--place", str(place)]
        try:
            return subprocess.Popen(
                words, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True, pass_fds=[lock]
            )
        finally:
            os.close(log)
    finally:
        os.close(lock)


def last_log_line(place: Path) -> str:
    """Return the last line of an engine's log, for the message about its exit."""
    try:
        lines = Path(f"{place}.log").read_text(encoding="utf-8", errors="replace").split("\n")
    except OSError:
        return f"{place}.log is gone"
    return next((line.strip() for line in reversed(lines) if line.strip()), "it said nothing")[:300]
