"""`excam calibrate`: fit the probability of an error on rows with known truth."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from excam.cli.score_commands import ENGINE
from excam.core.exceptions import InputInvalid
from excam.core.terminal import exit_on_error, print_json

TRUE, FALSE = ("true", "yes", "1"), ("false", "no", "0")


def calibrate(
    scored: Annotated[Path, typer.Argument(help="file written by `excam score --to` with this adapter")],
    gold: Annotated[Path, typer.Option(help="a file with the same ids and the truth: JSON Lines, CSV, Parquet, ...")],
    adapter: Annotated[
        Path,
        typer.Option(
            help="folder of the adapter, or its name below results/adapters; calibration.json is written into it"
        ),
    ],
    base: Annotated[
        Path | None, typer.Option(help="folder of the base model, if it is not found automatically")
    ] = None,
    engine: ENGINE = None,
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
) -> None:
    """Fit the probability of an error, so that `excam score` can say "unsure".

    Use rows like those you will judge, and none that the adapter was trained on. The fit is printed as JSON on stdout.

    Example: excam calibrate scored.jsonl --gold judged-by-people.csv --adapter results/adapters/smollm2-135m/all
    """
    from excam.core.provenance import quiet_libraries, say, sha256, write_json
    from excam.error_reports.metric import probability
    from excam.error_reports.metric.scorer import Metric
    from excam.scoring import adapters
    from excam.scoring.pairs import spooled
    from excam.scoring.scored_file import read

    quiet_libraries()
    with exit_on_error(), spooled(scored) as results, spooled(gold) as known:
        if method not in probability.METHODS:
            raise InputInvalid(f"--method: found {method}; expected {' or '.join(probability.METHODS)}")
        folder = adapters.folder(adapter)
        judge = Metric.open(folder, base, calibration=None, engine=engine)
        truth = truths(known, id_, column)
        made = probability.fitted(read(results), truth, probability.METHODS[method], judge.signature)
        made |= {"adapter": sha256(folder / adapters.ADAPTER), "rows": sha256(results), "gold": sha256(known)}
        write_json(folder / probability.FILE, made)
        if (n := made["calibration"]["n"]) < probability.FEW:
            say(f"fitted on {n} rows: rough; {probability.FEW} or more are better")
        print_json(made, indent=2)


def truths(path: Path, id_: str, column: str) -> dict[str, bool]:
    """Return whether each row has an error, by id. Raises InputInvalid for a row without id or truth."""
    from excam.scoring.pairs import rows

    found: dict[str, bool] = {}
    for number, row in rows(path):
        where = f"{path}:{number}"
        if not isinstance(row, Mapping) or row.get(id_) is None or column not in row:
            raise InputInvalid(f"{where}: no {id_} or no {column}; expected both; name them with --id and --column")
        key = str(row[id_])
        if key in found:
            raise InputInvalid(f"{where}: {id_} {key} occurs twice; expected one truth for each row")
        found[key] = _truth(row[column], where, column)
    return found


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
        f"{where}: {column} is {str(value)[:40]}; expected true or false, 1 or 0, or a score of 0 or less"
    )
