"""Judge translations as ACRE with one model, in every variant of the ablation; keep every request and answer."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from excam.acre import asks, judgements, translations
from excam.acre.quality import COMBINATIONS
from excam.core import provenance, tables
from excam.inference import transcript
from scripts import run, step
from scripts._asking import Asker, AskingOptions

VERSION = 2


@step
def main(
    asking: AskingOptions,
    name: Annotated[str, "the key of the model in config.yaml"],
    variants: Sequence[asks.Variant],
    by: asks.Mode,
    quality: Annotated[str, list(COMBINATIONS)],
    rows_path: Path,
    judged_path: Path,
    transcript_path: Path,
    manifest_path: Annotated[Path, "what it was made of, and what it cost"],
) -> None:
    started = time.monotonic()
    asker = Asker(asking, name, f"{name} judges translations")
    tasks = asks.tasks(translations.from_frame(rows_path), variants, by, quality)
    ask = asker.ask_with_progress(f"judging translations with {name}, requests at most", 3 * len(tasks))
    verdicts, entries = transcript.record(asks.flow, tasks, ask)
    transcript.write(transcript_path, entries)
    tables.write_frame(judged_path, judgements.to_frame(name, tasks, verdicts))
    provenance.write_manifest(
        manifest_path,
        inputs=[path for path in (rows_path, asking.weights_path) if path],
        outputs=[transcript_path, judged_path],
        settings=json.loads(asking.model) | {"by": by, "quality": quality, "prompts": "ours"},
        seconds=time.monotonic() - started,
        **asker.facts(answer for entry in entries for exchange in entry.rounds for answer in exchange.answers),
        seed=asking.seed,
    )
    failures = judgements.failure_counts(verdicts)
    provenance.say(f"{name}: {len(verdicts)} verdicts in {time.monotonic() - started:.0f} s; failures: {failures}")


if __name__ == "__main__":
    run(main)
