"""Licences of what an installation brings: none that asks its users to publish their own code, and a table that is true."""

import os
import re
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

ROOT = Path(__file__).parents[1]
TABLE = ROOT / "docs/licences.csv"
COPYLEFT = re.compile(r"GPL|General Public|EUPL|SSPL|European Union Public|CC[- ]BY[- ]SA|Share ?Alike", re.I)
EXPLAINED = {"docutils": "GPL is an editor's mode in its source archive; what is installed is public domain or BSD"}
PIN = re.compile(r"^([a-z0-9-]+)==([^ \\]+)(.*)", re.M)


def pinned(lock: str) -> dict[str, str]:
    """Name -> version of what a lock pins for Linux."""
    pins = PIN.findall((ROOT / f"requirements/{lock}.lock").read_text(encoding="utf-8"))
    return {name: version for name, version, marker in pins if not re.search(r"win32|emscripten", marker)}


def licence(name: str) -> str:
    """What an installed package says of its licence: an SPDX expression, classifiers, a field, or its file's first line."""
    about = distribution(name).metadata
    classified = [line.split(" :: ")[-1] for line in about.get_all("Classifier") or () if line.startswith("License")]
    files = [file for file in distribution(name).files or () if "licen" in file.name.lower()]
    first = next((line for file in files for line in file.read_text().splitlines() if line.strip()), "")
    stated = about["License-Expression"] or "; ".join(classified) or (about["License"] or "").split("\n")[0] or first
    return stated.strip() or "not stated"


def written() -> str:
    """Every package with the licence that it states, and why a strange one is harmless."""
    lines = (f'{name},"{licence(name)}",{EXPLAINED.get(name, "")}\n' for name in installed())
    return "package,licence,explanation\n" + "".join(lines)


def installed() -> list[str]:
    return sorted({*pinned("core"), "torch"})


def test_the_environment_is_the_locked_one():
    """Otherwise the table, and every other test, speaks of packages that nobody else has."""
    assert {name: distribution(name).version for name in pinned("core")} == pinned("core"), "run: ./setup.sh dev"


def test_no_copyleft_at_run_time():
    for name in installed():
        assert name in EXPLAINED or not COPYLEFT.search(licence(name)), f"{name}: {licence(name)}"
        assert licence(name) != "not stated", name


def test_the_pattern_finds_what_it_is_for():
    """The oracle of some tests is under the GPL: the check sees that, and the lock of the users does not have it."""
    assert COPYLEFT.search(licence("krippendorff"))
    assert "krippendorff" not in pinned("core")


def test_what_is_copyleft_is_not_imported():
    known = {name for name in pinned("dev") if _is_copyleft(name)}
    assert "krippendorff" in known
    for path in (*(ROOT / "excam").rglob("*.py"), *(ROOT / "scripts").glob("*.py")):
        imported = set(re.findall(r"^\s*(?:from|import) (\w+)", path.read_text(encoding="utf-8"), re.M))
        assert not imported & {name.replace("-", "_") for name in known}, path


def _is_copyleft(name: str) -> bool:
    try:
        return name not in EXPLAINED and bool(COPYLEFT.search(licence(name)))
    except PackageNotFoundError:  # of another platform
        return False


def test_the_table_is_true():
    if os.environ.get("REWRITE_DOCS"):
        TABLE.write_text(written(), encoding="utf-8")
    assert TABLE.read_text(encoding="utf-8") == written(), "run: python tests/records.py"
