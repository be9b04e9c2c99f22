"""What an answer holds, in full: all its text, links, media, fields and data.

This is the benchmark's own description of a page. It must not use any part of scrapy_dust, because it judges scrapy_dust.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from typing import NamedTuple
from urllib.parse import urldefrag, urljoin

from lxml import etree, html

LINKS = {("a", "href"), ("area", "href"), ("form", "action"), ("link", "href"), ("button", "formaction")}
MEDIA = {
    *(
        (tag, "src")
        for tag in ("img", "iframe", "frame", "audio", "video", "source", "embed", "track", "input")
    ),
    *((tag, "srcset") for tag in ("img", "source")),
    ("object", "data"),
    ("video", "poster"),
    ("body", "background"),
}
FIELDS = {"value", "content", "title", "alt", "datetime", "placeholder", "checked", "selected"}
#: What the names of further fields begin with.
_FIELDS = ("data-", "item", "property")
_CSS_URL = re.compile(r"url\(\s*['\"]?([^'\")]+)")
_LITERAL = re.compile(r"\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'|\d+(?:\.\d+)?")
_CHARSET = re.compile(r"charset=[\"']?([\w-]+)", re.IGNORECASE)


class Unit(NamedTuple):
    """One thing that a spider may take from a page."""

    kind: str  #: text, link, media, field, data or binary
    place: str  #: tags, ids and classes from the root, without positions
    spot: str  #: the same with positions
    value: str

    @property
    def what(self) -> tuple[str, str]:
        return self.kind, self.value


def units_of(body: bytes, content_type: str, url: str) -> list[Unit]:
    """Everything that *body* holds, in its order."""
    head = body[:2000].lstrip().lower()
    if "html" in content_type or head.startswith((b"<!doctype html", b"<html")):
        return list(_html(body, content_type, url))
    if content_type.startswith("text/") or "xml" in content_type or "json" in content_type:
        lines = body.decode(_encoding(content_type, body), "replace").splitlines()
        return [
            Unit("text", "line", f"line {n}", line.strip()) for n, line in enumerate(lines) if line.strip()
        ]
    return [Unit("binary", "body", "body", hashlib.sha1(body).hexdigest())]


def digest_of(units: list[Unit]) -> str:
    return hashlib.sha1(
        "\n".join(f"{unit.kind}\t{unit.place}\t{unit.value}" for unit in units).encode()
    ).hexdigest()


def _encoding(content_type: str, body: bytes) -> str:
    found = _CHARSET.search(content_type) or _CHARSET.search(body[:2000].decode("latin-1"))
    try:
        return found[1] if found and "".encode(found[1]) == b"" else "utf-8"
    except LookupError:
        return "utf-8"


def _html(body: bytes, content_type: str, url: str) -> Iterator[Unit]:
    parser = html.HTMLParser(encoding=_encoding(content_type, body), huge_tree=True)
    try:
        root = html.document_fromstring(body or b"<p></p>", parser=parser)
    except etree.ParserError:
        return
    base = root.find(".//base[@href]")
    base_url = urljoin(url, base.get("href")) if base is not None else url
    waiting = [(root, "", "")]
    while waiting:
        element, place, spot = waiting.pop()
        if not isinstance(element.tag, str):
            continue
        place, spot = place + "/" + _name(element), spot + "/" + element.tag
        yield from _of_element(element, place, spot, base_url)
        counts: dict[str, int] = {}
        for child in element:
            tag = child.tag if isinstance(child.tag, str) else "!"
            counts[tag] = counts.get(tag, 0) + 1
            waiting.append((child, place, f"{spot}[{tag}{counts[tag]}]"))
            if (tail := _squeezed(child.tail)) and element.tag not in {"script", "style"}:
                yield Unit("text", place, f"{spot}[{tag}{counts[tag]}]+", tail)


def _name(element: html.HtmlElement) -> str:
    named = "".join(f".{one}" for one in sorted((element.get("class") or "").split()))
    return f"{element.tag}#{element.get('id')}{named}" if element.get("id") else element.tag + named


def _of_element(element: html.HtmlElement, place: str, spot: str, base: str) -> Iterator[Unit]:
    if element.tag == "script":
        yield from _script(element, place, spot)
    elif element.tag == "style":
        yield from (
            Unit("media", place, spot, _target(base, one)) for one in _CSS_URL.findall(element.text or "")
        )
    elif text := _squeezed(element.text):
        yield Unit("text", place, spot, text)
    for name, value in element.items():
        kind = _kind(element.tag, name)
        for one in _values(name, value) if kind else ():
            filled = one.strip() if kind == "field" else _target(base, one)
            yield Unit(kind, f"{place}@{name}", f"{spot}@{name}", filled)


def _kind(tag: str, name: str) -> str:
    if (tag, name) in LINKS:
        return "link"
    if (tag, name) in MEDIA or name == "style":
        return "media"
    named = name == "name" and tag != "a"
    return "field" if named or name in FIELDS or name.startswith(_FIELDS) else ""


def _values(name: str, value: str) -> list[str]:
    """The single values of an attribute."""
    if name == "style":
        return _CSS_URL.findall(value)
    if name == "srcset":
        return [one.split()[0] for one in value.split(",") if one.strip()]
    return [value]


def _script(element: html.HtmlElement, place: str, spot: str) -> Iterator[Unit]:
    text = element.text or ""
    if "json" in (element.get("type") or ""):
        try:
            yield from (
                Unit("data", f"{place}:{path}", spot, value) for path, value in _leaves(json.loads(text))
            )
            return
        except (ValueError, RecursionError):
            pass
    for number, literal in enumerate(_LITERAL.findall(text)):
        yield Unit("data", place, f"{spot}:{number}", literal)


def _leaves(tree: object) -> Iterator[tuple[str, str]]:
    waiting = [("", tree)]
    while waiting:
        path, one = waiting.pop()
        if isinstance(one, dict):
            waiting += [(f"{path}.{key}", value) for key, value in one.items()]
        elif isinstance(one, list):
            waiting += [(f"{path}[]", value) for value in one]
        else:
            yield path, str(one)


def _squeezed(text: str | None) -> str:
    return " ".join((text or "").split())


def _target(base: str, value: str) -> str:
    try:
        return urldefrag(urljoin(base, value.strip())).url
    except ValueError:
        return value.strip()
