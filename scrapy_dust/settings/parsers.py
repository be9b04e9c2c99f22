"""Parsers of settings: each function takes the text or object that a user gave for a setting, and returns the value.

An impossible value raises `WrongValue`, which says how a right value looks.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any


class WrongValue(Exception):
    """An error that says what a setting's value should have been."""


def switch(value: object) -> bool:
    """Parse *value* as True or False; "yes", "no", "1" and "0" will do."""
    if isinstance(value, bool):
        return value
    answer = {"1": True, "true": True, "yes": True, "0": False, "false": False, "no": False}
    try:
        return answer[str(value).strip().lower()]
    except KeyError:
        raise WrongValue("True or False") from None


def integer(least: int, most: int | None = None) -> Callable[[object], int]:
    """A parser of integers from *least* to *most*."""

    def parse(value: object) -> int:
        """The integer that *value* is, or is the text of."""
        said = f"an integer of at least {least}" + (f" and at most {most}" if most is not None else "")
        if isinstance(value, bool) or not isinstance(value, (int, str)):
            raise WrongValue(said)
        try:
            number = int(value)
        except ValueError:
            raise WrongValue(said) from None
        if number < least or (most is not None and number > most):
            raise WrongValue(said)
        return number

    return parse


def share(value: object) -> float:
    """Parse *value* as a number from 0 to 1."""
    try:
        number = float(str(value))
    except ValueError:
        raise WrongValue("a number from 0 to 1") from None
    if not 0 <= number <= 1:
        raise WrongValue("a number from 0 to 1")
    return number


def seconds(value: object) -> float:
    """Parse *value* as a number of seconds."""
    try:
        number = float(str(value))
    except ValueError:
        raise WrongValue("a number of seconds") from None
    if isinstance(value, bool) or not 0 <= number < 1e9:
        raise WrongValue("a number of seconds")
    return number


def string_dict(value: object) -> dict[str, Any]:
    """Parse *value* as a dict with string keys, or as JSON of one."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError:
            raise WrongValue("a dict with string keys") from None
    if not isinstance(value, Mapping) or not all(isinstance(name, str) for name in value):
        raise WrongValue("a dict with string keys")
    return dict(value)


def choice(*known: str) -> Callable[[object], str]:
    """A parser of one of the *known* words."""

    def parse(value: object) -> str:
        """*value*, if it is a known word."""
        if value not in known:
            raise WrongValue("one of " + ", ".join(repr(name) for name in known))
        return str(value)

    return parse


def string_list(value: object) -> tuple[str, ...]:
    """Parse *value* as a list of strings, as JSON of one, or as text with commas."""
    if isinstance(value, str):
        text = value.strip()
        if text.startswith("["):
            try:
                value = json.loads(text)
            except ValueError:
                raise WrongValue("a list of strings") from None
        else:
            value = [part.strip() for part in text.split(",") if part.strip()]
    if not isinstance(value, (list, tuple)) or not all(isinstance(name, str) for name in value):
        raise WrongValue("a list of strings")
    return tuple(value)


def host_list(value: object) -> tuple[str, ...]:
    """Parse *value* as a list of host names, such as ``shop.example``."""
    said = "a list of hosts such as 'shop.example.com'"
    try:
        found = string_list(value)
    except WrongValue:
        raise WrongValue(said) from None
    if any(not host or set(host) & set("/ @?#*") for host in found):
        raise WrongValue(said)
    return found


#: Parts of a request that may tell requests for one page apart, beside keys of their meta.
_CLASS_PARTS = ("callback", "cb_kwargs", "any_headers", "any_cookies")


def class_parts(value: object) -> tuple[str, ...]:
    """Parse *value* of ``DUST_CLASS_BY``: the parts of a request, such as its callback, that tell requests apart."""
    found = string_list(value)
    if not all(name in _CLASS_PARTS or name.partition("meta:")[2] for name in found):
        raise WrongValue("a list of `callback`, `cb_kwargs`, `meta:NAME`, `any_headers` and `any_cookies`")
    return found


def selector_list(value: object) -> tuple[str, ...]:
    """Parse *value* as a list of CSS selectors."""
    found = string_list(value)
    if found:
        # Not loaded where nothing is ignored.
        from selectolax.lexbor import LexborHTMLParser, SelectolaxError  # noqa: PLC0415

        page = LexborHTMLParser("<p>")
        for selector in found:
            try:
                page.css(selector)
            except SelectolaxError:
                raise WrongValue(f"a list of CSS selectors (what is wrong is {selector!r})") from None
    return found


def text(value: object) -> str:
    """Parse *value* as a string that is not empty."""
    if not isinstance(value, str) or not value:
        raise WrongValue("a non-empty string")
    return value


#: The resemblance of near-duplicates where a project names no other; `judge.judging` asks as much of two pages.
NEAR = 0.9


def near_thresholds(value: object) -> Mapping[str, float | None]:
    """Parse *value* of ``DUST_CONTENT_NEAR``: by site the resemblance from which on two pages are near-duplicates,
    None to compare nothing; ``*`` is every other site.
    """
    if isinstance(value, str) and value.lstrip().startswith("{"):
        try:
            value = json.loads(value)
        except ValueError:
            value = None
    by_site = value if isinstance(value, Mapping) else {"*": value}
    return MappingProxyType({str(site): _parse_resemblance(one) for site, one in by_site.items()})


def _parse_resemblance(value: object) -> float | None:
    """The threshold that *value* says for one site: True is the usual one, False is None."""
    said = "True, False, a number above 0.5 and at most 1, or a dict of these by site"
    if str(value).strip().lower() in ("true", "yes", "1.0", "1") and value is not None:
        return NEAR if isinstance(value, (bool, str)) else 1.0
    if str(value).strip().lower() in ("false", "no", "none", "0"):
        return None
    try:
        resemblance = share(value)
    except WrongValue:
        resemblance = 0.0
    if resemblance <= 0.5:
        raise WrongValue(said)
    return resemblance


def component(value: object) -> Any:
    """Any *value*: a component's class, or the import path by which Scrapy loads the class."""
    return value
