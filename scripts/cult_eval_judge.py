"""Judge translations as ACRE with one model, in every variant of the ablation; keep every request and answer."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from excam.acre import asks, judgements, translations
from excam.acre.quality import COMBINATIONS
from excam.core import provenance, tables
from scripts import run, step
from scripts._asking import RecordedOptions, Recorder

VERSION = 2


@step
def main(
    asking: RecordedOptions,
    name: Annotated[str, "the key of the model in config.yaml"],
    variants: Sequence[asks.Variant],
    by: asks.Mode,
    quality: Annotated[str, list(COMBINATIONS)],
    rows_path: Path,
    judged_path: Path,
) -> None:
    asker = Recorder(asking, name, f"{name} judges translations")
    tasks = asks.tasks(translations.from_frame(rows_path), variants, by, quality)
    verdicts = asker.record(f"judging translations with {name}, requests at most", asks.flow, tasks, 3 * len(tasks))
    tables.write_frame(judged_path, judgements.to_frame(name, tasks, verdicts))
    settings = {"by": by, "quality": quality, "prompts": "ours"}
    asker.write_manifest([rows_path], [judged_path], settings, seed=asking.seed)
    failures = judgements.failure_counts(verdicts)
    provenance.say(f"{name}: {len(verdicts)} verdicts in {asker.seconds:.0f} s; failures: {failures}")


if __name__ == "__main__":
    run(main)
