"""`excam score` with a server that answers badly: one line each, no answer lost, no row asked about twice."""

import json
from functools import partial

import fake_chat_server
import pytest
from fake_chat_server import right, send, wrong
from typer.testing import CliRunner

from excam import cli
from excam.error_reports.judges import report
from excam.error_reports.records import Report
from excam.inference.backends import openai

CLEAN = right(report.write(Report()))
EXAMPLE = "Sushi"  # in the row that is asked about first, to see what the server takes
IDS = ["a", "b", "c", "d"]
EVENT_STREAM = b'data: {"choices": [{"delta": {"content": "{"}}]}\n\ndata: [DONE]\n\n'


@pytest.fixture
def served(tmp_path, monkeypatch):
    """A server whose answers to the texts in `bad` are those of a test; every other answer is a clean report."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("EXCAM_ENDPOINT_KEY", raising=False)
    monkeypatch.setattr(openai.random, "uniform", lambda low, high: 0.0)  # no waiting before another attempt
    (tmp_path / "rows.jsonl").write_text(
        "".join(json.dumps({"id": row_id, "instruction": "A?", "output": f"Text {row_id}."}) + "\n" for row_id in IDS)
    )
    bad = {}

    def answer(body):
        return next((step for text, step in bad.items() if text in body["messages"][-1]["content"]), CLEAN)

    server = fake_chat_server.Server(default=answer)
    server.bad = bad
    yield server
    server.stop()


def score(served, *words):
    return CliRunner().invoke(
        cli.app, ["score", "rows.jsonl", "--model", f"m@{served.endpoint}", "--to", "scored.jsonl", *words]
    )


def asked(served):
    """The letters of the rows that were asked about, without the requests of the beginning."""
    texts = [body["messages"][-1]["content"] for body in served.calls]
    return [text.removesuffix(".")[-1] for text in texts if EXAMPLE not in text and text != openai.SHORT["content"]]


def lines(run):
    """The lines of a run, without those of its progress and of repeated requests."""
    return [line for line in run.stderr.splitlines() if not line.startswith(("scoring, rows", "m: attempt 2 of 8"))]


def scored(tmp_path):
    return [json.loads(line) for line in (tmp_path / "scored.jsonl").open()]


@pytest.mark.parametrize(
    ("step", "failure", "times"),
    [
        (right("I see nothing wrong with this text."), "no-json", 1),
        (right('{"verdict": "fine"}'), "wrong-schema", 1),
        (right('{"errors": [], "expl', finish="length"), "truncated", 1),
        (right(None, refusal="I cannot help with that."), "refused", 1),
        (right("", finish="content_filter"), "refused", 1),
        (wrong(400, "flagged", "content_policy_violation"), "refused: HTTP 400: flagged", 2),
        ((200, {"choices": []}, ()), "refused: HTTP 200: no choices in the answer", 3),
        (wrong(500, "out of memory"), "refused: HTTP 500: out of memory", 6),
    ],
)
def test_an_answer_without_a_report_is_a_failure_of_its_row(served, tmp_path, step, failure, times):
    served.bad["Text b"] = step
    run = score(served)
    assert run.exit_code == 0
    assert "4 rows: 0 with errors, 1 not judged" in run.stderr
    failures = {row["id"]: row["failure"] for row in scored(tmp_path)}
    assert failures == {"a": None, "b": failure, "c": None, "d": None}
    assert sorted(asked(served)) == sorted(IDS + ["b"] * (times - 1))


@pytest.mark.parametrize(
    ("step", "reason"),
    [
        ((200, b"\x00\xff\x1f garbage", ()), "not a chat completion; found "),
        ((200, EVENT_STREAM, ()), 'not a chat completion; found data: {"choices"'),
        ((200, b"", ()), "not a chat completion; found nothing"),
        (fake_chat_server.half, "peer closed connection without sending complete message body"),
        (fake_chat_server.hang_up, "Server disconnected without sending a response"),
        (wrong(503, "out of memory"), "HTTP 503: out of memory (8 attempts)"),
    ],
)
def test_an_answer_that_never_comes_is_one_line_and_asked_for_again(served, tmp_path, step, reason):
    served.bad["Text b"] = step
    first = score(served)
    assert first.exit_code == 2
    (line,) = lines(first)
    assert line.startswith("excam: 1 requests unanswered, the first is b: ")
    assert reason in line
    assert line.endswith("; run again: only those are asked")
    assert not (tmp_path / "scored.jsonl").exists()
    served.bad.clear()
    served.calls.clear()
    assert score(served).exit_code == 0
    assert asked(served) == ["b"]
    assert [row["id"] for row in scored(tmp_path)] == IDS


@pytest.mark.parametrize(
    ("step", "key", "line"),
    [
        (
            wrong(401, "Missing bearer"),
            None,
            "excam: m: HTTP 401: Missing bearer; no key was sent; set EXCAM_ENDPOINT_KEY",
        ),
        (
            wrong(401, "Incorrect API key: sk-secret"),
            "sk-secret",
            "excam: m: HTTP 401: Incorrect API key: ***; sent was the key in EXCAM_ENDPOINT_KEY; expected a key, and an",
        ),
        (
            wrong(404, "model `m` not found"),
            None,
            "excam: m: HTTP 404: model `m` not found; expected an address that ends with /v1",
        ),
        (
            wrong(400, "no such model", "model_not_found"),
            None,
            "excam: m: HTTP 400: no such model; expected a chat model",
        ),
        (fake_chat_server.hang_up, None, "excam: m: RemoteProtocolError: Server disconnected"),
    ],
)
def test_a_server_that_gives_no_answer_at_all_is_one_line(served, monkeypatch, step, key, line):
    served.bad[""] = step
    if key:
        monkeypatch.setenv("EXCAM_ENDPOINT_KEY", key)
    run = score(served)
    assert (run.exit_code, [message.startswith(line) for message in lines(run)]) == (2, [True])
    assert not asked(served)


def test_a_key_that_is_refused_in_the_middle_stops_the_run_and_loses_nothing(served, tmp_path, monkeypatch):
    monkeypatch.setenv("EXCAM_ENDPOINT_KEY", "sk-secret")
    served.bad["Text d"] = wrong(401, "revoked")
    first = score(served)
    assert first.exit_code == 2
    assert "the first is d: HTTP 401: revoked; sent was the key in EXCAM_ENDPOINT_KEY; run again" in first.stderr
    served.bad.clear()
    assert score(served).exit_code == 0
    assert sorted(asked(served)) == [*IDS, "d"]
    assert len(scored(tmp_path)) == 4


def test_an_unreachable_server_does_not_cost_the_results_of_an_earlier_run(served, tmp_path):
    """Without an answer to the first request it is not known whether the server takes a schema."""

    def without_schema(body):
        if "response_format" in body:
            return wrong(400, "response_format is not supported")
        return wrong(503, "busy") if "Text b" in body["messages"][-1]["content"] else CLEAN

    script = fake_chat_server.Server(default=without_schema)
    assert score(script).exit_code == 2
    kept = (tmp_path / ".scored.jsonl.journal").read_bytes()
    script.stop()
    run = score(script)
    assert run.exit_code == 2
    assert "ConnectError" in run.stderr
    assert (tmp_path / ".scored.jsonl.journal").read_bytes() == kept


def plain(step):
    """A completion without log-probabilities."""
    status, body, headers = (*step, ())[:3]
    body = {**body, "choices": [{**choice, "logprobs": None} for choice in body["choices"]]}
    return status, body, headers


def test_a_server_that_leaves_out_log_probabilities(served, tmp_path):
    served.bad[""] = plain(CLEAN)
    assert score(served).exit_code == 0
    assert {(row["score"], row.get("certainty"), row.get("failure")) for row in scored(tmp_path)} == {(0.0, None, None)}


def test_a_server_that_refuses_log_probabilities_is_asked_without_them(served, tmp_path):
    message = "Unsupported parameter: 'logprobs' is not supported with this model."

    def answer(handler, body):
        send(handler, *(wrong(400, message, "unsupported_parameter") if "logprobs" in body else plain(CLEAN)))

    script = fake_chat_server.Server(default=lambda body: partial(answer, body=body))
    run = score(script)
    script.stop()
    assert run.exit_code == 0
    assert "m: the server gives no log-probabilities; p(R) is missing, and a clean report scores 0\n" in run.stderr
    rows = scored(tmp_path)
    assert {(row["score"], row.get("certainty")) for row in rows} == {(0.0, None)}
    assert "|structure:json_schema|logprobs:none|" in rows[0]["signature"]
    assert len(script.calls) == 3 + len(IDS)
