"""A metric of another system: is the right one of four options the most probable? It has its own item and result types."""

from dataclasses import dataclass

from excam.inference import Flow, Message, ask_for_choice
from excam.scoring.metric import Metric, Outcome, Row

LETTERS = ("A", "B", "C", "D")


@dataclass(frozen=True)
class Item:
    id: str
    question: str
    options: tuple[str, ...]
    answer: str


@dataclass(frozen=True)
class Chosen:
    letter: str | None
    right: bool


def ask(item: Item) -> Flow[Chosen]:
    listed = "\n".join(f"{letter}. {text}" for letter, text in zip(LETTERS, item.options, strict=True))
    choice = yield from ask_for_choice((Message("user", f"{item.question}\n{listed}\nAnswer with a letter."),), LETTERS)
    if choice.logprobs is None:
        return Chosen(None, False)
    best = LETTERS[choice.logprobs.index(max(choice.logprobs))]
    return Chosen(best, best == item.answer)


class MultipleChoice(Metric):
    name, version, asks, max_tokens = "multiple-choice", 1, "likelihoods", 8
    columns = ("question", "a", "b", "c", "d", "answer")
    title, mean, legend = (
        "Questions answered",
        "share of right answers, more is better",
        "1: the right option is likeliest",
    )

    def flow(self, row: Row) -> Flow[Outcome]:
        options = tuple(row.texts[name] for name in "abcd")
        choice = yield from ask(Item(row.id, row.texts["question"], options, row.texts["answer"]))
        if choice.letter is None:
            return Outcome(None, "no-probabilities")
        return Outcome(float(choice.right), parts={"letter": choice.letter})
