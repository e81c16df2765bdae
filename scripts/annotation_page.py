"""Write a campaign as one HTML file that annotators open with a double click."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from excam.annotation import campaign, page
from excam.core.provenance import write_text
from scripts import run

VERSION = 11


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--campaign", type=Path, required=True)
    parser.add_argument("--page", type=Path, required=True)
    args = parser.parse_args(argv)

    write_text(args.page, page.write(campaign.read(args.campaign)))


if __name__ == "__main__":
    run(main)
