"""Commands that a SIGKILL hits at random moments, typed again until they end: same bytes, no answer asked for twice."""

import killed_commands
import pytest
from killed_jobs import CONCURRENCY

KILLS = 4


@pytest.mark.nightly
@pytest.mark.parametrize("name", killed_commands.COMMANDS)
def test_kills_at_random_moments_cost_what_was_on_its_way(name, tmp_path):
    story = killed_commands.killed(killed_commands.COMMANDS[name], tmp_path, KILLS)
    assert story.kills == KILLS
    assert story.torn == [], "a file under its own name is whole, and the same at the end"
    assert story.left == [], "nothing is left of a journal or of a file that grows"
    assert story.again <= KILLS * (CONCURRENCY + 1), "those on their way, and the first, which tries the server"
