"""A file of results while it grows: what waits at its hidden names is refused, what changed in it is judged again."""

import os
from pathlib import Path

import pytest
from one_line_errors import line_of

from excam.core.exceptions import InputInvalid
from excam.core.provenance import open_plain, publish
from excam.error_reports.records import Report
from excam.scoring.pairs import Pair
from excam.scoring.scored import Scored
from excam.scoring.scored_file import Growing

PAIRS = [Pair(name, "Name a dish.", f"Dish {name}.") for name in "abcd"]


def judged(pair):
    return Scored(pair.id, pair.instruction, pair.output, 0.5, 0.5, Report(), None, (), "", "me", verdict="clean")


@pytest.fixture
def killed(tmp_path):
    """A file whose run ended before it was complete."""
    with Growing(tmp_path / "v.jsonl", "me") as growing:
        for at in (0, 2):
            growing.add(map(judged, PAIRS[at : at + 2]))
    return growing


def done(growing):
    with growing:
        return growing.done(PAIRS)


def test_a_run_goes_on_behind_what_is_there(killed):
    assert done(killed) == 4
    with killed:
        killed.finish()
    assert [path.name for path in killed.path.parent.iterdir()] == ["v.jsonl"]
    assert len(killed.path.read_bytes().splitlines()) == 4


def test_a_score_that_changed_is_judged_again(killed, capsys):
    lines = killed.part.read_bytes().splitlines(keepends=True)
    killed.part.write_bytes(b"".join([*lines[:2], lines[2].replace(b'"score": 0.5', b'"score": 0.9'), lines[3]]))
    assert done(killed) == 2
    assert killed.part.read_bytes() == b"".join(lines[:2])
    assert capsys.readouterr().err == f"{killed.part}: line 3 is not as it was written; judged again from there\n"
    with killed:
        killed.add(map(judged, PAIRS[2:]))
    assert killed.part.read_bytes() == b"".join(lines)
    assert done(killed) == 4


@pytest.mark.parametrize("which", ["part", "seals"])
def test_wherever_a_run_was_killed_no_row_is_taken_that_was_not_written(killed, which, capsys):
    rows, seals = killed.part.read_bytes(), killed.seals.read_bytes()
    whole = getattr(killed, which).read_bytes()
    for cut in range(0, len(whole), 7):
        killed.part.write_bytes(rows)
        killed.seals.write_bytes(seals)
        getattr(killed, which).write_bytes(whole[:cut])
        assert done(killed) == whole[:cut].count(b"\n")
        assert not killed.part.exists() or rows.startswith(killed.part.read_bytes())


def test_a_file_without_seals_is_judged_again(killed):
    killed.seals.unlink()
    assert done(killed) == 0


@pytest.mark.parametrize("name", [".v.jsonl.part", ".v.jsonl.seals"])
@pytest.mark.parametrize("kind", ["link", "dangling", "fifo", "device"])
def test_what_waits_at_a_hidden_name_is_not_written_through(tmp_path, name, kind):
    victim, waiting = tmp_path / "victim.txt", tmp_path / name
    if kind != "dangling":
        victim.write_text("theirs")
    if kind == "fifo":
        os.mkfifo(waiting)
    else:
        waiting.symlink_to("/dev/full" if kind == "device" else victim)
    line = line_of(InputInvalid, Growing(tmp_path / "v.jsonl", "me").__enter__)
    assert line == f"{waiting}: is a link or no plain file; expected a file of an earlier run, or none; remove it"
    assert victim.exists() == (kind != "dangling")
    assert kind == "dangling" or victim.read_text() == "theirs"
    waiting.unlink()
    with Growing(tmp_path / "v.jsonl", "me") as growing:
        growing.add(map(judged, PAIRS))
        growing.finish()


def test_a_device_is_no_plain_file():
    line = line_of(InputInvalid, open_plain, Path("/dev/full"), os.O_RDWR)
    assert line.startswith("/dev/full: is a link or no plain file")


def test_a_file_is_published_under_a_name_that_nobody_knows_beforehand(tmp_path):
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
