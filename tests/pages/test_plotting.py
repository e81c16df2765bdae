"""The heat map: every number readable, nothing overlapping, the same bytes twice."""

import itertools
import subprocess
import sys

import matplotlib as mpl
import numpy as np
import pytest

from excam.core.exceptions import InputInvalid
from excam.pages.plotting import Axis, ForestRow, Scale, Tile, curves, forest, heat_map, save, words

COLUMNS = [
    "BLEnD", "CulturalBench", "INCLUDE", "Mango †", "GlobalOpinionQA", "NativQA †", "NormAd †", "CaLMQA †", "EPIC",
]  # fmt: skip
COLUMNS += ["ALL (ID)", "AVG (OOD)", "without-globalopinionqa", "South Korea", "Ünïcode $x^2$"]
ROWS = ["ExCAM_r (Gemma3)", "ExCAM_r (Phi3)", "DS-R1-Distill-Qwen-14B", "Phi-4+p"]
SCALE = "scaled accuracy; 0: chance"
BELOW = "n 7,600*, length .55"


def table(values, rows="x", columns="yz", **labels):
    """A heat map of numbers alone."""
    cells = [[Tile(value) for value in row] for row in values]
    return heat_map(cells, Axis(rows), Axis(columns, **labels), Scale(SCALE))


def example(columns=14, *, counts=True, below="", digits=2, row_separators=(), separators=()):
    values = np.random.default_rng(0).uniform(-0.9, 0.9, (4, columns)).tolist()
    values[2][1] = None
    values[0][0], values[0][1] = -0.001, -0.25
    marks = ("*", "°", "", "")
    cells = [[Tile(value, mark=marks[at], below=below) for value in row] for at, row in enumerate(values)]
    shown = [7600] * (columns - 1) + [None] if counts else None
    note = "* better than EVERY BASELINE (paired permutation test, Holm, p ≤ .05). " * 5
    return heat_map(
        cells,
        Axis(ROWS, separators=row_separators),
        Axis(COLUMNS[:columns], separators=separators, counts=shown),
        Scale(SCALE, digits=digits),
        title="Out of domain",
        note=note,
    )


def texts(figure):
    drawn = [*figure.texts, *(text for axes in figure.axes for text in axes.texts)]
    return [text for text in drawn if text.get_text()]


def test_every_cell_says_its_number():
    shown = [text.get_text() for text in texts(example())]
    assert shown.count("n/a") == 1
    assert shown.count("*") == 14
    assert shown.count("°") == 14
    assert "0.00" in shown  # not "−0.00"
    assert "−0.00" not in shown
    assert "−0.25" in shown
    assert shown.count("n = 7,600") == 13
    assert "Cultural\nBench" in shown
    assert "Global\nOpinionQA" in shown


@pytest.mark.variants
@pytest.mark.parametrize("columns", [1, 9, 11, 14])
@pytest.mark.parametrize(
    "options", [{}, {"separators": [9], "row_separators": [2]}, {"digits": 3, "counts": False}, {"below": BELOW}]
)
def test_no_text_overlaps_another_or_leaves_the_figure(columns, options):
    if columns == 1:
        title, note = "A title wider than its figure", "a note " * 20
        figure = heat_map([[Tile(0.5)]], Axis("x"), Axis("y"), Scale(SCALE), title=title, note=note)
    else:
        figure = example(columns, **options)
    assert_readable(figure)


def assert_readable(figure, across=1, along=5):
    """No text over another one by more pixels at 300 dpi, since line boxes are taller than letters; none outside."""
    figure.dpi = 300
    figure.draw_without_rendering()
    boxes = [(text.get_text(), text.get_window_extent()) for text in texts(figure)]
    for axes in figure.axes:
        for axis, (low, top) in ((axes.xaxis, sorted(axes.get_xlim())), (axes.yaxis, sorted(axes.get_ylim()))):
            if axes.axison and axis.get_visible():
                ticks = zip(axis.get_ticklocs(), axis.get_ticklabels(), strict=True)
                boxes += [(t.get_text(), t.get_window_extent()) for at, t in ticks if low <= at <= top and t.get_text()]
    wide, tall = figure.bbox.width, figure.bbox.height
    for (name, box), (other, its) in itertools.combinations(boxes, 2):
        wide_over, high_over = min(box.x1, its.x1) - max(box.x0, its.x0), min(box.y1, its.y1) - max(box.y0, its.y0)
        assert not (wide_over > across and high_over > along), (name, other)
    for text, box in boxes:
        assert 0 <= box.x0 <= box.x1 <= wide, text
        assert 0 <= box.y0 <= box.y1 <= tall, text


def languages(panels, rows):
    points = [(0.5 - 0.1 * at, 0.3 - 0.1 * at, 0.6) for at in range(rows)]
    names = [f"{'North Macedonian' if at == 1 else 'Turkish'} {at}\nn = {1000 - at:,}" for at in range(panels)]
    labels = [f"mistral-small-24b-instruct-2501 ({at})" for at in range(rows)]
    drawn = {name: [None, *points[1:]] if at == 2 else points for at, name in enumerate(names)}
    named = [ForestRow(label, at >= rows // 2, beside="0.14") for at, label in enumerate(labels)]
    return forest(drawn, named, SCALE, beside="spread", title="By language", note="A note. " * 30)


@pytest.mark.parametrize(("panels", "rows"), [(1, 1), (5, 9), (12, 4)])
def test_no_text_of_a_forest_overlaps_another_or_leaves_the_figure(panels, rows):
    figure = languages(panels, rows)
    assert_readable(figure)
    assert len(figure.axes) == panels
    assert len({axes.get_xlim() for axes in figure.axes}) == 1, "one scale for all panels"
    shown = [text.get_text() for text in texts(figure)]
    assert shown.count("0.14") == rows, "beside the first line of panels only"
    assert shown.count("n/a") == (panels > 2)


def test_ticks_of_neighbouring_panels_do_not_touch():
    figure = forest({name: [(0.0, -1.0, 1.0)] for name in "abcde"}, [ForestRow("x", tuned=True)], SCALE)
    assert_readable(figure)
    ends = []
    for axes in figure.axes:
        low, high = axes.get_xlim()
        shown = [t.get_window_extent() for at, t in zip(axes.get_xticks(), axes.get_xticklabels(), strict=True)
                 if low <= at <= high]  # fmt: skip
        ends.append((shown[0].x0, shown[-1].x1))
    assert min(start - end for (_, end), (start, _) in itertools.pairwise(ends)) > 0.06 * figure.dpi


def test_a_colour_bars_title_is_not_longer_than_a_few_rows():
    """Else the title goes on far below the cells: there it belongs to nothing."""
    figure = heat_map([[Tile(0.2)] * 3] * 3, Axis(list("abc")), Axis(list("xyz")), Scale(SCALE))
    (title,) = [text for text in figure.texts if text.get_text().replace("\n", " ") == SCALE]
    figure.draw_without_rendering()
    assert title.get_window_extent().y0 > figure.axes[0].get_window_extent().y0 - 0.1 * figure.dpi


def test_a_forest_draws_each_point_at_its_value_with_its_interval():
    rows = [ForestRow("a", tuned=False), ForestRow("b", tuned=True)]
    figure = forest({"x": [(0.2, -0.1, 0.4), (0.6, 0.5, 0.9)]}, rows, SCALE)
    lines = [line.get_xydata().tolist() for line in figure.axes[0].lines[1:]]
    assert lines == [[[-0.1, 0], [0.4, 0]], [[0.2, 0]], [[0.5, 1], [0.9, 1]], [[0.6, 1]]]
    shapes = [(line.get_marker(), line.get_color()) for line in figure.axes[0].lines if line.get_marker() != "None"]
    assert shapes[0][0] != shapes[1][0], "distinguishable without colour too"


@pytest.mark.parametrize(
    ("panels", "rows"),
    [({}, "a"), ({"x": []}, ""), ({"x": [None]}, "ab"), ({"x": [(0.5, 0.6, 1)]}, "a"), ({"x": [(np.nan, 0, 1)]}, "a")],
)
def test_a_forest_that_does_not_fit_is_refused(panels, rows):
    with pytest.raises(InputInvalid):
        forest(panels, [ForestRow(name, tuned=True) for name in rows], SCALE)


def test_of_fewer_than_ten_items_no_number_is_drawn():
    cells = [[Tile(0.9, 9, framed=True), Tile(0.2, 10)], [Tile(0.3, None), Tile(0.8, 9, framed=True)]]
    figure = heat_map(cells, Axis("ab"), Axis("xy"), Scale(SCALE))
    shown = [text.get_text() for text in figure.axes[0].texts]
    assert [text for text in shown if text.startswith(("0", "n"))] == ["n < 10", "0.20", "0.30", "n < 10"]
    assert figure.axes[1].get_ylim()[1] == pytest.approx(0.3), "a number that is not drawn does not stretch the scale"
    assert all(patch.get_edgecolor() != (0, 0, 0, 1) for patch in figure.axes[0].patches), "nor a frame"
    assert_readable(figure)


def test_a_column_of_fewer_than_ten_items_is_named_and_not_drawn():
    counted = table([[0.9, 0.2]], counts=[9, 10])
    assert "n = 9" not in [text.get_text() for text in counted.axes[0].texts]
    assert "rows are behind each number: y" in " ".join(text.get_text() for text in counted.texts).replace("\n", " ")
    assert not table([[0.9, 0.2]], counts=[9, 9]).axes, "only words"


def test_made_up_answers_look_different_from_models():
    assert [patch.get_hatch() for patch in table([[0.1, 0.2]], made_up=["z"]).axes[0].patches] == [None, None, "////"]


def test_words_are_a_figure_too(tmp_path):
    figure = words("Scaled accuracy by language", "No language has more than 100 rows. " * 8)
    assert_readable(figure)
    save(figure, [tmp_path / "a.pdf", tmp_path / "a.png"])
    assert (tmp_path / "a.pdf").read_bytes().startswith(b"%PDF")


def test_framed_cells_have_a_black_frame_and_no_others():
    figure = heat_map([[Tile(0.1), Tile(0.2, framed=True)]], Axis("x"), Axis("yz"), Scale(SCALE))
    frames = [p for p in figure.axes[0].patches if not p.get_fill() and p.get_edgecolor() == (0, 0, 0, 1)]
    assert [round(patch.get_x() + patch.get_width() / 2, 6) for patch in frames] == [1.0]


def luminance(colour):
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in colour[:3]]
    return np.dot(linear, [0.2126, 0.7152, 0.0722])


def test_numbers_stand_out_and_zero_is_palest():
    cells = [[Tile(value) for value in np.linspace(-1, 1, 41).tolist()]]
    axes = heat_map(cells, Axis("x"), Axis([""] * 41), Scale(SCALE, limits=(-1, 1))).axes[0]
    faces = [luminance(patch.get_facecolor()) for patch in axes.patches]
    numbers = [text for text in axes.texts if text.get_text().strip("−").startswith(("0", "1"))]
    inks = [luminance(mpl.colors.to_rgb(text.get_color())) for text in numbers]
    for face, ink in zip(faces, inks, strict=True):
        assert (max(face, ink) + 0.05) / (min(face, ink) + 0.05) >= 4.5  # WCAG 2 AA
    assert faces[20] == max(faces)
    assert all(np.diff(faces[:21]) > 0)
    assert all(np.diff(faces[20:]) < 0)


@pytest.mark.variants
@pytest.mark.parametrize(
    "make", [example, lambda: languages(7, 3), lambda: curves({"a": [(0, 1), (1, 2)]}, title="t", across="x", up="y")]
)
def test_the_same_figure_gives_the_same_bytes(make, tmp_path, monkeypatch):
    paths = [tmp_path / "new" / f"figure{suffix}" for suffix in (".pdf", ".svg", ".png")]
    figure = make()
    save(figure, paths)
    first = [path.read_bytes() for path in paths]
    assert first[0].startswith(b"%PDF")
    assert b"<svg" in first[1]
    assert first[2].startswith(b"\x89PNG")
    assert b"CreationDate" not in first[0]
    assert b"/Type3" not in first[0].replace(b" ", b"")
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "86400")  # another day
    monkeypatch.setitem(mpl.rcParams, "font.size", 30)  # another user's settings
    monkeypatch.setitem(mpl.rcParams, "savefig.bbox", "tight")
    for again in (figure, make()):
        save(again, paths)
        assert [path.read_bytes() for path in paths] == first
    assert mpl.rcParams["font.size"] == 30  # and they are left alone


def test_an_unknown_suffix_writes_nothing(tmp_path):
    with pytest.raises(InputInvalid, match="jpg"):
        save(example(9), [tmp_path / "a.png", tmp_path / "a.jpg"])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("values", "options"),
    [([], {}), ([[0.1]], {}), ([[0.1, np.nan]], {}), ([[0.1, np.inf]], {}), ([[0.1, 0.2]], {"counts": [1]})],
)
def test_shapes_that_do_not_fit_are_refused(values, options):
    with pytest.raises(InputInvalid):
        table(values, **options)


def test_matplotlib_is_loaded_only_when_needed():
    code = "import sys, excam.pages.plotting; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
    code = "import sys, excam.pages.plotting as p; p.heat_map([[p.Tile(1)]], p.Axis('x'), p.Axis('y'), p.Scale('z')); sys.exit('matplotlib.pyplot' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
