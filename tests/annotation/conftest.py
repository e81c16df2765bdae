"""A campaign's server that the tests of a file share; each takes an annotator of its own."""

import campaigns
import pytest
from annotation_server_process import Running, made

NAMES = [f"w{number}" for number in range(80)]


@pytest.fixture(scope="module")
def running(tmp_path_factory):
    folder = tmp_path_factory.mktemp("server")
    links = made(folder / "answers.store", campaigns.small(), NAMES)
    with Running(folder / "answers.store", "--allow-host", "study.example", log=folder / "log") as server:
        server.links, server.free = links, iter(NAMES)
        yield server


@pytest.fixture
def name(running):
    return next(running.free)
