"""One engine for several jobs: started once, found by all, surviving killed jobs, stopped when idle."""

import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from journal_contents import contents
from one_line_errors import line_of

from excam import config
from excam.config import Model
from excam.core.exceptions import ModelInvalid
from excam.core.provenance import sha256, write_json
from excam.inference import Choose, Generate, Message, Sampling, backend_factory, fake, hosting, journal

ENGINE = Path(__file__).parents[1] / "helpers/fake_engine.py"
SAMPLING = Sampling(max_tokens=9)
MODEL = Model(licence="MIT", gpus=1)  # the stand-in takes none


@dataclass(frozen=True, slots=True)
class StandIn(hosting.EngineSpec):
    orders: Path = Path()
    idle: float = 300.0  # seconds; a slow machine may need some before a job connects

    def command(self):
        return [str(ENGINE), str(self.idle), str(self.orders)]


@pytest.fixture
def wanted(tmp_path, monkeypatch):
    monkeypatch.setenv("EXCAM_ENGINES", str(tmp_path / "engines"))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
    orders = tmp_path / "orders"
    orders.write_text("")
    yield StandIn("base", MODEL, tmp_path, None, "content", orders=orders)
    for pid in starts(orders):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def starts(orders):
    file = orders.with_name("starts")
    return [int(line) for line in file.read_text().split()] if file.exists() else []


def asking(rows=20):
    return [Generate((Message("user", f"question {row} \ud800"),)) for row in range(rows)]


def answers(batches):
    pairs = dict(pair for batch in batches for pair in batch)
    return [pairs[at] for at in sorted(pairs)]


def texts(wanted, adapter=None, identity="base"):
    batches = hosting.HostedBackend(wanted, adapter, identity).generate(asking(), SAMPLING)
    return [answer.text for answer in answers(batches)]


def ended(pid, seconds=300.0):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        with suppress(ChildProcessError):
            os.waitpid(pid, os.WNOHANG)
        if not Path(f"/proc/{pid}").exists():
            return True
        time.sleep(0.05)
    return False


def test_answers_are_those_of_the_engine_to_the_last_digit(wanted, tmp_path):
    hosted = hosting.HostedBackend(wanted, None, "base")
    alone = fake.Backend(lambda request: f"base: {fake.by_hash(request)}")
    assert answers(hosted.generate(asking(), SAMPLING)) == answers(alone.generate(asking(), SAMPLING))
    options = [Choose((Message("user", "Yes?"),), ("yes", "no")), Choose((Message("user", "No?"),), ("a", "b", "c"))]
    assert answers(hosted.choose(options)) == answers(alone.choose(options))
    assert hosted.settings == {"device": "none"}
    assert len(starts(wanted.orders)) == 1


def test_jobs_at_once_share_one_engine_and_each_has_its_adapter(wanted, tmp_path):
    outputs = {}

    def job(number):
        outputs[number] = texts(wanted, tmp_path / f"adapter-{number % 3}", f"content {number % 3}")

    jobs = [threading.Thread(target=job, args=(number,)) for number in range(9)]
    for thread in jobs:
        thread.start()
    for thread in jobs:
        thread.join()
    assert len(starts(wanted.orders)) == 1
    assert all(text.startswith(f"adapter-{n % 3} content {n % 3}: ") for n, said in outputs.items() for text in said)
    assert len(outputs) == 9


def test_on_a_cpu_jobs_at_once_have_an_engine_each_that_later_jobs_find(wanted, monkeypatch):
    monkeypatch.setattr(hosting, "START_SECONDS", 0.1)
    on_cpu = replace(wanted, model=MODEL.model_copy(update={"gpus": 0}))
    first, second = (hosting.HostedBackend(on_cpu, None, "base").generate(asking(), SAMPLING) for _ in range(2))
    begun = [next(first), next(second)]
    assert len(starts(wanted.orders)) == 2
    assert answers([begun[0], *first]) == answers([begun[1], *second])
    assert texts(on_cpu) == texts(on_cpu)
    assert len(starts(wanted.orders)) == 2


def test_on_a_cpu_a_job_waits_for_an_engine_that_is_soon_free(wanted):
    on_cpu = replace(wanted, model=MODEL.model_copy(update={"gpus": 0}))
    batches = hosting.HostedBackend(on_cpu, None, "base").generate(asking(), SAMPLING)
    next(batches)
    threading.Timer(0.5, batches.close).start()
    assert len(texts(on_cpu)) == 20
    assert len(starts(wanted.orders)) == 1


def test_an_idle_engine_ends_and_the_next_job_starts_another(wanted):
    brief = replace(wanted, idle=1.0)
    first = texts(brief)
    before = starts(wanted.orders)
    assert all(ended(pid) for pid in before)
    assert [path.suffix for path in sorted(hosting.socket_folder().iterdir())] == [".lock", ".log"]
    assert texts(brief) == first
    assert len(starts(wanted.orders)) > len(before)


def test_a_killed_job_leaves_the_engine_to_the_others(wanted):
    wanted.orders.write_text("slow")
    program = (
        "import sys; sys.path[:0] = sys.argv[1].split(':'); from test_hosting import *; from pathlib import Path;"
        "job = StandIn('base', MODEL, Path(sys.argv[2]), None, 'content', orders=Path(sys.argv[3]));"
        "print([next(hosting.HostedBackend(job, None, 'base').generate(asking(4000), SAMPLING))], flush=True); time.sleep(60)"
    )
    words = [sys.executable, "-c", program, os.pathsep.join(sys.path), str(wanted.files), str(wanted.orders)]
    job = subprocess.Popen(words, stdout=subprocess.PIPE)
    assert job.stdout.readline()
    job.kill()
    job.wait()
    wanted.orders.write_text("")
    assert len(texts(wanted)) == 20
    assert len(starts(wanted.orders)) == 1


def test_a_job_that_stops_early_calls_its_answers_off(wanted):
    wanted.orders.write_text("slow")
    batches = hosting.HostedBackend(wanted, None, "base").generate(asking(4000), SAMPLING)
    next(batches)
    batches.close()
    wanted.orders.write_text("")
    assert len(texts(wanted)) == 20


@pytest.mark.parametrize(
    ("order", "line"),
    [
        # it closes before it says so
        ("break", r"base: its engine ended \(LookupError: no block 7\); what was answered"),
        ("value", r"base: its engine ended \(ValueError: no such token\); what was answered"),  # no closed connection
        ("die", r"base: its engine ended \(CUDA error: out of memory\); what was answered is k"),
        ("fail", "vLLM failed with 3 requests in flight"),
    ],
)
def test_an_engine_that_ends_is_one_line_and_the_next_job_gets_a_new_one(wanted, order, line):
    wanted.orders.write_text(order)
    with pytest.raises(ModelInvalid, match=line):
        texts(wanted)
    wanted.orders.write_text("")
    assert len(texts(wanted)) == 20
    assert len(starts(wanted.orders)) == 2


@pytest.mark.parametrize("moment", ["is sent requests", "answers"])
def test_an_engine_that_is_killed_costs_no_answer(wanted, tmp_path, moment):
    """One line, and the same job again asks a new engine for what is not in its journal."""
    wanted.orders.write_text("slow")
    file, hosted = tmp_path / "journal", Counting(wanted, None, "base")
    requests = [Generate((Message("user", f"{row}" * 100_000),)) for row in range(100)]

    def kill():
        while not (file.exists() and contents(file).answers if moment == "answers" else hosted.settings):
            time.sleep(0.001)
        os.kill(starts(wanted.orders)[-1], signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    with pytest.raises(ModelInvalid, match=r"base: its engine ended \(it said nothing\); what was answered is kept"):
        journal.ask(hosted, SAMPLING, journal.Journal(file), requests)
    killer.join()
    kept = len(contents(file).answers["base"]) if moment == "answers" else 0
    wanted.orders.write_text("")
    alone = fake.Backend(lambda request: f"base: {fake.by_hash(request)}")
    whole = journal.ask(alone, SAMPLING, journal.Journal(tmp_path / "other"), requests)
    assert journal.ask(hosted, SAMPLING, journal.Journal(file), requests) == whole
    assert hosted.asked == [100, 100 - kept]


class Counting(hosting.HostedBackend):
    """With the number of requests of each time that it was asked."""

    def __init__(self, *of):
        super().__init__(*of)
        self.asked = []

    def generate(self, requests, sampling):
        self.asked.append(len(requests))
        return super().generate(requests, sampling)


def test_a_model_that_cannot_be_loaded_is_one_line(wanted):
    wanted.orders.write_text("refuse")
    assert "vLLM cannot take it: too large; check models" in line_of(ModelInvalid, texts, wanted)
    assert ended(starts(wanted.orders)[0])


def test_an_adapter_that_cannot_be_served_costs_no_engine(wanted, tmp_path):
    assert "cannot serve this adapter" in line_of(ModelInvalid, texts, wanted, tmp_path / "odd")
    assert len(texts(wanted)) == 20
    assert len(starts(wanted.orders)) == 1


def test_a_program_that_does_not_start_is_one_line(wanted, monkeypatch):
    monkeypatch.setattr(hosting, "RETRY_INTERVAL", 0.01)
    monkeypatch.setattr(StandIn, "command", lambda _: ["-c", "raise SystemExit('no such package')"])
    assert "base: its engine does not start: no such package" in line_of(ModelInvalid, texts, wanted)


def test_sockets_are_in_a_folder_of_the_user_alone(wanted, tmp_path):
    hosting.socket_folder().chmod(0o755)
    assert "engines: not a folder of yours alone; expected mode 700" in line_of(ModelInvalid, texts, wanted)


def test_which_engine_it_is(tmp_path, monkeypatch):
    """Weights, settings, cards and room for adapters decide; adapters, judges and sampling do not."""
    monkeypatch.setenv("EXCAM_ENGINES", str(tmp_path / "engines"))

    def place(model=MODEL, rank=None, content="c", files=tmp_path):
        return hosting.EngineSpec("base", model, files, rank, content).place

    assert place() == place(MODEL.model_copy(update={"sampling": config.Sampling(max_tokens=3)}))
    others = [place(rank=8), place(content="d"), place(files=tmp_path / "x")]
    others += [place(MODEL.model_copy(update=change)) for change in ({"gpus": 2}, {"engine": {"max_num_seqs": 3}})]
    monkeypatch.setenv("SLURM_JOB_ID", "7")
    assert len({*others, place()}) == 6


def test_engines_with_weights_of_their_own_are_shared(tmp_path):
    changes = ({}, {"backend": "transformers"}, {"serve": "merged"}, {"backend": "openai"})
    shared = [backend_factory.shares_engine(MODEL.model_copy(update=change)) for change in changes]
    assert shared == [True, True, False, False]
    manifest = tmp_path / "manifest.json"
    (tmp_path / "files").mkdir()
    (tmp_path / "files/model.safetensors").write_bytes(b"weights")
    write_json(manifest, {"outputs": {"model.safetensors": sha256(tmp_path / "files/model.safetensors")}})
    assert isinstance(backend_factory.SharedBackend("base", MODEL, manifest)._opened(), hosting.HostedBackend)
