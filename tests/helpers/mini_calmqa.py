"""Our miniature of CaLMQA, read once: its questions by id, and the answers of its written sheets."""

from pathlib import Path

from excam.calmqa import source

MINI = Path(__file__).parents[2] / "mini/calmqa-answers"
QUESTIONS = {question.id: question for question in source.read_questions(source.files(MINI / "questions", "questions"))}
SHEETS = [answer for path in source.files(MINI / "sheets", "sheets") for answer in source.read_sheet(path, QUESTIONS)]
