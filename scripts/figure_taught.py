"""Draw scaled accuracy against what the base model knows, fact by fact, from the numbers it writes."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from excam.core import tables
from excam.error_reports.evaluation import known_facts
from excam.pages import plotting
from scripts import run
from scripts._taught import Study, add_study_options

VERSION = 1
PAGE = {
    "result": "results/paper/figure-taught",
    "outputs": ["numbers", "pictures"],
    "category": "Results",
    "target": "paper",
    "inputs": {
        "judgements": "judgements_of_trained",
        "knowledge": "knowledge",
        "facts": "taught_facts",
        "manifests": "taught_bases",
        "bases": "bases",
    },
    "settings": {"weights": "weights_of_trained", "shown": "shown_trained", "seed": "seed"},
}
COLUMNS = (
    *("series", "base_sample", "taught", "margin", "facts", "n", "failures", "called_error"),
    *("scaled_accuracy", "low", "high"),
)
TITLE = "ExCAM finds what its base model knows"


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    add_study_options(parser)
    parser.add_argument("--shown", nargs="+", required=True, help="models whose adapters, trained on all, are drawn")
    parser.add_argument("--numbers", type=Path, required=True)
    parser.add_argument("--pictures", type=Path, nargs="+", required=True)
    args = parser.parse_args(argv)

    study = Study(args)
    lines = [line for model in args.shown for line in _lines(study, model, args.seed)]
    tables.write_lines(args.numbers, COLUMNS, lines)
    draw(tables.read_lines(args.numbers), args.pictures)


def _lines(study: Study, model: str, seed: int) -> Iterator[dict[str, Any]]:
    """Yield a line for each fact, and one for each part of the facts, from the least known to the best known."""
    rows = study.rows(model, "all")
    series = f"{model} (base: {study.weights[model]})"
    for fact in known_facts.by_fact(rows):
        yield {"series": series, "base_sample": fact.pop("base"), "facts": 1, **fact}
    for part in known_facts.by_margin(rows, seed):
        yield {"series": series, "base_sample": "", **{name: part[name] for name in COLUMNS if name in part}}


def draw(lines: list[dict[str, str]], pictures: Sequence[Path]) -> None:
    """Draw from the rows of figure-taught.csv alone."""
    names = list(dict.fromkeys(line["series"] for line in lines))
    of = {name: [line for line in lines if line["series"] == name] for name in names}
    figure = plotting.scatter(
        {
            name: plotting.Cloud(
                points=[(float(o["margin"]), float(o["scaled_accuracy"])) for o in of[name] if o["base_sample"]],
                means=[
                    (float(o["margin"]), float(o["scaled_accuracy"]), float(o["low"]), float(o["high"]))
                    for o in of[name]
                    if not o["base_sample"]
                ],
            )
            for name in names
        },
        title=TITLE,
        across="log-likelihood of the right answer minus that of the likeliest wrong one (nats), before tuning",
        up="scaled accuracy",
        note="A small dot: the test rows of one fact (spread a little, since they coincide); no fact is in a report "
        "that an adapter learned from. Large marks: parts of equally many facts, with 95 % intervals over facts. "
        "Right of the vertical line the base finds the right answer likelier than every wrong one. 0 is chance; an "
        f"unreadable answer counts as wrong. Facts: {'; '.join(_counts(name, of[name]) for name in names)}.",
    )
    plotting.save(figure, pictures)


def _counts(name: str, lines: list[dict[str, str]]) -> str:
    facts = [line for line in lines if line["base_sample"]]
    taught = sum(line["taught"] == "True" for line in facts)
    rows = sum(int(line["n"]) for line in facts)
    return f"{name} {taught} taught and {len(facts) - taught} not, {rows} rows"


if __name__ == "__main__":
    run(main)
