"""Read with a classifier of pairs: natural language inference by its own label names, or MiniCheck.

A model of inference reads a passage and the text as a pair of its tokenizer. MiniCheck reads one text, the passage, the
end token and the claim; its two labels have no names, and the second is "supported" (`minicheck/inference.py` of
github.com/Liyan06/MiniCheck, for RoBERTa and DeBERTa). The text of a question is read with the question before it,
since both were trained on statements.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from excam.core.exceptions import ModelInvalid
from excam.error_reports.readers.base import MINICHECK, TOO_LONG, ModelFacts, Support, Task, ask_in_windows, of_parts
from excam.inference import Choose, Flow, Message
from excam.inference.run import together

VERSION = "1"
NAMES = {  # what a label's name, in lower case and with "_" for other signs, says of the text
    "entailment": "supported", "supported": "supported", "supports": "supported",
    "contradiction": "contradicted", "refuted": "contradicted", "refutes": "contradicted",
    "neutral": "not stated", "not_enough_info": "not stated",
    "not_entailment": "either", "unsupported": "either", "not_supported": "either",
}  # fmt: skip
KNOWN = ({"supported", "contradicted", "not stated"}, {"supported", "either"})
EXPECTED = "entailment, neutral and contradiction, or supported and unsupported; name them in id2label of config.json"


def reader(model: ModelFacts | None, *, is_qualified: bool = False) -> SequenceLabels | None:
    """Return the reader for a sequence classifier; see `base.ReaderModule`."""
    if model is None or not model.is_a("ForSequenceClassification"):
        return None
    if model.labels == ("LABEL_0", "LABEL_1") and model.is_called(MINICHECK):
        return SequenceLabels(model.labels, ("either", "supported"), f"sequence-labels.{VERSION}:minicheck", lead="")
    meant = tuple(NAMES.get(label.casefold().replace(" ", "_").replace("-", "_"), "") for label in model.labels)
    if len(set(meant)) < len(meant) or set(meant) not in KNOWN:
        labels = ", ".join(model.labels)
        raise ModelInvalid(f"--model: {model.name}: found labels {labels}; expected {EXPECTED}")
    return SequenceLabels(model.labels, meant)


@dataclass(frozen=True, slots=True)
class SequenceLabels:
    """A reader by the labels of a classifier, and what each of them says of the text."""

    labels: tuple[str, ...]
    meant: tuple[str, ...]
    signature: str = f"sequence-labels.{VERSION}"
    lead: str | None = None  # before passage and claim in one text, as MiniCheck reads; None: the two are a pair
    states: bool = False

    @property
    def tells_contradiction(self) -> bool:
        return "contradicted" in self.meant

    def request(self, passage: str, claim: str) -> Choose:
        """Return the request for the labels of a claim beside a passage."""
        before = () if self.lead is None else (Message("system", self.lead),)
        return Choose((*before, Message("user", passage), Message("user", claim)), self.labels)

    def read(self, task: Task) -> Flow[Support]:
        """Ask about each passage alone; of the windows of a long one counts that which says most."""
        flows = [ask_in_windows(passage, lambda part: self.request(part, task.claim)) for passage in task.passages]
        windows = [(scores, at) for at, part in enumerate((yield from together(flows))) for scores in part]
        if not windows:
            return TOO_LONG
        sides = ("supported", "contradicted") if self.tells_contradiction else ("supported",)
        return of_parts(*([(math.exp(scores[self.meant.index(side)]), at) for scores, at in windows] for side in sides))
