"""`excam calibrate`: fit the probability of an error on rows with known truth."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from excam.core.exceptions import InputInvalid
from excam.core.terminal import exit_on_error, print_json
from excam.scoring.target import OVERWRITE

TRUE, FALSE = ("true", "yes", "1"), ("false", "no", "0")


def calibrate(
    scored: Annotated[
        Path, typer.Argument(help="file written by `excam score --to`, with any metric that has a range")
    ],
    gold: Annotated[Path, typer.Option(help="a file with the same ids and the truth: JSON Lines, CSV, Parquet, ...")],
    to: Annotated[
        Path | None, typer.Option(help="file to write, for `excam score --calibration`; or give the adapter")
    ] = None,
    adapter: Annotated[
        Path | None,
        typer.Option(help="folder of the adapter that scored, or its name below results/adapters, to write it there"),
    ] = None,
    metric: Annotated[str, typer.Option(help="the metric that scored, if it is not one of `excam list metrics`")] = "",
    column: Annotated[
        str,
        typer.Option(
            help="column of the truth: true, yes, 1 or a negative score for an error; false, no or 0 for none"
        ),
    ] = "error",
    id_: Annotated[str, typer.Option("--id", help="name of the column of ids")] = "id",
    method: Annotated[
        str, typer.Option(help="platt: two numbers, for few rows; isotonic: any shape, for many")
    ] = "platt",
    overwrite: OVERWRITE = False,
) -> None:
    """Fit the probability of an error, so that `excam score` can say "unsure".

    Use rows like those you will judge, and none that the model was trained on. It holds for this judge alone: the same
    metric, model, prompt and settings. The fit is printed as JSON on stdout.

    Example: excam calibrate scored.jsonl --gold judged-by-people.csv --to calibration.json
    """
    from excam.core.command_input import spooled
    from excam.core.provenance import say, sha256, write_json
    from excam.scoring import adapters, calibration
    from excam.scoring import metric as metrics
    from excam.scoring.joining import join
    from excam.scoring.result_files import read

    with exit_on_error(), spooled(scored) as results, spooled(gold) as known:
        if method not in calibration.METHODS:
            raise InputInvalid(f"--method: found {method}; expected {' or '.join(calibration.METHODS)}")
        if (to is None) == (adapter is None):
            raise InputInvalid(
                "--to: expected a file to write, or --adapter, beside which it is found; give one of them"
            )
        folder = adapters.folder(adapter) if adapter else None
        place = folder / calibration.FILE if folder else to
        assert place is not None, "one of the two is given"
        if to and to.exists() and not overwrite:
            raise InputInvalid(f"{to}: is there already; expected none; name another file, or give --overwrite")
        rows = list(read(results))
        if not rows:
            raise InputInvalid(f"{scored}: 0 rows; expected what `excam score --to` wrote")
        judged = calibration.judge_of(rows[0].signature)
        if folder and f"@{adapters.manifest(folder).outputs[adapters.ADAPTER][:8]}" not in judged:
            raise InputInvalid(f"{scored}: scored by {judged}; expected the adapter in {folder}; score it again")
        truth = truths(known, id_, column)
        joined = join([result.id for result in rows], truth)
        if joined.note:
            say(joined.note)
        by_id = {name: truth[other] for name, other in joined.theirs.items()}
        labelled = [result for result in rows if result.id in by_id]
        if len(labelled) < len(rows):
            say(f"{len(labelled)} of {len(rows)} rows have a truth in {gold}; the others are left out")
        name = judged.partition("|")[0]
        if not metric and name not in metrics.available():
            raise InputInvalid(f"{scored}: scored by {name}, a metric of your own; expected its file; give --metric")
        wanted = metrics.load(metric or name)
        made = calibration.fitted(labelled, by_id, calibration.METHODS[method], wanted)
        made |= {"rows": sha256(results), "gold": sha256(known)}
        write_json(place, made)
        if (n := made["calibration"]["n"]) < calibration.FEW:
            say(f"fitted on {n} rows: rough; {calibration.FEW} or more are better")
        print_json(made, indent=2)


def truths(path: Path, id_: str, column: str) -> dict[str, bool]:
    """Return whether each row has an error, by id, without rows whose truth is empty.

    Raises InputInvalid for a row without id or column, or with another value.
    """
    from excam.core.row_files import rows
    from excam.core.text import id_text

    truth_by_id: dict[str, bool] = {}
    for number, row in rows(path):
        where = f"{path}:{number}"
        key = id_text(row.get(id_))
        if key is None or column not in row:
            raise InputInvalid(f"{where}: no {id_} or no {column}; expected both; name them with --id and --column")
        if key in truth_by_id:
            raise InputInvalid(f"{where}: {id_} {key} occurs twice; expected one truth for each row")
        if (value := row[column]) is not None and str(value).strip():
            truth_by_id[key] = _truth(value, where, column)
    return truth_by_id


def _number(text: str) -> float | str:
    """Return the number in the text of a CSV field, or the text if it is not a number."""
    try:
        return float(text)
    except ValueError:
        return text


def _truth(value: Any, where: str, column: str) -> bool:
    if isinstance(value, str):
        word = value.strip().casefold()
        if word in (*TRUE, *FALSE):
            return word in TRUE
    number = _number(value) if isinstance(value, str) else value
    if isinstance(number, bool) or number in (0, 1):
        return bool(number)
    if isinstance(number, int | float) and number < 0:  # a gold score: the sum of severities
        return True
    raise InputInvalid(
        f"{where}: {column} is {str(value)[:40]}; expected true or false, 1 or 0, or a score of 0 or less; of a scale, "
        "write first which values are errors"
    )
