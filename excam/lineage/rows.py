"""From a number of a figure to its cell, and from the cell to its rows: asked, answered, read, and gold.

A row is right when it was found erroneous and is, or was not and is not; unreadable when the answer could not be read,
which the strict accuracy counts as wrong (spec 52); wrong otherwise. The three add up to the cell's n.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from math import isclose
from pathlib import Path
from typing import Any, Literal

from excam.exceptions import ArtifactBroken, InputInvalid
from excam.inference import Completion
from excam.inference import transcript as transcripts
from excam.inference.run import Round
from excam.lineage.reasons import path_of
from excam.provenance import sha256
from excam.records import Sample

Outcome = Literal["right", "wrong", "unreadable"]
MADE_OF_CELLS = ("reports", "certainty", "explanations", "counterfactuals")  # folders of results/
OUTCOMES: tuple[Outcome, ...] = ("right", "wrong", "unreadable")
PICTURES = (".pdf", ".svg", ".png")  # drawn from the CSV file of the same name


@dataclass(frozen=True, slots=True)
class Row:
    """One judged sample behind a number."""

    sample: Sample
    rounds: tuple[Round, ...]
    judgement: dict[str, Any]  # a row of `tables.JUDGEMENT_SCHEMA`

    @property
    def outcome(self) -> Outcome:
        """How it counts in the accuracy."""
        if self.judgement["failure"] is not None:
            return "unreadable"
        return "right" if (self.judgement["errors_found"] > 0) == self.judgement["gold_error"] else "wrong"

    def to_dict(self) -> dict[str, Any]:
        """For machines: everything, verbatim."""
        told = ("score", "certainty", "errors_found", "failure", "recovered", "thinking")
        return {
            "id": self.sample.id,
            "outcome": self.outcome,
            "rounds": [asdict(one) for one in self.rounds],
            **{name: self.judgement[name] for name in told},
            "report": json.loads(self.judgement["report"]) if self.judgement["report"] else None,
            "gold": {"score": self.sample.score, "origin": self.sample.origin, **asdict(self.sample.report)},
        }

    def text(self) -> str:
        """For a reader. Further lines of what a model or a data set wrote are indented: none passes for one of ours."""
        judged = self.judgement
        found = f"failure {judged['failure']}" if judged["failure"] else f"score {judged['score']:g}"
        lines = [f"── {self.sample.id} · {self.outcome} · {found}, gold {self.sample.score} ({self.sample.origin})"]
        for one in self.rounds:
            for request, answer in zip(one.requests, one.answers, strict=True):
                lines += [_said(message.role, message.content) for message in request.messages]
                if isinstance(answer, Completion):
                    lines.append(_said(f"answer ({answer.finish})", answer.text))
                else:
                    lines.append(_said("answer", f"log-probabilities {answer.logprobs} of {_options(request)}"))
        lines += [_said("report", judged["report"])] if judged["report"] else []
        gold = json.dumps(asdict(self.sample.report), ensure_ascii=False)
        return "\n".join([*lines, _said("gold", gold), ""])


def _options(request: Any) -> tuple[str, ...]:
    return getattr(request, "options", ())


def _said(who: str, text: str) -> str:
    return f"   {who}: " + text.replace("\n", "\n      ")


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell with all its rows."""

    path: str
    rows: tuple[Row, ...]

    def summary(self) -> str:
        """The counts, which add up."""
        count = Counter(row.outcome for row in self.rows)
        kinds = ", ".join(f"{count[name]} {name}" for name in OUTCOMES)
        return f"{self.path}: {kinds}; {' + '.join(str(count[name]) for name in OUTCOMES)} = n = {len(self.rows)}"


def find(root: Path, figure: Path, cell: str | None) -> str:
    """The path of a cell: that of a figure or table which has it, or the cell's own file where there is no figure.

    Raises InputInvalid where the figure's numbers do not name such a cell.
    """
    if figure.suffix == ".json" and cell is None:
        return figure.as_posix()
    numbers = figure.with_suffix(".csv") if figure.suffix in PICTURES else figure
    known = _cells(root / numbers)
    wanted = path_of(cell or "")
    if wanted not in known:
        asked = f"no cell {cell}" if cell else "which cell?"
        raise InputInvalid(f"{numbers}: {asked}; it has {len(known)}: {', '.join(map(_short, known))}")
    return wanted


def _cells(numbers: Path) -> list[str]:
    from excam import tables

    if not numbers.is_file():
        raise InputInvalid(f"{numbers}: no such file; expected the numbers of a figure or a table, or a cell's JSON")
    found = [_judged(line) for line in tables.read_lines(numbers)] if numbers.suffix == ".csv" else []
    cells = list(dict.fromkeys(filter(None, found)))
    if not cells:
        raise InputInvalid(f"{numbers}: names no cells; expected a CSV file with a column `cell`, or a cell's JSON")
    return cells


def _judged(line: dict[str, str]) -> str | None:
    """The cell of a line: what is not `evaluate`'s was made of the judgements of the same system and test set."""
    cell = line.get("cell")
    if cell and (kind := Path(cell).parts[1:2]) and kind[0] in MADE_OF_CELLS:
        return f"results/evaluation/{'/'.join(Path(cell).parts[2:5])}/{line.get('dataset') or 'all'}/test.json"
    return cell


def _short(cell: str) -> str:
    """The axes of a cell, as `path_of` understands them, where it is one of the test sets'."""
    return cell.removeprefix("results/evaluation/").removesuffix("/test.json")


def open_cell(root: Path, path: str) -> Cell:
    """A cell's rows, in the order of its judgements.

    Raises InputInvalid where it is no cell, ArtifactBroken where judgements are not those that it was made of, or the
    rows do not give its n and its accuracy.
    """
    numbers = _numbers(root / path)
    rows = [row for name, digest in numbers["inputs"].items() for row in _rows(root, name, digest)]
    right = sum(row.outcome == "right" for row in rows)
    n, scaled = numbers["n"], numbers["accuracy"]["scaled"]
    accuracy = 2 * right / max(len(rows), 1) - 1  # ExCAM §4
    if len(rows) != n or not isclose(accuracy, scaled, abs_tol=1e-9):
        raise ArtifactBroken(
            f"{path}: its rows are {len(rows)} with scaled accuracy {accuracy}; expected {n} with {scaled}; "
            f"evaluate again; see excam audit {path}"
        )
    return Cell(path, tuple(rows))


def _numbers(path: Path) -> dict[str, Any]:
    try:
        numbers = json.loads(path.read_text(encoding="utf-8"))
        if isinstance(numbers, dict) and {"n", "inputs", "accuracy"} <= numbers.keys():
            return numbers
    except (OSError, ValueError):
        pass
    raise InputInvalid(f"{path}: no cell; expected results/evaluation/<model>/<trained_on>/<judge>/<dataset>/test.json")


def _rows(root: Path, judgements: str, digest: str) -> Iterator[Row]:
    """The rows of one file of judgements; samples and transcript lie where the rule `score` takes them from."""
    from excam import tables

    path = Path(judgements)
    if not (root / path).is_file() or sha256(root / path) != digest:
        raise ArtifactBroken(f"{path}: not the judgements that the cell was made of; see excam audit {path}")
    *_, dataset, name = path.parts
    samples = {s.id: s for s in tables.read_samples(root / "results/excam40k" / dataset / name)}
    transcript = Path("results/transcripts", *path.parts[2:]).with_suffix(".jsonl")
    entries = transcripts.read(root / transcript)
    for judged in tables.read_frame(root / path).iter_rows(named=True):
        if judged["id"] not in samples or judged["id"] not in entries:
            raise ArtifactBroken(f"{path}: {judged['id']}: no such sample or transcript; see excam why {path}")
        yield Row(samples[judged["id"]], entries[judged["id"]].rounds, judged)
