"""The server of a campaign, as a process of its own: what it says, to whom, and how it ends."""

import json
import signal
import socket
from unittest.mock import Mock

import campaigns
import pytest
from annotation_server_process import Running, made, put
from campaigns import answer, at
from starlette.testclient import TestClient

from excam.annotation import page
from excam.annotation.server import HEADERS, LARGEST, application
from excam.annotation.storage import Unwritable
from excam.annotation.store import Store

NOWHERE = "no such page; expected the complete link that you were given"


@pytest.fixture
def link(running, name):
    return running.links[name]


@pytest.fixture
def client(running):
    with running.client() as client:
        yield client


# --- what it says


def test_page_is_that_of_the_annotator_and_may_not_be_framed_kept_or_sniffed(client, name, link):
    reply = client.get(link)
    served = page.Served(name, link)
    assert reply.status_code == 200
    assert reply.text == page.write(campaigns.small(), served)
    assert reply.headers["Content-Security-Policy"] == f"{page.policy(served)}; frame-ancestors 'none'"
    assert {key: reply.headers[key] for key in HEADERS if "Policy" not in key[:25]} == {
        key: value for key, value in HEADERS.items() if "Policy" not in key[:25]
    }
    assert reply.headers["Referrer-Policy"] == "no-referrer"
    assert "server" not in reply.headers


def test_answers_come_back_with_their_revisions(client, name, link):
    assert client.get(f"{link}/answers").json() == {"annotator": name, "answers": []}
    first, second = answer(0, name, comment_1="שלום\n</script>"), answer(3, name)
    assert put(client, link, first).json() == {"revision": 1, "answer": first.row()}
    assert put(client, link, second).json() == {"revision": 1, "answer": second.row()}
    assert put(client, link, first, seconds=31, saved=at(9)).json()["revision"] == 2
    rows = sorted(client.get(f"{link}/answers").json()["answers"], key=lambda row: row["answer"]["task"])
    later = {**first.row(), "seconds": 31, "saved": at(9)}
    assert rows == [{"revision": 2, "answer": later}, {"revision": 1, "answer": second.row()}]


def test_an_annotator_cannot_answer_for_another(running, client, name, link):
    other = next(running.free)
    refused = put(client, link, answer(0, other))
    assert refused.status_code == 400
    said = f"{other}'s answer about {0:016x}; expected {name}'s about {0:016x}, as the address says"
    assert refused.json() == {"error": said}
    assert client.put(f"{link}/answers/{0:016x}", json=answer(1, name).row()).status_code == 400
    assert client.get(f"{running.links[other]}/answers").json()["answers"] == []


def test_every_wrong_link_gets_the_same_line(client, link):
    wrong = ["/", "/a", "/a/", "/a/x", link[:-1], f"{link}x", link.swapcase(), f"{link}/", "/favicon.ico"]
    wrong += ["/a/%00", "/a/.."]
    replies = [client.get(address) for address in wrong]
    assert {(reply.status_code, reply.text) for reply in replies} == {(404, f"{NOWHERE}\n")}
    assert all(reply.headers["Referrer-Policy"] == "no-referrer" for reply in replies)
    for address in ("/a/x/answers", f"{link[:-1]}/answers", f"/a/x/answers/{0:016x}"):
        reply = put(client, "/a/x", answer(0, "x")) if address[-1] == "0" else client.get(address)
        assert (reply.status_code, reply.json()) == (404, {"error": NOWHERE})


def test_only_allowed_host_names_are_served(running, client, link):
    for host in ("localhost", "127.0.0.1:99", "[::1]:99", "study.example", "STUDY.example:443"):
        assert client.get(link, headers={"Host": host}).status_code == 200, host
    evil = ("evil.example", "localhost.evil.example", "127.0.0.1.evil.example")
    for host in (*evil, "", "x" * 300, "study.example.", "a@b"):
        assert client.get(link, headers={"Host": host}).status_code == 400, host


BAD = [
    (b"", "no JSON"),
    (b"\xff\xfe", "no JSON"),
    (b"null", "expected an answer, an object"),
    (b"[" * 60_000, "no JSON"),
    (b'{"\\ud800": 1}', "is missing"),
    (b'{"seconds": ' + b"9" * 5000 + b"}", "no JSON"),
]


@pytest.mark.parametrize(("body", "line"), BAD)
def test_an_invalid_body_is_refused_in_one_line(client, link, body, line):
    reply = client.put(f"{link}/answers/{0:016x}", content=body)
    assert reply.status_code == 400
    assert line in reply.json()["error"]
    assert "\n" not in reply.json()["error"]


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({"culture_related": "maybe"}, "culture_related is 'maybe'; expected yes, no, dont_know"),
        ({"seconds": 1e400}, "seconds is a float"),
        ({"saved": "2099-01-01T00:00:00.000Z"}, "saved more than a day from now"),
        ({"x\ny\u202e" * 100: 1}, "x y"),
    ],
)
def test_an_answer_that_is_none_is_refused(client, name, link, changes, line):
    body = json.dumps({**answer(0, name).row(), **changes})
    reply = client.put(f"{link}/answers/{0:016x}", content=body)
    assert reply.status_code == 400
    assert line in reply.json()["error"]
    assert len(reply.json()["error"]) <= 300
    assert client.get(f"{link}/answers").json()["answers"] == []


def test_an_unknown_task_is_refused(client, link):
    for task in (f"{99:016x}", "x" * 500, "%00", "\u202e"):
        reply = client.put(f"{link}/answers/{task}", json={})
        assert reply.status_code == 404
        assert "is not in this campaign" in reply.json()["error"]


def test_the_longest_answer_fits(client, name, link):
    mine = answer(9, name, comment_1="𝒳" * 5000, comment_2="𝒳" * 5000)
    assert put(client, link, mine).json()["revision"] == 1


def test_a_large_body_is_refused(client, link):
    address = f"{link}/answers/{0:016x}"
    assert client.put(address, content=b" " * (LARGEST + 1)).status_code == 413


def test_half_an_answer_is_none(running, client, link):
    with socket.create_connection(("127.0.0.1", running.port), 10) as raw:
        head = f"PUT {link}/answers/{0:016x} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 500\r\n\r\n"
        raw.sendall(head.encode() + b'{"task": ')
    assert client.get(f"{link}/answers").json()["answers"] == []


def test_the_log_has_no_links_of_annotators(running, client, link):
    for address in (link, f"{link}/answers?x={link}", f"/{link}", link[:20], f"/A{link[2:]}"):
        client.get(address)
    put(client, link, answer(0, "x"))
    text = running.log.read_text()
    assert f"PUT /a/…/answers/{0:016x}" in text
    assert "GET /a/… HTTP/1.1" in text
    assert not [token for token in (each.split("/")[2] for each in running.links.values()) if token[:17] in text]


# --- its end, and a store that cannot be written


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_it_ends_in_good_order_and_leaves_one_file(tmp_path, how):
    links = made(tmp_path / "answers.store", campaigns.small(), ["ada"])
    with Running(tmp_path / "answers.store", log=tmp_path / "log") as server, server.client() as client:
        assert put(client, links["ada"], answer(0, "ada")).status_code == 200
        assert server.end(how) == (0 if how == signal.SIGINT else -signal.SIGTERM)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["answers.store", "log"]
    assert "Traceback" not in (tmp_path / "log").read_text()


def test_a_store_that_cannot_be_written_is_reported_and_saving_continues(tmp_path, monkeypatch):
    links = made(tmp_path / "answers.store", campaigns.small(), ["ada"])
    store, mine = Store(tmp_path / "answers.store"), answer(0, "ada")
    with TestClient(application(store, ["testserver"])) as client:
        with monkeypatch.context() as full:
            full.setattr(store, "save", Mock(side_effect=Unwritable("answers.store: cannot be written")))
            reply = put(client, links["ada"], mine)
        assert reply.status_code == 507
        said = "the server cannot write just now; nothing that was saved is lost; it is tried again"
        assert reply.json() == {"error": said}
        assert put(client, links["ada"], mine).json()["revision"] == 1
