"""A metric over HTTP, as its users have it: a real server process, real clients, and whatever else may knock."""

import json
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from excam_commands import refusal
from scoring_server_process import SECRET, metric, running

import excam
from excam.core.exceptions import InputInvalid

Q = {"instruction": "A?"}

ROOT = Path(__file__).parents[2]
TEXTS = ("Moussaka.", "Sushi.", "mumble", "Sushi \ud800 \x00\x1b[31m")
DISHES = [{**Q, "output": text, "id": f"dish\x1b {at}"} for at, text in enumerate(TEXTS)]
NOT_SCORED = ["x", {**Q, "output": ["x"]}, {**Q, "output": "y", "id": DISHES[0]["id"]}]


HTTP = httpx.Client(timeout=60)  # one for all: each of its own would read the certificates again


@pytest.fixture(scope="module")
def server():
    with running() as (url, _):
        ready(url)
        yield url


def ready(url):
    for _ in range(200):
        if HTTP.get(f"{url}/health").json()["status"] == "ready":
            return
        time.sleep(0.05)
    raise AssertionError("never ready")


def post(url, body, **more):
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    return HTTP.post(f"{url}/score", content=data, headers={"Content-Type": "application/json", **more})


def request_body(*texts):
    return {"rows": [{**Q, "output": text} for text in texts]}


def line_of(answer, status):
    """What is refused is refused in one line, and nothing of a traceback is in it."""
    assert answer.status_code == status, answer.text
    assert answer.json().keys() == {"error"}
    line = answer.json()["error"]
    assert "\n" not in line
    assert len(line) <= 400
    return line


def test_results_are_those_of_the_metric_at_hand(server):
    answer = post(server, {"rows": [*DISHES, *NOT_SCORED]})
    here = [result.to_dict() for result in metric().score([*DISHES, *NOT_SCORED])]
    assert answer.json()["results"] == json.loads(json.dumps(here))
    failures = [result["failure"] for result in here]
    assert failures == [None, None, "no-json", None, "not-an-object", "not-text-output", "duplicate-id"]
    assert answer.json()["summary"] == {"rows": 7, "with_errors": 2, "failed": 4}
    assert answer.json()["signature"] == metric().signature
    assert answer.headers["Cache-Control"] == "no-store"


@pytest.mark.parametrize(
    ("body", "part"),
    [
        (b"", "body: no JSON in UTF-8"),
        (b"\xff\xfe", "body: no JSON in UTF-8"),
        (b'{"rows": [', "body: no JSON in UTF-8"),
        (b"[" * 100_000, "body: no JSON in UTF-8"),
        (b'{"rows": ' + b"9" * 10_000 + b"}", "body: no JSON in UTF-8"),
        (b"[]", "body: found list"),
        (b"null", "body: found NoneType"),
        (b"{}", "body: found keys ;"),
        (b'{"rows": {}}', "body: found keys rows"),
        (b'{"rows": [], "more": 1}', "body: found keys rows, more"),
        (b'{"rows": []}', "rows: found 0; expected 1 to 8"),
        (request_body(*"123456789"), "rows: found 9; expected 1 to 8"),
        ({"rows": [{"a\nb\x1b[31m": "x"}]}, r"rows: column instruction, output: not found; found a b\x1b[31m;"),
    ],
)
def test_an_invalid_request_is_refused_in_one_line(server, body, part):
    assert part in line_of(post(server, body), 422)


def test_another_path_method_or_content_type_is_refused(server):
    assert "expected POST /score" in line_of(HTTP.get(f"{server}/docs"), 404)
    assert "expected POST /score" in line_of(HTTP.get(f"{server}/score"), 405)
    assert "Content-Type" in line_of(post(server, request_body("x"), **{"Content-Type": "text/plain"}), 415)
    assert "compressed" in line_of(post(server, request_body("x"), **{"Content-Encoding": "gzip"}), 415)
    large = request_body("x" * 3_000_000)  # it is read to its end before it is refused, so that the line arrives
    assert "Content-Type" in line_of(post(server, large, **{"Content-Type": "text/plain"}), 415)
    assert post(server, request_body("x"), Host="evil.example").status_code == 400
    answer = post(server, request_body("x"), Origin="https://evil.example")
    assert not [name for name in answer.headers if name.startswith("access-control")]


def test_a_body_is_counted_as_it_comes(server):
    def endless():
        while True:
            yield b"x" * 65536

    headers = {"Content-Type": "application/json"}
    try:
        line = line_of(HTTP.post(f"{server}/score", content=endless(), headers=headers, timeout=30), 413)
        assert line.startswith("more than 4194304 bytes")
    except (httpx.WriteError, httpx.ReadError, httpx.RemoteProtocolError):
        pass  # it closed the connection while we wrote
    assert "more than 4194304 bytes" in line_of(post(server, request_body("x" * 5_000_000)), 413)
    assert post(server, request_body("x")).status_code == 200


def test_a_text_that_cannot_be_judged_is_a_failure_and_its_neighbours_are_judged(server):
    rows = post(server, request_body("Sushi.", "unfit", "x" * 300_000, "Moussaka.")).json()["results"]
    assert [row["score"] is None for row in rows] == [False, True, True, False]
    assert rows[1]["failure"] == "a text that no model takes; expected another"
    assert rows[2]["failure"] == "too-long"
    assert [row["id"] for row in rows] == ["1", "2", "3", "4"]
    with ThreadPoolExecutor(3) as pool:  # one waits, two meet in a batch: the crash of one does not affect others
        list(pool.map(lambda text: post(server, request_body(text)), ["slow", "crash", "unfit"]))
    assert post(server, request_body("Sushi.")).json()["results"][0]["score"] == -5


def test_the_model_fails_and_the_server_does_not():
    with running() as (url, process):
        ready(url)
        assert SECRET not in line_of(post(url, request_body(f"crash {SECRET}")), 500)
        assert post(url, request_body("Sushi.", f"{SECRET}")).status_code == 200
        process.send_signal(signal.SIGTERM)
        log = process.stderr.read()
    assert "judging failed: RuntimeError in generate" in log
    assert "2 rows in " in log
    assert SECRET not in log


def test_fifty_clients_at_once_meet_in_batches():
    with running(max_rows=8, queue=400) as (url, process):
        ready(url)
        times, answers = [], []

        def client(number):
            began = time.monotonic()
            answers.append((number, post(url, request_body(f"Sushi {number}", f"dish {number}")).json()["results"]))
            times.append(time.monotonic() - began)

        threads = [threading.Thread(target=client, args=(number,)) for number in range(50)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        process.send_signal(signal.SIGTERM)
        batches = process.stderr.read().count("batch of")
    assert len(answers) == 50
    for number, rows in answers:
        assert [row["texts"]["output"] for row in rows] == [f"Sushi {number}", f"dish {number}"]
        assert [row["score"] < 0 for row in rows] == [True, False]
    assert batches < 45, "no requests were batched"


def test_a_full_queue_answers_503_with_retry_after(server):
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda at: post(server, request_body(*[f"slow {at}"] * 1, *"abcdefg")), range(8)))
    assert {answer.status_code for answer in answers} == {200, 503}
    for answer in answers:
        if answer.status_code == 503:
            assert "of 16 that may; send it again in" in line_of(answer, 503)
            assert 1 <= int(answer.headers["Retry-After"]) <= 300


def test_rows_of_a_closed_connection_leave_the_queue(server):
    with ThreadPoolExecutor(1) as pool:
        slow = pool.submit(post, server, request_body("slow a", "slow b", "slow c"))
        time.sleep(0.5)
        for _ in range(5):
            with pytest.raises(httpx.ReadTimeout):
                HTTP.post(f"{server}/score", json=request_body(*"abcdefgh"), timeout=0.05)
        time.sleep(0.2)
        assert HTTP.get(f"{server}/health").json()["waiting"] == 0
        assert slow.result().status_code == 200


def test_a_request_is_given_up_in_time():
    with running(timeout=0.5) as (url, _):
        ready(url)
        with ThreadPoolExecutor(2) as pool:
            first = pool.submit(post, url, request_body("slow a", "slow b"))
            time.sleep(0.2)
            assert "not judged within 0.5 s" in line_of(pool.submit(post, url, request_body("x")).result(), 504)
            assert first.result().status_code == 504
        time.sleep(1.5)
        assert post(url, request_body("Sushi.")).status_code == 200


def test_a_stopped_server_finishes_the_batch_that_is_being_scored():
    with running() as (url, process):
        ready(url)
        with ThreadPoolExecutor(2) as pool:
            begun = pool.submit(post, url, request_body("slow", "Sushi."))
            time.sleep(0.4)
            waits = pool.submit(post, url, request_body("x"))
            time.sleep(0.2)
            process.send_signal(signal.SIGTERM)
            assert "stopping" in line_of(waits.result(), 503)
            assert [row["score"] < 0 for row in begun.result().json()["results"]] == [False, True]
        assert process.wait() == -signal.SIGTERM


def test_rows_may_come_before_the_model_is_loaded():
    with running(SCORER_LOADS="1") as (url, process):
        assert HTTP.get(f"{url}/health").json()["status"] == "loading"
        assert post(url, request_body("Sushi.")).json()["results"][0]["score"] == -5
    with running(SCORER_LOADS="3600") as (url, process):
        process.send_signal(signal.SIGTERM)
        process.wait()


def test_a_model_that_cannot_be_loaded_ends_the_server():
    with running(SCORER_FAILS="1") as (_, process):
        assert process.wait() == 1
        assert "the model cannot judge: weights: damaged" in process.stderr.read()


def test_a_key_is_required_and_never_shown():
    key = "k-1234567890"
    with running(EXCAM_SERVER_KEY=key) as (url, process):
        ready(url)
        for more in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": f"Basic {key}"}, {"Authorization": key}):
            assert key not in line_of(post(url, request_body("x"), **more), 401)
        assert post(url, request_body("x"), Authorization=f"Bearer {key}").status_code == 200
        process.send_signal(signal.SIGTERM)
        assert key not in process.stderr.read()


@pytest.mark.parametrize("key", ["", "two words", "ключ", "a\nb"])
def test_a_key_that_is_none(monkeypatch, key):
    from excam.scoring import service

    monkeypatch.setenv("EXCAM_SERVER_KEY", key)
    with pytest.raises(InputInvalid, match="set, and no key"):
        service.key()


# --- the command line


def test_offline_no_model_is_asked(monkeypatch):
    monkeypatch.setenv("EXCAM_OFFLINE", "1")
    with pytest.raises(InputInvalid, match="not asked, since EXCAM_OFFLINE"):
        excam.load("name@http://127.0.0.1:1/v1")


@contextmanager
def serving(*words):
    """The address of `excam serve` with these words."""
    command = [sys.executable, "-m", "excam", "serve", "--port", "0", *map(str, words)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, cwd=ROOT) as process:
        try:
            line = ""
            while "listening at" not in line:
                line = process.stderr.readline()
                assert line, "it ended"
            yield line.split("listening at ")[1].split()[0]
        finally:
            process.kill()


def test_any_metric_is_served():
    """One without a model; a column that is a list, one that is not there, and a label."""
    rows = [
        {"id": "a", "translation": "She wore a qipao.", "accepted": ["qipao", "cheongsam"], "system": "m"},
        {"translation": "She wore a dress.", "accepted": ["qipao"]},
        {"translation": "", "equivalent": "qipao"},
        {"translation": "x", "accepted": "qipao"},
        {"translation": "x"},
    ]
    here = list(excam.load(metric="acre-equivalent").score(rows))
    assert [result.score for result in here] == [1, 0, 0, None, None]
    assert [result.failure for result in here[3:]] == [
        "accepted: found qipao; expected a list of texts",
        "nothing-to-compare",
    ]
    with serving("--metric", "acre-equivalent") as url:
        assert post(url, {"rows": rows}).json()["results"] == json.loads(json.dumps([row.to_dict() for row in here]))
        assert HTTP.get(f"{url}/health").json()["signature"].startswith("acre-equivalent|")


def test_a_queue_that_no_request_fits():
    assert "--queue: found 8; expected 64 or more" in refusal("serve", "--queue", "8")
