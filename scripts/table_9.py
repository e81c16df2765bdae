"""Table 9: errorless pairs of INCLUDE, GlobalOpinionQA, NativQA, BLEnD and Mango (spec 18, 64)."""

from __future__ import annotations

from collections.abc import Sequence

from excam.publishing import examples
from scripts import run


def main(argv: Sequence[str] | None = None) -> None:
    examples.main(9, __doc__, argv)


if __name__ == "__main__":
    run(main)
