"""Tables 1 and 8-10: example rows, selected by a rule and never by hand."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from excam.error_reports.records import CulturalError, Sample, Where
from excam.excam40k.publishing import EXAMPLE_TABLES
from excam.excam40k.publishing.about import title
from excam.pages.markdown import escape, table

RULE = (
    "The rule: of the rows of the test split the shortest, in characters of instruction and output; a question without "
    "its options only where none has any; of equally short ones the first by id."
)
ENGLISH = "Here English rows come first. The erroneous words are bold."


def shortest(samples: Iterable[Sample], first_in: str = "") -> Sample | None:
    """Return the row that `RULE` selects, in the language `first_in` if there is one; None without rows."""

    def order(sample: Sample) -> tuple[bool, bool, int, str]:
        length = len(sample.instruction) + len(sample.output)
        return sample.language != (first_in or sample.language), sample.pair.endswith("/freeform"), length, sample.id

    return min(samples, key=order, default=None)


def of_errors(samples: Sequence[Sample]) -> str:
    """Return Table 1: one soft and one hard error, the erroneous words marked."""
    kinds = {
        "soft error": shortest((s for s in samples if s.origin.startswith("soft")), first_in="English"),
        "hard error": shortest((s for s in samples if s.origin == "hard"), first_in="English"),
    }
    examples = {kind: sample for kind, sample in kinds.items() if sample}
    absent = [kind for kind in kinds if kind not in examples]
    lines = [_example_row(sample) for sample in examples.values()]
    body = table(["", *examples], [[name, *(line[name] for line in lines)] for name in lines[0]]) if lines else ""
    missing = f"\nThe test split holds no row with a {' and none with a '.join(absent)}.\n" if absent else ""
    return body + missing


def _example_row(sample: Sample) -> dict[str, str]:
    errors = sample.report.errors
    return {
        "dataset": f"{title(sample.dataset)} ({escape(sample.licence)})",
        "instruction": mark_errors(sample.instruction, "instruction", errors),
        "output": mark_errors(sample.output, "output", errors),
        "severity": ", ".join(error.severity for error in errors),
        "type": escape(", ".join(dict.fromkeys(error.type for error in errors))),
        "explanation": escape(sample.report.explanation),
        "gold score": str(sample.score),
        "id": escape(sample.id),
    }


def of_datasets(names: Iterable[str], samples: Sequence[Sample]) -> str:
    """Return Tables 8-10: one original pair of each named dataset; missing datasets are listed as absent."""
    chosen = {name: shortest(s for s in samples if s.dataset == name and not s.report.errors) for name in names}
    rows = [
        [title(name), sample.task, escape(sample.instruction), escape(sample.output), escape(sample.licence)]
        for name, sample in chosen.items()
        if sample
    ]
    absent = ", ".join(title(name) for name, sample in chosen.items() if not sample)
    body = table(["dataset", "task", "instruction", "output", "licence"], rows) if rows else ""
    return body + (f"\nNot in this build, or without a row in its test split: {absent}.\n" if absent else "")


def page(number: int, samples: Sequence[Sample]) -> str:
    """Return one of the tables as a page, with the rule that selected its rows."""
    if number == 1:
        return f"# Table 1: a soft and a hard error\n\n{RULE} {ENGLISH}\n\n{of_errors(samples)}"
    title = f"# Table {number}: errorless pairs, one per dataset"
    return f"{title}\n\n{RULE}\n\n{of_datasets(EXAMPLE_TABLES[number], samples)}"


def mark_errors(
    text: str,
    where: Where,
    errors: Iterable[CulturalError],
    mark: str = "<strong>\\[{}\\]</strong>",
    escape: Callable[[str], str] = escape,
) -> str:
    """Return a text, escaped, with its erroneous words marked; a span inside a marked one is not marked again."""
    body, at = "", 0
    for error in sorted((e for e in errors if e.where == where and e.start >= 0), key=lambda e: (e.start, -e.end)):
        if error.start >= at and error.end > error.start:
            body += escape(text[at : error.start]) + mark.format(escape(text[error.start : error.end]))
            at = error.end
    return body + escape(text[at:])
