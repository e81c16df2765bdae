"""Collect annotators' exported files into one table: each task once per annotator, with pseudonyms."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from excam.annotation import campaign, exports
from excam.core import tables
from excam.core.exceptions import InputInvalid
from excam.core.provenance import say, write_json
from excam.excam40k.validation import human_answers
from scripts import run, step

VERSION = 2


@step
def main(
    campaign_path: Path,
    folder_path: Annotated[Path, "folder of exported files, or of a sub-folder each"],
    answers_path: Path,
    counts_path: Path,
    exports_paths: Annotated[Sequence[Path], "CSV or JSON files of the page or store"] = (),
) -> None:
    validation_campaign = campaign.read(campaign_path)
    files = [exports.read(path, folder_path, validation_campaign) for path in exports_paths]
    merged = exports.merge_exports(validation_campaign, files)
    if not merged.answers:
        raise InputInvalid(
            f"{len(exports_paths)} exported files hold 0 answers; expected some; export them from the page"
        )
    answers = human_answers.with_pseudonyms(
        merged.answers, human_answers.pseudonyms(validation_campaign, merged.answers)
    )
    tables.write_frame(answers_path, human_answers.to_frame(validation_campaign.form, answers))
    counts = {"files": len(files), "repeated": merged.repeated, "superseded": merged.superseded}
    write_json(counts_path, {**counts, **human_answers.counts(validation_campaign, answers)})
    say(
        f"{len(files)} files of {len({answer.annotator for answer in answers})} annotators: {len(answers)} answers; "
        f"{merged.repeated} given again, {merged.superseded} replaced by later ones"
    )


if __name__ == "__main__":
    run(main)
