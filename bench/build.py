"""What it costs to build ExCAM40k from raw files of the official size: CPU, wall time, memory, scaling, start-up.

    python -m bench.build --scale 1 --processes 2 --folder /tmp/excam-bench

The raw files are synthetic (`bench.raw`); they are written once per scale and seed. What runs are the rules' own
command lines, as `snakemake --dry-run` prints them: config.yaml with the generator `lexicon` in one shard a severity,
each job as soon as its inputs are there. Fetching (a copy of the raw files) is done beforehand and not counted, nor is
Snakemake itself. Start-up is the cost of the same jobs over next to no rows.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import zlib
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.processes import ROOT, Bill, Cost, environment, planned, run

DATASETS = "blend culturalbench include mango globalopinionqa nativqa normad calmqa epic".split()  # noqa: SIM905
SHARDS = 1  # of a severity: the lexicon is a program of seconds, not a model on a GPU
CAP = 5_000
TINY, TINY_CAP = 0.005, 40  # share of the raw rows, and final rows of a dataset: what is left is start-up
NEAR = "results/excam40k/near-duplicates.csv"  # needs all datasets; a stage after the nine
LIMITS = {"mango": 1_562, "globalopinionqa": 2_500}  # base samples for 5,000 rows
SEED = 20260401  # of config.yaml
PARTS = ("build", "scaling", "twice", "plain", "profile")
GOAL_ROWS, GOAL_CPU, GOAL_MB, GOAL_TWICE = 37_600, 60.0, 2_000.0, 2.1


@dataclass(frozen=True, slots=True)
class Built:
    """One build: its costs, what came in and what came out, and where it lies."""

    bill: Bill
    raw_rows: int
    final_rows: int
    kept: dict[str, dict[str, int]]
    folder: Path


def raw_files(home: Path, scale: float, seed: int) -> Path:
    """The folder with the raw files, written by a process of its own (a child's peak starts at its parent's size)."""
    makers = [*sorted((ROOT / "bench" / "raw").glob("*.py")), ROOT / "excam" / "construction" / "lexicon.tsv"]
    version = zlib.crc32(b"".join(path.read_bytes() for path in makers))
    folder = home / f"raw-{scale:g}-{seed}-{version:08x}"
    if not folder.exists():
        part = folder.with_suffix(".part")
        shutil.rmtree(part, ignore_errors=True)
        command = [sys.executable, "-m", "bench.raw", str(part), "--scale", str(scale), "--seed", str(seed)]
        subprocess.run(command, check=True, cwd=ROOT, stdout=subprocess.DEVNULL)
        part.rename(folder)
    return folder


def build(home: Path, scale: float, seed: int, processes: int, cap: int = CAP) -> Built:
    """Plan, fetch, and run all that comes after."""
    raw = raw_files(home, scale, seed)
    work = home / f"build-{scale:g}-{processes}-{cap}"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir()
    overlay = work / "overlay.json"
    sources = {name: {"folder": str(raw / name), "cap": cap} for name in DATASETS}
    overlay.write_text(json.dumps({"datasets": sources, "generation": {"generator": "lexicon", "shards": SHARDS}}))
    targets = [f"results/excam40k/{name}/counts.json" for name in DATASETS]
    jobs = planned(work, [ROOT / "config.yaml", overlay], [*targets, NEAR])
    fetching = [job for job in jobs if job.rule == "fetch_source"]
    fetched = run(fetching, work, processes)
    bill = run([job for job in jobs if job not in fetching], work, processes)
    print(f"fetched in {fetched.wall:.1f} s ({fetched.cpu:.1f} s CPU, not counted)", file=sys.stderr)
    read = {name: json.loads((work / f"results/samples/{name}.counts.json").read_text()) for name in DATASETS}
    kept = {name: json.loads((work / target).read_text()) for name, target in zip(DATASETS, targets, strict=True)}
    rows = sum(counts["rows"] for counts in read.values())
    return Built(bill, rows, sum(counts["rows"] for counts in kept.values()), kept, work)


def show_stages(built: Built, idle: Bill) -> None:
    """CPU by rule, of it start-up; then by dataset."""
    by_rule: defaultdict[str, list[Cost]] = defaultdict(list)
    by_dataset: defaultdict[str, float] = defaultdict(float)
    for cost in built.bill.costs:
        by_rule[cost.rule].append(cost)
        by_dataset[cost.dataset or "all"] += cost.cpu
    print(f"\n{'rule':<22}{'jobs':>5}{'CPU s':>8}{'start-up':>10}{'wall s':>8}{'a job':>7}{'peak MB':>9}")
    for rule, costs in sorted(by_rule.items(), key=lambda item: -sum(cost.cpu for cost in item[1])):
        cpu, wall = sum(cost.cpu for cost in costs), sum(cost.wall for cost in costs)
        line = f"{rule:<22}{len(costs):>5}{cpu:>8.1f}{idle.of_rule(rule):>10.1f}{wall:>8.1f}{cpu / len(costs):>7.2f}"
        print(line + f"{max(cost.peak for cost in costs):>9.0f}")
    print(f"{'all':<22}{len(built.bill.costs):>5}{built.bill.cpu:>8.1f}{idle.cpu:>10.1f}")
    print(f"\n{'dataset':<17}{'CPU s':>7}{'rows':>7}{'beyond cap':>12}  dropped")
    for name, cpu in sorted(by_dataset.items(), key=lambda item: -item[1]):
        counts = built.kept.get(name, {"rows": 0, "beyond_cap": 0, "dropped": {}})
        print(f"{name:<17}{cpu:>7.1f}{counts['rows']:>7,}{counts['beyond_cap']:>12,}  {counts['dropped'] or ''}")


def show(built: Built) -> None:
    bill = built.bill
    peak = max(bill.costs, key=lambda cost: cost.peak)
    print(f"\nraw rows {built.raw_rows:,}, final rows {built.final_rows:,}, processes {len(bill.costs)}")
    print(f"load of this machine, others' work included: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    print(f"CPU {bill.cpu:.1f} s, wall {bill.wall:.1f} s; of it {NEAR.split('/')[-1]} {near(bill):.1f} s CPU")
    print(f"{built.raw_rows / bill.wall:,.0f} raw rows/s, {built.final_rows / bill.wall:,.0f} final rows/s")
    print(f"peak {peak.peak:.0f} MB ({peak.rule} {peak.dataset}), all together {bill.together:.0f} MB")


def near(bill: Bill) -> float:
    return bill.of_rule("find_near_duplicates")


def goal(what: str, value: float, bound: float, at_least: bool = False) -> None:
    """One line: reached or missed."""
    met = value >= bound if at_least else value <= bound
    print(f"{'reached' if met else 'MISSED ':<8} {what}: {value:,.2f}, goal {'≥' if at_least else '≤'} {bound:,.2f}")


def show_twice(built: Built, double: Built, idle: Bill) -> None:
    """Cost of twice the rows, with start-up and without, also of each rule."""
    one, two = built.bill, double.bill
    print(f"\ntwice the raw rows ({double.raw_rows:,}) and the cap ({double.final_rows:,} final rows): {two.cpu:.1f} s")
    ratio = two.cpu / one.cpu
    net = (two.cpu - idle.cpu) / (one.cpu - idle.cpu)
    print(f"CPU ratio {ratio:.2f}, start-up subtracted {net:.2f}; wall ratio {two.wall / one.wall:.2f}")
    for rule in sorted({cost.rule for cost in one.costs}):
        before, after, start = one.of_rule(rule), two.of_rule(rule), idle.of_rule(rule)
        net_of_rule = (after - start) / (before - start)
        print(f"  {rule:<22}{before:>7.1f} -> {after:>6.1f} s  {after / before:.2f}  {net_of_rule:.2f}")
    goal("twice the rows, CPU ratio", ratio, GOAL_TWICE)
    goal("twice the rows, start-up subtracted", net, GOAL_TWICE)


def show_plain(raw: Path, repeats: int = 3) -> None:
    """Reading and drawing through the loaders against a plain loop over the same files: the same ids or an error."""
    heads = f"{'loader CPU s':>13}{'plain CPU s':>13}{'CPU ratio':>11}{'wall ratio':>11}{'MB':>7}{'MB':>7}"
    print(f"\n{'read and draw':<17}{heads}")
    for name, limit in LIMITS.items():
        best = {}
        for way in ("loader", "plain"):
            command = [sys.executable, "-m", "bench.plain", name, str(raw / name), "--way", way]
            command += ["--limit", str(limit), "--seed", str(SEED)]
            runs = [subprocess.run(command, cwd=ROOT, check=True, capture_output=True) for _ in range(repeats)]
            best[way] = min((json.loads(done.stdout) for done in runs), key=lambda result: result["cpu"])
        ours, plain = best["loader"], best["plain"]
        line = f"{name:<17}{ours['cpu']:>13.2f}{plain['cpu']:>13.2f}{plain['cpu'] / ours['cpu']:>10.1f}x"
        print(line + f"{plain['wall'] / ours['wall']:>10.1f}x{ours['peak']:>7.0f}{plain['peak']:>7.0f}")
        if ours["ids"] != plain["ids"]:
            sys.exit(f"bench: {name}: the loader drew {ours}, the plain loop {plain}; expected the same ids")
    print("the same base samples drawn by both")


def show_profile(built: Built, count: int = 3) -> None:
    """cProfile of the most expensive jobs, one of each rule; the functions that take most time of their own."""
    overlay = built.folder / "overlay.json"
    targets = [f"results/excam40k/{name}/counts.json" for name in DATASETS]
    jobs = planned(built.folder, [ROOT / "config.yaml", overlay], [*targets, NEAR])
    dearest: dict[str, Cost] = {}
    for cost in sorted(built.bill.costs, key=lambda cost: -cost.cpu):
        dearest.setdefault(cost.rule, cost)
    total = {rule: built.bill.of_rule(rule) for rule in dearest}
    for rule in sorted(dearest, key=lambda rule: -total[rule])[:count]:
        job = next(job for job in jobs if job.outputs[0] == dearest[rule].output)
        command = [sys.executable, "-m", "cProfile", "-s", "tottime", *job.command[1:]]
        print(f"\n{rule} ({job.outputs[0]}): {dearest[rule].cpu:.2f} s CPU", flush=True)
        done = subprocess.run(command, cwd=built.folder, capture_output=True, text=True, check=True, env=environment())
        print("\n".join(line[:150] for line in done.stdout.splitlines()[:28]))


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1, help="of the raw files")
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "excam-bench")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS[:-1])
    args = parser.parse_args(argv)
    args.folder.mkdir(parents=True, exist_ok=True)
    home = args.folder.resolve()
    if set(args.parts) - {"plain"}:
        _builds(home, args)
    if "plain" in args.parts:
        show_plain(raw_files(home, args.scale, args.seed))


def _builds(home: Path, args: argparse.Namespace) -> None:
    idle = build(home, TINY, args.seed, args.processes, TINY_CAP)
    built = build(home, args.scale, args.seed, args.processes)
    show_stages(built, idle.bill)
    show(built)
    goal("final rows", built.final_rows, GOAL_ROWS, at_least=True)
    goal("CPU s", built.bill.cpu, GOAL_CPU)
    goal("CPU s without find_near_duplicates", built.bill.cpu - near(built.bill), GOAL_CPU)
    goal("peak MB, all processes together", built.bill.together, GOAL_MB)
    if "scaling" in args.parts:
        single = build(home, args.scale, args.seed, 1)
        times = f"{single.bill.wall:.1f} s with 1, {built.bill.wall:.1f} s with {args.processes}"
        print(f"\nwall: {times}: {single.bill.wall / built.bill.wall:.2f} times as fast; CPU {single.bill.cpu:.1f} s")
    if "twice" in args.parts:
        show_twice(built, build(home, 2 * args.scale, args.seed, args.processes, 2 * CAP), idle.bill)
    if "profile" in args.parts:
        show_profile(built)


if __name__ == "__main__":
    main()
