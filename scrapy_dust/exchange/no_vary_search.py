r"""Writes and reads the response header ``No-Vary-Search: params=("sid" "ref")``, as browsers' caches read it.

Strings are those of RFC 9651: printable ASCII, with ``\"`` and ``\\``. The names are percent-decoded ones.
"""

from __future__ import annotations

import re
from urllib.parse import quote, unquote_plus

from scrapy_dust.exchange.headings import heading, lines_by_site
from scrapy_dust.exchange.site_parts import Part
from scrapy_dust.exchange.transfer import Collected, Entries, Exported, Imported, Unsaid, names_by_site
from scrapy_dust.rules.rule import Rule

_HEADER = re.compile(r"(?:No-Vary-Search\s*:)?\s*(.*)", re.IGNORECASE)
_STRING = r'"((?:[^"\\]|\\["\\])*)"'
_LIST = rf"\(\s*((?:{_STRING}\s*)*)\)"
_MEMBER = re.compile(
    rf"\s*(key-order|params|except)\s*(?:=\s*(?:\?(?P<switch>[01])|(?P<list>{_LIST})))?\s*(?:,|$)"
)


def export(entries: Entries) -> Exported:
    """A ``No-Vary-Search`` header for each site, with the parameters that rules leave out."""
    unsaid: list[Unsaid] = []
    lines: list[str] = []
    found = names_by_site(entries, unsaid, "No-Vary-Search can only leave parameters out")
    for site, names in found.items():
        said: list[str] = []
        for name, entry in names:
            # What a cache compares are decoded names; another spelling of the same would be another name for us.
            if all(" " <= char <= "~" for char in name) and decoded_alike(name):
                said.append(name)
            else:
                unsaid.append(Unsaid(f"{site}: {entry.rule}", "a name of No-Vary-Search is decoded ASCII"))
        if said:
            strings = " ".join('"' + re.sub(r'(["\\])', r"\\\1", name) + '"' for name in said)
            lines += [heading(site), f"No-Vary-Search: params=({strings})", ""]
    return Exported("\n".join(lines), tuple(unsaid))


def decoded_alike(name: str) -> bool:
    """Whether percent-decoding leaves *name* unchanged."""
    return unquote_plus(name) == name


def read(text: str, sites: tuple[str, ...]) -> Imported:
    """The rules of ``No-Vary-Search`` headers, one a line."""
    collected = Collected(sites)
    for number, meant, line in lines_by_site(text, sites):
        header = _HEADER.fullmatch(line)
        members = _members(header[1]) if header else None
        what = f"line {number}, {line}"
        if members is None:
            collected.leave(what, "it is no No-Vary-Search header")
        elif not meant:
            collected.leave(what, "the file does not say whose header it is; name the site with --site")
        else:
            _collect_rules(collected, meant, members, what)
    collected.leave_queries()
    return collected.imported()


def _collect_rules(
    collected: Collected, sites: tuple[str, ...], members: dict[str, object], what: str
) -> None:
    """Collect the rules that a header with these *members* means for *sites*. *what*: the line, for messages."""
    # The order of parameters says nothing to Scrapy's fingerprints either: key-order needs no rule.
    params, kept = members.get("params"), members.get("except", [])
    for site in sites:
        part = Part(site)
        rules: list[Rule] = []
        if params is True and isinstance(kept, list):
            rules = part.with_only(frozenset(map(_encoded, kept)))
        elif isinstance(params, list):
            rules = [rule for name in params for rule in part.without(_encoded(name))]
        for rule in rules:
            collected.take(site, rule, what)


def _encoded(name: str) -> str:
    """The *name* of a parameter percent-encoded, as URLs have it."""
    return quote(name, safe="!$'()*,-./:;=?@_~[]|^`{}\\\"<>")


def _members(value: str) -> dict[str, object] | None:
    """The members of the dictionary in the header; None where the header is no dictionary."""
    members: dict[str, object] = {}
    at = 0
    while at < len(value):
        match = _MEMBER.match(value, at)
        if match is None or match.end() == at:
            return None
        if match["list"] is not None:
            strings = re.findall(_STRING, match["list"])
            members[match[1]] = [re.sub(r"\\(.)", r"\1", string) for string in strings]
        else:
            members[match[1]] = match["switch"] != "0"
        at = match.end()
    return members or None


def is_no_vary_search(text: str) -> bool:
    """Whether *text* mentions a ``No-Vary-Search`` header."""
    return "no-vary-search" in text.lower()
