"""What tests of statistics share."""

import pytest

from excam.stats import bootstrap


@pytest.fixture
def bootstrap_above_30(monkeypatch):
    """Let a test of the bootstrap have few clusters, which are quick to draw by hand."""
    monkeypatch.setattr(bootstrap, "FEW", 30)
