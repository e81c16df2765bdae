"""Licences of what an installation brings: none that asks its users to publish their own code, and a page that is true."""

import os
import re
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs/licences.md"
COPYLEFT = re.compile(r"GPL|General Public|EUPL|SSPL|European Union Public|CC[- ]BY[- ]SA|Share ?Alike", re.I)
EXPLAINED = {"docutils": "GPL is an editor's mode in its source archive; what is installed is public domain or BSD"}
PIN = re.compile(r"^([a-z0-9-]+)==([^ \\]+)(.*)", re.M)
HEAD = """\
# Licences of what is installed

What `./setup.sh` installs for running, on Linux, as each package states it (written by a test from the lock files). ExCAM
itself is Apache-2.0. None of these asks users of ExCAM to publish code of their own, which a test keeps so: packages under
such licences (GPL, LGPL, AGPL, EUPL, SSPL) are tools of the tests at most and are never imported by `excam` or `scripts`.
MPL-2.0 (certifi, tqdm) asks for changes to their own files only. Where pip finds no CPU build of torch, CUDA's libraries come
with it, under NVIDIA's terms. vLLM has an environment of its own and is not listed; it is Apache-2.0.

Data and models have licences of their own: `excam list datasets`, `models:` in `config.yaml`.

| package | version | licence |
|---|---|---|
"""


def pinned(lock: str) -> list[str]:
    """Names that a lock pins for Linux."""
    found = PIN.findall((ROOT / f"requirements/{lock}.lock").read_text(encoding="utf-8"))
    return [name for name, _, marker in found if not re.search(r"win32|emscripten", marker)]


def licence(name: str) -> str:
    """What an installed package says of its licence: an SPDX expression, classifiers, a field, or its file's first line."""
    about = distribution(name).metadata
    classified = [line.split(" :: ")[-1] for line in about.get_all("Classifier") or () if line.startswith("License")]
    files = [file for file in distribution(name).files or () if "licen" in file.name.lower()]
    first = next((line for file in files for line in file.read_text().splitlines() if line.strip()), "")
    stated = about["License-Expression"] or "; ".join(classified) or (about["License"] or "").split("\n")[0] or first
    return stated.strip() or "not stated"


def written() -> str:
    lines = [f"| {name} | {distribution(name).version.split('+')[0]} | {licence(name)} |\n" for name in installed()]
    return HEAD + "".join(lines) + "".join(f"\n{name}: {reason}.\n" for name, reason in EXPLAINED.items())


def installed() -> list[str]:
    return sorted({*pinned("core"), "torch"})


@pytest.mark.parametrize("name", installed())
def test_no_copyleft_at_run_time(name):
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


def test_the_page_is_true():
    now = written()
    if os.environ.get("REWRITE_DOCS"):
        PAGE.write_text(now, encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == now, "run: REWRITE_DOCS=1 pytest tests/test_licences.py"
