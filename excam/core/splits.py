"""Names of the parts of a data set."""

from __future__ import annotations

from typing import Literal, get_args

Split = Literal["train", "dev", "test"]
SPLITS: tuple[Split, ...] = get_args(Split)
