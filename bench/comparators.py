"""How well do comparators that need no model tell right from wrong, and mark the words that differ?

    python -m bench.comparators --data data --set blend culturalbench globalopinionqa variants qualification

`--data` is a folder with one folder of official files for each benchmark. Rows are the project's own: base samples as
its readers give them, the right row and the wrong row of each pair, the right answer as the expected statement.
`variants` are BLEnD's annotations: two wordings of one annotated answer agree, answers of two groups of a question
differ; `variants-en` are the same in English. `qualification` are the right and wrong answers of the qualification set
with their expected answers: sentences in other words, nine languages; all are test rows.

Base samples are divided by hash: thresholds were chosen on `--part dev` (a third), numbers are reported of `--part
test`. `right of decided` is the share of right verdicts among rows that have one. Intervals: 95 %, bootstrap over base
samples. `AUC` is that of the margin. Tokens are the words of the
comparators; `span F1` counts marks on right rows as false ones. Speed is of this process, one core.
"""

from __future__ import annotations

import argparse
import gzip
import json
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np

from bench.processes import ROOT
from excam.core import row_files
from excam.core.hash_order import digest
from excam.core.splits import Split
from excam.error_reports import comparators
from excam.error_reports.comparators import encoder
from excam.error_reports.comparators._words import words
from excam.error_reports.comparators.base import Case, Comparison
from excam.error_reports.records import Sample
from excam.excam40k import datasets
from excam.excam40k.construction import duplicates, hard, splits, wrapping
from excam.excam40k.construction.drawing import draw_to_cap
from excam.inference import Flow
from excam.inference.run import without_asking
from excam.stats import bootstrap
from scripts import run

SEED = 20260401
SHARES: dict[Split, float] = {"train": 0.7, "dev": 0.1, "test": 0.2}
CAP = 1600  # rows of a benchmark
LANGUAGES = {
    "Algeria": "Arabic",
    "Assam": "Assamese",
    "Azerbaijan": "Azerbaijani",
    "China": "Chinese",
    "Ethiopia": "Amharic",
    "Greece": "Greek",
    "Indonesia": "Indonesian",
    "Iran": "Persian",
    "Mexico": "Spanish",
    "North_Korea": "Korean",
    "Northern_Nigeria": "Hausa",
    "South_Korea": "Korean",
    "Spain": "Spanish",
    "West_Java": "Sundanese",
}
VARIANTS = ("variants", "variants-en")
QUALIFICATION = "qualification"


@dataclass(frozen=True, slots=True)
class Labelled:
    """A case with its truth: whether the text is right, and the characters that are wrong (none if not known)."""

    case: Case
    base: str
    right: bool
    spans: tuple[tuple[int, int], ...] = ()


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument(
        "--set", nargs="+", default=["blend", "culturalbench", "globalopinionqa", *VARIANTS, QUALIFICATION]
    )
    parser.add_argument("--comparators", nargs="+", default=["lemmas"])
    parser.add_argument("--encoder", type=Path, help="folder of a sentence encoder, for the comparator `encoder`")
    parser.add_argument("--rows", type=int, default=0, help="measure the first so many rows of a set only")
    parser.add_argument("--part", choices=["dev", "test"], default="test")
    parser.add_argument("--wrong", type=int, default=0, help="show so many rows on which a comparator errs")
    args = parser.parse_args(argv)
    print(
        "| set | comparator | n | base samples | undecided | right of decided | AUC | span F1 | rows/s |\n|"
        + "---|" * 9
    )
    for name in args.set:
        rows = _part(_read(args.data, name), args.part)
        for comparator in args.comparators if rows else ():
            compare = comparators.load(comparator).compare
            if comparator == "encoder":
                compare = partial(encoder.compare, folder=args.encoder)
            _measure(name, comparator, compare, rows[: args.rows or None], args.wrong)


def _read(data: Path, name: str) -> list[Labelled]:
    if name == QUALIFICATION:
        return list(_qualification())
    return list(_variants(data, name) if name in VARIANTS else _rows(data, name))


def _part(rows: list[Labelled], part: str) -> list[Labelled]:
    """Return the rows of a part, divided by base sample; the qualification set chooses nothing."""
    if rows[0].base.startswith(QUALIFICATION):
        return rows if part == "test" else []
    chosen = [row for row in rows if (int(digest(SEED, "comparators", row.base), 16) % 3 == 0) == (part == "dev")]
    return sorted(chosen, key=lambda row: digest(SEED, "order", row.base))  # so that the first rows are a sample


def _rows(data: Path, name: str) -> Iterator[Labelled]:
    """Yield the right and the wrong row of each pair of a benchmark with hard errors."""
    benchmark = datasets.load(name)
    drawn = draw_to_cap(datasets.read(name, data / name, {}), benchmark.ERRORS, CAP, SEED, "equal")
    bases = duplicates.in_one_group(drawn)
    where = splits.assign([(base.group, base.stratum) for base in bases], SHARES, SEED)
    right = wrapping.right_samples(bases, benchmark.ERRORS, benchmark.SOURCE.licence, SEED, where)
    wrong, _ = hard.hard_errors(right, {base.id: base for base in bases}, SEED, benchmark.MISTAKE)
    for sample in (*right, *wrong):
        yield _labelled(sample)


def _labelled(sample: Sample) -> Labelled:
    case = Case(sample.instruction, sample.output, sample.answer, language=sample.language)
    spans = tuple((error.start, error.end) for error in sample.report.errors)
    return Labelled(case, sample.group, not spans, spans)


def _variants(data: Path, name: str) -> Iterator[Labelled]:
    """Yield two rows for each question whose first answer group has two wordings, and that has a second group."""
    answers, asked = ("answers", "question") if name == "variants" else ("en_answers", "en_question")
    for path in sorted((data / "blend/annotations").glob("*_data.json.gz")):
        region = path.name.removesuffix("_data.json.gz")
        language = LANGUAGES.get(region, "English") if name == "variants" else "English"
        for key, row in json.loads(gzip.decompress(path.read_bytes())).items():
            groups = [list(dict.fromkeys(str(text) for text in group[answers])) for group in row["annotations"]]
            groups = [group for group in groups if group and all(text.strip() for text in group)]
            if len(groups) < 2 or len(groups[0]) < 2 or {text.casefold() for text in groups[0]} & set(groups[1]):
                continue
            expected, other, *_ = groups[0]
            case = Case(row[asked], other, expected, language=language)
            yield Labelled(case, f"{region}/{key}", True)
            yield Labelled(replace(case, text=groups[1][0]), f"{region}/{key}", False)


def _qualification() -> Iterator[Labelled]:
    """Yield the rows of the qualification set that are right or wrong; the base sample is the document."""
    folder = ROOT / "excam/error_reports/qualification"
    for _, row in row_files.rows(folder / "rows.jsonl"):
        if row["label"] != "undecidable":
            case = Case(row["question"], row["text"], row["expected"], language=row["language"])
            start = row["text"].find(row["wrong_words"])
            spans = ((start, start + len(row["wrong_words"])),) if row["wrong_words"] else ()
            yield Labelled(case, f"{QUALIFICATION}/{row['document']}", row["label"] == "right", spans)


def _measure(
    name: str, comparator: str, compare: Callable[[Case], Flow[Comparison]], rows: list[Labelled], shown: int
) -> None:
    """Print one line of the table."""
    without_asking(compare(rows[0].case))  # word lists are loaded
    started = time.perf_counter()
    compared = [without_asking(compare(row.case)) for row in rows]
    speed = len(rows) / (time.perf_counter() - started)
    bases = [row.base for row in rows]
    pairs = list(zip(rows, compared, strict=True))
    undecided = [outcome.margin is None for outcome in compared]
    correct, decided = [_is_correct(*pair) for pair in pairs], [not unknown for unknown in undecided]
    spans = "–"
    if any(row.spans for row in rows):
        counts = [_tokens(row, outcome) for row, outcome in pairs]
        spans = _cell([2 * both for both, _ in counts], [total for _, total in counts], bases)
    line = (
        name,
        comparator,
        len(rows),
        len(set(bases)),
        _cell(undecided, [1] * len(rows), bases),
        _cell(correct, decided, bases),
        f"{_auc(pairs):.2f}",
        spans,
        f"{speed:.0f}",
    )
    print("| " + " | ".join(map(str, line)) + " |")
    for row, outcome in [(row, outcome) for row, outcome in pairs if not _is_correct(row, outcome)][:shown]:
        print(f"    {'right' if row.right else 'wrong'}: {row.case.text!r} / {row.case.expected!r}: {outcome}")


def _is_correct(row: Labelled, outcome: Comparison) -> bool:
    return outcome.margin is not None and outcome.margin != 0 and (outcome.margin > 0) == row.right


def _auc(pairs: Sequence[tuple[Labelled, Comparison]]) -> float:
    """Return how often the margin of a right row is above that of a wrong one; undecided rows have 0, ties are half."""
    right, wrong = (
        np.array([outcome.margin or 0.0 for row, outcome in pairs if row.right == truth]) for truth in (True, False)
    )
    above = (right[:, None] > wrong[None]).mean() + (right[:, None] == wrong[None]).mean() / 2
    return float(above)


def _tokens(row: Labelled, outcome: Comparison) -> tuple[int, int]:
    """Return the tokens that are marked and wrong, and the sum of marked ones and wrong ones."""
    known = words(row.case.text)
    marked, wrong = (
        {word.start for word in known if any(start < word.end and word.start < end for start, end in ranges)}
        for ranges in (outcome.differing, row.spans)
    )
    return len(marked & wrong), len(marked) + len(wrong)


def _cell(numerators: Sequence[float], denominators: Sequence[float], bases: Sequence[str]) -> str:
    """Return a ratio of sums with its interval over base samples."""
    value = sum(numerators) / max(sum(denominators), 1)
    interval = bootstrap.ratio_interval(numerators, denominators, bases)
    return f"{value:.2f} [{interval[0]:.2f}, {interval[1]:.2f}]" if interval else f"{value:.2f}"


if __name__ == "__main__":
    run(main)
