"""The paragraphs of an HTML page: what a reader sees of its main part, each paragraph below its headings.

By the parser of the standard library, which accepts any page; nothing is fetched and no script is run.
"""

from __future__ import annotations

from collections.abc import Mapping
from html.parser import HTMLParser

import regex

from excam.knowledge.prose import Outline, Prose

DROPPED = frozenset(
    {"script", "style", "template", "noscript", "svg", "math", "nav", "footer", "form", "button", "select", "iframe"}
    | {"object", "audio", "video", "canvas", "dialog", "textarea", "datalist", "noframes", "noembed"}
)
_VOID = frozenset(
    {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}
)
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_GROUPS = frozenset({"ul", "ol", "dl", "table"})  # one paragraph each, with a line for each item
_BLOCKS = frozenset(
    {"p", "div", "section", "article", "main", "header", "aside", "blockquote", "pre", "figure", "figcaption", "body"}
    | {"address", "details", "summary", "hgroup", "fieldset", "center", "hr", "li", "dt", "dd", "tr", "caption"}
    | {"thead", "tbody", "tfoot"}
)
# elements whose end tag may be left out: what begins, or ends around them, ends them
_ENDED_BY = {
    "p": _BLOCKS | _GROUPS | _HEADINGS.keys(),
    "li": frozenset({"li"}),
    **dict.fromkeys(("dt", "dd"), frozenset({"dt", "dd"})),
    **dict.fromkeys(("td", "th"), frozenset({"td", "th", "tr"})),
    "tr": frozenset({"tr"}),
}
# of an element's own style, lower-case, without blanks, comments and `!important`
_UNSEEN = regex.compile(
    r";(?:display:none|(?:content-)?visibility:(?:hidden|collapse)|opacity:[.0]+%?;|font:[.0]+\D|transform:scale\(0"
    r"|font-size:(?:[.0]+[a-z%]*|1(?:\.\d*)?p[xt]);|clip:rect|clip-path:(?:inset|circle)"
    r"|(?:left|right|top|bottom|inset|text-indent|margin|margin-\w+|transform|translate):[^;]*?(?:-\d{3}|\d{4}))"
)
_SMALL_BOX = regex.compile(r";(?:max-)?(?:width|height):[01](?:px)?;")
_NOT_IN_A_STYLE = regex.compile(r"/\*.*?\*/|\s+|!important", regex.S)
_COLOUR = regex.compile(r";(?:-webkit-text-fill-)?color:([^;]+)")
_BACKGROUND = regex.compile(r";background(?:-color)?:([^;]+)")
_BREAK = "\0"  # a line end that a reader sees, between pieces of text


def read_html(text: str, title: str) -> Prose:
    """Return the paragraphs of a page that a reader sees; those of `<main>` if it has one.

    Navigation, scripts and forms are left out, and elements that their own style hides (these are counted): what a
    reader does not see must not reach a judge. An element to be left out that never ends is kept.
    """
    dropped = DROPPED
    page = _parsed(text, title, dropped, only_main=False)
    while page.unclosed and page.unclosed in dropped:
        dropped -= {page.unclosed}
        page = _parsed(text, title, dropped, only_main=False)
    blocks = page.outline.blocks()
    if page.has_main:
        blocks = _parsed(text, title, dropped, only_main=True).outline.blocks() or blocks
    return Prose(blocks, page.stated, page.hidden)


def _is_hidden(attributes: Mapping[str, str]) -> bool:
    """Return whether an element's own attributes hide it: not shown, too small, off the page, in its ground's colour.

    The ground is white unless the element states another; style sheets are not read.
    """
    with_commas = regex.sub(r"(?<=[\d%])\s+(?=[\d.])", ",", attributes.get("style", ""))  # rgb(0 0 0)
    style = f";{_NOT_IN_A_STYLE.sub('', with_commas).lower()};"
    is_empty_box = ";overflow:hidden;" in style and _SMALL_BOX.search(style)
    if "hidden" in attributes or is_empty_box or _UNSEEN.search(style):
        return True
    colours = [*_COLOUR.findall(style), attributes.get("color", "").lower()]
    grounds = [*_BACKGROUND.findall(style), attributes.get("bgcolor", "").lower(), "white"]
    ground = next(_plain_colour(value) for value in grounds if value)
    return any(_plain_colour(value) in (ground, "transparent") for value in colours if value)


def _plain_colour(value: str) -> str:
    """Return a colour as #rrggbb, one that is not opaque at all as transparent, any other as it is."""
    if regex.fullmatch(r"rgba?\(.*[,/][.0]+%?\)", value) and value.count(",") + value.count("/") > 2:
        return "transparent"
    if regex.fullmatch("#[0-9a-f]{3}", value):
        return "#" + "".join(2 * digit for digit in value[1:])
    if numbers := regex.fullmatch(r"rgba?\((\d+),(\d+),(\d+).*\)", value):
        return "#" + "".join(f"{int(number):02x}" for number in numbers.groups())
    return {"white": "#ffffff", "black": "#000000"}.get(value, value)


def _parsed(text: str, title: str, dropped: frozenset[str], *, only_main: bool) -> _Page:
    page = _Page(title, dropped, only_main)
    page.feed(text.replace(_BREAK, ""))
    page.close()
    page.end_paragraph()
    return page


class _Page(HTMLParser):
    """Collects paragraphs and headings while it parses. `unclosed` names a dropped element that did not end; `hidden`
    counts those that their own attributes hide.
    """

    def __init__(self, title: str, dropped: frozenset[str], only_main: bool) -> None:
        super().__init__(convert_charrefs=True)
        self.outline, self.stated = Outline(title), dict[str, str]()
        self.has_main = False
        self.hidden = 0
        self._only_main, self._names = only_main, dropped
        self.unclosed = ""  # the dropped element that we are in
        self._open = self._open_groups = 0  # how many of its name, and lists and tables in it, are open
        self._main = self._groups = 0  # open elements
        self._level = 0  # of the heading that we are in
        self._in_title = False
        self._pieces: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = {name: value or "" for name, value in attrs}
        if self.unclosed and not (self._open_groups == 0 and tag in _ENDED_BY.get(self.unclosed, ())):
            self._open += tag == self.unclosed
            self._open_groups += tag in _GROUPS
            return
        self.unclosed = ""
        if tag in _VOID:
            self._void(tag, attributes)
        elif (is_hidden := _is_hidden(attributes)) or tag in self._names:
            self.hidden += is_hidden
            self._separate(tag)
            self.unclosed, self._open, self._open_groups = tag, 1, int(tag in _GROUPS)
        else:
            self._start(tag, attributes)

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        if tag == "html" and attributes.get("lang"):
            self.stated["language"] = attributes["lang"]
        self._in_title = self._in_title or (tag == "title" and "title" not in self.stated)
        self._separate(tag)
        if tag == "main":
            self.has_main, self._main = True, self._main + 1
        self._groups += tag in _GROUPS
        if tag in ("td", "th"):
            self._pieces.append(" | ")
        self._level = _HEADINGS.get(tag, self._level)

    def handle_endtag(self, tag: str) -> None:
        if self.unclosed and self._stays_unclosed(tag):
            return
        if tag == "title":
            self._in_title = False
        if tag in _GROUPS and self._groups:
            self._groups -= 1
        self._separate(tag)
        if tag in _HEADINGS:
            self._level = 0
        if tag == "main" and self._main:
            self._main -= 1

    def _stays_unclosed(self, tag: str) -> bool:
        """Return whether an end tag belongs to a dropped element, which it may end."""
        if tag == self.unclosed:
            self._open -= 1
            self.unclosed = self.unclosed if self._open else ""
            return True
        around = _GROUPS if self.unclosed != "p" else _BLOCKS | _GROUPS
        if tag in around and self._open_groups == 0 and self.unclosed in _ENDED_BY:
            self.unclosed = ""
            return False
        self._open_groups -= tag in _GROUPS and self._open_groups > 0
        return True

    def handle_data(self, data: str) -> None:
        if self._in_title:
            self.stated["title"] = " ".join(f"{self.stated.get('title', '')} {data}".split())
            self.outline.title = self.stated["title"] or self.outline.title
        elif not self.unclosed and (self._main or not self._only_main):
            self._pieces.append(data)

    def _void(self, tag: str, attributes: dict[str, str]) -> None:
        if tag == "br":
            self._pieces.append(_BREAK)
        elif tag == "img":
            self._pieces.append(" ")
        elif tag == "link" and attributes.get("rel", "").lower() in ("license", "canonical"):
            address = attributes.get("href", "").strip()
            self.stated["licence" if attributes["rel"].lower() == "license" else "url"] = _licence_name(address)
        elif tag == "meta" and attributes.get("name", "").lower() in (
            "license",
            "licence",
            "dc.rights",
            "dcterms.license",
        ):
            self.stated["licence"] = attributes.get("content", "").strip()
        else:
            self._separate(tag)

    def _separate(self, tag: str) -> None:
        """End the paragraph at a block element; within a list or table, only the line."""
        if tag in _HEADINGS or (tag in _BLOCKS and not self._groups) or (tag in _GROUPS and self._groups == 0):
            self.end_paragraph()
        elif tag in _BLOCKS or tag in _GROUPS:
            self._pieces.append(_BREAK)

    def end_paragraph(self) -> None:
        """Add the pieces of text since the last paragraph to the outline."""
        lines = [" ".join(line.split()) for line in "".join(self._pieces).split(_BREAK)]
        lines = [regex.sub(r"^(?:\|\s*)+|(?:\s*\|)+$", "", line) for line in lines]
        self._pieces.clear()
        if not (text := "\n".join(line for line in lines if line)):
            return
        if self._level:
            self.outline.heading(self._level, text.replace("\n", " "))
        else:
            self.outline.paragraph(text)


def _licence_name(address: str) -> str:
    """Return the SPDX identifier of an address of Creative Commons; any other text unchanged."""
    match = regex.search(r"creativecommons\.org/(?:licenses/([a-z-]+)|publicdomain/(zero))/([\d.]+)", address)
    return (f"CC-{match[1].upper()}-{match[3]}" if match[1] else f"CC0-{match[3]}") if match else address
