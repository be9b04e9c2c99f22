"""A content becomes HTML: its text, the links in it, and the chrome of its site."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from html import escape
from urllib.parse import urlsplit

from dusty_web.prose import drawing, paragraphs
from dusty_web.site import Changes, Content, Shows, Site

_ORDERS = ("date", "author", "length")


@dataclass(frozen=True, slots=True)
class Fetch:
    """What a page that changes depends on: which URL was asked for, and how often before."""

    url: str
    nth: int


def page(site: Site, shows: Shows, fetch: Fetch) -> bytes:
    """The page as it is sent."""
    content = site.contents[shows.id]
    content = site.contents[content.copy_of] if content.copy_of else content
    if content.changes is Changes.EVERYTHING:
        text = _text(content, "text", site.seed, content.id, fetch.url, fetch.nth)
    else:
        text = _lasting_text(content, site.seed)
    parts = [_head(content), _masthead(site, content, shows), text, _links_in(site, content)]
    if content.changes is Changes.COUNTER:
        parts.append(f"<p class='count'>Read {_readers(site.seed, fetch)} times</p>\n")
    parts.append("<p>Printer friendly version</p>\n" if shows.for_print else _footer(site))
    body = "".join([*parts, "</body>\n</html>\n"]).encode()
    # Blank lines, as templates leave them.
    return body.removesuffix(b"</html>\n") + b"\n" * (content.size - len(body)) + b"</html>\n"


def notice(site: Site, heading: str, words: str) -> bytes:
    """A page that is none of the contents: an error, or what an action says when it is done."""
    head = f"<!DOCTYPE html>\n<html lang='en'>\n<head><meta charset='utf-8'><title>{heading}</title></head>\n<body>\n"
    return (head + _navigation(site) + f"<h1>{heading}</h1>\n<p>{words}</p>\n</body>\n</html>\n").encode()


def _head(content: Content) -> str:
    canonical = f"<link rel='canonical' href='{escape(content.canonical)}'>\n" if content.canonical else ""
    return (
        "<!DOCTYPE html>\n<html lang='en'>\n<head>\n<meta charset='utf-8'>\n"
        f"<title>{escape(content.title)}</title>\n{canonical}</head>\n<body>\n"
    )


def _masthead(site: Site, content: Content, shows: Shows) -> str:
    heading = f"<h1>{escape(content.title)}</h1>\n"
    if shows.for_print:
        return heading
    orders = sorted(_ORDERS, key=lambda order: order != shows.order)
    choices = "".join(f"<li>{order}</li>" for order in orders)
    menu = f"<p>Sort replies by</p>\n<ul class='menu'>{choices}</ul>\n" if content.sortable else ""
    return _navigation(site) + heading + menu


@cache
def _navigation(site: Site) -> str:
    items = "".join(f"<li><a href='{escape(url)}'>{text}</a></li>" for text, url in site.chrome.navigation)
    return f"<div class='masthead'>{site.chrome.name}</div>\n<ul class='nav'>{items}</ul>\n"


@cache
def _lasting_text(content: Content, seed: int) -> str:
    return _text(content, "text", seed, content.id)


def _text(content: Content, *key: object) -> str:
    written = paragraphs(drawing(*key), content.topic, content.words)
    return "<div class='text'>\n" + "".join(f"<p>{paragraph}</p>\n" for paragraph in written) + "</div>\n"


@cache
def _links_in(site: Site, content: Content) -> str:
    here = urlsplit(content.home).netloc
    items = []
    for url in site.links[content.id]:
        parts = urlsplit(url)
        is_relative = parts.netloc == here and not site.chrome.absolute_links
        address = url.removeprefix(f"http://{here}") if is_relative else url
        items.append(f"<li><a href='{escape(address)}'>{_label(parts.path)}</a></li>\n")
    return f"<ul class='see'>\n{''.join(items)}</ul>\n"


def _label(path: str) -> str:
    """What a link is called: the last words of its path."""
    last = path.rstrip("/").rpartition("/")[2].partition(";")[0].partition(".")[0]
    return escape(last.replace("-", " ").replace("_", " ") or "front page")


def _readers(seed: int, fetch: Fetch) -> int:
    return 40_000 + drawing(seed, "readers", fetch.url, fetch.nth).randrange(20_000)


def _footer(site: Site) -> str:
    return f"<div class='foot'>{' '.join(site.chrome.small_print.split())}</div>\n"
