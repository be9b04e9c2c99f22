"""A wall in front of a site is not taken for its pages."""

from __future__ import annotations

from scrapy_dust.dust.pages import Visit, merge_visits
from scrapy_dust.online.looking import look
from scrapy_dust.settings import DustSettings


def rules_of(shown: dict[str, str]) -> list[str]:
    visits = [
        Visit(url, status=200, text_digest=text, sketch=(hash(text), 1, 2, 3)) for url, text in shown.items()
    ]
    return [str(rule) for rule in look("s.test", merge_visits(visits), DustSettings()).rules]


PAGES = {f"http://s.test/a{n}/b": f"page {n}" for n in range(10)}


def test_many_urls_of_one_page_that_no_other_url_shows_are_a_rule() -> None:
    login = {f"http://s.test/login?next={n}": "log in" for n in range(60)}
    assert any("next" in rule for rule in rules_of(PAGES | login))


def test_what_is_shown_in_other_places_too_may_be_a_captcha() -> None:
    wall = {f"http://s.test/item?id={n}": "are you human" for n in range(60)}
    assert not rules_of(
        PAGES | wall | {"http://s.test/": "are you human", "http://s.test/about": "are you human"}
    )
