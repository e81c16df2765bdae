"""`excam rubric`: the manual, checks of ratings, their quality, and changes of the manual. Counts go to stderr."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from excam.annotation.options import CAMPAIGN, DRAWN, EXPORTS
from excam.core.provenance import each_line_once, say
from excam.core.release import SHIPPED_SEED
from excam.core.terminal import DRAW_SEED, FOLDER, SEED, exit_on_error, print_text, stop

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from excam.rubric.checks import FileRatings
    from excam.rubric.manual import ScoringRubric
    from excam.rubric.responses import Response

app = typer.Typer(no_args_is_help=True, help="Rate responses by the cross-cultural scoring manual, people and models.")
RUBRIC = Annotated[str, typer.Option("--rubric", help="version of the manual, or the .yaml file of a study's version")]
RATINGS = Annotated[list[Path], typer.Argument(help="ratings: .jsonl or .parquet files, or folders of .jsonl files")]
RESPONSES = Annotated[
    Path | None, typer.Option(help="the responses, with facts about their tasks: a .jsonl file, or a folder of them")
]
RUBRICS = Annotated[
    list[str] | None, typer.Option("--rubric", help="as for `show`; repeat for ratings by several versions")
]
CURRENT = "manual-0.1"


@app.command()
def show(rubric: RUBRIC = CURRENT) -> None:
    """Print the manual: scale, anchors, red flags, rules, numbers of quality control, with version and hash.

    Example: excam rubric show
    """
    from excam.rubric import changes, manual

    with exit_on_error():
        opened = changes.opened(rubric)
        print_text(f"# Version {opened.signature}, hash {opened.hash}\n{manual.text(rubric)}")


@app.command()
def draw(
    responses: Annotated[Path, typer.Argument(help="a .jsonl file, or a folder of them")],
    evaluator: Annotated[str, typer.Option(help="who rates every response")],
    to: DRAWN,
    validators: Annotated[str, typer.Option(help="who rates a share of them, with commas between")] = "",
    overlap: Annotated[float, typer.Option(help="the share that validators rate too, after calibration")] = 0.2,
    calibration: Annotated[int, typer.Option(help="responses that all rate first; the manual wants 20 to 30")] = 25,
    rubric: RUBRIC = CURRENT,
    seed: DRAW_SEED = 0,
) -> None:
    """Draw who rates which response, and write the campaign with the rater's form.

    Example: excam rubric draw responses.jsonl --evaluator eva --validators li,nia --to campaign.json
    """
    from excam.annotation.campaign import write
    from excam.annotation.store import refuse_names
    from excam.rubric import campaign, changes
    from excam.rubric import responses as reading

    with exit_on_error():
        all_responses, names = reading.read(reading.files(responses)), [name for name in validators.split(",") if name]
        refuse_names([evaluator, *names])
        opened = changes.opened(rubric)
        drawn = campaign.drawn(all_responses, [evaluator, *names], overlap, calibration, opened, seed)
        write(to, drawn)
        raters = Counter(task.row for task in drawn.tasks for _ in task.assigned)
        shared = sum(count > 1 for count in raters.values()) - calibration if names else 0
        say(
            f"{to}: {len(raters)} responses: {calibration} for calibration, {len(raters) - calibration} after"
            f" it, {shared} of these for all raters"
        )
        low, high = opened.manual.calibration.items
        if not low <= calibration <= high:
            say(f"calibration with {calibration} responses; the manual wants {low} to {high}")


@app.command()
def collect(
    file: CAMPAIGN,
    exports: EXPORTS,
    to: Annotated[Path, typer.Option(help="the .jsonl file of ratings to write")],
) -> None:
    """Collect what raters submitted as ratings, which `check` and `analyse` read.

    Example: excam rubric collect campaign.json eva.json li.json --to ratings.jsonl
    """
    from excam.annotation.campaign import read
    from excam.core import tables
    from excam.rubric import campaign

    with exit_on_error():
        rows = list(campaign.ratings(exports, read(file)))
        if not rows:
            stop(f"{exports[0]}: 0 submitted ratings; expected some")
        tables.write_jsonl(to, rows)
        say(f"{to}: {len(rows)} ratings of {len({row['rater'] for row in rows})} raters")


@app.command()
def check(files: RATINGS, responses: RESPONSES = None, rubric: RUBRICS = None) -> None:
    """Check ratings: each breach is one line, and then the exit code is 1.

    Example: excam rubric check ratings.jsonl --responses responses.jsonl
    """
    from excam.rubric import checks

    with exit_on_error():
        _, reading = _read(checks.read, files, responses, _all_opened(rubric))
        for line in reading.breaches:
            print_text(line)
        for earlier in reading.superseded:
            say(f"{earlier.rater} on {earlier.task_id}: rated again later; the later rating counts")
        say(
            f"{len(reading.ratings)} ratings of {len({rating.rater for rating in reading.ratings})} raters; "
            f"replaced {len(reading.superseded)}, breaches {len(reading.breaches)}"
        )
    raise typer.Exit(1 if reading.breaches else 0)


@app.command()
def analyse(
    files: RATINGS,
    to: FOLDER,
    responses: RESPONSES = None,
    rubric: RUBRICS = None,
    across: Annotated[
        bool, typer.Option("--across-versions", help="put ratings by several versions of the rubric together")
    ] = False,
    seed: SEED = SHIPPED_SEED,
) -> None:
    """Write the workflow's files: agreement, disagreements, fatigue, means by condition, what the rules changed.

    Example: excam rubric analyse ratings.jsonl --responses responses.jsonl --to report
    """
    from excam.pages import by_hand
    from excam.rubric import checks, quality
    from excam.rubric import responses as reading

    with exit_on_error(), each_line_once():
        _, rated = _read(checks.sound, files, responses, _all_opened(rubric))
        if not across:
            quality.same_rubric(rated.ratings)
        made_of = {"ratings": _rating_files(files), "responses": reading.files(responses) if responses else []}
        by_hand.write("rubric", to, made_of, {"rubric": rubric or [CURRENT], "seed": seed})


@app.command()
def change(
    reason: Annotated[str, typer.Option(help="why the rubric changes, in a sentence or two")],
    example: Annotated[list[str], typer.Option(help="id of a response that shows it; repeat for several")],
    rubric: RUBRIC = CURRENT,
    edited: Annotated[
        Path | None, typer.Option(help="the manual with new words, as .yaml; else only the reason is added")
    ] = None,
    to: Annotated[Path, typer.Option(help="folder of the audit trail")] = Path("rubric"),
) -> None:
    """Make the next version of the rubric in the middle of a study, and log the time, the reason and the examples.

    Example: excam rubric change --reason "Proverbs are no stereotypes." --example task-17 --to rubric
    """
    from datetime import UTC, datetime

    from excam.rubric import changes, manual

    with exit_on_error():
        words = manual.load(str(edited)) if edited else None
        now = datetime.now(UTC).isoformat(timespec="seconds")
        line, made = changes.change(to, changes.opened(rubric), words, reason, example, now)
        say(
            f"{to / made.name}.yaml: line {line['number']} of {to / changes.LOG}; rate with --rubric "
            f"{to / made.name}.yaml; hash of the line {line['hash'][:12]}"
        )


def _all_opened(rubrics: Sequence[str] | None) -> list[ScoringRubric]:
    """Return several manuals. Raise InputInvalid."""
    from excam.rubric import changes

    return [changes.opened(rubric) for rubric in rubrics or [CURRENT]]


def _read(
    read: Callable[[Sequence[Path], Sequence[Response], Sequence[ScoringRubric]], FileRatings],
    files: Sequence[Path],
    responses: Path | None,
    rubrics: Sequence[ScoringRubric],
) -> tuple[list[Response], FileRatings]:
    """Return the responses and the ratings of files and folders. Raise InputInvalid."""
    from excam.rubric import responses as reading

    all_responses = reading.read(reading.files(responses)) if responses else []
    if not all_responses:
        say("no --responses: no means by condition; rules that need a fact about a task are not decided")
    return all_responses, read(_rating_files(files), all_responses, rubrics)


def _rating_files(files: Sequence[Path]) -> list[Path]:
    """Return the files of ratings that are named, or that named folders hold."""
    from excam.rubric import responses as reading

    return [path for file in files for path in ([file] if file.suffix == ".parquet" else reading.files(file))]
