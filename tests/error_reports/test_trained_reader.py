"""An adapter that learns to read: its rows, its training, its curve, its worth, and what `excam score` says with it."""

import json
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
import tiny

from excam.config import Recipe
from excam.core.exceptions import InputInvalid
from excam.core.provenance import sha256
from excam.error_reports import reading_rows
from excam.inference import Message
from excam.scoring.opening import open_scorer
from excam.scoring.options import Options
from excam.training import contrast

ROOT = Path(__file__).parents[2]
PLACES = ("Georgia", "Norway", "Peru", "Ghana", "Japan", "Chile", "Egypt", "Laos", "Malta", "Nepal", "Oman", "Cuba")
DISHES = (
    "khinkali", "lefse", "ceviche", "kenkey", "natto", "pastel", "koshari", "larb", "ftira", "dhindo", "harees",
    "congri",
)  # fmt: skip


@pytest.fixture(scope="module")
def squad(tmp_path_factory):
    """24 paragraphs in SQuAD's form, of two questions each."""
    paragraphs = []
    for number in range(24):
        dish, place = f"{DISHES[number % 12]}{number}", PLACES[number // 2]
        context = f"Paragraph {number}. In {place}, guests eat {dish} at a feast. They drink tea{number} at home."
        asked = {f"What do guests in {place} eat at a feast?": dish, "What do they drink at home?": f"tea{number}"}
        qas = [{"id": f"{number}{text}", "question": text, "answers": [{"text": asked[text]}]} for text in asked]
        paragraphs.append({"context": context, "qas": qas})
    file = tmp_path_factory.mktemp("reading") / "own.en.json"
    file.write_text(json.dumps({"data": [{"paragraphs": paragraphs}]}))
    return file


def step(*words):
    command = [sys.executable, "-m", "scripts", *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    return done


@pytest.fixture(scope="module")
def run(squad, tmp_path_factory):
    """The files of a run with tiny random weights."""
    place = tmp_path_factory.mktemp("run")
    base = place / "models/small"
    tiny.model(base / "files", positions=2048)
    outputs = {file.name: sha256(file) for file in sorted((base / "files").iterdir())}
    facts = {"revision": "c" * 40, "licence": "MIT", "origin": "here", "settings": {"folder": "x"}, "outputs": outputs}
    (base / "manifest.json").write_text(json.dumps(facts))
    rows, reader = place / "reader/rows.parquet", place / "reader/small"
    read = ("--rows", rows, "--language", "en", "--seed", 1)
    step("reader_rows", "--files", squad, *read, "--counts", place / "counts.json")
    recipe = json.dumps({"rank": 4, "alpha": 8, "learning_rate": 1e-3, "epochs": 1})
    shared = ("--weights", base / "manifest.json", "--recipe", recipe, *read)
    step("train_reader", "--model", "small", *shared, "--reader", reader, "--scores", reader / "scores.parquet")
    return place


def test_rows_are_half_right_and_split_by_paragraph(run):
    rows = pl.read_parquet(run / "reader/rows.parquet")
    assert (rows.height, rows["right"].sum(), rows.filter(pl.col("unread") != "").height) == (96, 48, 0)
    assert rows.group_by("paragraph").agg(pl.col("split").n_unique())["split"].unique().to_list() == [1]
    assert set(rows["split"]) == {"train", "dev", "test"}
    assert sum(json.loads((run / "counts.json").read_text()).values()) == rows.height


def test_a_run_says_what_its_reader_is_worth_beside_the_floors(run):
    numbers, page, scores = run / "table.csv", run / "table.md", run / "reader/small/scores.parquet"
    read = ("--rows", run / "reader/rows.parquet", "--scores", scores, "--seed", 1)
    step("table_reader", *read, "--numbers", numbers, "--page", page)
    lines = {line["system"]: line for line in pl.read_csv(numbers).iter_rows(named=True)}
    assert list(lines) == ["question overlap", "words", "small"]
    assert lines["question overlap"]["scaled"] > 0.5, "each question has words of its sentence"
    assert lines["question overlap"]["above"] == 0
    assert lines["small"]["above"] == pytest.approx(lines["small"]["scaled"] - lines["question overlap"]["scaled"])
    assert "n" in lines["small"]
    assert "| small |" in page.read_text()


@pytest.mark.parametrize(("language", "decides"), [("English", True), ("German", False)])
def test_it_reads_documents_in_the_language_that_it_learned(run, language, decides, tmp_path):
    folder = tmp_path / "documents"
    folder.mkdir()
    (folder / "feast.md").write_text("In Georgia, guests eat khinkali at a feast. They drink wine at home.\n")
    build = ("knowledge", "build", folder, "--licence", "MIT", "--language", language, "--to", tmp_path / "pack")
    subprocess.run([sys.executable, "-m", "excam", *map(str, build)], check=True, capture_output=True, cwd=ROOT)
    options = Options(models=(run / "reader/small",), bases=(run / "models/small",), evidence=tmp_path / "pack")
    scorer = open_scorer(options)
    asked = {"instruction": "What do guests in Georgia eat at a feast?", "output": "khinkali", "language": language}
    (result,) = scorer.score([asked])
    assert "lift.2" in scorer.signature
    if decides:
        assert result.parts.get("because") in (None, "not sure")
    else:
        assert result.parts["because"] == "this judge was not measured in language German"


def test_right_answers_become_likelier_by_their_question_and_wrong_ones_less(tmp_path):
    passages = (Message("system", "tea is green. milk is white."),)
    asked = {"tea": (*passages, Message("user", "green?")), "milk": (*passages, Message("user", "white?"))}
    unasked = (*passages, Message("user", "What?"))
    group = [contrast.Example(asked[about], unasked, text, about == text) for about in asked for text in asked]
    recipe = Recipe(rank=8, alpha=16, learning_rate=5e-3, epochs=40)
    losses, lifts_of = contrast.train(tiny.model(tmp_path / "weights"), [group], recipe, 1, tmp_path / "adapter")
    lifts = list(zip(lifts_of([group]), group, strict=True))
    right, wrong = (sum(lift for lift, row in lifts if row.right is side) for side in (True, False))
    assert losses[-1] < losses[0]
    assert right > wrong
    assert (tmp_path / "adapter/adapter_model.safetensors").is_file()


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("rows.jsonl", '{"id": "a"}', r"rows.jsonl:1: paragraph: .*expected a row to read"),
        ("rows.jsonl", "no", r"rows.jsonl:1: "),
        ("own.en.json", '{"data": 1}', r"own.en.json: TypeError; expected a file of SQuAD's form"),
    ],
)
def test_a_file_of_something_else_is_refused(tmp_path, name, text, expected):
    (tmp_path / name).write_text(text)
    with pytest.raises(InputInvalid, match=expected):
        list(reading_rows.rows_of([tmp_path / name], "en", 1))
