"""List the claims of every answer: its sentences, or what a model listed, from its transcript."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from excam.calmqa import asks, stages
from excam.core.provenance import say
from excam.inference import transcript
from scripts import run, step
from scripts._calmqa import StageFiles, items, texts

VERSION = 3


@step
def main(
    files: StageFiles,
    to_path: Path,
    transcript_path: Annotated[Path | None, "of the extractor; without it, sentences are claims"] = None,
) -> None:
    read = texts(files)
    if transcript_path:
        asked = items(files, "claims")
        claims = stages.claims_by_model(read, asked, transcript.replay(asks.extract, asked, transcript_path))
    else:
        claims = stages.claims_by_rules(read)
    stages.write(to_path, "claims", claims)
    failed = sum(claim.text is None for claim in claims)
    say(f"calmqa: {len(claims) - failed} claims of {len(read)} answers; failures: {failed}")


if __name__ == "__main__":
    run(main)
