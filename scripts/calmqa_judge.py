"""Ask the model of one stage about everything that stage judges; write a transcript."""

from __future__ import annotations

from dataclasses import astuple
from typing import Annotated, Literal

from excam.calmqa import asks, stages
from scripts import run, step
from scripts._asking import RecordedOptions, Recorder
from scripts._calmqa import StageFiles, items

VERSION = 2


@step
def main(
    files: StageFiles,
    asking: RecordedOptions,
    step: stages.Step,
    name: Annotated[str, "the model's key in config.yaml"],
    verdicts: Literal["binary", "trinary"] = "binary",
) -> None:
    asker = Recorder(asking, name, f"{name}/{step}")
    asked = items(files, step)
    flow = asks.verify_trinary if step == "verdicts" and verdicts == "trinary" else stages.FLOWS[step]
    asker.record(f"{step} by {name}, requests", flow, asked)
    asker.write_manifest(astuple(files), seed=asking.seed)


if __name__ == "__main__":
    run(main)
