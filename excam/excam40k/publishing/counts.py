"""Table 2: rows by dataset, split and label, beside the numbers reported in the paper."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from excam.core.splits import SPLITS
from excam.excam40k.publishing.about import title
from excam.excam40k.publishing.parts import HEAD, LABELS
from excam.pages.markdown import escape, table

Line = dict[str, Any]

CELLS = tuple(f"{split}_{label}" for split in SPLITS for label in LABELS)
BESIDE = tuple(f"{column}_{what}" for column in (*SPLITS, "rows") for what in ("paper", "difference"))
OWN = (*SPLITS, "rows", *LABELS, "beyond_cap", "too_long", "without_twin", *CELLS)
COLUMNS = ("dataset", *OWN, *BESIDE)
CLAIM_COLUMNS = ("claim", "printed", "paper", "ours", "difference", "source", "contradiction")
_LABEL_OF = {"rows-hard": "wrong_hard", "rows-soft": "wrong_soft", "rows-clean": "right"}

CONTRADICTION = """The paper's own numbers do not agree, so they are compared with and not aimed at. Its Table 2 adds
up to 37.6k rows; its text (§4) names 12.2k hard errors, 8.3k soft errors and 18.8k rows without error, which is
39.3k. With one right row for every wrong one (Appendix E) there would be 20.5k right rows and 41.0k in all. The
datasets with soft errors have 12.7k rows in Table 2; with 8.3k errors, 65 % of them would be wrong, though the text
calls the data balanced. Here every wrong row has exactly one right row that it was made from: each dataset and each
split is half right, half wrong. Table 2 is rounded to hundreds, so a difference below 50 says nothing."""

LEFT_OUT = """Training pairs that are too long for a base model that is trained, found before errors are made and left
out for all of them; pairs whose wrong version could not be made; rows beyond the cap."""


def dataset_counts(dataset: str, counts: Mapping[str, Any]) -> Line:
    """Return our numbers of one dataset, from its counts.json."""
    cells = {f"{split}_{label}": counts["cells"][split][label] for split in SPLITS for label in LABELS}
    splits = {split: sum(cells[f"{split}_{label}"] for label in LABELS) for split in SPLITS}
    labels = {label: sum(cells[f"{split}_{label}"] for split in SPLITS) for label in LABELS}
    too_long = counts["dropped"].get("too-long", 0)
    without_twin = sum(counts["dropped"].values()) - too_long
    lost = {"beyond_cap": counts["beyond_cap"], "too_long": too_long, "without_twin": without_twin}
    return {"dataset": dataset, **splits, "rows": sum(splits.values()), **labels, **lost, **cells}


def with_reported_numbers(lines: Sequence[Line], printed: Sequence[Mapping[str, str]]) -> list[Line]:
    """Return our lines with the paper's numbers of the same dataset, "" if there are none, and a line with the sums.

    The paper's numbers in the last line are sums of the lines above, so that both sums cover the same datasets.
    """
    paper = {row["dataset"]: {split: int(row[split]) for split in SPLITS} for row in printed}
    total = {"dataset": "all", **{column: sum(line[column] for line in lines) for column in OWN}}
    known = [paper[line["dataset"]] for line in lines if line["dataset"] in paper]
    paper["all"] = {split: sum(row[split] for row in known) for split in SPLITS} if len(known) == len(lines) else {}
    return [{**entry, **_with_differences(entry, paper.get(entry["dataset"], {}))} for entry in [*lines, total]]


def _with_differences(line: Line, paper: Mapping[str, int]) -> Line:
    values = {**paper, "rows": sum(paper.values())} if paper else {}
    cells: Line = dict.fromkeys(BESIDE, "")
    for column, value in values.items():
        cells |= {f"{column}_paper": value, f"{column}_difference": line[column] - value}
    return cells


def claims(total: Line, printed: Sequence[Mapping[str, str]]) -> list[Line]:
    """Return the claims of the paper's text about the data set, beside our numbers, from paper/claims.csv."""
    lines = []
    for row in printed:
        if label := _LABEL_OF.get(row["id"]):
            paper = round(float(row["printed"].removesuffix("k")) * 1000)
            details = {column: row[column] for column in ("printed", "source", "contradiction")}
            ours = total[label]
            lines.append({"claim": row["what"], "paper": paper, "ours": ours, "difference": ours - paper, **details})
    return lines


def page(lines: Sequence[Line], stated: Sequence[Line]) -> str:
    """Return Table 2 for a reader."""
    rows = [[_name(line), *(_ours_and_paper(line, column) for column in (*SPLITS, "rows"))] for line in lines]
    kinds = [[_name(line), *(line[column] for column in CELLS)] for line in lines]
    lost = [[_name(line), line["too_long"], line["without_twin"], line["beyond_cap"]] for line in lines]
    text = [[escape(c["claim"]), c["ours"], f"{c['paper']} ({c['difference']:+})", escape(c["source"])] for c in stated]
    return "\n".join(
        [
            "# Table 2: rows\n\nOurs, then the paper's and how far ours is from it.\n",
            table(["dataset", *SPLITS, "rows"], rows),
            "## By label\n\nRight rows, and wrong ones by a hard or a soft error.\n",
            table(["dataset", *HEAD], kinds),
            f"## Left out\n\n{LEFT_OUT}\n",
            table(["dataset", "too long", "no wrong version", "beyond the cap"], lost),
            "## What the text says of the whole\n",
            table(["rows", "ours", "paper", "where"], text),
            f"## The paper contradicts itself\n\n{CONTRADICTION}\n",
        ]
    )


def _name(line: Line) -> str:
    return "**all**" if line["dataset"] == "all" else title(line["dataset"])


def _ours_and_paper(line: Line, column: str) -> str:
    paper = line[f"{column}_paper"]
    return f"{line[column]} / –" if paper == "" else f"{line[column]} / {paper} ({line[f'{column}_difference']:+})"
