"""Results in a notebook and in data libraries, and the arguments of `excam.load` beside the options of the command."""

import inspect
import re
import sys
from dataclasses import fields

import pytest
from test_scored_page import ATTACKS, SIX, failed, judged

import excam
from excam.core.extras import NotInstalled
from excam.scoring.options import Options
from excam.scoring.scores import Results, Scores


def test_results_show_their_mean_and_their_failures():
    few = Results(iter(SIX)).collect()
    assert repr(few) == "Scores(n = 6, mean -2.77 of 4, 3 with errors, 2 failed)"
    many = Scores([*(judged(n, "Sushi", *[(0, 5, "major", "t")] * (n % 4 == 0)) for n in range(40)), failed(40)])
    assert re.fullmatch(
        r"Scores\(n = 41, mean -0\.88 \[-1\.\d\d, -?0\.\d\d\] of 40, 10 with errors, 1 failed\)", repr(many)
    )
    assert repr(Scores([])) == "Scores(n = 0, 0 failed)"
    assert (len(many[:3]), many[40].failure) == (3, "truncated")


def test_a_notebook_shows_marked_words_and_no_markup_of_texts():
    shown = Scores(SIX)._repr_html_()
    assert "<td>Greeks eat <mark>Sushi</mark>.</td>" in shown
    assert "<td><mark>שלום</mark> <mark>עולם</mark>, כן</td>" in shown
    assert "<td>truncated</td>" in shown
    long = judged(7, f"{'a' * 1000}Sushi{'b' * 1000}", (1000, 1005, "major", "t"))
    assert f"<td> … {'a' * 120}<mark>Sushi</mark>{'b' * 120} … </td>" in Scores([long])._repr_html_()
    hostile = Scores([judged(n, attack, (0, 3, "major", attack), id=attack) for n, attack in enumerate(ATTACKS)])
    assert set(re.findall(r"</?([a-z]+)", hostile._repr_html_())) <= {
        "p",
        "table",
        "thead",
        "tbody",
        "tr",
        "th",
        "td",
        "mark",
    }
    assert Scores([SIX[0]] * 30)._repr_html_().count("<tr>") == 1 + 20
    assert "the first 20 shown" in Scores([SIX[0]] * 21)._repr_html_()
    assert "shown" not in Scores([SIX[0]] * 20)._repr_html_()


def test_tables_of_data_libraries(monkeypatch):
    scores = Scores(SIX)
    table = scores.to_polars()
    pytest.importorskip("pandas")
    assert scores.to_pandas()["score"].dropna().to_list() == table["score"].drop_nulls().to_list()
    assert list(scores.to_pandas().columns) == table.columns
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(NotInstalled, match="pandas: not installed; expected it for to_pandas: pip install pandas"):
        scores.to_pandas()


def test_load_has_every_option_of_scoring():
    names = {"models": "model", "bases": "base"}
    assert set(inspect.signature(excam.load).parameters) == {
        names.get(item.name, item.name) for item in fields(Options)
    }
