"""Say of every claim whether the passages support it: by overlap, or as a model said in its transcript."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Annotated, Literal

from excam.calmqa import asks, stages
from excam.core.provenance import say
from excam.inference import transcript
from scripts import run, step

VERSION = 3


@step
def main(
    name: Annotated[str, "the verifier: a model's key, or rules"],
    claims_path: Path,
    evidence_path: Path,
    to_path: Path,
    verdicts: Literal["binary", "trinary"] = "binary",
    transcript_path: Annotated[Path | None, "of the verifier; without it, by overlap of words"] = None,
) -> None:
    asked = stages.to_verify(stages.read_claims(claims_path), evidence_path)
    flow = asks.verify_trinary if verdicts == "trinary" else asks.verify
    said = transcript.replay(flow, asked, transcript_path) if transcript_path else None
    rows = stages.verdict_rows(asked, said, "overlap" if said is None else name)
    stages.write(to_path, "verdicts", rows)
    say(f"calmqa: verdicts: {dict(sorted(Counter(row['verdict'] for row in rows).items()))}")


if __name__ == "__main__":
    run(main)
