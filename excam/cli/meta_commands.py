"""`excam meta`: any metrics against human labels of the same rows."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from excam.core.exceptions import InputInvalid
from excam.core.extras import is_installed
from excam.core.provenance import say
from excam.core.terminal import ID, JSON, SEED, SYSTEM, exit_on_error, print_json
from excam.scoring.warnings import of_texts

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from excam.scoring.meta_rows import Gold


def meta(
    gold: Annotated[Path, typer.Argument(help="labelled rows with id and label, in any format; also a scored file")],
    scored: Annotated[
        list[Path] | None, typer.Argument(help="files of `excam score --to`, one for each metric; none if GOLD is one")
    ] = None,
    label: Annotated[
        str, typer.Option(help="column of labels: numbers, true or false; more is better, but in `error`")
    ] = "label",
    group: Annotated[
        str | None, typer.Option(help="column by which numbers are repeated, e.g. error_type; may have lists")
    ] = None,
    cluster: Annotated[
        str | None, typer.Option(help="column of rows that share content; by default those of one instruction")
    ] = None,
    item: Annotated[
        str | None, typer.Option(help="column of what systems answered: pairs of an item count, e.g. the segment")
    ] = None,
    system: SYSTEM = None,
    within: Annotated[
        list[str] | None, typer.Option(help="pairs inside a value of this column too, e.g. language; again for more")
    ] = None,
    part: Annotated[
        list[str] | None, typer.Option(help="part of scored rows as a metric of its own, e.g. surface; again for more")
    ] = None,
    id_: Annotated[str, ID] = "id",
    output: Annotated[
        str | None, typer.Option(help="column of the rated texts, for baselines; by default output, or scored rows'")
    ] = None,
    seed: SEED = 0,
    as_json: JSON = False,
) -> None:
    """Measure how metrics go with human labels of the same rows, beside baselines that judge nothing.

    Each metric on its own rows and on those that all of them scored; failures are counted and in no number. With
    --group, also for each value: its rows with the rows of no group that share a cluster, e.g. an error with its twins.
    Tie-calibrated accuracy is over all pairs of rows, with --item the mean over items at one epsilon, as in WMT. Where
    rows name their systems, also system by system.

    Example: excam meta scored.csv --label rating; excam meta ratings.csv excam.jsonl rubric.jsonl --item question
    """
    from excam.scoring import meta as evaluating
    from excam.scoring import meta_baselines, meta_display, meta_rows
    from excam.scoring.meta_rows import GoldColumns

    with exit_on_error():
        files, facets = scored or [], within or []
        if twice := meta_rows.given_twice(files):
            raise InputInvalid(f"{twice}: given twice; expected each metric once")
        named = {name: name for name in facets if name not in meta_rows.FACETS} | ({"system": system} if system else {})
        of_gold = GoldColumns(id=id_, label=label, cluster=cluster, group=group, text=output, item=item, facets=named)
        labels, columns = meta_rows.read_joined(gold, files, of_gold, part or (), facets)
        shared = [row for row in labels.rows if all(each.scores.get(row.id) is not None for each in columns)]
        further = surface_baselines()
        columns += meta_baselines.baselines(shared, further, seed)
        result = evaluating.evaluate(labels, columns, seed, facets)
        say(f"{gold}: {meta_rows.convention(labels, label)}")
        if as_json:
            for line in result.lines():
                print_json(line)
        else:
            meta_display.show(result, output or meta_rows.TEXT, item, has_surface=bool(further))


def surface_baselines() -> Mapping[str, Callable[[Gold], float]]:
    """Return the surface as a baseline of texts, nothing if its extra is not installed."""
    from excam.scoring.meta_baselines import SURFACE

    return {SURFACE: _surface} if is_installed("pycld2") and is_installed("bpe_openai") else {}


def _surface(row: Gold) -> float:
    """Return 0 for a text that repeats itself or is in another language than its instruction, else 1."""
    from excam.calmqa.surface import repeated

    text = row.text or ""
    return float(not repeated(text) and not of_texts(row.instruction, text))
