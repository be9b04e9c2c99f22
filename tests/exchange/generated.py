"""URLs and rules by the thousand, from a seed: what round trips are tried on."""

from __future__ import annotations

import random
from collections.abc import Iterator

from scrapy_dust.rules.json_rules import check_rule
from scrapy_dust.rules.parameters import DropParameter, SetParameter
from scrapy_dust.rules.rule import Rule
from scrapy_dust.rules.substitution import Substitute

SITES = ("a.example", "b-c.example", "127.0.0.1:8000")
NAMES = ("sid", "utm_source", "id", "l", "p[]", "x.y", "S", "ref~", "a b", "é", "q$", "n(1)")
VALUES = ("1", "12", "en", "", "a;b", "a.b", "%20", "x y", "$1", "*")
SEGMENTS = (
    "index.html",
    "story",
    "a",
    "print",
    "1",
    "12",
    "~me",
    "people",
    "x.php",
    "a-b",
    "",
    "$HOME",
    "(1)",
    "[x]",
)


def some_urls(seed: int, count: int) -> Iterator[str]:
    chance = random.Random(seed)
    for _ in range(count):
        site = chance.choice(SITES)
        host = site if site[0].isdigit() else chance.choice(("", "", "www.", "m.")) + site
        path = "/".join(chance.choice(SEGMENTS) for _ in range(chance.randint(0, 3)))
        if chance.random() < 0.1:
            path += f";{_pair(chance)}"
        query = chance.choice("&&&;").join(_pair(chance) for _ in range(chance.randint(0, 3)))
        fragment = chance.choice(("", "", "", "#top", "#a?sid=1"))
        scheme = chance.choice(("http", "https"))
        yield f"{scheme}://{host}/{path}{'?' if query or chance.random() < 0.05 else ''}{query}{fragment}"


def _pair(chance: random.Random) -> str:
    name = chance.choice(NAMES)
    return name if chance.random() < 0.05 else f"{name}={chance.choice(VALUES)}"


def some_rules(seed: int, count: int) -> list[Rule]:
    """Of all kinds that the papers know, none twice."""
    chance = random.Random(seed)
    found: dict[Rule, None] = {}
    while len(found) < count:
        rule = _rule(chance)
        try:
            check_rule(rule)
        except ValueError:
            continue
        found[rule] = None
    return list(found)


def _rule(chance: random.Random) -> Rule:
    if chance.random() < 0.5:
        name, value = chance.choice(NAMES), chance.choice((None, None, *VALUES))
        return Rule.of(DropParameter(name) if value is None else SetParameter(name, value))
    if chance.random() < 0.2:
        return Rule.of(Substitute("http://www.", chance.choice(("http://", "https://")), start=True))
    side = (
        *SEGMENTS,
        "/",
        "?",
        "&",
        "/index.html",
        "story?id=",
        "&sid=1",
        "?sid=",
        ";",
        "#top",
        "\\",
        '"',
        ",",
    )
    start, end = chance.random() < 0.05, chance.random() < 0.3
    return Rule.of(Substitute(chance.choice(side), chance.choice(side), start, end))
