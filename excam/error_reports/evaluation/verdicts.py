"""Judgements -> the numbers of one cell: accuracy, correlations, rates, by language (ExCAM §4).

Pure: frames in, a dictionary out. Every number comes with the count of its rows. Failures are counted; they are wrong
in the strict accuracy, and left out of correlations (a failure has no score) and of the `excluding` accuracy.
"""

from __future__ import annotations

from typing import Any

import polars as pl

from excam.stats import accuracy, correlation, permutation

MIN_SECTION = 20  # rows below which a language or an origin gets no section of its own


def evaluate(frame: pl.DataFrame, seed: int, pairs: int | None = None) -> dict[str, Any]:
    """Return the numbers of one cell. `frame` has the columns of `JUDGEMENT_SCHEMA`.

    With `pairs` the tie-calibrated accuracy is of about so many random pairs of rows, and the cell says of how many.
    """
    sampled = {} if pairs is None else {"pairs": pairs}
    read = frame.filter(pl.col("failure").is_null())
    return {
        "n": frame.height,
        "base_samples": frame["base"].n_unique(),
        "groups": frame["group"].n_unique(),  # what shares content: the unit of splits, intervals and tests
        "failures": _counts(frame.filter(pl.col("failure").is_not_null())["failure"]),
        "gold_errors": int(frame["gold_error"].sum()),
        "accuracy": accuracy_numbers(frame, seed),
        "correlation": {
            "n": read.height,
            **sampled,
            "score": _correlation_numbers(read, read["score"], seed, pairs),
            "score_p": _correlation_numbers(read, with_certainty(read), seed, pairs),
            # The trivial baseline, over every row
            "constant": _correlation_numbers(frame, pl.zeros(frame.height, eager=True), seed, pairs),
        },
        "rates": _rates(frame),
        "certainty": {"mean": read["certainty"].mean(), "n": read["certainty"].count()},
        "recovered": _recovered(read),
        "spans": _spans(read),
        "by_language": _numbers_by_value(frame, "language", seed),
        "by_dataset": _numbers_by_value(frame, "dataset", seed),
    }


def with_certainty(frame: pl.DataFrame) -> pl.Series:
    """Return the expression of Eq. 1: the score if an error was found, else p(R) (0 if the backend gave no
    probabilities).
    """
    fallback = pl.when(pl.col("score") < 0).then(pl.col("score")).otherwise(pl.col("certainty").fill_null(0.0))
    return frame.select(fallback.alias("score_p"))["score_p"]


def scores(frame: pl.DataFrame, fallback: bool) -> list[float | None]:
    """Return the score of every row, with p(R) instead of 0 (Eq. 1, "+p") if `fallback`; None for a failure."""
    values = with_certainty(frame) if fallback else frame["score"]
    read = frame["failure"].is_null()
    return [score if ok else None for score, ok in zip(values, read, strict=True)]


def predicted_errors(frame: pl.DataFrame) -> list[bool | None]:
    """Return for every row whether an error was found; None if the answer could not be parsed."""
    has_error = pl.when(pl.col("failure").is_null()).then(pl.col("errors_found") > 0)
    return frame.select(has_error.alias("found"))["found"].to_list()


def paired_permutation(a: pl.DataFrame, b: pl.DataFrame) -> permutation.PairedPermutation:
    """Return the test of two judges' accuracies on the same rows, swapped by group."""
    gold, groups = a["gold_error"].to_list(), a["group"].to_list()
    return permutation.paired_permutation(gold, predicted_errors(a), predicted_errors(b), clusters=groups)


def accuracy_numbers(frame: pl.DataFrame, seed: int) -> dict[str, Any]:
    """Return the scaled accuracy with its interval over groups, without failures too, and how many these are."""
    result = accuracy.summarise_accuracy(
        frame["gold_error"].to_list(), predicted_errors(frame), clusters=frame["group"].to_list(), seed=seed
    )
    return {
        "scaled": result.scaled,
        "low": result.low,
        "high": result.high,
        "excluding": result.scaled_excluding_failures,
        "failures": result.failures,
    }


def _correlation_numbers(
    frame: pl.DataFrame, scores: pl.Series, seed: int, pairs: int | None
) -> dict[str, float | None]:
    gold, metric = frame["gold_score"].to_list(), scores.to_list()
    if frame.height < 2 or len(set(gold)) < 2:
        return {"kendall_b": None, "tie_calibrated": None, "epsilon": None}
    if pairs is None:
        calibrated = correlation.tie_calibrated_accuracy(gold, metric)
    else:
        calibrated = correlation.sampled_tie_calibration(gold, metric, pairs, seed)
    # a constant metric has no tau-b: it orders nothing, which is not the same as ordering at random
    kendall = correlation.kendall(gold, metric) if len(set(metric)) > 1 else None
    return {"kendall_b": kendall, "tie_calibrated": calibrated.accuracy, "epsilon": calibrated.epsilon}


def _rates(frame: pl.DataFrame) -> dict[str, Any]:
    """Return how often no error is reported in rows without errors, and an error in rows with errors."""
    rates = {}
    for name, part in (
        ("error_free", frame.filter(~pl.col("gold_error"))),
        ("erroneous", frame.filter(pl.col("gold_error"))),
    ):
        guesses = predicted_errors(part)
        rates[name] = {
            "n": part.height,
            "no_error_reported": sum(guess is False for guess in guesses),
            "error_reported": sum(guess is True for guess in guesses),
            "unreadable": sum(guess is None for guess in guesses),
        }
    return rates


def _recovered(read: pl.DataFrame) -> dict[str, Any]:
    """Return how many of the `n` parsed answers needed lenient parsing, and for which reasons; one answer may have
    several.
    """
    kinds = read.select(pl.col("recovered").fill_null("").str.split(",").alias("kinds")).explode("kinds")["kinds"]
    return {
        "n": read.height,
        "answers": int((read["recovered"].fill_null("") != "").sum()),
        "kinds": _counts(kinds.filter(kinds != "")),
    }


def _spans(read: pl.DataFrame) -> dict[str, int]:
    """Return how many of the `n` errors in reports name words that the text does not contain, and in how many reports.

    Judges that write no report name no words: 0 of 0.
    """
    reports = read.filter(pl.col("spans_not_found").is_not_null())
    return {
        "n": int(reports["errors_found"].sum()),
        "not_found": int(reports["spans_not_found"].sum()),
        "reports": reports.height,
        "reports_with_not_found": int((reports["spans_not_found"] > 0).sum()),
    }


def _numbers_by_value(frame: pl.DataFrame, column: str, seed: int) -> dict[str, Any]:
    parts = frame.partition_by(column, as_dict=True, maintain_order=False)
    return {
        str(key[0]): {"n": part.height, **accuracy_numbers(part, seed)}
        for key, part in sorted(parts.items())
        if part.height >= MIN_SECTION
    }


def _counts(values: pl.Series) -> dict[str, int]:
    return {str(name): count for name, count in sorted(values.value_counts().iter_rows())}
