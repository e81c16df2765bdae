"""Compare the paper's numbers with ours: value, difference, source file; or the reason why they do not compare."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from excam.core import tables
from excam.core.provenance import write_text
from excam.error_reports.evaluation import claims
from excam.error_reports.evaluation.cells import LEVEL
from excam.error_reports.evaluation.claims import Claims
from excam.pages.markdown import escape, table
from scripts import run, step

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


@step
def main(
    table_4_path: Annotated[Path, "the page"],
    table_2_path: Path,
    figure_3_path: Path,
    figure_10_path: Path,
    error_rates_path: Path,
    leave_one_out_path: Annotated[Path, "the page with the statement"],
    printed_path: Annotated[Path, "paper/table-2.csv"],
    printed_claims_path: Annotated[Path, "paper/claims.csv"],
    page_path: Path,
) -> None:
    printed = claims.read(printed_claims_path)
    parts = [
        HEAD,
        _rows(tables.read_lines(table_2_path), tables.read_lines(printed_path)),
        _included(table_4_path.read_text(encoding="utf-8"), "Table 4: systems, and what scores without judgement get"),
        _out_of_domain(tables.read_lines(figure_3_path), printed),
        EXTERNAL,
        _languages(tables.read_lines(figure_10_path), printed),
        _included(leave_one_out_path.read_text(encoding="utf-8"), "Figure 11: one dataset less in training"),
        _rates(tables.read_lines(error_rates_path)),
        _contradictions(printed),
    ]
    write_text(page_path, "\n".join(parts))


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
    contradictory_claims = [claim for claim in paper.values() if claim["contradiction"]]
    head = ["claim", "printed", "where", "against it", "spec"]
    body = [
        [
            f"{escape(claim['what'])} (`{claim['id']}`)",
            *(escape(f"{claim['printed']} {claim['unit']}".strip()), escape(claim["source"])),
            *(escape(claim["contradiction"]), claim["spec"] or "–"),
        ]
        for claim in contradictory_claims
    ]
    return "## Where the paper disagrees with itself\n\nClaims to compare with, not targets to reach.\n\n" + table(
        head, body
    )


if __name__ == "__main__":
    run(main)
