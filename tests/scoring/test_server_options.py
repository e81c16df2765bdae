"""How a server is asked, by options: what they change, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fake_chat_server import wrong

from excam.config import Server
from excam.core.exceptions import InputInvalid, ModelInvalid
from excam.inference import Generate, Message, Sampling
from excam.scoring import served_model
from excam.scoring.models import open_model, parse
from excam.scoring.served_model import negotiate
from excam.scoring.server_options import Serving

SERVER = Server(endpoint="http://host/v1", name="m")


def test_options_change_the_settings_of_a_server() -> None:
    asked = Serving(2, 60, 5.0, ("seed", "schema", "top_p"), "max_completion_tokens").applied(SERVER)
    assert (asked.concurrency, asked.requests_per_minute, asked.timeout) == (2, 60, 5.0)
    assert (asked.omit, asked.structure, asked.limit_field) == (["seed", "top_p"], False, "max_completion_tokens")
    assert Serving().applied(SERVER) == SERVER


@pytest.mark.parametrize(
    ("serving", "line"),
    [
        (Serving(concurrency=0), "--concurrency: found 0; expected a whole number from 1"),
        (Serving(rate=-1), "--rate: found -1; expected a whole number from 1"),
        (Serving(timeout=0), "--timeout: found 0; expected seconds above 0"),
        (
            Serving(omit=("logits",)),
            "--omit: found logits; expected temperature, top_p, seed, logprobs, schema, system",
        ),
        (
            Serving(limit_field="max tokens"),
            "--limit-field: found max tokens; expected the name of a field, such as max",
        ),
    ],
)
def test_a_value_that_cannot_be_is_refused_in_one_line(serving: Serving, line: str) -> None:
    with pytest.raises(InputInvalid) as refusal:
        serving.checked()
    assert str(refusal.value).startswith(line)


def test_a_model_of_this_machine_has_none(tmp_path: Path) -> None:
    with pytest.raises(
        InputInvalid, match=r"^--concurrency, --limit-field: found for .*, on this machine; leave it out"
    ):
        open_model(tmp_path, serving=Serving(concurrency=2, limit_field="n"))


def test_what_people_leave_out_is_not_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[Server] = []
    request = Generate((Message("system", "s"), Message("user", "u")), "{}")
    asked = Serving(omit=("logprobs", "system"), limit_field="n").applied(SERVER)
    left, lines = negotiate(asked, request, Sampling(max_tokens=8), sent.append)
    assert (left, lines, sent) == (asked, [], [asked])


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    for name in (served_model.KEY, served_model.OPENAI_KEY, served_model.OPENAI_ADDRESS):
        monkeypatch.delenv(name, raising=False)
    return monkeypatch


def test_a_name_alone_is_asked_for_at_the_address_of_the_environment(environment: pytest.MonkeyPatch) -> None:
    with pytest.raises(
        InputInvalid, match=r"gpt-x of OpenAI is gpt-x@https://api.openai.com/v1, with the key in OPENAI"
    ):
        parse("gpt-x")
    environment.setenv("OPENAI_API_KEY", "k")
    assert parse("gpt-x").endpoint == "https://api.openai.com/v1"
    assert parse("qwen3").endpoint == ""
    environment.setenv("OPENAI_BASE_URL", "http://host/v1")
    assert parse("gpt-x").endpoint == parse("qwen3").endpoint == "http://host/v1"
    assert parse("./qwen3").endpoint == parse("results/models/qwen3").endpoint == ""


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
