"""From a cell, which figures name in the column `cell`, to its rows: question, answer, report, and gold.

A row is right if the verdict agrees with the label; unreadable if the answer could not be parsed, which the strict
accuracy counts as wrong; wrong otherwise. The three add up to the cell's n.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from math import isclose
from pathlib import Path
from typing import Any, Literal

import polars as pl

from excam.core import paths, tables
from excam.core.exceptions import ArtifactBroken, InputInvalid
from excam.core.provenance import sha256
from excam.core.typed_tables import read_typed
from excam.inference import Completion
from excam.inference import transcript as transcripts
from excam.inference.run import Round

Outcome = Literal["right", "wrong", "unreadable"]
GOLD: dict[str, Any] = {**dict.fromkeys(("id", "origin", "errors", "explanation"), pl.String), "score": pl.Int64}
OUTCOMES: tuple[Outcome, ...] = ("right", "wrong", "unreadable")


@dataclass(frozen=True, slots=True)
class CellRow:
    """One judged sample behind a number."""

    sample: dict[str, Any]  # a row of its test set: `GOLD`
    rounds: tuple[Round, ...]
    judgement: dict[str, Any]  # a row of `JUDGEMENT_SCHEMA`
    changes: Sequence[Mapping[str, str]] | None  # what a reader changed in the benchmark's row; None: not known here

    @property
    def outcome(self) -> Outcome:
        """Return how the row counts in the accuracy."""
        if self.judgement["failure"] is not None:
            return "unreadable"
        return "right" if (self.judgement["errors_found"] > 0) == self.judgement["gold_error"] else "wrong"

    def to_dict(self) -> dict[str, Any]:
        """Return everything verbatim, for programs."""
        columns = ("score", "certainty", "errors_found", "failure", "recovered", "thinking")
        return {
            "id": self.judgement["id"],
            "outcome": self.outcome,
            "rounds": [asdict(exchange) for exchange in self.rounds],
            **{name: self.judgement[name] for name in columns},
            "report": json.loads(self.judgement["report"]) if self.judgement["report"] else None,
            "changes": self.changes,
            "gold": {name: self.sample[name] for name in ("score", "origin")} | self.gold,
        }

    @property
    def gold(self) -> dict[str, Any]:
        """Return the report of the data set."""
        return {"errors": json.loads(self.sample["errors"]), "explanation": self.sample["explanation"]}

    def text(self) -> str:
        """Return the row for a reader. Further lines of texts of models and data sets are indented, so that none passes
        for ours.
        """
        judged, sample = self.judgement, self.sample
        verdict = f"failure {judged['failure']}" if judged["failure"] else f"score {judged['score']:g}"
        head = f"── {judged['id']} · {self.outcome} · {verdict}"
        lines = [f"{head}, gold {sample['score']} ({sample['origin']})"]
        for exchange in self.rounds:
            for request, answer in zip(exchange.requests, exchange.answers, strict=True):
                lines += [_labelled_text(message.role, message.content) for message in request.messages]
                if isinstance(answer, Completion):
                    lines += [_labelled_text("reasoning", answer.reasoning)] if answer.reasoning else []
                    lines.append(_labelled_text(f"answer ({answer.finish})", answer.text))
                else:
                    options = getattr(request, "options", ())  # of a `Choose`
                    lines.append(_labelled_text("answer", f"log-probabilities {answer.logprobs} of {options}"))
        lines += [_labelled_text("report", judged["report"])] if judged["report"] else []
        for change in self.changes or ():
            lines.append(_labelled_text(f"published {change['column']}", change["published"]))
            lines.append(_labelled_text(f"ours by {change['rule']}", change["ours"]))
        return "\n".join([*lines, _labelled_text("gold", json.dumps(self.gold, ensure_ascii=False)), ""])


def _labelled_text(who: str, text: str) -> str:
    """Return an indented text after its label."""
    return f"   {who}: " + text.replace("\n", "\n      ")


@dataclass(frozen=True, slots=True)
class CellWithRows:
    """A cell with all its rows."""

    path: str
    rows: tuple[CellRow, ...]

    def summary(self) -> str:
        """Return the counts; they add up to the number of rows."""
        count = Counter(row.outcome for row in self.rows)
        unknown = sum(row.changes is None for row in self.rows)
        raw = f"; of {unknown} the published row is not known: results/samples is not here" if unknown else ""
        kinds = ", ".join(f"{count[name]} {name}" for name in OUTCOMES)
        return f"{self.path}: {kinds}; {' + '.join(str(count[name]) for name in OUTCOMES)} = n = {len(self.rows)}{raw}"


def cell_path(cell: str) -> Path:
    """Return the file of a cell that is named model/trained_on/judge/dataset, or by a file made of its judgements.

    Raises InputInvalid for any other name.
    """
    parts = cell.split("/")
    named = len(parts) == 4 and parts[0] != paths.RESULTS.name
    return (paths.Cell(*parts, split="test") if named else paths.Cell.from_path(Path(cell))).path("evaluation")


def open_cell(root: Path, path: Path) -> CellWithRows:
    """Return a cell's rows, in the order of its judgements.

    Raises InputInvalid if it is not a cell, ArtifactBroken if judgements are not those that it was made of, or the
    rows do not give its n and its accuracy.
    """
    numbers = _read_cell_numbers(root / path)
    rows = [row for name, digest in numbers["inputs"].items() for row in _rows(root, name, digest)]
    right = sum(row.outcome == "right" for row in rows)
    n, scaled = numbers["n"], numbers["accuracy"]["scaled"]
    accuracy = 2 * right / max(len(rows), 1) - 1  # ExCAM §4
    if len(rows) != n or not isclose(accuracy, scaled, abs_tol=1e-9):
        raise ArtifactBroken(
            f"{path}: its rows are {len(rows)} with scaled accuracy {accuracy}; expected {n} with {scaled}; "
            f"evaluate again; see excam audit {path}"
        )
    return CellWithRows(path.as_posix(), tuple(rows))


def _read_cell_numbers(path: Path) -> dict[str, Any]:
    """Return the JSON object of a cell. Raises InputInvalid if the file is not one."""
    try:
        numbers = json.loads(path.read_text(encoding="utf-8"))
        if isinstance(numbers, dict) and {"n", "inputs", "accuracy"} <= numbers.keys():
            return numbers
    except (OSError, ValueError):
        pass
    raise InputInvalid(f"{path}: no cell; expected results/evaluation/<model>/<trained_on>/<judge>/<dataset>/test.json")


def _rows(root: Path, judgements: str, digest: str) -> Iterator[CellRow]:
    """Return the rows of one file of judgements; samples and transcript are where the rule `score` takes them from."""
    path = Path(judgements)
    if not (root / path).is_file() or sha256(root / path) != digest:
        raise ArtifactBroken(f"{path}: not the judgements that the cell was made of; see excam audit {path}")
    of = paths.Cell.from_path(path)
    test_set = read_typed(root / paths.samples_path(of.dataset, of.split), GOLD, "the test set", GOLD)
    samples = {row["id"]: row for row in test_set.iter_rows(named=True)}
    bases = root / paths.RESULTS / "samples" / f"{of.dataset}.bases.jsonl"
    changes = {row["id"]: row.get("changes") for row in tables.read_jsonl(bases)} if bases.is_file() else {}
    entries = transcripts.read(root / of.path("transcripts"))
    for judged in tables.read_frame(root / path).iter_rows(named=True):
        if judged["id"] not in samples or judged["id"] not in entries:
            raise ArtifactBroken(
                f"{path}: {judged['id']}: no such sample or transcript; make it again: snakemake {path}"
            )
        yield CellRow(samples[judged["id"]], entries[judged["id"]].rounds, judged, changes.get(judged["base"]))
