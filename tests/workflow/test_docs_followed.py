"""The pages for users, followed to the letter: every marked block is run, and prints what the page says it prints.

Most pages use this repository's own results, of its first command, and are skipped where it was not run here, since a
model writes some fifty reports for it (minutes). `tests/helpers/doc_blocks.py` says how blocks are marked.
"""

import os
import re
import shutil
import subprocess
import sys

import pytest
import tiny
from checkout import ADAPTER, ROOT, Run, copy_checkout, copy_of, with_conda
from doc_blocks import HERE, follow, marked, unmarked

ALL = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
WITH_RESULTS = (
    *("docs/tutorial.md", "README.md", "docs/serving.md", "docs/api.md", "docs/workflow.md", "docs/annotation.md"),
    *("docs/auditing.md", "docs/cluster.md"),
)
WITHOUT_RESULTS = (
    *("docs/macaron.md", "docs/rubric.md", "docs/cult-eval.md", "docs/calmqa.md", "docs/crossing.md"),
    *("docs/knowledge.md", "docs/judging-with-documents.md"),
)
PAGES = (*WITH_RESULTS, *WITHOUT_RESULTS)
OF_ITS_OWN = "docs/extending.md"  # test_extending.py


@pytest.fixture(scope="module")
def kept(tmp_path_factory) -> Run:
    """A checkout to be copied, with the results that are here: nothing of this repository is written to."""
    made = Run(tmp_path_factory.mktemp("docs") / "excam")
    copy_checkout(made.folder)
    for name in ("results", ".snakemake"):
        if (ROOT / name).exists():
            copy_of(Run(ROOT / name), made.folder / name)
    return made


@pytest.fixture
def place(kept, tmp_path) -> Run:
    """A checkout for each page, with a conda to plan with. `MODEL` is what the pages call a model to be judged."""
    copied = copy_of(kept, tmp_path / "excam")
    tiny.model(tmp_path / "model", positions=1024)
    copied.environment = with_conda(copied.environment, tmp_path)
    copied.environment |= {"MODEL": str(tmp_path / "model"), "HF_HOME": str(tmp_path / "hub")}
    return copied


@pytest.fixture
def finished_place(place) -> Run:
    """The checkout that users have after the first command."""
    if not (place.folder / ADAPTER / "manifest.json").exists():
        pytest.skip("no results here: the README's first command makes them")
    return place


def ways(page: str, kinds=HERE) -> int:
    return sum(block.kind in kinds for block in marked(ROOT / page))


@pytest.mark.model
@pytest.mark.parametrize("page", WITH_RESULTS)
def test_what_a_page_says_can_be_done_after_the_first_command(page, finished_place):
    place = finished_place
    if page == "docs/cluster.md":  # step 2 of the page
        shutil.copytree(place.folder / "profiles/site-example", place.folder / "profiles/my-site")
    assert follow(ROOT / page, place.folder, place.environment) == ways(page)


@pytest.mark.parametrize("page", WITHOUT_RESULTS)
def test_what_a_page_says_can_be_done_in_a_clone(page, place):
    assert follow(ROOT / page, place.folder, place.environment) == ways(page)


@pytest.mark.model
def test_the_package_alone_away_from_the_repository(finished_place, tmp_path):
    """With the versions of the lock, in a new environment; it takes what an installation takes."""
    locked = re.findall(r"^[\w.-]+==[^ ]+", (ROOT / "requirements/core.lock").read_text(), re.M)
    (tmp_path / "constraints.txt").write_text("\n".join(locked))
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "environment"], check=True)
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    environment |= {
        "PATH": f"{tmp_path / 'environment/bin'}{os.pathsep}{os.environ['PATH']}",
        "PIP_CONSTRAINT": str(tmp_path / "constraints.txt"),
    }
    assert follow(ROOT / "README.md", tmp_path, environment, ("installed",)) == ways("README.md", ("installed",)) > 0


@pytest.mark.parametrize("page", ALL, ids=lambda page: page.name)
def test_every_command_is_followed_or_says_why_not(page):
    assert not unmarked(page)
    assert all(block.detail for block in marked(page) if block.kind in ("not run", "started"))
    name = page.relative_to(ROOT).as_posix()
    assert bool(ways(name)) == (name in (*PAGES, OF_ITS_OWN)), "a page with commands is a page that is followed"


def test_the_tutorial_covers_the_commands_of_users():
    text = "".join(block.text for block in marked(ROOT / "docs/tutorial.md") if block.kind == "run")
    for command in ("score", "explain", "report", "compare", "list", "audit"):
        assert re.search(rf"excam {command}\b", text), command
    assert "excam.load(" in text
