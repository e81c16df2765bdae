"""What `bench.mutants` runs: all modules with statistics; listed lines are still in the modules, each with a reason."""

import re
import subprocess
import sys

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


def test_a_mutant_is_killed_by_the_tests_that_reach_it(tmp_path):
    """Not what is computed on import, nor what no test reaches; and nothing is said where tests always fail."""
    module, tests = tmp_path / "added.py", tmp_path / "test_added.py"
    module.write_text("def add(a, b=1):\n    return a + b\n\n\ndef unreached():\n    return 1\n")
    source = module.read_text()
    mutants = [
        (module, source.replace(*change)) for change in (("a + b", "a - b"), ("b=1", "b=2"), ("return 1", "return 2"))
    ]
    program = f"""
import sys
from pathlib import Path, PosixPath
import pytest
sys.path.insert(0, {str(ROOT)!r})
from bench.forked_tests import ForkedTests
loop = ForkedTests({mutants!r}, 60, lambda verdicts: print("verdicts", verdicts))
pytest.main(["-q", "-s", "-p", "no:cacheprovider", {str(tests)!r}], [loop])
"""
    for expected, said in (("3", "verdicts [True, False, False]"), ("4", "")):
        tests.write_text(f"import added\n\n\ndef test_add():\n    assert added.add(1, 2) == {expected}\n")
        run = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=True)
        assert [line for line in run.stdout.splitlines() if "verdicts" in line] == [said] * bool(said), run
