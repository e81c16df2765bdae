"""GlobalOpinionQA (Durmus et al., 2023): what most people of a country answer in surveys. Impersonation, hard errors.

A sample is a question and a country; the right answer is the modal option (spec 7). The paper is silent on ties and
non-answers: pairs whose mode is tied or a non-answer are dropped, and neither a non-answer nor an option that the
interviewer did not offer ("(VOL)") is ever a wrong answer. Country labels of survey houses become one name per country;
samples that do not stand for the nation are dropped.
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from excam.datasets import base
from excam.datasets._cells import clean, country_name, digest, identifier, others, text
from excam.records import BaseSample

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
ERRORS: base.Errors = "hard"

NON_ANSWER = re.compile(
    r"(dk\b|don.?t know|no answer|no response|refused|missing|other missing|not asked|not applicable|"
    r"not available|unknown|can.?t say|cannot say|can.?t choose)",
    re.I,
)
UNOFFERED = re.compile(r"\((vol\.?|do not read)\)|\[(vol\.?|do not read)\]", re.I)
CONTEXT = "You are acting as a person from this country."


def read(folder: Path) -> base.Reading:
    """Base samples of a snapshot; its rows are question-country pairs. Raises SourceInvalid."""
    path = base.find(folder, NAME, SOURCE.files)[0]
    outcomes = _long(path) if "_long." in path.name else _official(path)
    return base.gather(NAME, ((path, outcome) for outcome in outcomes), repeated="drop")


def _official(path: Path) -> Iterator[base.Outcome]:
    for row in base.table(path, NAME, ("question", "selections", "options")):
        question = text(row, "question")
        selections, options = _mapping(text(row, "selections")), _literal(text(row, "options"))
        if not question:
            yield "no-question"
        elif not selections or not isinstance(options, list):
            yield "malformed"
        else:
            for label, shares in selections.items():
                yield _outcome(question, str(label), options, shares)


def _long(path: Path) -> Iterator[base.Outcome]:
    for row in base.table(path, NAME, ("question", "country", "options", "distribution")):
        yield _outcome(text(row, "question"), text(row, "country"), row["options"], row["distribution"])


def _literal(written: str) -> Any:
    """A Python literal, never evaluated; None where it is none."""
    try:
        return ast.literal_eval(written)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return None


def _mapping(written: str) -> Mapping[Any, Any]:
    """The {...} of `defaultdict(<class 'list'>, {...})`."""
    found = _literal(written[written.find("{") : written.rfind("}") + 1])
    return found if isinstance(found, dict) else {}


def _outcome(question: str, label: str, options: Any, shares: Any) -> base.Outcome:
    if not question:
        return "no-question"
    if re.search(r"\(non-national", label, re.I):
        return "non-national-sample"
    if re.search(r"\(old national", label, re.I):
        return "superseded-sample"  # the same country has a "(Current national sample)"
    if not _fits(options, shares):
        return "malformed"
    options = tuple(clean(str(option)) for option in options)
    place = max(range(len(options)), key=shares.__getitem__)
    if sum(math.isclose(share, shares[place], abs_tol=1e-9) for share in shares) > 1:
        return "tie"
    answer = options[place]
    if NON_ANSWER.match(answer):
        return "non-answer"
    wrong = others((o for o in options if not (NON_ANSWER.match(o) or UNOFFERED.search(o))), answer)
    if not wrong:
        return "no-wrong-option"
    return _sample(question, country_name(re.sub(r"\s*\(.*\)$", "", label)), options, answer, wrong)


def _fits(options: Any, shares: Any) -> bool:
    if not (isinstance(options, list) and isinstance(shares, list) and len(options) == len(shares) > 1):
        return False
    return all(isinstance(share, int | float) and math.isfinite(share) for share in shares)


def _sample(question: str, country: str, options: Sequence[str], answer: str, wrong: tuple[str, ...]) -> BaseSample:
    group = digest(question)
    return BaseSample(
        # One wording was asked with two sets of options, so these belong to the id.
        id=identifier(NAME, digest(question, *options, country)),
        dataset=NAME,
        task="impersonation",
        question=question,
        answer=answer,
        language="English",
        culture=country,
        stratum=country,
        options=tuple(options),
        wrong=wrong,
        role=f"Location (country): {country}",
        context=CONTEXT,
        group=group,
    )
