"""HTML to visible text, title, canonical URL, links and language.

What a browser with scripts on does not show of a document's text is left out. A word does not end where only
an inline element does (``<b>H</b>ello``), so that a page and its copy with highlighted search terms have the
same words.

A parser that holds to the HTML standard can be made to work with the square of the open tags, and to
multiply them: 2,000 unclosed ``<b>`` around as many ``<p>`` cost this one seconds and a gigabyte, a million
``<div>`` hours. So tags are counted first, and a document that leaves more than `MAX_OPEN_TAGS` open is not
parsed; its tags are cut out, in one pass, and it has no canonical URL and no links to tell of.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from html import unescape
from urllib.parse import urljoin

from selectolax.lexbor import LexborHTMLParser
from w3lib.html import strip_html5_whitespace
from w3lib.url import safe_url_string

#: Deep documents have some tens of tags open at once, and browsers stop at 512.
MAX_OPEN_TAGS = 1000
#: A record is no place for a title longer than this.
MAX_TITLE = 1000

_UNSEEN = "script|style|noscript|template|iframe|noembed|noframes"
_INLINE = (
    "a|abbr|acronym|b|bdi|bdo|big|cite|code|data|del|dfn|em|font|i|ins|kbd|mark|nobr|q|s|samp|small"
    "|span|strike|strong|sub|sup|time|tt|u|var|wbr"
)
# What has no end tag, or may do without.
_UNENDED = (
    "area|base|body|br|circle|col|dd|dt|ellipse|embed|frame|head|hr|html|img|input|li|line|link|meta|option|p"
    "|param|path|polygon|polyline|rect|source|stop|tbody|td|tfoot|th|thead|tr|track|use|wbr"
)
_UNENDED_NAMES = frozenset(_UNENDED.split("|"))
# These patterns end at the end of the text at the latest, so that matching is linear in it.
_UNSEEN_TEXT = rf"!--.*?(?:-->|\Z)|((?i:{_UNSEEN}|title))\b.*?(?:</(?i:\1)|\Z)[^>]*>?"
_ATTRIBUTES = r"(?:=\s*+(?:\"[^\"]*+(?:\"|\Z)|'[^']*+(?:'|\Z))|[^>])*+>?"
_TAG = re.compile(rf"<(?:{_UNSEEN_TEXT}|(/?)([a-zA-Z][^\s/>]*))", re.DOTALL)
_CUT = re.compile(
    rf"<(?:{_UNSEEN_TEXT}|/?(?i:{_INLINE})(?=[\s/>]){_ATTRIBUTES}|(?P<gap>/?[a-zA-Z]{_ATTRIBUTES}|[!?/][^>]*+>?))",
    re.DOTALL,
)
_TITLE = re.compile(r"<title\b[^<>]*+>([^<]*+)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Document:
    """What an HTML document says."""

    text: str  #: visible, its white space as it came
    title: str | None = None  #: white space collapsed; None: none, or empty
    canonical: str | None = None  #: absolute; None: none, or several that disagree
    outlinks: int | None = None  #: elements ``a`` with ``href``
    language: str | None = None  #: lower case


def read_markup(markup: str, url: str, encoding: str) -> Document:
    """Never raises. *url* is the document's; *encoding* is what the queries of its URLs are written in."""
    if _tangled(markup):
        return _cut(markup)
    # With scripting, as browsers have it, what a noscript holds does not end the head.
    tree = LexborHTMLParser(markup, scripting=True)
    canonical = _canonical(tree, url, encoding)
    outlinks = len(tree.css("a[href]"))
    title = _title(tree)
    language = _language(tree)
    tree.strip_tags(_UNSEEN.split("|"), recursive=True)
    tree.unwrap_tags(_INLINE.split("|"), delete_empty=True)
    tree.merge_text_nodes()
    text = tree.body.text(separator=" ") if tree.body is not None else ""
    return Document(text, title, canonical, outlinks, language)


def _tangled(markup: str) -> bool:
    """Whether more than `MAX_OPEN_TAGS` are open at once, each end tag closing one of its name."""
    if markup.count("<") - markup.count("</") <= MAX_OPEN_TAGS:
        return False
    unclosed: Counter[str] = Counter()
    in_all = 0
    for _, end, found in _TAG.findall(markup):
        name = found.lower()
        if end and unclosed[name]:
            unclosed[name] -= 1
            in_all -= 1
        elif name and not end and name not in _UNENDED_NAMES:
            unclosed[name] += 1
            in_all += 1
            if in_all > MAX_OPEN_TAGS:
                return True
    return False


def _cut(markup: str) -> Document:
    text = _CUT.sub(lambda tag: " " if tag["gap"] else "", markup)
    title = _TITLE.search(markup)
    return Document(unescape(text), title=_collapsed(unescape(title[1])) if title else None)


def _title(tree: LexborHTMLParser) -> str | None:
    for node in tree.css("title"):
        # Drawings have titles of their own.
        if node.parent is not None and node.parent.tag in {"head", "body"}:
            return _collapsed(node.text())
    return None


def _canonical(tree: LexborHTMLParser, url: str, encoding: str) -> str | None:
    hrefs = [
        node.attributes.get("href") or ""
        for node in tree.css("link[rel][href]")
        if "canonical" in (node.attributes.get("rel") or "").lower().split()
    ]
    if not hrefs:
        return None
    base = tree.css_first("base[href]")
    base_href = (base.attributes.get("href") or "") if base is not None else ""
    targets = {_absolute(url, base_href, href, encoding) for href in hrefs} - {None}
    return targets.pop() if len(targets) == 1 else None


def _absolute(url: str, base: str, href: str, encoding: str) -> str | None:
    """As Scrapy would request it; None for what is no http(s) URL."""
    href = strip_html5_whitespace(href)
    if not href:
        return None
    try:
        absolute = safe_url_string(urljoin(urljoin(url, strip_html5_whitespace(base)), href), encoding)
    except ValueError:
        return None
    return absolute if absolute.startswith(("http://", "https://")) else None


def _language(tree: LexborHTMLParser) -> str | None:
    root = tree.css_first("html")
    declared = root.attributes.get("lang") if root is not None else None
    return (declared or "").strip().lower()[:35] or None


def _collapsed(text: str) -> str | None:
    return " ".join(text.split())[:MAX_TITLE] or None
