"""docs/extending.md followed word for word: a benchmark, a judge and a base model are added, and what is cheap is run."""

import subprocess
import sys

import pytest
import tiny
from checkout import ROOT, Run, copy_checkout
from doc_blocks import follow, marked

pytestmark = pytest.mark.nightly
PAGE = ROOT / "docs/extending.md"


@pytest.fixture(scope="module")
def extended(tmp_path_factory) -> Run:
    """A checkout in which the page was followed, block by block."""
    made = Run(tmp_path_factory.mktemp("extended"))
    copy_checkout(made.folder)
    tiny.model(made.folder / "models/my-model")
    assert follow(PAGE, made.folder, made.environment) == 9
    return made


def test_the_page_can_be_followed(extended):
    assert (extended.folder / "results/errors/hard/dishes.parquet").exists()


def test_it_adds_one_file_for_each_and_an_entry(extended):
    made = {block.detail for block in marked(PAGE) if block.kind == "file"}
    assert made == {
        "mini/dishes/dishes.csv", "mine/dishes.py", "excam/error_reports/judges/stereotype.py",
        "experiments/extended.yaml", "scripts/dishes.py", "my_metric.py",
    }  # fmt: skip
    assert not [name for name in made if (ROOT / name).exists()]


def test_what_it_adds_keeps_the_house_s_rules(extended):
    package = ["excam/excam40k/datasets/dishes.py", "excam/error_reports/judges/stereotype.py"]
    files = [*package, "scripts/dishes.py", "my_metric.py"]
    for command in (["check"], ["format", "--check"]):
        done = subprocess.run(["ruff", *command, *files], cwd=extended.folder, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout


def test_it_needs_no_entry_in_the_lock(extended):
    planned = extended("-n", "results/samples/dishes.parquet", experiment="experiments/extended.yaml")
    assert "edited: " not in planned.text


def test_a_changed_table_of_licences_is_another_value_of_the_audit(extended):
    """What runs again is what has another value in `params`: the terms of each licence stand there."""
    table = extended.folder / "excam/core/licences.py"
    audit = ("-n", "-p", "results/audits/licences.md")
    before = extended(*audit, experiment="experiments/extended.yaml").text
    assert '"dishes": ["CC-BY-4.0", ["attribution"], "excam/excam40k/datasets/dishes.py"]' in before
    original = table.read_text(encoding="utf-8")
    table.write_text(original.replace('"Permissive": ("attribution",)', '"Permissive": ()'), encoding="utf-8")
    after = extended(*audit, experiment="experiments/extended.yaml").text
    table.write_text(original, encoding="utf-8")
    assert '"mango": ["CC-BY-4.0", ["attribution"],' in after  # Creative Commons says it in the name
    assert '"include": ["Apache-2.0", ["attribution"],' in before
    assert '"include": ["Apache-2.0", [],' in after


def test_no_other_file_has_to_change(extended):
    """The tests that know every benchmark, judge and rule, in the copy in which the page was followed."""
    names = ("golden/test_pairs", "excam40k/test_datasets", "error_reports/test_judges", "config/test_config")
    tests = [f"tests/{name}.py" for name in (*names, "excam40k/test_publishing")]
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests]
    done = subprocess.run(command, cwd=extended.folder, env=extended.environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-3000:]
    changed = {str(path.relative_to(extended.folder)) for path in extended.folder.rglob("*.json") if path.is_file()}
    assert "tests/golden/expected/dishes.json" in changed
