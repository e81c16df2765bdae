"""Where the time of a finished run went: rules, Snakemake itself, downloads.

    snakemake --profile local all && python -m bench.first_command

Reads the benchmark files of the jobs (wall and processor seconds) and the first and last time of Snakemake's logs. An
engine that several jobs share runs in a process of its own: the jobs wait for it, so wall seconds hold it and processor
seconds do not. What is left of `--jobs` times the whole run is Snakemake's own work, and cores that had nothing to do.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from excam.lineage.progress import job_seconds
from excam.pages.markdown import table

TIME = re.compile(r"^\[(\w{3} \w{3} +\d+ \d\d:\d\d:\d\d \d{4})\]$", re.MULTILINE)
SHOWN = 20  # rules in the table


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, default=Path(), help="where the run was made")
    parser.add_argument("--jobs", type=int, default=2, help="how many jobs ran at a time")
    options = parser.parse_args(argv)
    costs = job_seconds(options.folder / "benchmarks")
    if not costs:
        raise SystemExit(f"{options.folder}/benchmarks: no benchmark file; expected those of a finished run")
    whole = seconds_of_run(options.folder / ".snakemake/log")
    print(table(["rule", "jobs", "wall s", "processor s"], rows(costs, whole * options.jobs)))
    print(f"\nThe run took {whole:.0f} s, {options.jobs} jobs at a time.")


def seconds_of_run(folder: Path) -> float:
    """Return the seconds from the first to the last time in each log, summed: time between runs is left out."""
    total = 0.0
    for path in sorted(folder.glob("*.log")):
        times = [datetime.strptime(time, "%a %b %d %H:%M:%S %Y") for time in TIME.findall(path.read_text("utf-8"))]
        total += (times[-1] - times[0]).total_seconds() if times else 0.0
    return total


def rows(costs: dict[str, list[tuple[float, float]]], available: float) -> list[list[str]]:
    """Return the most expensive rules, the others together, and what no job used of the `available` core seconds."""
    ordered = sorted(costs.items(), key=lambda item: -sum(wall for wall, _ in item[1]))
    rest = [cost for _, jobs in ordered[SHOWN:] for cost in jobs]
    shown = [*ordered[:SHOWN], (f"{len(ordered[SHOWN:])} other rules", rest)]
    used = sum(wall for _, jobs in ordered for wall, _ in jobs)
    return [
        *(
            [name, str(len(jobs)), *(f"{sum(part):.0f}" for part in zip(*jobs, strict=True))]
            for name, jobs in shown
            if jobs
        ),
        ["no job: Snakemake, idle cores", "", f"{available - used:.0f}", ""],
    ]


if __name__ == "__main__":
    main()
