"""Character classes for comparing texts."""

from __future__ import annotations

import regex

INVISIBLE = regex.compile(r"(?V1)[\p{DI}--[\U000e0020-\U000e007f]]")  # except tag characters, which distinguish flags
QUOTES = str.maketrans("‘’‛ʻʼ`´＇׳“”„‟＂״", "'" * 9 + '"' * 6)
SCRIPTS = r"\p{Han}\p{Hiragana}\p{Katakana}\p{scx=Hira}\p{scx=Kana}\p{Thai}\p{Khmer}\p{Lao}\p{Myanmar}"
