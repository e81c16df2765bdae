"""The scripts of the workflow on small files: what goes in, what comes out, what is refused."""

import csv
import importlib
import json
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path

import fake_chat_server
import polars as pl
import pytest
from base_samples import split_up
from build_excam40k import script
from one_line_errors import line_of

from excam.core import tables
from excam.core.exceptions import ArtifactBroken, InputInvalid, SourceInvalid
from excam.core.provenance import sha256
from excam.core.splits import SPLITS
from excam.error_reports import record_files
from excam.error_reports.records import BaseSample, sample_from_row
from excam.excam40k.construction import duplicates, generator, hard, lexicon
from excam.stats import permutation
from scripts import evaluation, figures
from scripts.errors import collect_soft_errors, generate_soft_errors
from scripts.evaluation import compare_correlations, compare_systems, evaluate, table_4
from scripts.excam40k import draw_subset, mix_samples, split_samples, table_2
from scripts.figures import figure_3

pytestmark = pytest.mark.usefixtures("here")

ROOT = Path(__file__).parents[2]
SEED = 7

run = importlib.import_module("scripts").run


def rows_of(path: str) -> list[dict[str, str]]:
    with Path(path).open(newline="", encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


def put_json(path: str, value: object) -> str:
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_text(json.dumps(value), encoding="utf-8")
    return path


def bases(count: int, dataset: str = "blend") -> list[BaseSample]:
    return [
        BaseSample(
            **{"id": f"{dataset}/{number}", "dataset": dataset, "task": "qa", "answer": "tea", "language": "English"},
            **{"question": f"What is drunk on day {number}?", "culture": "China", "stratum": f"s{number % 3}"},
            options=("tea", "cola", "milk"),
            wrong=("cola", "milk"),
        )
        for number in range(count)
    ]


def pairs(count: int, dataset: str = "blend"):
    """Right samples and the wrong ones of their pairs."""
    made = bases(count, dataset)
    right = split_up(made)
    return right, hard.hard_errors(right, {base.id: base for base in made}, SEED)[0]


# --- split_samples, draw_subset, mix_samples


def split(right, wrong, folder: str = "blend", **options) -> dict:
    record_files.write_samples(Path("right.parquet"), right)
    record_files.write_samples(Path("wrong.parquet"), wrong)
    script(split_samples, right="right.parquet", wrong="wrong.parquet", folder=folder, **{"seed": SEED} | options)
    subset, samples = f"{folder}/test-100.parquet", f"{folder}/test.parquet"
    script(draw_subset, samples=samples, rows=4, seed=SEED, subset=subset)
    return json.loads(Path(folder, "counts.json").read_text())


def test_splits_hold_every_pair_once_and_count_the_rest():
    right, wrong = pairs(40)
    counts = split(right, wrong[1:])
    names = ("train", "dev", "test", "test-100")
    parts = {name: record_files.read_samples(Path("blend", f"{name}.parquet")) for name in names}
    assert {name: len(parts[name]) for name in SPLITS} == {name: counts[name] for name in SPLITS}
    ids = [sample.id for name in ("train", "dev", "test") for sample in parts[name]]
    assert len(ids) == len(set(ids)) == counts["rows"] == 2 * counts["pairs"] == 2 * len(wrong) - 2
    assert counts["dropped"] == {"right-without-wrong": 1}
    assert (counts["hard"], counts["soft"], counts["beyond_cap"]) == (counts["rows"] // 2, 0, 0)
    assert counts["cells"]["test"] == {"right": counts["test"] // 2, "wrong_hard": counts["test"] // 2, "wrong_soft": 0}
    homes = {(sample.base, name) for name in ("train", "dev", "test") for sample in parts[name]}
    assert len(homes) == len({base for base, _ in homes}), "a base sample is in one split"
    assert {sample.id for sample in parts["test-100"]} <= {sample.id for sample in parts["test"]}
    assert len(parts["test-100"]) == 4
    for part in parts.values():
        assert len(part) == 2 * sum(bool(sample.report.errors) for sample in part)


def test_the_cap_is_of_final_rows():
    right, wrong = pairs(40)
    counts = split(right, wrong, cap=30)
    assert (counts["rows"], counts["beyond_cap"]) == (30, len(right) + len(wrong) - 30)
    assert counts["train"] + counts["dev"] + counts["test"] == 30


def test_no_pairs_are_no_dataset():
    right, wrong = pairs(3)
    line = line_of(SourceInvalid, split, right, [replace(sample, pair="other") for sample in wrong])
    assert "wrong.parquet: 0 complete pairs ({'duplicate-wrong': 5, " in line
    assert not Path("blend").exists()


def mixture(trained_on: str) -> list:
    paths = []
    for dataset in ("blend", "epic"):
        right, wrong = pairs(10, dataset)
        path = Path(dataset, "train.parquet")
        record_files.write_samples(path, [*right, *wrong])
        paths.append(path)
    leak = ("blend", "blend/1", "train", "calmqa", "calmqa/7", "test", 0.9, True, "What?", "What?")
    leaks = pl.DataFrame([leak], schema=duplicates.COLUMNS, orient="row")
    tables.write_csv(Path("near-duplicates.csv"), leaks)
    fixed = {"near_duplicates": "near-duplicates.csv", "seed": SEED, "mixture": "m/train.jsonl", "counts": "m/c.json"}
    script(mix_samples, samples=paths, trained_on=trained_on, **fixed)
    return [sample_from_row(row) for row in tables.read_jsonl(Path("m/train.jsonl"))]


def test_a_mixture_of_all_and_of_all_but_one():
    everything = mixture("all")
    assert {sample.dataset for sample in everything} == {"blend", "epic"}
    kept = {sample.base for sample in everything if sample.dataset == "blend"}
    assert kept == {f"blend/{n}" for n in range(10)} - {"blend/1"}, "what calmqa is judged on stays out"
    without = mixture("without-blend")
    assert without == [sample for sample in everything if sample.dataset == "epic"], "same rows, same order"
    assert without == mixture("without-blend")


def test_what_is_left_out_need_not_be_there():
    assert mixture("without-mango") == mixture("all")


# --- generate_soft_errors


def soft_samples(count: int = 12) -> list:
    """Original pairs; every other answer holds words that `lexicon` can exchange."""
    kept = {"task": "generation", "options": (), "wrong": ()}
    made = [
        replace(base, answer=base.answer if number % 2 else "It is polite to eat with your right hand.", **kept)
        for number, base in enumerate(bases(count))
    ]
    return split_up(made, "soft")


def generate(shard: int, shards: int = 3, severity: str = "minor", generator: str = "lexicon", **options) -> list[dict]:
    options = {"samples": "soft.parquet", "journal": "journal.jsonl", "seed": SEED, "model": "null"} | options
    options |= {"severity": severity, "shard": shard, "shards": shards, "generator": generator}
    script(generate_soft_errors, answers="a.jsonl", manifest="a.manifest.json", **options)
    return list(tables.read_jsonl(Path("a.jsonl")))


def test_every_pair_is_in_exactly_one_shard():
    record_files.write_samples(Path("soft.parquet"), soft_samples())
    assert generate(0, shards=99) == [], "a shard without pairs is an empty file"
    for severity in ("minor", "major"):
        rows = [row for shard in range(3) for row in generate(shard, severity=severity)]
        wanted = {sample.pair for sample in soft_samples() if sample.pair.endswith(f"/{severity}")}
        assert wanted
        assert Counter(row["pair"] for row in rows) == Counter(wanted)
        assert {(row["severity"], row["generator"]) for row in rows} == {(severity, "lexicon")}


def test_the_lexicons_answer_is_a_function_of_sample_and_seed():
    samples = soft_samples()
    record_files.write_samples(Path("soft.parquet"), samples)
    whole = {row["pair"]: row for row in generate(0, shards=1)}
    for sample in samples:
        if sample.pair in whole:
            said = lexicon.answer(sample, "minor", SEED)
            left_out = isinstance(said, lexicon.LeftOut)
            assert whole[sample.pair]["answer"] == ("" if left_out else said)
            assert whole[sample.pair]["finish"] == (f"left-out:{said.reason}" if left_out else "stop")
    assert {row["finish"] for row in whole.values()} > {"stop"}  # some are left out
    assert [row for shard in range(3) for row in generate(shard) if row != whole[row["pair"]]] == []


def test_a_models_answers_verbatim():
    """And only once: the journal has what was answered."""
    samples = soft_samples()
    record_files.write_samples(Path("soft.parquet"), samples)

    def said(body):
        return "OUTPUT: \ud800 {" + body["messages"][-1]["content"][-20:]

    with fake_chat_server.Server(default=lambda body: fake_chat_server.right(said(body))) as server:
        model = {"backend": "openai", "server": {"endpoint": server.endpoint}, "licence": "none", "context": 512}
        options = {"shards": 1, "generator": "served", "model": json.dumps(model)}
        rows = generate(0, **options)
        asked = [generator.messages(sample, "minor") for sample in samples if sample.pair.endswith("/minor")]
        expected = {messages[-1].content: said({"messages": [{"content": messages[-1].content}]}) for messages in asked}
        probe, *questions = (body["messages"][-1]["content"] for body in server.calls)
        assert sorted(questions) == sorted(expected), probe
        assert sorted(row["answer"] for row in rows) == sorted(expected.values())
        assert {row["finish"] for row in rows} == {"stop"}
        manifest = json.loads(Path("a.manifest.json").read_text())
        assert manifest["answers"] == {"stop": len(rows)}
        assert manifest["completion_tokens"] == sum(row["tokens"] for row in rows)
        assert manifest["prompt_tokens"] == sum(row["prompt_tokens"] for row in rows)
        server.calls.clear()
        assert generate(0, **options) == rows
        assert server.calls == []


@pytest.mark.parametrize(
    ("thinking", "answer", "said"),
    [
        (True, "<think>Guests bow.</think>\nOUTPUT: {}", ""),
        (True, "OUTPUT: {}", "thinking was asked for, and none of 12 answers holds any; expected it in each"),
        (False, "Guests bow.</think>OUTPUT: {}", "thinking was switched off, and 12 of 12 answers hold it; exp"),
        (None, "OUTPUT: {}", ""),
    ],
)
def test_thinking_is_asked_for_counted_and_compared(thinking, answer, said, capsys):
    record_files.write_samples(Path("soft.parquet"), soft_samples())
    with fake_chat_server.Server(default=lambda body: fake_chat_server.right(answer)) as server:
        model = {"backend": "openai", "server": {"endpoint": server.endpoint}, "licence": "none", "context": 512}
        model |= {} if thinking is None else {"thinking": thinking}
        rows = generate(0, shards=1, generator="served", model=json.dumps(model))
    sent = {json.dumps(body.get("chat_template_kwargs")) for body in server.calls}
    assert sent == {"null" if thinking is None else json.dumps({"enable_thinking": thinking})}
    manifest = json.loads(Path("a.manifest.json").read_text())
    assert manifest["thinking"] == (len(rows) if "</think>" in answer else 0)
    assert manifest["settings"]["model"].get("thinking") is thinking
    lines = [line for line in capsys.readouterr().err.splitlines() if "thinking was" in line]
    assert len(lines) == bool(said)
    assert all(f"served: {said}" in line and "; check its chat template" in line for line in lines)


def test_a_generator_without_a_usable_answer_is_refused():
    samples = [replace(sample, output="Solution: hands") for sample in soft_samples()]
    record_files.write_samples(Path("soft.parquet"), samples)
    rows = generate(0, shards=1)
    words = {"samples": "soft.parquet", "answers": "a.jsonl", "spans": "strict", "severity": "requested"}
    line = line_of(SourceInvalid, script, collect_soft_errors, **words, errors="e.parquet", counts="e.json")
    counted = f"none of {len(rows)} answers of lexicon is usable (left-out:no-safe-exchange {len(rows)}); expected one"
    assert line.startswith(f"soft.parquet: {counted}; choose another generation.generator, or hard errors")
    assert not Path("e.parquet").exists()


# --- evaluate, compare_systems


def judgements(path: str, guesses: list, groups: list[str] | None = None, **columns) -> str:
    """One row per guess: even rows are right, odd ones wrong; a guess of None is a failure."""
    rows = [
        {
            **{"id": str(n), "pair": str(n // 2), "base": str(n // 2), "group": groups[n] if groups else str(n // 2)},
            **{"dataset": "blend", "origin": "hard", "language": "English", "culture": "", "report": None},
            **{"gold_score": -5 * (n % 2), "gold_error": bool(n % 2), "errors_found": guess},
            **{"score": None if guess is None else -5.0 * guess, "certainty": 0.5},
            "failure": "no-json" if guess is None else None,
        }
        for n, guess in enumerate(guesses)
    ]
    frame = pl.DataFrame(rows, schema=record_files.JUDGEMENT_SCHEMA, orient="row").with_columns(**columns)
    tables.write_frame(Path(path), frame)
    return path


RIGHT, BLIND = [0, 1] * 20, [0, 0] * 20


def test_evaluate_puts_datasets_together_and_names_them():
    paths = [judgements("a.parquet", RIGHT), judgements("b.parquet", [None, 0] * 10, dataset=pl.lit("epic"))]
    script(evaluate, judgements=paths, seed=SEED, numbers="n.json")
    numbers = json.loads(Path("n.json").read_text())
    assert (numbers["n"], numbers["failures"]) == (60, {"no-json": 10})
    assert set(numbers["by_dataset"]) == {"blend", "epic"}
    assert numbers["inputs"] == {path: sha256(Path(path)) for path in paths}
    before = Path("n.json").read_bytes()
    script(evaluate, judgements=paths, seed=SEED, numbers="n.json")
    assert Path("n.json").read_bytes() == before


def compared(*guesses: list, **how: str) -> list[dict]:
    """Compare systems of one judgement each, in the column of a set that holds it."""
    systems = [f"m{at}/nothing/report" for at in range(len(guesses))]
    files = [f"results/judgements/{system}/blend/test.parquet" for system in systems]
    paths = list(map(judgements, files, guesses))
    script(compare_systems, columns=json.dumps({"blend": systems}), judgements=paths, tests="t.json", **how)
    content = json.loads(Path("t.json").read_text())
    assert content["systems"] == systems
    return content["tests"]


def test_every_two_systems_are_compared():
    """The sign test on 20 clusters, all won: p = 2 / 2**20; equal systems: p = 1."""
    won, equal, lost = compared(RIGHT, BLIND, RIGHT)
    assert [(test["a"][:2], test["b"][:2]) for test in (won, equal, lost)] == [("m0", "m1"), ("m0", "m2"), ("m1", "m2")]
    assert [won["difference"], lost["difference"]] == pytest.approx([0.5, -0.5])
    assert [won["p_value"], won["p_holm"], equal["p_value"]] == pytest.approx([2 / 2**20, 6 / 2**20, 1])
    assert (won["n"], won["clusters"], won["discordant"]) == (40, 20, 20)


def test_the_papers_test_is_of_rows_one_sided_and_uncorrected():
    tests = compared(BLIND, RIGHT, RIGHT, significance="paper")
    assert [(test["p_value"], test["p_holm"]) for test in tests] == [(1 / 1001,) * 2] * 2 + [(1, 1)]
    assert {(test["draws"], test["clusters"], test["sides"]) for test in tests} == {(1000, 40, "for the better")}
    lead = permutation.drawn_permutation([True] * 9, [True] * 6 + [False] * 3, [False] * 6 + [True] * 3, 10**5, 1)
    assert lead.p_value == pytest.approx(130 / 512, abs=0.005), "six or more of nine"


def test_a_column_has_its_systems_and_that_of_all_every_set():
    """A column of no system has no test; a judgement that is missing is an error, and never another's."""
    a, b = "a/nothing/count", "b/nothing/count"
    cells = {(a, "blend"): RIGHT, (a, "epic"): BLIND, (b, "blend"): RIGHT, (b, "epic"): RIGHT}
    paths = [judgements(f"results/judgements/{s}/{d}/test.parquet", g) for (s, d), g in cells.items()]
    columns = {"blend": [], "epic": [a], "all": [a, b]}
    script(compare_systems, columns=json.dumps(columns), judgements=paths, tests=["1", "2", "3"])
    none, alone, whole = (json.loads(Path(name).read_text()) for name in "123")
    assert (none["tests"], alone["tests"], alone["systems"]) == ([], [], [a])
    assert [(test["n"], test["difference"]) for test in whole["tests"]] == [(80, -0.25)]
    with pytest.raises(InputInvalid, match="3 judgements for 2 systems; expected as many for each"):
        script(compare_systems, columns=json.dumps(columns), judgements=paths[:3], tests=["1", "2", "3"])


def correlated(systems: list[str], *paths: str) -> dict[tuple[str, str, str], dict]:
    script(compare_correlations, systems=systems, judgements=list(paths), draws=99, seed=SEED, tests="c.json")
    return {(test["measure"], test["a"], test["b"]): test for test in json.loads(Path("c.json").read_text())["tests"]}


def test_other_rows_or_another_order_are_not_compared():
    other = judgements("b", RIGHT, id=pl.concat([pl.Series(["x"]), pl.Series([str(n) for n in range(1, 40)])]))
    for second in (other, judgements("c", RIGHT, id=pl.col("id").reverse())):
        line = line_of(ArtifactBroken, correlated, ["a", "b"], judgements("a", RIGHT), second)
        assert "a and b: judged different rows, or in another order" in line


def test_excams_correlations_are_compared_with_every_other():
    systems = [TUNED, "y/all/report", COUNT]
    worse = [0, 1] * 10 + [1, 0] * 10
    comparisons = correlated(systems, judgements("a", RIGHT), judgements("b", worse), judgements("c", worse))
    own, other = f"{TUNED}+p", "y/all/report+p"
    pairs = {(ours, baseline) for ours in (own, other) for baseline in (COUNT, f"{COUNT}+p")}
    pairs |= {(own, "y/all/report"), (own, other), (other, TUNED)}
    assert set(comparisons) == {(measure, *pair) for measure in ("kendall", "tie-calibrated") for pair in pairs}
    won = comparisons["kendall", own, COUNT]
    assert (won["correlation_a"], won["correlation_b"], won["n"], won["clusters"]) == (1, 0, 40, 20)
    assert won["p_value"] == 0.01 < won["p_holm"] <= 1
    assert comparisons["kendall", other, COUNT]["p_value"] == 1, "p(R) is the same everywhere, so nothing differs"


def test_a_correlation_that_does_not_exist_is_not_tested():
    comparisons = correlated([TUNED, COUNT], judgements("a", RIGHT), judgements("b", BLIND))
    assert "equal scores" in comparisons["kendall", f"{TUNED}+p", COUNT]["untested"]
    assert "p_value" in comparisons["tie-calibrated", f"{TUNED}+p", COUNT]
    comparisons = correlated([TUNED, COUNT], judgements("a", RIGHT), judgements("b", [None] * 40))
    assert all("0 of 40 items" in test["untested"] for test in comparisons.values())


# --- tables and figures


def made_table_2(*paths: str) -> list[dict[str, str]]:
    printed = {"printed": ROOT / "paper/table-2.csv", "printed_claims": ROOT / "paper/claims.csv"}
    script(table_2, counts=list(paths), **printed, numbers="table-2.csv", claims="claims.csv", page="table-2.md")
    return rows_of("table-2.csv")


def test_table_2_of_what_was_split():
    split(*pairs(20))
    blend, everything = made_table_2("blend/counts.json")
    assert blend["right"] == blend["wrong_hard"] == everything["right"] != "0"
    assert blend["train_right"] == blend["train_wrong_hard"]
    for name in SPLITS:
        assert int(blend[name]) == len(record_files.read_samples(Path(f"blend/{name}.parquet")))


def cell(system: str, dataset: str = "all", scaled: float = 0.5, **changes) -> str:
    content = {
        **{"n": 40, "gold_errors": 24},
        "accuracy": {"scaled": scaled, "low": scaled - 0.1, "high": scaled + 0.1, "excluding": None, "failures": 3},
        "correlation": {
            "n": 37,
            "score": {"kendall_b": None, "tie_calibrated": 0.123456, "epsilon": 0.0},
            "score_p": {"kendall_b": 0.4, "tie_calibrated": 0.6, "epsilon": 0.25},
            "constant": {"kendall_b": None, "tie_calibrated": 0.49, "epsilon": 0.0},
        },
    } | changes
    return put_json(f"results/evaluation/{system}/{dataset}/test.json", content)


def won(a: str, b: str, p: float = 0.01, difference: float = 0.2) -> dict:
    return {"a": a, "b": b, "p_value": p, "difference": difference}


TUNED, COUNT, OTHER = "m/all/report", "m/nothing/count", "x/nothing/binary"


def floors_csv() -> str:
    """What scripts.floors writes, for two trivial baselines."""
    names = ("floor", "dataset", "split", "scaled_accuracy", "low", "high", "kendall_b", "tie_calibrated_accuracy", "n")
    lines = [("constant", "0.2", "", "0.49"), ("random", "0.01", "0.02", "0.5")]
    rows = [
        dict(zip(names, (name, dataset, "test", scaled, "-0.1", "0.3", kendall, ties, "40"), strict=True))
        for name, scaled, kendall, ties in lines
        for dataset in ("blend", "all")
    ]
    tables.write_lines(Path("floors.csv"), names, rows)
    return "floors.csv"


def made_table_4(cells: list[str], paths: dict[str, str]) -> list[dict[str, str]]:
    script(table_4, cells=cells, **paths, printed=ROOT / "paper/table-4.csv", numbers="t.csv", page="t.md")
    return rows_of("t.csv")


def test_table_4_has_two_lines_per_system_and_the_trivial_baselines():
    tests = put_json("tests.json", {"tests": [won(TUNED, COUNT), won(COUNT, OTHER, p=0.5)]})
    correlations = [won(f"{TUNED}+p", f"{COUNT}{fallback}") | {"measure": "kendall"} for fallback in ("", "+p")]
    correlations += [{"a": f"{TUNED}+p", "b": f"{OTHER}+p", "measure": "kendall", "untested": "a constant"}]
    correlations += [won(f"{TUNED}+p", COUNT, difference=-0.2) | {"measure": "tie-calibrated"}]
    correlations_path = put_json("correlations.json", {"tests": correlations})
    paths = {"tests": tests, "correlation_tests": correlations_path, "floors": floors_csv()}
    lines = made_table_4([cell(TUNED), cell(COUNT)], paths)
    assert "names no encoder" in Path("t.md").read_text(encoding="utf-8")
    systems = [(line["model"], line["trained_on"], line["judge"], line["fallback"]) for line in lines]
    assert systems[:2] == [("m", "all", "report", fallback) for fallback in ("", "p")]
    assert systems[2:4] == [("m", "nothing", "count", fallback) for fallback in ("", "p")]
    assert systems[4:] == [(name, "nothing", "none", "") for name in ("constant", "random")]
    assert lines[0] == {
        **{"model": "m", "trained_on": "all", "judge": "report", "fallback": "", "scaled_accuracy": "0.5"},
        **{"low": "0.4", "high": "0.6", "excluding_failures": "", "kendall_b": "", "tie_calibrated_accuracy": "0.1235"},
        **{"epsilon": "0.0", "n": "40", "n_scored": "37", "failures": "3", "better_than_all": "yes"},
        **dict.fromkeys(("kendall_better_than_all", "kendall_tests"), ""),
        **dict.fromkeys(("tie_calibrated_better_than_all", "tie_calibrated_tests"), ""),
        "cell": "results/evaluation/m/all/report/all/test.json",
    }
    assert (lines[1]["kendall_b"], lines[1]["tie_calibrated_accuracy"], lines[1]["epsilon"]) == ("0.4", "0.6", "0.25")
    assert (lines[1]["kendall_better_than_all"], lines[1]["tie_calibrated_better_than_all"]) == ("yes", "no")
    assert (lines[1]["kendall_tests"], lines[1]["tie_calibrated_tests"]) == ("2 of 3", "1 of 1")
    assert lines[2]["better_than_all"] == "no"
    assert lines[3]["kendall_better_than_all"] == "", "baselines are not compared with each other"
    floor = lines[4]
    assert (floor["scaled_accuracy"], floor["kendall_b"]) == ("0.2", "")
    assert (floor["tie_calibrated_accuracy"], floor["n"], floor["failures"]) == ("0.49", "40", "0")


def test_what_is_not_above_a_floor_is_not_better_than_all():
    tests = put_json("tests.json", {"tests": [won(TUNED, COUNT)]})
    none = put_json("none.json", {"tests": []})
    for scaled, verdict in ((0.2, "no"), (0.3, "no"), (0.31, "yes")):
        paths = {"tests": tests, "correlation_tests": none, "floors": floors_csv()}
        line, *_ = made_table_4([cell(TUNED, scaled=scaled)], paths)
        assert line["better_than_all"] == verdict, "the constant baseline has .2, the interval is ± .1"


@pytest.mark.parametrize(
    ("tests", "verdict"),
    [
        ([won(COUNT, OTHER)], ""),
        ([won(COUNT, TUNED, difference=-0.2)], "yes"),
        ([won(COUNT, TUNED)], "no"),
        ([won(TUNED, COUNT, p=0.05)], "yes"),
        ([won(TUNED, COUNT, p=0.051)], "no"),
        ([won(TUNED, COUNT, difference=0.0)], "no"),
        ([won(TUNED, COUNT), won(OTHER, TUNED)], "no"),
    ],
)
def test_better_than_all(tests, verdict):
    assert evaluation.better_than_all(TUNED, tests) == verdict


def figure(cells: list[str], tests: dict[str, list]) -> dict[tuple[str, str], dict[str, str]]:
    names = [put_json(f"significance/{name}/test.json", {"tests": comparisons}) for name, comparisons in tests.items()]
    more = {"floors": floors_csv(), "numbers": "f.csv", "pictures": ["f.svg"]}
    script(figure_3, datasets=["blend", "epic"], cells=cells, tests=names, **more)
    return {(line["row"], line["column"]): line for line in rows_of("f.csv")}


def columns_of(system: str, *values: float) -> list[str]:
    return [cell(system, name, value) for name, value in zip(("blend", "epic"), values, strict=False)]


def test_figure_3_holds_every_cell_and_the_averages():
    loo = [cell("m/without-blend/report", "blend", 0.35), cell("m/without-epic/report", "epic", 0.5)]
    cells = [*loo, cell("m/all/report", "all", 0.9), *columns_of(COUNT, 0.1, 0.3), cell(COUNT, "all", 0.2)]
    tests = {
        "blend": [won("m/without-blend/report", COUNT)],
        "epic": [won("m/without-epic/report", COUNT, p=0.2)],
        "all": [won(COUNT, "m/all/report", difference=-0.3)],
    }
    lines, columns = figure(cells, tests), ("blend", "epic", figures.IN_DOMAIN, figures.AVERAGE)
    assert set(lines) == {(row, column) for row in ("ExCAM (m)", "m (count)") for column in columns}
    tuned = {column: lines["ExCAM (m)", column] for column in columns}
    assert [tuned[column]["scaled_accuracy"] for column in tuned] == ["0.35", "0.5", "0.9", "0.425"]
    assert [tuned[column]["significant"] for column in tuned] == ["True", "False", "True", ""]
    assert tuned["blend"]["cell"] == "results/evaluation/m/without-blend/report/blend/test.json"
    assert (tuned["blend"]["n"], tuned["blend"]["failures"], tuned[figures.AVERAGE]["n"]) == ("40", "3", "2")
    assert lines["m (count)", "blend"]["significant"] == "False", "stars are for tuned models"
    assert lines["m (count)", figures.AVERAGE]["scaled_accuracy"] == "0.2"
    assert Path("f.svg").stat().st_size > 1000


def test_figure_3_keeps_ways_of_asking_apart():
    """Else one would be drawn over the other, and averaged with it."""
    cells = [cell(f"m/without-blend/{judge}", "blend", value) for judge, value in (("report", 0.3), ("count", 0.7))]
    lines = figure(cells, {"blend": []})
    assert lines["ExCAM (m)", figures.AVERAGE]["scaled_accuracy"] == "0.3"
    assert lines["ExCAM (m, count)", figures.AVERAGE]["scaled_accuracy"] == "0.7"


@pytest.mark.parametrize(
    ("tests", "beats"),
    [
        ([won(TUNED, COUNT), won(TUNED, OTHER)], True),
        ([won(TUNED, COUNT), won(TUNED, OTHER, p=0.06)], False),
        ([won(TUNED, COUNT), won("y/all/report", TUNED)], True),
        ([won("y/all/report", TUNED, difference=-1)], False),
        ([], False),
    ],
)
def test_stars_are_against_models_as_they_come(tests, beats):
    assert figures._beats_baselines(TUNED, tests) is beats


def test_comparison_names_both_values_and_where_ours_came_from():
    tests = put_json("tests.json", {"tests": []})
    system = "ds-r1-14b/nothing/count"
    paths = {"tests": tests, "correlation_tests": tests, "floors": floors_csv()}
    made_table_4([cell(system), cell(COUNT)], paths)
    text = Path("t.md").read_text(encoding="utf-8")
    line = next(line for line in text.splitlines() if line.startswith(f"| {system} |"))
    printed = next(row for row in rows_of(str(ROOT / "paper/table-4.csv")) if row["system"] == system)
    assert [part.strip() for part in line.strip("|").split("|")] == [
        *(system, "0.5 [0.4, 0.6]", f"0.331 ({0.5 - 0.331:+.3f})", "n/a", printed["kendall"]),
        *("0.1235", f"0.474 ({0.1235 - 0.474:+.3f})", "40", "37", "3"),
        f"`results/evaluation/{system}/all/test.json`",
    ]
    assert f"| {COUNT}+p | 0.5 [0.4, 0.6] | – | 0.4 | – |" in text, "ours alone"
    assert "| constant/nothing/none | 0.2 [-0.1, 0.3] | – |" in text
    missing = text.split("Printed, not in this experiment: ")[1]
    assert "gemma3-27b/nothing/count" in missing
    assert f"{system}," not in missing
    assert len({line.count("|") for line in text.splitlines() if line.startswith("|")}) == 1, "one width"


# --- what the user sees


def test_a_script_as_its_rule_runs_it():
    """From the root of the repository, as `python -m scripts <rule>`."""
    Path("broken.parquet").write_bytes(b"PAR1")
    files = {"judgements": Path("broken.parquet").absolute(), "numbers": Path("n.json").absolute()}
    options = ["--seed", "1", *(word for name, path in files.items() for word in (f"--{name}", str(path)))]
    command = [sys.executable, "-m", "scripts", "evaluate", *options]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)
    assert "broken.parquet: not a readable Parquet file" in done.stderr
    assert not files["numbers"].exists()


# A job whose system refuses flock with an error number, by a filter of the kernel (linux/filter.h, linux/seccomp.h).
