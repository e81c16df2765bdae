"""How a server is asked, by options: what they change, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from excam.config import Server
from excam.core.exceptions import InputInvalid
from excam.scoring.models import open_model
from excam.scoring.served_model import Serving, negotiate

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
    from excam.inference import Generate, Message, Sampling

    sent: list[Server] = []
    request = Generate((Message("system", "s"), Message("user", "u")), "{}")
    asked = Serving(omit=("logprobs", "system"), limit_field="n").applied(SERVER)
    left, lines = negotiate(asked, request, Sampling(max_tokens=8), sent.append)
    assert (left, lines, sent) == (asked, [], [asked])
