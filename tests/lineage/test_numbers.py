"""Every measured number of five pages has a row of a file: docs/numbers.csv names it; `REWRITE_DOCS=1` rewrites that.

A number is measured if an interval follows it, if it is a decimal, has a unit, follows "n =", is part of "n of m", or
stands in a cell of a table beside numbers only. Names, goals and settings that look so are in `NOT_MEASURED`. A row is
looked for in the files that the paragraph (or row of a table) names or links to, else its section, else in all.
"""

import csv
import difflib
import os
import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
HINT = "is it measured, and its file in docs/ or paper/ up to date? Then run: python tests/records.py"
LEDGER = ROOT / "docs/numbers.csv"
PAGES = ("README.md", "docs/index.md", "docs/the-score.md", "docs/instruments.md", "docs/results.md")
NO_RESULTS = {"docs/numbers.csv", "docs/specification.csv", "docs/licences.csv"}
NO_RESULTS |= {"docs/taught/points.csv"}  # a row a text
TABLES = [path for folder in ("docs", "paper") for path in (ROOT / folder).rglob("*.csv")]
FILES = {path.relative_to(ROOT).as_posix() for path in TABLES} - NO_RESULTS
NOT_MEASURED = {
    "Python 3.11, 3.12 or 3.13": "versions",
    "Python from 3.11": "a version",
    "CC BY 4.0": "the name of a licence",
    "Gemini 1.5 Pro": "the name of a model",
    "0.5 and 1.5 billion": "sizes of models",
    "1.5 billion": "the size of a model",
    "4 GB of memory": "what the first command needs: an advice",
    "10 GB of disk": "what the first command needs: an advice",
    "95 %": "the level of all intervals",
    "rejected at 5 %": "the level of the tests",
    **dict.fromkeys(("goal .70", "goal .75", "goal .45", "goal of .7 is", "goal of .80", "goal of .6 ms"), "a goal"),
    **dict.fromkeys(("goals .15, above 0, .25", "under .1 ms"), "goals"),
    **{f"goal {value}": "a goal" for value in (".56", ".65", ".50", ".40", ".15", ".30", ".90", ".05", ".01")},
    **dict.fromkeys(
        ("| 166 | 160 |", "| 207 | 204 |", "| 86 | 66 |", "| 459 | 430 |"),
        "shares of grounded.csv: tests/cli/test_site.py",
    ),
    **dict.fromkeys(("chance is 37.5", "chance .5", ".5 is chance"), "chance"),
    "decides from .75 on": "a setting",
    "0, 1, 2, 5, 10 or 20 times": "a setting of the corpus",
}  # and why; as a page has them, without ** and with - for minus
NUMBER = r"-?(?:(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?|\.\d+)(?:e-\d+)?"
FOUND = re.compile(
    rf"(?<![\w.,/-])(?P<value>{NUMBER})(?:(?: points| times)? \[(?P<low>{NUMBER}), (?P<high>{NUMBER})\])?(?![\w(]|-\w|[.,]\d)"
)
UNIT = r"(?:%|ms|s|min|h|MB|GB|GiB|seconds|minutes|hours|rows a second|times|unreadable)(?![\w-])"
AFTER = re.compile(rf"(?:(?:,| to| and| or) {NUMBER})* ?{UNIT}| of \d")
BEFORE = re.compile(r"(?:n = |\d of )$")
ALONE = re.compile(rf"(?:{NUMBER}|n = |[][–;,() ])+")


class Item(NamedTuple):
    """A measured number of a page, and what is around it."""

    page: str
    section: str
    printed: str
    values: tuple[str, ...]
    words: frozenset[str]
    files: frozenset[str]


class Row(NamedTuple):
    """A row of a file of results: its name, and the numbers of its cells in their order."""

    file: str
    name: str
    words: frozenset[str]
    numbers: tuple[float, ...]


def slug(title: str) -> str:
    return re.sub(r"[^\w\- ]", "", title.replace("`", "").lower()).strip().replace(" ", "-")


def words_of(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"\d*\.?\d+[a-z]*|[^\W\d_]{3,}", text.lower()))


@cache
def sections(page: str) -> dict[str, str]:
    """Return the text of each section of a page by its anchor, without blocks of code and comments."""
    text = (ROOT / page).read_text(encoding="utf-8").replace("−", "-").replace("**", "")
    text = re.sub(r"^ *```.*?^ *```|<!--.*?-->", "", text, flags=re.S | re.M)
    parts = re.split(r"^#+ (.+)\n", text, flags=re.M)
    return {"": parts[0]} | {slug(title): part for title, part in zip(parts[1::2], parts[2::2], strict=True)}


def named_files(text: str, follow: bool = True) -> frozenset[str]:
    """Return the files of results that a text names, or that the sections it links to name."""
    names = {name for path in re.findall(r"[\w/.-]+\.csv", text) for name in FILES if f"/{name}".endswith(f"/{path}")}
    for page, anchor in re.findall(r"\]\((?:docs/)?(results(?:-log)?\.md)?#([\w-]+)\)", text) if follow else ():
        names |= named_files(sections(f"docs/{page or 'results.md'}").get(anchor, ""), follow=False)
    return frozenset(names)


def paragraphs(text: str) -> Iterator[tuple[str, str]]:
    """Yield (header, text) of paragraphs, entries of lists and rows of tables; of the first two the header is empty."""
    for part in re.split(r"\n\s*\n", text):
        lines = part.strip().splitlines()
        if lines and lines[0].startswith("|"):
            yield from ((lines[0], line) for line in lines[2:])
        elif lines:
            yield from (("", " ".join(entry.split())) for entry in re.split(r"\n *(?=- )", part))


def shown(text: str) -> str:
    """Return what a reader sees of a text, without code, addresses and what is not measured."""
    text = re.sub(r"!?\[([^][]*[A-Za-z][^][]*)\](?:\([^)\s]*\))?", r"\1", re.sub(r"`[^`]*`", "`", text))
    for phrase in NOT_MEASURED:
        text = text.replace(phrase, "…")
    return text


def measured(text: str, cell: bool = False) -> Iterator[tuple[str, ...]]:
    """Yield each measured number of a paragraph or cell, with the ends of its interval if it has one."""
    alone = cell and ALONE.fullmatch(text)
    for match in FOUND.finditer(text):
        value = match["value"]
        around = AFTER.match(text, match.end()) or BEFORE.search(text[: match.start()])
        if match["low"]:
            yield value, match["low"], match["high"]
        elif alone or "." in value or "e" in value or around:
            yield (value,)


def items(page: str) -> Iterator[Item]:
    """Yield the measured numbers of a page in their order."""
    for section, whole in sections(page).items():
        for header, text in paragraphs(whole):
            files = named_files(header + text) or named_files(whole) or frozenset(FILES)
            cells = [cell.strip() for cell in shown(text).strip("|").split("|")] if header else [shown(text)]
            heads = [head.strip() for head in shown(header).strip("|").split("|")]
            for column, cell in enumerate(cells):
                around = words_of(f"{heads[column]} {cells[0]} {cell}" if header else cell)
                for values in measured(cell, cell=column > 0):
                    printed = f"{values[0]} [{', '.join(values[1:])}]" if values[1:] else values[0]
                    yield Item(page, section, printed, values, around, files)


@cache
def floats(text: str) -> list[float]:
    """Return the numbers of a cell: '23 min 55 s' has two."""
    numbers = re.findall(rf"(?<![\w.,]){NUMBER}(?![\w(])", text.replace("−", "-"))
    return [float(number.replace(",", "")) for number in numbers]


@cache
def rows(file: str) -> tuple[Row, ...]:
    """Return the rows of a file; a row is named by its columns up to the first that is measured."""
    with (ROOT / file).open(encoding="utf-8", newline="") as stream:
        table = list(csv.DictReader(stream))
    columns = list(table[0])
    measured_columns = ("value", "facts", "count", "n", "printed", "scaled accuracy")
    stop = next((i for i, name in enumerate(columns) if name in measured_columns), 1)
    last = columns.index("command") if "command" in columns else len(columns)
    result = []
    for row in table:
        cells = [row[column] or "" for column in columns]
        name = " | ".join(cells[:stop])
        numbers = [number for cell in cells[stop:last] for number in floats(cell)]
        result.append(Row(file, name, words_of(name), tuple(numbers)))
    return tuple(result)


@cache
def rows_by_name(file: str) -> dict[str, list[Row]]:
    named = defaultdict(list)
    for row in rows(file):
        named[row.name].append(row)
    return named


def rounds_to(number: float, printed: str) -> bool:
    """Whether a number, rounded to the digits of a printed one, is that one."""
    mantissa, _, exponent = printed.replace(",", "").partition("e")
    digits = len(mantissa.partition(".")[2]) - int(exponent or 0)
    return abs(number - float(printed.replace(",", ""))) <= 0.5 * 10**-digits + 1e-9


def backs(row: Row, values: tuple[str, ...]) -> bool:
    """Whether a row has a number, and the ends of its interval one behind the other."""
    value, *ends = values
    if not any(rounds_to(number, value) for number in row.numbers):
        return False
    return not ends or any(rounds_to(low, ends[0]) and rounds_to(high, ends[1]) for low, high in pairwise(row.numbers))


def best_row(item: Item) -> Row | None:
    """Return the row that backs a number and shares most words with what is around it."""
    backing = [row for file in sorted(item.files) for row in rows(file) if backs(row, item.values)]
    return max(backing, key=lambda row: len(row.words & item.words), default=None)


def record() -> list[list[str]]:
    """Return a line of the ledger for each number; one that its line's row still backs keeps that row."""
    kept = defaultdict(list)
    for line in filter(recorded_backs, ledger()):
        kept[tuple(line[:3])].append(line)
    lines, missing = [], []
    for item in (item for page in PAGES for item in items(page)):
        place = (item.page, item.section, item.printed)
        if kept[place]:
            lines.append(kept[place].pop(0))
        elif row := best_row(item):
            lines.append([*place, row.file, row.name])
        else:
            missing.append(f"{item.page}, {item.section}: {item.printed} is in none of {', '.join(sorted(item.files))}")
    assert not missing, "\n".join(missing)
    return lines


def ledger() -> list[list[str]]:
    with LEDGER.open(encoding="utf-8", newline="") as stream:
        return list(csv.reader(stream))[1:]


def recorded_backs(line: list[str]) -> bool:
    """Whether the row that a line of the ledger names is there and has the line's number."""
    _, _, printed, file, name = line
    values = tuple(re.findall(NUMBER, printed))
    return file in FILES and any(backs(row, values) for row in rows_by_name(file).get(name, ()))


def test_every_measured_number_is_that_of_a_row_of_a_file():
    if os.environ.get("REWRITE_DOCS"):
        lines = record()
        with LEDGER.open("w", encoding="utf-8", newline="") as stream:
            csv.writer(stream, lineterminator="\n").writerows([["page", "section", "printed", "file", "row"], *lines])
    shown_now = ["\t".join(item[:3]) for page in PAGES for item in items(page)]
    recorded = ["\t".join(line[:3]) for line in ledger()]
    changed = [line for line in difflib.unified_diff(recorded, shown_now, n=0, lineterm="") if line[0] in "+-"][2:]
    assert not changed, "\n".join(["the pages have other numbers (+) than recorded (-):", *changed, HINT])
    stale = [" | ".join(line) for line in ledger() if not recorded_backs(line)]
    assert not stale, "\n".join(["rows that have another number now, or are gone:", *stale, HINT])


def test_what_is_not_measured_is_on_a_page():
    text = "".join(shown_raw for page in PAGES for shown_raw in sections(page).values())
    assert not [phrase for phrase in NOT_MEASURED if phrase not in " ".join(text.split())]


def test_a_number_is_compared_as_it_is_printed():
    assert [rounds_to(*pair) for pair in ((0.0512, ".05"), (0.0551, ".05"), (1.7e-6, "2e-6"))] == [True, False, True]
