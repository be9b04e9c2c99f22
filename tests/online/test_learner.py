"""What the learner says of canaries, and which sites are worth a look."""

from __future__ import annotations

from dataclasses import replace

from scrapy_dust.online.learner import OnlineLearner
from scrapy_dust.page.volatile import LEAST_URLS
from scrapy_dust.rules.parameters import DropParameter
from scrapy_dust.rules.rule import Rule
from scrapy_dust.settings import DustSettings
from scrapy_dust.visits.pages import Visit

SITE = "s.test"
ONE, OTHER = f"http://{SITE}/a?sid=1", f"http://{SITE}/a?sid=2"


def learner(*visits: Visit) -> OnlineLearner:
    """Of a site whose sessions do not matter."""
    made = OnlineLearner(DustSettings(), in_force={SITE: [Rule.of(DropParameter("sid"))]})
    for visit in visits:
        made.see(visit)
    return made


def page(url: str, text: str) -> Visit:
    return Visit(url, status=200, text_digest=text)


def redirect(url: str, target: str) -> Visit:
    return Visit(url, status=302, redirect_to=target)


def test_two_that_showed_one_text_showed_the_same() -> None:
    assert learner(page(ONE, "x"), page(OTHER, "x")).showed_the_same(ONE, OTHER) is True


def test_nobody_knows_before_both_were_seen() -> None:
    assert learner(page(ONE, "x")).showed_the_same(ONE, OTHER) is None
    assert learner().showed_the_same("http://other.test/a", "http://other.test/b") is None


def test_two_texts_are_not_the_same() -> None:
    assert learner(page(ONE, "x"), page(OTHER, "y")).showed_the_same(ONE, OTHER) is False


def test_what_another_class_shows_too_may_be_a_wall() -> None:
    wall = page(f"http://{SITE}/b?sid=3", "x")
    assert learner(page(ONE, "x"), page(OTHER, "x"), wall).showed_the_same(ONE, OTHER) is False


def test_a_page_that_changes_says_nothing() -> None:
    assert learner(page(ONE, "x"), page(OTHER, "x"), page(ONE, "y")).showed_the_same(ONE, OTHER) is None


def test_what_redirects_showed_what_it_leads_to() -> None:
    assert learner(page(ONE, "x"), redirect(OTHER, ONE)).showed_the_same(ONE, OTHER) is True
    circle = redirect(ONE, OTHER), redirect(OTHER, ONE)
    assert learner(*circle).showed_the_same(ONE, OTHER) is None


def test_a_site_is_worth_a_look_when_it_has_copies_and_has_grown_by_a_fifth() -> None:
    made = learner()
    for number in range(400):
        made.see(page(f"http://different.test/{number}", str(number)))
        made.see(page(f"http://{SITE}/{number}", str(number // 2)))
    assert list(made.due()) == [SITE]
    made.look(SITE)
    for number, is_due in ((79, False), (80, True)):
        for more in range(number):
            made.see(page(f"http://{SITE}/more/{more}", f"more {more}"))
        assert list(made.due()) == [SITE] * is_due


def test_a_site_whose_pages_change_at_each_fetch_is_worth_a_look() -> None:
    made = learner()
    for number in range(40):
        made.see(
            replace(
                page(f"http://{SITE}/{number}", str(number)), sketch=(number // 2, number // 2, number, 5)
            )
        )
    assert list(made.due()) == [SITE]


def test_a_site_is_worth_a_look_when_what_was_fetched_another_time_has_come() -> None:
    made = learner()
    for time in range(2):
        for number in range(LEAST_URLS):
            made.see(page(f"http://{SITE}/{number}", f"{number} at {time}"))
        assert list(made.due()) == [SITE] * time
    made.look(SITE)
    made.see(page(f"http://{SITE}/0", "0 at 2"))
    assert list(made.due()) == []
