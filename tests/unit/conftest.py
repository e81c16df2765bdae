"""Shared fixtures: a browser, and an environment that is restored after a command."""

import chromium
import pytest


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    """A real Chromium; skipped where there is none."""
    chromium.skip_without()
    with chromium.Browser(tmp_path_factory.mktemp("profile")) as opened:
        yield opened


@pytest.fixture
def own_environment(monkeypatch):
    """What `quiet_libraries` sets for a program is not left to the other tests."""
    names = ("TQDM_DISABLE", "VLLM_LOGGING_LEVEL", "VLLM_NO_USAGE_STATS", "HF_HUB_OFFLINE")
    for name in names:
        monkeypatch.setenv(name, "1")
    monkeypatch.setenv("TRANSFORMERS_VERBOSITY", "error")
