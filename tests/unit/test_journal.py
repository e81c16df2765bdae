"""The journal and the transcript: nothing asked twice, nothing lost to a kill, the same verdicts without a model."""

import json
import os
import subprocess
import sys
from dataclasses import replace

import pytest

from excam.exceptions import ArtifactBroken, InputInvalid, ModelInvalid
from excam.inference import Completion, Generate, Message, Sampling, fake, transcript
from excam.inference.journal import Journal, ask, key, seed
from excam.inference.run import run
from excam.records import Report, Sample, Verdict

SAMPLING = Sampling(max_tokens=64)


def request(text):
    return Generate((Message("system", "s"), Message("user", text)))


def sample(name):
    return Sample(
        id=name, pair=name, base=name, dataset="d", task="qa", instruction=f"ask {name}", output="o", report=Report(),
        origin="source", language="English", culture="Peru", stratum="Peru", licence="MIT", answer="a",
    )  # fmt: skip


def gate(one):
    """Two questions at once, then a third for every other sample."""
    first, second = yield [request(one.instruction), request("shared")]
    found = len(first.text) + len(second.text)
    if int(one.id[1:]) % 2:
        (third,) = yield [request(f"sure about {one.id}?")]
        found += len(third.text)
    return Verdict(errors_found=found, score=-float(found))


class Counted:
    """Progress, counted."""

    def __init__(self):
        self.skipped = self.advanced = 0

    def skip(self, rows):
        self.skipped += rows

    def advance(self, rows=1):
        self.advanced += rows


def test_run_batches_rounds_and_keeps_order():
    rounds = []

    def asking(requests):
        rounds.append(len(requests))
        return [Completion(one.messages[-1].content, None, "stop", 1) for one in requests]

    verdicts = run(gate, [sample(f"s{i}") for i in range(5)], asking)
    assert rounds == [10, 2]
    assert [v.errors_found for v in verdicts] == [12, 26, 12, 26, 12]
    assert run(gate, [], asking) == []


def test_run_refuses_a_missing_answer():
    with pytest.raises(ModelInvalid, match="1 answers to 2 requests"):
        run(gate, [sample("s0")], lambda requests: [Completion("x", None, "stop", 1)])


def test_key_hangs_on_everything_that_decides_the_answer():
    keys = {
        key("a", request("x"), SAMPLING),
        key("b", request("x"), SAMPLING),
        key("a", request("y"), SAMPLING),
        key("a", request("x"), replace(SAMPLING, temperature=0.5)),
        key("a", request("x"), replace(SAMPLING, seed=1)),
        key("a", Generate((Message("user", "s"), Message("user", "x"))), SAMPLING),
    }
    assert len(keys) == 6
    # pinned: a changed key would ask every model everything again
    assert key("a", request("x"), SAMPLING).startswith("65deef02cc77fe45")
    assert 0 <= seed(request("x"), SAMPLING) < 2**31


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

    def answer(one):
        if one.messages[-1].content == "11":
            raise ModelInvalid("broken")
        return "fine"

    requests = [request(str(i)) for i in range(20)]
    with pytest.raises(ModelInvalid):
        ask(fake.Backend(answer), SAMPLING, Journal(path), requests)
    assert len(Journal(path)) == fake.ROWS_PER_BATCH
    backend = fake.Backend(lambda one: "fine")
    ask(backend, SAMPLING, Journal(path), requests)
    assert len(backend.asked) == 20 - fake.ROWS_PER_BATCH


def test_unanswered_requests_are_an_event(tmp_path):
    class Silent:
        identity = "silent"

        def complete(self, requests, sampling):
            yield [(0, Completion("x", None, "stop", 1))]

    with pytest.raises(ModelInvalid, match="2 of 3 requests unanswered"):
        ask(Silent(), SAMPLING, Journal(tmp_path / "j"), [request(str(i)) for i in range(3)])


def test_odd_texts_and_numbers_come_back_as_they_were(tmp_path):
    odd = [
        Completion("lone \ud800 \udfff, \x00\x1f \u2028\x85 \U0001f600 \ufeff", (-0.1, -1e-300, 0.0), "length", 3),
        Completion("", None, "refused", 0),
        Completion("a\nb\r\n", (float("-inf"),), "stop", 1),
    ]
    journal = Journal(tmp_path / "j")
    journal.add({str(at): one for at, one in enumerate(odd)})
    back = Journal(tmp_path / "j")
    assert [back[str(at)] for at in range(3)] == odd


def test_every_torn_tail_is_cut_and_nothing_else(tmp_path):
    path = tmp_path / "j"
    Journal(path).add({"a": Completion("one", (-0.5,), "stop", 1)})
    whole = path.read_bytes()
    Journal(path).add({"b": Completion("two" * 30000, (-0.5,), "stop", 1)})
    longer = path.read_bytes()
    for cut in [0, 1, 17, 70000, len(longer) - len(whole) - 1]:
        path.write_bytes(longer[: len(whole) + cut])
        journal = Journal(path)
        assert path.read_bytes() == whole
        assert len(journal) == 1
    path.write_bytes(longer[:-1])
    journal = Journal(tmp_path / "other")  # a journal opened before the other process died
    journal.path = path
    journal.add({"c": Completion("three", None, "stop", 1)})
    assert "c" in Journal(path)
    assert len(Journal(path)) == 2
    path.write_bytes(b'{"key":')
    assert len(Journal(path)) == 0


def test_damage_in_the_middle_is_named(tmp_path):
    path = tmp_path / "j"
    for damage in (b"garbage\n", b'{"key": "a"}\n', b'{"key": "a", "completion": {"text": "x"}}\n', b"[]\n"):
        path.write_bytes(damage)
        with pytest.raises(ArtifactBroken, match="line 1 is no journal entry"):
            Journal(path)


def test_full_disk_leaves_no_part_of_a_batch(tmp_path, monkeypatch):
    journal = Journal(tmp_path / "j")
    journal.add({"a": Completion("one", None, "stop", 1)})
    before, write = journal.path.read_bytes(), os.write

    def full(file, data):
        if len(data) > 100:
            return write(file, data[:100])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(OSError, match="No space"):
        journal.add({str(at): Completion("x" * 50, None, "stop", 1) for at in range(3)})
    assert journal.path.read_bytes() == before
    assert len(journal) == 1


WRITER = """
import sys
from pathlib import Path
from excam.inference import Completion
from excam.inference.journal import Journal
journal = Journal(Path(sys.argv[1]))
for at in range(int(sys.argv[3])):
    journal.add({f"{sys.argv[2]}-{at}-{k}": Completion("x" * 5000, (-0.5,) * 40, "stop", 1) for k in range(4)})
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
    assert all(json.loads(line)["key"] for line in path.read_text().splitlines())


@pytest.fixture
def judged(tmp_path):
    samples = [sample(f"s{i}") for i in range(6)]
    backend = fake.Backend(lambda one: one.messages[-1].content + " \ud800")
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


def test_replay_names_what_is_missing_or_different(judged):
    samples, _, path = judged
    with pytest.raises(ArtifactBroken, match="1 of 7 samples are not in it, the first is s9"):
        transcript.replay(gate, [*samples, sample("s9")], path)
    with pytest.raises(ArtifactBroken, match="s3: round 1: the judge now asks"):
        transcript.replay(gate, [replace(samples[3], instruction="other")], path)

    def insistent(one):
        yield [request(one.instruction), request("shared")]
        yield [request(f"sure about {one.id}?")]
        return Verdict(0, 0.0)

    with pytest.raises(ArtifactBroken, match="s0: round 2"):
        transcript.replay(insistent, samples, path)
    with pytest.raises(InputInvalid, match="no such transcript"):
        transcript.replay(gate, samples, path.with_name("none.jsonl"))


def test_a_damaged_transcript_is_refused(judged):
    samples, _, path = judged
    lines = path.read_text().splitlines()
    for damaged, message in (
        ([*lines[:2], lines[2][:-9]], "line 3 is no transcript entry"),
        ([*lines, lines[0]], "s0 is there twice"),
        (['{"sample": "s0", "rounds": [{"requests": [{"messages": []}], "completions": []}]}'], "line 1"),
    ):
        path.write_text("\n".join(damaged))
        with pytest.raises(ArtifactBroken, match=message):
            transcript.replay(gate, samples, path)
