"""Ask one model with one judge about one file of rows; write a transcript of every request and answer."""

from __future__ import annotations

from typing import Annotated

from excam.core import provenance
from excam.error_reports import record_files
from scripts import run, step
from scripts._asking import RecordedOptions, Recorder
from scripts._judging import JudgingOptions, judge_of

VERSION = 3


@step
def main(
    asking: RecordedOptions,
    judging: JudgingOptions,
    name: Annotated[str, "<model>/<trained_on>/<judge>, for progress lines"],
) -> None:
    judge = judge_of(judging)
    asker = Recorder(asking, name.split("/")[0], name)
    samples = record_files.read_samples(judging.samples_path)
    asker.record(f"judging {name}, rows", judge, samples)
    asker.write_manifest([judging.samples_path, judging.evidence_path], seed=asking.seed)
    provenance.say(f"{name}: {len(samples)} rows judged in {asker.seconds:.0f} s")


if __name__ == "__main__":
    run(main)
