"""Paths of results: built and parsed by one module."""

from pathlib import Path

import pytest

from excam.core import paths
from excam.core.exceptions import InputInvalid
from excam.core.paths import Cell

CELL = Cell("m", "without-blend", "report", "blend", "test-100")
POOLED = Cell("m", "nothing", "count", "all", "test")


@pytest.mark.parametrize("kind", sorted(paths.SUFFIXES))
@pytest.mark.parametrize("before", ["", "/somewhere/else", "copy/of"])
def test_a_path_is_parsed_to_the_cell_that_built_it(kind, before):
    assert Cell.from_path(before / POOLED.path(kind)) == POOLED


def test_every_axis_is_one_component_of_the_path():
    assert CELL.path("transcripts").as_posix() == "results/transcripts/m/without-blend/report/blend/test-100.jsonl"
    assert CELL.system == ("m", "without-blend", "report")


def test_a_model_may_have_the_name_of_a_kind():
    for name in paths.AXES:
        cell = Cell(name, "nothing", "count", "blend", "test")
        assert Cell.from_path(cell.path("evaluation")) == cell


def test_files_beside_a_cell_have_its_axes():
    beside = Path("results/judgements/m/all/report/all/test.rows.parquet")
    assert Cell.from_path(beside) == Cell("m", "all", "report", "all", "test")


@pytest.mark.parametrize(
    ("path", "axes"),
    [
        ("results/tokens/m/blend/train.json", {"model": "m", "dataset": "blend"}),
        ("results/adapters/m/all/loss.csv", {"model": "m", "trained_on": "all"}),
        ("significance/all/test.correlations.json", {"dataset": "all"}),
        ("results/models/phi4/manifest.json", {"model": "phi4"}),
    ],
)
def test_other_results_have_fewer_axes(path, axes):
    assert paths.axes(Path(path)) == axes


@pytest.mark.parametrize("path", ["test.json", "results/evaluation/m/test.json", "elsewhere/m/all/report/all/x.json"])
def test_another_path_is_refused(path):
    with pytest.raises(InputInvalid, match=r": not a path of results; expected <kind>/<axes>/<file>"):
        Cell.from_path(Path(path))


def test_a_result_of_no_cell_is_refused():
    with pytest.raises(InputInvalid, match=r"expected <kind>/<model>/<trained_on>/<judge>/<dataset>/<file>"):
        Cell.from_path(Path("results/adapters/m/all/loss.csv"))


def test_what_leaves_results_is_not_below_it():
    assert paths.below_results(Path("results/paper/table-4.csv")) == ("paper", "table-4.csv")
    for name in ("", "results", "paper/x", "/results/x", "results/../x"):
        assert paths.below_results(Path(name)) is None
