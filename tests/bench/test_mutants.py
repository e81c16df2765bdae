"""What `bench.mutants` runs: all modules with statistics; listed lines are still in the modules, each with a reason."""

import re

from bench.mutants import LISTED, ROOT

SHOW = ("__init__", "pages", "printed", "display")  # of modules that show what others computed


def test_listed_changes_are_of_lines_that_exist():
    for module, changes in LISTED["equivalent"].items():
        lines = {line.strip() for line in (ROOT / module).read_text(encoding="utf-8").splitlines()}
        assert {change.partition(" => ")[0] for change in changes} <= lines, module
        assert all(len(reason.split()) > 3 for reason in changes.values()), module


def test_modules_and_tests_of_groups_exist():
    for group in LISTED["groups"].values():
        for name, tests in group["modules"].items():
            assert (ROOT / "excam" / name).exists(), name
            assert all((ROOT / f"tests/{test}.py").is_file() for test in f"{group['first']} {tests}".split()), name


def test_modules_with_statistics_are_in_a_group():
    names = [name for group in LISTED["groups"].values() for name in group["modules"]]
    known = {path for name in names for path in (ROOT / "excam" / name, *(ROOT / "excam" / name).rglob("*.py"))}
    for path in (ROOT / "excam").rglob("*.py"):
        computes = path.parent.name == "stats" or re.search("^from excam.stats", path.read_text(encoding="utf-8"), re.M)
        if (computes or path.stem.endswith("numbers")) and not path.stem.endswith(SHOW):
            assert path in known, path
