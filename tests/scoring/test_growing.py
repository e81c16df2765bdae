"""A file of results while it grows: what waits at its hidden names is refused, what changed in it is judged again."""

import os
from dataclasses import dataclass, replace

import pytest
from one_line_errors import line_of

from excam.core.exceptions import InputInvalid
from excam.core.provenance import publish
from excam.error_reports.records import Report
from excam.scoring import result_files
from excam.scoring.metric import Metric, Row, available
from excam.scoring.result_files import Growing
from excam.scoring.results import Result

EXCAM = available()["excam"]
ROWS = [Row(name, {"instruction": "Name a dish.", "output": f"Dish {name}."}) for name in "abcd"]


@dataclass
class Maker:
    signature: str = "me"
    identity: str = "me, here"
    metric: Metric = EXCAM


def result_of(row):
    return Result(id=row.id, texts=row.texts, score=0.5, report=Report(), verdict="clean", signature="me")


@pytest.fixture
def killed(tmp_path):
    """A file whose run ended before it was complete."""
    with Growing(tmp_path / "v.jsonl", Maker()) as growing:
        for at in (0, 2):
            growing.add(map(result_of, ROWS[at : at + 2]))
    return growing


def rows_done(growing):
    with growing:
        return growing.done(ROWS)


def test_a_continued_run_appends_to_the_rows_that_are_written(killed):
    assert rows_done(killed) == 4
    with killed:
        killed.finish()
    assert [path.name for path in killed.path.parent.iterdir()] == ["v.jsonl"]
    assert len(killed.path.read_bytes().splitlines()) == 4


def test_a_killed_run_goes_on_under_other_ids(killed):
    renamed = [replace(row, id=row.id * 2, others={"row": row.id}) for row in ROWS]
    with killed:
        assert killed.done(renamed) == 4
        killed.finish(renamed)
    results = list(result_files.read(killed.path))
    assert [(result.id, result.columns) for result in results] == [(name * 2, {"row": name}) for name in "abcd"]
    own = Maker(metric=type("Own", (Metric,), {"__module__": "mine"})())
    assert not result_files.is_of(results[0], ROWS[0], own), "it may read the id"
    assert not result_files.is_of(results[0], replace(ROWS[0], failure="duplicate-id"), Maker())


def test_wherever_a_run_was_killed_no_row_is_taken_that_was_not_written(killed):
    whole, maker = killed.part.read_bytes(), killed.maker.read_bytes()
    for cut in range(0, len(whole), 7):
        killed.part.write_bytes(whole[:cut])
        killed.maker.write_bytes(maker)
        assert rows_done(killed) == whole[:cut].count(b"\n")
        assert not killed.part.exists() or whole.startswith(killed.part.read_bytes())


@pytest.mark.parametrize(
    ("maker", "said"),
    [
        (Maker(identity="me, there"), "4 rows of it were scored at another address, or by another engine"),
        (Maker("other", "me, here"), ""),
    ],
)
def test_what_another_maker_began_is_not_mixed(killed, maker, said):
    """Results of another signature are made again; of the same one, but from elsewhere, a person decides."""
    other = Growing(killed.path, maker)
    if not said:
        assert rows_done(other) == 0
        return
    with other:
        line = line_of(InputInvalid, other.done, ROWS)
    assert line.startswith(f"{killed.path}: {said}; expected the same; continue there, or delete {killed.part}")
    assert rows_done(killed) == 4


@pytest.mark.parametrize("suffix", [".jsonl", ".parquet", ".csv", ".json", ""])
def test_a_file_gets_its_format_when_it_is_complete(tmp_path, suffix):
    path = tmp_path / f"v{suffix}"
    with Growing(path, Maker()) as growing:
        growing.add(map(result_of, ROWS))
        growing.finish()
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]
    assert list(result_files.read(path)) == list(map(result_of, ROWS))


@pytest.mark.parametrize("kind", ["link", "dangling", "fifo", "device"])
def test_what_waits_at_a_hidden_name_is_not_written_through(tmp_path, kind):
    victim, waiting = tmp_path / "victim.txt", tmp_path / ".v.jsonl.part"
    if kind != "dangling":
        victim.write_text("theirs")
    if kind == "fifo":
        os.mkfifo(waiting)
    else:
        waiting.symlink_to("/dev/full" if kind == "device" else victim)
    line = line_of(InputInvalid, Growing(tmp_path / "v.jsonl", Maker()).__enter__)
    assert line == f"{waiting}: is a link or no plain file; expected a file of an earlier run, or none; remove it"
    assert victim.exists() == (kind != "dangling")
    assert kind == "dangling" or victim.read_text() == "theirs"
    waiting.unlink()
    with Growing(tmp_path / "v.jsonl", Maker()) as growing:
        growing.add(map(result_of, ROWS))
        growing.finish()


def test_a_temporary_file_has_an_unpredictable_name(tmp_path):
    victim = tmp_path / "victim.txt"
    victim.write_text("theirs")
    (tmp_path / f".page.html.{os.getpid()}.part").symlink_to(victim)
    names = []
    for _ in range(2):
        with publish(tmp_path / "page.html") as temporary:
            temporary.write_text("ours")
            names.append(temporary.name)
    assert victim.read_text() == "theirs"
    assert len(set(names)) == 2
    assert all(name.startswith(".page.html.") and name.endswith(".part") for name in names)
