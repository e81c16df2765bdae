"""The card of an adapter: a header that the Hugging Face libraries read, and a page for people (spec 45-46)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import yaml

import excam
from excam import markdown
from excam.judges import report

PAGE = """\
A LoRA adapter for {model} that reads an instruction and the text generated from it, and answers with an error report in
JSON: which words are a cultural error, how severe, of what type, and why (ExCAM, trained with version {version} of its
repository).

## What it learnt from

{rows} rows of {datasets}. {left_out}The mixture's sha256 is `{mixture}`; rows are right and wrong twins, most errors in
them made by machine.

{by_dataset}
## How to ask it

The conversation is that of training, word by word; other prompts measure something else. `excam score` asks like this:

- system: {system}
- user: {user}

## Recipe

{recipe}
## What was measured while training

{measured}
## Known limits

Low loss is not a good metric: judge by the evaluation of the run this adapter belongs to, with its intervals. It knows
the cultures, languages and kinds of error of its training rows and no others, repeats the biases of their annotators
and of the models that wrote the errors, and can be misled by texts that address it. It does not replace people of the
culture in question. Do not use it to rank or judge persons.
"""


def written(
    *,
    model: str,
    source: str | None,
    licence: str,
    trained_on: str,
    by_dataset: Mapping[str, int],
    mixture: str,
    recipe: Mapping[str, Any],
    measured: Mapping[str, Any],
) -> str:
    """The whole README.md; `source` is the base model's hub id where it has one, `licence` that of its weights."""
    header = {
        "library_name": "peft",
        **({"base_model": source} if source else {}),
        "license": "other",
        "license_name": licence,
        "pipeline_tag": "text-generation",
        "tags": ["excam", "lora", "culture", "evaluation", "error-detection"],
    }
    left_out = trained_on.removeprefix("without-")
    page = PAGE.format(
        version=excam.__version__,
        model=model,
        rows=sum(by_dataset.values()),
        datasets=f"{len(by_dataset)} benchmarks",
        left_out=f"Not of {left_out}, which it can be judged on as unseen. " if left_out != trained_on else "",
        mixture=mixture,
        by_dataset=_table(("dataset", "rows"), by_dataset),
        system=markdown.escaped(report.SYSTEM),
        user=markdown.escaped(report.USER),
        recipe=_table(("setting", "value"), recipe),
        measured=_table(("", "value"), measured),
    )
    return f"---\n{yaml.safe_dump(header, sort_keys=False)}---\n\n# ExCAM: {model}, trained on {trained_on}\n\n{page}"


def _table(head: tuple[str, str], values: Mapping[str, Any]) -> str:
    """What has a value, a line each."""
    rows = [(name, _in_words(value)) for name, value in values.items() if value is not None]
    return markdown.table(head, [(markdown.escaped(name), markdown.escaped(value)) for name, value in rows])


def _in_words(value: Any) -> str:
    return ", ".join(f"{key} {one}" for key, one in value.items()) if isinstance(value, Mapping) else str(value)
