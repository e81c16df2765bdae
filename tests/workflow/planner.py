"""Dry runs at a fraction of their usual cost: a process that has imported Snakemake once forks for each of them.

What runs in the fork is Snakemake's own command line, in the folder and with the options of the case; the workflow and
excam are read again from that folder. `python planner.py` reads one request a line (JSON: folder, words, printed), runs
as many at once as there are processors, and answers with one line each (JSON: printed, code).
"""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

_HEAD = re.compile(r"^ *(?:local)?rule (\w+):$")
_WILDCARDS = re.compile(r"^ +wildcards: (.*)$")


@dataclass(frozen=True)
class Plan:
    """What Snakemake would run: `jobs` as "rule value/of/its/wildcards"."""

    code: int
    text: str

    @property
    def jobs(self) -> frozenset[str]:
        assert self.code == 0, self.text[-3000:]
        return frozenset(planned(self.text))


def planned(printed: str) -> Iterator[str]:
    """Jobs of a printed dry run; the targets that only name files (`all`) are none."""
    rule, values = "", ""
    for line in [*printed.splitlines(), "rule end:"]:
        if head := _HEAD.match(line):
            if rule not in ("", "all", "annotation", "external", "paper"):
                yield f"{rule} {values}".strip()
            rule, values = head[1], ""
        elif wildcards := _WILDCARDS.match(line):
            values = "/".join(pair.split("=", 1)[1] for pair in wildcards[1].split(", "))


def plan(requests: Sequence[tuple[Path, Sequence[str]]], scratch: Path, environment: dict[str, str]) -> list[Plan]:
    """Dry runs of (folder, words of the command line), in the order of `requests`."""
    files = [scratch / f"{number}.txt" for number in range(len(requests))]
    lines = "\n".join(
        json.dumps({"folder": str(folder), "words": list(words), "printed": str(file)})
        for file, (folder, words) in zip(files, requests, strict=True)
    )
    command = [sys.executable, __file__]
    done = subprocess.run(command, input=lines, env=environment, capture_output=True, text=True, check=True)
    codes = {answer["printed"]: answer["code"] for answer in map(json.loads, done.stdout.splitlines())}
    return [Plan(codes[str(file)], file.read_text(encoding="utf-8")) for file in files]


def _serve() -> None:
    import polars  # noqa: F401 - for the forks
    import pydantic  # noqa: F401
    import snakemake.cli  # noqa: F401

    assert "excam" not in sys.modules, "each fork reads the excam of its own folder"
    running: dict[int, str] = {}
    for line in sys.stdin:
        while len(running) >= (os.cpu_count() or 1):
            _reap(running)
        request = json.loads(line)
        if child := os.fork():
            running[child] = request["printed"]
        else:
            _dry_run(**request)
    while running:
        _reap(running)


def _reap(running: dict[int, str]) -> None:
    child, status = os.wait()
    print(json.dumps({"printed": running.pop(child), "code": os.waitstatus_to_exitcode(status)}), flush=True)


def _dry_run(folder: str, words: list[str], printed: str) -> None:
    from snakemake.cli import main

    code = 1
    try:
        with Path(printed).open("w") as stream:
            os.dup2(stream.fileno(), 1)
            os.dup2(stream.fileno(), 2)
        os.chdir(folder)
        os.environ["PYTHONPATH"] = folder
        sys.path.insert(0, folder)
        main(["-n", "--nocolor", *words])
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(bool(end.code))
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    _serve()
