"""Reading and drawing by a plain loop: one dictionary per row, one base sample per row, then the draw.

    python -m bench.plain mango FOLDER --way plain --limit 1562 --seed 20260401

`--way loader` does the same through `excam.datasets`. Prints CPU and wall seconds, memory and the drawn ids' digest.
"""

from __future__ import annotations

import argparse
import ast
import csv
import hashlib
import io
import json
import math
import re
import resource
import time
import zipfile
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from excam.datasets._cells import country_name, digest
from excam.records import BaseSample

NON_ANSWER = re.compile(
    r"(dk\b|don.?t know|no answer|no response|refused|missing|other missing|not asked|not applicable|"
    r"not available|unknown|can.?t say|cannot say|can.?t choose)",
    re.I,
)
CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f]")
UNOFFERED = re.compile(r"\((vol\.?|do not read)\)|\[(vol\.?|do not read)\]", re.I)


def clean(value: str) -> str:
    return CONTROLS.sub(" ", value.replace("\r\n", "\n")).strip()


def text(row: Mapping[str, Any], column: str) -> str:
    value = row.get(column)
    return "" if value is None else clean(str(value))


def identifier(dataset: str, part: str) -> str:
    safe = re.sub(r"[^A-Za-z0-9_.:-]", "-", part)
    return f"{dataset}/{safe}" if safe == part else f"{dataset}/{safe[:60]}.{digest(part)}"


def others(options: Iterable[str], answer: str) -> tuple[str, ...]:
    seen = {_wording(answer)}
    return tuple(o for o in options if o and not (_wording(o) in seen or seen.add(_wording(o))))


def _wording(option: str) -> str:
    return " ".join(option.casefold().split()).rstrip(".")


def mango(folder: Path) -> Iterator[BaseSample]:
    path = folder / "mango_dataset_v1.jsonl.zip"
    with zipfile.ZipFile(path) as archive, archive.open("mango_dataset_v1.jsonl") as stream:
        for line in io.TextIOWrapper(stream, encoding="utf-8"):
            yield _assertion(json.loads(line))


def _assertion(row: Mapping[str, Any]) -> BaseSample:
    concept, culture = text(row, "concept"), text(row, "culture")
    return BaseSample(
        id=identifier("mango", text(row, "id")),
        dataset="mango",
        task="generation",
        question=f"{concept} in {culture} culture",
        answer=text(row, "assertion"),
        language="English",
        culture=culture,
        stratum=culture,
    )


def globalopinionqa(folder: Path) -> Iterator[BaseSample]:
    seen = set()
    with (folder / "data" / "global_opinions.csv").open(encoding="utf-8", newline="") as stream:
        for row in csv.DictReader(stream):
            question, written = text(row, "question"), text(row, "selections")
            options = ast.literal_eval(text(row, "options"))
            shares = ast.literal_eval(written[written.find("{") : written.rfind("}") + 1])
            for label in shares if question else ():
                sample = _opinion(question, label, [clean(option) for option in options], shares[label])
                if sample and sample.id not in seen:
                    seen.add(sample.id)
                    yield sample


def _opinion(question: str, label: str, options: Sequence[str], shares: Sequence[float]) -> BaseSample | None:
    if re.search(r"\((non|old)[- ]national", label, re.I):
        return None
    place = max(range(len(options)), key=shares.__getitem__)
    answer = options[place]
    if sum(math.isclose(share, shares[place], abs_tol=1e-9) for share in shares) > 1 or NON_ANSWER.match(answer):
        return None
    wrong = others((o for o in options if not (NON_ANSWER.match(o) or UNOFFERED.search(o))), answer)
    if not wrong:
        return None
    country = country_name(re.sub(r"\s*\(.*\)$", "", label))
    return BaseSample(
        id=identifier("globalopinionqa", digest(question, *options, country)),
        dataset="globalopinionqa",
        task="impersonation",
        question=question,
        answer=answer,
        language="English",
        culture=country,
        stratum=country,
        options=tuple(options),
        wrong=wrong,
        role=f"Location (country): {country}",
        context="You are acting as a person from this country.",
        group=digest(question),
    )


def drawn(samples: Iterator[BaseSample], limit: int, seed: int) -> list[BaseSample]:
    """In rounds, one of every stratum that has one left, until there are enough."""
    strata: defaultdict[str, list[BaseSample]] = defaultdict(list)
    for sample in samples:
        strata[sample.stratum].append(sample)
    order = sorted(strata, key=lambda name: (digest(str(seed), name), name))
    for members in strata.values():
        members.sort(key=lambda sample: (digest(str(seed), sample.id), sample.id))
    found: list[BaseSample] = []
    level = 0
    while len(found) < limit and any(len(members) > level for members in strata.values()):
        found += [strata[name][level] for name in order if len(strata[name]) > level][: limit - len(found)]
        level += 1
    return sorted(found, key=lambda sample: sample.id)


def _by_loader(name: str, folder: Path, limit: int, seed: int) -> list[BaseSample]:
    from excam import datasets
    from excam.datasets.base import stratified

    return stratified(datasets.load(name).read(folder), limit, seed, allocation="equal")


READERS: Mapping[str, Callable[[Path], Iterator[BaseSample]]] = {"mango": mango, "globalopinionqa": globalopinionqa}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dataset", choices=list(READERS))
    parser.add_argument("folder", type=Path)
    parser.add_argument("--way", choices=["plain", "loader"], default="plain")
    parser.add_argument("--limit", type=int, required=True)
    parser.add_argument("--seed", type=int, required=True)
    args = parser.parse_args()
    csv.field_size_limit(2**31 - 1)
    cpu, wall = time.process_time(), time.perf_counter()
    if args.way == "plain":
        bases = drawn(READERS[args.dataset](args.folder), args.limit, args.seed)
    else:
        bases = _by_loader(args.dataset, args.folder, args.limit, args.seed)
    result = {
        "cpu": time.process_time() - cpu,
        "wall": time.perf_counter() - wall,
        "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "drawn": len(bases),
        "ids": hashlib.sha256("\n".join(base.id for base in bases).encode()).hexdigest()[:16],
    }
    print(json.dumps(result))


if __name__ == "__main__":
    main()
