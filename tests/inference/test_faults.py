"""Faults around the scripts that ask models, as processes against a local server: kills, full disks, keys, two at once."""

import resource

import killed_jobs
import pytest
from journal_contents import contents

KILLS = 8
ROWS = 96


@pytest.fixture
def server():
    with killed_jobs.Server() as running:
        yield running


def run(words, folder, **options):
    """The job to its end: exit code and all it said. It writes no bytecode, which a limit of sizes would cut off unseen."""
    job = killed_jobs.start(["env", "PYTHONDONTWRITEBYTECODE=1", *words], folder, **options)
    said, _ = job.communicate()
    return job.returncode, said


def asked_twice(server):
    return server.asked.total() - len(server.asked)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """The outputs of an undisturbed run."""
    folder = killed_jobs.prepare(tmp_path_factory.mktemp("undisturbed"), ROWS)
    with killed_jobs.Server() as server:
        assert run(killed_jobs.command(server.endpoint), folder)[0] == 0
        assert server.asked.total() == len(server.asked) == ROWS
    made = killed_jobs.results(folder)
    assert sum(content.count(b"\n") for content in made.values()) == ROWS
    return made


@pytest.mark.nightly
def test_kills_at_random_moments_change_nothing(tmp_path):
    outcome = killed_jobs.killed(tmp_path, KILLS, ROWS)
    assert outcome.kills == KILLS
    assert outcome.equal
    assert (
        outcome.again <= KILLS * killed_jobs.CONCURRENCY
    )  # in all: a busy server counts the last of a dead job with the next


# --- no room


def no_more_than(size):
    """For a child process: no file may grow beyond so many bytes."""
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))


def is_one_line(said, *parts):
    """Progress, then one line that says what happened; no traceback."""
    assert "Traceback" not in said
    last = said.rstrip().splitlines()[-1]
    for part in parts:
        assert part in last, said


def test_a_full_disk_while_asking(tmp_path, server, undisturbed):
    folder, words = killed_jobs.prepare(tmp_path / "run", ROWS), killed_jobs.command(server.endpoint)
    code, said = run(words, folder, preexec_fn=no_more_than(60_000))
    assert code == 1
    is_one_line(said, "File too large", "run again")
    assert killed_jobs.results(folder) == {}
    kept = contents(folder / "journal.jsonl")
    assert not kept.partial
    assert not kept.damaged
    assert 0 < (folder / "journal.jsonl").stat().st_size <= 60_000
    assert run(words, folder)[0] == 0
    assert killed_jobs.results(folder) == undisturbed
    assert asked_twice(server) <= killed_jobs.CONCURRENCY
    assert contents(folder / "journal.jsonl").duplicates == 0


# --- two at once


def test_rows_a_server_left_unanswered_are_named_and_asked_again(tmp_path, undisturbed):
    folder = killed_jobs.prepare(tmp_path / "run", ROWS)
    with killed_jobs.Server(refuse=lambda text: " 7: " in text or " 11: " in text) as server:
        code, said = run(killed_jobs.command(server.endpoint), folder)
        port = server.endpoint
    rows = sorted(line.split(": ")[1] for line in said.splitlines() if line.startswith("unanswered: "))
    assert rows == sorted(f"blend/{row}/minor/right" for row in (7, 11))
    assert "HTTP 418: not today" in said
    assert code == 1
    is_one_line(said, f"{len(rows)} requests unanswered", "run again: only those are asked")
    assert killed_jobs.results(folder) == {}
    with killed_jobs.Server(port=int(port.split(":")[2].split("/")[0])) as server:
        assert run(killed_jobs.command(server.endpoint), folder)[0] == 0
        assert server.asked.total() == len(rows)
    assert killed_jobs.results(folder) == undisturbed
