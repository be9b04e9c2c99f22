"""Writes and reads rules of duplicate-url-discarder: JSON, a list of ``{"args", "order", "processor", "urlPattern"}``.

Its ``order`` works backwards where patterns are equal, and ties go by Python's string hash; its rules for a site
hide those for all sites. So one rule per site goes out, with all names in it, and what comes in for all sites is not
meant for sites with rules of their own.
"""

from __future__ import annotations

import json

from scrapy_dust.exchange.site_parts import Part, part_of_pattern
from scrapy_dust.exchange.transfer import Collected, Entries, Exported, Imported, Unsaid, names_by_site
from scrapy_dust.rules.paths import DropSlash
from scrapy_dust.rules.rule import Rule
from scrapy_dust.rules.spellings import DropWww
from scrapy_dust.rules.strict_json import Block, Damaged, short
from scrapy_dust.sites import site_of

#: duplicate-url-discarder leaves parameters out that are nothing.
_SPELLING = "&& in a query, and & at its ends"


_NO_SITE = (
    "it is about all sites without rules of their own, and no such site was named; name one with --site"
)


def export(entries: Entries) -> Exported:
    """A duplicate-url-discarder file with the parameters that rules leave out."""
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
    """The rules of a duplicate-url-discarder file. Raises `Damaged` where the file has another format."""
    if not isinstance(value, list):
        raise Damaged(f"the file must be a list, got {short(value)}")
    collected = Collected(tuple(site for site in sites if site not in _sites_with_rules(value)))
    for number, one in enumerate(value, start=1):
        block = Block(one, f"rule {number}")
        processor = block.text("processor")
        pattern = Block(block.take("urlPattern"), f"rule {number}, 'urlPattern'")
        include = pattern.strings("include", pattern.items("include", []))
        args = block.take("args", None)
        if args is not None and not isinstance(args, list):
            block.refuse("args", "a list", args)
        what = f"rule {number}, {processor} for {', '.join(include) or 'all sites'}"
        if pattern.items("exclude", []):
            collected.leave(what, "it has exceptions")
            continue
        _collect_rules(collected, processor, include, args or [], what)
    collected.leave_queries(_SPELLING)
    return collected.imported()


def _sites_with_rules(rules: list[object]) -> frozenset[str | None]:
    """The sites that *rules* are about, in whole or in part; None stands for all sites."""
    patterns = (one.get("urlPattern") for one in rules if isinstance(one, dict))
    included = (one.get("include") for one in patterns if isinstance(one, dict))
    texts = (text for each in included if isinstance(each, list) for text in each if isinstance(text, str))
    return frozenset(site_of(f"http://{text}") for text in texts if text)


def _collect_rules(
    collected: Collected, processor: str, include: list[str], args: list[object], what: str
) -> None:
    """Collect the rules that do what *processor* does with *args*, on the patterns of URLs in *include*. *what*: the
    rule, for messages.
    """
    names = [name for name in args if isinstance(name, str) and name]
    if processor in ("queryRemoval", "queryRemovalExcept"):
        for name in args:
            if name not in names:
                collected.leave(f"{what}: {name!r}", "it is no parameter's name")
    elif processor == "normalizer":
        collected.leave(
            f"{what}: www2. and the like, several slashes, the root's slash",
            "'www.' and slashes at the end are said",
        )
    else:
        collected.leave(what, f"there is no rule of ours that does what {processor!r} does")
        return
    if not any(include):
        if not collected.sites:
            collected.leave(what, _NO_SITE)
        include = list(collected.sites)
    for pattern in filter(None, include):
        part = part_of_pattern(pattern)
        if part is None or (part.guards and processor == "normalizer"):
            collected.leave(f"{what}: {pattern}", "it is about a part of a site that cannot be said")
            continue
        for rule in _rules_of_processor(processor, part, names):
            collected.take(part.site, rule, what)


def _rules_of_processor(processor: str, part: Part, names: list[str]) -> list[Rule]:
    """The rules that do what *processor* does with the parameters *names* in a *part* of a site."""
    if processor == "normalizer":
        return [Rule((DropWww(),)), Rule((DropSlash(),))]
    if processor == "queryRemovalExcept":
        return part.with_only(frozenset(names))
    return [rule for name in names for rule in part.without(name)]
