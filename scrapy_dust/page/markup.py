"""Reads HTML: visible text, title, canonical URL, links and language.

Text that a browser with scripts does not show is left out. An inline element does not end a word (``<b>H</b>ello``),
so that a page and its copy with highlighted search terms have the same words.

A document that could cost the parser too much (`scrapy_dust.page.nesting`) is not parsed. Its tags are cut out in one
pass, and it has no canonical URL and no links.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from html import unescape
from types import ModuleType
from typing import TYPE_CHECKING

from selectolax.lexbor import LexborHTMLParser

from scrapy_dust.page.addresses import absolute
from scrapy_dust.page.nesting import is_tangled

if TYPE_CHECKING:
    from scrapy_dust.page.unit_reading import Described
    from scrapy_dust.page.wording import Said

#: A record is no place for a title longer than this.
MAX_TITLE = 1000

_UNSEEN = "script|style|noscript|template|iframe|noembed|noframes"
_INLINE = (
    "a|abbr|acronym|b|bdi|bdo|big|cite|code|data|del|dfn|em|font|i|ins|kbd|mark|nobr|q|s|samp|small"
    "|span|strike|strong|sub|sup|time|tt|u|var|wbr"
)
# These patterns end at the end of the text at the latest, so that matching is linear in it.
_UNSEEN_TEXT = rf"!--.*?(?:-->|\Z)|((?i:{_UNSEEN}|title))\b.*?(?:</(?i:\1)|\Z)[^>]*>?"
_ATTRIBUTES = r"(?:=\s*+(?:\"[^\"]*+(?:\"|\Z)|'[^']*+(?:'|\Z))|[^>])*+>?"
# Of the elements of a document; of others too.
_START_TAG = re.compile(r"<([a-zA-Z]+)")
_CUT = re.compile(
    rf"<(?:{_UNSEEN_TEXT}|/?(?i:{_INLINE})(?=[\s/>]){_ATTRIBUTES}|(?P<gap>/?[a-zA-Z]{_ATTRIBUTES}|[!?/][^>]*+>?))",
    re.DOTALL,
)
_TITLE = re.compile(r"<title\b[^<>]*+>([^<]*+)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Document:
    """The text, title, links and units of an HTML document."""

    text: str  #: visible, its white space as it came
    title: str | None = None  #: white space collapsed; None: none, or empty
    canonical: str | None = None  #: absolute; None: none, or several that disagree
    outlinks: int | None = None  #: elements ``a`` with ``href``
    language: str | None = None  #: lower case
    headings: str | None = None  #: of the first rank; None: not asked for, or not known
    units: Described | None = field(default=None, repr=False)  #: None: not asked for


def unit_reading() -> ModuleType:
    """The module that makes units. It is imported only when units are wanted, since it loads numpy."""
    from scrapy_dust.page import unit_reading  # noqa: PLC0415  As said.

    return unit_reading


def read_markup(
    markup: str, url: str, encoding: str, *, closely: bool = False, ignore: Sequence[str] | None = None
) -> Document:
    """The text and the links of an HTML document, and more if asked for. Never raises. *encoding*: the one in which
    queries of its URLs are written.

    *closely*: read headings too. *ignore*: read units too, without elements that one of these CSS selectors
    selects; None: read no units.
    """
    if is_tangled(markup):
        units = None if ignore is None else unit_reading().units_of_tangled(markup, url, encoding, ignore)
        return replace(_cut(markup), units=units)
    # With scripting, as browsers have it, what a noscript holds does not end the head.
    tree = LexborHTMLParser(markup, scripting=True)
    # Each name costs a walk through the tree.
    names = {name.lower() for name in set(_START_TAG.findall(markup))}
    canonical = _canonical(tree, url, encoding) if "link" in names else None
    outlinks = len(tree.css("a[href]")) if "a" in names else 0
    title = _title(tree) if "title" in names else None
    language = _language(tree)
    written = _written(tree, markup, ignore) if ignore is not None else ""
    units = None if ignore is None else unit_reading().units_of_markup(written, url, encoding)
    headings = " ".join(node.text() for node in tree.css("h1")) if closely else None
    tree.strip_tags([name for name in _UNSEEN.split("|") if name in names], recursive=True)
    tree.unwrap_tags([name for name in _INLINE.split("|") if name in names], delete_empty=True)
    tree.merge_text_nodes()
    text = tree.body.text(separator=" ") if tree.body is not None else ""
    return Document(text, title, canonical, outlinks, language, headings, units)


def said_in(markup: str, url: str, encoding: str, ignore: Sequence[str]) -> Said | None:
    """The words of an HTML document, without ignored elements; None if it is too tangled."""
    if is_tangled(markup):
        return None
    tree = LexborHTMLParser(markup, scripting=True)
    return unit_reading().said_in_markup(_written(tree, markup, ignore), url, encoding)  # type: ignore[no-any-return]


def _cut(markup: str) -> Document:
    """The text and the title of a document that is too tangled to parse, by cutting its tags out."""
    text = _CUT.sub(lambda tag: " " if tag["gap"] else "", markup)
    title = _TITLE.search(markup)
    return Document(unescape(text), title=_collapsed(unescape(title[1])) if title else None)


def _written(tree: LexborHTMLParser, markup: str, ignore: Sequence[str]) -> str:
    """The document as the parser writes it, without the ignored elements."""
    if ignore:
        # Its words are counted all the same.
        tree = LexborHTMLParser(markup, scripting=True)
        for selector in ignore:
            for node in tree.css(selector):
                node.decompose()
    return tree.html or ""


def _title(tree: LexborHTMLParser) -> str | None:
    for node in tree.tags("title"):
        # Drawings have titles of their own.
        if node.parent is not None and node.parent.tag in {"head", "body"}:
            return _collapsed(node.text())
    return None


def _canonical(tree: LexborHTMLParser, url: str, encoding: str) -> str | None:
    """The canonical URL that a document names, absolute; None if it names none or several."""
    hrefs = [
        node.attributes.get("href") or ""
        for node in tree.css("link[rel][href]")
        if "canonical" in (node.attributes.get("rel") or "").lower().split()
    ]
    if not hrefs:
        return None
    base = tree.css_first("base[href]")
    base_href = (base.attributes.get("href") or "") if base is not None else ""
    targets = {absolute(url, base_href, href, encoding) for href in hrefs} - {None}
    return targets.pop() if len(targets) == 1 else None


def _language(tree: LexborHTMLParser) -> str | None:
    declared = tree.root.attributes.get("lang") if tree.root is not None else None
    return (declared or "").strip().lower()[:35] or None


def _collapsed(text: str) -> str | None:
    return " ".join(text.split())[:MAX_TITLE] or None
