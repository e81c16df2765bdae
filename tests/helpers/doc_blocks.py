"""Run, compare or write the marked code blocks of our Markdown pages; a mark is a comment before the fence.

<!-- run -->                          the block is run, bash or python, in the folder that the page is about
<!-- run: exit code 1 -->             the same, and it ends with that code
<!-- started: listening -->           it is started, goes on beside what follows once it has said so, and ends in good order
<!-- planned -->                      its snakemake commands are planned (-n)
<!-- installed -->                    it is run where nothing but the package is, away from this repository
<!-- not run: why -->                 it is not: the reason
<!-- printed -->                      what the block before it prints on stdout; a line `…` stands for any lines
<!-- printed on stderr -->            what it prints there
<!-- file: excam/error_reports/judges/x.py -->      the text of a file
<!-- added to: config.yaml -->        text that is put at the end of a file
"""

import re
import signal
import subprocess
import sys
import time
from collections.abc import Collection
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

KINDS = r"(not run|run|started|planned|installed|printed|file|added to)\b"
MARKED = re.compile(rf"^ *<!-- {KINDS}:? ?([^\n]*?) -->\n+ *(`{{3,}})(\w*)\n(.*?)^ *\3$", re.M | re.S)
FENCE = re.compile(r"^ *(`{3,})(\w*)\n.*?^ *\1$", re.M | re.S)
HERE = ("run", "started", "planned")
LANGUAGES = {"bash": ["bash", "-euo", "pipefail", "-c"], "python": [sys.executable, "-c"]}


@dataclass(frozen=True)
class Block:
    kind: str
    detail: str
    language: str
    text: str
    place: str  # page and line

    @property
    def code(self) -> int:
        """The exit code that is expected of a run."""
        return int(self.detail.removeprefix("exit code ")) if self.detail else 0


def marked(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    blocks = []
    for match in MARKED.finditer(text):
        line = text.count("\n", 0, match.start()) + 1
        blocks.append(Block(match[1], match[2], match[4], match[5], f"{page.name}:{line}"))
    marks = len(re.findall(rf"^ *<!-- {KINDS}", text, re.M))
    assert len(blocks) == marks, f"{page.name}: {marks} marks, {len(blocks)} of them before a block"
    return blocks


def unmarked(page: Path) -> list[str]:
    """Commands and programs of a page that no mark says anything about: page and line of each."""
    text = page.read_text(encoding="utf-8")
    with_command = {match.start(3) for match in MARKED.finditer(text)}
    places = [
        match.start(1) for match in FENCE.finditer(text) if match[2] in LANGUAGES and match.start(1) not in with_command
    ]
    outside = FENCE.sub(lambda match: "\n" * match[0].count("\n"), text)
    lines = [
        at
        for at, line in enumerate(outside.split("\n"), 1)
        if re.match(r" {4,}(excam|snakemake|pip|pytest|python|\./)\b", line)
    ]
    return [f"{page.name}:{line}" for line in sorted([text.count("\n", 0, place) + 1 for place in places] + lines)]


def follow(page: Path, folder: Path, environment: dict[str, str], kinds: Collection[str] = HERE) -> int:
    """Do what a page says, in order, in `folder`; returns how many blocks were run: those of `kinds`."""
    done, runs, passed_by = None, 0, False
    with ExitStack() as until_the_end:
        for block in marked(page):
            if block.kind in ("file", "added to"):
                write(block, folder)
            elif block.kind == "printed":
                assert done is not None or passed_by, f"{block.place}: nothing was run before it"
                if not passed_by:
                    output = done.stderr if block.detail == "on stderr" else done.stdout
                    assert matches(block.text, output), f"{block.place}: expected\n{block.text}\nfound\n{output}"
            elif passed_by := block.kind not in kinds:
                continue
            else:
                runs += 1
                if block.kind == "started":
                    until_the_end.callback(stop, block, start(block, folder, environment))
                else:
                    done = run(block, folder, environment)
                    assert done.returncode == block.code, (
                        f"{block.place}: exit code {done.returncode}\n{done.stdout}\n{done.stderr}"
                    )
    return runs


def write(block: Block, folder: Path) -> None:
    path = folder / block.detail
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w" if block.kind == "file" else "a", encoding="utf-8") as stream:
        stream.write(block.text)


def run(block: Block, folder: Path, environment: dict[str, str]) -> subprocess.CompletedProcess:
    text = block.text
    if block.kind == "planned":
        lines = [line for line in text.splitlines() if line.startswith("snakemake ")]
        assert lines, f"{block.place}: no snakemake command to plan"
        text = "\n".join(line.replace("snakemake ", "snakemake -n ", 1) for line in lines)
    return subprocess.run(
        [*LANGUAGES[block.language], text], cwd=folder, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip


def start(block: Block, folder: Path, environment: dict[str, str]) -> subprocess.Popen:
    """A block in the background, as soon as it has said what its mark names."""
    log = folder / f".{block.place}.log"
    with log.open("w") as stream:
        started = subprocess.Popen(
            [*LANGUAGES[block.language], f"exec {block.text}"],
            cwd=folder,
            env=environment,
            stdout=stream,
            stderr=stream,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # ignored below a shell's `&`
        )
    while block.detail not in log.read_text():
        assert started.poll() is None, f"{block.place}: ended\n{log.read_text()}"
        time.sleep(0.1)
    return started


def stop(block: Block, started: subprocess.Popen) -> None:
    """End what was started, as Ctrl-C does."""
    started.send_signal(signal.SIGINT)
    assert started.wait() == 0, f"{block.place}: ended with {started.returncode}"


def matches(expected: str, text: str) -> bool:
    """Whether a text is the expected one; a line `…` of it matches any number of lines."""
    parts = [re.escape(part) for part in re.split(r"^…\n", expected, flags=re.M)]
    return re.fullmatch("(?:.*\n)*".join(parts).removesuffix(r"\n") + "\n*", text) is not None
