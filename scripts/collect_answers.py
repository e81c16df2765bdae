"""Annotators' exported files as one table: each task once per annotator, names replaced by pseudonyms (spec 72)."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from excam import tables
from excam.annotation import campaign, exchange
from excam.evaluation import human_answers
from excam.exceptions import InputInvalid
from excam.provenance import write_json
from scripts import run


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--campaign", type=Path, required=True)
    parser.add_argument("--exports", type=Path, nargs="*", required=True, help="CSV or JSON files of the page or store")
    parser.add_argument("--answers", type=Path, required=True)
    parser.add_argument("--counts", type=Path, required=True)
    args = parser.parse_args(argv)

    found = campaign.read(args.campaign)
    answers, twice = human_answers.merged(found, [exchange.read(path, found) for path in args.exports])
    if not answers:
        raise InputInvalid(
            f"{len(args.exports)} exported files hold 0 answers; expected some; export them from the page"
        )
    kept = human_answers.renamed(answers, human_answers.pseudonyms(found, answers))
    tables.write_frame(args.answers, human_answers.to_frame(kept))
    write_json(args.counts, {"files": len(args.exports), **twice, **human_answers.counts(found, kept)})


if __name__ == "__main__":
    run(main)
