"""Write how adapters judge test rows by how often their base was told the fact, beside judges that know nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

from excam.core import paths, provenance, tables
from excam.error_reports.evaluation import known_facts
from excam.pages import markdown
from scripts import run, step
from scripts._taught import POINT_COLUMNS, READINGS, Study, StudyFiles

VERSION = 3
PAGE = {
    "result": "results/paper/taught",
    "outputs": ["numbers", "page"],
    "more": {"points": "results/paper/taught-points.csv"},
    "category": "Results",
    "target": "paper",
    "inputs": {
        "judgements": "judgements_of_trained",
        "adapters": "manifests_of_trained",
        "samples": "test_sets",
        "knowledge": "knowledge",
        "facts": "taught_facts",
        "manifests": "taught_bases",
        "bases": "bases",
    },
    "settings": {"weights": "weights_of_trained", "seed": "seed"},
}
SHOWN = ("system", "reading", "report", "labels", "judged")
HEAD = """# Verdicts on facts that the base model was told

Scaled accuracy [95 % interval over facts] by the number of times that the corpus told the base the fact; 0 is chance.
Test rows of which no fact is in a report that the adapter learned from. `verdict`: the report's own; parse failures
count as wrong. `comparison`: is the answer that the report states in the text? `likelihood`: the base without any
adapter calls a text wrong unless the answer in it is the likeliest one. The other readings need no model.
`elimination`, `popularity` and `neighbours` know what the corpus tells of other peoples, and nothing of the one asked
about; `frequency` counts what it tells of any, the one asked about among them, without knowing of whom. An adapter
`without-X` is judged on X alone: facts of a benchmark of which it saw no report.
"""


@step
def main(
    files: StudyFiles,
    adapters_paths: Annotated[Sequence[Path], "manifests"],
    seed: int,
    points_path: Path,
    numbers_path: Path,
    page_path: Path,
) -> None:
    study = Study(files)
    tables.write_lines(points_path, POINT_COLUMNS, [line for path in adapters_paths for line in _points(study, path)])
    write_numbers(points_path, numbers_path, seed)
    provenance.write_text(page_path, page(tables.read_lines(numbers_path)))


def write_numbers(points: Path, to: Path, seed: int) -> None:
    """Write the numbers that a file of points gives."""
    tables.write_lines(to, known_facts.NUMBERS, known_facts.numbers(tables.read_lines(points), READINGS, seed))


def _points(study: Study, adapter: Path) -> list[dict[str, Any]]:
    """Return the points of the adapter with this manifest."""
    recipe = provenance.read_json(adapter, "settings", "seed")
    axes = paths.axes(adapter)
    model, trained_on = axes["model"], axes["trained_on"]
    left_out = trained_on.removeprefix("without-")
    names = {"system": f"{model}/{trained_on}", "seed": recipe["seed"]}
    names |= {name: recipe["settings"][name] for name in ("report", "labels")}
    return study.points(model, trained_on, paths.ALL if left_out == trained_on else left_out, names)


def page(lines: Sequence[Mapping[str, str]]) -> str:
    """Return the page that the lines of `known_facts.NUMBERS` make: a row for each system and reading."""
    return f"{HEAD}\n" + "\n\n".join(_tables(lines)) + "\n"


def _tables(lines: Sequence[Mapping[str, str]]) -> Iterator[str]:
    worlds = list(dict.fromkeys(line["world"] for line in lines))
    for world in worlds:
        of_world = [line for line in lines if line["world"] == world]
        times = sorted({int(line["times"]) for line in of_world})
        rows: dict[tuple[str, ...], dict[int, Mapping[str, str]]] = {}
        for line in of_world:
            rows.setdefault(tuple(line[name] for name in SHOWN), {})[int(line["times"])] = line
        facts = {told: max(int(cells[told]["facts"]) for cells in rows.values() if told in cells) for told in times}
        head = (*SHOWN, *(f"{told} times ({facts[told]} facts)" for told in times))
        cells = [
            [*(markdown.escape(name) for name in key), *(_cell(lines_by_times.get(told)) for told in times)]
            for key, lines_by_times in rows.items()
        ]
        title = "" if len(worlds) == 1 else f"## {'All worlds' if world == known_facts.ALL else f'World {world}'}\n\n"
        yield title + markdown.table(head, cells)


def _cell(line: Mapping[str, str] | None) -> str:
    if line is None:
        return ""
    value, low, high = (float(line[name]) for name in ("scaled_accuracy", "low", "high"))
    return f"{value:.2f} [{low:.2f}, {high:.2f}]"


if __name__ == "__main__":
    run(main)
