"""Whether rows may be trained on or published: no check that concerns them has failed."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from excam.excam40k.audits.checks import EVERYWHERE, Check
from excam.excam40k.audits.page import check_line


def concerning(
    audits: Mapping[str, Sequence[Check]], trained_on: str, datasets: Collection[str]
) -> list[tuple[str, Check]]:
    """Return the checks of these datasets, of the mixture `trained_on` and of all datasets together, with the names of
    their audits.
    """
    wanted = {*datasets, trained_on, EVERYWHERE}
    return [(name, check) for name, checks in audits.items() for check in checks if check.dataset in wanted]


def refusal(checks: Sequence[tuple[str, Check]], summary: str) -> str | None:
    """Return one line about the failed checks, which `summary` lists; None if none failed."""
    failed = [f"{name}: {check_line(check)}" for name, check in checks if check.failed]
    if not failed:
        return None
    first = failed[0] if len(failed) == 1 else f"the first is {failed[0]}"
    tally = f"{len(failed)} of {len(checks)} checks failed"
    if all(name == "licences" for name, check in checks if check.failed):
        mend = "correct the licence in SOURCE of the benchmark's module; rows of an earlier one are made again"
    else:
        mend = "mend the rows, or set `audits: warn` to go on"
    return f"{summary}: {tally}: {first}; {mend}"
