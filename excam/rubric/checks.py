"""Ratings of files, read strictly: every breach of the rules is one line.

People are refused a breach. Ratings of models were corrected before (`asks`), so theirs hold none; their `draft_*` say
what the model gave.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from excam.core import tables
from excam.core.escapes import visible_line
from excam.core.exceptions import InputInvalid
from excam.core.names import shown_names
from excam.core.text import is_text
from excam.rubric import responses as responses_
from excam.rubric import wording
from excam.rubric.manual import CURRENT, DIMENSIONS, FINDINGS, SCALE, SCORES, ScoringRubric
from excam.rubric.ratings import CAP_KEYS, NAMES, PHASES, RATIONALES, ROLES, SCHEMA, Rating, draft_of
from excam.rubric.responses import Response
from excam.rubric.rules import Cap, Findings, settle, wrong_caps
from excam.scoring.results import is_result

WITNESSES = {  # a flag, and the finding without which it says nothing
    "hallucination": "false_claim",
    "stereotype": "stereotype_phrase",
    "off-topic": "off_topic",
    "refusal": "refusal",
}


@dataclass(frozen=True, slots=True)
class FileRatings:
    """Ratings of files: those that count, earlier ones of a rater on the same response, and breaches in words."""

    ratings: tuple[Rating, ...]
    superseded: tuple[Rating, ...]
    breaches: tuple[str, ...]


def read(paths: Sequence[Path], responses: Sequence[Response], rubrics: Sequence[ScoringRubric]) -> FileRatings:
    """Return the ratings of JSON Lines and Parquet files, and every breach. Raise InputInvalid for other files.

    `responses` are those that were rated. Without any, no rule that needs a fact about a task is decided, and any
    `task_id` is accepted. A rating must be by one of `rubrics`, and obey its rules. A later `saved` replaces an earlier
    rating by the rater of the response, in any order of rows and files; any other repetition is a breach.
    """
    versions = {rubric.signature: rubric for rubric in rubrics}
    tasks = {response.task_id: response for response in responses}
    latest: dict[tuple[str, str, str], Rating] = {}
    superseded: list[Rating] = []
    breaches: list[str] = []
    roles: dict[str, str] = {}
    for path in paths:
        parsed = [
            (f"{where}: {str(row.get('rater'))[:60]} on {str(row.get('task_id'))[:60]}", *parse(row, versions))
            for where, row in _rows(path)
        ]
        raters = shown_names((rating.rater for _, rating, _ in parsed if rating), str(path))
        for name, read_rating, problems in parsed:
            rating = read_rating and replace(read_rating, rater=raters[read_rating.rater])
            if rating is not None:
                problems += _misplaced(rating, tasks, roles, latest)
                problems += _broken_rules(
                    rating, tasks.get(rating.task_id) or Response(rating.task_id, "", ""), versions
                )
            breaches += [visible_line(f"{name}: {problem}") for problem in problems]
            if rating is None or problems:
                continue
            key = _key(rating)
            *earlier, latest[key] = sorted([*filter(None, [latest.get(key)]), rating], key=_when)
            superseded += earlier
    return FileRatings(tuple(latest.values()), tuple(superseded), tuple(breaches))


def sound(paths: Sequence[Path], responses: Sequence[Response], rubrics: Sequence[ScoringRubric]) -> FileRatings:
    """Return the ratings of files as `read` does. Raise InputInvalid for a breach, too, and for no ratings."""
    reading = read(paths, responses, rubrics)
    if reading.breaches:
        count = f"{len(reading.breaches)} breaches"
        raise InputInvalid(f"{reading.breaches[0]} ({count}); expected none; see `excam rubric check`")
    if not reading.ratings:
        raise InputInvalid(f"{paths[0]}: 0 ratings; expected some")
    return reading


def _key(rating: Rating) -> tuple[str, str, str]:
    return rating.rater, rating.task_id, rating.phase


def _when(rating: Rating) -> float:
    return rating.saved.timestamp() if rating.saved else -math.inf


def _rows(path: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    if path.suffix != ".parquet":
        for where, row in responses_.rows(path):
            scored = str(row.get("signature")).startswith("rubric|") and is_result(row)
            yield where, of_scored(row) if scored else row
        return
    if not path.is_file():
        raise InputInvalid(f"{path}: no such file; expected ratings")
    frame = tables.read_frame(path)
    if frame.columns != list(SCHEMA):
        raise InputInvalid(f"{path}: found columns {', '.join(frame.columns)[:200]}; expected those of ratings")
    for number, row in enumerate(frame.iter_rows(named=True), 1):
        yield f"{path}:{number}", {name: value for name, value in row.items() if value is not None}


def of_scored(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a line that `excam score --metric rubric` wrote as a rating; the rater is the model of its signature."""
    about = {"rater": row["signature"].split("|")[1].removeprefix("model:"), "role": "model", "rubric": CURRENT}
    if row.get("failure") is not None:
        texts = row.get("texts")
        task = texts.get("task_id", row.get("id")) if isinstance(texts, dict) else row.get("id")
        return {"task_id": task, "failure": row["failure"], **about}
    score, parts = row.get("score"), row.get("parts")
    return {
        **about,
        **(parts if isinstance(parts, dict) else {}),
        "overall": int(score) if isinstance(score, float) and score.is_integer() else score,
    }


def _misplaced(
    rating: Rating, tasks: Mapping[str, Response], roles: dict[str, str], latest: Mapping[tuple[str, str, str], Rating]
) -> Iterator[str]:
    """Yield what is wrong between ratings, and note the role of this one."""
    if tasks and rating.task_id not in tasks:
        yield f"task_id: no such response; expected one of {len(tasks)}, such as {next(iter(tasks))}"
    if (role := roles.setdefault(rating.rater, rating.role)) != rating.role:
        yield f"role: found {rating.role}; expected {role}, as before"
    if (before := latest.get(_key(rating))) and _when(before) == _when(rating):
        yield "is there twice; expected each rating once, or one that was `saved` later; leave one out"


def _broken_rules(rating: Rating, task: Response, versions: Mapping[str, ScoringRubric]) -> Iterable[str]:
    """Return what the rules would change in a rating, and what they cannot have changed."""
    if rating.scores is None:
        return ()
    rubric = versions[rating.rubric]
    wrong = wrong_caps(rating.caps, rating.scores, rating.role, rubric)
    return (*wrong, *settle(draft_of(rating), rating.findings, task, rubric).breaches)


def parse(row: Mapping[str, Any], versions: Mapping[str, ScoringRubric]) -> tuple[Rating | None, list[str]]:
    """Return the rating of a row and what is wrong with its fields; no rating if there is anything.

    `versions` are the rubrics that it may name, by signature.
    """
    problems: list[str] = []
    if unknown := sorted(map(str, row.keys() - SCHEMA.keys())):
        problems.append(f"found {', '.join(unknown)[:100]}; expected fields of {', '.join(SCHEMA)}")
    texts = {name: _text(row, name, problems) for name in (*NAMES, "phase", *RATIONALES, "edge_case", "notes")}
    phase, failure = texts["phase"] or PHASES[0], row.get("failure")
    model = texts["role"] == "model"
    problems += [*_missing(row, NAMES, "text"), *_unknown_names(texts["role"], phase, texts["rubric"], versions)]
    rubric = versions.get(texts["rubric"], next(iter(versions.values())))
    scores = None
    if failure is not None:
        problems += _of_failure(failure, row, model)
    else:
        scores = {name: _score(row, name, problems) for name in SCORES}
        if not model:
            problems += _missing(row, (f"rationale_{name}" for name in DIMENSIONS), "1 or 2 sentences")
    drafted = {name: _score(row, f"draft_{name}", problems) for name in SCORES if row.get(f"draft_{name}") is not None}
    confidence = _score(row, "confidence", problems) if not model or row.get("confidence") is not None else None
    findings = _findings(row.get("findings"), problems)
    flags = _flags(row.get("flags"), findings, rubric, problems)
    if failure is None and not model:
        problems += wording.breaches(texts, findings, rubric)
    caps = _caps(row.get("caps"), problems)
    chances = {name: likelihoods for name in DIMENSIONS if (likelihoods := _chances(row, f"chances_{name}", problems))}
    saved, seconds = _times(row, model, problems)
    if texts["edge_case"] and texts["edge_case"] not in rubric.manual.rules:
        problems.append(f"edge_case: found {texts['edge_case']:.40}; expected one of {', '.join(rubric.manual.rules)}")
    if problems:
        return None, problems
    return Rating(
        **{name: texts[name] for name in NAMES},
        phase=phase,
        scores=scores,
        rationales={name: texts[f"rationale_{name}"] for name in SCORES},
        confidence=confidence,
        flags=flags,
        findings=findings,
        caps=caps,
        edge_case=texts["edge_case"],
        seconds=seconds,
        notes=texts["notes"],
        saved=saved,
        failure=failure,
        draft=drafted or None,
        chances=chances,
    ), []


def _is_absent(row: Mapping[str, Any], name: str) -> bool:
    value = row.get(name)
    return value is None or (isinstance(value, str) and not value.strip())


def _missing(row: Mapping[str, Any], names: Iterable[str], expected: str) -> Iterator[str]:
    return (f"{name}: missing; expected {expected}" for name in names if _is_absent(row, name))


def _unknown_names(role: str, phase: str, rubric: str, versions: Collection[str]) -> Iterator[str]:
    """Yield which of them is not one of those that there are."""
    if role and role not in ROLES:
        yield f"role: found {role:.40}; expected {', '.join(ROLES)}"
    if phase not in PHASES:
        yield f"phase: found {phase:.40}; expected {' or '.join(PHASES)}"
    if rubric and rubric not in versions:
        yield f"rubric: found {rubric:.60}; expected {' or '.join(versions)}; see --rubric"


def _of_failure(failure: Any, row: Mapping[str, Any], model: bool) -> Iterator[str]:
    """Yield what is wrong with a stated failure."""
    if not (model and isinstance(failure, str) and failure):
        yield f"failure: found {failure!r:.40}; expected null for a person, null or a reason for a model"
    elif not all(_is_absent(row, name) for name in SCORES):
        yield f"failure: found {failure!r:.40} beside scores; expected one of both"


def _text(row: Mapping[str, Any], name: str, problems: list[str]) -> str:
    value = row.get(name)
    if value is not None and not is_text(value):
        problems.append(f"{name}: found {ascii(value)[:40]}; expected text")
    return value if is_text(value) else ""


def _score(row: Mapping[str, Any], name: str, problems: list[str]) -> int:
    """Return a score; 0 and a problem for anything but a whole number of the scale."""
    value = row.get(name)
    if type(value) is int and value in SCALE:
        return value
    problems.append(f"{name}: found {_shown(value)}; expected a whole number from 1 to 5")
    return 0


def _shown(value: Any) -> str:
    return "nothing" if value is None else repr(value)[:40]


def _chances(row: Mapping[str, Any], name: str, problems: list[str]) -> tuple[float, ...]:
    """Return the likelihood of each score, () for none; a problem for anything else."""
    value = row.get(name) or []
    listed: list[Any] = value if isinstance(value, list) else [value]
    numbers = [float(number) for number in listed if isinstance(number, int | float) and 0 <= number < 1 + 1e-6]
    if numbers == listed and len(numbers) in (0, len(SCALE)):
        return tuple(numbers)
    problems.append(f"{name}: found {value!r:.40}; expected null, or {len(SCALE)} numbers from 0 to 1")
    return ()


def _findings(raw_findings: Any, problems: list[str]) -> Findings:
    if raw_findings is None:
        return Findings()
    if not isinstance(raw_findings, dict):
        problems.append(f"findings: found {raw_findings!r:.40}; expected an object with {', '.join(FINDINGS)}")
        return Findings()
    if unknown := sorted(map(str, raw_findings.keys() - FINDINGS.keys())):
        problems.append(f"findings: found {', '.join(unknown)[:100]}; expected {', '.join(FINDINGS)}")
    values: dict[str, Any] = {}
    for name, value in raw_findings.items():
        if name not in FINDINGS or value is None:
            continue
        allowed = FINDINGS[name]
        if (is_text(value) and allowed == ("",)) or any(
            type(value) is type(option) and value == option for option in allowed
        ):
            values[name] = value.strip() if isinstance(value, str) else value
        else:
            expected = "text" if allowed == ("",) else ", ".join(str(option).lower() for option in allowed)
            problems.append(f"findings.{name}: found {value!r:.40}; expected {expected}")
    return Findings(**values)


def _flags(raw_flags: Any, findings: Findings, rubric: ScoringRubric, problems: list[str]) -> tuple[str, ...]:
    """Return the flags under their own names. Some flags need a finding, and a made-up claim needs its flag."""
    if raw_flags is not None and not (isinstance(raw_flags, list) and all(isinstance(flag, str) for flag in raw_flags)):
        problems.append(f"flags: found {raw_flags!r:.40}; expected a list of {', '.join(rubric.manual.flags)}")
        return ()
    names: list[str] = raw_flags or []
    flags = tuple(dict.fromkeys(rubric.manual.aliases.get(flag, flag) for flag in names))
    for flag in flags:
        if flag not in rubric.manual.flags:
            problems.append(f"flags: found {flag:.40}; expected some of {', '.join(rubric.manual.flags)}")
    problems += missing_witnesses(flags, findings)
    if findings.false_claim and "hallucination" not in flags:
        problems.append("findings.false_claim: found without its flag; expected `hallucination` among the flags")
    return flags


def missing_witnesses(flags: Sequence[str], findings: Findings) -> Iterator[str]:
    """Yield a line for each flag whose finding is not there."""
    for flag, witness in WITNESSES.items():
        if flag in flags and getattr(findings, witness) == FINDINGS[witness][0]:
            yield f"flags: found {flag} without findings.{witness}; expected what was found"


def _caps(raw_caps: Any, problems: list[str]) -> tuple[Cap, ...]:
    caps = []
    for cap in raw_caps if isinstance(raw_caps, list) else [] if raw_caps is None else [raw_caps]:
        if (
            not (isinstance(cap, dict) and cap.keys() == set(CAP_KEYS) and isinstance(cap["rule"], str))
            or cap["dimension"] not in SCORES
            or not all(type(cap[key]) is int and cap[key] in SCALE for key in ("from", "to"))
        ):
            problems.append(f"caps: found {cap!r:.60}; expected objects with {', '.join(CAP_KEYS)}")
            return ()
        caps.append(Cap(*(cap[key] for key in CAP_KEYS)))
    return tuple(caps)


def _times(row: Mapping[str, Any], model: bool, problems: list[str]) -> tuple[datetime | None, float | None]:
    seconds, saved = row.get("seconds"), row.get("saved")
    if (seconds is None and not model) or (
        seconds is not None
        and (isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 0 <= seconds < math.inf)
    ):
        problems.append(f"seconds: found {_shown(seconds)}; expected a number, 0 or more")
    when = None
    if saved is not None or not model:
        with suppress(TypeError, ValueError):
            when = datetime.fromisoformat(saved)  # pyright: ignore[reportArgumentType]
        if when is None or when.tzinfo is None:
            problems.append(
                f"saved: found {_shown(saved)}; expected a time with its zone, such as 2026-11-24T09:00:00+00:00"
            )
            when = None
    return when, seconds
