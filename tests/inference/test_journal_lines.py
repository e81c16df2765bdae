"""The journal line by line: where a partial one begins, what is kept, dropped and counted."""

import pytest
from test_journal import Counted, request, said

from excam.config import Price
from excam.core.exceptions import AnswersMissing, ArtifactBroken
from excam.inference import Choice, Choose, Message, Missing, Sampling, fake, journal
from excam.inference.journal import Identity, InMemory, Journal, JournalEntry, ask, totals

SAMPLING = Sampling(max_tokens=64)
BY = journal._digest("m")


def lines(*keys: str) -> bytes:
    return b"".join(map(journal.line_bytes, (Identity(BY, "m"), *(JournalEntry(key, BY, said(key)) for key in keys))))


def write_data(path, data: bytes):
    path.write_bytes(data)
    return path


@pytest.mark.parametrize("length", [1, 6, 65_534, 65_535, 65_536, 65_537, 131_071, 131_072, 131_073, 200_000])
def test_a_partial_line_of_any_length_is_cut(tmp_path, length):
    whole = lines("a", "b")
    path = write_data(tmp_path / "j.jsonl", whole + (b'{"by":"' + b"x" * length)[:length])
    assert len(Journal(path)) == 2
    assert path.read_bytes() == whole


def test_a_file_of_one_partial_line_is_cut_if_it_begins_as_a_journal(tmp_path):
    for begun in (b"{", b'{"by":"', b'{"by":"abc', b'{"by":"' + b"x" * 70_000):
        path = write_data(tmp_path / "j.jsonl", begun)
        assert len(Journal(path)) == 0
        assert path.read_bytes() == b""


def test_a_line_is_what_was_written_or_damaged(tmp_path):
    first, second = lines("a").splitlines(keepends=True)
    path = write_data(tmp_path / "j.jsonl", first + second)
    assert [line for _, line in journal.read(path)] == [Identity(BY, "m"), JournalEntry("a", BY, said("a"))]
    for damage in (
        *(first.replace(b'"m"', b'"n"'), second.replace(b'"a"', b'"b"', 1), b'{"by": "a", "identity": "b"}\n'),
        *(b"garbage\n", b'{"key": "a"}\n', b"[]\n", b"\n", b"\xff\n"),
    ):
        with pytest.raises(ArtifactBroken, match="line 3 is not a journal entry"):
            Journal(write_data(path, first + second + damage))


def test_digests_keep_their_length():
    """Of another length, no line of an existing journal would be read."""
    assert BY == "62c66a7a5dd7"
    assert len(journal._check(b"a", BY.encode(), b"{}")) == 16


def test_lines_are_numbered_from_one_and_the_last_may_be_partial(tmp_path):
    path = write_data(tmp_path / "j.jsonl", lines("a") + b"damaged\n" + lines("b")[:-1])
    numbers, entries = zip(*journal.read(path), strict=True)
    assert numbers == (1, 2, 3, 4)
    assert isinstance(entries[2], ValueError)


def test_the_first_answer_to_a_key_stays(tmp_path):
    path = tmp_path / "j.jsonl"
    store = Journal(path)
    store.add("m", {"a": said("first")})
    store.add("m", {"a": said("second"), "b": said("b")})
    assert (store["a"].text, len(store), "b" in store, "c" in store) == ("first", 2, True, False)
    assert Journal(path)["a"].text == "first"
    assert path.read_bytes().count(b'"identity"') == 1, "a model has one line"
    for model, key, count in (("m", "c", 1), ("n", "d", 2)):
        Journal(path).add(model, {key: said(key)})
        assert path.read_bytes().count(b'"identity"') == count
    kept = InMemory()
    kept.add("m", {"a": said("a")})
    assert (len(kept), kept["a"].text) == (1, "a")


class Failing(fake.Backend):
    """Answers the first of each batch, and gives a reason for the others."""

    def generate(self, requests, sampling):
        yield [(at, Missing("busy") if at else said("x")) for at in range(len(requests))]

    def choose(self, requests):
        yield [(at, Choice((-0.1, -2.0), (1, 1), 3)) for at in range(len(requests))]


def test_progress_counts_rows_and_reasons_are_listed_by_row(tmp_path):
    path, progress = tmp_path / "j.jsonl", Counted()
    choice = Choose((Message("user", "which"),), ("A", "B"))
    texts = [request(name) for name in ("a", "b", "a", "c", "b")]
    with pytest.raises(AnswersMissing) as caught:
        ask(Failing(), SAMPLING, Journal(path), [*texts, choice, choice], progress)
    assert caught.value.reasons == {1: "busy", 3: "busy", 4: "busy"}
    assert (progress.skipped, progress.advanced) == (0, 7)
    again = Counted()
    answers = ask(Failing(), SAMPLING, Journal(path), [texts[0], choice, texts[2]], again)
    assert [getattr(answer, "text", None) for answer in answers] == ["x", None, "x"]
    assert (again.skipped, again.advanced) == (3, 0)


def test_totals_by_hand():
    answers = [said("a", (-0.1, -0.2), prompt_tokens=5), said("b", finish="length"), Choice((-0.1, -2.0), (1, 1), 3)]
    told = totals(answers, Price(prompt=2000.0, completion=4000.0))
    assert told["answers"] == {"choice": 1, "length": 1, "stop": 1}
    assert (told["prompt_tokens"], told["completion_tokens"]) == (9, 4)
    assert told["cost"] == Price(prompt=2000.0, completion=4000.0).cost(9, 4)
    none = dict.fromkeys(("thinking", "prompt_tokens", "completion_tokens"), 0)
    assert totals([], None) == {"answers": {}, **none, "cost": None}


def test_answers_with_reasoning_are_counted():
    for text, thinks in (
        ("<think>\nGuests bow.\n</think>\nOUTPUT: {}", 1),
        ("Guests bow.\n</think>\n\nOUTPUT: {}", 1),  # the chat template wrote the opening tag
        ("<think>\nGuests b", 1),  # cut
        ("<think>\n\n</think>\n\nOUTPUT: {}", 0),  # what a template writes where thinking is off
        *(("OUTPUT: {}", 0), ('OUTPUT: {"Explanation": "</think> is quoted"}', 0)),
    ):
        assert totals([said(text)])["thinking"] == thinks


def test_a_journal_that_passes_forgets_what_was_used_and_keeps_it_on_disk(tmp_path):
    path = tmp_path / "j.jsonl"
    for name in "abcd":
        Journal(path).add("m", {name: said(name)})
    passing = Journal(path, forgets=True)
    assert passing["a"] == said("a")
    passing.forget_used()
    passing.forget(["b", "x"])
    assert ["".join(passing._answers), len(Journal(path))] == ["cd", 4]
