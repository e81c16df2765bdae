"""The promise to stay offline: with EXCAM_OFFLINE set, what would open a connection is refused in one line."""

from __future__ import annotations

import os

from excam.exceptions import InputInvalid

NAME = "EXCAM_OFFLINE"


def switch_on() -> None:
    """From now on, in this process and those it starts. The hub's library is told too."""
    os.environ |= {NAME: "1", "HF_HUB_OFFLINE": "1"}


def refuse(what: str) -> None:
    """Raises InputInvalid where nothing may be asked of a network; `what` would be."""
    if os.environ.get(NAME, "0") not in ("", "0"):
        raise InputInvalid(f"{what}: not asked, since {NAME} (or --offline) is set; expected files that are here")
