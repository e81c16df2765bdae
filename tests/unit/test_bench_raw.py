"""The synthetic raw files: every loader reads them and drops only what it should; the same seed, the same bytes."""

from pathlib import Path

import pytest

from bench import raw
from excam import datasets

SCALE = 0.002
EXPECTED = {  # reasons that belong to the official files
    "blend": {"over-5-per-question"},
    "culturalbench": set(),
    "include": {"culture-agnostic"},
    "mango": set(),
    "globalopinionqa": {"non-national-sample", "superseded-sample", "tie", "non-answer", "no-question"},
    "nativqa": set(),
    "normad": {"neutral"},
    "calmqa": {"no-answer"},
    "epic": set(),
}


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, int]]:
    folder = tmp_path_factory.mktemp("raw")
    return folder, raw.write(folder, SCALE)


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_all_benchmarks_are_written() -> None:
    assert sorted(raw.WRITERS) == list(datasets.available())


@pytest.mark.parametrize("name", list(EXPECTED))
def test_every_loader_reads_them(written: tuple[Path, dict[str, int]], name: str) -> None:
    folder, rows = written
    reading = datasets.load(name).read(folder / name)
    assert reading.rows >= rows[name]  # of GlobalOpinionQA the rows read are question-country pairs
    assert set(reading.dropped) <= EXPECTED[name]
    assert not reading.lacks


def test_same_seed_same_bytes(written: tuple[Path, dict[str, int]], tmp_path: Path) -> None:
    raw.write(tmp_path / "again", SCALE)
    raw.write(tmp_path / "other", SCALE, seed=2)
    assert files(tmp_path / "again") == files(written[0])
    other = files(tmp_path / "other")
    assert all(other[name] != content for name, content in files(written[0]).items())


def test_official_sizes() -> None:
    assert len(set(raw.soft.places.GLOBALOPINIONQA)) == 138
    assert len(raw.soft.places.NORMAD) == 75
    assert len(raw.soft.places.INCLUDE) == 44
    assert len(raw.soft.places.CALMQA) == 23
    assert sum(raw.soft.places.CALMQA_ANSWERED.values()) == raw.soft.CALMQA_ANSWERS == 767
