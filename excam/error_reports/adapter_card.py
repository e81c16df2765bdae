"""The model card of an adapter: metadata for the Hugging Face libraries, and a page for people."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import yaml

from excam.core.release import VERSION
from excam.error_reports.judges import report
from excam.pages import markdown

PAGE = """\
A LoRA adapter for {model} that reads an instruction and the text generated from it, and answers with an error report in
JSON: which words are a cultural error, how severe, of what type, and why (ExCAM, trained with version {version} of its
repository).

## Training data

{rows} rows of {datasets}. {left_out}The mixture's sha256 is `{mixture}`; rows are pairs of an original and a
corrupted text, and most errors in them are generated.

{by_dataset}
## How to use it

Use exactly the conversation of training; results with other prompts are not comparable. `excam score` sends:

{prompts}

## Recipe

{recipe}
## Measurements

{measured}
## Known limits

A low loss does not make a good metric: rely on the evaluation of the run this adapter belongs to, with its intervals.
It covers only the cultures, languages and kinds of error of its training rows, repeats the biases of their annotators
and of the models that generated the errors, and can be misled by texts with instructions to it. It does not replace
people of the culture in question. Do not use it to rank or judge persons.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainedAdapter:
    """What a card says of an adapter."""

    model: str
    source: str | None  # hub id of the base model
    licence: str  # of its weights
    trained_on: str
    by_dataset: Mapping[str, int]  # rows
    mixture: str  # sha256
    recipe: Mapping[str, Any]
    measured: Mapping[str, Any]


def text(adapter: TrainedAdapter) -> str:
    """Return the text of README.md."""
    header = {
        "library_name": "peft",
        **({"base_model": adapter.source} if adapter.source else {}),
        "license": "other",
        "license_name": adapter.licence,
        "pipeline_tag": "text-generation",
        "tags": ["excam", "lora", "culture", "evaluation", "error-detection"],
    }
    left_out = adapter.trained_on.removeprefix("without-")
    prompts = {"system": report.SYSTEM, "user": report.USER}
    page = PAGE.format(
        version=VERSION,
        model=adapter.model,
        rows=sum(adapter.by_dataset.values()),
        datasets=f"{len(adapter.by_dataset)} benchmarks",
        left_out=f"Not of {left_out}, which it can be judged on as unseen. " if left_out != adapter.trained_on else "",
        mixture=adapter.mixture,
        by_dataset=_table(("dataset", "rows"), adapter.by_dataset),
        prompts="\n".join(f"- {role}: {markdown.escape(' '.join(said.split()))}" for role, said in prompts.items()),
        recipe=_table(("setting", "value"), adapter.recipe),
        measured=_table(("", "value"), adapter.measured),
    )
    title = f"# ExCAM: {adapter.model}, trained on {adapter.trained_on}"
    return f"---\n{yaml.safe_dump(header, sort_keys=False)}---\n\n{title}\n\n{page}"


def _table(head: tuple[str, str], values: Mapping[str, Any]) -> str:
    """Return a Markdown table of the entries that are not None."""
    rows = [(name, _as_text(value)) for name, value in values.items() if value is not None]
    return markdown.table(head, [(markdown.escape(name), markdown.escape(value)) for name, value in rows])


def _as_text(value: Any) -> str:
    """Return a value as text; a mapping as its keys and values, separated by commas."""
    return ", ".join(f"{key} {entry}" for key, entry in value.items()) if isinstance(value, Mapping) else str(value)
