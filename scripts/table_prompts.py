"""Write Tables 5, 7 and 11: the prompts, as the code sends them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

from excam.core.provenance import write_text
from excam.error_reports.judges import binary, count, report, severity
from excam.excam40k.construction import generator
from scripts import run, step

VERSION = 1
PAGE = {
    "result": "results/paper/table-5",
    "outputs": ["page"],
    "category": "Settings",
    "target": "paper",
    "more": {"soft_errors": "results/paper/table-7.md", "baselines": "results/paper/table-11.md"},
}
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
NOTE = "Shown as it is sent; words in braces are filled in. The words are the paper's, the line breaks may not be."


@step
def main(
    page_path: Annotated[Path, "Table 5"],
    soft_errors_path: Annotated[Path, "Table 7"],
    baselines_path: Annotated[Path, "Table 11"],
) -> None:
    for path, (number, (what, prompts)) in zip(
        (page_path, soft_errors_path, baselines_path), TABLES.items(), strict=True
    ):
        write_text(path, _page(number, what, prompts))


def _page(number: int, what: str, prompts: Mapping[str, str]) -> str:
    text = f"# Table {number}\n\n{what}\n\n{NOTE}\n"
    for name, prompt in prompts.items():
        text += f"\n## {name}\n\n~~~~text\n{prompt}\n~~~~\n"
    return text


if __name__ == "__main__":
    run(main)
