"""A hundred rows of which a server refuses one, in words that nobody knows: 99 scores, one failure, whatever the metric."""

import json

import pytest
from fake_chat_server import wrong
from test_metric_options import METRICS, answer, index, rows_of, words_of  # noqa: F401  # a fixture
from typer.testing import CliRunner

from excam import cli
from excam.inference.backends import openai
from excam.scoring.metric import available

ROWS = 100


@pytest.mark.parametrize(
    ("name", "status"),
    [*((name, 400) for name, metric in METRICS.items() if metric.asks != "nothing"), ("excam", 413), ("excam", 422)],
)
def test_one_refused_row_is_one_failure(serve, tmp_path, monkeypatch, index, name, status):  # noqa: F811
    monkeypatch.setattr(openai.random, "uniform", lambda low, high: 0.0)  # no waiting before another attempt
    rows = rows_of(name, (" TROUBLE." if at == 57 else f" {at}." for at in range(ROWS)))
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    refusal = wrong(status, "zut alors 4711", "z9")
    server = serve(default=lambda body: refusal if "TROUBLE" in str(body["messages"]) else answer(body))
    words = [*words_of(name, ["--model", f"m@{server.endpoint}"], index), "--to", str(tmp_path / "out.jsonl")]
    done = CliRunner().invoke(cli.app, ["score", str(tmp_path / "rows.jsonl"), *words])
    assert done.exit_code == 0, done.stderr
    scored = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert [row["id"] for row in scored] == [row["id"] for row in rows]
    failed = {row["id"]: row["failure"] for row in scored if row["score"] is None}
    assert failed.keys() == {"57"}, failed
    assert failed["57"].endswith(f": HTTP {status}: zut alors 4711")  # beside what a metric of one's own makes of it
    if name in available():
        assert failed["57"].endswith(f"refused: HTTP {status}: zut alors 4711")
    assert sum("TROUBLE" in str(body["messages"]) for body in server.calls) <= 2 * len(METRICS[name].columns)
