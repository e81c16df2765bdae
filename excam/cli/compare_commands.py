"""`excam compare`: systems on the same rows, from scored files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from excam.core.terminal import JSON, exit_on_error, print_json, stop

if TYPE_CHECKING:
    from excam.scoring.compare import System
    from excam.scoring.meta_rows import Labels


def compare(
    files: Annotated[list[Path], typer.Argument(help="scored files, one a system, or one that has a column system")],
    rows: Annotated[int, typer.Option(min=0, help="number of shown rows with the largest differences")] = 5,
    pairs: Annotated[bool, typer.Option("--pairs", help="which of two answers is better")] = False,
    gold: Annotated[
        Path | None, typer.Option(help="with --pairs: people's labels of the answers, by id; more is better")
    ] = None,
    label: Annotated[str, typer.Option(help="column of the labels")] = "label",
    id_: Annotated[str, typer.Option("--id", help="column of the ids of the labels")] = "id",
    item: Annotated[
        str | None, typer.Option(help="column of the labels that says what was answered; by default the instruction")
    ] = None,
    as_json: JSON = False,
) -> None:
    """Compare systems on the same rows, scored by the same metric: which is better, and how certain is that?

    Rows are joined by id, of one file by instruction; rows of one system only and rows that failed are left out and
    counted. Errors decide, by presence and severity, and never p(R). Of several systems, every two are compared, with
    p-values adjusted after Holm. With --pairs, which of two answers to one question the metric prefers and, with
    --gold, how often people prefer the same, beside trivial baselines. Exit codes: 0 compared, 2 not: other
    instructions, different signatures, no rows in common.

    Example: excam compare ours.jsonl theirs.jsonl; excam compare scored.jsonl --pairs --gold ratings.csv --label rating
    """
    from excam.core.provenance import say
    from excam.scoring import compare as comparing
    from excam.scoring import compare_display, compare_pairs, meta_rows, result_files
    from excam.scoring.warnings import OTHER_MODEL, UNQUALIFIED, warning_lines

    if gold and not pairs:
        stop("--gold: found no --pairs; expected both: labels say which of two answers is better")
    if twice := meta_rows.given_twice(files):
        stop(f"{twice}: given twice; expected one file for each system")
    with exit_on_error():
        names = meta_rows.names_of(files)
        systems = [(name, list(result_files.read(path))) for name, path in zip(names, files, strict=True)]
        warned = [code for _, results in systems for row in results for code in row.warnings]
        for line in warning_lines({code: warned.count(code) for code in (UNQUALIFIED, OTHER_MODEL)}):
            say(line)
        if pairs:
            columns = meta_rows.GoldColumns(label=label, item=item, id=id_)
            _pairs(systems, meta_rows.read_gold(gold, columns) if gold else None, as_json=as_json)
            return
        key = comparing.OWN_ID if len(systems) > 1 else compare_pairs.item_of
        systems = systems if len(systems) > 1 else compare_pairs.systems_of(systems[0])
        comparisons = comparing.compare(systems, rows, key)
        standings = comparing.standings(systems, key) if len(systems) > 2 else []
        if as_json:
            for standing in standings:
                print_json({"kind": "system", **asdict(standing)})
            for comparison in comparisons:
                for line in comparison.lines():
                    print_json(line)
        else:
            compare_display.show(comparisons, standings)


def _pairs(systems: Sequence[System], labels: Labels | None, *, as_json: bool) -> None:
    from excam.cli.meta_commands import surface_baselines
    from excam.scoring import compare_pairs, compare_pairs_display

    pairs = compare_pairs.compare_pairs(systems, labels, surface_baselines())
    if as_json:
        for line in pairs.lines():
            print_json(line)
    else:
        compare_pairs_display.show(pairs)
