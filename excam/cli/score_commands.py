"""`excam score` and `excam explain`. Data goes to stdout, everything else to stderr.

Exit codes of `score`: 0 rows were scored; 1 no row could be scored; 2 invalid input, described in one line; 3 errors of
the severity of --fail-on were found; 4 the budget is spent, and the same command continues; 130 interrupted, and with
--to the same command continues.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from excam.core import paths
from excam.core.exceptions import BudgetSpent
from excam.core.offline import switch_on
from excam.core.provenance import say
from excam.core.terminal import exit_on_error, print_json, stop
from excam.scoring import defaults
from excam.scoring.spans import SEVERITIES
from excam.scoring.target import target

if TYPE_CHECKING:
    from excam.inference.budget import Budget
    from excam.scoring.evidence import Index
    from excam.scoring.scored import Scored

FILE = Annotated[
    Path,
    typer.Argument(help="JSON Lines, CSV, TSV, Parquet, a folder saved by `datasets`, or -: JSON Lines on stdin"),
]
ADAPTER = Annotated[
    str,
    typer.Option(
        "--model", "--adapter", help="an adapter or its name below results/adapters, a model, or NAME@http://host/v1"
    ),
]
JUDGE = Annotated[
    str | None, typer.Option(help="how it is asked: report (as adapters are trained), else prompted-report")
]
ENGINE = Annotated[
    str | None, typer.Option("--backend", help="vllm or transformers; by default vllm where a GPU is visible")
]
BASE = Annotated[Path | None, typer.Option(help="folder of the base model, if it is not found automatically")]
MAX_TOKENS = Annotated[int, typer.Option(min=1, help="token limit of a report")]
ADAPTERS = Annotated[
    list[Path] | None,
    typer.Option(
        "--adapter",
        help="folder of the adapter, or its name below results/adapters; repeat the option for several judges",
    ),
]
BASES = Annotated[
    list[Path] | None, typer.Option("--base", help="folder of the base model; one for each --adapter, or none")
]
COMBINE = Annotated[str, typer.Option(help="score of several judgements: mean, median or reciprocal-rank")]
REPEAT = Annotated[int, typer.Option(help="number of judgements by each model; needs --temperature")]
TEMPERATURE = Annotated[float, typer.Option(help="0: greedy decoding; above 0: sampled, with fixed seeds")]
BAND = Annotated[
    tuple[float, float], typer.Option(help="probabilities of an error between which the verdict is unsure")
]
MODEL = Annotated[
    str | None,
    typer.Option(help="what judges: an adapter, a folder with a model, or NAME@http://host/v1"),
]
DEFAULT = paths.ADAPTERS / "smollm2-135m" / "all"  # trained by the first command of the README
BUDGET = Annotated[
    float | None, typer.Option(help="what a paid server may cost in this run; the same command goes on later")
]
PRICE = Annotated[
    tuple[float, float] | None,
    typer.Option(help="of a million prompt tokens and of a million answer tokens; else that of config.yaml"),
]
SERVER = Annotated[
    str | None, typer.Option(help="address of a running `excam serve` that judges instead of a local model")
]
OFFLINE = Annotated[bool, typer.Option("--offline", help="open no connection, as with EXCAM_OFFLINE=1")]
NAMES = "name of the column"


def score(
    file: FILE,
    metric: Annotated[str, typer.Option(help="excam, or a Python module with a metric of your own")] = "excam",
    model: MODEL = None,
    adapter: ADAPTERS = None,
    base: BASES = None,
    judge: JUDGE = None,
    engine: ENGINE = None,
    to: Annotated[
        Path | None, typer.Option(help="write JSON Lines to this file; the same command continues after a crash")
    ] = None,
    max_tokens: MAX_TOKENS = defaults.MAX_TOKENS,
    instruction: Annotated[str, typer.Option(help=NAMES)] = "instruction",
    output: Annotated[str, typer.Option(help=NAMES)] = "output",
    id_: Annotated[str, typer.Option("--id", help=NAMES)] = "id",
    language: Annotated[str, typer.Option(help=NAMES)] = "language",
    system: Annotated[str, typer.Option(help=NAMES + " with the author of the output")] = "system",
    culture: Annotated[str, typer.Option(help=NAMES)] = "culture",
    evidence: Annotated[
        Path | None, typer.Option(help="an index of `excam calmqa index`: its passages are put before the judge")
    ] = None,
    fail_on: Annotated[
        str | None, typer.Option(help="minor or major: exit with code 3 if such an error is found")
    ] = None,
    repeat: REPEAT = 1,
    temperature: TEMPERATURE = 0.0,
    combine: COMBINE = "mean",
    band: BAND = defaults.BAND,
    server: SERVER = None,
    budget: BUDGET = None,
    price: PRICE = None,
    offline: OFFLINE = False,
) -> None:
    """Find, rate and explain cultural errors in instruction-output pairs.

    With --metric NAME, rows are scored by that metric, which names the columns that it needs; of the options only
    --model, --backend, --evidence, --to, --budget, --price, --fail-on and --offline apply to every metric.

    Results are JSON Lines on stdout, or in the file of --to. Exit codes: 0 rows were scored, 1 none could be scored,
    2 invalid input, 3 errors of the severity of --fail-on were found, 4 the budget is spent.

    Example: excam score texts.jsonl --to scored.jsonl; excam score answers.csv --instruction prompt --output answer
    """
    from excam.core.provenance import quiet_libraries
    from excam.error_reports.metric.ensemble import Repetition, open_judge, results
    from excam.error_reports.metric.scorer import first_requests
    from excam.scoring import budgets
    from excam.scoring.client import connect
    from excam.scoring.evidence import open_index
    from excam.scoring.pairs import Columns, PairFile, spooled
    from excam.scoring.summary import Summary
    from excam.scoring.warnings import unchecked_line

    quiet_libraries()
    if offline:
        switch_on()
    summary = Summary()
    with exit_on_error(), _explain_interruption(to):
        if to:
            to = target(to, file)
        if server:
            _refuse_beside_a_server(
                adapter=adapter,
                base=base,
                judge=judge,
                backend=engine,
                max_tokens=max_tokens,
                repeat=repeat,
                temperature=temperature,
                combine=combine,
                band=band,
                budget=budget,
                price=price,
                evidence=evidence,
            )
        if fail_on and fail_on not in SEVERITIES:
            stop(f"--fail-on: found {fail_on}; expected {' or '.join(SEVERITIES)}")
        columns = Columns(instruction, output, id_, language, system, culture)
        judges = [model] if model else adapter or [DEFAULT]
        limit = budgets.checked(budget, price, [str(one) for one in judges])
        if limit and not to:
            stop("--budget: found without --to; expected a file, where a later run goes on; give --to FILE")
        if line := unchecked_line():
            say(line)
        index = open_index(evidence) if evidence else None
        with spooled(file) as source:
            if metric == "excam":
                repetition = Repetition(repeat, temperature, combine, band)  # pyright: ignore[reportArgumentType]
                rows = PairFile(source, columns)
                if limit and to:
                    say(budgets.estimate(limit, rows, partial(first_requests, judge), max_tokens, to, repeat))
                scorer = (
                    connect(server)
                    if server
                    else open_judge(judges, base or [], max_tokens, repetition, judge, engine, limit, index)
                )
                found = results(scorer, rows, to)
            else:
                found = _results_of(metric, source, model, engine, to, limit, index)
            for result in summary.counting(found):
                if not to:
                    print_json(result.to_dict())
            if limit:
                say(limit.line)
    for line in summary.lines:
        say(line)
    raise typer.Exit(summary.exit_code(fail_on))


def _results_of(
    name: str,
    file: Path,
    model: str | None,
    engine: str | None,
    to: Path | None,
    limit: Budget | None,
    index: Index | None,
) -> Iterator[Scored]:
    """Yield the results of a metric other than ExCAM's."""
    from excam.scoring import budgets, files, metrics, score_rows

    metric = metrics.load(name)
    if not model and (metric.MAX_TOKENS or hasattr(metric, "prepare")):
        stop("--metric: needs --model: an adapter, the folder of a fetched model, or NAME@http://host/v1")
    rows = score_rows.RowFile(file, metric)
    metric = metrics.prepared(metric, rows, model or "", index)
    if limit and to:
        say(budgets.estimate(limit, rows, lambda row: next(metric.flow(row), ()), metric.MAX_TOKENS, to))
    return files.results(score_rows.RowScorer(metric, model or "", engine, limit), rows, to)


@contextmanager
def _explain_interruption(to: Path | None) -> Iterator[None]:
    try:
        yield
    except KeyboardInterrupt:
        say("excam: interrupted" + ("; the same command goes on from here" if to else ""))
        raise typer.Exit(130) from None
    except BudgetSpent as problem:
        say(f"excam: {problem}; what was answered is kept, and the same command goes on from here")
        raise typer.Exit(4) from None


def _refuse_beside_a_server(**given: object) -> None:
    """Stop if an option is given that only the server can set; it would have no effect."""
    default = {"repeat": 1, "temperature": 0.0, "combine": "mean", "band": defaults.BAND}
    default["max_tokens"] = defaults.MAX_TOKENS
    if named := [name for name, value in given.items() if value != default.get(name)]:
        options = ", ".join(f"--{name.replace('_', '-')}" for name in named)
        stop(f"{options}: not beside --server, which judges each pair once, as it was started; leave it out")


def explain(
    file: FILE,
    adapter: ADAPTER = str(DEFAULT),
    base: BASE = None,
    max_tokens: MAX_TOKENS = defaults.MAX_TOKENS,
    only: Annotated[str, typer.Option(help="show errors, failures, or all")] = "all",
    limit: Annotated[int | None, typer.Option(min=1, help="stop after this number of shown rows")] = None,
) -> None:
    """Show results in the terminal: the texts with erroneous words marked, what is wrong, and why.

    FILE is a file that `excam score` wrote with any metric, or a file of pairs, which ExCAM judges first. Lines are as
    wide as the terminal, or $COLUMNS.

    Example: excam explain scored.jsonl --only errors --limit 10; FORCE_COLOR=1 excam explain scored.jsonl | less -R
    """
    from excam.core.provenance import quiet_libraries
    from excam.error_reports.metric.scorer import Metric
    from excam.scoring import display, files, pairs, scored_file

    quiet_libraries()
    with exit_on_error():
        if only not in display.ONLY:
            stop(f"--only: found {only}; expected {', '.join(display.ONLY)}")
        with pairs.spooled(file) as source:
            results = (
                scored_file.read(source)
                if scored_file.is_scored(source)
                else files.results(Metric.open(adapter, base, max_tokens), pairs.PairFile(source, pairs.PLAIN))
            )
            display.show(results, only, limit)
