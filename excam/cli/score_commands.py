"""`excam score` and `excam explain`. Data goes to stdout, everything else to stderr.

Exit codes of `score`: 0 rows were scored; 1 no row could be scored; 2 invalid input, described in one line; 3 errors of
the severity of --fail-on were found; 130 interrupted, and with --to the same command continues.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from excam.core.offline import switch_on
from excam.core.provenance import say
from excam.core.terminal import ID, JSON, exit_on_error, print_json, stop
from excam.scoring.options import Options, with_options
from excam.scoring.spans import SEVERITIES
from excam.scoring.target import OVERWRITE, target

if TYPE_CHECKING:
    from excam.scoring.metric import Metric
    from excam.scoring.rows import RowFile
    from excam.scoring.summary import Summary

    _Job = tuple[Path, RowFile, int, Path | None]  # the file as it was named, its rows, their number, the target

FILE_FORMATS = (
    "JSON Lines, JSON, CSV, TSV, Parquet, Arrow, also packed; Excel; a folder saved by `datasets`; samples of "
)
FILE_FORMATS += "lm-evaluation-harness; logs of inspect_ai; or -, standard input"
FILES = Annotated[list[Path], typer.Argument(help=FILE_FORMATS)]


OFFLINE = Annotated[bool, typer.Option("--offline", help="open no connection, as with EXCAM_OFFLINE=1")]
NAME = Annotated[str | None, typer.Option(help="name of the column in the file")]


@with_options
def score(
    files: FILES,
    *,
    scoring: Options,
    to: Annotated[
        Path | None,
        typer.Option(
            help="file to write: .jsonl, .parquet, .csv; for several files a folder; the same command continues "
            "after a crash"
        ),
    ] = None,
    overwrite: OVERWRITE = False,
    instruction: NAME = None,
    output: NAME = None,
    id_: Annotated[str | None, ID] = None,
    language: NAME = None,
    system: Annotated[str | None, typer.Option(help="name of the column with the author of the output")] = None,
    culture: NAME = None,
    column: Annotated[
        list[str] | None, typer.Option(help="NAME=COLUMN: where another column of the metric is; may be repeated")
    ] = None,
    encoding: Annotated[str | None, typer.Option(help="of a text file that is not UTF-8, such as cp1252")] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="score the first rows only")] = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="stop at a row that cannot be scored; by default it is counted")
    ] = False,
    fail_on: Annotated[str | None, typer.Option(help="minor or major: exit with 3 if such an error is found")] = None,
    offline: OFFLINE = False,
) -> None:
    """Score rows with a metric: by default cultural errors in texts and their instructions.

    Columns are found by their names, also prompt and response, question and answer, and chat messages; what is read as
    what is said in a line. `excam list metrics` shows what each metric reads and needs; an option that a metric cannot
    have is refused. A row that cannot be scored is a result with its failure.

    Results are JSON Lines on stdout, or in the file of --to. Exit codes: 0 rows were scored, 1 none could be scored,
    2 invalid input, 3 errors of the severity of --fail-on were found.

    Example: excam score texts.jsonl --to scored.jsonl; excam score answers.csv --metric rubric --model m@http://host/v1
    """
    from excam.core.command_input import spooled
    from excam.core.provenance import quiet_libraries
    from excam.scoring.rows import RowFile
    from excam.scoring.summary import Summary

    quiet_libraries()
    if offline:
        switch_on()
    summary = Summary()
    with exit_on_error(), _explain_interruption(to), ExitStack() as opened:
        targets = _targets(files, to)
        wanted = _checked(scoring, fail_on, to, overwrite=overwrite)
        named = _named(column, instruction, output, id_, language, system, culture)
        inputs = [RowFile(opened.enter_context(spooled(file)), wanted, named, encoding, limit) for file in files]
        totals = [_surveyed(rows, file, strict=strict) for rows, file in zip(inputs, files, strict=True)]
        _score(scoring, zip(files, inputs, totals, targets, strict=True), to, summary, overwrite=overwrite)
    for line in summary.lines:
        say(line)
    raise typer.Exit(summary.exit_code(fail_on))


def _checked(scoring: Options, fail_on: str | None, to: Path | None, *, overwrite: bool) -> Metric:
    """Return the metric. Stop the command for options that have no effect, or no sense, beside each other."""
    from excam.scoring.opening import checked

    if fail_on and fail_on not in SEVERITIES:
        stop(f"--fail-on: found {fail_on}; expected {' or '.join(SEVERITIES)}")
    if overwrite and not to:
        stop("--overwrite: found without --to; expected a file to write; leave it out")
    wanted = checked(scoring)
    if fail_on and not wanted.description.lists_errors:
        stop(f"--fail-on: metric {wanted.name} lists no errors; expected one that does; leave it out")
    return wanted


def _score(scoring: Options, jobs: Iterable[_Job], to: Path | None, summary: Summary, *, overwrite: bool) -> None:
    """Score the rows of each file into its target, or print the results, and count them."""
    from excam.scoring import files as scored_files
    from excam.scoring.opening import open_scorer
    from excam.scoring.warnings import unchecked_line

    if line := unchecked_line():
        say(line)
    scorer = open_scorer(scoring)
    for file, rows, total, target_ in jobs:
        for result in summary.counting(scored_files.results(scorer, rows, total, target_, overwrite=overwrite)):
            if not target_:
                print_json(result.to_dict())
        if target_ and to and target_.name != to.name:
            say(f"{file}: results in {target_}")


def _targets(files: list[Path], to: Path | None) -> list[Path | None]:
    """Return the file to write for each input. Stop the command where one would be written twice, or over an input."""
    from excam.scoring.result_files import suffix_of

    if to is None:
        if len(files) > 1:
            stop(f"--to: missing for {len(files)} files, whose rows would be mixed; expected a folder, such as scored")
        return [None]
    if len(files) == 1 and not to.is_dir():
        suffix_of(to)
        return [target(to, *files)]
    if to.suffix or (to.exists() and not to.is_dir()):
        stop(f"--to: found {to} for {len(files)} files; expected a folder, such as scored")
    names = [f"{file.name.split('.')[0] or 'stdin'}.jsonl" for file in files]
    if len(set(names)) < len(names):
        stop(f"--to: {len(files)} files, and two of one name; expected names of their own; score them one by one")
    to.mkdir(parents=True, exist_ok=True)
    return [target(to / name, *files) for name in names]


def _named(column: list[str] | None, *options: str | None) -> dict[str, str]:
    """Return the columns that the user names, by our name."""
    names = ("instruction", "output", "id", "language", "system", "culture")
    columns = {name: value for name, value in zip(names, options, strict=True) if value is not None}
    for assignment in column or ():
        name, sign, value = assignment.partition("=")
        if not sign or not name or not value:
            stop(f"--column: found {assignment}; expected NAME=COLUMN, such as translation=mt_output")
        if columns.get(name, value) != value:
            stop(f"--column: found {columns[name]} and {value} for {name}; expected one of them")
        columns[name] = value
    return columns


def _surveyed(rows: RowFile, file: Path, *, strict: bool) -> int:
    """Count the rows of a file, and say how it is read and how many rows cannot be scored."""
    survey = rows.survey()
    failed = sum(survey.failures.values())
    if failed * 2 > survey.rows:
        say(f"excam: warning: {failed} of {survey.rows} rows cannot be scored; the first: {survey.first}")
    if rows.said:
        say(rows.said.replace(str(rows.path), str(file)))
    if failed and strict:
        stop(f"{survey.first.replace(str(rows.path), str(file))}; expected none with --strict ({failed} such rows)")
    return survey.rows


@contextmanager
def _explain_interruption(to: Path | None) -> Iterator[None]:
    try:
        yield
    except KeyboardInterrupt:
        say("excam: interrupted" + ("; the same command goes on from what was answered" if to else ""))
        raise typer.Exit(130) from None


def explain(
    files: Annotated[list[Path], typer.Argument(help="files that `excam score` wrote, with any metric; - for stdin")],
    only: Annotated[str, typer.Option(help="show errors, failures, not-known, or all")] = "all",
    limit: Annotated[int | None, typer.Option(min=1, help="stop after this number of shown rows")] = None,
    whole: Annotated[bool, typer.Option("--whole", help="show long texts whole, not only around marked words")] = False,
    as_json: JSON = False,
) -> None:
    """Show results in the terminal: the texts with erroneous words marked, what is wrong, and why.

    Lines are as wide as the terminal, or $COLUMNS. Of a long text, the parts around marked words are shown.

    Example: excam explain scored.jsonl --only errors --limit 10; excam score texts.csv | excam explain -
    """
    from excam.core.command_input import spooled
    from excam.scoring import display, result_files

    with exit_on_error():
        if only not in display.ONLY:
            stop(f"--only: found {only}; expected {', '.join(display.ONLY)}")
        for file in files:
            with spooled(file) as source:
                if source.exists() and not result_files.is_scored(source):
                    stop(f"{file}: no scored rows; score it first: excam score {file} --to scored.jsonl")
                if as_json:
                    for result in islice(filter(display.ONLY[only], result_files.read(source)), limit):
                        print_json(result.to_dict())
                    continue
                if len(files) > 1:
                    display.heading(str(file))
                display.show(result_files.read(source), only, limit, whole=whole)


def list_metrics() -> list[dict[str, Any]]:
    """Return what each metric reads, returns and needs, as lines of a table."""
    from excam.scoring.metric import available

    lines: list[dict[str, Any]] = []
    for metric in available().values():
        needs = {"texts": "a model that writes", "likelihoods": "a model", "nothing": ""}[metric.asks]
        needs = "an encoder" if metric.needs_model else needs
        needs += " and an index of evidence" if metric.evidence == "own" else ""
        low, high = metric.range or (None, None)
        lines.append(
            {
                "metric": metric.name,
                "reads": ", ".join(metric.columns),
                "may read": ", ".join(metric.optional),
                "returns": metric.mean + ("" if low is None else f" ({low:g} to {high:g})"),
                "needs": needs or "nothing",
            }
        )
    return lines
