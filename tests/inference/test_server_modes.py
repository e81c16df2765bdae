"""Servers that differ from OpenAI's in one way: scored, a failure of a row with the server's words, or one line.

No answer is lost, and no row is asked about twice.

The wordings are our own: only the row and the exit code may depend on a server, never a word of it.
"""

import gzip
import json
import math
import re
import zlib
from itertools import count
from pathlib import Path

import fake_chat_server
import pytest
from fake_chat_server import right, wrong
from typer.testing import CliRunner

from excam import cli
from excam.config import Server
from excam.core import tables
from excam.core.exceptions import ModelInvalid
from excam.error_reports.judges import report
from excam.error_reports.records import Report
from excam.inference import Generate, Message, Sampling
from excam.inference.backends import openai
from excam.macaron import derive, source
from excam.rubric import manual
from excam.scoring.served_model import negotiate

MINI = Path(__file__).parents[2] / "mini/macaron"
TEXT = report.write(Report())
CLEAN = right(TEXT)
RATED = {name: {"rationale": "So it is.", "score": 4} for name in (*manual.DIMENSIONS, "overall")}
RATED |= {"findings": {name: known[0] for name, known in manual.FINDINGS.items()}}
RATED |= {"edge_case": "", "flags": [], "confidence": 3}


@pytest.fixture
def run(serve, tmp_path, monkeypatch):
    """Score two rows, the second of which holds TROUBLE, with a server that answers so. `run.rows` are the results."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("EXCAM_ENDPOINT_KEY", raising=False)
    monkeypatch.setattr(openai.random, "uniform", lambda low, high: 0.0)  # no waiting before another attempt
    for file, columns in (("two.jsonl", ("instruction", "output")), ("rubric.jsonl", ("prompt", "response"))):
        rows = [{"id": text[0], **dict.fromkeys(columns, text)} for text in ("Moussaka.", "TROUBLE.")]
        (tmp_path / file).write_text("\n".join(map(json.dumps, rows)))

    def start(mode, *words, script=(), port=0):
        if mode:
            run.server = serve(*script, default=mode if callable(mode) else lambda body: mode, port=port)
        file = "rubric.jsonl" if "rubric" in words else "two.jsonl"
        named = words and not words[0].startswith("-")
        command = words if named else ("score", file, "--to", "out.jsonl", *words)
        result = CliRunner().invoke(cli.app, [*command, "--model", f"m@{run.server.endpoint}"])
        assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
        out = tmp_path / "out.jsonl"
        run.rows = [json.loads(line) for line in out.read_text().splitlines()] if out.exists() else []
        return result

    run = start
    return run


def roles(body):
    return [message["role"] for message in body["messages"]]


def refusing(is_refused, step, answer=CLEAN):
    return lambda body: step if is_refused(body) else answer


def with_choice(body, **choice):
    """A completion whose choice has other fields."""
    return 200, {**body[1], "choices": [{**body[1]["choices"][0], **choice}]}


def with_schema(body):
    return "response_format" in body


def of_a_reasoning_model(body):
    if "max_tokens" in body:
        return wrong(400, "this model counts differently: max_completion_tokens", "unsupported_parameter")
    refused = wrong(400, "a value other than 1: temperature", "unsupported_value")
    return refused if body.get("temperature") == 0 else CLEAN


TAKEN = {  # mode, what the signature says is left out
    "of a reasoning model": (of_a_reasoning_model, "limit:max_completion_tokens|omit:temperature"),
    "no seed": (refusing(lambda body: "seed" in body, (422, {"detail": "body.seed: extra"})), "omit:seed"),
    "no top_p": (refusing(lambda body: "top_p" in body, (400, b"no")), "omit:top_p"),
    "no system": (refusing(lambda body: "system" in roles(body), wrong(400, "what is this role?")), "system:none"),
    "no schema": (refusing(with_schema, wrong(400, "a grammar that cannot be read")), "structure:none"),
    "no schema, 500": (refusing(with_schema, wrong(500, "internal fault")), "structure:none"),
    "no log-probabilities": (refusing(lambda body: "logprobs" in body, wrong(400, "not here")), "logprobs:none"),
    "parts": (right([{"type": "thinking", "thinking": "Hm."}, {"type": "text", "text": TEXT}], tokens=[]), ""),
    "a function": (right(None, "tool_calls", [], tool_calls=[{"function": {"arguments": TEXT}}]), ""),
}  # fmt: skip
LEFT_OUT = re.compile(r"limit:\w+|omit:[\w,]+|system:none|structure:none|logprobs:none")


@pytest.mark.parametrize(("mode", "left_out"), TAKEN.values(), ids=TAKEN)
def test_both_rows_are_scored_without_what_the_server_refuses(run, mode, left_out):
    result = run(mode)
    assert (result.exit_code, [row["score"] is not None for row in run.rows]) == (0, [True] * 2), result.stderr
    (signature,) = {row["signature"] for row in run.rows}
    assert "|".join(LEFT_OUT.findall(signature)) == left_out
    assert result.stderr.count("m: the ") == len(LEFT_OUT.findall(left_out))
    assert len(run.server.calls) <= 16


@pytest.mark.parametrize(
    "steps",
    [[wrong(503, "the model is being loaded")] * 4, [wrong(429, "busy", Retry_After_Ms="3")] * 2],
    ids=["loaded", "busy"],
)
def test_a_server_that_says_to_come_later_is_waited_for(run, steps):
    assert run(CLEAN, script=steps).exit_code == 0
    assert len(run.server.calls) == len(steps) + 3


@pytest.mark.parametrize(
    ("status", "message", "code", "times", "metric"),
    [
        (400, "the input may be unsuitable", "data_inspection_failed", 2, "excam"),
        (400, "no answer to this", "content_filter", 2, "rubric"),
        (500, "an internal fault, request 0123abcd-0000", None, 6, "excam"),
    ],
)
def test_a_row_that_is_refused_fails_with_the_words_of_the_server(run, status, message, code, times, metric):
    answer = right(json.dumps(RATED)) if metric == "rubric" else CLEAN
    is_trouble = lambda body: "TROUBLE" in body["messages"][-1]["content"]  # noqa: E731
    result = run(refusing(is_trouble, wrong(status, message, code), answer), "--metric", metric)
    assert result.exit_code == 0, result.stderr
    assert [row["failure"] for row in run.rows] == [None, f"refused: HTTP {status}: {message}"]
    assert sum(map(is_trouble, run.server.calls)) == times


@pytest.mark.parametrize(
    ("mode", "failure", "times"),
    [
        (with_choice(right(None, reasoning_content="hm " * 9), finish_reason="length"), "truncated", 1),
        (right("", tokens=[], reasoning_content=f"So: {TEXT}"), "empty", 1),
        (right('{"errors": [], "expl', finish="length"), "truncated", 1),
        (with_choice(CLEAN, error={"message": "died"}), "refused: HTTP 200: the answer is an error: died", 3),
    ],
)
def test_a_server_that_never_gives_a_text_is_a_failure_of_each_row(run, mode, failure, times):
    result = run(mode)
    assert (result.exit_code, [row["failure"] for row in run.rows]) == (1, [failure] * 2), result.stderr
    assert len(run.server.calls) <= 3 + 2 * times  # one for what the server takes, short ones


def over_256_tokens(body):
    asked = body.get("max_tokens", 0) + body.get("max_completion_tokens", 0)
    return wrong(400, "max_tokens is too large; 256 at most") if asked > 256 else CLEAN


@pytest.mark.parametrize(
    ("mode", "line", "times"),
    [
        ((200, b"<!DOCTYPE html><html>Sign in</html>"), "not a chat completion; found <!DOCTYPE html>", 2),
        (over_256_tokens, "HTTP 400: max_tokens is too large; 256 at most; expected --max-tokens 256", 3),
        (wrong(429, "come in an hour", Retry_After="3600"), "HTTP 429: come in an hour (wants 3600 s of waiting)", 1),
        ((400, {"error": "m is no chat model"}), "HTTP 400: m is no chat model; expected a chat model", 10),
        (wrong(500, "out of order"), "HTTP 500: out of order", 20),
        (wrong(404, "no such page"), "HTTP 404: no such page; expected an address that ends with /v1", 1),
        (wrong(401, "Missing bearer"), "HTTP 401: Missing bearer; no key was sent; set EXCAM_ENDPOINT_KEY", 1),
        (lambda body: fake_chat_server.hang_up, "RemoteProtocolError: Server disconnected", 2),
    ],
)
def test_a_server_that_is_none_is_one_line(run, mode, line, times):
    result = run(mode)
    *waits, last = result.stderr.splitlines()
    assert (result.exit_code, last.startswith(f"excam: m: {line}")) == (2, True), result.stderr
    assert all(wait.startswith("m: attempt 2 of 8") for wait in waits)
    assert len(waits) <= 3
    assert len(run.server.calls) <= times


def in_trouble(step):
    return refusing(lambda body: "TROUBLE" in body["messages"][-1]["content"], step)


@pytest.mark.parametrize(
    ("step", "reason", "times"),
    [
        ((200, b"\x00\xff\x1f garbage"), "not a chat completion; found ", 8),
        (fake_chat_server.half, "peer closed connection without sending complete message body", 8),
        (wrong(503, "out of memory"), "HTTP 503: out of memory (8 attempts)", 8),
        ((200, {"error": {"message": "no credits", "code": 402}}), "HTTP 402: no credits", 1),
        (wrong(401, "sk-secret revoked"), "HTTP 401: *** revoked; sent was the key in EXCAM_ENDPOINT_KEY", 1),
    ],
)
def test_an_answer_that_never_comes_is_one_line_and_asked_for_again(run, monkeypatch, step, reason, times):
    monkeypatch.setenv("EXCAM_ENDPOINT_KEY", "sk-secret")
    first = run(in_trouble(step))
    assert (first.exit_code, run.rows, len(run.server.calls)) == (2, [], 2 + times)
    last = first.stderr.splitlines()[-1]
    assert last.startswith("excam: 1 requests unanswered, the first is T: ")
    assert reason in last
    assert last.endswith("; run again: only those are asked")
    run.server.stop()
    again = run(CLEAN, port=run.server.http.server_port)
    assert (again.exit_code, [row["id"] for row in run.rows]) == (0, ["M", "T"])
    asked = ["TROUBLE" in call["messages"][-1]["content"] for call in run.server.calls]
    assert asked == [False, True]  # an example, the row


def test_an_unreachable_server_is_one_line_at_once_and_costs_no_results(run, tmp_path):
    """Without an answer to the first request it is not known whether the server takes a schema."""
    refused = refusing(with_schema, wrong(400, "response_format is not supported"), None)
    run(lambda body: refused(body) or in_trouble(wrong(503, "busy"))(body))
    kept = (tmp_path / ".out.jsonl.journal").read_bytes()
    run.server.stop()
    done = run(None)
    assert (done.exit_code, done.stderr.count("\n")) == (2, 1)
    assert done.stderr.startswith("excam: m: ConnectError: Connection refused; expected a server at http://127")
    assert (tmp_path / ".out.jsonl.journal").read_bytes() == kept


def test_an_empty_answer_is_asked_for_once_more(run):
    done = run(in_trouble(CLEAN), script=[CLEAN, right("", tokens=[])])
    assert [row["failure"] for row in run.rows] == [None, None], done.stderr
    assert len(run.server.calls) == 4


def test_another_model_than_the_one_asked_for_is_recorded_and_counted(run):
    other = (200, CLEAN[1] | {"model": "org/other", "system_fingerprint": "fp"})
    done = run(in_trouble(other))
    assert [row.get("answered_by") for row in run.rows] == [None, "org/other (fp)"]
    assert ["other-model" in row.get("warnings", ()) for row in run.rows] == [False, True]
    assert "answered by: org/other (fp) (1)\n" in done.stderr
    assert "|model:m|on:served|" in run.rows[0]["signature"]
    again = run(other)
    assert (again.exit_code, again.stdout) == (0, ""), "whoever answers first, the file goes on"


# --- log-probabilities


def listed(*pairs):
    return {"content": [{"token": token, "logprob": logprob} for token, logprob in pairs]}


@pytest.mark.parametrize(
    ("logprobs", "mean"),
    [
        (None, None),
        (listed(), None),
        (listed(*((token, -0.01 * (at % 2)) for at, token in enumerate(TEXT[: len(TEXT) * 3 // 5]))), None),
        ({"content": None}, None),
        *((listed(*((token, value) for token in TEXT)), None) for value in (0.0, -0.01, -1.0, -9999.0, 0.5)),
        (listed(*((token, -0.01 * (at % 2)) for at, token in enumerate(TEXT + "."))), -0.005),
        # reasoning too
        (listed(*((token, -1.0) for token in "I think so. "), *((token, -0.01) for token in TEXT)), -0.01),
    ],
)
def test_without_log_probabilities_there_is_no_certainty_and_a_warning_counts_it(run, logprobs, mean):
    result = run(with_choice(right(TEXT, reasoning_content="I think so. "), logprobs=logprobs))
    assert result.exit_code == 0, result.stderr
    certainty = None if mean is None else pytest.approx(math.exp(mean), rel=1e-3)
    assert [row.get("certainty") for row in run.rows] == [certainty] * 2
    assert ["certainty-unknown" in row.get("warnings", ()) for row in run.rows] == [mean is None] * 2
    assert ("no log-probabilities of the answer" in result.stderr) is (mean is None)


def test_a_fault_that_passes_leaves_nothing_out(run):
    steps = [wrong(500, "operating system error")] * 2
    assert run(CLEAN, script=steps).exit_code == 0
    assert not LEFT_OUT.findall(run.rows[0]["signature"])


BODY = json.dumps(CLEAN[1]).encode()


@pytest.mark.parametrize("coding", ["zstd", "deflate", "gzip, gzip", "x-unknown"])
def test_a_body_in_a_coding_that_nobody_asked_for_is_not_unpacked(run, coding):
    packed = {"deflate": zlib.compress, "gzip, gzip": lambda body: gzip.compress(gzip.compress(body))}
    result = run((200, packed.get(coding, bytes)(BODY), {"Content-Encoding": coding}))
    assert result.exit_code == 2
    assert f"with a body in {coding}, which was not asked for" in result.stderr
    assert len(run.server.calls) == 1


@pytest.mark.parametrize("coding", ["gzip", "identity", "GZIP"])
def test_a_body_in_a_coding_that_was_asked_for_is_read(run, coding):
    body = gzip.compress(BODY) if "gz" in coding.lower() else BODY
    assert run((200, body, {"Content-Encoding": coding})).exit_code == 0


# --- other commands


@pytest.mark.parametrize("name", ["no system", "no schema", "parts", "no log-probabilities"])
def test_the_rubric_is_asked_without_what_the_server_refuses(run, name):
    mode, left_out = TAKEN[name]

    def rated(body):
        step = mode(body) if callable(mode) else mode
        return json.loads(json.dumps(step).replace(json.dumps(TEXT), json.dumps(json.dumps(RATED))))

    result = run(rated, "--metric", "rubric")
    assert (result.exit_code, [row["score"] for row in run.rows]) == (0, [4, 4]), result.stderr
    assert left_out in run.rows[0]["signature"] or name == "no log-probabilities"  # it needs none
    if name == "no system":
        assert roles(run.server.calls[-1]).count("system") == 0
        assert run.server.calls[-1]["messages"][0]["content"].startswith(run.server.calls[0]["messages"][0]["content"])


ASKING = {
    "score": ("score", "two.jsonl", "--to", "out"),
    "serve": ("serve",),
    "qualify": ("qualify", "--to", "out"),
    "macaron ask": ("macaron", "ask", "instances.parquet", "--to", "out.parquet"),
}


@pytest.mark.parametrize("name", ASKING)
def test_each_command_that_asks_a_model_has_the_options_of_servers(run, tmp_path, name):
    instances = derive.instances(source.read(source.files(MINI), {}).scenarios[:1], seed=1)
    tables.write_frame(tmp_path / "instances.parquet", derive.to_frame(instances))
    options = ("--omit", "seed", "--omit", "system", "--concurrency", "2", "--rate", "600")
    done = run(wrong(401, "who are you?"), *ASKING[name], *options)
    assert done.exit_code == 2, done.stderr
    assert "key" in done.stderr.splitlines()[-1]
    assert "seed" not in run.server.calls[0], done.stderr
    assert "system" not in roles(run.server.calls[0])


# --- what is left out


IDS = ("request 0123abcd-{}", "req_011{letter}Hoqz{letter}")  # they differ in each answer
REQUEST = Generate((Message("system", "Be brief."), Message("user", "Answer.")), '{"type": "object"}')
PARTS = {"limit", "temperature", "top_p", "seed", "logprobs", "structure", "system"}


def test_an_answer_that_is_lost_in_white_space_says_how_to_start_vllm(run):
    done = run(right('{"errors": [],' + " \n" * 90, finish="length"))
    assert {row["failure"] for row in run.rows} == {"truncated"}
    assert done.stderr.count("disable_any_whitespace") == 1
    assert "disable_any_whitespace" not in run(right('{"errors": [],', finish="length")).stderr


def left_out(server):
    limit = {"limit"} if server.limit_field != "max_tokens" else set()
    return {*server.omit, *limit} | {name for name in ("structure", "system") if not getattr(server, name)}


def negotiated(*refused, words="{refused} not taken", most=24):
    """What is left out for a server that refuses a request with any of these parts, in at most so many attempts."""
    number = count(7)

    def attempt(server, max_tokens=8):
        parts = sorted({*refused} - left_out(server))
        at = next(number)
        assert at < 7 + most, "it never ends"
        if parts:
            raise openai.Refusal(f"HTTP 400: {words.format(at, refused=parts[0], letter=chr(64 + at))}")

    server, lines = negotiate(Server(endpoint="http://x/v1"), REQUEST, Sampling(8), attempt)
    assert len(lines) == len(left_out(server))
    return left_out(server)


@pytest.mark.parametrize(
    "words",
    [
        *("{refused} not taken", "no", "a seed of a system of schemas"),
        *(f"{words} ({identifier})" for identifier in IDS for words in ("no", "see max_tokens, seed")),
    ],
)
@pytest.mark.parametrize(
    "refused",
    [(), ("limit",), ("seed",), ("system",), ("seed", "logprobs"), ("limit", "temperature"), ("structure", "system"),
     ("limit", "temperature", "top_p", "logprobs"), tuple(sorted(PARTS))],
)  # fmt: skip
def test_as_little_as_possible_is_left_out(refused, words):
    """Words that name another part, too, are not believed."""
    assert negotiated(*refused, words=words) == {*refused}


def test_what_nothing_helps_against_is_said_in_the_first_words():
    with pytest.raises(ModelInvalid, match="HTTP 400: no 7"):
        negotiated("all", words="no {}")
