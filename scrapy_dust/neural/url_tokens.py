"""Splits URLs into tokens as the network reads them, and joins tokens to URLs again (paper §2.1).

Dynamic delimiters are tokens themselves; the static one, ``/``, is discarded. The paper names three of the former and
says "etc."; its table 3 shows ``.aspx`` apart from what precedes it. Scheme and host are one token each.

What is discarded is lost: ``/a`` and ``/a/`` are one sequence. Read *whole*, empty parts stay as tokens, and a
sequence gives its URL back.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

DYNAMIC = frozenset("?=&;#.,")
_PIECES = re.compile(r"([?=&;#.,])")
_AUTHORITY = re.compile(r"([^/?#]*)//([^/?#]*)")


def split_url(url: str, *, whole: bool = False) -> tuple[str, ...]:
    """The tokens of *url*; with *whole*, `join_tokens` makes exactly *url* of them again."""
    found = _AUTHORITY.match(url)
    if found is None or not DYNAMIC.isdisjoint(found.groups()):
        parts, rest = [], url
    else:
        parts, rest = found[0].split("/"), url[found.end() :]
        # The slash after the host is the one that `join_tokens` puts there.
        if rest[:1] == "/" and (rest[1:2] or "?") in DYNAMIC:
            parts.append("")
        rest = rest.removeprefix("/")
    for piece in _PIECES.split(rest):
        if piece in DYNAMIC:
            parts.append(piece)
        elif piece:
            parts += piece.split("/")
    return tuple(parts if whole else filter(None, parts))


def join_tokens(tokens: Iterable[str], *, whole: bool = False) -> str:
    """The URL that *tokens* spell, with a slash between two tokens that no dynamic delimiter separates.

    Without *whole*, two slashes stand between the scheme and the host.
    """
    text: list[str] = []
    delimited = True
    for token in tokens:
        delimits = token in DYNAMIC
        if not (delimited or delimits):
            text.append("/" if whole or len(text) > 1 or not text[0].endswith(":") else "//")
        text.append(token)
        delimited = delimits
    return "".join(text)
