"""Ask one model with one judge about one file of rows; write a transcript of every request and answer."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Annotated

from excam.core import provenance
from excam.error_reports import record_files
from excam.inference import transcript
from scripts import run, step
from scripts._asking import Asker, AskingOptions
from scripts._judging import JudgingOptions, judge_of

VERSION = 3


@step
def main(
    asking: AskingOptions,
    judging: JudgingOptions,
    name: Annotated[str, "<model>/<trained_on>/<judge>, for progress lines"],
    transcript_path: Path,
    manifest_path: Annotated[Path, "what it was made of, and what it cost"],
) -> None:
    started = time.monotonic()
    judge = judge_of(judging)
    asker = Asker(asking, name.split("/")[0], name)
    samples = record_files.read_samples(judging.samples_path)
    ask = asker.ask_with_progress(f"judging {name}, rows", len(samples))
    _, entries = transcript.record(judge, samples, ask)
    transcript.write(transcript_path, entries)
    provenance.write_manifest(
        manifest_path,
        inputs=[
            path
            for path in (judging.samples_path, judging.evidence_path, asking.weights_path, asking.adapter_path)
            if path
        ],
        outputs=[transcript_path],
        settings=json.loads(asking.model),
        seconds=time.monotonic() - started,
        **asker.facts(answer for entry in entries for exchange in entry.rounds for answer in exchange.answers),
        seed=asking.seed,
    )
    provenance.say(f"{name}: {len(samples)} rows judged in {time.monotonic() - started:.0f} s")


if __name__ == "__main__":
    run(main)
