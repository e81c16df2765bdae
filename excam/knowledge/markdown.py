"""Markdown as prose: its paragraphs below their headings, and what its front matter states."""

from __future__ import annotations

import regex

from excam.knowledge.prose import Prose
from excam.knowledge.web_page import read_html

_FRONT_MATTER = regex.compile(r"---[ \t]*\n(?:(.*?)\n)?(?:---|\.\.\.)[ \t]*(?:\n|$)", regex.S)
_ENTRY = regex.compile(r"([A-Za-z]+)[ \t]*:[ \t]*(.*?)[ \t]*")
_NAMES = {"license": "licence", "lang": "language"}
_STATED = frozenset({"title", "url", "language", "licence", "revision", "culture", "source"})


def read_markdown(text: str, title: str) -> Prose:
    """Return the paragraphs of Markdown (CommonMark with tables). Its front matter may state licence, title, url ..."""
    from markdown_it import MarkdownIt

    stated, body = _front_matter(text)
    page = MarkdownIt("commonmark").enable(["table", "strikethrough"]).render(body)
    content = read_html(page, stated.get("title") or title)
    return Prose(content.blocks, dict(content.stated) | stated, content.left_out)


def _front_matter(text: str) -> tuple[dict[str, str], str]:
    """Return the entries of the block of YAML at the beginning that a document states of itself, and the rest."""
    text = text.replace("\r\n", "\n")
    if not (match := _FRONT_MATTER.match(text)):
        return {}, text
    stated = {}
    for line in (match[1] or "").split("\n"):
        if entry := _ENTRY.fullmatch(line):
            name = _NAMES.get(entry[1].lower(), entry[1].lower())
            if name in _STATED and (value := entry[2].strip("\"'").strip()):
                stated[name] = value
    return stated, text[match.end() :]
