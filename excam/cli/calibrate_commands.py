"""`excam calibrate`: fit the probability of an error on rows with known truth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from excam.core.exceptions import InputInvalid
from excam.core.terminal import ID, exit_on_error, print_json
from excam.scoring.target import OVERWRITE

if TYPE_CHECKING:
    from excam.scoring.results import Result


def calibrate(
    scored: Annotated[Path, typer.Argument(help="file of `excam score --to`, with any metric that has a range")],
    to: Annotated[
        Path,
        typer.Option(
            help="file to write, for `excam score --calibration`; calibration.json in the folder of an adapter is found"
        ),
    ],
    gold: Annotated[
        Path | None, typer.Option(help="a file with the same ids and the truth; by default the scored file has it too")
    ] = None,
    metric: Annotated[str, typer.Option(help="the metric that scored, if it is not one of `excam list metrics`")] = "",
    label: Annotated[
        str,
        typer.Option(
            help="column of the truth: in error, true, yes or 1 for an error; in any other, false, no or 0; or scores "
            "of 0 or less, a negative one for an error"
        ),
    ] = "error",
    id_: Annotated[str, ID] = "id",
    overwrite: OVERWRITE = False,
) -> None:
    """Fit the probability of an error, so that `excam score` can say "unsure".

    Use rows like those you will judge, and none that the model was trained on. It holds for this judge alone: the same
    metric, model, prompt and settings. The first line says whether the judge is better than guessing, and how often it
    was right. The fit is printed as JSON on stdout.

    Example: excam calibrate scored.jsonl --gold judged-by-people.csv --to calibration.json
    """
    from excam.core.command_input import spooled
    from excam.core.provenance import sha256, write_json
    from excam.scoring import calibration, meta_rows
    from excam.scoring.compare import shared_signature
    from excam.scoring.result_files import read

    gold = gold or scored
    with (
        exit_on_error(),
        spooled(scored) as results,
        spooled(gold) if gold != scored else nullcontext(results) as gold_file,
    ):
        if to.exists() and not overwrite:
            raise InputInvalid(f"{to}: is there already; expected none; name another file, or give --overwrite")
        rows = meta_rows.with_own_ids(list(read(results)))
        if not rows:
            raise InputInvalid(f"{scored}: 0 rows; expected what `excam score --to` wrote")
        judged = calibration.judge_of(shared_signature({str(scored): rows}))
        labels = meta_rows.read_gold(gold_file, meta_rows.GoldColumns(label=label, id=id_))
        truth = meta_rows.errors(labels, gold, label)
        made, both, note = _fitted(rows, truth, judged.partition("|")[0], metric, scored, gold)
        without = {"without_truth": len(rows) - both, "without_row": len(truth) - both}
        made |= {"rows": sha256(results), "gold": sha256(gold_file), **without, "without_label": labels.without_label}
        write_json(to, made)
        with_truth = f"{len(truth)} with a truth, {made['without_row']} of them without a scored row"
        of_gold = [f"{gold}: {len(truth) + labels.without_label} rows: {with_truth}"]
        of_gold += [f"{gold}: {meta_rows.convention(labels, label)}: {sum(truth.values())} with an error"]
        _report(made, scored, len(rows), of_gold, note)
        print_json(made, indent=2)


def _fitted(
    rows: Sequence[Result], truth: Mapping[str, bool], name: str, own: str, scored: Path, gold: Path
) -> tuple[dict[str, Any], int, str]:
    """Return the fit of scored rows on the truth by id, the number of rows with a truth, and how ids were joined.

    `own` names the metric that scored where `name`, that of the signature, is none of ours. Raise InputInvalid without
    it, and for two files without an id in common.
    """
    from excam.scoring import calibration, metric
    from excam.scoring.compare import results_by_id
    from excam.scoring.joining import join

    joined = join(results_by_id(rows, str(scored)), truth)
    by_id = {ours: truth[theirs] for ours, theirs in joined.theirs.items()}
    if not by_id:
        expected = f"{scored}, which has {rows[0].id}; expected the same"
        raise InputInvalid(f"{gold}: 0 of {len(truth)} ids are in {expected}")
    if not own and name not in metric.available():
        raise InputInvalid(f"{scored}: scored by {name}, a metric of your own; expected its file; give --metric")
    labelled = [result for result in rows if result.id in by_id]
    return calibration.fitted(labelled, by_id, metric.load(own or name)), len(by_id), joined.note


def _report(made: dict[str, Any], scored: Path, rows: int, of_gold: list[str], note: str) -> None:
    """Say how good the judge and the fit are, and what became of every scored row and every truth."""
    from excam.core.provenance import say
    from excam.scoring.defaults import FEW
    from excam.scoring.joining import repeated_note

    fit, clusters = made["calibration"], made["clusters"]
    say(f"{scored}: {made['measured']}")
    if (slope := fit["slope"]) < 0:
        say(f"slope {slope:.2f}: the fit turns the judge round: the surer of an error, the less probable it is")
    if note:
        say(note)
    counts = f"{fit['n']} fitted, {made['failed']} failed, {made['uncertain']} without p(R)"
    say(f"{scored}: {rows} rows: {counts}, {made['without_truth']} without a truth." + repeated_note(made["repeated"]))
    for line in of_gold:
        say(line)
    if clusters < FEW:
        what = "rows" if clusters == fit["n"] else "clusters"
        say(f"fitted on {clusters} {what}: rough; {FEW} or more are better")
