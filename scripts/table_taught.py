"""Write how adapters judge test rows whose facts their base was taught, beside rows whose facts it was not taught."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from excam.core import paths, provenance, tables
from excam.error_reports.evaluation import known_facts
from excam.pages import markdown
from scripts import run
from scripts._taught import Study, add_study_options

VERSION = 2
PAGE = {
    "result": "results/paper/taught",
    "outputs": ["numbers", "page"],
    "category": "Results",
    "target": "paper",
    "inputs": {
        "judgements": "judgements_of_trained",
        "adapters": "manifests_of_trained",
        "knowledge": "knowledge",
        "facts": "taught_facts",
        "manifests": "taught_bases",
        "bases": "bases",
    },
    "settings": {"weights": "weights_of_trained", "seed": "seed"},
}
SETTINGS = ("report", "verdict_weight", "labels", "epochs", "rank")
COLUMNS = (
    *("system", "base", *SETTINGS, "seed", "rows", "minutes", "judged", "taught", "facts", "known", "n", "failures"),
    *("called_error", "recalled", "scaled_accuracy", "low", "high"),
)
SHOWN = ("system", "report", "judged", "facts", "known", "n", "failures", "called_error", "recalled")
HEAD = """# Verdicts on facts that the base model knows

Test rows of which no fact is in a report that the adapter learned from. `taught`: the corpus told the fact to the base.
`known`: share of facts whose right answer is likelier to the base than every wrong one. `recalled`: share of parsed
reports on wrong texts whose explanation names the right answer. Parse failures count as wrong; 95 % intervals over
facts; 0 is chance. An adapter `without-X` is judged on X alone: facts of a benchmark of which it saw no report.
"""


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    add_study_options(parser)
    parser.add_argument("--adapters", type=Path, nargs="+", required=True, help="manifests")
    parser.add_argument("--numbers", type=Path, required=True)
    parser.add_argument("--page", type=Path, required=True)
    args = parser.parse_args(argv)

    study = Study(args)
    lines = [line for path in args.adapters for line in _lines(study, path, args.seed)]
    tables.write_lines(args.numbers, COLUMNS, lines)
    provenance.write_text(args.page, _page(tables.read_lines(args.numbers)))


def _lines(study: Study, adapter: Path, seed: int) -> Iterator[dict[str, Any]]:
    """Yield a line for taught facts, and one for others, of the adapter with this manifest."""
    manifest = provenance.read_json(adapter, "settings", "seed", "rows", "training_seconds")
    axes = paths.axes(adapter)
    model, trained_on, recipe = axes["model"], axes["trained_on"], manifest["settings"]
    common = {"system": f"{model}/{trained_on}", "base": study.weights[model], "seed": manifest["seed"]}
    common |= {name: recipe[name] for name in SETTINGS}
    common |= {"rows": manifest["rows"], "minutes": round(manifest["training_seconds"] / 60, 1)}
    left_out = trained_on.removeprefix("without-")
    judged = "all" if left_out == trained_on else left_out
    rows = study.rows(model, trained_on, judged)
    for taught in (True, False):
        part = rows.filter(taught=taught)
        if part.height:
            yield common | {"judged": judged, "taught": taught, **known_facts.numbers(part, seed)}


def _page(lines: list[dict[str, str]]) -> str:
    head = (*SHOWN[:3], "taught", *SHOWN[3:], "scaled accuracy [95 %]")
    rows = [
        [
            *(markdown.escape(line[name]) for name in SHOWN[:3]),
            "yes" if line["taught"] == "True" else "no",
            *(line[name] for name in SHOWN[3:]),
            f"{float(line['scaled_accuracy']):.2f} [{float(line['low']):.2f}, {float(line['high']):.2f}]",
        ]
        for line in lines
    ]
    return f"{HEAD}\n{markdown.table(head, rows)}"


if __name__ == "__main__":
    run(main)
