"""Run a step of the workflow: `python -m scripts STEP --option VALUE ...`."""

from __future__ import annotations

import os
import sys

from excam.core.steps import read_steps
from scripts import ROOT, load, run


def main() -> None:
    name, *words = sys.argv[1:] or ["--help"]
    if name in ("-h", "--help"):
        print(
            __doc__,
            "The steps; docs/map.md says what each makes:",
            *sorted(read_steps(ROOT)),
            sep="\n",
        )
        return
    if name.startswith("fetch_"):
        os.environ.setdefault("HF_HUB_OFFLINE", "0")  # the only steps that may ask the hub
    run(lambda: load(name)(words), name)


if __name__ == "__main__":
    main()
