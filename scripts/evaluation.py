"""Compare judgements with what is known of the rows: per cell, between systems, and beside trivial baselines."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from itertools import combinations, product
from pathlib import Path
from typing import Annotated, Any, Literal

import polars as pl

from excam.core import paths, provenance, tables
from excam.core.exceptions import InputInvalid
from excam.core.provenance import read_json, write_text
from excam.error_reports import record_files
from excam.error_reports.evaluation import cells, verdicts
from excam.error_reports.evaluation import leave_one_out as numbers_of_left_out
from excam.error_reports.evaluation.cells import Cell, System, Test
from excam.excam40k import agreement, answer_vectors, trivial_baselines
from excam.excam40k.trivial_baselines import TrivialBaseline
from excam.pages.markdown import escape, table
from excam.stats import permutation
from excam.stats.permutation_correlation import CorrelationPermutation, Measure, correlation_permutation
from scripts import step


@step(
    version=5,
    inputs={"judgements": "results/judgements/{model}/{trained_on}/{judge}/*/{split}.parquet"},
    settings={"seed": "seed", "pairs": "scoring.pairs"},
    outputs={
        "numbers": [
            "results/evaluation/{model}/{trained_on}/{judge}/*/{split}.json",
            "results/evaluation/{model}/{trained_on}/{judge}/all/{split}.json",
        ]
    },
)
def evaluate(
    judgements_paths: Annotated[Sequence[Path], "of each set"],
    seed: int,
    numbers_paths: Annotated[Sequence[Path], "of each set, then of all together; or of these alone"],
    pairs: Annotated[int | None, "random pairs for the tie-calibrated accuracy; without it, all"] = None,
) -> None:
    """Compute the numbers of one system's cells: of each dataset, and of all together."""
    each = [[path] for path in judgements_paths if len(numbers_paths) > 1]
    for of, numbers_path in zip([*each, judgements_paths], numbers_paths, strict=True):
        frame = pl.concat([tables.read_frame(path) for path in of])
        numbers = verdicts.evaluate(frame, seed, pairs) if len(frame) else {"n": 0, "accuracy": None}
        numbers["inputs"] = {str(path): provenance.sha256(path) for path in of}
        provenance.write_json(numbers_path, numbers)


@step(
    version=4,
    inputs={"judgements": "judgements_compared"},
    settings={"columns": "systems_of_columns", "significance": "significance", "seed": "significance_seed"},
    outputs={"tests": ["results/significance/*/{split}.json", "results/significance/all/{split}.json"]},
)
def compare_systems(
    columns_json: Annotated[str, "the systems of each column, <model>/<trained_on>/<judge>, as JSON"],
    judgements_paths: Annotated[Sequence[Path], "of each system and set"],
    tests_paths: Annotated[Sequence[Path], "of each column"],
    significance: Annotated[Literal["exact", "paper"], "paper: 1,000 swaps of rows, one-sided, uncorrected"] = "exact",
    seed: Annotated[int, "of swaps that are drawn"] = 0,
) -> None:
    """Run paired permutation tests between all systems of each column: accuracies, clustered by base sample."""
    cells = [(paths.axes(path), path) for path in judgements_paths]
    by_cell = {(f"{cell['model']}/{cell['trained_on']}/{cell['judge']}", cell["dataset"]): path for cell, path in cells}
    sets = list(dict.fromkeys(dataset for _, dataset in by_cell))
    for (column, systems), tests_path in zip(json.loads(columns_json).items(), tests_paths, strict=True):
        wanted = product(systems, sets if column == "all" else [column])
        judgements = [by_cell[cell] for cell in wanted if cell in by_cell]
        frames = tables.judgements_by_system(systems, judgements) if systems else {}
        tests = _paired_tests(frames, significance, seed)
        provenance.write_json(tests_path, {"systems": systems, "tests": tests})


def _paired_tests(frames: Mapping[str, pl.DataFrame], significance: str, seed: int) -> list[dict[str, Any]]:
    """Return the test of every two systems, with the p-value that is adjusted for all of them."""
    tests: list[dict[str, Any]] = []
    for a, b in combinations(frames, 2):
        if significance == "paper":
            guesses = [verdicts.predicted_errors(frames[system]) for system in (a, b)]
            gold = frames[a]["gold_error"].to_list()
            result = permutation.drawn_permutation(gold, *guesses, draws=1000, seed=seed)
        else:
            result = verdicts.paired_permutation(frames[a], frames[b])
        tests.append({"a": a, "b": b, **asdict(result)})
    p_values = [test["p_value"] for test in tests]
    adjusted = p_values if significance == "paper" else permutation.holm(p_values)
    return [test | {"p_holm": p} for test, p in zip(tests, adjusted, strict=True)]


MEASURES: tuple[Measure, ...] = ("kendall", "tie-calibrated")


Scores = list[float | None]


@step(
    version=2,
    inputs={"judgements": "judgements_in_domain"},
    settings={"systems": "systems_in_domain", "seed": "seed"},
    outputs={"tests": "results/significance/all/{split}.correlations.json"},
    local=False,
)
def compare_correlations(
    systems: Annotated[Sequence[str], "<model>/<trained_on>/<judge>"],
    judgements_paths: Annotated[Sequence[Path], "the same number of each system's"],
    seed: int,
    tests_path: Path,
    draws: int = 1000,
) -> None:
    """Test whether ExCAM correlates better with the gold scores than every other of Table 4 (PERM-BOTH, clustered)."""
    frames = tables.judgements_by_system(systems, judgements_paths)
    first = next(iter(frames.values()))
    gold, groups = first["gold_score"].to_list(), first["group"].to_list()
    # both columns of scores that Table 4 has of a system: with 0 for a text without errors, and with p(R) (`+p`)
    metrics = {
        system + suffix: verdicts.scores(frame, fallback=bool(suffix))
        for system, frame in frames.items()
        for suffix in ("", "+p")
    }
    permute = partial(correlation_permutation, gold, clusters=groups, draws=draws, seed=seed)
    tests = [
        {"measure": measure, "a": a, "b": b, **_tested(permute, measure, metrics[a], metrics[b])}
        for measure in MEASURES
        for a, b in _pairs(metrics)
    ]
    for measure in MEASURES:
        done = [test for test in tests if test["measure"] == measure and "p_value" in test]
        for test, p in zip(done, permutation.holm([test["p_value"] for test in done]), strict=True):
            test["p_holm"] = p
    provenance.write_json(tests_path, {"systems": systems, "tests": tests})


def _pairs(metrics: dict[str, Scores]) -> list[tuple[str, str]]:
    """ExCAM's score of Eq. 1 against every other system's scores of both kinds; two of ExCAM's own once."""
    names = list(metrics)
    excam_scores = [name for name in names if name.endswith("+p") and _correlated_system(name).tuned]
    return [
        (a, b)
        for a in excam_scores
        for b in names
        if _correlated_system(a) != _correlated_system(b)
        and not (b in excam_scores and names.index(b) < names.index(a))
    ]


def _correlated_system(name: str) -> System:
    return System(*name.removesuffix("+p").split("/"))


def _tested(permute: Callable[..., CorrelationPermutation], measure: Measure, a: Scores, b: Scores) -> dict[str, Any]:
    """Return the test, or why there is none: too few answers that both gave, or scores that are all the same."""
    try:
        test = permute(a, b, measure=measure)
    except InputInvalid as problem:
        return {"untested": str(problem)}
    return {{"a": "correlation_a", "b": "correlation_b"}.get(name, name): value for name, value in asdict(test).items()}


TESTS = ("test", "test-100")


FLOOR_COLUMNS = (
    *("floor", "dataset", "split", "scaled_accuracy", "low", "high", "kendall_b", "tie_calibrated_accuracy"),
    *("n", "groups", "rule"),
)


@step(
    version=6,
    result="results/paper/floors",
    outputs=["numbers"],
    category="Results",
    target="paper",
    inputs={
        "samples": "all_splits",
        "bases": "results/samples/*.bases.jsonl",
        "judgements": "judgements_by_documents",
        "vectors": "answer_vectors",
    },
    optional=["judgements", "vectors"],
    settings={"seed": "seed"},
)
def floors(
    samples_paths: Annotated[Sequence[Path], "excam40k/<dataset>/<split>.parquet"],
    bases_paths: Annotated[Sequence[Path], "samples/<dataset>.bases.jsonl"],
    seed: int,
    numbers_path: Path,
    judgements_paths: Annotated[Sequence[Path], "by documents, of the test sets"] = (),
    vectors_path: Annotated[Path | None, "of answers, by an encoder"] = None,
) -> None:
    """Compute the trivial baselines of each test set: constant, lengths, words, templates, random, others' votes.

    What scores without any judgement of culture get on each test set: one constant answer; logistic regressions that
    see only lengths, words, the ids of the paraphrases, or an encoder's vector of the answer, fitted on train and dev;
    the gold scores in a random order. A metric is worth what it is above these. The rule of each is in the column
    ``rule``.
    """
    parts: dict[str, dict[str, pl.DataFrame]] = {}
    for path in samples_paths:
        parts.setdefault(path.parent.name, {})[path.stem] = tables.read_frame(path)
    parts["all"] = {
        split: pl.concat([by_split[split] for by_split in parts.values()]) for split in ("train", "dev", *TESTS)
    }
    judged = (row for path in judgements_paths for row in tables.read_frame(path).iter_rows(named=True))
    measure = partial(
        trivial_baselines.measure_baselines,
        seed=seed,
        agreement=agreement.of(base for path in bases_paths for base in record_files.read_bases(path)),
        heights={row["id"]: json.loads(row["parts"])["floors"] for row in judged},
        encoded=answer_vectors.shown(vectors_path),
    )
    lines = [line for dataset, by_split in parts.items() for line in _floor_lines(dataset, by_split, measure)]
    tables.write_lines(numbers_path, FLOOR_COLUMNS, lines)


def _floor_lines(
    dataset: str, by_split: Mapping[str, pl.DataFrame], measure: Callable[..., Iterable[TrivialBaseline]]
) -> list[dict[str, Any]]:
    learned = pl.concat([by_split["train"], by_split["dev"]])
    return [
        {
            **{name: round(value, 4) if isinstance(value, float) else value for name, value in asdict(floor).items()},
            **{"dataset": dataset, "split": split, "rule": trivial_baselines.RULES[floor.floor]},
        }
        for split in TESTS
        if by_split[split].height
        for floor in measure(learned, by_split[split])
    ]


TABLE_4_COLUMNS = (
    *("model", "trained_on", "judge", "fallback", "scaled_accuracy", "low", "high", "excluding_failures"),
    *("kendall_b", "tie_calibrated_accuracy", "epsilon", "n", "n_scored", "failures", "better_than_all"),
    *("kendall_better_than_all", "kendall_tests", "tie_calibrated_better_than_all", "tie_calibrated_tests", "cell"),
)


WON = {  # verdict -> what it is about
    "better_than_all": "scaled_accuracy",
    "kendall_better_than_all": "kendall_b",
    "tie_calibrated_better_than_all": "tie_calibrated_accuracy",
}


PRINTED = ("scaled_accuracy", "kendall", "tie_calibrated_accuracy")  # columns of paper/table-4.csv, as in WON


TABLE_4_HEAD = (
    *("system", "scaled accuracy [95 %]", "paper", "Kendall b", "paper", "tie-calibrated", "paper"),
    *("n", "n with a score", "failures", "from"),
)


TABLE_4_NOTE = (
    "0 is chance for scaled accuracy; an unreadable answer counts as wrong. `+p`: the score is p(R) where "
    "it would be 0. Correlations are of the rows with a score. In brackets: the 95 % interval over groups; beside the "
    "printed number, ours minus the paper's. `*`: above every trivial baseline (scaled accuracy: with its interval), "
    "and better than every untuned model and every other adapter of all, by paired permutation tests over groups, p ≤ "
    ".05. Of correlations only ExCAM's with p(R) are tested, which the paper underlines; `table-4.csv` says how many "
    "tests there are. Leave-one-out adapters are compared in Figure 11. The last lines use no judgement."
)


SAMPLED = (
    "Tie-calibrated of systems: about {pairs:,} random pairs of rows; of trivial baselines and in tests: all pairs."
)


NO_ENCODER = "None of these reads meanings: `baselines.encoder` of this experiment names no encoder."


Line = Mapping[str, str]


@step(
    version=10,
    result="results/paper/table-4",
    outputs=["numbers", "page"],
    category="Results",
    target="paper",
    inputs={
        "cells": "cells_of_all",
        "tests": "results/significance/all/test.json",
        "correlation_tests": "results/significance/all/test.correlations.json",
        "floors": "results/paper/floors.csv",
        "printed": "paper/table-4.csv",
    },
)
def table_4(
    cells_paths: Sequence[Path],
    tests_path: Path,
    correlation_tests_path: Path,
    floors_path: Path,
    printed_path: Annotated[Path, "paper/table-4.csv"],
    numbers_path: Path,
    page_path: Path,
) -> None:
    """Write Table 4: scaled accuracy, Kendall and tie-calibrated accuracy of every system, beside the paper's numbers.

    Scaled accuracy (0 is chance; a parse failure counts as wrong), Kendall's tau-b and tie-calibrated accuracy of every
    system on all test sets together, with 95 % intervals over groups, and the paper's numbers beside
    them. ``+p``: the score is the certainty p(R) where it would be 0. The last lines are trivial baselines: scores that
    use no judgement.
    """
    tests, correlations = (read_json(path, "tests")["tests"] for path in (tests_path, correlation_tests_path))
    made = [cells.read(path) for path in cells_paths]
    lines = [line for cell in made for line in _table_4_lines(cell, tests, correlations)]
    trivial = tables.read_lines(floors_path)
    for line in lines:
        for verdict, column in WON.items():
            surely = line["low"] if column == "scaled_accuracy" else line[column]  # the others have no interval
            floor = trivial_baselines.highest(trivial, "all", column, line["model"])
            if line.get(verdict) == "yes" and surely <= floor:
                line[verdict] = "no"
    tables.write_lines(numbers_path, TABLE_4_COLUMNS, [*lines, *_floors(trivial, floors_path)])
    pairs = max((cell.numbers["correlation"].get("pairs", 0) for cell in made), default=0)
    write_text(page_path, _table_4_page(tables.read_lines(numbers_path), tables.read_lines(printed_path), pairs))


def _table_4_lines(cell: Cell, tests: Sequence[Test], correlations: Sequence[Test]) -> list[dict[str, Any]]:
    """Two lines per system: without and with p(R) where the score would be 0."""
    system, numbers = cell.system, cell.numbers
    common = {
        **{"model": system.model, "trained_on": system.trained_on, "judge": system.judge},
        **cell.accuracy,
        "excluding_failures": cells.rounded_text(numbers["accuracy"]["excluding"]),
        "n_scored": numbers["correlation"]["n"],
        "better_than_all": better_than_all(system.key, tests),
    }
    return [
        {
            **common,
            "fallback": fallback,
            "kendall_b": cells.rounded_text(coefficients["kendall_b"]),
            "tie_calibrated_accuracy": cells.rounded_text(coefficients["tie_calibrated"]),
            "epsilon": cells.rounded_text(coefficients["epsilon"]),
            **(_correlated(system, correlations) if system.tuned and fallback else {}),
        }
        for fallback, coefficients in (("", numbers["correlation"]["score"]), ("p", numbers["correlation"]["score_p"]))
    ]


def _correlated(system: System, correlations: Sequence[Test]) -> dict[str, str]:
    """Return whether ExCAM's score of Eq. 1 correlates better than every other, and by how many tests of how many.

    There is no test where a correlation does not exist, as of a constant metric.
    """
    name, columns = f"{system.key}+p", {}
    for measure, column in (("kendall", "kendall"), ("tie-calibrated", "tie_calibrated")):
        of_metric = [test for test in correlations if test["measure"] == measure and name in (test["a"], test["b"])]
        done = [test for test in of_metric if "p_value" in test]
        columns[f"{column}_better_than_all"] = better_than_all(name, done)
        columns[f"{column}_tests"] = f"{len(done)} of {len(of_metric)}"
    return columns


def _floors(trivial: Sequence[dict[str, str]], path: Path) -> list[dict[str, Any]]:
    """What scores without judgement get on all test sets together: no system, so nothing was compared with them."""
    return [
        {
            **{"model": line["floor"], "trained_on": "nothing", "judge": "none", "fallback": "", "cell": str(path)},
            **{name: line[name] for name in ("scaled_accuracy", "low", "high", "kendall_b", "n")},
            **{"tie_calibrated_accuracy": line["tie_calibrated_accuracy"], "n_scored": line["n"], "failures": 0},
        }
        for line in trivial
        if (line["dataset"], line["split"]) == ("all", "test")
    ]


def better_than_all(system: str, tests: Sequence[Test]) -> str:
    """`yes` when every test against another system is won at 5 %; empty where it was not compared."""
    p_value = cells.p_better(system, tests, lambda _: True)
    return "" if p_value is None else "yes" if p_value <= cells.LEVEL else "no"


def _table_4_page(ours: Sequence[Line], printed: Sequence[Line], pairs: int) -> str:
    """Return the table for a reader, each number beside the printed one of the same system.

    `pairs` is how many pairs of rows were sampled for the tie-calibrated accuracy; 0: all were counted.
    """
    paper = {line["system"]: line for line in printed}
    named = {_printed_name(line): line for line in ours}
    body = [
        [
            *(name, *_values(line, paper.get(name, {})), line["n"], line["n_scored"], line["failures"]),
            f"`{line['cell']}`",
        ]
        for name, line in named.items()
    ]
    missing = ", ".join(name for name in paper if name not in named)
    encoded = any(line["model"] == answer_vectors.NAME for line in ours)
    note = " ".join([TABLE_4_NOTE, *[NO_ENCODER] * (not encoded), *[SAMPLED.format(pairs=pairs)] * bool(pairs)])
    text = f"# Table 4: every system on all test sets together\n\n{note}\n\n{table(TABLE_4_HEAD, body)}"
    return text + (f"\nPrinted, not in this experiment: {missing}.\n" if missing else "")


def _values(line: Line, printed: Line) -> list[str]:
    """Return each measure, with its star and interval, and after it what the paper prints."""
    interval = f" [{line['low']}, {line['high']}]" if line["low"] else ""
    texts = []
    for (verdict, column), beside in zip(WON.items(), PRINTED, strict=True):
        star = "*" if line[verdict] == "yes" else ""
        value = f"{line[column] or 'n/a'}{star}{interval if column == 'scaled_accuracy' else ''}"
        texts += [value, _beside(line[column], printed.get(beside, ""))]
    return texts


def _beside(ours: str, printed: str) -> str:
    """Return the printed value and how far ours is from it."""
    if not printed:
        return "–"
    return f"{printed} ({float(ours) - float(printed):+.3f})" if ours else printed


def _printed_name(line: Line) -> str:
    """Return one name per system, as in the column `system` of paper/table-4.csv."""
    name = f"{line['model']}/{line['trained_on']}/{line['judge']}"
    return f"{name}+{line['fallback']}" if line["fallback"] else name


LEFT_OUT_COLUMNS = (
    *("model", "judge", "left_out", "on", "complete", "without", "difference", "low", "high", "p_value", "p_holm"),
    *("n", "groups"),
)


NONE = "No adapter of this experiment was trained without a dataset beside one that was trained on all.\n"


@step(
    version=3,
    result="results/paper/leave-one-out",
    outputs=["numbers", "page"],
    category="Results",
    inputs={"judgements": "judgements_of_adapters"},
    settings={"seed": "seed"},
)
def leave_one_out(
    seed: int,
    numbers_path: Path,
    page_path: Path,
    judgements_paths: Annotated[Sequence[Path], "of every adapter and dataset"] = (),
) -> None:
    """Compute the effect of removing one dataset from training, as numbers and as a sentence per base model.

    Each adapter that was trained without a dataset against the one trained on all, on the same rows: the difference in
    scaled accuracy, its 95 % interval and an exact paired permutation test over groups, Holm-corrected. The paper's
    claim is about the rows ``others``: the test sets of the other datasets together.
    """
    judged: dict[tuple[str, str], dict[str, dict[str, pl.DataFrame]]] = {}
    for system, by_dataset in cells.judgements(judgements_paths).items():
        judged.setdefault((system.model, system.judge), {})[system.trained_on] = by_dataset
    lines: list[dict[str, Any]] = []
    statements: list[str] = []
    for (model, judge), frames in judged.items():
        without = {
            name.removeprefix("without-"): frame for name, frame in frames.items() if name.startswith("without-")
        }
        changes = numbers_of_left_out.changes(frames["all"], without, seed) if "all" in frames else []
        lines += [{"model": model, "judge": judge, **_line(change)} for change in changes]
        statements += [numbers_of_left_out.statement(System(model, "all", judge).name, changes)] if changes else []
    tables.write_lines(numbers_path, LEFT_OUT_COLUMNS, lines)
    write_text(page_path, "# One dataset less in training\n\n" + _text(statements))


def _line(change: numbers_of_left_out.Change) -> dict[str, Any]:
    line = asdict(change)
    keep = {"p_value": cells.significant_digits(change.p_value), "p_holm": cells.significant_digits(change.p_holm)}
    return {
        name: cells.rounded_text(value) if isinstance(value, float) else value for name, value in line.items()
    } | keep


def _text(statements: list[str]) -> str:
    printed = 'The paper: "in-domain performance is only weakly influenced" (Appendix J), without a number.\n'
    return ("\n\n".join(map(escape, statements)) + "\n\n" if statements else NONE + "\n") + printed
