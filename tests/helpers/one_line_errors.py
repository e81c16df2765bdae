"""Check that a refusal is one line, short enough to read."""

import re

import pytest

NUMBERED = re.compile(r"/\S*?/pytest-\d+/(?:popen-gw\d+/)?")  # begins a test's folder; its length is that of a counter


def line_of(kind, call, *args, **more) -> str:
    """The line that a call raises as an exception of this kind."""
    with pytest.raises(kind) as caught:
        call(*args, **more)
    line = str(caught.value)
    assert "\n" not in line
    assert len(NUMBERED.sub("/", line)) < 400
    return line
