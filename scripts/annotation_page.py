"""Write a campaign as one HTML file that annotators open with a double click."""

from __future__ import annotations

from pathlib import Path

from excam.annotation import campaign, page
from excam.core.provenance import write_text
from scripts import run, step

VERSION = 11


@step
def main(campaign_path: Path, page_path: Path) -> None:
    write_text(page_path, page.write(campaign.read(campaign_path)))


if __name__ == "__main__":
    run(main)
