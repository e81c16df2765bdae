"""Table 1: one soft and one hard error, the erroneous words marked (spec 20, 22, 64)."""

from __future__ import annotations

from collections.abc import Sequence

from excam.publishing import examples
from scripts import run


def main(argv: Sequence[str] | None = None) -> None:
    examples.main(1, __doc__, argv)


if __name__ == "__main__":
    run(main)
