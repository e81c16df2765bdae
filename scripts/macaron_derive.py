"""Derive six aligned instances of each scenario: multiple choice, true and false, in both languages."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from excam.core import tables
from excam.core.provenance import say
from excam.macaron import derive, scenarios
from scripts import run, step

VERSION = 1


@step
def main(scenarios_path: Path, orders: Literal["shuffled", "given"], seed: int, instances_path: Path) -> None:
    source_scenarios = scenarios.read(scenarios_path)
    made = derive.instances(source_scenarios, seed, orders)
    tables.write_frame(instances_path, derive.to_frame(made))
    say(f"macaron: {len(made)} instances of {len(source_scenarios)} scenarios")


if __name__ == "__main__":
    run(main)
