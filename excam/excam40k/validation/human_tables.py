"""The tables of what annotators answered, and their pages: ExCAM Tables 3, 12 and 13, the ratings, the agreement.

Lines are those of the CSV files, with numbers as text (`tables.read_lines`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from excam.annotation.campaign import Campaign
from excam.excam40k.validation import human_agreement, human_ratings, human_votes
from excam.excam40k.validation.human_answers import AnsweredTask
from excam.excam40k.validation.human_ratings import AGAINST, GRADES
from excam.excam40k.validation.human_votes import FEW, SHARES
from excam.pages.claims import Printed, printed_list
from excam.pages.markdown import escape, table

Line = Mapping[str, str]
Lines = Sequence[Line]
Cell = str | Callable[[Line], str]  # a column of the CSV file, or what makes a cell of a line
MARK = "†"
NOTHING = "–"  # of a number that the paper may not print, or that nobody rated
VOTE = """\
A vote counts once its whole step is answered. “Don't know” and “text highlighted without changes” do not count as yes;
their numbers stand in two columns of their own.
"""
MAJORITY = """\
An item counts as yes where more than half of those who voted say yes: two of three, both of two. An item with fewer
than two votes is left out.
"""


@dataclass(frozen=True, slots=True)
class TableInputs:
    """What the rows of a table are made of."""

    campaign: Campaign
    items: Sequence[AnsweredTask]
    printed: Sequence[Mapping[str, str]]  # the paper's table; of a table that is not in the paper: none
    claims: Printed
    seed: int


@dataclass(frozen=True, slots=True)
class Table:
    """One table, `results/paper/<name>.csv` and `.md`: the columns and rows of the first, the words of the second.

    `cells` are the columns of the page with their heads; `end` stands below its table.
    """

    columns: Sequence[str]
    lines: Callable[[TableInputs], Iterable[dict[str, Any]]]
    title: str
    note: str
    rule: str
    cells: Sequence[tuple[str, Cell]]
    end: Callable[[Lines, Printed], str] = lambda *_: ""


def page(layout: Table, lines: Lines, counted: Mapping[str, Any], paper: Printed) -> str:
    """Return a page; a line about few items is marked in its first cell."""
    body = [
        [_text(line, cell) + f" {MARK}" * (not at and line["few"] != "") for at, (_, cell) in enumerate(layout.cells)]
        for line in lines
    ]
    shown = table([head for head, _ in layout.cells], body)
    few = f"\n{MARK}: fewer than {FEW} items.\n" if any(line["few"] for line in lines) else ""
    return f"# {layout.title}\n\n{layout.note}\n{layout.rule}\n{_source_notes(counted)}\n{shown}{few}" + layout.end(
        lines, paper
    )


def _text(line: Line, cell: Cell) -> str:
    return cell(line) if callable(cell) else escape(line[cell]) or NOTHING


def _source_notes(counted: Mapping[str, Any]) -> str:
    """Return the notes on the sources, on replaced answers, and on missing ones."""
    superseded = counted["superseded"]
    most_skipped = max((counts["skipped"] for counts in counted["annotators"].values()), default=0)
    return (
        f"{counted['answers']} answers of {len(counted['annotators'])} annotators about {counted['tasks']} items "
        f"({counted['wanted']} wanted): {counted['finished']} finished, {counted['unfinished']} unfinished, "
        f"{counted['skipped']} skipped for the language (at most {most_skipped} by one annotator)"
        + (f"; {superseded} replaced by later ones of the same annotator.\n" if superseded else ".\n")
    )


def _with_interval(value: str, low: str = "low", high: str = "high") -> Callable[[Line], str]:
    def cell(line: Line) -> str:
        return (line[value] or NOTHING) + (f" [{line[low]}, {line[high]}]" if line[low] else "")

    return cell


def _items(line: Line) -> str:
    return line["n"] + (f" (paper: {line['printed_n']})" if line["printed_n"] else "")


_COUNTS: tuple[tuple[str, Cell], ...] = (
    *(("n", _items), ("don't know", "dont_know"), ("no change", "no_change"), ("items left out", "left_out")),
)
_CRITERION = ("criterion", "criterion")
_PERCENT = _with_interval("percent")

NOTE_3 = """\
Of items with exactly three votes. *Strict*: the error is valid; *partial*: valid or partly valid. “Expl. valid” counts
only explanations that are completely valid: the paper gives a strict and a partial line for errors alone; the last line
counts partly valid ones too. A half digit is rounded to the even one, as in the printed table.
"""

NOTE_12 = """\
Of items with exactly two votes in languages that two annotators were wanted for: both say yes. An error that is partly
valid counts as valid, an explanation that is partly valid does not. In brackets: 95 % (Wilson).
"""

NOTE_13 = """\
Severity by the provided label. A box that is not checked says “not reasonable”. In brackets: 95 % (Wilson).
"""

_CLAIMS_13 = ("human-severity-minor", "human-severity-major", "human-changed-mind")


def _contradictions(paper: Printed, names: Sequence[str]) -> str:
    """Return the places where the paper's text and tables differ."""
    return "\nIts text and its table differ:\n\n" + "".join(
        f"- {escape(claim['what'])} {claim['printed']} in {escape(claim['source'])}; {escape(against)}.\n"
        for claim in (paper[name] for name in names)
        if (against := claim["contradiction"])
    )


NOTE_RATINGS = """\
Found: the system wrote an explanation, that is, predicted an error. The mean is over every rating from 1 (not similar
at all) to 5 (nearly identical) of these, whoever gave it; in brackets: 95 %, over items. The paper keeps
items whose “ground truth is valid as per majority vote (n=90)”: that is the strict vote on the explanation, as 97.6 %
of 80 in Table 3 and 83.3 % of 6, 50 % of 6 and 50 % of 8 in Table 12 are 78 + 5 + 3 + 4 = 90 items. Whether its mean is
over ratings or over items it does not say; both are here.
"""


def _answers_against(lines: Lines, paper: Printed) -> str:
    of_text, without = (sum(int(line[name]) for line in lines if line["items"] == "all") for name in AGAINST)
    return (
        f"\nAnswers against what was shown, in no mean: {of_text} times “no error was detected” of an "
        f"explanation that names one, {without} times a grade where the system found no error.\n"
    ) + printed_list(paper, ("explanation-soft-n",))


NOTE_AGREEMENT = """\
Beyond the paper, which prints shares of votes. 1: always alike, 0: as by chance. Alpha: Krippendorff's, of items with
two ratings or more; kappa: Fleiss', of items with exactly so many. In brackets: 95 %, over items; resamples
without variation are left out. Where nearly all votes are yes, chance agrees too and both are low however alike the
votes: read them beside Table 3.
"""


TABLES: Mapping[str, Table] = {
    "table-3": Table(
        human_votes.COLUMNS_3,
        lambda inputs: human_votes.table_3(inputs.items, inputs.printed),
        "Table 3: votes of three annotators",
        NOTE_3,
        VOTE,
        [
            _CRITERION,
            *((head, column) for share in SHARES for head, column in ((share, share), ("paper", f"printed_{share}"))),
            *_COUNTS,
        ],
        lambda _, paper: (
            printed_list(
                paper, ("human-english", "human-spans-all-agree", "human-error-all-agree", "human-no-error-majority")
            )
            + "\nThe last is 1/3 and 0/3 of the line “partial” together.\n"
        ),
    ),
    "table-12": Table(
        human_votes.COLUMNS_12,
        lambda inputs: human_votes.table_12(inputs.items, inputs.printed),
        "Table 12: languages with two annotators",
        NOTE_12,
        VOTE,
        [("language", "language"), _CRITERION, ("both say yes, %", _PERCENT), ("paper", "printed_percent"), *_COUNTS],
        lambda _, paper: printed_list(
            paper, ("human-german", "human-japanese", "human-chinese", "human-explanations-zh-de")
        ),
    ),
    "table-13": Table(
        human_votes.COLUMNS_13,
        lambda inputs: human_votes.table_13(inputs.items, inputs.printed),
        "Table 13: severity, type, change of mind",
        NOTE_13,
        f"{MAJORITY}\n{VOTE}",
        [
            *(_CRITERION, ("yes", "yes"), ("paper", "printed_yes"), ("%", _PERCENT), ("paper", "printed_percent")),
            *_COUNTS,
        ],
        lambda _, paper: printed_list(paper, _CLAIMS_13) + _contradictions(paper, _CLAIMS_13),
    ),
    "human-ratings": Table(
        human_ratings.COLUMNS,
        lambda inputs: human_ratings.lines(inputs.campaign, inputs.items, inputs.claims, inputs.seed),
        "Ratings of systems' explanations",
        NOTE_RATINGS,
        MAJORITY,
        [
            *(("items", "items"), ("system", "system"), ("n", "n"), ("paper", "printed_n")),
            ("found, % [95 %]", _with_interval("percent", "percent_low", "percent_high")),
            *(("paper", "printed_percent"), ("mean [95 %]", _with_interval("mean")), ("paper", "printed_mean")),
            *(("mean of items", "mean_of_items"), ("rated items", "rated_items")),
            *((f"rated {grade}", grade) for grade in GRADES),
        ],
        _answers_against,
    ),
    "human-agreement": Table(
        human_agreement.COLUMNS,
        lambda inputs: human_agreement.lines(inputs.campaign, inputs.items, inputs.seed),
        "How far annotators agree",
        NOTE_AGREEMENT,
        "Left out: ratings that are no point on the scale (“don't know”, “highlighted without changes”).\n",
        [
            *((name, name) for name in ("question", "scale", "measure", "raters")),
            ("value [95 %]", lambda line: f"– ({line['why']})" if line["why"] else _with_interval("value")(line)),
            *(("n", "n"), ("ratings", "ratings"), ("annotators", "annotators"), ("left out", "left_out")),
        ],
    ),
}
