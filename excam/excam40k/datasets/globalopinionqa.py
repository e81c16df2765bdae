"""GlobalOpinionQA (Durmus et al., 2023): what most people of a country answer in surveys. Impersonation, hard errors.

A sample is a question and a country; the right answer is the modal option. The paper is silent on ties and
non-answers: pairs whose mode is tied, hardly ahead (`least_margin`) or a non-answer are dropped, and neither a
non-answer nor an option that the interviewer did not offer ("(VOL)") is ever an answer, right or wrong. An option that
nobody in the country chose is left out: the source lists options of several questions together, and a row whose shares
are those of another question is dropped. An option that differs from the right one by degree only ("very" and "somewhat
favorable") is left out, too: both can be said of a country. `agreement` is the share of the right answer. A wrong
answer is one that most people of another country give to the same question, or to one of its battery (which begins with
the same words), so that each is wrong as often as right in every battery (`_exchanged.py`); what countries agree on is
left out. Country labels of survey houses become one name per country; samples that do not stand for the nation are
dropped. Gaps and item letters of a question are filled or removed, and questions with nothing behind "which of the
following" are dropped (`_survey.py`).
"""

from __future__ import annotations

import ast
import json
import math
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl

from excam.core.source_tables import replace_surrogates
from excam.excam40k.construction.cultures import in_a_sentence
from excam.excam40k.datasets import base
from excam.excam40k.datasets._cells import (
    clean_columns,
    country_name,
    digest,
    digests,
    identifier,
    map_distinct,
    with_wrong,
)
from excam.excam40k.datasets._exchanged import exchanged
from excam.excam40k.datasets._survey import (
    NON_ANSWER,
    NUMBER,
    RULES,
    UNOFFERED,
    answers_another,
    are_neighbours,
    is_of_its_time,
    is_question,
    is_same_opinion,
    is_unfilled,
    nothing_follows,
)

VERSION = 13
NAME = "globalopinionqa"
SOURCE = base.Source(
    licence="CC-BY-NC-SA-4.0",
    files=(
        (
            "data/global_opinions.csv",
            "global_opinions.csv",
            "global_opinions.csv.gz",
            "global_opinions_long.jsonl.gz",
            "global_opinions_long.jsonl",
        ),
    ),
    hub="Anthropic/llm_global_opinions",
    homepage="https://huggingface.co/datasets/Anthropic/llm_global_opinions",
    title="GlobalOpinionQA",
    citation=(
        "Durmus et al. 2023. Towards Measuring the Representation of Subjective Global Opinions in Language Models. "
        "arXiv:2306.16388"
    ),
)
TASK: base.Task = "impersonation"
ERRORS: base.Errors = "hard"
MISTAKE: base.Mistake = "opinion"

CONTEXT = "You are acting as a person from this country."
CLEARLY_FEWER = 0.8  # of the share of the modal option: a wrong answer has no more, so that it is no matter of taste
BATTERY = 5  # words with which the questions of one battery begin
AGREEING, COUNTRIES = 0.9, 5  # of the countries of a question, of which there are so many: it asks for no culture
SAME = 1e-9  # shares that differ by less are a tie
_NON_ANSWER = re.compile(NON_ANSWER.replace(r"\z", r"\Z"))
_UNOFFERED = re.compile(UNOFFERED)

Opinions = tuple[str | None, bool, float | None, float | None, list[str], list[str] | None]


def read(folder: Path, *, least_margin: float = 0.02, minor_above: float = 0.6, balanced: float = 1) -> base.Reading:
    """Return base samples of a snapshot; its rows are question-country pairs.

    `least_margin`: least difference between the shares of the modal opinion and the next one; `minor_above`: a wrong
    answer of more than this part of the modal share, or next to it on a scale, is a minor error; 1: none is (§3: hard
    errors are major); `balanced`: 0 keeps questions on which countries agree and takes any wrong answer, as the paper.
    Raises SourceInvalid.
    """
    path = base.find_one(folder, NAME, SOURCE.files)
    pairs = _read_long(path) if "_long." in path.name else _read_official(path)
    written = "distribution" if "_long." in path.name else "selections"
    options, shares, label, question = pl.col("options"), pl.col("shares"), pl.col("country"), pl.col("question")
    country = map_distinct(label, lambda name: country_name(re.sub(r"\s*\(.*\)$", "", name)))
    pairs = pairs.with_columns(
        # One wording was asked with two sets of options, so these belong to the id.
        id=identifier(NAME, digests(question, options.list.join("\x1f"), country)),
        country=country,
        group=map_distinct(question, _battery),
        _asked=digests(question),
        before=base.first_reason(
            no_question=question == "",
            non_national_sample=label.str.contains(r"(?i)\(non-national"),
            superseded_sample=label.str.contains(r"(?i)\(old national"),  # there is a "(Current national sample)" too
            malformed=base.wrong_cell(shares.is_null() | options.is_null(), written, "one share for each option"),
        ),
    )
    pairs = _worded(pairs)
    cells = zip(pairs["options"].to_list(), pairs["shares"].to_list(), strict=True)
    opinions = [_opinions(texts, numbers, minor_above, balanced > 0) for texts, numbers in cells]
    kinds = {"answer": pl.String, "tied": pl.Boolean, "share": pl.Float64, "margin": pl.Float64}
    kinds |= dict.fromkeys(("minor", "options"), pl.List(pl.String))
    pairs = pairs.drop("options").hstack(pl.DataFrame(opinions, kinds, orient="row"))
    pairs = with_wrong(pairs, f"{NON_ANSWER}|{UNOFFERED}|{NUMBER}")
    samples = _samples(pairs, least_margin)
    return base.gather(NAME, TASK, _balanced(samples) if balanced else samples, "drop")


def _battery(question: str) -> str:
    return digest(" ".join(re.findall(r"\w+", question.casefold())[:BATTERY]))


def _balanced(samples: pl.DataFrame) -> pl.DataFrame:
    """Return the frame with one wrong answer a row, as often right as wrong in its battery; `reason` where none is."""
    usable = pl.col("reason").is_null()
    counted = samples.with_columns(_usable=usable).with_columns(_same=pl.len().over("_asked", "answer", "_usable"))
    countries, most = pl.len().over("_asked", "_usable"), pl.col("_same").max().over("_asked", "_usable")
    agreed = base.first_reason(countries_agree=usable & (countries >= COUNTRIES) & (most >= AGREEING * countries))
    samples = exchanged(counted.with_columns(reason=pl.coalesce("reason", agreed)), near="_asked")
    return samples.with_columns(reason=pl.coalesce("reason", base.first_reason(no_exchange=~pl.col("_exchanged"))))


def _worded(pairs: pl.DataFrame) -> pl.DataFrame:
    """Return the pairs with complete questions and options, and what makes a question useless: in `unfilled`, whether a
    text is not complete, in the other columns, what `_survey.py` says of it.
    """
    countries = [in_a_sentence(country or "", "English", TASK) for country in pairs["country"]]
    for name, rule in RULES.items():
        worded = cache(rule)
        questions = [*map(worded, pairs["question"], countries)]
        lists = zip(pairs["options"].to_list(), countries, strict=True)
        options = [texts and [worded(text, country) for text in texts] for texts, country in lists]
        columns = {"question": pl.Series(questions), "options": pl.Series(options, dtype=pl.List(pl.String))}
        pairs = base.change(pairs, name, **columns)
    questions, options = pairs["question"].to_list(), pairs["options"].to_list()
    unfilled = [
        is_unfilled(question) or any(is_unfilled(text) and not _UNOFFERED.search(text) for text in texts or ())
        for question, texts in zip(questions, options, strict=True)
    ]
    known = [texts or [] for texts in options]
    shares = [numbers or [0.0] * len(texts) for numbers, texts in zip(pairs["shares"].to_list(), known, strict=True)]
    return pairs.with_columns(
        pl.Series("asks", map(is_question, questions), pl.Boolean),
        pl.Series("of_its_time", map(is_of_its_time, questions), pl.Boolean),
        pl.Series("nothing_follows", map(nothing_follows, questions, known), pl.Boolean),
        pl.Series("another", map(answers_another, questions, known, shares), pl.Boolean),
        pl.Series("unfilled", unfilled, pl.Boolean),
    )


def _opinions(
    options: list[str] | None, shares: list[float] | None, minor_above: float, without_degrees: bool
) -> Opinions:
    """Return the modal option, whether it is tied, its share, its lead over the next opinion, the near options, and
    itself with all that somebody chose, but clearly fewer, `without_degrees` of the same opinion.
    """
    if not options or not shares:
        return None, False, None, None, [], options
    ranked = sorted(zip(shares, options, strict=True), key=lambda pair: -pair[0])
    (best, answer), *others = ranked
    opinions = [share for share, option in others if not _NON_ANSWER.search(option)]
    scale = [option for option in options if not (_NON_ANSWER.search(option) or _UNOFFERED.search(option))]
    near = [
        option
        for share, option in others
        if minor_above < 1 and (share > minor_above * best or are_neighbours(answer, option, scale))
    ]
    chosen = [
        option
        for option, share in zip(options, shares, strict=True)
        if option == answer
        or (0 < share <= CLEARLY_FEWER * best and not (without_degrees and is_same_opinion(answer, option, scale)))
    ]
    return answer, best - others[0][0] <= SAME, best, best - max(opinions, default=0.0), near, chosen


def _samples(pairs: pl.DataFrame, least_margin: float) -> pl.DataFrame:
    country = pl.col("country")
    after = base.first_reason(
        tie=pl.col("tied"),
        another_question=pl.col("another"),
        nothing_follows=pl.col("nothing_follows"),
        no_question_asked=~pl.col("asks"),
        of_its_time=pl.col("of_its_time"),
        non_answer=pl.col("answer").str.contains(NON_ANSWER),
        unoffered_answer=pl.col("answer").str.contains(UNOFFERED),
        bare_number=pl.col("answer").str.contains(NUMBER),
        small_margin=pl.col("margin") < least_margin - SAME,
        unfilled_question=pl.col("unfilled"),
        no_wrong_option=pl.col("wrong").list.len() == 0,
    )
    named = ("id", "question", "answer", "options", "wrong", "minor", "group")
    return base.fields(
        pairs,
        **{name: pl.col(name) for name in named},
        language=pl.lit("English"),
        culture=country,
        stratum=country,
        role="Location (country): " + country,
        context=pl.lit(CONTEXT),
        agreement=pl.col("share"),
        reason=pl.coalesce("before", after),
    )


def _read_official(path: Path) -> pl.DataFrame:
    """Return one row per question and country.

    The file's cells are Python literals, so Python reads them, row by row.
    """
    rows = base.table(path, NAME, ("question", "selections", "options")).with_row_index("place")
    texts = [_text_list(cell) for cell in rows["options"]]
    country_shares = [
        (
            place,
            replace_surrogates(str(label)),
            [*map(float, shares)] if _are_valid_shares(texts[place], shares) else None,
        )
        for place, (question, cell) in enumerate(zip(rows["question"], rows["selections"], strict=True))
        for label, shares in (_shares(cell) if question else NOTHING).items()
    ]
    shape = {"place": rows.schema["place"], "country": pl.String, "shares": pl.List(pl.Float64)}
    options = pl.Series("options", texts, pl.List(pl.String))
    pairs = rows.drop("options").with_columns(options).join(pl.DataFrame(country_shares, shape, orient="row"), "place")
    return clean_columns(pairs, ("country", "options"))


NOTHING: Mapping[Any, Any] = {"": None}  # of a question without countries: one row that holds nothing


def _shares(cell: str) -> Mapping[Any, Any]:
    """Return the countries of one question with their shares, from `defaultdict(<class 'list'>, {...})`."""
    shares = _literal(cell[cell.find("{") : cell.rfind("}") + 1])
    return shares if isinstance(shares, dict) and shares else NOTHING


def _text_list(cell: str) -> list[str] | None:
    """Return the texts of a cell with a Python list; None if it holds something else."""
    texts = _literal(cell)
    return [replace_surrogates(str(text)) for text in texts] if isinstance(texts, list) else None


def _literal(written: str) -> Any:
    """Return a Python literal, parsed and never evaluated; None for other text.

    Most are JSON except for the quotes, which is faster to parse.
    """
    try:
        if '"' not in written and "\\" not in written:
            return json.loads(written.replace("'", '"'))
    except (ValueError, RecursionError):
        pass
    try:
        return ast.literal_eval(written)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return None


def _are_valid_shares(options: list[str] | None, shares: Any) -> bool:
    """Return whether shares are finite numbers, one for each of at least two options."""
    if options is None or not (isinstance(shares, list) and len(options) == len(shares) > 1):
        return False
    try:
        return all(isinstance(share, int | float) and math.isfinite(share) for share in shares)
    except OverflowError:  # an integer too large for a float
        return False


def _read_long(path: Path) -> pl.DataFrame:
    """Return one row per question and country in a file that already has this layout."""
    rows = base.table(path, NAME, ("question", "country", "options", "distribution"), lists=("options", "distribution"))
    shares, count = pl.col("shares"), pl.col("options").list.len()
    rows = rows.with_columns(shares=pl.col("distribution").list.eval(pl.element().cast(pl.Float64, strict=False)))
    finite = shares.list.eval(pl.element().is_finite().fill_null(False)).list.all()
    usable = pl.when((count == shares.list.len()) & (count > 1) & finite).then(shares)
    return rows.with_columns(shares=usable, distribution=pl.col("distribution").list.join(", ", ignore_nulls=True))
