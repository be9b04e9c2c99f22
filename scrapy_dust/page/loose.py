"""Reads markup without a parser, as tokens that nest: XML, and HTML that is too tangled to parse.

An end tag ends the last open element of its name, and the elements inside; an end tag without such an element is
skipped. Elements nested deeper than `MAX_DEPTH` are not told apart. No entity and no document type is expanded or
loaded.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import islice

from scrapy_dust.page.emissions import RAW, VOID
from scrapy_dust.page.nesting import ATTRIBUTES, MAX_ATTRIBUTES
from scrapy_dust.page.paths import MAX_DEPTH

#: A tag as the parser would write it, without its brackets, and the text after it.
Token = tuple[str, str]
#: The tag of a token that is no element, so that only its text counts.
_NOTHING = "!"

_XML = re.compile(
    rf"<(?:(/?[^\s/>!?<][^\s/>]*+)({ATTRIBUTES})>?|!--.*?(?:-->|\Z)|!\[CDATA\[(.*?)(?:\]\]>|\Z)|[!?][^>]*+>?|)([^<]*+)",
    re.DOTALL,
)
_HTML = re.compile(
    rf"<(?:(?=[snixpSNIXP])((?i:{'|'.join(RAW)}))(?=[\s/>])({ATTRIBUTES})>?(.*?)(?:</(?i:\1)(?=[\s/>])[^>]*+>?|\Z)"
    rf"|(/?[a-zA-Z][^\s/>]*+)({ATTRIBUTES})>?|!--.*?(?:-->|\Z)|[!?/][^>]*+>?|)([^<]*+)",
    re.DOTALL,
)
_ATTRIBUTE = re.compile(r"([^\s=/]++)(?:\s*+=\s*+(?:\"([^\"]*+)\"?|'([^']*+)'?|([^\s]++)))?")
_SIMPLE = re.compile(r"\s*(?=[A-Za-z#.])([A-Za-z][\w-]*)?((?:[#.][\w-]+)*)\s*")
_PART, _NAMED = re.compile(r"[#.][\w-]+"), re.compile(r" (id|class)=\"([^\"]*)\"")
_URL = re.compile(r"\s*+((?:https?:/)?/[^\s<>\"/][^\s<>\"]*+)\s*+", re.IGNORECASE)


def xml_tokens(text: str) -> list[Token]:
    """The tokens of XML. An element that contains nothing but a URL gets the URL as an attribute."""
    return list(_nested(_of_xml(text), frozenset()))


def html_tokens(markup: str, ignore: Sequence[str] = ()) -> tuple[list[Token], list[str]]:
    """The tokens of HTML, and the contents of raw elements.

    *ignore*: CSS selectors of elements that are left out. Without a tree only selectors count that name one element
    by its tag name, id and classes, such as ``div.ad``.
    """
    contents: list[str] = []
    tokens = _nested(_of_html(markup, contents), VOID)
    wanted = [found for selector in ignore if (found := _SIMPLE.fullmatch(selector))]
    return list(_without(tokens, wanted, contents) if wanted else tokens), contents


def _without(
    tokens: Iterable[Token], ignore: Sequence[re.Match[str]], contents: list[str]
) -> Iterator[Token]:
    """*tokens* without the elements that *ignore* names, whose *contents* are removed too."""
    depth = 0
    for tag, text in tokens:
        name = tag.partition(" ")[0]
        is_ignored = depth > 0 or any(_is_of(selector, name, tag) for selector in ignore)
        if not is_ignored:
            yield tag, text
            continue
        if name in RAW:
            contents.pop()
        if name[0] == "/":
            depth -= 1
        elif name not in VOID and name != _NOTHING:
            depth += 1
        if not depth:  # what comes after the element
            yield _NOTHING, text


def _is_of(selector: re.Match[str], name: str, tag: str) -> bool:
    """Whether the start tag *tag*, of an element *name*, fits *selector*."""
    if (selector[1] or name).lower() != name or name[0] in "/!":
        return False
    said = dict(_NAMED.findall(tag))
    classes = said.get("class", "").split()
    return all(
        part[1:] == said.get("id") if part[0] == "#" else part[1:] in classes
        for part in _PART.findall(selector[2])
    )


def _of_xml(text: str) -> Iterator[Token]:
    """The tags of XML, each with the text after it."""
    for tag, attributes, cdata, after in _XML.findall(text):
        if not tag:
            yield _NOTHING, cdata.replace("&", "&amp;") + after
        elif tag[0] == "/":
            yield tag, after
        else:
            url = _URL.fullmatch(after)
            said = f' text="{url[1]}"' if url else ""
            yield tag + _written(attributes) + said, "" if url else after
            if attributes.rstrip().endswith("/"):
                yield f"/{tag}", ""


def _of_html(markup: str, contents: list[str]) -> Iterator[Token]:
    """The tags of HTML, each with the text after it. The contents of raw elements are appended to *contents*."""
    for raw, raw_attributes, content, tag, attributes, after in _HTML.findall(f"<>{markup}"):
        if raw:
            contents.append(content)
            yield raw.lower() + _written(raw_attributes), ""
            yield f"/{raw.lower()}", after
        elif not tag:
            yield _NOTHING, after
        else:
            yield tag.lower() + ("" if tag[0] == "/" else _written(attributes)), after


def _written(attributes: str) -> str:
    """*attributes* as the parser writes them; where several have one name, the first."""
    found: dict[str, str] = {}
    for name, *values in islice(_ATTRIBUTE.findall(attributes), MAX_ATTRIBUTES):
        found.setdefault(name.replace('"', "").lower(), "".join(values).replace('"', "&quot;"))
    return "".join([f' {name}="{value}"' for name, value in found.items() if name])


def _nested(tokens: Iterable[Token], void: Collection[str]) -> Iterator[Token]:
    """*tokens* with an end tag for each element, and no deeper than the parser goes."""
    still_open: list[str] = []
    for tag, text in tokens:
        name = tag.partition(" ")[0]
        if name[0] == "/":
            if name[1:] not in still_open:
                yield _NOTHING, text
                continue
            while still_open[-1] != name[1:]:
                yield f"/{still_open.pop()}", ""
            still_open.pop()
            yield tag, text
        elif name == _NOTHING or name in void:
            yield tag, text
        elif len(still_open) < MAX_DEPTH:
            still_open.append(name)
            yield tag, text
        else:
            yield tag, ""
            yield f"/{name}", text
    yield from ((f"/{name}", "") for name in reversed(still_open))
