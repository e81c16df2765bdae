"""A metric of another system: is the right one of four options the most probable? It has its own item and result types."""

from dataclasses import dataclass

from excam.inference import Flow, Message, ask_for_choice
from excam.scoring.metrics import Outcome, Row

NAME, VERSION, DIRECTION, MAX_TOKENS = "multiple-choice", 1, "higher", 8
COLUMNS = ("question", "a", "b", "c", "d", "answer")
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


def flow(row: Row) -> Flow[Outcome]:
    options = tuple(row.values[name] for name in "abcd")
    found = yield from ask(Item(row.id, row.values["question"], options, row.values["answer"]))
    if found.letter is None:
        return Outcome(None, "no-probabilities")
    return Outcome(float(found.right), parts={"letter": found.letter})
