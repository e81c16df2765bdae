"""What pages of Macaron share: their files, and the systems that they show."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from excam.macaron import answers, derive
from excam.macaron.answers import System


@dataclass(frozen=True, kw_only=True)
class AnswerFiles:
    """What pages of answers are made of."""

    answers_paths: Annotated[Sequence[Path], "of each model and mode"]
    instances_path: Path


def systems(files: AnswerFiles) -> Sequence[System]:
    """Return each model and mode with its answers."""
    return answers.join(derive.read(files.instances_path), files.answers_paths)
