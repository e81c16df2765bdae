"""What other annotators say: shares from a file of annotations, and the judge that follows their vote."""

from collections import Counter

from base_samples import SEED, acting, split_up

from excam.core.tables import read_frame
from excam.error_reports import record_files
from excam.excam40k import agreement
from excam.excam40k.construction import hard
from excam.excam40k.datasets import epic
from excam.stats import accuracy

COLUMNS = "user,label,id_original,text,parent_text,Age,Sex,Ethnicity simplified,Nationality"


def annotated(folder, *votes, **settings):
    lines = [f"u{n},{label},{post},T.,P.,{20 + n},Male,Asian,India" for n, (post, label) in enumerate(votes)]
    (folder / "EPICorpus.csv").write_text("\n".join([COLUMNS, *lines]) + "\n", encoding="utf-8")
    return epic.read(folder, **settings)


def labelled(*shares):
    return [acting(n, label="ironic", agreement=share, asked=4, wrong=("cola",)) for n, share in enumerate(shares)]


def test_agreement_is_the_share_of_the_others_of_the_same_post(tmp_path):
    votes = {"p1": ("iro", "not", "iro", "maybe"), "p2": ("not",), "p3": ("iro", "not")}
    each = [(post, label) for post, labels in votes.items() for label in labels]
    reading = annotated(tmp_path, *each, least_agreement=0)
    rows = [(kept.group, kept.label, kept.agreement, kept.asked) for kept in reading.samples()]
    assert rows == [
        ("p1", "ironic", 0.5, 2), ("p1", "not ironic", 0.0, 2), ("p1", "ironic", 0.5, 2),
        ("p2", "not ironic", None, 0),
        ("p3", "ironic", 0.0, 1), ("p3", "not ironic", 0.0, 1),
    ]  # fmt: skip
    assert reading.dropped == {"unknown-label": 1}


def test_a_label_is_left_out_if_too_few_of_the_others_give_it(tmp_path):
    """Of two, of three and of four others, or of half for ironic; that of who judged alone stays."""
    posts = {"p1": "nni", "p2": "nnni", "p3": "nnnni", "p4": "nnn", "p5": "n", "p6": "iin"}
    votes = [(post, {"n": "not", "i": "iro"}[letter]) for post, letters in posts.items() for letter in letters]
    reading = annotated(tmp_path, *votes)
    kept = Counter((sample.group, sample.label) for sample in reading.samples())
    counts = {("p3", "not ironic"): 4, ("p4", "not ironic"): 3, ("p5", "not ironic"): 1, ("p6", "ironic"): 2}
    assert kept == counts
    assert reading.dropped == {"contested": 3 + 4 + 1 + 1}
    assert reading.rows == kept.total() + reading.dropped.total()


def test_an_irony_that_half_of_the_others_miss_is_a_minor_error(tmp_path):
    """Of four others, two or three share it."""
    votes = [
        (post, label)
        for post, several in (("p1", 3), ("p2", 4))
        for label in several * ["iro"] + (5 - several) * ["not"]
    ]
    for settings, minor in (({}, {"p1"}), ({"minor_below": 0}, set())):
        samples = [sample for sample in annotated(tmp_path, *votes, **settings).samples() if sample.label == "ironic"]
        assert {sample.group for sample in samples} == {"p1", "p2"}
        assert {sample.group for sample in samples if sample.minor} == minor
        assert all(set(sample.minor) <= set(sample.wrong) for sample in samples)


def test_the_summary_is_what_the_judge_gets_that_follows_the_vote(tmp_path):
    bases = labelled(1.0, 0.75, 0.75, 0.5, 0.5, 0.25, 0.0, 1.0)
    right = split_up(bases)
    wrong, _ = hard.hard_errors(right, {base.id: base for base in bases}, SEED)
    record_files.write_samples(tmp_path / "test.parquet", [*right, *wrong])
    tested = read_frame(tmp_path / "test.parquet")
    chances = agreement.chance_of_no_error(tested, agreement.of(bases))
    gold = (tested["score"] < 0).to_numpy()
    measured = accuracy.summarise_accuracy(gold, chances < 0.5, clusters=tested["base"].to_list(), seed=SEED)
    assert agreement.summary(bases) == {
        "base_samples": 8, "with_most": 4, "with_half": 2, "with_fewer": 2, "mean_asked": 4.0, "vote_of_others": 0.25
    }  # fmt: skip
    assert measured.scaled == 0.25


def test_without_labels_or_others_there_is_nothing_to_follow():
    survey, alone = acting(agreement=0.4), acting(label="ironic")
    assert agreement.summary([survey, alone]) == agreement.of([survey, alone]) == {}
