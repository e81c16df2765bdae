"""Put the labelled rows of all systems that are switched on into one table."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path

from excam.calmqa import source as calmqa
from excam.crossing import rows
from excam.crossing.rows import Row
from excam.error_reports import record_files
from excam.macaron import scenarios
from excam.rubric import changes, checks, responses
from scripts import run

VERSION = 3


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    for name, what in (
        ("samples", "test sets of ExCAM40k"),
        ("translations", "translations of CulT-Eval"),
        ("labels", "their labels"),
        ("questions", "questions of CaLMQA"),
        ("answers", "answers to them"),
        ("marks", "people's ratings of the answers"),
        ("scenarios", "scenarios of Macaron"),
        ("responses", "responses rated by the manual"),
        ("ratings", "people's ratings of them"),
    ):
        parser.add_argument(f"--{name}", type=Path, nargs="*", default=[], help=what)
    parser.add_argument("--rubric", default="", help="the manual of the ratings: its version, or a .yaml file")
    parser.add_argument("--contents", type=int, required=True, help="how many contents of each set; 0: all")
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--rows", type=Path, required=True)
    args = parser.parse_args(argv)

    found = list(read(args))
    rows.write(args.rows, rows.drawn(found, args.contents or None, args.seed))


def read(args: argparse.Namespace) -> Iterator[Row]:
    """Yield the rows of every set whose files are given."""
    for path in args.samples:
        yield from rows.of_samples(record_files.read_samples(path))
    for labels in args.labels:
        (translations,) = args.translations
        yield from rows.of_translations(rows.translated(translations, labels))
    for marks in args.marks:
        (questions,), (answers,) = args.questions, args.answers
        yield from rows.of_rated_answers(calmqa.questions_of(questions).values(), calmqa.answers_of(answers), marks)
    for path in args.scenarios:
        yield from rows.of_statements(scenarios.read(path))
    if args.responses and args.ratings:
        known = responses.read(args.responses)
        ratings = checks.read(args.ratings, known, [changes.opened(args.rubric)])
        yield from rows.of_responses(known, ratings.ratings)


if __name__ == "__main__":
    run(main)
