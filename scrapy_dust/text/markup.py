"""HTML to visible text, title, canonical URL, links and language.

What a browser with scripts on does not show of a document's text is left out. A word does not end where only
an inline element does (``<b>H</b>ello``), so that a page and its copy with highlighted search terms have the
same words.

A document that could cost the parser too much (`scrapy_dust.text.nesting`) is not parsed; its tags are cut out,
in one pass, and it has no canonical URL and no links to tell of.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from html import unescape
from urllib.parse import urljoin

from selectolax.lexbor import LexborHTMLParser

from scrapy_dust.text.nesting import is_tangled

#: A record is no place for a title longer than this.
MAX_TITLE = 1000

_SHOWING = "img, source, video, audio, embed, object, iframe, input[type=image]"
_HOST = re.compile(r"(?:https?:)?//[^/\s,]+", re.IGNORECASE)
_SHOWN = frozenset({"src", "srcset", "srcdoc", "data", "poster"})

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
_WHITE = " \t\n\r\f"
#: URLs of which w3lib leaves each character as it is.
_SAFE = re.compile(
    r"https?://(?![^/?:]{61})(?:[a-z0-9]{1,30}[.-])*[a-z0-9]{1,30}(?::[1-9][0-9]{0,3})?/[A-Za-z0-9._~/-]*+(?:\?[A-Za-z0-9._~=&-]++)?"
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
    headings: str | None = None  #: of the first rank; None: not asked for, or not known
    shown: tuple[str, ...] | None = (
        None  #: what is shown besides text, as the document names it; None: as above
    )


def read_markup(markup: str, url: str, encoding: str, *, closely: bool = False) -> Document:
    """Never raises. *url* is the document's; *encoding* is what the queries of its URLs are written in.

    *closely*: with its headings, and what it shows besides text.
    """
    if is_tangled(markup):
        return _cut(markup)
    # With scripting, as browsers have it, what a noscript holds does not end the head.
    tree = LexborHTMLParser(markup, scripting=True)
    # Each name costs a walk through the tree.
    names = {name.lower() for name in set(_START_TAG.findall(markup))}
    canonical = _canonical(tree, url, encoding) if "link" in names else None
    outlinks = len(tree.css("a[href]")) if "a" in names else 0
    title = _title(tree) if "title" in names else None
    language = _language(tree)
    shown = _shown(tree) if closely else None
    headings = " ".join(node.text() for node in tree.css("h1")) if closely else None
    tree.strip_tags([name for name in _UNSEEN.split("|") if name in names], recursive=True)
    tree.unwrap_tags([name for name in _INLINE.split("|") if name in names], delete_empty=True)
    tree.merge_text_nodes()
    text = tree.body.text(separator=" ") if tree.body is not None else ""
    return Document(text, title, canonical, outlinks, language, headings, shown)


def _cut(markup: str) -> Document:
    text = _CUT.sub(lambda tag: " " if tag["gap"] else "", markup)
    title = _TITLE.search(markup)
    return Document(unescape(text), title=_collapsed(unescape(title[1])) if title else None)


def _shown(tree: LexborHTMLParser) -> tuple[str, ...]:
    """Two pages of one text, each around a picture of its own, are two pages.

    Without hosts: sites spread their pictures over several, and some by chance (WordPress its avatars).
    """
    named = (
        f"{name}={_HOST.sub('', value)}"
        for node in tree.css(_SHOWING)
        for name, value in node.attributes.items()
        if value and (name in _SHOWN or name.startswith("data-"))
    )
    return tuple(named)


def _title(tree: LexborHTMLParser) -> str | None:
    for node in tree.tags("title"):
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
    href = href.strip(_WHITE)
    if not href:
        return None
    try:
        absolute = _safe(urljoin(urljoin(url, base.strip(_WHITE)), href), encoding)
    except ValueError:
        return None
    return absolute if absolute.startswith(("http://", "https://")) else None


def _safe(url: str, encoding: str) -> str:
    if _SAFE.fullmatch(url):
        return url
    # Not loaded for those: it brings TLS and HTTP, 9 MB of the process beside a crawl.
    from w3lib.url import safe_url_string  # noqa: PLC0415

    return safe_url_string(url, encoding)


def _language(tree: LexborHTMLParser) -> str | None:
    declared = tree.root.attributes.get("lang") if tree.root is not None else None
    return (declared or "").strip().lower()[:35] or None


def _collapsed(text: str) -> str | None:
    return " ".join(text.split())[:MAX_TITLE] or None
