"""Brings rule books of formats 1 and 2, in which a rule was one of three kinds, into today's format."""

from __future__ import annotations

from typing import Any

from scrapy_dust.errors import RuleBookError
from scrapy_dust.rule_book.document import FORMAT, MEND, Document, parse
from scrapy_dust.rules.strict_json import Block, Damaged, dump_json, load_json

OLDER = (1, 2)


def migrated(path: str, content: bytes) -> Document | None:
    """The book in *content* in today's format; None where it has that format already. *path* is for
    messages.

    Ids are made of what a rule does, as it is written: rules have other ones than before. Raises `RuleBookError`.
    """
    try:
        return _migrated(path, content)
    except Damaged as damaged:
        raise RuleBookError(path, f"{damaged}. {MEND}") from None


def _migrated(path: str, content: bytes) -> Document | None:
    """The book in *content* in today's format, as `migrated` says. Errors have no path yet."""
    value = load_json(content)
    if not isinstance(value, dict) or value.get("format") not in OLDER:
        parse(path, content)
        return None
    for name, site in Block(value.get("sites"), "'sites'").rest().items():
        block = Block(site, f"site {name!r}")
        site["rules"] = [  # type: ignore[index]
            _migrated_rule(rule, f"site {name!r}, rule {number}")
            for number, rule in enumerate(block.items("rules"), start=1)
        ]
    return parse(path, dump_json(value | {"format": FORMAT}))


def _migrated_rule(value: object, where: str) -> dict[str, Any]:
    """A rule of an older book in today's format. *where*: for messages."""
    block = Block(value, where)
    block.take("id", None)
    kind = block.choice("kind", ("substring", "parameter", "edit"))
    if kind == "edit":
        return block.rest()
    if kind == "substring":
        done = {"do": "substitute"} | {key: block.take(key) for key in ("alpha", "beta", "start", "end")}
    else:
        done = {"do": "drop parameter", "name": block.take("name"), "value": block.take("value")}
        if done["value"] is not None:
            done["do"] = "set parameter"
    return {"operations": [done], "guard": []} | block.rest()
