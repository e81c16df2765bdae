"""Read the generator's answers of all shards; keep the usable ones, count the others by reason."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

from excam.core import provenance, tables
from excam.core.exceptions import ArtifactBroken, SourceInvalid
from excam.error_reports import record_files
from excam.error_reports.records import SEVERITIES, Sample
from excam.excam40k.construction import soft
from scripts import run, step

VERSION = 6


@step
def main(
    samples_path: Path,
    answers_paths: Sequence[Path],
    spans: Literal["paper", "strict"],
    severity: Annotated[Literal["requested", "stated"], "what labels an error"],
    errors_path: Path,
    counts_path: Path,
) -> None:
    right = {sample.pair: sample for sample in record_files.read_samples(samples_path)}
    rows = sorted((row for path in answers_paths for row in tables.read_jsonl(path)), key=lambda row: row["pair"])
    if unknown := next((row["pair"] for row in rows if row["pair"] not in right), None):
        raise ArtifactBroken(f"{samples_path}: no pair {unknown}, which was answered; delete the answers and run again")
    kept: list[Sample] = []
    dropped: Counter[str] = Counter()
    for row in rows:
        if row["finish"] != "stop":  # a draft inside a cut answer is not the answer
            dropped["truncated" if row["finish"] == "length" else row["finish"]] += 1
            continue
        made = soft.soft_error(right[row["pair"]], row["severity"], row["answer"], spans, severity)
        if isinstance(made, Sample):
            kept.append(made)
        else:
            dropped[made.reason] += 1
    kept = soft.in_joined_groups(kept, {row["pair"]: row["partner"] for row in rows if "partner" in row})
    generators = sorted({row["generator"] for row in rows})
    if not kept:
        raise SourceInvalid(
            f"{samples_path}: none of {len(rows)} answers of {', '.join(generators)} is usable "
            f"({', '.join(f'{reason} {count}' for reason, count in dropped.most_common())}); expected one; "
            f"choose another generation.generator, or hard errors (ERRORS)"
        )
    record_files.write_samples(errors_path, kept)
    counts = {"answers": len(rows), "kept": len(kept), "dropped": dict(sorted(dropped.items()))}
    stated = Counter((sample.origin.removeprefix("soft-"), sample.stated_severity) for sample in kept)
    counts["severity"] = {asked: {s: n for (a, s), n in sorted(stated.items()) if a == asked} for asked in SEVERITIES}
    counts |= {"generators": generators, "exchanged": sum("partner" in row for row in rows)}
    provenance.write_json(counts_path, counts)
    provenance.say(f"{errors_path}: {len(kept)} of {len(rows)} answers kept; dropped {dict(dropped)}")


if __name__ == "__main__":
    run(main)
