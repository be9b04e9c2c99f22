"""Writes and reads Yandex's ``Clean-param`` in robots.txt: ``Clean-param: sid[&ref …] [/path]``.

The directive names parameters of a query. It may stand anywhere in robots.txt, since it belongs to no user agent.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from scrapy_dust.exchange.headings import heading, lines_by_site
from scrapy_dust.exchange.site_parts import Part, path_conditions
from scrapy_dust.exchange.transfer import Collected, Entries, Exported, Imported, Unsaid, names_by_site

#: "The maximum length of the rule is 500 characters."
_LONGEST = 500

_DIRECTIVE = re.compile(r"clean-param\s*:\s*(\S+)(?:\s+(\S+))?\s*(?:#.*)?", re.IGNORECASE)
_NAME = re.compile(r"[!-~]+")


def export(entries: Entries) -> Exported:
    """``Clean-param`` lines for the parameters that rules leave out."""
    unsaid: list[Unsaid] = []
    lines: list[str] = []
    found = names_by_site(entries, unsaid, "Clean-param can only leave parameters out")
    for site, names in found.items():
        said = [name for name, _ in names if _NAME.fullmatch(name)]
        unsaid += [
            Unsaid(f"{site}: {entry.rule}", "robots.txt has no such character in a name")
            for name, entry in names
            if not _NAME.fullmatch(name)
        ]
        if said:
            lines += [heading(site), *directives(said), ""]
    return Exported("\n".join(lines), tuple(unsaid))


def directives(names: list[str]) -> Iterator[str]:
    """The lines that name all *names*, as few as their greatest length allows."""
    begin = "Clean-param: "
    line = begin
    for name in names:
        longer = f"{line}&{name}" if line != begin else f"{begin}{name}"
        if len(longer) > _LONGEST and line != begin:
            yield line
            longer = f"{begin}{name}"
        line = longer
    if line != begin:
        yield line


def read(text: str, sites: tuple[str, ...]) -> Imported:
    """The rules of the ``Clean-param`` lines of a robots.txt. All other lines are ignored."""
    collected = Collected(sites)
    for number, meant, line in lines_by_site(text, sites):
        match = _DIRECTIVE.fullmatch(line)
        if match is None:
            continue
        names, path = match[1], match[2]
        what = f"line {number}, {line}"
        conditions = path_conditions(_path_prefix(path))
        if conditions is None:
            collected.leave(what, "it is about a part of a site that cannot be said")
        elif not meant:
            collected.leave(what, "the file does not say whose robots.txt it is; name the site with --site")
        else:
            for site in meant:
                part = Part(site, (conditions,) if conditions else ())
                for name in filter(None, names.split("&")):
                    for rule in part.without(name):
                        collected.take(site, rule, what)
    collected.leave_queries()
    return collected.imported()


def _path_prefix(path: str | None) -> str:
    """The prefix of the paths that a directive with *path* is about."""
    # A * at the end says what a prefix says anyway.
    return (path or "/").rstrip("*") or "/"


def is_clean_param(text: str) -> bool:
    """Whether *text* has a ``Clean-param`` line."""
    return any(_DIRECTIVE.fullmatch(line.strip()) for line in text.splitlines())
