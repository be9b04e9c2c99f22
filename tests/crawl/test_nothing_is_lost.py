"""The law: with rules that are true, a crawl gets every page that it gets without us, and asks for no more.

On webs drawn at random, where an alias shows its page, fails in some way, or redirects: to another of its class, or
to a login. One class alone may be lost to the login, where two of its aliases led there: nobody can tell it from
that class's own page then.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from scrapy_dust.rules.parameters import DropParameter
from scrapy_dust.rules.rule import Rule
from tests.crawl.crawling import crawl, write_rules
from tests.crawl.site import HANG_UP, Answer, error, page, redirect, serving

ALIASES = 5

#: What an alias answers: a page, a failure, or a redirect, to the login or to the alias of that number.
ANSWERS = st.sampled_from(["page", "page", "404", "503", "hang up", "login", *range(ALIASES)])
WEBS = st.lists(st.lists(ANSWERS, min_size=ALIASES, max_size=ALIASES), min_size=1, max_size=4)


@settings(max_examples=15, phases=[Phase.generate])
@given(WEBS, st.randoms(use_true_random=False), st.sampled_from([1, 4, 16]), st.booleans())
def test_every_page_that_comes_without_rules_comes_with_them(classes, random, concurrency, retry):
    def web(path: str) -> Answer:
        if path == "/login":
            return page()
        number, _, alias = path.removeprefix("/p").partition("?sid=")
        match classes[int(number)][int(alias)]:
            case "page":
                return page(words=number)
            case "404":
                return error(404)
            case "503":
                return error(503)
            case "hang up":
                return HANG_UP
            case "login":
                return redirect("/login")
            case other:
                return redirect(f"/p{number}?sid={other}")

    with serving(web) as site, tempfile.TemporaryDirectory() as folder:
        urls = [site.url(f"/p{n}?sid={alias}") for n in range(len(classes)) for alias in range(ALIASES)]
        random.shuffle(urls)
        book = write_rules(Path(folder, "rules.json"), {site.name: [Rule.of(DropParameter("sid"))]})
        chosen = {
            "CONCURRENT_REQUESTS": concurrency,
            "RETRY_ENABLED": retry,
            "DUST_DIR": folder,
            "DUST_RULES": [book],
        }
        without = crawl(urls, chosen | {"DUST_MODE": "off"})
        asked_without = len(site.asked)
        site.asked.clear()
        with_rules = crawl(urls, chosen)
    # The login is no page of a class; who is not led there does not miss it.
    lost = _pages(without.got) - _pages(with_rules.got) - {site.url("/login")}
    assert len(lost) <= any(answers.count("login") > 1 for answers in classes)
    # A redirect may come back to where it was once, which Scrapy alone does not let it.
    assert len(site.asked) <= asked_without + len(classes)
    # One page of each class is enough, unless more were on their way already.
    if concurrency == 1:
        assert len(with_rules.got) == len(_pages(with_rules.got))


def _pages(urls: Sequence[str]) -> set[str]:
    return {url.partition("?")[0] for url in urls}
