"""Headings for text formats that name no site: a comment ``# site: example.org`` names the site of the lines below it."""

from __future__ import annotations

import re
from collections.abc import Iterator

_HEADING = re.compile(r"#\s*site:\s*(\S+)\s*", re.IGNORECASE)


def heading(site: str) -> str:
    """The comment line that names *site*."""
    return f"# site: {site}"


def lines_by_site(text: str, sites: tuple[str, ...]) -> Iterator[tuple[int, tuple[str, ...], str]]:
    """Each line of *text* that is no comment, with its number and its sites. A comment names the sites
    of the lines below it; before the first comment, they are *sites*.
    """
    meant = sites
    for number, line in enumerate(text.splitlines(), start=1):
        stripped = line.strip()
        found = _HEADING.fullmatch(stripped)
        if found:
            meant = (found[1].lower(),)
        elif stripped and not stripped.startswith("#"):
            yield number, meant, stripped
