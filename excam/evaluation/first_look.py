"""A model's answers to the annotators' questions, counted, and beside people's majorities where there are any.

Never mixed with what people said: a line counts the model's answers, and how often a majority of people says the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from excam.annotation.pre_annotation import QUESTIONS
from excam.evaluation.human_answers import Item
from excam.evaluation.human_votes import CULTURE, EXPLANATION, PARTIAL, SEVERITY, STRICT, TYPE, Criterion, majority

# What of a model's answers (`pre_annotation.QUESTIONS`) is a yes, by the criterion of people's votes.
ASKED: Mapping[Criterion, tuple[str, ...]] = {
    CULTURE: ("yes",),
    STRICT: ("valid",),
    PARTIAL: ("valid", "partly"),
    EXPLANATION: ("valid",),
    SEVERITY: ("yes",),
    TYPE: ("yes",),
}
COLUMNS = ("criterion", "yes", "read", "unreadable", "same", "compared", "people_yes")


def lines(said: Sequence[Mapping[str, Any]], items: Sequence[Item]) -> Iterator[dict[str, Any]]:
    """A line per criterion: the model's yes, of answers that were read; as people's majority, of those compared.

    `said` are lines of `pre_annotation.lines`; `items` may be empty. Only tasks with a majority of people are compared.
    """
    readable = {line["task"]: line["read"] for line in said if line["read"] is not None}
    for criterion, positive in ASKED.items():
        model = {task: given[criterion.field] in positive for task, given in readable.items()}
        people = {item.task.id: majority(criterion.votes(item)) for item in items}
        both = {task: voted for task, voted in people.items() if voted is not None and task in model}
        yield {
            "criterion": criterion.name,
            "yes": sum(model.values()),
            "read": len(model),
            "unreadable": len(said) - len(readable),
            "same": sum(model[task] == voted for task, voted in both.items()),
            "compared": len(both),
            "people_yes": sum(both.values()),
        }


def choices(said: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, int]]:
    """How often each value was chosen, by question; and why answers could not be read, as `unreadable`."""
    read = [line["read"] for line in said if line["read"] is not None]
    counted = {name: Counter(line[name] for line in read) for name in QUESTIONS}
    found = {name: {value: counted[name][value] for value in values} for name, values in QUESTIONS.items()}
    why = Counter(line["failure"] for line in said if line["failure"] is not None)
    return found | {"unreadable": dict(sorted(why.items()))}
