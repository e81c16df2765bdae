"""How alike the explanations of every system are to the gold ones, beside the paper's human ratings (spec 61, 62)."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from excam import tables
from excam.evaluation import cells, claims, explanation_match
from excam.evaluation.cells import System
from excam.markdown import escaped, table
from excam.provenance import read_json, write_text
from scripts import run

COUNTS = ("erroneous", *explanation_match.OUTCOMES, "wordless")
MEANS = (
    *("f1", "f1_low", "f1_high", "precision", "recall", "floor_n", "floor_f1"),
    *("difference_f1", "difference_f1_low", "difference_f1_high", "auroc_f1", "ceiling_n", "ceiling_f1"),
    *("cosine", "cosine_low", "cosine_high", "floor_cosine"),
    *("difference_cosine", "difference_cosine_low", "difference_cosine_high", "auroc_cosine", "ceiling_cosine"),
)
COLUMNS = (
    *("model", "trained_on", "judge", "kind", "dataset", *COUNTS, *MEANS),
    *("rows_cut", "pieces_cut", "unknown", "embedder", "cell"),
)
HEAD = (
    *("system", "test sets", "errors", "detected", "missed", "unreadable", "F1", "another row's", "difference"),
    *("AUROC", "cosine", "another row's", "difference", "AUROC", "other wording: F1", "cosine", "n"),
    *("rows cut", "unknown"),
)
TOLD = (
    *("explanation-soft-n", "explanation-soft-found-gemma3", "explanation-soft-found-phi3"),
    *("explanation-likert-gemma3", "explanation-likert-phi3"),
)
NOTE = """\
Each explanation of an error that was found, against the gold explanation of its row. *F1*: BERTScore-like, the word
pieces of one text matched greedily to the most similar ones of the other by the cosine of their contextual embeddings
(precision and recall are in the CSV file). *Cosine*: of the two sentence embeddings. Both are means over detected
errors, before their 95 % interval (a bootstrap over groups); an explanation without a word counts 0.

*Another row's*: the same explanations against the gold explanation of a row of another group of the same dataset, so
what takes no understanding of the row. *Difference*: own minus another's, paired. *AUROC*: the chance that an own
similarity is above another's of the same dataset; .5 is chance. *Other wording*: where a hard error stands in a row
with and in one without options, one gold explanation against the other, of the same mistake in another template's
words: what a right explanation can be expected to reach. Soft errors have one gold explanation each. *Rows cut*: rows
with an explanation longer than the model takes. *Unknown*: share of word pieces that are not in its vocabulary; what
they stand for is not compared.

A similarity is no truth: an explanation that names the row's wrong words and a false right answer is much like the gold
one. Whether the right answer is held stands in `reports.md`.

Embedded by `{name}` ({origin}, {revision}).
"""
PRINTED = """\
## The paper's numbers

No similarity of texts is in the paper: people rated how alike an explanation is to the gold one. That is another scale,
of another generator's errors and other models, and no difference to it is drawn. A table of human ratings of our own
follows from annotation, which takes people.
"""


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--similarities", type=Path, nargs="+", required=True, help="explanations/<system>/<split>.parquet"
    )
    parser.add_argument("--embedder", type=Path, required=True, help="models/<name>/manifest.json of the encoder")
    parser.add_argument("--printed-claims", type=Path, required=True, help="paper/claims.csv")
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--numbers", type=Path, required=True)
    parser.add_argument("--page", type=Path, required=True)
    args = parser.parse_args(argv)

    name = args.embedder.parts[-2]
    lines = []
    for path in args.similarities:
        system = System(*path.parts[-4:-1])
        where = {"model": system.model, "trained_on": system.trained_on, "judge": system.judge}
        where |= {"embedder": name, "cell": str(path)}
        lines += [where | _rounded(part) for part in explanation_match.parts(tables.read_frame(path), args.seed)]
    tables.write_lines(args.numbers, COLUMNS, lines)
    manifest = read_json(args.embedder, "origin", "revision")
    write_text(args.page, _page(lines, name, manifest, claims.read(args.printed_claims)))


def _rounded(part: dict[str, Any]) -> dict[str, Any]:
    return {name: cells.rounded(value) if isinstance(value, float) else value for name, value in part.items()}


def _page(lines: list[dict[str, Any]], name: str, manifest: dict[str, Any], printed: claims.Claims) -> str:
    told = {key: escaped(str(manifest[key])) for key in ("origin", "revision")}
    text = "# How alike explanations are to the gold ones\n\n" + NOTE.format(name=name, **told)
    for kind in explanation_match.KINDS:
        body = [_shown(line) for line in lines if line["kind"] == kind]
        text += f"\n## {kind.capitalize()} errors\n\n"
        text += table(HEAD, body) if body else f"No row of the test sets has a {kind} error.\n"
    return f"{text}\n{PRINTED}\n{_printed(printed)}"


def _printed(told: claims.Claims) -> str:
    columns = ("id", "what", "printed", "unit", "source")  # the base model is in the id
    return table(columns, [[escaped(told[name][column]) for column in columns] for name in TOLD])


def _shown(line: dict[str, Any]) -> list[object]:
    system = escaped("/".join(line[part] for part in ("model", "trained_on", "judge")))
    shown: list[object] = [system, line["dataset"], *(line[count] for count in COUNTS[:-1])]
    for name in explanation_match.MEASURES:
        shown += [_interval(line, name), _number(line[f"floor_{name}"])]
        shown += [f"{_interval(line, f'difference_{name}')} (n = {line['floor_n']})", _number(line[f"auroc_{name}"])]
    shown += [_number(line["ceiling_f1"]), _number(line["ceiling_cosine"]), line["ceiling_n"]]
    return [*shown, line["rows_cut"], _number(line["unknown"])]


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def _interval(line: dict[str, Any], name: str) -> str:
    low, high = line[f"{name}_low"], line[f"{name}_high"]
    return _number(line[name]) + ("" if low is None else f" [{low:.3f}, {high:.3f}]")


if __name__ == "__main__":
    run(main)
