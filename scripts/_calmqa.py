"""What the stages of CaLMQA share: their options, the texts that they judge, and what a model is asked about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from excam.calmqa import source, stages


@dataclass(frozen=True, kw_only=True)
class StageFiles:
    """The tables that a stage may be made of."""

    questions_path: Path
    answers_path: Path
    translations_path: Annotated[Path | None, "without them, answers are judged in their own language"] = None
    claims_path: Path | None = None
    evidence_path: Path | None = None


def texts(files: StageFiles) -> list[stages.Read]:
    """Return the text of each answer that is judged."""
    return stages.texts(
        source.questions_of(files.questions_path), source.answers_of(files.answers_path), files.translations_path
    )


def items(files: StageFiles, step: stages.Step) -> Sequence[Any]:
    """Return what a model is asked about in a step."""
    questions = source.questions_of(files.questions_path)
    if step == "translations":
        return stages.to_translate(questions, source.answers_of(files.answers_path))
    if step == "claims":
        return stages.to_extract(texts(files))
    if step == "verdicts":
        assert files.claims_path, "--claims"
        assert files.evidence_path, "--evidence"
        return stages.to_verify(stages.read_claims(files.claims_path), files.evidence_path)
    return stages.to_rate(questions, texts(files), files.translations_path is not None)
