"""The description of each published column, for the card."""

from __future__ import annotations

from collections.abc import Mapping

# name -> kind, text
COLUMNS: Mapping[str, tuple[str, str]] = {
    "id": ("text", "Unique: the pair and `right` or `wrong`"),
    "pair": ("text", "Shared by the right and the wrong row of a pair, which also share their templates"),
    "base": ("text", "The benchmark's row that both come from"),
    "dataset": ("text", "The benchmark"),
    "task": ("text", "qa, freeform, generation or impersonation"),
    "instruction": ("text", "What is asked, wrapped in a template"),
    "output": ("text", "What is answered, wrapped in a template; this pair is what a metric judges"),
    "origin": ("text", "source (right), hard, or, by the severity requested, soft-minor or soft-major (wrong)"),
    "language": ("text", "Language of the content, in English; the frame around it is English"),
    "culture": ("text", "Country, region or culture; where the source names none, the language"),
    "stratum": ("text", "By what rows were drawn evenly"),
    "licence": ("text", "SPDX identifier of the source's licence"),
    "answer": ("text", "The right answer without its template"),
    "group": ("text", "Rows that must share a split"),
    "split": ("text", "train, dev or test"),
    "errors": ("errors", "The gold report: every erroneous place, none in a right row"),
    "explanation": ("text", "Why it is wrong, one text for all errors of a row"),
    "stated_severity": ("text", "Severity that the generator of a soft error stated: minor, major or other"),
    "templates": ("list of text", "Which paraphrases were used"),
    "score": ("integer", "Gold score: minor -1 and major -5 added up, 0 for a right row"),
    "agreement": (
        "number",
        "Share of others who give the right answer: of people asked in a survey, of the other annotators of a text; "
        "null: nobody else was asked",
    ),
    "asked": ("integer", "How many other annotators; null: not known"),
    "in_test_100": ("boolean", "Whether the row is in the balanced part of `test` for judges paid by the call"),
}
ERROR_COLUMNS: Mapping[str, tuple[str, str]] = {
    "where": ("text", "instruction or output"),
    "span": ("text", "The erroneous words"),
    "severity": (
        "text",
        "minor or major; of a soft error what was requested, or what the generator stated where the recipe's "
        "`construction.severity` says `stated`",
    ),
    "type": ("text", "Free text"),
    "start": ("integer", "First character in the text that `where` names"),
    "end": ("integer", "First character after the span"),
}
