"""The printed numbers beside ours: value, difference, the file ours came from; why, where they do not compare."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from excam import tables
from excam.evaluation import claims
from excam.evaluation.cells import LEVEL
from excam.evaluation.claims import Claims
from excam.evaluation.floors import FLOORS
from excam.markdown import escaped, table
from excam.provenance import write_text
from scripts import run

Line = dict[str, str]
HEAD = (
    "# Ours beside the paper's\n\nNumbers compare only where model, data and generator are the paper's. Where both are "
    "there, the difference, ours minus printed, stands in brackets; where not, the last column says why.\n"
)
EXTERNAL = (
    "## Figure 4: in-domain ExCAM and an external judge\n\nAn external judge costs money and needs a key: `snakemake "
    "external` asks it and writes `figure-4.md`, with the claims beside.\n"
)
MEASURES = ("scaled_accuracy", "kendall", "tie_calibrated_accuracy")
WON = ("better_than_all", "kendall_better_than_all", "tie_calibrated_better_than_all")


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("table-2", "table-4", "figure-3", "figure-10", "error-rates"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    parser.add_argument("--leave-one-out", type=Path, required=True, help="the page with the statement")
    parser.add_argument("--printed", type=Path, nargs=2, required=True, help="paper/table-2.csv paper/table-4.csv")
    parser.add_argument("--printed-claims", type=Path, required=True, help="paper/claims.csv")
    parser.add_argument("--comparison", type=Path, required=True)
    args = parser.parse_args(argv)

    printed = claims.read(args.printed_claims)
    parts = [
        HEAD,
        _rows(tables.read_lines(args.table_2), tables.read_lines(args.printed[0])),
        _systems(tables.read_lines(args.table_4), tables.read_lines(args.printed[1])),
        _out_of_domain(tables.read_lines(args.figure_3), printed),
        EXTERNAL,
        _languages(tables.read_lines(args.figure_10), printed),
        _left_out(args.leave_one_out.read_text(encoding="utf-8")),
        _rates(tables.read_lines(args.error_rates)),
        _contradictions(printed),
    ]
    write_text(args.comparison, "\n".join(parts))


def _rows(ours: list[Line], printed: list[Line]) -> str:
    paper = {line["dataset"]: line for line in printed}
    text = "## Table 2: rows\n\n| dataset | train | paper | dev | paper | test | paper |\n" + "|---" * 7 + "|\n"
    for line in ours:
        beside = paper.get(line["dataset"], {})
        cells = [f"{line[split]} | {beside.get(split, '–')}" for split in ("train", "dev", "test")]
        text += f"| {line['dataset']} | {' | '.join(cells)} |\n"
    return text


def _systems(ours: list[Line], printed: list[Line]) -> str:
    text = "## Table 4: systems, and what scores without judgement get\n\n"
    text += "`*`: above every floor, and better than every untuned model and every other adapter of all, by paired "
    text += (
        "permutation tests over groups, p ≤ .05. Of correlations only ExCAM's with p(R) are tested, which the paper "
    )
    text += (
        "underlines; `table-4.csv` says how many tests there are. Leave-one-out adapters are compared in Figure 11.\n\n"
    )
    text += "| system | scaled accuracy [95 %] | paper | Kendall b | paper | tie-calibrated | paper "
    text += "| n | failures | from | compared |\n" + "|---" * 11 + "|\n"
    paper = {line["system"]: line for line in printed}
    for line in ours:
        name = _system(line)
        beside = paper.get(name, {})
        interval = f" [{line['low']}, {line['high']}]" if line["low"] else ""
        values = (line["scaled_accuracy"], line["kendall_b"], line["tie_calibrated_accuracy"])
        stars = ["*" if line[name] == "yes" else "" for name in WON]
        own = [f"{value or 'n/a'}{star}" for value, star in zip(values, stars, strict=True)]
        own[0] += interval
        numbers = [f"{o} | {_beside(v, beside, c)}" for o, v, c in zip(own, values, MEASURES, strict=True)]
        text += f"| {name} | {' | '.join(numbers)} | {line['n']} | {line['failures']} | `{line['cell']}` "
        text += f"| {_why(line, name, paper)} |\n"
    missing = [name for name in paper if name not in {_system(line) for line in ours}]
    return text + (f"\nPrinted, not in this experiment: {', '.join(missing)}.\n" if missing else "")


def _beside(ours: str, printed: Line, column: str) -> str:
    """The printed value and how far ours is from it."""
    value = printed.get(column)
    if not value:
        return "–"
    return f"{value} ({float(ours) - float(value):+.3f})" if ours else value


def _why(line: Line, name: str, paper: dict[str, Line]) -> str:
    """Whether the paper prints this system, and if not, what about it is another."""
    kind = "tuned" if line["trained_on"] != "nothing" else "untuned"
    if name in paper:
        return "same model, adapter and judge"
    if line["model"] in FLOORS:
        return "a floor; the paper prints none"
    same = [row for row in paper.values() if row["model"] == line["model"]]
    bases = ", ".join(row["model"] for row in paper.values() if row["trained_on"] == "all")
    if not same:
        return f"other base model; the paper tunes {bases}" if kind == "tuned" else "a model the paper does not ask"
    if line["trained_on"].startswith("without-"):
        return "an adapter of Figures 3 and 11, whose cells are in pictures"
    if line["trained_on"] not in ("nothing", "all"):
        return "an adapter the paper does not have"
    if any((row["trained_on"], row["judge"]) == (line["trained_on"], line["judge"]) for row in same):
        return f"printed only with{'out' if line['fallback'] else ''} p(R) as fallback"
    return f"the paper prints no {kind} {line['judge']} of this model"


def _system(line: Line) -> str:
    """One name per system, as in the column `system` of paper/table-4.csv."""
    return "/".join([line["model"], line["trained_on"], line["judge"]]) + (
        f"+{line['fallback']}" if line["fallback"] else ""
    )


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
            body.append([escaped(f"{row} {what}"), *map(escaped, listed), len(own) or "none: not compared"])
    told = ("ood-significant-all-baselines", "ood-significant-own-base", "ood-better", "ood-random")
    text = "## Figure 3: out of domain\n\nIts cells are printed in a picture only: no differences.\n\n"
    return (
        text
        + (table(head, body) if body else "No adapter was judged on a dataset it never saw.\n")
        + claims.said(paper, told)
    )


def _languages(lines: list[Line], paper: Claims) -> str:
    shown = [line for line in lines if line["shown"] == "True"]
    text, printed = "## Figure 10: languages\n\n", paper["language-spread"]["printed"]
    if not shown:
        return text + "No language has enough rows in the test sets.\n" + claims.said(paper, ("language-spread",))
    body = []
    for row in dict.fromkeys(line["row"] for line in shown):
        own = [line for line in shown if line["row"] == row]
        spread = own[0]["spread"]
        listed = ", ".join(f"{line['language']} {line['scaled_accuracy']} (n = {line['n']})" for line in own)
        body.append(
            [escaped(row), f"{spread} ({float(spread) - float(printed):+.3f})" if spread else "–", escaped(listed)]
        )
    head = ["row", f"spread (ours minus the printed {printed})", "languages"]
    told = ("language-spread", "language-minimum", "language-count")
    note = "\nThe paper does not name its five languages, nor the row its spread is of.\n"
    return text + table(head, body) + note + claims.said(paper, told)


def _left_out(statement: str) -> str:
    _, _, body = statement.partition("\n\n")
    return f"## Figure 11: one dataset less in training\n\n{body.strip()}\n"


def _rates(lines: list[Line]) -> str:
    """ExCAM's rates; those of untuned models are in error-rates.csv, the paper prints none."""
    head = ["system", "rows", "reported", "rate [95 %]", "n", "paper", "compared"]
    body = []
    for line in (line for line in lines if "/nothing/" not in line["system"]):
        printed = f"{line['printed']} ({float(line['difference']):+.3f})" if line["printed"] else "–"
        interval = f" [{line['low']}, {line['high']}]" if line["low"] else ""
        why = "same model, adapter and judge" if line["printed"] else "not printed for this system and these rows"
        name, rate = escaped(line["system"]), f"{line['rate']}{interval}"
        body.append([name, line["rows"], line["reported"], rate, line["n"], printed, why])
    text = "## Errors reported, by what the row holds\n\n"
    return text + (table(head, body) if body else "No adapter was trained on all datasets in this experiment.\n")


def _contradictions(paper: Claims) -> str:
    found = [claim for claim in paper.values() if claim["contradiction"]]
    head = ["claim", "printed", "where", "against it", "spec"]
    body = [
        [
            f"{escaped(claim['what'])} (`{claim['id']}`)",
            *(escaped(f"{claim['printed']} {claim['unit']}".strip()), escaped(claim["source"])),
            *(escaped(claim["contradiction"]), claim["spec"] or "–"),
        ]
        for claim in found
    ]
    return "## Where the paper disagrees with itself\n\nClaims to compare with, not targets to reach.\n\n" + table(
        head, body
    )


if __name__ == "__main__":
    run(main)
