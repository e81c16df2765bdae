"""A few hundred cases of `bench.fuzz`, through the same functions; the million is run by hand."""

import pytest

from bench import fuzz

SEED = 20260401


@pytest.mark.parametrize("target", fuzz.TARGETS)
def test_nothing_raises(target, monkeypatch):
    monkeypatch.setattr(fuzz, "TARGETS", {target: fuzz.TARGETS[target]})
    tally = fuzz.fuzz(SEED, first=0, strings=600, processes=1)[target]
    assert (tally.strings, tally.failures) == (600, [])


def test_a_failure_is_counted_shown_and_repeatable(monkeypatch, capsys):
    def target(draw):
        assert draw.random() < 0.9, "odd"

    monkeypatch.setattr(fuzz, "TARGETS", {"target": target})
    assert fuzz.main(["--strings", "50", "--seed", "3"]) == 1
    head, first, *_ = capsys.readouterr().out.splitlines()
    assert head.startswith("target: 50 strings, ")
    index = first.split("index ")[1].split(":")[0]
    assert fuzz.main(["--strings", "1", "--seed", "3", "--first", index]) == 1
    assert "odd" in capsys.readouterr().out
    monkeypatch.setattr(fuzz, "TARGETS", {"target": lambda draw: None})
    assert fuzz.main(["--strings", "5"]) == 0
