"""What steps declare of themselves and of their pages, read without an import."""

import pytest
from one_line_errors import line_of

from excam.core import steps
from excam.core.exceptions import InputInvalid

TEXT = """raise SystemExit


@step(version=3)
def count_errors(rows_path: Path) -> None:
    \"""Count errors.\"""


@step(
    version=2,
    result="results/paper/figure-11/{model}",
    outputs=["numbers", "pictures"],
    category="Results",
    more={"claims": "results/paper/claims.csv"},
)
def figure_11(
    rows_path: Path,
) -> None:
    \"""Draw Figure 11.

    Every adapter
    on ``every`` set.
    \"""
"""


@pytest.fixture
def module(tmp_path):
    path = tmp_path / "scripts/figures.py"
    path.parent.mkdir()
    path.write_text(TEXT)
    return path


def test_steps_and_pages_are_read_without_running_their_module(module):
    declared = steps.read_steps(module.parents[1])
    versions = {name: (step.module, step.version) for name, step in declared.items()}
    assert versions == {"count_errors": (module, 3), "figure_11": (module, 2)}
    page, stem = declared["figure_11"].rule, "results/paper/figure-11/{model}"
    assert declared["count_errors"].rule is None
    assert page.files == {
        "numbers": [f"{stem}.csv"],
        "pictures": [f"{stem}.pdf", f"{stem}.svg", f"{stem}.png"],
        "claims": ["results/paper/claims.csv"],
    }
    assert page.caption == "Every adapter\non ``every`` set."
    assert (page.axes, page.record, page.shown) == (["model"], "figure_11/{model}", [f"{stem}.svg"])


def test_numbers_alone_are_what_a_report_shows(module):
    module.write_text(TEXT.replace(', "pictures"', ""))
    assert steps.read_steps(module.parents[1])["figure_11"].rule.shown == ["results/paper/figure-11/{model}.csv"]


@pytest.mark.parametrize(
    ("declared", "inputs"),
    [("SETS", {"rows": "all_rows"}), ('{**SETS, "printed": "a/b.csv"}', {"rows": "all_rows", "printed": "a/b.csv"})],
)
def test_pages_share_inputs_that_stand_above_them(declared, inputs, module):
    sets = 'SETS = {\n    "rows": "all_rows",  # of each model\n}\n'
    module.write_text(sets + TEXT.replace('category="Results",', f'category="Results",\n    inputs={declared},'))
    assert steps.read_steps(module.parents[1])["figure_11"].rule.inputs == inputs


def test_shared_inputs_of_another_module_are_refused(module):
    module.write_text(TEXT.replace('category="Results",', 'category="Results", inputs=SETS,'))
    with pytest.raises(InputInvalid, match="figure_11: SETS is no dictionary of literals in this module; expected"):
        steps.read_steps(module.parents[1])


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('    """Count errors."""\n', "    pass\n", r"figures\.py: count_errors: no docstring"),
        ("@step(version=3)\n", "@step\n", r"figures\.py: count_errors: no version"),
        ("(rows_path: Path) -> None:", "(rows_path: -> None:", r"figures\.py:5: .*; expected a module of Python"),
    ],
)
def test_a_step_that_is_not_complete_is_refused(old, new, said, module):
    module.write_text(TEXT.replace(old, new, 1))
    with pytest.raises(InputInvalid, match=said):
        steps.read_steps(module.parents[1])


def test_a_comment_and_another_decorator_may_stand_before_the_function(module):
    module.write_text(TEXT.replace("@step(version=3)\n", "@step(version=3)\n# a word\n@cached\n", 1))
    assert steps.read_steps(module.parents[1])["count_errors"].version == 3


def test_a_list_of_files_is_a_sequence(module):
    module.write_text(TEXT.replace("rows_path: Path)", "rows_paths: list[Path])"))
    with pytest.raises(InputInvalid, match=r"count_errors: rows_paths: found list\[...\]; expected Sequence\[...\]"):
        steps.read_steps(module.parents[1])


def test_two_steps_of_one_name_are_refused(module):
    (module.parent / "more.py").write_text('@step(version=1)\ndef figure_11() -> None:\n    """Draw."""\n')
    with pytest.raises(InputInvalid, match=r"more\.py: figure_11: also a step of .*figures\.py; expected another name"):
        steps.read_steps(module.parents[1])


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("    category=", "    kategory=", "unexpected keyword argument 'kategory'"),
        ('    category="Results",\n', "", "a page without result and category"),
        ('"Results"', "results()", "malformed node or string"),
        ("    version=2,\n", "", "no version"),
        ('"pictures"]', '"table"]', "outputs: found table, expected numbers, page, pictures; others stand in `more`"),
    ],
)
def test_a_wrong_declaration_is_refused_in_one_line(module, old, new, said):
    module.write_text(TEXT.replace(old, new))
    line = line_of(InputInvalid, steps.read_steps, module.parents[1])
    assert line.startswith(f"{module}: figure_11: ")
    assert said in line
