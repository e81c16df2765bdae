"""docs/extending.md followed word for word: a benchmark, a judge and a base model are added, and what is cheap is run."""

import subprocess
import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[1] / "unit"))

import tiny
from blocks import follow, marked
from checkout import ROOT, Run, copy_checkout

PAGE = ROOT / "docs/extending.md"


@pytest.fixture(scope="module")
def extended(tmp_path_factory) -> Run:
    """A checkout in which the page was followed, block by block."""
    made = Run(tmp_path_factory.mktemp("extended"))
    copy_checkout(made.folder)
    tiny.model(made.folder / "models/my-model")
    assert follow(PAGE, made.folder, made.environment) == 6
    return made


def test_the_page_can_be_followed(extended):
    assert (extended.folder / "results/errors/hard/dishes.parquet").exists()


def test_it_adds_one_file_for_each_and_an_entry(extended):
    made = {block.detail for block in marked(PAGE) if block.kind == "file"}
    assert made == {
        "data/dishes/dishes.csv",
        "excam/datasets/dishes.py",
        "excam/judges/stereotype.py",
        "experiments/extended.yaml",
    }
    assert not [name for name in made if (ROOT / name).exists()]


def test_what_it_adds_keeps_the_house_s_rules(extended):
    files = ["excam/datasets/dishes.py", "excam/judges/stereotype.py"]
    for command in (["check"], ["format", "--check"]):
        done = subprocess.run(
            ["ruff", *command, *files], cwd=extended.folder, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout


def test_the_new_benchmark_and_judge_are_in_the_lock(extended):
    code = "from excam.versions import stage_version as v; print(*map(v, ['datasets.dishes', 'judges.stereotype']))"
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=extended.folder,
        env=extended.environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "1 1\n"
