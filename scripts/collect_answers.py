"""Collect annotators' exported files into one table: each task once per annotator, with pseudonyms."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from excam.annotation import campaign, exports
from excam.core import tables
from excam.core.exceptions import InputInvalid
from excam.core.provenance import say, write_json
from excam.excam40k.validation import human_answers
from scripts import run

VERSION = 2


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--campaign", type=Path, required=True)
    parser.add_argument("--folder", type=Path, required=True, help="folder of exported files, or of a sub-folder each")
    parser.add_argument("--exports", type=Path, nargs="*", required=True, help="CSV or JSON files of the page or store")
    parser.add_argument("--answers", type=Path, required=True)
    parser.add_argument("--counts", type=Path, required=True)
    args = parser.parse_args(argv)

    found = campaign.read(args.campaign)
    files = [exports.read(path, args.folder, found) for path in args.exports]
    merged = exports.merge_exports(found, files)
    if not merged.answers:
        raise InputInvalid(
            f"{len(args.exports)} exported files hold 0 answers; expected some; export them from the page"
        )
    answers = human_answers.with_pseudonyms(merged.answers, human_answers.pseudonyms(found, merged.answers))
    tables.write_frame(args.answers, human_answers.to_frame(found.form, answers))
    counts = {"files": len(files), "repeated": merged.repeated, "superseded": merged.superseded}
    write_json(args.counts, {**counts, **human_answers.counts(found, answers)})
    say(
        f"{len(files)} files of {len({answer.annotator for answer in answers})} annotators: {len(answers)} answers; "
        f"{merged.repeated} given again, {merged.superseded} replaced by later ones"
    )


if __name__ == "__main__":
    run(main)
