"""`excam score --budget`: an estimate, no request beyond it, and a later run that goes on. With a real local server."""

import json
import re
from functools import partial
from pathlib import Path

import fake_chat_server
import pytest
import yaml
from typer.testing import CliRunner

import excam
from excam import cli
from excam.config import Price
from excam.core.exceptions import BudgetSpent
from excam.error_reports.judges import report
from excam.error_reports.records import Report
from excam.inference import Generate, Message
from excam.inference.backends import openai
from excam.inference.budget import Budget, prompt_bytes

ROOT = Path(__file__).parents[2]
CLEAN = report.write(Report())
PAIRS = [{"id": str(at), "instruction": "A?", "output": f"Sushi {at}."} for at in range(40)]


@pytest.fixture
def served(serve):
    return serve(default=lambda body: fake_chat_server.right(CLEAN, prompt=1000, completion=50))


@pytest.fixture(autouse=True)
def rows(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rows.jsonl").write_text("\n".join(map(json.dumps, PAIRS)))


def score(*words, model, to="scored.jsonl"):
    return CliRunner().invoke(cli.app, ["score", "rows.jsonl", "--model", model, *words, *(["--to", to] if to else [])])


def model(served):
    return f"m@{served.endpoint}"


def asked_texts(served):
    """The texts that were asked about, without the example that is asked about first."""
    texts = [body["messages"][-1]["content"] for body in served.calls]
    return [text for text in texts if not text.endswith("Sushi.")]


def test_a_run_stops_within_its_budget_and_the_next_continues(served, tmp_path):
    words = ("--budget", "0.06", "--price", "1", "10")
    first = score(*words, model=model(served))
    assert first.exit_code == 4
    estimate, rate, stopped = first.stderr.splitlines()
    assert re.match(
        r"estimate: 40 of 40 rows to ask about, with about \d+ prompt tokens each \(4 bytes a tok", estimate
    )
    assert re.match(r"\d+ requests: spent 0\.0\d+ of 0\.06; 40 rows cost about 0\.06", rate)
    assert re.match(r"excam: budget 0\.06: spent 0\.0\d+ of 0\.06, and the next request may cost 0\.0\d+; ", stopped)
    assert len(served.calls) * 0.0015 <= 0.06
    assert not (tmp_path / "scored.jsonl").exists()
    before = len(asked_texts(served))
    second = score(*words, model=model(served))
    assert second.exit_code == 0
    assert f"estimate: {40 - before} of 40 rows" in second.stderr
    assert sorted(asked_texts(served)) == sorted(set(asked_texts(served))), "no row is asked about twice"
    assert [json.loads(line)["id"] for line in (tmp_path / "scored.jsonl").open()] == [str(at) for at in range(40)]


def test_repeated_judgements_share_the_budget(served):
    words = ("--budget", "0.06", "--price", "1", "10", "--repeat", "2", "--temperature", "0.5")
    runs = [score(*words, model=model(served)) for _ in range(3)]
    assert [run.exit_code for run in runs] == [4, 4, 0]
    assert "estimate: 80 of 80 rows" in runs[0].stderr
    assert len(asked_texts(served)) == 80


@pytest.mark.parametrize(
    ("usage", "cost"),
    [
        ({"total_tokens": 5930, "completion_tokens_details": {"reasoning_tokens": 5000}}, 0.0512),
        ({"total_tokens": 930, "cost": 0.05}, 0.05),
    ],
    ids=["reasoning beside the answer", "a cost"],
)
def test_what_the_server_bills_is_within_the_budget(served, usage, cost):
    status, body = fake_chat_server.right(CLEAN, prompt=900, completion=30)
    served.script = [(status, body | {"usage": body["usage"] | usage})] * 100
    result = score("--budget", "0.5", "--price", "1", "10", model=model(served))
    assert result.exit_code == 4
    assert 0.45 < len(served.calls) * cost <= 0.5
    assert f"up to {40 * cost:.4f} with requests like the first one, {cost:.4f}; the budget is 0.5" in result.stderr
    assert f"excam: budget 0.5: spent {len(served.calls) * cost:.4f} of 0.5" in result.stderr


def test_a_row_about_which_nothing_is_asked_costs_nothing(served, tmp_path):
    row = {
        "source": "她穿着旗袍。",
        "term": "旗袍",
        "category": "Material",
        "explication": "A dress.",
        "reference": "x",
    }
    rows = [row | {"id": str(at), "translation": text} for at, text in enumerate(("", "She wore a qipao."))]
    (tmp_path / "rows.jsonl").write_text("\n".join(map(json.dumps, rows)))
    served.script = [fake_chat_server.right('{"valid": false}', prompt=100, completion=9)] * 9
    result = score("--metric", "acre", "--budget", "0.06", "--price", "1", "10", model=model(served))
    assert result.exit_code == 0, result.output
    assert "estimate: 2 of 2 rows" in result.stderr
    scored = [json.loads(line) for line in (tmp_path / "scored.jsonl").open()]
    assert [record["score"] for record in scored] == [0, 0]


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (("--budget", "0"), "--budget: found 0; expected more than 0, in the currency of the price"),
        (("--budget", "nan"), "--budget: found nan; expected more than 0, in the currency of the price"),
        (("--budget", "5"), "--budget: no price of m: no config.yaml here; give --price IN OUT, per million tokens of"),
        (("--price", "1", "2"), "--price: found without --budget; expected both; give --budget too"),
        (("--budget", "5", "--price", "-1", "2"), "--price: found -1 2; expected the prices of a million tokens of"),
        (("--budget", "5", "--price", "0", "0"), "--price: found 0 0; expected the prices of a million tokens of"),
    ],
)
def test_an_invalid_budget_is_refused_in_one_line_without_a_request(served, words, line):
    result = score(*words, model=model(served))
    assert (result.exit_code, result.stderr.count("\n")) == (2, 1)
    assert result.stderr.startswith(f"excam: {line}")
    assert not served.calls


def test_a_budget_below_one_request_is_one_line(served):
    result = score("--budget", "0.001", "--price", "1", "10", model=model(served))
    assert result.exit_code == 2
    assert re.search(r"budget 0\.001: found a request that may cost 0\.0\d+; expected a budget above", result.stderr)
    assert not asked_texts(served)


def test_a_budget_needs_a_file_and_one_model_behind_a_server(served):
    words = ("--budget", "5", "--price", "1", "2")
    assert "--budget: found without --to; expected a file" in score(*words, model=model(served), to=None).stderr
    result = score(*words, model="smollm2-135m")
    assert result.stderr == (
        "excam: --budget: found smollm2-135m; expected one model behind a server, NAME@http://host/v1; leave it out\n"
    )
    assert score("--price", "1", "2", model="some-folder").stderr.startswith(
        "excam: --price: found some-folder; expected"
    )


def test_the_price_of_an_entry_of_the_configuration(served, tmp_path):
    entry = {"backend": "openai", "licence": "x", "gpus": 0}
    entry["server"] = {"endpoint": served.endpoint, "name": "m", "price": {"prompt": 1.0, "completion": 10.0}}
    experiment = yaml.safe_load((ROOT / "config.yaml").read_text())
    experiment["models"]["paid"] = entry
    (tmp_path / "config.yaml").write_text(yaml.safe_dump(experiment))
    assert score("--budget", "0.06", model=model(served)).exit_code == 4
    other = score("--budget", "0.06", model=f"other@{served.endpoint}")
    assert "no price of other: no entry of config.yaml has this server, name and a price; give --price" in other.stderr
    (tmp_path / "config.yaml").write_text("seed: [")
    assert re.match(
        r"excam: --budget: no price of m: .*; give --price IN OUT", score("--budget", "1", model=model(served)).stderr
    )


@pytest.mark.parametrize(
    ("step", "tokens"),
    [
        (fake_chat_server.half, None),
        (fake_chat_server.hang_up, None),
        (partial(fake_chat_server.send, status=200, body=b"garbage"), None),
        (partial(fake_chat_server.send, status=200, body=fake_chat_server.right(CLEAN, "error", prompt=900)[1]), 920),
    ],
)
def test_answers_that_cannot_be_read_are_paid_for_and_not_asked_for_beyond_the_budget(
    served, monkeypatch, step, tokens
):
    """A server may bill what it began to send: with a token a byte of the request and 512 of the answer at most."""
    monkeypatch.setattr(openai.random, "uniform", lambda low, high: 0.0)  # no waiting before another attempt
    bills = []

    def answer(handler):
        bills.append((tokens or int(handler.headers["Content-Length"]) + 512 * 10) / 1e6)
        step(handler)

    served.script = [fake_chat_server.right(CLEAN, prompt=50), *[answer] * 1000]
    first = score("--budget", "0.04", "--price", "1", "10", model=model(served))
    assert first.exit_code == 4
    assert 0.02 < sum(bills) < 0.04
    assert first.stderr.endswith("; what was answered is kept, and the same command goes on from here\n")
    served.script.clear()
    assert score("--budget", "5", "--price", "1", "10", model=model(served)).exit_code == 0


def test_python_takes_a_budget(served, tmp_path):
    metric = excam.load(model(served), budget=0.03, price=(1, 10))
    journal = tmp_path / "journal.jsonl"
    with pytest.raises(BudgetSpent, match=r"budget 0\.03: spent 0\.0\d+ of 0\.03, and the next request may cost"):
        list(metric.score(PAIRS, journal=journal))
    assert 1 < len(asked_texts(served)) <= 20
    more = excam.load(model(served), budget=1, price=(1, 10)).score(PAIRS, journal=journal)
    assert len(list(more)) == len(PAIRS) == len(asked_texts(served))


def test_costs_are_counted_reserved_and_released():
    budget = Budget(10, Price(prompt=1e6, completion=2e6))
    assert budget.reserve(3, 2)
    assert not budget.reserve(2, 1)
    budget.count(1, 1)
    budget.release(3, 2)
    assert (budget.spent, budget.line) == (3.0, "spent 3.0000 of 10")
    assert budget.reserve(5, 1)
    budget.count_unreported(5, 1)
    assert not budget.allows_repetition()
    with pytest.raises(
        BudgetSpent, match=r"spent 10\.0000 of 10, with the most for 1 requests whose tokens the server"
    ):
        budget.refuse_rest(None)
    assert prompt_bytes(Generate((Message("user", "Küche"),), '{"a": 1}')) == 6 + 8
