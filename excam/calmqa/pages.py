"""Tables of CaLMQA's score as CSV and Markdown, beside the paper's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from excam.calmqa import ratings as ratings_of
from excam.calmqa.ratings import Grading
from excam.core.language_identity import code_name
from excam.pages.markdown import cautions, escape, table
from excam.stats import regression

FEW = 30  # a mean of fewer is marked
UNNAMED = " by annotators without a name, so that a copy counts as a rating"
ALIKE = 5  # percentage points: means of a part that differ by less between subjects are said to be alike
NOTE = (
    "S is the mean over answers of surface × factuality × relevance, in percent, with a 95 % interval over questions; "
    "the means of the parts are over the same answers. `*`: fewer than 30 answers. Undecidable: the detector does not "
    "know the language, so the answers have no S. Failed: a judge gave no readable verdict; they have no S either. "
    "Empty and refused answers score 0.\n\n"
)


def rounded(value: float | None, digits: int = 1) -> str:
    """Return a number as text, – for None."""
    return "–" if value is None else f"{value:.{digits}f}"


def _percent(value: float | None) -> str:
    return rounded(None if value is None else 100 * value)


def _interval(line: Mapping[str, Any]) -> str:
    return "–" if line["low"] is None else f"{_percent(line['low'])} to {_percent(line['high'])}"


def table_page(
    lines: Sequence[Mapping[str, Any]],
    languages: Sequence[Mapping[str, str]],
    how: str,
    gaps: Sequence[Mapping[str, Any]],
) -> str:
    """Return the page of S: one table by subject and type, one by language, and the detector's."""
    whole = [line for line in lines if line["language"] == "all"]
    each = [line for line in lines if line["language"] != "all" and line["type"] == "all"]
    counts = ("answers", "scored", "undecidable", "failed", "empty", "no_claims")
    head = ["S", "interval", "surface", "factuality", "precision", "relevance", "product of means", *counts]
    body = [[escape(str(line["subject"])), str(line["type"]), *_cells(line, counts)] for line in whole]
    by_language = [
        [escape(str(line["subject"])), code_name(str(line["language"])), *_cells(line, counts)] for line in each
    ]
    language_rows = [
        [code_name(line["code"]), line["questions"], line["right"], "yes" if line["decidable"] == "True" else "no"]
        for line in languages
    ]
    return (
        f"# CaLMQA: S of long answers\n\n{NOTE}How: {escape(how)}.\n\n"
        + table(["subject", "questions", *head], body)
        + _cautions(whole)
        + _type_gaps(gaps)
        + "\n## By language\n\n"
        + table(["subject", "language", *head], by_language)
        + "\n## Does the detector know the language?\n\nDecidable: 90 % of the questions are named rightly.\n\n"
        + table(["language", "questions", "named rightly", "decidable"], language_rows)
    )


def _type_gaps(gaps: Sequence[Mapping[str, Any]]) -> str:
    """Return the section on culturally specific against agnostic questions, "" if no subject answered both."""
    body = [
        [
            *(escape(str(gap["subject"])), "S" if gap["part"] == "s" else gap["part"]),
            _percent(gap["difference"]),
            _interval(gap),
            *(gap["specific"], gap["agnostic"]),
        ]
        for gap in gaps
    ]
    head = ["subject", "part", "specific minus agnostic", "interval", "specific answers", "agnostic answers"]
    note = (
        "Percentage points, with 95 % intervals over questions. The paper finds the factual precision of every model "
        "15 to 20 points lower on culturally specific questions.\n\n"
    )
    return "\n## Specific against agnostic questions\n\n" + note + table(head, body) if body else ""


def _cautions(lines: Sequence[Mapping[str, Any]]) -> str:
    """Return the section that says what these numbers cannot show."""
    notes = ["A subject may be a sheet of answers that people wrote, with the documents at hand: its S is of no model."]
    scored = [line for line in lines if line["type"] == "all" and line["scored"]]
    if any(line["scored"] < FEW for line in scored):
        notes.append(f"Fewer than {FEW} answers describe these answers, not a subject.")
    for part in ("factuality", "relevance"):
        means = [100 * line[part] for line in scored if line[part] is not None]
        if len(means) > 1 and max(means) - min(means) < ALIKE:
            low, high = rounded(min(means)), rounded(max(means))
            notes.append(f"Mean {part} differs by less than {ALIKE} points between subjects: {low} to {high}.")
    return cautions(notes)


def _cells(line: Mapping[str, Any], counts: Sequence[str]) -> list[str]:
    mark = "*" * (line["scored"] < FEW)
    parts = [_percent(line[name]) for name in ("surface", "factuality", "precision", "relevance", "product_of_means")]
    return [_percent(line["s"]) + mark, _interval(line), *parts, *(str(line[name]) for name in counts)]


def regression_page(
    ratings: Sequence[Grading], ranks: Sequence[Mapping[str, Any]], lines: Sequence[Mapping[str, Any]]
) -> str:
    """Return the page of a regression: mean ratings, R² beside the printed ones, the odds of a high rating."""
    return "# CaLMQA: what ratings follow\n\n" + _means(ratings, ranks) + _r2(lines) + _odds(ratings)


def _means(ratings: Sequence[Grading], ranks: Sequence[Mapping[str, Any]]) -> str:
    body = [
        [
            escape(rank["model"]) + "*" * (rank["questions"] < FEW),
            *(_with_interval(rank, name) for name in ("mean", "ahead")),
            rank["n"],
        ]
        for rank in ranks
    ]
    order = " > ".join(escape(rank["model"]) for rank in ranks)
    order = f"Order: {order}. The paper's, of its models: GPT-4-Turbo > Claude-3-Opus > Mixtral-8x22B.\n\n"
    few = f"\\* fewer than {FEW} questions.\n\n" if any("*" in str(line[0]) for line in body) else ""
    people = sorted({rating.annotator for rating in ratings})
    made_up = [name for name in people if name.startswith("made-up")]
    note = f"**Made up**: the ratings by {escape(', '.join(made_up))}. Nothing here is a finding about people.\n\n"
    named = f" by {len(people)} annotators ({escape(', '.join(people[:10]))})" if any(people) else UNNAMED
    means = table(["model", "mean rating", "ahead of the next", "n"], body)
    return f"{note if made_up else ''}{len(ratings)} ratings of 1 to 5{named}.\n\n{means}\n{order}{few}"


def _with_interval(line: Mapping[str, Any], name: str) -> str:
    interval = f" [{rounded(line[f'{name}_low'], 2)}, {rounded(line[f'{name}_high'], 2)}]"
    return rounded(line[name], 2) + interval * (line[f"{name}_low"] is not None)


def _r2(lines: Sequence[Mapping[str, Any]]) -> str:
    names = list(dict.fromkeys(line["predictor"] for line in lines))
    at = {(line["variant"], line["predictor"]): line["r2"] for line in lines}
    body = []
    for variant in dict.fromkeys(line["variant"] for line in lines):
        r2 = [at.get((variant, name)) for name in names]
        values = [value for value in r2 if value is not None]
        order = "" if len(values) < len(names) else "yes" if values == sorted(values, reverse=True) else "no"
        body.append([variant, *(rounded(value, 3) for value in r2), order])
    body.append(
        [
            "**printed in the paper**",
            *(rounded(ratings_of.PRINTED[n], 3) if n in ratings_of.PRINTED else "" for n in names),
            "yes",
        ]
    )
    close = [
        f"{line['variant']} of {line['predictor']} ({rounded(line['r2'], 3)})"
        for line in lines
        if line["r2"] is not None and line["printed"] is not None and abs(line["r2"] - line["printed"]) < 0.0005
    ]
    both = (
        f"Printed values that a variant gives to three decimals: {', '.join(close)}. " if close
        else "No variant gives .740 for omissions and .560 for factual errors. "
    )  # fmt: skip
    return (
        "## R² of each predictor alone\n\n"
        + table(["R²", *names, "omissions > factuality > model > type"], body)
        + "\n–: the fit has no finite solution, because a level of the predictor has only one outcome.\n\n"
        + both
        + "The paper names neither its model nor its R², and may have used other rows; what can be compared is the "
        "order of the predictors.\n\n"
    )


def _odds(ratings: Sequence[Grading]) -> str:
    odds = ratings_of.odds(ratings)
    if odds is None:
        return "## Neutral against specific questions\n\nOnly one type of question, or one side of the scale.\n\n"
    body = [
        [
            name,
            rounded(estimate.ratio, 2),
            f"{rounded(estimate.low, 2)} to {rounded(estimate.high, 2)}",
            f"{estimate.p_value:.2g}",
            estimate.n,
        ]
        for name, estimate in odds.items()
        if isinstance(estimate, regression.OddsRatio)
    ]
    share = f"{100 * odds['neutral']:.1f} % of neutral and {100 * odds['specific']:.1f} % of specific answers"
    times = f"the probability is {rounded(odds['times'], 2)} times as high" if odds["times"] else "no specific one is"
    return (
        f"## Neutral against specific questions\n\n{share} are rated {ratings_of.HIGH} or more: {times}. The "
        "paper says that the *probability* is twice as high; the table has ratios of *odds*.\n\n"
        + table(["model", "odds ratio", "95 % interval", "p", "n"], body)
        + "\n"
    )
