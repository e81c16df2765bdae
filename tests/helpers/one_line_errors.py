"""Check that a refusal is one line, short enough to read."""

import re

import pytest

PATH = re.compile(r"/\S+/")  # of a test's folder, whose name has any length


def line_of(kind, call, *args, **more) -> str:
    """The line that a call raises as an exception of this kind."""
    with pytest.raises(kind) as caught:
        call(*args, **more)
    line = str(caught.value)
    assert "\n" not in line
    assert len(PATH.sub("", line)) < 400
    return line
