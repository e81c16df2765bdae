"""Ask the model of one stage about everything that stage judges; write a transcript."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Annotated, Literal

from excam.calmqa import asks, stages
from excam.core import provenance
from excam.inference import transcript
from scripts import run, step
from scripts._asking import Asker, AskingOptions
from scripts._calmqa import StageFiles, items

VERSION = 2


@step
def main(
    files: StageFiles,
    asking: AskingOptions,
    step: stages.Step,
    name: Annotated[str, "the model's key in config.yaml"],
    transcript_path: Path,
    manifest_path: Annotated[Path, "what it was made of, and what it cost"],
    verdicts: Literal["binary", "trinary"] = "binary",
) -> None:
    started = time.monotonic()
    asker = Asker(asking, name, f"{name}/{step}")
    asked = items(files, step)
    flow = asks.verify_trinary if step == "verdicts" and verdicts == "trinary" else stages.FLOWS[step]
    ask = asker.ask_with_progress(f"{step} by {name}, requests", len(asked))
    _, entries = transcript.record(flow, asked, ask)
    transcript.write(transcript_path, entries)
    input_paths = (
        files.questions_path,
        files.answers_path,
        files.translations_path,
        files.claims_path,
        files.evidence_path,
        asking.weights_path,
    )
    provenance.write_manifest(
        manifest_path,
        inputs=[path for path in input_paths if path],
        outputs=[transcript_path],
        settings=json.loads(asking.model),
        seconds=time.monotonic() - started,
        **asker.facts(answer for entry in entries for exchange in entry.rounds for answer in exchange.answers),
        seed=asking.seed,
    )


if __name__ == "__main__":
    run(main)
