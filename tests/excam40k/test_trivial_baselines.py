"""Trivial baselines: each against its own definition, on samples with planted shortcuts."""

from collections import Counter
from math import comb
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import tiny
from base_samples import base

from excam.core import tables
from excam.error_reports import record_files
from excam.error_reports.floors import FLOORS
from excam.error_reports.records import BaseSample
from excam.excam40k import answer_vectors, trivial_baselines
from scripts import audits, evaluation


def samples(pairs, *, longer=False, telling=False, words=("tea", "tea"), dataset="blend", first=0):
    """Pairs of a right and a wrong row; `longer`: wrong outputs are longer; `telling`: wrong rows have their own template;
    `words`: of right and of wrong outputs.
    """
    rows = []
    for at in range(first, first + pairs):
        for wrong in (False, True):
            score = 0 if not wrong else (-1, -5)[at % 2]
            rows.append(
                {
                    **{"id": f"{dataset}/{at}/{wrong}", "pair": f"{dataset}/{at}", "base": f"{dataset}/{at}"},
                    **{"group": f"{dataset}/{at // 2}", "dataset": dataset, "origin": "hard" if wrong else "source"},
                    **{"instruction": f"What is drunk on day {at % 10}?", "score": score},
                    "output": words[wrong] * (20 if longer and wrong else 1),
                    "templates": [f"qa/instruction/{at % 3}", f"qa/output/{7 if telling and wrong else at % 3 + 1}"],
                }
            )
    return pl.DataFrame(rows, schema_overrides=record_files.SAMPLE_SCHEMA)


def baselines_of(learned, tested, seed=1):
    return {floor.floor: floor for floor in trivial_baselines.measure_baselines(learned, tested, seed)}


def test_a_planted_length_is_found_and_no_other():
    by = baselines_of(samples(60, longer=True), samples(30, longer=True, first=60))
    others = (trivial_baselines.VOTE, answer_vectors.NAME, *FLOORS)
    assert list(by) == [name for name in trivial_baselines.NAMES if name not in others]
    assert (by["length-only"].scaled_accuracy, by["length-only"].low) == (1.0, pytest.approx(0.5922, abs=1e-4))
    assert by["length-only"].kendall_b > 0.8
    assert (by["template-only"].scaled_accuracy, by["template-only"].kendall_b) == (0.0, None)
    assert {(floor.n, floor.groups) for floor in by.values()} == {(60, 15)}


def test_a_planted_template_is_found_and_no_other():
    by = baselines_of(samples(60, telling=True), samples(30, telling=True, first=60))
    assert by["template-only"].scaled_accuracy == 1.0
    assert by["length-only"].scaled_accuracy == 0.0


def test_planted_words_are_found_and_no_length_or_template():
    """Of one length, and only in a part of the output; not those of the instruction."""
    planted = {"words": ("so tea is drunk", "so ice is drunk")}
    by = baselines_of(samples(60, **planted), samples(30, **planted, first=60))
    assert (by["words-only"].scaled_accuracy, by["words-only"].low) == (1.0, pytest.approx(0.5922, abs=1e-4))
    assert {by[name].scaled_accuracy for name in ("length-only", "template-only")} == {0.0}
    unlike = baselines_of(samples(60, **planted), samples(30, first=60))
    assert (unlike["words-only"].scaled_accuracy, unlike["words-only"].kendall_b) == (0.0, None)


def test_baselines_learn_from_train_and_dev_alone():
    """Were the test set learned from, its planted lengths would be found."""
    by = baselines_of(samples(60), samples(30, longer=True, first=60))
    assert by["length-only"].scaled_accuracy <= 0.0


def test_the_constant_is_the_best_one_and_its_agreement_the_gold_ties():
    tested = samples(30).filter((pl.col("origin") == "source") | (pl.col("base").str.slice(6).cast(pl.Int64) < 20))
    gold = tested["score"].to_list()
    constant = baselines_of(samples(40), tested)["constant"]
    assert constant.scaled_accuracy == pytest.approx(2 * 30 / 50 - 1)
    ties = sum(comb(count, 2) for count in Counter(gold).values())
    assert constant.tie_calibrated_accuracy == pytest.approx(ties / comb(50, 2))
    assert constant.kendall_b is None


def test_random_guesses_have_the_rate_of_errors_and_no_skill():
    tested = samples(300)
    drawn = baselines_of(tested, tested)["random"]
    assert abs(drawn.scaled_accuracy) < 0.02
    assert abs(drawn.kendall_b) < 0.02
    # a shuffled half of 600 rows: hits are hypergeometric, scaled accuracy has standard deviation 1 / sqrt(599)
    assert (drawn.high - drawn.low) / 2 == pytest.approx(1.96 / np.sqrt(599), rel=0.2)
    assert drawn == baselines_of(tested, tested)["random"]
    assert drawn != baselines_of(tested, tested, seed=2)["random"]


def test_a_test_set_of_one_label_has_baselines():
    right = samples(4).filter(pl.col("score") == 0)
    by = baselines_of(right, right)
    assert by["length-only"].scaled_accuracy == by["words-only"].scaled_accuracy == 1.0
    assert by["random"].kendall_b is None


def test_the_vote_of_others_is_shown_only_if_every_text_has_one():
    """Of 30 texts, 20 are labelled as most others do: 2 * 20/30 - 1. It is no baseline that a judge must be above."""
    tested = samples(30)
    shares = {f"blend/{at}": 0.8 if at < 20 else 0.2 for at in range(30)}
    heights = {row: dict.fromkeys(FLOORS, score) for row, score in tested.select("id", "score").iter_rows()}
    measured = trivial_baselines.measure_baselines(samples(40), tested, 1, shares, heights)
    by = {baseline.floor: baseline for baseline in measured}
    assert list(by) == [name for name in trivial_baselines.NAMES if name != answer_vectors.NAME]
    assert by[trivial_baselines.VOTE].scaled_accuracy == pytest.approx(1 / 3)
    where = {"dataset": "blend", "split": "test"}
    lines = [{"floor": name, **where, "scaled_accuracy": str(by[name].scaled_accuracy)} for name in by]
    others = [by[name].scaled_accuracy for name in by if name not in (trivial_baselines.VOTE, *FLOORS)]
    assert trivial_baselines.highest(lines, "blend", "scaled_accuracy", "qwen") == max(others) < 1 / 3
    assert trivial_baselines.highest(lines, "blend", "scaled_accuracy", "documents") == 1, "it reads what these read"
    del shares["blend/0"]
    measured = trivial_baselines.measure_baselines(samples(40), tested, 1, shares)
    assert trivial_baselines.VOTE not in {baseline.floor for baseline in measured}


def annotated(number: int, dataset: str) -> BaseSample:
    """A text whose label all others chose."""
    label = {"label": "ironic", "agreement": 1.0} if dataset == "epic" else {}
    return base(number, dataset, **label)


def test_every_test_set_gets_every_floor_and_table_4_those_of_all(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    paths = []
    for dataset in ("blend", "epic"):
        parts = {"train": 40, "dev": 8, "test": 20, "test-100": 10}
        for at, (split, pairs) in enumerate(parts.items()):
            path = Path(f"excam40k/{dataset}/{split}.parquet")
            tables.write_frame(path, samples(pairs, longer=True, dataset=dataset, first=100 * at))
            paths.append(str(path))
    record_files.write_bases(Path("bases.jsonl"), [annotated(at, of) for of in ("blend", "epic") for at in range(330)])
    words = ["--samples", *paths, "--bases", "bases.jsonl", "--seed", "1", "--numbers"]
    evaluation.floors([*words, "floors.csv"])
    evaluation.floors([*words, "again.csv"])
    assert Path("floors.csv").read_bytes() == Path("again.csv").read_bytes()
    lines = tables.read_lines(Path("floors.csv"))
    total = len(trivial_baselines.NAMES) - len(FLOORS) - 1
    assert Counter((line["dataset"], line["split"]) for line in lines) == {
        (dataset, split): total if dataset == "epic" else total - 1
        for dataset in ("blend", "epic", "all")
        for split in ("test", "test-100")
    }
    voted = {line["scaled_accuracy"] for line in lines if line["floor"] == trivial_baselines.VOTE}
    assert voted == {"1.0"}
    sizes = {(line["dataset"], line["split"]): line["n"] for line in lines}
    assert (sizes["all", "test"], sizes["all", "test-100"], sizes["epic", "test"]) == ("80", "40", "40")
    shown = evaluation._floors(lines, Path("floors.csv"))
    fitted = ("constant", *trivial_baselines.FITTED, "random")
    assert [(line["model"], line["n"]) for line in shown] == [(name, "80") for name in fitted]
    assert shown[1]["scaled_accuracy"] == "1.0"


def test_an_encoder_sees_the_answer_alone(tmp_path, monkeypatch):
    """A planted answer is found in new rows, by the baseline and the audit; each answer is encoded once."""
    monkeypatch.chdir(tmp_path)
    folder = tiny.encoder(Path("model/files"), 1)
    paths, sizes = [], {"train": 60, "dev": 8, "test": 20, "test-100": 2}
    for at, (split, pairs) in enumerate(sizes.items()):
        paths.append(f"blend/{split}.parquet")
        tables.write_frame(Path(paths[-1]), samples(pairs, words=("tea", "ice"), first=100 * at))
    encoder = str(folder.parent / "manifest.json")
    audits.encode_answers(["--samples", *paths, "--encoder", encoder, "--vectors", "v.parquet"])
    assert tables.read_frame(Path("v.parquet"))["answer"].to_list() == ["ice", "tea"]
    record_files.write_bases(Path("bases.jsonl"), [base(at, "blend") for at in range(330)])
    words = ["--bases", "bases.jsonl", "--seed", "1", "--vectors", "v.parquet", "--numbers", "f.csv"]
    evaluation.floors(["--samples", *paths, *words])
    lines = {(line["floor"], line["dataset"], line["split"]): line for line in tables.read_lines(Path("f.csv"))}
    line = lines["encoder", "blend", "test"]
    assert (line["scaled_accuracy"], line["n"], line["groups"]) == ("1.0", "40", "10")
    audits.audit_shortcuts(["--samples", *paths, "--vectors", "v.parquet", "--numbers", "a.csv", "--page", "a.md"])
    outcomes = {line["check"]: line["outcome"] for line in tables.read_lines(Path("a.csv"))}
    assert {outcomes[f"at chance: encoder{known}"] for known in ("", ", in known groups")} == {"reported"}
