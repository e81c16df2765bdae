"""Blocks of our Markdown pages that a test runs, compares or writes down: those with a mark, a comment, before their fence.

<!-- run -->                          the block is run, bash or python, in the folder that the page is about
<!-- run: exit code 1 -->             the same, and it ends with that code
<!-- printed -->                      what the block before it prints on stdout; a line `…` stands for any lines
<!-- printed on stderr -->            what it prints there
<!-- file: excam/judges/x.py -->      the text of a file
<!-- added to: config.yaml -->        text that is put at the end of a file
"""

import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

MARKED = re.compile(r"^<!-- (run|printed|file|added to)\b:? ?([^\n]*?) -->\n+(`{3,})(\w*)\n(.*?)^\3$", re.M | re.S)


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
    found = []
    for one in MARKED.finditer(text):
        line = text.count("\n", 0, one.start()) + 1
        found.append(Block(one[1], one[2], one[4], one[5], f"{page.name}:{line}"))
    marks = len(re.findall(r"^<!-- (?:run|printed|file|added to)\b", text, re.M))
    assert len(found) == marks, f"{page.name}: {marks} marks, {len(found)} of them before a block"
    return found


def follow(page: Path, folder: Path, environment: dict[str, str]) -> int:
    """Do what a page says, in order, in `folder`; returns how many blocks were run."""
    done, runs = None, 0
    for block in marked(page):
        if block.kind in ("file", "added to"):
            path = folder / block.detail
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("w" if block.kind == "file" else "a", encoding="utf-8") as stream:
                stream.write(block.text)
        elif block.kind == "run":
            done, runs = run(block, folder, environment), runs + 1
            assert done.returncode == block.code, (
                f"{block.place}: exit code {done.returncode}\n{done.stdout}\n{done.stderr}"
            )
        else:
            assert done is not None, f"{block.place}: nothing was run before it"
            said = done.stderr if block.detail == "on stderr" else done.stdout
            assert matches(block.text, said), f"{block.place}: expected\n{block.text}\nfound\n{said}"
    return runs


def run(block: Block, folder: Path, environment: dict[str, str]) -> subprocess.CompletedProcess:
    words = {"bash": ["bash", "-euo", "pipefail", "-c"], "python": [sys.executable, "-c"]}[block.language]
    return subprocess.run(
        [*words, block.text], cwd=folder, env=environment, capture_output=True, text=True, timeout=500, check=False
    )


def matches(expected: str, found: str) -> bool:
    """Whether a text is the expected one; a line `…` of it stands for any lines, none too."""
    parts = [re.escape(part) for part in re.split(r"^…\n", expected, flags=re.M)]
    return re.fullmatch("(?:.*\n)*".join(parts).removesuffix(r"\n") + "\n*", found) is not None
