"""Promise 7: nobody can tell which URLs are sampled, and a sample that says nothing is not taken for a yes."""

from __future__ import annotations

import random
from dataclasses import dataclass

import pytest
from scrapy.http import Response

from scrapy_dust.believe.reach import reach_shown_by
from scrapy_dust.rule_book.book import RuleBook
from scrapy_dust.rule_book.entries import Entry, Evidence
from scrapy_dust.rules.guards import Condition
from scrapy_dust.rules.parameters import DropParameter
from scrapy_dust.rules.paths import AnySegment
from scrapy_dust.rules.rule import Rule
from tests.life.both import PLAIN, Came, Reader, run, with_rules
from tests.life.web import Answer, Asked, index, page, serving, words

FALSE = Rule.of(DropParameter("x"))
ALL = range(150)


class OfValues(Reader):
    """Yields a page for each value that it was linked with."""

    def items(self, response: Response, **more):
        for content in response.css("h1::text").getall():
            yield {"content": content}


def values(*of: int):
    def site(asked: Asked) -> Answer:
        return index(*(f"/p?x={x}" for x in of)) if asked.path == "/" else page(asked.url)

    return site


def crawled(folder, served, **settings) -> Came:
    folder.mkdir(exist_ok=True)
    came = Came()
    served.asked.clear()
    chosen = with_rules(folder, served.homes, [FALSE]) | {"DUST_CANARY_RATE": 0.1, "CONCURRENT_REQUESTS": 4}
    run(OfValues, chosen | settings, came, homes=served.homes)
    came.asked = served.paths
    return came


@dataclass
class Changing:
    """A site that can be told what to link, and whether its pages are all one."""

    links: tuple[int, ...] = tuple(ALL)
    same: bool = False

    def __call__(self, asked: Asked) -> Answer:
        return page("one for all") if self.same and asked.path == "/p" else values(*self.links)(asked)


def sampled_of(folder, served, site: Changing) -> set[int]:
    """Which values a project of the same settings fetches, though its rules suppress them."""
    site.links, site.same = tuple(ALL), True
    came = crawled(folder, served)
    site.same = False
    return {int(path.partition("x=")[2]) for path in came.asked if "x=" in path}


def test_a_site_that_links_only_what_another_project_would_not_sample_is_found_out(tmp_path):
    site = Changing()
    with serving(site) as served:
        sampled = sampled_of(tmp_path / "theirs", served, site)
        # The first one linked is the keeper, and no sample.
        site.links = tuple(x for x in ALL if x not in sampled or x == ALL[0])
        came = crawled(tmp_path / "ours", served)
    assert len(came.items) == len(site.links)


def test_projects_sample_different_urls_and_one_project_the_same(tmp_path):
    site = Changing()
    with serving(site) as served:
        first, second = (sampled_of(tmp_path / name, served, site) for name in ("one", "two"))
    assert len(first) > 3
    assert first != second


def test_a_url_that_is_linked_again_and_again_is_sampled_no_more_often(tmp_path):
    def site(asked: Asked) -> Answer:
        if asked.path == "/p":
            return page("the same")
        n = int(asked.query.get("n", 0))
        return index(*(f"/p?x={x}" for x in ALL), *([f"/?n={n + 1}"] if n < 20 else []))

    with serving(site) as served:
        came = crawled(tmp_path / "ours", served)
    assert 1 < sum("x=" in path for path in came.asked) < 40


def changing_at_each_fetch(asked: Asked) -> Answer:
    """A page most of whose words are others each time: nobody can compare two of them."""
    noise = random.Random(asked.number).random()
    return page(asked.url, extra="".join(f"<p>{words(f'{noise} {n}')}</p>" for n in range(5)))


UNJUDGEABLE = {
    "pages that change at each fetch": changing_at_each_fetch,
    "errors for whoever asks a second time": lambda asked: (
        page(asked.url) if asked.before == 0 else Answer(status=503)
    ),
    "a wall in front of every third page": lambda asked: (
        page(asked.url) if int(asked.query["x"]) % 3 else Answer(b"<p>One moment, please.</p>")
    ),
}


@pytest.mark.parametrize("what", UNJUDGEABLE)
def test_samples_that_cannot_be_judged_put_a_rule_in_doubt(tmp_path, what):
    def site(asked: Asked) -> Answer:
        return index(*(f"/p?x={x}" for x in ALL)) if asked.path == "/" else UNJUDGEABLE[what](asked)

    came, plain = None, Came()
    with serving(site) as served:
        run(OfValues, PLAIN, plain, homes=served.homes)
    with serving(site) as served:
        came = crawled(tmp_path / "ours", served, DUST_CANARY_RATE=0.2)
    assert plain.items.keys() - came.items.keys() == set()


def test_samples_that_cannot_be_judged_are_counted(tmp_path):
    def site(asked: Asked) -> Answer:
        return (
            index(*(f"/p?x={x}" for x in ALL))
            if asked.path == "/"
            else UNJUDGEABLE["errors for whoever asks a second time"](asked)
        )

    with serving(site) as served:
        came = crawled(tmp_path / "ours", served, DUST_CANARY_RATE=0.2)
    counted = (came.stats.get(f"dust/canaries/{what}", 0) for what in ("unknown", "unfetchable"))
    assert sum(counted) > 0


def test_stats_are_never_negative_and_no_part_is_larger_than_the_whole(tmp_path):
    site = Changing()
    with serving(site) as served:
        came = crawled(tmp_path / "ours", served)
    numbers = {
        name: n for name, n in came.stats.items() if name.startswith("dust/") and isinstance(n, (int, float))
    }
    assert {name: n for name, n in numbers.items() if n < 0} == {}
    whole = came.stats["downloader/request_count"] + numbers.get("dust/filtered", 0)
    parts = ("dust/filtered", "dust/canaries", "dust/kept_alive", "dust/heirs", "dust/given_back")
    assert {name: numbers[name] for name in parts if numbers.get(name, 0) > whole} == {}


@pytest.mark.parametrize("number", [9, 60])
@pytest.mark.parametrize("concurrency", [1, 8])
def test_a_rule_that_is_false_by_now_is_found_out_on_a_small_site(tmp_path, number, concurrency):
    with serving(values(*range(number))) as served:
        came = crawled(tmp_path / "ours", served, DUST_CANARY_RATE=0.01, CONCURRENT_REQUESTS=concurrency)
    assert len(came.items) == number


@pytest.mark.parametrize(("number", "most"), [(9, 3), (60, 5), (500, 6)])
def test_a_rule_that_holds_costs_few_canaries_of_its_own(tmp_path, number, most):
    def site(asked: Asked) -> Answer:
        return page("the same") if asked.path == "/p" else index(*(f"/p?x={x}" for x in range(number)))

    with serving(site) as served:
        came = crawled(tmp_path / "ours", served, DUST_CANARY_RATE=1e-9)
    assert 2 <= sum("x=" in path for path in came.asked) <= most


@pytest.mark.parametrize("concurrency", [1, 8])
def test_a_rule_that_is_false_of_what_comes_late_is_found_out(tmp_path, concurrency):
    """As where only the newest products are translated."""

    def site(asked: Asked) -> Answer:
        if asked.path == "/":
            return index(*(f"/p?x={x}" for x in range(60)))
        number = int(asked.query["x"])
        return page("the same" if number < 45 else f"another, {number}")

    with serving(site) as served:
        came = crawled(tmp_path / "ours", served, DUST_CANARY_RATE=1e-9, CONCURRENT_REQUESTS=concurrency)
    assert len(came.items) == 16


ITEMS = range(100, 160)
TITLE = Rule.of(AnySegment(3), where=(Condition("/1", "item"),))


def titled(asked: Asked) -> Answer:
    """A site that shows an item for any words behind its number, but for "reviews", which is a page of its own."""
    if asked.path == "/":
        words_of = [(n, word) for word in ("first", "second") for n in ITEMS]
        return index(
            *(f"/item/{n}/{word}-{n}" for n, word in words_of), *(f"/item/{n}/reviews" for n in ITEMS)
        )
    place = asked.path.split("/")
    if len(place) != 4 or place[1] != "item":
        return Answer(status=404)
    return page(f"{place[2]} reviewed" if place[3] == "reviews" else place[2])


def test_a_page_that_any_name_beside_it_shows_is_a_page_and_contradicts(tmp_path):
    with serving(titled) as served:
        (tmp_path / "ours").mkdir()
        came = Came()
        chosen = with_rules(tmp_path / "ours", served.homes, [TITLE]) | {"DUST_CANARY_RATE": 0.3}
        run(OfValues, chosen, came, homes=served.homes)
    assert len(came.items) == 2 * len(ITEMS)
    assert came.stats["dust/canaries/different"] >= 2
    assert "dust/canaries/unknown" not in came.stats


def test_a_word_that_many_pages_have_shows_itself_where_each_word_was_of_one_page(tmp_path):
    with serving(titled) as served:
        (tmp_path / "ours").mkdir()
        came = Came()
        chosen = with_rules(tmp_path / "ours", served.homes, [TITLE])
        pairs = [
            (f"{served.homes[0]}/item/{n}/first-{n}", f"{served.homes[0]}/item/{n}/{n}", n) for n in ITEMS
        ]
        shown = reach_shown_by(TITLE, [(one, other, str(n)) for one, other, n in pairs])
        book = RuleBook.load(chosen["DUST_RULES"])
        for site in book.sites:
            evidence = Evidence(shown=tuple(shown.items()))
            book = book.with_site(site, [Entry(TITLE, evidence=evidence)])
        book.save(chosen["DUST_RULES"][0])
        run(OfValues, chosen | {"DUST_CANARY_RATE": 1e-9}, came, homes=served.homes)
    assert len(came.items) == 2 * len(ITEMS)
