"""Renew every record of the code in the repository: `python tests/records.py` (three minutes).

Hashes of modules (`excam/versions.lock`), the schema of `config.yaml`, generated pages of `docs/`, and the outputs of
stages (`tests/golden/stages.json`), which refuse where an output changed and no version was raised. Each is a file of
one line an entry, sorted; only the lines of what changed change.
"""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGES = (
    "tests/lineage/test_map.py",
    "tests/lineage/test_specification.py",
    "tests/test_licences.py",
    "tests/scoring/test_metric_options.py",
    "tests/lineage/test_numbers.py",
)  # which they test


def renew() -> None:
    python = [sys.executable]
    run([*python, "-m", "excam", "lock"])
    schema = "from excam.config import json_schema; print(json_schema(), end='')"
    (ROOT / "config.schema.json").write_bytes(run([*python, "-c", schema]))
    run([*python, "-m", "pytest", "-q", "-n0", "-m", "", *PAGES], REWRITE_DOCS="1")
    print(run([*python, "tests/golden/record_stages.py"]).decode(), end="")
    print(run(["git", "status", "--short"]).decode(), end="")


def run(command: list[str], **variables: str) -> bytes:
    """Return what a command wrote; stop where it fails, with its words."""
    done = subprocess.run(command, cwd=ROOT, env={**os.environ, **variables}, capture_output=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(command)}:\n{(done.stdout + done.stderr).decode()[-2000:]}")
    return done.stdout


if __name__ == "__main__":
    renew()
