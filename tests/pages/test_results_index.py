"""The first page of the results: what it says and where its links lead."""

import re
from pathlib import Path

import pytest

from excam.core import tables
from excam.core.steps import StepRule
from excam.pages.results_index import Told, page, standings

LINE = {"row": "ExCAM (m)", "column": "ALL (ID)", "scaled_accuracy": 0.4, "low": 0.2, "high": 0.6, "n": 80}
FIGURE = StepRule(
    "figure_3",
    "Scaled accuracy of ``<b>`` & more. Then the rest.",
    parameters=[],
    outputs=["numbers", "pictures"],
    result="results/paper/figure-3",
    category="Results",
)
TOLD = Told("<p>What was run.</p>", "<p>A report.</p>", "<p>By documents.</p>")


@pytest.fixture
def results(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("paper/figure-3.svg", "paper/figure-3.pdf", "calmqa/rows.html", "published/all/manifest.json"):
        path = Path("results", name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text('<svg id="axes_1"/>')
    Path("results/published/all/README.md").write_text("card")
    for name, floor in (("above", 0.1), ("below", 0.3)):
        line = LINE | {"trivial_baseline": floor}
        tables.write_lines(Path(f"results/paper/{name}.csv"), list(line), [line])
    Path("results/paper/below.csv").rename("results/paper/figure-3.csv")
    return Path("results")


def files(results):
    return sorted(path for path in results.rglob("*.*") if path.name != "above.csv")


def test_every_link_leads_to_a_file_beside_the_page(results):
    text = page(results, files(results), [FIGURE], Path("benchmarks"), TOLD)
    links = re.findall('href="(.*?)"', text)
    assert {"paper/figure-3.pdf", "paper/figure-3.csv", "calmqa/rows.html", "published/all"} <= set(links)
    assert all(f'id="{link[1:]}"' in text if link[0] == "#" else (results / link).exists() for link in links)
    assert "data:image/svg+xml;base64" in text
    assert "http" not in text.replace("http-equiv", ""), "nothing is fetched"


def test_a_picture_of_words_alone_is_listed_beside_the_tables(results):
    (results / "paper/figure-3.svg").write_text("<svg/>")
    text = page(results, files(results), [FIGURE], Path("benchmarks"), TOLD)
    assert "<figure>" not in text
    assert "&amp; more. Not drawn: too few rows." in text


def test_captions_are_texts(results):
    assert "<code>&lt;b&gt;</code> &amp; more" in page(results, files(results), [FIGURE], Path("benchmarks"), TOLD)


def test_a_system_is_above_its_floor_with_its_whole_interval(results):
    assert [each.above for each in standings(results)] == [False]
    assert "above their floor: none." in page(results, files(results), [FIGURE], Path("b"), TOLD)
    Path("results/paper/above.csv").replace("results/paper/figure-3.csv")
    assert [each.above for each in standings(results)] == [True]
    assert "✓ above" in page(results, files(results), [FIGURE], Path("b"), TOLD)


def test_raters_who_read_nothing_are_the_floor_of_the_others(results):
    raters = {"a and b": 0.7, "a and always 3": 0.0, "a and length": 0.9}
    line = {"score": "overall", "low": 0.1, "high": 0.95, "n": 10}
    rows = [line | {"raters": name, "icc": icc} for name, icc in raters.items()]
    Path("results/rubric").mkdir()
    tables.write_lines(Path("results/rubric/reliability.csv"), list(rows[0]), rows)
    (rated,) = [each for each in standings(results) if each.measure.system == "Rubric"]
    assert (rated.name, rated.floor) == ("a and b", 0.9)
