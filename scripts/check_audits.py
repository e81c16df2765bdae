"""Stop if an audit of the rows of one mixture failed; warn instead, where the configuration says so."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from excam.core.exceptions import AuditFailed
from excam.core.provenance import say, write_json
from excam.core.tables import read_csv
from excam.excam40k.audits import checks, verdict
from scripts import run

VERSION = 1


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--checks", type=Path, nargs="+", required=True, help="<audit>.csv")
    parser.add_argument("--summary", type=Path, required=True, help="the page that lists the failed checks")
    parser.add_argument("--trained-on", required=True, help="the mixture, which is also a published build")
    parser.add_argument("--datasets", nargs="*", required=True, help="what it is made of")
    parser.add_argument("--if-failed", choices=["stop", "warn"], required=True)
    parser.add_argument("--verdict", type=Path, required=True)
    args = parser.parse_args(argv)

    audits = {path.stem: checks.of_frame(read_csv(path, checks.CHECK_SCHEMA)) for path in args.checks}
    found = verdict.concerning(audits, args.trained_on, args.datasets)
    problem = verdict.refusal(found, str(args.summary))
    if problem and args.if_failed == "stop":
        raise AuditFailed(problem)
    if problem:
        say(f"warning: {problem}")
    counts = Counter(check.outcome for _, check in found)
    write_json(
        args.verdict, {"trained_on": args.trained_on, "datasets": args.datasets, "checks": dict(sorted(counts.items()))}
    )


if __name__ == "__main__":
    run(main)
