"""Put the labelled rows of all systems that are switched on into one table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from excam.calmqa import source as calmqa
from excam.crossing import rows
from excam.crossing.rows import Row
from excam.error_reports import record_files
from excam.macaron import scenarios
from excam.rubric import changes, checks, responses
from scripts import run, step

VERSION = 3


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


@step
def main(
    sources: Sources,
    contents: Annotated[int, "how many contents of each set; 0: all"],
    seed: int,
    rows_path: Path,
) -> None:
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
        yield from rows.of_rated_answers(calmqa.questions_of(questions).values(), calmqa.answers_of(answers), marks)
    for path in sources.scenarios_paths:
        yield from rows.of_statements(scenarios.read(path))
    if sources.responses_paths and sources.ratings_paths:
        known = responses.read(sources.responses_paths)
        ratings = checks.read(sources.ratings_paths, known, [changes.opened(sources.rubric)])
        yield from rows.of_responses(known, ratings.ratings)


if __name__ == "__main__":
    run(main)
