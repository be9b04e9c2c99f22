"""What the learner says of canaries, and which sites are worth a look."""

from __future__ import annotations

from scrapy_dust.dust.pages import Visit
from scrapy_dust.dust.rules import ParameterRule
from scrapy_dust.online.learner import OnlineLearner
from scrapy_dust.settings import DustSettings

SITE = "s.test"
ONE, OTHER = f"http://{SITE}/a?sid=1", f"http://{SITE}/a?sid=2"


def learner(*visits: Visit) -> OnlineLearner:
    """Of a site whose sessions do not matter."""
    made = OnlineLearner(DustSettings(), in_force={SITE: [ParameterRule("sid")]})
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


def test_the_site_that_has_grown_by_the_largest_part_is_worth_a_look_if_there_is_time() -> None:
    made = learner()
    for size, site in ((400, "big.test"), (300, "small.test")):
        for number in range(size):
            made.see(page(f"http://{site}/{number}", str(number // 2)))
    for site in made.due():
        made.look(site)
    assert made.grown_most() is None
    for number in range(30):
        for site in ("big.test", "small.test"):
            made.see(page(f"http://{site}/more/{number}", f"more {number}"))
    assert not list(made.due())
    assert made.grown_most() == "small.test"
    made.look("small.test")
    assert made.grown_most() == "big.test"


def test_a_site_without_copies_is_not_worth_one() -> None:
    made = learner()
    for number in range(400):
        made.see(page(f"http://{SITE}/{number}", str(number)))
    assert not list(made.due())
    assert made.grown_most() is None
