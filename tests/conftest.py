"""What all tests share: a cache that goes with them, complete files for workers of `pytest -n`, a browser."""

import gc
import os
import sys
from collections import Counter
from contextlib import ExitStack
from datetime import UTC, datetime

import chromium
import fake_chat_server
import hypothesis
import pytest
import variants

WORKFLOW = "tests/workflow/"
LONG = (  # how names of tests begin that plain `pytest` leaves out: models trained and loaded, servers and pages run
    *(WORKFLOW, "tests/training/", "tests/engine/", "tests/cli/"),
    *(f"tests/annotation/test_{name}" for name in ("annotation_page", "annotation_server", "form_pages")),
    *(f"tests/golden/test_{name}" for name in ("stages", "raised", "reports")),
    *(f"tests/core/test_{name}" for name in ("offline", "connections")),
    *(f"tests/inference/test_{name}" for name in ("faults", "hosting", "seq2seq", "transformers_backend")),
    *(f"tests/inference/test_{name}" for name in ("chat.py::test_a_template_without", "engines.py::test_vllm_runs_in")),
    *(f"tests/inference/test_gpus.py::test_{name}" for name in ("cards_that_torch", "training_on", "a_killed")),
    *(f"tests/inference/test_journal.py::test_{name}" for name in ("two_processes",)),
    *(f"tests/inference/test_window.py::test_{name}" for name in ("a_program_that_leaves", "what_was_answered_before")),
    *("tests/inference/test_sources.py::test_pip_itself", "tests/core/test_row_files.py::test_a_log_that_inspect"),
    *(
        "tests/calmqa/test_calmqa.py::test_a_megabyte",
        "tests/annotation/test_annotation_store.py::test_a_flipped_bit_is",
    ),
    *(f"tests/scoring/test_{name}" for name in ("hub_models", "metric_server")),
    *(f"tests/error_reports/test_{name}" for name in ("adapters", "trained_reader")),
    *(f"tests/pages/test_{name}" for name in ("plotting", "snakemake_report")),
    "tests/excam40k/test_excam40k",
    *("tests/acre/test_acre_properties", "tests/acre/test_acre_numbers.py::test_bertscore_is_that_of_bert_score"),
)
MAY_BE_SKIPPED = (  # where EXCAM_TESTS=complete: what no continuous integration has
    *("card", "kernel", "vLLM is installed"),
    *("real rows", "real files", "public", "paper", "manual", "VeriScore", "exam questions", "beside the repository"),
    *("no embedded model", "no results here"),  # the README's first command makes them
    *("no disk can be mounted", "name space", "root", "loopback", "the key may be wrong"),
)

# Property tests: some examples every day; `--hypothesis-profile nightly` for many
for profile, examples in (("usual", 100), ("nightly", 5_000)):
    checks = [hypothesis.HealthCheck.too_slow, hypothesis.HealthCheck.filter_too_much]
    hypothesis.settings.register_profile(
        profile, max_examples=examples, deadline=None, print_blob=True, suppress_health_check=checks
    )
hypothesis.settings.load_profile("usual")

os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # with it, each of some thousand processes compiles what it imports
sys.dont_write_bytecode = False
gc.disable()  # thousands of tests are collected, and none of them is garbage
if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # before torch is loaded: each worker has a core


def pytest_addoption(parser):
    parser.addoption("--slice", default="1/1", metavar="K/N", help="of the selected tests every N-th, from the K-th")
    today = str(datetime.now(UTC).toordinal())  # the workers of `pytest -n` get that of the process that started them
    parser.addoption("--day", default=today, help="day of the `variants` to run, a number; or `all` of them")


def pytest_configure(config):
    """Leave the long tests out where no file and no mark is named."""
    marks = any(word.startswith("-m") for word in config.invocation_params.args)
    if config.args_source is pytest.Config.ArgsSource.TESTPATHS and not marks:
        config.option.markexpr += " and not long"


def pytest_ignore_collect(collection_path, config):
    """Do not even import the long tests that are left out."""
    name = collection_path.relative_to(config.rootpath).as_posix() + "/" * collection_path.is_dir()
    return True if "not long" in config.option.markexpr and name.startswith(LONG) else None


def pytest_itemcollected(item):
    """Mark the long tests, all of a browser among them, but none that other marks leave out."""
    is_long = item.nodeid.startswith(LONG) or "browser" in item.fixturenames
    if is_long and not any(map(item.get_closest_marker, ("cluster", "nightly", "run"))):
        item.add_marker("long")


@pytest.hookimpl(trylast=True)  # behind what -m and -k select
def pytest_collection_modifyitems(config, items):
    """Put the tests of the workflow first, which together take longest; keep the day and slice that are asked for."""
    items.sort(key=lambda item: not item.nodeid.startswith(WORKFLOW))
    part, parts = map(int, config.getoption("slice").split("/"))
    day = config.getoption("day")
    kept = (items if day == "all" else variants.of_day(items, int(day)))[part - 1 :: parts]
    config.hook.pytest_deselected(items=list(set(items) - set(kept)))
    items[:] = kept


def pytest_collection_finish():
    gc.freeze()
    gc.enable()


def pytest_terminal_summary(terminalreporter):
    """Name the tests that were skipped though this machine should have what they need."""
    reasons = [
        report.longrepr[2] for report in terminalreporter.stats.get("skipped", []) if not hasattr(report, "wasxfail")
    ]
    unexpected = Counter(reason for reason in reasons if not any(part in reason for part in MAY_BE_SKIPPED))
    if os.environ.get("EXCAM_TESTS") == "complete" and unexpected:
        terminalreporter.section("skipped, and should not be")
        for reason, times in sorted(unexpected.items()):
            terminalreporter.write_line(f"{times} x {reason}")
        terminalreporter._session.exitstatus = pytest.ExitCode.TESTS_FAILED


@pytest.fixture
def serve():
    """Start servers of chats with the steps of a script and a default step; they end with the test."""
    with ExitStack() as servers:
        yield lambda *script, default=None, port=0: servers.enter_context(
            fake_chat_server.Server(script, default, port)
        )


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Give each worker of `pytest -n` complete files, and one of them all tests of the workflow, which share a run."""
    from xdist.scheduler import LoadFileScheduling

    class Files(LoadFileScheduling):
        def _split_scope(self, nodeid):
            return WORKFLOW if nodeid.startswith(WORKFLOW) else super()._split_scope(nodeid)

    config.option.loadscopereorder = False  # else those with most tests come first, and the workflow is not among them
    return Files(config, log)


@pytest.fixture(scope="session", autouse=True)
def own_cache(tmp_path_factory):
    """A cache of hashes that goes with the tests."""
    os.environ["EXCAM_CACHE"] = str(tmp_path_factory.mktemp("cache"))
    yield
    del os.environ["EXCAM_CACHE"]


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    """A real Chromium; skipped where there is none."""
    chromium.skip_without()
    with chromium.Browser(tmp_path_factory.mktemp("profile")) as opened:
        yield opened


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder of its own to work in."""
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def own_environment(monkeypatch):
    """What `quiet_libraries` sets for a program is not left to the other tests."""
    names = ("TQDM_DISABLE", "VLLM_LOGGING_LEVEL", "VLLM_NO_USAGE_STATS", "HF_HUB_OFFLINE")
    for name in names:
        monkeypatch.setenv(name, "1")
    monkeypatch.setenv("TRANSFORMERS_VERBOSITY", "error")
