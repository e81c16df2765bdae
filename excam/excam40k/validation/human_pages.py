"""Pages about annotators' answers: ExCAM Tables 3, 12 and 13, the ratings, the agreement; ours beside the paper's.

Lines are those of the CSV files, with numbers as text (`tables.read_lines`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from excam.error_reports.evaluation import claims
from excam.error_reports.evaluation.claims import Claims
from excam.excam40k.validation.human_ratings import AGAINST, GRADES
from excam.excam40k.validation.human_votes import FEW, SHARES, UNSURE
from excam.pages.markdown import escape, table

Lines = Sequence[Mapping[str, str]]
MARK = "†"
VOTE = """\
A vote counts once its whole step is answered. “Don't know” and “text highlighted without changes” are no yes; how many
votes they are stands beside.
"""
MAJORITY = """\
An item counts as yes where more than half of those who voted say yes: two of three, both of two. An item with fewer
than two votes is left out.
"""


NOTE_3 = """\
Of items with exactly three votes. *Strict*: the error is valid; *partial*: valid or partly valid. “Expl. valid” counts
only explanations that are completely valid: the paper gives a strict and a partial line for errors alone; the last line
counts partly valid ones too. A half digit is rounded to the even one, as in the printed table.
"""


def page_3(lines: Lines, counted: Mapping[str, Any], paper: Claims) -> str:
    """Return Table 3: shares of votes."""
    head = ["criterion", *(name for share in SHARES for name in (share, "paper")), *_COUNTS]
    body = [
        [escape(line["criterion"]) + _few(line)]
        + [cell for name in SHARES for cell in (line[name] or "–", line[f"printed_{name}"] or "–")]
        + _count_cells(line)
        for line in lines
    ]
    ids = ("human-english", "human-spans-all-agree", "human-error-all-agree", "human-no-error-majority")
    note = "\nThe last is 1/3 and 0/3 of the line “partial” together.\n"
    return (
        _page("Table 3: votes of three annotators", NOTE_3, VOTE, head, body, counted)
        + claims.claims_list(paper, ids)
        + note
    )


NOTE_12 = """\
Of items with exactly two votes in languages that two annotators were wanted for: both say yes. An error that is partly
valid counts as valid, an explanation that is partly valid does not. In brackets: 95 % (Wilson).
"""


def _or_dash(number: str) -> str:
    """Return a number that the paper may not print, or that nobody rated."""
    return number or "–"


def page_12(lines: Lines, counted: Mapping[str, Any], paper: Claims) -> str:
    """Return Table 12: both annotators of a language say yes."""
    head = ["language", "criterion", "both say yes, %", "paper", *_COUNTS]
    body = [
        [
            escape(line["language"]) + _few(line),
            escape(line["criterion"]),
            _share(line),
            _or_dash(line["printed_percent"]),
            *_count_cells(line),
        ]
        for line in lines
    ]
    ids = ("human-german", "human-japanese", "human-chinese", "human-explanations-zh-de")
    return _page("Table 12: languages with two annotators", NOTE_12, VOTE, head, body, counted) + claims.claims_list(
        paper, ids
    )


NOTE_13 = """\
Severity by the provided label. A box that is not checked says “not reasonable”. In brackets: 95 % (Wilson).
"""


def page_13(lines: Lines, counted: Mapping[str, Any], paper: Claims) -> str:
    """Table 13: severity, type and change of mind by majority, and where the paper's text differs from its table."""
    head = ["criterion", "yes", "paper", "%", "paper", *_COUNTS]
    body = [
        [
            escape(line["criterion"]) + _few(line),
            line["yes"],
            _or_dash(line["printed_yes"]),
            _share(line),
            _or_dash(line["printed_percent"]),
            *_count_cells(line),
        ]
        for line in lines
    ]
    page = _page("Table 13: severity, type, change of mind", NOTE_13, f"{MAJORITY}\n{VOTE}", head, body, counted)
    ids = ("human-severity-minor", "human-severity-major", "human-changed-mind")
    return page + claims.claims_list(paper, ids) + _contradictions(paper, ids)


NOTE_RATINGS = """\
Found: the system wrote an explanation, that is, predicted an error. The mean is over every rating from 1 (not similar
at all) to 5 (nearly identical) of these, whoever gave it; in brackets: 95 %, over items. The paper keeps
items whose “ground truth is valid as per majority vote (n=90)”: that is the strict vote on the explanation, as 97.6 %
of 80 in Table 3 and 83.3 % of 6, 50 % of 6 and 50 % of 8 in Table 12 are 78 + 5 + 3 + 4 = 90 items. Whether its mean is
over ratings or over items it does not say; both are here.
"""


def page_ratings(lines: Lines, counted: Mapping[str, Any], paper: Claims) -> str:
    """Return the page of the ratings of two systems' explanations."""
    head = ["items", "system", "n", "paper", "found, % [95 %]", "paper", "mean [95 %]", "paper", "mean of items"]
    head += ["rated items", *(f"rated {grade}" for grade in GRADES)]
    body = [
        [
            *(escape(line["items"]) + _few(line), escape(line["system"]), line["n"], _or_dash(line["printed_n"])),
            *(_interval_text(line, "percent", "percent_low", "percent_high"), _or_dash(line["printed_percent"])),
            _interval_text(line, "mean", "low", "high"),
            *map(_or_dash, (line["printed_mean"], line["mean_of_items"])),
            *(line["rated_items"], *(line[grade] for grade in GRADES)),
        ]
        for line in lines
    ]
    page = _page("Ratings of systems' explanations", NOTE_RATINGS, MAJORITY, head, body, counted)
    sums = {name: sum(int(line[name]) for line in lines if line["items"] == "all") for name in AGAINST}
    page += (
        f"\nAnswers against what was shown, in no mean: {sums['no_error_of_text']} times “no error was detected” of an "
        f"explanation that names one, {sums['rated_without_text']} times a grade where the system found no error.\n"
    )
    return page + claims.claims_list(paper, ("explanation-soft-n",))


NOTE_AGREEMENT = """\
Beyond the paper, which prints shares of votes. 1: always alike, 0: as by chance. Alpha: Krippendorff's, of items with
two ratings or more; kappa: Fleiss', of items with exactly so many. In brackets: 95 %, over items; resamples
without variation are left out. Where nearly all votes are yes, chance agrees too and both are low however alike the
votes: read them beside Table 3.
"""


def page_agreement(lines: Lines, counted: Mapping[str, Any]) -> str:
    """Return alpha and kappa of every question."""
    head = ["question", "scale", "measure", "raters", "value [95 %]", "n", "ratings", "annotators", "left out"]
    body = [
        [escape(line["question"]) + _few(line), line["scale"], line["measure"], line["raters"]]
        + [f"– ({line['why']})" if line["why"] else _interval_text(line, "value", "low", "high")]
        + [line[name] for name in ("n", "ratings", "annotators", "left_out")]
        for line in lines
    ]
    rule = "Left out: ratings that are no point on the scale (“don't know”, “highlighted without changes”).\n"
    return _page("How far annotators agree", NOTE_AGREEMENT, rule, head, body, counted)


_COUNTS = ("n", "don't know", "no change", "items left out")


def _page(
    title: str, note: str, rule: str, head: Sequence[str], body: Sequence[Sequence[str]], counted: Mapping[str, Any]
) -> str:
    text = f"# {title}\n\n{note}\n{rule}\n{_source_notes(counted)}\n{table(head, body)}"
    return text + (f"\n{MARK}: fewer than {FEW} items.\n" if any(MARK in row[0] for row in body) else "")


def _source_notes(counted: Mapping[str, Any]) -> str:
    """Return the notes on the sources, on replaced answers, and on missing ones."""
    superseded = counted["superseded"]
    return (
        f"{counted['answers']} answers of {len(counted['annotators'])} annotators about {counted['tasks']} items "
        f"({counted['wanted']} wanted): {counted['finished']} finished, {counted['unfinished']} unfinished, "
        f"{counted['skipped']} skipped for the language (at most {_most_skipped(counted)} by one annotator)"
        + (f"; {superseded} replaced by later ones of the same annotator.\n" if superseded else ".\n")
    )


def _most_skipped(counted: Mapping[str, Any]) -> int:
    return max((counts["skipped"] for counts in counted["annotators"].values()), default=0)


def _count_cells(line: Mapping[str, str]) -> list[str]:
    of = f"{line['n']} (paper: {line['printed_n']})" if line["printed_n"] else line["n"]
    return [of, *(line[name] for name in UNSURE), line["left_out"]]


def _few(line: Mapping[str, str]) -> str:
    return f" {MARK}" if line["few"] else ""


def _share(line: Mapping[str, str]) -> str:
    return _interval_text(line, "percent", "low", "high")


def _interval_text(line: Mapping[str, str], value: str, low: str, high: str) -> str:
    if not line[value]:
        return "–"
    return line[value] + (f" [{line[low]}, {line[high]}]" if line[low] else "")


def _contradictions(paper: Claims, names: Sequence[str]) -> str:
    """Return the places where the paper's text and tables differ."""
    contradicted = [paper[name] for name in names if paper[name]["contradiction"]]
    differ = [
        f"{escape(claim['what'])} {claim['printed']} in {escape(claim['source'])}; {escape(claim['contradiction'])}"
        for claim in contradicted
    ]
    return "\nIts text and its table differ:\n\n" + "".join(f"- {difference}.\n" for difference in differ)
