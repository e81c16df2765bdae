"""Wrap benchmark rows into original instruction-output pairs, and count what was dropped."""

from __future__ import annotations

import inspect
import json
from pathlib import Path
from typing import Annotated, Literal

from excam.core import provenance
from excam.core.source_tables import unread_files
from excam.core.splits import Split
from excam.error_reports import record_files
from excam.excam40k import agreement, datasets
from excam.excam40k.construction import duplicates, splits, wrapping
from excam.excam40k.construction.drawing import draw_stratified, draw_to_cap
from excam.excam40k.construction.templates import code_of, languages
from scripts import run, step

VERSION = 6
LOCAL_QUESTIONS = "local_questions"  # setting of a reader that has its questions in the language of the country too
MOST_LOCAL = 3  # questions in it of each question and region, as many as there are English ones built from annotations


@step
def main(
    dataset: str,
    source_path: Annotated[Path, "manifest of the fetched snapshot"],
    cap: int,
    cap_stage: Literal["before", "after"],
    allocation: Literal["equal", "proportional"],
    shares: Annotated[dict[Split, float], json.loads],
    seed: int,
    bases_path: Path,
    samples_path: Path,
    counts_path: Path,
    module: Annotated[str | None, "file of a benchmark that is not in the package"] = None,
    reading_json: Annotated[str, "settings of the reader, as JSON"] = "{}",
    templates: Annotated[Literal["english", "local", "both"], "language of the templates"] = "english",
) -> None:
    benchmark = datasets.load(dataset, module)
    settings = json.loads(reading_json)
    if templates == "both" and LOCAL_QUESTIONS in inspect.signature(benchmark.read).parameters:
        settings = {LOCAL_QUESTIONS: MOST_LOCAL, **settings}
    reading = datasets.read(dataset, source_path.parent / "files", settings, module)
    # what no pattern matches stays in the folder that the files were copied from
    copied_from = provenance.read_json(source_path, "settings")["settings"].get("folder")
    not_read = unread_files(Path(copied_from or source_path.parent / "files"), benchmark.SOURCE.files)
    if cap_stage == "before":
        drawn = draw_stratified(reading, cap, seed, allocation)
    else:
        drawn = draw_to_cap(reading, benchmark.ERRORS, cap, seed, allocation)
    bases = duplicates.in_one_group(drawn)
    where = splits.assign([(base.group, base.stratum) for base in bases], shares, seed)
    local = () if templates == "english" else languages()
    right = wrapping.right_samples(bases, benchmark.ERRORS, benchmark.SOURCE.licence, seed, where, local)
    record_files.write_bases(bases_path, bases)
    record_files.write_samples(samples_path, right)
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
    provenance.write_json(counts_path, counts)
    for line in datasets.summary_lines(reading, len(bases)):
        provenance.say(line)
    without = {name: sum(codes.values()) for name, codes in frames.items() if code_of(name) is None}
    if local and without:
        shown = ", ".join(
            f"{name} {pairs}"
            for name, pairs in sorted(without.items(), key=lambda name_and_pairs: (-name_and_pairs[1], name_and_pairs))
        )
        provenance.say(f"{dataset}: pairs in a language without templates, in English ones: {shown}")
    if not_read:
        shown = ", ".join(not_read[:5]) + (f" and {len(not_read) - 5} more" if len(not_read) > 5 else "")
        provenance.say(f"{dataset}: files that look like rows and are not read: {shown}; see SOURCE.files")


if __name__ == "__main__":
    run(main)
