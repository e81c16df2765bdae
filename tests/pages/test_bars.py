"""Stacked bars: every bar fills 100 %, numbers are drawn if there is room, nothing exceeds the page."""

import pytest
from matplotlib.colors import to_rgb
from matplotlib.patches import Rectangle
from test_plotting import assert_readable, luminance

from excam.core.exceptions import InputInvalid
from excam.pages.plotting import Bars, stacked
from excam.pages.plotting.bars import BAR, FACES

VOTES = Bars(
    "Votes",
    ("3", "2", "1", "0"),
    {"culture": [70, 8, 2, 0], "$x^2$ a long name": [3, 3, 3, 3], "few": [8, 1, 0, 0], "empty": [0] * 4},
)
GRADES = Bars(
    "Grades", ("5", "4", "3", "2", "a rather long last segment's name " * 2), {"m/all/report": [1000, 3, 2, 1, 994]}
)


def drawn(axes):
    return [patch for patch in axes.patches if isinstance(patch, Rectangle) and patch.get_height() == BAR]


def test_a_bar_is_its_shares():
    figure = stacked([VOTES, GRADES], title="T", note="note " * 60)
    first, second = figure.axes
    assert [bar.get_width() for bar in drawn(first)] == pytest.approx([87.5, 10, 2.5, 0, 25, 25, 25, 25])
    assert [bar.get_x() for bar in drawn(second)] == pytest.approx([0, 50, 50.15, 50.25, 50.3])
    said = [text.get_text() for text in first.texts]
    assert [text for text in said if text[0].isdigit() and "." in text] == ["87.5", "10.0", *["25.0"] * 4]
    assert {"n = 80", "n = 12", "n = 9", "n < 10", "n = 0", "none yet", "$x^2$ a long name"} <= set(said)
    assert "n = 2,000" in [text.get_text() for text in second.texts]


def test_everything_is_on_the_sheet_and_nothing_overlaps():
    assert_readable(stacked([VOTES, GRADES], title="T" * 30, note="note " * 60), across=0, along=0)


def test_letters_stand_out_from_what_they_are_on():
    shades = [luminance(to_rgb(face)) for face, _ in FACES]
    assert shades == sorted(shades)
    for (_, ink), shade in zip(FACES, shades, strict=True):
        assert (1.05 / (shade + 0.05) if ink == "white" else (shade + 0.05) / 0.05) > 5


@pytest.mark.parametrize(
    ("panels", "said"),
    [
        ([], "0 panels"),
        ([Bars("a", ("x", "y"), {})], "rows in each"),
        ([Bars("a", ("x",), {"r": [1]})], "1 segments"),
        ([Bars("a", tuple("uvwxyz"), {"r": [1] * 6})], "6 segments"),
        ([Bars("a", ("x", "y"), {"r": [1]})], "a count for each"),
        ([Bars("a", ("x", "y"), {"r": [1, -1]})], "a count for each"),
    ],
)
def test_what_cannot_be_drawn_is_refused(panels, said):
    with pytest.raises(InputInvalid, match=said):
        stacked(panels)
