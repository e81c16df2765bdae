"""Write the coverage of the benchmark: scenarios and instances by country (Table 2), scenarios by tag."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

from excam.core import tables
from excam.core.provenance import write_text
from excam.macaron import derive, pages, scenarios
from scripts import run, step

VERSION = 1
PAGE = {
    "result": "results/macaron/coverage",
    "outputs": ["numbers", "page"],
    "target": "macaron",
    "category": "Macaron",
    "inputs": {"scenarios": "macaron_scenarios", "instances": "macaron_instances"},
}


@step
def main(scenarios_path: Path, instances_path: Path, numbers_path: Path, page_path: Path) -> None:
    lines, page = pages.coverage(
        scenarios.read(scenarios_path), [asdict(instance) for instance in derive.read(instances_path)]
    )
    tables.write_lines(numbers_path, pages.COVERAGE, lines)
    write_text(page_path, page)


if __name__ == "__main__":
    run(main)
