"""The complete embedded experiment through a real Slurm. Only with `pytest -m cluster`, as root on Debian."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from checkout import ROOT, tells_of_the_run
from on_slurm import ask

from excam.core.steps import read_steps
from excam.inference.journal import JournalEntry, read
from tests.helpers import killed_jobs

CLAIMS, HOURS = "results/paper/claims.csv", ("training-time-", "evaluation-time,", "gpu-hours,", "generation-hours,")
ON_CARDS = {"generate_soft_errors", "train_adapter", "verify_adapter", "judge"}
pytestmark = [pytest.mark.cluster, pytest.mark.timeout(1800)]  # the first test waits for the run


def cheap_rules() -> set[str]:
    """The rules that run where the command is typed."""
    text = "".join(path.read_text() for path in (ROOT / "rules").glob("*.smk"))
    pages = {name for name, step in read_steps(ROOT).items() if step.rule and step.rule.local}
    return pages | {
        name
        for listed in re.findall(r"^localrules:\n((?:    \w+,\n)+)", text, re.M)
        for name in re.findall(r"\w+", listed)
    }


def files(run) -> list[str]:
    return sorted(str(path.relative_to(run.folder)) for path in (run.folder / "results").rglob("*") if path.is_file())


def claims(run) -> list[str]:
    """The lines of the claims without those about the time that this run took."""
    lines = (run.folder / CLAIMS).read_text().splitlines()
    assert len(lines) > 50
    return [line for line in lines if not line.startswith(HOURS)]


def times(jobs: list[str]) -> dict[str, tuple[int, int]]:
    """When Slurm started and ended jobs, in seconds."""
    words = ("sacct", "-X", "-n", "-P", "--format=JobIDRaw,Start,End", "-j", ",".join(jobs))
    rows = [line.split("|") for line in ask("env", "SLURM_TIME_FORMAT=%s", *words).splitlines()]
    return {job: (int(start), int(end)) for job, start, end in rows}


def answers(path: Path) -> dict[str, JournalEntry]:
    return {entry.key: entry for _, entry in read(path) if isinstance(entry, JournalEntry)}


def test_same_bytes_as_on_one_machine(local, run):
    here, process, said = local
    assert process.wait(timeout=900) == 0, said.read_text()[-4000:]
    assert files(run) == files(here)
    names = [name for name in files(here) if not tells_of_the_run(Path(name)) and "paper/claims." not in name]
    assert len(names) > 300
    assert run.digest(*names) == here.digest(*names)
    assert claims(run) == claims(here)


def test_journals_hold_the_same_answers(local, run):
    here, process, _ = local
    assert process.wait(timeout=900) == 0
    names = [name for name in files(here) if "/journal/" in name]
    assert names
    for name in names:
        assert answers(run.folder / name) == answers(here.folder / name), name


def test_only_cheap_rules_ran_where_the_command_was_typed(run):
    started = run.started()
    assert {rule for job, _, rule in started if job == "none"} <= cheap_rules()
    assert {rule for job, _, rule in started if job != "none"} & cheap_rules() == set()
    assert {rule for job, _, rule in started if job != "none"} >= ON_CARDS | {"build_samples", "mix_samples"}


def test_each_job_on_a_card_has_it_alone(run):
    cards = {job: card for job, card, rule in run.started() if rule in ON_CARDS}
    assert all(job != "none" and card in {"0", "1", "2", "3"} for job, card in cards.items())
    assert {card for _, card, rule in run.started() if rule not in ON_CARDS} == {"none"}
    span = times(list(cards))
    at_once = [
        (a, b) for a in cards for b in cards if a < b and max(span[a][0], span[b][0]) < min(span[a][1], span[b][1])
    ]
    assert at_once, "no two jobs ran at once: nothing was shown"
    assert all(cards[a] != cards[b] for a, b in at_once)


def test_second_invocation_hands_nothing_in(run):
    before = len(run.started())
    assert run.planned("all") == {}
    done = run("all")
    assert done.returncode == 0
    assert "Nothing to be done" in done.text
    assert len(run.started()) == before


def test_pace_of_a_server_reaches_the_job_and_makes_nothing_stale(run):
    """JSON with braces, quotes and commas, on its way through sbatch, a shell, srun and another shell."""
    target = "results/transcripts/served/nothing/report/blend/test.manifest.json"
    with killed_jobs.Server() as server:

        def experiment(**pace) -> str:
            settings = yaml.safe_load((ROOT / "tests/experiment.yaml").read_text())
            at = {"endpoint": server.endpoint, **pace}
            settings["models"]["served"] = {
                "hub": "some/model", "backend": "openai", "licence": "MIT", "server": at, "sampling": {"max_tokens": 64},
            }  # fmt: skip
            settings["baselines"] = {"models": ["smollm2-135m", "served"], "judges": ["count", "report"]}
            (run.folder / "served.yaml").write_text(yaml.safe_dump(settings))
            return "served.yaml"

        price = {"prompt": 1e6, "completion": 0.5e6}  # so that a token costs one, or a half
        paced = experiment(concurrency=3, requests_per_minute=60_000, timeout=30.5, price=price)
        done = run(target, experiment=paced)
        assert done.returncode == 0, done.text[-4000:]
        numbers = json.loads((run.folder / target).read_text())
        assert numbers["cost"] == numbers["prompt_tokens"] + 0.5 * numbers["completion_tokens"] > 0
        assert run.planned(target, experiment=experiment(concurrency=5)) == {}
    assert run.started()[-1][0] != "none"


SNAKEFILE = r"""
rule cards:
    output: "cards.txt"
    threads: 4
    resources: gpu=2, gpu_model="h100"
    shell:
        "echo $(squeue -h -j $SLURM_JOB_ID -o '%A %D %C %m %l') $CUDA_VISIBLE_DEVICES >> attempts.txt;"
        " [ {resources.mem_mb} -gt 8000 ] && touch {output}"

rule cores:
    output: "cores.txt"
    threads: 4
    shell: "echo $(squeue -h -j $SLURM_JOB_ID -o '%D %C %m %l') ${{CUDA_VISIBLE_DEVICES:-none}} > {output}"
"""


def test_what_the_profile_asks_for_is_what_jobs_get(cluster, tmp_path):
    """`profiles/slurm` alone: cards by number and kind, cores a card, memory and minutes that grow by the attempt."""
    (tmp_path / "Snakefile").write_text(SNAKEFILE)
    done = subprocess.run(
        [
            *("snakemake", "--profile", ROOT / "profiles/slurm", "--directory", tmp_path, "-s", tmp_path / "Snakefile"),
            *("--slurm-init-seconds-before-status-checks", "1", "--", "cards", "cores"),
        ],
        cwd=ROOT,
        env={**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    (first, *got), (second, *got_again) = (
        line.split() for line in (tmp_path / "attempts.txt").read_text().splitlines()
    )
    assert got == ["1", "16", "8000M", "1:00:00", "0,1"]
    assert got_again == ["1", "16", "16000M", "2:00:00", "0,1"]
    assert first != second
    assert (tmp_path / "cores.txt").read_text().split() == ["1", "4", "8000M", "1:00:00", "none"]
