"""Rewrite an almost-JSON object as strict JSON, where it has one meaning. Linear time; nothing is evaluated.

Only tokens are rewritten: the strict decoder that gets the result checks the grammar and bounds the depth. What may be
read in two ways is left alone. A string that holds its own quotation mark leaves a word behind it, which the grammar
refuses. Keys with different marks hint at a mark inside a value, and a comment with brackets or marks may be content.
"""

from __future__ import annotations

import re
from functools import partial

REPAIRED = (  # what `rewrite` repairs
    "quotes",  # single or typographic marks around a string, or none around a key
    "comma",  # one before a closing bracket
    "comment",
    "literal",  # None, True, False
    "punctuation",  # a full-width colon or comma
    "escape",  # \' or \x41 in a string
    "white-space",  # a no-break space, for instance, between tokens
)
LONGEST = 1_000_000  # characters of an object that is rewritten
LITERALS = {"None": "null", "True": "true", "False": "false"}
FULL_WIDTH = {"：": ":", "，": ","}
BRACKETS = {"{": "}", "[": "]"}

DOUBLE, SINGLE = "“”„‟", "‘’‚‛"  # a string that one of them opens is closed by any of its kind
MARKS = {'"': '"', "'": "'", **dict.fromkeys(DOUBLE, "“"), **dict.fromkeys(SINGLE, "‘")}
ANY_MARK = f"[{''.join(MARKS)}]"
BLANK = r"[\s\u200b\u2060\ufeff]"
KEY = re.compile(
    rf"(?:{ANY_MARK}{{1,2}}(?P<key>\w{{1,64}}+){ANY_MARK}{{1,2}}|(?P<bare>[^\W\d]\w{{,63}}+))(?={BLANK}*+[:：])"
)
TOKEN = re.compile(
    "|".join(
        (
            rf"(?P<blank>{BLANK}++)",
            r"(?P<mark>[{}\[\],:：，])",
            r"(?P<word>-?\w[\w.+-]*+)",
            r"(?P<comment>(?://|#)[^\r\n{}\[\]\"“”]*+(?=[\r\n])|/\*(?:[^*{}\[\]\"“”]|\*(?!/))*+\*/)",
            *(
                rf"[{begin}](?P<{name}>(?:[^{end}\\]++|\\.)*+)[{end}]"
                for name, begin, end in (
                    ("string", '"', '"'),
                    ("single", "'", "'"),
                    ("typographic", DOUBLE, DOUBLE + '"'),
                    ("single_typographic", SINGLE, SINGLE + "'"),
                )
            ),
        )
    ),
    re.DOTALL,
)
UNUSUAL = re.compile(r"\\x([0-9a-fA-F]{2})|\\.|\"", re.DOTALL)  # in a string


def rewrite(text: str, start: int) -> tuple[str, int, set[str]] | None:
    """Return the object that begins at `start` in strict JSON, its end, and what was repaired. None: not clear."""
    out: list[str] = []
    closing: list[str] = []
    repaired: set[str] = set()
    key_marks: set[str] = set()
    position = start
    while position - start < LONGEST:
        is_key = closing[-1:] == ["}"] and out[-1] in ("{", ",")
        token = (KEY.match(text, position) if is_key else None) or TOKEN.match(text, position)
        if not token:
            return None
        position = token.end()
        strict = _strict(token, repaired)
        if is_key and strict.startswith('"'):
            key_marks.add(MARKS.get(token[0][0], ""))
        if strict in BRACKETS:
            closing.append(BRACKETS[strict])
        elif strict in BRACKETS.values():
            if not closing or closing.pop() != strict:
                return None
            if out[-1] == "," and out[-2] not in ("{", "[", ",", ":"):
                del out[-1]
                repaired.add("comma")
        if strict:
            out.append(strict)
        if not closing:
            return (" ".join(out), position, repaired) if len(key_marks) < 2 else None
    return None


def _strict(token: re.Match[str], repaired: set[str]) -> str:
    """Return a token in strict JSON, empty for a blank or a comment; add to `repaired` what is repaired."""
    written, kind = token[0], str(token.lastgroup)
    if kind == "blank":
        repaired |= {"white-space"} if written.strip(" \t\r\n") else set()
        return ""
    if kind == "comment":
        repaired.add("comment")
        return ""
    if kind in ("mark", "word"):
        strict = FULL_WIDTH.get(written) or LITERALS.get(written) or written
        if strict != written:
            repaired.add("punctuation" if kind == "mark" else "literal")
        return strict
    strict = f'"{UNUSUAL.sub(partial(_usual, repaired), token[kind])}"'
    if written[0] != '"' or len(written) > len(token[kind]) + 2:
        repaired.add("quotes")
    return strict


def _usual(repaired: set[str], match: re.Match[str]) -> str:
    """Return an escape as JSON writes it, and a quotation mark, which a string with other marks may hold bare."""
    if match[1] or match[0] == "\\'":
        repaired.add("escape")
        return f"\\u00{match[1]}" if match[1] else "'"
    return '\\"' if match[0] == '"' else match[0]
