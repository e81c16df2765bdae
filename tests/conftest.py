"""What holds for all tests: nothing is kept in the user's own cache; workers of `pytest -n` get complete files."""

import os

import pytest

if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # before torch is loaded: each worker has a core


def pytest_collection_modifyitems(config, items):
    """Give a worker of `pytest -n` complete files, and one of them all tests of the workflow, which share a run.

    Those come first: together they take longest.
    """

    def of_workflow(item):
        return item.path.parent.name == "workflow"

    items.sort(key=lambda item: not of_workflow(item))
    if not config.pluginmanager.hasplugin("xdist"):
        return
    for item in items:
        item.add_marker(pytest.mark.xdist_group("workflow" if of_workflow(item) else str(item.path)))


@pytest.fixture(scope="session", autouse=True)
def own_cache(tmp_path_factory):
    """A cache of hashes that goes with the tests."""
    os.environ["EXCAM_CACHE"] = str(tmp_path_factory.mktemp("cache"))
    yield
    del os.environ["EXCAM_CACHE"]
