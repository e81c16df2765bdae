"""Run a campaign's server in a process as `excam annotate serve` does, and send it the requests of a page."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

import httpx
from typer.testing import CliRunner

from excam import cli
from excam.annotation import campaign, storage
from excam.annotation.answers import Answer
from excam.annotation.store import Store

ROOT = Path(__file__).parents[2]
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT)}


def command(*words):
    """A command of `excam annotate`, run to its end in this process, which is ten times as fast."""
    return CliRunner().invoke(cli.app, ["annotate", *map(str, words)], catch_exceptions=False)


def made(path, new_campaign, names):
    """A new store; the path of each annotator's link."""
    storage.create(path, new_campaign)
    with Store(path) as store:
        return dict(zip(names, (f"/a/{token}" for token in store.add(names)), strict=True))


class Event(NamedTuple):
    """A row of the history. `kind` is saved or imported, with a revision, or older, without one."""

    revision: int | None
    kind: str
    answer: Answer


def events(store, annotator, task):
    """Everything that arrived from an annotator about a task, in the order of arrival."""
    query = "SELECT revision, kind, answer FROM history WHERE annotator = ? AND task = ? ORDER BY number"
    rows = store._rows(query, annotator, task)
    return [Event(*row, Answer.from_row(json.loads(answer))) for *row, answer in rows]


def written(path, new_campaign):
    """A campaign's file."""
    campaign.write(path, new_campaign)
    return path


class Running:
    """A server on its own port, which it keeps when it is started again."""

    def __init__(self, store, *options, log):
        self.store, self.options, self.log, self.port = store, options, log, 0
        self.process = None

    def start(self):
        """Returns when it listens."""
        with self.log.open("ab") as log:
            heard = log.tell()
            line = [sys.executable, "-m", "excam", "annotate", "serve", self.store, "--port", self.port, *self.options]
            self.process = subprocess.Popen(
                [*map(str, line)], stdout=log, stderr=log, env=ENVIRONMENT,
                preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # ignored below a shell's `&`
            )  # fmt: skip
        while "Ctrl-C" not in (said := self.log.read_bytes()[heard:].decode()):
            assert self.process.poll() is None, said
            time.sleep(0.005)
        self.port = int(said.split("listening at http://")[1].split(" ")[0].rsplit(":", 1)[1])
        return self

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    def end(self, how=signal.SIGTERM):
        self.process.send_signal(how)
        return self.process.wait()

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.end(signal.SIGKILL)

    def client(self, **options):
        return httpx.Client(base_url=self.url, timeout=300, **options)


def put(client, link, answer, **changes):
    """Send an answer as the page does."""
    return client.put(f"{link}/answers/{answer.task}", json={**answer.row(), **changes})
