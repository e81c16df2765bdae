"""Check that no row of a training set occurs, exactly or nearly, in a test set.

Within a dataset no base sample, group, pair, text, question or near-duplicate question may be in two splits. Across
datasets, near-duplicates between train and dev or test are listed, and no mixture may hold the training side. No row of
a left-out dataset, of any split, may be in the mixture: this is shown by hashes of the texts, not by names.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping

import polars as pl

from excam.excam40k.audits.checks import EVERYWHERE, Audit, Check, absence_check, by_dataset, in_splits, pass_or_fail

LEFT_OUT = "without-"
HELD_OUT = ("dev", "test")


def audit(
    rows: pl.DataFrame, questions: pl.DataFrame, near: pl.DataFrame, mixtures: Mapping[str, pl.DataFrame]
) -> Audit:
    """`rows` of all datasets with their `part`; `questions` of base samples (base, question), as duplicates are sought;
    `near` as in near-duplicates.csv; mixtures by what they train on."""
    rows = rows.with_columns(hash=hashes(rows))
    split = in_splits(rows)
    alike = _with_actual_splits(near, split)
    checks = [*_within(rows, split), *_questions(split, questions), *_near_within(alike, split)]
    across = alike.filter(pl.col("dataset_a") != pl.col("dataset_b"), _train_and_held_out())
    proofs = []
    for trained_on, mixture in mixtures.items():
        mixture = mixture.with_columns(hash=hashes(mixture))
        checks += _mixture(trained_on, mixture, split, across)
        if trained_on.startswith(LEFT_OUT):
            check, proof = _left_out(trained_on, mixture, split)
            checks.append(check)
            proofs.append(proof)
    counts = across.group_by("dataset_a", "part_a", "dataset_b", "part_b").agg(
        pairs=pl.len(), closest=pl.max("similarity")
    )
    tables = {
        "Near-duplicate questions across datasets, train against dev or test": counts.sort(counts.columns),
        "Left-out datasets, by hash": pl.DataFrame(proofs),
    }
    notes = () if proofs else ("No leave-one-out mixture is trained in this experiment: nothing to prove by hash.",)
    return Audit("leaks", tuple(checks), tables, notes)


def hashes(rows: pl.DataFrame) -> pl.Series:
    """Return sha256 of instruction and output, a unit separator between them, for every row."""
    texts = zip(rows["instruction"], rows["output"], strict=True)
    digests = [hashlib.sha256(f"{instruction}\x1f{output}".encode()).hexdigest() for instruction, output in texts]
    return pl.Series(digests, dtype=pl.String)


def _within(rows: pl.DataFrame, split: pl.DataFrame) -> Iterator[Check]:
    """Check that each base, group, pair and text is in one split, and that files hold rows of their own split."""
    for name, group in by_dataset(split):
        for column in ("base", "group", "pair"):
            yield absence_check(f"{column}s in two splits", name, _in_two(group, column))
        yield absence_check("equal texts in two splits", name, len(_in_two(group, "hash")), f"of {group.height} rows")
        elsewhere = group.filter(pl.col("split") != pl.col("part"))["id"].to_list()
        yield absence_check("rows whose split is not that of their file", name, elsewhere)
        subset = rows.filter(pl.col("dataset") == name, pl.col("part") == "test-100")
        test = group.filter(pl.col("part") == "test")
        yield absence_check("rows of test-100 that are not in test", name, sorted(set(subset["id"]) - set(test["id"])))
    yield absence_check(
        "equal texts in two splits, across datasets", EVERYWHERE, len(_in_two(split, "hash")), f"of {split.height} rows"
    )


def _questions(split: pl.DataFrame, questions: pl.DataFrame) -> Iterator[Check]:
    """Check that no question is in two splits. The list of near-duplicates has one base sample per question only."""
    flat = pl.col("question").str.to_lowercase().str.replace_all(r"\s+", " ").str.strip_chars()
    rows = split.select("dataset", "base", "part").unique(maintain_order=True)
    rows = rows.join(questions.with_columns(flat), on="base", how="left", maintain_order="left")
    for dataset, group in by_dataset(rows):
        shared_questions = [question[:60] for question in _in_two(group.drop_nulls("question"), "question")]
        yield absence_check("equal questions in two splits", dataset, shared_questions)
        yield absence_check("rows without their base sample", dataset, group["question"].null_count())


def _in_two(rows: pl.DataFrame, column: str) -> list[str]:
    """Return the values of a column that occur in more than one split, sorted."""
    parts = rows.group_by(column).agg(parts=pl.col("part").n_unique())
    return sorted(parts.filter(pl.col("parts") > 1)[column])


def _with_actual_splits(near: pl.DataFrame, split: pl.DataFrame) -> pl.DataFrame:
    """Return near-duplicates between base samples in the data set, with the split that really holds their rows."""
    parts = split.select("base", "part").unique(maintain_order=True)
    for side in ("a", "b"):
        side_parts = parts.rename({"base": f"base_{side}", "part": f"part_{side}"})
        near = near.join(side_parts, on=f"base_{side}", how="inner", maintain_order="left")
    return near


def _train_and_held_out() -> pl.Expr:
    first_in_train = (pl.col("part_a") == "train") & pl.col("part_b").is_in(HELD_OUT)
    return first_in_train | ((pl.col("part_b") == "train") & pl.col("part_a").is_in(HELD_OUT))


def _near_within(alike: pl.DataFrame, split: pl.DataFrame) -> Iterator[Check]:
    leaks = alike.filter(pl.col("dataset_a") == pl.col("dataset_b"), pl.col("part_a") != pl.col("part_b"))
    for dataset in split["dataset"].unique(maintain_order=True):
        pairs = leaks.filter(pl.col("dataset_a") == dataset)
        names = [f"{a} ~ {b}" for a, b in zip(pairs["base_a"], pairs["base_b"], strict=True)]
        yield absence_check("near-duplicate questions in two splits", dataset, names)


def _mixture(trained_on: str, mixture: pl.DataFrame, split: pl.DataFrame, across: pl.DataFrame) -> Iterator[Check]:
    """Check a mixture: unchanged training rows alone, no dev or test text, no near-duplicate of another's test set."""
    name = f"mixture {trained_on}"
    where = f"of {mixture.height} rows"
    train = split.filter(pl.col("part") == "train").select("id", "hash")
    strange = mixture.join(train, on=["id", "hash"], how="anti")
    yield absence_check(f"{name}: rows that are no training rows", trained_on, strange.height, where)
    held_out = split.filter(pl.col("part").is_in(HELD_OUT)).select("hash")
    equal = mixture.join(held_out, on="hash", how="semi")
    yield absence_check(f"{name}: texts that stand in a dev or test set", trained_on, equal.height, where)
    sides = [across.filter(pl.col(f"part_{side}") == "train")[f"base_{side}"] for side in ("a", "b")]
    near = mixture.filter(pl.col("base").is_in(pl.concat(sides).implode()))
    yield absence_check(f"{name}: near-duplicates of another dataset's dev or test", trained_on, near.height, where)


def _left_out(trained_on: str, mixture: pl.DataFrame, split: pl.DataFrame) -> tuple[Check, dict[str, object]]:
    """Check that no text of the left-out dataset, of any split, is in the mixture, whatever the names of the rows."""
    dataset = trained_on.removeprefix(LEFT_OUT)
    absent = set(split.filter(pl.col("dataset") == dataset)["hash"])
    present = set(mixture["hash"])
    shared = len(absent & present)
    compared = f"{shared} shared hashes, {len(absent)} of {dataset} against {len(present)} of the mixture"
    passed = not shared and bool(absent) and bool(present)
    check = f"mixture {trained_on}: holds nothing of {dataset}"
    proof = {"mixture": trained_on, "hashes": len(present), "hashes_left_out": len(absent), "shared": shared}
    return pass_or_fail(check, trained_on, compared, "0 shared hashes", passed), proof
