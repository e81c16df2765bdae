"""What is said to be printed is printed: pages and files against `paper/`, and `paper/` against the papers where they are.

`paper/` has each printed number with its place. What we computed from these, as hours from minutes, is no printed number.
"""

import csv
import re
from functools import cache
from pathlib import Path

import pytest
from test_numbers import NUMBER, shown

ROOT = Path(__file__).parents[2]
SEEDS = [path for parent in ROOT.parents for path in (parent / "shared/seeds").glob("*.txt")]
DOCUMENTS = {  # what has a paper's numbers -> its text, and the page about it
    "paper": ("000", "reading-the-paper"),
    "excam/rubric/paper": ("001", "rubric"),
    "excam/macaron/paper": ("002", "macaron"),
    "excam/calmqa/paper": ("003", "calmqa"),
    "excam/acre/paper": ("004", "cult-eval"),
}
SAYS = re.compile(
    r"\b(?:paper|manual|their text)s? (?:prints?|says?|states?|gives?|has|kept|wants|names|lists)\b"
    r"|\b(?:[Tt]he|as) printed\b|\((?:(?:the )?(?:paper|text|manual)|printed):"
)
COMPUTED = {  # columns and rows that are no transcript, and say so where it is not plain
    "paper/table-2.csv": {"train", "dev", "test"},  # thousands as integers
    "paper/error-rates.csv": {"rate"},  # percent as a share
    "excam/calmqa/paper/claims.csv": {"human-ratings", "afar"},  # "5 x 3 x 20"; "No model"
    "excam/rubric/paper/numbers.csv": {"red-flags", "weights"},  # sums
}
OURS = {
    "id", "key", "claim", "spec", "contradiction", "what", "unit", "place", "source", "section", "number", "aspect",
    "ours", "why",
}  # fmt: skip


def lines(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def numbers(text: str) -> list[str]:
    """Numbers as they are compared: without thousands' commas, signs and zeros that say nothing."""
    return [f"{abs(float(number.replace(',', ''))):g}" for number in re.findall(rf"(?<![\w.]){NUMBER}", text)]


def printed(path: Path) -> list[tuple[str, str]]:
    """(where, number) of every number that a file of `paper/` gives as printed."""
    name = path.relative_to(ROOT).as_posix()
    return [
        (f"{name}: {next(iter(line.values()))}", number)
        for line in lines(path)
        if next(iter(line.values())) not in COMPUTED.get(name, ())
        for column, cell in line.items()
        if column not in OURS | COMPUTED.get(name, set())
        for number in numbers(cell)
    ]


@cache
def of_folder(folder: str) -> frozenset[str]:
    return frozenset(number for path in (ROOT / folder).glob("*.csv") for _, number in printed(path))


def folders(page: str) -> list[str]:
    """Whose numbers a page may call printed: its own paper's, or all."""
    return [folder for folder, (_, about) in DOCUMENTS.items() if about == page] or list(DOCUMENTS)


@pytest.mark.parametrize("folder", DOCUMENTS)
def test_paper_has_what_is_printed(folder):
    texts = [path for path in SEEDS if path.name.startswith(f"{DOCUMENTS[folder][0]}_")]
    if not texts:
        pytest.skip("no papers here")
    there = set(numbers(texts[0].read_text(encoding="utf-8").replace(".000", ",000")))  # 1.000.000
    absent = [line for path in sorted((ROOT / folder).glob("*.csv")) for line in printed(path) if line[1] not in there]
    assert not absent


def test_a_page_says_that_a_paper_prints_what_it_prints():
    wrong = []
    for path in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]:
        known = frozenset().union(*map(of_folder, folders(path.stem)))
        for sentence in re.split(r"(?<=[.;:])\s|\n\s*\n|\|", shown(path.read_text(encoding="utf-8"))):
            if claim := SAYS.search(sentence):
                rest = sentence[claim.end() :]
                wrong += [f"{path.name}: {sentence.strip()}: {n}" for n in numbers(rest) if n not in known]
    assert not wrong


def test_a_file_calls_printed_what_is_printed():
    wrong = []
    for path in sorted((ROOT / "docs").rglob("*.csv")):
        known = frozenset().union(*map(of_folder, folders(path.stem)))
        for line in lines(path) if path.name != "numbers.csv" else ():
            cells = [cell or "" for column, cell in line.items() if "printed" in (column or "")]
            cells += [line["value"]] if re.search(r"^printed\b|\bprinted$", line.get("what") or "") else []
            wrong += [f"{path.name}: {cell}" for cell in cells for number in numbers(cell) if number not in known]
    assert not wrong
