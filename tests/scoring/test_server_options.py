"""How a server is asked, by options: what they change, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fake_chat_server import wrong
from one_line_errors import line_of

from excam.config import Server
from excam.core.exceptions import InputInvalid, ModelInvalid
from excam.inference import Generate, Message, Sampling
from excam.scoring import served_model
from excam.scoring.models import Address, open_model, parse
from excam.scoring.options import Serving
from excam.scoring.served_model import entry_of, negotiate

SERVER = Server(endpoint="http://host/v1", name="m")


def applied(serving: Serving) -> Server:
    server = entry_of("m", SERVER.endpoint, serving).model.server
    assert server
    return server.model_copy(update={"name": SERVER.name})


def test_options_change_the_settings_of_a_server() -> None:
    asked = Serving(2, 60, 5.0, ("seed", "schema", "top_p"))
    asked = applied(asked)
    assert (asked.concurrency, asked.requests_per_minute, asked.timeout) == (2, 60, 5.0)
    assert (asked.omit, asked.structure) == (["seed", "top_p"], False)
    assert applied(Serving()) == SERVER


@pytest.mark.parametrize(
    ("serving", "line"),
    [
        (Serving(concurrency=0), "--concurrency: found 0; expected a whole number from 1"),
        (Serving(rate=-1), "--rate: found -1; expected a whole number from 1"),
        (Serving(timeout=0), "--timeout: found 0; expected seconds above 0"),
        (Serving(omit=("logits",)), "--omit: found logits; expected temperature, top_p, seed, logprobs"),
    ],
)
def test_a_value_that_cannot_be_is_refused_in_one_line(serving: Serving, line: str) -> None:
    assert line_of(InputInvalid, serving.checked).startswith(line)


def test_a_model_of_this_machine_has_none(tmp_path: Path) -> None:
    with pytest.raises(InputInvalid, match=r"^--concurrency, --rate: found for .*, on this machine; leave it out"):
        open_model(tmp_path, serving=Serving(concurrency=2, rate=9))


def test_what_people_leave_out_is_not_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[Server] = []
    request = Generate((Message("system", "s"), Message("user", "u")), "{}")
    asked = applied(Serving(omit=("logprobs", "system")))
    left, lines = negotiate(asked, request, Sampling(max_tokens=8), sent.append)
    assert (left, lines, sent) == (asked, [], [asked])


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    for name in (served_model.KEY, served_model.OPENAI_KEY, "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    return monkeypatch


def test_a_name_of_openai_alone_says_what_to_type(environment: pytest.MonkeyPatch) -> None:
    assert "then --model openai/gpt-x" in line_of(InputInvalid, parse, "gpt-x")
    environment.setenv("OPENAI_API_KEY", "k")
    environment.setenv("OPENAI_BASE_URL", "http://host/v1")
    assert parse("openai/gpt-x").endpoint == "http://host/v1"
    assert parse("qwen3").endpoint == parse("./qwen3").endpoint == ""


def test_a_provider_is_asked_at_its_address_with_its_key_alone(
    environment: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    environment.chdir(tmp_path)
    environment.delenv("GEMINI_API_KEY", raising=False)
    with pytest.raises(InputInvalid, match=r"set GEMINI_API_KEY; the hub's model of this name is google/gemma@main$"):
        parse("google/gemma")
    environment.setenv("GEMINI_API_KEY", "k")
    google = parse("google/gemma")
    assert (google.name, google.endpoint) == ("gemma", served_model.PROVIDERS["google"][0])
    assert "google/gemma: gemma of google, at https://generativelanguage" in capsys.readouterr().err
    assert served_model.key_variable(google.endpoint) == "GEMINI_API_KEY"
    assert served_model.key_variable(served_model.OPENAI) is None
    environment.setenv("OLLAMA_BASE_URL", "http://host:1/v1")
    assert parse("ollama/llama3") == Address("ollama/llama3", "llama3", "http://host:1/v1")
    assert "set AZURE_BASE_URL, such as https://RESOURCE" in line_of(InputInvalid, parse, "azure/mine")
    (tmp_path / "ollama/llama3").mkdir(parents=True)
    assert parse("ollama/llama3").endpoint == ""
    assert "ollama/llama3: the folder here, not a model of this name elsewhere" in capsys.readouterr().err


def test_the_key_of_openai_is_sent_to_openai_and_openai_base_url_only(environment: pytest.MonkeyPatch) -> None:
    environment.setenv("OPENAI_API_KEY", "k")
    environment.setenv("OPENAI_BASE_URL", "http://host/v1/")
    variables = [served_model.key_variable(url) for url in ("http://host/v1", served_model.OPENAI, "http://other/v1")]
    assert variables == ["OPENAI_API_KEY", "OPENAI_API_KEY", None]
    environment.setenv("EXCAM_ENDPOINT_KEY", "k")
    assert served_model.key_variable("http://other/v1") == "EXCAM_ENDPOINT_KEY"


def test_a_wrong_name_or_none_shows_the_names_that_the_server_lists(
    environment: pytest.MonkeyPatch, serve: Callable[..., Any]
) -> None:
    server = serve(default=lambda _: wrong(404, "model not found"))
    server.names = ("small", "large")
    listing = server.endpoint.rstrip("/")
    with pytest.raises(InputInvalid, match=f"no name before it; expected NAME@{listing}, .* lists: small, large$"):
        parse(listing)
    request = Generate((Message("user", "u"),))
    with pytest.raises(ModelInvalid, match=r"expected a name that the server lists: small, large$"):
        open_model(f"smal@{listing}", probe=lambda _: (request, Sampling(max_tokens=8)))
