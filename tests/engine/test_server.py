"""The backend for servers against vLLM's own server and the transformers backend, in float32, over HTTP."""

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from math import exp

import pytest
from conftest import MODEL, asked, assert_same, gathered

from excam import config
from excam.inference import Choice, Choose, Completion, Message, Missing, Sampling
from excam.inference.backends import openai, transformers

GREEDY = Sampling(max_tokens=16)
KEY = "sk-canary-5b1d"


@pytest.fixture(scope="module")
def endpoint(tmp_path_factory):
    """A server process with the embedded model, which wants a key."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "vllm.entrypoints.openai.api_server", "--model", str(MODEL), "--port", str(port)]
    command += ["--served-model-name", "small", "--dtype", "float32", "--max-model-len", "256", "--enforce-eager"]
    command += ["--host", "127.0.0.1", "--kv-cache-memory-bytes", str(2**29), "--max-num-seqs", "4"]
    command += ["--generation-config", "vllm"]
    log = tmp_path_factory.mktemp("server") / "log"
    with log.open("wb") as stream:
        environment = os.environ | {"VLLM_API_KEY": KEY}
        server = subprocess.Popen(command, stdout=stream, stderr=stream, env=environment, start_new_session=True)
    try:
        while not healthy(port):
            assert server.poll() is None, log.read_text(errors="replace")[-3000:]
            time.sleep(0.5)
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        os.killpg(server.pid, signal.SIGTERM)  # it has children of its own
        try:
            server.wait(30)
        except subprocess.TimeoutExpired:
            os.killpg(server.pid, signal.SIGKILL)
            server.wait()


def healthy(port):
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=5) as answer:
            return answer.status == 200
    except (urllib.error.URLError, ConnectionError, TimeoutError):
        return False


@pytest.fixture
def backend(endpoint, monkeypatch):
    monkeypatch.setenv("EXCAM_CANARY", KEY)
    return openai.Backend("small", config.Server(endpoint=endpoint, key_env="EXCAM_CANARY", concurrency=4))


@pytest.fixture(scope="module")
def reference():
    return transformers.Backend(MODEL, dtype="float32", context=256)


def test_texts_tokens_and_probabilities_are_those_of_transformers(backend, reference):
    """p(R) to 1e-3, the end token included: the server lists it, and it is distinguished."""
    answers, expected = gathered(backend.generate(asked(), GREEDY)), gathered(reference.generate(asked(), GREEDY))
    assert {answer.finish for answer in answers} == {"stop", "length"}
    assert [answer.end_logprob is None for answer in answers] == [answer.finish == "length" for answer in answers]
    assert_same(answers, expected)
    facts = backend.settings
    assert facts["requests"] == len(answers)
    assert facts["retries"] == 0
    assert facts["prompt_tokens"] == sum(answer.prompt_tokens for answer in answers)
    assert facts["completion_tokens"] == sum(answer.completion_tokens for answer in answers)


def test_choices_are_those_of_transformers(backend, reference):
    """Whatever the seed: nothing of the choice is drawn."""
    request = Choose((Message("user", "Is Paris in France? Answer with Yes or No."),), ("Yes", "No"))
    (ours,), (expected,) = gathered(backend.choose([request])), gathered(reference.choose([request]))
    assert (ours.tokens, ours.prompt_tokens) == (expected.tokens, expected.prompt_tokens)
    assert ours.logprobs == pytest.approx(expected.logprobs, abs=1e-3)
    assert list(map(exp, ours.logprobs)) == pytest.approx(list(map(exp, expected.logprobs)), abs=1e-3)


def test_a_choice_that_cannot_be_told(backend):
    requests = [
        Choose((Message("user", "Is Paris in France?"),), ("Yes", "Yes, it is")),
        Choose((Message("user", "Too long. " * 200),), ("Yes", "No")),
    ]
    choice, refused = gathered(backend.choose(requests))
    assert choice == Choice(None, None, choice.prompt_tokens)
    assert choice.prompt_tokens > 0
    assert refused == Choice(None, None, 0)


def test_a_prompt_without_room_is_refused_and_one_with_little_answered_in_what_is_left(backend):
    first, second = gathered(backend.generate([*asked(["word " * 400]), *asked(["Say yes."])], GREEDY))
    assert first == Completion("", None, None, "refused", 0, 0)
    assert second.finish in ("stop", "length")
    (short,) = gathered(backend.generate(asked(["word " * 190]), Sampling(max_tokens=200)))
    assert short.prompt_tokens > 200
    assert short.prompt_tokens + short.completion_tokens <= 256
    assert short.finish in ("stop", "length")


def test_a_wrong_key_and_a_wrong_model_stop_the_asking(backend, endpoint, monkeypatch):
    without_key = openai.Backend("large", config.Server(endpoint=endpoint, key_env="EXCAM_CANARY", concurrency=1))
    first, *others = gathered(without_key.generate(asked(), GREEDY))
    assert first.reason.startswith("HTTP 404: The model `large` does not exist")
    assert others == [Missing(f"not asked any more: {first.reason}")] * len(others)
    monkeypatch.setenv("EXCAM_CANARY", "sk-other")
    locked = openai.Backend("small", config.Server(endpoint=endpoint, key_env="EXCAM_CANARY", concurrency=1))
    first, *others = gathered(locked.generate(asked(), GREEDY))
    assert first.reason.startswith("HTTP 401")
    assert others == [Missing(f"not asked any more: {first.reason}")] * len(others)
