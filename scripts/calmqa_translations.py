"""Parse a transcript into English translations of the answers. A new parser needs no model."""

from __future__ import annotations

from pathlib import Path

from excam.calmqa import asks, stages
from excam.inference import transcript
from scripts import run, step
from scripts._calmqa import StageFiles, items

VERSION = 2


@step
def main(files: StageFiles, transcript_path: Path, to_path: Path) -> None:
    asked = items(files, "translations")
    said = transcript.replay(asks.translate, asked, transcript_path)
    stages.write(to_path, "translations", stages.translation_rows(asked, said))


if __name__ == "__main__":
    run(main)
