"""Set what this experiment gives beside what the paper prints."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

from excam.core import tables
from excam.core.provenance import read_json, write_text
from excam.error_reports.evaluation import claims
from excam.error_reports.evaluation.cells import LEVEL
from excam.error_reports.evaluation.claims import Claims
from excam.error_reports.judges import binary, count, report, severity
from excam.excam40k.construction import generator
from excam.pages.markdown import escape, table
from scripts import step

Line = dict[str, str]


HEAD = (
    "# Ours beside the paper's\n\nNumbers compare only where model, data and generator are the paper's. Where both are "
    "there, the difference, ours minus printed, is in brackets; if not, the last column says why. Every claim of the "
    "text: `claims.md`.\n"
)


EXTERNAL = (
    "## Figure 4: in-domain ExCAM and an external judge\n\nAn external judge costs money and needs a key: `snakemake "
    "external` asks it and writes `figure-4.md`, with the claims beside.\n"
)


@step(
    version=8,
    result="results/paper/comparison",
    outputs=["page"],
    category="Results",
    target="paper",
    inputs={
        "table_2": "results/paper/table-2.csv",
        "table_4": "results/paper/table-4.md",
        "figure_3": "results/paper/figure-3.csv",
        "figure_10": "results/paper/figure-10.csv",
        "error_rates": "results/paper/error-rates.csv",
        "leave_one_out": "results/paper/leave-one-out.md",
        "printed": "paper/table-2.csv",
        "printed_claims": "paper/claims.csv",
    },
)
def compare_with_paper(
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
    """Compare the paper's numbers with ours: value, difference, source file; or the reason why they do not compare.

    The paper's printed numbers beside ours, with the difference where model, adapter and judge are the same, and the
    reason where they are not; then what the paper says in words about its figures, and where it disagrees with itself.
    """
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
            of_row = [line for line in columns if line["row"] == row and line[name]]
            won = [[line["column"] for line in of_row if float(line[p]) <= LEVEL] for p in (name, f"{name}_holm")]
            listed = [f"{len(names)}: {', '.join(names)}" if names else "0" for names in won]
            body.append([escape(f"{row} {what}"), *map(escape, listed), len(of_row) or "none: not compared"])
    ids = ("ood-significant-all-baselines", "ood-significant-own-base", "ood-better", "ood-random")
    text = "## Figure 3: out of domain\n\nIts cells are printed in a picture only: no differences.\n\n"
    return (
        text
        + (table(head, body) if body else "No adapter was judged on a dataset it never saw.\n")
        + claims.claims_list(paper, ids)
    )


def _languages(lines: list[Line], paper: Claims) -> str:
    counted = [line for line in lines if line["shown"] == "True"]
    text, printed = "## Figure 10: languages\n\n", paper["language-spread"]["printed"]
    if not counted:
        return text + "No language has enough rows.\n" + claims.claims_list(paper, ("language-spread",))
    body = []
    for row in dict.fromkeys(line["row"] for line in counted):
        of_row = [line for line in counted if line["row"] == row]
        spread = of_row[0]["spread"]
        listed = ", ".join(f"{line['language']} {line['scaled_accuracy']} (n = {line['n']})" for line in of_row)
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
        accuracy = numbers["accuracy"]
        lines.append(
            {
                "model": trained["model"],
                **{key: trained["settings"][key] for key in ("rank", "alpha", "learning_rate", "epochs")},
                "steps": trained["steps"],
                "final_loss": round(trained["final_loss"], 4),
                "scaled_accuracy": round(accuracy["scaled"], 4),
                "low": round(accuracy["low"], 4),
                "high": round(accuracy["high"], 4),
                "n": numbers["n"],
                "failures": accuracy["failures"],
                "tie_calibrated_accuracy": numbers["correlation"]["score"]["tie_calibrated"],
                "cell": str(cell),
            }
        )
    tables.write_lines(numbers_path, RECIPE_COLUMNS, lines)
