"""Is what must be even, even? Splits, labels, templates, positions, strata, answers, severities (spec 5, 11-26)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import polars as pl

from excam.audits import views
from excam.audits.checks import PARTS, Audit, Check, none
from excam.construction.templates import names

LEVEL = 0.95  # of all tests of evenness together

Severities = Mapping[str, Mapping[str, int]]  # asked for -> stated -> kept answers


def audit(
    rows: pl.DataFrame,
    labels: pl.DataFrame,
    dropped: Mapping[str, int],
    shares: Mapping[str, float],
    severities: Mapping[str, Severities],
    alike: Sequence[tuple[str, int, int, float]],
    problems: Sequence[str],
) -> Audit:
    """`labels`: base and label of base samples; `dropped`: pairs lost after wrapping, by dataset; `shares` of the
    splits, as configured; `severities` by soft dataset; `alike`, `problems`: what `templates.alike()` and
    `templates.lint()` say."""
    rows = rows.with_columns(wrong=pl.col("origin") != "source")
    split = rows.filter(pl.col("part").is_in(PARTS))
    soft = set(split.filter(pl.col("origin").str.starts_with("soft"))["dataset"])
    used, positions, answers = uses(split), right_positions(split), label_counts(split, labels)
    checks = [
        *_sizes(split, shares, dropped),
        *_halves(rows),
        *_halves_of_templates(split),
        *_spread(used, soft, dropped),
        *_positions(positions),
        *_answers(answers),
        none("problems of the template files", "all", list(problems)),
    ]
    tables = {
        "Uses of templates in pairs, the most uneven slot (p: least of chi-square tests)": _most_uneven(used),
        "Position of the right option (p: chi-square against equal shares)": positions,
        "Labels of right answers": answers,
        "Rows per stratum": strata(split),
        "Severity of soft errors, asked for against stated": severity_table(severities),
        "Templates that are alike (word sets, Jaccard)": pl.DataFrame(
            list(alike), schema=["slot", "line", "other line", "similarity"], orient="row"
        ),
    }
    return Audit("balance", tuple(checks), tables)


def pairs_lost(counts: Mapping[str, Any]) -> int:
    """Pairs that were wrapped and are not in the data set, at most: without a twin, or beyond the cap."""
    return sum(counts["dropped"].values()) + counts["beyond_cap"] // 2


def _sizes(split: pl.DataFrame, shares: Mapping[str, float], dropped: Mapping[str, int]) -> Iterator[Check]:
    """No split is empty, and none is off its share by more than a group and what was lost after it was divided."""
    for name in dict.fromkeys([*split["dataset"], *dropped]):
        own = split.filter(pl.col("dataset") == name)
        sizes = {part: own.filter(pl.col("part") == part).height for part in PARTS}
        found = ", ".join(f"{rows} {part}" for part, rows in sizes.items())
        yield Check("no split is empty", name, found, "rows in each", all(sizes.values()))
        largest = max(own["group"].value_counts()["count"], default=0)
        bound = largest + 2 * dropped.get(name, 0) + 2  # a group, the rows of the pairs lost, and a pair for rounding
        for part, rows in sizes.items():
            wanted = shares[part] * own.height
            expected = f"{shares[part]:.0%} of {own.height}, off by at most {bound}"
            yield Check(f"share of {part}", name, str(rows), expected, abs(rows - wanted) <= bound)


def _halves(rows: pl.DataFrame) -> Iterator[Check]:
    for (dataset, part), own in rows.group_by("dataset", "part", maintain_order=True):
        wrong = int(own["wrong"].sum())
        found = f"{own.height - wrong} right, {wrong} wrong"
        yield Check(f"right and wrong rows in {part}", str(dataset), found, "equally many", 2 * wrong == own.height)


def _halves_of_templates(split: pl.DataFrame) -> Iterator[Check]:
    """Every template of a split is used in as many right as wrong rows."""
    each = split.explode("templates", empty_as_null=True, keep_nulls=True)
    per = each.group_by("dataset", "part", "templates", maintain_order=True).agg(
        rows=pl.len(), wrong=pl.col("wrong").sum()
    )
    for (dataset,), own in per.group_by("dataset", maintain_order=True):
        uneven = own.filter(2 * pl.col("wrong") != pl.col("rows")).sort("part", "templates")
        where = [f"{part} {template}" for part, template in zip(uneven["part"], uneven["templates"], strict=True)]
        check = "templates used more in right or in wrong rows of a split"
        yield none(check, str(dataset), where, f"of {own.height} in use")


def uses(rows: pl.DataFrame) -> pl.DataFrame:
    """How often the templates of each slot are used, in pairs: the least, the most, and a test of equal use."""
    right = rows.filter(pl.col("origin") == "source", pl.col("part").is_in(PARTS))
    right = right.explode("templates", empty_as_null=True, keep_nulls=True)
    right = right.with_columns(slot=pl.col("templates").str.extract(r"^(.*)/"))
    lines = []
    for key, own in right.group_by("dataset", "part", "task", "slot"):
        counted = dict(own["templates"].value_counts().iter_rows())
        counts = [counted.get(name, 0) for name in names(str(key[3]))]
        lines.append((*key, own.height, len(counts), min(counts), max(counts), p_of_equal(counts)))
    columns = ("dataset", "part", "task", "slot", "pairs", "templates", "least", "most", "p")
    return pl.DataFrame(lines, schema=columns, orient="row").sort("dataset", "part", "task", "slot")


def _most_uneven(used: pl.DataFrame) -> pl.DataFrame:
    """One line per dataset and split: how far apart the uses of a slot's templates are at most."""
    spread = pl.col("most") - pl.col("least")
    worst = pl.col("slot").get(spread.arg_max())
    grouped = used.group_by("dataset", "part", maintain_order=True)
    return grouped.agg(slots=pl.len(), pairs=pl.max("pairs"), spread=spread.max(), slot=worst, p=pl.min("p"))


def p_of_equal(counts: Sequence[int]) -> float | None:
    """p of a chi-square test that all counts are draws of equal chance; None for fewer than two or nothing counted."""
    from scipy.stats import chisquare

    return float(chisquare(counts).pvalue) if len(counts) > 1 and sum(counts) else None


def _spread(used: pl.DataFrame, soft: set[str], dropped: Mapping[str, int]) -> Iterator[Check]:
    """Hard errors: uses of a slot's templates differ by one at most, and by one more for each pair lost afterwards."""
    for (dataset,), own in used.group_by("dataset", maintain_order=True):
        name = str(dataset)
        if name not in soft:
            bound = 1 + dropped.get(name, 0)
            spread = own.select((pl.col("most") - pl.col("least")).max()).item()
            found = f"{spread}, {own.height} slots in splits"
            yield Check("uses of a template, most minus least", name, found, f"at most {bound}", spread <= bound)


def right_positions(split: pl.DataFrame) -> pl.DataFrame:
    """Where the right option stands, per dataset and number of options, in right rows that name a letter."""
    right = split.filter(~pl.col("wrong"))
    right = right.with_columns(
        letter=pl.Series([next(iter(found), None) for found in views.letter(right)], dtype=pl.String),
        options=pl.Series(views.options_shown(right), dtype=pl.Int64),
    ).drop_nulls("letter")
    lines = []
    for (dataset, options), own in right.group_by("dataset", "options"):
        counted = dict(own["letter"].value_counts().iter_rows())
        counts = [counted.get(letter, 0) for letter in views.LETTERS[: int(str(options))]]
        shown = ", ".join(f"{letter} {count}" for letter, count in zip(views.LETTERS, counts, strict=False))
        lines.append((dataset, options, own.height, shown, p_of_equal(counts)))
    columns = ("dataset", "options", "pairs", "right option", "p")
    return pl.DataFrame(lines, schema=columns, orient="row").sort("dataset", "options")


def _positions(positions: pl.DataFrame) -> Iterator[Check]:
    tested = positions.drop_nulls("p")
    bound = (1 - LEVEL) / max(tested.height, 1)  # Bonferroni
    for line in tested.iter_rows(named=True):
        check = f"position of the right one of {line['options']} options"
        found = f"{line['right option']}; p={line['p']:.4f}"
        yield Check(check, line["dataset"], found, f"p of equal shares at least {bound:.4f}", line["p"] >= bound)


def label_counts(split: pl.DataFrame, labels: pl.DataFrame) -> pl.DataFrame:
    """Where all answers are a few labels (irony, yes and no): pairs of each, per split and together."""
    right = split.filter(~pl.col("wrong")).join(labels.filter(pl.col("label") != ""), on="base")
    return right.group_by("dataset", "label").agg(
        *(pl.col("part").eq(part).sum().alias(part) for part in PARTS), pairs=pl.len()
    ).sort("dataset", "label")  # fmt: skip


def _answers(answers: pl.DataFrame) -> Iterator[Check]:
    for (dataset,), own in answers.group_by("dataset", maintain_order=True):
        shown = ", ".join(f"{label} {pairs}" for label, pairs in own.select("label", "pairs").iter_rows())
        spread = int(own["pairs"].max() or 0) - int(own["pairs"].min() or 0)  # pyright: ignore # counts
        yield Check("labels of right answers", str(dataset), shown, "equally many, up to one pair", spread <= 1)


def strata(split: pl.DataFrame) -> pl.DataFrame:
    """How many strata a dataset has, and rows in the smallest, the middle and the largest."""
    sizes = split.group_by("dataset", "stratum").len("rows")
    return sizes.group_by("dataset").agg(
        strata=pl.len(), least=pl.min("rows"), median=pl.median("rows"), most=pl.max("rows"), rows=pl.sum("rows")
    ).sort("dataset")  # fmt: skip


def severity_table(severities: Mapping[str, Severities]) -> pl.DataFrame:
    """Answers that became rows, by the severity asked for and the one they state; the share that disagrees."""
    lines = []
    for dataset, asked_for in sorted(severities.items()):
        for asked, stated in sorted(asked_for.items()):
            total = sum(stated.values())
            said = ", ".join(f"{name} {count}" for name, count in sorted(stated.items()))
            lines.append((dataset, asked, total, said, 1 - stated.get(asked, 0) / total if total else None))
    columns = {"dataset": pl.String, "asked for": pl.String, "kept answers": pl.Int64, "stated": pl.String}
    return pl.DataFrame(lines, schema={**columns, "disagree": pl.Float64}, orient="row")
