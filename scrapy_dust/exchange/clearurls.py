"""Reads ClearURLs: ``{"providers": {NAME: {"urlPattern", "rules", "exceptions", …}}}``, from a user's own file.

Its expressions are spelled out where they stand for few texts (`finite_expressions`), and left where not. Its purpose is
privacy and not what pages show: what comes in is a guess like any other.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from scrapy_dust.exchange.finite_expressions import texts_of
from scrapy_dust.exchange.site_parts import Part
from scrapy_dust.exchange.transfer import Collected, Imported, whole_site
from scrapy_dust.rules.strict_json import Block
from scrapy_dust.sites import site_of_host

# How nearly all of its patterns begin: any scheme, any hosts below.
_HOSTS = re.compile(r"\^https\?:(?:\\?/){2}(?:\(\?:\[a-z0-9-\]\+\\\.\)\*\??)?", re.IGNORECASE)
_ANY_SUFFIX = re.compile(r"\(\?:\\\.\[a-z\]\{2,\}\)\{1,\}$|\(\?:\\\.\[a-z\]\{2,\}\)\+$", re.IGNORECASE)
_ALL = (".*", "^.*$", "")

_LISTS = {
    "rawRules": "it is about the whole URL",
    "referralMarketing": "it is about who is paid, which may show another page",
    "redirections": "it is about where a link leads",
}


def read(value: object, sites: tuple[str, ...]) -> Imported:
    """The rules of a ClearURLs file. Raises `Damaged` where the file has another format."""
    collected = Collected(sites)
    providers = Block(Block(value, "the file").take("providers"), "'providers'")
    for name, one in list(providers.rest().items()):
        _collect_provider(collected, name, Block(one, f"provider {name!r}"))
    collected.leave_queries()
    return collected.imported()


def _collect_provider(collected: Collected, name: str, block: Block) -> None:
    """Collect the rules of the provider *name*, and note those that cannot be taken over."""
    pattern = block.text("urlPattern")
    for key, why in _LISTS.items():
        for text in block.strings(key, block.items(key, [])):
            collected.leave(f"{name}: {text}", why)
    rules = block.strings("rules", block.items("rules", []))
    if block.take("completeProvider", False) is True:
        collected.leave(name, "it blocks a whole site")
    if not rules:
        return
    found = hosts_of(pattern, collected.sites)
    exceptions = block.strings("exceptions", block.items("exceptions", []))
    for text in rules:
        what = f"{name}: {text}"
        names = texts_of(text)
        if names is None:
            collected.leave(what, "its expression stands for too many names")
        elif found is None:
            collected.leave(what, f"the sites of {pattern!r} cannot be told")
        elif not found:
            collected.leave(what, "none of its sites was named; name one with --site")
        else:
            _collect_rules(collected, what, names, found, exceptions)


def _collect_rules(
    collected: Collected, what: str, names: tuple[str, ...], sites: tuple[str, ...], exceptions: list[str]
) -> None:
    """Collect rules that leave the parameters *names* out, on all *sites* but those with an exception. *what*: the rule
    as the file has it.
    """
    for site in sites:
        if any(_may_concern(exception, site) for exception in exceptions):
            collected.leave(f"{what} on {site}", "it has exceptions there")
            continue
        for rule in (rule for name in names for rule in Part(site).without(name)):
            collected.take(site, rule, what)


def hosts_of(pattern: str, sites: Sequence[str]) -> tuple[str, ...] | None:
    """The sites of a ``urlPattern``, those of *sites* where it names none; None where that cannot be told."""
    if pattern in _ALL:
        return tuple(sites)
    rest, count = _HOSTS.subn("", pattern, count=1)
    if not count:
        return None
    names = texts_of(_ANY_SUFFIX.sub("", rest))
    if names is None:
        return None
    if _ANY_SUFFIX.search(rest):
        return tuple(site for site in sites if site.partition(".")[0] in names)
    whole = [whole_site(name) for name in names]
    return None if None in whole else tuple(site for site in whole if site)


def _may_concern(exception: str, site: str) -> bool:
    """Whether an exception can be about *site*; True where the exception's host cannot be told."""
    rest, count = _HOSTS.subn("", exception, count=1)
    if not count:
        return True
    host = re.match(r"(?:[a-z0-9-]|\\\.)+", rest, re.IGNORECASE)
    if host is None or rest[host.end() : host.end() + 1] not in ("", "/", "\\", "?", ":"):
        return True
    name = host[0].replace("\\.", ".").lower()
    return "." not in name or site_of_host(name) == site


def is_clearurls(value: object) -> bool:
    """Whether *value* looks like a ClearURLs file."""
    return isinstance(value, dict) and isinstance(value.get("providers"), dict)
