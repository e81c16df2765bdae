"""Odd strings for `fuzzing`: many scripts, invisible and broken characters, markers, complete and truncated answers.

Everything is drawn from the generator that is passed in. Only what is named `whole` is sure to be a text that a file
can hold; the others may hold lone surrogates, as a model's answer may once its JSON escapes are read.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from random import Random

from excam.excam40k.construction import generator

USUAL = 60  # characters of most strings
LONGEST = 20_000  # characters of the few long ones
RARE = 1 / 5_000  # of strings are long
HUGE = "9" * 5_000  # digits of a number that Python refuses to read (sys.get_int_max_str_digits)


def span(first: int, last: int) -> list[str]:
    return [chr(code) for code in range(first, last + 1)]


MARKERS = [
    "{question}", "{options}", "{answer}", "{letter}", "{Instruction}", "{Text}", "{src}", "{gt}", "{MINOR/MAJOR}",
    "{}", "{0}", "%s", "%(answer)s", "\\1", "\\g<0>", "$1", "OUTPUT:", "OUTPUT :", "COUNT:", "Severity:", "Problem:",
    "Option A:", "<|im_start|>", "<|im_end|>", "<start_of_turn>", "</s>", "[INST]", "<|endoftext|>", "<think>",
    "</think>", "</THINKING>", "<script>alert(1)</script>", "<!--", '"><img src=x>', "'; DROP TABLE x; --", "../../etc",
]  # fmt: skip
JSON = [
    "{", "}", "[", "]", '"', ":", ",", "\\", "\\u", "\\ud800", "\\udc00", "\\u0000", "null", "true", "NaN", "-Infinity",
    "1e999", HUGE, "-", "0.1", '{"a":' * 20, "[" * 2000, "```json\n", "```", '{"errors": [', '"explanation": "',
    '{"errors": [], "explanation": ""}', '"where": "output"', '"severity": "major"',
    *(f'"{key}": "' for key in generator.KEYS),
]  # fmt: skip
TAGS = ["</think>", '"</think>"', '"</think>', "\n</think>\n", "<think>", "</thinking>", '\\"</think>']
EMOJI = ["👨‍👩‍👧", "👍🏽", "🇯🇵", "🇫", "1️⃣", "#️⃣", "❤️", "🏴󠁧󠁢󠁥󠁮󠁧󠁿", "🏳️‍🌈", "\u200d", "\ufe0f", "🏽", "😀", "𠮷", "𝒳"]
ALPHABETS: Sequence[Sequence[str]] = (
    [*"abcdeéßİıABC .,'’-_3 5", "the ", "don't ", "rice ", "U.S. ", "1,000", "3.14", "well-known ", "“tea” ", "\n"],
    [*"的一是不了人我在有他这中大来上国春节饺子，。、「」々", *span(0x4E00, 0x4E20), "𠮷", "３", "Ａ"],
    [*span(0x3041, 0x30FF), "日本", "。", "ー", "食べる"],
    [*span(0x0E01, 0x0E3A), *span(0x0E3F, 0x0E5B), "ภาษา", "น้ำ"],
    [*span(0x1780, 0x17DD), *span(0x17E0, 0x17E9), "ខ្មែរ"],
    [*span(0x0E81, 0x0EDF), "ລາວ", "ນ້ຳ"],
    [*span(0x1000, 0x109F), "မြန်မာ", "ထမင်း"],
    [*span(0x0600, 0x06FF), "العَرَبِيَّةُ ", " "],
    [*span(0x0591, 0x05F4), "צה״ל ", " "],
    [*span(0x0900, 0x097F), "क्षत्रिय ", "र्\u200dक"],
    [*span(0x0300, 0x036F), *"aeo "],
    [*span(0x1100, 0x1120), *span(0x1160, 0x1180), "한국", "ᄀ", "ㅤ"],
    [*span(0x200B, 0x200F), *span(0x2028, 0x202E), *span(0x2060, 0x2069), "\ufeff", "\u061c", "\u00ad", *"ab "],
    [*span(0x00, 0x1F), *span(0x7F, 0x9F), *"ab "],
    [*span(0xD800, 0xD803), *span(0xDC00, 0xDC03), *"ab 中"],
    [*EMOJI, " "],
    [*MARKERS, " ", "\n"],
    [*JSON, " ", "\n"],
)


def text(draw: Random) -> str:
    """Anything: of one to three alphabets, mostly short."""
    pool: list[str] = []
    for _ in range(1 + int(draw.random() * 3)):  # random() alone: this is much of what a case costs
        alphabet = ALPHABETS[int(draw.random() * len(ALPHABETS))]
        start = int(draw.random() * len(alphabet))
        pool += alphabet[start : start + 8]
    size = int(draw.random() * (LONGEST if draw.random() < RARE else USUAL))
    return "".join(draw.choices(pool, k=size))[:size]


def whole(draw: Random) -> str:
    """As `text`, without lone surrogates: samples never hold them, their readers refuse such rows."""
    return text(draw).encode("utf-8", "ignore").decode()


def mutated(draw: Random, original: str) -> str:
    """A copy with one to three places cut, doubled, moved, overwritten, or broken off there."""
    made = original
    for _ in range(draw.randint(1, 3)):
        start = draw.randint(0, len(made))
        end = min(len(made), start + draw.randint(0, 12))
        piece = made[start:end]
        new = draw.choice(("", piece * 2, piece[::-1], piece.swapcase(), draw.choice(draw.choice(ALPHABETS))))
        rest = "" if draw.random() < 0.1 else made[end:]
        made = made[:start] + new + rest
    return made


def answer(draw: Random, instruction: str, output: str) -> str:
    """What a model might say of these texts: an answer in one of the asked forms, as it should be or broken."""
    kind = draw.randrange(5)
    if kind == 0:
        return text(draw)
    if kind == 1:
        said = draw.choice(("COUNT: ", "Severity: ", "Problem: ")) + draw.choice(
            ("3", "minor", "no problem", "9" * 5000, "very problematic", "-1", "**2** errors", text(draw))
        )
        return mutated(draw, text(draw) + "\n" + said) if draw.random() < 0.5 else said
    made = (
        soft_answer(draw, instruction, output) if kind == 2 or kind == 3 else report_answer(draw, instruction, output)
    )
    if draw.random() < 0.4:
        made = mutated(draw, made)
    around = draw.randrange(10)
    if around == 0:
        return f"<think>{text(draw)}{made[:40]}</think>{made}"
    if around == 1:
        return text(draw) + made + text(draw)
    if around == 6:  # the tags that end thinking, anywhere
        return mutated(draw, f"<think>{draw.choice(TAGS)}</think>{made}").replace(",", draw.choice((",", *TAGS)))
    if around == 7:
        return "".join(draw.choice((made, "\ufeff", " ", "\n", "`", draw.choice(TAGS))) for _ in range(4))
    return {2: f"```json\n{made}\n```", 3: made * 2, 4: f'{{"a": {made}}}', 5: made[: len(made) // 2]}.get(around, made)


def soft_answer(draw: Random, instruction: str, output: str) -> str:
    values: dict[str, object] = dict.fromkeys(generator.KEYS, "")
    for key in generator.KEYS:
        values[key] = text(draw) if draw.random() < 0.5 else "incorrect information"
    values["Cultural Content"] = draw.choice(("Yes", "Yes.", "No", True, text(draw)))
    values["Severity"] = draw.choice(("minor", "Major", "minor, major", text(draw)))
    values["Modified Instruction"] = mutated(draw, instruction) if draw.random() < 0.7 else instruction
    values["Modified Generated Text"] = mutated(draw, output)
    if draw.random() < 0.1:
        values[draw.choice(generator.KEYS)] = draw.choice((None, 1, "@", [], ["a", "b"], {"a": [1]}, text(draw)))
    said = json.dumps(values, ensure_ascii=draw.random() < 0.5).replace('"@"', HUGE)
    return draw.choice(("OUTPUT:\n", "OUTPUT: ", "", text(draw) + " OUTPUT: ")) + said


def report_answer(draw: Random, instruction: str, output: str) -> str:
    errors = []
    for _ in range(draw.randint(0, 3)):
        where = draw.choice(("instruction", "output"))
        place = output if where == "output" else instruction
        start = draw.randint(0, len(place))
        part = place[start : start + draw.randint(0, 9)] if draw.random() < 0.7 else text(draw)
        level = draw.choice(("minor", "major", "Major ", "critical"))
        errors.append({"where": where, "span": part, "severity": level, "type": text(draw)})
    return json.dumps({"errors": errors, "explanation": text(draw)}, ensure_ascii=draw.random() < 0.5)
