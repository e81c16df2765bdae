"""What the leader of a campaign reads of its answers: who is how far, and how far raters agree."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from excam.annotation.options import DRAWN, SOURCE, SOURCE_EXPORTS, STORE
from excam.core.terminal import ITEMS, JSON, SEED, exit_on_error, print_json, print_text, table_lines

if TYPE_CHECKING:
    from excam.annotation.agreement import AgreementStudy
    from excam.annotation.answers import Answer
    from excam.annotation.campaign import Campaign

SQLITE = b"SQLite format 3\0"  # how a store's file begins


def agreement(
    source: SOURCE,
    exports: SOURCE_EXPORTS = None,
    items: ITEMS = 10,
    seed: SEED = 0,
    as_json: JSON = False,
) -> None:
    """Print how far raters agree: in each field, each with the others, and the items on which they differ most.

    Example: excam annotate agreement answers.store; excam annotate agreement campaign.json ada.json grace.json
    """
    from excam.annotation.agreement import study

    with exit_on_error():
        rated, answers = campaign_and_answers(source, exports or [])
        measured = study(rated, answers, seed)
        if as_json:
            for line in measured.lines():
                print_json(line)
        else:
            _show(rated, measured, items)


def adjudicate(
    source: SOURCE,
    to: DRAWN,
    exports: SOURCE_EXPORTS = None,
    whole: Annotated[bool, typer.Option("--all", help="a second pass: also tasks without a difference")] = False,
) -> None:
    """Make a campaign of the tasks on which raters differ, for another person who sees what each of them answered.

    Example: excam annotate adjudicate answers.store --to disagreements.json
    """
    from excam.annotation import adjudication, campaign
    from excam.core.provenance import say

    with exit_on_error():
        rated, answers = campaign_and_answers(source, exports or [])
        drawn = (adjudication.second_pass if whole else adjudication.disagreements)(rated, answers)
        campaign.write(to, drawn)
        what = "have an answer" if whole else "have a difference"
        say(f"{to}: campaign {drawn.id}, {len(drawn.tasks)} of {len(rated.tasks)} tasks {what}")


def campaign_and_answers(source: Path, exports: Sequence[Path]) -> tuple[Campaign, list[Answer]]:
    """Return a campaign and its answers, of a store, or of a campaign's file and exports. Raise InputInvalid."""
    from excam.annotation import campaign, exchange
    from excam.annotation.store import Store
    from excam.core.exceptions import InputInvalid

    is_store = source.is_file() and source.open("rb").read(len(SQLITE)) == SQLITE
    if is_store and exports:
        raise InputInvalid(
            f"{exports[0]}: behind a store; expected the store alone: `excam annotate import` adds files"
        )
    if is_store:
        with Store(source) as opened:
            return opened.campaign, opened.answers()
    drawn = campaign.read(source)
    if not exports:
        raise InputInvalid(f"{source}: no answers; expected exported files behind the campaign, or a store")
    return drawn, exchange.read_all(exports, drawn).answers


def _show(rated: Campaign, measured: AgreementStudy, most: int) -> None:
    from excam.annotation.adjudication import in_words

    unfinished = measured.answers - measured.finished - measured.skipped
    print_text(
        f"{measured.tasks} tasks, {measured.answers} answers: {measured.finished} finished, {measured.skipped} "
        f"skipped, {unfinished} unfinished. Tasks with two raters or more: {measured.compared}.\n"
    )
    head = ("field", "kind", "measure", "value", "95 %", "items", "ratings")
    fields = [
        (
            *(entry.field, entry.kind, entry.note if entry.value is None and not entry.measure else entry.measure),
            *(_number(entry.value), _interval(entry.low, entry.high), str(entry.items), str(entry.ratings)),
        )
        for entry in measured.measures
    ]
    _print_table([head, *fields])
    print_text("\nEach rater with the others, from 0 to 1 (scales and numbers by distance, marks by overlap):\n")
    head = ("rater", "agreement", "95 %", "items", "comparisons", "finished", "skipped", "unfinished")
    raters = [
        (
            *(entry.rater, _number(entry.value), _interval(entry.low, entry.high)),
            *map(str, (entry.items, entry.comparisons, entry.finished, entry.skipped, entry.unfinished)),
        )
        for entry in measured.raters
    ]
    _print_table([head, *raters])
    items = measured.items[:most]
    print_text(f"\nItems with a difference: {len(measured.items)} of {measured.compared}, the largest {len(items)}:")
    for item in items:
        print_text(f"\n{item.row}  agreement {_number(item.value)}, {item.raters} raters  {item.text}")
        for name, by_rater in item.differing.items():
            question, task = rated.form.columns[name], rated.by_id[item.task]
            lines = (f"{rater} {in_words(question, value, task)}" for rater, value in by_rater.items())
            print_text(f"  {name}: {'; '.join(lines)}")


def _print_table(lines: Iterable[Sequence[str]]) -> None:
    for line in table_lines(list(lines)):
        print_text(line)


def _number(value: float | None) -> str:
    return "n/a" if value is None else f"{round(value, 2) + 0.0:.2f}"  # no -0.00


def _interval(low: float | None, high: float | None) -> str:
    return "n/a" if low is None or high is None else f"{low:.2f} to {high:.2f}"


def progress(store: STORE, as_json: JSON = False) -> None:
    """Print how far each annotator is, also while the server runs: tasks, and minutes that they were on the screen.

    Example: excam annotate progress answers.store
    """
    from excam.annotation.store import Store

    with exit_on_error(), Store(store) as opened:
        lines = list(_progress(opened.campaign, opened.annotators(), opened.answers()))
    if as_json:
        for line in lines:
            print_json(line)
        return
    head = ("annotator", "finished", "skipped", "unfinished", "assigned", "minutes", "per task", "last saved")
    _print_table([head, *([_text(value) for value in line.values()] for line in lines)])


def _progress(campaign: Campaign, names: Iterable[str], answers: Sequence[Answer]) -> Iterator[dict[str, Any]]:
    from statistics import median

    from excam.annotation.answers import state

    for name in names:
        answers_of_one = [answer for answer in answers if answer.annotator == name]
        states = [state(campaign.form, answer.values) for answer in answers_of_one]
        finished = [answer for answer, how in zip(answers_of_one, states, strict=True) if how == "finished"]
        yield {
            "annotator": name,
            "finished": len(finished),
            "skipped": states.count("skipped"),
            "unfinished": states.count("unfinished"),
            "assigned": len(campaign.tasks_of(name)),
            "minutes": round(sum(answer.seconds for answer in answers_of_one) / 60, 1),
            "minutes_per_task": round(median(answer.seconds for answer in finished) / 60, 1) if finished else None,
            "last_saved": max((answer.saved for answer in answers_of_one), default=None),
        }


def _text(value: object) -> str:
    return "" if value is None else str(value)
