"""What pages of CulT-Eval share: their files, and the study that they show."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from excam.acre import study
from excam.acre.study import Study


@dataclass(frozen=True, kw_only=True)
class StudyFiles:
    """The files of a study."""

    rows_paths: Annotated[Sequence[Path], "translations"]
    labels_path: Annotated[Path | None, "of people"] = None
    judged_paths: Annotated[Sequence[Path], "verdicts of judges"] = ()
    metrics_paths: Annotated[Sequence[Path], "scores of metrics of whole sentences"] = ()
    scores_paths: Annotated[Sequence[Path], "files of `excam score`"] = ()
    scored: Annotated[Sequence[str], "the name of the metric of each of them"] = ()


def read(files: StudyFiles) -> Study:
    """Return the study."""
    scores = dict(zip(files.scored, files.scores_paths, strict=True))
    return study.read(files.rows_paths, files.labels_path, files.judged_paths, files.metrics_paths, scores)
