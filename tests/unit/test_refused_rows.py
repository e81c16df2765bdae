"""A hundred rows of which a server refuses one, in words that nobody knows: 99 scores, one failure, for every metric."""

import json
from itertools import cycle

import pytest
from fake_chat_server import Server, wrong
from test_metric_options import METRICS, OWN, TRANSLATION, answer, pack
from typer.testing import CliRunner

from excam import cli

ROWS = 100
ASKING = [name for name, metric in METRICS.items() if metric.asks != "nothing"]
WORDS = "the seventh gate is closed"


@pytest.mark.parametrize(("name", "status"), zip(ASKING, cycle([400, 413, 422]), strict=False))
def test_a_refused_row_is_one_failure(tmp_path, monkeypatch, name, status):
    monkeypatch.chdir(tmp_path)
    metric = METRICS[name]
    example = {"question": "Why?", "answer": "So it is.", "language": "English"} if name == "calmqa" else TRANSLATION
    example = dict(metric.example) or example
    text = metric.pair[1] if metric.pair else "translation"
    rows = [{"id": str(at)} | example | {text: f"{example[text]} Row {at} it is."} for at in range(ROWS)]
    rows[41][text] += " TROUBLE is here."
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))

    def answered(body):
        return wrong(status, WORDS) if "TROUBLE" in json.dumps(body["messages"]) else answer(body)

    server = Server(default=answered)
    words = ["--metric", name if name in ("excam", "rubric", "acre", "calmqa") else str(OWN)]
    words += ["--evidence", str(pack(tmp_path))] if metric.evidence == "own" else []
    command = ["score", "rows.jsonl", *words, "--model", f"m@{server.endpoint}", "--to", "scored.jsonl"]
    done = CliRunner().invoke(cli.app, command)
    server.stop()
    scored = [json.loads(line) for line in (tmp_path / "scored.jsonl").open()]
    assert (done.exit_code, len(scored)) == (0, ROWS), done.stderr
    failed = {row["id"]: row["failure"] for row in scored if row["failure"]}
    assert set(failed) == {"41"}
    assert failed["41"].endswith(f": HTTP {status}: {WORDS}")
    assert sum(row["score"] is not None for row in scored) == ROWS - 1
