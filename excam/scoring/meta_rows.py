"""What `excam meta` reads: labelled rows, the columns of scores of metrics, and baselines that judge nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from excam.core.exceptions import InputInvalid
from excam.scoring import pairs, scored_file
from excam.scoring.scored import Direction, Scored, part_value, rising_score

CONSTANT = "(constant)"  # a baseline that orders nothing
TEXT = "output"  # the column of rated texts, if none is named


@dataclass(frozen=True, slots=True)
class Gold:
    """One labelled row. Rows with the same `cluster` share content: they are resampled and swapped together."""

    id: str
    label: float  # more is better
    cluster: str
    groups: tuple[str, ...]  # of the column of groups; several where it has a list
    instruction: str
    text: str | None  # what was rated, for baselines
    item: str = ""  # what systems answered, where only pairs within an item are counted


@dataclass(frozen=True, slots=True)
class Labels:
    """The labelled rows of a file, and how many of its rows have no label."""

    rows: list[Gold]
    without_label: int


@dataclass(frozen=True, slots=True)
class Column:
    """The scores of one metric by id, more is better; None for a failure."""

    name: str
    scores: Mapping[str, float | None]
    signature: str = ""  # "" for a baseline
    direction: Direction = "higher"  # of the metric: with "lower", `scores` are its own times -1
    part: str = ""  # the part of the metric's result that `scores` are; "" for its score


def read_gold(
    path: Path,
    label: str,
    *,
    cluster: str | None = None,
    group: str | None = None,
    text: str | None = None,
    item: str | None = None,
) -> Labels:
    """Read labelled rows: `id`, a number in column `label`, and the named columns. Rows without a label are counted.

    Without `cluster`, rows with the same instruction share content. Raises InputInvalid for a row without id, a label
    that is no number, an id that occurs twice, a named column that no row has, and a file without labels.
    """
    found: dict[str, Gold] = {}
    seen: set[str] = set()
    without = 0
    for number, row in pairs.rows(path):
        where = f"{path}:{number}"
        if not isinstance(row, Mapping) or row.get("id") in (None, ""):
            raise InputInvalid(f"{where}: no id; expected an object with id and {label}")
        seen.update(row)
        if row.get(label) in (None, ""):
            without += 1
            continue
        key = str(row["id"])
        if key in found:
            raise InputInvalid(f"{where}: id {key} occurs twice; expected one label for each row")
        if item and row.get(item) in (None, ""):
            raise InputInvalid(f"{where}: no {item}; expected the item of every labelled row")
        value = row.get(text or TEXT)
        instruction = str(row.get("instruction") or "")
        found[key] = Gold(
            id=key,
            label=_number(row.get(label), where, label),
            cluster=str(row.get(cluster)) if cluster else instruction or key,
            groups=_names(row.get(group)) if group else (),
            instruction=instruction,
            text=None if value is None else str(value),
            item=str(row.get(item)) if item else "",
        )
    if not found and (label in seen or not without):
        what = f"{without} rows, none with a number in {label}" if without else "0 rows"
        raise InputInvalid(f"{path}: {what}; expected rows with id and {label}; name the column with --label")
    for name in filter(None, (label, cluster, group, text, item)):
        if name not in seen:
            raise InputInvalid(f"{path}: no column {name}; found {', '.join(sorted(seen))}")
    return Labels(list(found.values()), without)


def _names(value: Any) -> tuple[str, ...]:
    found = value if isinstance(value, list) else [value]
    return tuple(str(one) for one in found if one)


def _number(value: Any, where: str, label: str) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        words = {"true": 1.0, "false": 0.0}
        number = words.get(str(value).strip().casefold(), float("nan"))
    if not np.isfinite(number):
        raise InputInvalid(f"{where}: {label} is {str(value)[:40]}; expected a number or true or false, more is better")
    return number


def read_metrics(paths: Sequence[Path], parts: Iterable[str] = ()) -> list[Column]:
    """Read scored files as columns of scores, more is better: of each file its score, then those `parts` that it has.

    A file is called by its name, with its folder where two have one name. Raises InputInvalid for an id that occurs
    twice, several signatures or directions in a file, a file without rows, and a part that no file has.
    """
    found: list[Column] = []
    for path, name in zip(paths, _names_of(paths), strict=True):
        rows = list(scored_file.read(path))
        whole = _column(path, name, rows)
        found.append(whole)
        for part in parts:
            scores = {row.id: part_value(row, part) for row in rows}
            if any(score is not None for score in scores.values()):
                found.append(Column(f"{name}: {part}", scores, whole.signature, part=part))
    for part in parts:
        if not any(one.part == part for one in found):
            raise InputInvalid(f"--part {part}: a number in no scored row; expected a name in `parts` of some file")
    return found


def _names_of(paths: Sequence[Path]) -> list[str]:
    stems = Counter(path.stem for path in paths)
    names = [path.stem if stems[path.stem] == 1 else f"{path.absolute().parent.name}/{path.stem}" for path in paths]
    several = Counter(names)
    return [name if several[name] == 1 else str(path) for name, path in zip(names, paths, strict=True)]


def _column(path: Path, name: str, rows: Iterable[Scored]) -> Column:
    scores: dict[str, float | None] = {}
    signatures: dict[str, None] = {}
    directions: dict[Direction, None] = {}
    for one in rows:
        if one.id in scores:
            raise InputInvalid(f"{path}: id {one.id} occurs twice; expected unique ids, which join the rows")
        signatures[one.signature], directions[one.better] = None, None
        scores[one.id] = rising_score(one)
    if not scores:
        raise InputInvalid(f"{path}: 0 rows; expected what `excam score --to` wrote")
    for what, several in (("signatures", signatures), ("directions", directions)):
        if len(several) > 1:
            raise InputInvalid(f"{path}: {len(several)} {what}: {', '.join(several)}; expected one metric in a file")
    return Column(name, scores, next(iter(signatures)), next(iter(directions)))


def baselines(gold: Sequence[Gold], further: Mapping[str, Callable[[Gold], float]]) -> list[Column]:
    """Return columns that judge nothing: a constant and, of the rated texts, the length and what `further` says.

    If a row lacks the rated text there is only the constant.
    """
    constant = Column(CONSTANT, {row.id: 0.0 for row in gold})
    if any(row.text is None for row in gold):
        return [constant]
    of_text: Mapping[str, Callable[[Gold], float]] = {"(length)": lambda row: len(row.text or ""), **further}
    return [constant, *(Column(name, {row.id: float(of(row)) for row in gold}) for name, of in of_text.items())]
