"""Stop if an audit of the rows of one mixture failed; warn instead, where the configuration says so."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

from excam.core.exceptions import AuditFailed
from excam.core.provenance import say, write_json
from excam.core.tables import read_csv
from excam.excam40k.audits import checks, verdict
from scripts import run, step

VERSION = 1


@step
def main(
    checks_paths: Annotated[Sequence[Path], "<audit>.csv"],
    summary_path: Annotated[Path, "the page that lists the failed checks"],
    trained_on: Annotated[str, "the mixture, which is also a published build"],
    if_failed: Literal["stop", "warn"],
    verdict_path: Path,
    datasets: Annotated[Sequence[str], "what it is made of"] = (),
) -> None:
    audits = {path.stem: checks.of_frame(read_csv(path, checks.CHECK_SCHEMA)) for path in checks_paths}
    mixture_checks = verdict.concerning(audits, trained_on, datasets)
    problem = verdict.refusal(mixture_checks, str(summary_path))
    if problem and if_failed == "stop":
        raise AuditFailed(problem)
    if problem:
        say(f"warning: {problem}")
    counts = Counter(check.outcome for _, check in mixture_checks)
    write_json(verdict_path, {"trained_on": trained_on, "datasets": datasets, "checks": dict(sorted(counts.items()))})


if __name__ == "__main__":
    run(main)
