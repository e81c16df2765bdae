"""Each command of the pages that writes a file, first with no room for it: one line, nothing lost, nothing partial."""

import re
import resource
import subprocess

import pytest
from checkout import ROOT, Run, copy_checkout
from doc_blocks import marked, write

PAGES = ("macaron", "rubric", "cult-eval", "calmqa", "knowledge")
ROOM = 100  # bytes of a file
MESSAGE = "file too large"


def commands(text: str) -> list[str]:
    """Return the commands of a block, without continued lines and comments."""
    lines = re.sub(r"\\\n\s*", " ", text).splitlines()
    return [command for line in lines if (command := re.sub(r"\s+#.*", "", line).strip())]


def states(place: Run) -> dict[str, tuple[int, int]]:
    """Return size and time of every file with content."""
    files = ((path, path.stat()) for path in place.folder.rglob("*") if path.is_file())
    return {str(path): (stat.st_size, stat.st_mtime_ns) for path, stat in files if stat.st_size}


def run(command: str, place: Run, room: int | None) -> subprocess.CompletedProcess:
    def limit() -> None:
        if room:
            resource.setrlimit(resource.RLIMIT_FSIZE, (room, resource.RLIM_INFINITY))

    environment = place.environment | {"PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(
        ["bash", "-c", f"exec {command}"],
        cwd=place.folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=limit,
    )


@pytest.mark.nightly
@pytest.mark.parametrize("page", PAGES)
def test_a_full_disk_is_one_line_and_costs_nothing(page, tmp_path):
    place = Run(tmp_path / "excam")
    copy_checkout(place.folder)
    tried = 0
    for block in marked(ROOT / f"docs/{page}.md"):
        if block.kind == "file":
            write(block, place.folder)
        for command in commands(block.text) if block.kind == "run" and block.language == "bash" else ():
            if " --to " in command:
                before = states(place)
                refused = run(command, place, ROOM)
                assert refused.returncode != 0, command
                assert "Traceback" not in refused.stderr, refused.stderr
                assert MESSAGE in refused.stderr.splitlines()[-1], refused.stderr
                assert states(place) == before, command
                tried += 1
            assert run(command, place, None).returncode == block.code, command
    assert tried
