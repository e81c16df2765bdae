"""Score the same rows with several metrics, and show where these disagree."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from excam.calmqa import ratings as calmqa_ratings
from excam.calmqa import source as calmqa
from excam.core import provenance, tables
from excam.core.exceptions import InputInvalid
from excam.core.provenance import write_text
from excam.crossing import columns, numbers, pages, rows, rows_page
from excam.crossing.columns import Column
from excam.crossing.rows import Row
from excam.error_reports import record_files
from excam.knowledge.index import open_index
from excam.macaron import scenarios
from excam.pages import plotting
from excam.rubric import changes, checks, responses
from excam.scoring import result_files
from excam.scoring.opening import checked, first_request, scorer_of
from excam.scoring.options import Options
from scripts import step
from scripts.asking import RecordedOptions, recorder_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PAGE = {"target": "crossing", "category": "Crossing"}  # of the steps here


@dataclass(frozen=True, kw_only=True)
class Sources:
    """The files of every set of which there are any."""

    samples_paths: Annotated[Sequence[Path], "test sets of ExCAM40k"] = ()
    translations_paths: Annotated[Sequence[Path], "translations of CulT-Eval"] = ()
    labels_paths: Annotated[Sequence[Path], "their labels"] = ()
    questions_paths: Annotated[Sequence[Path], "questions of CaLMQA"] = ()
    answers_paths: Annotated[Sequence[Path], "answers to them"] = ()
    marks_paths: Annotated[Sequence[Path], "people's ratings of the answers"] = ()
    scenarios_paths: Annotated[Sequence[Path], "scenarios of Macaron"] = ()
    responses_paths: Annotated[Sequence[Path], "responses rated by the manual"] = ()
    ratings_paths: Annotated[Sequence[Path], "people's ratings of them"] = ()
    rubric: Annotated[str, "the manual of the ratings: its version, or a .yaml file"] = ""


@step(
    version=5,
    inputs={
        "samples": "crossing_samples",
        "translations": "crossing_translations",
        "labels": "crossing_labels",
        "questions": "crossing_questions",
        "answers": "crossing_answers",
        "marks": "crossing_marks",
        "scenarios": "crossing_scenarios",
        "responses": "crossing_responses",
        "ratings": "crossing_ratings",
        "manual": "rubric_version",
    },
    settings={"rubric": "crossing_rubric", "contents": "crossing_contents", "seed": "seed"},
    outputs={"rows": "results/crossing/rows.parquet"},
    silent=["manual"],
)
def crossing_rows(
    sources: Sources,
    contents: Annotated[int, "how many contents of each set; 0: all"],
    seed: int,
    rows_path: Path,
) -> None:
    """Put the labelled rows of all systems that are switched on into one table."""
    rows.write(rows_path, rows.drawn(list(read(sources)), contents or None, seed))


def read(sources: Sources) -> Iterator[Row]:
    """Yield the rows of every set whose files are given."""
    for path in sources.samples_paths:
        yield from rows.of_samples(record_files.read_samples(path))
    for labels in sources.labels_paths:
        (translations,) = sources.translations_paths
        yield from rows.of_translations(rows.translated(translations, labels))
    for marks in sources.marks_paths:
        (questions,), (answers,) = sources.questions_paths, sources.answers_paths
        asked, answered = calmqa.questions_of(questions).values(), calmqa.answers_of(answers)
        yield from rows.of_rated_answers(asked, answered, calmqa_ratings.read(marks))
    for path in sources.scenarios_paths:
        yield from rows.of_statements(scenarios.read(path))
    if sources.responses_paths and sources.ratings_paths:
        all_responses = responses.read(sources.responses_paths)
        ratings = checks.sound(sources.ratings_paths, all_responses, [changes.opened(sources.rubric)])
        yield from rows.of_responses(all_responses, ratings.ratings)


@step(version=8)  # before, a signature said nothing of what is left out of requests
def crossing_score(
    asking: RecordedOptions,
    name: Annotated[str, "the key of the metric in crossing.metrics"],
    judge: Annotated[str, "the key of its model in config.yaml, with what it was tuned on, or none"],
    metric: Annotated[str, "as in `excam score`"],
    rows_path: Path,
    scores_path: Path,
    evidence_path: Annotated[Path | None, "folder with an index of documents"] = None,
) -> None:
    """Score with one metric all rows that have its columns; keep every request and answer."""
    judges = () if asking.model == "null" else (judge,)
    options = Options(metric=metric, models=judges, evidence=evidence_path)
    chosen = checked(options)
    labelled = rows.read(rows_path)
    wanted = rows.for_metric(labelled, chosen)
    if not wanted:
        raise InputInvalid(
            f"crossing.metrics.{name}: 0 rows have {', '.join(chosen.columns)}; expected some; the columns of rows are "
            f"{', '.join(rows.columns_of(labelled))}; ask for these, or switch on a system whose rows have the others"
        )
    index = open_index(evidence_path) if evidence_path else None
    first = None if chosen.asks == "nothing" else lambda model: first_request(chosen, options, index, model)[0]
    recorder = recorder_of(asking, judge.split("/")[0], f"crossing, {name}", first)
    opened, sampling = (recorder.asker.opened, recorder.asker.sampling) if recorder.asker else (None, None)
    scorer = scorer_of(chosen, options, opened, index, sampling).for_rows(wanted)
    results = recorder.record(f"scoring with {name}, requests", scorer.flow, wanted, None)
    result_files.write(scores_path, results)
    settings = {"metric": metric, "model": json.loads(asking.model)}
    recorder.write_manifest([rows_path], [scores_path], settings, seed=asking.seed)
    failures = sum(result.score is None for result in results)
    provenance.say(f"{name}: {len(results)} rows in {recorder.seconds:.0f} s; {failures} failures")


@dataclass(frozen=True, kw_only=True)
class _CrossingFiles:
    """What `_CrossingStudy` reads."""

    rows_path: Path
    scores_paths: Annotated[Sequence[Path], "one file for each metric, of its name"]
    parts: Annotated[dict[str, list[str]], json.loads, "the parts of each metric that are shown too"]


@dataclass(frozen=True, kw_only=True)
class _PageFiles:
    """The files of one experiment, and the seed of its draws."""

    seed: int
    numbers_path: Path
    page_path: Path
    pictures_paths: Sequence[Path]

    def write(self, columns: Sequence[str], lines: Sequence[Mapping[str, Any]], page: str, figure: Figure) -> None:
        """Write the numbers, the page and the figure."""
        tables.write_lines(self.numbers_path, columns, lines)
        write_text(self.page_path, page)
        plotting.save(figure, self.pictures_paths)


class _CrossingStudy:
    """The rows, the scores of each metric and the parts shown of it, by its name."""

    def __init__(self, files: _CrossingFiles) -> None:
        self.rows = rows.read(files.rows_path)
        self.scores = {path.stem: list(result_files.read(path)) for path in files.scores_paths}
        self.parts = files.parts

    @cached_property
    def columns(self) -> dict[str, Column]:
        """Return the columns of all metrics."""
        return columns.of_scores(self.scores, self.parts, self.rows)

    @property
    def notes(self) -> list[str]:
        """Return lines that say how the rows were scored."""
        return pages.how_scored(self.scores)


@step(
    version=8,
    outputs={"html": "results/crossing/texts.html"},
    inputs={"rows": "crossing_rows", "scores": "crossing_scores"},
    settings={"parts": "crossing_parts"},
    **PAGE,
)
def crossing_texts(files: _CrossingFiles, html_path: Path) -> None:
    """Write every labelled text with what people and all metrics said of it, on one page to search.

    Every labelled text of the crossing, with what people said of it and what each metric said.
    """
    study = _CrossingStudy(files)
    scored = {name: {result.id: result for result in results} for name, results in study.scores.items()}
    write_text(html_path, rows_page.page(study.rows, scored, study.parts))


@step(
    version=2,
    result="results/crossing/pairs",
    outputs=["numbers"],
    inputs={"rows": "crossing_rows", "scores": "crossing_scores"},
    settings={"parts": "crossing_parts"},
    **PAGE,
)
def crossing_pairs(files: _CrossingFiles, numbers_path: Path) -> None:
    """Write every pair of an erroneous and a correct text that a cell of the blind spots or the language gap counts.

    Every pair that a cell counts: the erroneous text and its correct twin, a metric's score of both, and which of them
    is higher.
    """
    study = _CrossingStudy(files)
    tables.write_lines(numbers_path, numbers.PAIRS, [pair.line() for pair in numbers.pairs(study.rows, study.columns)])


@step(
    version=10,
    result="results/crossing/blind-spots",
    outputs=["numbers", "page", "pictures"],
    inputs={"rows": "crossing_rows", "scores": "crossing_scores"},
    settings={"parts": "crossing_parts", "seed": "seed"},
    **PAGE,
)
def crossing_blind_spots(sources: _CrossingFiles, files: _PageFiles) -> None:
    """Write which kinds of errors each metric misses, and draw it.

    Which kinds of errors each metric misses: the share of pairs in which a correct text scores above an erroneous one.
    """
    study = _CrossingStudy(sources)
    lines = list(numbers.blind_spots(study.rows, study.columns, files.seed))
    files.write(numbers.BLIND_SPOTS, lines, pages.blind_spots(lines, study.notes), pages.figure_blind_spots(lines))


@step(
    version=8,
    result="results/crossing/language-gap",
    outputs=["numbers", "page", "pictures"],
    inputs={"rows": "crossing_rows_in_two_languages", "scores": "crossing_scores"},
    settings={"parts": "crossing_parts", "seed": "seed"},
    **PAGE,
)
def crossing_language_gap(sources: _CrossingFiles, files: _PageFiles) -> None:
    """Write how far each metric's judgement depends on the language of the same error, and draw it.

    Whether a metric is worse in the local language than in English on the same error.
    """
    study = _CrossingStudy(sources)
    lines = list(numbers.language_gap(study.rows, study.columns, files.seed))
    page = pages.language_gap(lines, [*pages.cautions(lines), *study.notes])
    files.write(numbers.GAP, lines, page, pages.figure_language_gap(lines))
