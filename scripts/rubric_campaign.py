"""Draw who rates which response; write the campaign with the rater's form, and the page that needs no server."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from excam.annotation import page
from excam.annotation.campaign import write
from excam.core.provenance import say, write_text
from excam.rubric import campaign
from scripts import run, step
from scripts._rubric import RatingOptions, responses_of, rubric_of

VERSION = 5


@step
def main(
    rating: RatingOptions,
    raters: Annotated[Sequence[str], "the evaluator, then the validators"],
    overlap: Annotated[float, "share of responses that validators rate too"],
    calibration: Annotated[int, "responses that all rate first"],
    seed: int,
    campaign_path: Path,
    page_path: Path,
) -> None:
    evaluator, *validators = raters
    drawn = campaign.drawn(responses_of(rating), evaluator, validators, overlap, calibration, rubric_of(rating), seed)
    write(campaign_path, drawn)
    write_text(page_path, page.write(drawn))
    say(f"rubric: {len(drawn.tasks)} responses for {len(raters)} raters")


if __name__ == "__main__":
    run(main)
