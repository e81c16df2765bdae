"""What a script declares of its page, read without an import."""

import pytest

from excam.core import result_pages
from excam.core.exceptions import InputInvalid

TEXT = """raise SystemExit
PAGE = {
    "result": "results/paper/figure-11/{model}",
    "outputs": ["numbers", "pictures"],
    "category": "Results",
    "more": {"claims": "results/paper/claims.csv"},
}
"""


@pytest.fixture
def script(tmp_path):
    path = tmp_path / "figure_11.py"
    path.write_text(TEXT)
    return path


def test_a_page_is_read_without_running_its_script(script):
    page = result_pages.read_page(script)
    stem = "results/paper/figure-11/{model}"
    assert page.files == {
        "numbers": [f"{stem}.csv"],
        "pictures": [f"{stem}.pdf", f"{stem}.svg", f"{stem}.png"],
        "claims": ["results/paper/claims.csv"],
    }
    assert (page.axes, page.record, page.shown) == (["model"], "figure_11/{model}", [f"{stem}.svg"])


def test_numbers_alone_are_what_a_report_shows(script):
    script.write_text(TEXT.replace(', "pictures"', ""))
    assert result_pages.read_page(script).shown == ["results/paper/figure-11/{model}.csv"]


def test_a_script_without_a_declaration_is_no_page(script):
    (script.parent / "judge.py").write_text("VERSION = 1\n")
    assert list(result_pages.read_pages(script.parent)) == ["figure_11"]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('"category"', '"kategory"', "unexpected keyword argument 'kategory'"),
        ('    "category": "Results",\n', "", "missing 1 required positional argument: 'category'"),
        ('"Results"', "results()", "malformed node or string"),
    ],
)
def test_a_wrong_declaration_is_refused_in_one_line(script, old, new, said):
    script.write_text(TEXT.replace(old, new))
    with pytest.raises(InputInvalid) as caught:
        result_pages.read_page(script)
    text = str(caught.value)
    assert text.startswith(f"{script}: PAGE: ")
    assert said in text
    assert "\n" not in text
    assert "expected literals of result, outputs, category" in text
