"""Regular expressions of other people's files that stand for a few texts: they are spelled out, never run.

So no file can make us run an expression that takes for ever, and what becomes a rule is what a person can read.
"""

from __future__ import annotations

from itertools import product

#: More texts than these are too many to be meant as a list.
MOST = 64

_PLAIN_ESCAPES = frozenset(".-_/?&=;:,!%@#+*()[]{}|^$~ \"'<>\\")
_SPECIAL = frozenset("^$.*+{}[]()|\\?")


class _Infinite(Exception):
    """The expression matches more texts than can be spelled out."""


def texts_of(pattern: str) -> tuple[str, ...] | None:
    """All texts that a regular expression matches, in its order; None where there are too many, or the
    expression is not understood.

    Understood are literals, escaped punctuation, groups, alternatives, small classes, and ``?``.
    """
    try:
        found, end = _alternatives(pattern, 0, 0)
    except (_Infinite, IndexError):
        return None
    return tuple(dict.fromkeys(found)) if end == len(pattern) else None


def _alternatives(pattern: str, at: int, depth: int) -> tuple[list[str], int]:
    """The texts that the alternatives of *pattern* match from position *at* on, and the position behind them. *depth*:
    of groups.
    """
    if depth > 10:
        raise _Infinite
    found, at = _sequence(pattern, at, depth)
    while at < len(pattern) and pattern[at] == "|":
        more, at = _sequence(pattern, at + 1, depth)
        found = _few(found + more)
    return found, at


def _sequence(pattern: str, at: int, depth: int) -> tuple[list[str], int]:
    """The texts that a sequence of items in *pattern* matches from position *at* on, and the position behind it."""
    found = [""]
    while at < len(pattern) and pattern[at] not in "|)":
        item, at = _item(pattern, at, depth)
        if pattern[at : at + 1] == "?":
            if pattern[at + 1 : at + 2] in ("?", "+"):
                raise _Infinite
            item, at = [*item, ""], at + 1
        if len(found) * len(item) > MOST:
            raise _Infinite
        found = [a + b for a, b in product(found, item)]
    return found, at


def _item(pattern: str, at: int, depth: int) -> tuple[list[str], int]:
    """The texts that one item of *pattern* matches, such as a character or a group, and the position behind it."""
    char = pattern[at]
    if char == "(":
        begin = at + 3 if pattern.startswith("(?:", at) else at + 1
        if pattern[begin] == "?":
            raise _Infinite
        found, at = _alternatives(pattern, begin, depth + 1)
        if pattern[at] != ")":
            raise _Infinite
        return found, at + 1
    if char == "[":
        return _bracket_class(pattern, at + 1)
    if char == "\\":
        if pattern[at + 1] not in _PLAIN_ESCAPES:
            raise _Infinite
        return [pattern[at + 1]], at + 2
    if char in _SPECIAL:
        raise _Infinite
    return [char], at + 1


def _bracket_class(pattern: str, at: int) -> tuple[list[str], int]:
    """The characters of the class in brackets whose inside begins at position *at*, and the position behind it."""
    if pattern[at] in "^]":
        raise _Infinite
    found: list[str] = []
    while pattern[at] != "]":
        if pattern[at] == "\\":
            at += 1
            if pattern[at] not in _PLAIN_ESCAPES:
                raise _Infinite
        elif pattern[at] == "[":
            raise _Infinite
        if pattern[at + 1] == "-" and pattern[at + 2] != "]":
            raise _Infinite  # a range is a class of many
        found.append(pattern[at])
        at += 1
    return _few(found), at + 1


def _few(found: list[str]) -> list[str]:
    """*found*, unless there are too many texts to spell out: then `_Infinite` is raised."""
    if len(found) > MOST:
        raise _Infinite
    return found
