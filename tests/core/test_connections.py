"""Both servers and connections without a complete request, in separate processes, on real sockets."""

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import ExitStack, contextmanager
from pathlib import Path

import campaigns
import httpx
import pytest
from annotation_server_process import made
from starlette.applications import Starlette
from uvicorn.server import ServerState

from excam.core import connections, listening

ROOT = Path(__file__).parents[2]
COMMON = """
import resource, sys
from pathlib import Path
from excam.core import listening
store, seconds, descriptors = sys.argv[1], float(sys.argv[2]), int(sys.argv[3])
if seconds:
    listening.HEAD = listening.SENDING = seconds  # before those are imported who know them by name
resource.setrlimit(resource.RLIMIT_NOFILE, (descriptors, descriptors))
"""
SERVERS = {
    "annotation": """
from excam.annotation import service as listening
from excam.annotation.store import Store
listening.serve(Store(Path(store)), "127.0.0.1", 0, [])
""",
    "scoring": """
from excam.scoring import service as listening
from excam.scoring.request_queue import RequestQueue
from scoring_server_process import metric
listening.serve(RequestQueue(metric(), 8, 16), "127.0.0.1", 0, [], 30.0)
""",
}
both = pytest.mark.parametrize("kind", SERVERS)


class Served:
    """A server: its process, its log, a request that it answers with 200, and the beginnings of one."""

    def __init__(self, process, log, port, asked):
        self.process, self.log, self.port, self.asked = process, log, port, asked
        self.half_head, self.half_body = asked[:20], asked[:-10]

    def connection(self, data=b""):
        connection = socket.create_connection(("127.0.0.1", self.port), 300)
        connection.sendall(data)
        return connection

    def honest(self):
        """The status that somebody gets who has just come."""
        with self.connection(self.asked) as raw:
            return int(raw.makefile("rb").readline().split()[1])


@contextmanager
def served(kind, folder, seconds=0.0, descriptors=2000):
    (link,) = made(folder / "answers.store", campaigns.small(), ["ada"]).values()
    address, body = {
        "annotation": (f"PUT {link}/answers/{0:016x}", campaigns.answer(0, "ada").row()),
        "scoring": ("POST /score", {"rows": [{"instruction": "A?", "output": "Sushi."}]}),
    }[kind]
    log, text = folder / "log", json.dumps(body)
    head = f"{address} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {len(text)}"
    words = [sys.executable, "-c", COMMON + SERVERS[kind], folder / "answers.store", seconds, descriptors]
    env = {**os.environ, "PYTHONPATH": f"{ROOT}:{ROOT}/tests/helpers"}
    with log.open("wb") as file, subprocess.Popen([*map(str, words)], stderr=file, env=env) as process:
        try:
            while "Ctrl-C" not in (said := log.read_text()):
                assert process.poll() is None, said
                time.sleep(0.01)
            port = int(said.split("http://127.0.0.1:")[1].split()[0])
            yield Served(process, log, port, f"{head}\r\n\r\n{text}".encode())
        finally:
            process.kill()


def closed_after(raw, trickle=b""):
    """Seconds until the server closes a connection, at most 60, while a byte comes every tenth of a second."""
    began = time.monotonic()
    raw.settimeout(0.1)
    while time.monotonic() - began < 60:
        try:
            raw.sendall(trickle)
            if not raw.recv(65536):
                break
        except TimeoutError:
            pass
        except ConnectionError:
            break
    return time.monotonic() - began


@both
def test_a_connection_without_a_whole_request_is_closed(kind, tmp_path):
    durations, threads = {}, []
    with served(kind, tmp_path, seconds=1.0) as server:
        refused = b"POST /nowhere HTTP/1.1\r\nHost: localhost\r\nContent-Length: 500\r\n\r\n"
        sent = {
            "nothing": (b"", b""),
            "half a head": (server.half_head, b""),
            "a head that trickles in": (server.half_head, b"x"),
            "half a head after an answer": (server.asked + server.half_head, b""),
            "a head that trickles in after an answer": (server.asked + server.half_head, b"x"),
            "half a body": (server.half_body, b""),
            "a body that trickles in": (server.half_body, b" "),
            "a body that is not asked for, and trickles in": (refused, b" "),
        }

        def client(name, data, trickle):
            with server.connection(data) as raw:
                durations[name] = closed_after(raw, trickle)

        for name, (data, trickle) in sent.items():
            threads.append(threading.Thread(target=client, args=(name, data, trickle)))
            threads[-1].start()
        with httpx.Client(base_url=f"http://127.0.0.1:{server.port}") as kept:
            assert kept.get("/nowhere").status_code == 404
            time.sleep(1.5)
            (only,) = kept._transport._pool.connections
            assert only.is_idle(), "a connection is kept after an answer"
            assert not only.has_expired(), "a connection is kept after an answer"
        for thread in threads:
            thread.join()
    assert {name: seconds for name, seconds in durations.items() if not 0.5 < seconds < 50} == {}


@both
@pytest.mark.variants
@pytest.mark.parametrize("what", ["heads", "bodies"])
@pytest.mark.parametrize(("descriptors", "many"), [(2000, 600), (200, 300)])
def test_half_requests_lock_nobody_out_and_hold_no_server_up(kind, what, descriptors, many, tmp_path):
    with served(kind, tmp_path, seconds=900.0, descriptors=descriptors) as server, ExitStack() as open_:
        half = {"heads": server.half_head, "bodies": server.half_body}[what]
        for _ in range(many):
            open_.enter_context(server.connection(half))
        began = time.monotonic()
        while server.honest() != 200:
            assert time.monotonic() - began < 300
        assert [server.honest() for _ in range(5)] == [200] * 5
        assert time.monotonic() - began < 300
        server.process.send_signal(signal.SIGTERM)
        began = time.monotonic()
        server.process.wait()
        assert time.monotonic() - began < 300
        said = server.log.read_text()
    assert "Traceback" not in said
    others = [line for line in said.splitlines() if ' HTTP/1.1" ' not in line]  # than one for an answered request
    assert len(others) < 20


def test_an_answer_does_not_wait_for_the_client_to_acknowledge_its_first_part():
    """Head and body are sent apart: with Nagle's algorithm each answer took 40 ms longer."""
    config = connections.server_config(Starlette(), listening.log_config())
    config.load()

    async def accepted():
        opened = asyncio.Event()

        class Noticed(connections.Connection):
            def connection_made(self, transport):
                super().connection_made(transport)
                opened.set()

        state = ServerState()
        with listening.listening_socket("127.0.0.1", 0) as listener:
            loop = asyncio.get_running_loop()
            async with await loop.create_server(lambda: Noticed(config, state, {}), sock=listener):
                with socket.create_connection(listener.getsockname()):
                    await opened.wait()
                    (connection,) = state.connections
                    return connection.transport.get_extra_info("socket").getsockopt(
                        socket.IPPROTO_TCP, socket.TCP_NODELAY
                    )

    assert asyncio.run(accepted())
