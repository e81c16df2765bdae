"""Read the generator's answers of all shards; keep the usable ones, count the others by reason."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from excam.core import provenance, tables
from excam.core.exceptions import ArtifactBroken, SourceInvalid
from excam.error_reports import record_files
from excam.error_reports.records import SEVERITIES, Sample
from excam.excam40k.construction import soft
from scripts import run

VERSION = 6


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=Path, required=True)
    parser.add_argument("--answers", type=Path, nargs="+", required=True)
    parser.add_argument("--spans", choices=["paper", "strict"], required=True)
    parser.add_argument("--severity", choices=["requested", "stated"], required=True, help="what labels an error")
    parser.add_argument("--errors", type=Path, required=True)
    parser.add_argument("--counts", type=Path, required=True)
    args = parser.parse_args(argv)

    right = {sample.pair: sample for sample in record_files.read_samples(args.samples)}
    rows = sorted((row for path in args.answers for row in tables.read_jsonl(path)), key=lambda row: row["pair"])
    if unknown := next((row["pair"] for row in rows if row["pair"] not in right), None):
        raise ArtifactBroken(f"{args.samples}: no pair {unknown}, which was answered; delete the answers and run again")
    kept: list[Sample] = []
    dropped: Counter[str] = Counter()
    for row in rows:
        if row["finish"] != "stop":  # a draft inside a cut answer is not the answer
            dropped["truncated" if row["finish"] == "length" else row["finish"]] += 1
            continue
        made = soft.soft_error(right[row["pair"]], row["severity"], row["answer"], args.spans, args.severity)
        if isinstance(made, Sample):
            kept.append(made)
        else:
            dropped[made.reason] += 1
    kept = soft.in_joined_groups(kept, {row["pair"]: row["partner"] for row in rows if "partner" in row})
    generators = sorted({row["generator"] for row in rows})
    if not kept:
        raise SourceInvalid(
            f"{args.samples}: none of {len(rows)} answers of {', '.join(generators)} is usable "
            f"({', '.join(f'{reason} {count}' for reason, count in dropped.most_common())}); expected one; "
            f"choose another generation.generator, or hard errors (ERRORS)"
        )
    record_files.write_samples(args.errors, kept)
    counts = {"answers": len(rows), "kept": len(kept), "dropped": dict(sorted(dropped.items()))}
    stated = Counter((sample.origin.removeprefix("soft-"), sample.stated_severity) for sample in kept)
    counts["severity"] = {asked: {s: n for (a, s), n in sorted(stated.items()) if a == asked} for asked in SEVERITIES}
    counts |= {"generators": generators, "exchanged": sum("partner" in row for row in rows)}
    provenance.write_json(args.counts, counts)
    provenance.say(f"{args.errors}: {len(kept)} of {len(rows)} answers kept; dropped {dict(dropped)}")


if __name__ == "__main__":
    run(main)
