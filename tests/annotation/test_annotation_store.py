"""The store of answers: nothing overwritten, nothing lost, whatever writes at once and whatever happens to its disk."""

import json
import os
import resource
import sqlite3
import subprocess
import sys
from collections import Counter
from contextlib import closing

import campaigns
import pytest
from annotation_server_process import events
from campaigns import answer, at, changed
from one_line_errors import line_of

from excam.annotation import storage
from excam.annotation.storage import Unwritable
from excam.annotation.store import Saved, Store
from excam.core.exceptions import ArtifactBroken, ExcamError, InputInvalid

WRITER = """
import sys
from pathlib import Path
from campaigns import answer
from excam.annotation.storage import utc_now
from excam.annotation.store import Store
with Store(Path(sys.argv[1])) as store:
    for number in range(20):
        store.save(answer(0, "ada", comment_1=f"{sys.argv[2]} {number}", saved=utc_now()))
"""


@pytest.fixture
def path(tmp_path):
    return tmp_path / "answers.store"


@pytest.fixture
def store(path):
    storage.create(path, campaigns.small())
    with Store(path) as opened:
        opened.add(["ada", "grace"])
        yield opened


def sql(path, *statements):
    """Into the file behind the store's back; the rows of the last statement."""
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        return [db.execute(statement).fetchall() for statement in statements][-1]


def row_texts(answers):
    """The set of answers, each as text."""
    return {json.dumps(each.row()) for each in answers}


# --- the last answer counts


def test_answers_are_kept_in_revisions_and_come_back_as_they_were(store, path):
    first, second = (answer(0, "ada", seconds=number, saved=at(number)) for number in (1, 2))
    assert store.save(first) == Saved(1, first)
    assert store.save(second) == Saved(2, second)
    assert store.save(answer(0, "grace")) == Saved(1, answer(0, "grace"))
    store.close()
    with Store(path) as again:
        assert again.campaign == campaigns.small()
        assert again.annotators() == ["ada", "grace"]
        assert again.latest("ada") == [Saved(2, second)]
        assert again.answers() == [second, answer(0, "grace")]
        assert [(event.revision, event.kind, event.answer) for event in events(again, "ada", first.task)] == [
            (1, "saved", first),
            (2, "saved", second),
        ]


@pytest.mark.parametrize("second", [5, 4], ids=["at the same time", "earlier"])
def test_an_answer_that_comes_after_a_later_one_is_kept_and_does_not_count(store, second):
    here, there = answer(1, "ada", saved=at(5)), answer(1, "ada", comment_1="there", saved=at(second))
    for each in (here, there, there, here):  # sent again, none is kept again
        assert store.save(each) == Saved(1, here)
    assert store.latest("ada") == [Saved(1, here)]
    kept = [(event.kind, event.answer) for event in events(store, "ada", here.task)]
    assert kept == [("saved", here), ("older", there)]


def test_unknown_names_are_refused(store):
    assert "no annotator 'eve'; expected one of ada, grace" in line_of(InputInvalid, store.save, answer(0, "eve"))
    assert "not in campaign" in line_of(InputInvalid, store.save, answer(99, "ada"))
    assert store.answers() == []


def test_programs_overwrite_nothing(store, path):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    writers = [subprocess.Popen([sys.executable, "-c", WRITER, path, str(n)], env=environment) for n in range(3)]
    assert [writer.wait() for writer in writers] == [0, 0, 0]
    kept = events(store, "ada", answer(0, "ada").task)
    assert len({event.answer["comment_1"] for event in kept}) == len(kept) == 60
    counted = [event for event in kept if event.revision]
    assert [event.revision for event in counted] == list(range(1, len(counted) + 1))
    assert max(event.answer.saved for event in kept) == counted[-1].answer.saved


# --- annotators and links


def test_a_link_is_kept_as_its_hash_alone(store, path):
    (token,) = store.add(["eve"])
    assert len(token) == 32
    assert store.annotator(token) == "eve"
    for wrong in ("", token[:-1], token.swapcase(), f"{token} ", "\ud800", "%", "x" * 100_000):
        assert store.annotator(wrong) is None
    store.close()
    assert token.encode() not in path.read_bytes()


# --- answers from files


def test_of_two_answers_the_later_is_valid_and_the_other_is_kept(store):
    standing = [answer(n, "ada", saved=at(5), comment_1="here") for n in range(4)]
    for each in standing:
        store.save(each)
    file_answers = [
        standing[0],
        changed(standing[1], saved=at(6), comment_1="file"),
        changed(standing[2], saved=at(4), comment_1="file"),
        changed(standing[3], comment_1="file"),  # a tie
        answer(4, "grace"),
        answer(5, "grace"),
    ]
    assert store.merge(file_answers) == Counter(same=1, newer=1, older=2, new=2)
    stands = [standing[0], file_answers[1], standing[2], standing[3], *file_answers[4:]]
    assert sorted(store.answers(), key=lambda each: each.task) == stands
    assert [event.kind for event in events(store, "ada", file_answers[1].task)] == ["saved", "imported"]
    assert [event.answer for event in events(store, "ada", file_answers[2].task)] == [standing[2], file_answers[2]]
    assert store.merge(file_answers) == Counter(same=4, older=2)
    assert len(events(store, "ada", file_answers[2].task)) == 2


# --- the file


def test_a_committed_answer_is_on_disk(store, path):
    """The settings that make it so; who relaxes them for speed loses answers to a power cut, which no test can see."""
    assert store._writer.execute("PRAGMA synchronous").fetchone() == (2,)
    assert store._writer.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    store.close()
    assert [file.name for file in path.parent.iterdir()] == [path.name]
    assert path.stat().st_mode & 0o777 == 0o600


def test_the_history_is_only_added_to(store, path):
    store.save(answer(0, "ada"))
    for statement in ("UPDATE history SET answer = ''", "DELETE FROM history"):
        with pytest.raises(sqlite3.IntegrityError, match="append only"):
            sql(path, statement)


def test_a_store_is_made_once(store, path):
    store.save(answer(0, "ada"))
    assert "is there already" in line_of(InputInvalid, storage.create, path, campaigns.small())
    assert "folder that is there" in line_of(InputInvalid, storage.create, path.parent / "no" / "x", campaigns.small())
    assert len(store.answers()) == 1


def test_other_files_are_refused_and_left_alone(tmp_path):
    for content in (b"", b"text", b"SQLite format 3\0" + bytes(100), os.urandom(5000)):
        path = tmp_path / "other"
        path.write_bytes(content)
        with pytest.raises(ExcamError, match=f"{path}: (no store|damaged)"):
            Store(path)
        assert path.read_bytes() == content
    foreign = tmp_path / "foreign.db"
    sql(foreign, "CREATE TABLE x (y)")
    before = foreign.read_bytes()
    assert "no store" in line_of(InputInvalid, Store, foreign)
    assert "there already" in line_of(InputInvalid, storage.create, foreign, campaigns.small())
    assert foreign.read_bytes() == before
    with pytest.raises(InputInvalid, match="no such file; expected a store; `excam annotate create "):
        Store(tmp_path / "absent")
    assert not (tmp_path / "absent").exists()


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE history SET answer = replace(answer, '\"valid\"', '\"partly\"')",
        "UPDATE history SET revision = 9",
        "UPDATE history SET annotator = 'grace'",
    ],
)
def test_a_changed_line_of_the_history_is_found(store, path, change):
    store.save(answer(0, "ada"))
    store.close()
    sql(path, "DROP TRIGGER never_changed", change)
    assert "line 1 of the history" in line_of(ArtifactBroken, Store, path)


def test_a_changed_campaign_is_found(store, path):
    store.close()
    sql(path, "UPDATE campaign SET content = replace(content, 'kale', 'leek')")
    assert "changed after it was drawn" in line_of(ArtifactBroken, Store, path)


def test_a_flipped_bit_is_found_or_changes_nothing(store, path):
    """Every 181st byte of the file: it does not open, in one line, or all it says is what it said."""
    for number in range(10):
        store.save(answer(number, "ada", comment_1=f"comment {number}"))
    answers, token = store.answers(), store.link("ada")
    store.close()
    whole, refusals = path.read_bytes(), []
    for place in range(0, len(whole), 181):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 4]) + whole[place + 1 :])
        try:
            with Store(path) as opened:
                assert opened.answers() == answers
                assert opened.campaign == campaigns.small()
                assert opened.annotator(token) in ("ada", None)
        except ExcamError as problem:
            refusals.append(str(problem))
        for beside in path.parent.glob(f"{path.name}-*"):
            beside.unlink()
    assert len(refusals) > len(whole) // 181 // 4
    assert all(line.startswith(f"{path}: ") and "\n" not in line for line in refusals)


# --- a disk that is full, or only to be read


def fill(store, until=2000):
    """Saves until the store cannot; the answers that were accepted."""
    accepted = []
    for number in range(until):
        mine = answer(number % 10, "ada", comment_1=f"{number} {'x' * 3000}", saved=at(number))
        try:
            store.save(mine)
        except Unwritable:
            return accepted
        accepted.append(mine)
    pytest.fail("the disk was never full")


def check_nothing_lost(store, accepted):
    taken = [event.answer for number in range(10) for event in events(store, "ada", f"{number:016x}") if event.revision]
    assert row_texts(accepted) <= row_texts(taken)
    assert len(taken) <= len(accepted) + 1


def test_files_may_not_grow_any_more(store, path):
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, hard))
    try:
        accepted = fill(store)
        check_nothing_lost(store, accepted)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    more = answer(9, "grace")
    assert store.save(more) == Saved(1, more)
    store.close()
    with Store(path) as again:
        check_nothing_lost(again, accepted)
        assert more in again.answers()


def test_a_locked_store_is_waited_for_and_then_refused(store, path, monkeypatch):
    store._writer.execute("PRAGMA busy_timeout = 100")
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        assert "held by another program" in line_of(Unwritable, store.save, answer(0, "ada"))
        other.execute("ROLLBACK")
    assert store.save(answer(0, "ada")).revision == 1
