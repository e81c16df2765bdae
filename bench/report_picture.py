"""The picture of the start page: what `excam report` writes of a scored file, in a browser.

    excam knowledge build mini/documents/slovenia --licence CC-BY-4.0 --language English --culture Slovenia --to pack
    grep -E '"q(05|07|10|13)"' mini/documents/answers.jsonl > four.jsonl
    excam score four.jsonl --judge grounded --evidence pack --model MODEL --to docs/report/judged.jsonl
    python -m bench.report_picture docs/report/judged.jsonl --to docs/report/page.png

Needs Chromium ($CHROMIUM or on the path). The picture begins at the legend: above it the page has numbers and filters.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Sequence
from pathlib import Path

from PIL import Image

from excam.core.provenance import sha256
from excam.scoring import report_page, result_files
from tests.helpers.chromium import Browser

SIZE = (1240, 555)
COLOURS = 64  # of the picture: a third of the bytes without a visible difference


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path, help="what `excam score --to` wrote")
    parser.add_argument("--to", type=Path, required=True, metavar="PNG")
    args = parser.parse_args(argv)
    with tempfile.TemporaryDirectory() as kept, Browser(Path(kept) / "profile") as browser:
        page = Path(kept) / "report.html"
        page.write_text(
            report_page.write(args.file.name, sha256(args.file), list(result_files.read(args.file))), "utf-8"
        )
        width, height = SIZE
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        browser.call("Emulation.setDeviceMetricsOverride", **metrics)
        browser.call("Emulation.setScrollbarsHidden", hidden=True)
        browser.open(page.as_uri())
        browser.js("document.querySelector('mark.error').parentElement.scrollIntoView()")
        browser.picture(args.to)
    Image.open(args.to).quantize(COLOURS, dither=Image.Dither.NONE).save(args.to, optimize=True)


if __name__ == "__main__":
    main()
