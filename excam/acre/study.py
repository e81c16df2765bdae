"""Everything the tables are made of: translations with labels, verdicts of judges, scores of metrics."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from excam.acre import judgements, sentence_metrics, translations
from excam.acre.asks import Grades
from excam.acre.judgements import EQUIVALENT
from excam.acre.numbers import Scores
from excam.acre.sentence_metrics import TITLES
from excam.acre.translations import Translated
from excam.core.exceptions import InputInvalid
from excam.core.provenance import say
from excam.scoring.joining import distinct, repeated_note

Verdicts = Mapping[str, Grades]
Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class AcreStudy:
    """`judged` is by judge and variant, then by row; `measured` holds the scores of each metric by row."""

    rows: Sequence[Translated]
    judged: Mapping[tuple[str, str], Verdicts]
    measured: Mapping[str, Scores]

    @property
    def judges(self) -> list[str]:
        """Return the judges, that without a model first."""
        return sorted({judge for judge, _ in self.judged}, key=lambda name: (name != EQUIVALENT, name))

    @property
    def full(self) -> dict[str, Verdicts]:
        """Return the verdicts of each judge in the variant `full`."""
        return {judge: self.judged[judge, "full"] for judge in self.judges if (judge, "full") in self.judged}

    @property
    def metrics(self) -> dict[str, Scores]:
        """Return the scores of every metric by what tables call it: of sentences, then of judges."""
        return {**self.measured, **self.full_scores}

    @property
    def full_scores(self) -> dict[str, Scores]:
        """Return ACRE by each judge in the variant `full`, by what tables call it."""
        return {title(judge): acre_scores(verdicts) for judge, verdicts in self.full.items()}


def title(judge: str) -> str:
    """Return what tables call the scores of a judge."""
    return judge if judge == EQUIVALENT else f"ACRE, {judge}"


def acre_scores(verdicts: Verdicts) -> dict[str, float | None]:
    """Return ACRE by row, None for a failure."""
    return {row: verdict.acre for row, verdict in verdicts.items()}


def read(
    rows: Sequence[Path],
    labels: Path | None = None,
    judged: Sequence[Path] = (),
    metrics: Sequence[Path] = (),
    scores: Mapping[str, Path] = {},
) -> AcreStudy:
    """Return the study of files: tables of rows, of verdicts and of metrics, and files of `excam score` by name.

    Raise InputInvalid where a file belongs to other translations, or two files have the same row. Translations that
    repeat another of their system under a new id are left out; that, and how many have no label, is said.
    """
    translated: dict[str, Translated] = {}
    for path in rows:
        _put(translated, {row.id: row for row in translations.from_frame(path)}, f"{path}: translation")
    labelled = translations.with_labels(list(translated.values()), labels) if labels else list(translated.values())
    contents = [(row.system, row.shots, row.digest, row.label) for row in labelled]
    unique = [labelled[at] for at in distinct([row.id for row in labelled], contents)]
    unlabelled = sum(row.label is None for row in unique) if labels else 0
    counted = f"{len(unique)} translations; without a label {unlabelled}.{repeated_note(len(labelled) - len(unique))}"
    if len(unique) < len(labelled) or unlabelled:
        say(f"{', '.join(map(str, rows))}: {counted}")
    verdicts: dict[tuple[str, str], dict[str, Grades]] = {}
    for path in judged:
        for key, by_row in judgements.read(path, translated).items():
            _put(verdicts.setdefault(key, {}), by_row, f"{path}: verdict of {', '.join(key)}")
    measured: dict[str, dict[str, float | None]] = {}
    for path in metrics:
        for name, by_row in sentence_metrics.read(path, translated).items():
            _put(measured.setdefault(TITLES[name], {}), by_row, f"{path}: {TITLES[name]}")
    for name, path in scores.items():
        if name in {*measured, *TITLES.values(), *(title(judge) for judge, _ in verdicts)}:
            raise InputInvalid(f"{path}: {name} is the name of another metric; expected another name")
        measured[name] = sentence_metrics.read_scored(path, translated)
    columns = {**{f"{judge}, {variant}": by_row for (judge, variant), by_row in verdicts.items()}, **measured}
    for name, by_row in columns.items():
        _check(name, by_row, set(translated))
    return AcreStudy(unique, verdicts, measured)


def _put(into: dict[str, Value], more: Mapping[str, Value], what: str) -> None:
    """Add the rows of another file. Raise InputInvalid for a row that an earlier one has too."""
    if twice := [row for row in more if row in into]:
        raise InputInvalid(
            f"{what}: {twice[0][:60]} is in another file too ({len(twice)} rows); expected each once; leave one out"
        )
    into.update(more)


def _check(name: str, scored_rows: Iterable[str], rows: set[str]) -> None:
    """Raise InputInvalid unless there is a score for each row."""
    if absent := sorted(rows - set(scored_rows)):
        raise InputInvalid(
            f"{name}: no score for {absent[0]} ({len(absent)} of {len(rows)} rows); expected one for each translation; "
            "score the same rows again"
        )
