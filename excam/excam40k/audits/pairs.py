"""Check that a pair differs in its answer alone, and that no answer is both right and wrong."""

from __future__ import annotations

import json
from collections.abc import Container, Iterator

import polars as pl

from excam.excam40k.audits import views
from excam.excam40k.audits.checks import Check, absence_check, by_dataset


def pair_checks(split: pl.DataFrame, bases: pl.DataFrame, by_models: Container[str]) -> Iterator[Check]:
    """Return the checks of every dataset. `bases`: id of a base sample, its question as a judge sees it, its options
    (base, asked, options); `by_models`: datasets whose errors a language model wrote."""
    texts = pl.col("instruction").n_unique().over("dataset", "pair")
    rows = split.with_columns(edited=texts > 1, said=pl.Series(views.answers(split), dtype=pl.String))
    rows = rows.join(bases.select("base", "asked", "options"), on="base", how="left", maintain_order="left")
    has_options = (pl.col("task") == "qa") | pl.col("pair").str.ends_with("/listed")  # then they decide what is right
    rows = rows.with_columns(options=pl.when(has_options).then("options"))
    for dataset, group in by_dataset(rows):
        yield _instructions(dataset, group, dataset in by_models)
        yield absence_check("answers that are right and wrong for one question", dataset, _ties(group))


def _instructions(dataset: str, group: pl.DataFrame, by_model: bool) -> Check:
    """Check that both rows of a pair have one instruction.

    A language model may also edit the instruction, as the paper asks it to (Table 7): that is reported, and fails only
    if the gold report does not mark the edit.
    """
    edited = group.filter("edited")
    pairs = sorted(set(edited["pair"]))
    marked = {pair for pair, errors in edited.select("pair", "errors").iter_rows() if _marks_instruction(errors)}
    name, where = "pairs with two instructions", f"of {group['pair'].n_unique()}"
    if not by_model or set(pairs) - marked:
        return absence_check(name, dataset, pairs, where)
    observed = absence_check(name, dataset, pairs, where).found
    return Check(name, dataset, observed, "marked in the report", "reported" if pairs else "passed")


def _marks_instruction(errors: str) -> bool:
    return any(error["where"] == "instruction" for error in json.loads(errors))


def _ties(group: pl.DataFrame) -> list[str]:
    """Return answers that are right in a row and wrong in a row of the same question, case, spaces and final
    punctuation aside.
    """
    answer = pl.col("said").str.to_lowercase().str.replace_all(r"\s+", " ").str.strip_chars(" .!?\"'。")
    unedited = group.filter(~pl.col("edited")).with_columns(said=answer, wrong=pl.col("origin") != "source")
    both = unedited.group_by("asked", "options", "said").agg(pl.col("wrong").n_unique(), pl.col("pair").min())
    return sorted(f"{answer[:60]} ({pair})" for _, _, answer, kinds, pair in both.iter_rows() if kinds > 1)
