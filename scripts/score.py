"""Parse a transcript into judgements. No model is needed."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from excam.error_reports import record_files
from excam.inference import transcript
from scripts import run, step
from scripts._judging import JudgingOptions, judge_of

VERSION = 3


@step
def main(
    judging: JudgingOptions,
    transcript_path: Path,
    end_token: Annotated[Literal["yes", "no"], "does the token that ends a turn count towards p(R)?"],
    judgements_path: Path,
) -> None:
    samples = record_files.read_samples(judging.samples_path)
    verdicts = transcript.replay(judge_of(judging), samples, transcript_path)
    record_files.write_judgements(judgements_path, samples, verdicts, end_token=end_token == "yes")  # noqa: S105 - no password


if __name__ == "__main__":
    run(main)
