"""What jobs of the rubric share: the manual of the configuration, with its weights, and the responses."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from excam.rubric import changes, responses
from excam.rubric.manual import Rubric
from excam.rubric.responses import Response


@dataclass(frozen=True, kw_only=True)
class RatingOptions:
    """The manual of the configuration and what is rated, read by `rubric_of` and `responses_of`."""

    rubric: Annotated[str, "version of the manual, or the .yaml file of a study's version"]
    base: Annotated[str, "weights of the base as JSON, null for the plain mean"]
    responses_paths: Annotated[Sequence[Path], "what is rated, as JSON Lines"]


def rubric_of(options: RatingOptions) -> Rubric:
    """Return the manual of the options."""
    return changes.opened(options.rubric).with_weights(json.loads(options.base))


def responses_of(options: RatingOptions) -> Sequence[Response]:
    """Return the responses of the options."""
    return responses.read(options.responses_paths)
