"""Read with Bespoke-MiniCheck, behind a server or here: "Document: ... Claim: ...", to which it answers yes or no.

It is known by its name, which holds "minicheck", as in Ollama's library. System prompt and form are those of
`minicheck/utils.py` of github.com/Liyan06/MiniCheck; all passages are one document, for it reads 32,000 tokens.
"""

from __future__ import annotations

from dataclasses import dataclass

from excam.error_reports.readers.base import MINICHECK, ModelFacts, Support, Task, reading
from excam.error_reports.yes_no import ask_yes_no, one_line
from excam.inference import Flow, Message

VERSION = "1"
SYSTEM = (
    "Determine whether the provided claim is consistent with the corresponding document. Consistency in this context "
    "implies that all information presented in the claim is substantiated by the document. If not, it should be "
    "considered inconsistent. Please assess the claim's consistency with the document by responding with either "
    '"Yes" or "No".'
)
ASKED = "Document: {document}\nClaim: {claim}"


def reader(model: ModelFacts | None, *, is_qualified: bool = False) -> YesNo | None:
    """Return the reader for a model that writes and is called MiniCheck; see `base.ReaderModule`."""
    return YesNo() if model and model.writes and model.is_called(MINICHECK) else None


@dataclass(frozen=True, slots=True)
class YesNo:
    """A reader by the likelihoods of yes and no, or by the word where a server gives none."""

    signature: str = f"yes-no.{VERSION}:minicheck"
    tells_contradiction: bool = False
    states: bool = False

    def messages(self, task: Task) -> tuple[Message, ...]:
        """Return the conversation; no line of a passage or a text can be taken for a claim."""
        document = " ".join(one_line(passage) for passage in task.passages)
        claim = one_line(task.claim)
        return Message("system", SYSTEM), Message("user", ASKED.format(document=document, claim=claim))

    def read(self, task: Task) -> Flow[Support]:
        """Ask once about all passages."""
        leaning = yield from ask_yes_no(self.messages(task))
        because = "" if leaning.margin is not None else leaning.reason
        return reading(leaning.margin, reason=leaning.reason, because=because)
