"""The text of an answer: split the model's reasoning off, find the last `Label: value`.

A reasoning model ends its reasoning with `</think>`; if the chat template writes the opening tag (DeepSeek-R1), only
the closing one is in the answer. A judged text may contain such a tag, and a report may quote it, so tags in quoted
strings are ignored. Other markers (`MARKERS`) end reasoning only in an answer that begins with the opening one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from excam.core.provenance import say
from excam.inference import Completion

STARTS = re.compile(r"\s*<think(?:ing)?>", re.IGNORECASE)
ENDS = re.compile(r"(</think(?:ing)?>)", re.IGNORECASE)
MAX_ENDS = 10_000  # tags that are examined; a text with more has no answer
MARKERS = tuple(  # what begins and ends the reasoning of other models
    (re.compile(rf"\s*+(?:{begin})", re.IGNORECASE), re.compile(rf"({end})", re.IGNORECASE))
    for begin, end in (
        (r"\[THINK\]", r"\[/THINK\]"),  # Magistral
        (r"<(?:seed|mm):think>", r"</(?:seed|mm):think>"),  # Seed-OSS, MiniMax
        (r"◁think▷", r"◁/think▷"),  # Kimi
        (r"<\|START_THINKING\|>", r"<\|END_THINKING\|>"),  # Command A
        (r"<\|begin_of_thought\|>", r"<\|end_of_thought\|>"),  # OpenThinker
        (r"<\|channel>thought", r"<channel\|>"),  # Gemma 4
        (  # gpt-oss, with its special tokens and without
            r"(?:<\|start\|>assistant)?<\|channel\|>(?:analysis|commentary)<\|message\|>",
            r"<\|channel\|>final(?: ?<\|constrain\|>\w{1,16}+)?<\|message\|>",
        ),
        (r"analysis", r"assistantfinal"),
        *((rf"<{name}>", rf"</{name}>") for name in ("thoughts?", "reasoning", "reflection", "scratchpad", "analysis")),
    )
)
DECORATION = " \t\r*_`\"'“”‘’()[]{}$\ufeff"  # around a value; not < > ~, which would change a number's meaning
INVISIBLE = dict.fromkeys(map(ord, "\u00ad\u200b\u200c\u200d\u200e\u200f\u2060\ufeff"))
CHANGES_VALUE = re.compile(  # words of a remark that may take the value back
    r"\d|\b(?:or|if|unless|but|though|although|however|maybe|perhaps|possibly|probably|likely|arguably|could|might|may"
    r"|mostly|almost|nearly|about|around|approximately|roughly|least|most|more|less|fewer|plus|not|no|none|minor|major"
    r"|critical|problem\w*|zero|one|two|three|four|five|six|seven|eight|nine|ten)\b"
)


def split_reasoning(text: str) -> tuple[str, str | None]:
    """Return the reasoning, without tags and surrounding white space, and the answer verbatim. Linear time.

    The last closing tag outside a quoted string ends the reasoning; a tag is in a quoted string if an odd number of
    quotation marks precede it on its line. The answer is None if the text ends inside the reasoning, or if the end is
    ambiguous (the quoted string is not closed on its line, or there are too many tags). Without tags, the full text is
    the answer, and with the markers of other models too, unless the end is clear and more than white space follows.
    """
    for starts, ends in MARKERS:
        if begins := starts.match(text):
            reasoning, answer = _split(text, begins.end(), ends)
            if answer and not answer.isspace() and _split(answer, 0, ENDS) == ("", answer):
                return reasoning, answer
    begins = STARTS.match(text)
    return _split(text, begins.end() if begins else 0, ENDS)


def after_reasoning(text: str) -> str | None:
    """Return what follows the reasoning that a text begins with; None for a text that begins with no whole one."""
    opened = STARTS.match(text) or any(begins.match(text) for begins, _ in MARKERS)
    answer = split_reasoning(text)[1] if opened else None
    return None if answer is None or answer == text else answer.lstrip()


def answers_alone(texts: Sequence[str], where: str) -> list[str]:
    """Return texts to be judged without the reasoning that they begin with; say how many have some, and `where`."""
    answers = list(map(after_reasoning, texts))
    if reasoned := len(answers) - answers.count(None):
        say(f"{where}: {reasoned} texts begin with reasoning, such as <think>...</think>, which is left out")
    return [text if answer is None else answer for text, answer in zip(texts, answers, strict=True)]


def has_marks(text: str) -> bool:
    """Return whether a text has a mark of reasoning, such as `<think>`, anywhere."""
    return bool(re.search(r"</?think(?:ing)?>", text, re.IGNORECASE))


def reasoning_and_answer(completion: Completion) -> tuple[str, str | None]:
    """Return reasoning and answer as `split_reasoning` does; reasoning that a server separated is not searched.

    The answer is None if it was cut before it began.
    """
    inside, answer = split_reasoning(completion.text)
    reasoning = "\n".join(filter(None, (completion.reasoning.strip(), inside)))
    is_cut = completion.reasoning and not completion.text and completion.finish == "length"
    return reasoning, None if is_cut else answer


def skip_reasoning(text: str, position: int) -> int:
    """Return the end of the reasoning whose opening tag is at this position, or the position."""
    while begins := STARTS.match(text, position):
        position = _first_end(text, begins.end())
    return position


def _first_end(text: str, position: int) -> int:
    """Return the end of the first unquoted closing tag, or of the text."""
    marks = 0
    for tag in ENDS.finditer(text, position):
        _, line_break, line = text[position : tag.start()].rpartition("\n")
        marks = _marks(line) + (0 if line_break else marks)
        if marks % 2 == 0:
            return tag.end()
        position = tag.end()
    return len(text)


def _split(text: str, begin: int, ends: re.Pattern[str]) -> tuple[str, str | None]:
    """Split at the last of the ends. The reasoning starts at `begin`; 0: no marker says that there is any."""
    pieces = ends.split(text, MAX_ENDS)  # texts at even indices, tags between them at odd indices
    end, doubtful = _last_end(pieces[::2])
    doubtful = doubtful or bool(ends.search(pieces[-1]))
    if end is None:
        return (text[begin:].strip(), None) if begin else ("", None if doubtful else text)
    stop = sum(map(len, pieces[: 2 * end + 1]))
    return text[begin:stop].strip(), None if doubtful else text[stop + len(pieces[2 * end + 1]) :]


def _last_end(pieces: Sequence[str]) -> tuple[int | None, bool]:
    """Return the index of the piece before the last unquoted tag (or None), and whether a later tag is ambiguous."""
    end, doubtful, quoted, marks = None, False, False, 0
    for index, piece in enumerate(pieces):
        before, line_break, line = piece.rpartition("\n")
        if line_break:
            doubtful = doubtful or (quoted and (marks + _marks(before.partition("\n")[0])) % 2 == 1)
            quoted, marks = False, 0
        marks += _marks(line)
        if index == len(pieces) - 1:
            break
        if marks % 2 == 0:
            end, doubtful, quoted = index, False, False
        else:
            quoted = True
    return end, doubtful or (quoted and marks % 2 == 1)


def _marks(line: str) -> int:
    """Return the number of unescaped quotation marks."""
    return line.replace("\\\\", "").replace('\\"', "").count('"')


def last_value(label: str, text: str) -> str | None:
    """Return the value of the last `<label>: value` in an answer, in lower case without decoration.

    Invisible characters are left out, and white space of any kind is one space. None if there is no such line.
    """
    last = re.match(rf"(?s:.*)(?<![a-z0-9]){re.escape(label)}[*_`]{{0,4}} ?[:：]\s*", text, re.IGNORECASE)
    if not last:
        return None
    line, _, _ = text[last.end() :].partition("\n")
    line = " ".join(line.translate(INVISIBLE).split())
    return line.replace("\\boxed", "").rstrip(DECORATION + ".").lstrip(DECORATION).lower()


def without_remark(value: str, begins: str = " because ") -> str:
    """Return a value without the remark behind it, unless that may take the value back."""
    stated, _, remark = value.partition(begins)
    return value if CHANGES_VALUE.search(remark) else stated
