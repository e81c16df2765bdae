"""Read with MiniCheck's Flan-T5: "predict: PASSAGE</s>CLAIM", to which it answers 1 (supported) or 0.

So it was trained; the two are compared by their first tokens (`minicheck/inference.py` of github.com/Liyan06/MiniCheck:
ids 209 and 3 of T5). Another T5 answers other prompts, and is refused.
"""

from __future__ import annotations

from excam.core.exceptions import ModelInvalid
from excam.error_reports.readers.base import MINICHECK, ModelFacts
from excam.error_reports.readers.sequence_labels import SequenceLabels

VERSION = "1"
LEAD = "predict: "


def reader(model: ModelFacts | None, *, is_qualified: bool = False) -> SequenceLabels | None:
    """Return the reader for an encoder-decoder; see `base.ReaderModule`."""
    if model is None or model.writes or not model.is_a("ForConditionalGeneration"):
        return None
    if not model.is_called(MINICHECK):
        raise ModelInvalid(
            f"--model: {model.name}: found {model.architecture}; expected MiniCheck-Flan-T5, by the name of its folder"
        )
    return SequenceLabels(("1", "0"), ("supported", "either"), f"flan.{VERSION}:minicheck", LEAD)
