"""Fetch one model's weights and tokenizer, pinned, and write the manifest last."""

from __future__ import annotations

import os
from collections.abc import Sequence

from excam.inference import sources
from scripts import run
from scripts._fetching import fetch

VERSION = 1


def main(argv: Sequence[str] | None = None) -> None:
    fetch(argv, __doc__, sources.fetch_model)


if __name__ == "__main__":
    os.environ.setdefault("HF_HUB_OFFLINE", "0")  # the only programs that may ask the hub
    run(main)
