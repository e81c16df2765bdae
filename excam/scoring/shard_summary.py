"""The counts of all scored shards: a table with a line for each, and a page with their sums."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from excam.core.exceptions import InputInvalid
from excam.core.provenance import say
from excam.pages import markdown
from excam.scoring.shards import TABLE, Shard

Counts = Mapping[str, Any]
SUMS = ("rows", "scored", "failed", "not_known", "with_errors", "prompt_tokens", "completion_tokens")
COLUMNS = ("shard", *SUMS[:5], "mean_score", "warnings", *SUMS[5:])
SHOWN = 20  # shards on the page


def check_complete(shards: Sequence[Shard], counts: Mapping[str, Counts], scores: Path) -> None:
    """Raise InputInvalid unless every shard has counts and a table; say which tables belong to no shard."""
    absent = [shard.name for shard in shards if shard.name not in counts or not shard.table(scores).is_file()]
    if absent:
        raise InputInvalid(
            f"{scores}: {len(absent)} of {len(shards)} shards have no scores, the first is {absent[0]}; "
            "run again with --forcerun score_shards: only those are scored"
        )
    tables = {shard.table(scores) for shard in shards}
    others = sorted(path for path in scores.rglob(f"shards/**/*{TABLE}") if path not in tables)
    if others:
        say(f"{scores}: {len(others)} tables are of no shard that is there now, the first is {others[0]}; left as is")


def lines(counts: Mapping[str, Counts]) -> list[dict[str, Any]]:
    """Return a line for each shard, by name, with `COLUMNS`."""
    return [_line(name, shard_counts) for name, shard_counts in sorted(counts.items())]


def _line(name: str, counts: Counts) -> dict[str, Any]:
    mean = f"{counts['score_sum'] / counts['scored']:.4f}" if counts["scored"] else ""
    numbers = {key: counts.get(key, 0) for key in SUMS}  # 0: shards scored before rows could be not known
    return {"shard": name, **numbers, "mean_score": mean, "warnings": _total(counts["warnings"])}


def _total(numbers: Mapping[str, int]) -> int:
    return sum(numbers.values())


def page(title: str, counts: Mapping[str, Counts]) -> str:
    """Return a Markdown page: sums, failures and warnings by kind, signatures, and the shards with most failures.

    Shards of several signatures have no mean together.
    """
    sums = {key: sum(shard_counts.get(key, 0) for shard_counts in counts.values()) for key in SUMS}
    score_sum = sum(shard_counts["score_sum"] for shard_counts in counts.values())
    judges = len({shard_counts["signature"] for shard_counts in counts.values()} - {""})
    mean = f"{score_sum / sums['scored']:.4f} (n = {sums['scored']})" if sums["scored"] and judges == 1 else "none"
    facts = [("shards", len(counts)), *((key.replace("_", " "), number) for key, number in sums.items())]
    worst = sorted(lines(counts), key=lambda line: -line["failed"])[:SHOWN]
    parts = [
        f"# {markdown.escape(title)}\n\n",
        markdown.table(("", ""), [*facts, ("mean score", mean)]),
        _kinds("Failures", (shard_counts["failures"] for shard_counts in counts.values())),
        _kinds("Warnings", (shard_counts["warnings"] for shard_counts in counts.values())),
        _kinds("Signatures", ({shard_counts["signature"]: shard_counts["rows"]} for shard_counts in counts.values())),
        f"\n## Shards with most failures ({len(worst)} of {len(counts)})\n\n",
        markdown.table([key.replace("_", " ") for key in COLUMNS], [_cells(line) for line in worst]),
        "\nEach shard is a table below `shards/`; `excam report TABLE --to PAGE.html` shows its rows.\n",
    ]
    return "".join(parts)


def _kinds(head: str, counts: Iterable[Mapping[str, int]]) -> str:
    number: Counter[str] = Counter()
    for shard_counts in counts:
        number.update(shard_counts)
    if not number:
        return ""
    rows = [(markdown.escape(name), count) for name, count in sorted(number.items(), key=lambda kind: -kind[1])]
    return f"\n## {head}\n\n" + markdown.table((head.lower()[:-1], "rows"), rows)


def _cells(line: Mapping[str, Any]) -> list[str]:
    return [markdown.escape(str(line[key])) for key in COLUMNS]
