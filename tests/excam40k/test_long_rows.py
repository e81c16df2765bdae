"""Rows that are too long to train on are found before errors are made for them, and left out for every base model."""

import json
from dataclasses import replace
from pathlib import Path

import build_excam40k
import pytest
import tiny
from base_samples import SEED, base, split_up

from excam.config import Recipe
from excam.core import tables
from excam.core.exceptions import ConfigInvalid, InputInvalid
from excam.error_reports import record_files
from excam.error_reports.judges import report
from excam.error_reports.records import CulturalError, Report, Sample
from excam.inference import chat
from excam.training import tokens
from scripts.errors import generate_soft_errors
from scripts.excam40k import split_samples
from scripts.samples import find_long_rows

pytestmark = pytest.mark.usefixtures("here")

POSITIONS = 4096
CALMQA = Path(__file__).parents[3] / "shared/data/calmqa"


@pytest.fixture(scope="module")
def weights(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("base")
    tiny.model(folder / "files", positions=POSITIONS)
    (folder / "manifest.json").touch()
    return folder / "manifest.json"


def originals() -> list[Sample]:
    """Twenty base samples of growing length, a minor and a major pair each."""
    kept = {"task": "generation", "options": (), "wrong": ()}
    answers = ["It is polite to eat with your right hand." + " Guests bring a small gift." * at for at in range(20)]
    return split_up([replace(base(at), answer=answer, **kept) for at, answer in enumerate(answers)], "soft")


def short_report(sample: Sample) -> Report:
    word = sample.output.split()[0]
    return Report((CulturalError("output", word, "minor", "wrong", 0, len(word)),), "It is not so.")


def lengths_of(weights: Path) -> dict[str, int]:
    """Tokens of each original with its empty report, by pair."""
    samples = originals()
    rows = tokens.encode(chat.load_tokenizer(weights.parent / "files"), report.training_examples(list(samples)))
    return dict(zip(rows["pair"], rows["input_ids"].list.len(), strict=True))


def find(weights: Path, recipes: dict[str, dict]) -> list[str]:
    record_files.write_samples(Path("samples.parquet"), originals())
    words = ["--tokenizers", *[str(weights)] * len(recipes), "--recipes", json.dumps(recipes)]
    words += ["--samples", "samples.parquet", "--pairs", "too-long.json", "--counts", "counts.json"]
    find_long_rows(words)
    return json.loads(Path("too-long.json").read_text())["pairs"]


def test_the_strictest_base_decides_for_all_and_an_eighth_is_kept_for_the_report(weights, capsys):
    lengths = lengths_of(weights)
    room = sorted(lengths.values())[len(lengths) // 2]
    limit = -(-room * 8 // 7)
    learnt = {sample.pair for sample in originals() if sample.split == "train"}
    wanted = sorted(pair for pair in learnt if lengths[pair] > limit - limit // 8)
    assert 0 < len(wanted) < len(learnt)
    wide = {"max_length": POSITIONS, "overflow": "drop"}
    assert find(weights, {"wide": wide, "narrow": {"max_length": limit, "overflow": "drop"}}) == wanted
    counts = json.loads(Path("counts.json").read_text())
    assert (counts["pairs"], counts["too_long"]) == (len(learnt), len(wanted))
    too_long = {name: model_counts["too_long"] for name, model_counts in counts["models"].items()}
    assert too_long == {"wide": 0, "narrow": len(wanted)}
    said = f"too-long.json: {len(wanted)} of {len(learnt)} training pairs are left out as too long (wide: 0 over 3584"
    assert said in capsys.readouterr().err
    assert find(weights, {"wide": wide}) == []


def test_refuse_stops_before_the_generator_is_asked(weights):
    longest = max(lengths_of(weights).values())
    with pytest.raises(InputInvalid, match=r"tokens, the first of \d+ rows over training.max_length=128"):
        find(weights, {"m": {"max_length": 128, "overflow": "refuse"}})
    assert find(weights, {"m": {"max_length": longest, "overflow": "refuse"}}) == [], "what fits is not dropped"
    with pytest.raises(ConfigInvalid, match=f"the base model takes {POSITIONS} tokens"):
        find(weights, {"m": {"max_length": POSITIONS + 1, "overflow": "drop"}})


def test_nothing_is_made_for_them_and_they_are_counted(weights):
    lengths = lengths_of(weights)
    limit = sorted(lengths.values())[len(lengths) // 2]
    too_long = find(weights, {"m": {"max_length": limit, "overflow": "drop"}})
    words = ["--samples", "samples.parquet", "--severity", "minor", "--shard", "0", "--shards", "1"]
    words += ["--generator", "lexicon", "--model", "null", "--journal", "journal.jsonl", "--seed", str(SEED)]
    words += ["--answers", "answers.jsonl", "--manifest", "manifest.json"]
    generate_soft_errors([*words, "--too-long", "too-long.json"])
    asked = {row["pair"] for row in tables.read_jsonl(Path("answers.jsonl"))}
    minor = {sample.pair for sample in originals() if sample.pair.endswith("/minor")}
    assert asked == minor - set(too_long)
    generate_soft_errors(words)
    assert {row["pair"] for row in tables.read_jsonl(Path("answers.jsonl"))} == minor, "no base model is trained"

    right = originals()
    wrong = [replace(row, id=f"{row.pair}/wrong", report=short_report(row), origin="soft-minor") for row in right]
    record_files.write_samples(Path("wrong.parquet"), wrong)
    words = ["--right", "samples.parquet", "--wrong", "wrong.parquet", "--too-long", "too-long.json"]
    split_samples([*words, "--seed", "1", "--folder", "set"])
    counts = json.loads(Path("set/counts.json").read_text())
    assert counts["dropped"] == {"too-long": len(too_long)}
    rows = [record_files.read_samples(Path(f"set/{split}.parquet")) for split in ("train", "dev", "test")]
    kept = {sample.pair for samples in rows for sample in samples}
    assert kept == lengths.keys() - set(too_long)


@pytest.mark.skipif(not CALMQA.is_dir(), reason="no real rows here")
def test_training_drops_no_original_of_real_rows_that_was_not_found_before(weights, tmp_path):
    """CaLMQA's longest rows, with the tokenizer that splits most: every training row that is left has a generator's
    error to come, and still fits."""
    results = build_excam40k.build(tmp_path / "real", {"calmqa": CALMQA}, cap=400)
    samples = results / "samples/calmqa.parquet"
    recipe = Recipe(max_length=POSITIONS)
    words = ["--tokenizers", str(weights), "--recipes", json.dumps({"m": {"max_length": POSITIONS}})]
    find_long_rows([*words, "--samples", str(samples), "--pairs", "too-long.json", "--counts", "counts.json"])
    long_pairs = set(json.loads(Path("too-long.json").read_text())["pairs"])
    learnt = [sample for sample in record_files.read_samples(samples) if sample.split == "train"]
    rows = tokens.encode(chat.load_tokenizer(weights.parent / "files"), report.training_examples(list(learnt)))
    dropped = tokens.without_long_rows(rows, recipe, POSITIONS).filter(rows["input_ids"].list.len() > POSITIONS)
    assert 0 < len(dropped) < len(long_pairs) < len(learnt)
    assert set(dropped["pair"]) < long_pairs
