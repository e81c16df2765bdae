"""The documentation builds as a site, strictly; its links lead somewhere; nothing on it is loaded from elsewhere."""

import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import pytest
from doc_blocks import follow

ROOT = Path(__file__).parents[2]
FENCED = re.compile(r"^(`{3,})\w*\n.*?^\1$", re.M | re.S)
LINK = re.compile(r"\]\(([^)\s]+)\)")


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    pytest.importorskip("material")
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


class Loaded(HTMLParser):
    """What a page makes a browser load; where its links lead."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.found: list[str] = []
        self.links: list[str] = []
        self.ids: set[str] = set()
        self.feed(page.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        self.ids |= {attributes[name] for name in ("id", "name") if attributes.get(name)}
        if tag == "a" and "href" in attributes:
            self.links.append(attributes["href"])
        if "src" in attributes:
            self.found.append(attributes["src"])
        if tag == "link" and attributes.get("rel") not in ("canonical", "next", "prev"):
            self.found.append(attributes["href"])


def test_every_page_is_there(site):
    assert {path.stem for path in (ROOT / "docs").glob("*.md")} - {"index"} <= {path.name for path in site.iterdir()}


def test_nothing_is_loaded_from_elsewhere(site):
    pages = list(site.rglob("*.html"))
    assert len(pages) > 8
    loaded = {address for page in pages for address in Loaded(page).found}
    assert loaded
    assert not [address for address in loaded if re.match(r"(\w+:)?//", address)]
    for style in site.rglob("*.css"):
        assert not re.search(r"(@import|url\()\s*[\"']?(\w+:)?//", style.read_text(encoding="utf-8")), style


def test_every_link_and_picture_leads_to_a_file_and_an_anchor(site):
    """404.html is left out: its links start at the root of a server."""
    pages = {path: Loaded(path) for path in site.rglob("*.html") if path.name != "404.html"}
    checked = 0
    for path, page in pages.items():
        for link in {*page.links, *page.found}:
            if re.match(r"(\w+:)?//|(mailto|data):", link):
                continue
            name, _, anchor = unquote(link).partition("#")
            there = (path.parent / name).resolve() if name else path
            there = there / "index.html" if there.is_dir() else there
            assert there.exists(), f"{path}: {link}"
            assert not anchor or there not in pages or anchor in pages[there].ids, f"{path}: {link}"
            checked += 1
    assert checked > 1000


def test_no_page_is_too_long_to_read():
    """The map and the specification are written by tests, to look things up in."""
    pages = {path.name: len(path.read_text(encoding="utf-8").split()) for path in (ROOT / "docs").glob("*.md")}
    assert {name for name, words in pages.items() if words > 6000} <= {"map.md", "specification.md"}


def slug(title: str) -> str:
    """The anchor of a heading, as GitHub and the site make it."""
    return re.sub(r"[^\w\- ]", "", title.replace("`", "").lower()).strip().replace(" ", "-")


@pytest.mark.parametrize(
    "page", ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "config/README.md", "mini/README.md", "paper/README.md"]
)
def test_links_of_pages_outside_the_site_lead_somewhere(page):
    here = ROOT / page
    for target in LINK.findall(FENCED.sub("", here.read_text(encoding="utf-8"))):
        if "://" in target:
            continue
        name, _, anchor = target.partition("#")
        there = here.parent / name if name else here
        assert there.exists(), f"{page}: {target}"
        if anchor:
            headings = re.findall(r"^#+ (.*)$", there.read_text(encoding="utf-8"), re.M)
            assert anchor in map(slug, headings), f"{page}: {target}"


def test_the_image_is_built_by_an_environment_that_setup_knows():
    build = (ROOT / "Containerfile").read_text(encoding="utf-8")
    kind = re.search(r'setup\.sh "(\w+)-\$BUILD"', build)[1]
    default = re.search(r"^ARG BUILD=(\w+)", build, re.M)[1]
    script = (ROOT / "setup.sh").read_text(encoding="utf-8")
    assert f"*-{default})" in script
    assert re.search(rf"\b{kind} \|", script)
    assert (ROOT / f"requirements/{kind}.lock").exists()


# --- what following a page means


def page(folder: Path, text: str) -> Path:
    (folder / "page.md").write_text(text)
    return folder / "page.md"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("<!-- run -->\n```bash\nfalse | true\n```\n", "page.md:1: exit code 1"),
        ("<!-- run: exit code 1 -->\n```bash\ntrue\n```\n", "page.md:1: exit code 0"),
        ("\n<!-- run -->\n```bash\necho a\n```\n<!-- printed -->\n```\nb\n```\n", "page.md:6: expected"),
        ("<!-- printed -->\n```\nb\n```\n", "nothing was run before it"),
        ("<!-- run -->\nno block\n", "1 marks, 0 of them before a block"),
        ("<!-- started: ready -->\n```bash\necho no\n```\n", "page.md:1: ended"),
        ("<!-- planned -->\n```bash\nls\n```\n", "no snakemake command to plan"),
    ],
)
def test_a_page_that_is_not_true_is_found(tmp_path, text, said):
    with pytest.raises(AssertionError, match=said):
        follow(page(tmp_path, text), tmp_path, {"PATH": "/bin:/usr/bin"})
