"""What holds for all tests: nothing is kept in the user's own cache."""

import os

import pytest


@pytest.fixture(scope="session", autouse=True)
def own_cache(tmp_path_factory):
    """A cache of hashes that goes with the tests."""
    os.environ["EXCAM_CACHE"] = str(tmp_path_factory.mktemp("cache"))
    yield
    del os.environ["EXCAM_CACHE"]
