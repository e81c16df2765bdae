"""Tables 1 and 8-10: rows that show what the data are, chosen by rule and never by hand (spec 18, 64)."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from pathlib import Path

from excam.markdown import escaped, marked, table
from excam.provenance import write_text
from excam.publishing import EXAMPLE_TABLES
from excam.publishing.about import about
from excam.records import Sample
from excam.tables import read_samples

RULE = (
    "The rule: of the rows of the test split the shortest, in characters of instruction and output; a question without "
    "its options only where none has any; of equally short ones the first by id."
)
ENGLISH = "Here English rows come first. The erroneous words are bold."


def shortest(samples: Iterable[Sample], first_in: str = "") -> Sample | None:
    """The row that `RULE` chooses, in the language `first_in` where there is one; None of nothing."""

    def order(sample: Sample) -> tuple[bool, bool, int, str]:
        length = len(sample.instruction) + len(sample.output)
        return sample.language != (first_in or sample.language), sample.pair.endswith("/freeform"), length, sample.id

    return min(samples, key=order, default=None)


def of_errors(samples: Sequence[Sample]) -> str:
    """Table 1: one soft and one hard error, the erroneous words marked."""
    kinds = {
        "soft error": shortest((s for s in samples if s.origin.startswith("soft")), first_in="English"),
        "hard error": shortest((s for s in samples if s.origin == "hard"), first_in="English"),
    }
    shown = {kind: sample for kind, sample in kinds.items() if sample}
    absent = [kind for kind in kinds if kind not in shown]
    lines = [_described(sample) for sample in shown.values()]
    body = table(["", *shown], [[name, *(line[name] for line in lines)] for name in lines[0]]) if lines else ""
    missing = f"\nThe test split holds no row with a {' and none with a '.join(absent)}.\n" if absent else ""
    return body + missing


def _described(sample: Sample) -> dict[str, str]:
    errors = sample.report.errors
    return {
        "dataset": f"{about(sample.dataset).name} ({escaped(sample.licence)})",
        "instruction": marked(sample.instruction, "instruction", errors),
        "output": marked(sample.output, "output", errors),
        "severity": ", ".join(error.severity for error in errors),
        "type": escaped(", ".join(dict.fromkeys(error.type for error in errors))),
        "explanation": escaped(sample.report.explanation),
        "gold score": str(sample.score),
        "id": escaped(sample.id),
    }


def of_datasets(names: Iterable[str], samples: Sequence[Sample]) -> str:
    """Tables 8-10: one errorless pair of each named dataset; those that are not there are said to be absent."""
    chosen = {name: shortest(s for s in samples if s.dataset == name and not s.report.errors) for name in names}
    rows = [
        [about(name).name, sample.task, escaped(sample.instruction), escaped(sample.output), escaped(sample.licence)]
        for name, sample in chosen.items()
        if sample
    ]
    absent = ", ".join(about(name).name for name, sample in chosen.items() if not sample)
    body = table(["dataset", "task", "instruction", "output", "licence"], rows) if rows else ""
    return body + (f"\nNot in this build, or without a row in its test split: {absent}.\n" if absent else "")


def page(number: int, samples: Sequence[Sample]) -> str:
    """One of the tables as a page of its own, with the rule by which its rows were chosen."""
    if number == 1:
        return f"# Table 1: a soft and a hard error\n\n{RULE} {ENGLISH}\n\n{of_errors(samples)}"
    title = f"# Table {number}: errorless pairs, one per dataset"
    return f"{title}\n\n{RULE}\n\n{of_datasets(EXAMPLE_TABLES[number], samples)}"


def main(number: int, what: str | None, argv: Sequence[str] | None = None) -> None:
    """The script of one of the tables: test splits in, a page out."""
    parser = argparse.ArgumentParser(description=what)
    parser.add_argument("--samples", type=Path, nargs="*", default=[], help="<dataset>/test.parquet")
    parser.add_argument("--table", type=Path, required=True)
    args = parser.parse_args(argv)

    samples = [sample for path in args.samples for sample in read_samples(path)]
    write_text(args.table, page(number, samples))
