"""GlobalOpinionQA (Durmus et al., 2023): what most people of a country answer in surveys. Impersonation, hard errors.

A sample is a question and a country; the right answer is the modal option (spec 7). The paper is silent on ties and
non-answers: pairs whose mode is tied or a non-answer are dropped, and neither a non-answer nor an option that the
interviewer did not offer ("(VOL)") is ever a wrong answer. Country labels of survey houses become one name per country;
samples that do not stand for the nation are dropped.
"""

from __future__ import annotations

import ast
import json
import math
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

from excam.datasets import base
from excam.datasets._cells import cleaned, country_name, digests, each, identifier, with_wrong
from excam.datasets._plain import whole

NAME = "globalopinionqa"
SOURCE = base.Source(
    licence="CC-BY-NC-SA-4.0",
    files=(
        "data/global_opinions.csv",
        "global_opinions.csv",
        "global_opinions.csv.gz",
        "global_opinions_long.jsonl.gz",
        "global_opinions_long.jsonl",
    ),
    hub="Anthropic/llm_global_opinions",
    homepage="https://huggingface.co/datasets/Anthropic/llm_global_opinions",
)
TASK: base.Task = "impersonation"
ERRORS: base.Errors = "hard"

NON_ANSWER = (
    r"(?i)\A(dk\b|don.?t know|no answer|no response|refused|missing|other missing|not asked|not applicable|"
    r"not available|unknown|can.?t say|cannot say|can.?t choose)"
)
UNOFFERED = r"(?i)\((vol\.?|do not read)\)|\[(vol\.?|do not read)\]"
CONTEXT = "You are acting as a person from this country."
SAME = 1e-9  # shares that differ by less are a tie


def read(folder: Path) -> base.Reading:
    """Base samples of a snapshot; its rows are question-country pairs. Raises SourceInvalid."""
    path = base.find_one(folder, NAME, SOURCE.files)
    pairs = _long(path) if "_long." in path.name else _official(path)
    options, shares, label = pl.col("options"), pl.col("shares"), pl.col("country")
    best = shares.list.sort(descending=True, nulls_last=True)
    country = each(label, lambda name: country_name(re.sub(r"\s*\(.*\)$", "", name)))
    pairs = pairs.with_columns(
        answer=options.list.get(shares.list.arg_max(), null_on_oob=True),
        tied=best.list.get(0, null_on_oob=True) - best.list.get(1, null_on_oob=True) <= SAME,
        country=country,
        group=digests(pl.col("question")),
        before=base.first(
            no_question=pl.col("question") == "",
            non_national_sample=label.str.contains(r"(?i)\(non-national"),
            superseded_sample=label.str.contains(r"(?i)\(old national"),  # there is a "(Current national sample)" too
            malformed=shares.is_null() | options.is_null(),
        ),
    )
    return base.gather(NAME, TASK, _samples(with_wrong(pairs, f"{NON_ANSWER}|{UNOFFERED}")), "drop")


def _samples(pairs: pl.DataFrame) -> pl.DataFrame:
    question, country, options = pl.col("question"), pl.col("country"), pl.col("options")
    after = base.first(
        tie=pl.col("tied"),
        non_answer=pl.col("answer").str.contains(NON_ANSWER),
        no_wrong_option=pl.col("wrong").list.len() == 0,
    )
    return pairs.with_columns(
        # One wording was asked with two sets of options, so these belong to the id.
        id=identifier(NAME, digests(question, options.list.join("\x1f"), country)),
        language=pl.lit("English"),
        culture=country,
        stratum=country,
        role="Location (country): " + country,
        context=pl.lit(CONTEXT),
        reason=pl.coalesce("before", after),
    )


def _official(path: Path) -> pl.DataFrame:
    """One row per question and country. The file's cells are Python literals, so Python reads them, row by row."""
    rows = base.table(path, NAME, ("question", "selections", "options")).with_row_index("place")
    texts = [_texts(cell) for cell in rows["options"]]
    found = [
        (place, whole(str(label)), [*map(float, shares)] if _fits(texts[place], shares) else None)
        for place, (question, cell) in enumerate(zip(rows["question"], rows["selections"], strict=True))
        for label, shares in (_shares(cell) if question else NOTHING).items()
    ]
    shape = {"place": rows.schema["place"], "country": pl.String, "shares": pl.List(pl.Float64)}
    options = pl.Series("options", texts, pl.List(pl.String))
    pairs = rows.drop("options").with_columns(options).join(pl.DataFrame(found, shape, orient="row"), "place")
    return cleaned(pairs, ("country", "options"))


NOTHING: Mapping[Any, Any] = {"": None}  # of a question without countries: one row that holds nothing


def _shares(cell: str) -> Mapping[Any, Any]:
    """The countries of one question with their shares, of `defaultdict(<class 'list'>, {...})`."""
    found = _literal(cell[cell.find("{") : cell.rfind("}") + 1])
    return found if isinstance(found, dict) and found else NOTHING


def _texts(cell: str) -> list[str] | None:
    texts = _literal(cell)
    return [whole(str(text)) for text in texts] if isinstance(texts, list) else None


def _literal(written: str) -> Any:
    """A Python literal, never evaluated; None where it is none. Most are JSON but for the quotes, which is faster."""
    try:
        if '"' not in written and "\\" not in written:
            return json.loads(written.replace("'", '"'))
    except (ValueError, RecursionError):
        pass
    try:
        return ast.literal_eval(written)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return None


def _fits(options: list[str] | None, shares: Any) -> bool:
    if options is None or not (isinstance(shares, list) and len(options) == len(shares) > 1):
        return False
    try:
        return all(isinstance(share, int | float) and math.isfinite(share) for share in shares)
    except OverflowError:  # a whole number that no float holds
        return False


def _long(path: Path) -> pl.DataFrame:
    """One row per question and country in a file that has them so."""
    rows = base.table(path, NAME, ("question", "country", "options", "distribution"), lists=("options", "distribution"))
    shares, count = pl.col("shares"), pl.col("options").list.len()
    rows = rows.with_columns(shares=pl.col("distribution").list.eval(pl.element().cast(pl.Float64, strict=False)))
    finite = shares.list.eval(pl.element().is_finite().fill_null(False)).list.all()
    return rows.with_columns(shares=pl.when((count == shares.list.len()) & (count > 1) & finite).then(shares))
