"""Rate how far every answer addresses its question: as a model said, or by the cosine of an encoder."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from excam.calmqa import asks, stages
from excam.inference import transcript
from excam.inference.encoder import cosines
from scripts import run, step
from scripts._calmqa import StageFiles, items

VERSION = 3


@step
def main(
    files: StageFiles,
    name: Annotated[str, "the model or the encoder: its key"],
    scale: Literal["five", "binary"],
    to_path: Path,
    transcript_path: Annotated[Path | None, "of the model; without it, the cosine of --encoder"] = None,
    encoder_path: Annotated[Path | None, "manifest of a fetched sentence encoder"] = None,
) -> None:
    asked = items(files, "relevance")
    if transcript_path:
        said = transcript.replay(asks.relevance, asked, transcript_path)
        rows = stages.relevance_rows(asked, said, name, scale)
    else:
        assert encoder_path, "--transcript or --encoder"
        pairs = [(item.texts["question"], item.texts["answer"]) for item in asked]
        similarities = cosines(encoder_path.parent / "files", pairs)
        rows = stages.relevance_by_cosine(asked, similarities, f"cosine:{name}", scale)
    stages.write(to_path, "relevance", rows)


if __name__ == "__main__":
    run(main)
