"""duplicate-url-discarder: JSON, a list of ``{"args", "order", "processor", "urlPattern"}``.

Its ``order`` works backwards where patterns are equal, and ties go by Python's string hash; its rules for a site
hide those for all sites. So one rule per site goes out, with all names in it, and what comes in for all sites is
added to the sites' own rules.
"""

from __future__ import annotations

import json

from scrapy_dust.dust.edits.edit import Edit
from scrapy_dust.dust.edits.paths import DropSlash
from scrapy_dust.dust.edits.spellings import DropWww
from scrapy_dust.dust.rules import Rule
from scrapy_dust.exchange.parts import Part, part_of_pattern
from scrapy_dust.exchange.travelling import (
    NO_SITE,
    Collected,
    Entries,
    Exported,
    Imported,
    Unsaid,
    names_by_site,
)
from scrapy_dust.rule_book.blocks import Block, Damaged, short


def export(entries: Entries) -> Exported:
    unsaid: list[Unsaid] = []
    rules = [
        {
            "args": [name for name, _ in names],
            "order": 100,
            "processor": "queryRemoval",
            "urlPattern": {"include": [site]},
        }
        for site, names in names_by_site(
            entries, unsaid, "duplicate-url-discarder cannot replace one text by another"
        ).items()
    ]
    return Exported(json.dumps(rules, indent=2, sort_keys=True, ensure_ascii=False) + "\n", tuple(unsaid))


def read(value: object, sites: tuple[str, ...]) -> Imported:
    """Raises `Damaged` where it is no list of such rules."""
    if not isinstance(value, list):
        raise Damaged(f"the file must be a list, got {short(value)}")
    collected = Collected(sites)
    for number, one in enumerate(value, start=1):
        block = Block(one, f"rule {number}")
        processor = block.text("processor")
        pattern = Block(block.take("urlPattern"), f"rule {number}, 'urlPattern'")
        include = pattern.strings("include", pattern.items("include", []))
        args = block.take("args", None)
        if args is not None and not isinstance(args, list):
            block.wrong("args", "a list", args)
        what = f"rule {number}, {processor} for {', '.join(include) or 'all sites'}"
        if pattern.items("exclude", []):
            collected.leave(what, "it has exceptions")
            continue
        _take(collected, processor, include, args or [], what)
    return collected.imported()


def _take(collected: Collected, processor: str, include: list[str], args: list[object], what: str) -> None:
    names = [name for name in args if isinstance(name, str) and name]
    if processor in ("queryRemoval", "queryRemovalExcept"):
        for name in args:
            if name not in names:
                collected.leave(f"{what}: {name!r}", "it is no parameter's name")
    elif processor == "normalizer":
        collected.leave(f"{what}: www2. and the like", "only 'www.' is said")
    else:
        collected.leave(what, f"there is no rule of ours that does what {processor!r} does")
        return
    if not any(include):
        if not collected.sites:
            collected.leave(what, NO_SITE)
        include = list(collected.sites)
    for pattern in filter(None, include):
        part = part_of_pattern(pattern)
        if part is None or (part.guards and processor == "normalizer"):
            collected.leave(f"{what}: {pattern}", "it is about a part of a site that cannot be said")
            continue
        for rule in _rules(processor, part, names):
            collected.take(part.site, rule, what)


def _rules(processor: str, part: Part, names: list[str]) -> list[Rule]:
    if processor == "normalizer":
        return [Edit((DropWww(),)), Edit((DropSlash(),))]
    if processor == "queryRemovalExcept":
        return part.with_only(frozenset(names))
    return [rule for name in names for rule in part.without(name)]
