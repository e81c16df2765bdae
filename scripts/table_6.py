"""Write Table 6: models, their decoding, and libraries, ours beside the paper's."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

from excam.core import tables
from excam.core.provenance import write_text
from excam.pages.markdown import escape, table
from scripts import run, step

VERSION = 1
PAGE = {
    "result": "results/paper/table-6",
    "outputs": ["numbers", "page"],
    "category": "Settings",
    "target": "paper",
    "inputs": {
        "locks": ["requirements/core.lock", "requirements/torch.lock", "requirements/vllm.lock"],
        "printed": ["paper/table-6.csv", "paper/table-6-software.csv"],
    },
    "settings": {"models": "models_asked"},
}
SETTINGS = ("temperature", "top_p", "top_k", "max_tokens")
OFF = {"top_p": 1.0, "top_k": 0}  # what a setting that the paper does not state amounts to
COLUMNS = ("model", "roles", "weights", *SETTINGS, *(f"{name}_printed" for name in SETTINGS), "differs")
PIN = re.compile(r"^([a-z0-9._-]+)==([^\s\\;]+)", re.M)
NOTE = (
    "–: the paper does not state it, which is read as off for top-p and top-k. Models that this experiment does not "
    "ask are not listed. Versions are those of the locked environments; – stands where none locks the library."
)


@step
def main(
    models: Annotated[str, "JSON: name -> roles, weights, sampling"],
    locks_paths: Annotated[Sequence[Path], "requirements/*.lock, the first one wins"],
    printed_paths: Annotated[Sequence[Path], "paper/table-6.csv, table-6-software.csv"],
    numbers_path: Path,
    page_path: Path,
) -> None:
    paper, software = (tables.read_lines(path) for path in printed_paths)
    printed = {line["model"]: line for line in paper}
    lines = [_line(name, entry, printed.get(name)) for name, entry in json.loads(models).items()]
    tables.write_lines(numbers_path, COLUMNS, lines)
    locked = {name: version for path in reversed(locks_paths) for name, version in PIN.findall(path.read_text("utf-8"))}
    write_text(page_path, _page(lines, software, locked))


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


def _page(lines: Sequence[dict[str, Any]], software: Sequence[dict[str, str]], locked: dict[str, str]) -> str:
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
    text = f"# Table 6: models and libraries\n\n{NOTE}\n\n{table(head, body)}"
    return text + f"\n{table(['library', 'ours', 'paper'], versions)}"


if __name__ == "__main__":
    run(main)
