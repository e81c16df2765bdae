"""Pairs, caps, splits and mixtures: which rows of ExCAM40k go where (ExCAM §4, Table 2).

Only complete pairs are kept, one original and one corrupted row each, so every part is balanced. Every choice is an
order by `digest(seed, ...)`: the order of the input rows, and other datasets, change nothing.
"""

from __future__ import annotations

import heapq
from collections import Counter, defaultdict
from collections.abc import Collection, Container, Iterable, Mapping, Sequence
from dataclasses import replace
from math import isclose
from typing import TypeVar

from excam.core.exceptions import ConfigInvalid, InputInvalid
from excam.core.hash_order import digest
from excam.core.licences import is_permissive
from excam.error_reports.records import Sample

Pair = tuple[Sample, Sample]  # right, wrong
Part = TypeVar("Part", bound=str)


def assign(groups: Iterable[tuple[str, str]], shares: Mapping[Part, float], seed: int) -> dict[str, Part]:
    """Assign every group to one split, e.g. 70/10/20 of one dataset.

    `groups` holds (group, stratum) once per row: the weight of a group is its number of rows, and its stratum is its
    most frequent one. Walking through the strata, each in an order by hash, the next group goes to the split that is
    furthest below its share. So all strata are divided alike and, if groups have one size, a split differs from its
    share by at most a group. Raises ConfigInvalid if the shares are not positive or do not sum to 1.
    """
    if not shares or min(shares.values()) <= 0 or not isclose(sum(shares.values()), 1, abs_tol=1e-9):
        raise ConfigInvalid(f"splits: shares {dict(shares)}; expected positive shares that sum to 1")
    strata: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for group, stratum in groups:
        strata[group][stratum] += 1
    home = {group: min(rows, key=lambda stratum: (-rows[stratum], stratum)) for group, rows in strata.items()}
    walk = sorted(home, key=lambda group: (digest(seed, "stratum", home[group]), digest(seed, "split", group)))
    placed = dict.fromkeys(shares, 0)
    passed, assigned = 0, {}
    for group in walk:
        weight = strata[group].total()
        passed += weight
        split = max(sorted(shares), key=lambda split: shares[split] * passed - placed[split])  # in no order of the keys
        placed[split] += weight
        assigned[group] = split
    return assigned


def without_pairs(samples: Iterable[Sample], left_out: Collection[str]) -> list[Sample]:
    """Return the rows that are of none of these pairs, in order."""
    names = frozenset(left_out)
    return [sample for sample in samples if sample.pair not in names]


def pair_up(right: Sequence[Sample], wrong: Sequence[Sample]) -> tuple[list[Sample], Counter[str]]:
    """Return complete pairs in the order of `right`, each original before its corrupted row; count other rows by
    reason. A corrupted row may be of a larger group (`soft.in_joined_groups`), or be made of a shorter answer
    (`norms.verdict_alone`): both rows of its pair are.
    """
    left_out = Counter[str]()
    unpaired: dict[str, Sample] = {}
    for sample in wrong:
        if not sample.report.errors:
            left_out["wrong-without-errors"] += 1
        elif sample.pair in unpaired:
            left_out["duplicate-wrong"] += 1
        else:
            unpaired[sample.pair] = sample
    pairs: dict[str, Pair] = {}
    for sample in right:
        if sample.report.errors:
            left_out["right-with-errors"] += 1
        elif sample.pair in pairs:
            left_out["duplicate-right"] += 1
        elif sample.pair not in unpaired:
            left_out["right-without-wrong"] += 1
        elif unpaired[sample.pair].templates != sample.templates:
            left_out["templates-differ"] += 2
            del unpaired[sample.pair]
        else:
            wrong_one = unpaired[sample.pair]
            pairs[sample.pair] = (_like(sample, wrong_one), wrong_one)
    left_out["wrong-without-right"] += len(unpaired.keys() - pairs.keys())
    return [sample for pair in pairs.values() for sample in pair], +left_out


def _like(right: Sample, wrong: Sample) -> Sample:
    if right.answer == wrong.answer:
        return replace(right, group=wrong.group)
    output = right.output.removesuffix(right.answer) + wrong.answer
    return replace(right, group=wrong.group, answer=wrong.answer, output=output)


def cap(samples: Sequence[Sample], limit: int, seed: int) -> list[Sample]:
    """Return at most `limit` rows: strata as equal as possible, base samples complete, by hash within a stratum.

    If the last base sample does not fit completely, single pairs fill the room. The rows have the order of the hash of
    their base sample. Raises InputInvalid for a row without the other row of its pair.
    """
    pairs = _pairs(samples)
    of_base: defaultdict[str, list[str]] = defaultdict(list)
    for name, (right, _) in pairs.items():
        of_base[right.base].append(name)
    units = [(base, pairs[names[0]][0].stratum, 2 * len(names)) for base, names in of_base.items()]
    whole = draw(units, limit, seed)
    kept = {name for base in whole for name in of_base[base]}
    others = [(name, right.stratum, 2) for name, (right, _) in pairs.items() if name not in kept]
    kept.update(draw(others, limit - 2 * len(kept), seed))
    return _rows_of(pairs, kept, seed)


def balanced_subset(samples: Sequence[Sample], rows: int, seed: int) -> list[Sample]:
    """Return `rows` / 2 complete pairs, e.g. the 100 rows for paid models, or all if there are fewer.

    Strata are as equal as possible; no base sample gives a second pair before every one has given its first. Raises
    ConfigInvalid for an odd number, InputInvalid for a row without the other row of its pair.
    """
    if rows % 2 or rows < 0:
        raise ConfigInvalid(f"balanced subset of {rows} rows; expected an even number: pairs stay together")
    pairs = _pairs(samples)
    firsts: dict[str, str] = {}
    for name in sorted(pairs, key=lambda name: digest(seed, "subset", name)):
        firsts.setdefault(pairs[name][0].base, name)
    kept: set[str] = set()
    for names in (firsts.values(), pairs.keys() - firsts.values()):
        units = [(name, pairs[name][0].stratum, 2) for name in names]
        kept.update(draw(units, rows - 2 * len(kept), seed))
    return _rows_of(pairs, kept, seed)


def cells(samples: Iterable[Sample]) -> dict[str, int]:
    """Count rows by label, as in Table 2: right, wrong by a hard error, wrong by a soft one."""
    count = Counter(sample.origin.partition("-")[0] for sample in samples)
    return {"right": count["source"], "wrong_hard": count["hard"], "wrong_soft": count["soft"]}


def mixture(
    samples_by_dataset: Mapping[str, Sequence[Sample]],
    trained_on: str,
    limit: int | None = None,
    *,
    seed: int,
    leaking: Container[str] = (),
) -> list[Sample]:
    """Return the rows an adapter is trained on, in an order by hash.

    The mixture is "all"; "without-<dataset>"; or "permissive", the rows with a permissive licence. Base samples in
    `leaking` (near-duplicates of rows that another benchmark is judged on) are left out. With `limit`: at most that
    many rows, pairs from the datasets in numbers as equal as possible. Raises ConfigInvalid for an unknown mixture,
    InputInvalid for a row under another dataset's name or without the other row of its pair.
    """
    left_out = trained_on.removeprefix("without-")
    if trained_on not in ("all", "permissive") and (left_out == trained_on or left_out not in samples_by_dataset):
        choices = ", ".join(["all", "permissive", *(f"without-{dataset}" for dataset in sorted(samples_by_dataset))])
        raise ConfigInvalid(f"{trained_on}: no such mixture; known: {choices}")
    rows = [
        _of_dataset(sample, dataset)
        for dataset, samples in samples_by_dataset.items()
        for sample in samples
        if dataset != left_out and sample.base not in leaking
        if trained_on != "permissive" or is_permissive(sample.licence)
    ]
    pairs = _pairs(rows)
    if limit is not None:
        units = [(name, right.dataset, 2) for name, (right, _) in pairs.items()]
        names = draw(units, limit, seed)
        rows = [sample for name in names for sample in pairs[name]]
    return sorted(rows, key=lambda sample: digest(seed, "mixture", sample.id))


def draw(units: Iterable[tuple[str, str, int]], limit: int, seed: int) -> list[str]:
    """Return names of units (name, stratum, rows) with at most `limit` rows in total, strata as equal as possible.

    The stratum with the fewest rows so far gives its next unit by hash; strata without further units leave the rest to
    the others. A unit that is too large for the remaining room is skipped.
    """
    waiting: defaultdict[str, list[tuple[str, str, int]]] = defaultdict(list)
    for name, stratum, rows in units:
        waiting[stratum].append((digest(seed, "draw", name), name, rows))
    for queue in waiting.values():
        queue.sort(reverse=True)
    heap = [(0, digest(seed, "stratum", stratum), stratum) for stratum in waiting]
    heapq.heapify(heap)
    drawn, room = [], limit
    while heap and room > 0:
        rows_so_far, order, stratum = heapq.heappop(heap)
        _, name, rows = waiting[stratum].pop()
        if rows <= room:
            drawn.append(name)
            room -= rows
            rows_so_far += rows
        if waiting[stratum]:
            heapq.heappush(heap, (rows_so_far, order, stratum))
    return drawn


def _pairs(samples: Iterable[Sample]) -> dict[str, Pair]:
    """Return both rows of every pair, the original first. Raises InputInvalid unless there is exactly one of each."""
    rows_of_pair: defaultdict[str, list[Sample]] = defaultdict(list)
    for sample in samples:
        rows_of_pair[sample.pair].append(sample)
    for pair, rows in rows_of_pair.items():
        if sorted(bool(sample.report.errors) for sample in rows) != [False, True]:
            ids = ", ".join(sample.id for sample in rows[:3])
            raise InputInvalid(f"{pair}: {len(rows)} rows ({ids}); expected one right and one wrong; run pair_up first")
    return {pair: _right_first(*rows) for pair, rows in rows_of_pair.items()}


def _right_first(first: Sample, second: Sample) -> Pair:
    return (second, first) if first.report.errors else (first, second)


def _rows_of(pairs: Mapping[str, Pair], names: Iterable[str], seed: int) -> list[Sample]:
    order = sorted(names, key=lambda name: (digest(seed, "rows", pairs[name][0].base), name))
    return [sample for name in order for sample in pairs[name]]


def _of_dataset(sample: Sample, dataset: str) -> Sample:
    """Return the sample. Raise InputInvalid if it belongs to another dataset: a left-out dataset must not enter under
    another name.
    """
    if sample.dataset != dataset:
        raise InputInvalid(
            f"{sample.id}: of {sample.dataset}, found among the rows of {dataset}; expected only its own"
        )
    return sample


def shard_of(pair: str, shards: int) -> int:
    """Return the shard in which a pair is generated: a stable bucket of its id, independent of other pairs."""
    return int(digest(0, "shard", pair), 16) % shards
