"""A command and the workflow's step get the same answers from one server, whatever fields of a request it refuses."""

import json
import shutil
from contextlib import chdir
from pathlib import Path

import polars as pl
import pytest
from fake_chat_server import right, wrong
from polars.testing import assert_frame_equal
from typer.testing import CliRunner

import scripts
from excam import cli
from excam.acre import items, translations
from excam.acre.metrics import Acre
from excam.acre.source import written
from excam.config import Model, Sampling, Server
from excam.core import tables
from excam.crossing import rows
from excam.inference.backends import openai
from excam.knowledge.index import build
from excam.macaron import derive, source
from excam.macaron import scenarios as scenario_texts
from excam.rubric.metrics import RubricText
from tests.inference.test_server_modes import RATED, TEXT

ROOT = Path(__file__).parents[2]


ROW = {**Acre.example, **RubricText.example, "reference": "He gilds the lily.", "type": "specific"}
ROW |= {"question": ROW["prompt"], "answer": "It is polite to bow.", "language": "English"}
ROW |= {"instruction": ROW["prompt"], "output": ROW["response"]}
LEFT_OUT = {"seed": "seed", "max_tokens": "limit"}
SAID = (  # by a word of what is asked
    ("letter (A, B, C, or D)", '{"answer": "A"}'),
    ('"T" for True', '{"answer": "T"}'),
    ('{"valid": true}', '{"valid": true}'),
    ('{"score": 1} to', '{"score": 4}'),
    ("confidence", json.dumps(RATED)),
    ("RATING:", "RATING: 4"),
    ("VERDICT:", "VERDICT: supported"),
    ("", TEXT),
)


def say(body):
    """What a model would."""
    asked = "".join(message["content"] for message in body["messages"])
    return right(next(said for word, said in SAID if word in asked))


@pytest.fixture(scope="module")
def sources(tmp_path_factory):
    """A folder with what is asked about."""
    folder = tmp_path_factory.mktemp("sources")
    with chdir(folder):
        write_sources()
    return folder


def write_sources():
    read = source.read(source.files(ROOT / "mini/macaron"), {}).scenarios[:2]
    tables.write_frame(Path("scenarios.parquet"), scenario_texts.to_frame(read))
    tables.write_frame(Path("instances.parquet"), derive.to_frame(derive.instances(read, seed=1)))
    cultures = ROOT / "mini/cult-eval"
    careful = written([cultures / "translations/made-up-careful.jsonl"], items.read(cultures / "items.jsonl"))
    tables.write_frame(Path("translations.parquet"), translations.to_frame(careful[:2]))
    rows.write(Path("rows.parquet"), [rows.Row("set:1", "set", "set:1", right=True, kinds=(), columns=ROW)])
    Path("rows.jsonl").write_text(json.dumps({"id": "set:1", **ROW}))
    build([ROOT / "mini/calmqa-answers/corpus"], Path("pack"))


CROSSING = "crossing_score --name x --judge m --rows rows.parquet --scores step.parquet"
SCORED = {
    "excam": 512, "excam --evidence pack": 512, "rubric": 1024, "acre": 512, "acre-choice": 512,
    "calmqa --evidence pack": 64,
}  # fmt: skip
WAYS = {  # the command; the step that asks; the step that reads its transcript; the limit of an answer
    **{mode: (
        f"macaron ask instances.parquet --mode {mode}",
        f"macaron_ask --name m --mode {mode} --instances instances.parquet",
        f"macaron_answers --name m --mode {mode} --instances instances.parquet", 64,
    ) for mode in ("text", "choose")},
    "proofreading": (
        "macaron proofread scenarios.parquet",
        "macaron_proofread --name m --scenarios scenarios.parquet --proofread step.parquet --edits step.csv", "", 512,
    ),
    "judging": (
        "acre judge translations.parquet",
        "cult_eval_judge --name m --variants full --by text --rows translations.parquet --judged step.parquet", "", 512,
    ),
    **{metric: (f"score rows.jsonl --metric {metric}", f"{CROSSING} --metric {metric}", "", limit)
       for metric, limit in SCORED.items()},
}  # fmt: skip


@pytest.mark.variants
@pytest.mark.parametrize(
    ("way", "refused"), [("text", {"seed"}), ("text", {"max_tokens"}), *((way, {"seed", "max_tokens"}) for way in WAYS)]
)
def test_a_command_and_a_step_give_the_same_answers(serve, sources, tmp_path, monkeypatch, way, refused):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(openai.random, "uniform", lambda low, high: 0.0)  # no waiting before another attempt
    shutil.copytree(sources, tmp_path, dirs_exist_ok=True)
    command, asking, reading, limit = WAYS[way]
    server = serve(default=lambda body: wrong(400, "no") if refused & body.keys() else say(body))
    model = Model(
        gpus=0,
        backend="openai",
        licence="own",
        server=Server(endpoint=server.endpoint, name="m"),
        sampling=Sampling(max_tokens=limit, logprobs=False),
    )

    def by_step():
        options = ("--model", model.request_settings, "--seed", 0, "--journal", "journal.jsonl")
        step(asking, *options, "--transcript", "step.jsonl", "--manifest", "step.json")
        if reading:
            step(reading, "--transcript", "step.jsonl", "--answers", "step.parquet")
        return answers("step.parquet")

    done = CliRunner().invoke(cli.app, [*command.split(), "--model", f"m@{server.endpoint}", "--to", "hand.parquet"])
    assert done.exit_code == 0, done.stderr
    by_hand = answers("hand.parquet")
    assert not by_hand.select(pl.col("^failure$").drop_nulls()).height, by_hand
    assert_frame_equal(by_step(), by_hand)
    assert set(json.loads(Path("step.json").read_text())["engine"]["left_out"]) == {LEFT_OUT[name] for name in refused}
    server.stop()
    assert_frame_equal(by_step(), by_hand)


def answers(file):
    """The table of answers, without what names its rows."""
    return pl.read_parquet(file).drop("columns", "labels", strict=False)


def step(words, *more):
    name, *options = words.split()
    scripts.load(name)([*options, *map(str, more)])
