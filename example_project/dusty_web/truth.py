"""What is true of the dusty web: what a URL really is, and which rules hold. `traps` has those that do not.

Nothing that learns may read this; it is for those who judge what was learned.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from urllib.parse import urlsplit

from dusty_web.site import Acts, Apologizes, Changes, Fails, Redirects, Shows
from dusty_web.web import DustyWeb


class Kind(StrEnum):
    PAGE = "page"
    VOLATILE = "volatile"
    ERROR = "error"
    SOFT_ERROR = "soft error"
    ACTION = "action"


@dataclass(frozen=True, slots=True)
class Truth:
    """What is at the end of a URL, redirects followed and first failures forgiven."""

    kind: Kind
    content: str | None = None  #: the content's id, for pages and volatile pages
    hops: int = 1  #: requests it takes to get there


def truth_of(web: DustyWeb, url: str) -> Truth:
    answer, hops = web.answer(url), 1
    while isinstance(answer, Redirects):
        url, hops = answer.to, hops + 1
        answer = web.answer(url)
    match answer:
        case Shows():
            site = web.site_at(urlsplit(url).netloc)
            assert site is not None
            content = site.contents[answer.id]
            kind = Kind.VOLATILE if content.changes is Changes.EVERYTHING else Kind.PAGE
            return Truth(kind, content.copy_of or content.id, hops)
        case Apologizes():
            return Truth(Kind.SOFT_ERROR, hops=hops)
        case Acts():
            return Truth(Kind.ACTION, hops=hops)
        case Fails():
            return Truth(Kind.ERROR, hops=hops)


@dataclass(frozen=True, slots=True)
class TrueRule:
    """A rule that holds: on this site, what matches *pattern* may be replaced."""

    site: str
    says: str
    pattern: re.Pattern[str]
    replacement: str


def _rule(site: str, says: str, pattern: str, replacement: str = "") -> TrueRule:
    return TrueRule(f"{site}.test", says, re.compile(pattern), replacement)


def _dropped(site: str, name: str) -> tuple[TrueRule, TrueRule]:
    """A parameter that means nothing: where another follows it, and where it is the last."""
    says = f"{name} means nothing"
    return _rule(site, says, rf"(?<=[?&]){name}&"), _rule(site, says, rf"[?&]{name}$")


#: Applied in this order, each wherever it matches, they give one key to all URLs of a class.
TRUE_RULES: tuple[TrueRule, ...] = (
    *_dropped("forum", "sid=[^&]*"),
    *_dropped("forum", "sort=[^&]*"),
    *_dropped("forum", "LastView=[^&]*"),
    *_dropped("forum", "Close=[^&]*"),
    _rule("forum", ".php3? ~ ?", r"\.php3(?=\?|$)"),
    _rule("forum", "story?id= ~ story_, thread?rep= ~ thread_", r"/(story|thread)\?(?:id|rep)=", r"/\1_"),
    _rule("forum", "/help_rules ~ /rules", r"/help_(rules|faq|contact|moderators|smileys)$", r"/\1"),
    _rule("academic", "/~ ~ /people/", r"/~", "/people/"),
    _rule("academic", ".htm ~ .html", r"\.htm$", ".html"),
    _rule("academic", "index.html may be left out", r"/index\.html$", "/"),
    _rule("academic", "the last slash may be left out", r"(?<!/)/$"),
    _rule("bignews", "www. and edition. mean nothing", r"^http://(?:www|edition)\.", "http://"),
    _rule("bignews", ";jsessionid means nothing", r";jsessionid=[^/?]*"),
    *_dropped("bignews", "ref=[^&]*"),
    *_dropped("bignews", "cid=[^&]*"),
    *_dropped("bignews", "sid=[^&]*"),
    _rule("bignews", "/money/ is money.", r"^http://bignews\.test/money/", "http://money.bignews.test/"),
    _rule("bignews", "/dir/N redirects to /dir/N/", r"(/dir/\d+)/$", r"\1"),
    _rule("bignews", "/b takes its parameters in any order", r"/b\?b=2&(a=\d+)$", r"/b?\1&b=2"),
    _rule("smallnews", "/print/ means nothing", r"/print/", "/"),
    *_dropped("smallnews", "page=1"),
    *_dropped("smallnews", "from=[^&]*"),
)


def oracle_key(url: str, rules: Iterable[TrueRule] = TRUE_RULES) -> str:
    """The key that one who knows the true rules would use: one for all URLs of a class."""
    host = urlsplit(url).netloc
    for rule in rules:
        if host.endswith(rule.site):
            url = rule.pattern.sub(rule.replacement, url)
    return url


def least_requests(web: DustyWeb, urls: Iterable[str]) -> int:
    """The requests that an oracle needs for the classes of *urls*: one each, if any linked spelling allows it.

    Where all linked spellings redirect it is two. What robots.txt excludes is not asked for.
    """
    hops = _least_hops(web)
    return sum(hops.get(key, 1) for key in {oracle_key(url) for url in urls if not web.is_disallowed(url)})


@cache
def _least_hops(web: DustyWeb) -> dict[str, int]:
    """Key → the least requests by which a linked URL of the class leads to the page."""
    hops: dict[str, int] = {}
    for url in web.linked():
        truth = truth_of(web, url)
        if truth.content:
            key = oracle_key(url)
            hops[key] = min(truth.hops, hops.get(key, truth.hops))
    return hops
