"""A window of rows at a server: they enter as others are done, results keep their order, and no answer is lost."""

import json
import subprocess
import sys
import threading
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pytest
from fake_chat_server import echo, right, send, wrong

import excam
from excam import config
from excam.core.exceptions import AnswersMissing
from excam.error_reports.judges import report
from excam.error_reports.records import Report
from excam.inference import Message, Sampling, ask_for_text, window
from excam.inference.backends import _openai_window, openai
from excam.inference.journal import InMemory, Journal
from excam.scoring import files, metric, rows

ROOT = Path(__file__).parents[2]
CLEAN = right(report.write(Report()))


@dataclass(frozen=True)
class Item:
    id: str


def flow(item):
    """Ask twice about each item; the second request depends on the first answer."""
    first = yield from ask_for_text((Message("user", item.id),))
    second = yield from ask_for_text((Message("user", f"{first.text} again"),))
    return second.text


def backend(server, **settings):
    settings = {"concurrency": 4, "timeout": 20.0, **settings}
    return openai.Backend("m", config.Server(endpoint=server.endpoint, **settings), first_wait=0.01)


def asked_texts(server):
    return [body["messages"][-1]["content"] for body in server.calls]


def results(server, names, journal=None, **settings):
    model = backend(server, **settings)
    kept = InMemory() if journal is None else journal
    return window.results(flow, map(Item, names), model, Sampling(24), kept)


def test_results_keep_the_order_of_the_rows_and_requests_their_number(serve):
    server = serve(
        default=lambda body: lambda handler: (time.sleep(len(body["messages"]) % 3 / 100), send(handler, *echo(body)))
    )
    names = [str(at) for at in range(40)]
    assert list(results(server, names)) == [f"{name} again" for name in names]
    assert len(server.calls) == 80
    assert server.most <= 4


def test_a_slow_row_holds_up_no_other_request_and_no_row_overtakes_it(serve):
    release = threading.Event()

    def answer(body):
        slow = body["messages"][-1]["content"] == "2"
        return lambda handler: (slow and release.wait(600), send(handler, *echo(body)))

    server, names = serve(default=answer), [str(at) for at in range(30)]
    coming = results(server, names, concurrency=2)
    assert [next(coming) for _ in range(2)] == ["0 again", "1 again"]
    rest = []
    waiting = threading.Thread(target=lambda: rest.extend(coming))
    waiting.start()
    while len(server.calls) < 2 * 30 - 1:  # all requests but the one that depends on the slow answer
        time.sleep(0.01)
    assert rest == []
    release.set()
    waiting.join()
    assert rest == [f"{name} again" for name in names[2:]]


def test_equal_requests_are_sent_once_and_answers_forgotten(serve):
    server, kept = serve(), InMemory()
    assert list(results(server, ["a", "b", "a", "a"], kept)) == ["a again", "b again", "a again", "a again"]
    assert Counter(asked_texts(server)) == {"a": 1, "b": 1, "a again": 1, "b again": 1}
    assert len(kept) == 0


def test_no_more_rows_are_in_memory_than_wait_for_a_slow_one(serve, monkeypatch):
    monkeypatch.setattr(window, "AHEAD", 5)
    release, entered = threading.Event(), []
    server = serve(default=lambda body: lambda handler: (release.wait(600), send(handler, *echo(body))))
    names = (entered.append(at) or str(at) for at in range(100))
    coming = results(server, names, concurrency=64)
    waiting = threading.Thread(target=lambda: next(coming))
    waiting.start()
    time.sleep(0.2)
    assert len(entered) == 5
    release.set()
    waiting.join()
    assert len(list(coming)) == 99


@pytest.mark.parametrize(("after", "count"), [(2, 4), (256, 12)])
def test_rows_enter_behind_one_without_an_answer_to_see_how_many_have_none(serve, monkeypatch, tmp_path, after, count):
    monkeypatch.setattr(window, "AFTER_MISSING", after)
    server = serve(default=lambda body: wrong(418) if body["messages"][-1]["content"] in ("1", "3") else echo(body))
    journal, names = Journal(tmp_path / "j.jsonl"), [str(at) for at in range(12)]
    coming = results(server, names, journal, concurrency=1)
    assert next(coming) == "0 again"
    with pytest.raises(AnswersMissing, match="2 requests unanswered, the first is 1: HTTP 418: no") as caught:
        list(coming)
    assert list(caught.value.reasons) == ["1", "3"]
    assert len({text.split()[0] for text in asked_texts(server)}) == count
    assert len(journal) == 2 * (count - 2), "all others are answered and kept"
    healthy = serve()
    assert len(list(results(healthy, names, Journal(tmp_path / "j.jsonl")))) == 12
    assert len(healthy.calls) == 2 * (12 - (count - 2))


# --- a busy server


def test_fewer_requests_are_open_at_a_server_that_says_it_is_busy(serve):
    """One that has room for three answers, and refuses others at once."""
    places, refused = threading.Semaphore(3), []

    def answer(body):
        def step(handler):
            if not places.acquire(blocking=False):
                refused.append(body)
                return send(handler, *wrong(429, "too many"))
            try:
                time.sleep(0.01)
                return send(handler, *echo(body))
            finally:
                places.release()

        return step

    server, names = serve(default=answer), [str(at) for at in range(60)]
    model = backend(server, concurrency=32)
    texts = list(window.results(flow, map(Item, names), model, Sampling(24), InMemory()))
    assert texts == [f"{name} again" for name in names]
    assert len(refused) < 32 + 120 / 3
    assert model._room.limit < 16


def test_a_room_narrows_to_what_is_open_and_widens_slowly():
    room = _openai_window.Room(64)
    for taken in (63, 40, 12):
        room.narrow(taken)
    assert room.limit == 12
    for _ in range(12):
        room.widen(1)
    assert 12.5 < room.limit < 13
    room.narrow(0)
    assert room.limit == 1
    for _ in range(5000):
        room.widen(1)
    assert room.limit == 64


def test_a_room_grows_quickly_at_first_and_never_beyond_what_is_allowed():
    room = _openai_window.Room(64)
    assert room.limit == 16
    for _ in range(60):
        room.widen(90)  # a slow server that answers all at once
    assert room.limit == 64
    assert _openai_window.Room(2).limit == 2


def test_a_room_does_not_grow_at_a_server_that_answers_one_after_the_other():
    """A row takes 30 seconds there; as many as are open wait for each other, and 600 seconds are the longest wait."""
    room, queue, now, waits = _openai_window.Room(64), [], 0, []
    for _ in range(200):
        queue += [now] * (int(room.limit) - len(queue))
        now += 30
        waits.append(now - queue.pop(0))
        room.widen(waits[-1])
    assert room.limit <= 20
    assert max(waits) <= 600


# --- files


def file_of(folder, count):
    (folder / "rows.jsonl").write_text(
        "".join(json.dumps({"instruction": "A?", "output": f"Text {at}."}) + "\n" for at in range(count))
    )
    return rows.RowFile(folder / "rows.jsonl", metric.load("excam"))


def about(server):
    """How often each row was asked about, without the first questions to a server."""
    texts = [text.split("Text ")[-1] for text in asked_texts(server) if "Text " in text]
    return Counter(texts)


RUN = """
import sys
from pathlib import Path
import excam
from excam.scoring import files, metric, rows
file = rows.RowFile(Path(sys.argv[1], "rows.jsonl"), metric.load("excam"))
judge = excam.load(sys.argv[2], concurrency=8)
for _ in files.results(judge, file, 200, Path(sys.argv[1], "scored.jsonl")):
    pass
"""


def test_what_was_answered_before_a_kill_is_not_asked_again(serve, tmp_path):
    server = serve(default=lambda body: lambda handler: (time.sleep(0.01), send(handler, *CLEAN)))
    file_of(tmp_path, 200)
    command = [sys.executable, "-c", RUN, str(tmp_path), f"m@{server.endpoint}"]
    with subprocess.Popen(command, cwd=ROOT) as process:
        while len(about(server)) < 90:
            time.sleep(0.005)
        process.kill()
    row_file, to = rows.RowFile(tmp_path / "rows.jsonl", metric.load("excam")), tmp_path / "scored.jsonl"
    time.sleep(0.05)
    ratings = list(files.results(excam.load(f"m@{server.endpoint}"), row_file, 200, to))
    assert [rating.id for rating in ratings] == [str(at) for at in range(1, 201)]
    assert len(about(server)) == 200
    assert sum(about(server).values()) <= 200 + 8 + 1, "what was on its way; and the answers of one line that was torn"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["rows.jsonl", "scored.jsonl"]


LEAVES = """
import sys
from excam import config
from excam.inference import Generate, Message, Sampling
from excam.inference.backends import openai
requests = [Generate((Message("user", str(at)),)) for at in range(200)]
coming = openai.Backend("m", config.Server(endpoint=sys.argv[1])).generate(requests, Sampling(24))
print(len(next(coming)) > 0)
"""


def test_a_program_that_leaves_in_the_middle_ends(serve):
    """Its iterator is a global, which is closed when threads have stopped already."""
    server = serve(default=lambda body: lambda handler: (time.sleep(0.01), send(handler, *echo(body))))
    command = [sys.executable, "-c", LEAVES, server.endpoint]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "True\n", "")
