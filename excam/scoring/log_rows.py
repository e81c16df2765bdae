"""Rows of conversations and of the logs of other programs: turns become an instruction and the text that answers it.

Samples of lm-evaluation-harness and of inspect_ai become rows with columns. Any cell of an instruction or an output may
have turns, a turn or the body of an answer in place of a text (`asked`, `answered`). The last turn of a person is the
instruction, the last answer the text. Earlier turns stand before the instruction, as its context; turns of a system or
a tool, and reasoning, are not read. Each row is read by its own form.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from excam.core.row_files import BadRow, Record

TURNS = ("messages", "conversations", "conversation")
PEOPLE, ANSWERS = frozenset({"user", "human"}), frozenset({"assistant", "gpt", "model", "chatgpt", "bot"})
NO_ANSWER = BadRow("no-answer", "no answer after the last turn of a person; expected one")
NO_TEXT = BadRow("no-generated-text", "log-likelihoods and no text; expected a task that generates")
NOT_TEXT = BadRow("not-text", "a turn has an image, a sound or a call; expected texts")
HARNESS, INSPECT = "samples of lm-evaluation-harness: the answers in resps", "samples of inspect_ai"


class _NotText(Exception):  # never leaves this module
    """Raised for a turn that is not, or not only, text."""


def is_of_harness(row: Mapping[str, Any]) -> bool:
    """Return whether a row is a sample of lm-evaluation-harness."""
    return "doc_id" in row and isinstance(row.get("doc"), Mapping) and isinstance(row.get("resps"), list)


def is_of_inspect(row: Mapping[str, Any]) -> bool:
    """Return whether a row is a sample of inspect_ai."""
    output = row.get("output")
    return "input" in row and isinstance(output, Mapping) and ("choices" in output or "completion" in output)


def is_turns(value: Any) -> bool:
    """Return whether a value is a list of turns, each with the role of who speaks."""
    return isinstance(value, list) and bool(value) and all(isinstance(turn, Mapping) and _role(turn) for turn in value)


def _role(turn: Mapping[str, Any]) -> str:
    role = turn.get("role", turn.get("from"))
    return role.lower() if isinstance(role, str) else ""


# --- cells


def asked(cell: Any) -> Any:
    """Return the instruction in a cell of turns, also as the value of a key; any other value as it is."""
    turns = cell
    if isinstance(cell, Mapping):
        turns = next((cell[name] for name in TURNS if name in cell), [cell])
    try:
        return _instruction(turns) if is_turns(turns) else cell
    except _NotText:
        return NOT_TEXT


def answered(cell: Any) -> Any:
    """Return the answer in a cell with turns, a turn or the body of an answer; any other value as it is."""
    turn = cell[-1] if is_turns(cell) else cell
    if not isinstance(turn, Mapping):
        return cell
    if "choices" in turn or "completion" in turn:
        turn = _message(turn)
    elif _role(turn) not in ANSWERS:
        return NO_ANSWER if _role(turn) else cell
    try:
        text = _text(turn)
    except _NotText:
        return NOT_TEXT
    return NOT_TEXT if not text and _calls(turn) else text


def _message(body: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the turn in the body of an answer."""
    choices = body.get("choices")
    first = choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], Mapping) else {}
    message = first.get("message")
    if isinstance(message, Mapping) and not body.get("completion"):
        return message
    return {"content": body.get("completion") or ""}


def _instruction(turns: Sequence[Mapping[str, Any]]) -> str | None:
    """Return the last turn of a person, with the earlier ones of people and models before it.

    Raises _NotText if one of them is not text, or the last has none.
    """
    spoken = [turn for turn in turns if _role(turn) in PEOPLE | ANSWERS]
    while spoken and _role(spoken[-1]) not in PEOPLE:
        spoken.pop()
    if not spoken:
        return None
    *earlier, last = [("user" if _role(turn) in PEOPLE else "assistant", _text(turn)) for turn in spoken]
    if not last[1]:
        raise _NotText
    return "".join(f"{role}: {text}\n\n" for role, text in earlier if text) + last[1]


def _text(turn: Mapping[str, Any]) -> str | None:
    """Return the text of a turn, which may have several parts, or in which the model refuses; None if it has none.

    Raises _NotText for one with an image, a sound or a file.
    """
    content = turn.get("content", turn.get("value"))
    if content is None:
        content = turn.get("refusal")
    if isinstance(content, Mapping):
        content = [content]
    if isinstance(content, list):
        parts = [part for part in map(_part, content) if part is not None]
        content = "".join(parts) if parts else None
    if content is not None and not isinstance(content, str):
        raise _NotText
    return content


def _part(part: Any) -> str | None:
    """Return the text of a part of a turn; None for reasoning and for calls of tools."""
    if isinstance(part, str):
        return part
    if not isinstance(part, Mapping):
        raise _NotText
    kind = str(part.get("type", "text"))
    if any(word in kind for word in ("reasoning", "thinking", "tool", "call")):
        return None
    text = part.get("refusal" if kind == "refusal" else "text")
    if not isinstance(text, str) or not kind.endswith(("text", "refusal")):
        raise _NotText
    return text


def _calls(turn: Mapping[str, Any]) -> bool:
    """Return whether a turn calls a tool."""
    parts = content if isinstance(content := turn.get("content"), list) else []
    kinds = [str(part.get("type")) for part in parts if isinstance(part, Mapping)]
    return bool(turn.get("tool_calls") or turn.get("function_call")) or any("tool" in k or "call" in k for k in kinds)


# --- logs


def of_harness(row: Mapping[str, Any]) -> list[Record]:
    """Return each answer that the model wrote, before any filter, with the question, else the whole prompt."""
    answers = list(_leaves(row["resps"]))
    if None in answers:
        return [NO_TEXT]
    if not answers or not all(isinstance(answer, str) for answer in answers):
        return [NO_ANSWER]
    question = row["doc"].get("question")
    shared = {"instruction": question if isinstance(question, str) else _prompt(row.get("arguments"))}
    shared |= {"target": row["target"]} if "target" in row else {}
    return [{"id": _numbered(row["doc_id"], at), "output": text, **shared} for at, text in enumerate(answers, 1)]


def _leaves(value: Any) -> Iterator[Any]:
    """Yield what is in nested lists; None for a log-likelihood, which has a truth value beside it."""
    if not isinstance(value, list):
        yield value
    elif len(value) == 2 and _is_number(value[0]) and str(value[1]) in ("True", "False"):
        yield None
    else:
        for each in value:
            yield from _leaves(each)


def _is_number(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True


def _numbered(name: Any, number: Any) -> Any:
    """Return the id of an answer; the second and later ones to a question have their number in it."""
    return f"{name}/{number}" if isinstance(number, int) and number > 1 else name


def _prompt(arguments: Any) -> Any:
    """Return the prompt of a request: the first argument, a text or JSON of chat messages."""
    while isinstance(arguments, Mapping | list) and arguments:
        arguments = next(iter(arguments.values())) if isinstance(arguments, Mapping) else arguments[0]
    if not isinstance(arguments, str):
        return None
    try:
        turns = json.loads(arguments) if arguments.startswith("[{") else None
    except (ValueError, RecursionError):
        turns = None
    return turns if is_turns(turns) else arguments


def of_inspect(row: Mapping[str, Any]) -> Record:
    """Return the columns of a sample; later epochs have an id of their own."""
    output = row["output"]
    return {
        "id": _numbered(row.get("id"), row.get("epoch")),
        "input": row["input"],
        "output": answered(output),
        "target": row.get("target"),
        "system": output.get("model") if isinstance(output.get("model"), str) else None,
    }
