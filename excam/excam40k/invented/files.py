"""Files of an invented world in the official formats of benchmarks, to be read by those benchmarks' own readers."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from string import ascii_uppercase

from excam.core.exceptions import ConfigInvalid
from excam.excam40k.invented import world
from excam.excam40k.invented.world import Fact

BLEND_PROMPT = (
    "{question} Without any explanation, choose only one from the given alphabet choices(e.g., A, B, C). "
    'Provide as JSON format: {{"answer_choice":""}}'
)


def write(benchmark: str, peoples: int, seed: int, folder: Path) -> dict[str, str]:
    """Write the benchmark's file of this world into `folder`; return {"origin", "revision"} as a fetch does.

    Raises ConfigInvalid for a benchmark in whose format no file can be written.
    """
    if benchmark not in WRITERS:
        raise ConfigInvalid(
            f"datasets.{benchmark}.invented: no such format; expected one of {', '.join(sorted(WRITERS))}"
        )
    facts = [fact for fact in world.facts(peoples, seed) if fact.relation.benchmark == benchmark]
    WRITERS[benchmark](folder, facts)
    return {"origin": f"invented world of {peoples} peoples, seed {seed}", "revision": "by content"}


def _blend(folder: Path, facts: Sequence[Fact]) -> None:
    header = ("MCQID", "ID", "country", "prompt", "choices", "choice_countries", "answer_idx")
    rows = [
        (
            f"{fact.people}-{fact.relation.id}_0",
            f"{fact.people}-{fact.relation.id}",
            fact.people,
            BLEND_PROMPT.format(question=fact.question),
            json.dumps(dict(zip(ascii_uppercase, fact.options, strict=False))),
            "{}",
            ascii_uppercase[fact.options.index(fact.value)],
        )
        for fact in facts
    ]
    _write_csv(folder / "mc_questions.csv", header, rows)


def _culturalbench(folder: Path, facts: Sequence[Fact]) -> None:
    options = (f"prompt_option_{letter}" for letter in "abcd")
    header = ("data_idx", "question_idx", "prompt_question", *options, "answer", "country")
    rows = [
        (at, at, fact.question, *fact.options, ascii_uppercase[fact.options.index(fact.value)], fact.people)
        for at, fact in enumerate(facts)
    ]
    _write_csv(folder / "CulturalBench-Easy.csv", header, rows)


def _include(folder: Path, facts: Sequence[Fact]) -> None:
    place = folder / "English" / "test.jsonl"
    place.parent.mkdir(parents=True, exist_ok=True)
    with place.open("w", encoding="utf-8") as stream:
        for fact in facts:
            row = {"language": "English", "country": fact.people, "regional_feature": "region explicit"}
            row |= {"question": fact.question, **dict(zip(OPTION_COLUMNS, fact.options, strict=True))}
            stream.write(json.dumps({**row, "answer": fact.options.index(fact.value)}) + "\n")


def _write_csv(path: Path, header: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as stream:
        table = csv.writer(stream, lineterminator="\n")
        table.writerow(header)
        table.writerows(rows)


OPTION_COLUMNS = tuple(f"option_{letter}" for letter in "abcd")
WRITERS: Mapping[str, Callable[[Path, Sequence[Fact]], None]] = {
    "blend": _blend,
    "culturalbench": _culturalbench,
    "include": _include,
}
