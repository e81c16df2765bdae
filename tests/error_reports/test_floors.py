"""The two fair floors: how many of a text's words stand in a passage, and whether what is asked stands there."""

import pytest

from excam.error_reports.floors import question_where_answer_stands, share_of_words

FEAST = "At a supra the tamada leads the toasts. The host pays for the wine and greets the guests at the door."
BREAD = "Bread is baked in a tone."


def test_share_is_that_of_the_best_passage():
    assert share_of_words("Bread, tamada, wine", [BREAD, FEAST]) == pytest.approx(2 / 3)
    assert share_of_words("Khachapuri", [BREAD, FEAST]) == 0


def test_nothing_stands_in_no_passage_and_no_words_stand_nowhere():
    assert share_of_words("Bread", []) == share_of_words("!", [BREAD]) == 0
    assert question_where_answer_stands("Who?", "Bread", []) == question_where_answer_stands("Who?", "!", [BREAD]) == -1


@pytest.mark.parametrize(
    ("question", "right", "wrong", "passage"),
    [
        ("Who leads the toasts at a supra?", "The tamada", "The host", FEAST),
        ("宴会上谁主持祝酒？", "塔玛达", "主人", "在宴会上，塔玛达主持祝酒。主人支付酒钱并迎接客人。"),
        (
            "ใครเป็นผู้นำดื่มอวยพร",
            "ทามาดา",
            "เจ้าภาพ",
            "ในงานเลี้ยงซูปราของชาวจอร์เจีย ทามาดาเป็นผู้นำดื่มอวยพรตลอดทั้งคืนและเป็นคนที่ทุกคนในงานรู้จักกันดีและเคารพนับถือมากที่สุด "
            "ส่วนเจ้าภาพเป็นคนจ่ายค่าไวน์และต้อนรับแขกที่ประตู",
        ),
    ],
    ids=["English", "Chinese", "Thai"],
)
def test_question_stands_where_the_right_answer_stands(question, right, wrong, passage):
    assert question_where_answer_stands(question, right, [BREAD, passage]) > 0.2
    assert question_where_answer_stands(question, wrong, [BREAD, passage]) < -0.2


def test_forms_of_a_word_share_parts():
    assert question_where_answer_stands("Who was leading the toast?", "the tamada", [FEAST]) > 0
