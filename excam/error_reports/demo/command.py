"""`excam demo`: score ten answers without a model, write their page, and say how often such a judge is right."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from excam.core.provenance import say
from excam.core.terminal import PAGE, exit_on_error
from excam.error_reports.readers.words import MEASURED
from excam.scoring.target import OVERWRITE, refuse_foreign, target

if TYPE_CHECKING:
    from excam.scoring.results import Result

ANSWERS = Path(__file__).parent / "answers.tsv"
NUMBERS = "docs/results/reading.csv"
# a test compares it with the files
WORTH = f"""The judge is the one that `excam score --evidence PACK` has without a model, which sees where words stand:
{MEASURED}
({NUMBERS}: xquad). A model of 1.5 billion parameters that reads the documents is
right in .94 of the verdicts that it gives, for .53 of 868 other answers (the same: prose, all).
How to use a model: docs/judging-with-documents.md; how good yours is: excam qualify --model M."""


def demo(
    to: PAGE = Path("excam-demo.html"),
    overwrite: OVERWRITE = False,
) -> None:
    """Judge ten short answers by documents that ship, in seconds: no model, no network, no account.

    Prints each verdict beside the right one and writes the page of `excam report`. What such a verdict is worth, and
    what a model adds, is said below. Exit codes: 0 written, 2 not.
    """
    from excam.core.provenance import sha256, write_text
    from excam.scoring import report_page

    with exit_on_error():
        page = target(to, ANSWERS)
        refuse_foreign(page, report_page.is_own, overwrite=overwrite)
        answers = rows()
        results = judged(answers)
        write_text(page, report_page.write("ten answers", sha256(ANSWERS), results))
    right = 0
    for answer, result in zip(answers, results, strict=True):
        verdict = "not known" if result.score is None else "wrong" if result.errors else "right"
        right += verdict == answer["label"]
        marked = "".join(f" [{error.span}]" for error in result.errors)
        print(f"{result.id}  judged {verdict:<9}  is {answer['label']:<5}  {answer['question']}")
        print(f"{'':<33}{result.output}{marked}")
    print(
        f"\n{right} of {len(results)} verdicts are right. The answers and the documents were written for this project."
    )
    print(WORTH)
    say(f"the page: {page.resolve()}")


def rows() -> list[dict[str, str]]:
    """Return the answers, with the right verdict as `label`."""
    with ANSWERS.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream, delimiter="\t", quoting=csv.QUOTE_NONE))


def judged(answers: Sequence[dict[str, str]]) -> list[Result]:
    """Return the results of the answers, judged by the documents of the qualification set."""
    from excam.error_reports.metrics import WordReports
    from excam.error_reports.qualification.question_set import pack
    from excam.scoring.metric import Setup
    from excam.scoring.scorer import Scorer

    names = {"id": "id", "instruction": "question", "output": "text", "culture": "culture"}
    rows = [{name: row[column] for name, column in names.items()} | {"language": "English"} for row in answers]
    results = Scorer(WordReports().prepared(Setup(evidence=pack())), None).score(rows)
    return [
        replace(result, parts={**result.parts, "really": row["label"]})
        for result, row in zip(results, answers, strict=True)
    ]
