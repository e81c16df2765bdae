"""Labelled rows of all systems in one table, with the columns that their metrics ask for.

A metric can score a row that has all of its columns. Rows of one `cluster` share their content, so that an erroneous
text is compared with its correct twins.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import Any

import polars as pl

from excam.acre import translations
from excam.acre.translations import Translated
from excam.calmqa import source as calmqa
from excam.calmqa.ratings import Grading as Marks
from excam.core import tables
from excam.core.exceptions import InputInvalid
from excam.core.hash_order import digest
from excam.core.provenance import say
from excam.crossing import kinds
from excam.error_reports.records import Sample
from excam.macaron.scenarios import Scenario
from excam.rubric.ratings import Rating
from excam.rubric.responses import Response
from excam.scoring import rows as metric_rows
from excam.scoring.joining import distinct, repeated_note
from excam.scoring.metric import Metric
from excam.scoring.metric import Row as MetricRow

TEXTS = (
    *("instruction", "output"),  # ExCAM
    *("prompt", "response", "culture", "scenario", "complexity"),  # rubric
    *("question", "answer", "type", "language"),  # CaLMQA
    *("source", "term", "translation", "category", "reference", "explication", "equivalent"),  # ACRE
    "target_language",
)
LISTS = ("accepted", "literal")  # also ACRE
COLUMNS = (*TEXTS, *LISTS, "unsafe")
SCHEMA: dict[str, Any] = {
    **dict.fromkeys(("id", "set", "cluster", "local"), pl.String()),
    "right": pl.Boolean(),
    "kinds": pl.List(pl.String()),
    "rating": pl.Float64(),
    "said": pl.List(pl.String()),
    **dict.fromkeys(TEXTS, pl.String()),
    **dict.fromkeys(LISTS, pl.List(pl.String())),
    "unsafe": pl.Boolean(),
}
OWN = tuple(name for name in SCHEMA if name not in COLUMNS)
TRANSLATE = "Translate into English: "


@dataclass(frozen=True, slots=True)
class Row:
    """A labelled text. It is right, or has at least one of `kinds.KINDS`; `columns` are of `TEXTS`, `LISTS`, unsafe.

    `said` is what the label rests on, in lines for people; `rating` the mean of people's ratings from 1 to 5.
    """

    id: str  # <set>:<id in the set>
    set: str
    cluster: str
    right: bool
    kinds: tuple[str, ...]
    columns: Mapping[str, Any] = field(default_factory=dict[str, Any])
    said: tuple[str, ...] = ()
    rating: float | None = None
    local: str = ""  # language of a row in a local language; "" in English and where rows are in one language only

    @property
    def content(self) -> str:
        """Return what the row is about: for a statement in two languages the scenario, else its cluster."""
        return self.cluster.rpartition("/")[0] if self.set == "macaron" else self.cluster

    def has(self, names: Iterable[str]) -> bool:
        """Return whether there is a value in each of these columns."""
        return all(self.columns.get(name) is not None for name in names)


def _row(set_: str, name: str, cluster: str, wrong: Collection[str], texts: tuple[str, str], **more: Any) -> Row:
    """Return a row, its kinds of errors in the order of `kinds.KINDS`; `texts` are the instruction and the output."""
    instruction, output = texts
    local, words, rating = more.pop("local", ""), tuple(more.pop("said", ())), more.pop("rating", None)
    columns = {"instruction": instruction, "output": output, **more}
    if output.strip():  # raters by the manual cannot rate a response that is empty
        columns |= {"prompt": instruction, "response": output}
    ordered = tuple(kind for kind in kinds.KINDS if kind in wrong)
    return Row(f"{set_}:{name}", set_, f"{set_}:{cluster}", not wrong, ordered, columns, words, rating, local)


def of_samples(samples: Iterable[Sample]) -> Iterator[Row]:
    """Yield the rows of ExCAM40k; a right and a wrong text of one instruction are twins."""
    for sample in samples:
        wrong = {kinds.of_report(error.type) for error in sample.report.errors}
        texts = sample.instruction, sample.output
        words = [f"{error.type}, {error.severity}: {error.span}" for error in sample.report.errors]
        words += [sample.report.explanation] if sample.report.explanation else []
        yield _row(
            "excam40k",
            sample.id,
            sample.pair,
            wrong,
            texts,
            said=words,
            culture=sample.culture,
            language=sample.language,
        )


def of_translations(rows: Iterable[Translated]) -> Iterator[Row]:
    """Yield the labelled translations; those of one item are twins."""
    for row in rows:
        if row.label is None:
            continue
        item = row.item
        copied = ("source", "term", "category", "reference", "explication", "equivalent", "target_language", *LISTS)
        values = {name: getattr(item, name) for name in copied}
        values |= {name: list(values[name]) for name in LISTS}
        wrong = {kinds.OF_TRANSLATIONS[error] for error in row.label.errors}
        texts = TRANSLATE + item.source, row.translation
        words = [*row.label.errors, f"labelled by {row.label.annotator}"]
        yield _row("cult-eval", row.id, item.id, wrong, texts, said=words, translation=row.translation, **values)


MARKS = {  # of a rated answer: the mark without an error, and the kind of error that any other one is
    "factuality": ("none", "factual"),
    "omissions": ("none", "omission"),
    "language_correct": ("yes", "wrong language"),
}


def of_rated_answers(
    questions: Iterable[calmqa.Question], answers: Iterable[calmqa.Reply], ratings: Iterable[Marks]
) -> Iterator[Row]:
    """Yield the answers that people rated; those to one question are twins.

    An answer with an error of fact, omission or language by any rater is wrong. Its text is the rating's own, as in the
    authors' file, or else that of `answers`; one without either is left out, which is said.
    """
    question_ids = {(question.language, question.question.strip()): question.id for question in questions}
    texts = {(answer.subject, answer.question): answer.text for answer in answers}
    rated: dict[tuple[str, str], list[Marks]] = defaultdict(list)
    for marks in ratings:
        language = calmqa.code(marks.language, f"ratings of {marks.model[:40]}")
        content = question_ids.get((language, marks.question))
        content = content or digest(0, "crossing/question", language + marks.question)[:12]
        rated[marks.model, content].append(replace(marks, language=language))
    absent = 0
    for (model, content), of_raters in rated.items():
        first = of_raters[0]
        text = first.answer or texts.get((model, content))
        if text is None:
            absent += 1
            continue
        facts = {"question": first.question, "answer": text, "language": first.language, "type": first.type}
        facts |= {"said": list(map(_marked, of_raters)), "rating": fmean(marks.rating for marks in of_raters)}
        wrong = {
            kind
            for name, (none, kind) in MARKS.items()
            if any(getattr(marks, name) not in (none, "") for marks in of_raters)
        }
        yield _row("calmqa", f"{model}/{content}", content, wrong, (first.question, text), **facts)
    if absent:
        say(f"{absent} of {len(rated)} rated answers have no text, neither in the ratings nor among the answers")


def _marked(marks: Marks) -> str:
    """Return what a rater said of an answer, in one line."""
    named = [f"{name.replace('_', ' ')}: {value}" for name in (*MARKS, "rating") if (value := getattr(marks, name))]
    return ", ".join([*named, f"by {marks.annotator}"] if marks.annotator else named)


def of_statements(scenarios: Iterable[Scenario]) -> Iterator[Row]:
    """Yield the true and the false statement of each scenario, in English and the local language, as answers.

    The two in one language are twins. A scenario without statements has no rows.
    """
    for scenario in scenarios:
        facts = {"culture": scenario.country}
        languages = (
            ("en", scenario.question_en, scenario.true_en, scenario.false_en, ""),
            ("local", scenario.question_local, scenario.true_local, scenario.false_local, scenario.language),
        )
        for name, question, true, false, local in languages:
            if true is None or false is None:
                continue
            facts["language"] = local or "English"
            cluster = f"{scenario.id}/{name}"
            yield _row("macaron", f"{cluster}/true", cluster, (), (question, true), local=local, **facts)
            yield _row("macaron", f"{cluster}/false", cluster, ("factual",), (question, false), local=local, **facts)


FLAGS = {  # of raters
    "stereotype": "stereotype",
    "overgeneralization": "stereotype",
    "hallucination": "factual",
    "off-topic": kinds.OTHER,
}


def of_responses(responses: Iterable[Response], ratings: Iterable[Rating]) -> Iterator[Row]:
    """Yield the responses that people rated; those about one culture are twins, for want of closer ones.

    Right is a response without a flag, whose mean Overall is 4 or more; what has neither is left out.
    """
    people: dict[str, list[Rating]] = defaultdict(list)
    undecided = 0
    for rating in ratings:
        if rating.role != "model" and rating.scores:
            people[rating.task_id].append(rating)
    for response in responses:
        response_ratings = people[response.task_id]
        wrong = {FLAGS[flag] for rating in response_ratings for flag in rating.flags if flag in FLAGS}
        overall = [rating.scores["overall"] for rating in response_ratings if rating.scores]
        flagged = any(rating.flags for rating in response_ratings)
        if not response_ratings or (not wrong and (flagged or fmean(overall) < 4)):
            undecided += 1
            continue
        facts = {name: getattr(response, name) for name in ("culture", "language", "scenario", "complexity", "unsafe")}
        facts |= {"said": list(map(_rating, response_ratings)), "rating": fmean(overall)}
        yield _row(
            "rubric",
            response.task_id,
            response.culture or response.task_id,
            wrong,
            (response.prompt, response.response),
            **facts,
        )
    if undecided:
        say(f"rubric: left out, neither right nor wrong by people, or not rated by them: {undecided} responses")


def _rating(rating: Rating) -> str:
    """Return a rating in one line: the scores, and what the rater copied from the response."""
    scores = ", ".join(f"{name} {score}" for name, score in (rating.scores or {}).items())
    words = "; ".join(filter(None, (*rating.flags, rating.findings.stereotype_phrase, rating.findings.false_claim)))
    return f"{rating.rater}: {scores}" + (f"; {words}" if words else "")


def _values(row: Row) -> tuple[Any, ...]:
    """Return what numbers are made of."""
    return (row.set, row.right, row.kinds, row.rating, row.local, str(sorted(row.columns.items())))


def drawn(rows: Sequence[Row], contents: int | None, seed: int) -> list[Row]:
    """Return the rows of so many contents of each set, drawn by hash; None: all rows.

    Rows that repeat another of their cluster, and contents whose rows all repeat those of another, are left out first,
    which is said.
    """
    unique = [rows[at] for at in distinct([row.id for row in rows], [(row.cluster, *_values(row)) for row in rows])]
    by_content: dict[str, list[str]] = defaultdict(list)
    for row in unique:
        by_content[row.content].append(repr(_values(row)))
    names = list(by_content)
    first = {names[at] for at in distinct(names, [tuple(sorted(by_content[name])) for name in names])}
    unique = [row for row in unique if row.content in first]
    if note := repeated_note(len(rows) - len(unique)):
        say(f"crossing:{note}")
    rows = unique
    if contents is None:
        return unique
    by_set: dict[str, set[str]] = defaultdict(set)
    for row in rows:
        by_set[row.set].add(row.content)
    by_hash = partial(digest, seed, "crossing")
    chosen = {content for set_contents in by_set.values() for content in sorted(set_contents, key=by_hash)[:contents]}
    return [row for row in rows if row.content in chosen]


def write(path: Path, rows: Iterable[Row]) -> None:
    """Write rows as a table of `SCHEMA`. Raise InputInvalid for no rows, or an id that occurs twice."""
    lines = [
        {name: getattr(row, name) for name in OWN} | {name: row.columns.get(name) for name in COLUMNS} for row in rows
    ]
    if not lines:
        raise InputInvalid(f"{path}: 0 rows; expected labelled rows of at least one system; switch one on")
    frame = pl.DataFrame(lines, schema=SCHEMA, orient="row")
    if len(twice := frame.filter(frame["id"].is_duplicated())):
        raise InputInvalid(f"{path}: {twice['id'][0]} occurs twice; expected unique ids")
    tables.write_frame(path, frame)


def read(path: Path) -> list[Row]:
    """Return the rows of a table that `write` wrote."""
    rows = []
    for values in tables.read_frame(path).iter_rows(named=True):
        columns = {name: values[name] for name in COLUMNS if values[name] is not None}
        fields_of_row: dict[str, Any] = {name: values[name] for name in OWN}
        fields_of_row |= {name: tuple(values[name]) for name in ("kinds", "said")}
        rows.append(Row(**fields_of_row, columns=columns))
    return rows


def columns_of(rows: Iterable[Row]) -> list[str]:
    """Return the columns in which at least one row has a value, in the order of `COLUMNS`."""
    present = {name for row in rows for name, value in row.columns.items() if value is not None}
    return [name for name in COLUMNS if name in present]


def for_metric(rows: Iterable[Row], metric: Metric) -> list[MetricRow]:
    """Return the rows that have all columns of a metric, as it takes them, with their labels."""
    return [
        metric_rows.row({"id": row.id, **row.columns}, metric_rows.FileColumns({}), metric)
        for row in rows
        if row.has(metric.columns)
    ]


def translated(rows: Path, labels: Path) -> list[Translated]:
    """Return the labelled translations of a table and a file of labels."""
    return translations.with_labels(translations.from_frame(rows), labels)
