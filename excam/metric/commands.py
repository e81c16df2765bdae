"""The commands of people who score texts. Data goes to stdout, everything else to stderr.

Exit codes: 0 judged; 1 not one row could be judged; 2 what was asked cannot be done, said in one line; 3 errors as
severe as `--fail-on` names were found; 130 interrupted, and with --to the same command goes on from there.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Annotated

import typer

from excam.metric import defaults
from excam.offline import switch_on
from excam.provenance import say
from excam.records import SEVERITIES
from excam.terminal import print_json, stop, stopping

FILE = Annotated[
    Path,
    typer.Argument(help="JSON Lines, CSV, TSV, Parquet, a folder saved by `datasets`, or -: JSON Lines on stdin"),
]
ADAPTER = Annotated[Path, typer.Option(help="folder of the adapter, or its name below results/adapters")]
BASE = Annotated[Path | None, typer.Option(help="folder of the base model, where it is not found by itself")]
MAX_TOKENS = Annotated[int, typer.Option(min=1, help="longest report, in tokens")]
ADAPTERS = Annotated[
    list[Path] | None,
    typer.Option(
        "--adapter", help="folder of the adapter, or its name below results/adapters; several judge one after another"
    ),
]
BASES = Annotated[list[Path] | None, typer.Option("--base", help="folder of the base model, for each adapter or none")]
COMBINE = Annotated[str, typer.Option(help="score of several judgements: mean, median or reciprocal-rank")]
REPEAT = Annotated[int, typer.Option(help="judgements by each model; needs a --temperature")]
TEMPERATURE = Annotated[float, typer.Option(help="0: the likeliest answer; above: drawn, with fixed seeds")]
BAND = Annotated[tuple[float, float], typer.Option(help="probabilities of an error between which it is unsure")]
DEFAULT = Path("results/adapters/smollm2-135m/all")  # what the first command of the README trains
SERVER = Annotated[str | None, typer.Option(help="address of a running `excam serve`, which judges instead")]
OFFLINE = Annotated[bool, typer.Option("--offline", help="open no connection, as with EXCAM_OFFLINE=1")]
NAMES = "what the column is called"


def score(
    file: FILE,
    adapter: ADAPTERS = None,
    base: BASES = None,
    to: Annotated[Path | None, typer.Option(help="write JSON Lines here, and go on from here after a crash")] = None,
    max_tokens: MAX_TOKENS = defaults.MAX_TOKENS,
    instruction: Annotated[str, typer.Option(help=NAMES)] = "instruction",
    output: Annotated[str, typer.Option(help=NAMES)] = "output",
    id_: Annotated[str, typer.Option("--id", help=NAMES)] = "id",
    language: Annotated[str, typer.Option(help=NAMES)] = "language",
    system: Annotated[str, typer.Option(help=NAMES + " that says who wrote the output")] = "system",
    culture: Annotated[str, typer.Option(help=NAMES)] = "culture",
    fail_on: Annotated[str | None, typer.Option(help="minor or major: exit code 3 where one is found")] = None,
    repeat: REPEAT = 1,
    temperature: TEMPERATURE = 0.0,
    combine: COMBINE = "mean",
    band: BAND = defaults.BAND,
    server: SERVER = None,
    offline: OFFLINE = False,
) -> None:
    """Judge instruction-output pairs: where they get a culture wrong, how badly, and why.

    Results are JSON Lines on stdout, or in the file of --to. Exit codes: 0 judged, 1 not one row could be, 2 not done,
    3 errors that --fail-on names.

    Example: excam score texts.jsonl --to scored.jsonl; excam score answers.csv --instruction prompt --output answer
    """
    from excam.metric.client import connect
    from excam.metric.ensemble import Several, opened, results
    from excam.metric.pairs import Columns, PairFile, spooled
    from excam.metric.scored import Seen
    from excam.provenance import quiet_libraries

    quiet_libraries()
    if offline:
        switch_on()
    seen = Seen()
    with stopping(), _told_of_an_interruption(to):
        if to:
            to = target(to, file)
        if server:
            _refuse_beside_a_server(
                adapter=adapter,
                base=base,
                max_tokens=max_tokens,
                repeat=repeat,
                temperature=temperature,
                combine=combine,
                band=band,
            )
        if fail_on and fail_on not in SEVERITIES:
            stop(f"--fail-on: found {fail_on}; expected {' or '.join(SEVERITIES)}")
        columns = Columns(instruction, output, id_, language, system, culture)
        with spooled(file) as source:
            rows = PairFile(source, columns)
            several = Several(repeat, temperature, combine, band)  # pyright: ignore[reportArgumentType]  # checked
            judge = connect(server) if server else opened(adapter or [DEFAULT], base or [], max_tokens, several)
            for result in seen.each(results(judge, rows, to)):
                if not to:
                    print_json(result.to_dict())
    for line in seen.summary:
        say(line)
    raise typer.Exit(seen.exit_code(fail_on))


@contextmanager
def _told_of_an_interruption(to: Path | None) -> Iterator[None]:
    try:
        yield
    except KeyboardInterrupt:
        say("excam: interrupted" + ("; the same command goes on from here" if to else ""))
        raise typer.Exit(130) from None


def target(to: Path, source: Path) -> Path:
    """The file to write: what a link leads to. Stops where it would be a folder, a device, or the input itself."""
    if to.is_symlink():
        with suppress(FileNotFoundError):
            to.stat()  # an OSError for a loop of links, which resolve() raises as something else in some Pythons
    found = to.resolve() if to.is_symlink() else to
    odd = found.exists() and not found.is_file()
    if odd or (found.exists() and source.exists() and found.samefile(source)):
        kind = "a folder" if found.is_dir() else "no plain file" if odd else "the input"
        stop(f"{to}: is {kind}; expected another file to write to")
    return found


def _refuse_beside_a_server(**given: object) -> None:
    """Stop where an option is given that the server has decided: nobody would see that it changed nothing."""
    usual = {"repeat": 1, "temperature": 0.0, "combine": "mean", "band": defaults.BAND}
    usual["max_tokens"] = defaults.MAX_TOKENS
    if named := [name for name, value in given.items() if value != usual.get(name)]:
        options = ", ".join(f"--{name.replace('_', '-')}" for name in named)
        stop(f"{options}: not beside --server, which judges each pair once, as it was started; leave it out")


def explain(
    file: FILE,
    adapter: ADAPTER = DEFAULT,
    base: BASE = None,
    max_tokens: MAX_TOKENS = defaults.MAX_TOKENS,
    only: Annotated[str, typer.Option(help="show errors, failures, or all")] = "all",
    limit: Annotated[int | None, typer.Option(min=1, help="stop after so many rows were shown")] = None,
) -> None:
    """Show error reports for people: both texts with their erroneous words marked, what is wrong, and why.

    FILE is what `excam score` wrote, which is shown as it is, or pairs, which are judged first. Lines are as
    wide as the terminal, or $COLUMNS.

    Example: excam explain scored.jsonl --only errors --limit 10; FORCE_COLOR=1 excam explain scored.jsonl | less -R
    """
    from excam.metric import display, pairs, scored_file
    from excam.metric.files import scored as judged
    from excam.metric.metric import Metric
    from excam.provenance import quiet_libraries

    quiet_libraries()
    with stopping():
        if only not in display.ONLY:
            stop(f"--only: found {only}; expected {', '.join(display.ONLY)}")
        with pairs.spooled(file) as source:
            results = (
                scored_file.read(source)
                if scored_file.is_scored(source)
                else judged(Metric.open(adapter, base, max_tokens), pairs.PairFile(source, pairs.PLAIN))
            )
            display.show(results, only, limit)
