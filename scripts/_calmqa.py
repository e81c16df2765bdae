"""What the stages of CaLMQA share: their options, the texts that they judge, and what a model is asked about."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from excam.calmqa import source, stages


def add_stage_options(parser: argparse.ArgumentParser) -> None:
    """Add the tables that a stage may be made of."""
    parser.add_argument("--questions", type=Path, required=True)
    parser.add_argument("--answers", type=Path, required=True)
    parser.add_argument("--translations", type=Path, help="without them, answers are judged in their own language")
    parser.add_argument("--claims", type=Path)
    parser.add_argument("--evidence", type=Path)


def texts(args: argparse.Namespace) -> list[stages.Read]:
    """Return the text of each answer that is judged."""
    return stages.texts(source.questions_of(args.questions), source.answers_of(args.answers), args.translations)


def items(args: argparse.Namespace, step: stages.Step) -> Sequence[Any]:
    """Return what a model is asked about in a step."""
    questions = source.questions_of(args.questions)
    if step == "translations":
        return stages.to_translate(questions, source.answers_of(args.answers))
    if step == "claims":
        return stages.to_extract(texts(args))
    if step == "verdicts":
        return stages.to_verify(stages.read_claims(args.claims), args.evidence)
    return stages.to_rate(questions, texts(args), args.translations is not None)
