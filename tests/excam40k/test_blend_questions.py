"""BLEnD's questions: which answers of other regions are wrong in a region, and what is built of them."""

import gzip
import json
from pathlib import Path

import polars as pl
import pytest

from excam.excam40k import datasets
from excam.excam40k.datasets._quantities import quantity_of
from excam.excam40k.datasets._wordings import Wordings, stems

REAL = Path(__file__).parents[3] / "shared" / "data" / "blend"
HEADER = "MCQID,ID,country,prompt,choices,choice_countries,answer_idx\n"


def write_records(folder, region, questions):
    """Write the annotations of a region: question id -> local and English wording, groups of (votes, English, local)."""
    records = {
        key: {
            "question": local,
            "en_question": english,
            "annotations": [{"count": votes, "en_answers": en, "answers": own} for votes, en, own in groups],
            "idks": {},
        }
        for key, (local, english, groups) in questions.items()
    }
    (folder / "annotations").mkdir(exist_ok=True)
    with gzip.open(folder / "annotations" / f"{region}_data.json.gz", "wt") as stream:
        json.dump(records, stream)


def annotate(folder, question, **regions):
    """Write annotations of one question "K", or of several: region -> groups of (votes, English, local wordings)."""
    for region, groups in regions.items():
        keyed = groups if isinstance(groups, dict) else {"K": groups}
        asked = {
            key: ("", question.format(region=region), [(votes, en, *(own or [en])) for votes, en, *own in answers])
            for key, answers in keyed.items()
        }
        write_records(folder, region, asked)
    return folder


def wrong_in(region, folder, **settings):
    """Return all wrong answers that the built questions of a region offer."""
    samples = datasets.read("blend", folder, {"balanced": 0, **settings}).samples()
    return {wrong for sample in samples if f":{region}:" in sample.id for wrong in sample.wrong}


MOST = "What is the most popular thing to do in {region}?"
SOME = "What is often done in {region}?"
FILLERS = {"Peru": [(4, ["pottery"])], "Chad": [(4, ["camel races"])], "Fiji": [(4, ["kava drinking"])]}


@pytest.mark.parametrize(
    ("answer", "other"),
    [
        ("sador mekhela", "mekhela"),
        ("grandmother", "grandparents"),
        ("domino", "dominoes"),
        ("walk", "walking"),
        ("notebook", "book"),
        ("lee", "li"),
        ("whatsapp call", "a call"),
        ("café", "cafes"),
    ],
)
def test_an_answer_that_contains_or_resembles_a_given_one_is_not_wrong(tmp_path, answer, other):
    annotate(tmp_path, MOST, Iran=[(4, ["weaving"]), (1, [answer])], Spain=[(4, [other])], **FILLERS)
    assert wrong_in("Iran", tmp_path) == {"pottery", "camel races", "kava drinking"}


def test_answers_that_one_wording_links_are_not_wrong(tmp_path):
    linked = {**FILLERS, "Chad": [(4, ["camel races"]), (1, ["whatsapp on the phone"])]}
    annotate(tmp_path, MOST, Iran=[(4, ["phone"])], Spain=[(4, ["whatsapp"])], **linked)
    assert "whatsapp" not in wrong_in("Iran", tmp_path)


def test_two_translations_of_one_local_answer_are_not_wrong(tmp_path):
    """Also if they were used for another question."""
    other = {"K": [(4, ["lunch"], ["zuhr"])], "L": [(4, ["afternoon meal"], ["zuhr"])]}
    annotate(tmp_path, MOST, Iran=[(4, ["lunch"])], Spain=[(4, ["afternoon meal"])], Assam=other, **FILLERS)
    assert "afternoon meal" not in wrong_in("Iran", tmp_path)


def test_an_answer_that_does_not_fit_the_question_is_dropped(tmp_path):
    question = "What type of clothing is worn in {region}?"
    answers = {"Iran": [(4, ["traditional clothing"])], "Spain": [(4, ["anything"])], **FILLERS}
    answers["UK"] = [(4, ["of tweed"])]
    reading = datasets.read("blend", annotate(tmp_path, question, **answers), {"balanced": 0})
    assert reading.dropped == {"no-answer-to-the-question": 3}
    wrong = {wrong for sample in reading.samples() for wrong in sample.wrong}
    assert wrong == {"pottery", "camel races", "kava drinking"}


def test_a_tie_is_right_where_several_answers_can_be(tmp_path):
    tie = [(3, ["weaving"]), (3, ["riding"])]
    assert wrong_in("Iran", annotate(tmp_path, SOME, Iran=tie, **FILLERS))
    assert not wrong_in("Iran", annotate(tmp_path, MOST, Iran=tie, **FILLERS))


def test_an_answer_of_many_regions_is_wrong_only_where_one_can_be_right(tmp_path):
    answers = {region: [(4, ["singing"])] for region in ("Ghana", "Kenya", "Togo", "Mali")}
    for question, wrong in ((MOST, True), (SOME, False)):
        annotate(tmp_path, question, Iran=[(4, ["weaving"])], **answers, **FILLERS)
        assert ("singing" in wrong_in("Iran", tmp_path)) is wrong


def test_what_a_region_gives_beside_the_right_answer_may_be_true_too(tmp_path):
    both = [(3, ["kite fights"]), (1, ["weaving"])]
    annotate(tmp_path, SOME, Iran=[(4, ["weaving"])], Spain=both, **FILLERS)
    assert "kite fights" not in wrong_in("Iran", tmp_path)


def test_answers_of_a_region_that_answers_alike_are_not_wrong(tmp_path):
    same = {f"L{place}": [(4, [f"word{place}"])] for place in range(20)}
    answers = {"Iran": {"K": [(4, ["weaving"])], **same}, "Spain": {"K": [(4, ["embroidery"])], **same}}
    answers |= {"Togo": {"K": [(4, ["drumming"])]}}
    annotate(tmp_path, MOST, **answers, **FILLERS)
    assert "embroidery" not in wrong_in("Iran", tmp_path)
    assert "drumming" in wrong_in("Iran", tmp_path)


@pytest.mark.parametrize(
    ("format", "right", "near", "far"),
    [
        ("Provide Arabic numerals (e.g., 12) only.", "14", ["12", "21", "0", "twelve"], ["7", "22", "30"]),
        ("Provide Arabic numerals (1~12) only.", "12", ["1", "11", "10"], ["3", "6", "9"]),
        ("Provide in HH:MM format (e.g., 18:00, 09:00).", "06:00", ["18:00", "07:30", "12:00"], ["08:00", "14:30"]),
        ("Provide in MM/DD format (e.g., 12/31).", "12/31", ["01/10", "12/05"], ["03/08", "11/11"]),
    ],
)
def test_a_quantity_is_wrong_if_it_is_far_from_everything_given(tmp_path, format, right, near, far):
    regions = {f"R{place}": [(4, [value])] for place, value in enumerate([*near, *far])}
    annotate(tmp_path, f"When is it in {{region}}? ({format})", Spain=[(4, [right])], **regions)
    assert wrong_in("Spain", tmp_path) == set(far)


@pytest.mark.parametrize("region", ["Iran", "Ethiopia"])
def test_a_date_of_another_calendar_is_left_out(tmp_path, region):
    """Of its region alone, and counted; other quantities are asked there too."""
    for asked_in, values, left_out in (
        ("MM/DD", ("12/31", "03/08", "06/24", "09/11", "10/10"), {"other-calendar": 1}),
        ("Arabic numerals (e.g., 12)", ("5", "10", "20", "40", "80"), {}),
    ):
        regions = (region, "Spain", "Peru", "Chad", "Fiji")
        answers = {place: [(4, [value])] for place, value in zip(regions, values, strict=True)}
        folder = annotate(tmp_path, f"When is it in {{region}}? ({asked_in})", **answers)
        reading = datasets.read("blend", folder, {"balanced": 0})
        assert reading.dropped == left_out
        assert wrong_in("Spain", tmp_path)
        assert bool(wrong_in(region, tmp_path)) is not bool(left_out)


def test_a_date_with_day_and_month_exchanged_and_an_abbreviation_say_nothing(tmp_path):
    dates = ["06/01", "06/01", "10/05", "03/30", "12/24"]
    for question, answers, unsaid in (
        ("When is it in {region}? (MM/DD)", dates, "01/06"),
        (MOST, ["pottery", "camel races", "kava drinking", "weaving", "kite fights"], "MW"),
    ):
        regions = {f"R{place}": [(4, [answer])] for place, answer in enumerate(answers)}
        folder = annotate(tmp_path, question, Spain=[(4, [unsaid])], **regions)
        reading = datasets.read("blend", folder, {"balanced": 0})
        assert reading.dropped["no-answer-to-the-question"] == 1
        assert not any(unsaid in (sample.answer, *sample.wrong) for sample in reading.samples())


def test_a_quantity_has_its_values():
    number, time = quantity_of("(Provide Arabic numerals (e.g., 12) only.)"), quantity_of("(HH:MM format)")
    assert (number.read("3.5"), number.read("three"), time.read("7:30"), time.read("730")) == (3.5, None, 450, None)
    assert quantity_of("What do people eat?") is None


def test_a_question_for_two_teams_is_answered_with_two(tmp_path):
    question = "What is the most famous rivalry in {region}? (e.g., ___ vs ___)"
    teams = {"Peru": [(4, ["lions vs bears"])], "Chad": [(4, ["oaks against elms"])], "Fiji": [(4, ["sun-moon"])]}
    folder = annotate(tmp_path, question, Iran=[(4, ["reds vs blues"])], Spain=[(4, ["ghana"])], **teams)
    assert "no-answer-to-the-question" in datasets.read("blend", folder, {"balanced": 0}).dropped
    assert "ghana" not in wrong_in("Iran", folder)


@pytest.mark.parametrize("file", [None, HEADER])
def test_a_folder_without_official_questions_is_read(tmp_path, file):
    annotate(tmp_path, MOST, Iran=[(4, ["weaving"])], **FILLERS)
    if file:
        (tmp_path / "mc_questions.csv").write_text(file)
    reading = datasets.read("blend", tmp_path, {"balanced": 0})
    assert {sample.culture for sample in reading.samples()} == {"Iran", "Peru", "Chad", "Fiji"}
    assert reading.lacks == ()


def test_several_questions_of_one_row_have_different_wrong_answers(tmp_path):
    names = ["quilts", "drums", "masks", "boats", "kites", "bells", "flutes", "lamps", "ropes", "tiles"]
    regions = {f"R{place}": [(4, [name])] for place, name in enumerate(names)}
    folder = annotate(tmp_path, MOST, Iran=[(4, ["weaving"])], **regions)
    samples = datasets.read("blend", folder, {"balanced": 0}).samples()
    own = [sample for sample in samples if ":Iran:" in sample.id]
    assert [sample.id for sample in own] == [f"blend/built:Iran:K{end}" for end in ("", ":2", ":3")]
    assert len({sample.wrong for sample in own}) == 3
    assert {sample.group for sample in own} == {"K"}


def test_wordings_include_similar_spellings_and_neighbours():
    wordings = Wordings(["phone call", "whatsapp call", "letter"], stems("How do people call?"), {})
    assert wordings.content("phone call") == {"phone"}
    wordings = Wordings(["phone call", "letters", "letterbox"], frozenset(), {})
    assert wordings.reach(["phone"]) == {"phone", "call"}
    assert wordings.reach(["letter"]) >= {"letter", "letterbox"}


@pytest.mark.nightly
def test_the_real_rows_give_enough_questions_of_every_region():
    if not REAL.exists():
        pytest.skip("no real rows beside the repository")
    reading = datasets.read("blend", REAL, {})
    assert 2 * len(reading.frame) >= 360 * 7.069, "pairs: with options and without, of 6,400 + 669 rows"
    questions = reading.frame.group_by("culture").agg(pl.col("group").n_unique())
    assert questions.height == 16
    assert questions["group"].min() >= 20


def test_an_answer_that_many_give_to_other_questions_only_is_no_wrong_one(tmp_path):
    answers = {f"R{place}": {"L": [(1, ["mathematics"])]} for place in range(6)}
    annotate(tmp_path, MOST, Iran=[(4, ["weaving"])], Spain=[(4, ["mathematics"])], **answers, **FILLERS)
    assert "mathematics" not in wrong_in("Iran", tmp_path)


PLAYED = "What is the most popular sport in {region}?"
PAID = "What is the best paid sport in {region}?"


def ask_locally(folder, **regions):
    """Write annotations of "K" and "L", of one kind: region -> local name, answers to "K", answers to "L"."""
    for region, (name, *answers) in regions.items():
        asked = {
            key: (f"{key}? {name}", question.format(region=region), groups)
            for key, question, groups in zip("KL", (PLAYED, PAID), answers, strict=True)
        }
        write_records(folder, region, asked)
    return folder


BOTH = [(2, [name], [name]) for name in ("chess", "golf", "judo", "polo", "darts")]
ENGLISH = ("", [(4, ["tennis"], ["tennis"]), *BOTH], [(4, ["rugby"], ["rugby"]), *BOTH])
SPAIN = ("España", [(5, ["soccer"], ["fútbol"])], [(3, ["chess"], ["ajedrez"]), (2, ["soccer"], ["fútbol"])])
MEXICO = ("México", [(5, ["golf"], ["golf"])], [(3, ["golf"], ["golf"])])


def local_samples(folder, **settings):
    reading = datasets.read("blend", folder, {"balanced": 0, "local_questions": 1, **settings})
    return {sample.id: sample for sample in reading.samples() if sample.language != "English"}, reading.dropped


def test_local_questions_are_asked_and_answered_in_the_language_of_the_region(tmp_path):
    samples, _ = local_samples(ask_locally(tmp_path, UK=ENGLISH, Spain=SPAIN, Mexico=MEXICO))
    spain = samples["blend/local:Spain:K"]
    assert (spain.question, spain.answer, spain.language) == ("K? España", "fútbol", "Spanish")
    assert (spain.culture, spain.group) == ("Spain", "K")
    assert set(spain.wrong) == {"ajedrez", "golf"}, "of a question of the same kind, and of another Spanish region"


def test_local_questions_are_added_only_if_wanted_and_share_a_stratum_with_no_english_ones(tmp_path):
    folder = ask_locally(tmp_path, UK=ENGLISH, Spain=SPAIN, Mexico=MEXICO)
    annotate(folder, MOST, Fiji={"M": [(4, ["kava drinking"])]}, Peru={"M": [(4, ["pottery"])]})
    annotate(folder, MOST, Chad={"M": [(4, ["camel races"])]})
    without = datasets.read("blend", folder, {"balanced": 0}).samples()
    assert {sample.language for sample in without} == {"English"}
    assert all(sample.stratum == sample.culture for sample in without)
    both = datasets.read("blend", folder, {"balanced": 0, "local_questions": 1}).samples()
    assert {sample.stratum for sample in both if sample.language == "Spanish"} == {"Spain", "Mexico"}
    assert not {sample.stratum for sample in both if sample.language == "English"} & {"Spain", "Mexico"}


@pytest.mark.parametrize(
    ("name", "answers", "reason"),
    [
        ("nuestro país", [(5, ["soccer"], ["fútbol"])], "names-no-region"),
        ("", [(5, ["soccer"], ["fútbol"])], "names-no-region"),
        ("España", [(5, ["soccer"], ["футбол"])], "no-local-wording"),
        ("España", [(1, ["soccer"], ["fútbol"])], "few-votes"),
        ("España", [(5, ["chess"], ["ajedrez"]), (1, ["golf"], ["golf"])], "no-local-distractor"),
    ],
)
def test_a_question_that_cannot_be_asked_locally_is_counted(tmp_path, name, answers, reason):
    spain = (name, answers, SPAIN[2])
    folder = ask_locally(tmp_path, UK=ENGLISH, Spain=spain, Mexico=MEXICO, Iran=("ایران", *[[(4, ["x"], ["y"])]] * 2))
    samples, dropped = local_samples(folder)
    assert "blend/local:Spain:K" not in samples
    assert dropped[reason] > 0


def test_a_local_wording_that_begins_as_one_that_was_given_is_not_wrong(tmp_path):
    spain = (SPAIN[0], [*SPAIN[1], (1, ["board games"], ["ajedrecista"])], SPAIN[2])
    samples, _ = local_samples(ask_locally(tmp_path, UK=ENGLISH, Spain=spain, Mexico=MEXICO))
    assert "ajedrez" not in samples["blend/local:Spain:K"].wrong


def test_a_number_of_another_unit_is_no_answer(tmp_path):
    question = "What is the average commute time (in minutes) in {region}? (Provide Arabic numerals (e.g., 1) only.)"
    answers = {f"R{place}": [(4, [value])] for place, value in enumerate(["30", "60", "70", "90"])}
    folder = annotate(tmp_path, question, Iran=[(4, ["2"])], **answers)
    assert datasets.read("blend", folder, {"balanced": 0}).dropped["no-answer-to-the-question"] == 1
    assert "2" not in wrong_in("R0", folder)


def test_a_date_is_read_in_both_orders():
    kind = quantity_of("(Provide in MM/DD format (e.g., 12/31).)")
    assert kind.readings("01/06") == [kind.read("01/06"), kind.read("06/01")]
    assert kind.readings("05/19") == [kind.read("05/19")]


@pytest.mark.nightly
def test_the_real_rows_give_local_questions_in_every_language():
    if not REAL.exists():
        pytest.skip("no real rows beside the repository")
    rows = datasets.read("blend", REAL, {"local_questions": 3}).frame.filter(pl.col("language") != "English")
    questions = rows.group_by("language", "culture").agg(pl.col("group").n_unique())
    assert len(rows) >= 630
    assert (questions.height, questions["language"].n_unique()) == (14, 12)
    assert questions["group"].min() >= 20
    answers, wrong = (rows.select("language", text=column) for column in (pl.col("answer"), pl.col("wrong")))
    counts = answers.group_by("language", "text").agg(right=pl.len())
    counts = counts.join(
        wrong.explode("text").group_by("language", "text").agg(wrong=pl.len()), on=["language", "text"], how="left"
    )
    surplus = counts.select(pl.col("right").cast(pl.Int64) - pl.col("wrong").fill_null(0)).to_series()
    assert surplus.max() <= 5, "nobody is right who always says soccer"
