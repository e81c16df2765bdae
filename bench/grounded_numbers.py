"""Numbers of `bench.grounded`: from raw answers to one line a row (`points`), and from these to the tables (`tables`).

    python -m bench.grounded_numbers points --rows FOLDER --answers FOLDER --to docs/grounded/points.parquet
    python -m bench.grounded_numbers tables --points docs/grounded/points.parquet --to docs/grounded

The points hold ids and numbers, no text of a benchmark. Thresholds are fitted on dev rows; 95 % intervals are
over base samples. Scaled accuracy is 2 · accuracy − 1 over all rows; a row without a verdict counts as
half right, which is what guessing gives.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from excam.core import tables
from excam.error_reports import comparators
from excam.error_reports import stated as stating
from excam.error_reports.comparators import closed, combined
from excam.error_reports.comparators.base import Case
from excam.excam40k import evidence_numbers
from excam.inference.run import without_asking
from excam.pages.markdown import table
from excam.stats.bootstrap import share_interval

SURE = float(np.log(3))  # log-odds of a probability of .75, from which the judge gives a verdict
DECISIVE = {  # what is needed for a verdict
    "sure of .75": pl.col("combined").abs() >= SURE,
    "sure of .75, on topic": (pl.col("combined").abs() >= SURE) & pl.col("on_topic"),
}
PROGRAMS = ("closed",)
ALONE = ("say", "empty", "nothing")
NAME = re.compile(r"(?P<system>.+?)-(?P<split>dev|test|lies|set)(-[a-z]+)?\.\d+")


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    points = commands.add_parser("points")
    points.add_argument("--rows", type=Path, required=True)
    points.add_argument("--answers", type=Path, required=True)
    points.set_defaults(command=lambda args: write_points(args.rows, args.answers, args.to))
    tables = commands.add_parser("tables")
    tables.add_argument("--points", type=Path, required=True)
    tables.set_defaults(command=lambda args: write_tables(args.points, args.to))
    for command in (points, tables):
        command.add_argument("--to", type=Path, required=True)
    args = parser.parse_args(argv)
    args.command(args)


# Points


def write_points(rows: Path, answers: Path, to: Path) -> None:
    known = {row["id"]: row for split in ("dev", "test", "set") for row in _lines(rows / f"{split}.jsonl")}
    made: list[dict[str, Any]] = []
    for path in sorted(answers.glob("*.jsonl")):
        if not (name := NAME.fullmatch(path.stem)):
            continue
        split = "test" if name["split"] == "lies" else name["split"]
        for answer in _lines(path):
            row = known[answer["id"].rsplit("|", 1)[0]]
            made.append({"system": name["system"], "split": split, **_point(row, answer)})
    to.parent.mkdir(parents=True, exist_ok=True)
    frame = pl.DataFrame(made, infer_schema_length=None).unique(["system", "split", "id", "kind"], maintain_order=True)
    tables.write_frame(to, frame)
    print(f"{to}: {frame.height} points of {frame['system'].n_unique()} systems, {to.stat().st_size:,} bytes")


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    return (json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip())


def _point(row: Mapping[str, Any], answer: Mapping[str, Any]) -> dict[str, Any]:
    kind = answer["kind"]
    passages = row[kind] if kind != "none" else []
    texts = [f"{passage['title']}: {passage['text']}" for passage in passages]
    question = row["paraphrase"] if kind == "prose" else row["question"]
    point: dict[str, Any] = {name: row[name] for name in ("id", "base", "dataset", "label")} | {"kind": kind}
    said = stating.read_stated(answer["said"], len(texts))
    stated = said.answer
    if texts and not stating.is_held(stated, question, texts):
        stated = ""
    case = Case(question, row["text"], stated, language=row["language"])
    point["stated"] = bool(stated)
    point["on_topic"] = not stating.off_topic(question, replace(said, answer=stated), texts, row["language"])
    right = Case(question, stated, row["answer"], language=row["language"])
    point["states_right"] = (
        bool(stated) and (without_asking(comparators.load("closed").compare(right)).margin or -1) > 0
    )
    fact = next((at for at, passage in enumerate(passages, 1) if passage.get("states")), 0)
    point["cites_fact"] = fact in said.cites if fact else None
    for program in PROGRAMS:
        compared = without_asking(comparators.load(program).compare(case)) if stated else None
        point[program] = compared.margin if compared else None
        if program == "closed":
            point |= _span(row, compared.differing if compared else ())
    if "agree" in answer:
        point["agreement"] = answer["agree"]
        point["agreement_contrast"] = answer["agree"] - answer["agree_same"]
    for name, value in answer.items():
        if name == "entail":
            point["entailment"] = value
            point["entailment_contrast"] = value - answer["unrelated"]
        elif name.startswith("w-") and isinstance(value, float):
            point[f"entailment_{name[2:]}"] = value
            point[f"entailment_{name[2:]}_contrast"] = value - answer[f"u-{name[2:]}"]
    if stated and "entailment_contrast" in point:
        point["combined"] = combined.margin(
            closed.by_values(case), point["entailment_contrast"], point.get("agreement")
        )
    point["overlap"] = evidence_numbers.overlap(row["text"], texts)
    point["length"] = float(len(row["text"]))
    if "likelihoods" in answer:
        point |= _likelihoods(row, answer)
    return point


def _span(row: Mapping[str, Any], marked: Sequence[tuple[int, int]]) -> dict[str, int]:
    """Return the characters of marked words, of the gold span, and of both."""
    at = row["text"].find(row["gold_span"]) if row["gold_span"] else -1
    gold = set(range(at, at + len(row["gold_span"]))) if at >= 0 else set[int]()
    said = {place for start, end in marked for place in range(start, end)}
    return {"span_hit": len(gold & said), "span_marked": len(said), "span_gold": len(gold)}


def _likelihoods(row: Mapping[str, Any], answer: Mapping[str, Any]) -> dict[str, Any]:
    """Return for each reading the shown option's value minus the best other's, and its own value.

    `choice_*` is the right answer's value minus the best other's, for the accuracy of the model's choice.
    """
    options = [str(option) for option in answer["options"]]
    shown_text = row["answer"] if row["label"] == "right" else row["gold_span"]
    made: dict[str, Any] = {}
    if shown_text in options and row["answer"] in options and len(options) > 1:
        shown, right = options.index(shown_text), options.index(row["answer"])
        for name, values in _readings(answer["likelihoods"], answer["tokens"]):
            made[f"shown_{name}"] = values[shown] - max(value for at, value in enumerate(values) if at != shown)
            made[f"choice_{name}"] = values[right] - max(value for at, value in enumerate(values) if at != right)
            made[f"single_{name}"] = values[shown]
    if "against" in answer:
        for name, values in _readings(answer["against"], answer["against_tokens"]):
            made[f"proposal_{name}"] = values[0] - values[1]
    return made


def _readings(
    likelihoods: Mapping[str, Sequence[float] | None], tokens: Sequence[int]
) -> Iterator[tuple[str, list[float]]]:
    """Yield name and values of each reading: with which question, minus which prompt without it, by token or not."""
    for asked in ("bare", "few"):
        with_question = likelihoods.get(asked)
        if with_question is None:
            continue
        for alone in (None, *ALONE):
            without = likelihoods.get(alone) if alone else [0.0] * len(with_question)
            if without is None:
                continue
            values = [likelihood - other for likelihood, other in zip(with_question, without, strict=True)]
            yield f"{asked}_{alone or 'sum'}", values
            yield (
                f"{asked}_{alone or 'sum'}_token",
                [value / max(1, count) for value, count in zip(values, tokens, strict=True)],
            )


# Tables


def verdicts(frame: pl.DataFrame, column: str, threshold: float) -> np.ndarray:
    """Return 1 for a right verdict, 0 for a wrong one, .5 where there is none."""
    margins = frame[column].to_numpy().astype(float)
    right = (frame["label"] == "right").to_numpy()
    said = margins > threshold
    return np.where(np.isnan(margins), 0.5, (said == right).astype(float))


def best_threshold(frame: pl.DataFrame, column: str) -> float:
    """Return the threshold with the most right verdicts, the middle of the best ones."""
    margins = np.array(frame[column].drop_nulls().to_list(), dtype=float)
    margins = margins[~np.isnan(margins)]
    if not len(margins):
        return 0.0
    places = np.unique(np.quantile(margins, np.linspace(0, 1, 101)))
    scores = [verdicts(frame, column, place).mean() for place in places]
    best = np.flatnonzero(np.array(scores) >= max(scores) - 1e-12)
    return float(places[best[len(best) // 2]])


def scaled(frame: pl.DataFrame, column: str, threshold: float) -> dict[str, Any]:
    """Return scaled accuracy with its interval, coverage, accuracy of what is decided, and AUC."""
    hits = verdicts(frame, column, threshold)
    bases = frame["base"].to_list()
    interval = share_interval(hits, None, bases) or (0.0, 1.0)
    decided = hits != 0.5
    margins = frame[column].to_numpy().astype(float)
    right = (frame["label"] == "right").to_numpy()
    known = ~np.isnan(margins)
    above = np.subtract.outer(margins[known & right], margins[known & ~right])
    auc = float((above > 0).mean() + 0.5 * (above == 0).mean()) if above.size else float("nan")
    return {
        "n": len(hits),
        "scaled": float(2 * hits.mean() - 1) if len(hits) else float("nan"),
        "low": 2 * interval[0] - 1,
        "high": 2 * interval[1] - 1,
        "coverage": float(decided.mean()) if len(hits) else float("nan"),
        "accuracy": float(hits[decided].mean()) if decided.any() else float("nan"),
        "auc": auc,
        "threshold": threshold,
    }


def write_tables(points: Path, to: Path) -> None:
    frame = tables.read_frame(points)
    lines = [*_judging(frame), *_absent(frame), *_likelihood_lines(frame), *_of_set(frame)]
    result = pl.DataFrame(lines, infer_schema_length=None)
    result.write_csv(to / "grounded.csv")
    states = list(_stating(frame))
    pl.DataFrame(states, infer_schema_length=None).write_csv(to / "stating.csv")
    print(_markdown([line for line in lines if line["dataset"] == "all"]), _markdown(states), sep="\n")


def _judging(frame: pl.DataFrame) -> Iterator[dict[str, Any]]:
    """Yield a line for each system, kind of passages and column of margins, threshold from its dev rows."""
    columns = [
        name
        for name in frame.columns
        if name in (*PROGRAMS, "combined", "overlap", "length") or name.startswith(("agreement", "entailment"))
    ]
    for (system,), of_system in frame.group_by("system", maintain_order=True):
        dev, test = (of_system.filter(split=split) for split in ("dev", "test"))
        for kind in ("qa", "prose", "none"):
            tried, judged = dev.filter(kind=kind), test.filter(kind=kind)
            for column in columns:
                if not judged.height or not judged[column].drop_nulls().len():
                    continue
                threshold = (
                    0.0 if column in (*PROGRAMS, "combined") or not tried.height else best_threshold(tried, column)
                )
                for dataset in ("all", *sorted(judged["dataset"].unique())):
                    part = judged if dataset == "all" else judged.filter(dataset=dataset)
                    line = {"system": system, "kind": kind, "judge": column, "dataset": dataset}
                    yield line | scaled(part, column, threshold)
                    if column == "combined":
                        for name, kept in DECISIVE.items():
                            sure = part.with_columns(pl.when(kept).then(pl.col(column)).alias(column))
                            yield line | {"judge": f"combined, {name}"} | scaled(sure, column, 0.0)


def _absent(frame: pl.DataFrame) -> Iterator[dict[str, Any]]:
    """Yield in how many rows whose fact no passage states there is no verdict, as the judge is by default."""
    for (system,), part in frame.filter(split="test", kind="absent").group_by("system", maintain_order=True):
        for half, own in (("all", part), *((f"half {at}", part.filter(_half(part) == at)) for at in (0, 1))):
            for name, kept in DECISIVE.items():
                silent = own.select(1.0 - kept.fill_null(False).cast(pl.Float64)).to_series().to_numpy()
                low, high = share_interval(silent, None, own["base"].to_list()) or (None, None)
                line = {"system": system, "kind": "absent", "judge": f"not known, combined, {name}", "dataset": half}
                yield line | {"n": len(silent), "scaled": float(silent.mean()), "low": low, "high": high}


def _half(frame: pl.DataFrame) -> pl.Series:
    """Return 0 or 1 by a hash of the base sample: the share of words of `relevance` was chosen on half 0."""
    return pl.Series([int(hashlib.sha256(base.encode()).hexdigest()[:8], 16) % 2 for base in frame["base"]])


def _of_set(frame: pl.DataFrame) -> Iterator[dict[str, Any]]:
    """Yield what is known of each language of the qualification set; nothing is fitted on it."""
    for (system,), of_system in frame.filter(split="set").group_by("system", maintain_order=True):
        for language in ("all", *sorted(of_system["dataset"].unique())):
            part = of_system if language == "all" else of_system.filter(dataset=language)
            decided = part.filter(pl.col("label") != "undecidable")
            for column in ("combined", *PROGRAMS, "agreement", "entailment", "entailment_contrast", "overlap"):
                line = {"system": system, "kind": "qualification set", "judge": column, "dataset": language}
                yield line | scaled(decided, column, best_threshold(decided, column) if column == "overlap" else 0.0)
            for name, kept in DECISIVE.items():
                sure = decided.with_columns(pl.when(kept).then(pl.col("combined")).alias("combined"))
                line = {"system": system, "kind": "qualification set", "dataset": language}
                yield line | {"judge": f"combined, {name}"} | scaled(sure, "combined", 0.0)
                unknown = part.filter(label="undecidable").select(kept.fill_null(False)).to_series()
                silent = {"judge": f"undecidable not known, combined, {name}"}
                yield (
                    line
                    | silent
                    | {"n": unknown.len(), "scaled": 1 - float(unknown.cast(pl.Float64).to_numpy().mean())}
                )


def _likelihood_lines(frame: pl.DataFrame) -> Iterator[dict[str, Any]]:
    """Yield verdicts by likelihoods: the reading is that with the most right verdicts on dev rows."""
    for (system,), of_system in frame.filter(kind="none").group_by("system", maintain_order=True):
        dev, test = (of_system.filter(split=split) for split in ("dev", "test"))
        for way in ("shown", "single", "proposal"):
            names = [name for name in frame.columns if name.startswith(f"{way}_") and test[name].drop_nulls().len()]
            if not names or not dev.height:
                continue
            fits = {name: 0.0 if way == "shown" else best_threshold(dev, name) for name in names}
            best = max(names, key=lambda name: verdicts(dev, name, fits[name]).mean())
            judged = test.filter(pl.col(best).is_not_null())
            for dataset in ("all", *sorted(judged["dataset"].unique())):
                part = judged if dataset == "all" else judged.filter(dataset=dataset)
                line = {"system": system, "kind": "none", "judge": best, "dataset": dataset}
                yield line | scaled(part, best, fits[best])
            if way == "shown":
                yield from _choices(system, judged, best.replace("shown_", "choice_"))


def _choices(system: str, judged: pl.DataFrame, column: str) -> Iterator[dict[str, Any]]:
    """Yield how often the right option is the likeliest: of all base samples, and of the quarter with most margin."""
    per_base = judged.unique("base", maintain_order=True)
    margins = per_base[column.replace("choice_", "shown_")].abs()
    quarter = per_base.filter(margins >= margins.quantile(0.75))
    for name, part in (("choice", per_base), ("choice, most certain quarter", quarter)):
        hits = (part[column] > 0).cast(pl.Float64).to_numpy()
        low, high = share_interval(hits, None, part["base"].to_list()) or (None, None)
        yield {
            "system": system,
            "kind": "none",
            "judge": f"{name} ({column.removeprefix('choice_')})",
            "dataset": "all",
            "n": len(hits),
            "scaled": float(hits.mean()),
            "low": low,
            "high": high,
        }


def _stating(frame: pl.DataFrame) -> Iterator[dict[str, Any]]:
    """Yield how often each system states an answer, the right one, and cites the passage with the fact."""
    for (system, kind), part in frame.filter(split="test").group_by("system", "kind", maintain_order=True):
        wrong = part.filter(label="wrong")
        marked, gold = int(wrong["span_marked"].sum()), int(wrong["span_gold"].sum())
        bases = part["base"].to_list()
        line: dict[str, Any] = {"system": system, "kind": kind, "n": part.height}
        for name in ("stated", "states_right"):
            hits = part[name].cast(pl.Float64).to_numpy()
            low, high = share_interval(hits, None, bases) or (None, None)
            line |= {name: float(hits.mean()), f"{name}_low": low, f"{name}_high": high}
        line["cites_fact"] = part["cites_fact"].cast(pl.Float64).mean()
        line["span_f1"] = 2 * int(wrong["span_hit"].sum()) / (marked + gold) if marked + gold else None
        yield line


def _markdown(lines: Sequence[Mapping[str, Any]]) -> str:
    names = list(dict.fromkeys(name for line in lines for name in line))

    def cell(value: Any) -> str:
        return "" if value is None else f"{value:.2f}" if isinstance(value, float) else str(value)

    return table(names, [[cell(line.get(name)) for name in names] for line in lines])


if __name__ == "__main__":
    main()
