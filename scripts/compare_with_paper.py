"""Compare the paper's numbers with ours: value, difference, source file; or the reason why they do not compare."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from excam.core import tables
from excam.core.provenance import write_text
from excam.error_reports.evaluation import claims
from excam.error_reports.evaluation.cells import LEVEL
from excam.error_reports.evaluation.claims import Claims
from excam.pages.markdown import escape, table
from scripts import run

VERSION = 7
PAGE = {
    "result": "results/paper/comparison",
    "outputs": ["page"],
    "category": "Results",
    "target": "paper",
    "inputs": {
        "table_2": "results/paper/table-2.csv",
        "table_4": "results/paper/table-4.md",
        "figure_3": "results/paper/figure-3.csv",
        "figure_10": "results/paper/figure-10.csv",
        "error_rates": "results/paper/error-rates.csv",
        "leave_one_out": "results/paper/leave-one-out.md",
        "printed": "paper/table-2.csv",
        "printed_claims": "paper/claims.csv",
    },
}
Line = dict[str, str]
HEAD = (
    "# Ours beside the paper's\n\nNumbers compare only where model, data and generator are the paper's. Where both are "
    "there, the difference, ours minus printed, is in brackets; if not, the last column says why.\n"
)
EXTERNAL = (
    "## Figure 4: in-domain ExCAM and an external judge\n\nAn external judge costs money and needs a key: `snakemake "
    "external` asks it and writes `figure-4.md`, with the claims beside.\n"
)


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--table-4", type=Path, required=True, help="the page")
    for name in ("table-2", "figure-3", "figure-10", "error-rates"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    parser.add_argument("--leave-one-out", type=Path, required=True, help="the page with the statement")
    parser.add_argument("--printed", type=Path, required=True, help="paper/table-2.csv")
    parser.add_argument("--printed-claims", type=Path, required=True, help="paper/claims.csv")
    parser.add_argument("--page", type=Path, required=True)
    args = parser.parse_args(argv)

    printed = claims.read(args.printed_claims)
    parts = [
        HEAD,
        _rows(tables.read_lines(args.table_2), tables.read_lines(args.printed)),
        _included(args.table_4.read_text(encoding="utf-8"), "Table 4: systems, and what scores without judgement get"),
        _out_of_domain(tables.read_lines(args.figure_3), printed),
        EXTERNAL,
        _languages(tables.read_lines(args.figure_10), printed),
        _included(args.leave_one_out.read_text(encoding="utf-8"), "Figure 11: one dataset less in training"),
        _rates(tables.read_lines(args.error_rates)),
        _contradictions(printed),
    ]
    write_text(args.page, "\n".join(parts))


def _rows(ours: list[Line], printed: list[Line]) -> str:
    paper = {line["dataset"]: line for line in printed}
    text = "## Table 2: rows\n\n| dataset | train | paper | dev | paper | test | paper |\n" + "|---" * 7 + "|\n"
    for line in ours:
        beside = paper.get(line["dataset"], {})
        cells = [f"{line[split]} | {beside.get(split, '–')}" for split in ("train", "dev", "test")]
        text += f"| {line['dataset']} | {' | '.join(cells)} |\n"
    return text


def _included(page: str, title: str) -> str:
    """Return another page as a section with this title, without its own."""
    _, _, body = page.partition("\n\n")
    return f"## {title}\n\n{body.strip()}\n"


def _out_of_domain(lines: list[Line], paper: Claims) -> str:
    head = ["ExCAM row", "significantly better (p ≤ .05)", "the same after Holm over the figure", "test sets judged"]
    body = []
    columns = [line for line in lines if line["p_baselines"] or line["p_own_base"]]
    columns = [line for line in columns if not line["column"].startswith("ALL")]
    for row in dict.fromkeys(line["row"] for line in columns):
        for what, name in (("than every untuned model", "p_baselines"), ("than its own base model", "p_own_base")):
            own = [line for line in columns if line["row"] == row and line[name]]
            won = [[line["column"] for line in own if float(line[p]) <= LEVEL] for p in (name, f"{name}_holm")]
            listed = [f"{len(names)}: {', '.join(names)}" if names else "0" for names in won]
            body.append([escape(f"{row} {what}"), *map(escape, listed), len(own) or "none: not compared"])
    ids = ("ood-significant-all-baselines", "ood-significant-own-base", "ood-better", "ood-random")
    text = "## Figure 3: out of domain\n\nIts cells are printed in a picture only: no differences.\n\n"
    return (
        text
        + (table(head, body) if body else "No adapter was judged on a dataset it never saw.\n")
        + claims.claims_list(paper, ids)
    )


def _languages(lines: list[Line], paper: Claims) -> str:
    shown = [line for line in lines if line["shown"] == "True"]
    text, printed = "## Figure 10: languages\n\n", paper["language-spread"]["printed"]
    if not shown:
        return text + "No language has enough rows.\n" + claims.claims_list(paper, ("language-spread",))
    body = []
    for row in dict.fromkeys(line["row"] for line in shown):
        own = [line for line in shown if line["row"] == row]
        spread = own[0]["spread"]
        listed = ", ".join(f"{line['language']} {line['scaled_accuracy']} (n = {line['n']})" for line in own)
        body.append(
            [escape(row), f"{spread} ({float(spread) - float(printed):+.3f})" if spread else "–", escape(listed)]
        )
    head = ["row", f"spread (ours minus the printed {printed})", "languages"]
    ids = ("language-spread", "language-minimum", "language-count")
    note = "\nThe paper does not name its five languages, nor the row its spread is of.\n"
    return text + table(head, body) + note + claims.claims_list(paper, ids)


def _rates(lines: list[Line]) -> str:
    """ExCAM's rates; those of untuned models are in error-rates.csv, the paper prints none."""
    head = ["system", "rows", "reported", "rate [95 %]", "n", "paper", "compared"]
    body = []
    for line in (line for line in lines if "/nothing/" not in line["system"]):
        printed = f"{line['printed']} ({float(line['difference']):+.3f})" if line["printed"] else "–"
        interval = f" [{line['low']}, {line['high']}]" if line["low"] else ""
        why = "same model, adapter and judge" if line["printed"] else "not printed for this system and these rows"
        name, rate = escape(line["system"]), f"{line['rate']}{interval}"
        body.append([name, line["rows"], line["reported"], rate, line["n"], printed, why])
    text = "## Errors reported, by what the row holds\n\n"
    return text + (table(head, body) if body else "No adapter was trained on all datasets in this experiment.\n")


def _contradictions(paper: Claims) -> str:
    found = [claim for claim in paper.values() if claim["contradiction"]]
    head = ["claim", "printed", "where", "against it", "spec"]
    body = [
        [
            f"{escape(claim['what'])} (`{claim['id']}`)",
            *(escape(f"{claim['printed']} {claim['unit']}".strip()), escape(claim["source"])),
            *(escape(claim["contradiction"]), claim["spec"] or "–"),
        ]
        for claim in found
    ]
    return "## Where the paper disagrees with itself\n\nClaims to compare with, not targets to reach.\n\n" + table(
        head, body
    )


if __name__ == "__main__":
    run(main)
