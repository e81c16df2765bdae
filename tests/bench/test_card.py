"""What was measured on a card takes the place of what was assumed, and nothing else changes."""

import shutil

import pytest

from bench import card
from bench.hours import FILE, assumptions


def test_measured_values_replace_assumed_ones(tmp_path, monkeypatch):
    copy = tmp_path / "hours.yaml"
    shutil.copy(FILE, copy)
    lines = [{"name": "reading", "of": f"{n} answers", "value": value} for n, value in ((64, 0.5), (256, 0.55))]
    card.write_assumptions(copy, lines, "a card")
    before, _ = assumptions()
    monkeypatch.setattr("bench.hours.FILE", copy)
    after, sources = assumptions()
    assert {name for name in before if before[name] != after[name]} == set()  # .525 is the mean of both
    assert sources["reading"] == "measured on a card (bench.card): 64 answers 0.5, 256 answers 0.55"


def test_an_assumption_that_is_not_there_is_said(tmp_path):
    (tmp_path / "hours.yaml").write_text("mfu: [1, x]\n")
    with pytest.raises(SystemExit, match="disk stands there 0 times"):
        card.write_assumptions(tmp_path / "hours.yaml", [{"name": "disk", "of": "", "value": 1.0}], "a card")
