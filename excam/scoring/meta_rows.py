"""What `excam meta` reads: labelled rows, and the columns of scores of metrics."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from excam.core.exceptions import InputInvalid
from excam.core.provenance import say
from excam.core.row_files import rows
from excam.core.text import plain_name, respelled
from excam.scoring import result_files
from excam.scoring.compare import results_by_id, shared_signature
from excam.scoring.defaults import STAND_IN_INSTRUCTION
from excam.scoring.joining import distinct, join, plain_id, same_text
from excam.scoring.metric import Direction
from excam.scoring.results import Result, is_result
from excam.scoring.rows import id_columns, is_absent, is_missing, text_of

FACETS = ("language", "system")  # columns that need no option, and labels of scored rows
SAID = (*FACETS, "instruction", "output", "verdict")  # what scored rows say of themselves
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.ASCII | re.IGNORECASE)
WORDS = {"true": 1.0, "yes": 1.0, "false": 0.0, "no": 0.0}
MISSING = ("", "n/a", "na", "nan", "null", "none")  # in place of a label
UNSCORED = "unscored"  # in place of the score of a row that a metric's file lacks
RATERS = {"annotator", "rater"}  # columns of labels of several people, whose mean is taken
ERROR = "error"  # the column of truths of `excam calibrate`, in which more is worse
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
    facets: Mapping[str, str] = field(default_factory=dict[str, str])  # its language, its system, ...; "" where unknown

    @property
    def system(self) -> str:
        """Return the system that wrote the text, "" if it is not known."""
        return self.facets.get("system", "")


@dataclass(frozen=True, slots=True)
class LabelledRows:
    """The labelled rows of a file, and how many others there are: without a label, or repeated."""

    rows: list[Gold]
    without_label: int
    spaced: int = 0  # labels with spaces around them
    repeated: int = 0
    scored: Sequence[Result] = ()  # of a scored file, which has labels among the columns of its rows

    @property
    def line(self) -> str:
        """Return which labels there are."""
        values = {row.label for row in self.rows}
        spaced = f", {self.spaced} with spaces around them" if self.spaced else ""
        return f"{len(values)} values from {shortest(min(values))} to {shortest(max(values))}{spaced}"


@dataclass(frozen=True, slots=True)
class Column:
    """The scores of one metric by id, more is better; None for a failure."""

    name: str
    scores: Mapping[str, float | None]
    signature: str = ""  # "" for a baseline
    direction: Direction = "higher"  # of the metric: with "lower", `scores` are its own times -1
    part: str = ""  # the part of the metric's result that `scores` are; "" for its score
    joined: str = ""  # how its ids were joined with those of the labels beside equal ones
    facets: Mapping[str, Mapping[str, str]] = field(default_factory=dict[str, dict[str, str]])  # `SAID`, by id
    repeated: Sequence[float | None] = ()  # scores of the rows that `without_repeated` left out

    @property
    def is_baseline(self) -> bool:
        """Return whether this is a trivial baseline, made of the labelled rows."""
        return not self.signature


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldColumns:
    """The columns of labelled rows; `text` is that of the rated text.

    `facets` has further columns by name, beside those of `FACETS`, which may be absent.
    """

    label: str
    id: str = "id"
    cluster: str | None = None
    group: str | None = None
    text: str | None = None
    item: str | None = None
    facets: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def named(self) -> list[str]:
        """Return the columns that some row must have."""
        return [*filter(None, (self.label, self.cluster, self.group, self.text, self.item)), *self.facets.values()]


def shortest(number: float) -> str:
    """Return the shortest decimal that is this number alone."""
    return repr(float(number)).removesuffix(".0")


def read_gold(path: Path, columns: GoldColumns) -> LabelledRows:
    """Read labelled rows: `id`, a number as the label, and the named columns. Rows without a label are counted.

    A scored file has them among its columns. An id that comes again for another system is that of both together. Of
    numbers that several `RATERS` gave to one id, the mean is taken. More is better, see `convention`.
    Without a cluster, rows with the same instruction share content, or of the same item, or else with the same text. A
    value is missing if it is null, blank or NaN, a label also as N/A. Raises InputInvalid for a row without id, a label
    that is no number, words such as true among numbers, an id that occurs twice, a labelled row without cluster or
    item, one of these or a group that is no name, a named column that no row has, and a file without labels.
    """
    numbered, scored = _labelled_rows(path)
    system = columns.facets.get("system", "system")
    columns = replace(columns, id=_id_column(path, columns.id, system, [row for _, row in numbered]))
    ids = [(str(row.get(columns.id)), _text(row.get(system)) or "") for _, row in numbered]
    is_shared = len(set(ids)) > len({name for name, _ in ids})
    labelled, seen = dict[str, list[Gold]](), set[str]()
    label = columns.label
    without, spaced, lacking, kinds, names = 0, 0, dict[str, str](), dict[bool, str](), dict[str, None]()
    for number, row in numbered:
        where = f"{path}:{number}"
        if is_missing(row.get(columns.id)):
            raise InputInvalid(
                f"{where}: no {columns.id}; expected an object with {columns.id} and {label}; name their columns with "
                "--id and --label"
            )
        seen.update(row)
        if str(row.get(label)).strip().casefold() in MISSING:
            without += 1
            continue
        key = _name(row, columns.id, where)
        key = id_of_system(key, _text(row.get(system)) or "") if is_shared else key
        for name in filter(None, (columns.cluster, columns.item)):
            if is_missing(row.get(name)):
                lacking.setdefault(name, where)
        value, is_word = _label(row.get(label), where, label)
        kinds.setdefault(is_word, where)
        if len(kinds) > 1:
            raise InputInvalid(
                f"{where}: {label} is {row[label]}, not of the kind of {kinds[not is_word]}; expected numbers alone, "
                "or true and false alone"
            )
        spaced += str(row[label]) != str(row[label]).strip()
        made, written = _gold(row, key, value, columns, where)
        names |= dict.fromkeys(written)
        others = labelled.setdefault(key, [])
        is_other = is_word or label == ERROR or not RATERS & row.keys()
        if others and (is_other or replace(others[0], label=value) != made):
            raise InputInvalid(f"{where}: id {key} occurs twice; expected one label for each row")
        others.append(made)
    _refuse_lacking(path, columns, bool(labelled), without, seen, lacking)
    if note := respelled(names):
        say(f"{path}: {note}")
    gold = _means(path, labelled.values())
    return LabelledRows(as_penalties(gold, path, label) if label == ERROR else gold, without, spaced, scored=scored)


def _gold(
    row: Mapping[str, Any], key: str, value: float, columns: GoldColumns, where: str
) -> tuple[Gold, Iterable[str]]:
    """Return a row with its id and label as a labelled one, and the names in it as they are written."""
    instruction, text = _text(row.get("instruction")) or "", _text(row.get(columns.text or TEXT))
    facets = {name: _text(row.get(name)) or "" for name in FACETS}
    facets |= {name: _name(row, column, where) for name, column in columns.facets.items()}
    item, cluster = (_name(row, column, where) if column else "" for column in (columns.item, columns.cluster))
    groups = _names(row, columns.group, where) if columns.group else ()
    return Gold(
        id=key,
        label=value,
        cluster=plain_name(cluster) or same_text(instruction) or plain_name(item) or text or key,
        groups=tuple(map(plain_name, groups)),
        instruction=instruction,
        text=text,
        item=plain_name(item),
        facets={name: plain_name(facet) for name, facet in facets.items()},
    ), (item, cluster, *groups, *facets.values())


def _means(path: Path, labelled: Iterable[Sequence[Gold]]) -> list[Gold]:
    """Return a row for each id, with the mean of the labels that several people gave it; say how many they are."""
    if several := Counter(len(rows_) for rows_ in labelled if len(rows_) > 1):
        counts = ", ".join(f"{ids} ids with {labels} labels each" for labels, ids in sorted(several.items()))
        say(f"{path}: {counts}: the mean is taken")
    return [replace(rows_[0], label=sum(row.label for row in rows_) / len(rows_)) for rows_ in labelled]


def _refuse_lacking(
    path: Path, columns: GoldColumns, is_labelled: bool, without: int, seen: Collection[str], lacking: Mapping[str, str]
) -> None:
    """Raise InputInvalid for no labels, a named column that no row has, and the rows in `lacking` without a value."""
    if not is_labelled and (columns.label in seen or not without):
        what = f"{without} rows, none with a number in {columns.label}" if without else "0 rows"
        raise InputInvalid(f"{path}: {what}; expected rows with id and {columns.label}; name the column with --label")
    for name in columns.named:
        if name not in seen:
            option = "; name that of the labels with --label" if name == columns.label else ""
            raise InputInvalid(f"{path}: no column {name}; found {', '.join(sorted(seen))}{option}")
    for name, where in lacking.items():
        what = "item" if name == columns.item else "cluster"
        raise InputInvalid(f"{where}: no {name}; expected the {what} of every labelled row")


def _labelled_rows(path: Path) -> tuple[list[tuple[int, Mapping[str, Any]]], list[Result]]:
    """Return the numbered rows of a file and, of a scored one, its results, which are rows with what they say."""
    numbered = list(rows(path))  # a pipe can be read once
    if not numbered or not is_result(numbered[0][1]):
        return numbered, []
    scored = with_own_ids([result_files.from_row(row, f"{path}:{number}") for number, row in numbered])
    labelled: list[tuple[int, Mapping[str, Any]]] = []
    for (number, row), result in zip(numbered, scored, strict=True):
        facts = {name: value for name in ("id", *FACETS, "instruction", "output") if (value := getattr(result, name))}
        labelled.append((number, {**row, **result.columns, **result.texts, **facts}))
    return labelled, scored


def id_of_system(name: str, system: str) -> str:
    """Return the id of a row where systems share ids."""
    return f"{plain_id(name)}, {system}"


def with_own_ids(results: Sequence[Result]) -> list[Result]:
    """Return results with ids of their own, where systems share ids."""
    if len({result.id for result in results}) == len({(result.id, result.system) for result in results}):
        return list(results)
    return [replace(result, id=id_of_system(result.id, result.system)) for result in results]


def convention(labels: LabelledRows, label: str) -> str:
    """Return which labels there are in a column, and which of them are better: more, but in the column `error`."""
    if label == ERROR:
        what = "in the column error more is worse: each label is taken as a penalty"
    else:
        what = f"more of {label} is taken as better; marks of errors (1 = wrong) belong in a column error"
    return f"{labels.line}; {what}"


def errors(labels: LabelledRows, path: Path, label: str) -> dict[str, bool]:
    """Return by id whether a row has an error, see `convention`: 0 of 1 and 0 in a column not called `error`.

    Raises InputInvalid as `as_penalties`.
    """
    if label != ERROR and max(row.label for row in labels.rows) == 1 and {row.label for row in labels.rows} <= {0, 1}:
        return {row.id: row.label == 0 for row in labels.rows}
    return {row.id: row.label < 0 for row in as_penalties(labels.rows, path, label)}


def as_penalties(rows: Sequence[Gold], path: Path, label: str) -> list[Gold]:
    """Return rows whose labels say whether there is an error (true, 1, or a score below 0), more is better.

    Raises InputInvalid for any other label, and for 1 beside scores below 0.
    """
    lowest = min((row.label for row in rows), default=0.0)
    if odd := next((row for row in rows if row.label > 0 and (row.label != 1 or lowest < 0)), None):
        raise InputInvalid(
            f"{path}: id {odd.id}: {label} is {odd.label:g}; expected true and false, 1 and 0, or scores of 0 or less "
            "throughout; of a scale, write first which values are errors"
        )
    return [replace(row, label=0.0 - abs(row.label)) for row in rows]


def _id_column(path: Path, name: str, system: str, gold: Sequence[Mapping[str, Any]]) -> str:
    """Return the column of ids: the one of this name, else of `id` the first of `id_columns`; say which."""
    first = gold[0] if gold else {}
    if name == "id" and name not in first and {"row", "annotator"} <= first.keys():  # of `excam annotate export`
        return "row"
    complete = [] if name != "id" or name in first else id_columns(first, gold, system)
    if complete:
        say(f"{path}: read {complete[0]} as id")
    return complete[0] if complete else name


def _name(row: Mapping[str, Any], column: str, where: str) -> str:
    """Return a name, a number or a truth value as text, "" for none. Raises InputInvalid for anything else."""
    value = row.get(column)
    if is_missing(value):
        return ""
    if not isinstance(value, str | int | float):
        raise InputInvalid(f"{where}: {column}: found {type(value).__name__}; expected a name or a number")
    return text_of(value)


def _names(row: Mapping[str, Any], column: str, where: str) -> tuple[str, ...]:
    """Return the groups of a row, none for an empty or a false one."""
    value = row.get(column)
    groups = value if isinstance(value, list) else [value]
    return tuple(_name({column: group}, column, where) for group in groups if group and not is_missing(group))


def _text(value: Any) -> str | None:
    """Return a text, or a number as text; None for anything else, which has no length to compare with."""
    return text_of(value) if isinstance(value, str | int | float) and not is_absent(value) else None


def _label(value: Any, where: str, label: str) -> tuple[float, bool]:
    """Return the number that a label stands for, and whether it is a word such as true."""
    text = str(value).strip().casefold() if isinstance(value, str | bool) else ""
    number = WORDS.get(text)
    if number is None and (not text or NUMBER.fullmatch(text)):
        with suppress(TypeError, ValueError, OverflowError):
            number = float(value)
    if number is None or not np.isfinite(number):
        raise InputInvalid(f"{where}: {label} is {str(value)[:40]}; expected a number or true or false, more is better")
    return number, text in WORDS


def read_metrics(files: Mapping[Path, Sequence[Result]], parts: Iterable[str] = ()) -> list[Column]:
    """Return scored files as columns of scores, more is better: of each its score, then those `parts` that it has.

    A file is called by its name, with its folder where two have one name. Raises InputInvalid for an id that occurs
    twice, several signatures or directions in a file, a file without rows, and a part that no file has.
    """
    columns: list[Column] = []
    for (path, results), name in zip(files.items(), names_of(list(files)), strict=True):
        results = with_own_ids(results)
        whole = _column(path, name, results)
        columns.append(whole)
        for part in parts:
            scores = {result.id: result.part(part) for result in results}
            if any(score is not None for score in scores.values()):
                columns.append(Column(f"{name}: {part}", scores, whole.signature, part=part))
    for part in parts:
        if not any(column.part == part for column in columns):
            raise InputInvalid(f"--part {part}: a number in no scored row; expected a name in `parts` of some file")
    return columns


def names_of(paths: Sequence[Path]) -> list[str]:
    """Return what files are called: by their name, with the folder where two have one name."""
    stems = Counter(path.stem for path in paths)
    names = [path.stem if stems[path.stem] == 1 else f"{path.absolute().parent.name}/{path.stem}" for path in paths]
    several = Counter(names)
    return [name if several[name] == 1 else str(path) for name, path in zip(names, paths, strict=True)]


def given_twice(paths: Sequence[Path]) -> Path | None:
    """Return the first path that leads to the same file as an earlier one; None if all are different."""
    resolved = [path.resolve() for path in paths]
    return next((path for at, path in enumerate(paths) if resolved[at] in resolved[:at]), None)


def aligned(column: Column, gold: Sequence[Gold]) -> Column:
    """Return a column under the ids of the labelled rows, where ids differ in form alone: 1 and 1.0.

    Raises InputInvalid where that is ambiguous: half of the rows would be joined, and the other half not.
    """
    joined = join([row.id for row in gold], column.scores.keys())
    if joined.ambiguous:
        raise InputInvalid(f"{column.name}: {joined.note}; expected the ids of the labelled rows in one form")
    ours = {theirs: name for name, theirs in joined.theirs.items()}
    return replace(
        column,
        scores={ours.get(name, name): score for name, score in column.scores.items()},
        joined=joined.note or column.joined,
        facets={
            facet: {ours.get(name, name): value for name, value in values.items()}
            for facet, values in column.facets.items()
        },
    )


def _column(path: Path, name: str, results: Sequence[Result]) -> Column:
    if not results:
        raise InputInvalid(f"{path}: 0 rows; expected what `excam score --to` wrote")
    by_id, signature = results_by_id(results, str(path)), shared_signature({str(path): results})
    facets = {facet: {row.id: value for row in results if (value := getattr(row, facet))} for facet in SAID}
    scores = {row_id: row.rising_score for row_id, row in by_id.items()}
    return Column(name, scores, signature, results[0].metric.direction, facets=facets)


def read_joined(
    gold: Path, files: Sequence[Path], columns: GoldColumns, parts: Iterable[str], facets: Iterable[str]
) -> tuple[LabelledRows, list[Column]]:
    """Return labels and scores under the same ids, with what only scored rows say, without repeated rows.

    Labels that are in a scored file have its scores first. Raises InputInvalid as `read_gold`, `read_metrics` and
    `aligned`, and for a labelled row without one of the `facets`.
    """
    labels = read_gold(gold, columns)
    results = {gold: labels.scored} if labels.scored else {}
    metrics = read_metrics(results | {file: list(result_files.read(file)) for file in files}, parts)
    metrics = [aligned(column, labels.rows) for column in metrics]
    rows = completed(labels.rows, metrics, is_clustered=bool(columns.cluster or columns.item))
    require_facets(rows, [*facets, *columns.facets])
    return without_repeated(replace(labels, rows=rows), metrics)


def completed(gold: Sequence[Gold], columns: Sequence[Column], *, is_clustered: bool) -> list[Gold]:
    """Return labelled rows with the facets and texts that only scored rows have, from the first column that has any.

    Unless clusters or items are named, rows of one instruction that only the scored rows have share content, or of one
    text. One instruction of all rows groups nothing: rows of one text share content.
    """
    facts = {name: next((column.facets[name] for column in columns if column.facets.get(name)), {}) for name in SAID}
    unknown = [name for name in FACETS if not any(row.facets.get(name) for row in gold)]
    made: list[Gold] = []
    for row in gold:
        facets = {**row.facets, **{name: facts[name].get(row.id, "") for name in unknown}}
        text = row.text or facts["output"].get(row.id, row.text)
        instruction = row.instruction or facts["instruction"].get(row.id, "").replace(STAND_IN_INSTRUCTION, "")
        cluster = row.cluster if is_clustered or row.instruction else same_text(instruction) or text or row.cluster
        made.append(replace(row, facets=facets, text=text, instruction=instruction, cluster=cluster))
    is_one = not is_clustered and len({row.cluster for row in made}) == 1 and all(row.instruction for row in made)
    return [replace(row, cluster=row.text or row.id) for row in made] if is_one else made


def without_repeated(labels: LabelledRows, columns: Sequence[Column]) -> tuple[LabelledRows, list[Column]]:
    """Return the labelled rows and scores without those that repeat another row, its label and scores, under a new id.

    Rows without a text stay, see `joining.distinct`.
    """
    contents: list[Hashable] = []
    for row in labels.rows:
        scores = tuple(column.scores.get(row.id, UNSCORED) for column in columns)
        facets = tuple(sorted(row.facets.items()))
        content = (row.text, row.instruction, row.label, row.cluster, row.groups, row.item, facets, scores)
        contents.append(content if row.text else ())
    rows = [labels.rows[at] for at in distinct([row.id for row in labels.rows], contents)]
    dropped = {row.id for row in labels.rows}.difference(row.id for row in rows)
    scores_left = [{name: score for name, score in column.scores.items() if name not in dropped} for column in columns]
    gone = [[score for name, score in column.scores.items() if name in dropped] for column in columns]
    left = [
        replace(column, scores=scores, repeated=out)
        for column, scores, out in zip(columns, scores_left, gone, strict=True)
    ]
    return replace(labels, rows=rows, repeated=len(dropped)), left


def require_facets(gold: Sequence[Gold], names: Iterable[str]) -> None:
    """Raise InputInvalid if a labelled row lacks one of these facets."""
    for name in names:
        if lacking := [row.id for row in gold if not row.facets.get(name, "").strip()]:
            raise InputInvalid(
                f"{len(lacking)} of {len(gold)} labelled rows without {name}, e.g. id {lacking[0]}; expected one "
                "for each, in a column of the labels, or in the scored rows"
            )
