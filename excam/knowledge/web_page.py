"""The paragraphs of an HTML page: what a reader sees of its main part, each paragraph below its headings.

By the parser of libxml2, which accepts any page; nothing is fetched and no script is run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Set
from typing import TYPE_CHECKING

import regex

from excam.knowledge.prose import Outline, Prose

if TYPE_CHECKING:
    from lxml.etree import _Element, iterwalk

DROPPED = frozenset(
    {"script", "style", "template", "noscript", "svg", "math", "nav", "footer", "form", "button", "select", "iframe"}
    | {"object", "audio", "video", "canvas", "dialog", "textarea", "datalist", "noframes", "noembed"}
)
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_GROUPS = frozenset({"ul", "ol", "dl", "table"})  # one paragraph each, with a line for each item
_BLOCKS = frozenset(
    {"p", "div", "section", "article", "main", "header", "aside", "blockquote", "pre", "figure", "figcaption", "body"}
    | {"address", "details", "summary", "hgroup", "fieldset", "center", "hr", "li", "dt", "dd", "tr", "caption"}
    | {"thead", "tbody", "tfoot"}
)
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
_BETWEEN = {"br": _BREAK, "img": " ", "td": " | ", "th": " | "}  # what a reader sees of an element, beside its text
_LINKS = {"license": "licence", "canonical": "url"}
_LICENCES = ("license", "licence", "dc.rights", "dcterms.license")  # names of `<meta>`


def read_html(text: str, title: str) -> Prose:
    """Return the paragraphs of a page that a reader sees; those of `<main>` if it has one.

    Navigation, scripts and forms are left out, and elements that their own style hides (these are counted): what a
    reader does not see must not reach a judge. An element to be left out that never ends is kept.
    """
    from lxml.etree import HTMLParser, fromstring, iterwalk

    parser = HTMLParser(encoding="utf-8", huge_tree=True, remove_comments=True, remove_pis=True)
    root = fromstring(text.replace(_BREAK, "").encode("utf-8", "replace") or b" ", parser)
    if root is None:  # there is no text and no element
        return Prose([])
    ends = Counter(tag.lower() for tag in regex.findall(r"</(\w+)", text))
    dropped = {tag for tag in DROPPED if sum(1 for _ in root.iter(tag)) <= ends[tag]}
    events = ("start", "end")
    page = _Page(iterwalk(root, events), title, dropped)
    blocks = page.outline.blocks()
    if root.find(".//main") is not None:
        blocks = _Page(iterwalk(root, events), title, dropped, only_main=True).outline.blocks() or blocks
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


class _Page:
    """Collects paragraphs, headings and what a page states while it walks over the starts and ends of elements.

    `hidden` counts elements that their own attributes hide.
    """

    def __init__(self, walk: iterwalk, title: str, dropped: Set[str], *, only_main: bool = False) -> None:
        self.outline, self.stated = Outline(title), dict[str, str]()
        self.hidden = 0
        self._main = int(not only_main)  # open elements, those of a list or table below
        self._groups = 0
        self._level = 0  # of the heading that we are in
        self._pieces: list[str] = []
        left_out = None
        for event, element in walk:
            if event == "start" and self._is_left_out(element, dropped):
                walk.skip_subtree()
                left_out = element
            elif event == "start":
                self._start(element.tag, element.attrib)
                self._add(element.text)
            else:
                if element is not left_out:
                    self._end(element.tag)
                self._add(element.tail)
        self.end_paragraph()

    def _is_left_out(self, element: _Element, dropped: Set[str]) -> bool:
        """Return whether no reader sees an element in the text. The title is kept, and stands above it."""
        if element.tag == "title" and (title := " ".join((element.text or "").split())):
            self.outline.title = self.stated.setdefault("title", title)
        if element.tag in ("title", "br", "img", "link", "meta"):
            return element.tag == "title"
        is_hidden = _is_hidden(element.attrib)
        self.hidden += is_hidden
        if is_hidden or element.tag in dropped:
            self._separate(element.tag)
        return is_hidden or element.tag in dropped

    def _add(self, text: str | None) -> None:
        if text and self._main:
            self._pieces.append(text)

    def _start(self, tag: str, attributes: Mapping[str, str]) -> None:
        self._separate(tag)
        self._main += tag == "main"
        self._groups += tag in _GROUPS
        self._level = _HEADINGS.get(tag, self._level)
        self._pieces.append(_BETWEEN.get(tag, ""))
        if tag == "html" and attributes.get("lang"):
            self.stated["language"] = attributes["lang"]
        elif tag == "link" and (name := _LINKS.get(attributes.get("rel", "").lower())):
            self.stated[name] = _licence_name(attributes.get("href", "").strip())
        elif tag == "meta" and attributes.get("name", "").lower() in _LICENCES:
            self.stated["licence"] = attributes.get("content", "").strip()

    def _end(self, tag: str) -> None:
        self._groups -= tag in _GROUPS
        self._separate(tag)
        self._level = 0 if tag in _HEADINGS else self._level
        self._main -= tag == "main"

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
