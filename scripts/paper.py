"""Set what this experiment gives beside what the paper prints."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

from excam.core import tables
from excam.core.provenance import read_json, write_text
from excam.error_reports.evaluation import cells
from excam.error_reports.judges import binary, count, report, severity
from excam.excam40k.construction import generator
from excam.pages.markdown import escape, table
from scripts import step

SETTINGS = ("temperature", "top_p", "top_k", "max_tokens")


OFF = {"top_p": 1.0, "top_k": 0}  # what a setting that the paper does not state amounts to


TABLE_6_COLUMNS = ("model", "roles", "weights", *SETTINGS, *(f"{name}_printed" for name in SETTINGS), "differs")


PIN = re.compile(r"^([a-z0-9._-]+)==([^\s\\;]+)", re.M)


TABLE_6_NOTE = (
    "–: the paper does not state it, which is read as off for top-p and top-k. Models that this experiment does not "
    "ask are not listed. Versions are those of the locked environments; – stands where none locks the library."
)


@step(
    version=1,
    result="results/paper/table-6",
    outputs=["numbers", "page"],
    category="Settings",
    target="paper",
    inputs={
        "locks": ["requirements/core.lock", "requirements/torch.lock", "requirements/vllm.lock"],
        "printed": ["paper/table-6.csv", "paper/table-6-software.csv"],
    },
    settings={"models": "models_asked"},
)
def table_6(
    models: Annotated[str, "JSON: name -> roles, weights, sampling"],
    locks_paths: Annotated[Sequence[Path], "requirements/*.lock, the first one wins"],
    printed_paths: Annotated[Sequence[Path], "paper/table-6.csv, table-6-software.csv"],
    numbers_path: Path,
    page_path: Path,
) -> None:
    """Write Table 6: models, their decoding, and libraries, ours beside the paper's.

    The models of this experiment, how they decode, and the locked libraries, beside the paper's Table 6.
    """
    paper, software = (tables.read_lines(path) for path in printed_paths)
    printed = {line["model"]: line for line in paper}
    lines = [_line(name, entry, printed.get(name)) for name, entry in json.loads(models).items()]
    tables.write_lines(numbers_path, TABLE_6_COLUMNS, lines)
    locked = {name: version for path in reversed(locks_paths) for name, version in PIN.findall(path.read_text("utf-8"))}
    write_text(page_path, _table_6_page(lines, software, locked))


def _line(name: str, entry: dict[str, Any], printed: dict[str, str] | None) -> dict[str, Any]:
    sampling = {setting: entry["sampling"][setting] for setting in SETTINGS}
    beside = {setting: printed[setting] if printed else "" for setting in SETTINGS}
    if printed is None:
        differs = "not in the paper's table"
    else:
        wanted = {key: float(value) if value else OFF.get(key) for key, value in beside.items()}
        differs = ", ".join(key for key in SETTINGS if wanted[key] is not None and sampling[key] != wanted[key]) or "no"
    head = {"model": name, "roles": ", ".join(entry["roles"]), "weights": entry["weights"], "differs": differs}
    return {**head, **sampling, **{f"{key}_printed": value for key, value in beside.items()}}


def _table_6_page(lines: Sequence[dict[str, Any]], software: Sequence[dict[str, str]], locked: dict[str, str]) -> str:
    head = ["model", "asked as", "weights", *(f"{name} (paper)" for name in SETTINGS), "differs from the paper"]
    body = [
        [
            *(escape(str(line[key])) for key in ("model", "roles", "weights")),
            *(f"{line[key]} ({line[f'{key}_printed'] or '–'})" for key in SETTINGS),
            line["differs"],
        ]
        for line in lines
    ]
    names = [line["library"] for line in software]
    ours = {name: locked.get(name) or locked.get(f"{name}-cpu", "–") for name in names}  # vLLM's build for tests
    versions = [[line["library"], ours[line["library"]], line["version"]] for line in software]
    text = f"# Table 6: models and libraries\n\n{TABLE_6_NOTE}\n\n{table(head, body)}"
    return text + f"\n{table(['library', 'ours', 'paper'], versions)}"


TABLES: Mapping[int, tuple[str, Mapping[str, str]]] = {
    5: (
        "ExCAM's prompts, for training and for judging. The caption of the paper's table also names a variant ExCAM_g, "
        "for which there is neither a prompt nor a result; it is not built.",
        {"System prompt": report.SYSTEM, "Report style": report.USER},
    ),
    7: (
        "The prompt that makes soft errors. One of the first two sentences stands at the end of rule 6, whose comma is "
        "the paper's.",
        {
            "MINOR": generator.RULE_6["minor"],
            "MAJOR": generator.RULE_6["major"],
            "Main prompt": generator.PROMPT,
        },
    ),
    11: (
        "The prompts of models as they come. The running text of the paper knows two of the three; it gives no system "
        "prompt for them.",
        {"Counting": count.PROMPT, "Severity": severity.PROMPT, "Binary": binary.PROMPT},
    ),
}


PROMPTS_NOTE = (
    "Shown as it is sent; words in braces are filled in. The words are the paper's, the line breaks may not be."
)


@step(
    version=1,
    result="results/paper/table-5",
    outputs=["page"],
    category="Settings",
    target="paper",
    more={"soft_errors": "results/paper/table-7.md", "baselines": "results/paper/table-11.md"},
)
def table_prompts(
    page_path: Annotated[Path, "Table 5"],
    soft_errors_path: Annotated[Path, "Table 7"],
    baselines_path: Annotated[Path, "Table 11"],
) -> None:
    """Write Tables 5, 7 and 11: the prompts, as the code sends them.

    The prompts as the code sends them: Table 5 those of ExCAM, Table 7 the generator's, Table 11 those of the
    baselines.
    """
    for path, (number, (what, prompts)) in zip(
        (page_path, soft_errors_path, baselines_path), TABLES.items(), strict=True
    ):
        write_text(path, _prompts_page(number, what, prompts))


def _prompts_page(number: int, what: str, prompts: Mapping[str, str]) -> str:
    text = f"# Table {number}\n\n{what}\n\n{PROMPTS_NOTE}\n"
    for name, prompt in prompts.items():
        text += f"\n## {name}\n\n~~~~text\n{prompt}\n~~~~\n"
    return text


RECIPE_COLUMNS = (
    *("model", "rank", "alpha", "learning_rate", "epochs", "steps", "final_loss"),
    *("scaled_accuracy", "low", "high", "n", "failures", "tie_calibrated_accuracy", "cell"),
)


@step(
    version=1,
    result="results/paper/recipes",
    outputs=["numbers"],
    category="Training",
    inputs={"cells": "variant_cells", "adapters": "variant_adapters"},
)
def table_recipes(
    cells_paths: Sequence[Path],
    adapters_paths: Annotated[Sequence[Path], "their manifests, in the same order"],
    numbers_path: Path,
) -> None:
    """Compare recipes that share a base model on the dev sets.

    Recipes that share a base model, trained on everything and judged on the dev sets: rank, scale, learning rate, how
    many numbers are trained, last loss, scaled accuracy with its interval, failures. The test sets choose no recipe.
    """
    lines = []
    for cell, manifest in zip(cells_paths, adapters_paths, strict=True):
        numbers, trained = (read_json(path) for path in (cell, manifest))
        lines.append(
            {
                "model": trained["model"],
                **{key: trained["settings"][key] for key in ("rank", "alpha", "learning_rate", "epochs")},
                "steps": trained["steps"],
                "final_loss": round(trained["final_loss"], 4),
                **cells.accuracy_columns(numbers["accuracy"]),
                "n": numbers["n"],
                "tie_calibrated_accuracy": numbers["correlation"]["score"]["tie_calibrated"],
                "cell": str(cell),
            }
        )
    tables.write_lines(numbers_path, RECIPE_COLUMNS, lines)
