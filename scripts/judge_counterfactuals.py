"""Ask a model about its counterfactual rows, as `judge` does; the journal has the answers on right twins already."""

from __future__ import annotations

from scripts import run
from scripts.judge import main

if __name__ == "__main__":
    run(main)
