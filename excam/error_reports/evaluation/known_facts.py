"""Verdicts beside what the judge's base model knows: are texts judged right whose facts it was told, how often?

Three readings of one system, and judges that know nothing beside them: its own verdict; the answer that its report
states ("Expected: tea.") compared with the text by a program; and the likelihood under its base, which calls a text
wrong unless the answer in it is the likeliest one. A *point* is one fact with the texts of it that were judged right in
each reading; the numbers of a page are made of points alone, and count facts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from excam.core.exceptions import InputInvalid
from excam.error_reports.evaluation.verdicts import predicted_errors
from excam.error_reports.record_files import report_from_json
from excam.error_reports.records import Sample
from excam.stats import bootstrap

READINGS = ("verdict", "comparison", "likelihood")
NO_MODEL = "none"  # the name of the system to which blind judges belong
NAMES = ("world", "system", "base", "report", "labels", "seed", "judged")  # of a system, as on a page
POINT = (*NAMES, "base_sample", "times", "margin", "n", "failures", "called_error", "recalled", "of_recalled")
NUMBERS = (
    *(*NAMES, "reading", "times", "facts", "n", "failures", "called_error", "known", "recalled"),
    *("scaled_accuracy", "low", "high"),
)
ALL = "all"  # worlds, or numbers of times
EXPECTED = re.compile(r"\s*Expected: (.+?)[.!?。।](?:\s|$)", re.DOTALL)
NO_WORD = re.compile(r"[\W_]+")

Line = Mapping[str, Any]  # of POINT, with a column for each reading
Verdict = Callable[[str, str], bool]  # id of a fact and the answer shown -> whether the answer is called wrong


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of the facts behind texts, by base sample: how often each was told, and what the base prefers."""

    times: Mapping[str, int]
    answers: Mapping[str, str]
    margins: Mapping[str, float | None]  # nats
    choices: Mapping[str, str | None]  # the likeliest answer of the base


def stated_answer(explanation: str) -> str | None:
    """Return the answer that an explanation-first report states, None if it states none."""
    match = EXPECTED.match(explanation)
    return match[1].strip() if match else None


def agrees(stated: str | None, text: str) -> bool | None:
    """Return whether a text holds the stated answer, letter case and punctuation aside; None if nothing is stated."""
    words = _words(stated or "")
    return f" {words} " in f" {_words(text)} " if words else None


def _words(text: str) -> str:
    return NO_WORD.sub(" ", text.casefold()).strip()


def shown_answer(sample: Sample) -> str:
    """Return the answer in a text: the right one, or the words of its one hard error."""
    return sample.report.errors[0].span if sample.report.errors else sample.answer


def with_readings(
    judged: Iterable[pl.DataFrame], samples: Mapping[str, Sample], facts: Facts, blind: Mapping[str, Verdict]
) -> pl.DataFrame:
    """Return the judgements of one system with `times`, `margin`, `recalled`, and a column for each reading and judge.

    `judged` are frames of JUDGEMENT_SCHEMA, `samples` their rows by id. Columns of readings and blind judges hold
    whether that verdict is right; what cannot be read, compared or measured counts as wrong. `recalled` is whether the
    report states the right answer, null for right texts (there it could be copied) and without a report. Raises
    InputInvalid for a row that is not in `samples`.
    """
    frame = pl.concat(judged)
    if missing := sorted(set(frame["id"]) - samples.keys()):
        raise InputInvalid(f"{missing[0]}: judged, but not among the samples; expected the test sets it is of")
    lines = [
        _line(samples[row], report, facts, blind) | {"verdict": predicted == gold}
        for (row, report, gold), predicted in zip(
            frame.select("id", "report", "gold_error").iter_rows(), predicted_errors(frame), strict=True
        )
    ]
    columns = {"times": pl.Int64, "margin": pl.Float64, "recalled": pl.Boolean}
    columns |= dict.fromkeys((*READINGS, *blind), pl.Boolean)
    return frame.hstack(pl.DataFrame(lines, schema=columns, orient="row"))


def _line(sample: Sample, report: str | None, facts: Facts, blind: Mapping[str, Verdict]) -> dict[str, Any]:
    wrong, shown = bool(sample.report.errors), shown_answer(sample)
    explanation = "" if report is None else report_from_json(report).explanation
    held = agrees(stated_answer(explanation), sample.output)
    choice = facts.choices.get(sample.base)
    named = facts.answers[sample.base].casefold() in explanation.casefold()
    return {
        "times": facts.times[sample.base],
        "margin": facts.margins.get(sample.base),
        "recalled": named if wrong and report is not None else None,
        "comparison": held is not None and held != wrong,
        "likelihood": choice is not None and (choice != shown) == wrong,
        **{name: verdict(sample.base, shown) == wrong for name, verdict in blind.items()},
    }


def points(frame: pl.DataFrame, names: Mapping[str, Any], readings: Collection[str]) -> list[dict[str, Any]]:
    """Return a line of POINT for each fact of what `with_readings` returned; a reading's column is texts it has right.

    `names` are the values of NAMES; a reading is None where it does not apply (no report states an answer).
    """
    frame = frame.with_columns(found=pl.Series(predicted_errors(frame), dtype=pl.Boolean))
    states = names.get("report") == "explanation-first"
    grouped = frame.group_by("base", "times", "margin").agg(
        pl.len().alias("n"),
        pl.col("failure").is_not_null().sum().alias("failures"),
        pl.col("found").sum().alias("called_error"),
        pl.col("recalled").sum(),
        pl.col("recalled").is_not_null().sum().alias("of_recalled"),
        *(pl.col(name).sum() for name in readings),
    )
    lines = []
    for line in grouped.sort("base").iter_rows(named=True):
        rounded = {
            "margin": None if line["margin"] is None else round(line["margin"], 3),
            "comparison": line["comparison"] if states else None,
        }
        lines.append({**names, "base_sample": line.pop("base"), **line, **rounded})
    return lines


def numbers(lines: Sequence[Mapping[str, Any]], readings: Sequence[str], seed: int = 0) -> list[dict[str, Any]]:
    """Return the lines of NUMBERS that points give: each system, reading and number of times, by world and in all.

    Scaled accuracy is the mean over facts of 2 * share - 1 of their texts; its 95 % interval is over facts. The
    likelihood is the same for every adapter and is given once for each base, under its name; blind judges are the same
    for every base, and are given once, as the system NO_MODEL.
    """
    number_lines = []
    blind = [name for name in readings if name not in READINGS]
    nothing = {"report": "", "labels": "", "seed": ""}
    worlds = list(dict.fromkeys(str(line["world"]) for line in lines))
    for world in [*worlds, *([ALL] if len(worlds) > 1 else [])]:
        of_world = [line for line in lines if world in (ALL, str(line["world"]))]
        for rows in _parted(of_world, [name for name in NAMES if name not in ("world", "seed")]):
            number_lines += _numbers(rows, ["verdict", "comparison"], {"world": world}, seed)
        for rows in _parted(of_world, ("base", "judged")):
            names = {"world": world, "system": rows[0]["base"], **nothing}
            number_lines += _numbers(_each_fact_once(rows), ["likelihood"], names, seed)
        for rows in _parted(of_world, ("judged",)):
            names = {"world": world, "system": NO_MODEL, "base": "", **nothing}
            number_lines += _numbers(_each_fact_once(rows), blind, names, seed)
    return number_lines


def _parted(lines: Iterable[Line], columns: Sequence[str]) -> Iterable[list[Line]]:
    """Return the lines in parts that agree in some columns, in the order of their first lines."""
    parts: dict[tuple[str, ...], list[Line]] = {}
    for line in lines:
        parts.setdefault(tuple(str(line[name]) for name in columns), []).append(line)
    return parts.values()


def _each_fact_once(lines: Iterable[Line]) -> list[Line]:
    facts: dict[tuple[str, str], Line] = {}
    for line in lines:
        facts.setdefault((str(line["world"]), str(line["base_sample"])), line)
    return list(facts.values())


def _numbers(
    rows: Sequence[Line], readings: Iterable[str], names: Mapping[str, Any], seed: int
) -> list[dict[str, Any]]:
    """Return a line for each reading and number of times of one system; none for a reading that does not apply."""
    number_lines = []
    for reading in readings:
        told = [row for row in rows if row[reading] not in (None, "")]
        for times in sorted({int(row["times"]) for row in told}):
            part = [row for row in told if int(row["times"]) == times]
            common = {name: _common(part, name) for name in NAMES} | dict(names)
            common |= {"reading": reading, "times": times}
            number_lines.append(common | _number(part, reading, seed))
    return number_lines


def _common(lines: Iterable[Line], column: str) -> str:
    """Return the value that all lines have in a column, or the values that they have, each once."""
    return " ".join(dict.fromkeys(str(line[column]) for line in lines))


def _number(part: Sequence[Line], reading: str, seed: int) -> dict[str, Any]:
    values = [2 * int(row[reading]) / int(row["n"]) - 1 for row in part]
    mean = sum(values) / len(values)
    hits, sizes = ([int(row[name]) for row in part] for name in (reading, "n"))
    low, high = (2 * share - 1 for share in bootstrap.share_interval(hits, sizes, seed=seed) or (0.0, 1.0))
    margins = [float(row["margin"]) for row in part if row["margin"] not in (None, "")]
    total = {name: sum(int(row[name]) for row in part) for name in ("n", "failures", "called_error")}
    recalled, of_recalled = (sum(int(row[name]) for row in part) for name in ("recalled", "of_recalled"))
    is_of_reports = reading in ("verdict", "comparison")
    return {
        "facts": len(part),
        **(total if reading == "verdict" else {"n": total["n"]}),
        "known": round(sum(margin > 0 for margin in margins) / len(margins), 4)
        if margins and reading in READINGS
        else None,
        "recalled": round(recalled / of_recalled, 4) if of_recalled and is_of_reports else None,
        "scaled_accuracy": round(mean, 4),
        "low": round(low, 4),
        "high": round(high, 4),
    }
