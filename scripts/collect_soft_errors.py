"""Read the generator's answers of all shards; keep the usable ones, count the others by reason (spec 24-29)."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from excam import provenance, tables
from excam.construction import soft
from excam.exceptions import ArtifactBroken
from excam.records import SEVERITIES, Sample
from scripts import run


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=Path, required=True)
    parser.add_argument("--answers", type=Path, nargs="+", required=True)
    parser.add_argument("--spans", choices=["paper", "strict"], required=True)
    parser.add_argument("--severity", choices=["requested", "stated"], required=True, help="what labels an error")
    parser.add_argument("--errors", type=Path, required=True)
    parser.add_argument("--counts", type=Path, required=True)
    args = parser.parse_args(argv)

    right = {sample.pair: sample for sample in tables.read_samples(args.samples)}
    rows = sorted((row for path in args.answers for row in tables.jsonl(path)), key=lambda row: row["pair"])
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
    tables.write_samples(args.errors, kept)
    counts = {"answers": len(rows), "kept": len(kept), "dropped": dict(sorted(dropped.items()))}
    said = Counter((sample.origin.removeprefix("soft-"), sample.stated_severity) for sample in kept)
    counts["severity"] = {asked: {s: n for (a, s), n in sorted(said.items()) if a == asked} for asked in SEVERITIES}
    counts |= {"generators": sorted({row["generator"] for row in rows})}
    provenance.write_json(args.counts, counts)
    provenance.say(f"{args.errors}: {len(kept)} of {len(rows)} answers kept; dropped {dict(dropped)}")


if __name__ == "__main__":
    run(main)
