"""Run parts of the nightly tests: `python tests/nightly.py turn`, or the names of parts, or `all`.

A part takes at most MOST core minutes. `turn` is one of those that need nothing but a checkout: every day and every commit
another. What passed is a row of `nightly.csv`.
"""

import argparse
import csv
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from datetime import UTC, date, datetime
from pathlib import Path

ROOT = Path(__file__).parents[1]
RECORD = Path(__file__).with_suffix(".csv")
MOST = 16  # core minutes
DAMAGED = "tests/scoring/test_damaged_inputs.py"


@dataclass(frozen=True, slots=True)
class Group:
    """Tests that belong together, in `parts` of equal numbers of tests; `needs`: what continuous integration has not."""

    holds: str
    words: tuple[str, ...]
    parts: int = 1
    needs: str = ""


def nightly(*files: str) -> tuple[str, ...]:
    return ("-m", "nightly", *files)


GROUPS = {
    "properties": Group("5,000 inputs a property", ("-m", "hypothesis", "--hypothesis-profile=nightly"), 5),
    "damage": Group("5,000 damaged files a format", nightly(DAMAGED), 3),
    "kills": Group(
        "killed requests; full disks",
        nightly(
            "tests/inference/test_faults.py",
            "tests/cli/test_full_disk.py",
        ),
    ),
    "run": Group("the finished experiment; in each `.ci/run`", ("-m", "run and not nightly", "tests/workflow")),
    "killed-run": Group("killed training, judging", nightly("tests/workflow/test_workflow.py")),
    "variants": Group("all variants of what runs one in four a day", ("-m", "variants")),
    "damaged-run": Group("injected faults", nightly("tests/workflow/test_faults_of_a_run.py")),
    "plans": Group("what each change makes run again", nightly("tests/workflow/test_staleness.py")),
    "names": Group(
        "file names, failed audits, additions",
        nightly(*(f"tests/workflow/test_{name}.py" for name in ("given_names", "failed_audit", "extending"))),
    ),
    "classes": Group("the paper's architectures, tiny", nightly("tests/inference/test_architectures.py"), 2),
    "forms": Group("all forms in a browser", nightly("tests/annotation/test_form_pages.py")),
    "rest": Group(
        "growth, two processes, options of metrics, intervals, libraries of others",
        nightly(
            "tests/bench/test_growth.py",
            *("tests/training/test_training.py", "tests/scoring/test_metric_options.py"),
            *("tests/stats/test_calibration.py", "tests/scoring/test_integrations.py"),
        ),
    ),
    "sizes": Group(
        "benchmarks as published, where they are; texts of a million characters",
        nightly(
            *("tests/excam40k/test_datasets.py", "tests/excam40k/test_blend_questions.py"),
            *("tests/calmqa/test_calmqa.py", "tests/scoring/test_phrases.py"),
        ),
    ),
    "cluster": Group("faults of Slurm", ("-m", "cluster", "tests/cluster"), needs="root, Slurm"),
    "card": Group("GPU tests", ("-m", "gpu"), needs="a GPU"),
}


@dataclass(frozen=True, slots=True)
class Passed:
    """When a part last passed, and what it took."""

    part: str
    tests: str
    skipped: str
    core_minutes: str
    date: str
    commit: str


def parts(group: str) -> list[str]:
    """Return the names of a group's parts."""
    number = GROUPS[group].parts
    return [group] if number == 1 else [f"{group}-{part}" for part in range(1, number + 1)]


def command(part: str, seed: int) -> list[str]:
    """Return the command that runs a part."""
    group, _, number = (part, "", "") if part in GROUPS else part.rpartition("-")
    slices = [f"--slice={number}/{GROUPS[group].parts}"] if number else []
    seeds = [f"--hypothesis-seed={seed}"] if group == "properties" else []
    return [sys.executable, "-m", "pytest", "-n0", "--day=all", *GROUPS[group].words, *slices, *seeds]


def turn(day: date, commits: int) -> str:
    """Return the part whose turn it is."""
    possible = [part for name, group in GROUPS.items() if not group.needs for part in parts(name)]
    return possible[(day.toordinal() + commits) % len(possible)]


def git(*words: str) -> str:
    done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def recorded() -> dict[str, Passed]:
    """Return the last success of each part that has one."""
    with RECORD.open(encoding="utf-8", newline="") as stream:
        rows = [Passed(**row) for row in csv.DictReader(stream)]
    return {row.part: row for row in rows}


def record(passed: Passed) -> None:
    """Replace the row of a part."""
    rows = recorded() | {passed.part: passed}
    with RECORD.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, [field.name for field in fields(Passed)], lineterminator="\n")
        writer.writeheader()
        writer.writerows(asdict(rows[part]) for name in GROUPS for part in parts(name) if part in rows)


def run(part: str, day: datetime) -> bool:
    """Run a part and record it if it passed."""
    words, before = command(part, seed=int(f"{day:%Y%m%d}")), os.times()
    print(f"nightly: {part}: {' '.join(words[1:])}", flush=True)
    said = []
    with subprocess.Popen(words, cwd=ROOT, stdout=subprocess.PIPE, text=True, errors="replace") as process:
        for line in process.stdout or ():
            print(line, end="", flush=True)
            said.append(line)
    after = os.times()
    minutes = (after.children_user - before.children_user + after.children_system - before.children_system) / 60
    counts = {what: number for number, what in re.findall(r"(\d+) (passed|skipped)", said[-1] if said else "")}
    print(f"nightly: {part}: {minutes:.1f} core minutes, exit code {process.returncode}", flush=True)
    if process.returncode == 0:
        tests, skipped = (counts.get(what, "0") for what in ("passed", "skipped"))
        changed = git("status", "--porcelain", "--untracked-files=no", "--", ".", f":!{RECORD.relative_to(ROOT)}")
        commit = git("rev-parse", "--short", "HEAD") + ("-dirty" if changed else "")
        record(Passed(part, tests, skipped, f"{minutes:.1f}", f"{day:%Y-%m-%d}", commit))
    return process.returncode == 0


def main(argv: Sequence[str] | None = None) -> int:
    names = [part for name in GROUPS for part in parts(name)]
    listed = "\n".join(
        f"{name}: {group.holds}" + f"; needs {group.needs}" * bool(group.needs) for name, group in GROUPS.items()
    )
    form = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0], epilog=listed, formatter_class=form)
    parser.add_argument("parts", nargs="+", choices=[*names, "turn", "all"])
    now = datetime.now(UTC)
    asked = parser.parse_args(argv).parts
    todays = turn(now.date(), int(git("rev-list", "--count", "HEAD")))
    chosen = names if "all" in asked else [todays if part == "turn" else part for part in asked]
    return len([part for part in dict.fromkeys(chosen) if not run(part, now)])


if __name__ == "__main__":
    sys.exit(main())
