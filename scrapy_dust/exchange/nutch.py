"""Writes and reads Apache Nutch's ``regex-normalize.xml``, which StormCrawler reads too.

Each of our rules goes out as expressions that hold their site. Nutch makes each replacement once; with
``urlnormalizer.loop.count`` it goes on until nothing changes, as we do.

What comes in is what we wrote; session ids and the like, whose names are spelled out; and literal texts. The latter
two are meant for all sites.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from xml.etree import ElementTree
from xml.sax.saxutils import escape

from scrapy_dust.exchange.expressions import Expression, Piece, expressions_of, rule_of
from scrapy_dust.exchange.finite_expressions import texts_of
from scrapy_dust.exchange.transfer import Collected, Entries, Exported, Imported, Unsaid, each_rule
from scrapy_dust.rules.parameters import DropParameter
from scrapy_dust.rules.rule import Rule
from scrapy_dust.rules.strict_json import Damaged
from scrapy_dust.rules.substitution import Substitute

_NOTE = """\
<!-- Rules of scrapy-dust. Each replacement is made once: set urlnormalizer.loop.count to 10 or so. -->
"""

# Between a parameter's separator and its value, as people write it: (?i)(;?\b_?(sid|jsessionid)=.*?)(\?|&|#|$)
_PARAMETER = re.compile(
    r"(?:\(\?i\))?\(?(?:\[[?&;|\\]+\]|\([?&;|\\]+\)|\\b|[?&;]|\\\?)*(?P<names>.+?)="
    r"(?:\.\*\??|\[\^[&;#?\\]+\][*+]\??|\[a-zA-Z0-9\](?:[*+]|\{\d+\}))\)?(?:\((?:\\.|[^\\()])*\))?"
)
_GROUPS_ONLY = re.compile(r"(?:\$[0-9])*")


def export(entries: Entries) -> Exported:
    """A ``regex-normalize.xml`` that does the same as the rules."""
    unsaid: list[Unsaid] = []
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', _NOTE + "<regex-normalize>"]
    for site, entry in each_rule(entries):
        found = expressions_of(site, entry.rule)
        if isinstance(found, str):
            unsaid.append(Unsaid(f"{site}: {entry.rule}", found))
        elif not all(
            _survives_xml(text) for one in found for text in (one.pattern, *map(str, one.replacement))
        ):
            unsaid.append(Unsaid(f"{site}: {entry.rule!s}", "XML has no such character"))
        else:
            lines += [_xml_element(one) for one in found]
    lines.append("</regex-normalize>\n")
    return Exported("\n".join(lines), tuple(unsaid))


def _xml_element(one: Expression) -> str:
    """The element of the XML file that holds one expression."""
    pattern, replacement = escape(one.pattern), escape(java_replacement(one.replacement))
    return f"<regex>\n  <pattern>{pattern}</pattern>\n  <substitution>{replacement}</substitution>\n</regex>"


def _survives_xml(text: str) -> bool:
    """Whether a reader of XML gets *text* back unchanged."""
    # Blanks at an end would be lost by readers that strip.
    return text == text.strip() and all(char >= " " and not "\ud800" <= char <= "\udfff" for char in text)


def java_replacement(pieces: Iterable[Piece]) -> str:
    """The replacement text of *pieces* in Java's syntax."""
    return "".join(
        f"${piece}" if isinstance(piece, int) else re.sub(r"([\\$])", r"\\\1", piece) for piece in pieces
    )


def pieces_of(replacement: str) -> tuple[Piece, ...]:
    """The texts and group numbers of a *replacement* in Java's syntax."""
    pieces: list[Piece] = []
    for match in re.finditer(r"\$([0-9])|\\?(.)", replacement, re.DOTALL):
        if match[1]:
            pieces.append(int(match[1]))
        elif pieces and isinstance(pieces[-1], str):
            pieces[-1] += match[2]
        else:
            pieces.append(match[2])
    return tuple(pieces)


def read(content: bytes, sites: tuple[str, ...]) -> Imported:
    """The rules of a Nutch normalizer file. Raises `Damaged` where the file is no such XML."""
    # As text: in an encoding that the file declares, what is refused here could be spelled in other bytes.
    text = _decoded(content)
    # Entities are what XML bombs are made of, and the format has no use for them.
    if "<!DOCTYPE" in text or "<!ENTITY" in text:
        raise Damaged("the XML declares a document type, which this format has none of")
    try:
        root = ElementTree.fromstring(text)  # noqa: S314  Entities are refused above.
    except (ElementTree.ParseError, ValueError) as error:
        raise Damaged(f"it is not XML ({error})") from None
    if root.tag != "regex-normalize":
        raise Damaged(f"the root must be <regex-normalize>, got <{root.tag}>")
    collected = Collected(sites)
    for one in root.iter("regex"):
        pattern, replacement = one.findtext("pattern") or "", one.findtext("substitution") or ""
        _collect_rules(collected, pattern, replacement)
    return collected.imported()


def _decoded(content: bytes) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.decode("latin-1")


def _collect_rules(collected: Collected, pattern: str, replacement: str) -> None:
    """Collect the rules that replace matches of *pattern* by *replacement*."""
    # An empty text is no piece, and a rule that leaves something out has one.
    pieces = pieces_of(replacement)
    for ours in (pieces, (*pieces, "")) if pieces else (("",),):
        known = rule_of(Expression(pattern, ours))
        if known is not None:
            collected.take(*known, pattern)
            return
    names = _parameters_left_out(pattern) if _GROUPS_ONLY.fullmatch(replacement) else None
    if names:
        collected.take_everywhere((Rule.of(DropParameter(name)) for name in names), pattern)
        return
    texts = texts_of(pattern)
    if texts is None or any(isinstance(piece, int) for piece in pieces):
        collected.leave(pattern, "its expression stands for too many texts")
        return
    beta = "".join(map(str, pieces))
    collected.take_everywhere((Rule.of(Substitute(text, beta)) for text in texts if text != beta), pattern)


def _parameters_left_out(pattern: str) -> tuple[str, ...] | None:
    """The names of the parameters that *pattern* leaves out; None where it is no such pattern."""
    # Whoever writes an expression of thousands of characters did not mean a list of names.
    match = _PARAMETER.fullmatch(pattern) if len(pattern) <= 500 else None
    names = texts_of(match["names"]) if match else None
    return names if names and all(re.fullmatch(r"[\w.~-]+", name, re.ASCII) for name in names) else None
