"""Odd strings, drawn: many scripts, invisible and broken characters, lone surrogates, markers, huge numbers."""

from __future__ import annotations

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
