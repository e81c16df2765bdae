"""The commands of people who score texts. Data goes to stdout, everything else to stderr.

Exit codes: 0 judged; 1 not one row could be judged; 2 what was asked cannot be done, said in one line; 3 errors as
severe as `--fail-on` names were found; 130 interrupted, and with --to the same command goes on from there.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from excam.exceptions import ExcamError
from excam.offline import switch_on
from excam.records import SEVERITIES
from excam.terminal import print_json, stop

FILE = Annotated[
    Path,
    typer.Argument(help="JSON Lines, CSV, TSV, Parquet, a folder saved by `datasets`, or -: JSON Lines on stdin"),
]
ADAPTER = Annotated[Path, typer.Option(help="folder of the adapter")]
BASE = Annotated[Path | None, typer.Option(help="folder of the base model, where it is not found by itself")]
MAX_TOKENS = Annotated[int, typer.Option(min=1, help="longest report, in tokens")]
EMBEDDED = Path("results/adapters/smollm2-135m/all")
SERVER = Annotated[str | None, typer.Option(help="address of a running `excam serve`, which judges instead")]
OFFLINE = Annotated[bool, typer.Option("--offline", envvar="EXCAM_OFFLINE", help="refuse whatever asks a network")]
NAMES = "what the column is called"


def score(
    file: FILE,
    adapter: ADAPTER = EMBEDDED,
    base: BASE = None,
    to: Annotated[Path | None, typer.Option(help="write JSON Lines here, and go on from here after a crash")] = None,
    max_tokens: MAX_TOKENS = 512,
    instruction: Annotated[str, typer.Option(help=NAMES)] = "instruction",
    output: Annotated[str, typer.Option(help=NAMES)] = "output",
    id_: Annotated[str, typer.Option("--id", help=NAMES)] = "id",
    language: Annotated[str, typer.Option(help=NAMES)] = "language",
    system: Annotated[str, typer.Option(help=NAMES + " that says who wrote the output")] = "system",
    fail_on: Annotated[str | None, typer.Option(help="minor or major: exit code 3 where one is found")] = None,
    server: SERVER = None,
    offline: OFFLINE = False,
) -> None:
    """Judge instruction-output pairs: where they get a culture wrong, how badly, and why.

    Results are JSON Lines on stdout, or in the file of --to. Exit codes: 0 judged, 1 not one row could be, 2 not done,
    3 errors that --fail-on names.

    Example: excam score texts.jsonl --to scored.jsonl; excam score answers.csv --instruction prompt --output answer
    """
    from excam.metric.client import connect
    from excam.metric.files import kept, scored
    from excam.metric.metric import Metric
    from excam.metric.pairs import Columns, PairFile, spooled
    from excam.metric.scored import Seen
    from excam.provenance import quiet_libraries

    quiet_libraries()
    if offline:
        switch_on()
    seen = Seen()
    try:
        if to and (to.is_dir() or to.resolve() == file.resolve()):
            stop(f"{to}: is {'a folder' if to.is_dir() else 'the input'}; expected another file to write to")
        if fail_on and fail_on not in SEVERITIES:
            stop(f"--fail-on: found {fail_on}; expected {' or '.join(SEVERITIES)}")
        columns = Columns(instruction, output, id_, language, system)
        with spooled(file) as source:
            rows = PairFile(source, columns)
            metric = connect(server) if server else Metric.open(adapter, base, max_tokens)
            for result in seen.each(kept(metric, rows, to) if to else scored(metric, rows)):
                if not to:
                    print_json(result.to_dict())
    except ExcamError as problem:
        stop(problem)
    except KeyboardInterrupt:
        print("excam: interrupted" + ("; the same command goes on from here" if to else ""), file=sys.stderr)
        raise typer.Exit(130) from None
    print(seen.summary, file=sys.stderr)
    raise typer.Exit(seen.exit_code(fail_on))


def explain(
    file: FILE,
    adapter: ADAPTER = EMBEDDED,
    base: BASE = None,
    max_tokens: MAX_TOKENS = 512,
) -> None:
    """Show error reports for people: both texts with their erroneous words marked, what is wrong, and why.

    FILE is what `excam score` wrote, which is shown as it is, or pairs, which are judged first.

    Example: excam explain scored.jsonl | less -R
    """
    from excam.metric import display, pairs, scored
    from excam.metric.files import scored as judged
    from excam.metric.metric import Metric
    from excam.provenance import quiet_libraries

    quiet_libraries()
    try:
        with pairs.spooled(file) as source:
            results = (
                scored.read(source)
                if scored.is_scored(source)
                else judged(Metric.open(adapter, base, max_tokens), pairs.PairFile(source, pairs.PLAIN))
            )
            display.show(results)
    except ExcamError as problem:
        stop(problem)
