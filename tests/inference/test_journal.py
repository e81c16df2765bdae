"""The journal and the transcript: nothing asked twice, nothing lost to a kill, the same verdicts without a model."""

import os
import subprocess
import sys
from dataclasses import replace

import pytest
from journal_contents import contents
from one_line_errors import line_of

from excam.core.exceptions import AnswersMissing, ArtifactBroken, InputInvalid, ModelInvalid
from excam.error_reports.records import Report, Sample, Verdict
from excam.inference import (
    Choose,
    Completion,
    Generate,
    Message,
    Missing,
    Sampling,
    ask_for_choice,
    ask_for_text,
    fake,
    request_from_row,
    request_to_row,
    transcript,
)
from excam.inference.cache_keys import cache_key, request_seed
from excam.inference.journal import Journal, ask, totals
from excam.inference.run import run

SAMPLING = Sampling(max_tokens=64)


def said(text, logprobs=None, finish="stop", prompt_tokens=1):
    return Completion(text, logprobs, -0.5 if logprobs else None, finish, prompt_tokens, len(logprobs or ()) + 1)


def request(text):
    return Generate((Message("system", "s"), Message("user", text)))


def sample(name):
    return Sample(
        id=name, pair=name, base=name, dataset="d", task="qa", instruction=f"ask {name}", output="o", report=Report(),
        origin="source", language="English", culture="Peru", stratum="Peru", licence="MIT", answer="a",
    )  # fmt: skip


def gate(row):
    """Two questions at once, then a third for every other sample."""
    first, second = yield [request(row.instruction), request("shared")]
    count = len(first.text) + len(second.text)
    if int(row.id[1:]) % 2:
        third = yield from ask_for_text(request(f"sure about {row.id}?").messages)
        count += len(third.text)
    return Verdict(errors_found=count, score=-float(count))


class Counted:
    """Progress, counted."""

    def __init__(self):
        self.skipped = self.advanced = 0

    def skip_answers(self, rows):
        self.skipped += rows

    def advance(self, rows=1):
        self.advanced += rows


def test_run_batches_rounds_and_keeps_order():
    rounds = []

    def asking(requests):
        rounds.append(len(requests))
        return [said(question.messages[-1].content) for question in requests]

    verdicts = run(gate, [sample(f"s{i}") for i in range(5)], asking)
    assert rounds == [10, 2]
    assert [v.errors_found for v in verdicts] == [12, 26, 12, 26, 12]
    assert run(gate, [], asking) == []


def test_run_refuses_a_missing_answer():
    assert "1 answers to 2 requests" in line_of(ModelInvalid, run, gate, [sample("s0")], lambda requests: [said("x")])


def test_the_cache_key_covers_all_that_decides_the_answer():
    first = ("a", request("x"), SAMPLING)
    others = [("b", *first[1:]), ("a", request("y"), SAMPLING)]
    others += [("a", request("x"), replace(SAMPLING, **change)) for change in ({"temperature": 0.5}, {"seed": 1})]
    others.append(("a", Generate((Message("user", "s"), Message("user", "x"))), SAMPLING))
    assert len({cache_key(*parts) for parts in (first, *others)}) == 6
    # pinned: a changed key would ask every model everything again
    assert cache_key(*first).startswith("1b3e71004f0d0565")
    assert 0 <= request_seed(request("x"), SAMPLING) < 2**31


def test_asked_once_and_never_again(tmp_path):
    path, backend = tmp_path / "j" / "journal.jsonl", fake.Backend()
    requests = [request(str(i % 20)) for i in range(30)]
    first = ask(backend, SAMPLING, Journal(path), requests)
    assert len(backend.asked) == 20
    progress = Counted()
    again = ask(backend, SAMPLING, Journal(path), [*requests, request("new")], progress)
    assert again[:30] == first
    assert len(backend.asked) == 21
    assert (progress.skipped, progress.advanced) == (30, 1)


def test_finished_batches_survive_a_backend_that_breaks(tmp_path):
    path = tmp_path / "journal.jsonl"

    def answer(question):
        if question.messages[-1].content == "11":
            raise ModelInvalid("broken")
        return "fine"

    requests = [request(str(i)) for i in range(20)]
    with pytest.raises(ModelInvalid):
        ask(fake.Backend(answer), SAMPLING, Journal(path), requests)
    assert len(Journal(path)) == fake.ROWS_PER_BATCH
    backend = fake.Backend(lambda question: "fine")
    ask(backend, SAMPLING, Journal(path), requests)
    assert len(backend.asked) == 20 - fake.ROWS_PER_BATCH


def test_unanswered_requests_are_an_event(tmp_path):
    class Silent:
        identity = "silent"

        def generate(self, requests, sampling):
            yield [(0, said("x")), (2, Missing("HTTP 500: busy"))]

    requests = [request(str(i)) for i in range(4)]
    with pytest.raises(AnswersMissing, match="3 requests unanswered, the first is 1: no answer; run again") as caught:
        ask(Silent(), SAMPLING, Journal(tmp_path / "j"), requests)
    assert caught.value.reasons == {1: "no answer", 2: "HTTP 500: busy", 3: "no answer"}
    assert len(Journal(tmp_path / "j")) == 1  # what came is kept, what failed is not
    asking = lambda some: ask(Silent(), SAMPLING, Journal(tmp_path / "l"), some)  # noqa: E731
    with pytest.raises(AnswersMissing) as caught:
        run(gate, [sample("s0"), sample("s1")], asking)
    assert caught.value.reasons == {"s0": "no answer", "s1": "HTTP 500: busy"}


def test_choices_are_asked_kept_and_found_beside_texts(tmp_path):
    def pick(row):
        choice = yield from ask_for_choice(request(row.instruction).messages, ("A", "B", "none of them"))
        best = max(range(3), key=lambda at: choice.logprobs[at])
        return Verdict(errors_found=best, score=-float(best))

    backend, path = fake.Backend(), tmp_path / "j"
    samples = [sample(f"s{i}") for i in range(10)]
    verdicts, entries = transcript.record(pick, samples, lambda some: ask(backend, SAMPLING, Journal(path), some))
    assert backend.asked[0] == Choose(request("ask s0").messages, ("A", "B", "none of them"))
    transcript.write(tmp_path / "t.jsonl", entries)
    assert transcript.replay(pick, samples, tmp_path / "t.jsonl") == verdicts
    mixed = [request("text"), backend.asked[3], request("more")]
    answers = ask(backend, replace(SAMPLING, seed=9), Journal(path), mixed)  # a choice is not sampled
    assert [type(answer).__name__ for answer in answers] == ["Completion", "Choice", "Completion"]
    assert len(backend.asked) == 12
    assert totals(answers)["answers"] == {"choice": 1, "stop": 2}


def test_odd_texts_and_numbers_come_back_as_they_were(tmp_path):
    text = "lone \ud800 \udfff, \x00\x1f \u2028\x85 \U0001f600 \ufeff"
    odd = [
        Completion(text, (-0.1, -1e-300, 0.0), None, "length", 3, 3),
        Completion("", None, None, "refused", 0, 0),
        Completion("a\nb\r\n", (float("-inf"),), -0.25, "stop", 1, 2),
    ]
    journal = Journal(tmp_path / "j")
    journal.add("who \ud800", {str(at): answer for at, answer in enumerate(odd)})
    back = Journal(tmp_path / "j")
    assert [back[str(at)] for at in range(3)] == odd


def test_an_open_journal_cuts_the_line_of_a_writer_that_died_meanwhile(tmp_path):
    path = tmp_path / "j"
    journal = Journal(path)
    Journal(path).add("me", {"a": said("one"), "b": said("two")})
    path.write_bytes(path.read_bytes()[:-1])
    journal.add("me", {"c": said("three")})
    assert [key in Journal(path) for key in "abc"] == [True, False, True]


@pytest.mark.parametrize(
    "text",
    [
        *(b"one line", b"two\nlines", b"ended\n", b'{"key": "k"}', b'{"by": "me"}\n', b"\n\n", b"\0" * 70_000),
        *(b"x", b'{"id":"', b"{ "),
    ],
)
def test_a_file_that_is_not_a_journal_is_left_unchanged(tmp_path, text):
    path = tmp_path / "notes.txt"
    path.write_bytes(text)
    wanted = "line 1 is not a journal entry" if text.endswith(b"\n") else "holds no complete journal entry; expected a "
    assert line_of(ArtifactBroken, Journal, path).startswith(f"{path}: {wanted}")
    assert path.read_bytes() == text
    assert [file.name for file in tmp_path.iterdir()] == ["notes.txt"]


def test_one_flipped_byte_anywhere_is_named(tmp_path):
    path = tmp_path / "j"
    Journal(path).add("me", {"a": said("one word", (-0.5,)), "b": said("two", (-0.25, -1.0))})
    whole = path.read_bytes()
    for at, byte in enumerate(whole):
        path.write_bytes(whole[:at] + bytes([byte ^ 1]) + whole[at + 1 :])
        state = contents(path)
        assert state.damaged or state.partial, whole[max(0, at - 20) : at + 1]


def test_a_journal_is_not_written_through_a_link(tmp_path):
    (tmp_path / "victim").touch()
    for name, make in (("link", lambda path: path.symlink_to("victim")), ("pipe", os.mkfifo)):
        make(tmp_path / name)
        assert "is a link or no plain file" in line_of(InputInvalid, Journal, tmp_path / name)
    Journal(tmp_path / "j").add("me", {"a": said("one")})
    with (tmp_path / "j").open("ab") as stream:
        stream.write(b"rubbish\n")
    assert (tmp_path / "victim").read_bytes() == b""
    assert contents(tmp_path / "j").damaged == (3,)


@pytest.mark.parametrize("room", [10, 100, 400, 900])
def test_a_full_disk_leaves_the_answers_of_a_batch_that_fit(room, tmp_path, monkeypatch):
    journal = Journal(tmp_path / "j")
    journal.add("me", {"a": said("one")})
    before, write, left = journal.path.read_bytes(), os.write, [room]

    def full(file, data):
        if not left[0]:
            raise OSError(28, "No space left on device")
        written = write(file, data[: left[0]])
        left[0] -= written
        return written

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(OSError, match="No space") as caught:
        journal.add("me", {str(at): said("x" * 50) for at in range(9)})
    monkeypatch.undo()
    assert caught.value.filename == str(journal.path)
    kept = journal.path.read_bytes().removeprefix(before)
    assert len(kept) <= room
    assert kept == b"" or kept.endswith(b"\n")
    state = contents(journal.path)
    assert (state.partial, state.damaged) == (False, ())
    assert len(Journal(journal.path)) == 1 + kept.count(b"\n")
    assert bool(kept) == (room >= 400)


WRITER = """
import sys
from pathlib import Path
from excam.inference import Completion
from excam.inference.journal import Journal
journal = Journal(Path(sys.argv[1]))
for at in range(int(sys.argv[3])):
    if Path(sys.argv[1] + ".stop").exists():
        break
    answer = Completion("x" * 5000, (-0.5,) * 40, -0.5, "stop", 1, 41)
    journal.add(sys.argv[2], {f"{sys.argv[2]}-{at}-{k}": answer for k in range(4)})
    print(at, flush=True)
"""


def test_two_processes_and_a_kill_do_not_corrupt(tmp_path):
    path = tmp_path / "j"
    start = [sys.executable, "-c", WRITER, str(path)]
    victim = subprocess.Popen([*start, "victim", "100000"], stdout=subprocess.PIPE, text=True)
    others = [subprocess.Popen([*start, name, "40"], stdout=subprocess.DEVNULL) for name in ("left", "right")]
    for line in victim.stdout:
        if int(line) == 20:
            break
    victim.kill()
    finished = list(victim.stdout)
    assert [other.wait() for other in others] == [0, 0]
    journal = Journal(path)
    assert all(f"{name}-{at}-3" in journal for name in ("left", "right") for at in range(40))
    acknowledged = int(finished[-1]) if finished and finished[-1].endswith("\n") else 20
    assert all(f"victim-{at}-{k}" in journal for at in range(acknowledged + 1) for k in range(4))
    assert contents(path).damaged == ()


@pytest.fixture
def judged(tmp_path):
    samples = [sample(f"s{i}") for i in range(6)]
    backend = fake.Backend(lambda question: question.messages[-1].content + " \ud800")
    asking = lambda requests: ask(backend, SAMPLING, Journal(tmp_path / "j"), requests)  # noqa: E731
    verdicts, entries = transcript.record(gate, samples, asking)
    path = tmp_path / "deep" / "t.jsonl"
    transcript.write(path, entries)
    return samples, verdicts, path


def test_replay_equals_live_in_any_order(judged):
    samples, verdicts, path = judged
    assert transcript.replay(gate, samples, path) == verdicts
    assert transcript.replay(gate, samples[::-2], path) == verdicts[::-2]
    assert [p.name for p in path.parent.iterdir()] == ["t.jsonl"]
    assert [len(entry.rounds) for entry in transcript.read(path).values()] == [1, 2] * 3
    assert transcript.read(path)["s1"].rounds[0].requests[0] == request("ask s1")


def test_replay_names_missing_rows_and_changed_requests(judged):
    samples, _, path = judged
    with pytest.raises(ArtifactBroken, match="2 of 8 samples are not in it, the first is s9"):
        transcript.replay(gate, [*samples, sample("s9"), sample("s8")], path)
    with pytest.raises(ArtifactBroken, match="s3: round 1: the judge now asks"):
        transcript.replay(gate, [replace(samples[3], instruction="other")], path)

    def insistent(row):
        yield [request(row.instruction), request("shared")]
        yield [request(f"sure about {row.id}?")]
        return Verdict(0, 0.0)

    assert "s0: round 2" in line_of(ArtifactBroken, transcript.replay, insistent, samples, path)
    assert "no such transcript" in line_of(InputInvalid, transcript.replay, gate, samples, path.with_name("none.jsonl"))


def test_a_damaged_transcript_is_refused(judged):
    samples, _, path = judged
    lines = path.read_text().splitlines()
    for damaged, message in (
        ([*lines[:2], lines[2][:-9]], "line 3 is not a transcript entry"),
        ([*lines, lines[0]], "s0 is there twice"),
        (['{"sample": "s0", "rounds": [{"requests": [{"messages": []}], "answers": []}]}'], "line 1"),
    ):
        path.write_text("\n".join(damaged))
        assert message in line_of(ArtifactBroken, transcript.replay, gate, samples, path)


def test_fake_is_deterministic_and_cuts():
    requests = [request(str(at)) for at in range(12)]

    def completed(backend, sampling):
        return [answer for batch in backend.generate(requests, sampling) for _, answer in batch]

    first = completed(fake.Backend(), SAMPLING)
    assert first == completed(fake.Backend(), SAMPLING)
    assert len({answer.text for answer in first}) > 8
    assert all(len(answer.logprobs) == 2 and answer.finish == "stop" for answer in first)
    cut = completed(fake.Backend(lambda request: "a b c d"), Sampling(3))[0]
    assert (cut.text, len(cut.logprobs), cut.finish, cut.end_logprob) == ("a b c", 3, "length", None)


def test_a_schema_is_part_of_the_key_and_its_absence_changes_no_key_or_row():
    free, constrained = Generate((Message("user", "x"),)), Generate((Message("user", "x"),), "{}")
    assert request_to_row(free) == {"messages": ({"role": "user", "content": "x"},)}
    before = "2842bda9be7f2c851ac30480d0ce2ac4b0782084f22171efc92ed3957af3296a"  # of the release without schemas
    assert cache_key("m", free, Sampling(8)) == before != cache_key("m", constrained, Sampling(8))
    assert [request_from_row(request_to_row(question)) for question in (free, constrained)] == [free, constrained]
