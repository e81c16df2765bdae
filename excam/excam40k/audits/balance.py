"""Check pairs, and the balance of classes, templates, option positions, splits, strata, answers and severities."""

from __future__ import annotations

import json
from collections.abc import Container, Iterator, Mapping, Sequence
from typing import Any

import polars as pl

from excam.config import LEXICON
from excam.core.splits import SPLITS
from excam.excam40k.audits import views
from excam.excam40k.audits.checks import Audit, Check, absence_check, by_dataset, in_splits, pass_or_fail
from excam.excam40k.construction import templates

LEVEL = 0.95  # of all tests of evenness together

# Of a base sample: id, label of its answer or "", its question as a judge sees it, its options.
BASES = ("base", "label", "asked", "options")


def audit(
    rows: pl.DataFrame,
    bases: pl.DataFrame,
    dropped: Mapping[str, int],
    shares: Mapping[str, float],
    soft: Mapping[str, Mapping[str, Any]],
) -> Audit:
    """`bases` with the columns BASES; `dropped`: pairs lost after wrapping, by dataset; `shares` of the splits, as
    configured; `soft`: counts of the answers of the generator, by soft dataset."""
    rows = rows.with_columns(wrong=pl.col("origin") != "source")
    split = in_splits(rows)
    used, positions, answers = template_uses(split), right_positions(split), label_counts(split, bases)
    by_models = {name for name, counts in soft.items() if set(counts["generators"]) != {LEXICON}}
    checks = [
        *pair_checks(split, bases, by_models),
        *_sizes(split, shares, dropped),
        *_halves(rows),
        *_halves_of_templates(split),
        *_spread(used, dropped),
        *_positions(positions),
        *_answers(answers),
    ]
    tables = {
        "Uses of templates in pairs, the most uneven slot (p: least of chi-square tests)": _most_uneven(used),
        "Position of the right option (p: chi-square against equal shares)": positions,
        "Labels of right answers": answers,
        "Rows per stratum": strata(split),
        "Severity of soft errors, asked for against stated": severity_table(soft),
    }
    return Audit("balance", tuple(checks), tables)


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


def pairs_lost(counts: Mapping[str, Any]) -> int:
    """Return an upper bound of the pairs wrapped but not in the data set: incomplete or above the cap."""
    return sum(counts["dropped"].values()) + counts["beyond_cap"] // 2


def _sizes(split: pl.DataFrame, shares: Mapping[str, float], dropped: Mapping[str, int]) -> Iterator[Check]:
    """Check that no split is empty or misses its share of base samples by more than a group and those lost later."""
    for name in dict.fromkeys([*split["dataset"], *dropped]):
        group = split.filter(pl.col("dataset") == name)
        sizes = {part: group.filter(pl.col("part") == part).height for part in SPLITS}
        observed = ", ".join(f"{rows} {part}" for part, rows in sizes.items())
        there = "failed" if not (sizes["train"] and sizes["test"]) else "passed" if sizes["dev"] else "reported"
        yield Check("no split is empty", name, observed, "rows to train on and to test; few have none in dev", there)
        bases = group.unique("base")
        largest = max(bases["group"].value_counts()["count"], default=0)
        bound = largest + dropped.get(name, 0) + 1  # a group, one for each pair that was lost, and one for rounding
        for part in SPLITS:
            held, wanted = bases.filter(pl.col("part") == part).height, shares[part] * bases.height
            expected = f"{shares[part]:.0%} of {bases.height}, off by at most {bound}"
            if bound >= max(wanted, bases.height - wanted):  # no number of base samples would be further off
                observed = f"{held} base samples; more pairs were lost afterwards than could be missing"
                yield Check(f"share of {part}", name, observed, expected, "not decidable")
            else:
                observed = f"{held} base samples"
                yield pass_or_fail(f"share of {part}", name, observed, expected, abs(held - wanted) <= bound)


def _halves(rows: pl.DataFrame) -> Iterator[Check]:
    for (dataset, part), group in rows.group_by("dataset", "part", maintain_order=True):
        wrong = int(group["wrong"].sum())
        observed = f"{group.height - wrong} right, {wrong} wrong"
        yield pass_or_fail(
            f"right and wrong rows in {part}", str(dataset), observed, "equally many", 2 * wrong == group.height
        )


def _halves_of_templates(split: pl.DataFrame) -> Iterator[Check]:
    """Check that every template of a split is used in as many original as corrupted rows."""
    each = split.explode("templates", empty_as_null=True, keep_nulls=True)
    per = each.group_by("dataset", "part", "templates", maintain_order=True).agg(
        rows=pl.len(), wrong=pl.col("wrong").sum()
    )
    for dataset, group in by_dataset(per):
        uneven = group.filter(2 * pl.col("wrong") != pl.col("rows")).sort("part", "templates")
        where = [f"{part} {template}" for part, template in zip(uneven["part"], uneven["templates"], strict=True)]
        check = "templates used more in right or in wrong rows of a split"
        yield absence_check(check, dataset, where, f"of {group.height} in use")


def template_uses(rows: pl.DataFrame) -> pl.DataFrame:
    """Return how often the templates of each slot are used, in pairs: minimum, maximum, and a test of equal use."""
    right = in_splits(rows).filter(pl.col("origin") == "source")
    right = right.explode("templates", empty_as_null=True, keep_nulls=True)
    right = right.with_columns(slot=pl.col("templates").str.extract(r"^(.*)/"))
    lines = []
    for key, group in right.group_by("dataset", "part", "task", "slot"):
        counted = dict(group["templates"].value_counts().iter_rows())
        counts = [counted.get(name, 0) for name in templates.names(str(key[3]))]
        lines.append((*key, group.height, len(counts), min(counts), max(counts), p_of_equal(counts)))
    columns = ("dataset", "part", "task", "slot", "pairs", "templates", "least", "most", "p")
    return pl.DataFrame(lines, schema=columns, orient="row").sort("dataset", "part", "task", "slot")


def _most_uneven(used: pl.DataFrame) -> pl.DataFrame:
    """Return one line per dataset and split: how far apart the uses of a slot's templates are at most."""
    spread = pl.col("most") - pl.col("least")
    worst = pl.col("slot").get(spread.arg_max())
    grouped = used.group_by("dataset", "part", maintain_order=True)
    return grouped.agg(slots=pl.len(), pairs=pl.max("pairs"), spread=spread.max(), slot=worst, p=pl.min("p"))


def p_of_equal(counts: Sequence[int]) -> float | None:
    """Return the p-value of a chi-square test of equal frequencies; None for fewer than two counts or a sum of 0.

    Where there are more counts than uses, chi-square calls two equal draws impossible: there it is a bound of the
    probability that any count is as high as the highest.
    """
    from scipy.stats import binom, chisquare

    uses, kinds = sum(counts), len(counts)
    if kinds < 2 or not uses:
        return None
    if uses < kinds:
        return min(1.0, kinds * float(binom.sf(max(counts) - 1, uses, 1 / kinds)))
    return float(chisquare(counts).pvalue)


def _spread(used: pl.DataFrame, dropped: Mapping[str, int]) -> Iterator[Check]:
    """Check that uses of a slot's templates differ by at most one, plus one per pair lost afterwards, and that what was
    lost hangs on no template: soft errors lose many pairs.
    """
    least_p = (1 - LEVEL) / max(used["p"].count(), 1)  # Bonferroni
    for name, group in by_dataset(used):
        bound = 1 + dropped.get(name, 0)
        spread = group.select((pl.col("most") - pl.col("least")).max()).item()
        observed, check = f"{spread}, {group.height} slots in splits", "uses of a template, most minus least"
        if bound >= int(group["pairs"].max() or 0):  # pyright: ignore # counts
            yield Check(
                check, name, f"{observed}; more pairs were lost than any has", f"at most {bound}", "not decidable"
            )
        else:
            yield pass_or_fail(check, name, observed, f"at most {bound}", spread <= bound)
        p = float(group["p"].min() or 0) if group["p"].count() else 1.0  # pyright: ignore[reportArgumentType] # numbers
        expected = f"p of equal uses at least {least_p:.5f}"
        yield pass_or_fail("uses of the templates of a slot", name, f"p={p:.4f}", expected, p >= least_p)


def right_positions(split: pl.DataFrame) -> pl.DataFrame:
    """Count the positions of the right option, per dataset and number of options, in original rows with a letter."""
    right = split.filter(~pl.col("wrong"))
    right = right.with_columns(
        letter=pl.Series([next(iter(letters), None) for letters in views.letter(right)], dtype=pl.String),
        options=pl.Series(views.options_shown(right), dtype=pl.Int64),
    ).drop_nulls("letter")
    lines = []
    for (dataset, options), group in right.group_by("dataset", "options"):
        counted = dict(group["letter"].value_counts().iter_rows())
        counts = [counted.get(letter, 0) for letter in views.LETTERS[: int(str(options))]]
        observed = ", ".join(f"{letter} {count}" for letter, count in zip(views.LETTERS, counts, strict=False))
        lines.append((dataset, options, group.height, observed, p_of_equal(counts)))
    columns = ("dataset", "options", "pairs", "right option", "p")
    return pl.DataFrame(lines, schema=columns, orient="row").sort("dataset", "options")


def _positions(positions: pl.DataFrame) -> Iterator[Check]:
    tested = positions.drop_nulls("p")
    bound = (1 - LEVEL) / max(tested.height, 1)  # Bonferroni
    for line in tested.iter_rows(named=True):
        check = f"position of the right one of {line['options']} options"
        observed = f"{line['right option']}; p={line['p']:.4f}"
        yield pass_or_fail(
            check, line["dataset"], observed, f"p of equal shares at least {bound:.4f}", line["p"] >= bound
        )


def label_counts(split: pl.DataFrame, bases: pl.DataFrame) -> pl.DataFrame:
    """Count the pairs of each label where all answers are a few labels (irony, yes and no), per split and in total."""
    right = split.filter(~pl.col("wrong")).join(bases.filter(pl.col("label") != ""), on="base")
    return right.group_by("dataset", "label").agg(
        *(pl.col("part").eq(part).sum().alias(part) for part in SPLITS), pairs=pl.len()
    ).sort("dataset", "label")  # fmt: skip


def _answers(answers: pl.DataFrame) -> Iterator[Check]:
    for dataset, group in by_dataset(answers):
        labels = ", ".join(f"{label} {pairs}" for label, pairs in group.select("label", "pairs").iter_rows())
        spread = int(group["pairs"].max() or 0) - int(group["pairs"].min() or 0)  # pyright: ignore # counts
        yield pass_or_fail("labels of right answers", dataset, labels, "equally many, up to one pair", spread <= 1)


def strata(split: pl.DataFrame) -> pl.DataFrame:
    """Return the number of strata per dataset, and the rows in the smallest, the median and the largest."""
    sizes = split.group_by("dataset", "stratum").len("rows")
    return sizes.group_by("dataset").agg(
        strata=pl.len(), least=pl.min("rows"), median=pl.median("rows"), most=pl.max("rows"), rows=pl.sum("rows")
    ).sort("dataset")  # fmt: skip


def severity_table(soft: Mapping[str, Mapping[str, Any]]) -> pl.DataFrame:
    """Count answers that became rows by requested and stated severity, with the share that disagrees."""
    lines = []
    for dataset, counts in sorted(soft.items()):
        for severity, stated in sorted(counts["severity"].items()):
            total = sum(stated.values())
            others = ", ".join(f"{name} {count}" for name, count in sorted(stated.items()))
            lines.append((dataset, severity, total, others, 1 - stated.get(severity, 0) / total if total else None))
    columns = {"dataset": pl.String, "asked for": pl.String, "kept answers": pl.Int64, "stated": pl.String}
    return pl.DataFrame(lines, schema={**columns, "disagree": pl.Float64}, orient="row")
