"""Write the data set for publication: shards by licence, a card, Croissant metadata, and last the manifest."""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from pathlib import Path

from excam.core import provenance
from excam.excam40k.publishing import BUILDS, card, croissant, parts, prose
from scripts import run

VERSION = 4


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", choices=BUILDS, required=True)
    parser.add_argument("--samples", type=Path, nargs="*", default=[], help="<dataset>/<split>.parquet, all four")
    parser.add_argument("--sources", type=Path, nargs="*", default=[], help="<dataset>/manifest.json")
    parser.add_argument("--soft", type=Path, nargs="*", default=[], help="<dataset>.counts.json of soft errors")
    parser.add_argument("--audits", type=Path, required=True, help="the audits' summary")
    parser.add_argument("--card", type=Path, required=True)
    parser.add_argument("--croissant", type=Path, required=True)
    parser.add_argument("--manifest", type=Path, required=True)
    args = parser.parse_args(argv)

    started, folder = time.monotonic(), args.manifest.parent
    args.manifest.unlink(missing_ok=True)  # while files change, no manifest may claim that they are complete
    build = parts.read(args.samples, args.sources, args.soft, args.build)
    shards = parts.write(build, folder)
    provenance.write_text(args.card, card.card_text(args.build, build, args.audits.read_text(encoding="utf-8")))
    name = f"{card.NAME} ({args.build})"
    provenance.write_json(
        args.croissant, croissant.croissant_metadata(name, " ".join(prose.ABOUT.split()), build, folder)
    )
    rows = sum(len(part.samples) for part in build)
    provenance.write_manifest(
        args.manifest,
        inputs=[*args.samples, *args.sources, *args.soft, args.audits],
        outputs=[args.card, args.croissant, *shards],
        settings={"build": args.build},
        seconds=time.monotonic() - started,
        rows=rows,
        licences=sorted({part.licence for part in build}),
    )
    contents = (
        f"{rows} rows of {len(build)} datasets" if build else "no dataset is under a permissive licence, an empty card"
    )
    provenance.say(f"{folder}: {contents}")


if __name__ == "__main__":
    run(main)
