"""Does a script notice that an artifact it is given is damaged, and say so in one line?

    python -m bench.damage FOLDER

FOLDER is a copy of the repository with a finished run of tests/experiment.yaml. Every rule's own command is run on an
input of each kind three times: cut in half, empty, and a hundred zero bytes. Prints what was not refused, or not in one
line, and counts. Left out: `fetch_*`, which read nothing of ours, and the rules that load a model.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from bench.processes import ROOT, Job, environment, planned

DAMAGE: Mapping[str, Callable[[bytes], bytes]] = {
    "cut in half": lambda content: content[: len(content) // 2],
    "empty": lambda _: b"",
    "zeros": lambda _: bytes(100),
}
MODELS = ("train_adapter", "verify_adapter", "judge", "judge_counterfactuals", "compare_explanations")
LEFT_OUT = ("all", "fetch_model", "fetch_source", *MODELS)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder.resolve()
    jobs = planned(folder, [ROOT / "config.yaml", ROOT / "tests/experiment.yaml"], ["all"])
    found: Counter[str] = Counter()
    for job, name in kinds(jobs):
        whole = (folder / name).read_bytes()
        for what, content in ((what, damaged(whole)) for what, damaged in DAMAGE.items()):
            if content == whole:  # some are empty as they should be
                continue
            (folder / name).write_bytes(content)
            try:
                verdict, said = tried(job, folder)
            finally:
                (folder / name).write_bytes(whole)
            found[verdict] += 1
            if verdict != "refused in one line":
                print(f"{job.rule}: {name}, {what}: {verdict}: {said[:200]}", flush=True)
    print(", ".join(f"{count} {verdict}" for verdict, count in found.items()))
    sys.exit(len(found) > 1)


def kinds(jobs: list[Job]) -> Iterator[tuple[Job, str]]:
    """A job and an artifact it reads, for each rule and each kind of its inputs: those of one name are one kind."""
    seen = set()
    for job in jobs:
        for name in job.inputs:
            kind = (job.rule, Path(name).parts[1], Path(name).name.replace(job.dataset or "\0", ""))
            if job.rule not in LEFT_OUT and name.startswith("results/") and kind not in seen:
                seen.add(kind)
                yield job, name


def tried(job: Job, folder: Path) -> tuple[str, str]:
    """What a command made of its input, and its last line."""
    own = environment() | {"PYTHONPATH": str(folder)}
    done = subprocess.run(job.command, cwd=folder, env=own, capture_output=True, text=True, check=False)
    said = done.stderr.strip().splitlines() or [""]
    if not done.returncode:
        return "went through", said[-1]
    return "a traceback" if "Traceback" in done.stderr else "refused in one line", said[-1]


if __name__ == "__main__":
    main()
