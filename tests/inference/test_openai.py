"""The backend for OpenAI-compatible servers, against a real HTTP server that gives every kind of trouble."""

import asyncio
import gzip
import json
import os
import shutil
import ssl
import subprocess
import threading
import time
from contextlib import nullcontext
from email.utils import formatdate
from functools import partial
from pathlib import Path

import pytest
from fake_chat_server import echo, half, hang_up, right, send, wrong
from journal_contents import contents
from one_line_errors import line_of

from excam import config
from excam.core.exceptions import AnswersMissing, ModelInvalid
from excam.core.phrases import PhraseFinder
from excam.inference import Choice, Choose, Completion, Generate, Message, Missing, Sampling, control_tokens
from excam.inference.backends import _openai_bodies as bodies
from excam.inference.backends import _openai_connection, openai
from excam.inference.cache_keys import request_seed
from excam.inference.journal import Journal, ask

GREEDY = Sampling(max_tokens=24)
REQUESTS = [Generate((Message("user", f"question {at}"),)) for at in range(12)]
STRANGE = (200, {"code": 1002, "msg": "key"})
PICK = Choose((Message("user", "pick"),), ("Yes", "No"))


def client(server, *, attempts=8, identity="served", **settings):
    settings = {"concurrency": 4, "timeout": 5.0, **settings}
    return openai.Backend(
        "gpt-x",
        config.Server(endpoint=getattr(server, "endpoint", server), **settings),
        identity,
        attempts=attempts,
        first_wait=0.01,
    )


def answered(backend, requests, sampling=GREEDY):
    """Every answer in the order of the requests, each exactly once."""
    asking = backend.choose(requests) if isinstance(requests[0], Choose) else backend.generate(requests, sampling)
    pairs = [pair for batch in asking for pair in batch]
    assert sorted(at for at, _ in pairs) == list(range(len(requests)))
    return [answer for _, answer in sorted(pairs, key=lambda pair: pair[0])]


def single_answer(server, request=REQUESTS[0], **settings):
    (answer,) = answered(client(server, **settings), [request])
    return answer


def last_message(request):
    return request.messages[-1].content


# --- what is sent, what is read


def test_what_is_sent(serve):
    server = serve(wrong(500))
    sampling = Sampling(9, temperature=0.6, top_p=0.9, top_k=40, seed=1)
    (answer,) = answered(client(server), REQUESTS[:1], sampling)
    assert answer == Completion(last_message(REQUESTS[0]), (-0.5, -0.25), None, "stop", 7, 2)
    sent = server.calls[0]
    assert sent == {
        **{"model": "gpt-x", "messages": [{"role": "user", "content": "question 0"}], "max_tokens": 9},
        **{"temperature": 0.6, "top_p": 0.9, "top_k": 40, "logprobs": True},
        "seed": request_seed(REQUESTS[0], sampling),
    }
    assert server.calls[1] == sent, "asked again with the very same settings"
    assert {path for path, _ in server.headers} == {"/v1/chat/completions"}


@pytest.mark.parametrize(
    "token", ["<|im_end|>", "</s>", "[INST]", "<start_of_turn>", "<｜end▁of▁sentence｜>", "<<SYS>>"]
)
def test_control_tokens_of_a_text_are_sent_broken_and_its_words_are_found(serve, token):
    """As the content of a message, of a system message that is put before it too; a copied span keeps its place."""
    server, text = serve(), f"{token}They eat {token} {token}{token} sushi."
    turns = (Message("system", f"a {token}"), Message("user", text))
    single_answer(server, Generate(turns))
    single_answer(server, Generate(turns), system=False)
    separate, joined = ([turn["content"] for turn in call["messages"]] for call in server.calls)
    assert not any(control_tokens.are_in(content) for content in (*separate, *joined))
    assert [content.replace(control_tokens.BREAK, "") for content in separate] == [f"a {token}", text]
    copied = separate[1].removesuffix(" sushi.")
    assert list(PhraseFinder(text).places(copied)) == [(0, len(text) - len(" sushi."))]


def test_what_a_server_refuses_is_left_out_as_stated(serve):
    server = serve()
    backend = client(server, limit_field="max_completion_tokens", omit=["temperature", "seed", "top_p"])
    answered(backend, REQUESTS[:1], Sampling(24, logprobs=False))
    assert set(server.calls[0]) == {"model", "messages", "max_completion_tokens"}
    answered(backend, [PICK])
    assert set(server.calls[1]) == {"model", "messages", "max_completion_tokens", "logprobs", "top_logprobs"}


def test_further_request_fields_are_sent_and_part_of_the_identity(serve):
    """Servers take the switch of reasoning in different fields: `request_fields` goes into the request as it is."""
    server, more = serve(), {"request_fields": {"reasoning": {"enabled": True}}}
    backend = client(server, **more)
    answered(backend, REQUESTS[:1], Sampling(24))
    answered(backend, [PICK])
    assert [call["reasoning"] for call in server.calls] == [{"enabled": True}] * 2
    servers = (config.Server(endpoint="http://h/v1", **fields) for fields in ({}, more))
    plain, other = (config.Model(licence="MIT", backend="openai", server=entry) for entry in servers)
    assert plain.answer_settings != other.answer_settings
    assert plain.request_settings != other.request_settings


def test_a_schema_is_sent_as_response_format_unless_the_server_takes_none(serve):
    server, request = serve(), Generate(REQUESTS[0].messages, '{"type": "object"}')
    answered(client(server), [request, REQUESTS[0]])
    formats = sorted(str(call.get("response_format")) for call in server.calls)
    wanted = {"type": "json_schema", "json_schema": {"name": "answer", "schema": {"type": "object"}, "strict": True}}
    assert formats == ["None", str(wanted)]
    answered(client(server, structure=False), [request])
    assert "response_format" not in server.calls[-1]


def test_concurrent_answers_keep_their_places_and_come_one_by_one(serve):
    requests = [*REQUESTS, Generate((Message("user", "lone \ud800 \U0001f600"),))]
    server = serve()
    answers = answered(client(server, concurrency=4), requests)
    assert [answer.text for answer in answers] == [*map(last_message, REQUESTS), "lone \ufffd \U0001f600"]
    assert len(server.calls) == 13
    assert server.most <= 4


def test_an_answer_is_handed_on_before_a_slow_one_is_there(serve):
    release = threading.Event()
    slow = lambda handler: release.wait(600) and send(handler, *right("slow"))  # noqa: E731
    batches = client(serve(slow), concurrency=2).generate(REQUESTS[:4], GREEDY)
    early = set()
    while len(early) < 3:  # answers that come at the same moment are one batch
        early |= {at for at, _ in next(batches)}
    release.set()
    (late,) = {0, 1, 2, 3} - early  # the first of two that are asked at once is either
    assert late < 2
    assert [[(at, answer.text) for at, answer in batch] for batch in batches] == [[(late, "slow")]]


def test_the_next_is_not_asked_before_the_last_is_kept(serve):
    server = serve()
    batches = client(server, concurrency=3).generate(REQUESTS, GREEDY)
    assert len(next(batches)) <= 3
    time.sleep(0.3)
    assert len(server.calls) == 3
    batches.close()
    time.sleep(0.1)
    assert len(server.calls) == 3


def test_asking_from_a_notebook(serve):
    """Where an event loop runs already."""
    server = serve()

    async def cell():
        return answered(client(server), REQUESTS[:3])

    assert [answer.text for answer in asyncio.run(cell())] == [last_message(request) for request in REQUESTS[:3]]


def test_a_caller_who_leaves_ends_what_is_open(serve):
    """No thread stays, and the server sees the connection closed."""
    gone = threading.Event()

    def listen(handler):
        handler.close_connection = True
        handler.connection.settimeout(20)
        if handler.connection.recv(1) == b"":
            gone.set()

    batches = client(serve(listen), concurrency=2, timeout=600).generate(REQUESTS[:2], GREEDY)
    assert len(next(batches)) == 1
    assert any(thread.name == "asking" for thread in threading.enumerate())
    batches.close()
    assert gone.wait(300)
    assert not any(thread.name == "asking" for thread in threading.enumerate())


@pytest.mark.parametrize(
    ("step", "expected"),
    [
        # no end of its turn, whatever its tokens spell
        *((right("cut", end, [("c", -1.0), ("ut", -2.0), ("", -3.0)]),
           Completion("cut", (-1.0, -2.0, -3.0), None, "length", 7, 2)) for end in ("length", "MAX_TOKENS")),
        (right("", "content_filter", []), Completion("", (), None, "refused", 7, 2)),
        (right("so f", "content_filter", [("so f", -1.0)]), Completion("so f", (-1.0,), None, "refused", 7, 2)),
        (right(None, tokens=[], refusal="I will not"), Completion("I will not", None, None, "refused", 7, 2)),
        ((200, {"choices": [{"message": {"content": None}, "finish_reason": "stop"}]}),
         Completion("", None, None, "stop", 0, 0)),
        *((right(None, "tool_calls", [], **call), Completion('{"a": 1}', None, None, "stop", 7, 2))
          for call in ({"tool_calls": [{"function": {"arguments": '{"a": 1}'}}]},
                       {"function_call": {"arguments": {"a": 1}}})),
        (right(None, tokens=[], tool_calls=[{"function": {"arguments": "{}"}}] * 2),
         Completion("", (), None, "stop", 7, 2)),
        (right("three", tokens=[("thr", -1.0)], refusal=False), Completion("three", None, None, "stop", 7, 2)),
        ((200, right("a", tokens=[("a", -1.0)])[1] | {"model": "gpt-x-2026", "provider": "p"}),
         Completion("a", (-1.0,), None, "stop", 7, 2, answered_by="gpt-x-2026 (p)")),
        ((200, {"choices": [{"message": {"content": "a"}, "finish_reason": "stop", "logprobs": None}], "usage": None}),
         Completion("a", None, None, "stop", 0, 0)),
        ((200, {"choices": [right(text)[1]["choices"][0] for text in ("first", "second")]}),
         Completion("first", (-0.5, -0.25), None, "stop", 0, 2)),
        *((right("a", end, [("a", -1.0)]), Completion("a", (-1.0,), None, "stop", 7, 2))
          for end in ("tool_calls", "eos", "", None, 3)),
        (right("a", "SAFETY", [("a", -1.0)]), Completion("a", (-1.0,), None, "refused", 7, 2)),
        ((200, {"choices": [{"message": {"content": "a"}}]}), Completion("a", None, None, "stop", 0, 0)),
        ((200, '{"choices": [{"message": {"content": "caf\u00e9"}}]}'.encode("latin-1")),
         Completion("caf\u00e9", None, None, "stop", 0, 0)),
        ((200, b' \n\xef\xbb\xbf{"choices": [{"message": {"content": "a"}}]}'[2:]),
         Completion("a", None, None, "stop", 0, 0)),
        (right([{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}, {"type": "text", "text": "a"},
                {"type": "thinking", "thinking": "m"}, {"type": "text", "text": "b"}], tokens=[]),
         Completion("ab", None, None, "stop", 7, 2, reasoning="hmm")),
        (right("ab", tokens=[("hm", -3.0), (".", -2.0), ("a", -1.0), ("b", -0.5)], reasoning_content="hm."),
         Completion("ab", (-1.0, -0.5), None, "stop", 7, 2, reasoning="hm.")),
        (right("ab", tokens=[("a", 0.0), ("b", 0.0)]), Completion("ab", None, None, "stop", 7, 2)),
        ((200, b'{"choices": [{"message": {"content": "a"}, "logprobs": {"content": [{"token": "a"}]}}]}'),
         Completion("a", None, None, "stop", 0, 1)),
        ((200, b'{"choices": [{"message": {"content": "a"}, "logprobs": {"content": [{"token": "a", "bytes": [300],'
               b' "logprob": -1}]}}]}'), Completion("a", (-1.0,), None, "stop", 0, 1)),
        (right("\ud800", tokens=[("\ud800", -1.0)]), Completion("\ud800", (-1.0,), None, "stop", 7, 2)),
    ],
)  # fmt: skip
def test_ends_are_told_apart(serve, step, expected):
    assert single_answer(serve(default=lambda body: step)) == expected


@pytest.mark.parametrize(
    ("text", "tokens", "end"),
    [
        ("ab", ["a", "b"], None),  # OpenAI's way
        ("ab", ["a", "b", "<|im_end|>"], -3.0),  # vLLM's
        ("ab", ["a", "b", ""], -3.0),  # the end token spelled as nothing
        ("", ["<|im_end|>"], -1.0),
        ("", [""], -1.0),
        ("</s>", ["</s>", "</s>"], -2.0),
        ("</s></s>", ["</s>", "</s>"], None),
        ("ab", [" a", "b", "<|im_end|>"], -3.0),  # trimmed by the server
        ("ab", ["a", "b", " \n"], None),
        ("é", ["\ufffd", "\ufffd"], None),  # a letter over two tokens
        ("é", ["\ufffd", "\ufffd", "<|im_end|>"], -3.0),
        ("🧎", ["", "", "🧎", "<|im_end|>"], -4.0),
    ],
)
def test_the_token_that_ends_the_turn_stands_apart(serve, text, tokens, end):
    pairs = [(token, -1.0 - at) for at, token in enumerate(tokens)]
    answer = single_answer(serve(default=lambda body: right(text, tokens=pairs, completion=len(tokens))))
    kept = [logprob for _, logprob in pairs]
    assert (answer.logprobs, answer.end_logprob) == (tuple(kept if end is None else kept[:-1]), end)
    assert (answer.text, answer.completion_tokens) == (text, len(tokens))


def test_tokens_are_compared_by_their_bytes(serve):
    status, body = right("é", tokens=[("\\xc3", -1.0), ("\\xa9", -2.0)])
    for token, spelled in zip(body["choices"][0]["logprobs"]["content"], ([0xC3], [0xA9]), strict=True):
        token["bytes"] = spelled
    assert single_answer(serve((status, body))).logprobs == (-1.0, -2.0)


@pytest.mark.parametrize(
    ("logprobs", "expected"),
    [
        ((-0.5, 1e-7), (-0.5, 0.0)),
        ((-0.5, float("nan")), None),
        ((-0.5, None), None),
        ((-0.5, -9999.0), None),
        ((-0.5, 0.7), None),
    ],
)
def test_a_stand_in_is_no_log_probability(serve, logprobs, expected):
    answer = single_answer(serve(right("ab", tokens=list(zip("ab", logprobs, strict=True)))))
    assert (answer.text, answer.logprobs, answer.end_logprob) == ("ab", expected, None)
    ended = single_answer(serve(right("a", tokens=[("a", -0.5), ("<|im_end|>", logprobs[1])])))
    assert ended.logprobs == (-0.5,)
    assert ended.end_logprob == (expected and expected[1])


@pytest.mark.parametrize("name", ["reasoning_content", "reasoning"])
def test_thinking_that_the_server_took_out_stays_apart(serve, name):
    from excam.inference.answer_text import reasoning_and_answer

    thought = 'he said "no</think>'
    answer = single_answer(serve(right("fine", **{name: thought})))
    assert (answer.text, answer.reasoning) == ("fine", thought)
    assert reasoning_and_answer(answer) == (thought, "fine")
    cut = single_answer(serve(right(None, "length", **{name: thought})))
    assert reasoning_and_answer(cut) == (thought, None)
    assert single_answer(serve(right("x", **{name: None}))).reasoning == ""


# --- choose


def listed(*alternatives):
    """One token, with (text, log-probability) alternatives."""
    status, body = right("Yes", "length", [("Yes", -0.1)])
    body["choices"][0]["logprobs"]["content"][0]["top_logprobs"] = [
        {"token": token, "logprob": logprob, "bytes": list(token.encode())} for token, logprob in alternatives
    ]
    return status, body


def test_a_choice_is_told_from_the_alternatives(serve):
    server = serve(listed(("Maybe", -0.1), (" No", -0.2), ("No", -4.0), ("Yes", -2.5), ("Yes", -1.5)))
    assert single_answer(server, PICK) == Choice((-1.5, -4.0), (1, 1), 7)
    wanted = {"max_tokens": 1, "logprobs": True, "top_logprobs": 20, "temperature": 1.0}
    assert server.calls[0].items() >= wanted.items()


@pytest.mark.parametrize(
    "step",
    [
        listed(("Yes", -0.1), (" No", -0.2)),
        listed(("Yes", -0.1), ("No", -9999.0)),
        listed(("Yes", -0.1), ("No", float("nan"))),
        listed(),
        right("Yes"),
        (200, {"choices": [{"message": {"content": "Yes"}, "finish_reason": "stop"}], "usage": {"prompt_tokens": 7}}),
    ],
    ids=["spelled otherwise", "floor", "nan", "none", "no alternatives", "no logprobs"],
)
def test_a_choice_the_server_cannot_tell(serve, step):
    assert single_answer(serve(step), PICK) == Choice(None, None, 7)


def test_a_server_without_log_probabilities_cannot_tell_a_choice(serve):
    refusing = wrong(403, "You are not allowed to request logprobs from this model")
    server = serve(default=lambda body: refusing if "logprobs" in body else echo(body))
    assert single_answer(server, PICK) == Choice(None, None, 0)
    too_long = wrong(400, "This model's maximum context length is 9 tokens")
    assert single_answer(serve(too_long, too_long), PICK) == Choice(None, None, 0)
    assert isinstance(single_answer(serve(refusing)), Missing), "a text without what was asked for is no answer"


# --- trouble

PASSING = {
    "429 without a word": wrong(429),
    "429 for a moment": wrong(429, Retry_After="0.05"),
    "garbage": (200, b"garbage"),
    "deep": (200, b"[" * 100_000),
    "choices of nothing": (200, {"choices": [None]}),
    "no message": (200, {"choices": [{"finish_reason": "stop"}]}),
    "content of parts that are none": right([3], tokens=[]),
    "error in a 200": (200, {"error": {"message": "overloaded", "code": 502}}),
    "half": half,
    "hang up": hang_up,
    "badly zipped": (200, b"not gzip", {"Content-Encoding": "gzip"}),
}  # fmt: skip


@pytest.mark.parametrize("trouble", PASSING.values(), ids=PASSING.keys())
def test_trouble_that_passes(serve, tmp_path, trouble):
    server = serve(trouble, right("first"), trouble, trouble)
    journal = tmp_path / "journal.jsonl"
    answers = ask(client(server, concurrency=1), GREEDY, Journal(journal), REQUESTS[:3])
    assert [answer.text for answer in answers] == ["first", last_message(REQUESTS[1]), last_message(REQUESTS[2])]
    assert len(server.calls) == 3 + 3
    assert contents(journal).duplicates == 0
    assert len(Journal(journal)) == 3


@pytest.mark.parametrize(
    ("refusal", "times"),
    [
        (wrong(400, "This model's maximum context length is 9 tokens", "context_length_exceeded"), 2),
        (wrong(413, "prompt is too long: 9 tokens > 8 maximum"), 2),
        ((400, b"<html>Bad Request</html>"), 2),
        (wrong(403, "flagged by moderation"), 2),
        ((200, {"choices": None}), 3),
        ((200, {"choices": [{"message": {"content": "half a"}, "finish_reason": "abort"}]}), 3),
        ((200, {"choices": [{"error": {"code": 502, "message": "died"}, "finish_reason": "error"}]}), 3),
        (STRANGE, 3),
        (wrong(500, "larger than the context"), 6),
        (wrong(418, "teapot"), None),
    ],
)
@pytest.mark.parametrize("is_first", [False, True])
def test_what_is_wrong_with_one_request(serve, refusal, times, is_first):
    """Refused after so many equal words, if a short request is answered; the others are asked as if nothing had been."""
    if is_first and refusal[0] == 403:
        pytest.skip("the key may be wrong: all requests end")
    server = serve(*[right("first")] * (not is_first), *[refusal] * (times or 1))
    requests = REQUESTS[is_first:5]
    answers = answered(client(server, concurrency=1), requests)
    assert [completion.text for completion in answers[2 - is_first :]] == list(map(last_message, REQUESTS[2:5]))
    assert len(server.calls) == len(requests) + (times or 0)  # one of them is a short one
    answer = answers[1 - is_first]
    words = answer.problem if times else answer.reason
    assert words.startswith("not a chat completion" if refusal == STRANGE else f"HTTP {refusal[0]}: ")
    assert answer == (Completion("", None, None, "refused", 0, 0, words) if times else Missing(words))


@pytest.mark.variants  # of each the attempts are waited for
@pytest.mark.parametrize("problem", [wrong(400, "no adapter"), wrong(500, "out of memory"), wrong(403, "no credit")])
def test_what_all_requests_get_from_now_on_is_no_fault_of_a_row(serve, tmp_path, problem):
    """Nothing is kept of an outage, and the next run asks again."""
    server = serve(right("first"), default=lambda body: problem)
    journal = Journal(tmp_path / "journal.jsonl")
    with pytest.raises(AnswersMissing, match="11 requests unanswered"):
        ask(client(server, concurrency=1), GREEDY, journal, REQUESTS)
    assert len(journal) == 1


def test_a_key_in_the_address_and_in_a_page_is_not_shown(serve, monkeypatch):
    query = "?api-key=QUERYSECRET"
    monkeypatch.setenv("EXCAM_KEY", "sk-" + "SECRET" * 5)
    page = (200, b"<html>" + b"x" * 40 + b"sk-" + b"SECRET" * 5)
    server = serve(default=lambda body: page if body["messages"][0]["content"].endswith("1") else wrong(400, query))
    asked = client(server.endpoint.rstrip("/") + query, attempts=2, key_env="EXCAM_KEY")
    assert "SECRET" not in str(answered(asked, REQUESTS[:2]))


def test_a_wait_for_the_first_answer_is_said(serve, monkeypatch, capsys):
    monkeypatch.setattr(openai, "SAY_EVERY", 0.02)
    client(serve(lambda handler: (time.sleep(0.2), send(handler, *right("x"))))).attempt(REQUESTS[0], GREEDY)
    assert capsys.readouterr().err.startswith("gpt-x: no answer to a first request yet; waiting up to ")


@pytest.mark.parametrize(
    ("text", "prompt", "again", "times", "is_cut"),
    [
        ("many words " * 6000, 2050, 2050, 2, True),
        ("many words " * 6000, 2050, 30_000, 2, False),  # without what the server had in a cache
        ("many words " * 6000, 30_000, 0, 1, False),
        ("many words " * 6000, 0, 0, 1, False),
        ("many words " * 6000, 700, 0, 1, False),  # no context is so short
        ("two words", 2050, 0, 1, False),
        ("a" * 66_000, 2050, 0, 1, False),
    ],
    ids=["a part", "cached", "more", "not counted", "few", "short", "repeated"],
)
def test_a_prompt_of_which_the_server_read_a_part_is_refused(serve, text, prompt, again, times, is_cut):
    server = serve(right("fine", prompt=prompt), right("other", prompt=again))
    answer = single_answer(server, Generate((Message("user", text),)))
    assert (answer.finish, answer.text) == (("refused", "") if is_cut else ("stop", "fine"))
    assert answer.problem.startswith("the prompt was cut: the server read 2050 tokens of 66000 char") is is_cut
    assert [call["messages"][0]["content"].startswith("\n") for call in server.calls] == [False, True][:times]


@pytest.mark.parametrize(
    ("counted", "prompt", "completion"),
    [
        ({"completion_tokens": 30, "total_tokens": 930}, 900, 30),
        ({"completion_tokens": 30, "total_tokens": 5930, "completion_tokens_details": {"reasoning_tokens": 5000}}, 900, 5030),
        ({"completion_tokens": 90, "total_tokens": 990, "completion_tokens_details": {"reasoning_tokens": 80}}, 900, 90),
        ({"completion_tokens": 90, "completion_tokens_details": {"reasoning_tokens": 80}}, 900, 170),
        ({"completion_tokens": 30, "completion_tokens_details": None, "total_tokens": "many"}, 900, 30),
        ({"completion_tokens": 30, "prompt_tokens_details": {"cached_tokens": 800}}, 900, 30),
        ({"completion_tokens": 30, "prompt_tokens_details": {"cached_tokens": 9000}}, 9900, 30),
        ({"completion_tokens": 30, "cache_read_input_tokens": 9000, "total_tokens": 9930}, 9900, 30),
        ({"prompt_tokens": None, "input_tokens": 900, "output_tokens": 5030}, 900, 5030),
    ],
)  # fmt: skip
def test_counts_that_contradict_each_other_are_taken_at_the_most(counted, prompt, completion):
    assert bodies.usage({"usage": {"prompt_tokens": 900, **counted}}) == bodies.Usage(prompt, completion)


def test_a_version_of_a_model_is_no_other_model():
    for answered in ("gpt-4o-mini-2024-07-18 (fp_a)", "openai/GPT-4o-mini", ""):
        assert bodies.is_another(answered, "gpt-4o-mini") is False
    assert bodies.is_another("gpt-4o-mini", "gpt-4") is True
    assert bodies.is_another("anthropic/claude-sonnet-5", "m") is True


def test_another_model_is_said_once_and_kept(serve, tmp_path, capsys):
    by = ["gpt-x", "gpt-x-2", "gpt-x", "gpt-x-2"]
    server = serve(*((200, right("a")[1] | {"model": name}) for name in by))
    ask(client(server, concurrency=1), GREEDY, Journal(tmp_path / "journal.jsonl"), REQUESTS[:4])
    assert capsys.readouterr().err == "gpt-x: the server says that gpt-x-2 answers, gpt-x before\n"
    (kept,) = contents(tmp_path / "journal.jsonl").answers.values()
    assert [answer.answered_by for answer in kept] == ["", "gpt-x-2"] * 2


@pytest.mark.parametrize(
    ("answer", "reason", "times"),
    [
        (lambda number: wrong(400, f"request {number}: no"), "HTTP 400: request 2: no", 2),
        (lambda _: STRANGE, 'not a chat completion (KeyError: \'choices\'); found {"code": 1002, "msg": "key"}', 3),
    ],
)
def test_a_server_that_refuses_a_short_request_too_is_asked_no_more(serve, answer, reason, times):
    server = serve(default=lambda body: answer(len(server.calls)))
    first, *others = answered(client(server, concurrency=1), REQUESTS)
    assert first == Missing(reason)
    assert {other.reason for other in others} == {f"not asked any more: {reason}"}
    assert len(server.calls) == times + 1
    assert server.calls[-1]["messages"] == [openai.SHORT]


def test_attempts_are_announced_at_most_once_in_ten_seconds(serve, capsys, monkeypatch):
    monkeypatch.setattr(openai.random, "uniform", lambda low, high: 0.0)
    busy = [wrong(429, "busy")] * 5
    answered(client(serve(*busy, right("a"), *busy), concurrency=1), REQUESTS[:2])
    assert capsys.readouterr().err == "gpt-x: attempt 2 of 8 in 0 s: HTTP 429: busy\n"


@pytest.mark.parametrize(
    ("steps", "error", "words", "times"),
    [
        ([], None, "", 1),
        ([wrong(400, "no")], openai.Refusal, "HTTP 400: no", 1),
        ([wrong(500, "no")] * 2, openai.Refusal, "HTTP 500: no", 2),
        ([hang_up] * 2, ModelInvalid, "RemoteProtocolError", 2),
        ([(200, {"data": {"choices": []}})], ModelInvalid, "not a chat completion", 1),
        ([wrong(401, "no")], ModelInvalid, "HTTP 401: no", 1),
        ([wrong(429, "no", "insufficient_quota")], ModelInvalid, "HTTP 429: no", 1),
        ([wrong(429, "no", Retry_After="601")], ModelInvalid, r"HTTP 429: no \(wants 601 s", 1),
        ([wrong(503, "loading")] * 4, None, "", 5),
        ([wrong(503, "loading")] * 8, ModelInvalid, r"HTTP 503: loading \(8 attempts\)", 8),
        ([hang_up, wrong(429), hang_up, wrong(500)], None, "", 5),
        ([(200, {"choices": []})], None, "", 1),  # whatever the answer is
    ],
)
def test_a_first_attempt_ends_after_two_equal_failures_unless_it_is_to_come_later(serve, steps, error, words, times):
    server = serve(*steps)
    with pytest.raises(error, match=words) if error else nullcontext():
        client(server).attempt(REQUESTS[0], GREEDY)
    assert len(server.calls) == times


def test_so_many_seconds_are_waited():
    ahead = time.time() + 550
    for value in (str(int(ahead)), formatdate(ahead, usegmt=True), "9m", "550s", "550"):
        assert bodies.retry_after(value) == pytest.approx(545, abs=7)
    assert bodies.retry_after("7", "1500") == 1.5
    unusable = ("nan", "-1", "soon", "", "1700000000", "Wed, 21 Oct 2015 07:28:00 GMT")
    assert [bodies.retry_after(value) for value in unusable] == [0] * len(unusable)
    assert bodies.retry_after("5ms") == 0.005


@pytest.mark.parametrize(
    ("problem", "reason"),
    [
        (wrong(401, "Incorrect API key"), f"HTTP 401: Incorrect API key; {openai.NO_KEY}"),
        (wrong(402, "Insufficient Balance"), "HTTP 402: Insufficient Balance"),
        (wrong(404, "The model `gpt-x` does not exist", "model_not_found"), "HTTP 404: The model `gpt-x` does not exist"),
        (wrong(429, "You exceeded your current quota", "insufficient_quota"), "HTTP 429: You exceeded your current quota"),
        (wrong(429, "come soon", Retry_After="601"), "HTTP 429: come soon (wants 601 s of waiting)"),
        (wrong(400, "Unsupported value: 'temperature'", "unsupported_value"), "HTTP 400: Unsupported value: 'temperature'"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_all_requests_stops_the_asking(serve, tmp_path, problem, reason):
    server = serve(right("first"), problem, default=lambda body: problem)
    journal = tmp_path / "journal.jsonl"
    with pytest.raises(AnswersMissing, match="11 requests unanswered, the first is 1") as caught:
        ask(client(server, concurrency=1), GREEDY, Journal(journal), REQUESTS)
    assert len(server.calls) == 2
    assert caught.value.reasons == {1: reason, **dict.fromkeys(range(2, 12), f"not asked any more: {reason}")}
    assert len(Journal(journal)) == 1
    wide = answered(client(serve(default=lambda body: problem), concurrency=4), REQUESTS)
    assert all(answer.reason.removeprefix("not asked any more: ") == reason for answer in wide)
    assert wide[0].reason == reason


def test_waits_end_when_nobody_asks_any_more(serve):
    """A request that waits for its next turn does not hold up the news that the key is wrong."""
    both, notified = threading.Event(), threading.Event()

    def busy(handler):
        both.wait(600)
        send(handler, *wrong(503, "a moment", Retry_After="200"))
        notified.set()

    def locked(handler):
        both.set()
        notified.wait(600)
        time.sleep(0.2)
        send(handler, *wrong(401, "wrong key"))

    started = time.monotonic()
    answers = answered(client(serve(busy, locked), concurrency=2, timeout=30), REQUESTS[:2])
    assert time.monotonic() - started < 150, "not the 200 s of the first answer"
    reason = f"HTTP 401: wrong key; {openai.NO_KEY}"
    assert sorted(answer.reason for answer in answers) == [reason, f"not asked any more: {reason}"]


def test_a_server_that_is_down_is_given_up(serve):
    server = serve(default=lambda body: (503, b"down\nfor long"))
    requests = [Generate((Message("user", str(at)),)) for at in range(60)]
    answers = answered(client(server, attempts=2), requests)
    assert len(server.calls) < 2 * 60
    assert answers[0] == Missing("HTTP 503: down for long (2 attempts)")
    down = "the server is down, 16 requests in a row failed: HTTP 503: down for long"
    assert answers[-1] == Missing(f"not asked any more: {down}")
    assert 16 <= answers.count(answers[0]) < 16 + 4


def never(seconds):
    return lambda handler: time.sleep(seconds)


def drip(handler, data=b"HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\n" + b" " * 9999, pause=0.05):
    for byte in data:
        handler.wfile.write(bytes([byte]))
        handler.wfile.flush()
        time.sleep(pause)


def drip_body(handler):
    handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\n")
    drip(handler, b" " * 9999)


@pytest.mark.parametrize("silence", [never(5), drip, drip_body], ids=["nothing ever", "drips", "drips a body"])
def test_the_limit_is_on_the_whole_answer(serve, silence):
    """A byte now and then does not hold us, as limits on each read would."""
    started = time.monotonic()
    answer = single_answer(serve(silence, silence), attempts=2, timeout=0.4)
    assert answer == Missing("no complete answer within 0.4 s (2 attempts)")
    assert 0.8 <= time.monotonic() - started < 15
    assert single_answer(serve(silence), timeout=0.4).text == last_message(REQUESTS[0])


def test_a_huge_body_is_not_read_to_its_end(serve, monkeypatch):
    monkeypatch.setattr(_openai_connection, "LARGEST", 2**20)
    sent = []

    def flood(handler):
        handler.close_connection = True
        handler.wfile.write(b"HTTP/1.1 200 OK\r\n\r\n")
        for _ in range(64 * 16):
            handler.wfile.write(b" " * 2**16)
            sent.append(2**16)

    server = serve(flood, (200, gzip.compress(b" " * 2**22), {"Content-Encoding": "gzip"}))
    first, second, third = answered(client(server, concurrency=1), REQUESTS[:3])
    assert first == second == Missing("HTTP 200 with more than 1048576 bytes")
    assert third.text == last_message(REQUESTS[2])
    assert sum(sent) < 64 * 2**20


def test_redirects_are_not_followed_and_the_key_stays_here(serve, monkeypatch):
    monkeypatch.setenv("EXCAM_CANARY", "sk-canary-123")
    elsewhere = serve()
    server = serve(default=lambda body: (307, b"", {"Location": f"{elsewhere.endpoint}chat/completions"}))
    first, *others = answered(client(server, key_env="EXCAM_CANARY", concurrency=1), REQUESTS[:3])
    assert first.reason == f"HTTP 307: redirected; expected the address {elsewhere.endpoint}chat/completions"
    assert [other.reason for other in others] == [f"not asked any more: {first.reason}"] * 2
    assert elsewhere.calls == []


# --- pace


def test_retry_after_holds_for_all(serve):
    """A server asks for a pause before one request; the answer to another frees its place meanwhile, and no request is sent."""
    wait, notified = 0.9, threading.Event()

    def later(handler):
        notified.wait(600)
        time.sleep(0.2)
        send(handler, *right("first"))

    def tell(handler):
        send(handler, *wrong(429, Retry_After=str(wait)))
        notified.set()

    server = serve(later, tell)
    answers = answered(client(server, concurrency=2, timeout=30), REQUESTS)
    texts, usual = [answer.text for answer in answers], list(map(last_message, REQUESTS))
    assert texts in (["first", *usual[1:]], [usual[0], "first", *usual[2:]])  # either of the two may come first
    assert min(server.times[2:]) - server.times[1] >= wait
    assert len(server.calls) == 12 + 1


def test_requests_start_evenly_however_many_may_be_open(serve):
    server, started = serve(), time.monotonic()
    answered(client(server, concurrency=8, requests_per_minute=600), REQUESTS)
    assert [at for at, came in enumerate(server.times) if came - started < at * 0.1] == []
    assert len(server.times) == 12


def test_waits_grow(serve):
    server = serve(*[wrong(502)] * 5)
    backend = openai.Backend("x", config.Server(endpoint=server.endpoint), first_wait=0.1)
    answered(backend, REQUESTS[:1])
    gaps = [after - before for before, after in zip(server.times, server.times[1:], strict=False)]
    assert len(gaps) == 5
    assert [at for at, gap in enumerate(gaps) if gap < 0.5 * 0.1 * 2**at] == []


# --- facts


def test_the_facts_for_the_manifest(serve, monkeypatch):
    monkeypatch.setenv("EXCAM_CANARY", "sk-canary-123")
    server = serve(wrong(500), right("a", prompt=100, completion=10), right("b", prompt=300, completion=20))
    endpoint = server.endpoint.rstrip("/") + "?api-version=3&sig=sk-canary-456"
    price = {"prompt": 2.0, "completion": 10.0}
    backend = client(endpoint, concurrency=1, key_env="EXCAM_CANARY", price=price)
    answered(backend, REQUESTS[:2])
    facts = dict(backend.settings)
    assert facts.pop("cost") == pytest.approx((400 * 2 + 30 * 10) / 1e6)
    assert (facts.pop("prompt_tokens"), facts.pop("completion_tokens")) == (400, 30)
    assert facts == {"endpoint": server.endpoint.rstrip("/"), "name": "gpt-x", "requests": 3, "retries": 1}
    assert server.headers[0][0] == "/v1/chat/completions?api-version=3&sig=sk-canary-456"
    assert client(server).settings["cost"] is None
    json.dumps(backend.settings)


def test_the_key_is_sent_and_never_shown(serve, monkeypatch, caplog, capfd):
    monkeypatch.setenv("EXCAM_CANARY", "sk-canary-123\n")
    blurted = b'{"error": {"message": "' + b" " * 1200 + b'Incorrect key: sk-canary-123"}}'
    server = serve(default=lambda body: (401, blurted))
    backend = client(server, key_env="EXCAM_CANARY", concurrency=2)
    with caplog.at_level(0):
        answers = answered(backend, REQUESTS)
    assert answers[0].reason == "HTTP 401: Incorrect key: ***; sent was the key in EXCAM_CANARY"
    assert len(server.calls) <= 2
    assert server.headers[0][1] == "Bearer sk-canary-123"
    shown = "".join(capfd.readouterr())
    assert "sk-canary" not in f"{answers}{caplog.text}{backend.identity}{backend.settings}{shown}"


@pytest.mark.parametrize("before", range(76, 92, 3))
def test_a_key_at_the_end_of_a_shortened_message_is_not_shown(serve, monkeypatch, before):
    monkeypatch.setenv("EXCAM_CANARY", "sk-canary-123")
    server = serve(default=lambda body: wrong(401, "x" * before + "sk-canary-123"))
    assert "sk-" not in single_answer(server, key_env="EXCAM_CANARY").reason


@pytest.mark.parametrize("key", ["sk-canary\nX-Evil: 1", "sk-canary-\u00e9", "sk-canary\x00", "  ", None])
def test_what_no_header_can_hold_is_no_key(monkeypatch, key):
    monkeypatch.setattr(os, "environ", {"EXCAM_CANARY": key} if key else {})
    line = line_of(ModelInvalid, client, "http://127.0.0.1:9/v1", key_env="EXCAM_CANARY")
    is_there = "sk-canary" in (key or "")
    said = (
        "holds a line break or other characters" if is_there else "is not set; expected the key of http://127.0.0.1:9"
    )
    assert f"EXCAM_CANARY {said}" in line
    assert "sk-canary" not in line


@pytest.mark.parametrize("endpoint", ["http://[::1", "https:///v1", "http://host:port/v1", "http://host:99999999/v1"])
def test_what_is_no_address(endpoint):
    line = line_of(ModelInvalid, client, endpoint)
    assert line == f"gpt-x: {endpoint} is not an address; expected one like https://host/v1"


def test_a_proxy_is_not_asked_for_what_is_here(serve, monkeypatch):
    proxy, server = serve(), serve()
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy"):
        monkeypatch.setenv(name, proxy.endpoint)
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    assert single_answer(server).text == last_message(REQUESTS[0])
    assert proxy.calls == []
    assert single_answer("http://model.invalid/v1").text == last_message(REQUESTS[0]), "and for what is elsewhere it is"
    assert proxy.headers == [("http://model.invalid/v1/chat/completions", None)]
    monkeypatch.setenv("ALL_PROXY", "socks://127.0.0.1:9")
    with pytest.raises(ModelInvalid, match="check HTTPS_PROXY, ALL_PROXY, NO_PROXY and SSL_CERT_FILE"):
        client(server)


@pytest.mark.skipif(not shutil.which("openssl"), reason="no openssl to make a certificate")
def test_certificates_are_verified(serve, monkeypatch, tmp_path):
    certificate, private = tmp_path / "cert.pem", tmp_path / "key.pem"
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", "/CN=localhost"]
    command += ["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", str(private), "-out", str(certificate)]
    subprocess.run(command, check=True, capture_output=True)
    server = serve()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, private)
    server.http.socket = context.wrap_socket(server.http.socket, server_side=True)
    endpoint = server.endpoint.replace("http:", "https:")
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    first, second = answered(client(endpoint, concurrency=1), REQUESTS[:2])
    assert "CERTIFICATE_VERIFY_FAILED" in first.reason
    assert second.reason.startswith("not asked any more: ConnectError")
    assert server.calls == []
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    assert single_answer(endpoint).text == last_message(REQUESTS[0])


def test_opening_an_entry_of_the_configuration(tmp_path):
    server = {"endpoint": "http://127.0.0.1:9/v1"}

    def entry(**fields):
        return config.Model(licence="none", backend="openai", **fields)

    named = partial(openai.open_model, files=None, adapter=None, identity="who")
    assert named("entry", entry(server=server)).name == "entry"
    assert named("entry", entry(server=server, hub="org/model")).name == "org/model"
    backend = named("entry", entry(server={**server, "name": "there"}, hub="org/model"))
    assert (backend.name, backend.identity, openai.PACKAGES) == ("there", "who", ())
    line = line_of(ModelInvalid, openai.open_model, "entry", entry(server=server), None, Path("adapters/a"), "who")
    assert line.startswith("entry: adapter adapters/a for a model behind a server; expected none")
