"""No command takes more than its input grows, but where the reason is written down."""

import pytest

from bench import growth


@pytest.mark.nightly
@pytest.mark.parametrize("name", growth.COMMANDS)
def test_processor_time_grows_with_the_input(name):
    seconds, power = growth.exponent(name, (4, 16))
    assert power <= growth.LIMIT or name in growth.REASONS, seconds


def test_reasons_are_of_commands():
    assert set(growth.REASONS) <= set(growth.COMMANDS)
