"""Answers to campaigns, and the files in which the page exports them."""

from excam.annotation import exchange
from excam.annotation.answers import Answer


def answer_to(drawn, task, annotator, values):
    """An answer to a task: the blank one of the form with these values."""
    return Answer(task.id, annotator, drawn.form.empty() | values, 30, "2026-04-01T12:00:00.000Z")


def export(path, drawn, answers):
    """Write answers as the page does; return the path."""
    path.write_text(exchange.to_json(drawn, answers), encoding="utf-8")
    return path
