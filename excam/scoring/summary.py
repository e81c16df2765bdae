"""Counts of the results of a run, for the last lines of a command and its exit code."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from excam.scoring.results import NOT_KNOWN, Result
from excam.scoring.spans import SEVERITIES
from excam.scoring.warnings import warning_lines

SHOWN = 5  # reasons of failures in the last lines


@dataclass
class Summary:
    """Counts of rows by kind, warning and failure, and the signature of the last row."""

    counts: Counter[str] = field(default_factory=Counter)
    warnings: Counter[str] = field(default_factory=Counter)
    failures: Counter[str] = field(default_factory=Counter)
    unknown: Counter[str] = field(default_factory=Counter)  # why rows are not known, where that is said
    answered_by: Counter[str] = field(default_factory=Counter)  # as servers say
    signature: str = ""
    measured: str = ""  # how often the judge is right
    lists_errors: bool = False

    def counting(self, results: Iterable[Result]) -> Iterator[Result]:
        """Yield the results unchanged and count each."""
        for result in results:
            self.signature, self.lists_errors = result.signature, result.metric.lists_errors
            self.measured = result.metric.measured
            severities = {error.severity for error in result.errors}
            kinds = ["with errors"] * bool(severities)
            if result.failure is not None:
                kinds = ["not known" if result.failure == NOT_KNOWN else "failed"]
            self.counts.update(["rows", *kinds, *severities])
            self.warnings.update(result.warnings)
            self.failures.update([result.failure] if result.failure not in (None, NOT_KNOWN) else [])
            self.unknown.update([result.unknown_because] if result.unknown_because else [])
            self.answered_by.update([result.answered_by] if result.answered_by else [])
            yield result

    @property
    def lines(self) -> list[str]:
        """Return lines for people: how many rows of which kind, why some failed, warnings, and the signature."""
        rows, failed, unknown = self.counts["rows"], self.counts["failed"], self.counts["not known"]
        kinds = f"{rows - failed - unknown} scored, {failed} failed"
        if self.lists_errors:
            kinds = f"{self.counts['with errors']} with errors, {failed} not judged"
        kinds += f", {unknown} not known" if unknown else ""
        failures = _because("failed because", self.failures)
        reasons = _because("not known because", self.unknown)
        worth = [f"how often it is right: {self.measured}"] if self.measured else []
        models = _because("answered by", self.answered_by)
        return [
            f"{rows} rows: {kinds}",
            *failures,
            *reasons,
            *models,
            *warning_lines(self.warnings),
            *worth,
            self.signature,
        ]

    def exit_code(self, fail_on: str | None) -> int:
        """Return 1 if no row was scored, 3 if one has an error at least as severe as `fail_on`, else 0."""
        if self.counts["failed"] + self.counts["not known"] == self.counts["rows"]:
            return 1
        severe = SEVERITIES[SEVERITIES.index(fail_on) :] if fail_on in SEVERITIES else ()  # minor, then major
        return 3 if any(self.counts[kind] for kind in severe) else 0


def _because(what: str, reasons: Counter[str]) -> list[str]:
    """Return a line with the most frequent reasons and their counts; none if there are none."""
    parts = [f"{reason} ({count})" for reason, count in reasons.most_common(SHOWN)]
    more = [f"{len(reasons) - SHOWN} other reasons"] if len(reasons) > SHOWN else []
    return [f"{what}: {', '.join(parts + more)}"] if parts else []
