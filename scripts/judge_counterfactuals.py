"""Ask a model about its counterfactual rows, as `judge` does; the journal already has the answers on originals."""

from __future__ import annotations

from scripts import run
from scripts.judge import main

VERSION = 1

if __name__ == "__main__":
    run(main)
