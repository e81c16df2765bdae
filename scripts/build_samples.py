"""Wrap benchmark rows into original instruction-output pairs, and count what was dropped."""

from __future__ import annotations

import argparse
import inspect
import json
from collections.abc import Sequence
from pathlib import Path

from excam.core import provenance
from excam.core.source_tables import unread_files
from excam.error_reports import record_files
from excam.excam40k import agreement, datasets
from excam.excam40k.construction import duplicates, splits, templates, wrapping
from excam.excam40k.construction.drawing import draw_stratified, draw_to_cap
from scripts import run

VERSION = 6
LOCAL_QUESTIONS = "local_questions"  # setting of a reader that has its questions in the language of the country too
MOST_LOCAL = 3  # questions in it of each question and region, as many as there are English ones built from annotations


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dataset", required=True)
    parser.add_argument("--module", help="file of a benchmark that is not in the package")
    parser.add_argument("--source", type=Path, required=True, help="manifest of the fetched snapshot")
    parser.add_argument("--reading", type=json.loads, default={}, help="settings of the reader, as JSON")
    parser.add_argument("--cap", type=int, required=True)
    parser.add_argument("--cap-stage", choices=["before", "after"], required=True)
    parser.add_argument("--allocation", choices=["equal", "proportional"], required=True)
    parser.add_argument("--shares", type=json.loads, required=True)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument(
        "--templates", choices=["english", "local", "both"], default="english", help="language of the templates"
    )
    parser.add_argument("--bases", type=Path, required=True)
    parser.add_argument("--samples", type=Path, required=True)
    parser.add_argument("--counts", type=Path, required=True)
    args = parser.parse_args(argv)

    benchmark = datasets.load(args.dataset, args.module)
    settings = args.reading
    if args.templates == "both" and LOCAL_QUESTIONS in inspect.signature(benchmark.read).parameters:
        settings = {LOCAL_QUESTIONS: MOST_LOCAL, **settings}
    reading = datasets.read(args.dataset, args.source.parent / "files", settings, args.module)
    # what no pattern matches stays in the folder that the files were copied from
    given = provenance.read_json(args.source, "settings")["settings"].get("folder")
    not_read = unread_files(Path(given or args.source.parent / "files"), benchmark.SOURCE.files)
    if args.cap_stage == "before":
        drawn = draw_stratified(reading, args.cap, args.seed, args.allocation)
    else:
        drawn = draw_to_cap(reading, benchmark.ERRORS, args.cap, args.seed, args.allocation)
    bases = duplicates.in_one_group(drawn)
    where = splits.assign([(base.group, base.stratum) for base in bases], args.shares, args.seed)
    local = () if args.templates == "english" else templates.languages()
    right = wrapping.right_samples(bases, benchmark.ERRORS, benchmark.SOURCE.licence, args.seed, where, local)
    record_files.write_bases(args.bases, bases)
    record_files.write_samples(args.samples, right)
    counts = {
        "rows": reading.rows,
        "dropped": dict(reading.dropped),
        "escaped": dict(reading.escaped),
        "files_not_read": not_read,
        "base_samples": reading.frame.height,
        "drawn": len(bases),
        "groups": len({base.group for base in bases}),
        "groups_before_near_duplicates": len({base.group or base.id for base in drawn}),
        "pairs": len(right),
        "agreement": agreement.summary(bases),
        "lacks": list(reading.lacks),
        "examples": dict(reading.examples),
        "unknown": reading.unknown,
    }
    frames = wrapping.frames(right)
    if local:  # English ones are around every row, and need no count
        counts["frames"] = frames
    provenance.write_json(args.counts, counts)
    for line in datasets.summary_lines(reading, len(bases)):
        provenance.say(line)
    without = {name: sum(codes.values()) for name, codes in frames.items() if templates.code_of(name) is None}
    if local and without:
        shown = ", ".join(f"{name} {pairs}" for name, pairs in sorted(without.items(), key=lambda one: (-one[1], one)))
        provenance.say(f"{args.dataset}: pairs in a language without templates, in English ones: {shown}")
    if not_read:
        shown = ", ".join(not_read[:5]) + (f" and {len(not_read) - 5} more" if len(not_read) > 5 else "")
        provenance.say(f"{args.dataset}: files that look like rows and are not read: {shown}; see SOURCE.files")


if __name__ == "__main__":
    run(main)
