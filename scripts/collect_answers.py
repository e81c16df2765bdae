"""Annotators' exported files as one table: each task once per annotator, names replaced by pseudonyms (spec 72)."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from excam import tables
from excam.annotation import campaign, exports
from excam.evaluation import human_answers
from excam.exceptions import InputInvalid
from excam.provenance import say, write_json
from scripts import run


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--campaign", type=Path, required=True)
    parser.add_argument("--folder", type=Path, required=True, help="where the exported files lie, or a sub-folder each")
    parser.add_argument("--exports", type=Path, nargs="*", required=True, help="CSV or JSON files of the page or store")
    parser.add_argument("--answers", type=Path, required=True)
    parser.add_argument("--counts", type=Path, required=True)
    args = parser.parse_args(argv)

    found = campaign.read(args.campaign)
    files = [exports.read(path, args.folder, found) for path in args.exports]
    given = exports.merged(found, files)
    if not given.answers:
        raise InputInvalid(
            f"{len(args.exports)} exported files hold 0 answers; expected some; export them from the page"
        )
    kept = human_answers.renamed(given.answers, human_answers.pseudonyms(found, given.answers))
    tables.write_frame(args.answers, human_answers.to_frame(kept))
    counts = {"files": len(files), "repeated": given.repeated, "superseded": given.superseded}
    write_json(args.counts, {**counts, **human_answers.counts(found, kept)})
    say(
        f"{len(files)} files of {len({answer.annotator for answer in kept})} annotators: {len(kept)} answers; "
        f"{given.repeated} given again, {given.superseded} replaced by later ones"
    )


if __name__ == "__main__":
    run(main)
