"""One engine for the jobs of a machine: the first that asks starts it, the others find it, and it ends when idle.

Loading a large model takes minutes and a card can hold one, so jobs that ask the same base model (its adapters one
after another, several judges, shards of the generator) share a process that keeps it loaded. Jobs talk to it through a
socket below `FOLDER` that only this user can open: a request is a line of JSON, so is each batch of answers. A job that
is killed leaves the engine running, an engine that is killed leaves a job with one line and its journal.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import socket
import stat
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, BinaryIO

from excam.config import Model
from excam.exceptions import ModelInvalid
from excam.inference import Answer, Batch, Choice, Choose, Completion, Generate, Missing, Sampling, answer_from_row
from excam.provenance import open_plain, say

FOLDER = "/tmp/excam-engines"  # noqa: S108 - short, as a socket's path has to be; of this user alone, and checked
PLACE = "EXCAM_ENGINES"  # names another folder
ALLOCATION = ("SLURM_JOB_ID", "CUDA_VISIBLE_DEVICES")  # an engine is shared among jobs with the same cards
AGAIN, REMINDED, TRIES = 0.2, 60.0, 3  # seconds between two looks, and until a wait is told; engines started in vain
LAST_WORDS = 5.0  # seconds that an engine that failed has to say why and end


@dataclass(frozen=True, slots=True)
class Wanted:
    """An engine: the model, where its weights lie, and room for adapters of this rank (None: for none)."""

    name: str
    model: Model
    files: Path
    rank: int | None
    content: str  # what decides the base model's answers

    @property
    def place(self) -> Path:
        """The path of its socket; `.lock` and `.log` stand beside it."""
        parts = [self.content, self.model.model_dump_json(exclude={"sampling"}), str(self.files.resolve()), self.rank]
        parts += [os.environ.get(name, "") for name in ALLOCATION]
        return folder() / hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:20]

    def command(self) -> list[str]:
        """The program that loads it, as words."""
        words = ["--name", self.name, "--model", self.model.model_dump_json(), "--weights", str(self.files.resolve())]
        return ["-m", "excam.inference.host", *words, *(["--rank", str(self.rank)] if self.rank else [])]


def folder() -> Path:
    """Where sockets lie. Raises ModelInvalid where somebody else could put one there."""
    path = Path(os.environ.get(PLACE, f"{FOLDER}-{os.getuid()}"))
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    found = path.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & 0o077:
        raise ModelInvalid(f"{path}: not a folder of yours alone; expected mode 700; remove it, or set {PLACE}")
    return path


class Hosted:
    """A backend whose engine another process holds; see `Backend` for its methods."""

    def __init__(self, wanted: Wanted, adapter: Path | None, identity: str) -> None:
        self.wanted, self.adapter, self.identity = wanted, adapter, identity
        self.settings: Mapping[str, Any] = {}

    def generate(self, requests: Sequence[Generate], sampling: Sampling) -> Iterator[Batch[Completion]]:
        """Yield batches as the engine has them."""
        return self._answers({"generate": [asdict(one) for one in requests], "sampling": asdict(sampling)})

    def choose(self, requests: Sequence[Choose]) -> Iterator[Batch[Choice]]:
        """Yield batches as the engine has them."""
        return self._answers({"choose": [asdict(one) for one in requests]})

    def _answers(self, question: Mapping[str, Any]) -> Iterator[Any]:
        adapter = str(self.adapter.resolve()) if self.adapter else None
        line = json.dumps({**question, "adapter": adapter, "identity": self.identity}).encode("ascii") + b"\n"
        connection, stream = _turned_to(self.wanted)
        with connection, stream:
            self.settings = _message(self.wanted, stream.readline())["settings"]
            connection.sendall(line)
            while "batch" in (message := _message(self.wanted, stream.readline())):
                yield [(at, answer_read(answer)) for at, answer in message["batch"]]


def answer_written(answer: Answer | Missing) -> dict[str, Any]:
    """An answer as JSON takes it."""
    return {"missing": answer.reason} if isinstance(answer, Missing) else asdict(answer)


def answer_read(row: Mapping[str, Any]) -> Answer | Missing:
    """The inverse of `answer_written`."""
    return Missing(row["missing"]) if "missing" in row else answer_from_row(row)


def _message(wanted: Wanted, line: bytes) -> dict[str, Any]:
    """A line of the host. Raises ModelInvalid where it tells of a problem, or where the engine has ended."""
    if not line.endswith(b"\n"):
        _await_end(wanted.place)
        raise ModelInvalid(
            f"{wanted.name}: its engine ended ({last_line(wanted.place)}); what was answered is kept; run again"
        )
    message = json.loads(line)
    if "problem" in message:
        raise ModelInvalid(message["problem"])
    return message


def _await_end(place: Path) -> None:
    """Let an engine that failed say why: its connections close first. Its lock is free when it has ended."""
    lock = open_plain(Path(f"{place}.lock"), os.O_RDWR | os.O_CREAT)
    until = time.monotonic() + LAST_WORDS
    try:
        while time.monotonic() < until:
            with suppress(BlockingIOError):
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return
            time.sleep(AGAIN)
    finally:
        os.close(lock)


def _turned_to(wanted: Wanted) -> tuple[socket.socket, BinaryIO]:
    """A connection on which the engine has begun to speak; the engine is started where there is none.

    One that ends as it has been idle for long may do so just as it is asked: then another one is started.
    """
    for _ in range(TRIES):
        connection = _connected(wanted)
        if _speaks(wanted, connection):
            return connection, connection.makefile("rb")
        connection.close()
    raise _unstarted(wanted)


def _speaks(wanted: Wanted, connection: socket.socket) -> bool:
    """Wait until the engine turns to this connection, telling it where that takes long; False where it has ended."""
    connection.settimeout(REMINDED)
    try:
        return bool(connection.recv(1, socket.MSG_PEEK))
    except TimeoutError:
        say(f"{wanted.name}: waiting for its engine, which loads or answers another job: {wanted.place}.log")
        connection.settimeout(None)
        return bool(connection.recv(1, socket.MSG_PEEK))
    except OSError:
        return False
    finally:
        connection.settimeout(None)


def _connected(wanted: Wanted) -> socket.socket:
    """A connection to the engine; the first of several jobs that find none starts it. Raises ModelInvalid."""
    started: subprocess.Popen[bytes] | None = None
    while not (started and started.poll()):
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            connection.connect(f"{wanted.place}.sock")
        except (FileNotFoundError, ConnectionRefusedError):
            connection.close()
            started = start(wanted.place, wanted.command()) or started
            time.sleep(AGAIN)
        else:
            return connection
    raise _unstarted(wanted)


def _unstarted(wanted: Wanted) -> ModelInvalid:
    return ModelInvalid(f"{wanted.name}: its engine does not start: {last_line(wanted.place)}")


def start(place: Path, command: Sequence[str]) -> subprocess.Popen[bytes] | None:
    """Start the program of an engine unless one has the lock of its place, which it keeps until it ends."""
    lock = open_plain(Path(f"{place}.lock"), os.O_RDWR | os.O_CREAT)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return None
    else:
        log = open_plain(Path(f"{place}.log"), os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        words = [sys.executable, *command, "--place", str(place)]
        try:
            return subprocess.Popen(
                words, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True, pass_fds=[lock]
            )
        finally:
            os.close(log)
    finally:
        os.close(lock)


def last_line(place: Path) -> str:
    """What an engine said last, for the one line that tells of its end."""
    try:
        said = Path(f"{place}.log").read_text(encoding="utf-8", errors="replace").split("\n")
    except OSError:
        return f"{place}.log is gone"
    return next((line.strip() for line in reversed(said) if line.strip()), "it said nothing")[:300]
