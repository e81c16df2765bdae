"""Keys in the addresses of servers: in no file, no message and no command line; other addresses stay apart."""

import json

import pytest
from fake_chat_server import right, wrong
from typer.testing import CliRunner

from excam import cli, config
from excam.core import addresses, tables
from excam.core.exceptions import ConfigInvalid
from excam.error_reports.judges import report
from excam.error_reports.records import Report
from excam.inference.backends import openai
from excam.macaron import derive, source
from excam.scoring.models import parse
from excam.scoring.served_model import entry_of
from tests.config.test_config import put
from tests.inference.test_server_modes import MINI

SECRETS = [  # an address, and what in it is a key
    ("http://host/v1", ""),
    ("https://host/v1?api-version=2024-06-01", ""),
    ("https://host/v1?api-version=1&api-key=s3cret", "api-key"),
    ("https://host/v1?KEY=s3cret", "KEY"),
    ("https://host/v1?sig=s3cret", "sig"),
    ("https://host/v1?access_token", "access_token"),
    ("https://s3cret@host/v1", "user"),
    ("https://me:s3@cret@host/v1", "user"),
    ("https://host/v1/user@home", ""),
]


@pytest.mark.parametrize(("address", "key"), SECRETS)
def test_what_looks_like_a_key_is_named_and_not_shown(address, key):
    assert addresses.key_in(address) == key
    for shown in (addresses.without_secrets(address), addresses.identified(address)):
        assert "s3" not in shown
        assert shown.startswith(("http://host/v1", "https://host/v1"))


def test_servers_behind_one_host_stay_apart():
    deployments = ["m@http://host/v1", "m@http://host/v1?deployment=a", "m@http://host/v1?deployment=b"]
    endpoints = [parse(deployment).endpoint for deployment in deployments]
    assert len(set(map(addresses.identified, endpoints))) == 3
    assert addresses.identified(endpoints[0]) == endpoints[0]
    assert {parse(deployment).shown for deployment in deployments} == {deployments[0]}
    assert parse("a folder?").shown == "a folder?"
    assert "deployment=a" not in entry_of("m", "http://host/v1?deployment=a").model.answer_settings


def test_the_workflow_takes_no_key_in_an_address():
    with pytest.raises(ConfigInvalid, match=r"models\.served\.server\.endpoint: a key in the address") as problem:
        config.load(put("models/served/server/endpoint", "https://host/v1?api-key=s3cret"))
    assert "key_env" in str(problem.value)
    assert "s3cret" not in str(problem.value)


@pytest.mark.parametrize("words", [("score", "two.jsonl"), ("macaron", "ask", "instances.parquet", "--mode", "text")])
def test_no_file_holds_a_key_of_an_address(serve, tmp_path, monkeypatch, words):
    """Neither what was written, nor the answers that are kept of a run that failed in the middle."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(openai.random, "uniform", lambda low, high: 0.0)
    rows = [{"id": text, "instruction": "A?", "output": text} for text in ("Moussaka.", "TROUBLE.")]
    (tmp_path / "two.jsonl").write_text("\n".join(map(json.dumps, rows)))
    instances = derive.instances(source.read(source.files(MINI), {}).scenarios[:1], seed=1)
    tables.write_frame(tmp_path / "instances.parquet", derive.to_frame(instances))
    broken = [True]

    def answer(body):
        said = str(body["messages"])
        if broken[0] and ("TROUBLE" in said or '"T"' in said):
            return wrong(401, "no such key")
        return right(report.write(Report()) if words[0] == "score" else '{"answer": "A"}')

    server = serve(default=answer)
    address = f"{server.endpoint.rstrip('/')}?api-key=s3cret"
    command = [*words, "--model", f"m@{address}", "--to", "out.parquet"]
    first = CliRunner().invoke(cli.app, command)
    left = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    broken[0] = False
    second = CliRunner().invoke(cli.app, command)
    assert (first.exit_code, second.exit_code) == (2, 0), first.stderr + second.stderr
    assert any("out.parquet" in name for name in left)  # what was answered is kept
    written = [*left.values(), *(path.read_bytes() for path in tmp_path.iterdir())]
    assert not [content for content in written if b"s3cret" in content]
    assert "s3cret" not in first.stderr + second.stderr + first.stdout
    assert {"?api-key=s3cret"} == {path.removeprefix("/v1/chat/completions") for path, _ in server.headers}
