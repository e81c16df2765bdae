"""What a change makes run again: exactly the jobs of staleness.json, for every kind of change.

`REWRITE_DOCS=1` writes staleness.json and the table of docs/reliability.md; then read the difference.
"""

import json
import os
import signal
from collections import defaultdict
from pathlib import Path

import pytest
from cases import CASES, SECTIONS
from checkout import CELL, ROOT, copy_of, wait_until, with_conda
from mutations import Copy, config, copied, flipped, lost
from planner import Plan, plan

PAGE = ROOT / "docs/reliability.md"
EXPECTED = Path(__file__).with_name("staleness.json")
BEGIN, END = "<!-- staleness: begin, written by tests/workflow/test_staleness.py -->\n\n", "\n<!-- staleness: end -->"


@pytest.fixture(scope="module")
def plans(paper_run, tmp_path_factory) -> dict[str, Plan]:
    """Every case planned in a copy of its own of the finished run; conda is replaced by one that builds nothing."""
    scratch = tmp_path_factory.mktemp("cases")
    environment = with_conda(paper_run.environment, scratch)
    requests = []
    for number, case in enumerate(CASES):
        copy = copied(paper_run.folder, scratch / str(number), case.whole)
        copy.write("mutation.yaml", "{}\n")
        case.do(copy)
        overlays = ("--configfile", "tests/workflow/experiment-wide.yaml", "mutation.yaml")
        requests.append((copy.folder, ["--profile", case.profile, *overlays, *case.words, "--", *case.targets]))
    dry_runs = plan(requests, scratch, environment)
    return {case.what: dry_run for case, dry_run in zip(CASES, dry_runs, strict=True)}


class Overlay(Copy):
    """An empty folder above the repository, which is only read."""

    def read(self, name: str) -> bytes:
        return super().read(name) if (self.folder / name).exists() else (ROOT / name).read_bytes()


@pytest.mark.parametrize("case", [case for case in CASES if not case.whole], ids=lambda case: case.what)
def test_each_change_can_still_be_made(tmp_path, case):
    """The plans are made at night; a line that was renamed since is seen at once."""
    case.do(Overlay(tmp_path))


def by_rule(jobs: frozenset[str]) -> dict[str, list[str]]:
    """The wildcards of jobs by their rule."""
    wildcards = defaultdict(list)
    for job in sorted(jobs):
        rule, _, values = job.partition(" ")
        wildcards[rule].append(values)
    return dict(wildcards)


@pytest.mark.nightly
def test_exactly_what_is_stale_runs(plans):
    planned_jobs = {what: by_rule(plan.jobs) for what, plan in plans.items()}
    if os.environ.get("REWRITE_DOCS"):
        lines = [f"{json.dumps(what)}: {json.dumps(jobs)}" for what, jobs in planned_jobs.items()]
        EXPECTED.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    expected = json.loads(EXPECTED.read_text(encoding="utf-8"))
    assert list(planned_jobs) == list(expected)
    for what, jobs in expected.items():
        assert planned_jobs[what] == jobs, what


@pytest.mark.nightly
@pytest.mark.parametrize(
    "case", [case for case in CASES if case.must.startswith("nothing")], ids=lambda case: case.what
)
def test_nothing_runs(plans, case):
    """Whatever staleness.json was written with."""
    assert plans[case.what].jobs == frozenset()


@pytest.mark.nightly
def test_planning_names_edited_files_in_one_line(plans):
    text = plans["a refactoring: a rename, a new optional field of a shared record, a citation"].text
    (line,) = [line for line in text.splitlines() if "edited: " in line]
    names = ("excam/error_reports/records.py", "excam/excam40k/datasets/blend.py", "excam/stats/accuracy.py")
    assert line.startswith(f"edited: {', '.join(names)}; expected the code that excam/versions.lock names; ")
    assert "edited: " not in plans["comments, docstrings"].text


def table() -> str:
    """The generated part of docs/reliability.md."""
    expected, parts = json.loads(EXPECTED.read_text(encoding="utf-8")), []
    for title, cases in SECTIONS.items():
        lines = [f"| {case.what} | {case.must} | {sum(map(len, expected[case.what].values()))} |\n" for case in cases]
        parts.append(f"### {title}\n\n| changed | must run | jobs |\n|---|---|---:|\n{''.join(lines)}")
    return "\n".join(parts)


def test_the_page_says_what_was_planned():
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    section, end, after = rest.partition(END)
    assert end, f"{PAGE}: no {END.strip()}"
    if os.environ.get("REWRITE_DOCS"):
        PAGE.write_text(before + BEGIN + table() + END + after, encoding="utf-8")
    else:
        assert section == table(), "run: see the first lines of this file"


@pytest.mark.run
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


@pytest.mark.run
def test_audit_of_everything_names_a_changed_file_of_every_kind(run, tmp_path):
    """One of each folder and suffix, with its old time; fetched files and weights too, which only manifests record."""
    copy = copied(run.folder, tmp_path / "copy")
    files = [name for name in copy.files("results") if copy.read(name) and not name.endswith("manifest.json")]
    kinds = {(Path(name).parts[1], Path(name).suffix): name for name in files}
    changed = {name for (folder, _), name in kinds.items() if folder not in (".hashes", "journal", "checkpoints")}
    folders = {"audits", "published", "sources", "models", "adapters", "tokens"}
    assert {Path(name).parts[1] for name in changed} >= folders
    assert copy.excam("audit").returncode == 0
    for name in changed:
        flipped(name, keep_time=True)(copy)
    done = copy.excam("audit")
    assert done.returncode == 1
    assert {line.split(": differs: ")[0] for line in done.stderr.splitlines() if ": differs: " in line} == changed


@pytest.mark.run
def test_another_number_of_shards_merges_to_the_same_set_and_one_run_waits_for_none(run, tmp_path):
    """Of two invocations that want the same files one is refused, the other ends undisturbed.

    Then nothing is stale but the page that adds up the hours of the shards' jobs, and the first page of the results.
    """
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
    assert first.wait() == 0
    assert len(list((here.folder / "results/errors/soft/normad/minor").glob("*.jsonl"))) == 3
    assert here.digest(merged, counts) == before
    assert here.planned(*overlays, "--", "all", experiment=None) == {"paper_claims": 1, "results_index": 1}
