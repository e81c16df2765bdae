"""The complete data set: properties of every row, and changes that must have no effect."""

import json
from pathlib import Path

import pytest
import regex
from build_excam40k import audit, build, samples_of

from excam.config import modules_in
from excam.core.provenance import sha256
from excam.core.splits import SPLITS
from excam.error_reports.records import Sample

ROOT = Path(__file__).parents[2]
MINI = {name: ROOT / "mini" / name for name in modules_in("excam40k/datasets")}
# one record of Mango is a format, no data set
REAL = {p.name: p for p in sorted((ROOT.parent / "shared/data").glob("*")) if p.name in MINI and p.name != "mango"}
MINI_CAPS = {"normad": 330}  # as in experiments/small.yaml
SHIPPED = ("train.parquet", "dev.parquet", "test.parquet", "test-100.parquet", "counts.json")


@pytest.fixture(scope="module")
def mini(tmp_path_factory) -> Path:
    return build(tmp_path_factory.mktemp("mini"), MINI, caps=MINI_CAPS)


@pytest.fixture(scope="module")
def real(tmp_path_factory) -> Path:
    if not REAL:
        pytest.skip("no real rows here")
    caps = {"calmqa": 2500, "normad": 5000}  # all rows: the lexicon keeps one pair of 43, and of 8
    return build(tmp_path_factory.mktemp("real"), REAL, cap=400, caps=caps)


@pytest.fixture(params=["mini", "real"])
def built(request) -> dict[str, list[Sample]]:
    results = request.getfixturevalue(request.param)
    return {path.parent.name: samples_of(results, path.parent.name) for path in results.glob("excam40k/*/counts.json")}


def hashes(results: Path, *datasets: str) -> dict[str, str]:
    return {f"{name}/{file}": sha256(results / "excam40k" / name / file) for name in datasets for file in SHIPPED}


def test_a_span_is_the_text_it_points_at(built):
    for row in (row for rows in built.values() for row in rows):
        for error in row.report.errors:
            text = getattr(row, error.where)
            assert text[error.start : error.end] == error.span, row.id
            edges = {0, *(match.end() for match in regex.finditer(r"\X", text))}
            assert {error.start, error.end} <= edges, f"{row.id}: inside a character"


def test_no_markup_of_ours_is_left(built):
    left = regex.compile(r"\{(question|options|answer|letter|role|context|right|wrong|culture)\}")
    for row in (row for rows in built.values() for row in rows):
        assert not left.search(row.instruction + row.output + row.report.explanation), row.id


@pytest.mark.parametrize("shards", [1, 4, 16])
def test_the_number_of_shards_changes_nothing(mini, tmp_path, shards):
    soft = {name: MINI[name] for name in ("mango", "calmqa", "normad")}  # answers of NormAd are exchanged across shards
    again = build(tmp_path, soft, caps=MINI_CAPS, shards=shards)
    assert hashes(again, *soft) == hashes(mini, *soft)


def test_one_dataset_more_or_less_changes_no_row_of_the_others(mini, tmp_path):
    fewer = {name: MINI[name] for name in ("epic", "blend", "normad")}
    assert hashes(build(tmp_path, fewer, caps=MINI_CAPS), *fewer) == hashes(mini, *fewer)


def test_two_builds_are_equal_to_the_byte(mini, tmp_path):
    again = build(tmp_path, MINI, caps=MINI_CAPS)
    assert hashes(again, *MINI) == hashes(mini, *MINI)
    for file in ("excam40k/near-duplicates.csv", "samples/mango.counts.json", "errors/soft/normad.counts.json"):
        assert (again / file).read_bytes() == (mini / file).read_bytes()


def test_counts_tell_where_every_row_went(mini):
    for name in MINI:
        read = json.loads((mini / f"samples/{name}.counts.json").read_text())
        assert read["rows"] == read["base_samples"] + sum(read["dropped"].values())
        split = json.loads((mini / f"excam40k/{name}/counts.json").read_text())
        cells = split["cells"]
        assert split["rows"] == sum(sum(cell.values()) for cell in cells.values())
        assert all(sum(cells[part].values()) == split[part] for part in SPLITS)


@pytest.mark.parametrize("build_of", ["mini", "real"])
def test_every_audit_passes(request, build_of):
    results = request.getfixturevalue(build_of)
    audits = audit(results, sorted(path.parent.name for path in results.glob("excam40k/*/counts.json")))
    assert all(audits.values()), "an audit without checks"
    failed = [check for checks in audits.values() for check in checks if check["outcome"] == "failed"]
    assert failed == []
