"""The list of mutants that nothing can kill: its lines are still in the modules, each with a reason."""

from bench.mutants import LISTED, ROOT


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
