"""Families of language models: a judge may favour texts of its own family (self-bias)."""

from __future__ import annotations

import re
import unicodedata
from functools import cache

from excam.core.package_tables import table_rows

_WORD = re.compile(r"(?<![a-z])o[134](?![a-z0-9])|[a-z]+")  # letters between digits and punctuation; o1 is a name


@cache
def _families() -> dict[str, str]:
    lines = table_rows("excam.scoring", "families.tsv")[1:]
    return {word: family for family, words in lines for word in words.split()}


def families(name: str) -> frozenset[str]:
    """Return the families in a model's name: deepseek and qwen for "DeepSeek-R1-Distill-Qwen-7B".

    Empty for a name without a known word. Case, digits and punctuation do not matter: Qwen2.5, qwen_3 and ｑｗｅｎ are
    the same family.
    """
    plain = unicodedata.normalize("NFKC", name).casefold()
    return frozenset(_families()[word] for word in _WORD.findall(plain) if word in _families())
