"""Check that a refusal is one line, short enough to read."""

import pytest


def line_of(kind, call, *args, **more) -> str:
    """The line that a call raises as an exception of this kind."""
    with pytest.raises(kind) as caught:
        call(*args, **more)
    line = str(caught.value)
    assert "\n" not in line
    assert len(line) < 400
    return line
