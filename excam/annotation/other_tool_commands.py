"""The commands that bring answers to Label Studio and doccano, and back."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from excam.core.terminal import exit_on_error, print_text, stop

if TYPE_CHECKING:
    from excam.annotation.answers import Answer
    from excam.annotation.store import Store

STORE = Annotated[Path, typer.Argument(help="the store's file")]
FIELD = Annotated[str, typer.Option(help="the field that the project of doccano is about")]


def to_label_studio(
    store: STORE,
    to: Annotated[Path, typer.Option(help="the .json file of tasks to write; its labelling interface goes beside it")],
) -> None:
    """Write tasks and answers for Label Studio, and the labelling interface (.xml) whose names they have.

    Example: excam annotate to-label-studio answers.store --to tasks.json
    """
    from excam.annotation import other_tools
    from excam.annotation.store import Store
    from excam.core.provenance import write_text

    with exit_on_error(), Store(store) as opened:
        if to.suffix != ".json":
            stop(f"{to}: ends in {to.suffix or 'nothing'}; expected .json")
        text, left = other_tools.to_label_studio(opened.campaign, opened.answers())
        write_text(to, text)
        write_text(to.with_suffix(".xml"), other_tools.label_studio_config(opened.campaign.form))
        print_text(f"{to}: {len(opened.campaign.tasks)} tasks, {len(opened.answers())} answers")
        _print_left(left)


def from_label_studio(
    store: STORE,
    file: Annotated[Path, typer.Argument(help="Label Studio's export as JSON, of tasks that `to-label-studio` wrote")],
) -> None:
    """Import answers from Label Studio, all or none. Of two answers about one task, keep the later one.

    A task is found by `task` or `row` in its data, an annotator by `completed_by`: ada of ada@example.org, or user-7.

    Example: excam annotate from-label-studio answers.store project-1.json
    """
    from excam.annotation import other_tools
    from excam.annotation.store import Store

    with exit_on_error(), Store(store) as opened:
        answers, left = other_tools.from_label_studio(_text(file), opened.campaign)
        merge(opened, file, answers)
        _print_left(left)


def to_doccano(store: STORE, field: FIELD, to: Annotated[Path, typer.Option(help="the .jsonl file to write")]) -> None:
    """Write the answers to one field for doccano: a line for each answer, with its text and `label`.

    Example: excam annotate to-doccano answers.store --field words --to words.jsonl
    """
    from excam.annotation import other_tools
    from excam.annotation.store import Store
    from excam.core.provenance import write_text

    with exit_on_error(), Store(store) as opened:
        text, left = other_tools.to_doccano(opened.campaign, opened.answers(), field)
        write_text(to, text)
        print_text(f"{to}: {len(opened.answers())} answers to {field}")
        _print_left(left)


def from_doccano(
    store: STORE,
    file: Annotated[Path, typer.Argument(help="doccano's export as JSONL; each line with `task` or `row`")],
    field: FIELD,
    annotator: Annotated[str, typer.Option(help="whose answers these are")],
) -> None:
    """Import one annotator's answers to one field from doccano, all or none.

    Example: excam annotate from-doccano answers.store ada.jsonl --field words --annotator ada
    """
    from excam.annotation import other_tools
    from excam.annotation.store import Store

    with exit_on_error(), Store(store) as opened:
        answers, left = other_tools.from_doccano(_text(file), opened.campaign, field, annotator)
        merge(opened, file, answers)
        _print_left(left)


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as problem:
        stop(f"{file}: not UTF-8 at byte {problem.start}; export it again")


def merge(opened: Store, file: Path, answers: list[Answer]) -> None:
    """Import the answers of a file into a store, and print how many of them count."""
    counts = opened.merge(answers)
    print_text(f"{file}: {', '.join(f'{counts[kind]} {kind}' for kind in ('new', 'newer', 'older', 'same'))}")


def _print_left(left: Mapping[str, int]) -> None:
    for what, count in sorted(left.items()):
        print_text(f"left out: {count} x {what}")
