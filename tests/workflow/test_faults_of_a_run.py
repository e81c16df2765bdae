"""What machines and people do to a run on one machine: kills, full and read-only disks, clocks, damaged and partial files.

Each time: the next run completes, the artifacts are the same bytes, little is done again, and one line says what happened.
"""

import os
import shutil
import subprocess

import killed_runs
import pytest
from checkout import ADAPTER, copy_of

BASE_CELL = "results/evaluation/smollm2-135m/nothing/count/blend/test.json"
JUDGED = "results/judgements/smollm2-135m/nothing/count/blend/test.parquet"
FIGURE = tuple(f"results/paper/figure-3.{kind}" for kind in ("csv", "pdf", "svg", "png"))
pytestmark = [pytest.mark.model, pytest.mark.nightly]


@pytest.fixture(scope="module")
def damaged(run, tmp_path_factory):
    """A copy of the finished run, to break; each test leaves it finished."""
    return copy_of(run, tmp_path_factory.mktemp("damaged") / "checkout")


def replace(path, content):
    """Other bytes, the same times: what a bad disk leaves."""
    times = path.stat()
    path.unlink()
    path.write_bytes(content)
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))


def lines_of(text, script):
    return [line for line in text.splitlines() if line.startswith(f"{script}: ")]


def differences(run, damaged):
    """What is lost, left behind or different in the damaged run, and what it would still run: by kind, if there is any."""
    comparison = {**killed_runs.compared(run, damaged), "planned": damaged.planned("all")}
    return {name: comparison[name] for name in ("lost", "left behind", "differing", "planned") if comparison[name]}


# --- killed


def test_kills_at_random_moments(run, damaged):
    cells = [str(path.relative_to(damaged.folder)) for path in (damaged.folder / "results/evaluation").rglob("*.json")]
    for name in (gone := [*cells, *FIGURE, "results/paper/table-4.csv"]):
        (damaged.folder / name).unlink()
    targets = [name for name in gone if name not in FIGURE[1:]]
    jobs = sum(damaged.planned(*targets).values())
    assert jobs == len(targets) > 10
    story = killed_runs.disturbed(damaged, 3, 1, jobs, *targets)
    assert story.kills >= 2, "through before it could be killed"
    assert len(story.starts) == jobs
    assert story.redone <= story.hit
    comparison = killed_runs.compared(run, damaged)
    assert not comparison["lost"]
    assert not comparison["differing"]
    assert all(name.endswith(".part") for name in comparison["left behind"])
    for name in comparison["left behind"]:
        (damaged.folder / "results" / name).unlink()


# --- no room, no right to write


def in_its_own_mounts(run, mount, *targets):
    """Exit code and all that is said of the workflow where only it sees these mounts."""
    try:
        subprocess.run(["unshare", "-rm", "mount", "-t", "tmpfs", "tmpfs", "/mnt"], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("no name space with mounts of its own here")
    words = ["unshare", "-rm", "sh", "-c", f'{mount} && exec "$@"', "sh", *run.command(*targets)]
    done = subprocess.run(words, cwd=run.folder, env=run.environment, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def test_a_results_folder_that_cannot_be_written_to(run, damaged):
    (damaged.folder / BASE_CELL).unlink()
    mount = "mount --bind results results && mount -o remount,ro,bind results"
    code, text = in_its_own_mounts(damaged, mount, BASE_CELL)
    assert code == 1
    assert text.rstrip().splitlines()[-1] == f"OSError: [Errno 30] Read-only file system: '{BASE_CELL}'", "Snakemake's"
    assert not (damaged.folder / BASE_CELL).exists()
    assert damaged(BASE_CELL).returncode == 0
    assert damaged.digest(BASE_CELL) == run.digest(BASE_CELL)


def test_a_full_disk(run, damaged):
    """Room for the numbers of a figure, not for its pictures; what fitted is taken away again."""
    for name in FIGURE:
        (damaged.folder / name).unlink()
    kept = {path: path.read_bytes() for path in (damaged.folder / "results/paper").rglob("*") if path.is_file()}
    mount = "mount -t tmpfs -o size=12k tmpfs results/paper && touch results/paper/kept"
    code, text = in_its_own_mounts(damaged, mount, FIGURE[1])
    assert code == 1
    said = lines_of(text, "figure_3")
    assert len(set(said)) == 1
    assert f"{FIGURE[1].rpartition('.')[0]}." in said[0]
    assert "No space left on device; what was done is kept; make room to write and run again" in said[0]
    assert damaged(FIGURE[1]).returncode == 0
    assert damaged.digest(*FIGURE) == run.digest(*FIGURE)
    assert {path: path.read_bytes() for path in kept} == kept


# --- damage


def flipped(content):
    at = len(content) // 2
    return content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :]


DAMAGE = {  # artifact: what became of it, what is made of it, by which script
    JUDGED: (lambda content: content[:-40], BASE_CELL, "evaluate"),
    f"{ADAPTER}/loss.csv": (lambda content: content[:-9], "results/paper/losses/smollm2-135m.csv", "figure_losses"),
    "results/audits/leaks.csv": (lambda _: b"", "results/audits/summary.md", "summarize_audits"),
    f"{ADAPTER}/adapter_model.safetensors": (flipped, f"{ADAPTER}/verified.json", "verify_adapter"),
}


def test_damaged_artifacts_are_named_and_made_again(run, damaged):
    """The wrong bytes keep their times, so that nothing but the reader can see them. An adapter waits for the summary of
    the audits: that one is damaged last.
    """
    targets = [made for _, made, _ in DAMAGE.values()]
    for name, (becomes, made, script) in sorted(DAMAGE.items(), key=lambda item: "audits" in item[0]):
        replace(damaged.folder / name, becomes((damaged.folder / name).read_bytes()))
        (damaged.folder / made).unlink()
        done = damaged(made)
        assert done.returncode == 1
        assert "Traceback" not in done.text
        (said,) = set(lines_of(done.text, script))
        assert said.startswith(f"{script}: {name}: sha256 "), said
        assert "; expected " in said
        assert "; delete " in said
        assert said.count(" run again") == 1
        assert not (damaged.folder / made).exists()

    for name in DAMAGE:
        (damaged.folder / name).unlink()
    for name in (*(name for name in DAMAGE if name.startswith(ADAPTER)), f"{ADAPTER}/verified.json"):
        # trained again it would be the same too, and take too long here
        shutil.copy2(run.folder / name, damaged.folder / name)
    audits = ("results/audits/leaks.csv", "results/audits/summary.md")
    for names in (audits, [name for name in (*DAMAGE, *targets) if name not in audits]):
        # in one run Snakemake does not look behind the ancient input of `train_adapter` for what is missing
        done = damaged(*names)
        assert done.returncode == 0, done.text[-3000:]
    assert differences(run, damaged) == {}
