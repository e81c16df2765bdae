"""Table 8: an errorless pair of NormAd and of CulturalBench (spec 18, 64)."""

from __future__ import annotations

from collections.abc import Sequence

from excam.publishing import examples
from scripts import run


def main(argv: Sequence[str] | None = None) -> None:
    examples.main(8, __doc__, argv)


if __name__ == "__main__":
    run(main)
