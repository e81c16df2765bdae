"""Ask a model a question of yes or no, and return its leaning as a margin in nats."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from excam.inference import Flow, Message, ask_for_choice, ask_for_text
from excam.inference.answer_text import reasoning_and_answer

ANSWERS = ("Yes", "No")
WORD = 2.0  # nats: the margin of a word without a likelihood
FENCE = "===="
_SIGNS = re.compile(f"{FENCE}=*")
_SAID = re.compile(r"\W*(yes|no)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Leaning:
    """How much likelier yes is than no; None if the answer is neither."""

    margin: float | None
    reason: str


def one_line(text: str) -> str:
    """Return a text in one line that cannot end a block between lines of equal signs."""
    return " ".join(_SIGNS.sub("== ==", text).split())


def numbered(passages: Sequence[str]) -> str:
    """Return passages as numbered lines, a line each: none can end the block of passages."""
    return "\n".join(f"[{number}] {one_line(text)}" for number, text in enumerate(passages, 1))


def ask_yes_no(messages: tuple[Message, ...]) -> Flow[_Leaning]:
    """Ask for the likelihoods of yes and no.

    A model or server without likelihoods is asked for a word, and its margin is `WORD` or -`WORD`.
    """
    choice = yield from ask_for_choice(messages, ANSWERS)
    if choice.logprobs is not None:
        margin = choice.logprobs[0] - choice.logprobs[1]
        return _Leaning(margin, f"yes over no {margin:+.2f}")
    answer = yield from ask_for_text(messages)
    match = _SAID.match(reasoning_and_answer(answer)[1] or "")
    if match is None or answer.finish == "refused":
        return _Leaning(None, "neither yes nor no")
    return _Leaning(WORD if match[1].lower() == "yes" else -WORD, f"said {match[1].lower()}")
