"""One GPU, one job: real processes on cards that are names in CUDA_VISIBLE_DEVICES, no driver needed."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from one_line_errors import line_of

from excam.core import provenance
from excam.core.exceptions import ModelInvalid
from excam.inference import gpus
from excam.training import devices, layout

ROOT = Path(__file__).parents[2]

# Take cards, mark each as in use (a mark that is there already is a collision), tell them, hold them until stdin ends.
JOB = """
import os, sys, time
from pathlib import Path
from excam.inference import gpus
gpus.take_gpus(int(sys.argv[1]), "judge")
cards = os.environ["CUDA_VISIBLE_DEVICES"]
marks = [Path(sys.argv[2]) / card for card in cards.split(",") if card]
for mark in marks:
    mark.touch(exist_ok=False)
print(cards, flush=True)
time.sleep(0.1)
sys.stdin.read()
for mark in marks:
    mark.unlink()
"""


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """Four cards, and a folder of locks of their own."""
    (tmp_path / "marks").mkdir()
    monkeypatch.setenv("EXCAM_GPU_LOCKS", str(tmp_path / "locks"))
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0,1,2,3")
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setenv("CUDA_DEVICE_ORDER", "PCI_BUS_ID")
    monkeypatch.delenv("SLURM_JOB_ID", raising=False)
    monkeypatch.setattr(gpus, "_held_locks", [])
    yield tmp_path
    for file in gpus._held_locks:
        os.close(file)


def start(machine, wanted=1, **env):
    """A job that takes so many cards as soon as it can, and ends when `ended` asks it to."""
    words = [sys.executable, "-c", JOB, str(wanted), str(machine / "marks")]
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    return subprocess.Popen(words, cwd=ROOT, env=os.environ | env, text=True, **pipes)


def holding(machine, wanted=1, **env):
    """A job that has its cards."""
    job = start(machine, wanted, **env)
    job.cards = job.stdout.readline().strip()
    return job


def ended(job):
    """Return a job's cards and its log line; the job may end as soon as it has them."""
    out, err = job.communicate()
    assert job.returncode == 0, err
    return getattr(job, "cards", out.strip()), err


def driver(machine, said):
    """A fake of the driver's own program."""
    program = machine / "nvidia-smi"
    program.write_text(f"#!/bin/sh\ncat <<'END'\n{said}\nEND\n")
    program.chmod(0o755)


def test_jobs_side_by_side_never_share_a_card(machine):
    """More jobs than cards, of one to four cards in any order: all end, and no card is ever two jobs'."""
    wanted = [1, 3, 1, 2, 4, 1, 2, 3, 1, 2, 1, 4]
    jobs = [start(machine, cards) for cards in wanted]
    with ThreadPoolExecutor(len(jobs)) as threads:
        got = [cards.split(",") for cards, _ in threads.map(ended, jobs)]
    assert [len(cards) for cards in got] == wanted
    assert {card for cards in got for card in cards} == {"0", "1", "2", "3"}


def test_a_killed_job_gives_its_cards_back(machine):
    held = holding(machine, 4)
    waiting = start(machine, 2)
    time.sleep(0.5)
    assert waiting.poll() is None
    for mark in (machine / "marks").iterdir():
        mark.unlink()
    held.send_signal(signal.SIGKILL)
    held.communicate()
    assert ended(waiting)[0] == "0,1"


def test_a_long_wait_is_told_once(machine):
    held, waiting = holding(machine, 4), start(machine)
    line = waiting.stderr.readline()
    assert line == "judge: waiting for 1 of the GPUs 0, 1, 2, 3: other jobs have them (`lslocks` tells which)\n"
    ended(held)
    assert ended(waiting) == ("0", "judge: on GPU 0, of 4\n")


def test_lists_that_overlap(machine):
    """The user's own list is kept to; a card on two lists is one card."""
    first = holding(machine, 1, CUDA_VISIBLE_DEVICES="2")
    assert ended(start(machine, 2, CUDA_VISIBLE_DEVICES="2,0,3"))[0] == "0,3"
    assert ended(start(machine, 1, CUDA_VISIBLE_DEVICES="1"))[0] == "1"
    ended(first)


def test_a_job_that_needs_no_card_sees_none(machine):
    held = holding(machine, 4)
    assert ended(start(machine, 0)) == ("", "")
    ended(held)


def test_a_card_by_any_name(machine):
    """Number, UUID and a prefix of the UUID name the same card; MIG slices and invalid values stay unchanged."""
    driver(
        machine,
        "GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-aaaa-1)\n"
        "GPU 1: NVIDIA H100 80GB HBM3 (UUID: GPU-bbbb-2)\n"
        "  MIG 1g.10gb     Device  0: (UUID: MIG-cccc-3)",
    )
    assert seen("GPU-bbbb,0,GPU-aaaa-1") == {"GPU-bbbb": "GPU-bbbb-2", "0": "GPU-aaaa-1", "GPU-aaaa-1": "GPU-aaaa-1"}
    assert seen("MIG-cccc-3,7") == {"MIG-cccc-3": "MIG-cccc-3", "7": "7"}
    assert seen(None) == {"0": "GPU-aaaa-1", "1": "GPU-bbbb-2"}
    first = holding(machine, 1, CUDA_VISIBLE_DEVICES="GPU-bbbb")
    assert ended(start(machine, 1, CUDA_VISIBLE_DEVICES="1,0"))[0] == "0"
    ended(first)


def seen(listed):
    """`gpus.visible_gpus` with this in the variable."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("CUDA_VISIBLE_DEVICES") if listed is None else patch.setenv("CUDA_VISIBLE_DEVICES", listed)
        return gpus.visible_gpus()


def test_numbers_inside_a_slurm_job_are_its_own(machine, monkeypatch):
    """Where Slurm shows each job its cards alone, all of them begin at 0."""
    first = holding(machine, 1, CUDA_VISIBLE_DEVICES="0", SLURM_JOB_ID="17")
    (machine / "marks/0").unlink()
    assert ended(start(machine, 1, CUDA_VISIBLE_DEVICES="0", SLURM_JOB_ID="18"))[0] == "0"
    (machine / "marks/0").touch()
    ended(first)


@pytest.mark.parametrize("listed", ["", "-1", "-1,0", " ,1"])
def test_a_list_without_a_card(machine, monkeypatch, listed):
    """As CUDA reads it: the first word that names none ends the list; then the engine says what it lacks."""
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", listed)
    gpus.take_gpus(2, "judge")
    assert os.environ["CUDA_VISIBLE_DEVICES"] == listed
    assert not (machine / "locks").exists()


def test_no_driver_no_list(machine, monkeypatch):
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES")
    monkeypatch.setenv("PATH", str(machine))
    gpus.take_gpus(1, "judge")
    assert "CUDA_VISIBLE_DEVICES" not in os.environ


def test_fewer_cards_than_needed(machine, monkeypatch):
    line = line_of(ModelInvalid, gpus.take_gpus, 8, "judge")
    assert line.startswith("CUDA_VISIBLE_DEVICES names 4 GPUs (0, 1, 2, 3); expected 8; set the mo")
    driver(machine, "GPU 0: NVIDIA A100 (UUID: GPU-aaaa-1)")
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES")
    line = line_of(ModelInvalid, gpus.take_gpus, 2, "judge")
    assert line.startswith("this machine has 1 GPUs (0); expected 2; ")


def test_locks_of_another_user_can_be_had(machine):
    """Read-only files that somebody else made are locked all the same."""
    (machine / "locks").mkdir()
    for name in ("0", "1", "2", "3"):
        (machine / "locks" / name).touch(0o444)
    assert ended(start(machine, 2))[0] == "0,1"


def test_taken_once_for_the_whole_program(machine):
    gpus.take_gpus(1, "judge")
    gpus.take_gpus(1, "judge")
    assert os.environ["CUDA_VISIBLE_DEVICES"] == "0"
    assert len(gpus._held_locks) == 1


def test_no_process_outlives_its_killed_launcher(machine):
    """A launcher's processes hold no lock of their own, so they end with it."""
    child = (
        "import time; from excam.training import devices; devices.end_with_parent();"
        "print('ready', flush=True); time.sleep(900)"
    )
    launcher = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {child!r}])"
    with subprocess.Popen([sys.executable, "-c", launcher], cwd=ROOT, stdout=subprocess.PIPE, text=True) as started:
        assert started.stdout is not None
        started.stdout.readline()
        killed = time.monotonic()
        started.kill()
        assert started.stdout.read() == ""  # the end of the pipe: no process holds its other end
        assert time.monotonic() - killed < 300


def test_a_launcher_takes_the_cards_of_its_layout(machine, monkeypatch):
    """One per process, before any is started; they take none themselves."""
    launched = []
    note = lambda n, words: launched.append((n, os.environ["CUDA_VISIBLE_DEVICES"]))  # noqa: E731
    monkeypatch.setattr(devices, "_run_launcher", note)
    with pytest.raises(SystemExit):
        devices.launch_processes(layout.load_layout("zero2"), "scripts", [], "phi/all")
    assert launched == [(2, "0,1")]
    monkeypatch.setenv("LOCAL_RANK", "1")
    monkeypatch.setattr(devices, "end_with_parent", lambda: None)
    monkeypatch.setattr(gpus, "take_gpus", lambda wanted, job: pytest.fail("takes cards that its launcher has"))
    devices.launch_processes(layout.load_layout("zero2"), "scripts", [], "phi/all")


def judging(folder, cards):
    """The words of a judge's job on so many cards, with weights with a complete manifest; samples are missing."""
    file, manifest = folder / "model/files/model.safetensors", folder / "model/manifest.json"
    provenance.write_text(file, "weights")
    facts = {"revision": "c" * 40, "licence": "MIT"}
    provenance.write_manifest(manifest, inputs=[], outputs=[file], settings={}, seconds=0, **facts)
    words = {"name": "m/nothing/count", "model": json.dumps({"backend": "transformers"}), "gpus": cards}
    words |= {"weights": manifest, "judge": "count", "samples": "absent.parquet", "journal": "journal.jsonl"}
    words |= {"seed": 1, "transcripts": "rows.jsonl", "manifests": "rows.manifest.json"}
    return ["-m", "scripts", "judge", *(str(part) for name, word in words.items() for part in (f"--{name}", word))]


def without_cards(*words):
    """What a job says that fails on a machine without a driver, with the torch of these tests."""
    environment = {name: value for name, value in os.environ.items() if name != "CUDA_VISIBLE_DEVICES"}
    done = subprocess.run([sys.executable, *words], cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 1, done.stderr
    return done.stderr


TOLD = (
    r"\w+: torch \S+ \((a CPU build|built for CUDA [\d.]+)\) sees 0 GPUs; expected (\d); (\./setup\.sh|a driver) "
    r".*, or (set .*) to run on the CPU\n"
)


@pytest.mark.skipif(Path("/dev/nvidiactl").exists(), reason="a card is here")
def test_cards_that_torch_does_not_see_are_one_line(machine):
    """Before a byte of the weights is read; nothing runs on the CPU that was to run on a card."""
    words = judging(machine, 2)
    (machine / "model/files/model.safetensors").unlink()
    assert re.fullmatch(TOLD, without_cards(*words)).groups()[1::2] == ("2", "set the model's `gpus: 0`")
    said = without_cards(*judging(machine, 0))
    assert "absent.parquet" in said, "0: the CPU was asked for, so it comes to the samples"


@pytest.mark.skipif(Path("/dev/nvidiactl").exists(), reason="a card is here")
def test_training_on_cards_that_torch_does_not_see_is_one_line(machine):
    words = ["model", "m", "weights", "absent.json", "trained-on", "all", "mixture", "absent.jsonl", "tokens", "absent"]
    words += ["recipe", "{}", "layout", "zero2", "save-steps", "1", "seed", "1", "checkpoints", "c", "adapter", "a"]
    options = [f"--{word}" if at % 2 == 0 else word for at, word in enumerate(words)]
    said = without_cards("-m", "scripts", "train_adapter", *options)
    assert re.fullmatch(TOLD, said).groups()[1::2] == ("2", "set training.layout: cpu")


@pytest.mark.parametrize(
    ("cuda", "seen", "line"),
    [
        ("'13.0'", 1, "(built for CUDA 13.0) sees 1 GPUs; expected 2; a driver for that CUDA (13 needs"),
        ("None", 0, "(a CPU build) sees 0 GPUs; expected 2; ./setup.sh core-cuda"),
    ],
)
def test_what_is_said_names_the_cuda_of_torch(machine, monkeypatch, cuda, seen, line):
    """With a fake of torch, where it is installed."""
    stand_in_torch(machine, monkeypatch, cuda, seen)
    assert line in line_of(ModelInvalid, gpus.refuse_unusable, 2)
    gpus.refuse_unusable(seen)


def stand_in_torch(machine, monkeypatch, cuda, seen):
    (machine / "torch.py").write_text(
        f"__version__ = '2.13.0'\nclass version: cuda = {cuda}\n"
        f"class cuda:\n    is_available = lambda: {seen > 0}\n    device_count = lambda: {seen}\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(machine))


def test_weights_are_compared_before_a_card_is_asked_for(machine, monkeypatch):
    """Minutes of reading, while another job may have the cards."""
    held = holding(machine, 4)
    stand_in_torch(machine, monkeypatch, "'13.0'", 4)
    words = judging(machine, 1)
    (machine / "model/files/model.safetensors").write_text("wEights")
    done = subprocess.run([sys.executable, *words], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 1
    assert re.fullmatch(r"judge: \S+model\.safetensors: sha256 .*; expected sha256 .* run again\n", done.stderr)
    ended(held)
