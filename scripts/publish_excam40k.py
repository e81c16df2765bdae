"""Write the data set for publication: shards by licence, a card, Croissant metadata, and last the manifest."""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Sequence
from pathlib import Path

from excam.core import provenance
from excam.excam40k.publishing import BUILDS, card, croissant, parts, prose
from scripts import run

VERSION = 7


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", choices=BUILDS, required=True)
    parser.add_argument("--samples", type=Path, nargs="*", default=[], help="<dataset>/<split>.parquet, all four")
    parser.add_argument("--sources", type=Path, nargs="*", default=[], help="<dataset>/manifest.json")
    parser.add_argument("--soft", type=Path, nargs="*", default=[], help="<dataset>.counts.json of soft errors")
    parser.add_argument("--bases", type=Path, nargs="*", default=[], help="<dataset>.bases.jsonl of the samples")
    parser.add_argument(
        "--benchmarks", type=json.loads, required=True, help="terms, title, citation by dataset, as JSON"
    )
    parser.add_argument("--audits", type=Path, required=True, help="the audits' summary")
    parser.add_argument("--card", type=Path, required=True)
    parser.add_argument("--croissant", type=Path, required=True)
    parser.add_argument("--manifest", type=Path, required=True)
    args = parser.parse_args(argv)

    started, folder = time.monotonic(), args.manifest.parent
    args.manifest.unlink(missing_ok=True)  # while files change, no manifest may claim that they are complete
    build, withheld = parts.read(args.samples, args.sources, args.soft, args.bases, args.benchmarks, args.build)
    shards = parts.write(build, folder)
    audits = args.audits.read_text(encoding="utf-8")
    provenance.write_text(args.card, card.card_text(args.build, build, withheld, audits))
    name = f"{card.NAME} ({args.build})"
    provenance.write_json(
        args.croissant, croissant.croissant_metadata(name, " ".join(prose.ABOUT.split()), build, folder)
    )
    rows = sum(len(part.samples) for part in build)
    provenance.write_manifest(
        args.manifest,
        inputs=[*args.samples, *args.sources, *args.soft, *args.bases, args.audits],
        outputs=[args.card, args.croissant, *shards],
        settings={"build": args.build},
        seconds=time.monotonic() - started,
        rows=rows,
        licences=sorted({part.licence for part in build}),
        withheld={part.dataset: len(part.samples) for part in withheld},
    )
    contents = (
        f"{rows} rows of {len(build)} datasets" if build else "no dataset is under a permissive licence, an empty card"
    )
    provenance.say(f"{folder}: {contents}")
    for part in withheld:
        provenance.say(f"{folder}: without {len(part.samples)} rows of {part.dataset}: {part.licence}: no derivatives")


if __name__ == "__main__":
    run(main)
