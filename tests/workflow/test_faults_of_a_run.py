"""What machines and people do to a run on one machine: kills, full and read-only disks, clocks, damaged and partial files.

Each time: the next run completes, the artifacts are the same bytes, little is done again, and one line says what happened.
"""

import base64
import os
import shutil
import subprocess
import time

import killed_runs
import pytest
from checkout import ADAPTER, copy_of, kill_when

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
    story = killed_runs.disturbed(damaged, 3, 1, killed_runs.durations(run.folder), jobs, *targets)
    assert len(story.kills) >= 2, "through before it could be killed"
    assert len(story.starts) == jobs
    assert story.redone.total() <= story.allowed
    comparison = killed_runs.compared(run, damaged)
    assert not comparison["lost"]
    assert not comparison["differing"]
    assert all(name.endswith(".part") for name in comparison["left behind"])
    for name in comparison["left behind"]:
        (damaged.folder / "results" / name).unlink()


def test_the_lock_of_a_killed_run_is_named_with_the_way_out(damaged):
    (damaged.folder / "results/paper/table-1.md").unlink()
    process = damaged.start("results/paper/table-1.md")
    kill_when(process, lambda: list((damaged.folder / ".snakemake/locks").glob("*")))
    refused = damaged("results/paper/table-1.md")
    assert refused.returncode != 0
    assert "Directory cannot be locked" in refused.text
    assert "--unlock" in refused.text
    assert damaged("--unlock").returncode == 0
    assert damaged("results/paper/table-1.md").returncode == 0


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


# --- the clock


def test_a_clock_that_jumps(run, damaged):
    """Times alone make nothing stale. What is made of a file from the future Snakemake refuses, until that is touched."""
    hours = 3600 * 10**9
    for name, moved in ((JUDGED, 24), ("results/samples/blend.parquet", -1000), ("results/excam40k/normad", 24)):
        for path in [damaged.folder / name, *(damaged.folder / name).glob("*.parquet")]:
            os.utime(path, ns=(path.stat().st_atime_ns, time.time_ns() + moved * hours))
    for path in (damaged.folder / "mini").rglob("*"):
        os.utime(path)
    assert damaged.planned("all") == {}
    (damaged.folder / BASE_CELL).unlink()
    refused = damaged(BASE_CELL)
    assert refused.returncode == 1
    assert f"Output {BASE_CELL} has older modification time" in refused.text
    assert f"than input {JUDGED}" in refused.text
    assert "clock skew" in refused.text
    assert not (damaged.folder / BASE_CELL).exists()
    for path in (damaged.folder / "results").rglob("*"):
        if path.stat().st_mtime > time.time():
            os.utime(path)
    done = damaged(BASE_CELL)
    assert done.returncode == 0, done.text[-3000:]
    assert damaged.digest(BASE_CELL) == run.digest(BASE_CELL)
    assert damaged.planned("all") == {}


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


# --- half-written


def test_half_written_files_of_an_older_run(run, damaged):
    """With Snakemake's mark of a job that never ended; without it and without a recorded hash; and a temporary one."""
    marked, unmarked = "results/paper/table-1.md", JUDGED
    half = (damaged.folder / marked).read_bytes()
    (damaged.folder / marked).write_bytes(half[: len(half) // 2])
    mark = base64.b64encode(marked.encode(), altchars=b"_-").decode()
    (damaged.folder / ".snakemake/incomplete" / mark).touch()
    replace(damaged.folder / unmarked, (damaged.folder / unmarked).read_bytes()[:-40])
    (damaged.folder / "results/.hashes" / f"{unmarked.removeprefix('results/')}.sha256").unlink()
    part = damaged.folder / "results/paper/.table-1.md.1.part"
    part.write_text("half")
    (damaged.folder / BASE_CELL).unlink()

    done = damaged("--keep-going", marked, BASE_CELL)
    assert done.returncode == 1
    (said,) = set(lines_of(done.text, "evaluate"))
    assert f"{unmarked}: not a readable Parquet file" in said
    assert "delete it and run again" in said
    assert damaged.digest(marked) == run.digest(marked)

    (damaged.folder / unmarked).unlink()
    assert damaged(BASE_CELL).returncode == 0
    part.unlink()
    assert differences(run, damaged) == {}
