"""Translate items with a model: source only, without or with one example that is not in the test set (§4.1)."""

from __future__ import annotations

import json
from typing import Literal

from excam.acre.asks import filled
from excam.acre.items import TermSentence
from excam.acre.translations import Translated
from excam.inference import Flow, Message, ask_for_text
from excam.inference.answer_text import reasoning_and_answer

Form = Literal["prompt", "plain"]  # plain: the source alone, for models that only translate


def prompt(item: TermSentence, example: TermSentence | None) -> str:
    """Return what a language model is asked; the prompt is ours, the paper's is lost."""
    one_shot = (
        ""
        if example is None
        else f"\nChinese text: {_quoted(example.source)}\n{item.target_language} translation: {example.reference}\n"
    )
    return filled("translate", {"source": _quoted(item.source), "example": one_shot, "language": item.target_language})


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def translate(item: TermSentence, system: str, form: Form, example: TermSentence | None = None) -> Flow[Translated]:
    """Ask for one translation. An answer cut within its reasoning, or refused, is an empty translation."""
    text = item.source if form == "plain" else prompt(item, example)
    answer = yield from ask_for_text((Message("user", text),))
    _, translation = reasoning_and_answer(answer)
    return Translated(item, system, (translation or "").strip(), 0 if example is None else 1, answer.finish)
