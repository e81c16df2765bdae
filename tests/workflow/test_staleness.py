"""What a change makes run again: exactly what the design says, for every stage and every kind of change (spec 83, 85).

The table of docs/reliability.md is what was planned here; `REWRITE_DOCS=1` writes it anew,
with `-m 'nightly or not nightly'`.
"""

import os
import signal
from collections.abc import Sequence
from pathlib import Path

import pytest
from cases import ALONE, BUMPS, CELL, ELSEWHERE, PAPER, SECTIONS, STAGES
from checkout import copy_of, wait_until, with_conda
from mutations import Case, Copy, config, copied, flipped, lost
from planner import Plan, plan

from excam import versions

PAGE = Path(__file__).parents[2] / "docs/reliability.md"
SMALL_CASES = [case for cases in SECTIONS.values() for case in cases]
BEGIN, END = "<!-- staleness: begin, written by tests/workflow/test_staleness.py -->\n\n", "\n<!-- staleness: end -->"


def plans_of(run, experiment: str, everything: Sequence[str], cases: Sequence[Case], scratch: Path) -> list[Plan]:
    """Every case planned in a copy of its own of the finished run; a conda that builds nothing stands by."""
    environment = with_conda(run.environment, scratch)
    requests = []
    for number, case in enumerate(cases):
        copy = copied(run.folder, scratch / f"case-{number}", case.whole)
        copy.write("mutation.yaml", "{}\n")
        case.do(copy)
        overlays, targets = ("--configfile", experiment, "mutation.yaml"), case.targets or everything
        requests.append((copy.folder, ["--profile", case.profile, *overlays, *case.words, "--", *targets]))
    return plan(requests, scratch, environment)


@pytest.fixture(scope="session")
def planned(run, tmp_path_factory) -> list[Plan]:
    return plans_of(run, "tests/experiment.yaml", ["all"], SMALL_CASES, tmp_path_factory.mktemp("small"))


@pytest.fixture(scope="session")
def bumps_planned(run, tmp_path_factory) -> list[Plan]:
    return plans_of(run, "tests/experiment.yaml", ["all"], BUMPS, tmp_path_factory.mktemp("bumps"))


@pytest.fixture(scope="session")
def paper_planned(paper_run, tmp_path_factory) -> list[Plan]:
    scratch = tmp_path_factory.mktemp("wide")
    return plans_of(paper_run, "tests/workflow/experiment-wide.yaml", ["all", "external", "annotation"], PAPER, scratch)


@pytest.mark.model
def test_a_finished_run_has_nothing_to_do(run):
    """First and alone, so that making the run is not counted as the time of another test."""
    assert run.planned("all") == {}


def test_every_stage_is_in_the_table():
    assert set(STAGES) == set(versions.STAGES)


@pytest.mark.model
@pytest.mark.parametrize("number", range(len(SMALL_CASES)), ids=[case.what for case in SMALL_CASES])
def test_exactly_what_is_stale_runs(planned, number):
    assert sorted(planned[number].jobs) == sorted(SMALL_CASES[number].jobs)


@pytest.mark.model
@pytest.mark.nightly
@pytest.mark.parametrize("number", range(len(BUMPS)), ids=[case.what for case in BUMPS])
def test_exactly_what_a_stage_s_new_number_makes_stale_runs(bumps_planned, number):
    assert sorted(bumps_planned[number].jobs) == sorted(BUMPS[number].jobs)


@pytest.mark.nightly
@pytest.mark.parametrize("number", range(len(PAPER)), ids=[case.what for case in PAPER])
def test_exactly_what_is_stale_runs_with_the_paper_s_models(paper_planned, number):
    assert sorted(paper_planned[number].jobs) == sorted(PAPER[number].jobs)


def table(cases: Sequence[Case], plans: Sequence[Plan]) -> str:
    head = "| changed | must run | jobs | ran | too many, too few |\n|---|---|---:|---:|---:|\n"
    lines = []
    for case, found in zip(cases, plans, strict=True):
        wrong = f"{len(found.jobs - case.jobs)}, {len(case.jobs - found.jobs)}"
        lines.append(f"| {case.what} | {case.must} | {len(case.jobs)} | {len(found.jobs)} | {wrong} |\n")
    return head + "".join(lines)


def written(planned: Sequence[Plan], bumps_planned: Sequence[Plan], paper_planned: Sequence[Plan]) -> str:
    """The generated part of docs/reliability.md."""
    rest, parts = list(planned), []
    for title, cases in SECTIONS.items():
        parts.append(f"### {title}\n\n{table(cases, rest[: len(cases)])}")
        del rest[: len(cases)]
    parts.append(f"### With the paper's models\n\n{table(PAPER, paper_planned)}")
    found = ", ".join(
        f"{case.what} {len(case.jobs)}/{len(plan.jobs)}" for case, plan in zip(BUMPS, bumps_planned, strict=True)
    )
    alone, elsewhere = (", ".join(f"`{stage}`" for stage in stages) for stages in (ALONE, ELSEWHERE))
    parts.append(
        f"### A new number for each of the {len(STAGES)} stages\n\nJobs that must run/that ran: {found}.\n\n"
        f"Each its own page and nothing else: {alone}.\n\nNothing of this run: {elsewhere}.\n"
    )
    return "\n".join(parts)


@pytest.mark.model
@pytest.mark.nightly
def test_the_page_says_what_was_planned(planned, bumps_planned, paper_planned):
    page = PAGE.read_text(encoding="utf-8")
    before, _, rest = page.partition(BEGIN)
    found, end, after = rest.partition(END)
    assert end, f"{PAGE}: no {END.strip()}"
    now = written(planned, bumps_planned, paper_planned)
    if os.environ.get("REWRITE_DOCS"):
        PAGE.write_text(before + BEGIN + now + END + after, encoding="utf-8")
    else:
        assert found == now, "run: see the first lines of this file"


@pytest.mark.model
@pytest.mark.parametrize(
    ("damage", "target", "said"),
    [
        (flipped(CELL), CELL, f"{CELL}: differs:"),
        (flipped(CELL, keep_time=True), "results/paper/figure-3.pdf", f"{CELL}: differs:"),
        (lost("results/samples/blend.parquet"), "results/paper/table-2.md", "results/samples/blend.parquet: gone:"),
    ],
    ids=["with its new time", "with its old time", "a lost intermediate"],
)
def test_audit_names_what_snakemake_does_not_look_at(run, tmp_path, damage, target, said):
    copy = copied(run.folder, tmp_path / "copy")
    assert copy.excam("audit", target).returncode == 0
    damage(copy)
    done = copy.excam("audit", target)
    assert done.returncode == 1
    assert said in done.stderr


@pytest.mark.model
def test_audit_of_everything_names_a_changed_file_of_every_kind(run, tmp_path):
    """One of each folder and suffix, with its old time; fetched files and weights too, which only manifests record."""
    copy = copied(run.folder, tmp_path / "copy")
    files = [name for name in copy.files("results") if copy.read(name) and not name.endswith("manifest.json")]
    kinds = {(Path(name).parts[1], Path(name).suffix): name for name in files}
    changed = {name for (folder, _), name in kinds.items() if folder not in (".hashes", "journal", "checkpoints")}
    assert {Path(name).parts[1] for name in changed} >= {
        "audits",
        "published",
        "sources",
        "models",
        "adapters",
        "tokens",
    }
    assert copy.excam("audit").returncode == 0
    for name in changed:
        flipped(name, keep_time=True)(copy)
    done = copy.excam("audit")
    assert done.returncode == 1
    assert {line.split(": differs: ")[0] for line in done.stderr.splitlines() if ": differs: " in line} == changed


@pytest.mark.model
def test_another_number_of_shards_merges_to_the_same_set_and_one_run_waits_for_none(run, tmp_path):
    """Of two invocations that want the same files one is refused, the other ends undisturbed; then nothing is stale."""
    merged, counts = "results/errors/soft/normad.parquet", "results/errors/soft/normad.counts.json"
    here = copy_of(run, tmp_path / "copy")
    config(generation={"shards": 3})(Copy(here.folder))
    overlays = ("--configfile", "tests/experiment.yaml", "mutation.yaml")
    before = here.digest(merged, counts)
    first = here.start(*overlays, "--until", "collect_soft_errors", "--", "all", experiment=None)
    wait_until(first, lambda: any((here.folder / ".snakemake/locks").glob("*")))
    os.killpg(first.pid, signal.SIGSTOP)  # or it may be over before the other has planned
    second = here(*overlays, "--", "all", experiment=None)
    os.killpg(first.pid, signal.SIGCONT)
    assert second.returncode == 1
    assert "Directory cannot be locked" in second.text
    assert first.wait(timeout=200) == 0
    assert len(list((here.folder / "results/errors/soft/normad/minor").glob("*.jsonl"))) == 3
    assert here.digest(merged, counts) == before
    assert here.planned(*overlays, "--", "all", experiment=None) == {}
