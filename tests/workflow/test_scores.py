"""A folder of texts through the workflow, with a real server: scored once, counted, and only what is new again."""

import json

import polars as pl
from checkout import Run, copy_checkout
from fake_chat_server import right

SCORES = "results/scores/our-texts/excam/small"
REPORT = '{"errors": [], "explanation": "so"}'


def rows(name, count):
    return [{"id": f"{name}{at}", "instruction": "A?", "output": f"{name} {at}: tea"} for at in range(count)]


def says(body):
    return right(REPORT, tokens=[(REPORT, -0.5)], completion=5, prompt=9)


def test_texts_are_scored_once_and_counted(serve, tmp_path):
    server = serve(default=says)
    run = Run(tmp_path / "checkout")
    copy_checkout(run.folder)
    texts = tmp_path / "our/texts"
    texts.mkdir(parents=True)
    pl.DataFrame(rows("a", 20)).write_parquet(texts / "a.parquet")
    pl.DataFrame(rows("b", 10)).write_csv(texts / "it's b.csv")
    (texts / "c.jsonl").write_text("")
    words = ("--config", f"texts={texts}", f"model=small@{server.endpoint.rstrip('/')}", "--", "scores")
    assert run.planned(*words) == {"score_shards": 1, "summarize_scores": 1, "scores": 1}
    done = run(*words)
    assert done.returncode == 1
    assert f"{texts}/c.jsonl: 0 rows; expected one JSON object a line" in done.text
    asked = len(server.calls)
    (texts / "c.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows("c", 5)))
    done = run(*words)
    assert done.returncode == 0, done.text[-4000:]
    assert len(server.calls) == asked + 1 + 5  # whether it has schemas, and the corrected file
    assert sorted(pl.read_parquet(run.folder / SCORES / "shards/it's b.parquet")["id"]) == [
        f"b{at}" for at in range(10)
    ]
    counts = pl.read_csv(run.folder / SCORES / "shards.csv")
    assert counts.select("shard", "rows", "scored", "prompt_tokens").rows() == [
        ("a", 20, 20, 180),
        ("c", 5, 5, 45),
        ("it's b", 10, 10, 90),
    ]
    assert "| rows | 35 |" in (run.folder / SCORES / "summary.md").read_text()
    assert run.planned(*words) == {}
    assert "scores: no texts; expected --config texts=FOLDER model=MODEL" in run("-n", "--", "scores").text
