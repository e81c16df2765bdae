"""Draw scaled accuracy against how often a base model was told the fact, from the numbers of `table_taught`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated

from excam.core import tables
from excam.core.exceptions import InputInvalid
from excam.error_reports.evaluation import known_facts
from excam.excam40k.invented.blind_judges import JUDGES
from excam.pages import plotting
from excam.pages.plotting import Steps
from scripts import run, step

VERSION = 2
PAGE = {
    "result": "results/paper/figure-taught",
    "outputs": ["pictures"],
    "category": "Results",
    "target": "paper",
    "inputs": {"numbers": "taught_numbers"},
    "settings": {"shown": "shown_trained"},
}
TITLE = "Verdicts on facts by how often the base model was told them"
WORDS = {  # of readings
    "verdict": "its own verdict",
    "comparison": "the answer it states, compared",
    "likelihood": "likelihood, no adapter",
    "frequency": "frequency (of whomever)",
}


@step
def main(
    numbers_path: Annotated[Path, "taught.csv"],
    shown: Annotated[Sequence[str], "models whose adapters, trained on all, are drawn"],
    pictures_paths: Sequence[Path],
) -> None:
    draw(tables.read_lines(numbers_path), shown, pictures_paths)


def draw(lines: Sequence[Mapping[str, str]], shown: Sequence[str], pictures: Sequence[Path]) -> None:
    """Draw the adapters `MODEL/all` of these models, their bases, and the judges that need no model beside the first.

    Of several worlds all together are drawn. Raises InputInvalid if there are no numbers of the first of these models.
    """
    worlds = {line["world"] for line in lines}
    world = known_facts.ALL if known_facts.ALL in worlds else min(worlds, default="")
    drawn = [line for line in lines if line["world"] == world and line["judged"] == known_facts.ALL]
    systems = [f"{model}/all" for model in shown]
    own = [line["base"] for name in systems for line in drawn if line["system"] == name]
    bases = list(dict.fromkeys([*own, *(line["base"] for line in drawn if line["base"])]))
    if not own:
        raise InputInvalid(f"no numbers of {systems[0]} on all test sets; expected lines of `table_taught` with it")
    times = sorted({int(line["times"]) for line in drawn})
    figure = plotting.steps(
        dict(_series(drawn, systems, bases, times)),
        ticks=[str(told) for told in times],
        title=TITLE,
        across="times that the corpus told the fact, as a statement and as a question each",
        up="scaled accuracy",
        note="95 % intervals over facts; 0 is chance, and a constant; an unreadable answer counts as wrong. No fact is "
        "in a report that an adapter learned from. Grey: judges without a model. Elimination, popularity, neighbours "
        "know what the corpus tells of other peoples, and nothing of the one asked about; frequency counts tellings of "
        "any people, the one asked about among them, without knowing of whom. "
        f"Facts by times: {_counts(drawn, bases[0], times)}.",
    )
    plotting.save(figure, pictures)


def _series(
    lines: Sequence[Mapping[str, str]], systems: Sequence[str], bases: Sequence[str], times: Sequence[int]
) -> Iterator[tuple[str, Steps]]:
    wanted = [(name, reading, False) for name in systems for reading in ("verdict", "comparison")]
    wanted += [(base, "likelihood", False) for base in bases]
    wanted += [(known_facts.NO_MODEL, judge, True) for judge in JUDGES if judge != "constant"]
    for system, reading, is_floor in wanted:
        lines_by_times = {
            int(line["times"]): line for line in lines if (line["system"], line["reading"]) == (system, reading)
        }
        if lines_by_times:
            places = [(times.index(told), *_values(line)) for told, line in sorted(lines_by_times.items())]
            words = WORDS.get(reading, reading)
            yield words if is_floor else f"{system}: {words}", Steps(places, is_floor)


def _values(line: Mapping[str, str]) -> tuple[float, float, float]:
    return float(line["scaled_accuracy"]), float(line["low"]), float(line["high"])


def _counts(lines: Sequence[Mapping[str, str]], base: str, times: Sequence[int]) -> str:
    facts = {
        int(line["times"]): line["facts"] for line in lines if (line["system"], line["reading"]) == (base, "likelihood")
    }
    return ", ".join(f"{told}: {facts.get(told, 0)}" for told in times)


if __name__ == "__main__":
    run(main)
