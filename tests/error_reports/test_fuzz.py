"""Some hundred odd strings through everything that reads texts or answers."""

from random import Random

import fuzzing
import pytest

SEED, CASES = 20260401, 600


@pytest.mark.parametrize("target", fuzzing.TARGETS)
def test_nothing_raises(target):
    for index in range(CASES):
        try:
            fuzzing.TARGETS[target](Random(f"{SEED}/{target}/{index}"))
        except Exception as raised:
            raise AssertionError(f"case {index} of seed {SEED}: {raised!r}") from raised
