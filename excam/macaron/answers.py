"""Files of answers: what each model answered to each instance."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import polars as pl

from excam.core.exceptions import InputInvalid
from excam.core.names import shown_name
from excam.core.typed_tables import read_typed
from excam.macaron.asks import MODES, Answered
from excam.macaron.derive import Instance

SCHEMA: dict[str, Any] = {
    **dict.fromkeys(("instance", "asked", "model", "mode", "answer", "failure", "by"), pl.String()),
    **dict.fromkeys(("logprobs", "letter_logprobs"), pl.List(pl.Float64)),
    "letter_answer": pl.String(),
    "recovered": pl.List(pl.String),
    "thinking": pl.String(),
}
FIELDS = tuple(field.name for field in fields(Instance))
ANSWERED = tuple(field.name for field in fields(Answered))


@dataclass(frozen=True, slots=True)
class ModelRun:
    """The answers of one model in one mode, joined with their instances: `rows` as `numbers.accuracies` takes them."""

    model: str
    mode: str
    rows: tuple[Mapping[str, Any], ...]

    @property
    def name(self) -> str:
        """Return what tables call it."""
        return f"{self.model}, {self.mode}"


def to_frame(instances: Iterable[Instance], model: str, mode: str, answers: Iterable[Answered]) -> pl.DataFrame:
    """Return the answers as a table, one row per instance."""
    rows = [
        {"instance": instance.id, "asked": instance.digest, "model": model, "mode": mode}
        | {name: getattr(answered, name) for name in ANSWERED}  # `asdict` takes ten times as long
        for instance, answered in zip(instances, answers, strict=True)
    ]
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


def join(instances: Sequence[Instance], files: Sequence[Path]) -> list[ModelRun]:
    """Return one system per file: each instance with its answer.

    Raise InputInvalid if a file answers other instances, or as a system that another file has.
    """
    by_id = {instance.id: instance for instance in instances}
    systems: dict[Path, ModelRun] = {}
    for path in files:
        system = _joined(by_id, path)
        if other := next((file for file, earlier in systems.items() if earlier.name == system.name), None):
            raise InputInvalid(f"{path}: {system.model}/{system.mode} is in {other} too; expected one file for each")
        systems[path] = system
    return list(systems.values())


WHAT = "answers, made by `excam macaron ask`"
FILLED = ("instance", "asked", "model", "mode", "by", "logprobs", "letter_logprobs", "recovered", "thinking")


def _joined(by_id: Mapping[str, Instance], answers: Path) -> ModelRun:
    frame = read_typed(answers, SCHEMA, WHAT, FILLED)
    by_instance = {row["instance"]: row for row in frame.iter_rows(named=True)}
    if len(by_instance) < len(frame) or by_instance.keys() != by_id.keys():
        odd = sorted(by_instance.keys() ^ by_id.keys()) or [frame["instance"][0]]
        raise InputInvalid(
            f"{answers}: {len(frame)} answers to {len(by_id)} instances; expected one each; the first that differs "
            f"is {odd[0]}; ask again"
        )
    for name, row in by_instance.items():
        if row["asked"] != by_id[name].digest:
            raise InputInvalid(
                f"{answers}: {name} was asked with another text or order of options; expected the instances that were "
                "asked; derive them of all the same scenarios, with the same seed, or ask again"
            )
    named = sorted({(row["model"], row["mode"]) for row in by_instance.values()})
    if len(named) > 1 or named[0][1] not in MODES:
        who, modes = ", ".join(map("/".join, named)), ", ".join(MODES)
        raise InputInvalid(f"{answers}: answers of {who}; expected one model, in one mode of {modes}")
    ((model, mode),) = named
    rows = tuple(
        {
            **{field: getattr(instance, field) for field in FIELDS},
            "pred": by_instance[name]["answer"],
            "said": by_instance[name],
        }
        for name, instance in by_id.items()
    )
    return ModelRun(shown_name(model, str(answers)), mode, rows)
